/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of HyperTransport packets, bit by bit (EXTOLL specification 2.1, 2.2;
 * the layout is that of the HyperTransport I/O link).
 *
 *   request, 8 bytes    0  7:6 seqID[3:2]  5:0 command
 *                       1  7 passPW  6:5 seqID[1:0]  4:0 unitID
 *                       2  7:6 count[1:0]  4:0 srcTag
 *                       3  7:2 address[7:2]  1:0 count[3:2]
 *                       4..7  address[39:8]
 *   answer, 4 bytes     0  5:0 command
 *                       1  7 passPW  4:0 unitID
 *                       2  7:6 count[1:0]  5 error  4:0 srcTag
 *                       3  1:0 count[3:2]
 *
 * count is dwords - 1. A byte write begins with a dword of 32 mask bits, one
 * for each byte of its aligned block; count includes that dword. */
#ifndef HOST_HT_HEAD_H
#define HOST_HT_HEAD_H

#include <stdbool.h>
#include <stdint.h>

enum ht_cmd {
	HT_CMD_READ = 0x14, /* sized read, dwords */
	/* flag: the answer may pass posted packets */
	HT_CMD_READ_RELAXED = 8,
	HT_CMD_WRITE_BYTES = 0x28, /* posted */
	HT_CMD_WRITE = 0x2C,	   /* posted, dwords */
	HT_CMD_ANSWER = 0x30,	   /* read response */
};

#define HT_ADDR_BITS 40
#define HT_INTERRUPT 0xFDF8000000ull /* target of interrupt packets */

struct ht_head {
	uint8_t cmd, unit, seq, tag, count;
	bool pass_pw, error;
	uint64_t addr; /* address of a request, a multiple of 4 */
};

/* Pack and parse the headers of requests and answers. */
void ht_request_pack(const struct ht_head *h, uint8_t out[8]);
void ht_request_parse(const uint8_t in[8], struct ht_head *h);
void ht_answer_pack(const struct ht_head *h, uint8_t out[4]);
void ht_answer_parse(const uint8_t in[4], struct ht_head *h);
/* Returns the mask of bytes [addr, addr + n) of an aligned block of 32. The two
 * functions below return the first byte and the number of bytes of a mask. */
static inline uint32_t ht_mask(uint64_t addr, uint32_t n)
{
	return (uint32_t)((1ull << n) - 1) << addr % 32;
}

static inline uint32_t ht_mask_first(uint32_t mask)
{
	return (uint32_t)__builtin_ctz(mask);
}

static inline uint32_t ht_mask_bytes(uint32_t mask)
{
	return (uint32_t)__builtin_popcount(mask);
}

#endif
