/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks from any fraction; the rest is in weft/clock.h. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "weft/clock.h"

/* A period of num/den femtoseconds.  False when the reduced fraction does not
 * fit, is zero or is shorter than one femtosecond (edges would coincide). */
bool clock_set(struct weft_clock *clk, unsigned __int128 num,
	       unsigned __int128 den);

#endif
