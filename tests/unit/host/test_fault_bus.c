/* SPDX-License-Identifier: Apache-2.0 */
/* fault.bus in front of a device. Without settings it has no effect. With
 * settings it holds requests or slows the bridge, by an exact number of
 * clocks. */
#include "../cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/fault_bus.h"
#include "rig.h"

enum { PC = 10000000 }; /* fs of a bus clock at 100 MHz */

struct bench {
	struct ref_script s;
	struct ref_log log, other;
	struct rig rig;
};

static int setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	rig_script_default(&b->s);
	*state = b;
	return b == NULL;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static struct ref_op *add(struct ref_list *l, weft_time_t delay, uint64_t addr,
			  uint32_t bytes)
{
	l->op[l->n] =
		(struct ref_op){ .delay = delay, .addr = addr, .bytes = bytes };
	return &l->op[l->n++];
}

static void run(struct bench *b, const char *const *fault)
{
	b->rig = (struct rig){ .fault = fault };
	rig_run(&b->rig, &b->s, &b->log);
	assert_false(b->rig.bad_data);
}

static void run_host(struct bench *b, const char *const *fault)
{
	b->rig = (struct rig){ .fault = fault, .fault_host = true };
	rig_run(&b->rig, &b->s, &b->log);
	assert_false(b->rig.bad_data);
}

static uint64_t counter(const struct bench *b, const char *name)
{
	const struct weft_class *cls = b->rig.shim[0]->cls;

	for (uint32_t i = 0; i < cls->n_counters; i++)
		if (!strcmp(cls->counters[i].name, name))
			return b->rig.shim[0]->counters[i];
	fail();
	return 0;
}

static uint64_t when(const struct bench *b, uint32_t port,
		     enum weft_note_kind kind, uint32_t n)
{
	const struct ref_note *x = rig_note(&b->log, port, kind, n);

	assert_non_null(x);
	assert_int_equal(x->time % PC, 0);
	return x->time / PC;
}

static uint64_t draw(uint64_t *x, uint64_t n)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return (*x >> 11) % n;
}

static void random_script(struct ref_script *s, uint64_t seed)
{
	uint64_t x = seed * 0x9E3779B97F4A7C15ull + 1;

	rig_script_default(s);
	s->devices = 1 + (uint32_t)draw(&x, REF_DEVS);
	for (uint32_t d = 0; d < s->devices; d++)
		for (uint32_t i = 0; i < 10; i++) {
			struct ref_list *l =
				draw(&x, 2) ? &s->wr[d] : &s->rd[d];

			add(l, draw(&x, 2000) * 1000003,
			    0x1000 + 8 * draw(&x, 4096),
			    8 + 8 * (uint32_t)draw(&x, 512));
		}
	for (uint32_t i = 0; i < 20; i++) {
		struct ref_op *o = add(&s->pio, draw(&x, 300) * 1000003,
				       4 * draw(&x, 512), 4);

		o->dev = (uint32_t)draw(&x, s->devices);
		o->load = !draw(&x, 4);
	}
}

static void fault_without_settings_changes_nothing(void **state)
{
	static const char *const none[] = { NULL };
	static const char *const when_only[] = { "at",	   "1us",   "length",
						 "1us",	   "every", "3us",
						 "random", "yes",   NULL };
	struct bench *b = *state;
	uint64_t events;

	for (uint64_t seed = 1; seed <= 60; seed++) {
		random_script(&b->s, seed);
		run(b, NULL);
		b->other = b->log;
		events = weft_sim_events(b->rig.sim);
		rig_free(&b->rig);
		for (uint32_t on_host = 0; on_host < 2; on_host++) {
			const char *const *f = seed % 2 ? none : when_only;

			if (on_host)
				run_host(b, f);
			else
				run(b, f);
			assert_int_equal(weft_sim_events(b->rig.sim), events);
			assert_int_equal(b->log.n, b->other.n);
			assert_memory_equal(b->log.note, b->other.note,
					    b->log.n * sizeof(b->log.note[0]));
			assert_int_equal(b->log.busy, b->other.busy);
			rig_free(&b->rig);
		}
	}
}

/* 512 bytes take 6 + 4 + 64 clocks. The first write is on the bus when the
 * outage begins, the second write waits for the end of the outage, and the
 * third write is not affected. */
static void outage_holds_writes_that_have_not_begun(void **state)
{
	static const char *const f[] = { "at",	 "500ns",  "length", "2us",
					 "hold", "writes", NULL };
	struct bench *b = *state;

	add(&b->s.wr[0], 0, 0x1000, 512);
	add(&b->s.wr[0], 0, 0x2000, 512);
	add(&b->s.wr[0], 0, 0x3000, 512);
	run(b, f);
	assert_int_equal(when(b, 1, WEFT_NOTE_DONE, 0), 74);
	assert_int_equal(when(b, 1, WEFT_NOTE_DONE, 1), 250 + 74);
	assert_int_equal(when(b, 1, WEFT_NOTE_DONE, 2), 250 + 148);
	assert_int_equal(counter(b, "held"), 1);
	assert_int_equal(counter(b, "held_ns"), 2500 - 740);
	rig_free(&b->rig);
}

static void outage_holds_only_the_kinds_it_names(void **state)
{
	static const char *const kind[] = { "none", "writes", "reads", "all" };
	struct bench *b = *state;

	add(&b->s.wr[0], 0, 0x1000, 8);
	add(&b->s.rd[0], 0, 0x2000, 8);
	for (uint32_t i = 0; i < 4; i++) {
		const char *const f[] = { "length", "10us", "hold", kind[i],
					  NULL };
		bool write;

		run(b, f);
		for (uint32_t k = 0; k < 2; k++) {
			const struct ref_note *n =
				rig_note(&b->log, 1, WEFT_NOTE_DONE, k);

			assert_non_null(n);
			write = n->write;
			assert_int_equal(n->time > 1000 * (uint64_t)PC,
					 i == 3 || i == (write ? 1 : 2));
		}
		assert_int_equal(counter(b, "held"), i == 3 ? 2 : i > 0);
		rig_free(&b->rig);
	}
}

/* Holds an access for ever. The run ends nevertheless, because no event is
 * pending for a held access. */
static void outage_without_an_end_holds_for_good(void **state)
{
	static const char *const f[] = { "at", "1us", "hold", "all", NULL };
	struct bench *b = *state;

	add(&b->s.wr[0], 0, 0x1000, 8);
	add(&b->s.wr[0], (weft_time_t)200 * PC, 0x1000, 8);
	run(b, f);
	assert_non_null(rig_note(&b->log, 1, WEFT_NOTE_DONE, 0));
	assert_null(rig_note(&b->log, 1, WEFT_NOTE_DONE, 1));
	rig_free(&b->rig);
}

/* 4 KB take T_ARB + T_PH + T_SPLIT + 512 + 2 (T_GAP + T_PH) = 592 clocks
 * (forth.md 11.4). The fault adds 70 at the split response, and 30 before the
 * second and third completion. */
static void slow_bridge_delays_splits_and_completions(void **state)
{
	static const char *const f[] = { "split",  "70",  "completion", "30",
					 "length", "1us", NULL };
	struct bench *b = *state;

	add(&b->s.rd[0], 0, 0x1000, 4096);
	/* submitted after the outage has ended */
	add(&b->s.rd[0], 0, 0x1000, 4096);
	run(b, f);
	assert_int_equal(when(b, 1, WEFT_NOTE_SPLIT, 0), 10);
	assert_int_equal(when(b, 1, WEFT_NOTE_BURST, 0), 10 + 50 + 70);
	assert_int_equal(when(b, 1, WEFT_NOTE_DONE, 0), 592 + 70 + 2 * 30);
	assert_int_equal(when(b, 1, WEFT_NOTE_DONE, 1) -
				 when(b, 1, WEFT_NOTE_DONE, 0),
			 592);
	assert_int_equal(counter(b, "slowed"), 1);
	/* the bus is free while the fault delays */
	assert_int_equal(b->log.busy, 2 * (592 - 50 + 10));
	rig_free(&b->rig);
}

/* A factor of three adds 100 clocks at the split response, 12 before the second
 * and third completion, and 40 after each of two disconnects. */
static void factor_slows_the_bridge_in_proportion(void **state)
{
	static const char *const f[] = { "factor", "3", NULL };
	struct bench *b = *state;

	add(&b->s.rd[0], 0, 0x1000, 4096);
	run(b, f);
	assert_int_equal(when(b, 1, WEFT_NOTE_BURST, 0), 10 + 3 * 50);
	assert_int_equal(when(b, 1, WEFT_NOTE_DONE, 0), 592 + 100 + 2 * 12);
	assert_int_equal(counter(b, "slowed"), 1);
	rig_free(&b->rig);
	b->s.rd[0].n = 0;
	add(&b->s.wr[0], 0, 0x1000, 4096);
	run(b, f);
	assert_int_equal(when(b, 1, WEFT_NOTE_DONE, 0), 570 + 2 * 40);
	rig_free(&b->rig);
}

/* Sends twelve stores of T_PIO1 during an outage. The bridge holds eight, and
 * has no room for the ninth. After the outage the stores pass one by one, in
 * order. */
static void held_stores_of_the_host_arrive_in_order(void **state)
{
	static const char *const f[] = { "length", "2us", "hold", "writes",
					 NULL };
	struct bench *b = *state;

	for (uint32_t i = 0; i < 12; i++)
		add(&b->s.pio, 0, 4 * i, 4);
	run_host(b, f);
	for (uint32_t i = 0; i < 12; i++) {
		assert_int_equal(when(b, 1, WEFT_NOTE_STORE, i),
				 200 + 10 * (i + 1));
		assert_int_equal(rig_note(&b->log, 1, WEFT_NOTE_STORE, i)->addr,
				 4 * i);
	}
	assert_true(counter(b, "held") >= 8);
	assert_int_equal(counter(b, "held_ns"), 2000);
	rig_free(&b->rig);
}

/* Holds a load and the host's requests behind it. The load takes T_ARB + T_PH +
 * T_READ + 1 clocks from the end of the outage. Then the store follows. */
static void held_load_keeps_later_stores_behind_it(void **state)
{
	static const char *const f[] = { "length", "2us", "hold", "reads",
					 NULL };
	struct bench *b = *state;

	add(&b->s.pio, 0, 0, 4);
	add(&b->s.pio, 0, 8, 4)->load = true;
	add(&b->s.pio, 0, 16, 4);
	run_host(b, f);
	assert_int_equal(when(b, 1, WEFT_NOTE_STORE, 0), 10);
	assert_int_equal(when(b, 0, WEFT_NOTE_LOADED, 0), 200 + 17);
	assert_int_equal(when(b, 1, WEFT_NOTE_STORE, 1), 217 + 10);
	assert_int_equal(counter(b, "held"), 1);
	rig_free(&b->rig);
}

static void every_access_survives_random_outages_in_order(void **state)
{
	static const char *const f[] = { "length", "1us",    "every",
					 "2us",	   "random", "yes",
					 "hold",   "all",    NULL };
	struct bench *b = *state;
	uint64_t held = 0;

	for (uint64_t seed = 1; seed <= 60; seed++) {
		uint32_t n[2] = { 0 };

		random_script(&b->s, seed);
		b->s.devices = 1;
		for (uint32_t i = 0; i < b->s.pio.n; i++)
			b->s.pio.op[i].dev = 0;
		run_host(b, f);
		for (uint32_t i = 0; i < b->s.pio.n; i++) {
			const struct ref_op *o = &b->s.pio.op[i];
			const struct ref_note *x = rig_note(
				&b->log, 1,
				o->load ? WEFT_NOTE_LOAD : WEFT_NOTE_STORE,
				n[o->load]++);

			assert_non_null(x);
			assert_int_equal(x->addr, o->addr);
		}
		held += counter(b, "held");
		rig_free(&b->rig);
	}
	assert_true(held > 100);
}

/* Measures the cost of each error on the bus. Without an error 8 bytes are read
 * in T_ARB + T_PH + T_SPLIT + 1 = 61 clocks. A target abort ends the request,
 * and a master abort ends it T_ABORT later. Wrong parity costs nothing. A
 * message replaces the datum. A repeated completion keeps the bus for T_GAP +
 * T_PH + 1 clocks more. */
static void each_bus_error_costs_its_clocks(void **state)
{
	static const struct {
		const char *error;
		/* done: clock at which the first read ends. next: clock at
		 * which the second read ends. The second read is submitted when
		 * the first ends. busy: number of clocks for which the bus is
		 * busy. */
		uint64_t done, next, busy;
		enum weft_bus_status status;
	} row[] = {
		{ "none", 61, 122, 42, WEFT_BUS_OK },
		{ "data", 61, 122, 42, WEFT_BUS_PARITY },
		{ "address", 10, 71, 31, WEFT_BUS_TARGET_ABORT },
		{ "target_abort", 10, 71, 31, WEFT_BUS_TARGET_ABORT },
		{ "master_abort", 14, 75, 35, WEFT_BUS_MASTER_ABORT },
		{ "message", 61, 122, 42, WEFT_BUS_SPLIT_ERROR },
		{ "repeat", 61, 133, 53, WEFT_BUS_OK },
	};
	struct bench *b = *state;

	add(&b->s.rd[0], 0, 0x1000, 8);
	add(&b->s.rd[0], 0, 0x1000, 8);
	for (uint32_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		const char *const f[] = { "error", row[i].error, "number", "1",
					  NULL };

		run(b, f);
		assert_int_equal(when(b, 1, WEFT_NOTE_DONE, 0), row[i].done);
		assert_int_equal(
			rig_note(&b->log, 1, WEFT_NOTE_DONE, 0)->status,
			row[i].status);
		assert_int_equal(when(b, 1, WEFT_NOTE_DONE, 1), row[i].next);
		assert_int_equal(
			rig_note(&b->log, 1, WEFT_NOTE_DONE, 1)->status,
			WEFT_BUS_OK);
		assert_int_equal(b->log.busy, row[i].busy);
		assert_int_equal(counter(b, "errors"), i > 0);
		rig_free(&b->rig);
	}
}

static void perr_and_serr_of_a_device_are_counted_apart(void **state)
{
	static const char *const f[] = { "error", "none", NULL };
	struct bench *b = *state;
	struct weft_port *dev;

	add(&b->s.rd[0], 0, 0x1000, 8);
	run(b, f);
	dev = b->rig.shim[0]->ports[0].peer;
	weft_bus_signal(dev, WEFT_BUS_PERR);
	weft_bus_signal(dev, WEFT_BUS_SERR);
	weft_bus_signal(dev, WEFT_BUS_SERR);
	assert_int_equal(counter(b, "perr"), 1);
	assert_int_equal(counter(b, "serr"), 2);
	assert_int_equal(counter(b, "held_ns"), 0);
	rig_free(&b->rig);
}

/* An error is refused before the run if it cannot occur in the selected kind of
 * access, because it would have no effect. */
static void each_error_meets_only_its_kinds_of_access(void **state)
{
	enum { R = 1, W = 2, L = 4, S = 8 };
	static const uint8_t may[] = {
		[WEFT_BUS_E_NONE] = R | W | L | S,
		[WEFT_BUS_E_ADDRESS] = R | W | L | S,
		[WEFT_BUS_E_DATA] = R | W | S,
		[WEFT_BUS_E_MASTER] = R | W,
		[WEFT_BUS_E_TARGET] = R | W,
		[WEFT_BUS_E_MESSAGE] = R,
		[WEFT_BUS_E_REPEAT] = R,
		[WEFT_BUS_E_DISCARD] = L,
	};
	static const enum fb_access access[] = { FB_READS, FB_WRITES, FB_LOADS,
						 FB_STORES };
	static const char *const f[] = { "error", "none", NULL };
	struct bench *b = *state;
	struct weft_comp *shim;
	struct fault_bus *fb;

	run(b, f);
	shim = b->rig.shim[0];
	fb = shim->state;
	for (uint32_t e = 0; e < sizeof(may); e++)
		for (uint32_t a = 0; a < 4; a++) {
			struct weft_err err = { 0 };

			fb->error = e;
			fb->access = access[a];
			assert_int_equal(fb_err_start(shim, &err) == 0,
					 may[e] >> a & 1);
			if (!(may[e] >> a & 1))
				assert_non_null(strstr(err.msg,
						       "does not meet "
						       "such accesses"));
		}
	rig_free(&b->rig);
}

static void fault_behind_an_unconnected_port_is_refused(void **state)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_err err = { 0 };
	extern const struct weft_class weft_class_bus_pcix,
		weft_class_fault_bus;
	struct weft_comp *bus =
		weft_sim_add(sim, &weft_class_bus_pcix, "b", &err);
	struct weft_comp *f =
		weft_sim_add(sim, &weft_class_fault_bus, "f", &err);

	assert_int_equal(weft_comp_init(bus, &err), 0);
	assert_int_equal(weft_comp_init(f, &err), 0);
	assert_int_not_equal(weft_filter_add(&bus->ports[1], f, &err), 0);
	assert_non_null(strstr(err.msg, "connected to nothing"));
	weft_sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			fault_without_settings_changes_nothing, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			outage_holds_writes_that_have_not_begun, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			outage_holds_only_the_kinds_it_names, setup, teardown),
		cmocka_unit_test_setup_teardown(
			outage_without_an_end_holds_for_good, setup, teardown),
		cmocka_unit_test_setup_teardown(
			slow_bridge_delays_splits_and_completions, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			factor_slows_the_bridge_in_proportion, setup, teardown),
		cmocka_unit_test_setup_teardown(
			held_stores_of_the_host_arrive_in_order, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			held_load_keeps_later_stores_behind_it, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			every_access_survives_random_outages_in_order, setup,
			teardown),
		cmocka_unit_test_setup_teardown(each_bus_error_costs_its_clocks,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			perr_and_serr_of_a_device_are_counted_apart, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			each_error_meets_only_its_kinds_of_access, setup,
			teardown),
		cmocka_unit_test(fault_behind_an_unconnected_port_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
