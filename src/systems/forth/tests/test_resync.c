/* SPDX-License-Identifier: Apache-2.0 */
/* Resynchronisation of credits between two nodes (forth.md 5.7,
 * models/credit.pml): it returns lost credits, costs nothing while none is
 * lost, continues after the loss of its own messages, and waits for the buffer
 * to drain. */
#include <stdio.h>

#include "pair.h"

extern const struct weft_class weft_class_fault_drop, weft_class_fault_bits,
	weft_class_fault_cut;

enum { PACKETS = 60, QWORDS = 40, CHARGE = 84 };

static void run(struct pair *p, const char *resync, const char *hold,
		const struct weft_class *cls, const char *const *fault,
		uint32_t from)
{
	const char *set[] = { "rx_words", "400", "resync", resync,
			      "hold",	  hold,	 NULL };

	pair_init(p, set, cls, fault);
	pair_send(p, from, PACKETS, QWORDS);
	pair_start(p);
	pair_run(p, 400000);
}

static uint64_t resyncs(struct pair *p, uint32_t i)
{
	return forth_port_counts(&p->n[i]->link)->resyncs;
}

/* The buffer has room for four packets, so that the sender stops after the
 * fourth lost one. */
static void resync_returns_the_credits_of_lost_packets(void **state)
{
	const char *f[] = { "frame", "11", "count", "9", NULL };
	struct pair p;

	run(&p, "0", "0", &weft_class_fault_drop, f, 0);
	assert_int_equal(p.fault->counters[0], 4);
	assert_int_equal(p.n[1]->received, 10);
	pair_fini(&p);
	run(&p, "2000", "0", &weft_class_fault_drop, f, 0);
	assert_int_equal(p.fault->counters[0], 9);
	assert_int_equal(p.n[1]->received, PACKETS - 9);
	assert_int_equal(p.n[1]->bad, 0);
	assert_in_range(resyncs(&p, 0), 2, 4);
	assert_int_equal(resyncs(&p, 1), 0);
	pair_fini(&p);
}

/* A packet that arrives twice moves F ahead of T. Resynchronisation repairs
 * this, too. */
static void resync_repairs_a_packet_that_arrives_twice(void **state)
{
	const char *f[] = { "repeat", "0.2", NULL };
	struct pair p;

	run(&p, "0", "0", &weft_class_fault_drop, f, 0);
	assert_true(p.n[1]->received < PACKETS);
	pair_fini(&p);
	run(&p, "2000", "0", &weft_class_fault_drop, f, 0);
	assert_true(p.fault->counters[2] > 2);
	assert_int_equal(p.n[1]->received, PACKETS + p.fault->counters[2]);
	assert_true(resyncs(&p, 0) > 0);
	pair_fini(&p);
}

/* Without faults every packet starts in the same cycle as without
 * resynchronisation. */
static void no_effect(void **state)
{
	struct pair p, q;

	run(&p, "0", "0", NULL, NULL, 0);
	run(&q, "1500", "0", NULL, NULL, 0);
	assert_int_equal(p.n[1]->received, PACKETS);
	assert_int_equal(p.n[0]->n_log, q.n[0]->n_log);
	assert_int_equal(p.n[1]->n_log, q.n[1]->n_log);
	assert_memory_equal(p.n[1]->log, q.n[1]->log,
			    p.n[1]->n_log * sizeof(*p.n[1]->log));
	assert_int_equal(resyncs(&q, 0), 0);
	assert_int_equal(forth_port_counts(&q.n[0]->link)->credits_in,
			 forth_port_counts(&p.n[0]->link)->credits_in);
	pair_fini(&p);
	pair_fini(&q);
}

/* The receiver drains nothing before cycle 30000, and after that one packet per
 * 50 bus clocks (39 cycles). A request must wait for the buffer to drain. */
static void drains_first(void **state)
{
	struct pair p;

	run(&p, "2000", "30000", NULL, NULL, 0);
	assert_int_equal(p.n[1]->received, PACKETS);
	assert_int_equal(resyncs(&p, 0), 1);
	assert_int_equal(p.n[0]->log[3].cycle, 3 * 85);
	assert_true(p.n[0]->log[4].cycle > 30000 + 156);
	pair_fini(&p);
}

/* Messages of resynchronisation are lost in both directions, like credits. */
static void messages_lost(void **state)
{
	static const char *const rate[] = { "0.3", "0.7", "0.95" };
	uint32_t i, from;

	for (i = 0; i < 3; i++)
		for (from = 0; from < 2; from++) {
			const char *f[] = { "credits", rate[i], "packets",
					    from ? "0" : "0.1", NULL };
			const char *set[] = { "rx_words", "400", "resync",
					      "3000", NULL };
			struct pair p;

			pair_init(&p, set, &weft_class_fault_drop, f);
			pair_send(&p, from, PACKETS, QWORDS);
			pair_start(&p);
			pair_run(&p, 4000000);
			assert_int_equal(p.n[1 - from]->received,
					 PACKETS - p.fault->counters[0]);
			assert_int_equal(p.n[from]->link.count.tx_packets,
					 PACKETS);
			assert_int_equal(p.n[1 - from]->bad, 0);
			assert_true(resyncs(&p, from) > 0 || !i || from);
			pair_fini(&p);
		}
}

/* A receiver that returns discarded words does not count them as held. */
static void discarded_words_do_not_count_as_held(void **state)
{
	const char *f[] = { "target", "header", "frame", "5", "bit",
			    "20",     "count",	"6",	 NULL };
	struct pair p;

	run(&p, "2000", "9000", &weft_class_fault_bits, f, 0);
	assert_int_equal(p.n[1]->received, PACKETS - 6);
	assert_int_equal(p.n[1]->link.count.header_crc, 6);
	pair_fini(&p);
}

/* A cable is cut again and again. */
static void resync_follows_each_cut_of_the_cable(void **state)
{
	const char *f[] = {
		"at", "10us", "length", "3us", "every", "20us", NULL
	};
	struct pair p;

	run(&p, "2000", "0", &weft_class_fault_cut, f, 0);
	assert_int_equal(p.n[0]->link.count.tx_packets, PACKETS);
	assert_int_equal(p.n[1]->received - p.n[1]->bad + p.fault->counters[1] +
				 p.fault->counters[2] +
				 p.n[1]->link.count.unsync,
			 PACKETS);
	assert_true(resyncs(&p, 0) > 0);
	pair_fini(&p);
}

static void must_agree(void **state)
{
	struct weft_err err = { 0 };
	struct pair p;

	pair_init(&p, NULL, NULL, NULL);
	p.n[0]->link.cfg.resync_cc = 1000;
	assert_int_not_equal(weft_sim_start(p.sim, &err), 0);
	pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resync_returns_the_credits_of_lost_packets),
		cmocka_unit_test(resync_repairs_a_packet_that_arrives_twice),
		cmocka_unit_test(no_effect),
		cmocka_unit_test(drains_first),
		cmocka_unit_test(messages_lost),
		cmocka_unit_test(discarded_words_do_not_count_as_held),
		cmocka_unit_test(resync_follows_each_cut_of_the_cable),
		cmocka_unit_test(must_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
