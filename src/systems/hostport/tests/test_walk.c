/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over memory, page by page (hostport.md 8.2 step 8, 8.8), through
 * internal functions: translations that arrive in any order, faults, rings that
 * wrap. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "base/rng.h"
#include "hpproc.h"
#include "systems/hostport/nic/functional_units.h"

enum { VPID = 5, MOST = 60, ROUNDS = 150 };

static struct weft_rng rng;
static struct hpdrv drv;
static uint32_t goes, misses;

static uint32_t any(uint32_t n)
{
	return (uint32_t)(weft_rng_u64(&rng) % n);
}

static struct hp_nic *nic_of(struct exrig *r)
{
	return r->node[0].nic->state;
}

static void go(struct hp_nic *n, void *arg)
{
	goes++;
}

static void missed(struct hp_nic *n, void *arg)
{
	misses++;
}

static void rest(struct weft_host *h)
{
	weft_host_sleep(h, weft_host_now(h) + WEFT_US);
}

static uint64_t command(struct hp_nic *n, uint32_t op, uint64_t vpage,
			uint64_t arg)
{
	return hp_tlb_block.cache(n, HP_CACHE_CMD(op, HP_CACHE_TLB, VPID, 1ull),
				  vpage, arg);
}

/* ---- physical ---- */

static void ring_is(const struct hp_walk *w, uint64_t base, uint64_t size,
		    uint64_t off, uint32_t bytes)
{
	weft_phys_t pa;
	uint32_t left;

	for (uint32_t i = 0; i < bytes; i++) {
		uint64_t at = (off + i) % size;
		uint64_t end = off + bytes > size && off + i < size
				       ? size - off - i
				       : bytes - i;

		assert_int_equal(hp_walk_at(w, i, &pa, &left), HP_STEP_READY);
		assert_int_equal(pa, base + at);
		assert_int_equal(left, end);
	}
}

static int rings(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hp_walk w = { 0 };

	hpdrv_open(&drv, r, node, h);
	for (uint32_t off = 0; off < 64; off += 8)
		for (uint32_t bytes = 1; bytes <= 64; bytes += 7) {
			hp_walk_ring(&w, 0x5000, 64, off, bytes);
			ring_is(&w, 0x5000, 64, off, bytes);
			assert_true(hp_walk_known(&w));
			hp_walk_past(nic_of(r), &w, bytes);
			hp_walk_end(nic_of(r), &w);
		}
	return 0;
}

static void a_ring_goes_on_at_its_beginning(void **state)
{
	hprig_one(rings);
}

/* ---- virtual ---- */

/* Page tables of the test. */
static struct {
	uint64_t ppage[MOST + 1];
	bool there[MOST + 1];
	uint32_t pages, fault, passed;
	uint64_t va;
	uint32_t bytes;
} ref;

static void some_memory(void)
{
	memset(&ref, 0, sizeof(ref));
	ref.va = 0x1000000 + any(HP_PAGE);
	ref.bytes = 1 + any(any(2) ? (MOST - 1) * HP_PAGE : 3 * HP_PAGE);
	ref.pages = (uint32_t)((ref.va % HP_PAGE + ref.bytes + HP_PAGE - 1) /
			       HP_PAGE);
	ref.fault = any(4) ? UINT32_MAX : any(ref.pages);
	for (uint32_t i = 0; i < ref.pages; i++)
		ref.ppage[i] = 1000 + any(1u << 30);
}

/* Inserts a page that the device has requested, as the driver does. */
static void bring(struct hp_nic *n, uint32_t page)
{
	command(n, HP_CACHE_INSERT, ref.va / HP_PAGE + page,
		page == ref.fault ? HP_TLB_FAULT
				  : HP_TLB_ARG(ref.ppage[page], 1ull));
	ref.there[page] = true;
}

/* Returns whether the device has found that this page and all pages behind it
 * do not exist. */
static bool beyond(uint32_t page)
{
	return ref.fault < ref.pages && ref.there[ref.fault] &&
	       page >= ref.fault;
}

static void check(const struct hp_walk *w)
{
	for (uint32_t k = 0; k < 20; k++) {
		uint32_t off = any(ref.bytes), left = 0;
		uint64_t at = ref.va % HP_PAGE + off;
		uint32_t page = (uint32_t)(at / HP_PAGE);
		weft_phys_t pa = 0;
		enum hp_step s = hp_walk_at(w, off, &pa, &left);

		if (page < ref.passed)
			continue;
		if (beyond(page)) {
			assert_int_equal(s, HP_STEP_FAULT);
		} else if (!ref.there[page]) {
			assert_int_equal(s, HP_STEP_WAIT);
		} else {
			assert_int_equal(s, HP_STEP_READY);
			assert_int_equal(pa, ref.ppage[page] * HP_PAGE +
						     at % HP_PAGE);
			assert_int_equal(left, HP_PAGE - at % HP_PAGE);
		}
	}
}

/* Checks that a page is in use from its translation on until the walk no longer
 * needs it. */
static void in_use(struct hp_nic *n, bool over)
{
	for (uint32_t i = 0; i < ref.pages + 2; i++) {
		bool used = !over && i >= ref.passed && i < ref.pages &&
			    ref.there[i] && !beyond(i);

		assert_int_equal(
			command(n, HP_CACHE_QUERY, ref.va / HP_PAGE + i, 0) &
				HP_CACHE_IN_USE,
			used ? HP_CACHE_IN_USE : 0);
	}
}

/* Reads the device's records. Each missing page is requested once, and not too
 * far ahead. */
static uint32_t asked(struct weft_host *h, uint32_t *list, uint32_t n)
{
	uint64_t w;

	rest(h);
	while ((w = hpdrv_get(&drv, HP_R_TLB_MISS)) != HP_NONE) {
		assert_int_equal(HP_MISS_VPID(w), VPID);
		assert_true(HP_MISS_WRITE(w));
		list[n++] = (uint32_t)(HP_MISS_PAGE(w) - ref.va / HP_PAGE);
	}
	return n;
}

static void walk(struct weft_host *h, struct hp_nic *n)
{
	struct hp_walk w = { .go = go, .missed = missed };
	uint32_t list[2 * MOST], k = 0, seen = 0, ahead = n->param.list_pages;

	some_memory();
	ahead = ref.pages <= HP_AHEAD || ahead > HP_AHEAD ? HP_AHEAD : ahead;
	goes = misses = 0;
	hp_walk_virt(n, &w, VPID, ref.va, ref.bytes, true);
	for (uint32_t turn = 0; turn < 400; turn++) {
		uint32_t was = k;

		k = asked(h, list, k);
		seen += k - was;
		assert_true(k <= ahead);
		assert_int_equal(hp_walk_known(&w), !k);
		assert_int_equal(misses, seen);
		check(&w);
		in_use(n, false);
		if (!k && ref.passed == ref.pages)
			break;
		if (k && any(3)) {
			uint32_t i = any(k), page = list[i];

			was = goes;
			list[i] = list[--k];
			bring(n, page);
			rest(h);
			assert_int_equal(goes, was + 1);
		} else if (ref.passed < ref.pages && ref.there[ref.passed] &&
			   ref.passed != ref.fault) {
			uint64_t end = (uint64_t)++ref.passed * HP_PAGE -
				       ref.va % HP_PAGE;

			hp_walk_past(n, &w,
				     end < ref.bytes ? (uint32_t)end
						     : ref.bytes);
			if (end > ref.bytes)
				ref.passed = ref.pages - 1;
		}
		if (!k && ref.fault < ref.pages && ref.there[ref.fault])
			break;
		if (!k && seen == ref.pages && ref.there[ref.pages - 1] &&
		    ref.passed >= ref.pages - 1)
			break;
	}
	assert_true(hp_walk_known(&w));
	hp_walk_end(n, &w);
	in_use(n, true);
	command(n, HP_CACHE_FLUSH, 0, 0);
}

static int walks(struct weft_host *h, struct exrig *r, uint32_t node)
{
	hpdrv_open(&drv, r, node, h);
	weft_rng_seed(&rng, 12, NULL);
	for (uint32_t i = 0; i < ROUNDS; i++)
		walk(h, nic_of(r));
	return 0;
}

/* The last byte of the memory is the first byte of a page, which is translated,
 * too. */
static int last_byte(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hp_walk w = { .go = go, .missed = missed };
	struct hp_nic *n = nic_of(r);
	uint32_t list[2], left = 0;
	weft_phys_t pa = 0;

	hpdrv_open(&drv, r, node, h);
	memset(&ref, 0, sizeof(ref));
	ref.va = 0x1000000 + HP_PAGE - 8;
	ref.bytes = 9;
	ref.pages = 2;
	ref.fault = UINT32_MAX;
	ref.ppage[1] = 77;
	hp_walk_virt(n, &w, VPID, ref.va, ref.bytes, true);
	assert_int_equal(asked(h, list, 0), 2);
	bring(n, 0);
	bring(n, 1);
	rest(h);
	assert_int_equal(hp_walk_at(&w, 8, &pa, &left), HP_STEP_READY);
	assert_int_equal(pa, 77 * HP_PAGE);
	hp_walk_past(n, &w, ref.bytes);
	hp_walk_end(n, &w);
	return 0;
}

static void a_page_with_one_byte_of_the_memory_is_translated(void **state)
{
	hprig_one(last_byte);
}

static void run(const char *list_pages)
{
	struct exrig r;

	hprig_new(&r, "1", NULL);
	exrig_set(&r, "hostport.nic", "list_pages", list_pages);
	exrig_prog(&r, 0, walks);
	exrig_start(&r);
	exrig_run(&r);
	exrig_free(&r);
}

static void pages_are_found_in_any_order(void **state)
{
	run("256");
	run("20");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_goes_on_at_its_beginning),
		cmocka_unit_test(pages_are_found_in_any_order),
		cmocka_unit_test(
			a_page_with_one_byte_of_the_memory_is_translated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
