/* SPDX-License-Identifier: Apache-2.0 */
/* Retransmission on EXTOLL lines (extoll.md 4.7; T-23, T-24, T-25). */
#include "ex_pair.h"

#include <stdio.h>

extern const struct weft_class weft_class_fault_bits, weft_class_fault_drop;

enum { C_FLIPPED, C_HIT };

/* ---- T-23: a single bit error in each part of a cell ---- */

static void single_error(const char *width, const char *target, uint32_t bit)
{
	struct ex_pair p;
	struct cell_channel_count *tx, *rx;
	char at[16];

	snprintf(at, sizeof(at), "%u", bit);
	ex_pair_init(&p,
		     (const char *[]){ "width", width, "0.packets", "3", "size",
				       "40", "vcs", "1", "gap", "1000", NULL });
	ex_pair_fault(&p, 0, &weft_class_fault_bits,
		      (const char *[]){ "target", target, "frame", "2", "bit",
					at, NULL });
	ex_pair_start(&p);
	ex_pair_drain(&p, 100000);
	ex_pair_check_all(&p);
	tx = &p.n[0]->ep.count;
	rx = &p.n[1]->ep.count;
	assert_int_equal(p.fault[0]->counters[C_HIT], 1);
	assert_int_equal(rx->nacks, 1);
	assert_int_equal(rx->crc + rx->code + rx->seq, 1);
	assert_int_equal(tx->replays, 1);
	assert_int_equal(tx->timeouts, 0);
	/* each cell returns one credit, however often it was sent */
	assert_int_equal(p.n[1]->ep.slow->given[0], p.n[0]->sent_cells);
	/* If node 1 began to forward the damaged cell before the end of the
	 * cell, the cell became void. Otherwise it was dropped. */
	assert_in_range(p.n[1]->voids, 0, 1);
	ex_pair_fini(&p);
}

static void test_single_error(void **state)
{
	static const char *const w32[] = { "ctl",    "seq",	"len", "route",
					   "header", "payload", "crc", "body" };

	for (uint32_t i = 0; i < 8; i++) {
		for (uint32_t bit = 0; bit < 10; bit++) {
			single_error("w32", w32[i], bit);
			if (i != 2)
				single_error("w16", w32[i], bit);
		}
	}
}

/* The symbol that begins a cell is lost, so that the next SEQ or the timeout
 * must show the loss. */
static void test_lost_start(void **state)
{
	struct ex_pair p;

	ex_pair_init(&p, (const char *[]){ "0.packets", "3", "size", "40",
					   "vcs", "1", "gap", "0", NULL });
	ex_pair_fault(&p, 0, &weft_class_fault_bits,
		      (const char *[]){ "target", "control", "frame", "2",
					"invalid", "yes", NULL });
	ex_pair_start(&p);
	ex_pair_drain(&p, 100000);
	ex_pair_check_all(&p);
	assert_int_equal(p.n[1]->ep.count.nacks, 1);
	assert_int_equal(p.n[1]->ep.count.seq, 1);
	assert_int_equal(p.n[0]->ep.count.replays, 1);
	assert_int_equal(p.n[1]->voids, 0);
	ex_pair_fini(&p);
}

/* With 32 bit, a cell of 5 flits (1 + 2 + 2) is granted at cycle 10 and starts
 * on the line at S = 23. Its first flit leaves the receive FIFO at S + 27, and
 * its owner sees the cell 1 + 15 cycles later (7.1). The NACK is ready 5 flits
 * and t_ack = 10 cycles after S + 27. The NACK leaves the sender's receive FIFO
 * 27 cycles later. The cell starts on the line again after one more flit and
 * t_ctl_in = 10 cycles. */
static void test_replay_cycle(void **state)
{
	struct ex_pair p;
	uint64_t s = 23, cross = 27, nack, again;

	ex_pair_init(&p,
		     (const char *[]){ "0.packets", "1", "size", "0", "vcs",
				       "1", "gap", "0", "hold", "0", NULL });
	ex_pair_fault(&p, 0, &weft_class_fault_bits,
		      (const char *[]){ "target", "crc", "frame", "1", NULL });
	ex_pair_start(&p);
	ex_pair_drain(&p, 100000);
	ex_pair_check_all(&p);
	nack = s + cross + 3 + 2 + 10;
	again = nack + cross + 1 + 10;
	assert_int_equal(p.n[1]->ep.peer->way, cross + 16);
	assert_int_equal(p.n[1]->log[0].cycle, again + cross + 16);
	ex_pair_fini(&p);
}

/* Node 1 keeps 63 good cells in its slots, and the next cell is damaged. This
 * void cell takes the last slot. It returns no credit, because its replay will
 * return one. */
static void a_void_cell_in_the_last_slot_gives_no_credit(void **state)
{
	struct ex_pair p;

	ex_pair_init(&p, (const char *[]){ "0.packets", "64", "size", "0",
					   "gap", "0", "1.keep", "3000", "mode",
					   "1", NULL });
	ex_pair_fault(&p, 0, &weft_class_fault_bits,
		      (const char *[]){ "target", "crc", "frame", "64", NULL });
	ex_pair_start(&p);
	ex_pair_run(&p, 2900);
	assert_int_equal(p.n[1]->voids, 1);
	assert_int_equal(p.n[1]->n_log, 64);
	assert_int_equal(p.n[1]->ep.held, 64);
	for (uint32_t vc = 0; vc < EX_VCS; vc++)
		assert_int_equal(p.n[1]->ep.slow->given[vc], 0);
	ex_pair_drain(&p, 100000);
	ex_pair_check_all(&p);
	for (uint32_t vc = 0; vc < EX_VCS; vc++)
		assert_int_equal(p.n[1]->ep.slow->given[vc], 16);
	ex_pair_fini(&p);
}

/* ---- T-24 ---- */

struct loss {
	uint32_t from;
	const char *target, *frame, *count;
	uint32_t nacks, replays, timeouts;
};

/* Loses some frames of a saturated stream from node 0 to node 1. All packets
 * must arrive, after the given numbers of NACKs, replays and timeouts. */
static void loss(const struct weft_class *cls, const struct loss *l,
		 const char *width)
{
	struct ex_pair p;
	const struct cell_channel_count *tx, *rx;

	ex_pair_init(&p, (const char *[]){ "width", width, "0.packets", "400",
					   "gap", "0", "hold", "0", NULL });
	ex_pair_fault(&p, l->from, cls,
		      (const char *[]){ "target", l->target, "frame", l->frame,
					"count", l->count, NULL });
	ex_pair_start(&p);
	ex_pair_drain(&p, 1000000);
	ex_pair_check_all(&p);
	tx = &p.n[0]->ep.count;
	rx = &p.n[1]->ep.count;
	if (rx->nacks != l->nacks || tx->replays != l->replays ||
	    tx->timeouts != l->timeouts)
		fail_msg("%s %s %s: %u nacks, %u replays, %u timeouts", width,
			 cls->name, l->target, (uint32_t)rx->nacks,
			 (uint32_t)tx->replays, (uint32_t)tx->timeouts);
	ex_pair_fini(&p);
}

static void test_each_kind_of_loss_is_repaired_as_specified(void **state)
{
	static const char *const width[] = { "w16", "w32" };
	static const struct loss drops[] = {
		/* three lost cells in a row cause one NACK, for the first of
		 * them */
		{ 0, "packet", "100", "3", 1, 1, 0 },
		/* the next ACK covers the lost one */
		{ 1, "ack", "20", "1", 0, 0, 0 },
		{ 1, "credit", "20", "3", 0, 0, 0 },
	};
	static const struct loss hits[] = {
		{ 0, "any", "100", "3", 1, 1, 0 },
		{ 1, "ack", "20", "1", 0, 0, 0 },
		{ 1, "credit", "20", "1", 0, 0, 0 },
	};

	for (uint32_t i = 0; i < 6; i++) {
		loss(&weft_class_fault_drop, &drops[i / 2], width[i % 2]);
		loss(&weft_class_fault_bits, &hits[i / 2], width[i % 2]);
	}
}

/* The NACK is lost, so that only the timeout starts a replay, 1024 cycles after
 * the last progress. */
static void test_lost_nack(void **state)
{
	struct ex_pair p;

	ex_pair_init(&p, (const char *[]){ "0.packets", "400", "gap", "0",
					   "hold", "0", NULL });
	ex_pair_fault(&p, 0, &weft_class_fault_drop,
		      (const char *[]){ "frame", "100", NULL });
	ex_pair_fault(&p, 1, &weft_class_fault_drop,
		      (const char *[]){ "target", "nack", "frame", "1", NULL });
	ex_pair_start(&p);
	ex_pair_drain(&p, 1000000);
	ex_pair_check_all(&p);
	assert_int_equal(p.n[1]->ep.count.nacks, 1);
	assert_int_equal(p.n[0]->ep.count.timeouts, 1);
	assert_int_equal(p.n[0]->ep.count.replays, 1);
	ex_pair_fini(&p);
}

/* All ACKs of a short stream are lost. The sender replays the stream, and the
 * receiver recognises the duplicates. */
static void test_lost_last_ack(void **state)
{
	struct ex_pair p;

	for (uint32_t i = 0; i < 2; i++) {
		ex_pair_init(&p, (const char *[]){ "width", i ? "w16" : "w32",
						   "0.packets", "2", "size",
						   "0", "vcs", "1", NULL });
		ex_pair_fault(&p, 1, &weft_class_fault_drop,
			      (const char *[]){ "target", "ack", "frame", "1",
						NULL });
		ex_pair_start(&p);
		ex_pair_drain(&p, 1000000);
		ex_pair_check_all(&p);
		assert_int_equal(p.n[0]->ep.count.timeouts, 1);
		assert_int_equal(p.n[0]->ep.count.replays, 1);
		/* With 16 bit the SEQ is at the end of a cell. Therefore node 1
		 * began to forward the first duplicate, which became void. */
		assert_int_equal(p.n[1]->voids, i);
		assert_int_equal(p.n[1]->ep.count.seq, 2);
		assert_int_equal(p.n[1]->ep.count.nacks, 1);
		ex_pair_fini(&p);
	}
}

/* All credits of one VC are lost. The refresh of that VC restores them, after
 * four refresh intervals at most. */
static void test_credit_refresh(void **state)
{
	struct ex_pair p;
	uint64_t last;

	ex_pair_init(&p,
		     (const char *[]){ "0.packets", "60", "size", "0", "vcs",
				       "1", "gap", "0", "hold", "0", NULL });
	ex_pair_fault(&p, 1, &weft_class_fault_drop,
		      (const char *[]){ "credits", "1", NULL });
	ex_pair_start(&p);
	ex_pair_drain(&p, 1000000);
	ex_pair_check_all(&p);
	/* The first 40 packets have credits. The others wait for the refresh of
	 * VC 0: it starts at cycle 256 and travels for 38 cycles. The next cell
	 * takes 13 cycles from grant to line, and 43 from line to owner. */
	last = p.n[1]->log[59].cycle;
	assert_true(p.n[1]->log[39].cycle < 256 + 38 + 13 + 43);
	assert_int_equal(p.n[1]->log[40].cycle, 256 + 38 + 13 + 43);
	assert_in_range(last, 256, 1024 + 400);
	assert_int_equal(p.n[0]->ep.count.replays, 0);
	ex_pair_fini(&p);
}

/* The rate after a loss is the rate before it. */
static void test_back_to_nominal(void **state)
{
	struct ex_pair p;
	const struct ex_seen *l;
	uint32_t n;

	ex_pair_init(&p, (const char *[]){ "0.packets", "600", "gap", "0",
					   "hold", "0", NULL });
	ex_pair_fault(
		&p, 0, &weft_class_fault_bits,
		(const char *[]){ "target", "payload", "frame", "300", NULL });
	ex_pair_start(&p);
	ex_pair_drain(&p, 1000000);
	ex_pair_check_all(&p);
	l = p.n[1]->log;
	n = p.n[1]->n_log;
	assert_true(n > 1000);
	/* The line is never idle. A full cell takes 18 flits, and only control
	 * cells are sent between cells. */
	for (uint32_t i = 400; i + 100 < n; i += 100) {
		uint64_t flits = 0, span = l[i + 100].cycle - l[i].cycle;

		for (uint32_t k = i; k < i + 100; k++)
			flits += l[k].flits + 2;
		assert_in_range(span, flits, flits + flits / 20);
	}
	ex_pair_fini(&p);
}

/* ---- T-25 ---- */

struct outcome {
	uint64_t last, replays, hits;
};

/* 10^5 messages of up to three cells at each rate, half of them in each
 * direction. */
#ifdef __SANITIZE_ADDRESS__
static const char messages[] = "5000";
#else
static const char messages[] = "50000";
#endif

static struct outcome rate(const char *r, const char *width)
{
	struct ex_pair p;
	struct outcome o;
	const char *const set[] = { "rate", r, NULL };

	ex_pair_init(&p, (const char *[]){ "width", width, "packets", messages,
					   "size", "160", "gap", "0", "hold",
					   "20", NULL });
	ex_pair_fault(&p, 0, &weft_class_fault_bits, set);
	ex_pair_fault(&p, 1, &weft_class_fault_bits, set);
	ex_pair_start(&p);
	ex_pair_drain(&p, 1000000000);
	ex_pair_check_all(&p);
	o.last = p.n[1]->last_good;
	o.replays = p.n[0]->ep.count.replays;
	o.hits = p.fault[0]->counters[C_HIT] + p.fault[1]->counters[C_HIT];
	ex_pair_fini(&p);
	return o;
}

static void test_replays_grow_with_the_bit_error_rate(void **state)
{
	static const char *const rates[] = { "1e-12", "1e-8", "1e-6", "1e-5",
					     "1e-4" };

	for (uint32_t w = 0; w < 2; w++) {
		struct outcome before = { 0 };

		for (uint32_t i = 0; i < 5; i++) {
			struct outcome o = rate(rates[i], w ? "w32" : "w16");

			/* at 1e-12 nothing is hit */
			assert_true(i ? o.last >= before.last : !o.hits);
			assert_true(o.replays >= before.replays);
			before = o;
		}
		assert_true(before.hits > 1000 && before.replays > 500);
	}
}

/* The error rate is so high that no cell arrives. The link goes down after 15
 * attempts to send. */
static void test_link_goes_down_after_15_attempts(void **state)
{
	struct ex_pair p;
	uint32_t vc;

	ex_pair_init(&p, (const char *[]){ "0.packets", "10", NULL });
	ex_pair_fault(&p, 0, &weft_class_fault_bits,
		      (const char *[]){ "rate", "0.05", NULL });
	ex_pair_start(&p);
	ex_pair_drain(&p, 1000000);
	assert_int_equal(p.n[0]->ep.count.replays, 15);
	assert_int_equal(p.n[0]->ep.count.downs, 1);
	assert_int_equal(p.n[0]->downs, 1);
	assert_int_equal(p.n[0]->ep.slow->state, CELL_CHANNEL_DOWN);
	assert_int_equal(p.n[1]->n_log, 0);
	for (vc = 0; vc < EX_VCS; vc++)
		assert_false(cell_channel_can(&p.n[0]->ep, vc, 1000000));
	ex_pair_fini(&p);
}

/* Loses and repeats cells, loses control cells and flips bits in one run. */
static void test_losses_of_all_kinds_together_are_repaired(void **state)
{
	const char *const set[] = { "packets", "0.02", "controls", "0.05",
				    "repeat",  "0.02", NULL };
	const char *const bits[] = { "rate", "2e-5", NULL };
	struct ex_pair p;

	for (uint32_t i = 0; i < 8; i++) {
		ex_pair_init(&p, (const char *[]){
					 "width", i & 1 ? "w16" : "w32",
					 "store_forward", i & 2 ? "yes" : "no",
					 "gap", i & 4 ? "0" : "100", "packets",
					 "2000", "hold", "400", NULL });
		for (uint32_t k = 0; k < 4; k++)
			ex_pair_fault(&p, k & 1,
				      k & 2 ? &weft_class_fault_bits
					    : &weft_class_fault_drop,
				      k & 2 ? bits : set);
		ex_pair_start(&p);
		ex_pair_drain(&p, 1000000000);
		ex_pair_check_all(&p);
		assert_true(p.n[0]->ep.count.replays > 50);
		assert_true(!(i & 2) == (p.n[1]->voids > 0));
		ex_pair_fini(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_single_error),
		cmocka_unit_test(test_lost_start),
		cmocka_unit_test(test_replay_cycle),
		cmocka_unit_test(a_void_cell_in_the_last_slot_gives_no_credit),
		cmocka_unit_test(
			test_each_kind_of_loss_is_repaired_as_specified),
		cmocka_unit_test(test_lost_nack),
		cmocka_unit_test(test_lost_last_ack),
		cmocka_unit_test(test_credit_refresh),
		cmocka_unit_test(test_back_to_nominal),
		cmocka_unit_test(test_replays_grow_with_the_bit_error_rate),
		cmocka_unit_test(test_link_goes_down_after_15_attempts),
		cmocka_unit_test(
			test_losses_of_all_kinds_together_are_repaired),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
