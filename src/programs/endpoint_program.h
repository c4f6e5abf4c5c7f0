/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of programs over the common endpoint: payload of any length, and a
 * retry of calls. The retry handles events of the endpoint between two calls,
 * because an endpoint works only while its program calls it, and a peer may
 * wait for this endpoint. */
#ifndef PROGRAMS_ENDPOINT_PROGRAM_H
#define PROGRAMS_ENDPOINT_PROGRAM_H

#include "programs/program.h"
#include "weft/ep.h"

/* Fills p with the first len bytes of the qwords that program_fill writes. */
void epw_fill(void *p, size_t len, uint64_t base);
/* Returns the index of the first wrong byte, or -1. */
int64_t epw_check(const void *p, size_t len, uint64_t base);

/* Repeats a call while it returns -EAGAIN. `serve` handles events between two
 * calls, and returns false to end the loop. */
#define EPW_RETRY(call, serve)                                                 \
	({                                                                     \
		int ret_;                                                      \
		while ((ret_ = (call)) == -EAGAIN && (serve))                  \
			;                                                      \
		ret_;                                                          \
	})

#endif
