/* SPDX-License-Identifier: Apache-2.0 */
/* Clock domains: exact conversion between cycle numbers and femtoseconds.
 *
 * A period is the reduced fraction num/den femtoseconds, so 330 MHz never
 * drifts: edge(n) = phase + floor(n * num / den). */
#ifndef WEFT_CLOCK_H
#define WEFT_CLOCK_H

#include "weft/types.h"

WEFT_C_BEGIN

struct weft_clock {
	uint64_t num, den; /* period in fs, a reduced fraction; 0/0 = not set */
	weft_time_t phase; /* time of edge 0 */
};

/* Sets a clock of hz_num / hz_den Hz with edge 0 at time 0. Returns false, and
 * does not change clk, when hz_num or hz_den is zero or the period is below 1
 * fs. */
bool weft_clock_from_hz(struct weft_clock *clk, uint64_t hz_num,
			uint64_t hz_den);
/* Sets a clock of this period with edge 0 at time 0. Returns false, and does
 * not change clk, when the period is zero. */
bool weft_clock_from_period(struct weft_clock *clk, weft_time_t period_fs);
/* Returns a copy of clk that is faster by ppm parts per million, or slower when
 * ppm is negative. Edge 0 does not move, so that the domain keeps its phase. */
struct weft_clock weft_clock_offset_ppm(struct weft_clock clk, int32_t ppm);

/* Returns the time of edge number `cycle`. */
static inline weft_time_t weft_clock_edge(const struct weft_clock *c,
					  uint64_t cycle)
{
	if (c->den == 1)
		return c->phase + cycle * c->num;
	if (!(cycle >> 32) && !(c->num >> 32))
		return c->phase + cycle * c->num / c->den;
	return c->phase +
	       (weft_time_t)((unsigned __int128)cycle * c->num / c->den);
}

/* Returns true when all edges of both clocks have the same times. */
static inline bool weft_clock_same(const struct weft_clock *a,
				   const struct weft_clock *b)
{
	return a->num == b->num && a->den == b->den && a->phase == b->phase;
}

/* Returns the number of the first edge at or after t; 0 before edge 0. */
static inline uint64_t weft_clock_cycle(const struct weft_clock *c,
					weft_time_t t)
{
	if (t <= c->phase)
		return 0;
	if (c->den == 1)
		return (t - c->phase - 1) / c->num + 1;
	/* Edge n is at or after t exactly if n * num >= d. */
	unsigned __int128 d = (unsigned __int128)(t - c->phase) * c->den;

	return (uint64_t)((d + c->num - 1) / c->num);
}

/* Returns the time of the first edge at or after t. */
static inline weft_time_t weft_clock_align(const struct weft_clock *c,
					   weft_time_t t)
{
	return weft_clock_edge(c, weft_clock_cycle(c, t));
}

/* Returns the time n cycles after the first edge at or after t. */
static inline weft_time_t weft_clock_after(const struct weft_clock *c,
					   weft_time_t t, uint64_t n)
{
	return weft_clock_edge(c, weft_clock_cycle(c, t) + n);
}

WEFT_C_END

#endif
