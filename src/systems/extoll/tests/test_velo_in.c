/* SPDX-License-Identifier: Apache-2.0 */
/* Tests VELO's completer on a bench (extoll.md 9: T-01 to T-10, T-29): packets
 * at the network port, and slots in memory. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "velo_msg.h"

static void test_complete_cycles(void **state)
{
	uint64_t c = xr_cycle(&vr) + 10, seen;
	const struct weft_clock *ht = &vr.bus[ME]->clock;
	weft_time_t t;

	velo_arrive(MSG(.len = 8, .seed = 5), c);
	xr_settle(&vr);
	seen = c + 3 + 5 + 3; /* N3 of the peer, flits, N4 */
	t = weft_clock_edge(&vr.core, seen + 21 + 4); /* N5, N6 */
	t = weft_clock_align(ht, t + 12500000);	      /* H5: 3 HT cycles */
	assert_int_equal(vr.bus[ME]->n_log, 1);
	assert_int_equal(vr.bus[ME]->log[0].time, t);
	assert_int_equal(vr.bus[ME]->log[0].bytes, 16);
	assert_int_equal(vr.bus[ME]->log[0].addr, BOX + 128 - 16);
	velo_check_slot(ME, 128, 0, 8, 5);
}

static void test_status_of_a_slot_is_written_last(void **state)
{
	static const uint32_t len[] = { 1, 7, 8, 9, 55, 56, 57, 64 };
	const uint32_t n = sizeof(len) / sizeof(len[0]);

	for (uint32_t i = 0; i < n; i++)
		velo_arrive(MSG(.len = len[i], .seed = 10 + i), xr_cycle(&vr));
	xr_settle(&vr);
	for (uint32_t i = 0; i < n; i++)
		velo_check_slot(ME, 128, i, len[i], 10 + i);
	/* a message of more than 56 bytes takes two writes, of which the second
	 * has the status */
	assert_int_equal(vr.bus[ME]->n_log, n + 2);
	assert_int_equal(vr.bus[ME]->log[8].addr, BOX + 7 * 128 + 56);
	assert_int_equal(vr.bus[ME]->log[8].bytes, 8);
	assert_int_equal(vr.bus[ME]->log[9].bytes, 64);
	assert_int_equal(xr_r64(&vr, ME, EXTOLL_VELO_RX_WP + 8 * 3), n);
	assert_int_equal(xr_r64(&vr, ME, EXTOLL_VELO_RECEIVED), n);
}

/* 64 bytes: 19 flits in two cells, then two writes. The first one, of 8 bytes,
 * occupies HTAX for two cycles. */
static void test_two_writes(void **state)
{
	const struct weft_clock *ht = &vr.bus[ME]->clock;
	uint64_t c = xr_cycle(&vr) + 10, ask;
	weft_time_t t;

	velo_arrive(MSG(.len = 64, .seed = 5), c);
	xr_settle(&vr);
	ask = c + 3 + 19 + 3 + 21;
	assert_int_equal(vr.bus[ME]->n_log, 2);
	for (uint32_t i = 0; i < 2; i++) {
		t = weft_clock_edge(&vr.core, ask + 2 * i + 4);
		t = weft_clock_align(ht, t + 12500000);
		assert_int_equal(vr.bus[ME]->log[i].time, t);
	}
	velo_check_slot(ME, 128, 0, 64, 5);
}

/* The core clock and the stages are parameters. */
static void test_clock_and_stages_follow_their_parameters(void **state)
{
	uint64_t c;

	xr_free(&vr);
	xr_single(&vr, "velo_req=20 t_htax=6 t_sync_in=5");
	velo_setup(ME, BOX_N, 0);
	c = velo_sync(velo_send(ME, 1, 8, 1), 5);
	xr_settle(&vr);
	assert_int_equal(vr.net->log[0].cycle, c + 6 + 20 + 3 + 5 + 3);
}

static void test_small_slots(void **state)
{
	uint64_t status[2];
	uint8_t want[64];

	xr_w64(&vr, ME, EXTOLL_VELO_RX + 8 * 3,
	       EXTOLL_RX(PD, 8, EXTOLL_RX_ENABLE | EXTOLL_RX_SLOT64));
	velo_arrive(MSG(.len = 56, .seed = 1), xr_cycle(&vr));
	velo_arrive(MSG(.len = 64, .seed = 2), xr_cycle(&vr));
	velo_arrive(MSG(.len = 8, .seed = 3), xr_cycle(&vr));
	xr_settle(&vr);
	velo_check_slot(ME, 64, 0, 56, 1);
	velo_check_slot(ME, 64, 3, 8, 3);
	status[0] = xr_mem64(&vr, ME, BOX + 128 - 8);
	status[1] = xr_mem64(&vr, ME, BOX + 192 - 8);
	assert_true(status[0] == EXTOLL_STATUS(SRC, 9, 2, 2, 56));
	assert_true(status[1] ==
		    (EXTOLL_STATUS(SRC, 9, 2, 2, 8) | EXTOLL_STATUS_EOM));
	velo_fill(want, 64, 2);
	assert_memory_equal(vr.bus[ME]->mem + (BOX - XR_MEM) + 64, want, 56);
	assert_memory_equal(vr.bus[ME]->mem + (BOX - XR_MEM) + 176, want + 56,
			    8);
	/* 4 of 8 slots are used and one stays empty. The first message takes
	 * two of the other 3, so that the second one does not fit. */
	velo_arrive(MSG(.len = 64, .seed = 4), xr_cycle(&vr));
	velo_arrive(MSG(.len = 57, .seed = 5), xr_cycle(&vr));
	xr_settle(&vr);
	assert_int_equal(xr_r64(&vr, ME, EXTOLL_VELO_RX_WP + 8 * 3), 6);
	velo_set_rp(ME, 1);
	xr_settle(&vr);
	assert_int_equal(xr_r64(&vr, ME, EXTOLL_VELO_RX_WP + 8 * 3), 0);
}

/* T-07, T-29 */
static void test_messages_for_others_are_discarded(void **state)
{
	velo_arrive(MSG(.len = 8, .vpid = 1), xr_cycle(&vr));
	velo_arrive(MSG(.len = 8, .pd = 1), xr_cycle(&vr));
	velo_arrive(MSG(.len = 64, .check = 1), xr_cycle(&vr));
	velo_arrive(MSG(.len = 8, .seed = 9), xr_cycle(&vr));
	xr_settle(&vr);
	assert_int_equal(velo_discards(ME, EXTOLL_DISCARD_DISABLED), 1);
	assert_int_equal(velo_discards(ME, EXTOLL_DISCARD_PROTECTION), 1);
	assert_int_equal(velo_discards(ME, EXTOLL_DISCARD_MISROUTED), 1);
	assert_int_equal(xr_r64(&vr, ME, EXTOLL_VELO_DISCARD_SRC),
			 SRC | 9 << 16);
	assert_true(xr_evt(&vr, ME, 0) ==
		    EXTOLL_EVENT(EXTOLL_EV_VELO_DISCARD, 4, SRC,
				 EXTOLL_DISCARD_DISABLED));
	velo_check_slot(ME, 128, 0, 8, 9);
}

/* Messages that no requester makes: raw traffic, wrong or no length. */
static void test_malformed_messages_are_discarded(void **state)
{
	struct weft_frame *f;

	velo_arrive(MSG(.len = 0), xr_cycle(&vr));
	velo_arrive(MSG(.len = 72, .seed = 1), xr_cycle(&vr));
	f = weft_frame_new(vr.sim);
	*ex_meta(f) = (struct ex_meta){ .hops = 1 };
	f->payload = weft_slice_new(vr.sim, 128);
	xr_send(&vr, 0, f, xr_cycle(&vr));
	f = weft_frame_new(vr.sim);
	f->u[0] = EX_H0_MAKE(SRC, 9, 3, ME) | EX_PUT(8, 54, 48);
	*ex_meta(f) = (struct ex_meta){ .words = 1, .hops = 1 };
	f->payload = weft_slice_new(vr.sim, 16);
	xr_send(&vr, 0, f, xr_cycle(&vr));
	xr_settle(&vr);
	assert_int_equal(velo_discards(ME, EXTOLL_DISCARD_FORMAT), 4);
	assert_int_equal(vr.bus[ME]->n_log, 4); /* events only */
}

/* T-08: while the mailbox is full a message waits, and the peer runs out of
 * credits. No message is lost. */
static void test_full_mailbox_stops_the_sender_without_loss(void **state)
{
	uint32_t n = 60;

	for (uint32_t i = 0; i < n; i++)
		velo_arrive(MSG(.len = 8, .seed = i), xr_cycle(&vr));
	xr_run(&vr, 5000);
	assert_int_equal(xr_r64(&vr, ME, EXTOLL_VELO_RECEIVED), BOX_N - 1);
	assert_int_equal(vr.net->np[0].q[0].n, n - (BOX_N - 1) - 40);
	for (uint32_t i = 0; i < n; i++) {
		velo_check_slot(ME, 128, i % BOX_N, 8, i);
		xr_mem_set64(&vr, ME, BOX + i % BOX_N * 128 + 120, 0);
		velo_set_rp(ME, (i + 1) % BOX_N);
		xr_run(&vr, 200);
	}
	xr_settle(&vr);
	assert_int_equal(xr_r64(&vr, ME, EXTOLL_VELO_RECEIVED), n);
	assert_int_equal(vr.nic[ME]->counters[EX_C_VELO_DISCARDED], 0);
}

/* T-09: with policy 1 a message is dropped if the mailbox has no slot for it.
 * The message waits for one timeout first. */
static void test_full_drop(void **state)
{
	uint32_t n = BOX_N - 1 + 5;

	xr_w64(&vr, ME, EXTOLL_VELO_TIMEOUT, 1000);
	xr_w64(&vr, ME, EXTOLL_VELO_CONFIG, EXTOLL_VELO_POLICY_DROP);
	for (uint32_t i = 0; i < n; i++)
		velo_arrive(MSG(.len = 8, .seed = i), xr_cycle(&vr));
	xr_run(&vr, 1000);
	assert_int_equal(velo_discards(ME, EXTOLL_DISCARD_FULL), 0);
	xr_run(&vr, 5000);
	assert_int_equal(velo_discards(ME, EXTOLL_DISCARD_FULL), 5);
	assert_int_equal(xr_r64(&vr, ME, EXTOLL_VELO_RECEIVED), BOX_N - 1);
	for (uint32_t i = 0; i < BOX_N - 1; i++)
		velo_check_slot(ME, 128, i, 8, i);
	assert_true(EXTOLL_EVENT_INFO(xr_evt(&vr, ME, 4)) ==
		    EXTOLL_DISCARD_FULL);
	velo_set_rp(ME, 1);
	velo_arrive(MSG(.len = 8, .seed = 99), xr_cycle(&vr));
	xr_settle(&vr);
	velo_check_slot(ME, 128, BOX_N - 1, 8, 99);
}

/* T-10: the mailbox is filled ten times. The read pointer is stored after every
 * fourth slot only. */
static void test_lazy_read_pointer_loses_no_slot(void **state)
{
	uint32_t rp = 0, told = 0, total = 10 * BOX_N;

	for (uint32_t i = 0; i < total; i++)
		velo_arrive(MSG(.len = 1 + i % 64, .seed = i), xr_cycle(&vr));
	for (uint32_t i = 0; i < total; i++) {
		weft_phys_t slot = BOX + rp * 128;

		while (!xr_mem64(&vr, ME, slot + 120))
			xr_run(&vr, 10);
		velo_check_slot(ME, 128, rp, 1 + i % 64, i);
		memset(vr.bus[ME]->mem + (slot - XR_MEM), 0, 128);
		rp = (rp + 1) % BOX_N;
		if (++told % EXTOLL_LAZYNESS == 0)
			velo_set_rp(ME, rp);
	}
	xr_settle(&vr);
	assert_int_equal(xr_r64(&vr, ME, EXTOLL_VELO_RECEIVED), total);
	assert_int_equal(xr_r64(&vr, ME, EXTOLL_VELO_RX_WP + 8 * 3), rp);
}

static void test_bad_rp(void **state)
{
	velo_set_rp(ME, BOX_N);
	xr_w64(&vr, ME, EXTOLL_VELO_RP + 99 * EXTOLL_RP_STRIDE, 0);
	assert_int_equal(xr_r64(&vr, ME, EXTOLL_VELO_BAD_RP), 2);
}

/* T-43: the mailbox is closed while a message waits. */
static void test_closing_a_mailbox_discards_its_waiting_messages(void **state)
{
	for (uint32_t i = 0; i < BOX_N + 3; i++)
		velo_arrive(MSG(.len = 8, .seed = i), xr_cycle(&vr));
	xr_run(&vr, 2000);
	xr_w64(&vr, ME, EXTOLL_VELO_RX + 8 * 3, 0);
	xr_settle(&vr);
	assert_int_equal(velo_discards(ME, EXTOLL_DISCARD_DISABLED), 4);
	xr_w64(&vr, ME, EXTOLL_VELO_RX + 8 * 3,
	       EXTOLL_RX(PD, BOX_N, EXTOLL_RX_ENABLE));
	velo_arrive(MSG(.len = 8, .seed = 50), xr_cycle(&vr));
	xr_settle(&vr);
	velo_check_slot(ME, 128, 0, 8, 50);
}

/* 2.7: two messages raise one interrupt. Stores of the read pointers arm it
 * again. */
static void test_interrupt_is_armed_again_by_the_read_pointer(void **state)
{
	velo_arrive(MSG(.len = 8, .seed = 1, .flags = EX_VELO_IRQ),
		    xr_cycle(&vr));
	xr_settle(&vr);
	assert_int_equal(vr.bus[ME]->irq_edges, 0); /* mailbox not armed */
	velo_set_rp(ME, 1 | EXTOLL_RP_ARM);
	velo_arrive(MSG(.len = 8, .seed = 2, .flags = EX_VELO_IRQ),
		    xr_cycle(&vr));
	velo_arrive(MSG(.len = 8, .seed = 3, .flags = EX_VELO_IRQ),
		    xr_cycle(&vr));
	xr_settle(&vr);
	assert_int_equal(vr.bus[ME]->irq_edges, 1);
	assert_true(vr.bus[ME]->irq);
	assert_true(xr_evt(&vr, ME, 0) ==
		    EXTOLL_EVENT(EXTOLL_EV_VELO_IRQ, 3, SRC, 0));
	assert_true(xr_evt(&vr, ME, 1) == 0);
	/* Software has read one message and one event. The other event raises
	 * the interrupt. */
	xr_w64(&vr, ME, EXTOLL_EVQ_RP, 1 | EXTOLL_RP_ARM);
	xr_settle(&vr);
	assert_false(vr.bus[ME]->irq);
	velo_set_rp(ME, 2 | EXTOLL_RP_ARM);
	xr_settle(&vr);
	assert_true(vr.bus[ME]->irq);
	assert_int_equal(vr.bus[ME]->irq_edges, 2);
	assert_int_equal(xr_r64(&vr, ME, EXTOLL_EVQ_WP), 2);
	/* if the queue is armed while it holds an entry, it interrupts at
	 * once */
	xr_w64(&vr, ME, EXTOLL_EVQ_RP, 1 | EXTOLL_RP_ARM);
	assert_int_equal(vr.bus[ME]->irq_edges, 3);
	xr_w64(&vr, ME, EXTOLL_EVQ_RP, 2 | EXTOLL_RP_ARM);
	assert_false(vr.bus[ME]->irq);
}

static void test_event_queue_full(void **state)
{
	for (uint32_t i = 0; i < 70; i++)
		velo_send_h(ME, SENDER, EXTOLL_SEND(1, 3, 0, 0, 0), 8, 0);
	xr_settle(&vr);
	assert_int_equal(xr_r64(&vr, ME, EXTOLL_EVQ_LOST), 70 - 63);
	assert_int_equal(velo_drops(ME, EXTOLL_DROP_LENGTH), 70);
	assert_int_equal(vr.bus[ME]->irq_edges, 1);
}

/* A mailbox where there is no memory. */
static void test_mailbox_without_memory_counts_an_abort(void **state)
{
	xr_w64(&vr, ME, EXTOLL_VELO_RX_BASE + 8 * 3, 0x7F000000);
	velo_arrive(MSG(.len = 8), xr_cycle(&vr));
	xr_settle(&vr);
	assert_int_equal(xr_r64(&vr, ME, EXTOLL_HTAX_ABORTS), 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, velo_single, velo_teardown)
	const struct CMUnitTest tests[] = {
		T(test_complete_cycles),
		T(test_status_of_a_slot_is_written_last),
		T(test_two_writes),
		T(test_clock_and_stages_follow_their_parameters),
		T(test_small_slots),
		T(test_messages_for_others_are_discarded),
		T(test_malformed_messages_are_discarded),
		T(test_full_mailbox_stops_the_sender_without_loss),
		T(test_full_drop),
		T(test_lazy_read_pointer_loses_no_slot),
		T(test_bad_rp),
		T(test_closing_a_mailbox_discards_its_waiting_messages),
		T(test_interrupt_is_armed_again_by_the_read_pointer),
		T(test_event_queue_full),
		T(test_mailbox_without_memory_counts_an_abort),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
