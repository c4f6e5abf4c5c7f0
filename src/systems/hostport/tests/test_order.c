/* SPDX-License-Identifier: Apache-2.0 */
/* Scheduling and ordering of the Host Port (hostport.md 13.4: O01 to O04, O06,
 * O07, O12). test_sched.c asserts O05 after every step, test_many.c tests
 * O13. */
#include <string.h>

#include "unit/cmocka_all.h"
#include "hpproc.h"
#include "systems/hostport/nic/nic.h"

enum { TARGETS = 1000, SENDS = 400 };

static struct hpdrv drv[2];

static void bench(struct exrig *r, const char *const *set)
{
	memset(drv, 0, sizeof(drv));
	hprig_new(r, "2", NULL);
	for (; set && *set; set += 2)
		exrig_set(r, "hostport.nic", set[0], set[1]);
}

static void bench_run(struct exrig *r, exrig_fn near, exrig_fn far)
{
	exrig_prog(r, 0, near);
	exrig_prog(r, 1, far);
	exrig_start(r);
	exrig_run(r);
}

static void until(struct weft_host *h, const uint64_t *flag)
{
	while (!*flag)
		weft_host_sleep(h, weft_host_now(h) + WEFT_US);
}

/* Writes a SEND of n bytes from the start of the SDR. */
static void put_send(struct hpproc *p, uint32_t vpid, uint64_t tag, uint32_t n)
{
	uint64_t w[HP_WORDS];

	hpproc_to(w, HP_B_SEND, 1, vpid, tag);
	w[4] = n;
	hpproc_put(p, w);
}

static void put_fast(struct hpproc *p, uint32_t vpid, uint64_t tag)
{
	uint64_t w[HP_WORDS];

	hpproc_to(w, HP_B_FAST_SEND | 1, 1, vpid, tag);
	hpproc_put(p, w);
}

/* ---- O01 ---- */

/* Makes contexts of many targets. The contexts share their queues, because no
 * process reads the queues. */
static int o01_far(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpproc p;

	hpdrv_open(&drv[1], r, node, h);
	hpproc_open(&p, &drv[1], h, 1, 0);
	for (p.vpid = 2; p.vpid <= TARGETS; p.vpid++)
		hpdrv_enable(&p, 0);
	r->v[0] = 1;
	until(h, &r->v[1]);
	return 0;
}

static int o01_near(struct weft_host *h, struct exrig *r, uint32_t node)
{
	const struct hp_nic *n = r->node[0].nic->state;
	uint64_t w[HP_WORDS], from[HP_FU_MAX], cycle;
	uint32_t put = 0, got = 0;
	struct hpproc p;

	hpdrv_open(&drv[0], r, node, h);
	hpproc_open(&p, &drv[0], h, 1, HP_CTX_ORD);
	until(h, &r->v[0]);
	cycle = hp_now(n);
	for (uint32_t f = 0; f < 4; f++)
		from[f] = n->sched[HP_REQ].fu[f].busy;
	while (got < TARGETS) {
		uint32_t k = 0;

		for (; put < TARGETS && put - got < 60 && k < 20; put++, k++)
			put_send(&p, 1 + put, put, 512);
		hpproc_issue(&p, k);
		assert_true(hpproc_wait(&p, w));
		got++;
	}
	cycle = hp_now(n) - cycle;
	for (uint32_t f = 0; f < 4; f++) {
		uint64_t busy = n->sched[HP_REQ].fu[f].busy - from[f];

		print_message("FU%u: %.1f %%\n", f,
			      100.0 * (double)busy / (double)cycle);
		assert_true(10 * busy > 8 * cycle);
	}
	weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	r->v[1] = 1;
	return 0;
}

/* O01 */
static void test_o01_one_process_uses_all(void **state)
{
	struct exrig r;

	bench(&r, NULL);
	drv[0].ctrl = HP_CTRL_ORDER;
	bench_run(&r, o01_near, o01_far);
	exrig_free(&r);
}

/* ---- O03, O04 ---- */

/* number of messages that arrived before an older one */
static uint32_t overtaken;

static int o03_far(struct weft_host *h, struct exrig *r, uint32_t node)
{
	uint64_t w[HP_WORDS], next = 0;
	struct hpproc p;

	hpdrv_open(&drv[1], r, node, h);
	hpproc_open(&p, &drv[1], h, 2, 0);
	r->v[0] = 1;
	overtaken = 0;
	for (uint32_t i = 0; i < SENDS; i++) {
		assert_true(hpproc_wait(&p, w));
		overtaken += HP_NQE_TAG(w) != next;
		next = HP_NQE_TAG(w) + 1;
		if (HP_NQE_CMD(w) != HP_B_NOTIFY_RECV)
			continue;
		for (uint64_t left = w[3] / 8; left;) {
			uint32_t k = left > HP_COUNT_MAX ? HP_COUNT_MAX
							 : (uint32_t)left;

			if (hpproc_trigger(&p, HP_T_RDR_RP, k) & HP_TRUE)
				left -= k;
		}
	}
	r->v[1] = 1;
	return 0;
}

/* Sends long and short messages alternately. */
static int o03_near(struct weft_host *h, struct exrig *r, uint32_t node)
{
	uint64_t w[HP_WORDS];
	struct hpproc p;

	hpdrv_open(&drv[0], r, node, h);
	hpproc_open(&p, &drv[0], h, 1, r->v[2] ? HP_CTX_ORD : 0);
	until(h, &r->v[0]);
	for (uint32_t put = 0; put < SENDS; put += 10) {
		for (uint32_t i = put; i < put + 10; i++)
			if (i % 3)
				put_fast(&p, 2, i);
			else
				put_send(&p, 2, i, 48 + 8 * (i % 50));
		hpproc_issue(&p, 10);
		for (uint32_t i = 0; i < 10; i++)
			assert_true(hpproc_wait(&p, w));
	}
	until(h, &r->v[1]);
	return 0;
}

static uint32_t o03_run(bool ordered, const char *const *set)
{
	struct exrig r;

	bench(&r, set);
	/* completers keep the order if CTRL of their own node demands it */
	drv[0].ctrl = HP_CTRL_ORDER;
	drv[1].ctrl = ordered ? HP_CTRL_ORDER : 0;
	r.v[2] = ordered;
	bench_run(&r, o03_near, o03_far);
	exrig_free(&r);
	return overtaken;
}

/* O03 */
static void test_o03_ordered(void **state)
{
	static const char *const sets[][7] = {
		{ NULL },
		{ "n_req_fu", "1", "n_cpl_fu", "2", NULL },
		{ "n_req_fu", "8", "n_cpl_fu", "8", NULL },
		{ "issue_width", "1", "waitq_depth", "0", NULL },
		{ "issue_width", "8", "waitq_depth", "1", "n_req_fu", "3" },
	};

	for (uint32_t i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		assert_int_equal(o03_run(true, sets[i]), 0);
}

/* O04 */
static void test_o04_not_ordered(void **state)
{
	assert_true(o03_run(false, NULL) > 0);
}

/* ---- O02 ---- */

/* Much more work than the pipeline holds: each of PROCS processes sends EACH
 * messages. Up to WINDOW messages of a process are in flight. */
enum { PROCS = 8, EACH = 1000, WINDOW = 20 };
static struct hpproc proc[PROCS];

static int o02(struct weft_host *h, struct exrig *r, uint32_t node)
{
	uint32_t me = (uint32_t)r->v[0]++, put = 0, got = 0;
	uint64_t w[HP_WORDS];

	if (!me) {
		hpdrv_open(&drv[0], r, node, h);
		for (uint32_t i = 0; i < PROCS; i++)
			hpproc_open(&proc[i], &drv[0], h, 1 + 100 * i, 0);
		r->v[1] = 1;
	}
	until(h, &r->v[1]);
	proc[me].h = h;
	weft_host_sleep(h, 50 * WEFT_US);
	while (got < 2 * EACH) {
		uint32_t k = 0;

		for (; put < EACH && 2 * put < got + 2 * WINDOW; put++, k++) {
			hpproc_to(w, HP_B_SEND, 0, proc[me].vpid, put);
			w[4] = 40; /* payload bytes of a fast receive */
			hpproc_put(&proc[me], w);
		}
		hpproc_issue(&proc[me], k);
		assert_true(hpproc_wait(&proc[me], w));
		got++;
	}
	r->v[8 + me] = weft_host_now(h) - 50 * WEFT_US;
	/* waits for the last status NQEs */
	weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	return 0;
}

/* O02 */
static void test_o02_even_shares(void **state)
{
	uint64_t first = UINT64_MAX, last = 0;
	struct exrig r;

	memset(drv, 0, sizeof(drv));
	hprig_new(&r, "1", NULL);
	for (uint32_t i = 0; i < PROCS; i++)
		exrig_prog(&r, 0, o02);
	exrig_start(&r);
	exrig_run(&r);
	for (uint32_t i = 0; i < PROCS; i++) {
		first = r.v[8 + i] < first ? r.v[8 + i] : first;
		last = r.v[8 + i] > last ? r.v[8 + i] : last;
	}
	print_message("%.1f to %.1f us\n", (double)first / 1e9,
		      (double)last / 1e9);
	assert_true(10 * (last - first) < last);
	exrig_free(&r);
}

/* ---- O06, O07: the scheduler alone ---- */

static void wake(void *own, struct hp_sched *s)
{
}

static void stays(struct hp_sched *s, struct hp_job *j)
{
}

static const struct hp_pipe four = { .name = "test",
				     .job_size = sizeof(struct hp_job),
				     .stages = 4,
				     .stage = { stays, stays, stays, stays } };

static struct hp_job *put_key(struct hp_sched *s, uint64_t key)
{
	struct hp_job *j = hp_job_new(s);

	j->key = key;
	j->ordered = true;
	hp_sched_put(s, j);
	return j;
}

static struct hp_sched sched_of(uint32_t width, uint32_t depth)
{
	struct hp_sched s = { .pipe = &four,
			      .n_fu = 2,
			      .width = width,
			      .depth = depth,
			      .room = 16,
			      .wake = wake };

	hp_sched_init(&s);
	return s;
}

/* O06 */
static void test_o06_same_unit(void **state)
{
	struct hp_sched s = sched_of(4, 4);
	struct hp_job *a = put_key(&s, 1), *b, *c;

	assert_int_equal(s.n_fu * four.stages, 8); /* HP-15 */
	hp_sched_slot(&s);
	b = put_key(&s, 2);
	c = put_key(&s, 1);
	hp_sched_slot(&s);
	/* jobs a and c are in one unit, because a has not left it */
	assert_int_equal(c->fu, a->fu);
	assert_int_not_equal(b->fu, a->fu);
	assert_int_equal(s.n_queue, 0);
	hp_sched_fini(&s);
}

static uint32_t left_behind(uint32_t width, uint32_t depth)
{
	struct hp_sched s = sched_of(width, depth);
	uint32_t n;

	put_key(&s, 1);
	hp_sched_slot(&s);
	/* waits for the first job, because the keys are equal */
	put_key(&s, 1);
	put_key(&s, 2); /* needs not wait */
	hp_sched_slot(&s);
	hp_sched_slot(&s);
	n = s.n_queue;
	hp_sched_fini(&s);
	return n;
}

/* O07 */
static void test_o07_head_of_line(void **state)
{
	/* single issue leaves both jobs behind */
	assert_int_equal(left_behind(1, 0), 2);
	/* multi-issue leaves the first job behind */
	assert_int_equal(left_behind(4, 0), 1);
	/* wait queues leave no job behind */
	assert_int_equal(left_behind(4, 4), 0);
}

/* ---- O12 ---- */

static int o12(struct weft_host *h, struct exrig *r, uint32_t node)
{
	static uint8_t nq[128 * HP_LINE];
	uint64_t logged = 0, rec, writes;
	struct hpproc p;

	hpdrv_open(&drv[0], r, node, h);
	hpproc_open(&p, &drv[0], h, 77, 0);
	for (uint32_t i = 0; i < 31; i++)
		put_fast(&p, 77, i);
	hpproc_issue(&p, 31);
	hpdrv_disable(&drv[0], 77);
	writes = exrig_counter(r->node[0].nic, "writes");
	memcpy(nq, (const void *)(uintptr_t)p.nq, sizeof(nq));
	weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	/* the device has written nothing for the old context */
	assert_int_equal(exrig_counter(r->node[0].nic, "writes"), writes);
	assert_memory_equal(nq, (const void *)(uintptr_t)p.nq, sizeof(nq));
	while ((rec = hpdrv_get(&drv[0], HP_R_ERR_LOG)) != HP_NONE) {
		assert_int_equal(HP_CMD_ERR(HP_LOG_CMD(rec)), HP_ERR_OVPID_INV);
		assert_int_equal(HP_LOG_VPID(rec), 77);
		logged++;
	}
	assert_true(logged > 0);
	r->v[0] = logged;
	return 0;
}

/* O12 */
static void test_o12_closed_with_entries(void **state)
{
	struct exrig r;

	memset(drv, 0, sizeof(drv));
	hprig_new(&r, "1", NULL);
	exrig_set(&r, "hostport.nic", "t_ctx", "64");
	exrig_prog(&r, 0, o12);
	exrig_start(&r);
	exrig_run(&r);
	/* each instruction is executed or reported as an error */
	assert_int_equal(exrig_counter(r.node[0].nic, "vcis") + r.v[0], 31);
	exrig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_o01_one_process_uses_all),
		cmocka_unit_test(test_o02_even_shares),
		cmocka_unit_test(test_o03_ordered),
		cmocka_unit_test(test_o04_not_ordered),
		cmocka_unit_test(test_o06_same_unit),
		cmocka_unit_test(test_o07_head_of_line),
		cmocka_unit_test(test_o12_closed_with_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
