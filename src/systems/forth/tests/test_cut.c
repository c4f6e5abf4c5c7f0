/* SPDX-License-Identifier: Apache-2.0 */
/* fault.cut between two nodes: words that are lost, loss and recovery of sync
 * (forth.md 4.9), counters. */
#include <stdio.h>

#include "pair.h"

extern const struct weft_class weft_class_fault_cut;

enum { CUTS, LOST, TRUNCATED, CREDITS, WORDS };
enum { PACKETS = 40, QWORDS = 40, FRAME = 85, DELAY = 24, CC = 12800 /* ps */ };

static void cut(struct pair *p, const char *const *fault, uint64_t cycles)
{
	pair_init(p, NULL, &weft_class_fault_cut, fault);
	pair_send(p, 0, PACKETS, QWORDS);
	pair_start(p);
	pair_run(p, cycles);
}

/* A packet has 85 words, and packets follow back to back. The first delimiter
 * arrives in cycle 24. The line is down from cycle 299 to 313. Packets 0 to 2
 * (24 .. 279) arrive, and of packet 3 (279 .. 363) the first 20 words and the
 * last 51. */
static void one_cut(void **state)
{
	const char *f[] = { "at", "3827.2ns", "length", "179.2ns", NULL };
	const uint64_t down = 299, up = 313;
	const struct forth_port_count *n;
	struct pair p;

	cut(&p, f, 20000);
	n = forth_port_counts(&p.n[1]->link);
	assert_int_equal(p.fault->counters[CUTS], 1);
	assert_int_equal(p.fault->counters[TRUNCATED], 1);
	assert_int_equal(p.fault->counters[LOST], 0);
	assert_int_equal(p.fault->counters[WORDS], up - down);
	assert_int_equal(n->sync_loss[0], 1);
	assert_int_equal(n->bad_char[0], 4);
	assert_int_equal(n->align, 1);
	assert_int_equal(p.n[1]->bad, 1);
	/* Packets follow back to back without 16 commas in between. Therefore
	 * all packets are lost until the sender has used up its credits. These
	 * are 2046 words, enough for 24 packets, and the credits that the first
	 * four packets returned. */
	assert_int_equal(p.n[1]->received + n->unsync, PACKETS);
	assert_int_equal(p.n[0]->link.count.tx_packets, PACKETS);
	assert_in_range(n->unsync, 24 - 4, 24);
	assert_false(p.n[1]->link.lost_sync);
	pair_fini(&p);
}

/* Packets of 85 words are sent with pauses of 100 words. The link is in sync
 * again after exactly 16 comma words. */
static void resync_words(void **state)
{
	static const uint32_t gap[] = { 15, 16 };
	char at[32], length[32];
	uint32_t i;

	for (i = 0; i < 2; i++) {
		/* packet k arrives at 24 + 185k. The line goes down in the
		 * pause behind packet 1. It comes up again `gap` words before
		 * packet 2 begins */
		const char *f[] = { "at", at, "length", length, NULL };
		uint64_t down = 24 + 185 + 90, up = 24 + 2 * 185 - gap[i];
		const struct forth_port_count *n;
		struct pair p;
		uint32_t k;

		snprintf(at, sizeof(at), "%lups", (unsigned long)down * CC);
		snprintf(length, sizeof(length), "%lups",
			 (unsigned long)(up - down) * CC);
		pair_init(&p, NULL, &weft_class_fault_cut, f);
		pair_send(&p, 0, 8, QWORDS);
		for (k = 0; k < 8; k++)
			p.n[0]->script[k].ready = 185 * k;
		pair_start(&p);
		pair_run(&p, 20000);
		n = forth_port_counts(&p.n[1]->link);
		assert_int_equal(n->sync_loss[0], 1);
		assert_int_equal(n->unsync, gap[i] < 16);
		assert_int_equal(p.n[1]->received, 8 - (gap[i] < 16));
		assert_int_equal(p.n[1]->bad, 0);
		assert_int_equal(p.fault->counters[WORDS], 0);
		pair_fini(&p);
	}
}

/* Sync is lost and regained while the line carries no packets, too. */
static void idle_line(void **state)
{
	const char *f[] = { "at",    "10us",  "length", "1us",
			    "every", "100us", NULL };
	struct pair p;

	pair_init(&p, NULL, &weft_class_fault_cut, f);
	pair_start(&p);
	pair_run(&p, 80000); /* 1024 us */
	assert_int_equal(p.fault->counters[CUTS], 11);
	assert_int_equal(forth_port_counts(&p.n[1]->link)->sync_loss[0], 11);
	assert_false(p.n[1]->link.lost_sync);
	pair_fini(&p);
}

/* A line that is cut for ever: the run ends, and the remaining packets never
 * arrive. */
static void for_good(void **state)
{
	const char *f[] = { "at", "5us", NULL };
	struct pair p;
	uint64_t sent;

	cut(&p, f, 200000);
	sent = forth_port_counts(&p.n[0]->link)->tx_packets;
	assert_true(p.n[1]->received < PACKETS);
	assert_int_equal(sent, p.n[1]->received - p.n[1]->bad +
				       p.fault->counters[LOST] +
				       p.fault->counters[TRUNCATED]);
	assert_true(p.n[1]->link.lost_sync);
	pair_fini(&p);
}

/* The line stays down, so that every credit is lost and counted. The 84 words
 * of a packet change the credit value two or three times. */
static void credits_are_lost(void **state)
{
	const char *set[] = { "refresh", "0", NULL };
	const char *f[] = { "at", "1ps", NULL };
	struct pair p;

	pair_init(&p, set, &weft_class_fault_cut, f);
	pair_send(&p, 1, 20, QWORDS);
	pair_start(&p);
	pair_run(&p, 20000);
	assert_int_equal(p.n[0]->received, 20);
	assert_int_equal(forth_port_counts(&p.n[1]->link)->credits_in, 0);
	assert_in_range(forth_port_counts(&p.n[0]->link)->credits_out, 20,
			20 * 84 / 32);
	assert_int_equal(p.fault->counters[CREDITS],
			 p.n[0]->link.count.credits_out);
	assert_int_equal(p.fault->counters[LOST], 0);
	pair_fini(&p);
}

/* A link of a bundle is cut and restored. The remaining words of a truncated
 * packet are not returned a second time, so that the flow continues. */
static void truncated_packet_returns_its_credits_once(void **state)
{
	const char *set[] = { "links", "2", "rx_words", "1023", NULL };
	const char *f[] = { "at", "3us", "length", "500ns", NULL };
	struct pair p;

	pair_init(&p, set, &weft_class_fault_cut, f);
	pair_send(&p, 0, PACKETS, QWORDS);
	for (uint32_t k = 0; k < PACKETS; k++)
		p.n[0]->script[k].ready = 100 * k;
	pair_start(&p);
	pair_run(&p, 100000);
	assert_int_equal(p.n[1]->link.count.sync_loss[0], 1);
	assert_int_equal(p.n[1]->received, PACKETS);
	assert_int_equal(p.n[1]->bad, 1);
	forth_port_counts(&p.n[0]->link);
	assert_int_equal(p.n[0]->link.tx[0].acked,
			 p.n[0]->link.tx[0].sent & 0xFE0);
	pair_fini(&p);
}

/* Cuts at random times are the same in each run of one seed. */
static void at_random(void **state)
{
	const char *f[] = { "length", "2us", "every", "40us",
			    "random", "yes", NULL };
	uint64_t cuts[2];
	uint32_t i;

	for (i = 0; i < 2; i++) {
		struct pair p;

		pair_init(&p, NULL, &weft_class_fault_cut, f);
		pair_start(&p);
		/* 10.24 ms, in which 256 cuts are expected */
		pair_run(&p, 800000);
		cuts[i] = p.fault->counters[CUTS];
		pair_fini(&p);
	}
	assert_int_equal(cuts[0], cuts[1]);
	assert_in_range(cuts[0], 200, 320);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_cut),
		cmocka_unit_test(resync_words),
		cmocka_unit_test(idle_line),
		cmocka_unit_test(for_good),
		cmocka_unit_test(credits_are_lost),
		cmocka_unit_test(truncated_packet_returns_its_credits_once),
		cmocka_unit_test(at_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
