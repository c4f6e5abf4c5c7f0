/* SPDX-License-Identifier: Apache-2.0 */
/* The PCI-X bus alone: the clock counts that the FORTH specification prints or
 * derives (11.1, 11.3, 11.4, 11.5, 11.12), arbitration, aborts, the latency
 * timer, read byte counts. */
#include "../cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "rig.h"

enum { PC = 10000000 }; /* fs of a bus clock at 100 MHz */

struct bench {
	struct ref_script s;
	struct ref_log log;
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
	struct bench *b = *state;

	rig_free(&b->rig);
	free(b);
	return 0;
}

static struct ref_op *add(struct ref_list *l, uint64_t addr, uint32_t bytes)
{
	l->op[l->n] = (struct ref_op){ .addr = addr, .bytes = bytes };
	return &l->op[l->n++];
}

static void run(struct bench *b)
{
	rig_run(&b->rig, &b->s, &b->log);
	assert_false(b->rig.bad_data);
}

/* Returns the clock at which the n-th note of a kind is due. */
static uint64_t when(const struct bench *b, uint32_t port,
		     enum weft_note_kind kind, uint32_t n)
{
	const struct ref_note *x = rig_note(&b->log, port, kind, n);

	assert_non_null(x);
	assert_int_equal(x->time % b->s.clock.num, 0);
	return x->time / b->s.clock.num;
}

static uint64_t done(const struct bench *b, uint32_t n)
{
	return when(b, 1, WEFT_NOTE_DONE, n);
}

/* 11.3: a write takes 6 + 512 + 3 * 4 + 2 * 20 clocks. */
static void write_of_4_kb_takes_570_clocks(void **state)
{
	struct bench *b = *state;

	add(&b->s.wr[0], 0x10000, 4096);
	run(b);
	assert_int_equal(done(b, 0), 570);
	assert_int_equal(when(b, 1, WEFT_NOTE_BURST, 0), 10);
	assert_int_equal(when(b, 1, WEFT_NOTE_BURST, 1), 226);
	assert_int_equal(when(b, 1, WEFT_NOTE_BURST, 2), 442);
	assert_int_equal(when(b, 0, WEFT_NOTE_MEM_WRITE, 0), 202);
	assert_int_equal(when(b, 0, WEFT_NOTE_MEM_WRITE, 2), 570);
	assert_int_equal(rig_counter(&b->rig, "busy"), 512 + 3 * 10);
	assert_int_equal(rig_counter(&b->rig, "disconnects"), 2);
	assert_int_equal(rig_counter(&b->rig, "writes"), 3);
	assert_int_equal(rig_counter(&b->rig, "write_bytes"), 4096);
}

/* 11.4: a read takes 10 + 50 + 512 + 2 * 10 clocks. */
static void read_of_4_kb_takes_592_clocks(void **state)
{
	struct bench *b = *state;

	add(&b->s.rd[0], 0x10000, 4096);
	run(b);
	assert_int_equal(done(b, 0), 592);
	assert_int_equal(when(b, 1, WEFT_NOTE_SPLIT, 0), 10);
	assert_int_equal(when(b, 1, WEFT_NOTE_BURST, 0), 60);
	assert_int_equal(when(b, 1, WEFT_NOTE_BURST, 1), 262);
	assert_int_equal(when(b, 1, WEFT_NOTE_BURST, 2), 464);
	/* 11.1: occupancy = request + q + n_sc * (T_GAP + T_PH) */
	assert_int_equal(rig_counter(&b->rig, "busy"), 10 + 512 + 3 * 10);
	assert_int_equal(rig_counter(&b->rig, "completions"), 3);
	assert_int_equal(rig_counter(&b->rig, "read_requests"), 1);
}

/* Checks the formulas of 11.1 at many sizes. */
static void times_follow_the_formulas_at_every_size(void **state)
{
	struct bench *b = *state;

	for (uint32_t q = 1; q <= 512; q += q < 8 ? 1 : 61) {
		uint32_t n = (8 * q + 1535) / 1536;

		b->s.wr[0].n = b->s.rd[0].n = 0;
		add(&b->s.wr[0], 0x10000, 8 * q);
		run(b);
		assert_int_equal(done(b, 0), 6 + q + n * 4 + (n - 1) * 20);
		rig_free(&b->rig);
		b->s.wr[0].n = 0;
		add(&b->s.rd[0], 0x10000, 8 * q);
		run(b);
		assert_int_equal(done(b, 0), 10 + 50 + q + 10 * (n - 1));
		rig_free(&b->rig);
	}
}

/* 11.5: four single words take 40 clocks, a 64-byte burst takes 24. The test
 * also makes 64-bit stores and stores of other sizes. */
static void stores_of_words_take_10_clocks_a_line_24(void **state)
{
	struct bench *b = *state;

	for (int i = 0; i < 4; i++)
		add(&b->s.pio, 0x4000 + 4 * i, 4);
	run(b);
	assert_int_equal(when(b, 1, WEFT_NOTE_STORE, 0), 10);
	assert_int_equal(when(b, 1, WEFT_NOTE_STORE, 3), 40);
	assert_int_equal(when(b, 0, WEFT_NOTE_STORED, 3), 40);
	rig_free(&b->rig);
	b->s.pio.n = 0;
	add(&b->s.pio, 0x4000, 64);
	add(&b->s.pio, 0x4000, 8);
	add(&b->s.pio, 0x4000, 32);
	run(b);
	assert_int_equal(when(b, 1, WEFT_NOTE_STORE, 0), 24);
	assert_int_equal(when(b, 1, WEFT_NOTE_STORE, 1), 34);
	assert_int_equal(when(b, 1, WEFT_NOTE_STORE, 2), 34 + 16);
	assert_int_equal(rig_counter(&b->rig, "pio_store_bytes"), 104);
}

/* an access takes an equal number of clocks at any frequency. */
static void clock_counts_do_not_depend_on_the_clock(void **state)
{
	static const uint64_t period[] = { 7500000, 15000000 };
	struct bench *b = *state;

	add(&b->s.wr[0], 0x10000, 4096);
	add(&b->s.rd[0], 0x20000, 8)->delay = 570 * 15000000ull;
	for (size_t i = 0; i < 2; i++) {
		weft_clock_from_period(&b->s.clock, period[i]);
		run(b);
		assert_int_equal(done(b, 0), 570);
		rig_free(&b->rig);
	}
}

static void request_between_edges_counts_from_the_next_edge(void **state)
{
	struct bench *b = *state;

	add(&b->s.wr[0], 0x10000, 8)->delay = 1;
	add(&b->s.wr[0], 0x10000, 8)->delay = 5 * (weft_time_t)PC;
	run(b);
	assert_int_equal(done(b, 0), 1 + 11);
	assert_int_equal(done(b, 1), 12 + 5 + 11);
}

/* 11.10, 11.12: the bus is free during the split wait, which is long enough for
 * a write. */
static void write_fits_into_the_split_wait(void **state)
{
	struct bench *b = *state;

	add(&b->s.rd[0], 0x10000, 496);
	add(&b->s.wr[0], 0x20000, 240)->delay = 10 * (weft_time_t)PC;
	run(b);
	/* the write takes clocks 10 to 50, therefore it does not delay the
	 * completion */
	assert_int_equal(when(b, 0, WEFT_NOTE_MEM_WRITE, 0), 50);
	assert_int_equal(when(b, 1, WEFT_NOTE_BURST, 1), 60);
	assert_int_equal(done(b, 1), 122);
}

/* A write that is longer than the split wait delays the completion by the
 * difference. */
static void longer_write_delays_the_completion(void **state)
{
	struct bench *b = *state;

	add(&b->s.rd[0], 0x10000, 496);
	add(&b->s.wr[0], 0x20000, 496)->delay = 10 * (weft_time_t)PC;
	run(b);
	assert_int_equal(done(b, 0), 10 + 72);	    /* write */
	assert_int_equal(done(b, 1), 82 + 10 + 62); /* read */
}

static void two_devices_share_the_bus_turn_by_turn(void **state)
{
	struct bench *b = *state;
	uint64_t bytes[2] = { 0, 0 };

	b->s.devices = 2;
	for (int i = 0; i < 20; i++) {
		add(&b->s.wr[0], 0x10000, 512);
		add(&b->s.wr[1], 0x20000, 512);
	}
	run(b);
	for (uint32_t i = 0; i < b->log.n; i++)
		if (b->log.note[i].kind == WEFT_NOTE_BURST) {
			bytes[b->log.note[i].port - 1] += 512;
			assert_in_range(bytes[0] + 512 - bytes[1], 0, 1024);
		}
	assert_int_equal(rig_counter(&b->rig, "busy"), 40 * 74);
	assert_int_equal(done(b, 19) > when(b, 2, WEFT_NOTE_DONE, 19)
				 ? done(b, 19)
				 : when(b, 2, WEFT_NOTE_DONE, 19),
			 40 * 74);
}

static void store_gets_its_turn_among_busy_devices(void **state)
{
	struct bench *b = *state;

	for (int i = 0; i < 4; i++) {
		add(&b->s.wr[0], 0x10000, 1024);
		add(&b->s.rd[0], 0x10000, 1024);
		add(&b->s.pio, 0x4000, 4);
	}
	run(b);
	/* order: the store, the write, the read's request, the next store */
	assert_int_equal(when(b, 1, WEFT_NOTE_STORE, 0), 10);
	assert_int_equal(done(b, 0), 10 + 138);
	assert_int_equal(when(b, 1, WEFT_NOTE_SPLIT, 0), 148 + 10);
	assert_int_equal(when(b, 1, WEFT_NOTE_STORE, 1), 158 + 10);
}

static void load_stays_behind_the_stores_before_it(void **state)
{
	struct bench *b = *state;

	add(&b->s.pio, 0x10, 4);
	add(&b->s.pio, 0x14, 4);
	add(&b->s.pio, 0x18, 4)->load = true;
	add(&b->s.pio, 0x18, 8)->load = true;
	run(b);
	assert_int_equal(when(b, 1, WEFT_NOTE_STORE, 1), 20);
	assert_int_equal(when(b, 1, WEFT_NOTE_LOAD, 0), 30);
	assert_int_equal(when(b, 0, WEFT_NOTE_LOADED, 0), 20 + 6 + 4 + 6 + 1);
	assert_int_equal(when(b, 0, WEFT_NOTE_LOADED, 1), 37 + 6 + 4 + 6 + 2);
	assert_int_equal(rig_counter(&b->rig, "aborts"), 0);
}

static void store_waits_for_a_place_in_the_bridge(void **state)
{
	struct bench *b = *state;

	b->s.pio_depth = 2;
	add(&b->s.wr[0], 0x10000, 1536);
	for (int i = 0; i < 3; i++)
		add(&b->s.pio, 4 * i, 4)->delay = 1;
	run(b);
	/* the write takes clocks 0 to 202, the first store 202 to 212, the
	 * second 212 to 222; the third store was accepted at 212 */
	assert_int_equal(when(b, 1, WEFT_NOTE_STORE, 2), 232);
	rig_free(&b->rig);
	b->s.pio.op[2].delay = 13 * (weft_time_t)PC;
	run(b);
	assert_int_equal(when(b, 1, WEFT_NOTE_STORE, 2), 232);
}

/* Accesses any number of bytes at any address. An access takes one datum for
 * each aligned qword that its bytes touch, because byte enables select the
 * bytes of the first and last datum. The data follow T_ARB + T_PH clocks after
 * the request of a write, and T_SPLIT clocks later in a read. */
static void bytes_at_any_address_cost_their_qwords(void **state)
{
	static const struct {
		uint64_t addr;
		uint32_t bytes, data;
	} v[] = { { 0x1000, 12, 2 }, { 0x1003, 5, 1 }, { 0x1005, 8, 2 },
		  { 0x1007, 1, 1 },  { 0x1007, 2, 2 }, { 0x1ffc, 1535, 193 } };
	struct bench *b = *state;

	for (uint32_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		b->s.rd[0].n = b->s.wr[0].n = 0;
		add(&b->s.rd[0], v[i].addr, v[i].bytes);
		run(b);
		assert_int_equal(when(b, 1, WEFT_NOTE_DONE, 0),
				 10 + 50 + v[i].data);
		assert_int_equal(rig_counter(&b->rig, "read_bytes"),
				 v[i].bytes);
		rig_free(&b->rig);
		b->s.rd[0].n = 0;
		add(&b->s.wr[0], v[i].addr, v[i].bytes);
		run(b);
		assert_int_equal(when(b, 1, WEFT_NOTE_DONE, 0), 10 + v[i].data);
		if (i + 1 < sizeof(v) / sizeof(v[0]))
			rig_free(&b->rig);
	}
}

static void write_beyond_memory_ends_with_master_abort(void **state)
{
	struct bench *b = *state;
	const struct ref_note *n;

	add(&b->s.wr[0], REF_HOLE_LO, 64);
	add(&b->s.wr[0], REF_HOLE_LO - 8, 16);
	add(&b->s.wr[0], REF_HOLE_LO - 1536, 4096);
	run(b);
	n = rig_note(&b->log, 1, WEFT_NOTE_DONE, 0);
	assert_int_equal(n->status, WEFT_BUS_MASTER_ABORT);
	assert_int_equal(n->time / PC, 6 + 4 + 4);
	assert_int_equal(n->bytes, 0);
	n = rig_note(&b->log, 1, WEFT_NOTE_DONE, 1);
	assert_int_equal(n->status, WEFT_BUS_MASTER_ABORT);
	/* bytes that were moved before the abort count */
	n = rig_note(&b->log, 1, WEFT_NOTE_DONE, 2);
	assert_int_equal(n->status, WEFT_BUS_MASTER_ABORT);
	assert_int_equal(n->bytes, 1536);
	assert_int_equal(n->tenures, 2);
	assert_int_equal(rig_counter(&b->rig, "aborts"), 3);
}

static void read_beyond_memory_ends_without_a_split(void **state)
{
	struct bench *b = *state;
	const struct ref_note *n;

	add(&b->s.rd[0], REF_MEM_END, 4096);
	run(b);
	n = rig_note(&b->log, 1, WEFT_NOTE_DONE, 0);
	assert_int_equal(n->status, WEFT_BUS_MASTER_ABORT);
	assert_int_equal(n->splits, 0);
	assert_null(rig_note(&b->log, 1, WEFT_NOTE_SPLIT, 0));
	/* a dual address cycle takes one clock more */
	assert_int_equal(n->time / PC, 6 + 4 + 1 + 4);
}

/* Loads from an empty slot, and from a device that does not decode the
 * address. */
static void load_of_an_empty_slot_is_aborted(void **state)
{
	struct bench *b = *state;
	struct ref_op *o = add(&b->s.pio, 0, 4);

	o->load = true;
	o->dev = 1;
	run(b);
	assert_int_equal(when(b, 0, WEFT_NOTE_LOADED, 0), 14);
	assert_int_equal(rig_counter(&b->rig, "aborts"), 1);
	rig_free(&b->rig);
	o->dev = 0;
	b->rig.mute = true;
	run(b);
	assert_int_equal(when(b, 0, WEFT_NOTE_LOADED, 0), 17);
	assert_int_equal(rig_counter(&b->rig, "aborts"), 1);
}

static void address_above_4_gb_costs_one_more_clock(void **state)
{
	struct bench *b = *state;

	add(&b->s.wr[0], 0x100000000, 64);
	add(&b->s.wr[0], 0x100000000 - 1536, 3072);
	run(b);
	assert_int_equal(done(b, 0), 6 + 4 + 1 + 8);
	/* only the tenure above 4 GB has the additional clock */
	assert_int_equal(done(b, 1) - done(b, 0), 6 + 384 + 2 * 4 + 20 + 1);
	rig_free(&b->rig);
	b->s.wr[0].n = 0;
	add(&b->s.rd[0], 0x100000000, 64);
	run(b);
	assert_int_equal(when(b, 1, WEFT_NOTE_SPLIT, 0), 6 + 4 + 1);
	assert_int_equal(done(b, 0), 6 + 4 + 1 + 50 + 8);
}

/* V18: sequences = ceil(size / limit), each with the full split latency. */
static void read_is_split_at_its_request_limit(void **state)
{
	static const uint32_t limit[] = { 512, 1024, 2048, 4096 };
	struct bench *b = *state;
	struct ref_op *o = add(&b->s.rd[0], 0x10000, 4096);

	for (size_t i = 0; i < 4; i++) {
		uint32_t n = 4096 / limit[i], sc = (limit[i] + 1535) / 1536;
		const struct ref_note *d;

		o->max_request = limit[i];
		run(b);
		d = rig_note(&b->log, 1, WEFT_NOTE_DONE, 0);
		assert_int_equal(d->splits, n);
		assert_int_equal(d->tenures, n);
		assert_int_equal(d->time / PC,
				 n * (60 + limit[i] / 8 + 10 * (sc - 1)));
		rig_free(&b->rig);
	}
}

/* V18: a tenure whose latency timer expires ends after the 128-byte block that
 * starts next, if another master waits. The transaction continues T_DISC
 * later. */
static void tenure_beyond_its_timer_gives_way(void **state)
{
	struct bench *b = *state;
	const struct ref_note *n;
	struct ref_op *o = add(&b->s.wr[0], 0x10000, 1536);

	o->latency_timer = 32;
	add(&b->s.pio, 0, 4)->delay = 12 * (weft_time_t)PC;
	run(b);
	/* FRAME# is at 6, data from 10 on, and the timer expires at 38. Blocks
	 * start at 10, 26, 42, so that the block from 42 to 58 is the last. */
	n = rig_note(&b->log, 1, WEFT_NOTE_BURST, 0);
	assert_int_equal(n->bytes, 256);
	assert_false(n->timer);
	n = rig_note(&b->log, 1, WEFT_NOTE_BURST, 1);
	assert_int_equal(n->time / PC, 42);
	assert_int_equal(n->bytes, 128);
	assert_true(n->timer);
	assert_int_equal(n->data_end / PC, 58);
	assert_int_equal(when(b, 1, WEFT_NOTE_STORE, 0), 68);
	n = rig_note(&b->log, 1, WEFT_NOTE_BURST, 2);
	assert_int_equal(n->frame / PC, 58 + 20);
	assert_int_equal(rig_counter(&b->rig, "timer_cuts"), 1);
	assert_int_equal(done(b, 0), 78 + 4 + 144);
}

/* The tenure is not cut if no master waits, nor if the timer has the
 * recommended 0xFE. */
static void tenure_is_not_cut_without_a_waiting_master(void **state)
{
	struct bench *b = *state;
	struct ref_op *o = add(&b->s.wr[0], 0x10000, 4096);

	o->latency_timer = 32;
	run(b);
	assert_int_equal(done(b, 0), 570);
	rig_free(&b->rig);
	o->latency_timer = 0xfe;
	add(&b->s.pio, 0, 4)->delay = PC;
	run(b);
	assert_int_equal(done(b, 0), 570);
	assert_int_equal(rig_counter(&b->rig, "timer_cuts"), 0);
	/* the store used the gap between two write tenures */
	assert_int_equal(when(b, 1, WEFT_NOTE_STORE, 0), 212);
}

/* 11.12: a read and a write of 4 KB keep the bus busy for 552 + 542 clocks, and
 * take at most 10 + 570 + 542 clocks. */
static void reads_and_writes_fill_the_bus(void **state)
{
	struct bench *b = *state;

	for (int i = 0; i < 10; i++) {
		add(&b->s.rd[0], 0x10000, 4096);
		add(&b->s.wr[0], 0x20000, 4096);
	}
	run(b);
	assert_int_equal(rig_counter(&b->rig, "busy"), 10 * (552 + 542));
	assert_in_range(done(b, 19), 10 * 1094, 10 * 1122);
}

static void bad_split_time_is_refused_with_its_name(void **state)
{
	extern const struct weft_class weft_class_bus_pcix;
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_err err = { 0 };
	struct weft_comp *c =
		weft_sim_add(sim, &weft_class_bus_pcix, "n0.bus", &err);

	assert_int_equal(weft_param_set(c, "t_split", "9", &err), 0);
	assert_true(weft_comp_init(c, &err) < 0);
	assert_non_null(strstr(err.msg, "n0.bus.t_split"));
	weft_sim_free(sim);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(write_of_4_kb_takes_570_clocks),
		T(read_of_4_kb_takes_592_clocks),
		T(times_follow_the_formulas_at_every_size),
		T(stores_of_words_take_10_clocks_a_line_24),
		T(clock_counts_do_not_depend_on_the_clock),
		T(request_between_edges_counts_from_the_next_edge),
		T(write_fits_into_the_split_wait),
		T(longer_write_delays_the_completion),
		T(two_devices_share_the_bus_turn_by_turn),
		T(store_gets_its_turn_among_busy_devices),
		T(load_stays_behind_the_stores_before_it),
		T(store_waits_for_a_place_in_the_bridge),
		T(bytes_at_any_address_cost_their_qwords),
		T(write_beyond_memory_ends_with_master_abort),
		T(read_beyond_memory_ends_without_a_split),
		T(load_of_an_empty_slot_is_aborted),
		T(address_above_4_gb_costs_one_more_clock),
		T(read_is_split_at_its_request_limit),
		T(tenure_beyond_its_timer_gives_way),
		T(tenure_is_not_cut_without_a_waiting_master),
		T(reads_and_writes_fill_the_bus),
		T(bad_split_time_is_refused_with_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
