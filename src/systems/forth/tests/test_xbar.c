/* SPDX-License-Identifier: Apache-2.0 */
/* Buffered crossbar: exact cycles of forth.md 8 and 11.7, routing, faults,
 * time stamps, clock domains. */
#include <string.h>

#include "star.h"

extern const struct weft_class weft_class_fault_bits, weft_class_fault_drop,
	weft_class_fault_reset;

/* 8.5, F23: cut-through takes 8 cycles across clock domains, 6 within one. */
static void cut_through(void **state)
{
	static const struct {
		uint32_t from, to, cycles;
	} v[] = {
		{ 0, 3, 8 }, { 3, 0, 8 }, { 0, 1, 6 }, { 2, 3, 6 }, { 2, 2, 6 }
	};
	uint32_t i, size;

	for (i = 0; i < 5; i++)
		for (size = 1; size <= 64; size += 21) {
			struct star s;

			star_init(&s, 4, NULL, NULL);
			star_send(&s, v[i].from, v[i].to, 1, size, 10);
			star_start(&s);
			star_run(&s, 1000);
			assert_int_equal(star_out_of(&s, v[i].to, 0, NULL),
					 10 + 24 + v[i].cycles);
			star_fini(&s);
		}
}

/* F22: a notice is synchronised in 3 cycles, and the decision follows 2 cycles
 * later. */
static void decision_time(void **state)
{
	const char *set[] = { "tx_start", "1", NULL };
	struct star s;

	star_init(&s, 2, set, NULL);
	star_send(&s, 0, 1, 1, 8, 0);
	star_start(&s);
	star_run(&s, 1000);
	/* header word at cycle 25, then synchroniser 3, decision 2, start 1 */
	assert_int_equal(star_out_of(&s, 1, 0, NULL), 24 + 1 + 5 + 1);
	star_fini(&s);
}

/* F24: packets of one crosspoint follow without idle cycles, from minimum to
 * maximum size. */
static void same_crosspoint(void **state)
{
	static const uint32_t size[] = { 1, 3, 62, 64 };
	uint32_t i, k;

	for (i = 0; i < 4; i++) {
		struct star s;

		star_init(&s, 2, NULL, NULL);
		star_send(&s, 0, 1, 50, size[i], 0);
		star_start(&s);
		star_run(&s, 20000);
		for (k = 0; k < 50; k++)
			assert_int_equal(star_out_of(&s, 1, k, NULL),
					 32 + k * (2 * size[i] + 5));
		star_fini(&s);
	}
}

static uint64_t counter(const struct star *s, const char *name)
{
	for (uint32_t i = 0; i < s->sw->cls->n_counters; i++)
		if (!strcmp(s->sw->cls->counters[i].name, name))
			return s->sw->counters[i];
	fail_msg("no counter %s", name);
	return 0;
}

/* Five packets of 133 words: the switch returns a credit for each packet, and
 * the receiver one per 32 words. Three lines run for 3000 cycles. */
static void counters_of_the_switch(void **state)
{
	static const char *const quiet[] = { "refresh_cc", "0", NULL };
	static const char *const node[] = { "refresh", "0", NULL };
	struct weft_err err = { 0 };
	struct star s;

	star_init(&s, 3, quiet, node);
	star_send(&s, 0, 1, 5, 64, 0);
	star_start(&s);
	star_run(&s, 3000);
	assert_int_equal(weft_sim_finish(s.sim, &err), 0);
	assert_int_equal(counter(&s, "packets"), 5);
	assert_int_equal(counter(&s, "credits_out"), 5);
	assert_int_equal(counter(&s, "credits_in"), 5 * 132 / 32);
	assert_int_equal(counter(&s, "words"), 5 * 133 + 5);
	assert_int_equal(counter(&s, "idle"), 3 * 3000 - 5 * 133 - 5);
	assert_int_equal(counter(&s, "backpressure"), 0);
	star_fini(&s);
}

/* A counter of the switch is the sum of the counters of its ports. */
static void counters_add_up_the_ports(void **state)
{
	static const struct {
		const char *name;
		uint64_t sum;
	} v[] = { { "packets", 1 },	  { "header_crc", 2 },
		  { "body_crc", 3 },	  { "align", 4 + 5 },
		  { "credit_parity", 6 }, { "credit_leak", 7 },
		  { "backpressure", 8 },  { "unknown_flow", 9 },
		  { "overflow", 10 },	  { "sync_loss", 11 },
		  { "unsync", 12 },	  { "resyncs", 13 } };
	struct weft_err err = { 0 };
	struct star s;

	star_init(&s, 3, NULL, NULL);
	star_start(&s);
	for (uint32_t i = 0; i < s.x->ports; i++) {
		struct forth_xbar_port *p = &s.x->port[i];
		struct forth_port_count *c = &p->link.count;
		uint64_t n = 1ull << 8 * i;

		c->tx_packets = 1 * n;
		c->header_crc = 2 * n;
		c->body_crc = 3 * n;
		c->align = 4 * n;
		c->header_align = 5 * n;
		c->credit_parity = 6 * n;
		c->credit_leak = 7 * n;
		c->backpressure = 8 * n;
		p->unknown = 9 * n;
		p->overflow = 10 * n;
		c->sync_loss[0] = 11 * n;
		c->unsync = 12 * n;
		c->resyncs = 13 * n;
	}
	assert_int_equal(weft_sim_finish(s.sim, &err), 0);
	for (uint32_t i = 0; i < sizeof(v) / sizeof(*v); i++)
		assert_int_equal(counter(&s, v[i].name), v[i].sum * 0x10101);
	star_fini(&s);
}

/* A tapped line changes the counters of no other line. Packets leave the switch
 * with the credits of their output line, even packets that arrived over a line
 * with real frames. */
static void a_tapped_line_changes_no_other(void **state)
{
	struct forth_port_count count[2][2];

	for (uint32_t i = 0; i < 2; i++) {
		struct star s;

		star_init(&s, 3, NULL, NULL);
		if (i)
			star_fault(&s, &weft_class_fault_drop, 0, false, NULL);
		star_send(&s, 0, 1, 30, 40, 0);
		star_send(&s, 1, 2, 30, 40, 0);
		star_start(&s);
		star_run(&s, 10000);
		assert_int_equal(s.n[1]->received, 30);
		assert_int_equal(s.n[2]->received, 30);
		for (uint32_t k = 0; k < 2; k++)
			count[i][k] = *forth_port_counts(&s.n[1 + k]->link);
		star_fini(&s);
	}
	assert_true(count[0][0].credits_in >= 30);
	assert_memory_equal(count[0], count[1], sizeof(count[0]));
}

/* R-25, 11.11: three senders share an output in strict rotation. A packet takes
 * 131 cycles with 62 qwords, 135 with 64. */
static void three_to_one(void **state)
{
	static const uint32_t size[] = { 62, 64 };
	uint32_t i, k, src, last;

	for (i = 0; i < 2; i++) {
		struct star s;

		star_init(&s, 4, NULL, NULL);
		for (k = 0; k < 3; k++)
			star_send(&s, k, 3, 100, size[i], 0);
		star_start(&s);
		star_run(&s, 300 * 140);
		star_out_of(&s, 3, 20, &last);
		for (k = 21; k < 280; k++) {
			uint64_t t = star_out_of(&s, 3, k, &src);

			assert_int_equal(t - star_out_of(&s, 3, k - 1, NULL),
					 2 * size[i] + 5 + 2);
			assert_int_equal(src, (last + 1) % 3);
			last = src;
		}
		for (k = 0; k < 3; k++)
			assert_true(
				forth_port_counts(&s.n[k]->link)->backpressure >
				0);
		assert_int_equal(s.x->port[0].overflow, 0);
		star_fini(&s);
	}
}

/* Returns the first cycle at which node 0 has an updated credit. */
static uint64_t credit_back(struct star *s, uint64_t limit)
{
	uint64_t c;
	uint32_t k;

	for (c = 1; c < limit; c++) {
		star_run(s, c);
		forth_port_counts(&s->n[0]->link);
		for (k = 0; k < s->ports; k++)
			if (s->n[0]->link.tx[k].acked)
				return c;
	}
	return 0;
}

/* 11.7, F12: the round trip takes 64 cycles for packets of 32 words and more,
 * 97 for minimum packets back to back, and 96 when credits grow word by
 * word. */
static void round_trip(void **state)
{
	static const struct {
		const char *mode;
		uint32_t qwords, count, rtt;
	} v[] = { { "start", 14, 1, 64 },
		  { "start", 64, 1, 64 },
		  { "start", 3, 8, 97 },
		  { "per_word", 64, 1, 96 },
		  { "per_word", 20, 1, 96 } };
	uint32_t i;

	for (i = 0; i < 5; i++) {
		const char *set[] = { "cs_credit", v[i].mode, NULL };
		struct star s;

		star_init(&s, 8, set, NULL);
		star_send(&s, 0, 7, v[i].count, v[i].qwords, 0);
		star_start(&s);
		assert_int_equal(credit_back(&s, 200), v[i].rtt);
		star_fini(&s);
	}
}

/* 8.3: a chosen packet waits for credits. No packet of its column passes it,
 * and other columns continue. */
static void blocked_column(void **state)
{
	const char *node_set[] = { "rx_words", "300", "hold", "20000", NULL };
	struct star s;

	star_init(&s, 4, NULL, node_set);
	s.n[3]->hold = 0;
	star_send(&s, 0, 2, 10, 64, 0);
	star_send(&s, 1, 2, 10, 64, 0);
	star_send(&s, 2, 3, 100, 64, 0);
	star_start(&s);
	star_run(&s, 19999);
	assert_int_equal(s.n[2]->received, 2);
	assert_int_equal(s.n[3]->received, 100);
	/* each sender has credits for three packets of 132 words in 512. The
	 * switch has forwarded two packets, whose credits let two more packets
	 * leave */
	assert_int_equal(s.n[0]->head[2] + s.n[1]->head[2], 3 + 3 + 2);
	assert_true(forth_port_counts(&s.x->port[2].link)->backpressure >
		    19000);
	star_run(&s, 60000);
	assert_int_equal(s.n[2]->received, 20);
	star_fini(&s);
}

static void unknown_flow(void **state)
{
	const char *set[] = { "routes", "1:2,2:9", NULL };
	const char *good[] = { "routes", "1:2,2:1,9:3", NULL };
	struct weft_err err = { 0 };
	struct weft_sim *sim = weft_sim_new(1);
	extern const struct weft_class weft_class_forth_xbar;
	struct weft_comp *c;
	struct star s;

	c = weft_sim_add(sim, &weft_class_forth_xbar, "x", &err);
	weft_param_set(c, set[0], set[1], &err);
	assert_true(weft_comp_init(c, &err) < 0);
	assert_non_null(strstr(err.msg, "2:9"));
	weft_sim_free(sim);

	star_init(&s, 4, good, NULL);
	s.n[0]->n = 8;
	star_send(&s, 0, 1, 5, 8, 0);	/* to port 2 */
	star_send(&s, 1, 2, 600, 8, 0); /* to port 1 */
	star_send(&s, 3, 3, 5, 8, 0);
	star_start(&s);
	star_run(&s, 30000);
	assert_int_equal(s.n[2]->received, 5);
	assert_int_equal(s.n[1]->received, 600);
	assert_int_equal(s.n[3]->received, 5);
	star_fini(&s);

	star_init(&s, 4, NULL, NULL);
	s.n[0]->n = 8;
	/* the port has no node, so that no credits are used */
	star_send(&s, 0, 6, 300, 8, 0);
	star_start(&s);
	star_run(&s, 30000);
	assert_int_equal(s.x->port[0].unknown, 300);
	star_fini(&s);
}

/* Port 2 of the switch has no cable. Every route to it is as good as none. */
static void
a_packet_to_a_port_without_a_cable_is_dropped_and_counted(void **state)
{
	static const char *const four[] = { "ports", "4", "routes", "9:2",
					    NULL };
	static const uint32_t flows[] = { 2, 3, 9 };
	struct weft_err err = { 0 };
	struct star s;

	for (uint32_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++) {
		star_init(&s, 2, four, NULL);
		s.n[0]->n = 10;
		star_send(&s, 0, flows[i], 300, 8, 0);
		star_send(&s, 1, 0, 5, 8, 0);
		star_start(&s);
		star_run(&s, 30000);
		assert_int_equal(s.x->port[0].unknown, 300);
		assert_int_equal(s.n[0]->received, 5);
		assert_int_equal(weft_sim_finish(s.sim, &err), 0);
		star_fini(&s);
	}
}

/* The sender relies on the size of a crosspoint, which both ends exchanged at
 * the start. The test makes the crosspoint smaller than a packet. */
static void a_packet_for_a_full_crosspoint_is_dropped_and_counted(void **state)
{
	static const char *const quiet[] = { "refresh_cc", "0", NULL };
	static const char *const node[] = { "refresh", "0", NULL };
	struct weft_err err = { 0 };
	struct star s;

	star_init(&s, 3, quiet, node);
	star_send(&s, 0, 1, 3, 64, 0);
	star_send(&s, 2, 1, 2, 8, 0);
	s.x->xp_words = 100;
	star_start(&s);
	star_run(&s, 3000);
	assert_int_equal(s.x->port[0].overflow, 3 * 133);
	assert_int_equal(s.n[0]->link.tx[1].sent - s.n[0]->link.tx[1].acked,
			 3 * 132); /* its credits stay away */
	assert_int_equal(s.n[1]->received, 2);
	assert_int_equal(weft_sim_finish(s.sim, &err), 0);
	star_fini(&s);
}

/* V07 at the switch: the words of a packet with a bad header are counted and
 * never returned (5.7). */
static void header_error_leaks(void **state)
{
	const char *f[] = {
		"target", "header", "frame", "5", "bit", "40", NULL
	};
	struct star s;
	struct forth_port *l;

	star_init(&s, 2, NULL, NULL);
	star_fault(&s, &weft_class_fault_bits, 0, false, f);
	star_send(&s, 0, 1, 20, 64, 0);
	star_start(&s);
	star_run(&s, 30000);
	assert_int_equal(s.n[1]->received, 19);
	l = &s.x->port[0].link;
	assert_int_equal(forth_port_counts(l)->header_crc, 1);
	assert_int_equal(forth_port_counts(l)->credit_leak, 132);
	forth_port_counts(&s.n[0]->link);
	assert_in_range((s.n[0]->link.tx[1].sent - s.n[0]->link.tx[1].acked) &
				4095,
			132, 132 + 31);
	/* leaks_until_reset shows that the flow stops after further packets
	 * with a bad header */
	star_fini(&s);
}

static void leaks_until_reset(void **state)
{
	const char *f[] = { "target", "header", "frame", "1", "bit",
			    "40",     "count",	"4",	 NULL };
	struct star s;

	star_init(&s, 2, NULL, NULL);
	star_fault(&s, &weft_class_fault_bits, 0, false, f);
	star_send(&s, 0, 1, 20, 64, 0);
	star_start(&s);
	star_run(&s, 30000);
	/* three packets of 132 words are lost, so that a fourth does not fit
	 * into 512 */
	assert_int_equal(s.n[1]->received, 0);
	forth_port_credit_reset(&s.n[0]->link);
	forth_port_credit_reset(&s.x->port[0].link);
	forth_port_kick(&s.n[0]->link, 30001 * s.cc);
	star_run(&s, 60000);
	assert_int_equal(s.n[1]->received, 20 - 4);
	star_fini(&s);
}

/* fault.reset resets the switch's port (5.7). Both directions continue, and no
 * packet is lost. */
static void operator_resets_a_port_of_the_switch(void **state)
{
	const char *f[] = { "target", "header", "frame", "1", "bit",
			    "40",     "count",	"4",	 NULL };
	const char *at[] = { "at", "384us", NULL }; /* cycle 30000 */
	struct weft_comp *reset;
	struct star s;

	star_init(&s, 3, NULL, NULL);
	star_fault(&s, &weft_class_fault_bits, 0, false, f);
	reset = star_fault(&s, &weft_class_fault_reset, 0, true, at);
	star_send(&s, 0, 1, 20, 64, 0);
	star_send(&s, 2, 0, 10, 64, 40000);
	star_start(&s);
	star_run(&s, 29999);
	assert_int_equal(s.n[1]->received, 0);
	star_run(&s, 60000);
	assert_int_equal(s.n[1]->received, 20 - 4);
	assert_int_equal(s.n[0]->received, 10);
	assert_int_equal(reset->counters[0], 1); /* resets */
	assert_int_equal(reset->counters[1], 0); /* refused */
	assert_int_equal(s.x->port[0].link.count.sync_loss[0], 1);
	assert_int_equal(s.n[0]->link.count.sync_loss[0], 1);
	assert_int_equal(s.x->port[0].link.count.unsync, 0);
	forth_port_counts(
		&s.n[0]->link); /* the fourth packet is lost after the reset */
	assert_in_range((s.n[0]->link.tx[1].sent - s.n[0]->link.tx[1].acked) &
				4095,
			132, 132 + 31);
	star_fini(&s);
}

/* V08: the body is damaged on the way to the switch or on the way to the node.
 * Each receiver behind the damage counts it once, and the switch forwards the
 * data. */
static void body_error_passes(void **state)
{
	const char *f[] = { "target", "body", "frame", "5", "bit", "77", NULL };
	uint32_t back;

	for (back = 0; back < 2; back++) {
		struct star s;

		star_init(&s, 2, NULL, NULL);
		star_fault(&s, &weft_class_fault_bits, back, back, f);
		star_send(&s, 0, 1, 5, 64, 0);
		star_start(&s);
		star_run(&s, 30000);
		assert_int_equal(s.n[1]->received, 5);
		assert_int_equal(s.n[1]->bad, 1);
		assert_int_equal(s.n[1]->link.count.body_crc, 1);
		assert_int_equal(s.x->port[0].link.count.body_crc, !back);
		assert_int_equal(s.n[1]->last_data[8 + 6] ^
					 (uint8_t)(14 + 4 * 7 + 1),
				 0x04);
		forth_port_counts(&s.n[0]->link);
		assert_in_range(
			(s.n[0]->link.tx[1].sent - s.n[0]->link.tx[1].acked) &
				4095,
			0, 31);
		star_fini(&s);
	}
}

/* 10.1: qword 1 becomes {ts3, ts4}, and the CRC is computed anew. */
static void time_stamps(void **state)
{
	const char *set[] = { "stamps", "yes", NULL };
	uint32_t stamp[2];
	struct star s;

	star_init(&s, 2, set, NULL);
	star_fault(&s, &weft_class_fault_drop, 1, true, NULL);
	star_send(&s, 0, 1, 1, 8, 100);
	star_start(&s);
	star_run(&s, 1000);
	memcpy(stamp, s.n[1]->last_data + 8, 8);
	assert_int_equal(stamp[1], 124); /* high half: ts3 */
	assert_int_equal(stamp[0], 132);
	assert_int_equal(s.n[1]->bad, 0);
	star_fini(&s);
}

/* V13: with two crystals of +-100 ppm no packet is lost, and the delay does not
 * grow. */
static void clock_offset(void **state)
{
	const char *set[] = { "ppm", "100,-100", NULL };
	struct star s;
	uint32_t i;

	star_init(&s, 4, set, NULL);
	for (i = 0; i < 4; i++)
		star_send(&s, i, 3 - i, 2000, 40, 0);
	star_start(&s);
	star_run(&s, 2000 * 90);
	for (i = 0; i < 4; i++) {
		const struct forth_port_count *c =
			forth_port_counts(&s.n[i]->link);

		assert_int_equal(s.n[i]->received, 2000);
		assert_int_equal(s.n[i]->bad, 0);
		assert_int_equal(c->header_crc + c->align, 0);
		/* the rate is that of the slower of the two clocks on the
		 * packet's path */
		assert_in_range(star_out_of(&s, i, 1999, NULL), 1999 * 85,
				1999 * 85 + 200);
		assert_int_equal(s.x->port[i].overflow, 0);
		/* the crosspoints of slow outputs fill up as far as credits
		 * allow */
		assert_in_range(forth_xbar_xp(s.x, 3 - i, i)->high, 6,
				i < 2 ? 12 : 512);
	}
	star_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_through),
		cmocka_unit_test(decision_time),
		cmocka_unit_test(same_crosspoint),
		cmocka_unit_test(counters_of_the_switch),
		cmocka_unit_test(counters_add_up_the_ports),
		cmocka_unit_test(a_tapped_line_changes_no_other),
		cmocka_unit_test(three_to_one),
		cmocka_unit_test(round_trip),
		cmocka_unit_test(blocked_column),
		cmocka_unit_test(unknown_flow),
		cmocka_unit_test(
			a_packet_to_a_port_without_a_cable_is_dropped_and_counted),
		cmocka_unit_test(
			a_packet_for_a_full_crosspoint_is_dropped_and_counted),
		cmocka_unit_test(header_error_leaks),
		cmocka_unit_test(leaks_until_reset),
		cmocka_unit_test(operator_resets_a_port_of_the_switch),
		cmocka_unit_test(body_error_passes),
		cmocka_unit_test(time_stamps),
		cmocka_unit_test(clock_offset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
