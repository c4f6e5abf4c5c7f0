/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of forth.nic: reset values, access rules, BARs (forth.md 2.2-2.6).
 */
#include "unit/cmocka_all.h"

#include <string.h>

#include "rig.h"

static struct rig rig;

static int up(void **state)
{
	rig_single(&rig, "plat-switch", "");
	return 0;
}

static int down(void **state)
{
	rig_free(&rig);
	return 0;
}

/* Every register of configuration space: offset, size, reset value, its value
 * after a store of all ones, and its value after a store of zeros (2.2,
 * 2.3). */
static const struct cfg_row {
	uint32_t off, size, reset, ones, zeros;
} cfg_rows[] = {
	{ 0x00, 4, 0x160017DF, 0x160017DF, 0x160017DF }, /* */
	{ 0x04, 2, 0x0000, 0x015E, 0x0000 },
	{ 0x06, 2, 0x0430, 0x0430, 0x0430 }, /* */
	{ 0x08, 4, 0x02000017, 0x02000017, 0x02000017 },
	{ 0x0C, 1, 0x00, 0xFF, 0x00 },
	{ 0x0D, 1, 0x20, 0xFF, 0x00 },
	{ 0x0E, 2, 0x0000, 0x0000, 0x0000 },
	{ 0x10, 4, 0, 0xF8000000, 0 },
	{ 0x14, 4, 0, 0xFFFF8000, 0 },
	{ 0x18, 4, 0, 0, 0 },
	{ 0x1C, 4, 0, 0, 0 },
	{ 0x20, 4, 0, 0, 0 },
	{ 0x24, 4, 0, 0, 0 },
	{ 0x28, 4, 0, 0, 0 },
	{ 0x2C, 4, 0, 0, 0 },
	{ 0x30, 4, 0, 0, 0 },
	{ 0x34, 4, 0x48, 0x48, 0x48 },
	{ 0x38, 4, 0, 0, 0 },
	{ 0x3C, 1, 0x00, 0xFF, 0x00 },
	{ 0x3D, 1, 0x01, 0x01, 0x01 },
	{ 0x3E, 2, 0, 0, 0 },
	{ 0x40, 4, 0, 0x00000001, 0 },
	{ 0x44, 4, 0, 0, 0 },
	{ 0x48, 2, 0x0007, 0x0007, 0x0007 },
	{ 0x4A, 2, 0x0000, 0x007F, 0x0000 },
	{ 0x50, 4, 0, 0, 0 },
	{ 0xFC, 4, 0, 0, 0 },
};

static void test_cfg_access(void **state)
{
	for (size_t i = 0; i < sizeof(cfg_rows) / sizeof(cfg_rows[0]); i++) {
		const struct cfg_row *r = &cfg_rows[i];

		assert_int_equal(rig_cfg_get(&rig, 0, r->off, r->size),
				 r->reset);
		rig_cfg(&rig, 0, r->off, r->size, 0xFFFFFFFF);
		assert_int_equal(rig_cfg_get(&rig, 0, r->off, r->size),
				 r->ones);
		rig_cfg(&rig, 0, r->off, r->size, 0);
		assert_int_equal(rig_cfg_get(&rig, 0, r->off, r->size),
				 r->zeros);
	}
}

/* configuration writes set the bus and device number. */
static void test_pcix_status(void **state)
{
	assert_int_equal(rig_cfg_get(&rig, 0, 0x4C, 4), 0x0863FFF8);
	rig_cfg(&rig, 0, 0x4C, 4, 0xFFFFFFFF);
	assert_int_equal(rig_cfg_get(&rig, 0, 0x4C, 4), 0x08630000);
}

static void test_literal_flags(void **state)
{
	struct rig r;

	rig_single(&r, "plat-switch", "ids_literal=true status_literal=true");
	assert_int_equal(rig_cfg_get(&r, 0, 0x00, 4), 0x17DF1600);
	assert_int_equal(rig_cfg_get(&r, 0, 0x06, 2), 0x0420);
	rig_free(&r);
}

/* The target answers memory cycles only while command bit 1 is set. */
static void test_memory_enable(void **state)
{
	assert_int_equal(rig_r32(&rig, 0, FORTH_BUILD), 0xFFFFFFFF);
	rig_w32(&rig, 0, FORTH_RNOTIFY_LO, 0x1234);
	rig_cfg(&rig, 0, FORTH_CFG_COMMAND, 2, FORTH_CMD_MEMORY);
	assert_int_equal(rig_r32(&rig, 0, FORTH_RNOTIFY_LO), 0);
	assert_int_equal(rig_r32(&rig, 0, FORTH_BUILD),
			 forth_build_pack(1, 3, 8, 64, 3));
}

/* Registers of BAR1: offset, reset value, value after a store of ones, value
 * after a store of zeros. */
static const struct reg_row {
	uint32_t off, reset, ones, zeros;
} reg_rows[] = {
	{ 0x04, 0, 0, 0 },
	{ 0x08, 0, 0xFFFFFFFF, 0 },
	{ 0x0C, 0, 0xFFFFFFFF, 0 },
	{ 0x10, 0, 0xFFFFFFFF, 0 },
	{ 0x14, 0, 0xFFFFFFFF, 0 },
	{ 0x18, 0, 0, 0 },
	{ 0x1C, 0, 0, 0 },
	{ 0x68, 0, 0xFFFF, 0 },
	{ 0x6C, 0, 0xFFFF, 0 },
	{ 0x70, 0, 0xFFFFFFFF, 0 },
	{ 0x74, 0, 0xFFFFFFFF, 0 },
	{ 0x78, 0, 0xFFFFFFFF, 0 },
	{ 0x7C, 0, 0xFFFFFFFF, 0 },
	{ 0xA8, 0, 0, 0 },
	{ 0xC8, 0, 0, 0 },
	{ 0xCC, 0, 0, 0 },
	{ 0xD0, 0, 2048, 0 },
	{ 0x100, 0, 0, 0 },
	{ 0x11C, 0, 0, 0 },
	{ 0x120, 0, 7, 0 },
	{ 0x128, 0, 7, 0 },
	{ 0x140, 0, 0, 0 },
	{ 0x144, 0, 0, 0 },
	{ 0x148, 0, 0, 0 },
	{ 0x14C, 0, 0, 0 },
	{ 0x160, 0, 0, 0 },
	{ 0x190, 0, 0, 0 },
	{ 0x194, 0, 0, 0 },
	{ 0x19C, 0, 0, 0 },
	{ 0x1C0, 0, 3, 0 },
	{ 0x1C4, 0, 0, 0 },
	{ 0x1C8, 0, 0xFFFFFFFF, 0 },
	{ 0x1D0, 0, 0, 0 },
	{ 0x1DC, 0, 0, 0 },
	{ 0x1E0, 0, 0, 0 },
	{ 0x200, 0, 0, 0 }, /* reserved */
	{ 0x3FFC, 0, 0, 0 },
	{ 0x4000, 0, 0xFFFFFFFF, 0 },
	{ 0x7FF8, 0, 0xFFFFFFFF, 0 },
};

static void check_reg(uint32_t off, uint32_t reset, uint32_t ones,
		      uint32_t zeros)
{
	assert_int_equal(rig_r32(&rig, 0, off), reset);
	rig_w32(&rig, 0, off, 0xFFFFFFFF);
	assert_int_equal(rig_r32(&rig, 0, off), ones);
	rig_w32(&rig, 0, off, 0);
	assert_int_equal(rig_r32(&rig, 0, off), zeros);
}

static void test_reg_access(void **state)
{
	rig_cfg(&rig, 0, FORTH_CFG_COMMAND, 2, FORTH_CMD_MEMORY);
	for (size_t i = 0; i < sizeof(reg_rows) / sizeof(reg_rows[0]); i++)
		check_reg(reg_rows[i].off, reg_rows[i].reset, reg_rows[i].ones,
			  reg_rows[i].zeros);
	for (uint32_t off = 0x20; off < 0x68; off += 4)
		check_reg(off, 0, 0xFFFFFFFF, 0);
}

/* In all rows of the class, bits that are neither RW nor W1C never change. */
static void test_reserved_bits(void **state)
{
	const struct weft_reg *regs = weft_class_forth_nic.regs;
	struct weft_comp *c = rig.n[0].nic;
	uint32_t seen = 0;

	for (uint32_t i = 0; regs[i].name; i++) {
		const struct weft_reg *g = &regs[i];
		uint64_t lanes = UINT64_MAX >> (64 - 8 * g->width);
		uint64_t fixed = lanes & ~(g->rw | g->w1c), was;

		if (g->offset == FORTH_CONTROL || g->offset == FORTH_TIMESTAMP)
			if (g->space)
				continue;
		was = weft_reg_load(c, g->space, g->offset, g->width);
		weft_reg_store(c, g->space, g->offset, g->width, UINT64_MAX);
		assert_int_equal(
			weft_reg_load(c, g->space, g->offset, g->width) & fixed,
			was & fixed);
		weft_reg_store(c, g->space, g->offset, g->width, 0);
		seen++;
	}
	assert_true(seen > 60);
}

/* A store to some bytes leaves the other bytes of the dword unchanged. */
static void test_cfg_bytes(void **state)
{
	rig_cfg(&rig, 0, FORTH_CFG_LATENCY, 1, 0xFE);
	rig_cfg(&rig, 0, FORTH_CFG_CACHE_LINE, 1, 0x80);
	assert_int_equal(rig_cfg_get(&rig, 0, 0x0C, 4), 0x0000FE80);
	rig_cfg(&rig, 0, 0x0C, 4, 0x12345678);
	assert_int_equal(rig_cfg_get(&rig, 0, 0x0C, 4), 0x00005678);
}

static void test_control_keeps_reserved_bits_zero(void **state)
{
	rig_cfg(&rig, 0, FORTH_CFG_COMMAND, 2, FORTH_CMD_MEMORY);
	rig_w32(&rig, 0, FORTH_CONTROL, 0x7FFFFFFF & ~FORTH_CTL_RESET);
	assert_int_equal(rig_r32(&rig, 0, FORTH_CONTROL), 0x40000001);
	rig_w32(&rig, 0, FORTH_CONTROL,
		FORTH_CTL_RESET | FORTH_CTL_POINTER_RESET);
	assert_int_equal(rig_r32(&rig, 0, FORTH_CONTROL), 0);
}

/* A 64-bit access reads or writes two registers. */
static void test_64_bit_access_touches_both_registers(void **state)
{
	uint64_t v = 0x1122334455667788;

	rig_cfg(&rig, 0, FORTH_CFG_COMMAND, 2, FORTH_CMD_MEMORY);
	rig_store(&rig, 0, 2, FORTH_RNOTIFY_LO, &v, 8);
	assert_int_equal(rig_r32(&rig, 0, FORTH_RNOTIFY_LO), 0x55667788);
	assert_int_equal(rig_r32(&rig, 0, FORTH_RNOTIFY_HI), 0x11223344);
	assert_int_equal(rig_load(&rig, 0, 2, FORTH_RNOTIFY_LO, 8), v);
}

static void test_bar0_is_memory(void **state)
{
	uint8_t line[64];

	rig_cfg(&rig, 0, FORTH_CFG_COMMAND, 2, FORTH_CMD_MEMORY);
	for (uint32_t i = 0; i < sizeof(line); i++)
		line[i] = (uint8_t)(i * 7 + 1);
	assert_int_equal(rig_load(&rig, 0, 1, 0x7FFFFC0, 8), 0);
	rig_store(&rig, 0, 1, 0x7FFFFC0, line, 64);
	rig_store(&rig, 0, 1, 0xFFF8, line, 16); /* across the end of a chunk */
	assert_int_equal(rig_load(&rig, 0, 1, 0x7FFFFF8, 1), line[56]);
	assert_int_equal(rig_load(&rig, 0, 1, 0x10000, 1), line[8]);
	assert_int_equal(rig_load(&rig, 0, 1, 0xFFFF, 1), line[7]);
}

static void test_timestamp_counts_bus_clocks(void **state)
{
	uint32_t a, b;

	rig_cfg(&rig, 0, FORTH_CFG_COMMAND, 2, FORTH_CMD_MEMORY);
	a = rig_r32(&rig, 0, FORTH_TIMESTAMP);
	assert_int_equal(a, rig_pc(&rig));
	rig_wait(&rig, 99);
	b = rig_r32(&rig, 0, FORTH_TIMESTAMP);
	assert_int_equal(b - a, 100);
}

#define T(name) cmocka_unit_test_setup_teardown(name, up, down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_cfg_access),
		T(test_pcix_status),
		T(test_literal_flags),
		T(test_memory_enable),
		T(test_reg_access),
		T(test_reserved_bits),
		T(test_cfg_bytes),
		T(test_control_keeps_reserved_bits_zero),
		T(test_64_bit_access_touches_both_registers),
		T(test_bar0_is_memory),
		T(test_timestamp_counts_bus_clocks),
	};

	return cmocka_run_group_tests_name("forth-regs", tests, NULL, NULL);
}
