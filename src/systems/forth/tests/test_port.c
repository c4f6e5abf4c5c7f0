/* SPDX-License-Identifier: Apache-2.0 */
/* Link end: exact cycles of packets and credits between two nodes, wake-ups,
 * padding, refresh, loopback, bundles, and equal results with real and with
 * computed frames. */
#include <stdlib.h>
#include <string.h>

#include "pair.h"

extern const struct weft_class weft_class_fault_drop, weft_class_fault_cut;
extern const struct weft_class weft_class_fault_delay;

static uint64_t start_of(const struct pair *p, uint32_t i, uint32_t k)
{
	const struct node *n = p->n[i];
	uint32_t j;

	for (j = 0; j < n->n_log; j++)
		if (n->log[j].where == i && !k--)
			return n->log[j].cycle;
	return WEFT_NEVER;
}

/* forth.md 4.10, 11.8: the delimiter of the next packet follows the body CRC
 * without a gap. */
static void back_to_back(void **state)
{
	static const struct {
		const char *frame, *links;
		uint32_t words;
	} v[] = { { "word", "1", 133 },
		  { "packed", "1", 132 },
		  { "word", "2", 68 },
		  { "word", "4", 36 } };
	uint32_t i, k;

	for (i = 0; i < 4; i++) {
		const char *set[] = { "frame",	  v[i].frame, "links",
				      v[i].links, "rx_words", "2046",
				      NULL };
		struct pair p;

		pair_init(&p, set, NULL, NULL);
		pair_send(&p, 0, 5, 64);
		pair_start(&p);
		pair_run(&p, 3000);
		for (k = 0; k < 5; k++)
			assert_int_equal(start_of(&p, 0, k), k * v[i].words);
		assert_int_equal(p.n[1]->received, 5);
		assert_int_equal(p.n[1]->last_rx.words, v[i].words);
		assert_int_equal(p.n[1]->last_rx.cycle, 24 + 4 * v[i].words);
		pair_fini(&p);
	}
}

/* Delays frames from port `k` of node 0 by `late`. */
static void slow_port(struct pair *p, uint32_t k, const char *late)
{
	struct weft_err err = { 0 };
	struct weft_comp *f =
		weft_sim_add(p->sim, &weft_class_fault_delay, "late", &err);

	assert_int_equal(weft_param_set(f, "frame", "1", &err), 0);
	assert_int_equal(weft_param_set(f, "count", "1000", &err), 0);
	assert_int_equal(weft_param_set(f, "max", late, &err), 0);
	assert_int_equal(weft_comp_init(f, &err), 0);
	assert_int_equal(weft_filter_add(&p->comp[0]->ports[k], f, &err), 0);
}

/* 4.9, 4.12: a packet on two links begins when the slower link delivers its
 * first word. If the links differ by more than the 16 words of the FIFO,
 * packets of more than 16 words are lost. */
static void a_bundle_waits_for_its_slowest_link(void **state)
{
	static const struct {
		uint32_t port;
		const char *late;
		uint32_t qwords, words, received, skew;
	} v[] = { { 0, "128ns", 64, 68, 1, 10 },
		  { 1, "128ns", 64, 68, 1, 10 },
		  { 0, "204.8ns", 64, 68, 1, 16 },
		  { 1, "204.8ns", 64, 68, 1, 16 },
		  { 0, "217.6ns", 64, 68, 0, 17 },
		  { 1, "217.6ns", 64, 68, 0, 17 },
		  { 0, "217.6ns", 12, 16, 1, 17 },
		  { 1, "217.6ns", 12, 16, 1, 17 } };
	static const char *const set[] = { "links", "2", "rx_words", "2046",
					   NULL };

	for (uint32_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct forth_port_count *count;
		struct pair p;

		pair_init(&p, set, NULL, NULL);
		slow_port(&p, v[i].port, v[i].late);
		pair_send(&p, 0, 1, v[i].qwords);
		pair_start(&p);
		pair_run(&p, 1000);
		count = forth_port_counts(&p.n[1]->link);
		assert_int_equal(p.n[1]->received, v[i].received);
		assert_int_equal(count->skew_full, !v[i].received);
		assert_int_equal(count->align, !v[i].received);
		if (v[i].received) {
			assert_int_equal(p.n[1]->last_rx.words, v[i].words);
			assert_int_equal(p.n[1]->last_rx.cycle, 24 + v[i].skew);
		}
		pair_fini(&p);
	}
}

/* 4.9: with powerup an end begins to send 16 words after the first comma. The
 * first comma arrives after 24 cycles plus the length of the cable. No packet
 * is lost. */
static void power_up_takes_16_comma_words(void **state)
{
	static const struct {
		const char *powerup, *cable, *links;
		uint64_t first;
	} v[] = { { "no", "0", "1", 0 },
		  { "yes", "0", "1", 24 + 16 },
		  { "yes", "128ns", "1", 24 + 10 + 16 },
		  { "yes", "0", "2", 24 + 16 } };

	for (uint32_t i = 0; i < 4; i++) {
		const char *set[] = { "links", v[i].links, NULL };
		const char *on[] = { "powerup", v[i].powerup, "cable",
				     v[i].cable, NULL };
		struct pair p;

		pair_init_on(&p, set, NULL, NULL, on);
		pair_send(&p, 0, 5, 64);
		pair_start(&p);
		for (uint32_t k = 0; k < 2; k++)
			assert_int_equal(forth_port_in_sync(&p.n[k]->link),
					 v[i].first == 0);
		pair_run(&p, v[i].first ? v[i].first - 1 : 0);
		assert_int_equal(forth_port_in_sync(&p.n[0]->link),
				 v[i].first == 0);
		pair_run(&p, v[i].first);
		assert_true(forth_port_in_sync(&p.n[0]->link));
		pair_run(&p, 3000);
		assert_int_equal(start_of(&p, 0, 0), v[i].first);
		assert_int_equal(p.n[1]->received, 5);
		assert_int_equal(p.n[1]->link.count.unsync, 0);
		assert_int_equal(p.n[1]->link.count.sync_loss[0], 0);
		pair_fini(&p);
	}
}

/* A line is dead until cycle 100 and then delivers its first comma. The link
 * end at the line is in sync 16 words later. Before that time the link end
 * neither receives nor sends. */
static void power_up_counts_commas_that_come(void **state)
{
	static const char *const on[] = { "powerup", "yes", NULL };
	static const char *const cut[] = { "at", "12.8ns", /* 1 to 100 */
					   "length", "1267.2ns", NULL };
	struct pair p;

	pair_init_on(&p, NULL, &weft_class_fault_cut, cut, on);
	pair_send(&p, 0, 3, 2);
	pair_send(&p, 1, 1, 2);
	pair_start(&p);
	pair_run(&p, 115);
	assert_true(forth_port_in_sync(&p.n[0]->link));
	assert_false(forth_port_in_sync(&p.n[1]->link));
	pair_run(&p, 116);
	assert_true(forth_port_in_sync(&p.n[1]->link));
	pair_run(&p, 3000);
	assert_int_equal(start_of(&p, 1, 0), 116);
	assert_int_equal(p.n[0]->received, 1);
	/* Node 0 sent its packets from cycle 40 on. The receiver of node 1
	 * was not in sync yet and lost them. */
	assert_int_equal(p.n[1]->received, 0);
	pair_fini(&p);
}

/* 11.7: the round trip between two NICs on two links takes 90 + P/4 cycles plus
 * the bus of a NIC (6 + 4 PCI cycles before the data). P is the number of words
 * of the packet without its delimiter. */
static void round_trip(void **state)
{
	static const uint32_t qwords[] = { 60, 124, 508 };
	uint32_t i;

	for (i = 0; i < 3; i++) {
		const char *set[] = { "links", "2",  "rx_words", "1023",
				      "t_bus", "10", NULL };
		uint32_t words = qwords[i] + 4, c;
		struct pair p;

		pair_init(&p, set, NULL, NULL);
		pair_send(&p, 0, 1, qwords[i]);
		pair_start(&p);
		for (c = 1; c < 400; c++) {
			pair_run(&p, c);
			forth_port_counts(&p.n[0]->link);
			if (p.n[0]->link.tx[0].acked)
				break;
		}
		assert_in_range(c, 89 + words / 4, 91 + words / 4);
		pair_fini(&p);
	}
}

/* 5.2: a sender stops when the unused part of B does not suffice for the next
 * packet, and continues when enough credits have returned. */
static void stops_at_capacity(void **state)
{
	const char *set[] = { "rx_words", "300", "hold", "5000", NULL };
	struct pair p;

	pair_init(&p, set, NULL, NULL);
	pair_send(&p, 0, 6, 64); /* packets of 132 words, of which two fit */
	pair_start(&p);
	pair_run(&p, 4999);
	assert_int_equal(p.n[1]->received, 2);
	assert_int_equal(forth_port_counts(&p.n[0]->link)->backpressure,
			 4999 - 2 * 133);
	assert_int_equal(p.n[0]->link.tx[0].sent, 264);
	/* The hold ends in cycle 5000 = bus edge 6400. 10 edges later the drain
	 * begins, and F crosses 32 k words after 16 k - 1 edges. After 96 words
	 * (47 edges) the sender may continue. */
	pair_run(&p, 20000);
	assert_int_equal(p.n[1]->received, 6);
	assert_int_equal(start_of(&p, 0, 2),
			 (6400 + 10 + 47) * 10 * WEFT_NS / p.cc + 1 + 3 + 24 +
				 2);
	pair_fini(&p);
}

/* 5.3: an idle line repeats credits every refresh_cc and sends no other
 * frames. */
static void idle_line_repeats_credits_and_sends_nothing_else(void **state)
{
	const char *set[] = { "refresh", "100", NULL };
	struct pair p;

	pair_init(&p, set, NULL, NULL);
	pair_start(&p);
	pair_run(&p, 1001);
	assert_int_equal(forth_port_counts(&p.n[0]->link)->credits_out, 10);
	assert_int_equal(forth_port_counts(&p.n[0]->link)->out_cycles, 10);
	assert_int_equal(forth_port_counts(&p.n[1]->link)->credits_in, 9);
	assert_int_equal(weft_sim_events(p.sim), 0);
	pair_fini(&p);
}

/* 5.3: a refresh carries a credit for each link, or one in the packed layout,
 * and takes the lanes in turn. Computed refreshes of a long quiet time are
 * counted in one step, but real frames are sent one by one. */
static void refreshes_of_a_bundle_go_round_the_lanes(void **state)
{
	static const struct {
		const char *frame, *links, *lanes;
		uint32_t credits; /* credits of a refresh */
	} v[] = { { "word", "1", "8", 1 }, { "word", "2", "8", 2 },
		  { "word", "4", "9", 4 }, { "word", "4", "3", 3 },
		  { "word", "4", "1", 1 }, { "packed", "1", "8", 1 } };

	for (uint32_t i = 0; i < 2 * sizeof(v) / sizeof(*v); i++) {
		uint32_t k = i / 2, n = v[k].credits;
		const char *set[] = { "frame",	  v[k].frame, "links",
				      v[k].links, "lanes",    v[k].lanes,
				      "refresh",  "100",      NULL };
		struct pair p;

		pair_init(&p, set, i % 2 ? &weft_class_fault_drop : NULL, NULL);
		pair_start(&p);
		pair_run(&p, 1001);
		assert_int_equal(forth_port_counts(&p.n[0]->link)->credits_out,
				 10 * n);
		assert_int_equal(forth_port_counts(&p.n[0]->link)->out_cycles,
				 10);
		assert_int_equal(forth_port_counts(&p.n[1]->link)->credits_in,
				 9 * n);
		assert_int_equal(p.n[0]->link.rr_refresh,
				 10 * n % p.n[0]->lanes);
		pair_fini(&p);
	}
}

enum { LANES = 9 };

/* Cycles in which credits left node 0 and took effect at node 1, by lane. */
static uint64_t left[LANES], taken[LANES];

static void note_credit(void *own, struct forth_port *l, uint64_t cycle,
			uint16_t credit, bool in)
{
	const struct node *n = ((struct weft_comp *)own)->state;

	if (in == n->me)
		(in ? taken : left)[forth_credit_flow(credit)] = cycle;
}

/* 5.3: credits of a frame are in several of its words. Each is reported in the
 * cycle of its own word, and takes effect a fixed time after that cycle. */
static void each_credit_counts_from_its_own_word(void **state)
{
	static const struct {
		const char *frame, *links;
		uint32_t word[LANES]; /* word of each credit, in order */
	} v[] = { { "word", "1", { 0, 1, 1, 2, 2, 3, 3, 4, 4 } },
		  { "word", "2", { 0, 0, 1, 1, 1, 1, 2, 2, 2 } },
		  { "packed", "1", { 0, 1, 1, 2, 2, 3, 3, 4, 4 } } };

	for (uint32_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		const char *set[] = { "frame",	  v[i].frame, "links",
				      v[i].links, "lanes",    "9",
				      "refresh",  "0",	      "credit_words",
				      "4",	  NULL };
		struct forth_port_ops ops;
		struct pair p;

		memset(left, 0xff, sizeof(left));
		memset(taken, 0xff, sizeof(taken));
		pair_init(&p, set, NULL, NULL);
		ops = *p.n[0]->link.ops;
		ops.credit = note_credit;
		for (uint32_t k = 0; k < 2; k++)
			p.n[k]->link.ops = &ops;
		pair_start(&p);
		for (uint32_t k = 0; k < 2; k++)
			forth_port_watch(&p.n[k]->link, true);
		for (uint32_t lane = 0; lane < LANES; lane++)
			forth_port_fwd(&p.n[0]->link, lane, FORTH_CREDIT_GRAN,
				       0);
		pair_run(&p, 100);
		for (uint32_t k = 0; k < 2; k++)
			forth_port_counts(&p.n[k]->link);
		for (uint32_t lane = 0; lane < LANES; lane++) {
			assert_int_equal(left[lane], left[0] + v[i].word[lane]);
			/* 24 cycles on the line, 2 at the receiver */
			assert_int_equal(taken[lane], left[lane] + 26);
		}
		pair_fini(&p);
	}
}

/* short payloads are padded on the line only. Size field and delivered
 * bytes are unchanged. */
static void short_payload_is_padded_on_the_line_only(void **state)
{
	const char *set[] = { "min_payload", "24", NULL };
	struct pair p;

	pair_init(&p, set, NULL, NULL);
	pair_send(&p, 0, 2, 1);
	pair_start(&p);
	pair_run(&p, 500);
	assert_int_equal(start_of(&p, 0, 1), 11);
	assert_int_equal(p.n[1]->last_len, 8);
	assert_int_equal(forth_hdr_size(p.n[1]->last_header), 1);
	assert_int_equal(p.n[0]->link.tx[0].sent, 20);
	pair_fini(&p);
}

/* V11: 12-bit counters wrap many times without an error. */
static void credit_counters_wrap_without_loss(void **state)
{
	struct pair p;

	pair_init(&p, NULL, NULL, NULL);
	pair_send(&p, 0, 200, 64);
	pair_start(&p);
	pair_run(&p, 200 * 133 + 4000);
	assert_int_equal(p.n[1]->received, 200);
	forth_port_counts(&p.n[0]->link);
	assert_int_equal(p.n[0]->link.tx[0].sent, 200 * 132 % 4096);
	assert_int_equal(p.n[0]->link.tx[0].acked, 200 * 132 % 4096 / 32 * 32);
	assert_int_equal(start_of(&p, 0, 199), 199 * 133);
	pair_fini(&p);
}

/* Traffic in both directions has equal cycles with computed frames and with
 * real frames. */
static void taps_change_nothing(void **state)
{
	static const char *const links[] = { "1", "2", "4" };
	uint32_t i, tap, k;

	for (i = 0; i < 3; i++) {
		const char *set[] = { "links", links[i], "rx_words", "300",
				      "t_bus", "25",	 NULL };
		struct node_log *log[2] = { 0 };
		uint64_t volume[2][FORTH_PORT_LINKS_MAX] = { 0 };
		uint32_t n[2] = { 0 };

		for (tap = 0; tap < 2; tap++) {
			struct pair p;

			pair_init(&p, set, tap ? &weft_class_fault_drop : NULL,
				  NULL);
			pair_send(&p, 0, 60, 40);
			pair_send(&p, 1, 60, 17);
			pair_start(&p);
			pair_run(&p, 20000);
			assert_int_equal(p.n[0]->received, 60);
			assert_int_equal(p.n[1]->received, 60);
			forth_port_counts(&p.n[0]->link);
			for (k = 0; k < p.n[0]->links; k++)
				volume[tap][k] = p.comp[0]->ports[k].out_words;
			n[tap] = p.n[0]->n_log;
			log[tap] = p.n[0]->log;
			p.n[0]->log = NULL;
			pair_fini(&p);
		}
		assert_int_equal(n[0], n[1]);
		assert_memory_equal(volume[0], volume[1], sizeof(volume[0]));
		for (k = 0; k < n[0]; k++)
			assert_memory_equal(&log[0][k], &log[1][k],
					    sizeof(log[0][k]));
		free(log[0]);
		free(log[1]);
	}
}

/* 2.6: packets return to their sender, and the cable carries none. */
static void loopback_returns_packets_and_leaves_the_cable_empty(void **state)
{
	struct pair p;

	pair_init(&p, NULL, NULL, NULL);
	pair_send(&p, 0, 30, 64);
	pair_start(&p);
	forth_port_loopback(&p.n[0]->link, true);
	pair_run(&p, 10000);
	assert_int_equal(p.n[0]->received, 30);
	assert_int_equal(p.n[1]->received, 0);
	assert_int_equal(p.comp[0]->ports[0].out_frames, 0);
	assert_int_equal(forth_port_active(&p.n[0]->link)->tx[0].sent,
			 30 * 132 % 4096);
	forth_port_loopback(&p.n[0]->link, false);
	assert_int_equal(p.n[0]->link.tx[0].sent, 0);
	pair_fini(&p);
}

/* 5.2, 5.4, 11.1: an end without any settings has the specified values. */
static void port_without_settings_has_specified_defaults(void **state)
{
	const struct forth_port_cfg c = forth_port_cfg_default();

	assert_int_equal(c.links, 1);
	assert_int_equal(c.layout, FORTH_WORD);
	assert_int_equal(c.rx_lanes, 1);
	assert_int_equal(c.rx_cap, 2046);
	assert_int_equal(c.refresh_cc, 1024);
	assert_int_equal(c.t_crtx, 3);
	assert_int_equal(c.t_crrx, 2);
	assert_true(c.return_discards);
	assert_int_equal(c.resync_cc, 0);
	assert_false(c.credit_filter);
}

/* Bad set-ups are refused with a message. */
static void bad_set_ups_are_refused_with_a_message(void **state)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_err err = { 0 };
	struct weft_comp *a = weft_sim_add(sim, &test_node_class, "a", &err);
	struct weft_comp *b = weft_sim_add(sim, &test_node_class, "b", &err);

	weft_param_set(a, "frame", "packed", &err);
	assert_int_equal(weft_comp_init(a, &err), 0);
	assert_int_equal(weft_comp_init(b, &err), 0);
	node_script(a->state, NULL, 0);
	node_script(b->state, NULL, 0);
	weft_connect(&a->ports[0], &b->ports[0], NULL, 1000, &err);
	assert_int_equal(err.code, 0);
	assert_true(weft_sim_start(sim, &err) < 0);
	assert_non_null(strstr(err.msg, "frame"));
	weft_sim_free(sim);

	sim = weft_sim_new(1);
	memset(&err, 0, sizeof(err));
	a = weft_sim_add(sim, &test_node_class, "a", &err);
	weft_param_set(a, "links", "3", &err);
	assert_true(weft_comp_init(a, &err) < 0);
	assert_non_null(strstr(err.msg, "1, 2 or 4"));
	weft_sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(back_to_back),
		cmocka_unit_test(a_bundle_waits_for_its_slowest_link),
		cmocka_unit_test(power_up_takes_16_comma_words),
		cmocka_unit_test(power_up_counts_commas_that_come),
		cmocka_unit_test(round_trip),
		cmocka_unit_test(stops_at_capacity),
		cmocka_unit_test(
			idle_line_repeats_credits_and_sends_nothing_else),
		cmocka_unit_test(refreshes_of_a_bundle_go_round_the_lanes),
		cmocka_unit_test(each_credit_counts_from_its_own_word),
		cmocka_unit_test(short_payload_is_padded_on_the_line_only),
		cmocka_unit_test(credit_counters_wrap_without_loss),
		cmocka_unit_test(taps_change_nothing),
		cmocka_unit_test(
			loopback_returns_packets_and_leaves_the_cable_empty),
		cmocka_unit_test(port_without_settings_has_specified_defaults),
		cmocka_unit_test(bad_set_ups_are_refused_with_a_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
