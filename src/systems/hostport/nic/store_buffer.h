/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional store buffer (hostport.md 7.4, 7.5): the one queue that all
 * processes share. Loads of Triggerpages add entries. The code uses neither
 * simulated time nor the bus. */
#ifndef SYSTEMS_HOSTPORT_NIC_STORE_BUFFER_H
#define SYSTEMS_HOSTPORT_NIC_STORE_BUFFER_H

#include "systems/hostport/nic/regs_map.h"

/* An entry has 16 + 4 + 5 bits (CSB1). */
struct hp_csb_entry {
	uint16_t vpid;
	uint8_t cmd, par;
};

struct hp_csb {
	struct hp_csb_entry *at; /* ring of `depth` entries */
	uint32_t depth, head, n;
	/* largest number of entries of a VPID (CSB14), or 0 for no limit */
	uint32_t vpid_max;
	/* number of entries of each VPID, if vpid_max is set */
	uint16_t *of_vpid;
	uint64_t on[HP_VPIDS / 64]; /* VPID_EN */
};

/* Allocates the buffer. The caller has set depth and vpid_max. Returns false
 * when memory is short. */
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
