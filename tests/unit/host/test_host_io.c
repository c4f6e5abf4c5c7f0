/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores of programs at the device: order, clocks, write combining,
 * configuration space, windows. */
#include "../cmocka_all.h"

#include <string.h>

#include "node.h"

static int setup(void **state)
{
	*state = bench_new(1);
	/* costs are zero, so that clock counts are those of the bus alone */
	bench_set(*state, "host.pc", "cost_store", "0");
	bench_set(*state, "host.pc", "cost_wc", "0");
	bench_set(*state, "host.pc", "cost_load", "0");
	return 0;
}

/* Maps the window of BAR1 that all tests store to. Then sleeps until bus clock
 * 1000, at which the test starts. */
static struct weft_io window(struct weft_host *h, struct bench *b,
			     enum weft_io_attr attr)
{
	struct weft_dev *d = weft_dev_open(h, 0);
	struct weft_io io = { 0 };

	assert_non_null(d);
	assert_true(weft_io_map(h, d, 1, 0x4000, 0x4000, attr, &io));
	b->node[0].card->n_stores = 0;
	weft_host_sleep(h, 1000 * PC);
	return io;
}

/* Returns the n-th store at the card, with its clock counted from the start of
 * the test. */
static const struct card_store *seen(const struct bench *b, uint32_t n)
{
	assert_true(n < b->node[0].card->n_stores);
	return &b->node[0].card->store[n];
}

static void seen_is(const struct bench *b, uint32_t n, uint64_t off,
		    uint32_t bytes, uint64_t clock)
{
	assert_int_equal(seen(b, n)->off, off);
	assert_int_equal(seen(b, n)->bytes, bytes);
	assert_int_equal(seen(b, n)->time, (1000 + clock) * PC);
}

/* ---- uncached ---- */

static int uc_stores(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h, b, WEFT_UC);

	for (uint32_t i = 0; i < 4; i++)
		weft_io_store32(h, &io, 4 * i, i);
	/* the store is posted: the program does not wait for its arrival */
	b->t[0] = weft_host_now(h);
	weft_io_store64(h, &io, 16, 0x0102030405060708);
	return 0;
}

/* Stores a descriptor in four single words: 40 clocks (forth.md 11.5). */
static void uncached_stores_leave_one_by_one(void **state)
{
	struct bench *b = *state;

	bench_set(b, "host.pc", "cost_clock", "0");
	bench_well(b, uc_stores);
	for (uint32_t i = 0; i < 4; i++)
		seen_is(b, i, 0x4000 + 4 * i, 4, 10 * (i + 1));
	seen_is(b, 4, 0x4010, 8, 50);
	assert_int_equal(b->t[0], 1000 * PC);
	assert_int_equal(b->node[0].card->bar[1][0x4010], 8);
}

static int uc_load(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h, b, WEFT_UC);

	weft_io_store32(h, &io, 0x20, 0xcafe);
	weft_io_store32(h, &io, 0x24, 0xbeef);
	b->v[0] = weft_io_load64(h, &io, 0x20);
	b->t[0] = weft_host_now(h);
	b->v[1] = weft_io_load32(h, &io, 0x24);
	return 0;
}

static void load_waits_behind_the_stores_before_it(void **state)
{
	struct bench *b = *state;

	bench_set(b, "host.pc", "cost_clock", "0");
	bench_well(b, uc_load);
	assert_int_equal(b->v[0], 0x0000beef0000cafe);
	assert_int_equal(b->v[1], 0xbeef);
	assert_int_equal(b->t[0], (1000 + 20 + 18) * PC);
}

static int store_costs(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h, b, WEFT_UC);

	for (uint32_t i = 0; i < 5; i++)
		weft_io_store32(h, &io, 4 * i, i);
	b->t[0] = weft_host_now(h);
	return 0;
}

/* The bridge has room for two stores, and each further store waits for room.
 * Therefore the processor stores as fast as the bus takes the stores. */
static void full_bridge_slows_stores_to_the_pace_of_the_bus(void **state)
{
	struct bench *b = *state;

	bench_set(b, "host.pc", "cost_clock", "0");
	bench_set(b, "bus.pcix", "pio_depth", "2");
	bench_well(b, store_costs);
	for (uint32_t i = 0; i < 5; i++)
		seen_is(b, i, 0x4000 + 4 * i, 4, 10 * (i + 1));
	/* the fifth store found room when the third had left */
	assert_int_equal(b->t[0], 1030 * PC);
	assert_int_equal(bench_counter(b->node[0].host, "store_stalls"), 3);
}

static void each_store_costs_processor_time(void **state)
{
	struct bench *b = *state;

	bench_set(b, "host.pc", "cost_clock", "0");
	bench_set(b, "host.pc", "cost_store", "200ns");
	bench_well(b, store_costs);
	for (uint32_t i = 0; i < 5; i++)
		seen_is(b, i, 0x4000 + 4 * i, 4, 20 * (i + 1) + 10);
	assert_int_equal(b->t[0], 1100 * PC);
}

/* ---- write combining ---- */

static int wc_full(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h, b, WEFT_WC);
	uint8_t d[64];

	memset(d, 0x5a, sizeof(d));
	weft_io_copy(h, &io, 0, d, 64);
	return 0;
}

/* Stores four descriptors in one burst: 24 clocks (11.5). */
static void full_line_leaves_as_one_burst(void **state)
{
	struct bench *b = *state;

	bench_well(b, wc_full);
	seen_is(b, 0, 0x4000, 64, 24);
	assert_int_equal(b->node[0].card->n_stores, 1);
	assert_int_equal(b->node[0].card->bar[1][0x403f], 0x5a);
}

static int wc_backwards(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h, b, WEFT_WC);

	for (int i = 7; i >= 0; i--)
		weft_io_store64(h, &io, 8 * (uint64_t)i, (uint64_t)i);
	return 0;
}

static void stores_in_any_order_fill_one_line(void **state)
{
	struct bench *b = *state;

	bench_well(b, wc_backwards);
	seen_is(b, 0, 0x4000, 64, 24);
	assert_int_equal(b->node[0].card->n_stores, 1);
}

static int wc_holes(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h, b, WEFT_WC);

	weft_io_store32(h, &io, 0x3c, 15);
	weft_io_store32(h, &io, 0x08, 2);
	weft_io_store32(h, &io, 0x0c, 3);
	/* both stores to this dword leave as one */
	weft_io_store32(h, &io, 0x0c, 33);
	weft_io_store64(h, &io, 0x10, 0x500000004);
	weft_io_store32(h, &io, 0x30, 12);
	weft_io_fence(h);
	weft_io_fence(h); /* has no effect, because all stores have left */
	return 0;
}

static void line_with_holes_leaves_in_ascending_bursts(void **state)
{
	struct bench *b = *state;
	uint32_t v;

	bench_well(b, wc_holes);
	assert_int_equal(b->node[0].card->n_stores, 3);
	seen_is(b, 0, 0x4008, 16, 12);
	seen_is(b, 1, 0x4030, 4, 22);
	seen_is(b, 2, 0x403c, 4, 32);
	memcpy(&v, &b->node[0].card->bar[1][0x400c], 4);
	assert_int_equal(v, 33);
	assert_int_equal(bench_counter(b->node[0].host, "wc_bursts"), 3);
}

static int wc_evict(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h, b, WEFT_WC);

	for (uint32_t i = 0; i < 3; i++)
		weft_io_store32(h, &io, 64 * i, i);
	/* line 0 has left its buffer, therefore this store starts a new line */
	weft_io_store32(h, &io, 4, 9);
	return 0;
}

/* With two buffers the third line evicts the oldest one. The remaining lines
 * leave at the end, oldest first. */
static void third_line_drives_the_oldest_of_two_out(void **state)
{
	struct bench *b = *state;

	bench_set(b, "host.pc", "wc_lines", "2");
	bench_well(b, wc_evict);
	assert_int_equal(b->node[0].card->n_stores, 4);
	seen_is(b, 0, 0x4000, 4, 10);
	seen_is(b, 1, 0x4040, 4, 20);
	seen_is(b, 2, 0x4080, 4, 30);
	seen_is(b, 3, 0x4004, 4, 40);
}

static int wc_then_load(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h, b, WEFT_WC);

	weft_io_store32(h, &io, 0x10, 77);
	b->v[0] = weft_io_load32(h, &io, 0x10);
	return 0;
}

static void load_sees_a_write_combined_store(void **state)
{
	struct bench *b = *state;

	bench_well(b, wc_then_load);
	assert_int_equal(b->v[0], 77);
}

static int wc_cost(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h, b, WEFT_WC);

	for (uint32_t i = 0; i < 16; i++)
		weft_io_store32(h, &io, 4 * i, i);
	return 0;
}

static void full_line_leaves_when_its_last_word_is_stored(void **state)
{
	struct bench *b = *state;

	bench_set(b, "host.pc", "cost_wc", "10ns");
	bench_well(b, wc_cost);
	seen_is(b, 0, 0x4000, 64, 16 + 24);
}

/* ---- configuration space, windows ---- */

#define WIDE_BAR (8ull << 30)

static int config(struct weft_host *h, struct bench *b)
{
	struct weft_dev *d = weft_dev_open(h, 0);
	struct weft_io io;

	b->v[0] = weft_cfg_load(h, d, 0, 4);
	b->v[1] = weft_cfg_load(h, d, 1, 1);
	b->v[2] = weft_cfg_load(h, d, 2, 2);
	weft_cfg_store(h, d, 0x41, 1, 0xab);
	weft_cfg_store(h, d, 0x42, 2, 0xcdef);
	b->v[3] = weft_cfg_load(h, d, 0x40, 4);
	b->v[4] = weft_dev_open(h, 1) != NULL;
	b->v[5] = weft_io_map(h, d, 1, 0, CARD_BAR, WEFT_UC, &io);
	b->v[6] = weft_io_map(h, d, 1, 0, CARD_BAR + 4, WEFT_UC, &io);
	b->v[7] = weft_io_map(h, d, 1, UINT64_MAX, 8, WEFT_UC, &io);
	b->v[8] = weft_io_map(h, d, 4, 0, 4, WEFT_UC, &io);
	b->v[9] = weft_io_map(h, d, 9, 0, 4, WEFT_UC, &io);
	b->v[10] = weft_io_map(h, d, 0, CARD_BAR - 4, 4, WEFT_UC, &io);
	b->v[11] = weft_cfg_load(h, d, 0x14, 4);
	b->v[12] = weft_cfg_load(h, d, 0x10, 4);
	b->v[13] = weft_io_map(h, d, 2, WIDE_BAR - 4, 4, WEFT_UC, &io);
	b->v[14] = weft_io_map(h, d, 2, WIDE_BAR, 4, WEFT_UC, &io);
	b->v[15] = (uint64_t)weft_cfg_load(h, d, 0x1c, 4) << 32 |
		   weft_cfg_load(h, d, 0x18, 4);
	return 0;
}

static void configuration_space_has_bytes_and_bars(void **state)
{
	struct bench *b = *state;

	bench_well(b, config);
	assert_int_equal(b->v[0], 0x12345678);
	assert_int_equal(b->v[1], 0x56);
	assert_int_equal(b->v[2], 0x1234);
	assert_int_equal(b->v[3], 0xcdefab00);
	assert_false(b->v[4]);
	assert_true(b->v[5]);
	assert_false(b->v[6] || b->v[7] || b->v[8] || b->v[9]);
	assert_true(b->v[10]);
	/* both BARs have different addresses */
	assert_int_equal(b->v[11] % CARD_BAR, 0);
	assert_int_not_equal(b->v[11], b->v[12]);
	assert_true(b->v[11] >= 0xc0000000 && b->v[12] >= 0xc0000000);
	assert_true(b->v[13] && !b->v[14]);
	/* the BAR of 8 GiB is at the first free multiple of its size */
	assert_int_equal(b->v[15], WIDE_BAR | 4);
}

static int mistakes(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h, b, WEFT_UC);
	struct weft_dev *d = weft_dev_open(h, 0);

	weft_io_store32(h, &io, 0x4000, 1);
	weft_io_store64(h, &io, UINT64_MAX - 3, 1);
	weft_io_store64(h, &io, 4, 1);
	b->v[0] = weft_io_load32(h, &io, 2);
	weft_cfg_store(h, d, 2, 4, 1);
	weft_io_copy(h, &io, 0, &b->v[0], 6);
	weft_mem_free(h, &b->v[0]);
	b->v[1] = 1;
	return 0;
}

static void mistakes_of_a_program_are_reported_and_it_goes_on(void **state)
{
	struct bench *b = *state;

	bench_main(b, mistakes);
	assert_int_equal(b->node[0].card->n_stores, 0);
	assert_int_equal(b->v[0], UINT32_MAX);
	assert_int_equal(b->v[1], 1);
	for (size_t i = 0; i < 7; i++)
		assert_ptr_equal(strstr(bench_failure(b, i), "n0.prog0: "),
				 bench_failure(b, i));
	assert_string_equal(bench_failure(b, 7), "");
}

static int memory(struct weft_host *h, struct bench *b)
{
	weft_phys_t phys, again;
	uint64_t *p = weft_mem_alloc(h, 4096, 4096, &phys);

	b->v[0] = phys % 4096;
	b->v[1] = weft_mem_phys(h, p + 1, &again) && again == phys + 8;
	b->v[2] = weft_mem_phys(h, &again, &again);
	b->v[3] = weft_mem_alloc(h, 1 << 30, 0, NULL) == NULL;
	weft_mem_free(h, p);
	return 0;
}

static void memory_has_physical_addresses_and_an_end(void **state)
{
	struct bench *b = *state;

	bench_well(b, memory);
	assert_int_equal(b->v[0], 0);
	assert_true(b->v[1]);
	assert_false(b->v[2]);
	assert_true(b->v[3]);
}

/* ---- several threads ---- */

static int many_stores(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h, b, WEFT_UC);

	for (uint32_t i = 0; i < 6; i++)
		weft_io_store32(h, &io, 4 * i, i);
	return 0;
}

static int many_loads(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h, b, WEFT_UC);

	for (uint32_t i = 0; i < 3; i++)
		b->v[i] = weft_io_load32(h, &io, 0x1000 + 4 * i);
	b->t[0] = weft_host_now(h);
	return 0;
}

static void threads_share_the_bus_first_come_first_served(void **state)
{
	struct bench *b = *state;

	bench_set(b, "bus.pcix", "pio_depth", "1");
	bench_prog(b, 0, many_stores);
	bench_prog(b, 0, many_loads);
	bench_start(b);
	bench_run(b);
	assert_string_equal(bench_failure(b, 0), "");
	/* order at the device: store, store (waits), load, store, load, store,
	 * load, 2 stores */
	seen_is(b, 0, 0x4000, 4, 10);
	seen_is(b, 1, 0x4004, 4, 20);
	seen_is(b, 2, 0x4008, 4, 20 + 17 + 10);
	seen_is(b, 3, 0x400c, 4, 47 + 17 + 10);
	seen_is(b, 4, 0x4010, 4, 74 + 17 + 10);
	seen_is(b, 5, 0x4014, 4, 111);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(uncached_stores_leave_one_by_one),
		T(load_waits_behind_the_stores_before_it),
		T(full_bridge_slows_stores_to_the_pace_of_the_bus),
		T(each_store_costs_processor_time),
		T(full_line_leaves_as_one_burst),
		T(stores_in_any_order_fill_one_line),
		T(line_with_holes_leaves_in_ascending_bursts),
		T(third_line_drives_the_oldest_of_two_out),
		T(load_sees_a_write_combined_store),
		T(full_line_leaves_when_its_last_word_is_stored),
		T(configuration_space_has_bytes_and_bars),
		T(mistakes_of_a_program_are_reported_and_it_goes_on),
		T(memory_has_physical_addresses_and_an_end),
		T(threads_share_the_bus_first_come_first_served),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
