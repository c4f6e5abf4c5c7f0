/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL ATU: the TLB, 64 entries, 4-way, round-robin replacement, and the
 * checks of an address and of a table entry (extoll.md 3.7, 5.5). */
#include "systems/extoll/nic/atu.h"

const char *const atu_fault_name[ATU_FAULTS] = {
	[ATU_OK] = "ok",
	[ATU_F_NLA] = "address",
	[ATU_F_CROSS] = "page crossing",
	[ATU_F_GAT] = "table not valid",
	[ATU_F_GATE] = "entry not valid",
	[ATU_F_ACCESS] = "access",
	[ATU_F_VPID] = "owner",
	[ATU_F_BUS] = "table not readable",
};

void atu_tlb_init(struct atu_tlb *t)
{
	assoc_init(&t->dir, ATU_SETS, ATU_WAYS, ASSOC_ROUND_ROBIN);
}

void atu_tlb_fini(struct atu_tlb *t)
{
	assoc_fini(&t->dir);
}

uint64_t atu_tlb_find(const struct atu_tlb *t, uint32_t page, uint32_t vpid)
{
	uint32_t i = assoc_find(&t->dir, page % ATU_SETS, vpid, page);

	return i == ASSOC_NONE ? 0 : t->gate[i];
}

void atu_tlb_fill(struct atu_tlb *t, uint32_t page, uint32_t vpid,
		  uint64_t gate)
{
	uint32_t i = assoc_victim(&t->dir, page % ATU_SETS);

	assoc_put(&t->dir, i, vpid, page, ASSOC_VALID);
	t->gate[i] = gate;
}

uint32_t atu_tlb_flush(struct atu_tlb *t, uint32_t first, uint32_t n,
		       uint32_t vpid)
{
	uint32_t gone = 0;

	for (uint32_t i = 0; i < ATU_SETS * ATU_WAYS; i++) {
		if (!assoc_valid(&t->dir, i) ||
		    (n ? t->dir.at[i].key - first >= n
		       : t->dir.at[i].owner != vpid))
			continue;
		assoc_remove(&t->dir, i);
		gone++;
	}
	return gone;
}

enum atu_fault atu_check_nla(uint64_t nla, uint32_t bytes)
{
	if (NLA_ZERO(nla))
		return ATU_F_NLA;
	if (NLA_OFFSET(nla) + bytes > RMA_PAGE)
		return ATU_F_CROSS;
	return ATU_OK;
}

enum atu_fault atu_check_gate(uint64_t gate, uint32_t vpid,
			      enum atu_access access)
{
	if (GATE_VALID(gate) == GATE_INVALID || GATE_SIZE(gate) ||
	    GATE_ZERO(gate))
		return ATU_F_GATE;
	if (GATE_VPID(gate) != vpid)
		return ATU_F_VPID;
	if (!(GATE_VALID(gate) & access))
		return ATU_F_ACCESS;
	return ATU_OK;
}
