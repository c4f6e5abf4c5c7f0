/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL RMA on two nodes, driven by registers and descriptors (extoll.md 9:
 * T-11 to T-15, T-18). */
#include "unit/cmocka_all.h"
#include "exproc.h"
#include "exrig.h"

#include <string.h>

enum { VPID = 5, OPT = RMA_OPT_TE, SRC = 0, DST = 8 * RMA_PAGE };

/* Runs a process on each of two nodes: `near` on node 0, `far` on node 1. */
static void pair(struct exrig *r, exrig_fn near, exrig_fn far)
{
	exrig_new(r, "2");
	exrig_prog(r, 0, near);
	exrig_prog(r, 1, far);
	exrig_start(r);
	exrig_run(r);
}

static void fill(uint8_t *p, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)((i * 131 + seed * 29) ^ (i >> 8));
}

static uint64_t put(uint32_t op, uint32_t spec, uint32_t bytes)
{
	return RMA_D_MAKE(op, 1, VPID, spec, 0) | RMA_D_BYTES(bytes);
}

/* Node 1 opens its process, reports that it is ready, and runs until node 0 has
 * finished. */
static struct exproc far_proc, near_proc;

static int far_idle(struct weft_host *h, struct exrig *r, uint32_t node)
{
	exproc_open(&far_proc, h, VPID);
	weft_oob_put(h, "far", 1);
	weft_oob_get(h, "end");
	return 0;
}

static struct exproc *near_open(struct weft_host *h)
{
	exproc_open(&near_proc, h, VPID);
	weft_oob_get(h, "far");
	return &near_proc;
}

/* ---- T-11: puts, quadwords and bytes ---- */

struct put {
	uint32_t op, from, to, bytes;
};

static const struct put quad_puts[] = {
	{ RMA_PUT_QW, 0, 0, 8 },	  { RMA_PUT_QW, 0, 8, 16 },
	{ RMA_PUT_QW, 8, 0, 56 },	  { RMA_PUT_QW, 24, 48, 64 },
	{ RMA_PUT_QW, 0, 0, 72 },	  { RMA_PUT_QW, 1000, 3000, 1024 },
	{ RMA_PUT_QW, 8, 0, 4088 },	  { RMA_PUT_QW, 0, 0, 4096 },
	{ RMA_PUT_QW, 8, 4096 - 24, 24 }, { RMA_PUT_BT, 3, 1, 4093 },
	{ RMA_PUT_BT, 0, 0, 4096 },	  { RMA_PUT_BT, 4095, 4095, 1 },
};
enum {
	QUADS = sizeof(quad_puts) / sizeof(quad_puts[0]),
	PUTS = QUADS + 16 * 64, /* every offset, 1..64 bytes */
};

static struct put put_nth(uint32_t i)
{
	if (i < QUADS)
		return quad_puts[i];
	i -= QUADS;
	return (struct put){ RMA_PUT_BT, i * 7 % 16, i % 16, 1 + i / 16 };
}

static void put_send(struct exproc *p, uint32_t i)
{
	struct put t = put_nth(i);
	uint64_t w0, w1;

	fill(p->buf + SRC, RMA_PAGE, i);
	exproc_post(p, OPT, put(t.op, RMA_REQUESTER | RMA_COMPLETER, t.bytes),
		    EXPROC_NLA(SRC + t.from), EXPROC_NLA(DST + t.to));
	assert_true(exproc_noti(p, &w0, &w1));
	assert_int_equal(w0, EXPROC_NLA(SRC + t.from));
	assert_int_equal(w1, RMA_N_MAKE(t.bytes - 1, VPID, 1, RMA_REQUESTER,
					t.op, RMA_MODE_TE, 0));
}

/* Checks the bytes at the target. */
static void put_check(struct exproc *p, uint32_t i)
{
	struct put t = put_nth(i);
	uint8_t *dst = p->buf + DST, want[RMA_PAGE];
	uint64_t w0, w1;

	assert_true(exproc_noti(p, &w0, &w1));
	assert_int_equal(w0, EXPROC_NLA(DST + t.to));
	assert_int_equal(w1, RMA_N_MAKE(t.bytes - 1, VPID, 0, RMA_COMPLETER,
					t.op, RMA_MODE_TE, 0));
	fill(want, RMA_PAGE, i);
	assert_memory_equal(dst + t.to, want + t.from, t.bytes);
	for (uint32_t k = 0; k < RMA_PAGE; k++)
		if (k < t.to || k >= t.to + t.bytes)
			assert_int_equal(dst[k], 0xee);
	memset(dst, 0xee, RMA_PAGE);
}

static int puts_near(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct exproc *p = near_open(h);

	for (uint32_t i = 0; i < PUTS; i++) {
		put_send(p, i);
		weft_host_sleep(h, weft_host_now(h) + 15 * WEFT_US);
	}
	return 0;
}

static int puts_far(struct weft_host *h, struct exrig *r, uint32_t node)
{
	exproc_open(&far_proc, h, VPID);
	memset(far_proc.buf + DST, 0xee, RMA_PAGE);
	weft_oob_put(h, "far", 1);
	for (uint32_t i = 0; i < PUTS; i++)
		put_check(&far_proc, i);
	return 0;
}

static void test_put_changes_only_the_addressed_bytes(void **state)
{
	struct exrig r;

	pair(&r, puts_near, puts_far);
	assert_int_equal(exrig_counter(r.node[0].nic, "rma_bad_commands"), 0);
	assert_int_equal(exrig_counter(r.node[1].nic, "rma_completions"),
			 exrig_counter(r.node[0].nic, "rma_commands"));
	exrig_free(&r);
}

/* ---- T-12, T-13, T-20: refused by the requester ---- */

static int refused_near(struct weft_host *h, struct exrig *r, uint32_t node)
{
	static const struct {
		uint64_t w0, w1, w2;
		uint32_t opt;
	} bad[] = {
		{ RMA_D_BYTES(8), 4, 0, OPT }, /* read address */
		{ RMA_D_BYTES(8), 0, 4, OPT }, /* write address */
		{ RMA_D_BYTES(12), 0, 0, OPT },
		{ RMA_D_BYTES(4104), 0, 0, OPT },
		{ RMA_D_BYTES(1 << 23), 0, 0, OPT },
		{ RMA_D_BYTES(16), 4088, 0, OPT },
		{ RMA_D_BYTES(16), 0, 4088, OPT },
		{ RMA_D_BYTES(8), 0, 0, 0 },		     /* physical */
		{ RMA_D_BYTES(8), 0, 0, OPT | RMA_OPT_RRA }, /* registers */
		{ RMA_D_BYTES(8), 0, 0, OPT | RMA_OPT_INT },
		{ RMA_D_BYTES(8) | 1ull << 39, 0, 0, OPT },
		{ RMA_D_BYTES(8) | RMA_PUT(RMA_MOD_MC, 38, 35), 0, 0, OPT },
		{ RMA_D_BYTES(8) | RMA_PUT(8, 5, 2), 0, 0, OPT },    /* op 11 */
		{ RMA_D_BYTES(8) | RMA_PUT(77, 31, 16), 0, 0, OPT }, /* node */
		{ RMA_D_BYTES(8), 1ull << 39, 0, OPT },		 /* address */
		{ RMA_D_BYTES(8), EXPROC_NLA(1 << 24), 0, OPT }, /* no entry */
	};
	struct exproc *p = near_open(h);
	uint64_t w0, w1;

	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		exproc_post(p, bad[i].opt,
			    RMA_D_MAKE(RMA_PUT_QW, 0, VPID, 0, 0) | bad[i].w0,
			    bad[i].w1, bad[i].w2);
		assert_true(exproc_noti(p, &w0, &w1));
		assert_int_equal(w0, bad[i].w1);
		assert_int_equal(RMA_N_UNIT(w1), RMA_REQUESTER);
		assert_int_equal(RMA_N_ERROR(w1), RMA_REQUESTER);
	}
	r->v[0] = sizeof(bad) / sizeof(bad[0]);
	weft_oob_put(h, "end", 1);
	return 0;
}

static void test_requester_refuses_bad_commands(void **state)
{
	struct exrig r;

	pair(&r, refused_near, far_idle);
	assert_int_equal(exrig_counter(r.node[0].nic, "rma_bad_commands"),
			 r.v[0]);
	assert_int_equal(exrig_counter(r.node[0].nic, "np1_packets_out"), 0);
	exrig_free(&r);
}

/* ---- T-14: gets, eight notification specs ---- */

static void get_check(struct exproc *p, uint32_t op, uint32_t spec,
		      uint32_t from, uint32_t to, uint32_t bytes)
{
	uint8_t *src = far_proc.buf + SRC, *dst = p->buf + DST;
	uint64_t w0, w1;

	fill(src, RMA_PAGE, bytes + from);
	memset(dst, 0xee, RMA_PAGE);
	exproc_post(p, OPT, put(op, spec, bytes), EXPROC_NLA(SRC + from),
		    EXPROC_NLA(DST + to));
	if (spec & RMA_REQUESTER) {
		assert_true(exproc_noti(p, &w0, &w1));
		assert_int_equal(w0, EXPROC_NLA(DST + to));
		assert_int_equal(w1,
				 RMA_N_MAKE(bytes - 1, VPID, 1, RMA_REQUESTER,
					    op, RMA_MODE_TE, 0));
	}
	if (spec & RMA_COMPLETER) {
		assert_true(exproc_noti(p, &w0, &w1));
		assert_int_equal(w0, EXPROC_NLA(DST + to));
		assert_int_equal(w1,
				 RMA_N_MAKE(bytes - 1, VPID, 1, RMA_COMPLETER,
					    op + 10, RMA_MODE_TE, 0));
	} else {
		weft_host_sleep(p->h, weft_host_now(p->h) + 15 * WEFT_US);
	}
	assert_memory_equal(dst + to, src + from, bytes);
	for (uint32_t i = 0; i < RMA_PAGE; i++)
		if (i < to || i >= to + bytes)
			assert_int_equal(dst[i], 0xee);
}

static int gets_near(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct exproc *p = near_open(h);

	for (uint32_t spec = 0; spec < 8; spec++)
		get_check(p, RMA_GET_QW, spec, 0, 8 * spec, 128);
	get_check(p, RMA_GET_QW, RMA_COMPLETER, 0, 0, 4096);
	for (uint32_t n = 1; n < 4000; n = n * 3 + 1)
		get_check(p, RMA_GET_BT, RMA_COMPLETER, n % 7, n % 13, n);
	weft_oob_put(h, "end", 1);
	return 0;
}

static int gets_far(struct weft_host *h, struct exrig *r, uint32_t node)
{
	uint64_t w0, w1;

	exproc_open(&far_proc, h, VPID);
	weft_oob_put(h, "far", 1);
	for (r->v[0] = 0; r->v[0] < 4; r->v[0]++) { /* specs 2, 3, 6, 7 */
		assert_true(exproc_noti(&far_proc, &w0, &w1));
		assert_int_equal(w0, EXPROC_NLA(SRC));
		assert_int_equal(w1, RMA_N_MAKE(127, VPID, 0, RMA_RESPONDER,
						RMA_GET_QW, RMA_MODE_TE, 0));
	}
	weft_oob_get(h, "end");
	assert_false(far_proc.ring[2 * far_proc.rp + 1]);
	return 0;
}

static void test_get_notifies_as_its_specification_bits_say(void **state)
{
	struct exrig r;

	pair(&r, gets_near, gets_far);
	assert_int_equal(exrig_counter(r.node[1].nic, "rma_responses"),
			 exrig_counter(r.node[0].nic, "rma_commands"));
	exrig_free(&r);
}

/* ---- T-15: faults at the completer and at the responder ---- */

static const uint64_t fault_nla[] = {
	NLA_MAKE(0, 0, 0), /* entry not valid */
	NLA_MAKE(0, 1, 0), /* read only */
	NLA_MAKE(0, 2, 0), /* a page of another process */
	NLA_MAKE(3, 0, 0), /* table not valid */
	NLA_MAKE(0, 0, 0) | 1ull << 40,
};
enum { FAULTS = sizeof(fault_nla) / sizeof(fault_nla[0]) };

static int faults_near(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct exproc *p = near_open(h);
	uint64_t w0, w1;

	for (uint32_t i = 0; i < FAULTS; i++)
		exproc_post(p, OPT, put(RMA_PUT_QW, 0, 4096), EXPROC_NLA(SRC),
			    fault_nla[i]);
	for (uint32_t i = 0; i < FAULTS; i++) {
		if (i == 1) /* may be read */
			continue;
		exproc_post(p, OPT, put(RMA_GET_QW, RMA_COMPLETER, 64),
			    fault_nla[i], EXPROC_NLA(DST));
		assert_true(exproc_noti(p, &w0, &w1));
		assert_int_equal(w0, EXPROC_NLA(DST));
		assert_int_equal(RMA_N_ERROR(w1), RMA_RESPONDER);
	}
	put_send(p, 7); /* no earlier packet blocks the put */
	return 0;
}

static int faults_far(struct weft_host *h, struct exrig *r, uint32_t node)
{
	uint32_t unit[2] = { 0, 0 };
	uint64_t w0, w1;

	exproc_open(&far_proc, h, VPID);
	far_proc.gat[0] = 0;
	far_proc.gat[1] = GATE_MAKE(GATE_READ, VPID, far_proc.buf_phys);
	far_proc.gat[2] = GATE_MAKE(GATE_RW, VPID + 1, far_proc.buf_phys);
	weft_oob_put(h, "far", 1);
	for (uint32_t i = 0; i < 2 * FAULTS - 1; i++) {
		assert_true(exproc_noti(&far_proc, &w0, &w1));
		assert_int_equal(RMA_N_UNIT(w1), RMA_N_ERROR(w1));
		unit[RMA_N_UNIT(w1) == RMA_RESPONDER]++;
	}
	r->v[0] = unit[0];
	r->v[1] = unit[1];
	memset(far_proc.buf + DST, 0xee, RMA_PAGE);
	put_check(&far_proc, 7);
	for (uint32_t i = 0; i < 8 * RMA_PAGE; i++)
		assert_false(far_proc.buf[i]);
	return 0;
}

static void test_untranslatable_address_leaves_memory_unchanged(void **state)
{
	struct exrig r;

	pair(&r, faults_near, faults_far);
	assert_int_equal(r.v[0], FAULTS);
	assert_int_equal(r.v[1], FAULTS - 1);
	assert_int_equal(exrig_counter(r.node[1].nic, "atu_faults"),
			 2 * FAULTS - 1);
	exrig_free(&r);
}

/* ---- T-18: immediate and notification puts ---- */

static int small_near(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct exproc *p = near_open(h);

	for (uint32_t n = 1; n <= 8; n++)
		exproc_post(p, OPT,
			    RMA_D_MAKE(RMA_IMM_PUT, 1, VPID, RMA_COMPLETER, 0) |
				    RMA_D_BYTES(n),
			    EXPROC_NLA(DST + 16 * n + n), 0x8877665544332211);
	for (uint32_t c = 0; c < 256; c++)
		exproc_post(
			p, OPT,
			RMA_D_MAKE(RMA_NOTI_PUT, 1, VPID, RMA_COMPLETER, 0) |
				RMA_PUT(c, 47, 40),
			~(uint64_t)c, 0);
	return 0;
}

static int small_far(struct weft_host *h, struct exrig *r, uint32_t node)
{
	static const uint8_t bytes[] = { 0x11, 0x22, 0x33, 0x44,
					 0x55, 0x66, 0x77, 0x88 };
	uint64_t w0, w1;

	exproc_open(&far_proc, h, VPID);
	memset(far_proc.buf + DST, 0xee, RMA_PAGE);
	weft_oob_put(h, "far", 1);
	for (uint32_t n = 1; n <= 8; n++) {
		const uint8_t *at = far_proc.buf + DST + 16 * n;

		assert_true(exproc_noti(&far_proc, &w0, &w1));
		assert_int_equal(w0, EXPROC_NLA(DST + 16 * n + n));
		assert_int_equal(w1, RMA_N_MAKE(n - 1, VPID, 0, RMA_COMPLETER,
						RMA_IMM_PUT, RMA_MODE_TE, 0));
		for (uint32_t i = 0; i < 16; i++)
			assert_int_equal(at[i], i >= n && i < 2 * n
							? bytes[i - n]
							: 0xee);
	}
	for (uint32_t c = 0; c < 256; c++) {
		assert_true(exproc_noti(&far_proc, &w0, &w1));
		assert_int_equal(w0, ~(uint64_t)c);
		assert_int_equal(w1, RMA_N_MAKE(c, VPID, 0, RMA_COMPLETER,
						RMA_NOTI_PUT, RMA_MODE_TE, 0));
	}
	return 0;
}

static void test_immediate_and_notification_puts_arrive(void **state)
{
	struct exrig r;

	pair(&r, small_near, small_far);
	exrig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_put_changes_only_the_addressed_bytes),
		cmocka_unit_test(test_requester_refuses_bad_commands),
		cmocka_unit_test(
			test_get_notifies_as_its_specification_bits_say),
		cmocka_unit_test(
			test_untranslatable_address_leaves_memory_unchanged),
		cmocka_unit_test(test_immediate_and_notification_puts_arrive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
