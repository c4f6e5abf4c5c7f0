/* SPDX-License-Identifier: Apache-2.0 */
/* One EXTOLL crossbar with all ports in use (extoll.md 4; T-29, T-32, T-33,
 * T-34): wrong routes, a hot spot, head-of-line blocking, credits that do not
 * return. */
#include "ex_feed.h"

#include "unit/cmocka_all.h"

enum { WARM = 20000, SPAN = 200000, HOT = 8 };

/* Counts of cells and busy cycles since the start. The count of a window is the
 * difference of two marks. */
struct mark {
	uint64_t got[FEED_FLOWS], busy[EX_PORTS];
};

static void mark(struct bench *b, struct mark *m)
{
	for (uint32_t i = 0; i < b->f->n_flows; i++)
		m->got[i] = b->f->flow[i].got;
	for (uint32_t i = 0; i < EX_PORTS; i++)
		m->busy[i] = cell_channel_counts(&b->xb->ep[i])->busy;
}

/* Runs the window. Stores in *d the cells that arrive in it, and the busy
 * cycles. */
static void window(struct bench *b, struct mark *d)
{
	struct mark was;

	bench_start(b);
	bench_run(b, WARM);
	mark(b, &was);
	bench_run(b, WARM + SPAN);
	mark(b, d);
	for (uint32_t i = 0; i < b->f->n_flows; i++)
		d->got[i] -= was.got[i];
	for (uint32_t i = 0; i < EX_PORTS; i++)
		d->busy[i] -= was.busy[i];
}

static void near(double value, double want, double share)
{
	if (value < want * (1 - share) || value > want * (1 + share))
		fail_msg("%g instead of %g +- %g %%", value, want, 100 * share);
}

/* Returns the cycles that a cell of 16 flits takes on a line. */
static double cell_cycles(const char *width, uint32_t port)
{
	uint32_t w = width[1] == '1' ? EX_W16 : EX_W32;

	return FEED_FLITS + (port < EX_INTERNAL ? 0 : ex_cell_overhead(w));
}

/* ---- T-32 ---- */

/* Sends from all inputs to one output, on the channels vcs and in packets of
 * `cells`. */
static void hot_spot(const char *width, uint32_t vcs, uint32_t cells)
{
	uint64_t all = 0, by_in[EX_PORTS] = { 0 };
	struct bench b;
	struct mark d;

	bench_new(&b, width);
	for (uint32_t i = 0; i < EX_PORTS; i++)
		for (uint32_t vc = 0; vc < EX_VCS; vc++)
			if (vcs >> vc & 1)
				bench_flow(&b, i, HOT, vc, cells);
	window(&b, &d);
	for (uint32_t k = 0; k < b.f->n_flows; k++) {
		by_in[b.f->flow[k].in] += d.got[k];
		all += d.got[k];
	}
	near((double)d.busy[HOT], SPAN, 0.001);
	/* the rest of the line carries credits, ACKs and refreshes */
	near((double)all * cell_cycles(width, HOT), SPAN, 0.04);
	for (uint32_t i = 0; i < EX_PORTS; i++)
		near((double)by_in[i], (double)all / EX_PORTS, 0.02);
	bench_free(&b);
}

static void test_hot_spot(void **state)
{
	hot_spot("w32", 0xf, 1);
	hot_spot("w16", 0xf, 1);
	hot_spot("w32", 0xf, 3);
	hot_spot("w32", 0x1, 1);
	hot_spot("w16", 0x9, 5);
}

/* Beside the hot spot every input has a stream on a channel of its own, to an
 * output without other streams. The stream gets all cycles of the input's line
 * that the hot spot does not use. */
static void test_hot_spot_others(void **state)
{
	static const uint8_t to[EX_PORTS] = { 1, 2, 0, 4, 5, 6, 7, 3, HOT };
	uint64_t all[EX_PORTS] = { 0 };
	struct bench b;
	struct mark d;

	bench_new(&b, "w32");
	for (uint32_t i = 0; i < EX_PORTS; i++)
		bench_flow(&b, i, to[i], i == HOT ? 3 : 0, 1);
	for (uint32_t i = 0; i < EX_PORTS; i++)
		for (uint32_t vc = 1; vc < EX_VCS; vc++)
			bench_flow(&b, i, HOT, vc, 1);
	window(&b, &d);
	for (uint32_t k = 0; k < b.f->n_flows; k++)
		all[b.f->flow[k].in] += d.got[k];
	near((double)d.busy[HOT], SPAN, 0.001);
	for (uint32_t i = 0; i < HOT; i++) {
		/* a cable also carries a credit for each cell of the opposite
		 * direction, and an ACK for every four of these cells */
		double more = i < EX_INTERNAL ? 0 : 1.25;

		near((double)all[i], SPAN / (cell_cycles("w32", i) + more),
		     0.02);
		assert_true(d.got[i] > all[i] * 5 / 6);
	}
	bench_free(&b);
}

/* Runs two streams from each input, one of them routed by the table. If
 * `ahead`, also calls the stages of prefetching, as large networks do. */
static void streams(uint64_t *got, bool ahead)
{
	static const uint32_t to[EX_PORTS] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
	struct bench b;

	bench_new(&b, "w32");
	assert_int_equal(extoll_xbar_set_table(b.x, WEFT_ANY_PORT, 0, to,
					       EX_PORTS, NULL),
			 0);
	for (uint32_t i = 0; i < EX_PORTS; i++) {
		bench_flow(&b, i, i % 3 ? HOT : i, i % EX_VCS, 1 + i);
		bench_flow(&b, i, (i + 4) % EX_PORTS, i % EX_VCS, 1 + i)
			->table = true;
	}
	bench_start(&b);
	for (uint64_t cycle = 1; cycle < 2000; cycle += 7) {
		bench_run(&b, cycle);
		for (uint32_t stage = 0; ahead && stage < 4; stage++)
			b.x->cls->ops.soon(b.x, stage);
	}
	for (uint32_t i = 0; i < b.f->n_flows; i++)
		got[i] = b.f->flow[i].got;
	bench_free(&b);
}

static void test_looking_ahead_changes_nothing(void **state)
{
	uint64_t got[2][2 * EX_PORTS];

	streams(got[0], false);
	streams(got[1], true);
	assert_memory_equal(got[0], got[1], sizeof(got[0]));
	for (uint32_t i = 0; i < 2 * EX_PORTS; i++)
		assert_true(got[0][i] > 0);
	assert_true(got[0][1] > 50);
}

/* ---- T-33 ---- */

/* Sends cells from input 3 to output 7, and beside them packets on channel vc
 * to output 8, which accepts no cell. Returns the cells that reached output
 * 7. */
static uint64_t free_output(const char *width, uint32_t vc, uint64_t blocked)
{
	struct bench b;
	struct mark d;

	bench_new(&b, width);
	b.f->keep[8] = 0xf;
	bench_flow(&b, 3, 7, 0, 1);
	/* The channel and the pool of output 8 have room for 40 cells. Further
	 * cells to output 8 stay in the buffer of their input. */
	if (blocked)
		bench_flow(&b, 4, 8, vc, 1)->limit = 40;
	if (blocked)
		bench_flow(&b, 3, 8, vc, 1)->limit = blocked;
	window(&b, &d);
	if (blocked)
		assert_int_equal(d.got[1] + d.got[2], 0);
	bench_free(&b);
	return d.got[0];
}

static void test_head_of_line(void **state)
{
	static const char *const width[] = { "w32", "w16" };

	for (uint32_t i = 0; i < 2; i++) {
		uint64_t alone = free_output(width[i], 0, 0);

		near((double)alone, SPAN / cell_cycles(width[i], 7), 0.04);
		/* Another channel may send without limit. */
		assert_int_equal(free_output(width[i], 2, 1000000), alone);
		/* On the same channel 28 slots of input 3 stay in use. The
		 * other 12 of its 40 cover the round trip of a credit. */
		assert_int_equal(free_output(width[i], 0, 28), alone);
	}
}

/* ---- T-34 ---- */

static void starve(const char *width, uint32_t vc)
{
	uint64_t moved = 0;
	struct bench b;
	struct mark d;

	bench_new(&b, width);
	b.f->keep[7] = (uint8_t)(1u << vc);
	for (uint32_t k = 0; k < EX_VCS; k++)
		bench_flow(&b, 3, 7, k, 1);
	for (uint32_t k = 0; k < EX_VCS; k++)
		bench_flow(&b, 5, 7, k, 1);
	window(&b, &d);
	for (uint32_t k = 0; k < 2 * EX_VCS; k++) {
		if (k % EX_VCS == vc)
			assert_int_equal(d.got[k], 0);
		else
			assert_true(d.got[k] > 1000);
		moved += d.got[k];
	}
	/* the other three channels have the line to themselves */
	near((double)moved * cell_cycles(width, 7), SPAN, 0.04);
	near((double)d.busy[7], SPAN, 0.01);
	/* the channel that returns no credits got only the cells that fit into
	 * its 8 reserved slots and the pool */
	assert_int_equal(b.f->flow[vc].got + b.f->flow[EX_VCS + vc].got, 40);
	assert_in_range(b.f->most, 41, 64);
	bench_free(&b);
}

static void test_starved_channel(void **state)
{
	for (uint32_t vc = 0; vc < EX_VCS; vc++) {
		starve("w32", vc);
		starve("w16", vc);
	}
}

/* No port accepts a cell, so that all traffic stops, no buffer overflows, and
 * no credit is lost. */
static void test_blocked_ports_keep_buffers_and_credits(void **state)
{
	struct bench b;
	uint64_t in = 0;

	bench_new(&b, "w32");
	for (uint32_t i = 0; i < EX_PORTS; i++)
		b.f->keep[i] = 0xf;
	for (uint32_t i = 0; i < EX_PORTS; i++)
		for (uint32_t vc = 0; vc < EX_VCS; vc++)
			bench_flow(&b, i, 3 + (i + vc) % 6, vc, 1 + vc);
	bench_start(&b);
	bench_run(&b, WARM);
	for (uint32_t i = 0; i < EX_PORTS; i++) {
		assert_int_equal(b.xb->ep[i].held, 64);
		assert_int_equal(b.f->ep[i].held, i < 3 ? 0 : 64);
	}
	for (uint32_t k = 0; k < b.f->n_flows; k++)
		in += b.f->flow[k].cells_sent;
	assert_int_equal(in, 9 * 64 + 6 * 64);
	bench_free(&b);
}

/* ---- T-29 ---- */

/* Checks that packets with a wrong route are dropped and do not delay other
 * packets. The slots and credits of 1500 cells return. */
static void wrong_route(uint32_t nibble, uint32_t vc)
{
	struct feed_flow *good, *wrong;
	struct bench b;

	bench_new(&b, "w32");
	good = bench_flow(&b, 3, 7, 0, 2);
	good->limit = 500;
	wrong = bench_flow(&b, 3, nibble, vc, 3);
	wrong->limit = 500;
	bench_start(&b);
	bench_run(&b, 100000);
	assert_int_equal(good->got_packets, 500);
	assert_int_equal(wrong->got, 0);
	assert_int_equal(wrong->sent, 500);
	assert_int_equal(b.x->counters[EXTOLL_XBAR_ILLEGAL], 500);
	assert_int_equal(b.xb->ep[3].held, 0);
	bench_free(&b);
}

static void test_wrong_route(void **state)
{
	for (uint32_t nibble = 9; nibble <= 15; nibble++) {
		wrong_route(nibble, 0);
		wrong_route(nibble, 2);
	}
}

/* The route ends at a cable, so that the next crossbar finds no nibble. An
 * output without a cable loses the packet, too. */
static void test_short_route(void **state)
{
	struct feed_flow *end, *open, *good;
	struct bench b;

	bench_new_looped(&b, "w32");
	end = bench_flow(&b, 5, 3, 0, 1);
	end->hops = 1;
	open = bench_flow(&b, 5, 1, 0, 2);
	good = bench_flow(&b, 5, 7, 0, 1);
	end->limit = open->limit = good->limit = 500;
	bench_start(&b);
	bench_run(&b, 100000);
	assert_int_equal(good->got_packets, 500);
	assert_int_equal(end->got + open->got, 0);
	assert_int_equal(b.x->counters[EXTOLL_XBAR_ILLEGAL], 500);
	assert_int_equal(b.x->counters[EXTOLL_XBAR_NO_PORT], 500);
	assert_int_equal(b.xb->ep[4].held + b.xb->ep[5].held, 0);
	bench_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hot_spot),
		cmocka_unit_test(test_hot_spot_others),
		cmocka_unit_test(test_looking_ahead_changes_nothing),
		cmocka_unit_test(test_head_of_line),
		cmocka_unit_test(test_starved_channel),
		cmocka_unit_test(test_blocked_ports_keep_buffers_and_credits),
		cmocka_unit_test(test_wrong_route),
		cmocka_unit_test(test_short_route),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
