/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a mix of instructions between two Host Ports in both directions, with
 * all options that change only times. A repetition must have equal results (M03
 * of hostport.md 13.7). Also checks the cycles of the stages (8.6). */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hpend.h"

/* ---- a mix of everything, in both directions ---- */

enum { WINS = 8, ROUNDS = 12, AREA = 16 * HP_PAGE };

/* Opens windows 10 to 17 of a side, at adjacent addresses. */
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

/* Puts bytes from a window into the window of the same number on the other
 * side. When the put has ended, issues three instructions together: a get of
 * these bytes into another window, an add and a send. */
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
		/* all messages have arrived, so that the region is given
		 * back */
		if (i % 4 == 3)
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

/* Makes a device with one network port, so that replies return to that port
 * too. */
static void one_port(struct hppair *t, struct hpend *e)
{
	for (uint32_t i = 0; i < 2; i++) {
		uint8_t *b = e->d.rs + HPDRV_ROUTE * i;

		b[HP_RS_HEAD + b[HP_RS_NF] + b[HP_RS_NR]] = HP_EL(0, 1);
	}
	hpdrv_cache(&e->d, HP_CACHE_FLUSH, HP_CACHE_ROUTE, 0, 0, 0);
	mix(t, e);
}

/* Changes the crystal of both nodes. */
static void off_clock(struct hppair *t)
{
	hppair_set(t);
	exrig_set(&t->rig, "extoll.xbar", hppair_sets[0], hppair_sets[1]);
}

static void test_every_size_of_the_nic_passes_mixed_traffic(void **state)
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

	for (uint32_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		hppair_sets = all[i];
		hppair_once(hppair_set, mix, mix);
	}
	hppair_sets = HPPAIR_SETS("ppm", "200");
	hppair_once(off_clock, mix, mix);
	hppair_sets = HPPAIR_SETS("n_np", "1");
	hppair_once(hppair_set, one_port, one_port);
	hppair_sets = HPPAIR_SETS("n_np", "1", "n_cpl_fu", "1");
	hppair_once(hppair_set, one_port, one_port);
}

/* ---- M03: an equal run again ---- */

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

/* Checks that both runs have equal times, counters of NICs and hosts, and bytes
 * of both memories (M03). */
static void test_m03_again(void **state)
{
	static struct hppair t[2];
	weft_time_t first[2];

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

/* ---- cycles of the stages (8.6) ---- */

static weft_time_t took;

/* Measures the third of three equal puts, because by then the caches hold
 * everything that the put needs. */
static void near_time(struct hppair *t, struct hpend *e)
{
	struct hprma a = hpend_put(64, 0, 64);

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
	hppair_set(t);
}

static weft_time_t put_time(const char *par, const char *val)
{
	hppair_sets = HPPAIR_SETS(par, val);
	hppair_once(even_clocks, near_time, hppair_far_memory);
	return took;
}

/* Checks by how many cycles a put with acknowledge gets longer when a stage
 * takes 20 cycles more, at the origin, at the target and for the acknowledge. A
 * value is one less if the answer to the read of the payload arrives between
 * two edges. The route is looked up in parallel with context and window, and
 * the frame is made in parallel with the read of the payload. Routing frame and
 * command frame form the first cell. The target checks and translates during 15
 * of the 20 cycles in which the payload arrives in the second cell. */
static void test_slower_stage_delays_by_its_share(void **state)
{
	static const struct {
		const char *par;
		uint32_t least, most;
	} stage[] = {
		{ "t_decode", 19, 19 }, { "t_route", 18, 18 },
		{ "t_win", 24, 24 },	{ "t_check", 24, 24 },
		{ "t_tlb", 24, 24 },	{ "t_frame", 20, 40 },
		{ "t_nqe", 20, 20 },
	};
	weft_time_t base = put_time("t_nqe", "1");

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
		cmocka_unit_test(
			test_every_size_of_the_nic_passes_mixed_traffic),
		cmocka_unit_test(test_m03_again),
		cmocka_unit_test(test_slower_stage_delays_by_its_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
