/* SPDX-License-Identifier: Apache-2.0 */
/* Polling, interrupts, time, and threads that share memory. */
#include "../cmocka_all.h"

#include <string.h>

#include "node.h"

enum { PERIOD_NS = 30 };

static int setup(void **state)
{
	*state = bench_new(1);
	bench_set(*state, "host.pc", "cost_clock", "0");
	bench_set(*state, "host.pc", "poll_period", "30ns");
	return 0;
}

static struct weft_io window(struct weft_host *h)
{
	struct weft_io io = { 0 };

	assert_true(weft_io_map(h, weft_dev_open(h, 0), 1, 0, 0x1000, WEFT_UC,
				&io));
	return io;
}

/* Makes the card write `val` to phys, `clocks` clocks after it was notified of
 * the store. */
static void order_dma(struct weft_host *h, const struct weft_io *io,
		      weft_phys_t phys, uint64_t val, uint64_t clocks)
{
	weft_io_store64(h, io, CARD_VALUE, val);
	weft_io_store64(h, io, CARD_DELAY, clocks);
	weft_io_store64(h, io, CARD_DMA, phys);
}

/* Returns the time of the first poll at or after t. The polling loop started at
 * t0. */
static weft_time_t look(weft_time_t t0, weft_time_t t)
{
	weft_time_t p = PERIOD_NS * WEFT_NS, k = (t - t0 + p - 1) / p;

	return t0 + (k ? k : 1) * p;
}

/* ---- poll64 ---- */

static int poll64(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h);
	weft_phys_t phys;
	uint64_t *p = weft_mem_alloc(h, 64, 0, &phys);

	order_dma(h, &io, phys, 7, 100);
	b->t[0] = weft_host_now(h);
	b->v[0] = weft_host_poll64(h, p, 0, WEFT_NEVER);
	b->t[1] = weft_host_now(h);
	b->v[1] = *p;
	/* the loop polls once, because the value differs already */
	b->v[2] = weft_host_poll64(h, p, 0, WEFT_NEVER);
	b->t[2] = weft_host_now(h);
	/* No store arrives. Therefore the call returns at the first poll at or
	 * after the deadline. */
	b->v[3] = weft_host_poll64(h, p, 7, b->t[2] + 1000 * WEFT_NS);
	b->t[3] = weft_host_now(h);
	b->v[4] = weft_host_poll64(h, p, 7, 0);
	b->t[4] = weft_host_now(h);
	return 0;
}

static void poll_finds_a_store_at_its_next_look(void **state)
{
	struct bench *b = *state;
	weft_time_t turn = PERIOD_NS * WEFT_NS;

	bench_well(b, poll64);
	assert_true(b->v[0]);
	assert_int_equal(b->v[1], 7);
	assert_true(b->node[0].card->t_dma > b->t[0]);
	assert_int_equal(b->t[1], look(b->t[0], b->node[0].card->t_dma));
	assert_true(b->v[2]);
	assert_int_equal(b->t[2], b->t[1] + turn);
	assert_false(b->v[3]);
	assert_int_equal(b->t[3], b->t[2] + 34 * turn); /* 1020 ns */
	assert_false(b->v[4]);
	assert_int_equal(b->t[4], b->t[3] + turn);
}

static int poll64_same(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h);
	weft_phys_t phys;
	uint64_t *p = weft_mem_alloc(h, 64, 0, &phys);

	order_dma(h, &io, phys, 0, 0); /* memory already has this value */
	order_dma(h, &io, phys + 8, 5, 60);
	b->v[0] = weft_host_poll64(h, p, 0, weft_host_now(h) + 5 * WEFT_US);
	b->v[1] = p[1];
	return 0;
}

/* A store that changes nothing is not noticed, because the loop compares
 * values. */
static void poll_ignores_a_store_that_changes_nothing(void **state)
{
	struct bench *b = *state;

	bench_well(b, poll64_same);
	assert_false(b->v[0]);
	assert_int_equal(b->v[1], 5);
}

/* Polling costs no events, because the time of the poll that finds the value is
 * computed. The number of events does not depend on the length of the wait. */
static int poll_long(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h);
	weft_phys_t phys;
	uint64_t *p = weft_mem_alloc(h, 64, 0, &phys);

	order_dma(h, &io, phys, 7, b->v[0]);
	return !weft_host_poll64(h, p, 0, WEFT_NEVER);
}

static void long_poll_costs_no_events(void **state)
{
	uint64_t events[2];

	for (int i = 0; i < 2; i++) {
		struct bench *b = bench_new(1);

		b->v[0] = i ? 1000000000 : 1000; /* waits up to 10 s */
		bench_well(b, poll_long);
		events[i] = weft_sim_events(b->sim);
		bench_free(b);
	}
	assert_int_equal(events[0], events[1]);
}

/* ---- poll_range ---- */

static int poll_range(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h);
	weft_phys_t phys;
	uint8_t *p = weft_mem_alloc(h, 256, 0, &phys);

	b->v[0] = weft_host_poll_range(h, p, 128, WEFT_NEVER); /* arms */
	order_dma(h, &io, phys + 128, 1, 10);		       /* outside */
	/* a store inside the range that changes no byte does not end the
	 * wait */
	order_dma(h, &io, phys + 120, 0, 100);
	b->t[0] = weft_host_now(h);
	b->v[1] = weft_host_poll_range(h, p, 128, WEFT_NEVER);
	b->t[1] = weft_host_now(h);
	b->t[2] = b->node[0].card->t_dma;
	/* a store during other work of the program is not lost */
	order_dma(h, &io, phys, 3, 10);
	weft_host_sleep(h, weft_host_now(h) + 10 * WEFT_US);
	b->v[2] = weft_host_poll_range(h, p, 128, WEFT_NEVER);
	b->v[3] = weft_host_poll_range(h, p, 128, weft_host_now(h) + WEFT_US);
	return 0;
}

static void poll_of_a_range_sees_any_store_inside(void **state)
{
	struct bench *b = *state;

	bench_well(b, poll_range);
	assert_true(b->v[0]);
	assert_true(b->v[1]);
	assert_int_equal(b->t[1], look(b->t[0], b->t[2]));
	assert_true(b->v[2]);
	assert_false(b->v[3]);
}

static int many_ranges(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h);
	weft_phys_t phys;
	uint8_t *p = weft_mem_alloc(h, 4096, 0, &phys);

	/* makes more stores than the host remembers */
	for (int i = 0; i < 20; i++)
		b->v[0] += weft_host_poll_range(h, p + 8 * i, 8, WEFT_NEVER);
	order_dma(h, &io, phys + 8 * 19, 1, 10);
	b->v[1] = weft_host_poll_range(h, p + 8 * 18, 8,
				       weft_host_now(h) + 5 * WEFT_US);
	b->v[2] = weft_host_poll_range(h, p + 8 * 19, 8, WEFT_NEVER);
	return 0;
}

static void poll_tells_twenty_ranges_apart(void **state)
{
	struct bench *b = *state;

	bench_well(b, many_ranges);
	assert_int_equal(b->v[0], 20);
	assert_false(b->v[1]);
	assert_true(b->v[2]);
}

/* The host remembers the last eight ranges, of which none is stored to. */
static int known_ranges(struct weft_host *h, struct bench *b)
{
	uint8_t *p = weft_mem_alloc(h, 4096, 0, NULL);

	for (int i = 0; i < 20; i++) {
		b->v[0] += weft_host_poll_range(h, p + 8 * i, 8, WEFT_NEVER);
		for (int k = i < 7 ? 0 : i - 7; k <= i; k++)
			b->v[1] += weft_host_poll_range(
				h, p + 8 * k, 8, weft_host_now(h) + WEFT_US);
	}
	return 0;
}

static void poll_knows_a_range_among_the_last_eight(void **state)
{
	struct bench *b = *state;

	bench_well(b, known_ranges);
	assert_int_equal(b->v[0], 20);
	assert_int_equal(b->v[1], 0);
}

/* ---- threads that share memory ---- */

static int waits_for_thread(struct weft_host *h, struct bench *b)
{
	weft_phys_t phys;
	uint64_t *p = weft_mem_alloc(h, 64, 0, &phys);

	b->p = p;
	b->v[0] = weft_host_poll64(h, p, 0, WEFT_NEVER);
	b->t[0] = weft_host_now(h);
	weft_host_poll_range(h, p, 64, WEFT_NEVER);
	b->t[1] = weft_host_now(h);
	b->v[1] = weft_host_poll_range(h, p, 64, WEFT_NEVER);
	b->t[2] = weft_host_now(h);
	return 0;
}

static int stores(struct weft_host *h, struct bench *b)
{
	uint64_t *p;

	weft_host_sleep(h, 95 * WEFT_NS);
	p = b->p;
	*p = 1;
	weft_host_sleep(h, 1000 * WEFT_NS);
	p[3] = 1;
	weft_host_sleep(h, 2000 * WEFT_NS);
	return 0;
}

static void store_of_a_thread_is_seen_at_the_next_look(void **state)
{
	struct bench *b = *state;

	bench_prog(b, 0, waits_for_thread);
	bench_prog(b, 0, stores);
	bench_start(b);
	bench_run(b);
	assert_string_equal(bench_failure(b, 0), "");
	assert_true(b->v[0]);
	assert_int_equal(b->t[0], 120 * WEFT_NS);
	assert_int_equal(b->t[1], 150 * WEFT_NS);
	assert_true(b->v[1]);
	assert_int_equal(b->t[2], 1020 * WEFT_NS);
}

/* ---- interrupts ---- */

static int irq(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h);
	struct weft_dev *d = weft_dev_open(h, 0);
	struct card *card = b->node[0].card;

	b->v[0] = weft_host_irq_wait(h, d, weft_host_now(h) + WEFT_US);
	weft_io_store32(h, &io, CARD_IRQ, 1);
	b->v[1] = weft_host_irq_wait(h, d, WEFT_NEVER);
	b->t[0] = card->store[card->n_stores - 1].time;
	b->t[1] = weft_host_now(h);
	/* the interrupt is a level and still asserted */
	b->v[2] = weft_host_irq_wait(h, d, WEFT_NEVER);
	b->t[2] = weft_host_now(h);
	weft_io_store32(h, &io, CARD_IRQ, 0);
	weft_io_load32(h, &io, 0);
	b->t[3] = weft_host_now(h);
	b->v[3] = weft_host_irq_wait(h, d, b->t[3] + 4 * WEFT_US);
	b->t[4] = weft_host_now(h);
	return 0;
}

static void interrupt_wakes_the_program_after_its_costs(void **state)
{
	struct bench *b = *state;

	bench_well(b, irq);
	assert_false(b->v[0]);
	assert_true(b->v[1]);
	/* 2 clocks on the interrupt line, 2 us until the interrupt handler
	 * starts, 3 us to wake the program */
	assert_int_equal(b->t[1], b->t[0] + 2 * PC + 5 * WEFT_US);
	assert_true(b->v[2]);
	assert_int_equal(b->t[2], b->t[1] + 5 * WEFT_US);
	assert_false(b->v[3]);
	assert_int_equal(b->t[4], b->t[3] + 4 * WEFT_US);
	assert_int_equal(bench_counter(b->node[0].host, "irqs"), 2);
}

static uint64_t steps(struct bench *b)
{
	return weft_progs_steps(b->sim);
}

/* Counts the steps of four interrupts: one when the line rises, two while
 * nothing clears the line, one when the line has risen again. */
static int irq_not_cleared(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h);
	struct weft_dev *d = weft_dev_open(h, 0);

	weft_io_store32(h, &io, CARD_IRQ, 1);
	for (int i = 0; i < 3; i++) {
		uint64_t before = steps(b);

		weft_host_irq_wait(h, d, WEFT_NEVER);
		b->v[i] = steps(b) - before;
	}
	weft_io_store32(h, &io, CARD_IRQ, 0);
	weft_io_store32(h, &io, CARD_IRQ, 1);
	weft_io_load32(h, &io, 0);
	b->v[3] = steps(b);
	weft_host_irq_wait(h, d, WEFT_NEVER);
	b->v[3] = steps(b) - b->v[3];
	return 0;
}

/* An interrupt counts as a step only when its line rises. Otherwise the
 * watchdog of a run would take a storm of interrupts for progress. */
static void interrupt_that_is_not_cleared_is_no_step(void **state)
{
	struct bench *b = *state;

	bench_well(b, irq_not_cleared);
	assert_int_equal(b->v[0], 1);
	assert_int_equal(b->v[1], 0);
	assert_int_equal(b->v[2], 0);
	assert_int_equal(b->v[3], 1);
}

static int irq_during_burst(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h);
	weft_phys_t phys;
	volatile uint64_t *p = weft_mem_alloc(h, 64, 0, &phys);

	weft_io_store64(h, &io, CARD_VALUE, 1);
	weft_io_store64(h, &io, CARD_DELAY, 10);
	/* The interrupt is asserted at the end of the store to CARD_IRQ. At
	 * that time the card requests the bus for its write. */
	weft_io_store64(h, &io, CARD_DMA, phys);
	weft_io_store32(h, &io, CARD_IRQ, 1);
	weft_host_irq_wait(h, weft_dev_open(h, 0), WEFT_NEVER);
	b->t[0] = weft_host_now(h);
	b->t[1] = b->node[0].card->store[b->node[0].card->n_stores - 1].time;
	b->v[0] = *p;
	return 0;
}

/* An interrupt overtakes the end of a tenure that was planned earlier, because
 * the interrupt line does not need the bus. */
static void interrupt_overtakes_the_end_of_a_burst(void **state)
{
	struct bench *b = *state;

	bench_well(b, irq_during_burst);
	assert_int_equal(b->t[0], b->t[1] + 2 * PC + 5 * WEFT_US);
	assert_int_equal(b->v[0], 1);
	assert_true(b->node[0].card->t_dma > b->t[1] + 2 * PC);
}

/* ---- time ---- */

static int times(struct weft_host *h, struct bench *b)
{
	char x[1000], y[1000];

	memset(x, 1, sizeof(x));
	b->t[0] = weft_host_now(h);
	weft_host_cpu(h, 123);
	b->t[1] = weft_host_now(h);
	weft_host_copy(h, y, x, 1000);
	b->t[2] = weft_host_now(h);
	weft_host_sleep(h, 5 * WEFT_US);
	b->t[3] = weft_host_now(h);
	weft_host_sleep(h, 1); /* long past */
	b->t[4] = weft_host_now(h);
	b->v[0] = (uint64_t)y[999];
	b->v[1] = weft_host_node(h);
	b->v[2] = weft_host_nodes(h);
	return 0;
}

static void clock_copy_and_sleep_take_their_times(void **state)
{
	struct bench *b = *state;

	bench_set(b, "host.pc", "cost_clock", "1ns");
	bench_well(b, times);
	assert_int_equal(b->t[0], WEFT_NS);
	assert_int_equal(b->t[1], 2 * WEFT_NS + 123);
	/* costs of 20 ns and 1 GB/s */
	assert_int_equal(b->t[2], b->t[1] + (20 + 1000 + 1) * WEFT_NS);
	assert_int_equal(b->t[3], 5 * WEFT_US + WEFT_NS);
	assert_int_equal(b->t[4], b->t[3] + WEFT_NS);
	assert_int_equal(b->v[0], 1);
	assert_int_equal(b->v[1], 0);
	assert_int_equal(b->v[2], 1);
}

/* A loop that reads the clock ends, because reading the clock takes simulated
 * time. */
static int clock_loop(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h);
	weft_phys_t phys;
	volatile uint64_t *p = weft_mem_alloc(h, 64, 0, &phys);

	order_dma(h, &io, phys, 9, 50);
	while (!*p && weft_host_now(h) < 50 * WEFT_US)
		;
	b->v[0] = *p;
	b->t[0] = weft_host_now(h);
	return 0;
}

static void loop_around_the_clock_ends(void **state)
{
	struct bench *b = *state;

	bench_set(b, "host.pc", "cost_clock", "10ns");
	bench_well(b, clock_loop);
	assert_int_equal(b->v[0], 9);
	assert_in_range(b->t[0] - b->node[0].card->t_dma, 10 * WEFT_NS,
			20 * WEFT_NS);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)

/* ---- processor time ---- */

static int busy(struct weft_host *h, struct bench *b)
{
	struct weft_dev *d = weft_dev_open(h, 0);
	weft_time_t t = weft_host_busy(h);
	weft_phys_t phys;
	uint64_t *p = weft_mem_alloc(h, 64, 0, &phys);

	weft_host_cpu(h, 100 * WEFT_NS);
	b->t[0] = weft_host_busy(h) - t;
	weft_host_sleep(h, weft_host_now(h) + WEFT_US);
	weft_host_isr_wait(h, d, weft_host_now(h) + WEFT_US);
	b->t[1] = weft_host_busy(h) - t;
	weft_host_poll64(h, p, 0, weft_host_now(h) + 300 * WEFT_NS);
	b->t[2] = weft_host_busy(h) - t;
	b->v[0] = weft_host_isr_spin(h, d, weft_host_now(h) + 500 * WEFT_NS);
	b->t[3] = weft_host_busy(h) - t;
	return 0;
}

static void work_and_polls_count_as_busy_but_sleep_does_not(void **state)
{
	struct bench *b = *state;

	bench_well(b, busy);
	assert_int_equal(b->t[0], 100 * WEFT_NS);
	assert_int_equal(b->t[1], 100 * WEFT_NS);
	assert_int_equal(b->t[2], 400 * WEFT_NS);
	assert_false(b->v[0]);
	assert_int_equal(b->t[3], 900 * WEFT_NS);
	assert_int_equal(bench_counter(b->node[0].host, "busy"), 900);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(work_and_polls_count_as_busy_but_sleep_does_not),
		T(poll_finds_a_store_at_its_next_look),
		T(poll_ignores_a_store_that_changes_nothing),
		cmocka_unit_test(long_poll_costs_no_events),
		T(poll_of_a_range_sees_any_store_inside),
		T(poll_tells_twenty_ranges_apart),
		T(poll_knows_a_range_among_the_last_eight),
		T(store_of_a_thread_is_seen_at_the_next_look),
		T(interrupt_wakes_the_program_after_its_costs),
		T(interrupt_that_is_not_cleared_is_no_step),
		T(interrupt_overtakes_the_end_of_a_burst),
		T(clock_copy_and_sleep_take_their_times),
		T(loop_around_the_clock_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
