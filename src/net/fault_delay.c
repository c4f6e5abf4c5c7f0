/* SPDX-License-Identifier: Apache-2.0 */
/* Class fault.delay: a line that delays transmissions by a random time, for any
 * wire format.
 *
 * The fault is on a sending port. The delay of a transmission (a packet or
 * credits) is a whole number of words, evenly distributed up to `max`. No
 * transmission overtakes another and no two overlap, so that transmissions
 * behind a delayed one follow it without a gap. The line loses no capacity,
 * because later gaps become shorter by the delay.
 *
 * `overtake` is for receivers that accept any order: frames overtake a delayed
 * one, as in a network with several routes. A delayed frame may then overlap
 * another. */
#include <errno.h>

#include "net/fault.h"

struct delay {
	weft_time_t max;
	double share;
	bool overtake;
	uint64_t frame, count, seen;
	weft_time_t free; /* end of the latest transmission */
};

enum { C_LATE, C_PUSHED, C_TIME, C_N };
static const struct weft_counter delay_counters[C_N] = {
	[C_LATE] = { "late", "frames", "delayed at random" },
	[C_PUSHED] = { "pushed", "frames", "that waited for a late one" },
	[C_TIME] = { "late_ns", "ns", "sum of all delays" },
};

static const struct weft_param delay_params[] = {
	WEFT_PARAM(TIME, struct delay, max, "0", "0..1ms", OWN,
		   "longest delay"),
	WEFT_PARAM(REAL, struct delay, share, "1", "0..1", OWN,
		   "probability that a transmission is delayed"),
	WEFT_PARAM(
		BOOL, struct delay, overtake, "no", "", OWN,
		"those behind a late one do not wait for it, on lines whose receivers take any order"),
	WEFT_PARAM(U64, struct delay, frame, "0", "", OWN,
		   "not at random: the one with this number (from 1) is late, "
		   "by `max`; 0 = at random"),
	WEFT_PARAM(U64, struct delay, count, "1", "1..", OWN,
		   "how many from that one on"),
	{ 0 }
};

static void delay_filter(struct weft_comp *c, struct weft_frame *f)
{
	struct delay *d = c->state;
	weft_time_t late = 0, least = 0;

	d->seen++;
	if (d->frame)
		late = d->seen >= d->frame && d->seen - d->frame < d->count
			       ? d->max
			       : 0;
	else if (d->max >= f->word_fs && weft_rng_real(&c->rng) < d->share)
		late = weft_rng_below(&c->rng, d->max / f->word_fs + 1) *
		       f->word_fs;
	/* Delays by whole words, because frames on a line keep word
	 * boundaries. */
	if (d->free > f->time && !d->overtake)
		least = ((d->free - f->time) + f->word_fs - 1) / f->word_fs *
			f->word_fs;
	weft_count(c, C_LATE, late > 0);
	if (late < least) {
		late = least;
		weft_count(c, C_PUSHED, 1);
	}
	weft_count(c, C_TIME, late / WEFT_NS);
	f->time += late;
	d->free = f->time + f->words * f->word_fs;
	weft_filter_pass(c, f);
}

static int delay_start(struct weft_comp *c, struct weft_err *err)
{
	const struct delay *d = c->state;
	const struct weft_wire_faults *w = fault_wire(c);

	if (d->overtake && (!w || !w->may_overtake))
		return weft_fail(
			err, EINVAL,
			"%s: overtake: the receiver of %s.%s takes frames in order only",
			c->name, c->on->comp->name, c->on->name);
	return 0;
}

WEFT_COMPONENT(fault_delay, .name = "fault.delay", .kind = WEFT_KIND_FAULT,
	       .doc = "a line of random latency", .source = "own",
	       .state_size = sizeof(struct delay), .params = delay_params,
	       .counters = delay_counters, .n_counters = C_N,
	       .ops = { .start = delay_start, .filter = delay_filter });
