/* SPDX-License-Identifier: Apache-2.0 */
/* See fault_schedule.h. */
#include "base/minmax.h"
#include "sim/fault_schedule.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

int outage_init(struct weft_comp *c, struct weft_err *err)
{
	struct outage *o = c->state;

	o->rng = &c->rng;
	if (o->every && (!o->length || o->every <= o->length))
		return weft_fail(
			err, EINVAL,
			"%s: `every` must be longer than `length`, which must not be 0",
			c->name);
	if (o->random && !o->every)
		return weft_fail(err, EINVAL, "%s: `random` needs `every`",
				 c->name);
	return 0;
}

void outage_fini(struct weft_comp *c)
{
	vec_free(&((struct outage *)c->state)->spans);
}

/* Draws a random length of this mean, at least a picosecond, so that no span
 * and no pause between spans is empty. */
static weft_time_t draw(struct outage *o, weft_time_t mean)
{
	double u;

	if (!o->random)
		return mean;
	u = -log(1.0 - weft_rng_real(o->rng)) * (double)mean;
	return u < 1e3 ? 1000 : u < 1e18 ? (weft_time_t)u : (weft_time_t)1e18;
}

static void outage_add(struct outage *o, weft_time_t from)
{
	weft_time_t len = o->length ? draw(o, o->length) : WEFT_NEVER - from;

	len = min_of(len, WEFT_NEVER - from);
	vec_push(&o->spans, (struct outage_span){ from, from + len });
	o->over = !o->every || from + len == WEFT_NEVER;
}

const struct outage_span *outage_get(struct outage *o, uint32_t i)
{
	weft_time_t gap = o->every - o->length, last;

	while (i >= o->spans.n) {
		if (o->over)
			return NULL;
		if (!o->spans.n) {
			outage_add(o, o->at + (o->random ? draw(o, gap) : 0));
			continue;
		}
		last = vec_last(&o->spans).to;
		gap = draw(o, o->every - o->length);
		if (gap >= WEFT_NEVER - last)
			o->over = true;
		else
			outage_add(o, last + gap);
	}
	return &o->spans.at[i];
}

const struct outage_span *outage_after(struct outage *o, uint32_t *i_p,
				       weft_time_t t)
{
	const struct outage_span *s;

	while ((s = outage_get(o, *i_p)) && s->to <= t)
		++*i_p;
	return s;
}
