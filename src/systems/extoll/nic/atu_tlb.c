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

static uint32_t tlb_set(uint32_t page)
{
	return page % ATU_SETS;
}

uint64_t atu_tlb_find(const struct atu_tlb *t, uint32_t page, uint32_t vpid)
{
	const struct atu_entry *e = t->way[tlb_set(page)];

	for (uint32_t i = 0; i < ATU_WAYS; i++)
		if (e[i].gate && e[i].page == page && e[i].vpid == vpid)
			return e[i].gate;
	return 0;
}

void atu_tlb_fill(struct atu_tlb *t, uint32_t page, uint32_t vpid,
		  uint64_t gate)
{
	uint32_t set = tlb_set(page);
	struct atu_entry *e = &t->way[set][t->next[set]];

	*e = (struct atu_entry){ .gate = gate, .page = page, .vpid = vpid };
	t->next[set] = (uint8_t)((t->next[set] + 1) % ATU_WAYS);
}

uint32_t atu_tlb_flush(struct atu_tlb *t, uint32_t first, uint32_t n)
{
	uint32_t gone = 0;

	for (uint32_t i = 0; i < ATU_SETS * ATU_WAYS; i++) {
		struct atu_entry *e = &t->way[0][0] + i;

		if (!e->gate || e->page - first >= n)
			continue;
		e->gate = 0;
		gone++;
	}
	return gone;
}

uint32_t atu_tlb_flush_vpid(struct atu_tlb *t, uint32_t vpid)
{
	uint32_t gone = 0;

	for (uint32_t i = 0; i < ATU_SETS * ATU_WAYS; i++) {
		struct atu_entry *e = &t->way[0][0] + i;

		if (!e->gate || e->vpid != vpid)
			continue;
		e->gate = 0;
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
