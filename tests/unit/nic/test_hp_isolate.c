/* SPDX-License-Identifier: Apache-2.0 */
/* A process whose pages are not there does not hold others (hostport.md 8.8,
 * O09): neither requester units nor the network port. */
#include "../cmocka_all.h"
#include "hpproc.h"
#include "nic/hostport/nic.h"

enum { PAGES = 16, WIN = 1, PUTS = 12, THERE = 7 };
#define VA 0x10000000ull

static struct hpdrv drv[2];
static uint32_t put_pages;

static void window(struct hpproc *p, weft_phys_t *phys)
{
	uint64_t *w = p->wdt + HP_WORDS * WIN;

	assert_non_null(weft_mem_alloc(p->h, PAGES * HP_PAGE, HP_PAGE, phys));
	w[HP_WIN_VA] = VA;
	w[HP_WIN_LEN] = PAGES * HP_PAGE;
	w[HP_WIN_FLAGS] = HP_WIN_EN | HP_WIN_RD | HP_WIN_WR | HP_WIN_CAP_ANY;
}

static void pages_in(struct hpproc *p, weft_phys_t phys, uint32_t from,
		     uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		hpdrv_cache(p->drv, HP_CACHE_INSERT, HP_CACHE_TLB, p->vpid,
			    VA / HP_PAGE + i,
			    HP_TLB_ARG(phys / HP_PAGE + i, true));
}

static int far(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpproc p[2];
	weft_phys_t phys;

	hpdrv_open(&drv[1], r, node, h);
	for (uint32_t i = 0; i < 2; i++)
		hpproc_open(&p[i], &drv[1], h, 1 + i, 0);
	window(&p[0], &phys);
	pages_in(&p[0], phys, 0, PAGES);
	r->v[0] = 1;
	while (!r->v[1])
		weft_host_sleep(h, weft_host_now(h) + WEFT_US);
	return 0;
}

/* The last page of each is missing. */
static void puts_begin(struct hpproc *p)
{
	uint64_t w[HP_WORDS];

	for (uint32_t i = 0; i < PUTS; i++) {
		hpproc_to(w, HP_B_PUT | HP_A, 1, 1, i);
		w[2] = 0;
		w[3] = HP_VCI_W3(WIN, 0);
		w[4] = 0;
		w[5] = HP_VCI_W5(WIN);
		w[6] = (THERE + 1 - put_pages) * HP_PAGE;
		w[7] = put_pages * HP_PAGE;
		hpproc_put(p, w);
	}
	hpproc_issue(p, PUTS);
}

static weft_time_t send_time(struct hpproc *p)
{
	uint64_t data = 1, w[HP_WORDS];
	weft_time_t t = weft_host_now(p->h);

	hpproc_fast_send(p, 1, 2, HP_A, 0, &data, 1);
	assert_true(hpproc_wait(p, w));
	assert_int_equal(HP_CMD_ERR(HP_NQE_CMD(w)), 0);
	return weft_host_now(p->h) - t;
}

static int near(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpproc x, y;
	uint64_t w[HP_WORDS];
	weft_phys_t phys;

	hpdrv_open(&drv[0], r, node, h);
	hpproc_open(&x, &drv[0], h, 1, 0);
	hpproc_open(&y, &drv[0], h, 2, 0);
	window(&x, &phys);
	pages_in(&x, phys, 0, THERE);
	while (!r->v[0])
		weft_host_sleep(h, weft_host_now(h) + WEFT_US);
	send_time(&y); /* what it needs is cached now */
	r->v[2] = send_time(&y);
	puts_begin(&x);
	weft_host_sleep(h, weft_host_now(h) + 20 * WEFT_US);
	assert_true(hpdrv_get(&drv[0], HP_R_TLB_MISS_CNT) > 0);
	for (uint32_t i = 0; i < 8; i++) {
		weft_time_t t = send_time(&y);

		r->v[3] = t > r->v[3] ? t : r->v[3];
	}
	pages_in(&x, phys, THERE, THERE + 1);
	for (uint32_t i = 0; i < PUTS; i++) {
		assert_true(hpproc_wait(&x, w));
		assert_int_equal(HP_CMD_ERR(HP_NQE_CMD(w)), 0);
	}
	r->v[1] = 1;
	return 0;
}

static void once(const char *miss_places, uint32_t pages, uint64_t *alone,
		 uint64_t *beside)
{
	struct exrig r;

	memset(drv, 0, sizeof(drv));

	put_pages = pages;
	hprig_new(&r, "2", NULL);
	exrig_set(&r, "hostport.nic", "miss_places", miss_places);
	exrig_prog(&r, 0, near);
	exrig_prog(&r, 1, far);
	exrig_start(&r);
	exrig_run(&r);
	*alone = r.v[2];
	*beside = r.v[3];
	exrig_free(&r);
}

/* Three times as many puts as units, none of which can go on: to others they
 * are not there. */
static void test_miss_holds_nobody(void **state)
{
	uint64_t alone, beside;

	(void)state;
	for (uint32_t pages = 1; pages <= 6; pages++) {
		once("16", pages, &alone, &beside);
		assert_in_range(beside, 1, alone + 50 * WEFT_NS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_miss_holds_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
