/* SPDX-License-Identifier: Apache-2.0 */
/* A process whose pages are missing does not delay others (hostport.md 8.8,
 * Q09), in units of any kind, in network ports, or in the buffers of the
 * network. Sixty instructions, or twelve long ones, wait for a page that is
 * never inserted. Meanwhile a message, a put, a get and an atomic take as long
 * as they do alone. */
#include "unit/cmocka_all.h"
#include "hpproc.h"
#include "systems/hostport/nic/nic.h"

enum {
	PAGES = 32,
	WIN = 1,
	FEW = 12,
	MANY = 60,
	GONE = 24,
	SENDS = 8,
	PARK = 512
};
/* first indices of probe times in exrig.v. FIRST: without misses. BESIDE: while
 * another process misses pages */
enum { FIRST = 10, BESIDE = 20 };
#define VA 0x10000000ull

/* Operation of the process that misses pages. The last page of the operation is
 * missing, at the origin or at the target. */
struct way {
	uint32_t byte;
	uint64_t bytes;
	bool far;
	bool parked; /* the payload is parked in main memory */
};

static struct hpdrv drv[2];
static struct way way;

/* Opens a window with all its pages mapped, or all but the last. Byte i holds
 * `fill` plus i. */
static uint8_t *window(struct hpproc *p, bool all, uint8_t fill,
		       weft_phys_t *phys_p)
{
	uint64_t *w = p->wdt + HP_WORDS * WIN;
	uint8_t *mem = weft_mem_alloc(p->h, PAGES * HP_PAGE, HP_PAGE, phys_p);

	assert_non_null(mem);
	for (uint32_t i = 0; i < PAGES * HP_PAGE; i++)
		mem[i] = (uint8_t)(fill + i * 7 + i / HP_PAGE);
	w[HP_WIN_VA] = VA;
	w[HP_WIN_LEN] = PAGES * HP_PAGE;
	w[HP_WIN_FLAGS] = HP_WIN_EN | HP_WIN_RD | HP_WIN_WR | HP_WIN_CAP_ANY;
	for (uint32_t i = 0; i < PAGES; i++)
		if (all || i != GONE)
			hpdrv_cache(p->drv, HP_CACHE_INSERT, HP_CACHE_TLB,
				    p->vpid, VA / HP_PAGE + i,
				    HP_TLB_ARG(*phys_p / HP_PAGE + i, true));
	return mem;
}

static void page_in(struct hpproc *p, weft_phys_t phys)
{
	hpdrv_cache(p->drv, HP_CACHE_INSERT, HP_CACHE_TLB, p->vpid,
		    VA / HP_PAGE + GONE,
		    HP_TLB_ARG(phys / HP_PAGE + GONE, true));
}

static void until(struct hpproc *p, const volatile uint64_t *flag)
{
	while (!*flag)
		weft_host_sleep(p->h, weft_host_now(p->h) + WEFT_US);
}

static uint32_t many(void)
{
	return way.bytes > HP_PAGE ? FEW : MANY;
}

/* Returns the number of pages that all instructions together need. */
static uint64_t pages(void)
{
	return many() * ((way.bytes + HP_PAGE - 1) / HP_PAGE);
}

static int far(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpproc p[2];
	weft_phys_t phys, park;

	hpdrv_open(&drv[1], r, node, h);
	for (uint32_t i = 0; i < 2; i++)
		hpproc_open(&p[i], &drv[1], h, 1 + i, 0);
	window(&p[1], true, 30, &phys);
	r->p[1] = window(&p[0], !way.far, 1, &phys);
	assert_non_null(weft_mem_alloc(h, PARK * HP_PAGE, HP_PAGE, &park));
	hpdrv_set(&drv[1], HP_R_PARK_BASE, park);
	hpdrv_set(&drv[1], HP_R_PARK_SIZE, pages());
	r->v[0] = 1;
	until(&p[0], &r->v[4]);
	if (way.far)
		page_in(&p[0], phys);
	until(&p[0], &r->v[1]);
	return 0;
}

static void begin(struct hpproc *p)
{
	uint64_t w[HP_WORDS], at = (GONE + 1) * HP_PAGE - way.bytes;

	for (uint32_t i = 0; i < many(); i++) {
		hpproc_to(w, way.byte, 1, 1, i);
		w[2] = 0;
		w[3] = HP_VCI_W3(WIN, 0);
		w[4] = way.far ? at : 0;
		w[5] = w[6] = w[7] = 0;
		if (HP_MAIN(way.byte) == HP_M_MIS_PUT) {
			w[5] = 0xff;
		} else if (HP_MAIN(way.byte) != HP_M_FAA) {
			w[5] = HP_VCI_W5(WIN);
			w[6] = way.far ? 0 : at;
			w[7] = way.bytes;
		}
		hpproc_put(p, w);
	}
	hpproc_issue(p, many());
}

/* Waits until all clocks have the same phase as after earlier calls, so that
 * equal work takes equal time. */
static weft_time_t same_phase(struct hpproc *p)
{
	weft_time_t unit = 16 * WEFT_US;

	weft_host_sleep(p->h, (weft_host_now(p->h) / unit + 1) * unit);
	return weft_host_now(p->h);
}

/* Runs one operation of kind `byte`, of which process p is origin and target,
 * and returns the time that it takes. */
static weft_time_t probe(struct hpproc *p, uint32_t byte)
{
	weft_time_t t = same_phase(p);
	uint64_t w[HP_WORDS];

	hpproc_to(w, byte, 1, p->vpid, 0);
	w[2] = 0;
	w[3] = HP_VCI_W3(WIN, 0);
	w[4] = 0;
	w[5] = HP_MAIN(byte) == HP_M_FAA ? 1 : HP_VCI_W5(WIN);
	w[6] = HP_PAGE;
	w[7] = 8;
	hpproc_put(p, w);
	hpproc_issue(p, 1);
	assert_true(hpproc_wait(p, w));
	assert_int_equal(HP_CMD_ERR(HP_NQE_CMD(w)), 0);
	return weft_host_now(p->h) - t;
}

static const uint32_t probes[] = { HP_B_FAST_SEND | HP_A | 1, HP_B_PUT | HP_A,
				   HP_B_GET, HP_B_FAA };
enum { PROBES = sizeof(probes) / sizeof(*probes) };

/* Stores the longest time of several probes, by kind. */
static void probe_all(struct hpproc *p, uint64_t *max)
{
	for (uint32_t i = 0; i < PROBES * SENDS; i++) {
		weft_time_t t = probe(p, probes[i % PROBES]);

		if (t > max[i % PROBES])
			max[i % PROBES] = t;
	}
}

/* Compares the bytes at both ends after a put or get that may have waited. */
static void check_bytes(const uint8_t *here, const uint8_t *there)
{
	uint64_t at = (GONE + 1) * HP_PAGE - way.bytes;
	uint32_t m = HP_MAIN(way.byte);

	if (m == HP_M_PUT || m == HP_M_GET)
		assert_memory_equal(here + (way.far ? 0 : at),
				    there + (way.far ? at : 0), way.bytes);
}

static int near(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpproc x, y;
	uint64_t w[HP_WORDS];
	weft_phys_t phys;

	hpdrv_open(&drv[0], r, node, h);
	hpproc_open(&x, &drv[0], h, 1, 0);
	hpproc_open(&y, &drv[0], h, 2, 0);
	window(&y, true, 50, &phys);
	r->p[0] = window(&x, way.far, 100, &phys);
	until(&x, &r->v[0]);
	/* fills the caches, so that the next probes take equal time */
	probe_all(&y, &r->v[FIRST]);
	if (way.byte)
		begin(&x);
	weft_host_sleep(h, weft_host_now(h) + 4 * WEFT_MS);
	r->v[5] = exrig_counter(r->node[0].nic, "tlb_misses") +
		  exrig_counter(r->node[1].nic, "tlb_misses");
	probe_all(&y, &r->v[BESIDE]);
	/* none of the instructions has ended */
	assert_false(hpproc_nqe(&x, w));
	r->v[4] = 1;
	if (!way.far)
		page_in(&x, phys);
	for (uint32_t i = 0; way.byte && i < many(); i++) {
		while (!hpproc_wait(&x, w))
			assert_true(weft_host_now(h) < WEFT_SEC);
		assert_int_equal(HP_CMD_ERR(HP_NQE_CMD(w)), 0);
	}
	check_bytes(r->p[0], r->p[1]);
	r->v[1] = 1;
	return 0;
}

static void once(uint64_t *times)
{
	struct exrig r;

	memset(drv, 0, sizeof(drv));
	hprig_new(&r, "2", NULL);
	exrig_prog(&r, 0, near);
	exrig_prog(&r, 1, far);
	exrig_start(&r);
	exrig_run(&r);
	memcpy(times, &r.v[BESIDE], PROBES * sizeof(*times));
	assert_int_equal(exrig_counter(r.node[1].nic, "parks") > 0, way.parked);
	assert_int_equal(r.v[5] > 0, way.byte > 0);
	exrig_free(&r);
}

static const struct way ways[] = {
	{ HP_B_PUT | HP_A, 8, false, false },
	{ HP_B_PUT | HP_A, HP_PAGE, false, false },
	{ HP_B_PUT | HP_A, 6 * HP_PAGE, false, false },
	{ HP_B_PUT | HP_A, 20 * HP_PAGE, false, false },
	{ HP_B_PUT | HP_A, 8, true, false },
	{ HP_B_PUT | HP_A, 256, true, false },
	{ HP_B_PUT | HP_A, HP_PAGE, true, true },
	{ HP_B_PUT | HP_A, 2 * HP_PAGE, true, true },
	{ HP_B_PUT | HP_A, 20 * HP_PAGE, true, true },
	{ HP_B_MIS_PUT | HP_A, 8, true, false },
	{ HP_B_GET, 8, true, false },
	{ HP_B_GET, 20 * HP_PAGE, true, false },
	{ HP_B_GET, 8, false, false },
	{ HP_B_FAA, 8, true, false },
};
enum { WAYS = sizeof(ways) / sizeof(*ways) };

/* Checks that a miss of one process does not delay the probes of another. */
static void test_miss_delays_no_other_process(void **state)
{
	uint64_t alone[PROBES], beside[PROBES];

	way = (struct way){ 0 };
	once(alone);
	for (uint32_t i = 0; i < WAYS; i++) {
		way = ways[i];
		once(beside);
		assert_memory_equal(beside, alone, sizeof(alone));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_miss_delays_no_other_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
