/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic generators through the crossbar: every pattern, both layouts, with
 * and without faults. The sinks check every byte, and all credits have returned
 * at the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/cmocka_all.h"
#include "sim/sim_internal.h"
#include "systems/forth/switch/crossbar.h"

extern const struct weft_class weft_class_forth_gen, weft_class_forth_xbar,
	weft_class_fault_drop;

enum { SENT, SENT_BYTES, RECEIVED, BYTES, DISORDER, CORRUPT, BAD_BODY };
enum { PORTS = 8 };

struct fab {
	struct weft_sim *sim;
	struct weft_comp *sw, *gen[PORTS];
};

static void must(int ret, const struct weft_err *err)
{
	if (ret)
		fail_msg("%s", err->msg);
}

static struct weft_comp *add(struct fab *f, const struct weft_class *cls,
			     const char *name, const char *const *set)
{
	struct weft_err err = { 0 };
	struct weft_comp *c = weft_sim_add(f->sim, cls, name, &err);

	for (; set && *set; set += 2)
		if (strcmp(set[0], "frame") || cls != &weft_class_fault_drop)
			must(weft_param_set(c, set[0], set[1], &err), &err);
	return c;
}

static void build(struct fab *f, uint64_t seed, const char *frame,
		  const char *const *set, const char *rate)
{
	const char *sw_set[] = { "frame", frame, NULL };
	const char *link_set[] = { rate ? "rate" : NULL, rate, NULL };
	struct weft_err err = { 0 };
	struct weft_comp *link;
	char name[16], num[8];
	uint32_t i;

	f->sim = weft_sim_new(seed);
	f->sw = add(f, &weft_class_forth_xbar, "sw", sw_set);
	for (const char *const *s = set; *s; s += 2)
		if (!strcmp(*s, "credit_words"))
			must(weft_param_set(f->sw, s[0], s[1], &err), &err);
	must(weft_comp_init(f->sw, &err), &err);
	for (i = 0; i < PORTS; i++) {
		snprintf(name, sizeof(name), "g%u", i);
		f->gen[i] = add(f, &weft_class_forth_gen, name, set);
		snprintf(num, sizeof(num), "%u", i);
		must(weft_param_set(f->gen[i], "node", num, &err), &err);
		must(weft_param_set(f->gen[i], "frame", frame, &err), &err);
		must(weft_comp_init(f->gen[i], &err), &err);
		snprintf(name, sizeof(name), "l%u", i);
		link = add(f, &weft_class_forth_link, name, link_set);
		must(weft_comp_init(link, &err), &err);
		must(weft_connect(&f->gen[i]->ports[0], &f->sw->ports[i], link,
				  0, &err),
		     &err);
	}
}

static uint64_t total(const struct fab *f, uint32_t counter)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < PORTS; i++)
		n += f->gen[i]->counters[counter];
	return n;
}

static void check(struct fab *f, uint64_t packets)
{
	struct weft_err err = { 0 };
	struct forth_xbar *x = f->sw->state;
	uint32_t i;

	assert_int_equal(total(f, SENT), packets);
	assert_int_equal(total(f, RECEIVED), packets);
	assert_int_equal(total(f, BYTES), total(f, SENT_BYTES));
	assert_int_equal(total(f, DISORDER), 0);
	assert_int_equal(total(f, CORRUPT), 0);
	assert_int_equal(total(f, BAD_BODY), 0);
	for (i = 0; i < PORTS; i++) {
		struct forth_port *l = &x->port[i].link;

		forth_port_counts(l);
		assert_in_range((l->tx[0].sent - l->tx[0].acked) & 4095, 0, 31);
		assert_int_equal(x->port[i].overflow, 0);
	}
	must(weft_sim_finish(f->sim, &err), &err);
}

/* Builds two generators and a line between them. */
static void pair_make(struct fab *f, const char *const *tx,
		      const char *const *rx)
{
	struct weft_err err = { 0 };

	f->sim = weft_sim_new(1);
	f->gen[0] = add(f, &weft_class_forth_gen, "tx", tx);
	f->gen[1] = add(f, &weft_class_forth_gen, "rx", rx);
	f->sw = add(f, &weft_class_forth_link, "l", NULL);
	must(weft_comp_init(f->gen[0], &err), &err);
	must(weft_comp_init(f->gen[1], &err), &err);
	must(weft_comp_init(f->sw, &err), &err);
	must(weft_connect(&f->gen[0]->ports[0], &f->gen[1]->ports[0], f->sw, 0,
			  &err),
	     &err);
}

static int pair_start(struct fab *f, const char *const *tx,
		      const char *const *rx, struct weft_err *err)
{
	pair_make(f, tx, rx);
	return weft_sim_start(f->sim, err);
}

static void build_pair(struct fab *f, const char *const *tx,
		       const char *const *rx)
{
	struct weft_err err = { 0 };

	must(pair_start(f, tx, rx, &err), &err);
}

/* The first packet arrives. The second packet would be due after the last time
 * that the simulator can represent, so that it is never sent. The clock
 * continues. */
static void a_load_of_almost_nothing_sends_one_packet(void **state)
{
	const char *tx[] = { "node",	"0",	       "dests", "2",
			     "pattern", "permutation", "load",	"1e-30",
			     "packets", "9",	       NULL };
	const char *rx[] = {
		"node", "1", "dests", "2", "pattern", "none", NULL
	};
	struct weft_err err = { 0 };
	struct fab f = { 0 };

	build_pair(&f, tx, rx);
	weft_sim_run(f.sim, WEFT_MS);
	assert_int_equal(f.gen[0]->counters[SENT], 1);
	assert_int_equal(f.gen[1]->counters[RECEIVED], 1);
	must(weft_sim_finish(f.sim, &err), &err);
	weft_sim_free(f.sim);
}

/* Node 3 sends to a sink that expects nodes 0 to 2, so that all of its packets
 * count as out of order. At a sink that expects node 3 as well, no packet
 * counts as out of order. */
static void packets_of_a_node_that_is_none_are_out_of_order(void **state)
{
	static const char *const knows[] = { "3", "4" };

	for (uint32_t i = 0; i < 2; i++) {
		const char *tx[] = { "node",	"3",	 "dests", "4",
				     "pattern", "fixed", "dest",  "0",
				     "packets", "9",	 NULL };
		const char *rx[] = { "dests", knows[i], "pattern", "none",
				     NULL };
		struct fab f;

		build_pair(&f, tx, rx);
		weft_sim_run(f.sim, WEFT_MS);
		assert_int_equal(f.gen[1]->counters[RECEIVED], 9);
		assert_int_equal(f.gen[1]->counters[DISORDER], i ? 0 : 9);
		weft_sim_free(f.sim);
	}
}

/* An entry is nodes with a plus between two of them. */
static void a_list_of_destinations_has_nodes_and_signs_in_turn(void **state)
{
	static const struct {
		const char *list;
		bool good;
	} t[] = { { "1", true },       { "1,0", true },	  { "1+0", true },
		  { "1+0+1,5", true }, { "", false },	  { "1++0", false },
		  { "+1", false },     { "1+", false },	  { "1+,0", false },
		  { " 1", false },     { "1+ 0", false }, { "1+-0", false },
		  { "-0", false },     { "2", false },	  { "1 ", false },
		  { "x", false },      { "1x", false } };

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const char *set[] = { "dests",	 "2",	    "pattern", "list",
				      "targets", t[i].list, NULL };
		struct fab f = { .sim = weft_sim_new(1) };
		struct weft_comp *c = add(&f, &weft_class_forth_gen, "g", set);
		struct weft_err err = { 0 };

		if (t[i].good)
			must(weft_comp_init(c, &err), &err);
		else if (!weft_comp_init(c, &err))
			fail_msg("'%s' is taken", t[i].list);
		else
			assert_non_null(strstr(err.msg, "node below 2"));
		weft_sim_free(f.sim);
	}
}

static void a_generator_must_speak_as_its_neighbour(void **state)
{
	static const char *const differs[][2] = {
		{ "frame", "packed" },
		{ "crc32_complement", "yes" },
		{ "resync", "5000" },
	};

	for (size_t i = 0; i < sizeof(differs) / sizeof(differs[0]); i++) {
		const char *set[] = { differs[i][0], differs[i][1], NULL };
		struct weft_err err = { 0 };
		struct fab f;

		assert_int_not_equal(pair_start(&f, set, NULL, &err), 0);
		assert_non_null(strstr(err.msg, differs[i][0]));
		weft_sim_free(f.sim);
		must(pair_start(&f, set, set, &err), &err);
		weft_sim_free(f.sim);
	}
}

/* Counts payload bytes on a line that are not those of unverified packets. */
static void odd_bytes_count(struct weft_comp *c, struct weft_frame *f)
{
	const uint8_t *p = weft_slice_data(f->payload);

	for (uint32_t i = 0; i < f->payload.len; i++)
		++(*(uint32_t **)c->state)[p[i] != 0x5A];
	weft_filter_pass(c, f);
}

static WEFT_COMPONENT(odd_bytes, .name = "test.odd_bytes",
		      .kind = WEFT_KIND_FAULT, .doc = "counts payload bytes",
		      .state_size = sizeof(uint32_t *),
		      .ops = { .filter = odd_bytes_count });

/* Captures show the payload of unverified packets. */
static void every_byte_of_an_unverified_payload_is_5a(void **state)
{
	const char *tx[] = { "pattern", "fixed", "dests", "2",	    "dest",
			     "1",	"size",	 "4096",  "verify", "no",
			     "packets", "3",	 NULL };
	const char *rx[] = { "node", "1",      "dests", "2", "pattern",
			     "none", "verify", "no",	NULL };
	struct weft_err err = { 0 };
	uint32_t bytes[2] = { 0 };
	struct weft_comp *c;
	struct fab f;

	pair_make(&f, tx, rx);
	c = add(&f, &weft_class_odd_bytes, "o", NULL);
	must(weft_comp_init(c, &err), &err);
	*(uint32_t **)c->state = bytes;
	must(weft_filter_add(&f.gen[0]->ports[0], c, &err), &err);
	must(weft_sim_start(f.sim, &err), &err);
	weft_sim_run(f.sim, WEFT_MS);
	assert_int_equal(bytes[0], 3 * 4096);
	assert_int_equal(bytes[1], 0);
	weft_sim_free(f.sim);
}

/* Unverified packets share one payload, which is as long as the largest
 * packet. */
static void the_largest_packet_is_sent_unverified(void **state)
{
	const char *tx[] = { "pattern", "fixed", "dests", "2",	     "dest",
			     "1",	"size",	 "4096",  "packets", "3",
			     "verify",	"no",	 NULL };
	const char *rx[] = { "node", "1",      "dests", "2", "pattern",
			     "none", "verify", "no",	NULL };
	struct fab f;

	build_pair(&f, tx, rx);
	weft_sim_run(f.sim, WEFT_MS);
	assert_int_equal(f.gen[1]->counters[RECEIVED], 3);
	assert_int_equal(f.gen[1]->counters[BYTES], 3 * 4096);
	weft_sim_free(f.sim);
}

static void every_pattern_delivers_all_packets(void **state)
{
	static const char *const name[] = { "uniform", "permutation", "hotspot",
					    "bursty", "fixed" };
	static const char *const load[] = { "0.4", "5" };
	static const char *const frame[] = { "word", "packed" };
	uint32_t i;

	for (i = 0; i < 10; i++) {
		const char *set[] = { "pattern",   name[i % 5], "load",
				      load[i / 5], "packets",	"1500",
				      "size",	   "8",		"size_max",
				      "512",	   "dest",	"3",
				      NULL };
		struct weft_err err = { 0 };
		struct fab f;

		build(&f, i, frame[i % 2], set, NULL);
		must(weft_sim_start(f.sim, &err), &err);
		weft_sim_run(f.sim, 100 * WEFT_MS);
		check(&f, 1500 * PORTS);
		assert_true(weft_sim_idle(f.sim));
		weft_sim_free(f.sim);
	}
}

/* forth.md 11.8: one stream fills the line with 133 cycles per packet of 512
 * bytes, at 2.5 and at 1.25 Gb/s. */
static void line_rate(void **state)
{
	static const char *const rate[] = { "2.5Gb/s", "1.25Gb/s" };
	static const weft_time_t cc[] = { 12800000, 25600000 };
	uint32_t i;

	for (i = 0; i < 2; i++) {
		const char *set[] = { "pattern", "permutation", "dest",
				      "1",	 "load",	"5",
				      "size",	 "512",		NULL };
		struct weft_err err = { 0 };
		uint64_t before;
		struct fab f;

		build(&f, 1, "word", set, rate[i]);
		must(weft_sim_start(f.sim, &err), &err);
		weft_sim_run(f.sim, 10000 * cc[i]);
		before = f.gen[3]->counters[RECEIVED];
		weft_sim_run(f.sim, (10000 + 133 * 1000) * cc[i]);
		assert_int_equal(f.gen[3]->counters[RECEIVED] - before, 1000);
		weft_sim_free(f.sim);
	}
}

/* Frees the components of a simulation that ends in the middle of its traffic.
 * Then only frames on the lines are left. */
static void components_give_back_all_frames_that_they_hold(void **state)
{
	const char *set[] = { "load", "5",	 "size",    "8", "size_max",
			      "512",  "pattern", "hotspot", NULL };
	struct weft_err err = { 0 };
	uint64_t lines = 0, before;
	struct fab f;

	build(&f, 5, "word", set, NULL);
	must(weft_sim_start(f.sim, &err), &err);
	weft_sim_run(f.sim, WEFT_MS);
	before = f.sim->live_frames;
	for (uint32_t i = 0; i < weft_sim_count(f.sim); i++) {
		struct weft_comp *c = weft_sim_at(f.sim, i);

		for (uint32_t p = 0; p < c->n_ports; p++)
			lines += ring_count(&c->ports[p].in);
		if (c->cls->ops.fini)
			c->cls->ops.fini(c);
		c->inited = false; /* weft_sim_free frees the rest */
	}
	assert_true(before > lines + PORTS);
	assert_int_equal(f.sim->live_frames, lines);
	weft_sim_free(f.sim);
}

/* V10 through the switch: the line of each node loses credits. */
static void credit_loss(void **state)
{
	const char *set[] = { "load", "5",	  "packets", "300", "size",
			      "8",    "size_max", "512",     NULL };
	const char *lose[] = { "credits", "0.5", NULL };
	struct weft_err err = { 0 };
	struct weft_comp *d;
	struct fab f;
	char name[16];
	uint32_t i;

	build(&f, 9, "word", set, NULL);
	for (i = 0; i < 2 * PORTS; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		d = add(&f, &weft_class_fault_drop, name, lose);
		must(weft_comp_init(d, &err), &err);
		must(weft_filter_add(i % 2 ? &f.gen[i / 2]->ports[0]
					   : &f.sw->ports[i / 2],
				     d, &err),
		     &err);
	}
	must(weft_sim_start(f.sim, &err), &err);
	weft_sim_run(f.sim, 20 * WEFT_MS);
	check(&f, 300 * PORTS);
	weft_sim_free(f.sim);
}

/* Runs of one seed have equal results, in every counter. */
static void equal_seeds_give_equal_counters(void **state)
{
	const char *set[] = { "load",	  "0.9", "size", "8",
			      "size_max", "512", NULL };
	uint64_t got[2][PORTS * 2];
	struct weft_err err = { 0 };
	uint32_t i, k;

	for (i = 0; i < 2; i++) {
		struct fab f;

		build(&f, 42, "word", set, NULL);
		must(weft_sim_start(f.sim, &err), &err);
		weft_sim_run(f.sim, 2 * WEFT_MS);
		for (k = 0; k < PORTS; k++) {
			got[i][2 * k] = f.gen[k]->counters[BYTES];
			got[i][2 * k + 1] = f.gen[k]->counters[SENT];
		}
		assert_int_equal(total(&f, CORRUPT) + total(&f, DISORDER), 0);
		weft_sim_free(f.sim);
	}
	assert_memory_equal(got[0], got[1], sizeof(got[0]));
}

/* ---- listening ---- */

enum { HEARD = 400, SYMBOLS = 600 };

/* Symbols of a line, recorded by a listener or by a filter. */
struct ear {
	struct weft_line_listener listener;
	struct {
		weft_time_t time;
		uint32_t n;
		uint16_t sym[SYMBOLS];
	} at[HEARD];
	uint32_t n;
};

static void ear_add(struct ear *e, const struct weft_frame *f, weft_time_t time)
{
	if (e->n == HEARD)
		return;
	e->at[e->n].time = time;
	e->at[e->n].n = forth_wire.encode(f, e->at[e->n].sym, SYMBOLS);
	assert_in_range(e->at[e->n].n, 1, SYMBOLS);
	e->n++;
}

static void hear(struct weft_line_listener *t, const struct weft_frame *f,
		 weft_time_t start)
{
	ear_add((struct ear *)t, f, start);
}

static void record(struct weft_comp *c, struct weft_frame *f)
{
	ear_add(*(struct ear **)c->state, f, f->time - c->on->delay);
	weft_filter_pass(c, f);
}

static WEFT_COMPONENT(recorder, .name = "test.recorder",
		      .kind = WEFT_KIND_FAULT, .doc = "writes frames down",
		      .state_size = sizeof(struct ear *),
		      .ops = { .filter = record });

static void listen(struct fab *f, struct ear *e, bool needs_frames)
{
	struct weft_err err = { 0 };
	struct weft_comp *c;

	e->n = 0;
	e->listener.hear = hear;
	if (!needs_frames) {
		f->sw->ports[0].listener = &e->listener;
		return;
	}
	c = add(f, &weft_class_recorder, "r", NULL);
	must(weft_comp_init(c, &err), &err);
	*(struct ear **)c->state = e;
	must(weft_filter_add(&f->sw->ports[0], c, &err), &err);
}

/* A listener hears packets with their credits, and credit frames of several
 * lanes. All are equal to the frames that a line with real frames carries. */
static void a_listener_hears_what_a_tapped_line_carries(void **state)
{
	static const char *const frame[] = { "word", "packed" };
	const char *set[] = { "load", "0.7",	      "size", "8", "size_max",
			      "512",  "credit_words", "2",    NULL };
	struct ear *e = calloc(2, sizeof(*e));
	struct weft_err err = { 0 };

	assert_non_null(e);
	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t k = 0; k < 2; k++) {
			struct fab f;

			build(&f, 3, frame[i], set, NULL);
			listen(&f, &e[k], k);
			must(weft_sim_start(f.sim, &err), &err);
			weft_sim_run(f.sim, WEFT_MS);
			if (!k)
				e->listener.settle(&f.sw->ports[0]);
			assert_int_equal(e[k].n, HEARD);
			weft_sim_free(f.sim);
		}
		for (uint32_t k = 0; k < HEARD; k++) {
			assert_int_equal(e[0].at[k].time, e[1].at[k].time);
			assert_int_equal(e[0].at[k].n, e[1].at[k].n);
			assert_memory_equal(e[0].at[k].sym, e[1].at[k].sym,
					    2 * e[0].at[k].n);
		}
	}
	free(e);
}

/* Packets that can never fit into the peer's buffer are refused at the
 * start. */
static void too_large(void **state)
{
	const char *set[] = { "size", "4096", NULL };
	struct weft_err err = { 0 };
	struct fab f;

	build(&f, 1, "word", set, NULL);
	assert_true(weft_sim_start(f.sim, &err) < 0);
	assert_non_null(strstr(err.msg, "would wait for ever"));
	weft_sim_free(f.sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			packets_of_a_node_that_is_none_are_out_of_order),
		cmocka_unit_test(
			a_list_of_destinations_has_nodes_and_signs_in_turn),
		cmocka_unit_test(a_generator_must_speak_as_its_neighbour),
		cmocka_unit_test(every_byte_of_an_unverified_payload_is_5a),
		cmocka_unit_test(the_largest_packet_is_sent_unverified),
		cmocka_unit_test(every_pattern_delivers_all_packets),
		cmocka_unit_test(line_rate),
		cmocka_unit_test(
			components_give_back_all_frames_that_they_hold),
		cmocka_unit_test(credit_loss),
		cmocka_unit_test(equal_seeds_give_equal_counters),
		cmocka_unit_test(a_load_of_almost_nothing_sends_one_packet),
		cmocka_unit_test(a_listener_hears_what_a_tapped_line_carries),
		cmocka_unit_test(too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
