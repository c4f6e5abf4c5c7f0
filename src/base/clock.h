/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks whose period is a given fraction. All other functions of clocks are in
 * weft/clock.h. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "weft/clock.h"

/* Sets a period of num/den femtoseconds. Returns false if the reduced fraction
 * does not fit or is zero. Also returns false for a period below one
 * femtosecond, because edges would coincide. */
bool clock_set(struct weft_clock *clk, unsigned __int128 num,
	       unsigned __int128 den);

#endif
