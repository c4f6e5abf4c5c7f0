/* SPDX-License-Identifier: Apache-2.0 */
/* Tests eth.nic through its registers (hvia.md 3.9): configuration space,
 * accesses of all widths, the NIC without memory access or bus mastership, and
 * its station address. */
#include "unit/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "unit/host/config.h"
#include "unit/host/node.h"
#include "systems/ethernet/lib/eth.h"
#include "systems/ethernet/nic/regs_map.h"

extern const struct weft_class weft_class_bus_pci, weft_class_eth_nic;

static void run(node_fn fn, const char *param, const char *value)
{
	struct bench *b =
		bench_make(1, &weft_class_bus_pci, &weft_class_eth_nic);

	if (param)
		bench_set(b, "eth.nic", param, value);
	bench_well(b, fn);
	bench_free(b);
}

static struct weft_io map(struct weft_host *h, enum weft_io_attr attr)
{
	struct weft_dev *d = weft_dev_open(h, 0);
	struct weft_io io;

	weft_cfg_store(h, d, 4, 2, 6);
	assert_true(
		weft_io_map(h, d, ETHNIC_BAR, 0, ETHNIC_BAR_BYTES, attr, &io));
	return io;
}

/* ---- configuration space ---- */

static int spaces(struct weft_host *h, struct bench *b)
{
	static const struct config_row config[] = {
		{ 0x00, 2, ETHNIC_VENDOR, ETHNIC_VENDOR },
		{ 0x02, 2, ETHNIC_DEVICE, ETHNIC_DEVICE },
		{ 0x04, 2, 6, 6 },
		{ 0x06, 2, 0, 0 },
		{ 0x08, 4, 0x02000000, 0x02000000 },
		{ 0x0e, 1, 0, 0 },
		{ 0x3c, 1, 0, 0xff },
		{ 0x3d, 1, 1, 1 },
	};
	static const uint32_t bytes = ETHNIC_BAR_BYTES;
	struct weft_io io = map(h, WEFT_UC);

	CONFIG_CHECK(h, io.dev, config);
	config_bars(h, io.dev, &bytes, 1);
	return 0;
}

static void configuration_space_is_as_the_table_says(void **state)
{
	run(spaces, NULL, NULL);
}

/* ---- accesses ---- */

/* Accesses neighbouring registers together and one by one, with equal
 * results. */
static int widths(struct weft_host *h, struct bench *b)
{
	static const uint32_t four[4] = { 0x10, 0x20, 0x80, 0 };
	struct weft_io io = map(h, WEFT_UC), wc = map(h, WEFT_WC);

	weft_io_store64(h, &io, MAC_RDBAL, 0x12345678aabbccc0);
	assert_int_equal(weft_io_load32(h, &io, MAC_RDBAL), 0xaabbccc0);
	assert_int_equal(weft_io_load32(h, &io, MAC_RDBAH), 0x12345678);
	assert_int_equal(weft_io_load32(h, &io, MAC_TDBAL), 0);
	weft_io_copy(h, &wc, MAC_TDBAL, four, 12);
	weft_io_fence(h);
	assert_int_equal(weft_io_load32(h, &io, MAC_TDBAL), four[0]);
	assert_int_equal(weft_io_load32(h, &io, MAC_TDBAH), four[1]);
	assert_int_equal(weft_io_load32(h, &io, MAC_TDLEN), four[2]);
	/* an address behind the registers */
	weft_io_store32(h, &io, ETHNIC_REG_BYTES, 5);
	assert_int_equal(weft_io_load32(h, &io, ETHNIC_REG_BYTES), 0);
	return 0;
}

static void registers_are_stored_in_any_width(void **state)
{
	run(widths, NULL, NULL);
}

/* Rings begin at multiples of 16 bytes, because a descriptor has 16 bytes, and
 * have a multiple of 8 descriptors. Bits of a register that the 82544 reserves
 * are 0 whatever is stored. */
static int reserved(struct weft_host *h, struct bench *b)
{
	static const struct {
		uint32_t reg, kept;
	} of[] = {
		{ MAC_RDBAL, 0xfffffff0 }, { MAC_TDBAL, 0xfffffff0 },
		{ MAC_RDBAH, 0xffffffff }, { MAC_TDBAH, 0xffffffff },
		{ MAC_RDLEN, 0x000fff80 }, { MAC_TDLEN, 0x000fff80 },
		{ MAC_RDH, 0xffff },	   { MAC_TDH, 0xffff },
		{ MAC_RDT, 0xffff },	   { MAC_TDT, 0xffff },
		{ MAC_RDTR, 0xffff },	   { MAC_ITR, 0xffff },
		{ MAC_FCTTV, 0xffff },	   { MAC_FCRTL, 0x8000fff8 },
		{ MAC_FCRTH, 0x8000fff8 },
	};
	struct weft_io io = map(h, WEFT_UC);

	for (uint32_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		weft_io_store32(h, &io, of[i].reg, UINT32_MAX);
		assert_int_equal(weft_io_load32(h, &io, of[i].reg), of[i].kept);
		weft_io_store32(h, &io, of[i].reg, 0);
		assert_int_equal(weft_io_load32(h, &io, of[i].reg), 0);
	}
	return 0;
}

static void reserved_bits_of_a_register_stay_0(void **state)
{
	run(reserved, NULL, NULL);
}

static int deaf(struct weft_host *h, struct bench *b)
{
	struct weft_io io = map(h, WEFT_UC);

	weft_io_store32(h, &io, MAC_TDLEN, 0x80);
	weft_cfg_store(h, io.dev, 4, 2, 4);
	weft_io_store32(h, &io, MAC_TDLEN, 0x100);
	assert_int_equal(weft_io_load32(h, &io, MAC_TDLEN), UINT32_MAX);
	weft_cfg_store(h, io.dev, 4, 2, 2);
	assert_int_equal(weft_io_load32(h, &io, MAC_TDLEN), 0x80);
	return 0;
}

static void nothing_answers_with_memory_accesses_off(void **state)
{
	run(deaf, NULL, NULL);
}

/* The card fetches a descriptor once it may be bus master. */
static int waits(struct weft_host *h, struct bench *b)
{
	struct weft_io io = map(h, WEFT_UC);
	weft_phys_t phys;
	uint64_t *ring = weft_mem_alloc(h, 128, 128, &phys);

	memset(ring, 0, 128);
	/* 60 bytes, end of packet, insert FCS, report status */
	ring[1] = 0x0b00003c;
	ring[0] = phys + 64;
	weft_cfg_store(h, io.dev, 4, 2, 2);
	weft_io_store32(h, &io, MAC_TDBAL, (uint32_t)phys);
	weft_io_store32(h, &io, MAC_TDLEN, 128);
	weft_io_store32(h, &io, MAC_TCTL, MAC_TCTL_EN | MAC_TCTL_PSP);
	weft_io_store32(h, &io, MAC_TDT, 1);
	weft_host_sleep(h, weft_host_now(h) + 20 * WEFT_US);
	assert_int_equal(bench_counter(b->node[0].bus, "read_requests") +
				 bench_counter(b->node[0].bus, "completions"),
			 0);
	weft_cfg_store(h, io.dev, 4, 2, 6);
	weft_host_sleep(h, weft_host_now(h) + 20 * WEFT_US);
	assert_int_not_equal(bench_counter(b->node[0].bus, "completions"), 0);
	/* the frame waits, because the NIC has no cable */
	assert_int_equal(weft_io_load32(h, &io, MAC_STATUS), 1);
	assert_int_equal(weft_io_load32(h, &io, MAC_TDH), 0);
	assert_int_equal(weft_io_load32(h, &io, MAC_GPTC), 0);
	return 0;
}

static void the_card_waits_until_it_may_be_master(void **state)
{
	run(waits, NULL, NULL);
}

/* ---- station address ---- */

static uint64_t address(struct weft_host *h)
{
	struct weft_io io = map(h, WEFT_UC);

	return weft_io_load32(h, &io, MAC_RAL) |
	       (uint64_t)weft_io_load32(h, &io, MAC_RAH) << 32;
}

static int by_name(struct weft_host *h, struct bench *b)
{
	assert_int_equal(address(h), 0x8000000000000002);
	return 0;
}

static int by_number(struct weft_host *h, struct bench *b)
{
	assert_int_equal(address(h), 0x8000785634120002);
	return 0;
}

static void the_station_has_its_number(void **state)
{
	run(by_name, NULL, NULL);
	run(by_number, "station", "305419896"); /* 0x12345678 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(configuration_space_is_as_the_table_says),
		cmocka_unit_test(registers_are_stored_in_any_width),
		cmocka_unit_test(reserved_bits_of_a_register_stay_0),
		cmocka_unit_test(nothing_answers_with_memory_accesses_off),
		cmocka_unit_test(the_card_waits_until_it_may_be_master),
		cmocka_unit_test(the_station_has_its_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
