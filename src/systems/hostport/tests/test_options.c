/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the Host Port that other scenarios leave at their defaults
 * (hostport.md appendix B, 14.3). The test checks that each option changes the
 * behaviour for which it stands and nothing else. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hpend.h"
#include "weft/trace.h"

/* ---- rx_block_limit ---- */

/* Lengths of messages in bytes. The region has no space for both messages. */
enum { FULL = 64000, MORE = 2400 };

static void near_limit(struct hppair *t, struct hpend *e)
{
	weft_time_t from;

	hpend_sdr(e, FULL / 8, 1);
	hpend_send(e, HP_B_SEND | HP_A, 0, FULL);
	hpend_expect(e, HP_B_SEND | HP_A, NULL);
	from = weft_host_now(e->h);
	hpend_send(e, HP_B_SEND | HP_A, 0, MORE);
	/* small messages need no region, but stay behind the large one */
	hpend_send(e, HP_B_SEND | HP_A, 0, 8);
	hpend_expect(e, HP_CMD(HP_ERR_ROUTE_BROKEN, 0, HP_B_SEND | HP_A), NULL);
	assert_in_range(weft_host_now(e->h) - from, 30 * WEFT_US, 50 * WEFT_US);
	hpend_expect(e, HP_B_SEND | HP_A, NULL);
	assert_int_equal(hppair_counter(t, 1, "rx_stalls"), 1);
	hppair_meet(e);
	hppair_meet(e);
	/* accepted, because the region has space again */
	hpend_send(e, HP_B_SEND | HP_A, 0, MORE);
	hpend_expect(e, HP_B_SEND | HP_A, NULL);
	hppair_meet(e);
}

static void far_limit(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];

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
	hppair_set(t);
	for (uint32_t i = 0; i < 2; i++) {
		t->end[i].d.ctrl = HP_CTRL_ORDER;
		t->end[i].flags = HP_CTX_ORD;
	}
}

static void test_rx_block_limit(void **state)
{
	hppair_sets = HPPAIR_SETS("rx_block_limit", "3000"); /* 30 us */
	hppair_once(ordered, near_limit, far_limit);
}

enum { REFUSED = 40, ENTRIES = 64 };

/* Counts messages that end without having arrived. */
struct losses {
	struct weft_listener l;
	uint32_t ended, lost;
};

static struct losses losses;

static void losses_hear(struct weft_listener *l, const struct weft_trace *t)
{
	struct losses *k = (struct losses *)l;

	k->ended += t->kind == WEFT_TRACE_END;
	k->lost += t->kind == WEFT_TRACE_END && !t->value;
}

static void few_entries(struct hppair *t)
{
	ordered(t);
	t->end[0].d.nq = ENTRIES;
}

/* Issues puts that the target refuses, and that request no acknowledge. The
 * origin's queue has room for some refusals only, and the origin reads it too
 * late. */
static void near_late(struct hppair *t, struct hpend *e)
{
	struct hprma put = hpend_put(0, 0, 8);
	uint64_t w[HP_WORDS], logged;
	uint32_t refusals = 0;

	losses = (struct losses){ .l.hear = losses_hear };
	weft_sim_listen(t->rig.sim, &losses.l);
	put.byte = HP_B_FAST_PUT | 1;
	put.capa ^= 1;
	hpend_windows(e);
	for (uint32_t i = 0; i < REFUSED; i++)
		hpend_rma(e, &put);
	/* the last puts are sent when the origin reads its queue */
	for (uint32_t i = 0; i < 2; i++) {
		weft_host_sleep(e->h, weft_host_now(e->h) + 100 * WEFT_US);
		while (hpproc_nqe(&e->p, w))
			refusals += HP_CMD_ERR(HP_NQE_CMD(w)) != 0;
		hpproc_free(&e->p);
	}
	logged = hppair_counter(t, 0, "err_logs");
	assert_in_range(logged, 1, REFUSED - 1);
	assert_int_equal(refusals + logged, REFUSED);
	assert_int_equal(losses.ended, REFUSED);
	assert_int_equal(losses.lost, logged);
	hppair_meet(e);
}

static void far_late(struct hppair *t, struct hpend *e)
{
	hpend_windows(e);
	hppair_meet(e);
}

static void a_refusal_without_room_is_logged_and_does_not_arrive(void **state)
{
	hppair_sets = HPPAIR_SETS("rx_block_limit", "3000");
	hppair_once(few_entries, near_late, far_late);
}

/* ---- nq_full_policy ---- */

enum { NQ = 16, SENT = 40 };

static void drop(struct hppair *t)
{
	t->end[1].d.nq = NQ;
	hppair_set(t);
}

/* Checks that messages without room are recorded in the error log, and that
 * none of them waits. */
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
	hppair_sets = HPPAIR_SETS("nq_full_policy", "drop");
	hppair_once(drop, near_drop, far_drop);
}

/* Counts the messages whose notification waited for room. */
struct waits {
	struct weft_listener l;
	uint32_t n;
};

static struct waits waits;

static void waits_hear(struct weft_listener *l, const struct weft_trace *t)
{
	struct waits *w = (struct waits *)l;

	w->n += t->kind == WEFT_TRACE_MARK &&
		!strcmp(t->name, "notification waits for room");
}

static void read_only(struct hppair *t)
{
	drop(t);
	t->end[1].read_only = true;
}

/* Issues puts to pages that cannot be written, until a notification waits for
 * room because the process does not read its queue. */
static void near_wait(struct hppair *t, struct hpend *e)
{
	struct hprma a = hpend_put(0, 0, 8);

	waits = (struct waits){ .l.hear = waits_hear };
	weft_sim_listen(t->rig.sim, &waits.l);
	hpend_windows(e);
	for (uint64_t i = 0; i < NQ; i++) {
		hpend_rma(e, &a);
		hpend_expect(e, HP_CMD(HP_ERR_TWINID, 0, HP_B_PUT | HP_A),
			     NULL);
	}
	assert_int_equal(hppair_counter(t, 1, "nqe_waits"), 1);
	assert_int_equal(waits.n, 0);
	hppair_meet(e);
	hppair_meet(e);
	assert_int_equal(waits.n, 1);
}

static void far_wait(struct hppair *t, struct hpend *e)
{
	hpend_windows(e);
	hppair_meet(e);
	for (uint32_t i = 0; i < NQ; i++)
		hpend_expect(e, HP_CMD(HP_ERR_TWINID, 0, HP_B_NOTIFY_RMA),
			     NULL);
	hppair_meet(e);
}

static void a_trace_shows_that_a_notification_waited_for_room(void **state)
{
	hppair_sets = HPPAIR_SETS("nq_full_policy", "park");
	hppair_once(read_only, near_wait, far_wait);
}

/* ---- csb_vpid_max ---- */

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
	hppair_sets = HPPAIR_SETS("csb_vpid_max", "4", "t_ctx", "64");
	hppair_once(hppair_set, near_share, hppair_far_1);
}

/* ---- rdr_unit (7.3) ---- */

enum { UNIT = 3 }; /* 8 words */

static void near_unit(struct hppair *t, struct hpend *e)
{
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
	hppair_once(small_rdr, near_unit, far_unit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rx_block_limit),
		cmocka_unit_test(
			a_refusal_without_room_is_logged_and_does_not_arrive),
		cmocka_unit_test(test_nq_full_policy),
		cmocka_unit_test(
			a_trace_shows_that_a_notification_waited_for_room),
		cmocka_unit_test(test_csb_vpid_max),
		cmocka_unit_test(test_rdr_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
