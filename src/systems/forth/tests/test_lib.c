/* SPDX-License-Identifier: Apache-2.0 */
/* FORTH driver and user library against a toy NIC: order of initialisation
 * (forth.md 2.9), descriptors (3.2), clusters (3.3), queue pointers. */
#include <errno.h>
#include <string.h>

#include "unit/cmocka_all.h"
#include "fake_host.h"
#include "weft/forth.h"

static struct weft_host node[FAKE_NODES];

static struct weft_forth *open_nic(uint32_t queues,
				   const struct weft_forth_attr *a)
{
	struct weft_forth *f;

	fake_start(node, 2, queues);
	assert_int_equal(weft_forth_open(&node[0], a, &f), 0);
	return f;
}

static void close_nic(struct weft_forth *f)
{
	weft_forth_close(f);
	fake_stop(node, 2);
}

/* Returns the index of the first access with these values from `from` on, or
 * -1. */
static int find(enum fake_what what, uint32_t off, uint64_t val, int from)
{
	for (uint32_t i = (uint32_t)from; i < node[0].n_log; i++)
		if (node[0].log[i].what == what && node[0].log[i].off == off &&
		    node[0].log[i].val == val)
			return (int)i;
	return -1;
}

/* ---- 2.9 ---- */

static void test_init_order(void **state)
{
	const struct weft_forth_attr a = { .irq = true };
	struct weft_forth *f = open_nic(1, &a);
	int at[8];

	at[0] = find(FAKE_CFG, FORTH_CFG_COMMAND, 0x146, 0);
	at[1] = find(FAKE_CFG, FORTH_CFG_LATENCY, 0xFE, 0);
	at[2] = find(FAKE_CFG, FORTH_CFG_CACHE_LINE, 0x80, at[1]);
	at[3] = find(FAKE_CFG, FORTH_CFG_PCIX_CMD, 3 << 2 | 1, at[2]);
	at[4] = find(FAKE_REG, FORTH_CONTROL, 1 << 4, at[3]);
	at[5] = find(FAKE_REG, FORTH_CONTROL, 1 << 24, at[4]);
	at[6] = find(FAKE_CFG, FORTH_CFG_APP_IRQ, 1, at[5]);
	at[7] = find(FAKE_REG, FORTH_CONTROL, 1, at[6]);
	for (int i = 0; i < 8; i++)
		assert_true(at[i] >= 0 && (!i || at[i] > at[i - 1]));
	/* the driver clears counters between reset and start of the engine */
	for (uint32_t off = 0x20; off <= 0x78; off += 4)
		assert_true(find(FAKE_REG, off, 0, at[5]) < at[7]);
	assert_true(find(FAKE_REG, 0x80, 0, at[5]) > at[5]);
	close_nic(f);
}

static void test_foreign_device_is_not_opened(void **state)
{
	struct weft_forth *f;

	fake_start(node, 1, 1);
	node[0].cfg[0] = FORTH_VENDOR_ID << 16 | FORTH_DEVICE_ID;
	assert_true(weft_forth_probe(&node[0], &node[0].dev));
	node[0].cfg[0] = 0x12345678;
	assert_int_equal(weft_forth_open(&node[0], NULL, &f), -ENODEV);
	fake_stop(node, 1);
}

static void test_info_gives_the_limits_of_the_nic(void **state)
{
	struct weft_forth *f = open_nic(8, NULL);
	const struct weft_forth_info *i = weft_forth_info(f);

	assert_int_equal(i->queues, 8);
	assert_int_equal(i->depth, 128);
	assert_int_equal(i->max_payload, 512);
	assert_int_equal(i->min_payload, 24);
	assert_int_equal(i->max_transfer, 4096); /* VOQs cut */
	close_nic(f);
	f = open_nic(1, NULL);
	assert_int_equal(weft_forth_info(f)->depth, 1024);
	assert_int_equal(weft_forth_info(f)->max_transfer, 496);
	close_nic(f);
}

static void test_read_limit(void **state)
{
	/* a limit between two steps takes the longer */
	static const struct {
		uint32_t max, code;
	} rows[] = { { 1, 0 },	  { 512, 0 },	    { 513, 1 },	 { 1024, 1 },
		     { 1025, 2 }, { 2048, 2 },	    { 2049, 3 }, { 4096, 3 },
		     { 4097, 3 }, { UINT32_MAX, 3 } };

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct weft_forth_attr a = { .read_max = rows[i].max,
						   .latency_timer = 0x20 };
		struct weft_forth *f = open_nic(1, &a);

		assert_true(find(FAKE_CFG, FORTH_CFG_PCIX_CMD,
				 rows[i].code << 2 | 1, 0) >= 0);
		assert_true(find(FAKE_CFG, FORTH_CFG_LATENCY, 0x20, 0) >= 0);
		close_nic(f);
	}
}

/* ---- 3.2: the printed examples ---- */

static void test_descriptors_have_the_specified_bits(void **state)
{
	const struct weft_forth_attr a = { .post = WEFT_FORTH_POST_32 };
	struct weft_forth *f = open_nic(1, &a);
	static const struct {
		struct weft_forth_desc d;
		uint64_t q1;
	} rows[] = {
		{ { .remote = 0x10000000, .qwords = 3, .dst = 1 },
		  0x0810000310000000 },
		{ { .remote = 0x1FE00000,
		    .qwords = 62,
		    .dst = 5,
		    .flags = WEFT_FORTH_RNOTIFY },
		  0x4850003E1FE00000 },
		{ { .remote = 0x00ABC000,
		    .qwords = 64,
		    .dst = 7,
		    .flags = WEFT_FORTH_RIRQ },
		  0x1870004000ABC000 },
		{ { .remote = 0xDEADBEE8,
		    .qwords = 62,
		    .dst = 2,
		    .flags = WEFT_FORTH_LNOTIFY },
		  0x2820003EDEADBEE8 },
		{ { .remote = 0xFFFFF000,
		    .qwords = 512,
		    .dst = 127,
		    .flags = WEFT_FORTH_RNOTIFY | WEFT_FORTH_LNOTIFY |
			     WEFT_FORTH_RIRQ },
		  0x7FF00200FFFFF000 },
	};

	node[0].running = false;
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(weft_forth_post(f, &rows[i].d, 1), 1);
		assert_int_equal(node[0].slot[i][1], rows[i].q1);
	}
	close_nic(f);
}

static void test_bad_puts_are_refused(void **state)
{
	struct weft_forth *f = open_nic(1, NULL);
	weft_phys_t m = node[0].base;

	assert_int_equal(weft_forth_put(f, 1, m, 0, 0, 0), -EINVAL);
	assert_int_equal(weft_forth_put(f, 1, m, 0, 63, 0), -EINVAL);
	assert_int_equal(weft_forth_put(f, 1, m + 4, 0, 1, 0), -EINVAL);
	assert_int_equal(weft_forth_put(f, 1, m, 1ull << 32, 1, 0), -EINVAL);
	assert_int_equal(weft_forth_put(f, 128, m, 0, 1, 0), -EINVAL);
	close_nic(f);
}

/* ---- 3.3: clusters ---- */

static uint32_t count(enum fake_what what, uint32_t size)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < node[0].n_log; i++)
		n += node[0].log[i].what == what &&
		     (!size || node[0].log[i].size == size);
	return n;
}

static void fill(struct weft_forth_desc *d, uint32_t n, uint32_t dst)
{
	for (uint32_t i = 0; i < n; i++)
		d[i] = (struct weft_forth_desc){ .local = node[0].base,
						 .remote = 0x2000000,
						 .qwords = 1,
						 .dst = (uint8_t)dst };
}

/* 10 descriptors from slot 0 make lines of 4, 4 and 2, each with one start
 * flag. */
static void test_each_line_of_descriptors_has_one_start_flag(void **state)
{
	struct weft_forth *f = open_nic(1, NULL);
	struct weft_forth_desc d[10];

	node[0].running = false;
	node[0].n_log = 0;
	fill(d, 10, 1);
	assert_int_equal(weft_forth_post(f, d, 10), 10);
	assert_int_equal(count(FAKE_FENCE, 0), 3);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(!!(node[0].slot[i][1] & FORTH_DESC_START),
				 i == 3 || i == 7 || i == 9);
	/* the next two descriptors fill the line that was begun */
	assert_int_equal(weft_forth_post(f, d, 4), 4);
	assert_int_equal(count(FAKE_FENCE, 0), 5);
	close_nic(f);
}

static void test_held_descriptors_start_with_the_next_post(void **state)
{
	struct weft_forth *f = open_nic(1, NULL);
	struct weft_forth_desc d[3];

	fill(d, 3, 1);
	d[2].flags = WEFT_FORTH_HOLD;
	weft_forth_post(f, d, 3);
	assert_int_equal(node[0].departed[0], 0);
	weft_forth_post(f, d, 1);
	assert_int_equal(node[0].departed[0], 4);
	close_nic(f);
}

static void test_post_width_sets_the_number_of_stores(void **state)
{
	struct weft_forth_attr a = { .post = WEFT_FORTH_POST_64 };
	struct weft_forth *f = open_nic(1, &a);
	struct weft_forth_desc d[2];

	fill(d, 2, 1);
	node[0].n_log = 0;
	weft_forth_post(f, d, 2);
	assert_int_equal(count(FAKE_SLOT, 8), 4);
	close_nic(f);
	a.post = WEFT_FORTH_POST_32;
	f = open_nic(1, &a);
	node[0].n_log = 0;
	weft_forth_post(f, d, 2);
	assert_int_equal(count(FAKE_SLOT, 4), 8);
	close_nic(f);
}

/* Each destination has its own queue. A batch of descriptors keeps its order
 * within each queue. */
static void test_batch_keeps_its_order_per_destination(void **state)
{
	struct weft_forth *f = open_nic(8, NULL);
	struct weft_forth_desc d[4];

	node[0].running = false;
	fill(d, 4, 1);
	d[1].dst = 5;
	d[3].dst = 5;
	assert_int_equal(weft_forth_post(f, d, 4), 4);
	assert_int_equal(weft_forth_posted(f, 1), 2);
	assert_int_equal(weft_forth_posted(f, 5), 2);
	assert_int_equal(node[0].tail[1], 2);
	assert_int_equal(node[0].tail[5], 2);
	assert_int_equal(forth_desc_flow(node[0].slot[5 * 128 + 1][1]), 5);
	close_nic(f);
}

/* With fewer queues than destinations each queue serves every n-th one. */
static void destinations_are_spread_over_all_queues(void **state)
{
	for (uint32_t n = 1; n <= 8; n *= 2) {
		struct weft_forth *f = open_nic(n, NULL);
		struct weft_forth_desc d[8];

		node[0].running = false;
		fill(d, 8, 0);
		for (uint32_t i = 0; i < 8; i++)
			d[i].dst = i;
		assert_int_equal(weft_forth_info(f)->queues, n);
		assert_int_equal(weft_forth_post(f, d, 8), 8);
		for (uint32_t q = 0; q < n; q++) {
			uint32_t first = q * (1024 / n);

			assert_int_equal(node[0].tail[q], 8 / n);
			for (uint32_t k = 0; k < 8 / n; k++)
				assert_int_equal(
					forth_desc_flow(
						node[0].slot[first + k][1]),
					q + k * n);
		}
		close_nic(f);
	}
}

/* ---- space ---- */

static void test_full_ring(void **state)
{
	struct weft_forth *f = open_nic(8, NULL);
	struct weft_forth_desc d[200];

	node[0].running = false;
	fill(d, 200, 1);
	assert_int_equal(weft_forth_post(f, d, 200), 128);
	assert_int_equal(weft_forth_space(f, 1), 0);
	assert_int_equal(weft_forth_space(f, 2), 128);
	assert_int_equal(weft_forth_put(f, 1, node[0].base, 0x2000000, 1, 0),
			 -EAGAIN);
	close_nic(f);
}

/* The library requests a notification word after every quarter of a queue. */
static void test_space_by_words(void **state)
{
	struct weft_forth *f = open_nic(8, NULL);
	struct weft_forth_desc d[1];

	fill(d, 1, 1);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(weft_forth_post(f, d, 1), 1);
	assert_int_equal(weft_forth_departed(f, 1), 1000 - 1000 % 32);
	close_nic(f);
}

static void test_flush_reads_pointer(void **state)
{
	struct weft_forth *f = open_nic(8, NULL);
	struct weft_forth_desc d[5];
	uint64_t loads;

	fill(d, 5, 1);
	weft_forth_post(f, d, 5);
	assert_int_equal(weft_forth_departed(f, 1), 0); /* no word yet */
	loads = node[0].io_loads;
	assert_true(weft_forth_flush(f, 1, WEFT_NEVER));
	assert_int_equal(weft_forth_departed(f, 1), 5);
	assert_int_equal(node[0].io_loads, loads + 1);
	close_nic(f);
}

static void test_flush_deadline(void **state)
{
	struct weft_forth *f = open_nic(1, NULL);
	struct weft_forth_desc d[1];

	node[0].running = false;
	fill(d, 1, 1);
	weft_forth_post(f, d, 1);
	/* the descriptor never departs */
	node[0].tail[0] = node[0].head[0];
	assert_false(weft_forth_flush(f, 1, node[0].now + 5 * WEFT_US));
	close_nic(f);
}

/* The NIC counts departures since power-up, but the library counts them since
 * its opening. */
static void test_second_open(void **state)
{
	struct weft_forth *f = open_nic(8, NULL), *g;
	struct weft_forth_desc d[1];

	fill(d, 1, 1);
	d[0].flags = WEFT_FORTH_LNOTIFY;
	for (uint32_t i = 0; i < 77; i++)
		weft_forth_post(f, d, 1);
	weft_forth_close(f);
	assert_int_equal(weft_forth_open(&node[0], NULL, &g), 0);
	weft_forth_post(g, d, 1);
	assert_int_equal(weft_forth_departed(g, 1), 1);
	assert_int_equal(weft_forth_space(g, 1), 128);
	close_nic(g);
}

/* ---- notifications, measurement ---- */

static void test_remote_words(void **state)
{
	struct weft_forth *f = open_nic(8, NULL), *g;

	assert_int_equal(weft_forth_open(&node[1], NULL, &g), 0);
	assert_int_equal(weft_forth_remote_count(g), 0);
	weft_forth_put(f, 1, node[0].base, node[1].base, 1, WEFT_FORTH_RNOTIFY);
	assert_true(weft_forth_wait_remote(g, 0, node[1].now + 1));
	assert_int_equal(weft_forth_remote_count(g), 1);
	assert_false(weft_forth_wait_remote(g, 1, node[1].now + 1));
	weft_forth_close(g);
	close_nic(f);
}

static void test_counters_are_read_from_their_registers(void **state)
{
	struct weft_forth *f = open_nic(1, NULL);
	struct weft_forth_counters c;

	for (uint32_t off = 0x20; off < 0x100; off += 4)
		node[0].reg[off / 4] = off;
	node[0].reg[0x140 / 4] = 1000;
	weft_forth_counters_read(f, &c);
	assert_int_equal(c.out.ops, 0x20);
	assert_int_equal(c.in.granted_pc, 0x44);
	assert_int_equal(c.split_pc, 0x64);
	assert_int_equal(c.backpressure_cc, 0xC0);
	assert_int_equal(c.line_errors,
			 0x88 + 0x8C + 0x90 + 0x94 + 0x98 + 0x9C + 0xA0 + 0xA4);
	assert_int_equal(weft_forth_counters_errors(&c),
			 c.line_errors + 0x68 + 0x6C + 0x74 + 0x78 + 0xB8 +
				 0xBC + 1000);
	close_nic(f);
}

static void test_bus_clock(void **state)
{
	struct weft_forth *f = open_nic(1, NULL);

	assert_float_equal(weft_forth_pc_ns(f), 10.0, 0.002);
	close_nic(f);
}

static void test_control_bits(void **state)
{
	struct weft_forth *f = open_nic(1, NULL);

	weft_forth_loopback(f, true);
	assert_int_equal(node[0].reg[0], 0xC0000001);
	weft_forth_enable(f, false);
	assert_int_equal(node[0].reg[0], 0xC0000000);
	weft_forth_loopback(f, false);
	weft_forth_enable(f, true);
	assert_int_equal(node[0].reg[0], 1);
	close_nic(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_init_order),
		cmocka_unit_test(test_foreign_device_is_not_opened),
		cmocka_unit_test(test_info_gives_the_limits_of_the_nic),
		cmocka_unit_test(test_read_limit),
		cmocka_unit_test(test_descriptors_have_the_specified_bits),
		cmocka_unit_test(test_bad_puts_are_refused),
		cmocka_unit_test(
			test_each_line_of_descriptors_has_one_start_flag),
		cmocka_unit_test(
			test_held_descriptors_start_with_the_next_post),
		cmocka_unit_test(test_post_width_sets_the_number_of_stores),
		cmocka_unit_test(test_batch_keeps_its_order_per_destination),
		cmocka_unit_test(destinations_are_spread_over_all_queues),
		cmocka_unit_test(test_full_ring),
		cmocka_unit_test(test_space_by_words),
		cmocka_unit_test(test_flush_reads_pointer),
		cmocka_unit_test(test_flush_deadline),
		cmocka_unit_test(test_second_open),
		cmocka_unit_test(test_remote_words),
		cmocka_unit_test(test_counters_are_read_from_their_registers),
		cmocka_unit_test(test_bus_clock),
		cmocka_unit_test(test_control_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
