/* SPDX-License-Identifier: Apache-2.0 */
/* Clock domains: exact periods as reduced fractions of a femtosecond. */
#include <assert.h>

#include "base/clock.h"

typedef unsigned __int128 u128;

bool clock_set(struct weft_clock *clk, u128 num, u128 den)
{
	u128 g = num, b = den;

	/* greatest common divisor by Euclid's algorithm */
	while (b) {
		u128 r = g % b;

		g = b;
		b = r;
	}
	if (!num || !den)
		return false;
	num /= g;
	den /= g;
	if (num > UINT64_MAX || den > UINT64_MAX || num < den)
		return false;
	*clk = (struct weft_clock){ .num = (uint64_t)num,
				    .den = (uint64_t)den };
	return true;
}

bool weft_clock_from_hz(struct weft_clock *clk, uint64_t hz_num,
			uint64_t hz_den)
{
	return clock_set(clk, (u128)WEFT_SEC * hz_den, hz_num);
}

bool weft_clock_from_period(struct weft_clock *clk, weft_time_t period_fs)
{
	return clock_set(clk, period_fs, 1);
}

struct weft_clock weft_clock_offset_ppm(struct weft_clock clk, int32_t ppm)
{
	struct weft_clock res = clk;
	u128 num = (u128)clk.num * 1000000;
	u128 den = (u128)clk.den * (uint64_t)(1000000 + (int64_t)ppm);

	assert(ppm > -1000000 && clk.num);
	/* A fraction that does not fit in 64 bits loses its low bits. All users
	 * of this clock lose the same bits, therefore no two domains drift
	 * apart. */
	while (!clock_set(&res, num, den) && num >= den) {
		num >>= 1;
		den >>= 1;
	}
	res.phase = clk.phase;
	return res;
}
