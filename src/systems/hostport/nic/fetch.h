/* SPDX-License-Identifier: Apache-2.0 */
/* From the CSB to the scheduler (fetch.c, tagged_access.c). */
#ifndef SYSTEMS_HOSTPORT_NIC_FETCH_H
#define SYSTEMS_HOSTPORT_NIC_FETCH_H

#include "base/ring.h"
#include "systems/hostport/nic/context_cache.h"
#include "systems/hostport/nic/fetch_share.h"
#include "systems/hostport/nic/store_buffer.h"

struct hp_nic;
struct hp_req;
struct hp_tagged;
struct weft_bus_note;

enum { HP_FETCHES = 16, HP_LOOKUPS = 16 };
struct hp_fetch { /* a VCI that is being read, oldest first per VPID */
	struct hp_req *req; /* NULL: free */
	struct hp_ctx_req ctx;
	uint64_t w[HP_WORDS];
	bool reading; /* from memory; before that its context is asked for */
};
struct hp_fetch_unit {
	/* CSB out: entries that wait for their context */
	struct hp_csb_out {
		bool busy;
		struct hp_csb_entry entry;
		struct hp_ctx_req ctx;
	} out[HP_LOOKUPS];
	uint64_t out_next; /* cycle of the next one: one in each */
	bool out_armed;
	/* VPIDs with VCIs to be fetched, each once, served in turn */
	struct {
		RING(uint16_t);
	} turn;
	uint64_t in_turn[HP_VPIDS / 64];
	struct {
		VEC(uint16_t);
	} held; /* VPIDs that have work and instructions set aside, or have
		 * their share of those that are ahead */
	struct {
		RING(uint16_t);
	} first; /* VPIDs with a weight, whose turn goes on */
	struct hp_shares share;
	struct hp_fetch op[HP_FETCHES];
	uint32_t n;		  /* of op in use */
	uint32_t decoding;	  /* VCIs on their way to the scheduler */
	struct hp_tagged *tagged; /* made on first use */
};
/* Something may be done: entries in the CSB, room in the scheduler. */
void hp_fetch_go(struct hp_nic *n);
/* An instruction of this VPID may have been set aside and goes on. */
void hp_fetch_resume(struct hp_nic *n, uint32_t vpid);
/* The VCI is complete and its NQ entry reserved: to the scheduler.  flags: W0
 * of the context. */
void hp_fetch_issue(struct hp_nic *n, uint32_t vpid, uint64_t flags,
		    struct hp_req *req, const uint64_t *w);
/* There is room in the scheduler. */
void hp_tagged_go(struct hp_nic *n);
void hp_tagged_note(struct hp_nic *n, const struct weft_bus_note *note);
void hp_tagged_fini(struct hp_nic *n);

#endif
