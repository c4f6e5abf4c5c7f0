/* SPDX-License-Identifier: Apache-2.0 */
/* Memories of a FORTH board, compared with the block RAMs that the FPGA has
 * (forth.md 10.3). */
#ifndef SYSTEMS_FORTH_LINK_BLOCK_RAM_H
#define SYSTEMS_FORTH_LINK_BLOCK_RAM_H

#include "weft/sim.h"

/* Returns the number of block RAMs that hold `bytes`. A block RAM holds 2 KB,
 * or 512 words of 36 bits if the words have tags. */
static inline uint32_t bram_bytes(uint64_t bytes)
{
	return (uint32_t)((bytes + 2047) / 2048);
}
/* Returns the number of block RAMs of a FIFO of `words` words of 68 bits. One
 * slot of the ring stays empty (4.1). */
static inline uint32_t bram_fifo68(uint32_t words)
{
	return 2 * ((words + 1 + 511) / 512);
}

struct bram_block {
	const char *what;
	uint32_t used, budget;
	const char *remedy; /* parameters that make this memory smaller */
};

enum { BRAM_REPORT, BRAM_REFUSE }; /* values of parameter `budget` */

/* Adds up the block RAMs of n memories into *sum. Returns 0, or -EINVAL if a
 * memory exceeds its budget and parameter `budget` is BRAM_REFUSE. */
int bram_check(const struct weft_comp *c, const struct bram_block *b,
	       uint32_t n, uint32_t budget, uint64_t *sum,
	       struct weft_err *err);

#endif
