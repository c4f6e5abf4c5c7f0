/* SPDX-License-Identifier: Apache-2.0 */
/* Contiguous memory of the Host Port's driver (hostport.md 4.11): the
 * bookkeeping of both allocators against known answers and bitmaps, then the
 * driver on nodes whose memory is fragmented, too small, or left behind by
 * processes. */
#include "unit/cmocka_all.h"

#include <errno.h>
#include <string.h>

#include "base/rng.h"
#include "hpproc.h"
#include "systems/hostport/lib/driver.h"
#include "systems/hostport/nic/nic.h"

enum { PAGE = HPORT_KPAGE, KIB = 1024, MIB = 1024 * KIB };

/* ---- runs ---- */

static void runs_are_taken_first_fit_and_joined_again(void **state)
{
	struct hport_runs r;

	assert_true(hport_runs_init(&r, 10));
	assert_int_equal(hport_runs_take(&r, 3), 0);
	assert_int_equal(hport_runs_take(&r, 1), 3);
	assert_int_equal(hport_runs_take(&r, 4), 4);
	/* refused, because only two pages are left */
	assert_int_equal(hport_runs_take(&r, 3), -1);
	assert_int_equal(hport_runs_take(&r, 0), -1);
	assert_int_equal(hport_runs_take(&r, UINT64_MAX), -1);
	assert_int_equal(hport_runs_give(&r, 0), 3);
	assert_int_equal(hport_runs_give(&r, 0), 0);
	/* refused, because page 5 is inside a run */
	assert_int_equal(hport_runs_give(&r, 5), 0);
	assert_int_equal(hport_runs_give(&r, 10), 0);
	/* refused, because the five free pages are in pieces */
	assert_int_equal(hport_runs_take(&r, 4), -1);
	assert_int_equal(hport_runs_take(&r, 2), 0);
	assert_int_equal(hport_runs_give(&r, 3), 1);
	assert_int_equal(hport_runs_take(&r, 2), 2);
	assert_int_equal(hport_runs_take(&r, 2), 8);
	for (uint32_t i = 0; i < 10; i += 2)
		hport_runs_give(&r, i);
	assert_int_equal(hport_runs_take(&r, 10), 0);
	hport_runs_fini(&r);
}

/* ---- powers of two ---- */

static void a_block_is_split_and_joined_by_halves(void **state)
{
	struct hport_buddy b;

	hport_buddy_init(&b, 3);
	assert_true(hport_buddy_whole(&b));
	assert_int_equal(hport_buddy_take(&b, 4), -1);
	/* takes page 0, so that pages 1, 2-3 and 4-7 are left */
	assert_int_equal(hport_buddy_take(&b, 0), 0);
	assert_int_equal(hport_buddy_take(&b, 1), 2);
	assert_int_equal(hport_buddy_take(&b, 0), 1);
	assert_int_equal(hport_buddy_take(&b, 3), -1);
	/* takes page 4, so that pages 5 and 6-7 are left */
	assert_int_equal(hport_buddy_take(&b, 0), 4);
	assert_int_equal(hport_buddy_take(&b, 2), -1);
	assert_int_equal(hport_buddy_give(&b, 3), -1); /* inside one */
	assert_int_equal(hport_buddy_give(&b, 5), -1); /* free */
	assert_int_equal(hport_buddy_give(&b, 8), -1);
	assert_int_equal(hport_buddy_give(&b, 2), 1);
	assert_int_equal(hport_buddy_take(&b, 2), -1);
	assert_int_equal(hport_buddy_give(&b, 1), 0);
	assert_int_equal(hport_buddy_give(&b, 0), 0);
	assert_int_equal(hport_buddy_take(&b, 2), 0);
	assert_false(hport_buddy_whole(&b));
	assert_int_equal(hport_buddy_give(&b, 0), 2);
	assert_int_equal(hport_buddy_give(&b, 4), 0);
	assert_true(hport_buddy_whole(&b));
	assert_int_equal(hport_buddy_take(&b, 3), 0);
}

/* The table of pieces is larger than its block. The entry behind the block
 * looks like a free half, but the block must not be joined with it. */
static void a_block_is_not_joined_with_what_lies_behind_it(void **state)
{
	struct hport_buddy b;

	hport_buddy_init(&b, 3);
	b.head[8] = b.head[0];
	assert_int_equal(hport_buddy_take(&b, 3), 0);
	assert_int_equal(hport_buddy_give(&b, 0), 3);
	assert_true(hport_buddy_whole(&b));
}

/* Every second page is free, so that no two free pages make a pair. */
static void pieces_that_are_no_halves_of_one_stay_apart(void **state)
{
	struct hport_buddy b;

	hport_buddy_init(&b, 9);
	for (int32_t i = 0; i < 512; i++)
		assert_int_equal(hport_buddy_take(&b, 0), i);
	assert_int_equal(hport_buddy_take(&b, 0), -1);
	for (uint32_t i = 1; i < 512; i += 2)
		assert_int_equal(hport_buddy_give(&b, i), 0);
	assert_int_equal(hport_buddy_take(&b, 1), -1);
	for (uint32_t i = 510; i < 512; i -= 2)
		assert_int_equal(hport_buddy_give(&b, i), 0);
	assert_true(hport_buddy_whole(&b));
}

static void orders_hold_what_is_asked_and_less_than_twice(void **state)
{
	static const uint8_t want[] = { 0, 0, 1, 2, 2, 3, 3, 3, 3, 4 };

	for (uint32_t i = 0; i < sizeof(want); i++)
		assert_int_equal(hport_order(i), want[i]);
	for (uint64_t n = 1; n < 3000; n++) {
		assert_true(1ull << hport_order(n) >= n);
		assert_true(1ull << hport_order(n) < 2 * n);
	}
}

/* Calls both allocators in random order and compares them with a bitmap of the
 * pages. No page is allocated twice, no request is refused while it fits, and
 * all pages are free at the end. */
enum { PAGES = 512, HELD = 40 };

struct held {
	uint32_t at, n;
};

static bool mark(bool *used, struct held x, bool on)
{
	for (uint32_t i = x.at; i < x.at + x.n; i++) {
		if (used[i] == on)
			return false;
		used[i] = on;
	}
	return true;
}

/* Returns whether n contiguous pages are free that start at a multiple of
 * `align`. */
static bool there(const bool *used, uint32_t n, uint32_t align)
{
	for (uint32_t from = 0; from + n <= PAGES; from += align) {
		uint32_t i = 0;

		while (i < n && !used[from + i])
			i++;
		if (i == n)
			return true;
	}
	return false;
}

static void both_agree_with_a_bitmap(bool buddies)
{
	bool used[PAGES] = { 0 };
	struct held held[HELD] = { 0 };
	struct weft_rng rng = { 0 };
	struct hport_buddy b;
	struct hport_runs r;

	weft_rng_seed(&rng, 1, "kmem");
	hport_buddy_init(&b, 9);
	assert_true(hport_runs_init(&r, PAGES));
	for (uint32_t turn = 0; turn < 20000; turn++) {
		struct held *x = &held[weft_rng_u64(&rng) % HELD];
		uint32_t order = (uint32_t)(weft_rng_u64(&rng) % 7);
		int64_t at;

		if (x->n) {
			assert_true(mark(used, *x, false));
			if (buddies)
				assert_int_equal(
					1u << hport_buddy_give(&b, x->at),
					x->n);
			else
				assert_int_equal(hport_runs_give(&r, x->at),
						 x->n);
			x->n = 0;
			continue;
		}
		x->n = buddies ? 1u << order
			       : 1 + (uint32_t)(weft_rng_u64(&rng) % 64);
		at = buddies ? hport_buddy_take(&b, order)
			     : hport_runs_take(&r, x->n);
		assert_int_equal(at >= 0,
				 there(used, x->n, buddies ? x->n : 1));
		x->at = (uint32_t)at;
		if (at < 0)
			x->n = 0;
		assert_true(mark(used, *x, true));
	}
	for (uint32_t i = 0; i < HELD; i++)
		if (held[i].n && buddies)
			hport_buddy_give(&b, held[i].at);
		else if (held[i].n)
			hport_runs_give(&r, held[i].at);
	assert_int_equal(hport_buddy_take(&b, 9), 0);
	assert_int_equal(hport_runs_take(&r, PAGES), 0);
	hport_runs_fini(&r);
}

static void runs_agree_with_a_bitmap(void **state)
{
	both_agree_with_a_bitmap(false);
}

static void halves_agree_with_a_bitmap(void **state)
{
	both_agree_with_a_bitmap(true);
}

/* ---- the driver of a node ---- */

static struct exrig rig;
static uint32_t step;
enum { LOADED = 1, OPEN, GONE };

static void run(exrig_fn a, exrig_fn b)
{
	struct hp_nic *n;

	hprig_new(&rig, "1", NULL);
	step = 0;
	n = rig.node[0].nic->state;
	n->place.topo = &rig.topo;
	exrig_prog(&rig, 0, a);
	if (b)
		exrig_prog(&rig, 0, b);
	exrig_start(&rig);
	exrig_run(&rig);
	exrig_free(&rig);
}

static void await(struct weft_host *h, uint32_t n)
{
	while (step < n)
		weft_host_sleep(h, weft_host_now(h) + WEFT_US);
}

static struct hport_memory how;

/* State of the driver's memory before the test. Its counts are those of the
 * driver's own tables. */
static struct hport_kmem before;

static int look(struct hport_drv *d, void *arg)
{
	memcpy(arg, &d->kernel->kmem, sizeof(before));
	return 0;
}

static struct hport_kmem kmem_of(struct weft_host *h)
{
	struct hport_kmem k;

	assert_int_equal(hport_drv_run(h, look, &k), 0);
	return k;
}

static void as_before(struct weft_host *h)
{
	struct hport_kmem k = kmem_of(h);

	assert_int_equal(k.asked, before.asked);
	assert_int_equal(k.given, before.given);
	assert_int_equal(k.reserved, before.reserved);
	assert_int_equal(k.blocks.n, 0);
}

struct piece {
	uint8_t *mem;
	weft_phys_t phys;
	uint64_t bytes;
};

static int take(struct hport_drv *d, void *arg)
{
	struct piece *p = arg;

	p->mem = hport_kmem_alloc(d, p->bytes, &p->phys);
	return p->mem ? 0 : -ENOMEM;
}

static int give(struct hport_drv *d, void *arg)
{
	struct piece *p = arg;

	hport_kmem_free(d, p->mem, p->bytes);
	return 0;
}

static int take_pages(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct piece a = { .bytes = 3 * PAGE }, b = { .bytes = 2 * MIB };
	struct piece c = { .bytes = 2 * MIB + 1 };
	struct hport_kmem k;
	weft_phys_t was;

	how = (struct hport_memory){ .kind = HPORT_MEM_PAGES };
	assert_int_equal(hport_load(h, &how), 0);
	assert_int_equal(hport_load(h, &how), -EBUSY);
	before = kmem_of(h);
	assert_int_equal(hport_drv_run(h, take, &a), 0);
	assert_int_equal(a.phys % (4 * PAGE), 0);
	k = kmem_of(h);
	assert_int_equal(k.asked - before.asked, 3 * PAGE);
	assert_int_equal(k.given - before.given, 4 * PAGE);
	assert_int_equal(k.reserved - before.reserved, 4);
	assert_int_equal(hport_drv_run(h, take, &b), 0);
	assert_int_equal(b.phys % (2 * MIB), 0);
	assert_int_equal(hport_drv_run(h, take, &c), -ENOMEM);
	assert_int_equal(kmem_of(h).long_, 1);
	/* the next owner must not read a byte of the previous one */
	memset(a.mem, 'A', a.bytes);
	c = (struct piece){ .bytes = PAGE };
	assert_int_equal(hport_drv_run(h, take, &c), 0);
	was = a.phys;
	hport_drv_run(h, give, &a);
	assert_int_equal(hport_drv_run(h, take, &a), 0);
	assert_int_equal(a.phys, was);
	assert_null(memchr(a.mem, 'A', a.bytes));
	hport_drv_run(h, give, &c);
	hport_drv_run(h, give, &b);
	hport_drv_run(h, give, &a);
	as_before(h);
	return 0;
}

static void the_page_allocator_gives_powers_of_two_up_to_2_mib(void **state)
{
	run(take_pages, NULL);
}

/* Lets programs hold every second 64 KiB piece of the remaining memory, so that
 * it is fragmented. */
static int take_in_pieces(struct weft_host *h, struct exrig *r, uint32_t node)
{
	enum { MAX = 64 * MIB / (64 * KIB) };
	static void *held[MAX];
	struct piece a = { .bytes = 64 * KIB }, b = { .bytes = 65 * KIB };
	uint32_t n = 0;

	how = (struct hport_memory){ .kind = HPORT_MEM_AUTO };
	assert_int_equal(hport_load(h, &how), 0);
	before = kmem_of(h);
	while (n < MAX &&
	       (held[n] = weft_mem_alloc(h, 64 * KIB, 64 * KIB, NULL)))
		n++;
	assert_true(n < MAX);
	for (uint32_t i = 0; i < n; i += 2)
		weft_mem_free(h, held[i]);
	assert_int_equal(hport_drv_run(h, take, &a), 0);
	assert_int_equal(kmem_of(h).pieces, 0);
	/* allocates 65 KiB in the region, because no free piece of the node is
	 * long enough */
	assert_int_equal(hport_drv_run(h, take, &b), 0);
	assert_int_equal(kmem_of(h).pieces, 1);
	assert_int_equal(kmem_of(h).blocks.n, 1);
	hport_drv_run(h, give, &a);
	hport_drv_run(h, give, &b);
	as_before(h);
	for (uint32_t i = 1; i < n; i += 2)
		weft_mem_free(h, held[i]);
	assert_int_equal(hport_drv_run(h, take, &b), 0);
	assert_int_equal(kmem_of(h).pieces, 1);
	hport_drv_run(h, give, &b);
	as_before(h);
	return 0;
}

static void memory_in_pieces_is_refused_by_the_page_allocator(void **state)
{
	run(take_in_pieces, NULL);
}

/* ---- ports ---- */

static struct hport *port[3];
static struct hport_attr any_port = { .vpid = -1 };

static int open_until_full(struct weft_host *h, struct exrig *r, uint32_t node)
{
	await(h, LOADED);
	assert_int_equal(hport_open(h, &any_port, &port[0]), 0);
	assert_int_equal(hport_open(h, &any_port, &port[1]), 0);
	assert_int_equal(hport_open(h, &any_port, &port[2]), -ENOMEM);
	hport_close(port[0]);
	assert_int_equal(hport_open(h, &any_port, &port[0]), 0);
	hport_close(port[1]);
	hport_close(port[0]);
	step = GONE;
	return 0;
}

static int load_small(struct weft_host *h, struct exrig *r, uint32_t node)
{
	/* sizes of WQ, SDR, RDR, WDT, PRQ, NQ in appendix B */
	const uint64_t queues = 4096 + 2 * 65536 + 4096 + 4096 + 8192;

	how = (struct hport_memory){ .kind = HPORT_MEM_BOOT,
				     .boot_bytes = 4 * MIB + 2 * PAGE +
						   2 * queues + PAGE };
	assert_int_equal(hport_load(h, &how), 0);
	before = kmem_of(h);
	step = LOADED;
	await(h, GONE);
	as_before(h);
	assert_true(kmem_of(h).full >= 1);
	return 0;
}

static void a_region_that_is_full_refuses_ports_and_loses_nothing(void **state)
{
	run(load_small, open_until_full);
}

/* Opens two ports, and ends without closing them. */
static int dies(struct weft_host *h, struct exrig *r, uint32_t node)
{
	await(h, LOADED);
	assert_int_equal(hport_open(h, &any_port, &port[0]), 0);
	assert_int_equal(hport_open(h, &any_port, &port[1]), 0);
	step = OPEN;
	weft_host_sleep(h, weft_host_now(h) + 5 * WEFT_US);
	return 0;
}

static int recorders_after(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport_kmem k;

	assert_int_equal(hport_load(h, &how), 0);
	before = kmem_of(h);
	step = LOADED;
	await(h, OPEN);
	k = kmem_of(h);
	assert_int_equal(k.asked - before.asked,
			 2 * (3 * 4096 - 2048 + 8192 + 2 * 65536));
	assert_int_equal(k.blocks.n, how.kind != HPORT_MEM_BOOT);
	weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	as_before(h);
	return 0;
}

static void memory_of_a_process_that_ends_comes_back(void **state)
{
	for (uint32_t kind = HPORT_MEM_AUTO; kind <= HPORT_MEM_PAGES; kind++) {
		how = (struct hport_memory){ .kind = kind };
		run(recorders_after, dies);
	}
}

static int load_wrong(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p;

	assert_int_equal(hport_load(h, &how),
			 how.boot_bytes ? -ENOMEM : -EINVAL);
	/* fails, because the driver could not be loaded */
	assert_int_equal(hport_open(h, NULL, &p),
			 how.boot_bytes ? -ENOMEM : -EINVAL);
	return 0;
}

static void a_region_that_the_node_does_not_have_is_an_error(void **state)
{
	static const struct hport_memory wrong[] = {
		{ .boot_bytes = 65 * MIB },
		{ .boot_bytes = 1 * MIB }, /* too small for the context table */
		{ .object_max = 2 * MIB + 1 },
		{ .kind = HPORT_MEM_PAGES + 1 },
	};

	for (uint32_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		how = wrong[i];
		run(load_wrong, NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_are_taken_first_fit_and_joined_again),
		cmocka_unit_test(a_block_is_split_and_joined_by_halves),
		cmocka_unit_test(
			a_block_is_not_joined_with_what_lies_behind_it),
		cmocka_unit_test(pieces_that_are_no_halves_of_one_stay_apart),
		cmocka_unit_test(orders_hold_what_is_asked_and_less_than_twice),
		cmocka_unit_test(runs_agree_with_a_bitmap),
		cmocka_unit_test(halves_agree_with_a_bitmap),
		cmocka_unit_test(
			the_page_allocator_gives_powers_of_two_up_to_2_mib),
		cmocka_unit_test(
			memory_in_pieces_is_refused_by_the_page_allocator),
		cmocka_unit_test(
			a_region_that_is_full_refuses_ports_and_loses_nothing),
		cmocka_unit_test(memory_of_a_process_that_ends_comes_back),
		cmocka_unit_test(
			a_region_that_the_node_does_not_have_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
