/* SPDX-License-Identifier: Apache-2.0 */
/* BookSim2 beside us, see bench_torus.c. */
#ifndef FRONT_BENCH_BOOKSIM_H
#define FRONT_BENCH_BOOKSIM_H

#include <stdbool.h>

#include "weft/types.h"

/* Its binary, from the variable BOOKSIM; NULL = none. */
const char *booksim_path(void);
/* Packet-hops per second of user CPU time on the 8x8x8 torus. */
int booksim_speed(const char *flits, const char *load, bool full,
		  double *speed_p, struct weft_err *err);

#endif
