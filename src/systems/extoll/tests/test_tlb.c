/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the ATU's TLB with its reference (ref_tlb.h), alone and in the NIC.
 * In the NIC every access must hit or miss as in the reference, and must reach
 * the page that the table names. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "ref_tlb.h"
#include "rma_msg.h"
#include "weft/rng.h"

static struct ref_tlb ref;
static struct weft_rng rng;

static uint32_t dice(uint32_t n)
{
	return (uint32_t)weft_rng_below(&rng, n);
}

static void begin(uint64_t seed)
{
	rng = (struct weft_rng){ .s = { seed, seed << 1, 1, 2 } };
	memset(&ref, 0, sizeof(ref));
}

static void test_tlb_alone_does_what_the_reference_does(void **state)
{
	struct atu_tlb t;

	atu_tlb_init(&t);
	begin(88172645463325252ull);
	for (uint32_t i = 0; i < 40000; i++) {
		uint32_t page = dice(150), vpid = dice(3), n = 1 + dice(20);
		uint64_t gate = ref_tlb_find(&ref, page, vpid);

		assert_int_equal(atu_tlb_find(&t, page, vpid), gate);
		if (!gate) {
			ref_tlb_fill(&ref, page, vpid, i + 1);
			atu_tlb_fill(&t, page, vpid, i + 1);
		}
		if (!dice(60)) {
			ref_tlb_flush(&ref, page, n);
			atu_tlb_flush(&t, page, n, 0);
		}
		if (!dice(400)) {
			ref_tlb_flush_vpid(&ref, vpid);
			atu_tlb_flush(&t, 0, 0, vpid);
		}
	}
	atu_tlb_fini(&t);
}

/* ---- in the NIC ---- */

enum { PAGES = 120 };
static uint32_t where[PAGES]; /* page of memory for each NLA page */

static void flush(uint32_t page)
{
	uint32_t n = 1 + dice(8);

	if (dice(10)) {
		xr_w64(&rr, 0, EXTOLL_ATU_COMMAND, ATU_CMD_FLUSH(page, n));
		ref_tlb_flush(&ref, page, n);
		return;
	}
	xr_w64(&rr, 0, EXTOLL_ATU_COMMAND, ATU_CMD_FLUSH_VPID(RR_VPID));
	ref_tlb_flush_vpid(&ref, RR_VPID);
}

/* Changes an entry and flushes it, so that the next access uses the new one. */
static void move(uint32_t page)
{
	where[page] = dice(RR_PAGES);
	rr_gate(page, GATE_RW, where[page]);
	xr_w64(&rr, 0, EXTOLL_ATU_COMMAND, ATU_CMD_FLUSH(page, 1));
	ref_tlb_flush(&ref, page, 1);
}

/* Puts `val` by an immediate put. Returns true if the page was in the
 * reference TLB. */
static bool put(uint32_t page, uint64_t val)
{
	bool hit = ref_tlb_find(&ref, page, RR_VPID);

	if (!hit)
		ref_tlb_fill(&ref, page, RR_VPID, 1);
	rr_arrive(RR_PKT(.op = RMA_IMM_PUT, .bytes = 8,
			 .w = { NLA_MAKE(0, page, 8 * (val % 512)), val }),
		  xr_cycle(&rr));
	xr_settle(&rr);
	assert_int_equal(
		xr_mem64(&rr, 0, RR_PAGE(where[page]) + 8 * (val % 512)), val);
	return hit;
}

static void test_nic_hits_and_misses_as_the_reference(void **state)
{
	uint64_t hits = 0, misses = 0;

	begin(0x9E3779B97F4A7C15ull);
	for (uint32_t i = 0; i < PAGES; i++) {
		where[i] = i % RR_PAGES;
		rr_gate(i, GATE_RW, where[i]);
	}
	for (uint32_t i = 1; i <= 1500; i++) {
		uint32_t page = dice(dice(2) ? PAGES : 50);
		bool hit = put(page, i);

		hits += hit;
		misses += !hit;
		assert_int_equal(rr_counter("atu_hits"), hits);
		assert_int_equal(rr_counter("atu_misses"), misses);
		if (!dice(12))
			flush(page);
		if (!dice(12))
			move(page);
	}
	assert_true(hits > 300 && misses > 300);
	assert_int_equal(rr_counter("atu_faults"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tlb_alone_does_what_the_reference_does),
		cmocka_unit_test_setup_teardown(
			test_nic_hits_and_misses_as_the_reference, rr_open,
			rr_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
