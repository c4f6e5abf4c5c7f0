/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL: stores and loads of the host stay in order (extoll.md 2.2), whether
 * they are for VELO, the RMA or the register file behind HTAX (2.4). */
#include "unit/cmocka_all.h"

#include <string.h>

#include "velo_msg.h"

static void reg(uint64_t off, uint64_t val)
{
	xr_store(&vr, ME, off, &val, 8);
}

static uint64_t sent(void)
{
	return vr.net->n_log;
}

static const struct extoll_nic *nic(void)
{
	return vr.nic[ME]->state;
}

static void test_message_in_front_of_the_store_that_disables_goes(void **state)
{
	for (uint32_t i = 0; i < 3; i++)
		velo_send(ME, 1, 8 + 24 * i, i);
	reg(EXTOLL_VELO_TX + 8 * SENDER, 0);
	velo_send(ME, 1, 8, 7); /* the message behind that store is not sent */
	xr_settle(&vr);
	assert_int_equal(sent(), 3);
	assert_int_equal(velo_drops(ME, EXTOLL_DROP_DISABLED), 1);
}

static void test_message_behind_the_store_that_enables_goes(void **state)
{
	xr_w64(&vr, ME, EXTOLL_VELO_TX + 8 * SENDER, 0);
	velo_send(ME, 1, 8, 1);
	reg(EXTOLL_VELO_TX + 8 * SENDER, EXTOLL_TX(ME, SENDER, PD));
	velo_send(ME, 1, 8, 2);
	velo_send(ME, 1, 8, 3);
	xr_settle(&vr);
	assert_int_equal(velo_drops(ME, EXTOLL_DROP_DISABLED), 1);
	assert_int_equal(sent(), 2);
}

/* The first store takes 3 + 4 cycles (H4, N1), the next one 2 for its 8 bytes
 * of data. */
static void test_register_store_takes_the_cycles_of_htax(void **state)
{
	weft_time_t t;
	uint64_t val = 5;

	t = xr_store(&vr, ME, EXTOLL_VELO_TIMEOUT, &val, 8);
	val = 6;
	xr_store(&vr, ME, EXTOLL_VELO_TIMEOUT, &val, 8);
	weft_sim_run(vr.sim, weft_clock_edge(&vr.core, velo_sync(t, 3) + 3));
	assert_int_equal(nic()->velo.timeout, 0);
	xr_run(&vr, 1);
	assert_int_equal(nic()->velo.timeout, 5);
	xr_run(&vr, 1);
	assert_int_equal(nic()->velo.timeout, 5);
	xr_run(&vr, 1);
	assert_int_equal(nic()->velo.timeout, 6);
}

/* The network accepts no packets, so that a message blocks the stores behind
 * it. */
static void test_load_waits_for_all_stores_in_front_of_it(void **state)
{
	uint32_t n = 0;

	vr.net->stop = true;
	while (ring_count(&nic()->htax.store) < 2)
		velo_send(ME, 1, 64, n++), xr_run(&vr, 200);
	reg(EXTOLL_VELO_TIMEOUT, 9);
	assert_true(xr_r64(&vr, ME, EXTOLL_VELO_TIMEOUT) == UINT64_MAX);
	xr_run(&vr, 5000);
	assert_false(vr.bus[ME]->replied);
	xr_release(&vr);
	xr_settle(&vr);
	assert_true(vr.bus[ME]->replied);
	assert_int_equal(vr.bus[ME]->reply, 9);
	assert_int_equal(sent(), n);
}

/* With `rf_core` the register file is in front of HTAX, so that stores to
 * registers pass all other stores. */
static void test_registers_at_the_core_overtake(void **state)
{
	velo_send(ME, 1, 8, 1);
	reg(EXTOLL_VELO_TX + 8 * SENDER, 0);
	xr_settle(&vr);
	assert_int_equal(sent(), 0);
	assert_int_equal(velo_drops(ME, EXTOLL_DROP_DISABLED), 1);
}

static int velo_core(void **state)
{
	xr_single(&vr, "rf_core=yes");
	velo_setup(ME, BOX_N, 0);
	return 0;
}

/* A new interval applies to all stores that arrive at the arbiter after the
 * store that sets it. */
static void test_interval_store_moves_the_stores_behind_it(void **state)
{
	const uint64_t at = EXTOLL_INTERVAL_STRIDE + EXTOLL_INTERVAL_TARGET;

	reg(at, EXTOLL_HX_VELO); /* not enabled */
	reg(EXTOLL_VELO_TIMEOUT, 1);
	reg(EXTOLL_VELO_TIMEOUT, 2);
	velo_send(ME, 1, 8, 1);
	xr_settle(&vr);
	assert_int_equal(sent(), 0);
	assert_int_equal(xr_r64(&vr, ME, EXTOLL_HTAX_DISCARDED), 1);
	reg(at, EXTOLL_HX_VELO | EXTOLL_INTERVAL_ENABLE);
	xr_settle(&vr);
	velo_send(ME, 1, 8, 1);
	xr_settle(&vr);
	assert_int_equal(sent(), 1);
	assert_int_equal(vr.bus[ME]->held, 0);
}

/* ---- messages in flight when a process closes ---- */

static void test_writes_of_a_closed_mailbox_are_counted(void **state)
{
	const uint32_t rx = EXTOLL_VELO_RX + 8 * 3;

	vr.bus[ME]->t_write =
		100 * WEFT_US; /* 16 stores leave, the others wait */
	for (uint32_t i = 0; i < 12; i++)
		velo_arrive(MSG(.len = 64, .seed = i), xr_cycle(&vr));
	xr_run(&vr, 2000);
	xr_w64(&vr, ME, rx, 0);
	assert_true(xr_r64(&vr, ME, EXTOLL_VELO_PENDING + 8 * 3) > 0);
	assert_int_equal(xr_r64(&vr, ME, EXTOLL_VELO_PENDING + 8 * 4), 0);
	xr_settle(&vr);
	assert_int_equal(xr_r64(&vr, ME, EXTOLL_VELO_PENDING + 8 * 3), 0);
}

static void test_message_is_not_written_for_the_next_owner(void **state)
{
	const uint32_t rx = EXTOLL_VELO_RX + 8 * 3;

	vr.bus[ME]->t_write = 100 * WEFT_US;
	for (uint32_t i = 0; i < 15; i++)
		velo_arrive(MSG(.len = 64, .seed = i), xr_cycle(&vr));
	xr_run(&vr, 2000);
	xr_w64(&vr, ME, rx, 0);
	xr_w64(&vr, ME, rx, EXTOLL_RX(PD + 1, BOX_N, EXTOLL_RX_ENABLE));
	xr_settle(&vr);
	assert_true(velo_discards(ME, EXTOLL_DISCARD_PROTECTION) > 0 ||
		    velo_discards(ME, EXTOLL_DISCARD_DISABLED) > 0);
	assert_int_equal(xr_r64(&vr, ME, EXTOLL_VELO_RX_WP + 8 * 3), 0);
}

/* ---- within a cycle ---- */

static uint64_t cell_cycle;

static void spy_cell(void *own, struct netport *np,
		     const struct netport_cell *c)
{
	cell_cycle = xr_cycle(&vr);
	ex_velo_np.cell(own, np, c);
}

static const struct netport_ops spy = { .cell = spy_cell };

/* Opens the mailbox `late` cycles after the message was sent. Returns whether
 * the message was written to the mailbox, and stores in *d the cycles from the
 * cell to the store that opens the mailbox. */
static bool opened_for(uint32_t late, int64_t *d)
{
	uint32_t first;

	velo_single(NULL);
	xr_w64(&vr, ME, EXTOLL_VELO_RX + 8 * 3, 0);
	xr_settle(&vr);
	xr_run(&vr, 1);
	((struct extoll_nic *)vr.nic[ME]->state)->np[EX_NP_VELO].ops = &spy;
	first = nic()->htax.store.head;
	velo_arrive(MSG(.len = 8, .seed = 1), xr_cycle(&vr) + 1);
	xr_run(&vr, late);
	reg(EXTOLL_VELO_RX + 8 * 3, EXTOLL_RX(PD, BOX_N, EXTOLL_RX_ENABLE));
	while (nic()->htax.store.head == first)
		xr_run(&vr, 1);
	*d = (int64_t)xr_cycle(&vr);
	xr_settle(&vr);
	*d -= (int64_t)cell_cycle;
	first = (uint32_t)xr_r64(&vr, ME, EXTOLL_VELO_RX_WP + 8 * 3);
	velo_teardown(NULL);
	return first;
}

static void test_cell_comes_before_the_store_of_its_cycle(void **state)
{
	bool same = false;
	int64_t d;

	for (uint32_t late = 1; late < 30; late++) {
		bool got = opened_for(late, &d);

		assert_int_equal(got, d < 0);
		same |= d == 0;
	}
	assert_true(same);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, velo_single, velo_teardown)
	const struct CMUnitTest tests[] = {
		T(test_message_in_front_of_the_store_that_disables_goes),
		T(test_message_behind_the_store_that_enables_goes),
		T(test_register_store_takes_the_cycles_of_htax),
		T(test_load_waits_for_all_stores_in_front_of_it),
		cmocka_unit_test_setup_teardown(
			test_registers_at_the_core_overtake, velo_core,
			velo_teardown),
		T(test_interval_store_moves_the_stores_behind_it),
		T(test_writes_of_a_closed_mailbox_are_counted),
		T(test_message_is_not_written_for_the_next_owner),
		cmocka_unit_test(test_cell_comes_before_the_store_of_its_cycle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
