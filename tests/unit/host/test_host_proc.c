/* SPDX-License-Identifier: Apache-2.0 */
/* Processes and domains. Each has access to its own pages of a device (Host
 * Port specification 7.8, 7.9). Many light processes run on a few processors
 * (11.3, 11.4). */
#include "../cmocka_all.h"

#include <malloc.h>
#include <stdlib.h>

#include "node.h"
#include "pages.h"

extern const struct weft_class weft_class_bus_pci;

static int setup(void **state)
{
	struct bench *b = bench_make(1, &weft_class_bus_pci, &weft_class_pages);
	struct weft_err err = { 0 };

	*state = b;
	bench_set(b, "host.pc", "mem_bytes", "256MiB");
	return weft_preset_apply(b->node[0].host, "xeon", &err);
}

static struct pages *device(const struct bench *b)
{
	return b->node[0].dev->state;
}

static uint64_t counter(const struct bench *b, const char *name)
{
	return bench_counter(b->node[0].host, name);
}

static bool map(struct weft_host *h, struct weft_proc *p, uint32_t page,
		struct weft_io *io)
{
	return weft_proc_map(h, p, weft_dev_open(h, 0), 0,
			     (uint64_t)page * WEFT_PAGE, WEFT_PAGE, WEFT_UC,
			     io);
}

/* ---- one process ---- */

static int identity(struct weft_host *h, struct bench *b)
{
	struct weft_proc *p = weft_proc_new(h, 0), *q = weft_proc_new(h, 0);
	struct weft_io mine, other, second, fake;

	assert_true(map(h, p, 0x1234, &mine));
	assert_true(map(h, q, 0x4321, &other));
	assert_true(map(h, p, 7, &second));
	/* The address does not determine the page (V4), because each process
	 * has its own mapping. */
	assert_int_equal(mine.off, other.off);
	assert_true(weft_proc_enter(h, p));
	assert_int_equal(weft_io_load64(h, &mine, 0x28), 0x123400000001);
	assert_int_equal(device(b)->last_off, 0x1234028);
	/* A window is a plain value without an owner. In process p the window
	 * of process q leads to a page of p. */
	assert_int_equal(weft_io_load64(h, &other, 0x28), 0x123400000002);
	assert_int_equal(weft_io_load64(h, &second, 0), 0x700000001);
	/* no address that the process makes up leads to a page of another
	 * process */
	for (uint64_t page = 0; page < 20000; page++) {
		fake = mine;
		fake.off = page * WEFT_PAGE;
		if (fake.off == mine.off || fake.off == second.off)
			continue;
		assert_int_equal(weft_io_load64(h, &fake, 0), UINT64_MAX);
		weft_io_store64(h, &fake, 0, 1);
	}
	fake.bar = 1;
	fake.dev = NULL;
	assert_int_equal(weft_io_load32(h, &fake, 0), UINT32_MAX);
	return 0;
}

static void process_reaches_only_its_own_pages(void **state)
{
	struct bench *b = *state;

	bench_well(b, identity);
	assert_int_equal(device(b)->n_loads, 3);
	assert_int_equal(device(b)->n_stores, 0);
	assert_int_equal(device(b)->loads[0x4321], 0);
	assert_int_equal(counter(b, "page_faults"), 2 * (20000 - 2) + 1);
	assert_int_equal(counter(b, "refused"), 0);
}

/* Makes calls that a process may not make. */
static int refusals(struct weft_host *h, struct bench *b)
{
	struct weft_dev *d = weft_dev_open(h, 0);
	struct weft_proc *p = weft_proc_new(h, 0), *q = weft_proc_new(h, 0);
	struct weft_io io, no;

	assert_true(map(h, p, 1, &io));
	assert_false(map(h, q, 1, &no)); /* another process has the page (V2) */
	assert_false(map(h, q, 1, &no));
	assert_false(weft_proc_map(h, q, d, 0, 100, WEFT_PAGE, WEFT_UC, &no));
	/* pages behind the end of the aperture */
	assert_false(map(h, q, PAGES, &no));
	assert_false(weft_proc_map(h, q, d, 0, 0, 0, WEFT_UC, &no));
	assert_int_equal(counter(b, "refused"), 5);
	assert_true(weft_proc_enter(h, p));
	assert_false(map(h, p, 2, &no));
	assert_false(map(h, q, 2, &no));
	assert_false(weft_io_map(h, d, 0, 0, WEFT_PAGE, WEFT_UC, &no));
	assert_false(weft_proc_enter(h, q));
	assert_false(weft_domain_enter(h, 1));
	assert_false(weft_domain_give(h, 1, d, 0, 0, WEFT_PAGE));
	assert_int_equal(weft_domain_new(h), 0);
	assert_null(weft_proc_new(h, 0));
	assert_false(weft_proc_set_tag(h, p, 3));
	assert_int_equal(weft_cfg_load(h, d, 0, 4), UINT32_MAX);
	weft_cfg_store(h, d, 0x10, 4, 0);
	weft_proc_unmap(h, p, &io);
	weft_proc_free(h, q);
	assert_int_equal(counter(b, "refused"), 18);
	assert_int_equal(weft_io_load64(h, &io, 0) >> 32, 1);
	return 0;
}

static void calls_that_a_process_may_not_make_are_refused(void **state)
{
	bench_well(*state, refusals);
	assert_true(device(*state)->bar != 0);
}

/* Passes a page from process to process. The host must drop the old owner's
 * translation, because the old owner would otherwise still reach the page. */
static int reuse(struct weft_host *h, struct bench *b)
{
	struct weft_io io, two;

	for (uint32_t i = 0; i < 100; i++) {
		struct weft_proc *p = weft_proc_new(h, 0);

		assert_non_null(p);
		assert_true(map(h, p, 9, &io));
		assert_true(map(h, p, 10, &two));
		weft_proc_unmap(h, p, &io);
		assert_true(map(h, p, 9, &io));
		assert_true(io.off > two.off);
		weft_proc_free(h, p);
	}
	b->v[0] = counter(b, "refused");
	return 0;
}

static void freed_page_is_mapped_by_the_next_process(void **state)
{
	struct bench *b = *state;

	bench_well(b, reuse);
	assert_int_equal(b->v[0], 0);
}

static int combining(struct weft_host *h, struct bench *b)
{
	struct weft_proc *p = weft_proc_new(h, 0);
	struct weft_io io;
	uint64_t line[8] = { 0 };

	assert_true(weft_proc_map(h, p, weft_dev_open(h, 0), 0, 0x5000, 0x2000,
				  WEFT_WC, &io));
	assert_true(weft_proc_enter(h, p));
	weft_io_copy(h, &io, 0x1040, line, 64);
	weft_host_sleep(h, weft_host_now(h) + 10 * WEFT_US);
	b->v[0] = device(b)->last_off;
	b->v[1] = device(b)->last_bytes;
	return 0;
}

static void attribute_of_the_map_makes_a_line_one_burst(void **state)
{
	struct bench *b = *state;

	bench_well(b, combining);
	assert_int_equal(b->v[0], 0x6040);
	assert_int_equal(b->v[1], 64);
	assert_int_equal(device(b)->n_stores, 1);
	assert_int_equal(counter(b, "page_walks"), 1);
}

/* ---- domains ---- */

static int guest(struct weft_host *h, struct bench *b)
{
	struct weft_dev *d = weft_dev_open(h, 0);
	uint32_t one = weft_domain_new(h), two = weft_domain_new(h);
	struct weft_proc *p, *other = weft_proc_new(h, two);
	struct weft_io io, kernel;

	assert_true(
		weft_domain_give(h, one, d, 0, 16 * WEFT_PAGE, 4 * WEFT_PAGE));
	assert_true(weft_domain_give(h, two, d, 0, 20 * WEFT_PAGE, WEFT_PAGE));
	assert_false(weft_domain_give(h, two, d, 0, 19 * WEFT_PAGE, WEFT_PAGE));
	/* the page does not belong to that domain */
	assert_false(map(h, other, 16, &io));
	assert_true(weft_domain_enter(h, one));
	p = weft_proc_new(h, one);
	assert_non_null(p);
	assert_null(weft_proc_new(h, two));
	assert_false(map(h, other, 20, &io));
	/* the page belongs to the other domain */
	assert_false(map(h, p, 20, &io));
	assert_false(map(h, p, 3, &io)); /* the page belongs to the monitor */
	assert_true(map(h, p, 17, &io));
	assert_false(weft_proc_set_tag(h, p, 1));
	/* the kernel may not map a page for itself */
	assert_false(weft_io_map(h, d, 0, 17 * WEFT_PAGE, WEFT_PAGE, WEFT_UC,
				 &kernel));
	assert_true(weft_io_map(h, d, 0, 18 * WEFT_PAGE, WEFT_PAGE, WEFT_UC,
				&kernel));
	assert_int_equal(weft_io_load64(h, &kernel, 0) >> 32, 18);
	kernel.off += WEFT_PAGE;
	assert_int_equal(weft_io_load64(h, &kernel, 0), UINT64_MAX);
	/* the process reaches the page without help of monitor and kernel */
	assert_true(weft_proc_enter(h, p));
	assert_int_equal(weft_io_load64(h, &io, 0) >> 32, 17);
	b->v[0] = counter(b, "refused");
	return 0;
}

static void guest_reaches_only_pages_of_its_domain(void **state)
{
	struct bench *b = *state;

	bench_well(b, guest);
	assert_int_equal(b->v[0], 8);
	assert_int_equal(device(b)->n_loads, 2);
	assert_int_equal(counter(b, "page_faults"), 1);
}

/* ---- many ---- */

struct light {
	struct weft_proc *proc;
	struct weft_io page;
	uint32_t turns;
};

static struct weft_turn trigger(struct weft_host *h, struct weft_proc *p,
				void *arg)
{
	struct light *l = arg;

	weft_io_load64(h, &l->page, 0x28);
	return (struct weft_turn){ --l->turns ? WEFT_TURN_AGAIN
					      : WEFT_TURN_END };
}

/* Runs n processes on `cpus` processors. Process i has page i and makes `ops`
 * loads. Returns the time until all processes have ended. */
static weft_time_t crowd(struct weft_host *h, uint32_t n, uint32_t ops,
			 uint32_t cpus)
{
	struct light *l = calloc(n, sizeof(*l));
	weft_time_t t;

	assert_non_null(l);
	for (uint32_t i = 0; i < n; i++) {
		struct weft_proc *p = weft_proc_new(h, 0);

		assert_non_null(p);
		assert_true(map(h, p, i, &l[i].page));
		l[i].proc = p;
		l[i].turns = ops;
		assert_true(weft_proc_start(h, p, trigger, &l[i]));
	}
	/* sleeps to an edge of the bus */
	t = weft_host_now(h);
	weft_host_sleep(h, t + 30 * WEFT_NS - t % (30 * WEFT_NS));
	t = weft_host_now(h);
	assert_true(weft_procs_run(h, cpus));
	t = weft_host_now(h) - t - WEFT_NS;
	for (uint32_t i = 0; n < PAGES && i < n; i++)
		weft_proc_free(h, l[i].proc);
	free(l);
	return t;
}

static int all_pages(struct weft_host *h, struct bench *b)
{
	struct mallinfo2 before = mallinfo2();
	struct weft_proc *p[256];
	struct weft_io io;

	for (uint32_t i = 0; i < 256; i++) {
		p[i] = weft_proc_new(h, 0);
		assert_true(map(h, p[i], 65000 + i, &io));
	}
	b->v[0] = (mallinfo2().uordblks - before.uordblks) / 256;
	for (uint32_t i = 0; i < 256; i++)
		weft_proc_free(h, p[i]);
	before = mallinfo2();
	b->t[0] = crowd(h, PAGES, 1, 2);
	b->v[1] = (mallinfo2().uordblks + mallinfo2().hblkhd - before.uordblks -
		   before.hblkhd) /
		  PAGES;
	return 0;
}

/* 65,536 processes make one load each: 41.3 ms (11.3). */
static void processes_load_from_65536_pages_one_by_one(void **state)
{
	struct bench *b = *state;

	bench_set(b, "host.pc", "cost_clock", "1ns");
	bench_well(b, all_pages);
	for (uint32_t i = 0; i < PAGES; i++)
		assert_int_equal(device(b)->loads[i], 1);
	assert_int_equal(device(b)->n_loads, PAGES);
	assert_in_range(b->t[0], (PAGES * 630ull - 60) * WEFT_NS,
			(PAGES * 630ull + 60) * WEFT_NS);
	assert_int_equal(counter(b, "turns"), PAGES);
	assert_int_equal(counter(b, "page_walks"), PAGES);
	print_message("%llu bytes for a process, %llu with its page's owner\n",
		      (unsigned long long)b->v[0], (unsigned long long)b->v[1]);
	assert_in_range(b->v[0], 0, 192); /* 0 if the value is not known */
	assert_in_range(b->v[1], 0, 224);
}

static int eight(struct weft_host *h, struct bench *b)
{
	b->t[0] = crowd(h, 8, 8, 2);
	b->t[1] = crowd(h, 8, 8, 1);
	return 0;
}

/* 64 loads take turns on the bus. Their time does not depend on the number of
 * processors (11.4). */
static void loads_take_the_time_of_the_bus_on_any_processors(void **state)
{
	struct bench *b = *state;

	bench_well(b, eight);
	assert_in_range(b->t[0], (64 * 630 - 60) * WEFT_NS,
			(64 * 630 + 60) * WEFT_NS);
	assert_in_range(b->t[1], (64 * 630 - 60) * WEFT_NS,
			(64 * 630 + 60) * WEFT_NS);
}

/* Each turn of a process costs 1 us of the host, and 300 ns for a page walk,
 * because only one translation is cached. 1300 ns are 43 1/3 clocks of the bus,
 * so that the load starts at the next edge, 20 ns later. */
static void turns_and_walks_cost_processor_time(void **state)
{
	struct bench *b = *state;

	bench_set(b, "host.pc", "turn", "1us");
	bench_set(b, "host.pc", "walk", "300ns");
	bench_set(b, "host.pc", "tlb", "1");
	bench_well(b, eight);
	assert_in_range(b->t[1], 64 * 1950ull * WEFT_NS - 60 * WEFT_NS,
			64 * 1950ull * WEFT_NS + 60 * WEFT_NS);
	assert_int_equal(counter(b, "page_walks"), 128);
	/* the work of two processors overlaps, except on the bus */
	assert_in_range(b->t[0], 32 * 1950ull * WEFT_NS,
			33 * 2030ull * WEFT_NS);
}

struct waiter {
	struct weft_io page;
	uint64_t *word;
	weft_phys_t phys;
	uint32_t state, *woken;
	weft_time_t at;
};

/* In the first turn lets the device write the process's word, and sleeps until
 * `at`. In the second turn waits for a change of the word. */
static struct weft_turn wait_turn(struct weft_host *h, struct weft_proc *p,
				  void *arg)
{
	struct waiter *w = arg;

	if (w->state++ == 0) {
		weft_io_store64(h, &w->page, PAGES_DMA, w->phys);
		return (struct weft_turn){ .kind = WEFT_TURN_SLEEP,
					   .until = w->at };
	}
	if (w->state == 2) {
		w->at = weft_host_now(h);
		return (struct weft_turn){ .kind = WEFT_TURN_WAIT,
					   .p = w->word,
					   .old = UINT64_MAX };
	}
	++*w->woken;
	w->state = *w->word == UINT64_MAX ? 0 : (uint32_t)*w->word;
	return (struct weft_turn){ WEFT_TURN_END };
}

enum { WAITERS = 3000 };

static int waiters(struct weft_host *h, struct bench *b)
{
	struct waiter *w = calloc(WAITERS, sizeof(*w));
	weft_phys_t phys;
	uint64_t *words = weft_mem_alloc(h, WAITERS * 8, 64, &phys);
	uint32_t woken = 0;

	assert_non_null(w);
	assert_non_null(words);
	for (uint32_t i = 0; i < WAITERS; i++) {
		struct weft_proc *p = weft_proc_new(h, 0);

		words[i] = UINT64_MAX;
		w[i] = (struct waiter){ .word = &words[i],
					.phys = phys + 8 * i,
					.woken = &woken,
					.at = (i * 7919 % 5000) * WEFT_US };
		assert_true(map(h, p, i + 1, &w[i].page));
		assert_true(weft_proc_start(h, p, wait_turn, &w[i]));
	}
	assert_true(weft_procs_run(h, 3));
	for (uint32_t i = 0; i < WAITERS; i++) {
		assert_int_equal(w[i].state, i + 1);
		/* each process was woken in time */
		if (i * 7919 % 5000 > 2000)
			assert_in_range(w[i].at, (i * 7919 % 5000) * WEFT_US,
					(i * 7919 % 5000 + 1) * WEFT_US);
	}
	b->v[0] = woken;
	free(w);
	return 0;
}

static void waiting_processes_are_woken_in_time_with_few_turns(void **state)
{
	struct bench *b = *state;

	bench_well(b, waiters);
	assert_int_equal(b->v[0], WAITERS);
	assert_in_range(counter(b, "turns"), 2 * WAITERS + 1, 3 * WAITERS);
}

/* Runs one light process. The process makes a request to the device, and starts
 * to wait after the time `after`. */
static void one_waits(struct weft_host *h, uint64_t *word, weft_phys_t phys,
		      struct weft_io *page, struct weft_proc *p,
		      weft_time_t after)
{
	uint32_t woken = 0;
	struct waiter w = { .page = *page,
			    .word = word,
			    .phys = phys,
			    .woken = &woken,
			    .at = weft_host_now(h) + after };

	*word = UINT64_MAX;
	assert_true(weft_proc_start(h, p, wait_turn, &w));
	assert_true(weft_procs_run(h, 1));
	assert_int_equal(woken, 1);
	assert_int_equal(w.state, 1);
}

static int between(struct weft_host *h, struct bench *b)
{
	struct weft_proc *p = weft_proc_new(h, 0);
	struct weft_io page;
	weft_phys_t phys;
	uint64_t *word = weft_mem_alloc(h, 8, 64, &phys);

	assert_non_null(word);
	assert_true(map(h, p, 1, &page));
	for (uint32_t i = 0; i < 200; i++)
		one_waits(h, word, phys, &page, p,
			  PAGES_DELAY + i * 10 * WEFT_NS);
	return 0;
}

/* Wakes a process between the announcement of a store to its word and the store
 * itself. The process then starts to wait, and must not miss the store although
 * the store was announced before the wait. */
static void store_announced_before_the_wait_is_not_missed(void **state)
{
	bench_well(*state, between);
}

static int leaves(struct weft_host *h, struct bench *b)
{
	struct weft_proc *p = weft_proc_new(h, 0);
	struct weft_io page;
	weft_phys_t phys;

	b->p = weft_mem_alloc(h, 8, 64, &phys);
	assert_non_null(b->p);
	assert_true(map(h, p, 7, &page));
	assert_true(weft_proc_enter(h, p));
	weft_io_store64(h, &page, PAGES_DMA, phys);
	return 0;
}

static void store_behind_the_last_event_lands_in_memory(void **state)
{
	struct bench *b = *state;

	bench_well(b, leaves);
	assert_int_equal(*(uint64_t *)b->p, 7);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(process_reaches_only_its_own_pages),
		T(calls_that_a_process_may_not_make_are_refused),
		T(freed_page_is_mapped_by_the_next_process),
		T(attribute_of_the_map_makes_a_line_one_burst),
		T(guest_reaches_only_pages_of_its_domain),
		T(processes_load_from_65536_pages_one_by_one),
		T(loads_take_the_time_of_the_bus_on_any_processors),
		T(turns_and_walks_cost_processor_time),
		T(waiting_processes_are_woken_in_time_with_few_turns),
		T(store_announced_before_the_wait_is_not_missed),
		T(store_behind_the_last_event_lands_in_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
