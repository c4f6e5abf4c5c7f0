/* SPDX-License-Identifier: Apache-2.0 */
/* Triggerpage and conditional store buffer on a running Host Port: scenarios
 * T02 to T12 of hostport.md 13.1. T01 is in test_many.c, T13 to T15 are in
 * test_pointers.c. */
#include "unit/cmocka_all.h"
#include "hpproc.h"
#include "weft/trace.h"

extern const struct weft_class weft_class_bus_pci;

static struct hpdrv drv;

/* Runs one program on one node. Parameters of the NIC are pairs ended by
 * NULL. */
static void run_on(exrig_fn fn, const struct weft_class *bus,
		   const char *const *set)
{
	struct exrig r;

	drv = (struct hpdrv){ 0 };
	hprig_new(&r, "1", bus);
	for (; set && *set; set += 2)
		exrig_set(&r, "hostport.nic", set[0], set[1]);
	exrig_prog(&r, 0, fn);
	exrig_start(&r);
	exrig_run(&r);
	exrig_free(&r);
}

/* ---- T02, T03, T04, T06, T07, T08 ---- */

static int t02(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpproc p;
	uint64_t tags[5];

	hpdrv_open(&drv, r, node, h);
	hpproc_open(&p, &drv, h, 7, HP_CTX_ORD);
	for (uint32_t i = 0; i < 5; i++)
		hpproc_self(&p, i);
	assert_int_equal(hpproc_trigger(&p, HP_T_ISSUE, 5), 0x103);
	hpproc_own(&p, tags, 3);
	assert_int_equal(exrig_counter(r->node[0].nic, "vcis"), 3);
	assert_int_equal(hpproc_trigger(&p, HP_T_ISSUE, 2) & 0xffff, 0x82);
	hpproc_own(&p, tags + 3, 2);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(tags[i], i);
	assert_int_equal(exrig_counter(r->node[0].nic, "vcis"), 5);
	return 0;
}

/* T02 */
static void test_t02_partly_accepted(void **state)
{
	static const char *const set[] = { "csb_depth", "3", NULL };

	run_on(t02, NULL, set);
}

static int answers(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpproc p;

	hpdrv_open(&drv, r, node, h);
	hpproc_open(&p, &drv, h, 0x1234, 0);
	for (uint32_t i = 0; i < 5; i++)
		hpproc_self(&p, i);
	assert_int_equal(hpproc_trigger(&p, HP_T_ISSUE, 5), 0x110085); /* T03 */
	hpproc_own(&p, (uint64_t[5]){ 0 }, 5);
	assert_int_equal(hpproc_trigger(&p, HP_T_ISSUE, 0), 0x160080); /* T04 */
	for (uint32_t cmd = 6; cmd < 16; cmd++)
		assert_int_equal(hpproc_trigger(&p, cmd, 1),
				 0x160300);			       /* T07 */
	weft_io_store64(h, &p.page, HP_TRIGGER(HP_T_ISSUE, 3), ~0ULL); /* T08 */
	assert_int_equal(hpdrv_get(&drv, HP_R_CSB_FREE), 22);
	hpdrv_disable(&drv, p.vpid);
	assert_int_equal(hpproc_trigger(&p, HP_T_ISSUE, 1), 0x160200); /* T06 */
	/* turns the device off, so that it reports no free entries */
	hpdrv_set(&drv, HP_R_CTRL, 0);
	assert_int_equal(hpproc_trigger(&p, HP_T_ISSUE, 1), 0x200);
	/* a load of the upper half does not trigger, but a load of the lower
	 * half does (7.3) */
	assert_int_equal(weft_io_load32(h, &p.page, 12), 0);
	assert_int_equal(exrig_counter(r->node[0].nic, "vcis"), 5);
	assert_int_equal(exrig_counter(r->node[0].nic, "accepted"), 5);
	return 0;
}

/* T03, T04, T06 to T08 */
static void test_trigger_loads_return_specified_answers(void **state)
{
	static const char *const set[] = { "csb_depth", "22", NULL };

	run_on(answers, NULL, set);
}

struct ear {
	struct weft_listener l;
	uint64_t opened; /* id of the message begun last */
	/* opens: number of messages begun. failed: number of times that the
	 * message begun last has ended with a failure */
	uint32_t opens, failed;
};

static void hear(struct weft_listener *l, const struct weft_trace *t)
{
	struct ear *e = (struct ear *)l;

	if (t->kind == WEFT_TRACE_OPEN) {
		e->opened = t->id;
		e->opens++;
	} else if (t->kind == WEFT_TRACE_END && t->id == e->opened) {
		e->failed += !t->value;
	}
}

static int refused(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpproc p;

	hpdrv_open(&drv, r, node, h);
	hpproc_open(&p, &drv, h, 7, 0);
	hpdrv_disable(&drv, p.vpid);
	assert_int_equal(HP_RET_ACCEPTED(hpproc_trigger(&p, HP_T_ISSUE, 1)), 0);
	return 0;
}

static void a_refused_trigger_ends_its_message(void **state)
{
	struct ear e = { .l.hear = hear };
	struct exrig r;

	drv = (struct hpdrv){ 0 };
	hprig_new(&r, "1", NULL);
	exrig_prog(&r, 0, refused);
	exrig_start(&r);
	weft_sim_listen(r.sim, &e.l);
	exrig_run(&r);
	assert_int_equal(e.opens, 1);
	assert_int_equal(e.failed, 1);
	exrig_free(&r);
}

/* ---- T09, T11: time ---- */

static weft_time_t time_of(struct weft_host *h, const struct weft_io *io,
			   uint64_t off)
{
	weft_time_t t = weft_host_now(h);

	weft_io_load64(h, io, off);
	return weft_host_now(h) - t;
}

/* Measures the time of a load: v[0] of a register, v[1] of a trigger while the
 * CSB is empty, v[2] while it is half full, v[3] while it is full. With t_ctx
 * 64 an entry stays in the CSB for 640 ns, longer than a load takes.
 * */
static int timing(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpproc p;

	hpdrv_open(&drv, r, node, h);
	hpproc_open(&p, &drv, h, 3, 0);
	r->v[0] = time_of(h, &drv.mgmt, HP_R_CSB_FREE);
	r->v[1] = time_of(h, &p.page, HP_TRIGGER(HP_T_ISSUE, 0));
	for (uint32_t i = 0; i < 20; i++)
		hpproc_trigger(&p, HP_T_BARRIER, 0);
	r->v[2] = time_of(h, &p.page, HP_TRIGGER(HP_T_BARRIER, 0));
	/* Triggers until the full CSB refuses a trigger. The number of attempts
	 * is limited, because entries may leave the CSB faster than loads fill
	 * it. */
	for (uint32_t i = 0; i < 2000; i++)
		if (!(hpproc_trigger(&p, HP_T_BARRIER, 0) & HP_TRUE))
			break;
	r->v[3] = time_of(h, &p.page, HP_TRIGGER(HP_T_BARRIER, 0));
	r->v[5] = exrig_counter(r->node[0].nic, "rejected");
	weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_US);
	return 0;
}

static void time_run(uint64_t *v, const char *t_trigger, const char *t_reg)
{
	struct weft_err err = { 0 };
	struct exrig r;

	drv = (struct hpdrv){ 0 };
	hprig_new(&r, "1", &weft_class_bus_pci);
	assert_int_equal(weft_preset_apply(r.node[0].bus, "pci33", &err), 0);
	exrig_set(&r, "host.pc", "cost_load", "0");
	exrig_set(&r, "host.pc", "cost_clock", "0");
	exrig_set(&r, "hostport.nic", "t_trigger", t_trigger);
	exrig_set(&r, "hostport.nic", "t_reg", t_reg);
	exrig_set(&r, "hostport.nic", "t_ctx", "64");
	exrig_set(&r, "hostport.nic", "lookups", "1");
	exrig_set(&r, "hostport.nic", "csb_depth", "8");
	exrig_prog(&r, 0, timing);
	exrig_start(&r);
	exrig_run(&r);
	for (uint32_t i = 0; i < 8; i++)
		v[i] = r.v[i];
	exrig_free(&r);
}

/* T11 */
static void test_t11_as_fast_as_a_register(void **state)
{
	uint64_t v[8];

	time_run(v, "4", "4");
	assert_int_equal(v[0], 630 * WEFT_NS); /* L1 */
	for (uint32_t i = 1; i < 4; i++)
		assert_int_equal(v[i], v[0]);
	assert_true(v[5] > 0); /* the CSB was full at some time */
}

/* 18 core cycles fit into the six bus clocks of the target, but 19 do not
 * (11.3). */
static void test_hp03_breaks_at_19(void **state)
{
	uint64_t v[8];

	time_run(v, "18", "4");
	assert_int_equal(v[1], v[0]);
	time_run(v, "19", "4");
	assert_true(v[1] > v[0]);
	time_run(v, "4", "19"); /* loads of registers take 19 cycles as well */
	assert_true(v[0] > v[1]);
}

static int t09(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpproc p;
	uint64_t tag;

	hpdrv_open(&drv, r, node, h);
	hpproc_open(&p, &drv, h, 9, 0);
	hpproc_self(&p, 1);
	assert_int_equal(hpproc_trigger(&p, HP_T_ISSUE, 1) & 0xff, 0x81);
	hpproc_own(&p, &tag, 1);
	weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_US);
	assert_true(exrig_counter(r->node[0].bus, "retries") > 0);
	assert_int_equal(exrig_counter(r->node[0].nic, "triggers"), 1);
	assert_int_equal(exrig_counter(r->node[0].nic, "vcis"), 1);
	return 0;
}

/* T09 */
static void test_t09_retry_enqueues_once(void **state)
{
	static const char *const set[] = { "t_trigger", "200", NULL };

	run_on(t09, &weft_class_bus_pci, set);
}

/* ---- T10, T12: several processes ---- */

static int t10(struct weft_host *h, struct exrig *r, uint32_t node)
{
	static struct hpproc proc[2];
	uint32_t me = (uint32_t)r->v[0]++;
	struct hpproc *p = &proc[me];

	if (!me) { /* node 0 is the driver for both programs */
		hpdrv_open(&drv, r, node, h);
		hpproc_open(&proc[0], &drv, h, 100, 0);
		hpproc_open(&proc[1], &drv, h, 101, 0);
		r->v[1] = 1;
	}
	while (!r->v[1])
		weft_host_sleep(h, weft_host_now(h) + WEFT_US);
	p->h = h;
	for (uint32_t i = 0; i < 20; i++) {
		for (uint32_t k = 0; k <= me; k++)
			hpproc_self(p, i);
		assert_int_equal(hpproc_trigger(p, HP_T_ISSUE, 1 + me) & 0xff,
				 0x81 + me);
		hpproc_own(p, (uint64_t[2]){ 0 }, 1 + me);
	}
	return 0;
}

/* T10 */
static void test_t10_answers_are_ones_own(void **state)
{
	struct exrig r;

	drv = (struct hpdrv){ 0 };
	hprig_new(&r, "1", NULL);
	exrig_prog(&r, 0, t10);
	exrig_prog(&r, 0, t10);
	exrig_start(&r);
	exrig_run(&r);
	assert_int_equal(exrig_counter(r.node[0].nic, "vcis"), 60);
	exrig_free(&r);
}

static int t12(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpproc p[3];
	uint64_t tags[3];

	hpdrv_open(&drv, r, node, h);
	for (uint32_t i = 0; i < 3; i++)
		hpproc_open(&p[i], &drv, h, 65535 - 4096 * i, 0);
	for (uint32_t i = 0; i < 3; i++) {
		for (uint32_t k = 0; k <= i; k++)
			hpproc_self(&p[i], 10 * i + k);
		hpproc_issue(&p[i], i + 1);
	}
	for (uint32_t i = 0; i < 3; i++) {
		hpproc_own(&p[i], tags, i + 1);
		assert_int_equal(tags[0] / 10, i);
		assert_int_equal(HP_CTX(hpdrv_ctx(&drv, p[i].vpid), HP_F_WQ_RP),
				 i + 1);
	}
	return 0;
}

/* T12 */
static void test_t12_three_pages(void **state)
{
	run_on(t12, NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_t02_partly_accepted),
		cmocka_unit_test(test_trigger_loads_return_specified_answers),
		cmocka_unit_test(a_refused_trigger_ends_its_message),
		cmocka_unit_test(test_t11_as_fast_as_a_register),
		cmocka_unit_test(test_hp03_breaks_at_19),
		cmocka_unit_test(test_t09_retry_enqueues_once),
		cmocka_unit_test(test_t10_answers_are_ones_own),
		cmocka_unit_test(test_t12_three_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
