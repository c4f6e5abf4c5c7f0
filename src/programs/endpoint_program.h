/* SPDX-License-Identifier: Apache-2.0 */
/* What workloads over the common endpoint share: bytes of any length, and a
 * barrier that keeps the endpoint going (a peer may need it to be served). */
#ifndef PROGRAMS_ENDPOINT_PROGRAM_H
#define PROGRAMS_ENDPOINT_PROGRAM_H

#include "programs/program.h"
#include "weft/ep.h"

/* Byte i of a message is byte i of program_fill's qwords. */
void epw_fill(void *p, size_t len, uint64_t base);
/* First wrong byte, or -1. */
int64_t epw_check(const void *p, size_t len, uint64_t base);

/* Repeats a call that says -EAGAIN; `serve` takes the events meanwhile and is
 * false when there is no hope. */
#define EPW_RETRY(call, serve)                                                 \
	({                                                                     \
		int ret_;                                                      \
		while ((ret_ = (call)) == -EAGAIN && (serve))                  \
			;                                                      \
		ret_;                                                          \
	})

#endif
