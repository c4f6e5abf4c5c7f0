/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL: messages and commands that the network does not accept delay the
 * stores behind them. Only stores of read pointers pass such messages and
 * commands, because read pointers make room for other nodes (extoll.md 2.4,
 * 3.3). Without this exception two nodes with full mailboxes would wait for
 * each other for ever. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "rma_msg.h"
#include "velo_msg.h"

static const struct extoll_nic *nic(uint32_t node)
{
	return vr.nic[node]->state;
}

static void reg(uint32_t node, uint64_t off, uint64_t val)
{
	xr_store(&vr, node, off, &val, 8);
}

static uint64_t rp_of(uint32_t vpid)
{
	return EXTOLL_VELO_RP + (uint64_t)vpid * EXTOLL_RP_STRIDE;
}

/* Sends messages to node 1 until two of them wait in front of VELO. */
static uint32_t block(void)
{
	uint32_t n = 0;

	vr.net->stop = true;
	while (ring_count(&nic(ME)->htax.store) < 2)
		velo_send(ME, 1, 64, n++), xr_run(&vr, 200);
	return n;
}

static uint32_t rp(void)
{
	return velo_vpid(&nic(ME)->velo, 3)->rp;
}

static void unblock(uint32_t sent)
{
	xr_release(&vr);
	xr_settle(&vr);
	assert_int_equal(vr.net->n_log, sent);
	assert_int_equal(ring_count(&nic(ME)->htax.store), 0);
}

/* ---- one node ---- */

static void test_read_pointers_pass_blocked_messages_in_order(void **state)
{
	uint32_t n;

	for (uint32_t i = 0; i < 4; i++)
		velo_arrive(MSG(.len = 8, .seed = i), xr_cycle(&vr));
	xr_settle(&vr);
	n = block();
	reg(ME, rp_of(3), 1);
	reg(ME, rp_of(3), 2);
	velo_send(ME, 1, 8, n++);
	reg(ME, rp_of(3), 3);
	xr_run(&vr, 100);
	assert_int_equal(rp(), 3);
	assert_int_equal(nic(ME)->velo.bad_rp, 0);
	unblock(n);
}

/* The read pointer must not pass the store that opens the mailbox. */
static void test_read_pointer_stays_behind_register_stores(void **state)
{
	uint32_t n;

	for (uint32_t i = 0; i < 4; i++)
		velo_arrive(MSG(.len = 8, .seed = i), xr_cycle(&vr));
	xr_settle(&vr);
	n = block();
	reg(ME, EXTOLL_VELO_TIMEOUT, 77);
	reg(ME, rp_of(3), 2);
	xr_run(&vr, 100);
	assert_int_equal(nic(ME)->velo.timeout, 0);
	assert_int_equal(rp(), 0);
	unblock(n);
	assert_int_equal(nic(ME)->velo.timeout, 77);
	assert_int_equal(rp(), 2);
}

/* A store of a read pointer that comes after a load passes the load. The load
 * still waits for all stores that came before it. */
static void test_load_waits_for_messages_when_a_pointer_passes(void **state)
{
	uint32_t n;

	velo_arrive(MSG(.len = 8), xr_cycle(&vr));
	xr_settle(&vr);
	n = block();
	assert_true(xr_r64(&vr, ME, EXTOLL_VELO_SENT) == UINT64_MAX);
	reg(ME, rp_of(3), 1);
	xr_run(&vr, 5000);
	assert_int_equal(rp(), 1);
	assert_false(vr.bus[ME]->replied);
	unblock(n);
	assert_true(vr.bus[ME]->replied);
	/* all messages have left the queue of stores, but the requester may
	 * still hold one of them */
	assert_in_range(vr.bus[ME]->reply, n - 1, n);
}

static void test_read_pointer_of_a_ring_passes_blocked_commands(void **state)
{
	const struct extoll_nic *n = rr.nic[0]->state;
	const uint64_t at = EXTOLL_RMA_RP + RR_VPID * EXTOLL_RP_STRIDE;
	uint64_t val = 1;

	rr_put(2, 8); /* one notification */
	xr_settle(&rr);
	rr.net->stop = true;
	while (ring_count(&n->htax.store) < 2)
		rr_put(2, 1024), xr_run(&rr, 200);
	xr_store(&rr, 0, at, &val, 8);
	xr_run(&rr, 100);
	assert_int_equal(ring_count(&n->htax.store), 2);
	xr_release(&rr);
	xr_settle(&rr);
	assert_int_equal(xr_r64(&rr, 0, at) & 0xffff, 1);
}

/* A run may end while puts and gets wait for a ring. A ring of one slot is
 * always full. */
static void test_run_ends_with_a_full_ring(void **state)
{
	xr_w64(&rr, 0, EXTOLL_RMA_SIZE + 8 * RR_VPID, 1);
	for (uint32_t i = 0; i < 6; i++) {
		rr_put(i, 1024);
		rr_arrive(RR_PKT(.op = RMA_PUT_BT, .bytes = 200,
				 .spec = RMA_COMPLETER,
				 .w = { NLA_MAKE(0, i, 0) }),
			  xr_cycle(&rr));
		rr_arrive(RR_PKT(.op = RMA_GET_BT, .bytes = 200,
				 .spec = RMA_RESPONDER,
				 .w = { NLA_MAKE(0, i, 0) }),
			  xr_cycle(&rr));
	}
	xr_settle(&rr);
	assert_int_equal(rr_counter("rma_noti_stalls"), 3);
}

/* A run may end while the network accepts no packet. */
static void test_run_ends_with_puts_that_the_network_does_not_take(void **state)
{
	rr.net->stop = true;
	for (uint32_t i = 0; i < 12; i++)
		rr_put(i, 1024);
	xr_settle(&rr);
	assert_true(rr.net->n_log < 12);
}

/* A run may end while the rest of a packet waits for a link that is down. */
static void test_run_ends_with_a_put_that_has_no_end(void **state)
{
	struct extoll_rma_cmd c = { .op = RMA_PUT_BT,
				    .far_vpid = RR_VPID,
				    .low = 999 };
	struct weft_frame *f = weft_frame_new(rr.sim);

	f->u[0] = extoll_rma_h0(&c, RR_FAR);
	f->u[1] = NLA_MAKE(0, 0, 0);
	*ex_meta(f) = (struct ex_meta){ .words = 2, .hops = 1 };
	ex_pd_set(f, RR_PD);
	f->payload = weft_slice_new(rr.sim, 1000);
	memset(weft_slice_data(f->payload), 1, 1000);
	netport_send(&rr.net->np[EX_NP_RMA], f, xr_cycle(&rr), 500);
	xr_settle(&rr);
	assert_int_equal(rr_ops(WEFT_BUS_WRITE, RR_PAGE(0), RR_PAGE(1)).n, 7);
	assert_int_equal(rr_counter("rma_completions"), 0);
}

/* ---- two nodes ---- */

enum { PROCS = 3, SLOTS = 4, MESSAGES = 150, AHEAD = 12 };

static struct proc {
	uint32_t sent, got, rp;
} proc[2][PROCS];

static weft_phys_t box_of(uint32_t v)
{
	return BOX + v * 0x1000;
}

static int open_two(void **state)
{
	xr_pair(&vr, "");
	memset(proc, 0, sizeof(proc));
	for (uint32_t i = 0; i < 2; i++) {
		xr_setup(&vr, i);
		for (uint32_t v = 0; v < PROCS; v++) {
			xr_w64(&vr, i, EXTOLL_VELO_TX + 8 * v,
			       EXTOLL_TX(i, v, PD));
			xr_w64(&vr, i, EXTOLL_VELO_RX_BASE + 8 * v, box_of(v));
			xr_w64(&vr, i, EXTOLL_VELO_RX + 8 * v,
			       EXTOLL_RX(PD, SLOTS, EXTOLL_RX_ENABLE));
		}
	}
	return 0;
}

/* Sends while the NIC has room for stores, even if the peer receives
 * nothing. */
static void proc_send(uint32_t i, uint32_t v)
{
	struct proc *p = &proc[i][v];

	if (p->sent == MESSAGES ||
	    ring_count(&nic(i)->htax.store) + vr.bus[i]->held >= AHEAD)
		return;
	velo_send_h(i, v, EXTOLL_SEND(!i, v, 0, p->sent & 0xff, 48), 56,
		    p->sent);
	p->sent++;
}

static void proc_take(uint32_t i, uint32_t v)
{
	struct proc *p = &proc[i][v];
	weft_phys_t at = box_of(v) + p->rp * 128 + 120;
	uint64_t status = xr_mem64(&vr, i, at);

	if (!status)
		return;
	assert_int_equal(EXTOLL_STATUS_TAG(status), p->got & 0xff);
	xr_mem_set64(&vr, i, at, 0);
	p->got++;
	p->rp = (p->rp + 1) % SLOTS;
	reg(i, rp_of(v), p->rp);
}

/* Lets all processes send first. They read only when no message moves any
 * more. */
static void fill_both(void)
{
	for (uint32_t k = 0; k < 400; k++) {
		for (uint32_t i = 0; i < 2; i++)
			for (uint32_t v = 0; v < PROCS; v++)
				proc_send(i, v);
		xr_run(&vr, 50);
	}
	for (uint32_t i = 0; i < 2; i++) {
		assert_in_range(ring_count(&nic(i)->htax.store), AHEAD,
				AHEAD + PROCS - 1);
		assert_int_equal(vr.bus[i]->held, 0);
	}
}

static void
test_two_nodes_with_full_mailboxes_do_not_block_each_other(void **state)
{
	fill_both();
	for (uint32_t k = 0; k < 6000; k++) {
		for (uint32_t i = 0; i < 2; i++)
			for (uint32_t v = 0; v < PROCS; v++) {
				proc_take(i, v);
				proc_send(i, v);
			}
		xr_run(&vr, 20);
	}
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t v = 0; v < PROCS; v++)
			assert_int_equal(proc[i][v].got, MESSAGES);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, velo_single, velo_teardown)
#define R(f) cmocka_unit_test_setup_teardown(f, rr_open, rr_close)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_two_nodes_with_full_mailboxes_do_not_block_each_other,
			open_two, velo_teardown),
		T(test_read_pointers_pass_blocked_messages_in_order),
		T(test_read_pointer_stays_behind_register_stores),
		T(test_load_waits_for_messages_when_a_pointer_passes),
		R(test_read_pointer_of_a_ring_passes_blocked_commands),
		R(test_run_ends_with_a_full_ring),
		R(test_run_ends_with_puts_that_the_network_does_not_take),
		R(test_run_ends_with_a_put_that_has_no_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
