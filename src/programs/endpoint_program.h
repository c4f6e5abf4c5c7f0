/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of programs over the common endpoint: payload of any length, and a
 * retry that keeps the endpoint in progress, because a peer may need it. */
#ifndef PROGRAMS_ENDPOINT_PROGRAM_H
#define PROGRAMS_ENDPOINT_PROGRAM_H

#include "programs/program.h"
#include "weft/ep.h"

/* Fills p with len bytes. Byte i is byte i of the qwords of program_fill. */
void epw_fill(void *p, size_t len, uint64_t base);
/* Returns the index of the first wrong byte, or -1. */
int64_t epw_check(const void *p, size_t len, uint64_t base);

/* Repeats a call while it returns -EAGAIN. `serve` takes events in between, and
 * returns false to give up. */
#define EPW_RETRY(call, serve)                                                 \
	({                                                                     \
		int ret_;                                                      \
		while ((ret_ = (call)) == -EAGAIN && (serve))                  \
			;                                                      \
		ret_;                                                          \
	})

#endif
