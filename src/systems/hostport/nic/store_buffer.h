/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional store buffer (hostport.md 7.4, 7.5): the one queue that all
 * processes share, filled by loads. It knows neither time nor bus. */
#ifndef SYSTEMS_HOSTPORT_NIC_STORE_BUFFER_H
#define SYSTEMS_HOSTPORT_NIC_STORE_BUFFER_H

#include "systems/hostport/nic/regs_map.h"

/* 16 + 4 + 5 bits (CSB1). */
struct hp_csb_entry {
	uint16_t vpid;
	uint8_t cmd, par;
};

struct hp_csb {
	struct hp_csb_entry *at; /* depth of them */
	uint32_t depth, head, n;
	uint32_t vpid_max;	    /* CSB14, 0 = off */
	uint16_t *of_vpid;	    /* entries of a VPID; only with vpid_max */
	uint64_t on[HP_VPIDS / 64]; /* VPID_EN */
};

/* Allocates the buffer; depth and vpid_max are set. Returns false when there is
 * no memory. */
bool hp_csb_init(struct hp_csb *b);
void hp_csb_fini(struct hp_csb *b);
static inline bool hp_csb_on(const struct hp_csb *b, uint32_t vpid)
{
	return b->on[vpid / 64] >> (vpid % 64) & 1;
}
static inline void hp_csb_enable(struct hp_csb *b, uint32_t vpid, bool on)
{
	uint64_t bit = 1ULL << (vpid % 64), *w = &b->on[vpid / 64];

	*w = on ? *w | bit : *w & ~bit;
}
/* Executes steps 5 to 7 of the issue procedure (7.6). Returns the answer to the
 * load. */
uint64_t hp_csb_trigger(struct hp_csb *b, uint32_t vpid, uint32_t cmd,
			uint32_t par);
/* Takes the oldest entry. Returns false when the buffer is empty. */
bool hp_csb_take(struct hp_csb *b, struct hp_csb_entry *e);
static inline uint32_t hp_csb_free(const struct hp_csb *b)
{
	return b->depth - b->n;
}

#endif
