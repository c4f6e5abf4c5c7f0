/* SPDX-License-Identifier: Apache-2.0 */
/* Errors that no notification queue can take, and interrupts (hostport.md 4.10,
 * 6.1 N7, N8).
 *
 * The line is up while a bit of IRQ_STATUS is set; a store of ones clears bits.
 * The bits of the FIFOs (TLB misses, VPIDs, error log) come back by themselves
 * while there are records left. */
#include "nic/hostport/nic.h"

enum { LOG_MAX = 256 }; /* records of the error log */

static void irq_level(struct hp_nic *n)
{
	bool level = n->irq_status != 0;

	if (level == n->irq_level)
		return;
	n->irq_level = level;
	if (level)
		hp_count(n, HP_K_IRQS, 1);
	weft_bus_of(n->bus)->irq(n->bus, level);
}

void hp_irq(struct hp_nic *n, uint32_t bits)
{
	n->irq_status |= bits;
	irq_level(n);
}

void hp_irq_clear(struct hp_nic *n, uint32_t bits)
{
	n->irq_status &= ~bits;
	if (!ring_empty(&n->tlb_miss))
		n->irq_status |= HP_IRQ_TLB;
	if (!ring_empty(&n->irq_vpid))
		n->irq_status |= HP_IRQ_NQE;
	if (!ring_empty(&n->err_log))
		n->irq_status |= HP_IRQ_ERR;
	irq_level(n);
}

/* One record of a VPID is enough: its process looks at its whole queue. */
void hp_irq_vpid(struct hp_nic *n, uint32_t vpid)
{
	for (uint32_t i = 0; i < ring_count(&n->irq_vpid); i++)
		if (*ring_nth(&n->irq_vpid, i) == vpid)
			return;
	*ring_push(&n->irq_vpid) = vpid;
	hp_irq(n, HP_IRQ_NQE);
}

void hp_err_log(struct hp_nic *n, uint32_t cmd, uint32_t vpid)
{
	if (ring_count(&n->err_log) == LOG_MAX) {
		hp_count(n, HP_K_ERR_LOST, 1);
		return;
	}
	hp_count(n, HP_K_ERR_LOGS, 1);
	*ring_push(&n->err_log) = HP_LOG_MAKE(cmd, vpid);
	hp_irq(n, HP_IRQ_ERR);
}

uint64_t hp_record_pop(struct hp_miss *r)
{
	uint64_t val;

	if (ring_empty(r))
		return HP_NONE;
	val = *ring_front(r);
	ring_pop(r);
	return val;
}
