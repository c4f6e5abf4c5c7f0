/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL by its registers alone: configuration space, RMA and ATU before and
 * after the first store (extoll.md 2.6, 3.8). */
#include "unit/cmocka_all.h"

#include "unit/host/config.h"
#include "exproc.h"
#include "exrig.h"

/* VPID `FAR` is in a group of entries that is never allocated */
enum { VPID = 5, NEAR = 6, FAR = 200 };
enum { GATS = 16 }; /* tables of a NIC with default parameters */

static struct exproc p;

static uint64_t get(uint32_t off)
{
	return exproc_get(&p, off);
}

static void put(uint32_t off, uint64_t val)
{
	exproc_set(&p, off, val);
}

static void run(exrig_fn fn)
{
	struct exrig r;

	exrig_new(&r, "1");
	exrig_prog(&r, 0, fn);
	exrig_start(&r);
	exrig_run(&r);
	exrig_free(&r);
}

static void map(struct weft_host *h)
{
	p = (struct exproc){ .h = h, .dev = weft_dev_open(h, 0) };
	assert_non_null(p.dev);
	weft_cfg_store(h, p.dev, EXTOLL_CFG_COMMAND, 2,
		       EXTOLL_CMD_MEMORY | EXTOLL_CMD_MASTER);
	assert_true(weft_io_map(h, p.dev, EXTOLL_BAR, EXTOLL_RF,
				EXTOLL_RF_BYTES, WEFT_UC, &p.rf));
}

/* ---- configuration space ---- */

static const struct config_row config[] = {
	{ 0x00, 2, EXTOLL_VENDOR_ID, EXTOLL_VENDOR_ID },
	{ 0x02, 2, EXTOLL_DEVICE_ID, EXTOLL_DEVICE_ID },
	{ 0x04, 2, 6, 6 },
	{ 0x06, 2, 0, 0 },
	{ 0x08, 4, 0x02800001, 0x02800001 },
	{ 0x0e, 1, 0, 0 },
	{ 0x3c, 1, 0, 0xff },
	{ 0x3d, 1, 1, 1 },
};

static int config_space(struct weft_host *h, struct exrig *r, uint32_t node)
{
	static const uint32_t bytes[1] = { EXTOLL_BAR_BYTES };

	map(h);
	CONFIG_CHECK(h, p.dev, config);
	config_bars(h, p.dev, bytes, 1);
	return 0;
}

static void configuration_space_is_as_the_table_says(void **state)
{
	run(config_space);
}

/* ---- RMA ---- */

static void vpid_is(uint32_t vpid, uint64_t ctl, uint64_t base, uint64_t size,
		    uint64_t rp)
{
	assert_int_equal(get(EXTOLL_RMA_VPID + 8 * vpid), ctl);
	assert_int_equal(get(EXTOLL_RMA_BASE + 8 * vpid), base);
	assert_int_equal(get(EXTOLL_RMA_SIZE + 8 * vpid), size);
	assert_int_equal(get(EXTOLL_RMA_WP + 8 * vpid), 0);
	assert_int_equal(get(EXTOLL_RMA_PENDING + 8 * vpid), 0);
	assert_int_equal(get(EXTOLL_RMA_RP + RMA_PAGE * vpid), rp);
}

static int vpids(struct weft_host *h, struct exrig *r, uint32_t node)
{
	map(h);
	vpid_is(VPID, 0, 0, 0, 0);
	put(EXTOLL_RMA_BASE + 8 * VPID, 0x12345fff);
	put(EXTOLL_RMA_SIZE + 8 * VPID, 16);
	put(EXTOLL_RMA_VPID + 8 * VPID, RMA_V_ENABLE | RMA_V_TC_ALL);
	vpid_is(VPID, RMA_V_ENABLE | RMA_V_TC_ALL, 0x12345fc0, 16, 0);
	vpid_is(NEAR, 0, 0, 0, 0);
	vpid_is(FAR, 0, 0, 0, 0);
	/* read only */
	put(EXTOLL_RMA_WP + 8 * VPID, 3);
	put(EXTOLL_RMA_PENDING + 8 * VPID, 3);
	vpid_is(VPID, RMA_V_ENABLE | RMA_V_TC_ALL, 0x12345fc0, 16, 0);
	return 0;
}

static void a_vpid_that_nobody_wrote_reads_as_zero(void **state)
{
	run(vpids);
}

static int pointers(struct weft_host *h, struct exrig *r, uint32_t node)
{
	uint32_t rp = EXTOLL_RMA_RP + RMA_PAGE * VPID;

	map(h);
	put(EXTOLL_RMA_SIZE + 8 * VPID, 16);
	put(EXTOLL_RMA_VPID + 8 * VPID, RMA_V_ENABLE);
	put(rp, 15);
	assert_int_equal(get(rp), 15);
	put(rp, 16);
	assert_int_equal(get(rp), 15);
	put(rp, RMA_RP_REARM | 4);
	assert_int_equal(get(rp), RMA_RP_REARM | 4);
	put(rp, RMA_RP_REARM | 16);
	assert_int_equal(get(rp), RMA_RP_REARM | 4);
	/* A ring that gets a new size is empty. The read pointer of a closed
	 * ring reads as zero. */
	put(EXTOLL_RMA_SIZE + 8 * VPID, 32);
	assert_int_equal(get(rp), RMA_RP_REARM);
	put(EXTOLL_RMA_VPID + 8 * VPID, 0);
	assert_int_equal(get(rp), 0);
	return 0;
}

static void a_read_pointer_outside_of_its_ring_is_not_taken(void **state)
{
	run(pointers);
}

/* Reset values are equal before the first store creates the unit, and after
 * it. */
static void rma_is_reset(void)
{
	assert_int_equal(get(EXTOLL_RMA_CONFIG), RMA_C_RESET);
	assert_int_equal(get(EXTOLL_RMA_LOCK_BASE), 0);
	assert_int_equal(get(EXTOLL_RMA_LOCK_N), 0);
	assert_int_equal(get(EXTOLL_ATU_COMMAND), 0);
	assert_int_equal(get(EXTOLL_ATU_GATS), GATS);
	assert_int_equal(get(EXTOLL_ATU_GAT), 0);
	assert_int_equal(get(EXTOLL_ATU_FAULTS), 0);
}

static int whole(struct weft_host *h, struct exrig *r, uint32_t node)
{
	map(h);
	rma_is_reset();
	assert_int_equal(get(EXTOLL_ATU_ENABLE), 0);
	put(EXTOLL_ATU_ENABLE, UINT64_MAX);
	assert_int_equal(get(EXTOLL_ATU_ENABLE), 1);
	put(EXTOLL_ATU_GATS, 7);
	put(EXTOLL_ATU_FAULTS, 7);
	rma_is_reset();
	put(EXTOLL_RMA_LOCK_BASE, 0x1007);
	assert_int_equal(get(EXTOLL_RMA_LOCK_BASE), 0x1004);
	put(EXTOLL_RMA_LOCK_N, 0x1000003);
	assert_int_equal(get(EXTOLL_RMA_LOCK_N), 3);
	put(EXTOLL_RMA_CONFIG, 3);
	assert_int_equal(get(EXTOLL_RMA_CONFIG), 3);
	put(EXTOLL_ATU_ENABLE, 2);
	assert_int_equal(get(EXTOLL_ATU_ENABLE), 0);
	return 0;
}

static void registers_of_the_rma_keep_what_they_are_for(void **state)
{
	run(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(configuration_space_is_as_the_table_says),
		cmocka_unit_test(a_vpid_that_nobody_wrote_reads_as_zero),
		cmocka_unit_test(
			a_read_pointer_outside_of_its_ring_is_not_taken),
		cmocka_unit_test(registers_of_the_rma_keep_what_they_are_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
