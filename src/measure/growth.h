/* SPDX-License-Identifier: Apache-2.0 */
/* Does a queue grow?  Its content is looked at in equal steps of time; the
 * changes from look to look say how much the whole change owes to chance.
 *
 * A queue that is served as fast as it is filled wanders: its changes cancel
 * out, and over n steps it has moved by about sqrt(n) of them.  One that is
 * filled faster moves by n times their mean.  It grows when it has moved
 * further than GROWTH_SURE standard errors.  One that fills up to its level
 * grows too, but not for long: next to nothing in the second half.
 *
 * The end need not be known: when all looks are used every other one is left
 * out, so memory is bounded. */
#ifndef MEASURE_GROWTH_H
#define MEASURE_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

enum { GROWTH_STEPS = 32, GROWTH_ENOUGH = 8, GROWTH_SURE = 2, GROWTH_LATE = 8 };

struct growth {
	double at[GROWTH_STEPS + 1]; /* content at the looks */
	uint64_t first, step;	     /* time of the first look, between two */
	uint32_t n;		     /* looks */
};

/* Looks from time `first` on, one in `step`, 0 = once per unit of time. */
void growth_init(struct growth *g, uint64_t first, uint64_t step);
/* When to look next. */
uint64_t growth_due(const struct growth *g);
/* What is in the queue at that time. */
void growth_look(struct growth *g, double content);
/* Content has grown since the first look by more than chance, and by more
 * than `least`; false with fewer than GROWTH_ENOUGH steps. */
bool growth_found(const struct growth *g, double least);
/* The second half has more than one part in GROWTH_LATE of it. */
bool growth_lasts(const struct growth *g);

#endif
