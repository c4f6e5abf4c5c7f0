/* SPDX-License-Identifier: Apache-2.0 */
/* Fetch unit: reads VCIs for entries of the CSB and passes them to the
 * scheduler (fetch.c, tagged_access.c; hostport.md 8.2). */
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
/* A VCI that is being read. VCIs of one VPID are read in order of age. */
struct hp_fetch {
	struct hp_req *req; /* NULL: free */
	struct hp_ctx_req ctx;
	uint64_t w[HP_WORDS];
	/* true once the memory read has started, false while the context is
	 * requested */
	bool reading;
};
struct hp_fetch_unit {
	/* CSB entries that wait for their context */
	struct hp_csb_out {
		bool busy;
		struct hp_csb_entry entry;
		struct hp_ctx_req ctx;
	} out[HP_LOOKUPS];
	/* cycle in which the next context lookup may start, because one starts
	 * per cycle */
	uint64_t out_next;
	bool out_armed;
	/* VPIDs with VCIs to be fetched, each listed once, served round
	 * robin */
	struct {
		RING(uint16_t);
	} turn;
	uint64_t in_turn[HP_VPIDS / 64];
	struct {
		VEC(uint16_t);
	} held; /* VPIDs that have VCIs, but are not in `turn`, because they
		 * have instructions set aside or have used up their share */
	struct {
		RING(uint16_t);
	} first; /* VPIDs that are served before `turn`, because they have
		  * weight left */
	struct hp_shares share;
	struct hp_fetch op[HP_FETCHES];
	uint32_t n; /* number of entries of op in use */
	/* number of VCIs that were read and are not in the scheduler yet */
	uint32_t decoding;
	struct hp_tagged *tagged; /* allocated on first use */
};
/* Continues fetching. Called when entries have entered the CSB or the scheduler
 * has room. */
void hp_fetch_go(struct hp_nic *n);
/* Puts a VPID that was held back into the turn again, unless one of its
 * instructions is set aside or the VPID has used up its share. */
void hp_fetch_resume(struct hp_nic *n, uint32_t vpid);
/* Passes a complete VCI, whose NQ entry is reserved, to the scheduler. `flags`
 * is W0 of the context. */
void hp_fetch_issue(struct hp_nic *n, uint32_t vpid, uint64_t flags,
		    struct hp_req *req, const uint64_t *w);
/* Issues tagged VCIs that were stored. Called when the scheduler has room. */
void hp_tagged_go(struct hp_nic *n);
/* Handles a tagged access of the host. */
void hp_tagged_note(struct hp_nic *n, const struct weft_bus_note *note);

#endif
