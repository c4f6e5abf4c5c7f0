/* SPDX-License-Identifier: Apache-2.0 */
/* A node with HyperTransport, as its programs see it: a load (EX-11), lines of
 * write-combined stores, the sum H1 + H8 of EXTOLL specification 7.6. */
#include "../cmocka_all.h"

#include <string.h>

#include "node.h"

static int setup(void **state)
{
	*state = bench_new_ht(1);
	return 0;
}

static struct weft_io window(struct weft_host *h, enum weft_io_attr attr)
{
	struct weft_io io = { 0 };

	assert_true(
		weft_io_map(h, weft_dev_open(h, 0), 1, 0, CARD_BAR, attr, &io));
	return io;
}

/* Measures the time of a load, less the time of reading the clock. The BARs
 * were sized before, so that the load is alone on the bus. */
static int loads(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h, WEFT_UC);

	weft_io_store32(h, &io, 0x40, 0x12345678);
	b->v[0] = weft_io_load32(h, &io, 0x40);
	weft_host_sleep(h, 1000 * WEFT_US);
	b->t[0] = weft_host_now(h);
	b->v[1] = weft_io_load32(h, &io, 0x40);
	b->t[1] = weft_host_now(h) - WEFT_NS;
	return 0;
}

static void load_takes_180_ns(void **state)
{
	struct bench *b = *state;

	bench_well(b, loads);
	assert_int_equal(b->v[0], 0x12345678);
	assert_int_equal(b->v[1], 0x12345678);
	/* 180 ns, plus or minus half a slot of the link, because the load
	 * starts between slots */
	assert_in_range(b->t[1] - b->t[0], 180 * WEFT_NS - 1250000,
			180 * WEFT_NS + 1250000);
}

/* Each line leaves as one packet: 64 bytes as one, 72 bytes as two, because
 * they touch two lines, and 16 bytes as one. */
static int lines(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h, WEFT_WC);
	uint8_t data[72];

	memset(data, 0x5a, sizeof(data));
	b->node[0].card->n_stores = 0;
	weft_io_copy(h, &io, 0x1000, data, 64);
	weft_io_fence(h);
	weft_io_copy(h, &io, 0x2000, data, 72);
	weft_io_fence(h);
	weft_io_copy(h, &io, 0x3000, data, 16);
	weft_io_fence(h);
	return 0;
}

static void write_combined_lines_leave_as_packets(void **state)
{
	static const struct {
		uint32_t off, bytes;
	} want[] = {
		{ 0x1000, 64 }, { 0x2000, 64 }, { 0x2040, 8 }, { 0x3000, 16 }
	};
	struct bench *b = *state;
	const struct card *c = b->node[0].card;
	uint32_t first;

	bench_well(b, lines);
	/* only the last four stores count, because configuration stores came
	 * first */
	assert_true(c->n_stores >= 4);
	first = c->n_stores - 4;
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(c->store[first + i].off, want[i].off);
		assert_int_equal(c->store[first + i].bytes, want[i].bytes);
	}
}

/* Measures the parts outside the device: H1 before the link, H8 after it. */
static int ends(struct weft_host *h, struct bench *b)
{
	struct weft_io io = window(h, WEFT_UC);
	weft_phys_t phys;
	uint64_t *p = weft_mem_alloc(h, 64, 0, &phys);

	weft_io_store64(h, &io, CARD_VALUE, 7);
	weft_io_store64(h, &io, CARD_DELAY, 100);
	weft_host_sleep(h, 1000 * WEFT_US);
	b->t[0] = weft_host_now(h);
	weft_io_store64(h, &io, CARD_DMA, phys);
	b->v[0] = weft_host_poll64(h, p, 0, WEFT_NEVER);
	b->t[1] = weft_host_now(h) - WEFT_NS;
	b->v[1] = *p;
	return 0;
}

static void ways_at_the_host_take_75_and_164_ns(void **state)
{
	struct bench *b = *state;
	const struct card *c = b->node[0].card;
	weft_time_t h1, h8;

	bench_well(b, ends);
	assert_true(b->v[0]);
	assert_int_equal(b->v[1], 7);
	/* 16 bytes on the link take 10 ns, and the core takes 60 ns */
	h1 = c->store[c->n_stores - 1].time - b->t[0] - 70 * WEFT_NS;
	assert_in_range(h1, 75 * WEFT_NS - 1250000, 75 * WEFT_NS + 1250000);
	/* a write is done when its last byte is on the link */
	h8 = b->t[1] - c->t_dma;
	assert_in_range(h8, 163 * WEFT_NS, 165 * WEFT_NS);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(load_takes_180_ns),
		T(write_combined_lines_leave_as_packets),
		T(ways_at_the_host_take_75_and_164_ns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
