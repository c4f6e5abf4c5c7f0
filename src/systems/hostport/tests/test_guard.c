/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the Host Port that separate processes, each at its edge: owner of a
 * lock, bounds of a window, translations and queue pointers of a VPID, contexts
 * that the driver removes, VPID_QUIET. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hpend.h"
#include "systems/hostport/nic/nic.h"

/* ---- windows ---- */

static struct hprma put_to(uint32_t win, uint64_t off, uint64_t len)
{
	return (struct hprma){ .byte = HP_B_PUT | HP_A,
			       .win = win,
			       .capa = HPEND_CAPA,
			       .owin = HPEND_OWN,
			       .off = off,
			       .len = len };
}

/* Opens window 9, locked for the VPID of the other node, and window 11, locked
 * for another VPID of this node. All pages around the windows exist, so that
 * only the checks can refuse an access. */
static void far_guarded(struct hppair *t, struct hpend *e)
{
	hpend_set(e, 0xee);
	hpend_win(e, 9, 8 * HP_PAGE, HP_PAGE,
		  HPEND_OPEN | HP_WIN_LOCK | HPEND_CAPA,
		  HP_WIN_OWNER_MAKE(HPEND_HPID1, HPEND_VPID0));
	hpend_win(e, 11, 8 * HP_PAGE, HP_PAGE,
		  HPEND_OPEN | HP_WIN_LOCK | HPEND_CAPA,
		  HP_WIN_OWNER_MAKE(HPEND_HPID0, HPEND_VPID0 + 1));
	hpend_win(e, 10, 8 * HP_PAGE, HP_PAGE, HPEND_OPEN | HPEND_CAPA, 0);
	hpend_windows(e);
	hppair_meet(e);
	hppair_meet(e);
}

static void near_lock(struct hppair *t, struct hpend *e)
{
	hpend_windows(e);
	hppair_meet(e);
	for (uint32_t win = 9; win <= 11; win += 2) {
		struct hprma a = put_to(win, 0, 8);

		hpend_rma(e, &a);
		hpend_expect(e, HP_CMD(HP_ERR_TWINID_INV, 0, a.byte), NULL);
	}
	assert_true(hpend_rest(&t->end[1], 0, 0, 0xee));
	hppair_meet(e);
}

static void a_lock_is_for_the_vpid_of_one_node(void **state)
{
	hppair_once(NULL, near_lock, far_guarded);
}

/* Uses an offset whose sum with the length wraps modulo 2^64 to less than the
 * window's length. */
static void near_wrap(struct hppair *t, struct hpend *e)
{
	static const uint64_t below[] = { 8, 64, HP_PAGE, 4 * HP_PAGE };

	hpend_windows(e);
	hppair_meet(e);
	for (uint32_t i = 0; i < sizeof(below) / sizeof(*below); i++) {
		struct hprma a = put_to(10, 0 - below[i], below[i]);

		hpend_rma(e, &a);
		hpend_expect(e, HP_CMD(HP_ERR_TWINID, 0, a.byte), NULL);
		a.len = below[i] + 8;
		hpend_rma(e, &a);
		hpend_expect(e, HP_CMD(HP_ERR_TWINID, 0, a.byte), NULL);
	}
	assert_true(hpend_rest(&t->end[1], 0, 0, 0xee));
	hppair_meet(e);
}

static void an_offset_that_wraps_does_not_reach_below_a_window(void **state)
{
	hppair_once(NULL, near_wrap, far_guarded);
}

/* ---- translations ---- */

/* Opens window 0 at a virtual address that the other process uses too. The put
 * waits for its own page. When the driver inserts the page of the other VPID,
 * the put must not use that page. */
static void near_answer(struct hppair *t, struct hpend *e)
{
	struct hprma a = hpend_put(0, 0, 8);
	uint64_t page = HPEND_VA / HP_PAGE;

	hpend_windows(e);
	hpend_set(e, 0x11);
	e->hold = true;
	hpend_cache(e, HP_CACHE_REMOVE, HP_CACHE_TLB, page, 0);
	hpend_rma(e, &a);
	weft_host_sleep(e->h, weft_host_now(e->h) + 20 * WEFT_US);
	while (hpdrv_get(&e->d, HP_R_DRIVER_LOCK))
		;
	hpdrv_cache(&e->d, HP_CACHE_INSERT, HP_CACHE_TLB, e->vpid + 1, page,
		    HP_TLB_ARG(e->mem_phys / HP_PAGE + 250, true));
	hpdrv_set(&e->d, HP_R_DRIVER_LOCK, 0);
	assert_false(hpproc_wait(&e->p, (uint64_t[HP_WORDS]){ 0 }));
	e->hold = false;
	hpend_expect(e, HP_CMD(0, 0, HP_B_PUT | HP_A), NULL);
	hppair_meet(e);
}

static void an_answer_is_for_those_of_its_vpid(void **state)
{
	hppair_once(NULL, near_answer, hppair_far_memory);
}

/* ---- pointers ---- */

static struct hpdrv drv;

static void run(exrig_fn fn)
{
	drv = (struct hpdrv){ .prq = 8, .rdr = 512 };
	hprig_one(fn);
}

static uint32_t status(struct hpproc *p, uint32_t cmd, uint32_t n)
{
	uint64_t w[HP_WORDS];

	assert_true(hpproc_trigger(p, cmd, n) & HP_TRUE);
	assert_true(hpproc_nqe(p, w));
	assert_int_equal(HP_CMD_BYTE(HP_NQE_CMD(w)), HP_B_NOTIFY_CC);
	return HP_CMD_ERR(HP_NQE_CMD(w));
}

static int pointers(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpproc p;
	const uint64_t *c;

	hpdrv_open(&drv, r, node, h);
	hpproc_open(&p, &drv, h, 5, 0);
	/* refused, because no message arrived and no word of the RDR can be
	 * returned */
	assert_int_equal(status(&p, HP_T_RDR_RP, 1), HP_ERR_CMD_INV);
	/* seven of eight entries are accepted, but not eight */
	assert_int_equal(status(&p, HP_T_PRQ_WP, 8), HP_ERR_CMD_INV);
	assert_int_equal(status(&p, HP_T_PRQ_WP, 7), 0);
	assert_int_equal(status(&p, HP_T_PRQ_WP, 1), HP_ERR_CMD_INV);
	c = hpdrv_ctx(&drv, 5);
	assert_int_equal(HP_CTX(c, HP_F_RDR_RP), 0);
	assert_int_equal(HP_CTX(c, HP_F_PRQ_WP), 7);
	return 0;
}

static void pointers_do_not_pass_each_other(void **state)
{
	run(pointers);
}

/* ---- contexts ---- */

static struct hp_nic *nic_of(struct exrig *r)
{
	return r->node[0].nic->state;
}

static void got(struct hp_nic *n, struct hp_ctx_req *q, struct hp_ctx *c)
{
	*(uint64_t *)q->arg = c->w[0] | 1ull << 32;
}

static bool is_read(const struct hp_nic *n)
{
	uint32_t i = assoc_find(&n->ctx.dir, 6 % n->ctx.dir.sets, 0, 6);

	return i != ASSOC_NONE && !assoc_valid(&n->ctx.dir, i);
}

enum taken { STAYS, REMOVED, FLUSHED };

/* Requests the context of VPID 6 inside the device. If `taken` is REMOVED or
 * FLUSHED, removes or flushes the context while it is being read. Returns W0 of
 * the context. */
static uint64_t ask(struct weft_host *h, struct exrig *r, enum taken taken)
{
	static uint64_t w0;
	static struct hp_ctx_req q;
	struct hp_nic *n = nic_of(r);

	w0 = 0;
	q = (struct hp_ctx_req){ .vpid = 6, .done = got, .arg = &w0 };
	hp_ctx_get(n, &q);
	while (taken && !is_read(n))
		weft_host_cpu(h, 5 * WEFT_NS);
	if (taken == REMOVED)
		hp_ctx_cmd(n, HP_CACHE_REMOVE, 6);
	if (taken == FLUSHED)
		hp_ctx_cmd(n, HP_CACHE_FLUSH, 0);
	assert_int_equal(hp_ctx_busy(n), taken != STAYS);
	weft_host_cpu(h, 5 * WEFT_US);
	return w0;
}

static int removed(struct weft_host *h, struct exrig *r, uint32_t node)
{
	uint64_t *w;

	hpdrv_open(&drv, r, node, h);
	w = drv.ct + HP_WORDS * 6;
	for (enum taken how = REMOVED; how <= FLUSHED; how++) {
		w[0] = HP_CTX_EN;
		assert_true(ask(h, r, how) & HP_CTX_EN);
		/* changes the table, because the cache does not hold the
		 * context */
		w[0] = 0;
		assert_false(hp_ctx_busy(nic_of(r)));
		assert_false(hp_ctx_cmd(nic_of(r), HP_CACHE_QUERY, 6));
		assert_false(ask(h, r, STAYS) & HP_CTX_EN);
		hp_ctx_cmd(nic_of(r), HP_CACHE_REMOVE, 6);
	}
	return 0;
}

static void a_context_removed_while_it_is_read_does_not_stay(void **state)
{
	run(removed);
}

static void make_dirty(struct hp_nic *n, struct hp_ctx_req *q, struct hp_ctx *c)
{
	HP_CTX_SET(c->w, HP_F_WQ_RP, 33);
	hp_ctx_dirty(c);
}

static void read_back(struct hp_nic *n, struct hp_ctx_req *q, struct hp_ctx *c)
{
	*(uint64_t *)q->arg = HP_CTX(c->w, HP_F_WQ_RP) + 1000;
}

/* Requests the context again while its write-back waits behind other stores. A
 * read of memory would pass the write-back. */
static int again(struct weft_host *h, struct exrig *r, uint32_t node)
{
	static uint8_t bytes[HP_PAGE];
	static struct hp_ctx_req a = { .vpid = 6, .done = make_dirty };
	static struct hp_ctx_req b = { .vpid = 6, .done = read_back };
	static uint64_t rp;
	struct hp_nic *n = nic_of(r);
	weft_phys_t scratch;

	hpdrv_open(&drv, r, node, h);
	weft_mem_alloc(h, HP_PAGE, HP_PAGE, &scratch);
	drv.ct[HP_WORDS * 6] = HP_CTX_EN;
	rp = 0;
	b.arg = &rp;
	hp_ctx_get(n, &a);
	weft_host_cpu(h, 5 * WEFT_US);
	for (uint32_t i = 0; i < 40; i++)
		hp_dma_put(n, scratch, bytes, HP_PAGE, NULL, NULL);
	hp_ctx_cmd(n, HP_CACHE_REMOVE, 6);
	assert_true(hp_ctx_busy(n));
	hp_ctx_get(n, &b);
	weft_host_cpu(h, 500 * WEFT_US);
	assert_int_equal(rp, 1033);
	return 0;
}

static void a_context_is_read_again_behind_its_write_back(void **state)
{
	run(again);
}

/* ---- state that the device holds for a VPID ---- */

static uint64_t held(struct hpend *e)
{
	uint64_t n;

	while (hpdrv_get(&e->d, HP_R_DRIVER_LOCK))
		;
	hpdrv_set(&e->d, HP_R_VPID_QUIET, e->vpid);
	n = hpdrv_get(&e->d, HP_R_VPID_QUIET);
	hpdrv_set(&e->d, HP_R_DRIVER_LOCK, 0);
	return n;
}

static void rests(struct hpend *e)
{
	for (uint32_t i = 0; held(e); i++) {
		assert_true(i < 1000);
		weft_host_sleep(e->h, weft_host_now(e->h) + WEFT_US);
	}
}

/* Closes a port during its message. Once VPID_QUIET reads 0, the device reads
 * no more bytes of the message. */
static void near_message(struct hppair *t, struct hpend *e)
{
	hppair_meet(e);
	assert_int_equal(held(e), 0);
	hpend_sdr(e, 7000, 3);
	hpend_send(e, HP_B_SEND, 0, 56000);
	weft_host_sleep(e->h, weft_host_now(e->h) + 2 * WEFT_US);
	hpdrv_disable(&e->d, e->vpid);
	assert_true(held(e) > 0);
	rests(e);
	memset(e->p.sdr, 0xbb, 56000);
	hppair_meet(e);
}

static void far_message(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];

	hppair_meet(e);
	hppair_meet(e);
	hpend_expect(e, HP_B_NOTIFY_RECV, w);
	hpend_rdr_check(e, w, 56000, 3);
}

static void what_is_being_read_is_held(void **state)
{
	hppair_once(NULL, near_message, far_message);
}

/* Leaves work for which the device waits: a put whose translation no driver
 * inserts, and messages for a full queue that no process empties. */
static void near_waits(struct hppair *t, struct hpend *e)
{
	struct hprma a = hpend_put(0, 0, 8);

	hpend_windows(e);
	e->hold = true;
	hpend_cache(e, HP_CACHE_REMOVE, HP_CACHE_TLB, HPEND_VA / HP_PAGE, 0);
	hpend_rma(e, &a);
	hppair_meet(e);
	weft_host_sleep(e->h, weft_host_now(e->h) + 50 * WEFT_US);
	hpdrv_disable(&e->d, e->vpid);
	rests(e);
	e->hold = false;
	hppair_meet(e);
}

static void far_waits(struct hppair *t, struct hpend *e)
{
	uint64_t word = 1;

	hpend_windows(e);
	for (uint32_t i = 0; i < 60; i++)
		hpproc_fast_send(&e->p, 0, HPEND_VPID0, 0, i, &word, 1);
	hppair_meet(e);
	hppair_meet(e);
}

static void small_queue(struct hppair *t)
{
	t->end[0].d.nq = 16;
}

static void what_waits_for_a_process_that_has_gone_ends(void **state)
{
	hppair_once(small_queue, near_waits, far_waits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lock_is_for_the_vpid_of_one_node),
		cmocka_unit_test(
			an_offset_that_wraps_does_not_reach_below_a_window),
		cmocka_unit_test(an_answer_is_for_those_of_its_vpid),
		cmocka_unit_test(pointers_do_not_pass_each_other),
		cmocka_unit_test(
			a_context_removed_while_it_is_read_does_not_stay),
		cmocka_unit_test(a_context_is_read_again_behind_its_write_back),
		cmocka_unit_test(what_is_being_read_is_held),
		cmocka_unit_test(what_waits_for_a_process_that_has_gone_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
