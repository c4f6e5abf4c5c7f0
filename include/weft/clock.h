/* SPDX-License-Identifier: Apache-2.0 */
/* Clock domains: cycle numbers to femtoseconds and back, exactly.
 *
 * A period is the reduced fraction num/den femtoseconds, so 330 MHz never
 * drifts: edge(n) = phase + floor(n * num / den). */
#ifndef WEFT_CLOCK_H
#define WEFT_CLOCK_H

#include "weft/types.h"

WEFT_C_BEGIN

struct weft_clock {
	uint64_t num, den; /* period in fs, reduced; 0/0 = not set */
	weft_time_t phase; /* time of edge 0 */
};

/* A clock of the given frequency in Hz = hz_num/hz_den; false when zero. */
bool weft_clock_from_hz(struct weft_clock *clk, uint64_t hz_num,
			uint64_t hz_den);
bool weft_clock_from_period(struct weft_clock *clk, weft_time_t period_fs);
/* The same clock, fast by ppm parts per million (may be negative). */
struct weft_clock weft_clock_offset_ppm(struct weft_clock clk, int32_t ppm);

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

static inline bool weft_clock_same(const struct weft_clock *a,
				   const struct weft_clock *b)
{
	return a->num == b->num && a->den == b->den && a->phase == b->phase;
}

/* Number of the first edge at or after t. */
static inline uint64_t weft_clock_cycle(const struct weft_clock *c,
					weft_time_t t)
{
	if (t <= c->phase)
		return 0;
	if (c->den == 1)
		return (t - c->phase + c->num - 1) / c->num;
	/* smallest n with floor(n*num/den) >= d  <=>  n*num >= d*den */
	unsigned __int128 d = (unsigned __int128)(t - c->phase) * c->den;

	return (uint64_t)((d + c->num - 1) / c->num);
}

/* First edge at or after t. */
static inline weft_time_t weft_clock_align(const struct weft_clock *c,
					   weft_time_t t)
{
	return weft_clock_edge(c, weft_clock_cycle(c, t));
}

/* n cycles after the first edge at or after t. */
static inline weft_time_t weft_clock_after(const struct weft_clock *c,
					   weft_time_t t, uint64_t n)
{
	return weft_clock_edge(c, weft_clock_cycle(c, t) + n);
}

WEFT_C_END

#endif
