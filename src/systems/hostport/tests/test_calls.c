/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the Host Port's driver (systems/hostport/lib/driver_calls.h): calls
 * for ports of other processes, pages that are swapped out and used again,
 * sizes that the device does not accept, and the bytes of a route. */
#include "unit/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hports.h"
#include "systems/hostport/lib/driver.h"
#include "systems/hostport/nic/nic.h"

static const struct hport_tag tag = { 1, 2 };

static int call(struct weft_host *h, uint32_t op, void *arg)
{
	return weft_drv_call(h, weft_dev_open(h, 0), op, arg);
}

/* ---- ports of others ---- */

enum { THEIRS = 7, MINE = 9, CLOSED = 11 };

/* Makes every call that takes a port, with a port of another process. */
static void refused(struct weft_host *h, uint32_t vpid, weft_phys_t phys,
		    uint64_t va)
{
	struct hport_c_vpid v = { vpid };
	struct hport_c_win w = { vpid, 0 };
	struct hport_c_mem new = { .vpid = vpid, .bytes = HP_PAGE };
	struct hport_c_mem at = { .vpid = vpid, .va = va };
	struct hport_c_mem of = { .vpid = vpid, .phys = phys };

	assert_int_equal(call(h, HPORT_C_CLOSE, &v), -EBADF);
	assert_int_equal(call(h, HPORT_C_WINDOW, &w), -EBADF);
	assert_int_equal(call(h, HPORT_C_MAP, &new), -EBADF);
	assert_int_equal(call(h, HPORT_C_UNMAP, &at), -EBADF);
	assert_int_equal(call(h, HPORT_C_PAGE_OUT, &at), -EBADF);
	assert_int_equal(call(h, HPORT_C_PAGE_IN, &at), -EBADF);
	assert_int_equal(call(h, HPORT_C_FREE, &of), -EBADF);
}

static struct {
	uint64_t va;
	weft_phys_t phys;
} theirs;

static int owner(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = hports_open(h, THEIRS);
	struct hport_peer to = hports_peer(p, 0, THEIRS);
	struct hport_far far = { 0, 0, 0 };
	uint64_t word = 1;
	uint8_t *m;

	m = hports_window(p, 0, HP_PAGE, 0, &theirs.va);
	assert_true(weft_mem_phys(h, m, &theirs.phys));
	hports.step = 1;
	hports_await(h, 2);
	hport_fast_put(p, &to, HPORT_ACK, tag, &far, &word, 1);
	assert_int_equal(hports_note(p, WEFT_MS).error, 0);
	assert_int_equal(*(uint64_t *)m, 1);
	hport_close(p);
	return 0;
}

static int stranger(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport_c_run run = { NULL, NULL };
	struct hport_c_serve serve = { 0, 0 };
	struct hport *p;

	hports_await(h, 1);
	hport_close(hports_open(h, CLOSED));
	p = hports_open(h, MINE);
	refused(h, THEIRS, theirs.phys, theirs.va);
	refused(h, CLOSED, theirs.phys, theirs.va);
	refused(h, HP_VPIDS - 1, theirs.phys, theirs.va);
	refused(h, HP_VPIDS, theirs.phys, theirs.va);
	refused(h, UINT32_MAX, theirs.phys, theirs.va);
	/* refused, because only the kernel may make these calls */
	assert_int_equal(call(h, HPORT_C_RUN, &run), -EPERM);
	assert_int_equal(call(h, HPORT_C_SERVE, &serve), -EPERM);
	assert_int_equal(hport_load(h, &(struct hport_memory){ 0 }), -EBUSY);
	assert_int_equal(call(h, WEFT_DRV_OP(HPORT_N + 1, 8), &serve), -EINVAL);
	hport_close(p);
	hports.step = 2;
	return 0;
}

static void ports_of_others_are_refused_by_every_call(void **state)
{
	HPORTS_ONE(owner, stranger);
}

/* ---- processes ---- */

/* Opens ports with a smaller and a larger VPID after the first one. A tagged
 * instruction belongs to the port whose VPID equals the tag. */
static int three_ports(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = hports_open(h, MINE);
	struct hport *more[] = { hports_open(h, THEIRS),
				 hports_open(h, CLOSED) };
	struct hport_peer to = hports_peer(p, 0, MINE);
	struct hport_far far = { 0, 0, 0 };
	uint64_t word = 1;
	uint8_t *m;

	m = hports_window(p, 0, HP_PAGE, 0, NULL);
	assert_true(hport_use_tags(p, true));
	assert_int_equal(hport_fast_put(p, &to, HPORT_ACK, tag, &far, &word, 1),
			 0);
	assert_int_equal(hports_note(p, WEFT_MS).error, 0);
	assert_int_equal(*(uint64_t *)m, 1);
	hport_close(more[1]);
	hport_close(more[0]);
	hport_close(p);
	return 0;
}

static void the_tag_of_a_process_stays_that_of_its_first_port(void **state)
{
	HPORTS_ONE(three_ports);
}

/* ---- memory ---- */

static int wrong_memory(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = hports_open(h, MINE);
	struct hport_c_mem a = { .vpid = MINE };
	uint64_t va, at;
	uint8_t *m, *n;

	m = hport_alloc(p, 2 * HP_PAGE, &va);
	n = hport_alloc(p, 1, &at);
	/* the size is rounded to whole pages, and the region is placed between
	 * two others */
	assert_int_equal(at, va + 3 * HP_PAGE);
	assert_null(hport_alloc(p, 0, &at));
	assert_null(hport_alloc(p, UINT64_MAX, &at));
	assert_int_equal(hport_map(p, m, 0, &at), -EFAULT);
	assert_int_equal(hport_map(p, m, 64 * HP_PAGE, &at), -EFAULT);
	assert_int_equal(hport_map(p, &a, 8, &at), -EFAULT);
	/* the driver would take address 0 for a request of new memory */
	assert_int_equal(hport_map(p, weft_mem_at(h, 0, 64), 64, &at), -EFAULT);
	/* addresses before, between and behind the regions */
	for (uint32_t i = 0; i < 3; i++) {
		static const int32_t off[] = { -1, 2 * HP_PAGE, 4 * HP_PAGE };

		a.va = va + (uint64_t)(int64_t)off[i];
		assert_int_equal(call(h, HPORT_C_UNMAP, &a), -EINVAL);
		assert_int_equal(call(h, HPORT_C_PAGE_OUT, &a), -EINVAL);
		assert_false(hport_page_out(p, a.va));
	}
	assert_int_equal(call(h, HPORT_C_FREE, &a), -EINVAL); /* no phys */
	assert_true(weft_mem_phys(h, m + HP_PAGE, &a.phys));
	assert_int_equal(call(h, HPORT_C_FREE, &a),
			 -EINVAL); /* refused, because the address is not the
				      start of a region */
	hport_free(p, NULL);
	hport_free(p, n);
	a.va = va + 2 * HP_PAGE - 1;
	assert_int_equal(call(h, HPORT_C_UNMAP, &a), 0);
	assert_int_equal(call(h, HPORT_C_UNMAP, &a), -EINVAL);
	hport_close(p);
	return 0;
}

static void memory_that_is_not_there_is_refused(void **state)
{
	HPORTS_ONE(wrong_memory);
}

/* ---- pages ---- */

enum { PAGES = 200, END = 100 };

struct query {
	uint64_t va;
	uint32_t vpid;
	uint8_t there[PAGES];
};

static int look(struct hport_drv *d, void *arg)
{
	struct query *q = arg;
	uint64_t cmd =
		HP_CACHE_CMD(HP_CACHE_QUERY, HP_CACHE_TLB, q->vpid, 1ull);

	for (uint32_t i = 0; i < PAGES; i++)
		q->there[i] = hport_drv_cache(d, cmd, q->va / HP_PAGE + i, 0) &
			      HP_CACHE_PRESENT;
	return 0;
}

/* Filled in by a program of the monitor, because only the monitor may query the
 * TLB. */
static struct query query;

static int looker(struct weft_host *h, struct exrig *r, uint32_t node)
{
	for (uint32_t turn = 1;; turn += 2) {
		hports_await(h, turn);
		if (hports.step == END)
			return 0;
		assert_int_equal(hport_drv_run(h, look, &query), 0);
		hports.step = turn + 1;
	}
}

static void all_pages_are(struct weft_host *h, const uint8_t *want)
{
	hports.step++;
	hports_await(h, hports.step + 1);
	for (uint32_t i = 0; i < PAGES; i++)
		if (query.there[i] / HP_CACHE_PRESENT != want[i])
			fail_msg("page %u: %u", i, query.there[i]);
}

static void touch(struct hport *p, uint32_t page, uint8_t *want)
{
	struct hport_peer to = hports_peer(p, 0, MINE);
	struct hport_far far = { 0, 0, (uint64_t)page * HP_PAGE };
	uint64_t word = page;

	hport_fast_put(p, &to, HPORT_ACK, tag, &far, &word, 1);
	assert_int_equal(hports_note(p, WEFT_MS).error, 0);
	want[page] = 1;
}

static const uint8_t out[] = { 0, 1, 63, 64, 65, 127, 128, 130, 199 };

/* Checks that the TLB has the first 64 pages from the beginning, and other
 * pages from their first use on. The TLB loses pages that are swapped out, and
 * all pages when the memory is freed. */
static int pages(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p = hports_open(h, MINE);
	uint8_t want[PAGES] = { 0 }, *m;

	m = hports_window(p, 0, PAGES * HP_PAGE, 0, &query.va);
	query.vpid = MINE;
	memset(want, 1, 64);
	all_pages_are(h, want);
	for (uint32_t i = 0; i < PAGES; i++)
		touch(p, i, want);
	all_pages_are(h, want);
	for (uint32_t i = 0; i < sizeof(out); i++) {
		assert_true(hport_page_out(p, query.va + out[i] * HP_PAGE + 8));
		want[out[i]] = 0;
	}
	all_pages_are(h, want);
	hport_page_in(p, query.va + 64 * HP_PAGE);
	want[64] = 1;
	touch(p, 63, want);
	touch(p, 199, want);
	all_pages_are(h, want);
	/* ignored, because the region has no such page */
	hport_page_in(p, query.va + PAGES * HP_PAGE);
	for (uint32_t i = 0; i < sizeof(out); i += 2)
		touch(p, out[i], want);
	all_pages_are(h, want);
	hport_free(p, m);
	memset(want, 0, PAGES);
	all_pages_are(h, want);
	hport_close(p);
	hports.step = END;
	return 0;
}

static void no_translation_outlives_its_page(void **state)
{
	hports_new("1", NULL);
	exrig_set(&hports.rig, "hostport.nic", "tlb", "512");
	HPORTS_PROGS(0, pages, looker);
	hports_run();
}

/* ---- sizes ---- */

static const struct {
	struct hport_sizes want, get;
} sizes[] = {
	{ { 0 }, { 64, 128, 32, 64, 8192, 8192, 0 } },
	{ { 1, 1, 1, 1, 1, 1, 17 }, { 2, 2, 2, 1, 2, 2, 16 } },
	{ { 3, 5, 7, 9, 11, 13, 1 }, { 3, 5, 7, 9, 11, 13, 1 } },
};
static uint32_t row;

static int sized(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport_attr a = { .vpid = -1, .sizes = sizes[row].want };
	struct hport_sizes got;
	struct hport *p, *q;

	assert_int_equal(hport_open(h, &a, &p), 0);
	got = hport_sizes_of(p);
	assert_memory_equal(&got, &sizes[row].get, sizeof(got));
	assert_int_equal(hport_info(p, HP_R_NQ_SIZE), got.nq);
	assert_int_equal(hport_info(p, HP_R_RDR_UNIT), got.rdr_unit);
	/* ignored, because the first process decides the sizes */
	a.sizes.wq = 32;
	assert_int_equal(hport_open(h, &a, &q), 0);
	assert_int_equal(hport_sizes_of(q).wq, got.wq);
	/* accepts all descriptors of the table, but not the one behind the
	 * last */
	assert_int_equal(hport_window(q, got.wdt - 1, 0, 8, 0, 0), 0);
	assert_int_equal(hport_window(q, got.wdt, 0, 8, 0, 0), -EINVAL);
	assert_int_equal(hport_window(q, 0, 4, 8, 0, 0), -EINVAL);
	assert_int_equal(hport_window_close(q, got.wdt), -EINVAL);
	assert_int_equal(hport_window_lock(q, got.wdt, 1, 1), -EINVAL);
	assert_int_equal(hport_window_unlock(q, got.wdt), -EINVAL);
	assert_int_equal(hport_window_join(q, 0, got.wdt), -EINVAL);
	assert_int_equal(hport_window_join(q, got.wdt, 0), -EINVAL);
	assert_int_equal(hport_window_join(q, 0, 0), -EINVAL);
	assert_int_equal(hport_window_lock_others(q, got.wdt, 1, 1), -EINVAL);
	hport_close(q);
	hport_close(p);
	return 0;
}

static void sizes_are_those_that_the_device_takes(void **state)
{
	for (row = 0; row < sizeof(sizes) / sizeof(*sizes); row++)
		HPORTS_ONE(sized);
}

/* ---- routes ---- */

enum { HERE = 5, NODES = 0x12400 };

static void way(struct weft_host *h, uint32_t from, uint32_t to, uint32_t n)
{
	char key[48], part[64];

	hport_drv_route_key(key, sizeof(key), from, to);
	for (uint32_t i = 0; i < HPORT_ELEMENTS / 8; i++) {
		snprintf(part, sizeof(part), "%s.%u", key, i);
		weft_oob_put(h, part,
			     0x0807060504030201 + i * 0x0808080808080808);
	}
	weft_oob_put(h, key, n);
}

/* Checks a route. The forward elements are 1, 2, .. and network port 0. The
 * return elements are 1, 2, .. and network port 1. */
static void route_is(const uint8_t *b, uint32_t hpid, uint32_t nf, uint32_t nr)
{
	uint32_t at = HP_RS_HEAD;

	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(b[HP_RS_DTAG + i],
				 hpid >> (24 - 8 * i) & 0xff);
	assert_int_equal(b[HP_RS_DHASH], hpid >> 8 & 0xff);
	assert_int_equal(b[HP_RS_DHASH + 1], hpid & 0xff);
	assert_int_equal(b[HP_RS_NF], nf + 1);
	assert_int_equal(b[HP_RS_NR], nr + 1);
	for (uint32_t i = 0; i < nf; i++)
		assert_int_equal(b[at++], i + 1);
	assert_int_equal(b[at++], HP_EL(HP_PORT_NP, 1));
	assert_int_equal(b[at++], HP_EL_SEP);
	for (uint32_t i = 0; i < nr; i++)
		assert_int_equal(b[at++], i + 1);
	assert_int_equal(b[at++], HP_EL(HP_PORT_NP + 1, 1));
}

static const struct {
	uint32_t node, nf, nr;
	int ret;
} routes[] = {
	{ 0x12344, 3, 2, 0 },
	{ 63, 0, 0, 0 },
	{ 64, 31, 20, 0 },
	{ 65, HPORT_ELEMENTS, 1, -EHOSTUNREACH }, /* no room */
	{ 66, 1, HPORT_ELEMENTS, -EHOSTUNREACH },
	{ 67, 31, HPORT_ROUTE - HP_RS_HEAD - 1 - 32 - 1, 0 },
	{ 68, 31, HPORT_ROUTE - HP_RS_HEAD - 1 - 32, -EHOSTUNREACH },
	{ 128, (uint32_t)-1, 1, -EHOSTUNREACH }, /* no route */
	{ 0x123ff, 2, 2, 0 },
	{ 0x12400, 2, 2, -EHOSTUNREACH }, /* the network has no such node */
};

/* Runs the driver of many nodes without a device. */
static int ways(struct weft_host *h, struct exrig *r, uint32_t node)
{
	static struct hport_kernel k;
	struct hport_drv d = {
		.host = h, .kernel = &k, .node = HERE, .nodes = NODES
	};
	uint16_t epoch[1] = { 1 };

	memset(&k, 0, sizeof(k));
	k.rs = calloc(NODES, HPORT_ROUTE);
	k.routed = calloc(NODES / 64 + 1, sizeof(*k.routed));
	k.epoch = epoch;
	for (uint32_t i = 0; i < sizeof(routes) / sizeof(*routes); i++) {
		uint32_t n = routes[i].node;
		const uint8_t *b = k.rs + (size_t)HPORT_ROUTE * n;
		struct hport_c_route a = { .node = n, .vpid = 0 };

		way(h, HERE, n, routes[i].nf);
		way(h, n, HERE, routes[i].nr);
		for (uint32_t turn = 0; turn < 2; turn++) {
			assert_int_equal(hport_k_route(&d, &a), routes[i].ret);
			if (routes[i].ret)
				continue;
			route_is(b, n + 1, routes[i].nf, routes[i].nr);
			assert_int_equal(a.off, HPORT_ROUTE * n);
			assert_int_equal(a.len, HP_RS_HEAD + routes[i].nf +
							routes[i].nr + 3);
			assert_int_equal(a.epoch, HP_EPOCH_FIRST);
		}
		assert_int_equal(k.routed[n / 64] >> n % 64 & 1,
				 !routes[i].ret && n < NODES);
	}
	assert_int_equal(
		hport_k_route(&d, &(struct hport_c_route){ .node = 63,
							   .vpid = HP_VPIDS }),
		-EINVAL);
	free(k.rs);
	free(k.routed);
	return 0;
}

static void routes_have_their_bytes_in_the_routing_space(void **state)
{
	hprig_one(ways);
}

/* ---- the thread that serves ---- */

static int opens_twice(struct weft_host *h, struct exrig *r, uint32_t node)
{
	for (uint32_t step = 1; step < 4; step += 2) {
		struct hport *p = hports_open(h, MINE);

		hports.step = step;
		hports_await(h, step + 1);
		hport_close(p);
		hports_pause(h, 200 * WEFT_US);
	}
	return 0;
}

static int serves_too(struct weft_host *h, struct exrig *r, uint32_t node)
{
	for (uint32_t step = 1; step < 4; step += 2) {
		hports_await(h, step);
		assert_int_equal(hport_serve(h, 0, false), -EBUSY);
		hports_pause(h, 50 * WEFT_US);
		assert_int_equal(hport_serve(h, 0, true), -EBUSY);
		hports.step = step + 1;
	}
	return 0;
}

static int serves_next(struct weft_host *h, struct exrig *r, uint32_t node)
{
	hports_await(h, 2);
	hports_pause(h, 100 * WEFT_US);
	assert_int_equal(hports.step, 2);
	assert_int_equal(hport_serve(h, 0, false), 0);
	assert_int_equal(hports.step, 4);
	return 0;
}

/* The thread of the bench serves translations until the port is closed. Then
 * another thread may serve them. */
static void one_thread_of_a_node_serves(void **state)
{
	HPORTS_ONE(opens_twice, serves_too, serves_next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_of_others_are_refused_by_every_call),
		cmocka_unit_test(
			the_tag_of_a_process_stays_that_of_its_first_port),
		cmocka_unit_test(memory_that_is_not_there_is_refused),
		cmocka_unit_test(no_translation_outlives_its_page),
		cmocka_unit_test(sizes_are_those_that_the_device_takes),
		cmocka_unit_test(routes_have_their_bytes_in_the_routing_space),
		cmocka_unit_test(one_thread_of_a_node_serves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
