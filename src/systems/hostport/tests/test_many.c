/* SPDX-License-Identifier: Apache-2.0 */
/* 65,536 processes on one Host Port (hostport.md 13.1 T01, HP-09; 13.4 O12 to
 * O14). The queues are so small that those of 16 processes share a page.
 * Pointers may begin anywhere in a ring. */
#include <string.h>

#include "unit/cmocka_all.h"
#include "hpproc.h"

enum { ENTRIES = HP_PAGE / HP_LINE, SHARE = 4, PER_PAGE = ENTRIES / SHARE };

static struct hpdrv drv;
static uint64_t *queues;
static uint32_t tries[HP_VPIDS];

/* Returns entry i of process v: a WQ entry, then three NQ entries. */
static uint64_t *entry(uint32_t v, uint32_t i)
{
	return queues + (uint64_t)HP_WORDS * (SHARE * v + i);
}

static void context_write(uint32_t v, weft_phys_t phys)
{
	uint64_t *w = drv.ct + HP_WORDS * v;
	uint64_t page = (phys + HP_PAGE * (v / PER_PAGE)) >> 12;
	uint32_t at = v % PER_PAGE * SHARE;

	w[0] = HP_CTX_EN;
	HP_CTX_SET(w, HP_F_WQ_BASE, page);
	HP_CTX_SET(w, HP_F_NQ_BASE, page);
	HP_CTX_SET(w, HP_F_WQ_RP, at);
	HP_CTX_SET(w, HP_F_NQ_RP, at + 1);
	HP_CTX_SET(w, HP_F_NQ_WP, at + 1);
}

static void all_open(struct weft_host *h, struct exrig *r)
{
	weft_phys_t phys;

	drv = (struct hpdrv){ .wq = ENTRIES, .nq = ENTRIES };
	hpdrv_open(&drv, r, 0, h);
	queues = weft_mem_alloc(h, (size_t)HP_VPIDS * SHARE * HP_LINE, HP_PAGE,
				&phys);
	assert_non_null(queues);
	for (uint32_t v = 0; v < HP_VPIDS; v++) {
		uint64_t *w = entry(v, 0);

		context_write(v, phys);
		hpproc_to(w, HP_B_FAST_SEND | 1, 0, v, v);
		w[3] = v * 0x9e3779b97f4a7c15ull;
		hpdrv_set(&drv, HP_R_VPID_EN, HP_VPID_EN(v, true));
	}
}

/* Triggers all processes at once, as fast as the bus permits, and repeats
 * rejected triggers. */
static void all_trigger(struct weft_host *h, struct exrig *r)
{
	struct weft_io pages;
	uint32_t left = HP_VPIDS;

	assert_true(weft_io_map(h, drv.dev, HP_BAR_TRIGGER, 0, HP_TRIGGER_BYTES,
				WEFT_UC, &pages));
	memset(tries, 0, sizeof(tries));
	for (uint32_t v = 0; left; v = (v + 1) % HP_VPIDS) {
		uint64_t ret;

		if (tries[v] >> 31)
			continue;
		ret = weft_io_load64(h, &pages,
				     HP_TRIGGER_PAGE(v) |
					     HP_TRIGGER(HP_T_ISSUE, 1));
		tries[v]++;
		if (HP_RET_ACCEPTED(ret)) {
			assert_int_equal(ret & 0xffff, 0x81);
			tries[v] |= 1u << 31;
			left--;
		} else {
			assert_int_equal(ret, HP_CSB_FULL << 8);
			r->v[0]++; /* rejected */
		}
	}
}

/* Checks that the process has its completion and its own message, in either
 * order. */
static void one_check(uint32_t v)
{
	uint32_t sent = 0, got = 0;

	for (uint32_t i = 1; i < 3; i++) {
		const uint64_t *w = entry(v, i);

		if (HP_NQE_CMD(w) == (HP_B_FAST_SEND | 1))
			sent++;
		if (HP_NQE_CMD(w) != HP_B_NOTIFY_FAST_RECV)
			continue;
		got++;
		assert_int_equal(w[2], v * 0x9e3779b97f4a7c15ull);
		assert_int_equal(HP_NQE_VPID(w), v);
	}
	assert_int_equal(sent, 1);
	assert_int_equal(got, 1);
	assert_int_equal(entry(v, 3)[HP_NQE_CMD], 0);
}

static int t01(struct weft_host *h, struct exrig *r, uint32_t node)
{
	all_open(h, r);
	all_trigger(h, r);
	weft_host_sleep(h, weft_host_now(h) + WEFT_SEC);
	for (uint32_t v = 0; v < HP_VPIDS; v++)
		one_check(v);
	hpdrv_cache(&drv, HP_CACHE_FLUSH, HP_CACHE_CTX, 0, 0, 0);
	for (uint32_t v = 0; v < HP_VPIDS; v++) {
		const uint64_t *c = drv.ct + HP_WORDS * v;

		assert_int_equal(HP_CTX(c, HP_F_WQ_PEND), 0);
		assert_int_equal(HP_CTX(c, HP_F_NQ_RESV), 0);
		assert_int_equal(HP_CTX(c, HP_F_NQ_WP) - HP_CTX(c, HP_F_NQ_RP),
				 2);
	}
	return 0;
}

/* Runs T01 with lookups of t_ctx cycles. Slow lookups fill the CSB. */
static void t01_run(const char *ctx_cache, const char *t_ctx,
		    const char *lookups, uint64_t *rejected)
{
	struct exrig r;

	hprig_new(&r, "1", NULL);
	exrig_set(&r, "host.pc", "mem_bytes", "64MiB");
	exrig_set(&r, "hostport.nic", "csb_depth", "16");
	exrig_set(&r, "hostport.nic", "ctx_cache", ctx_cache);
	exrig_set(&r, "hostport.nic", "t_ctx", t_ctx);
	exrig_set(&r, "hostport.nic", "lookups", lookups);
	exrig_prog(&r, 0, t01);
	exrig_start(&r);
	exrig_run(&r);
	assert_int_equal(exrig_counter(r.node[0].nic, "vcis"), HP_VPIDS);
	assert_int_equal(exrig_counter(r.node[0].nic, "accepted"), HP_VPIDS);
	assert_int_equal(exrig_counter(r.node[0].nic, "rejected"), r.v[0]);
	assert_int_equal(exrig_counter(r.node[0].nic, "err_logs"), 0);
	*rejected = r.v[0];
	print_message(
		"%lu rejected, %lu context misses\n", (unsigned long)r.v[0],
		(unsigned long)exrig_counter(r.node[0].nic, "ctx_misses"));
	exrig_free(&r);
}

/* T01 */
static void test_t01_all_processes(void **state)
{
	uint64_t rejected;

	t01_run("64", "64", "1", &rejected);
	assert_true(rejected > 0);
}

/* O13: a cache of one set changes the times of the run, but not its results. */
static void test_o13_small_cache(void **state)
{
	uint64_t rejected;

	t01_run("4", "1", "8", &rejected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_t01_all_processes),
		cmocka_unit_test(test_o13_small_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
