/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the Host Port that other scenarios leave at their defaults
 * (hostport.md appendix B, 14.3): what changes with them, and that nothing else
 * does. */
#include "../cmocka_all.h"

#include <string.h>

#include "hpend.h"

static const char *const *sets; /* pairs, ended by NULL */

static void with_sets(struct hppair *t)
{
	for (const char *const *s = sets; *s; s += 2)
		exrig_set(&t->rig, "hostport.nic", s[0], s[1]);
}

#define SETS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* ---- rx_block_limit ---------------------------------------------------- */

enum { FULL = 64000, MORE = 2400 }; /* the second does not fit any more */

static void near_limit(struct hppair *t, struct hpend *e)
{
	weft_time_t from;

	hpend_sdr(e, FULL / 8, 1);
	hpend_send(e, HP_B_SEND | HP_A, 0, FULL);
	hpend_expect(e, HP_B_SEND | HP_A, NULL);
	from = weft_host_now(e->h);
	hpend_send(e, HP_B_SEND | HP_A, 0, MORE);
	/* small ones need no region, but are behind it */
	hpend_send(e, HP_B_SEND | HP_A, 0, 8);
	hpend_expect(e, HP_CMD(HP_ERR_ROUTE_BROKEN, 0, HP_B_SEND | HP_A), NULL);
	assert_in_range(weft_host_now(e->h) - from, 30 * WEFT_US, 50 * WEFT_US);
	hpend_expect(e, HP_B_SEND | HP_A, NULL);
	assert_int_equal(hppair_counter(t, 1, "rx_stalls"), 1);
	hppair_meet(e);
	hppair_meet(e);
	hpend_send(e, HP_B_SEND | HP_A, 0, MORE); /* there is room again */
	hpend_expect(e, HP_B_SEND | HP_A, NULL);
	hppair_meet(e);
}

static void far_limit(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];

	(void)t;
	hppair_meet(e);
	hpend_expect(e, HP_B_NOTIFY_RECV, w);
	hpend_rdr_check(e, w, FULL, 1);
	hpend_expect(e, HP_B_NOTIFY_FAST_RECV, NULL);
	assert_false(hpdrv_ctx(&e->d, e->vpid)[0] & HP_CTX_STALL_RX);
	hpend_rdr_free(e, FULL / 8);
	hppair_meet(e);
	hpend_expect(e, HP_B_NOTIFY_RECV, w);
	hpend_rdr_check(e, w, MORE, 1);
	hppair_meet(e);
}

static void ordered(struct hppair *t)
{
	with_sets(t);
	for (uint32_t i = 0; i < 2; i++) {
		t->end[i].d.ctrl = HP_CTRL_ORDER;
		t->end[i].flags = HP_CTX_ORD;
	}
}

static void test_rx_block_limit(void **state)
{
	(void)state;
	sets = SETS("rx_block_limit", "3000"); /* 30 us */
	hppair_once(ordered, near_limit, far_limit);
}

/* ---- nq_full_policy ---------------------------------------------------- */

enum { NQ = 16, SENT = 40 };

static void drop(struct hppair *t)
{
	t->end[1].d.nq = NQ;
	with_sets(t);
}

/* Nothing waits: what finds no room is named in the log. */
static void near_drop(struct hppair *t, struct hpend *e)
{
	for (uint64_t i = 0; i < SENT; i++) {
		hpproc_fast_send(&e->p, 1, HPEND_VPID1, HP_A, i, &i, 1);
		hpend_expect(e, HP_B_FAST_SEND | HP_A | 1, NULL);
	}
	assert_int_equal(hppair_counter(t, 1, "nqe_waits"), 0);
	assert_int_equal(hppair_counter(t, 1, "err_logs"), SENT - (NQ - 1));
	hppair_meet(e);
}

static void far_drop(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS], rec, logged = 0;

	(void)t;
	hppair_meet(e);
	for (uint32_t i = 0; i < NQ - 1; i++) {
		assert_true(hpproc_nqe(&e->p, w));
		assert_int_equal(HP_NQE_TAG(w), i);
	}
	assert_false(hpproc_nqe(&e->p, w));
	while ((rec = hpdrv_get(&e->d, HP_R_ERR_LOG)) != HP_NONE) {
		assert_int_equal(
			rec, HP_LOG_MAKE(HP_B_NOTIFY_FAST_RECV, HPEND_VPID1));
		logged++;
	}
	assert_int_equal(logged, SENT - (NQ - 1));
}

static void test_nq_full_policy(void **state)
{
	(void)state;
	sets = SETS("nq_full_policy", "drop");
	hppair_once(drop, near_drop, far_drop);
}

/* ---- csb_vpid_max ------------------------------------------------------ */

static void near_share(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS], ret;

	for (uint32_t i = 0; i < 10; i++) {
		hpproc_to(w, HP_B_FAST_SEND, 1, HPEND_VPID1, i);
		hpproc_put(&e->p, w);
	}
	ret = hpproc_trigger(&e->p, HP_T_ISSUE, 10);
	assert_int_equal(HP_RET_ACCEPTED(ret), 4);
	assert_int_equal(HP_RET_REASON(ret), HP_REFUSED);
	assert_false(ret & HP_TRUE);
	hpproc_issue(&e->p, 6);
	for (uint32_t i = 0; i < 10; i++)
		hpend_expect(e, HP_B_FAST_SEND, NULL);
	assert_int_equal(hppair_counter(t, 0, "vcis"), 10);
	hppair_meet(e);
}

static void test_csb_vpid_max(void **state)
{
	(void)state;
	sets = SETS("csb_vpid_max", "4", "t_ctx", "64");
	hppair_once(with_sets, near_share, hppair_far_1);
}

/* ---- rdr_unit (7.3) ---------------------------------------------------- */

enum { UNIT = 3 }; /* 8 words */

static void near_unit(struct hppair *t, struct hpend *e)
{
	(void)t;
	hpend_sdr(e, 100, 3);
	hppair_meet(e);
	for (uint32_t i = 0; i < 20; i++) {
		hpend_send(e, HP_B_SEND | HP_A, 0, 8 * (6 + i));
		hpend_expect(e, HP_B_SEND | HP_A, NULL);
	}
	hppair_meet(e);
}

static void far_unit(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];
	uint32_t wp = 0;

	(void)t;
	hpdrv_set(&e->d, HP_R_RDR_UNIT, UNIT);
	hpdrv_get(&e->d, HP_R_HPID);
	hppair_meet(e);
	for (uint32_t i = 0; i < 20; i++) {
		uint32_t units = (6 + i + 7) / 8;

		hpend_expect(e, HP_B_NOTIFY_RECV, w);
		wp = (wp + 8 * units) % e->d.rdr;
		assert_int_equal(HP_PS_LO(w[2]), wp);
		hpend_rdr_check(e, w, 8 * (6 + i), 3);
		while (!(hpproc_trigger(&e->p, HP_T_RDR_RP, units) & HP_TRUE))
			;
	}
	hppair_meet(e);
	assert_int_equal(HP_CTX(hpdrv_ctx(&e->d, e->vpid), HP_F_RDR_RP), wp);
}

static void small_rdr(struct hppair *t)
{
	t->end[1].d.rdr = 64;
	for (uint32_t i = 0; i < 2; i++) {
		t->end[i].d.ctrl = HP_CTRL_ORDER;
		t->end[i].flags = HP_CTX_ORD;
	}
}

static void test_rdr_unit(void **state)
{
	(void)state;
	hppair_once(small_rdr, near_unit, far_unit);
}

/* ---- a mix of everything, both ways ------------------------------------ */

enum { WINS = 8, ROUNDS = 12, AREA = 16 * HP_PAGE };

/* Windows 10..17 of a side, one behind the other. */
static void mix_windows(struct hpend *e)
{
	for (uint32_t i = 0; i < WINS; i++)
		hpend_win(e, 10 + i, i * AREA, AREA, HPEND_OPEN | HPEND_CAPA,
			  0);
	hppair_meet(e);
}

static void mix_send(struct hpend *e, uint32_t i)
{
	uint32_t words = 1 + 29 * i;

	hpend_sdr(e, words, i);
	hpend_send(e, HP_B_SEND | HP_A, 0, 8 * words);
}

/* Everything of a round at once: put from window i to i, get back from there
 * to i + 4, add, send. */
static void mix_round(struct hppair *t, struct hpend *e, uint32_t i)
{
	uint32_t win = 10 + i % 4, len = 8 + 808 * i;
	struct hprma put = { .byte = HP_B_PUT | HP_A,
			     .win = win,
			     .capa = HPEND_CAPA,
			     .owin = win,
			     .off = 256,
			     .ooff = 512,
			     .len = len },
		     get = put, add = put;
	struct hpend *b = &t->end[e == &t->end[0]];
	uint64_t w[HP_WORDS];
	uint32_t seed = i + (e == &t->end[1]);

	hpend_fill(e, (win - 10) * AREA + 512, len, seed);
	hpend_rma(e, &put);
	hpend_expect(e, put.byte, NULL);
	assert_true(hpend_equal(b, (win - 10) * AREA + 256, len, seed));
	get.byte = HP_B_GET;
	get.owin = win + 4;
	add.byte = HP_B_FAA;
	add.win = 17;
	add.off = 8;
	add.imm[0] = i;
	hpend_rma(e, &get);
	hpend_rma(e, &add);
	mix_send(e, i);
	for (uint32_t k = 0; k < 3; k++)
		for (bool own = false; !own;) {
			assert_true(hpproc_wait(&e->p, w));
			own = HP_MAIN(HP_CMD_BYTE(HP_NQE_CMD(w))) !=
			      HP_M_NOTIFY;
			assert_int_equal(HP_CMD_ERR(HP_NQE_CMD(w)), 0);
		}
	assert_true(hpend_equal(e, (win - 6) * AREA + 512, len, seed));
}

static void mix(struct hppair *t, struct hpend *e)
{
	uint64_t sum = 0, *m = (uint64_t *)hpend_at(e, 7 * AREA + 8);

	mix_windows(e);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		mix_round(t, e, i);
		sum += i;
		hppair_meet(e);
		if (i % 4 == 3) /* all has come: the region is free again */
			hpend_rdr_free(
				e, (uint32_t)(HP_CTX(hpdrv_ctx(&e->d, e->vpid),
						     HP_F_RDR_WP) +
					      e->d.rdr -
					      HP_CTX(hpdrv_ctx(&e->d, e->vpid),
						     HP_F_RDR_RP)) %
					   e->d.rdr);
	}
	hpend_at(e, 0);
	assert_int_equal(*m, sum);
}

/* One network port for all: replies come back to it as well. */
static void one_port(struct hppair *t, struct hpend *e)
{
	for (uint32_t i = 0; i < 2; i++) {
		uint8_t *b = e->d.rs + HPDRV_ROUTE * i;

		b[HP_RS_HEAD + b[HP_RS_NF] + b[HP_RS_NR]] = HP_EL(0, 1);
	}
	hpdrv_cache(&e->d, HP_CACHE_FLUSH, HP_CACHE_ROUTE, 0, 0, 0);
	mix(t, e);
}

/* The crystal of both nodes. */
static void off_clock(struct hppair *t)
{
	with_sets(t);
	exrig_set(&t->rig, "extoll.xbar", sets[0], sets[1]);
}

static void test_mix(void **state)
{
	static const char *const all[][5] = {
		{ NULL },
		{ "n_req_fu", "1", "n_rsp_fu", "1" },
		{ "n_req_fu", "16", "n_rsp_fu", "16" },
		{ "n_cpl_fu", "1", "np_depth", "1" },
		{ "issue_width", "1", "waitq_depth", "0" },
		{ "vci_queue", "1", "fetches", "1" },
		{ "ctx_cache", "4", "win_cache", "4" },
		{ "route_cache", "4", "tlb", "3" },
		{ "dma_piece", "64", "np_depth", "64" },
		{ "dma_piece", "4096", "reads", "1" },
		{ "posted", "1", "max_request", "128" },
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		sets = all[i];
		hppair_once(with_sets, mix, mix);
	}
	sets = SETS("ppm", "200");
	hppair_once(off_clock, mix, mix);
	sets = SETS("n_np", "1");
	hppair_once(with_sets, one_port, one_port);
	sets = SETS("n_np", "1", "n_cpl_fu", "1");
	hppair_once(with_sets, one_port, one_port);
}

/* ---- M03: the same again ---- */

static weft_time_t ended[2];

static void mix_timed(struct hppair *t, struct hpend *e)
{
	mix(t, e);
	ended[e == &t->end[1]] = weft_host_now(e->h);
}

static void counters_equal(const struct weft_comp *a, const struct weft_comp *b)
{
	for (uint32_t i = 0; i < a->cls->n_counters; i++)
		assert_int_equal(a->counters[i], b->counters[i]);
}

/* Times, counters of NICs and hosts, and every byte of both memories (M03). */
static void test_m03_again(void **state)
{
	static struct hppair t[2];
	weft_time_t first[2];

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		hppair_run(&t[i], NULL, mix_timed, mix_timed);
		if (!i)
			memcpy(first, ended, sizeof(first));
	}
	assert_memory_equal(first, ended, sizeof(first));
	for (uint32_t i = 0; i < 2; i++) {
		const struct exrig_node *a = &t[0].rig.node[i];
		const struct exrig_node *b = &t[1].rig.node[i];

		counters_equal(a->nic, b->nic);
		counters_equal(a->host, b->host);
		counters_equal(a->bus, b->bus);
		counters_equal(a->xbar, b->xbar);
		assert_memory_equal(t[0].end[i].mem, t[1].end[i].mem,
				    HPEND_PAGES * HP_PAGE);
		assert_memory_equal(t[0].end[i].p.rdr, t[1].end[i].p.rdr,
				    8 * t[0].end[i].d.rdr);
		assert_memory_equal((const void *)(uintptr_t)t[0].end[i].p.nq,
				    (const void *)(uintptr_t)t[1].end[i].p.nq,
				    HP_LINE * t[0].end[i].d.nq);
	}
	hppair_free(&t[0]);
	hppair_free(&t[1]);
}

/* ---- cycles of the stages (8.6) ---------------------------------------- */

static weft_time_t took;

/* The third of equal ones: everything is cached. */
static void near_time(struct hppair *t, struct hpend *e)
{
	struct hprma a = hpend_put(64, 0, 64);

	(void)t;
	hpend_windows(e);
	for (uint32_t i = 0; i < 3; i++) {
		weft_host_sleep(e->h,
				(weft_host_now(e->h) / (10 * WEFT_US) + 1) *
					10 * WEFT_US);
		took = weft_host_now(e->h);
		hpend_rma(e, &a);
		hpend_expect(e, a.byte, NULL);
		took = weft_host_now(e->h) - took;
	}
	hppair_meet(e);
}

static void even_clocks(struct hppair *t)
{
	exrig_set(&t->rig, "extoll.xbar", "clock", "200MHz");
	exrig_set(&t->rig, "hostport.nic", "net_clock", "200MHz");
	with_sets(t);
}

static weft_time_t put_time(const char *par, const char *val)
{
	sets = SETS(par, val);
	hppair_once(even_clocks, near_time, hppair_far_memory);
	return took;
}

/* Cycles that a put with acknowledge takes longer when a stage takes 20 more:
 * at the origin, at the target, and back; one less where the answer to the read
 * of the payload comes between two edges.  The route is looked up beside
 * context and window; the frame is made beside the read of the payload. */
static void test_stages(void **state)
{
	static const struct {
		const char *par;
		uint32_t least, most;
	} stage[] = {
		{ "t_decode", 19, 19 }, { "t_route", 18, 18 },
		{ "t_win", 39, 39 },	{ "t_check", 39, 39 },
		{ "t_tlb", 39, 39 },	{ "t_frame", 20, 40 },
		{ "t_nqe", 20, 20 },
	};
	weft_time_t base = put_time("t_nqe", "1");

	(void)state;
	for (uint32_t i = 0; i < sizeof(stage) / sizeof(*stage); i++) {
		weft_time_t more = put_time(stage[i].par, "21") - base;

		assert_int_equal(more % (10 * WEFT_NS), 0);
		assert_in_range(more / (10 * WEFT_NS), stage[i].least,
				stage[i].most);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rx_block_limit),
		cmocka_unit_test(test_nq_full_policy),
		cmocka_unit_test(test_csb_vpid_max),
		cmocka_unit_test(test_rdr_unit),
		cmocka_unit_test(test_mix),
		cmocka_unit_test(test_m03_again),
		cmocka_unit_test(test_stages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
