/* SPDX-License-Identifier: Apache-2.0 */
/* Doorbells, links, states, interrupts and compaction of HVIA-GE through its
 * registers (hvia.md 9: T-18 to T-20, T-26, T-27, T-32, T-37, T-43). */
#include "hvduo.h"

#include <stdlib.h>
#include <string.h>

/* ---- doorbells (T-18, T-19) ---- */

static void ring(struct hvrig *r, uint32_t vi, uint32_t q, uint64_t token)
{
	weft_io_store64(r->h, &r->db, hvia_doorbell(vi, q), token);
}

/* Posts three receives, then rings a wrong doorbell. */
static void spoil(uint32_t vi, uint64_t token, enum hvia_error code,
		  uint32_t times)
{
	struct hvrig *r = &hvduo.rig[0];

	hvrig_vi(r, vi, PEER, 0);
	for (uint32_t i = 0; i < 3; i++)
		hvrig_post(r, vi, HVIA_Q_RECV, hvrig_desc(r, 10 + i, 0));
	while (times--)
		ring(r, vi, HVIA_Q_RECV, token);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(hvrig_wait(r, &r->desc[10 + i]),
				 RECV | HVIA_ST_FLUSHED);
		assert_int_equal(r->desc[10 + i].d.length, 0);
	}
	hvduo_error_is(r, vi, code);
	assert_int_equal(hvduo_state_of(r, vi), HVIA_VI_ERROR);
	/* descriptors posted in ERROR are flushed too */
	hvrig_post(r, vi, HVIA_Q_SEND, hvduo_simple(14, 4));
	assert_int_equal(hvrig_wait(r, &r->desc[14]), OK | HVIA_ST_FLUSHED);
}

static int misuser(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[0];
	uint32_t turn = 0;
	uint64_t e;

	hvduo_open_side(h, 0, 0);
	hvarea_meet(h, &turn);
	spoil(10, hvia_token(r->desc_handle, 32), HVIA_ERROR_POST_DESC, 1);
	hvduo_no_error(r);
	spoil(11, hvia_token(r->handles, 0), HVIA_ERROR_POST_DESC, 1);
	hvduo_no_error(r);
	/* The doorbell names a descriptor outside its region. The card detects
	 * this when it fetches the descriptor. */
	hvrig_vi(r, 12, PEER, 0);
	ring(r, 12, HVIA_Q_SEND, hvia_token(r->desc_handle, 0x7fffffc0));
	weft_host_sleep(h, weft_host_now(h) + 10 * WEFT_US);
	hvduo_error_is(r, 12, HVIA_ERROR_POST_DESC);
	assert_int_equal(hvduo_state_of(r, 12), HVIA_VI_ERROR);
	/* a descriptor of another owner (T-37) */
	hvrig_vi(r, 13, PEER, 0);
	e = hvrig_load(r, hvia_vi_entry(13, HVIA_VI_0));
	hvrig_store(r, hvia_vi_entry(13, HVIA_VI_0), e ^ 1 << 16);
	ring(r, 13, HVIA_Q_SEND, hvia_token(r->desc_handle, 0));
	weft_host_sleep(h, weft_host_now(h) + 10 * WEFT_US);
	hvduo_error_is(r, 13, HVIA_ERROR_POST_DESC);
	hvduo_no_error(r);
	hvarea_meet(h, &turn);
	return 0;
}

/* T-18, T-37 */
static void bad_doorbell_flushes_its_vi_only(void **state)
{
	hvduo_run(misuser, hvduo_peer, 0);
}

/* Posts 1024 receives in a ring of descriptors, then one more. */
static int overrunner(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[0];
	uint32_t turn = 0;

	hvduo_open_side(h, 0, 0);
	hvarea_meet(h, &turn);
	for (uint32_t i = 0; i < 64; i++) {
		struct hvrig_desc *d = hvrig_desc(r, i, 0);

		d->d.next = (uintptr_t)&r->desc[(i + 1) % 64];
		d->d.next_handle = r->desc_handle;
	}
	for (uint32_t i = 0; i < 1024; i++)
		ring(r, VI, HVIA_Q_RECV, hvia_token(r->desc_handle, 0));
	assert_int_equal(
		HVIA_VI_2_RECV(hvrig_load(r, hvia_vi_entry(VI, HVIA_VI_2))),
		1024);
	hvduo_no_error(r);
	ring(r, VI, HVIA_Q_RECV, hvia_token(r->desc_handle, 0));
	hvduo_error_is(r, VI, HVIA_ERROR_VI_OVERRUN);
	weft_host_sleep(h, weft_host_now(h) + 5 * WEFT_MS);
	assert_int_equal(hvrig_load(r, hvia_vi_entry(VI, HVIA_VI_2)) >> 32, 0);
	assert_int_equal(hvduo_state_of(r, VI), HVIA_VI_ERROR);
	hvarea_meet(h, &turn);
	return 0;
}

/* T-19 */
static void one_post_too_many_is_an_overrun(void **state)
{
	hvduo_run(overrunner, hvduo_peer, 0);
}

/* ---- links set late (T-20) ---- */

/* Links and posts the second descriptor at every moment around the end of the
 * first. */
static int racer(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[0];
	uint32_t turn = 0;

	hvduo_open_side(h, 0, 0);
	hvarea_meet(h, &turn);
	for (uint32_t i = 0; i < 400; i++) {
		struct hvrig_desc *d[2] = { hvduo_simple(i % 16 * 2, 4),
					    hvduo_simple(i % 16 * 2 + 1, 4) };

		hvduo.buf[0][0] = (uint8_t)i;
		hvrig_post(r, VI, HVIA_Q_SEND, d[0]);
		weft_host_sleep(h, weft_host_now(h) + i * 8 * WEFT_NS);
		hvrig_post(r, VI, HVIA_Q_SEND, d[1]);
		assert_int_equal(hvrig_wait(r, d[0]), OK);
		assert_int_equal(hvrig_wait(r, d[1]), OK);
		r->q[VI][HVIA_Q_SEND].tail = NULL;
		weft_host_sleep(h, weft_host_now(h) + 9 * WEFT_US);
	}
	hvduo_no_error(r);
	assert_true(bench_counter(b->node[0].dev, "next_reads") > 50);
	assert_true(bench_counter(b->node[0].dev, "next_reads") < 390);
	weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_US);
	hvarea_meet(h, &turn);
	return 0;
}

/* Keeps two receives posted. Varies the time at which it posts the next receive
 * around the completions. */
static int race_peer(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[1];
	uint32_t turn = 0;

	hvduo_open_side(h, 0, 0);
	for (uint32_t i = 0; i < 3; i++) {
		struct hvrig_desc *d = hvrig_desc(r, i, 0);

		hvrig_seg(d, hvduo.buf[1] + i * 64, hvduo.handle[1], 64);
		hvrig_post(r, PEER, HVIA_Q_RECV, d);
	}
	hvarea_meet(h, &turn);
	for (uint32_t i = 0; i < 800; i++) {
		struct hvrig_desc *d = &r->desc[i % 3];

		assert_int_equal(hvrig_wait(r, d), RECV);
		assert_int_equal(hvduo.buf[1][i % 3 * 64], (uint8_t)(i / 2));
		d = hvrig_desc(r, i % 3, 0);
		hvrig_seg(d, hvduo.buf[1] + i % 3 * 64, hvduo.handle[1], 64);
		weft_host_sleep(h, weft_host_now(h) + i % 211 * 7 * WEFT_NS);
		hvrig_post(r, PEER, HVIA_Q_RECV, d);
	}
	hvduo_no_error(r);
	hvarea_meet(h, &turn);
	return 0;
}

/* T-20 */
static void descriptor_linked_in_a_race_runs_once(void **state)
{
	hvduo_run(racer, race_peer, 0);
}

/* Posts a descriptor whose Next is 0 and whose NextHandle is invalid. Sets the
 * link later, which changes each byte of NextHandle. */
static int relinks(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[0];
	struct hvrig_desc *d[2];
	uint32_t turn = 0;

	hvduo_open_side(h, 0, 0);
	hvarea_meet(h, &turn);
	d[0] = hvduo_simple(0, HVIA_PAGE);
	d[1] = hvduo_simple(1, 4);
	d[0]->d.next_handle = UINT32_MAX;
	ring(r, VI, HVIA_Q_SEND, hvia_token(r->desc_handle, 0));
	weft_host_sleep(h, weft_host_now(h) + 5 * WEFT_US);
	assert_int_equal(d[0]->d.status, 0);
	d[0]->d.next_handle = r->desc_handle;
	d[0]->d.next = (uintptr_t)d[1];
	ring(r, VI, HVIA_Q_SEND, hvia_token(r->desc_handle, sizeof(*d[1])));
	assert_int_equal(hvrig_wait(r, d[0]), OK);
	assert_int_equal(hvrig_wait(r, d[1]), OK);
	assert_int_equal(bench_counter(b->node[0].dev, "next_reads"), 1);
	hvduo_no_error(r);
	weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_US);
	hvarea_meet(h, &turn);
	return 0;
}

static void a_link_set_late_is_read_with_its_whole_handle(void **state)
{
	hvduo_run(relinks, hvduo_peer, 2);
}

/* ---- a reset in the middle of a completion ---- */

static int sends_twice(struct weft_host *h, struct bench *b)
{
	uint32_t turn = 0;

	hvduo_open_side(h, 0, 0);
	hvduo.buf[0][0] = 0x5A;
	for (uint32_t i = 0; i < 2; i++) {
		hvarea_meet(h, &turn);
		assert_int_equal(hvduo_sent(hvduo_simple(i, 4)), OK);
	}
	hvarea_meet(h, &turn);
	return 0;
}

static struct hvrig_desc *receive_posted(struct hvrig *r)
{
	struct hvrig_desc *d = hvrig_desc(r, 0, 0);

	hvrig_seg(d, hvduo.buf[1], hvduo.handle[1], 4);
	hvrig_post(r, PEER, HVIA_Q_RECV, d);
	return d;
}

static int resets(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[1];
	struct hvrig_desc *d;
	uint32_t turn = 0;

	hvduo_open_side(h, 0, 0);
	d = receive_posted(r);
	hvarea_meet(h, &turn);
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	assert_int_equal(hvduo.buf[1][0], 0x5A);
	hvrig_store(r, HVIA_CTRL, HVIA_CTRL_RESET);
	weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	assert_int_equal(d->d.status, 0);
	hvduo_open_side(h, 0, 0);
	d = receive_posted(r);
	hvarea_meet(h, &turn);
	assert_int_equal(hvrig_wait(r, d), RECV);
	assert_int_equal(hvduo.buf[1][0], 0x5A);
	hvarea_meet(h, &turn);
	return 0;
}

/* Sets t_compl so high that the receiver's completions take half a
 * millisecond. */
static void a_card_reset_while_it_completes_receives_again(void **state)
{
	hvduo.param = "t_compl";
	hvduo.value = "33000";
	hvduo.of = "n1.nic";
	hvduo_run(sends_twice, resets, 0);
}

/* ---- states (T-26, T-27), interrupts (T-43) ---- */

static int stater(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[0];
	uint32_t turn = 0;

	hvduo_open_side(h, 0, 0);
	hvarea_meet(h, &turn);
	/* the card flushes a send in IDLE at once, but keeps receives */
	hvrig_vi_state(r, VI, PEER, HVIA_VI_IDLE, 0);
	for (uint32_t i = 0; i < 4; i++)
		hvrig_post(r, VI, HVIA_Q_RECV, hvrig_desc(r, 20 + i, 0));
	assert_int_equal(hvduo_sent(hvduo_simple(0, 4)), OK | HVIA_ST_FLUSHED);
	assert_int_equal(r->desc[20].d.status, 0);
	/* the FLUSH bit flushes both queues, but not descriptors that are
	 * posted later */
	hvrig_store(r, hvia_vi_entry(VI, HVIA_VI_3), HVIA_VIF_FLUSH);
	assert_int_equal(hvrig_wait(r, &r->desc[23]), RECV | HVIA_ST_FLUSHED);
	assert_int_equal(hvrig_load(r, hvia_vi_entry(VI, HVIA_VI_3)), 0);
	hvrig_post(r, VI, HVIA_Q_RECV, hvrig_desc(r, 24, 0));
	weft_host_sleep(h, weft_host_now(h) + 20 * WEFT_US);
	assert_int_equal(r->desc[24].d.status, 0);
	/* sets ERROR in the middle of a long message, whose descriptor is then
	 * flushed */
	hvrig_vi(r, VI, PEER, 0);
	hvrig_post(r, VI, HVIA_Q_SEND, hvduo_simple(1, LEN));
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	hvrig_store(r, hvia_vi_entry(VI, HVIA_VI_0),
		    (hvrig_load(r, hvia_vi_entry(VI, HVIA_VI_0)) & ~3ULL) |
			    HVIA_VI_ERROR);
	assert_int_equal(hvrig_wait(r, &r->desc[1]), OK | HVIA_ST_FLUSHED);
	assert_int_equal(hvrig_wait(r, &r->desc[24]), RECV | HVIA_ST_FLUSHED);
	hvduo_no_error(r);
	hvarea_meet(h, &turn);
	return 0;
}

/* T-26, T-27: the card's part. */
static void states_decide_about_flushing_posts(void **state)
{
	hvduo_run(stater, hvduo_peer, 1);
}

static int irq_sender(struct weft_host *h, struct bench *b)
{
	uint32_t turn = 0;

	hvduo_open_side(h, 0, 0);
	hvarea_meet(h, &turn);
	for (uint32_t i = 0; i < 60; i++)
		assert_int_equal(hvduo_sent(hvduo_simple(i % 2, 4)), OK);
	weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_US);
	hvarea_meet(h, &turn);
	return 0;
}

/* Checks that a queue armed once raises one interrupt, however many completions
 * follow. */
static int irq_receiver(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[1];
	uint64_t entry = hvia_vi_entry(PEER, HVIA_VI_3);
	uint32_t turn = 0;

	hvduo_peer_posts(h, b);
	hvrig_store(r, HVIA_INT_MASK, HVIA_INT_COMPLETION);
	hvrig_store(r, entry, HVIA_VIF_IRQ_RECV);
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	assert_int_equal(bench_counter(b->node[1].dev, "irqs"), 1);
	assert_int_equal(hvrig_load(r, HVIA_INT_CAUSE), HVIA_INT_COMPLETION);
	assert_int_equal(hvrig_load(r, entry), hvduo.flags);
	hvrig_store(r, HVIA_INT_CAUSE, HVIA_INT_COMPLETION);
	assert_int_equal(hvrig_load(r, HVIA_INT_CAUSE), 0);
	return 0;
}

/* T-43: the card's part. */
static void each_arm_gives_one_interrupt(void **state)
{
	hvduo_run(irq_sender, irq_receiver, 60);
}

/* ---- compaction (T-32, the card's part) ---- */

static int mover(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[0];
	struct hvarea hole, a;
	uint32_t turn = 0, from;
	weft_time_t t0, t1;
	uint64_t w;

	hvduo_open_side(h, 0, 0);
	hvarea_new(&hole, r, 0x100000, 50 * HVIA_PAGE, 0, 1);
	from = r->l2;
	hvarea_new(&a, r, 0x40000123, 200 * HVIA_PAGE, 0, 2);
	*hvarea_at(&a, 150 * HVIA_PAGE) = 0xAB;
	hvarea_meet(h, &turn);
	hvrig_unmap(r, hole.handle);
	hvrig_store(r, HVIA_CTRL, hvrig_load(r, HVIA_CTRL) | HVIA_CTRL_STOP);
	while (!(hvrig_load(r, HVIA_STATUS) & HVIA_STATUS_IDLE))
		;
	hvrig_store(r, HVIA_MOVE_FROM, from);
	hvrig_store(r, HVIA_MOVE_TO, from - 50);
	t0 = weft_host_now(h);
	hvrig_store(r, HVIA_MOVE_COUNT, a.pages);
	while (hvrig_load(r, HVIA_MOVE_COUNT))
		;
	t1 = weft_host_now(h);
	assert_in_range(t1 - t0, 6 * WEFT_US, 9 * WEFT_US); /* 402 cycles */
	hvrig_store(r, HVIA_ATT_ADDR, hvia_l1_addr(a.handle) + 8);
	w = hvrig_load(r, HVIA_ATT_DATA);
	assert_int_equal(w, (uint64_t)from << 32 | a.pages);
	hvrig_store(r, HVIA_ATT_ADDR, hvia_l1_addr(a.handle) + 8);
	hvrig_store(r, HVIA_ATT_DATA, (uint64_t)(from - 50) << 32 | a.pages);
	hvrig_store(r, HVIA_CTRL,
		    hvrig_load(r, HVIA_CTRL) & ~(uint64_t)HVIA_CTRL_STOP);
	assert_int_equal(hvduo_try_data(a.va + 150 * HVIA_PAGE, a.handle, 1),
			 OK);
	weft_host_sleep(h, weft_host_now(h) + 20 * WEFT_US);
	hvarea_meet(h, &turn);
	return 0;
}

static int moved_peer(struct weft_host *h, struct bench *b)
{
	hvduo_peer(h, b);
	assert_int_equal(hvduo.buf[1][0], 0xAB);
	return 0;
}

/* T-32: the card's part. */
static void handles_translate_after_compaction(void **state)
{
	hvduo_run(mover, moved_peer, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {

		cmocka_unit_test(bad_doorbell_flushes_its_vi_only),
		cmocka_unit_test(one_post_too_many_is_an_overrun),
		cmocka_unit_test(descriptor_linked_in_a_race_runs_once),
		cmocka_unit_test(states_decide_about_flushing_posts),
		cmocka_unit_test(each_arm_gives_one_interrupt),
		cmocka_unit_test(handles_translate_after_compaction),
		cmocka_unit_test(a_link_set_late_is_read_with_its_whole_handle),
		cmocka_unit_test(
			a_card_reset_while_it_completes_receives_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
