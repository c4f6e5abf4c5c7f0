/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that are missing, read-only or swapped out: scenarios R19 and R22 of
 * hostport.md 13.3, and section 8.10. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hpend.h"

enum { P = HP_B_PUT | HP_A, G = HP_B_GET };

/* ---- R19, 8.10: pages that are missing ---- */

static void page_out(struct hpend *e, uint32_t page, bool out)
{
	uint64_t bit = 1ull << (page % 64), *w = &e->out[page / 64];

	*w = out ? *w | bit : *w & ~bit;
	hpend_cache(e, HP_CACHE_REMOVE, HP_CACHE_TLB, HPEND_VA / HP_PAGE + page,
		    0);
}

enum { HOLE = 40 }; /* number of the missing page, equal in both memories */

struct fault {
	uint32_t byte;
	uint64_t off, ooff, len;
	/* if set, the page is missing at the origin, else at the target */
	bool origin;
	enum hp_err near, far; /* NQEs */
	/* number of bytes that are stored in spite of the missing page */
	uint32_t stored;
	bool sends;
};

/* Instructions whose page 40 is missing at the origin or the target. */
static const struct fault faults[] = {
	{ P, 0, HOLE *HP_PAGE, 64, true, HP_ERR_OWINID, 0, 0, false },
	{ P, 0, (HOLE - 1) * HP_PAGE, 2 * HP_PAGE, true, HP_ERR_OWINID,
	  HP_ERR_OWINID, HP_PAGE, true },
	{ HP_B_PUT, 0, (HOLE - 20) * HP_PAGE, 30 * HP_PAGE, true, HP_ERR_OWINID,
	  HP_ERR_OWINID, 20 * HP_PAGE, true },
	{ P, HOLE *HP_PAGE, 0, 64, false, HP_ERR_TWINID, HP_ERR_TWINID, 0,
	  true },
	{ P, (HOLE - 1) * HP_PAGE + 8, 0, HP_PAGE, false, HP_ERR_TWINID,
	  HP_ERR_TWINID, HP_PAGE - 8, true },
	{ HP_B_FAST_PUT | HP_A | 1, HOLE *HP_PAGE, 0, 0, false, HP_ERR_TWINID,
	  HP_ERR_TWINID, 0, true },
	{ HP_B_MIS_PUT | HP_A, HOLE *HP_PAGE, 0, 0, false, HP_ERR_TWINID,
	  HP_ERR_TWINID, 0, true },
	{ HP_B_FAA, HOLE *HP_PAGE, 0, 0, false, HP_ERR_TWINID, HP_ERR_TWINID, 0,
	  true },
	{ G, HOLE *HP_PAGE, 0, 64, false, HP_ERR_TWINID, HP_ERR_TWINID, 0,
	  true },
	{ G, (HOLE - 1) * HP_PAGE, 0, 2 * HP_PAGE, false, HP_ERR_TWINID,
	  HP_ERR_TWINID, HP_PAGE, true },
	{ G, 0, HOLE *HP_PAGE, 64, true, HP_ERR_OWINID, 0, 0, true },
	{ G, 0, (HOLE - 1) * HP_PAGE, 2 * HP_PAGE, true, HP_ERR_OWINID, 0,
	  HP_PAGE, true },
};
enum { FAULTS = sizeof(faults) / sizeof(*faults) };

static void fault_one(struct hppair *t, struct hpend *e, const struct fault *f)
{
	struct hprma a = { .byte = f->byte,
			   .win = HPEND_WIN,
			   .capa = HPEND_CAPA,
			   .owin = HPEND_OWN,
			   .off = f->off,
			   .ooff = f->ooff,
			   .len = f->len };
	bool is_get = f->byte == HP_B_GET;
	struct hpend *b = &t->end[1], *from = is_get ? b : e,
		     *to = is_get ? e : b;
	uint64_t sent = hppair_counter(t, 0, "packets_out");

	hpend_set(to, 0xee);
	hpend_fill(from, is_get ? f->off : f->ooff, (uint32_t)f->len, 3);
	hpend_rma(e, &a);
	hpend_expect(e, HP_CMD(f->near, 0, f->byte), NULL);
	if (f->far)
		hpend_other(e, HP_CMD(f->far, 0, HP_B_NOTIFY_RMA), NULL);
	assert_int_equal(hppair_counter(t, 0, "packets_out") > sent, f->sends);
	weft_host_sleep(e->h, weft_host_now(e->h) + 20 * WEFT_US);
	assert_true(hpend_equal(to, is_get ? f->ooff : f->off, f->stored, 3));
	assert_true(hpend_rest(to, is_get ? f->ooff : f->off, f->stored, 0xee));
}

static void near_faults(struct hppair *t, struct hpend *e)
{
	hpend_windows(e);
	for (uint32_t i = 0; i < FAULTS; i++) {
		struct hpend *hole = faults[i].origin ? e : &t->end[1];

		hole->out[0] = 1ull << HOLE;
		if (hole == e)
			page_out(e, HOLE, true);
		fault_one(t, e, &faults[i]);
		hole->out[0] = 0;
	}
	hpend_silent(e);
	hppair_meet(e);
}

/* R19 */
static void test_untranslatable_page_reports_its_side(void **state)
{
	static struct hppair t;

	hppair_run(&t, NULL, near_faults, hppair_far_memory);
	assert_true(hppair_counter(&t, 0, "tlb_faults") >= 5);
	assert_true(hppair_counter(&t, 1, "tlb_faults") >= 6);
	hppair_free(&t);
}

/* Uses a page that may be read but not written. */
static void near_read_only(struct hppair *t, struct hpend *e)
{
	struct hprma a = hpend_get(0, 0, 64), b = hpend_put(0, 0, 64);

	hpend_windows(e);
	hpend_rma(e, &a);
	hpend_expect(e, a.byte, NULL);
	hpend_rma(e, &b);
	hpend_expect(e, HP_CMD(HP_ERR_TWINID, 0, b.byte), NULL);
	hpend_other(e, HP_CMD(HP_ERR_TWINID, 0, HP_B_NOTIFY_RMA), NULL);
	hppair_meet(e);
}

static void far_read_only(struct hppair *t, struct hpend *e)
{
	e->read_only = true;
	hppair_far_memory(t, e);
}

static void test_read_only(void **state)
{
	static struct hppair t;

	hppair_run(&t, NULL, near_read_only, far_read_only);
	hppair_free(&t);
}

/* ---- R22: the operating system swaps a page out ---- */

/* Swaps out a page that is in use, because a put waits at the target for its
 * second page. */
static void far_swap(struct hppair *t, struct hpend *e)
{
	uint64_t v = HPEND_VA / HP_PAGE;

	hpend_set(e, 0xee);
	e->hold = true;
	hpend_windows(e);
	while (hpdrv_get(&e->d, HP_R_TLB_MISS_CNT) < 2)
		;
	hpend_cache(
		e, HP_CACHE_INSERT, HP_CACHE_TLB, v,
		HP_TLB_ARG((e->mem_phys + (uint64_t)(hpend_at(e, 0) - e->mem)) /
				   HP_PAGE,
			   true));
	assert_int_equal(hpend_cache(e, HP_CACHE_QUERY, HP_CACHE_TLB, v, 0),
			 HP_CACHE_PRESENT | HP_CACHE_IN_USE);
	assert_int_equal(hpend_cache(e, HP_CACHE_REMOVE, HP_CACHE_TLB, v, 0),
			 HP_CACHE_PRESENT | HP_CACHE_IN_USE);
	assert_int_equal(hpend_cache(e, HP_CACHE_FLUSH, HP_CACHE_TLB, 0, 0),
			 HP_CACHE_PRESENT | HP_CACHE_IN_USE);
	e->hold = false;
	hppair_meet(e);
}

static void near_swap_wait(struct hppair *t, struct hpend *e)
{
	struct hprma a = hpend_put(0, 0, 2 * HP_PAGE);
	uint64_t v = HPEND_VA / HP_PAGE;

	hpend_windows(e);
	hpend_rma(e, &a);
	hpend_expect(e, a.byte, NULL);
	assert_int_equal(hpend_cache(e, HP_CACHE_QUERY, HP_CACHE_TLB, v, 0),
			 HP_CACHE_PRESENT);
	assert_int_equal(hpend_cache(e, HP_CACHE_REMOVE, HP_CACHE_TLB, v, 0),
			 0);
	assert_int_equal(e->misses, 2);
	hpend_rma(e, &a);
	hpend_expect(e, a.byte, NULL);
	assert_int_equal(e->misses, 3);
	hppair_meet(e);
}

/* R22 */
static void test_used_translation_is_not_swapped_out(void **state)
{
	static struct hppair t;

	hppair_run(&t, NULL, near_swap_wait, far_swap);
	hppair_free(&t);
}

/* Inserts all pages of a transfer by one bulk insert, so that the transfer has
 * no miss. */
static void near_bulk(struct hppair *t, struct hpend *e)
{
	struct hprma a = hpend_put(0, 0, 8 * HP_PAGE);
	weft_phys_t phys;
	uint64_t *list = weft_mem_alloc(e->h, HP_PAGE, HP_PAGE, &phys);

	for (uint32_t i = 0; i < 8; i++)
		list[i] = HP_TLB_ARG(
			(e->mem_phys +
			 (uint64_t)(hpend_at(e, i * HP_PAGE) - e->mem)) /
				HP_PAGE,
			true);
	hpdrv_set(&e->d, HP_R_CACHE_ARG0, HPEND_VA / HP_PAGE);
	hpdrv_set(&e->d, HP_R_CACHE_ARG1, phys);
	hpdrv_set(&e->d, HP_R_CACHE_CMD,
		  HP_CACHE_CMD(HP_CACHE_BULK, HP_CACHE_TLB, e->vpid, 8));
	while (hpdrv_get(&e->d, HP_R_CACHE_STATUS) & HP_CACHE_BUSY)
		;
	hpend_windows(e);
	hpend_fill(e, 0, 8 * HP_PAGE, 1);
	hpend_rma(e, &a);
	hpend_expect(e, a.byte, NULL);
	assert_int_equal(e->misses, 0);
	assert_true(hpend_equal(&t->end[1], 0, 8 * HP_PAGE, 1));
	hppair_meet(e);
}

static void test_bulk_insert_saves_every_miss(void **state)
{
	static struct hppair t;

	hppair_run(&t, NULL, near_bulk, hppair_far_memory);
	hppair_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_untranslatable_page_reports_its_side),
		cmocka_unit_test(test_read_only),
		cmocka_unit_test(test_used_translation_is_not_swapped_out),
		cmocka_unit_test(test_bulk_insert_saves_every_miss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
