/* SPDX-License-Identifier: Apache-2.0 */
/* Permission to trigger, for processes and domains (hostport.md 7.8, 7.9, 13.4
 * O10, O11), and tagged accesses, which need no page of their own (10.1, 13.7
 * X01, X02, X04). */
#include <string.h>

#include "unit/cmocka_all.h"
#include "hpproc.h"

enum { PROCS = 8, TAGGED = 40 };

static struct hpdrv drv;

static void bench_run(struct exrig *r, exrig_fn fn, const char *const *set)
{
	drv = (struct hpdrv){ 0 };
	hprig_new(r, "1", NULL);
	for (; set && *set; set += 2)
		exrig_set(r, "hostport.nic", set[0], set[1]);
	exrig_prog(r, 0, fn);
	exrig_start(r);
	exrig_run(r);
}

static void vci_self(uint64_t *w, uint32_t vpid, uint64_t tag)
{
	hpproc_to(w, HP_B_FAST_SEND | 1, 0, vpid, tag);
	w[0] = HP_SET(w[0], 32, 47,
		      32); /* length of a route that the cache keeps (8.8) */
	w[3] = ~tag;
}

/* ---- O10 ---- */

struct light {
	struct hpproc p;
	uint32_t left;
	bool issued;
	weft_time_t over;
};
static struct light light[PROCS];

/* Sends messages of the process to itself, one at a time. */
static struct weft_turn light_turn(struct weft_host *h, struct weft_proc *proc,
				   void *arg)
{
	struct light *l = arg;
	volatile uint64_t *e = l->p.nq + HP_WORDS * l->p.ni;
	uint64_t w[HP_WORDS];

	l->p.h = h;
	if (l->issued && !HP_NQE_VALID(e))
		return (struct weft_turn){ .kind = WEFT_TURN_SLEEP,
					   .until =
						   weft_host_now(h) + WEFT_US };
	if (l->issued)
		assert_true(hpproc_nqe(&l->p, w));
	if (l->issued && --l->left == 0) {
		l->over = weft_host_now(h);
		return (struct weft_turn){ .kind = WEFT_TURN_END };
	}
	if (l->left % 2 ==
	    0) { /* both notifications of the last message have arrived */
		vci_self(w, l->p.vpid, l->left);
		hpproc_put(&l->p, w);
		hpproc_issue(&l->p, 1);
		l->issued = true;
	}
	return (struct weft_turn){ .kind = WEFT_TURN_AGAIN };
}

/* Runs O10. v[0] is the number of domains, v[8..] the time at which each has
 * ended. */
static int o10(struct weft_host *h, struct exrig *r, uint32_t node)
{
	uint32_t domain[4] = { 0 };

	memset(light, 0, sizeof(light));
	hpdrv_open(&drv, r, node, h);
	for (uint32_t i = 0; i < PROCS; i++)
		hpproc_open(&light[i].p, &drv, h, 1000 * i + 1, 0);
	for (uint32_t i = 0; i < 4; i++)
		domain[i] = weft_domain_new(h);
	for (uint32_t i = 0; i < PROCS; i++) {
		uint32_t d = domain[i % r->v[0]];
		uint64_t off = HP_TRIGGER_PAGE(light[i].p.vpid);
		struct weft_proc *p = weft_proc_new(h, d);

		light[i].left = 20;
		assert_true(weft_domain_give(h, d, drv.dev, HP_BAR_TRIGGER, off,
					     HP_PAGE));
		assert_true(weft_proc_map(h, p, drv.dev, HP_BAR_TRIGGER, off,
					  HP_PAGE, WEFT_UC, &light[i].p.page));
		assert_true(weft_proc_start(h, p, light_turn, &light[i]));
	}
	assert_true(weft_procs_run(h, 2));
	for (uint32_t i = 0; i < PROCS; i++)
		r->v[8 + i] = light[i].over;
	weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	return 0;
}

static void o10_run(uint64_t domains, uint64_t *over)
{
	struct exrig r;

	drv = (struct hpdrv){ 0 };
	hprig_new(&r, "1", NULL);
	r.v[0] = domains;
	exrig_prog(&r, 0, o10);
	exrig_start(&r);
	exrig_run(&r);
	memcpy(over, r.v + 8, PROCS * sizeof(*over));
	exrig_free(&r);
}

/* O10 */
static void test_o10_domains_cost_nothing(void **state)
{
	uint64_t one[PROCS], four[PROCS];

	o10_run(1, one);
	o10_run(4, four);
	for (uint32_t i = 0; i < PROCS; i++) {
		assert_true(one[i] > 0);
		assert_int_equal(one[i], four[i]);
	}
}

/* ---- O11 ---- */

static bool give(struct weft_host *h, struct weft_proc *p, uint32_t vpid,
		 struct weft_io *io)
{
	return weft_proc_map(h, p, drv.dev, HP_BAR_TRIGGER,
			     HP_TRIGGER_PAGE(vpid), HP_PAGE, WEFT_UC, io);
}

/* Runs O11. A window names a virtual address. If that is an address of another
 * process, the access reaches the caller's own page at this address, or fails
 * (V4). */
static int o11(struct weft_host *h, struct exrig *r, uint32_t node)
{
	uint64_t off = HP_TRIGGER(HP_T_SNAPSHOT, 0), w[HP_WORDS];
	struct weft_io mine, alias, theirs, no;
	struct weft_proc *own, *other;
	struct hpproc p[3];

	hpdrv_open(&drv, r, node, h);
	for (uint32_t i = 0; i < 3; i++)
		hpproc_open(&p[i], &drv, h, 10 + i, 0);
	own = weft_proc_new(h, 0);
	other = weft_proc_new(h, 0);
	assert_true(give(h, own, 10, &mine));
	assert_true(give(h, other, 11, &alias));
	assert_true(give(h, other, 12, &theirs));
	/* fails, because a page belongs to one process (V2) */
	assert_false(give(h, own, 11, &no));
	assert_true(weft_proc_enter(h, own));
	assert_int_equal(weft_io_load64(h, &mine, off) & 0xff, 0x81);
	assert_int_equal(weft_io_load64(h, &alias, off) & 0xff, 0x81);
	assert_int_equal(weft_io_load64(h, &theirs, off), ~0ULL);
	assert_false(give(h, own, 13, &no));
	assert_int_equal(exrig_counter(r->node[0].nic, "triggers"), 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(hpproc_nqe(&p[0], w));
		assert_int_equal(HP_NQE_VPID(w), 10);
	}
	assert_false(hpproc_nqe(&p[1], w));
	assert_false(hpproc_nqe(&p[2], w));
	return 0;
}

/* O11 */
static void test_o11_only_own_pages(void **state)
{
	struct exrig r;

	bench_run(&r, o11, NULL);
	exrig_free(&r);
}

/* ---- tagged accesses ---- */

/* Runs X01. v[1] counts accepted stores, v[2] refused stores, v[3] reads of the
 * NIC for one VCI. */
static int x01(struct weft_host *h, struct exrig *r, uint32_t node)
{
	uint64_t w[HP_WORDS], reads, val;
	struct weft_proc *proc;
	struct weft_io page;
	struct hpproc p;

	hpdrv_open(&drv, r, node, h);
	hpproc_open(&p, &drv, h, 500, 0);
	proc = weft_proc_new(h, 0);
	assert_true(weft_proc_set_tag(h, proc, 500));
	assert_true(weft_proc_map(h, proc, drv.dev, HP_BAR_TRIGGER, 0, HP_PAGE,
				  WEFT_UC, &page)); /* unused page of VPID 0 */
	assert_true(weft_proc_enter(h, proc));
	reads = exrig_counter(r->node[0].nic, "reads");
	for (uint32_t i = 0; i < TAGGED; i++) {
		bool done;

		vci_self(w, 500, i);
		done = weft_io_tcstore(h, &page, 0, w, HP_LINE, 0);
		r->v[done ? 1 : 2]++;
	}
	for (uint32_t i = 0; i < 2 * r->v[1]; i++)
		assert_true(hpproc_nqe(&p, w));
	/* one read for the context and one for the route, but none for the VCI
	 * (X04) */
	r->v[3] = exrig_counter(r->node[0].nic, "reads") - reads;
	assert_false(hpproc_nqe(&p, w));
	/* a tag in the program's own data has no effect (X02) */
	assert_false(weft_io_tload64_user(h, &page, HP_TRIGGER(HP_T_BARRIER, 0),
					  500, &val));
	assert_true(
		weft_io_tload64(h, &page, HP_TRIGGER(HP_T_BARRIER, 0), &val));
	assert_int_equal(val & 0xff, 0x81);
	return 0;
}

/* X01, X02, X04 */
static void test_x01_tagged_store(void **state)
{
	static const char *const set[] = { "tagged_depth",
					   "1",
					   "n_req_fu",
					   "1",
					   "waitq_depth",
					   "0",
					   "vci_queue",
					   "1",
					   "issue_width",
					   "1",
					   "t_route",
					   "64",
					   NULL };
	struct exrig r;

	bench_run(&r, x01, set);
	print_message("%u done, %u not, %u reads\n", (unsigned)r.v[1],
		      (unsigned)r.v[2], (unsigned)r.v[3]);
	assert_int_equal(r.v[1] + r.v[2], TAGGED);
	assert_true(r.v[1] > 0 && r.v[2] > 0);
	assert_int_equal(exrig_counter(r.node[0].nic, "vcis"), r.v[1]);
	assert_int_equal(exrig_counter(r.node[0].nic, "tagged_full"), r.v[2]);
	assert_int_equal(r.v[3], 2);
	exrig_free(&r);
}

/* ---- X01: a crowd ---- */

enum { CROWD = 1000, TRIES = 3 };

/* A process that repeats a conditional store, a few times at most, until it is
 * accepted. */
struct member {
	struct hpproc p;
	struct weft_io page;
	uint32_t tries, done;
};
static struct member crowd[CROWD];

static struct weft_turn crowd_turn(struct weft_host *h, struct weft_proc *proc,
				   void *arg)
{
	struct member *m = arg;
	uint64_t w[HP_WORDS];

	vci_self(w, m->p.vpid, m->p.vpid);
	m->done = weft_io_tcstore(h, &m->page, 0, w, HP_LINE, 0);
	if (m->done || ++m->tries == TRIES)
		return (struct weft_turn){ .kind = WEFT_TURN_END };
	return (struct weft_turn){ .kind = WEFT_TURN_AGAIN };
}

static void crowd_start(struct weft_host *h, struct member *m, uint32_t vpid)
{
	struct weft_proc *proc = weft_proc_new(h, 0);

	hpproc_open(&m->p, &drv, h, vpid, 0);
	assert_true(weft_proc_set_tag(h, proc, (uint16_t)vpid));
	assert_true(weft_proc_map(h, proc, drv.dev, HP_BAR_TRIGGER,
				  HP_TRIGGER_PAGE(vpid), HP_PAGE, WEFT_UC,
				  &m->page));
	assert_true(weft_proc_start(h, proc, crowd_turn, m));
}

/* Runs X01. v[0] counts stored instructions, v[1] refused ones. Each stored
 * instruction is executed once, by the process that the tag names. */
static int x01_crowd(struct weft_host *h, struct exrig *r, uint32_t node)
{
	uint64_t w[HP_WORDS];

	memset(crowd, 0, sizeof(crowd));
	drv = (struct hpdrv){
		.wq = 4, .nq = 8, .prq = 4, .wdt = 4, .sdr = 8, .rdr = 8
	};
	hpdrv_open(&drv, r, node, h);
	for (uint32_t i = 0; i < CROWD; i++)
		crowd_start(h, &crowd[i], 2 + 7 * i);
	assert_true(weft_procs_run(h, 4));
	weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	for (uint32_t i = 0; i < CROWD; i++) {
		struct member *m = &crowd[i];

		r->v[0] += m->done;
		r->v[1] += m->tries;
		for (uint32_t k = 0; k < 2 * m->done; k++) {
			assert_true(hpproc_nqe(&m->p, w));
			assert_int_equal(HP_NQE_TAG(w), m->p.vpid);
			assert_int_equal(HP_NQE_VPID(w), m->p.vpid);
		}
		assert_false(HP_NQE_VALID(m->p.nq + HP_WORDS * m->p.ni));
	}
	return 0;
}

/* X01 */
static void test_x01_crowd(void **state)
{
	struct exrig r;

	hprig_new(&r, "1", NULL);
	exrig_set(&r, "host.pc", "mem_bytes", "64MiB");
	exrig_set(&r, "hostport.nic", "tagged_depth", "4");
	exrig_set(&r, "hostport.nic", "n_req_fu", "1");
	exrig_set(&r, "hostport.nic", "t_route", "64");
	exrig_prog(&r, 0, x01_crowd);
	exrig_start(&r);
	exrig_run(&r);
	print_message("%u done, %u not\n", (unsigned)r.v[0], (unsigned)r.v[1]);
	assert_true(r.v[0] > 100 && r.v[1] > 100);
	assert_int_equal(exrig_counter(r.node[0].nic, "vcis"), r.v[0]);
	assert_int_equal(exrig_counter(r.node[0].nic, "tagged"), r.v[0]);
	assert_int_equal(exrig_counter(r.node[0].nic, "tagged_full"), r.v[1]);
	exrig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_o10_domains_cost_nothing),
		cmocka_unit_test(test_o11_only_own_pages),
		cmocka_unit_test(test_x01_tagged_store),
		cmocka_unit_test(test_x01_crowd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
