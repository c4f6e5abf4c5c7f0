/* SPDX-License-Identifier: Apache-2.0 */
/* Conventional PCI alone: the sums of Host Port specification 11.2 and HVIA
 * specification 2.1, delayed reads, retries, wait states, tagged accesses. */
#include "../cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/pcibus.h"
#include "rig.h"

#define NS	   ((weft_time_t)1000000)
#define HVIA_CLOCK ((weft_time_t)15151515) /* 66 MHz, to 1 fs */

struct bench {
	struct ref_script s;
	struct ref_log log;
	struct rig rig;
};

static int pci33(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	*state = b;
	if (b)
		rig_script_pci(&b->s);
	return !b;
}

static int pci66(void **state)
{
	struct bench *b;

	if (pci33(state))
		return 1;
	b = *state;
	weft_clock_from_period(&b->s.clock, 15 * NS);
	b->s.width = 8;
	return 0;
}

/* Preset pci64-66. */
static int hvia(void **state)
{
	struct bench *b;

	if (pci66(state))
		return 1;
	b = *state;
	weft_clock_from_period(&b->s.clock, HVIA_CLOCK);
	b->s.t_arb = 4;
	b->s.t_ph = 3;
	b->s.t_end = 0;
	b->s.t_disc = 1;
	b->s.h_wr_out = b->s.h_wr_in = 0;
	b->s.h_dw = 303030303;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	if (b->rig.sim)
		rig_free(&b->rig);
	free(b);
	return 0;
}

static struct ref_op *pio(struct bench *b, uint32_t bytes, bool load)
{
	uint32_t i = b->s.pio.n++;

	b->s.pio.op[i] = (struct ref_op){ .addr = 4096 * i + 64,
					  .bytes = bytes,
					  .load = load };
	return &b->s.pio.op[i];
}

static struct ref_op *dma(struct ref_list *l, uint64_t addr, uint32_t bytes,
			  weft_time_t delay)
{
	l->op[l->n] =
		(struct ref_op){ .addr = addr, .bytes = bytes, .delay = delay };
	return &l->op[l->n++];
}

static void play(struct bench *b)
{
	if (b->rig.sim)
		rig_free(&b->rig);
	rig_run(&b->rig, &b->s, &b->log);
	assert_false(b->rig.bad_data);
}

static weft_time_t at(const struct bench *b, uint32_t port,
		      enum weft_note_kind kind, uint32_t n)
{
	const struct ref_note *x = rig_note(&b->log, port, kind, n);

	assert_non_null(x);
	return x->time;
}

static uint64_t count(const struct bench *b, const char *name)
{
	return rig_counter(&b->rig, name);
}

/* ---- times of 11.2 ---- */

/* A load takes 210 + 14 * 30 ns. Consecutive loads take 630 ns each. */
static void loads_at_33_mhz_take_630_ns_each(void **state)
{
	struct bench *b = *state;

	for (uint32_t i = 0; i < 40; i++)
		pio(b, 8, true);
	play(b);
	for (uint32_t i = 0; i < 40; i++)
		assert_int_equal(at(b, 0, WEFT_NOTE_LOADED, i),
				 (i + 1) * 630 * NS);
	/* the device gets its note in the fourth clock on the bus */
	assert_int_equal(at(b, 1, WEFT_NOTE_LOAD, 0), (90 + 4 * 30) * NS);
	assert_int_equal(count(b, "busy"), 40 * 14);
}

/* A load takes 210 + 13 * 15 ns. */
static void load_at_66_mhz_takes_405_ns(void **state)
{
	struct bench *b = *state;

	pio(b, 8, true);
	pio(b, 4, true);
	play(b);
	assert_int_equal(at(b, 0, WEFT_NOTE_LOADED, 0), 405 * NS);
	assert_int_equal(at(b, 0, WEFT_NOTE_LOADED, 1), 810 * NS);
}

/* A store takes 381 + 6 * 15 ns. */
static void store_at_66_mhz_arrives_after_471_ns(void **state)
{
	struct bench *b = *state;

	pio(b, 16, false);
	play(b);
	assert_int_equal(at(b, 1, WEFT_NOTE_STORE, 0), 471 * NS);
	assert_int_equal(at(b, 0, WEFT_NOTE_STORED, 0), 450 * NS);
}

/* A write takes 155 + 7 * 15 ns. */
static void write_at_66_mhz_is_in_memory_after_260_ns(void **state)
{
	struct bench *b = *state;

	dma(&b->s.wr[0], 0x10000, 24, 0);
	play(b);
	assert_int_equal(at(b, 1, WEFT_NOTE_DONE, 0), 105 * NS);
	assert_int_equal(at(b, 0, WEFT_NOTE_MEM_WRITE, 0), 260 * NS);
}

/* The answer to a load waits until the earlier write is in memory. On the bus
 * the write ends at 90 ns, the load at 90 + 13 * 15 - 15 ns. */
static void load_waits_until_the_write_is_in_memory(void **state)
{
	struct bench *b = *state;

	b->s.h_rd_out = 0;
	b->s.h_dw = 1000 * NS;
	dma(&b->s.wr[0], 0x10000, 16, 0);
	pio(b, 8, true)->delay = 15 * NS;
	play(b);
	assert_int_equal(at(b, 0, WEFT_NOTE_MEM_WRITE, 0), 1090 * NS);
	assert_int_equal(at(b, 0, WEFT_NOTE_LOADED, 0), 1090 * NS);
}

/* ---- HVIA 2.1 ---- */

/* A read of n bytes takes 35 + ceil(n / 8) clocks. If the read crosses a page
 * border, it takes another 35 clocks. */
static void read_takes_35_clocks_and_one_for_each_qword(void **state)
{
	static const uint32_t size[] = { 8, 13, 64, 1024, 4096 };
	struct bench *b = *state;

	for (uint32_t i = 0; i < 5; i++) {
		b->s.rd[0].n = 0;
		dma(&b->s.rd[0], 0x10000, size[i], 0);
		play(b);
		assert_int_equal(at(b, 1, WEFT_NOTE_DONE, 0),
				 (35 + (size[i] + 7) / 8) * HVIA_CLOCK);
		assert_int_equal(count(b, "retries"), 3);
	}
	b->s.rd[0].n = 0;
	dma(&b->s.rd[0], 0x10000 - 64, 128, 0);
	play(b);
	assert_int_equal(at(b, 1, WEFT_NOTE_DONE, 0),
			 (35 + 8 + 2 + 35 + 8) * HVIA_CLOCK);
	assert_int_equal(count(b, "disconnects"), 1);
}

/* A write of n bytes takes 7 + ceil(n / 8) clocks, and its bytes are in memory
 * 20 clocks later. If the write crosses a page border, each page is a
 * separate write. */
static void write_takes_7_clocks_and_one_for_each_qword(void **state)
{
	struct bench *b = *state;

	dma(&b->s.wr[0], 0x10000, 4096, 0);
	play(b);
	assert_int_equal(at(b, 1, WEFT_NOTE_DONE, 0), 519 * HVIA_CLOCK);
	assert_in_range(at(b, 0, WEFT_NOTE_MEM_WRITE, 0), 539 * HVIA_CLOCK,
			539 * HVIA_CLOCK + 20);
	b->s.wr[0].op[0].addr -= 8;
	play(b);
	assert_int_equal(at(b, 1, WEFT_NOTE_DONE, 0), (519 + 7) * HVIA_CLOCK);
}

static void doorbell_takes_six_clocks(void **state)
{
	struct bench *b = *state;

	pio(b, 8, false);
	play(b);
	assert_int_equal(at(b, 1, WEFT_NOTE_STORE, 0), 6 * HVIA_CLOCK);
}

/* ---- delayed reads ---- */

/* Between two retries of a read another device can write. With wait states the
 * other device cannot write meanwhile, but the read is done as soon as the
 * bytes arrive. */
static void retries_leave_room_for_a_write_wait_states_do_not(void **state)
{
	struct bench *b = *state;

	dma(&b->s.rd[0], 0x10000, 64, 0);
	b->s.devices = 2;
	dma(&b->s.wr[1], 0x20000, 8, 15 * NS);
	play(b);
	/* the write waits 5 clocks for the end of the first attempt */
	assert_int_equal(at(b, 2, WEFT_NOTE_DONE, 0), (5 + 5) * 15 * NS);
	assert_true(count(b, "retries") > 1);
	b->s.wait = true;
	play(b);
	/* The read is done after 4 clocks, 360 ns (24 clocks) and 8 clocks of
	 * data. Its tenure ends one clock later. */
	assert_int_equal(at(b, 1, WEFT_NOTE_DONE, 0), (4 + 24 + 8) * 15 * NS);
	assert_int_equal(at(b, 2, WEFT_NOTE_DONE, 0), (37 + 5) * 15 * NS);
	assert_int_equal(count(b, "retries"), 0);
	assert_null(rig_note(&b->log, 1, WEFT_NOTE_SPLIT, 0));
}

/* The bridge reads memory for a read only after it has written earlier posted
 * writes. */
static void memory_is_read_behind_posted_writes(void **state)
{
	struct bench *b = *state;

	b->s.t_mem = 15 * NS;
	b->s.h_dw = 500 * NS;
	dma(&b->s.wr[0], 0x10000, 8, 0);
	dma(&b->s.rd[0], 0x10000, 8, 0);
	play(b);
	assert_int_equal(at(b, 0, WEFT_NOTE_MEM_WRITE, 0), 575 * NS);
	assert_int_equal(at(b, 0, WEFT_NOTE_MEM_READ, 0), 585 * NS);
}

/* The timer ends a burst at a line of 32 bytes when another master requests the
 * bus. The bridge already has the rest of the read. */
static void latency_timer_ends_a_burst_at_a_line(void **state)
{
	struct bench *b = *state;
	const struct ref_note *n;

	b->s.wait = true;
	dma(&b->s.rd[0], 0x10000, 256, 0)->latency_timer = 30;
	b->s.devices = 2;
	dma(&b->s.wr[1], 0x20000, 8, 450 * NS);
	play(b);
	/* Data follow from clock 28 on. The timer has expired at 2 + 30 = 32,
	 * so that the line that begins at 36 is the last. */
	n = rig_note(&b->log, 1, WEFT_NOTE_BURST, 1);
	assert_int_equal(n->time, 36 * 15 * NS);
	assert_int_equal(n->bytes, 32);
	assert_true(n->timer);
	assert_int_equal(count(b, "timer_cuts"), 1);
	/* The burst ends at clock 40. After one clock the write takes 5, and
	 * the read continues at 46. */
	assert_int_equal(at(b, 2, WEFT_NOTE_DONE, 0), 46 * 15 * NS);
	assert_int_equal(count(b, "read_requests"), 1);
	assert_int_equal(at(b, 1, WEFT_NOTE_BURST, 2), (46 + 5) * 15 * NS);
}

/* The request of a load takes four clocks. With a clock of 2 ns the request
 * ends before the earlier store has reached the device, so that the load waits
 * on the bus until the store has arrived. The device answers at once, after a
 * while, or later than after 16 clocks. */
static void load_waits_for_the_store_on_the_bus(void **state)
{
	static const weft_time_t takes[] = { 0, 4, 20, 500 };
	struct bench *b = *state;
	weft_time_t load;

	weft_clock_from_period(&b->s.clock, 2 * NS);
	for (uint32_t i = 0; i < 4; i++) {
		b->s.pio.n = 0;
		pio(b, 8, false);
		pio(b, 8, true)->takes = takes[i] * NS;
		play(b);
		/* The store arrives at the first edge after 360 ns, 6 clocks of
		 * 2 ns and 21 ns. */
		assert_int_equal(at(b, 1, WEFT_NOTE_STORE, 0), 393 * NS);
		assert_int_equal(at(b, 1, WEFT_NOTE_LOAD, 0), 394 * NS);
		load = at(b, 0, WEFT_NOTE_LOADED, 0);
		/* turnaround, target, data and end take 10 clocks of 2 ns, and
		 * the answer's path to the host 120 ns */
		if (i < 2)
			assert_int_equal(load, (394 + 20 + 120) * NS);
		else
			assert_true(load >= (394 + takes[i] + 120) * NS);
		assert_null(rig_note(&b->log, 1, WEFT_NOTE_LOAD, 1));
		assert_int_equal(count(b, "aborts"), 0);
	}
}

/* ---- targets ---- */

/* 11.3: an answer within the six target clocks costs nothing, a later answer
 * costs wait states, and an answer after 16 clocks costs a retry. The device
 * gets one note for the load. */
static void late_answer_costs_wait_states_then_retries(void **state)
{
	static const struct {
		weft_time_t takes; /* ns */
		uint64_t ns, waits, retries;
	} t[] = {
		{ 0, 630, 0, 0 },   { 180, 630, 0, 0 }, { 181, 660, 1, 0 },
		{ 210, 660, 1, 0 }, { 390, 840, 7, 0 }, { 391, 0, 7, 1 },
		{ 5000, 0, 7, 0 },
	};
	struct bench *b = *state;

	for (uint32_t i = 0; i < 7; i++) {
		b->s.pio.n = 0;
		pio(b, 8, true)->takes = t[i].takes * NS;
		play(b);
		if (t[i].ns)
			assert_int_equal(at(b, 0, WEFT_NOTE_LOADED, 0),
					 t[i].ns * NS);
		assert_int_equal(count(b, "wait_states"), t[i].waits);
		if (t[i].takes < 5000)
			assert_int_equal(count(b, "retries"), t[i].retries);
		assert_null(rig_note(&b->log, 1, WEFT_NOTE_LOAD, 1));
		assert_int_equal(count(b, "pio_loads"), 1);
		assert_int_equal(count(b, "aborts"), 0);
	}
	/* The device has an answer after 5 us. The bus retries until then, and
	 * the first attempt afterwards gets the answer. */
	assert_in_range(at(b, 0, WEFT_NOTE_LOADED, 0), 5210 * NS, 5900 * NS);
	assert_true(count(b, "retries") > 20);
}

static void store_is_retried_until_the_device_has_room(void **state)
{
	struct bench *b = *state;

	b->s.window = 1;
	pio(b, 8, false)->takes = 2000 * NS;
	pio(b, 8, false);
	play(b);
	assert_int_equal(at(b, 1, WEFT_NOTE_STORE, 0), 561 * NS);
	assert_in_range(at(b, 1, WEFT_NOTE_STORE, 1), 2561 * NS, 2961 * NS);
	assert_true(count(b, "retries") >= 9);
	assert_null(rig_note(&b->log, 1, WEFT_NOTE_STORE, 2));
}

/* After its last retry the bridge ends an access, continues with the next one,
 * and drops a late answer. */
static void bridge_gives_up_after_its_retries(void **state)
{
	struct bench *b = *state;

	b->s.max_retries = 3;
	b->s.window = 1;
	pio(b, 8, true)->takes = 100000 * NS;
	pio(b, 8, false)->takes = 50000 * NS;
	pio(b, 8, false);
	play(b);
	assert_int_equal(count(b, "discards"), 2);
	assert_true(at(b, 0, WEFT_NOTE_LOADED, 0) < 5000 * NS);
	assert_null(rig_note(&b->log, 1, WEFT_NOTE_STORE, 1));
	assert_non_null(rig_note(&b->log, 0, WEFT_NOTE_STORED, 1));
}

static void access_without_a_target_is_aborted(void **state)
{
	struct bench *b = *state;

	pio(b, 8, true)->dev = 1;
	pio(b, 8, false)->dev = 1;
	dma(&b->s.wr[0], REF_HOLE_LO, 8, 5000 * NS);
	dma(&b->s.rd[0], REF_HOLE_LO, 8, 6000 * NS);
	play(b);
	assert_int_equal(count(b, "aborts"), 4);
	assert_int_equal(at(b, 0, WEFT_NOTE_LOADED, 0), (210 + 8 * 30) * NS);
}

/* ---- tagged accesses ---- */

static void tagged_accesses_take_their_clocks(void **state)
{
	struct bench *b = *state;

	pio(b, 64, false)->tagged = 1 + WEFT_TSTORE;
	play(b);
	/* 381 + (5 + 8) * 15, with one clock for the header */
	assert_int_equal(at(b, 1, WEFT_NOTE_TAGGED, 0), (381 + 13 * 15) * NS);
	b->s.pio.n = 0;
	pio(b, 8, true)->tagged = 1 + WEFT_TLOAD;
	play(b);
	assert_int_equal(at(b, 0, WEFT_NOTE_ANSWERED, 0), (405 + 15) * NS);
	b->s.pio.n = 0;
	pio(b, 64, true)->tagged = 1 + WEFT_TCSTORE;
	play(b);
	/* 2 + 2 + 1 + 1 + 8 clocks, then 6 clocks of the target and one for the
	 * end */
	assert_int_equal(at(b, 1, WEFT_NOTE_TAGGED, 0), (90 + 14 * 15) * NS);
	assert_int_equal(at(b, 0, WEFT_NOTE_ANSWERED, 0), (210 + 21 * 15) * NS);
	assert_int_equal(count(b, "tagged"), 1);
	assert_int_equal(count(b, "pio_loads"), 0);
}

/* ---- presets, refusals ---- */

extern const struct weft_class weft_class_bus_pci;

static void value_is(struct weft_comp *c, const char *name, const char *want)
{
	char text[32];

	assert_true(weft_param_get(c, name, text, sizeof(text)) > 0);
	assert_string_equal(text, want);
}

static void presets_set_clock_width_and_delay(void **state)
{
	static const struct {
		const char *preset, *clock, *width, *h_dw;
	} t[] = { { "pci33", "30ns", "4", "155ns" },
		  { "pci66", "15ns", "8", "155ns" },
		  { "pci64-66", "66MHz", "8", "303.030303ns" } };
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_err err = { 0 };

	for (uint32_t i = 0; i < 3; i++) {
		struct weft_comp *c = weft_sim_add(sim, &weft_class_bus_pci,
						   t[i].preset, &err);

		assert_int_equal(weft_preset_apply(c, t[i].preset, &err), 0);
		value_is(c, "clock", t[i].clock);
		value_is(c, "width", t[i].width);
		value_is(c, "h_dw", t[i].h_dw);
		assert_int_equal(weft_comp_init(c, &err), 0);
	}
	weft_sim_free(sim);
}

static void line_and_page_must_be_powers_of_two(void **state)
{
	static const struct {
		const char *param, *value;
		bool good;
	} t[] = {
		{ "line", "24", false }, { "line", "32", true },
		{ "page", "24", false }, { "page", "4", false },
		{ "page", "8", true },	 { "page", "0", true },
	};

	for (uint32_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct weft_sim *sim = weft_sim_new(1);
		struct weft_err err = { 0 };
		struct weft_comp *c =
			weft_sim_add(sim, &weft_class_bus_pci, "bus", &err);

		assert_int_equal(
			weft_param_set(c, t[i].param, t[i].value, &err), 0);
		assert_int_equal(weft_comp_init(c, &err) == 0, t[i].good);
		if (!t[i].good)
			assert_string_equal(err.msg,
					    "bus: page and line must be "
					    "powers of two from 8 on");
		weft_sim_free(sim);
	}
}

#define T(name, set) cmocka_unit_test_setup_teardown(name, set, teardown)

/* ---- transactions left at the end ---- */

static void a_transaction_that_never_ended_is_found_at_the_end(void **state)
{
	struct bench *b = *state;
	struct weft_bus_txn txn;
	struct weft_err err = { 0 };
	char text[80];

	b->s.devices = 3;
	play(b);
	for (uint32_t i = 0; i < 2 * b->s.devices; i++) {
		struct pcibus *bus = b->rig.bus->state;
		struct pcibus_dev *d = &bus->dev[i / 2];

		assert_int_equal(weft_sim_finish(b->rig.sim, &err), 0);
		*(i % 2 ? &d->wr : &d->rd) = &txn;
		assert_int_equal(weft_sim_finish(b->rig.sim, &err), -EPROTO);
		snprintf(text, sizeof(text),
			 "%s: a transaction of dev%u never ended",
			 b->rig.bus->name, i / 2);
		assert_string_equal(err.msg, text);
		d->rd = d->wr = NULL;
		err.code = 0;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_transaction_that_never_ended_is_found_at_the_end, pci33),
		T(loads_at_33_mhz_take_630_ns_each, pci33),
		T(load_at_66_mhz_takes_405_ns, pci66),
		T(store_at_66_mhz_arrives_after_471_ns, pci66),
		T(write_at_66_mhz_is_in_memory_after_260_ns, pci66),
		T(load_waits_until_the_write_is_in_memory, pci66),
		T(read_takes_35_clocks_and_one_for_each_qword, hvia),
		T(write_takes_7_clocks_and_one_for_each_qword, hvia),
		T(doorbell_takes_six_clocks, hvia),
		T(retries_leave_room_for_a_write_wait_states_do_not, pci66),
		T(memory_is_read_behind_posted_writes, pci66),
		T(latency_timer_ends_a_burst_at_a_line, pci66),
		T(load_waits_for_the_store_on_the_bus, pci33),
		T(late_answer_costs_wait_states_then_retries, pci33),
		T(store_is_retried_until_the_device_has_room, pci33),
		T(bridge_gives_up_after_its_retries, pci33),
		T(access_without_a_target_is_aborted, pci33),
		T(tagged_accesses_take_their_clocks, pci66),
		cmocka_unit_test(presets_set_clock_width_and_delay),
		cmocka_unit_test(line_and_page_must_be_powers_of_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
