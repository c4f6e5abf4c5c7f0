/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL ATU: lookups, table walks, faults (extoll.md 3.7, 5.5).
 *
 *   asked --4 cycles--> hit ----------------------------> answered, in use
 *                      miss --host read of the GATe--> fill --^
 *                      fault (address, table, entry) --> answered
 *
 * A fault is answered through r->done like a hit. No translation is in use
 * after a fault. Not modelled: pages of another size than 4 KB. The ATU treats
 * an entry for such a page as invalid. */
#include "systems/extoll/nic/atu.h"

#include <string.h>

#include "systems/extoll/nic/nic.h"
#include "systems/extoll/nic/rma.h"

uint64_t atu_gat_get(const struct atu *a, uint32_t i)
{
	return a->gat && i < a->n_gats ? a->gat[i] : 0;
}

void atu_wake(struct atu *a, uint64_t cycle)
{
	weft_timer_arm(a->nic->comp, &a->timer, EX_TAG_UNIT + EXTOLL_HX_ATU,
		       ex_edge(a->nic, cycle));
}

/* ---- answers ---- */

static void atu_answer(struct atu *a, struct atu_req *r, enum atu_fault fault,
		       uint64_t gate)
{
	r->fault = fault;
	if (fault) {
		a->faults[fault]++;
		extoll_rma_count(a->nic, RMA_K_ATU_FAULTS, 1);
		ex_event(a->nic, EXTOLL_EV_ATU_FAULT, r->vpid, 0, fault);
	} else {
		r->phys = GATE_PHYS(gate) + NLA_OFFSET(r->nla);
		r->used = true;
		r->epoch = a->epoch;
		r->next = a->in_use;
		a->in_use = r;
	}
	r->done(r);
}

static void atu_unlink(struct atu_req **list, struct atu_req *r)
{
	while (*list != r)
		list = &(*list)->next;
	*list = r->next;
}

void atu_finish(struct atu *a, struct atu_req *r)
{
	if (!r->used)
		return;
	r->used = false;
	atu_unlink(&a->in_use, r);
	if (a->head != a->tail)
		atu_wake(a, ex_now(a->nic));
}

/* ---- walks ---- */

static void atu_walked(struct extoll_nic *n, struct hx_pkt *p)
{
	struct atu_req *r = (struct atu_req *)(uintptr_t)p->user[0];
	struct atu *a = r->atu;
	enum atu_fault fault = ATU_F_BUS;
	uint64_t gate;

	r->walking = false;
	if (r->stale) { /* look up again: a flush during the walk means that
			 * the entry may have changed */
		atu_run(a);
		return;
	}
	memcpy(&gate, weft_slice_data(p->txn.data), sizeof(gate));
	if (p->txn.status == WEFT_BUS_OK)
		fault = atu_check_gate(gate, r->vpid, r->access);
	if (!fault || fault == ATU_F_ACCESS)
		atu_tlb_fill(&a->tlb, NLA_PAGE(r->nla), r->vpid, gate);
	atu_unlink(&a->looking, r);
	atu_answer(a, r, fault, gate);
}

/* ---- lookups ---- */

/* Looks up the translation in the TLB. Returns true if the request is answered,
 * false if the table must be read. */
static bool atu_lookup(struct atu *a, struct atu_req *r)
{
	enum atu_fault fault = atu_check_nla(r->nla, r->bytes);
	uint64_t gate = 0;

	if (!fault &&
	    (!a->enable || !ATU_BASE_VALID(atu_gat_get(a, NLA_GAT(r->nla)))))
		fault = ATU_F_GAT;
	if (!fault) {
		gate = atu_tlb_find(&a->tlb, NLA_PAGE(r->nla), r->vpid);
		if (!gate)
			return false;
		extoll_rma_count(a->nic, RMA_K_TLB_HITS, 1);
		fault = atu_check_gate(gate, r->vpid, r->access);
	}
	atu_unlink(&a->looking, r);
	atu_answer(a, r, fault, gate);
	return true;
}

/* Answers one lookup that is due. Starts table walks for lookups that miss.
 * Returns true after an answer. */
static bool atu_step(struct atu *a)
{
	uint64_t now = ex_now(a->nic), base;

	for (struct atu_req *r = a->looking; r; r = r->next) {
		if (r->walking)
			continue;
		if (r->when > now) {
			atu_wake(a, r->when);
			continue;
		}
		if (atu_lookup(a, r))
			return true;
		extoll_rma_count(a->nic, RMA_K_TLB_MISSES, 1);
		r->walking = true;
		r->stale = false;
		base = ATU_BASE_PHYS(atu_gat_get(a, NLA_GAT(r->nla)));
		extoll_rma_read(a->nic, EXTOLL_HX_ATU,
				base + NLA_GATE(r->nla) * 8ULL, 8, atu_walked,
				r, 0);
	}
	return false;
}

void atu_run(struct atu *a)
{
	while (atu_step(a))
		; /* start again because the list has changed */
	atu_cmd_run(a);
}

void atu_translate(struct atu *a, struct atu_req *r)
{
	struct atu_req **at = &a->looking;

	r->atu = a;
	r->walking = r->stale = r->used = false;
	r->when = ex_now(a->nic) + ATU_HIT;
	r->next = NULL;
	while (*at) /* append, so that units are served in order of their
		     * requests */
		at = &(*at)->next;
	*at = r;
	atu_wake(a, r->when);
}
