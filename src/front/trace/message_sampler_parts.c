/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts messages into the few parts of which papers publish the times, and
 * computes the mean time of each part over all messages, in both directions of
 * a round trip. A message that lacks one of the parts does not count. */
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "front/trace/message_sampler.h"

struct part {
	const char *name, *until;
	weft_time_t here; /* time of the part in the current message */
	double sum;	  /* sum over all messages, in fs */
};

struct parts {
	struct {
		VEC(struct part);
	} part;
	uint64_t n;
};

struct parts *parts_new(const struct keep_part *part, size_t n)
{
	struct parts *p;

	if (!n)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		abort();
	for (size_t i = 0; i < n; i++)
		vec_push(&p->part, (struct part){ .name = part[i].name,
						  .until = part[i].until });
	return p;
}

void parts_add(struct parts *p, const struct kept *m)
{
	weft_time_t t = m->begin;
	size_t at = 0;

	for (size_t i = 0; p && i < m->n; i++) {
		const struct kept_stage *s = &m->stages[i];

		if (at < p->part.n)
			p->part.at[at].here += s->end - t;
		if (at < p->part.n && !strcmp(s->stage, p->part.at[at].until))
			at++;
		t = s->end;
		if (t == m->turn || i + 1 == m->n) {
			/* The message, or one direction of a round trip, has
			 * ended. */
			bool all = at == p->part.n ||
				   (at + 1 == p->part.n &&
				    !strcmp(p->part.at[at].until, "end"));

			for (size_t k = 0; k < p->part.n; k++) {
				p->part.at[k].sum +=
					all ? (double)p->part.at[k].here : 0;
				p->part.at[k].here = 0;
			}
			p->n += all;
			at = 0;
		}
	}
}

void parts_result(const struct parts *p, struct weft_result *r)
{
	char name[80];

	for (size_t i = 0; p && p->n && i < p->part.n; i++) {
		snprintf(name, sizeof(name), "part.%s", p->part.at[i].name);
		result_metric_set(r, name, "us",
				  p->part.at[i].sum / (double)p->n / WEFT_US);
	}
}

void parts_free(struct parts *p)
{
	if (p)
		vec_free(&p->part);
	free(p);
}
