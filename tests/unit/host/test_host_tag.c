/* SPDX-License-Identifier: Apache-2.0 */
/* Tagged accesses of processes (Host Port specification 10.1, scenarios X01 to
 * X03) on HyperTransport and PCI, and their times beside those of a
 * Triggerpage. */
#include "../cmocka_all.h"

#include <stdlib.h>

#include "node.h"
#include "pages.h"

extern const struct weft_class weft_class_bus_pci, weft_class_bus_ht;
extern const struct weft_class weft_class_bus_pcix;

static struct bench *make(const struct weft_class *bus, const char *preset)
{
	struct bench *b = bench_make(1, bus, &weft_class_pages);
	struct weft_err err = { 0 };

	if (weft_preset_apply(b->node[0].host, "xeon", &err) ||
	    (preset && weft_preset_apply(b->node[0].bus, preset, &err)))
		abort();
	bench_set(b, "host.pc", "cost_clock", "0");
	return b;
}

static int ht(void **state)
{
	*state = make(&weft_class_bus_ht, "htx100");
	return 0;
}

static int wire(void **state)
{
	*state = make(&weft_class_bus_ht, "htx100_wire");
	return 0;
}

static int pci(void **state)
{
	*state = make(&weft_class_bus_pci, "pci66");
	return 0;
}

static int pcix(void **state)
{
	*state = make(&weft_class_bus_pcix, NULL);
	return 0;
}

static struct pages *device(const struct bench *b)
{
	return b->node[0].dev->state;
}

static uint64_t bus_counter(const struct bench *b, const char *name)
{
	return bench_counter(b->node[0].bus, name);
}

/* ---- identity ---- */

static int who(struct weft_host *h, struct bench *b)
{
	struct weft_dev *d = weft_dev_open(h, 0);
	struct weft_proc *p = weft_proc_new(h, 0);
	struct weft_io io;
	uint64_t line[8] = { 11 }, v;

	assert_true(weft_io_can_tag(h, d));
	assert_true(weft_proc_set_tag(h, p, 0xbeef));
	assert_true(weft_proc_map(h, p, d, 0, 0x3000, WEFT_PAGE, WEFT_UC, &io));
	assert_true(weft_proc_enter(h, p));
	assert_false(weft_proc_set_tag(h, p, 1)); /* X02 */
	weft_io_tstore(h, &io, 0x40, line, 64);
	/* A tagged load has a valid answer only while the queue has entries
	 * (X03). The plain tagged store has put nothing into the queue. */
	assert_false(weft_io_tload64(h, &io, 0x40, &v));
	assert_int_equal(v, 0xbeef);
	assert_int_equal(device(b)->tag, 0xbeef);
	assert_false(device(b)->user);
	assert_int_equal(device(b)->n_tagged, 2);
	assert_true(weft_io_tcstore(h, &io, 0x40, line, 64, 0));
	assert_true(weft_io_tload64(h, &io, 0x40, &v));
	weft_io_tstore_user(h, &io, 0x80, line, 8, 42); /* X02 */
	assert_true(weft_io_tload64_user(h, &io, 0x40, 43, &v));
	assert_int_equal(v, 43);
	assert_true(device(b)->user);
	/* a page that the process has not mapped cannot be used */
	io.off += WEFT_PAGE;
	assert_false(weft_io_tload64(h, &io, 0x40, &v));
	assert_int_equal(v, UINT64_MAX);
	return 0;
}

/* X02, X03 */
static void tagged_access_carries_the_tag_of_its_process(void **state)
{
	struct bench *b = *state;

	bench_well(b, who);
	assert_int_equal(device(b)->n_tagged, 6);
	assert_int_equal(device(b)->n_queue, 1);
	assert_int_equal(device(b)->queue[0], 11);
	assert_int_equal(device(b)->last_off, 0x3040);
	assert_int_equal(bus_counter(b, "tagged"), 6);
	assert_int_equal(bench_counter(b->node[0].host, "tagged"), 6);
	assert_int_equal(bench_counter(b->node[0].host, "page_faults"), 1);
}

/* ---- one page for all processes ---- */

static bool map(struct weft_host *h, struct weft_proc *p, uint64_t page,
		struct weft_io *io)
{
	return weft_proc_map(h, p, weft_dev_open(h, 0), 0, page * WEFT_PAGE,
			     WEFT_PAGE, WEFT_UC, io);
}

static bool share(struct weft_host *h, uint64_t page)
{
	return weft_page_share(h, weft_dev_open(h, 0), 0, page * WEFT_PAGE);
}

static int shared(struct weft_host *h, struct bench *b)
{
	struct weft_proc *p[3];
	struct weft_io io[3], no;
	uint64_t val;

	for (uint32_t i = 0; i < 3; i++) {
		p[i] = weft_proc_new(h, 0);
		assert_true(weft_proc_set_tag(h, p[i], (uint16_t)(70 + i)));
	}
	assert_true(map(h, p[0], 9, &no));
	assert_false(share(h, 9)); /* refused, because a process has the page */
	assert_false(share(h, PAGES));
	assert_int_equal(weft_domain_new(h), 1);
	assert_true(weft_domain_give(h, 1, weft_dev_open(h, 0), 0,
				     8 * WEFT_PAGE, WEFT_PAGE));
	assert_false(share(h, 8));
	assert_true(share(h, 5));
	for (uint32_t i = 0; i < 3; i++)
		assert_true(map(h, p[i], 5, &io[i]));
	weft_proc_free(h, p[2]); /* the page stays common to all */
	p[2] = weft_proc_new(h, 0);
	assert_true(map(h, p[2], 5, &io[2]));
	assert_false(map(h, p[2], 9, &no)); /* other pages are not common */
	assert_true(weft_proc_enter(h, p[1]));
	/* refused, because processes are not allowed to share pages */
	assert_false(share(h, 6));
	weft_io_tload64(h, &io[1], 0, &val);
	assert_int_equal(val, 71); /* the tag names the process */
	assert_int_equal(device(b)->tag, 71);
	return 0;
}

static void shared_page_belongs_to_every_process(void **state)
{
	bench_well(*state, shared);
}

static int cannot(struct weft_host *h, struct bench *b)
{
	struct weft_dev *d = weft_dev_open(h, 0);
	struct weft_io io;
	uint64_t v = 0;

	assert_false(weft_io_can_tag(h, d));
	assert_true(weft_io_map(h, d, 0, 0, WEFT_PAGE, WEFT_UC, &io));
	assert_false(weft_io_tload64(h, &io, 0, &v));
	assert_int_equal(v, UINT64_MAX);
	assert_false(weft_io_tcstore(h, &io, 0, &v, 8, 0));
	weft_io_tstore(h, &io, 0, &v, 8);
	return 0;
}

static void bus_without_tags_refuses_tagged_accesses(void **state)
{
	bench_well(*state, cannot);
	assert_int_equal(device(*state)->n_tagged, 0);
}

/* ---- a queue of all processes (X01) ---- */

struct light {
	struct weft_io page;
	uint64_t line[8];
	uint32_t *done;
};

static struct weft_turn issue(struct weft_host *h, struct weft_proc *p,
			      void *arg)
{
	struct light *l = arg;

	*l->done += weft_io_tcstore(h, &l->page, 0, l->line, 64, 0);
	return (struct weft_turn){ WEFT_TURN_END };
}

enum { CROWD = 1000 };

/* All processes share one page, and the tag names the process. */
static int crowd(struct weft_host *h, struct bench *b)
{
	struct weft_dev *d = weft_dev_open(h, 0);
	struct light *l = calloc(CROWD, sizeof(*l));
	uint32_t done = 0;

	assert_non_null(l);
	for (uint32_t i = 0; i < CROWD; i++) {
		struct weft_proc *p = weft_proc_new(h, 0);

		l[i].done = &done;
		l[i].line[0] = i;
		assert_true(weft_proc_map(h, p, d, 0, WEFT_PAGE * (1 + i),
					  WEFT_PAGE, WEFT_UC, &l[i].page));
		assert_true(weft_proc_start(h, p, issue, &l[i]));
	}
	assert_true(weft_procs_run(h, 4));
	b->v[0] = done;
	free(l);
	return 0;
}

static void queue_takes_what_it_has_room_for_from_a_crowd(void **state)
{
	struct bench *b = *state;
	uint8_t seen[CROWD] = { 0 };

	bench_well(b, crowd);
	assert_int_equal(b->v[0], PAGES_QUEUE);
	assert_int_equal(device(b)->n_queue, PAGES_QUEUE);
	assert_int_equal(device(b)->n_tagged, CROWD);
	for (uint32_t i = 0; i < PAGES_QUEUE; i++)
		assert_int_equal(seen[device(b)->queue[i]]++, 0);
}

/* ---- times ---- */

static int times(struct weft_host *h, struct bench *b)
{
	struct weft_io io;
	uint64_t line[8] = { 0 }, v;
	weft_time_t t;

	assert_true(weft_io_map(h, weft_dev_open(h, 0), 0, 0, WEFT_PAGE,
				WEFT_UC, &io));
	weft_host_sleep(h, 90 * WEFT_US); /* sleeps to an edge of all clocks */
	t = 90 * WEFT_US;
	weft_io_load32(h, &io, 0);
	b->t[0] = weft_host_now(h) - t;
	weft_host_sleep(h, t += 30 * WEFT_US);
	weft_io_tcstore(h, &io, 0, line, 64, 0);
	b->t[1] = device(b)->t - t;
	b->t[2] = weft_host_now(h) - t;
	weft_host_sleep(h, t += 30 * WEFT_US);
	weft_io_tload64(h, &io, 0, &v);
	b->t[3] = weft_host_now(h) - t;
	weft_host_sleep(h, t += 30 * WEFT_US);
	weft_io_tstore(h, &io, 0, line, 64);
	weft_host_sleep(h, t += 30 * WEFT_US);
	b->t[4] = device(b)->t + 30 * WEFT_US - t;
	return 0;
}

static void times_are(struct bench *b, const uint64_t ns[5], uint64_t ps)
{
	bench_well(b, times);
	for (uint32_t i = 0; i < 5; i++)
		assert_in_range(b->t[i], ns[i] * WEFT_NS,
				ns[i] * WEFT_NS + ps * (WEFT_NS / 1000));
}

/* A read takes 320 ns (UL-11), and 64 bytes in one direction take 160 ns
 * (10.2). The link's width is not modelled, so that 88 bytes take as long as
 * 8. */
static void tagged_accesses_take_their_times_on_htx100(void **state)
{
	static const uint64_t ns[5] = { 320, 160, 320, 320, 160 };

	times_are(*state, ns, 150);
}

/* Each direction takes 140 ns, and each byte 2.5 ns. The accesses send 8, 88,
 * 16 and 80 bytes. The first three get 8, 8 and 16 bytes back. */
static void tagged_accesses_take_their_times_on_a_wire(void **state)
{
	static const uint64_t ns[5] = { 320, 140 + 220, 280 + 220 + 20,
					280 + 40 + 40, 140 + 200 };

	times_are(*state, ns, 0);
}

/* Times of 11.2, plus one clock for the header. The load of 4 bytes takes as
 * long as one of 8. */
static void tagged_accesses_take_their_times_on_pci66(void **state)
{
	static const uint64_t ns[5] = { 405, 90 + 14 * 15, 210 + 21 * 15,
					405 + 15, 381 + 13 * 15 };

	times_are(*state, ns, 0);
}

static int store_cost(struct weft_host *h, struct bench *b)
{
	struct weft_io io;
	uint64_t line[8] = { 0 };

	assert_true(weft_io_map(h, weft_dev_open(h, 0), 0, 0, WEFT_PAGE,
				WEFT_UC, &io));
	weft_host_sleep(h, 90 * WEFT_US);
	weft_io_tstore(h, &io, 0, line, 64);
	b->t[0] = weft_host_now(h) - 90 * WEFT_US;
	return 0;
}

static void tagged_store_takes_processor_time(void **state)
{
	struct bench *b = *state;

	bench_set(b, "host.pc", "cost_store", "33ns");
	bench_well(b, store_cost);
	assert_int_equal(b->t[0], 33 * WEFT_NS);
}

#define T(name, set) cmocka_unit_test_setup_teardown(name, set, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(tagged_access_carries_the_tag_of_its_process, ht),
		T(tagged_access_carries_the_tag_of_its_process, wire),
		T(tagged_access_carries_the_tag_of_its_process, pci),
		T(bus_without_tags_refuses_tagged_accesses, pcix),
		T(queue_takes_what_it_has_room_for_from_a_crowd, ht),
		T(queue_takes_what_it_has_room_for_from_a_crowd, pci),
		T(shared_page_belongs_to_every_process, ht),
		T(shared_page_belongs_to_every_process, pci),
		T(tagged_accesses_take_their_times_on_htx100, ht),
		T(tagged_accesses_take_their_times_on_a_wire, wire),
		T(tagged_accesses_take_their_times_on_pci66, pci),
		T(tagged_store_takes_processor_time, ht),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
