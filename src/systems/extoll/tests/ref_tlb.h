/* SPDX-License-Identifier: Apache-2.0 */
/* Reference of the ATU's TLB (extoll.md 5.5): a list of all fills. An entry is
 * valid until its page is flushed or four later entries have filled its set. */
#ifndef EXTOLL_TESTS_REF_TLB_H
#define EXTOLL_TESTS_REF_TLB_H

#include <stdbool.h>
#include <stdint.h>

enum { REF_TLB_FILLS = 1 << 17, REF_TLB_SETS = 16, REF_TLB_WAYS = 4 };

struct ref_tlb {
	struct {
		uint32_t page, vpid, number; /* number of the fill in its set */
		uint64_t gate;
		bool flushed;
	} fill[REF_TLB_FILLS];
	uint32_t n, in_set[REF_TLB_SETS];
};

uint64_t ref_tlb_find(const struct ref_tlb *t, uint32_t page, uint32_t vpid);
void ref_tlb_fill(struct ref_tlb *t, uint32_t page, uint32_t vpid,
		  uint64_t gate);
void ref_tlb_flush(struct ref_tlb *t, uint32_t first, uint32_t n);
void ref_tlb_flush_vpid(struct ref_tlb *t, uint32_t vpid);

#endif
