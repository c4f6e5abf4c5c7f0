/* SPDX-License-Identifier: Apache-2.0 */
/* See ref_tlb.h. */
#include "ref_tlb.h"

#include <assert.h>

/* Returns true if fill i is one of the last four of its set and was not
 * flushed. */
static bool known(const struct ref_tlb *t, uint32_t i)
{
	uint32_t set = t->fill[i].page % REF_TLB_SETS;

	return !t->fill[i].flushed &&
	       t->in_set[set] - t->fill[i].number <= REF_TLB_WAYS;
}

/* Returns the first fill to search. Assumes that a set gets at least four of
 * any 4096 fills, even if it is rarely filled. Therefore older fills are not
 * valid any more. */
static uint32_t oldest(const struct ref_tlb *t)
{
	return t->n > 4096 ? t->n - 4096 : 0;
}

uint64_t ref_tlb_find(const struct ref_tlb *t, uint32_t page, uint32_t vpid)
{
	for (uint32_t i = oldest(t); i < t->n; i++)
		if (t->fill[i].page == page && t->fill[i].vpid == vpid &&
		    known(t, i))
			return t->fill[i].gate;
	return 0;
}

void ref_tlb_fill(struct ref_tlb *t, uint32_t page, uint32_t vpid,
		  uint64_t gate)
{
	assert(t->n < REF_TLB_FILLS);
	t->fill[t->n].page = page;
	t->fill[t->n].vpid = vpid;
	t->fill[t->n].gate = gate;
	t->fill[t->n].flushed = false;
	t->fill[t->n++].number = t->in_set[page % REF_TLB_SETS]++;
}

void ref_tlb_flush(struct ref_tlb *t, uint32_t first, uint32_t n)
{
	for (uint32_t i = oldest(t); i < t->n; i++)
		if (t->fill[i].page >= first && t->fill[i].page < first + n)
			t->fill[i].flushed = true;
}

void ref_tlb_flush_vpid(struct ref_tlb *t, uint32_t vpid)
{
	for (uint32_t i = oldest(t); i < t->n; i++)
		if (t->fill[i].vpid == vpid)
			t->fill[i].flushed = true;
}
