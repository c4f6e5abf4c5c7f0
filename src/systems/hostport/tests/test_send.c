/* SPDX-License-Identifier: Apache-2.0 */
/* Queues, Send and Receive of the Host Port: scenarios Q01 to Q09, Q13, Q21
 * and Q22 of hostport.md 13.2. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hpend.h"

/* ---- Q01, Q02: work queue, FAST_SEND ---- */

enum { WQ = 37, ROUND = WQ + 10 };

static void odd_queue(struct hppair *t)
{
	t->end[0].d.wq = t->end[1].d.wq = WQ;
	t->end[0].d.ctrl = t->end[1].d.ctrl = HP_CTRL_ORDER;
	t->end[0].flags = HP_CTX_ORD;
}

static void near_wrap(struct hppair *t, struct hpend *e)
{
	uint64_t data;

	for (uint32_t i = 0; i < 3 * ROUND; i++) {
		data = i;
		hpproc_fast_send(&e->p, 1, HPEND_VPID1, 0, i, &data, 1);
		if (i % 16 == 15)
			for (uint32_t k = 0; k < 16; k++)
				hpend_expect(e, HP_B_FAST_SEND | 1, NULL);
	}
	hppair_meet(e);
}

static void far_wrap(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];

	for (uint32_t i = 0; i < 3 * ROUND; i++) {
		hpend_expect(e, HP_B_NOTIFY_FAST_RECV, w);
		assert_int_equal(w[2], i);
		assert_int_equal(HP_NQE_TAG(w), i);
	}
	hppair_meet(e);
}

/* Q01 */
static void test_work_queue_of_odd_size_wraps_in_order(void **state)
{
	hppair_once(odd_queue, near_wrap, far_wrap);
}

static void near_fast(struct hppair *t, struct hpend *e)
{
	uint64_t data[7] = { 1, 2, 3, 4, 5, 6, 7 }, w[HP_WORDS], sent;

	for (uint32_t n = 0; n <= 5; n++) {
		hpproc_fast_send(&e->p, 1, HPEND_VPID1, n & 1 ? HP_A : 0,
				 100 + n, data, n);
		hpend_expect(e, HP_B_FAST_SEND | (n & 1 ? HP_A : 0) | n, w);
		assert_int_equal(HP_NQE_USER(w), 100 + n);
		hpend_other(e, HP_B_NOTIFY_FAST_RECV, w);
		assert_int_equal(HP_NQE_WORDS(w), n);
		assert_int_equal(HP_NQE_TAG(w), 100 + n);
		assert_int_equal(HP_NQE_USER(w), 100 + n);
		assert_int_equal(HP_NQE_HPID(w), HPEND_HPID0);
		assert_int_equal(HP_NQE_VPID(w), HPEND_VPID0);
		assert_memory_equal(&w[2], data, 8 * n);
		for (uint32_t i = n; i < 5; i++)
			assert_int_equal(w[2 + i], 0);
	}
	sent = hppair_counter(t, 0, "packets_out");
	for (uint32_t n = 6; n <= 7; n++) {
		hpproc_to(w, HP_B_FAST_SEND | n, 1, HPEND_VPID1, n);
		hpproc_put(&e->p, w);
		hpproc_issue(&e->p, 1);
		hpend_expect(e, HP_CMD(HP_ERR_CMD_INV, 0, HP_B_FAST_SEND | n),
			     w);
	}
	assert_int_equal(hppair_counter(t, 0, "packets_out"), sent);
	hpend_silent(e);
	hppair_meet(e);
	hppair_meet(e);
}

/* Q02 */
static void test_fast_send_delivers_up_to_five_words(void **state)
{
	hppair_once(NULL, near_fast, hppair_far_2);
}

/* ---- Q03 to Q05, Q08, Q13: RDR ---- */

static const uint32_t lengths[] = { 0,	  8,	40,    48,   56,    4096,
				    4104, 8192, 65528, 1000, 65528, 64000 };
enum { LENGTHS = sizeof(lengths) / sizeof(*lengths) };

static void near_rdr(struct hppair *t, struct hpend *e)
{
	hppair_meet(e);
	for (uint32_t i = 0; i < LENGTHS; i++) {
		uint32_t byte = HP_B_SEND | (i & 1 ? HP_A : 0);

		hpend_sdr(e, lengths[i] / 8, i);
		hpend_send(e, byte, 0, lengths[i]);
		hpend_expect(e, byte, NULL);
		/* Changes the region. The device must have read all of it
		 * before it notifies (Q08). */
		memset(e->p.sdr, 0xcc, lengths[i]);
		hppair_meet(e);
	}
}

static void far_rdr(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];

	memset(e->p.rdr, 0xee, 8 * e->d.rdr);
	hppair_meet(e);
	for (uint32_t i = 0; i < LENGTHS; i++) {
		uint32_t n = lengths[i];

		hpend_expect(e,
			     n <= 40 ? HP_B_NOTIFY_FAST_RECV : HP_B_NOTIFY_RECV,
			     w);
		if (n > 40) {
			hpend_rdr_check(e, w, n, i);
			hpend_rdr_rest(e, w, n);
			hpend_rdr_free(e, n / 8);
		} else {
			assert_int_equal(HP_NQE_WORDS(w), n / 8);
		}
		hppair_meet(e);
	}
}

/* Q03, Q05, Q08 */
static void test_long_send_passes_the_receive_region(void **state)
{
	hppair_once(NULL, near_rdr, far_rdr);
}

/* Sends all lengths up to the whole SDR (Q04), through a region whose size is
 * not a multiple of any of the lengths (Q05). */
enum { WHOLE = 200 };

static void near_whole(struct hppair *t, struct hpend *e)
{
	for (uint32_t n = 6; n <= WHOLE; n++) {
		hpend_sdr(e, n, n);
		hpend_send(e, HP_B_SEND | HP_A, 0, 8 * n);
		hpend_expect(e, HP_B_SEND | HP_A, NULL);
	}
	hppair_meet(e);
}

static void far_whole(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];

	for (uint32_t n = 6; n <= WHOLE; n++) {
		hpend_expect(e, HP_B_NOTIFY_RECV, w);
		hpend_rdr_check(e, w, 8 * n, n);
		hpend_rdr_free(e, n);
	}
	hppair_meet(e);
}

static void small_regions(struct hppair *t)
{
	t->end[0].d.ctrl = t->end[1].d.ctrl = HP_CTRL_ORDER;
	t->end[0].flags = HP_CTX_ORD;
	t->end[0].d.sdr = t->end[1].d.sdr = WHOLE;
	t->end[0].d.rdr = t->end[1].d.rdr = WHOLE + 7;
}

/* Q04, Q05 */
static void test_send_of_any_size_is_exact_across_the_wrap(void **state)
{
	hppair_once(small_regions, near_whole, far_whole);
}

/* ---- Q06: RDR full; Q13: meaning of an acknowledge ---- */

static struct hpproc third; /* second process of node 1 */

/* Sends to the second process of node 1, through the network port of
 * replies. */
static void send_third(struct hpend *e, uint64_t tag)
{
	uint8_t *b = e->d.rs + 2 * HPDRV_ROUTE;
	uint64_t w[HP_WORDS];

	memcpy(b, e->d.rs + HPDRV_ROUTE, HPDRV_ROUTE);
	b[HP_RS_HEAD + b[HP_RS_NF] - 1] = HP_EL(1, 1);
	hpproc_to(w, HP_B_FAST_SEND | HP_A, 2, 0x55, tag);
	hpproc_put(&e->p, w);
	hpproc_issue(&e->p, 1);
	hpend_expect(e, HP_B_FAST_SEND | HP_A, w);
	assert_int_equal(HP_NQE_USER(w), tag);
}

static void near_full(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];

	hpend_sdr(e, 8000, 1);
	hpend_send(e, HP_B_SEND | HP_A, 0, 64000);
	hpend_expect(e, HP_B_SEND | HP_A, NULL);
	/* the message is sent but not stored, because only 192 words are free
	 * (Q13) */
	hpend_send(e, HP_B_SEND, 0, 2400);
	hpend_expect(e, HP_B_SEND, NULL);
	hpend_send(e, HP_B_SEND | HP_A, 0, 2408);
	assert_false(hpproc_wait(&e->p, w));
	/* packets through the other port pass the message that waits */
	for (uint32_t i = 0; i < 10; i++)
		send_third(e, i);
	hppair_meet(e);
	hppair_meet(e);
	hpend_expect(e, HP_B_SEND | HP_A, NULL);
	/* the data are in memory when the origin is notified */
	hpend_at(&t->end[1], 0);
	for (uint32_t i = 0; i < 2408; i++)
		assert_int_equal(
			((uint8_t *)t->end[1].p.rdr)[(66400 + i) % 65536],
			hpend_byte(i, 1));
	hppair_meet(e);
}

static void far_full(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];

	hpproc_open(&third, &e->d, e->h, 0x55, 0);
	hpend_expect(e, HP_B_NOTIFY_RECV, w);
	hpend_rdr_check(e, w, 64000, 1);
	hppair_meet(e);
	assert_in_range(hppair_counter(t, 1, "rx_stalls"), 1, 2);
	assert_true(hpdrv_ctx(&e->d, e->vpid)[0] & HP_CTX_STALL_RX);
	for (uint32_t i = 0; i < 10; i++) {
		assert_true(hpproc_wait(&third, w));
		assert_int_equal(HP_NQE_USER(w), i);
	}
	hpend_rdr_free(e, 8000);
	hpend_expect(e, HP_B_NOTIFY_RECV, w);
	hpend_rdr_check(e, w, 2400, 1);
	hppair_meet(e);
	hpend_expect(e, HP_B_NOTIFY_RECV, w);
	hpend_rdr_check(e, w, 2408, 1);
	assert_false(hpdrv_ctx(&e->d, e->vpid)[0] & HP_CTX_STALL_RX);
	hppair_meet(e);
}

static void in_order(struct hppair *t)
{
	t->end[0].d.ctrl = t->end[1].d.ctrl = HP_CTRL_ORDER;
	t->end[0].flags = HP_CTX_ORD;
}

/* Q06, Q13 */
static void test_full_receive_region_blocks_without_loss(void **state)
{
	hppair_once(in_order, near_full, far_full);
}

/* ---- Q07: two messages, two units ---- */

enum { BURST = 40 };

static void near_burst(struct hppair *t, struct hpend *e)
{
	hpend_sdr(e, 8192, 9);
	for (uint32_t i = 0; i < BURST; i++)
		hpend_send(e, HP_B_SEND, 0, 48 + 8 * (i * 37 % 150));
	for (uint32_t i = 0; i < BURST; i++)
		hpend_expect(e, HP_B_SEND, NULL);
	hppair_meet(e);
}

static void far_burst(struct hppair *t, struct hpend *e)
{
	uint64_t w[HP_WORDS];

	for (uint32_t i = 0; i < BURST; i++) {
		hpend_expect(e, HP_B_NOTIFY_RECV, w);
		hpend_rdr_check(e, w, (uint32_t)w[3], 9);
	}
	hppair_meet(e);
}

/* Q07 */
static void test_each_notification_has_its_own_write_pointer(void **state)
{
	hppair_once(NULL, near_burst, far_burst);
}

/* ---- Q09, Q21, Q22: full notification queue ---- */

enum { NQ = 16 };

static void small_nq(struct hppair *t)
{
	t->end[0].d.nq = NQ;
	t->end[1].d.nq = 512; /* not read */
}

/* Returns the time of several sends, one after the other. */
static weft_time_t some_sends(struct hpproc *p)
{
	weft_time_t from = weft_host_now(p->h);
	uint64_t w[HP_WORDS], data = 0;

	for (uint32_t i = 0; i < 50; i++) {
		hpproc_fast_send(p, 1, HPEND_VPID1, 0, i, &data, 1);
		assert_true(hpproc_wait(p, w));
	}
	return weft_host_now(p->h) - from;
}

static void near_nq(struct hppair *t, struct hpend *e)
{
	static struct hpproc other;
	uint64_t w[HP_WORDS], data = 5;
	weft_time_t alone;
	const uint64_t *c;

	hpproc_open(&other, &e->d, e->h, 0x77, 0);
	some_sends(&other); /* fills the caches for this process */
	alone = some_sends(&other);
	for (uint32_t i = 0; i < 2 * NQ; i++)
		hpproc_fast_send(&e->p, 1, HPEND_VPID1, 0, i, &data, 1);
	weft_host_sleep(e->h, weft_host_now(e->h) + 30 * WEFT_US);
	c = hpdrv_ctx(&e->d, e->vpid);
	assert_int_equal(HP_CTX(c, HP_F_WQ_PEND), 2 * NQ - (NQ - 1));
	assert_true(c[0] & HP_CTX_STALL_NQ);
	/* other processes take the same time as before, within a few clock
	 * edges */
	assert_in_range(some_sends(&other), alone - alone / 20,
			alone + alone / 20);
	for (uint32_t i = 0; i < 100; i++) /* Q21 */
		while (!(hpproc_trigger(&e->p, HP_T_SNAPSHOT, 0) & HP_TRUE))
			;
	/* Q22: the update is not applied, and is reported when the queue has
	 * room */
	while (!(hpproc_trigger(&e->p, HP_T_NQ_RP, NQ) & HP_TRUE))
		;
	weft_host_sleep(e->h, weft_host_now(e->h) + 30 * WEFT_US);
	c = hpdrv_ctx(&e->d, e->vpid);
	assert_int_equal(HP_CTX(c, HP_F_NQ_RP), 0);
	assert_true(c[0] & HP_CTX_STAT);
	for (uint32_t i = 0; i < NQ - 1; i++) {
		assert_true(hpproc_nqe(&e->p, w));
		assert_int_equal(HP_NQE_CMD(w), HP_B_FAST_SEND | 1);
		assert_int_equal(HP_NQE_USER(w), i);
	}
	hpproc_free(&e->p);
	assert_true(hpproc_nqe(&e->p, w)); /* one status for all updates */
	assert_int_equal(HP_NQE_CMD(w),
			 HP_CMD(HP_ERR_CMD_INV, 0, HP_B_NOTIFY_CC));
	assert_int_equal(HP_PS_HI(w[3]), NQ - 1); /* newest NQ_RP */
	for (uint32_t i = NQ - 1; i < 2 * NQ; i++) {
		hpend_expect(e, HP_B_FAST_SEND | 1, w);
		assert_int_equal(HP_NQE_USER(w), i);
	}
	hppair_meet(e);
	hppair_meet(e);
}

/* Q09, Q21, Q22 */
static void test_full_notification_queue_parks_its_process_only(void **state)
{
	hppair_once(small_nq, near_nq, hppair_far_2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_work_queue_of_odd_size_wraps_in_order),
		cmocka_unit_test(test_fast_send_delivers_up_to_five_words),
		cmocka_unit_test(test_long_send_passes_the_receive_region),
		cmocka_unit_test(
			test_send_of_any_size_is_exact_across_the_wrap),
		cmocka_unit_test(test_full_receive_region_blocks_without_loss),
		cmocka_unit_test(
			test_each_notification_has_its_own_write_pointer),
		cmocka_unit_test(
			test_full_notification_queue_parks_its_process_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
