/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that leave node 0 of a bench with two Ethernet cards, byte by byte. */
#ifndef HVIA_TESTS_HVLINE_H
#define HVIA_TESTS_HVLINE_H

#include "unit/host/node.h"

enum { HVLINE_FRAMES = 64, HVLINE_BYTES = 1600 };

struct hvline {
	uint32_t n, len[HVLINE_FRAMES];
	uint8_t data[HVLINE_FRAMES][HVLINE_BYTES];
};
extern struct hvline hvline;

/* Watches the line from now on and drops frames recorded before. Called before
 * bench_start(). */
void hvline_watch(struct bench *b);
/* Returns the n bytes of a frame from `at` on as a number, lowest byte
 * first. */
uint64_t hvline_field(uint32_t frame, uint32_t at, uint32_t n);

#endif
