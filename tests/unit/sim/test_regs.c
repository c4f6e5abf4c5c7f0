/* SPDX-License-Identifier: Apache-2.0 */
/* Register tables: access rules, partial and double accesses, arrays, hooks. */
#include "../cmocka_all.h"

#include "weft/sim.h"

struct dev {
	uint32_t wrote_index, wrote_n;
	uint64_t wrote_val;
};

static uint64_t read_cnt(struct weft_comp *c, uint32_t index)
{
	return 0x1000 + index;
}

static void wrote_ctl(struct weft_comp *c, uint32_t index, uint64_t val)
{
	struct dev *d = c->state;

	d->wrote_index = index;
	d->wrote_val = val;
	d->wrote_n++;
}

static const struct weft_reg regs[] = {
	{ .name = "id", .space = 0, .width = 2, .offset = 0, .reset = 0x17DF },
	{ .name = "dev", .space = 0, .width = 2, .offset = 2, .reset = 0x1600 },
	{ .name = "mix",
	  .space = 0,
	  .width = 4,
	  .offset = 8,
	  .reset = 0xF0F0,
	  .rw = 0xFF,
	  .w1c = 0xF000 },
	{ .name = "ctl",
	  .space = 2,
	  .width = 4,
	  .offset = 0,
	  .rw = ~0u,
	  .wrote = wrote_ctl },
	{ .name = "cnt",
	  .space = 2,
	  .width = 4,
	  .offset = 0x10,
	  .count = 4,
	  .stride = 4,
	  .read = read_cnt,
	  .wrote = wrote_ctl },
	{ .name = "big", .space = 2, .width = 8, .offset = 0x40, .rw = ~0ull },
	{ 0 }
};

static WEFT_COMPONENT(dev, .name = "test.dev", .kind = WEFT_KIND_NIC,
		      .doc = "device", .state_size = sizeof(struct dev),
		      .regs = regs);

static struct weft_sim *sim;
static struct weft_comp *dev;

static int setup(void **state)
{
	struct weft_err err = { 0 };

	sim = weft_sim_new(1);
	dev = weft_sim_add(sim, &weft_class_dev, "d", &err);
	return weft_comp_init(dev, &err);
}

static int teardown(void **state)
{
	weft_sim_free(sim);
	return 0;
}

static void loads_of_all_sizes_return_their_bytes(void **state)
{
	assert_int_equal(weft_reg_load(dev, 0, 0, 4), 0x160017DF);
	assert_int_equal(weft_reg_load(dev, 0, 2, 2), 0x1600);
	assert_int_equal(weft_reg_load(dev, 0, 3, 1), 0x16);
	assert_int_equal(weft_reg_load(dev, 0, 4, 4), 0);
	assert_int_equal(weft_reg_load(dev, 2, 0x10, 8), 0x0000100100001000);
	assert_int_equal(weft_reg_load(dev, 2, 0x1C, 4), 0x1003);
	assert_int_equal(weft_reg_load(dev, 2, 0x20, 4), 0);
	assert_int_equal(weft_reg_load(dev, 1, 0, 4), 0);
}

static void stores_obey_the_masks(void **state)
{
	weft_reg_store(dev, 0, 0, 4, 0);
	assert_int_equal(weft_reg_load(dev, 0, 0, 4), 0x160017DF);
	weft_reg_store(dev, 0, 8, 4, 0x5055);
	assert_int_equal(weft_reg_load(dev, 0, 8, 4), 0xA055);
	/* a store of the upper byte only, which is W1C */
	weft_reg_store(dev, 0, 9, 1, 0xA0);
	assert_int_equal(weft_reg_load(dev, 0, 8, 4), 0x0055);
	weft_reg_store(dev, 0, 8, 1, 0x11);
	assert_int_equal(weft_reg_load(dev, 0, 8, 4), 0x0011);
	weft_reg_reset(dev);
	assert_int_equal(weft_reg_load(dev, 0, 8, 4), 0xF0F0);
}

static void hooks_see_whole_registers(void **state)
{
	struct dev *d = dev->state;

	weft_reg_store(dev, 2, 0, 4, 0x11223344);
	weft_reg_store(dev, 2, 1, 1, 0xAA);
	assert_int_equal(d->wrote_val, 0x1122AA44);
	assert_int_equal(weft_reg_load(dev, 2, 0, 4), 0x1122AA44);
	weft_reg_store(dev, 2, 0x18, 8, 0x0000000900000008);
	assert_int_equal(d->wrote_n, 4);
	assert_int_equal(d->wrote_index, 3);
	assert_int_equal(d->wrote_val, 9);
	assert_int_equal(*weft_reg_cell(dev, 3, 0), 0x1122AA44);
}

static void wide_register_takes_stores_of_its_halves(void **state)
{
	weft_reg_store(dev, 2, 0x44, 4, 0xDEADBEEF);
	weft_reg_store(dev, 2, 0x40, 4, 0x01234567);
	assert_int_equal(weft_reg_load(dev, 2, 0x40, 8), 0xDEADBEEF01234567);
	assert_int_equal(weft_reg_load(dev, 2, 0x44, 4), 0xDEADBEEF);
}

static void overlapping_registers_are_refused(void **state)
{
	static const struct weft_reg bad[] = {
		{ .name = "x", .space = 0, .width = 4, .offset = 0 },
		{ .name = "y", .space = 0, .width = 2, .offset = 2 },
		{ 0 }
	};
	static WEFT_COMPONENT(bad, .name = "test.bad", .kind = WEFT_KIND_NIC,
			      .doc = "", .regs = bad);
	struct weft_err err = { 0 };
	struct weft_comp *c = weft_sim_add(sim, &weft_class_bad, "b", &err);

	assert_true(weft_comp_init(c, &err) < 0);
	assert_string_equal(err.msg, "test.bad: registers x and y overlap");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			loads_of_all_sizes_return_their_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(stores_obey_the_masks, setup,
						teardown),
		cmocka_unit_test_setup_teardown(hooks_see_whole_registers,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			wide_register_takes_stores_of_its_halves, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			overlapping_registers_are_refused, setup, teardown),
	};

	return cmocka_run_group_tests_name("regs", tests, NULL, NULL);
}
