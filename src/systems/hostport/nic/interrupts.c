/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts (hostport.md 4.10, 6.1 N8).
 *
 * The line is asserted while a bit of IRQ_STATUS is set. A store of ones clears
 * bits. The bits of records (TLB misses, VPIDs, error log: driver_events.c) are
 * set again while records are left, so that the driver cannot miss a record. */
#include "systems/hostport/nic/nic.h"

static void irq_level(struct hp_nic *n)
{
	bool level = n->reg.irq_status != 0;

	if (level == n->reg.irq_level)
		return;
	n->reg.irq_level = level;
	if (level)
		hp_count(n, HP_K_IRQS, 1);
	weft_bus_of(n->bus)->irq(n->bus, level);
}

void hp_irq(struct hp_nic *n, uint32_t bits)
{
	n->reg.irq_status |= bits;
	irq_level(n);
}

void hp_irq_clear(struct hp_nic *n, uint32_t bits)
{
	const struct hp_records *r = &n->records;
	/* bits of record kinds that still have records for the driver */
	uint32_t left = 0;

	if (!r->events.size) {
		left |= ring_empty(&r->tlb_miss) ? 0 : HP_IRQ_TLB;
		left |= ring_empty(&r->irq_vpid) ? 0 : HP_IRQ_NQE;
		left |= ring_empty(&r->err_log) ? 0 : HP_IRQ_ERR;
	} else if (r->events.written != r->events.rp) {
		left = n->reg.irq_status & HP_IRQ_RECORDS;
	}
	n->reg.irq_status = (n->reg.irq_status & ~bits) | left;
	irq_level(n);
}
