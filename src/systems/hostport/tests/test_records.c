/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the Host Port for its driver (hostport.md 4.10, 6.1 N7, 8.8): TLB
 * misses, VPIDs and the error log, read by registers and by the ring in main
 * memory. Interrupts stay asserted while records are left. */
#include "unit/cmocka_all.h"

#include "hpproc.h"
#include "systems/hostport/nic/nic.h"

static struct hpdrv drv;

static struct hp_nic *nic_of(struct exrig *r)
{
	return r->node[0].nic->state;
}

/* ---- records and interrupts ---- */

enum { LOG = 256, MORE = 10 };

static void irq_is(struct exrig *r, uint32_t bits, uint64_t raised)
{
	assert_int_equal(hpdrv_get(&drv, HP_R_IRQ_STATUS), bits);
	assert_int_equal(nic_of(r)->reg.irq_level, bits != 0);
	assert_int_equal(exrig_counter(r->node[0].nic, "irqs"), raised);
}

/* Checks that each kind of record has its bit, which stays set while records of
 * the kind are left. */
static int records(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hp_nic *n = nic_of(r);

	hpdrv_map(&drv, h);
	irq_is(r, 0, 0);
	hp_tlb_missed(n, 0xabcd, 0x987654321, true);
	hp_tlb_missed(n, 3, 4, false);
	irq_is(r, HP_IRQ_TLB, 1);
	assert_int_equal(hpdrv_get(&drv, HP_R_TLB_MISS_CNT), 2);
	hp_irq_vpid(n, 9);
	hp_irq_vpid(n, 8);
	/* adds no record, because a record of this VPID is pending */
	hp_irq_vpid(n, 9);
	hp_err_log(n, HP_CMD(HP_ERR_OVPID_INV, 0, HP_B_PUT), 0xfedc);
	hp_irq(n, HP_IRQ_ULTRA);
	irq_is(r, HP_IRQ_RECORDS | HP_IRQ_ULTRA, 1);
	/* the bits of records are set again, because records are left */
	hpdrv_set(&drv, HP_R_IRQ_STATUS, ~0ull);
	irq_is(r, HP_IRQ_RECORDS, 1);
	assert_int_equal(hpdrv_get(&drv, HP_R_TLB_MISS),
			 HP_MISS_MAKE(0xabcdull, 0x987654321, 1ull));
	irq_is(r, HP_IRQ_RECORDS, 1);
	assert_int_equal(hpdrv_get(&drv, HP_R_TLB_MISS),
			 HP_MISS_MAKE(3ull, 4, 0ull));
	assert_int_equal(hpdrv_get(&drv, HP_R_TLB_MISS), HP_NONE);
	irq_is(r, HP_IRQ_NQE | HP_IRQ_ERR, 1);
	assert_int_equal(hpdrv_get(&drv, HP_R_IRQ_VPID), 9);
	assert_int_equal(hpdrv_get(&drv, HP_R_IRQ_VPID), 8);
	assert_int_equal(hpdrv_get(&drv, HP_R_IRQ_VPID), HP_NONE);
	irq_is(r, HP_IRQ_ERR, 1);
	assert_int_equal(
		hpdrv_get(&drv, HP_R_ERR_LOG),
		HP_LOG_MAKE(HP_CMD(HP_ERR_OVPID_INV, 0, HP_B_PUT), 0xfedcull));
	irq_is(r, 0, 1);
	hp_irq(n, HP_IRQ_DEADLOCK | HP_IRQ_ULTRA);
	irq_is(r, HP_IRQ_DEADLOCK | HP_IRQ_ULTRA, 2);
	hpdrv_set(&drv, HP_R_IRQ_STATUS, HP_IRQ_ULTRA);
	irq_is(r, HP_IRQ_DEADLOCK, 2);
	hpdrv_set(&drv, HP_R_IRQ_STATUS, HP_IRQ_DEADLOCK);
	irq_is(r, 0, 2);
	return 0;
}

static void records_keep_their_interrupt_until_they_are_taken(void **state)
{
	hprig_one(records);
}

static int error_log(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hp_nic *n = nic_of(r);

	hpdrv_map(&drv, h);
	for (uint32_t i = 0; i < LOG + MORE; i++)
		hp_err_log(n, HP_CMD(1, 0, 2), i);
	assert_int_equal(exrig_counter(r->node[0].nic, "err_logs"), LOG);
	assert_int_equal(exrig_counter(r->node[0].nic, "err_lost"), MORE);
	for (uint32_t i = 0; i < LOG; i++)
		assert_int_equal(HP_LOG_VPID(hpdrv_get(&drv, HP_R_ERR_LOG)), i);
	assert_int_equal(hpdrv_get(&drv, HP_R_ERR_LOG), HP_NONE);
	return 0;
}

static void the_error_log_has_256_records(void **state)
{
	hprig_one(error_log);
}

/* ---- the ring of records ---- */

enum { RING = 6 };

static volatile uint64_t *ring;

static void settle(struct weft_host *h)
{
	weft_host_sleep(h, weft_host_now(h) + 2 * WEFT_US);
}

static void place_is(uint32_t i, uint64_t w, uint64_t bit)
{
	assert_int_equal(ring[2 * i], w);
	assert_int_equal(ring[2 * i + 1], bit);
	ring[2 * i + 1] = 0;
}

/* Checks that misses precede VPIDs, that error records use at most half of the
 * ring, and that entries of the ring are reused. */
static int in_memory(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hp_nic *n = nic_of(r);
	weft_phys_t phys;

	hpdrv_map(&drv, h);
	ring = weft_mem_alloc(h, HP_PAGE, HP_PAGE, &phys);
	for (uint32_t i = 0; i < 5; i++)
		hp_err_log(n, 1, 100 + i);
	hp_irq_vpid(n, 50);
	hp_tlb_missed(n, 0, 10, false);
	hpdrv_set(&drv, HP_R_EVENTS_BASE, phys);
	hpdrv_set(&drv, HP_R_EVENTS_SIZE, RING);
	settle(h);
	place_is(0, 10, HP_IRQ_TLB);
	place_is(1, 50, HP_IRQ_NQE);
	place_is(2, HP_LOG_MAKE(1ull, 100), HP_IRQ_ERR);
	assert_int_equal(ring[2 * 3 + 1], 0);
	irq_is(r, HP_IRQ_RECORDS, 2);
	for (uint32_t i = 0; i < 4; i++)
		hp_tlb_missed(n, 0, 11 + i, false);
	settle(h);
	for (uint32_t i = 0; i < 3; i++)
		place_is(3 + i, 11 + i, HP_IRQ_TLB);
	assert_int_equal(ring[1], 0); /* full */
	/* ignored, because the ring has fewer records */
	hpdrv_set(&drv, HP_R_EVENTS_RP, 7);
	assert_int_equal(hpdrv_get(&drv, HP_R_EVENTS_RP), 0);
	hpdrv_set(&drv, HP_R_EVENTS_RP, 2);
	settle(h);
	place_is(0, 14, HP_IRQ_TLB);
	/* The ring has room for six records and holds five. No error may enter,
	 * because errors use at most half of the ring. */
	assert_int_equal(ring[2 * 1 + 1], 0);
	hpdrv_set(&drv, HP_R_EVENTS_RP, 7);
	settle(h);
	for (uint32_t i = 0; i < 3; i++)
		place_is(1 + i, HP_LOG_MAKE(1ull, 101 + i), HP_IRQ_ERR);
	irq_is(r, HP_IRQ_ERR, 3);
	hpdrv_set(&drv, HP_R_EVENTS_RP, 10);
	settle(h);
	place_is(4, HP_LOG_MAKE(1ull, 104), HP_IRQ_ERR);
	hpdrv_set(&drv, HP_R_EVENTS_RP, 11);
	settle(h);
	assert_int_equal(hpdrv_get(&drv, HP_R_IRQ_STATUS), 0);
	assert_int_equal(exrig_counter(r->node[0].nic, "events"), 11);
	return 0;
}

static void records_go_to_the_ring_in_order_of_their_weight(void **state)
{
	hprig_one(in_memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			records_keep_their_interrupt_until_they_are_taken),
		cmocka_unit_test(the_error_log_has_256_records),
		cmocka_unit_test(
			records_go_to_the_ring_in_order_of_their_weight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
