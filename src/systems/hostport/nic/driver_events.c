/* SPDX-License-Identifier: Apache-2.0 */
/* Records for the driver: TLB misses, VPIDs with interrupts, the error log
 * (hostport.md 4.10, 6.1 N7, 8.8).
 *
 * A unit puts a record into a FIFO. The driver takes a record by a load of the
 * FIFO's register (4.10). The driver may also set up a ring in main memory,
 * which is an addition of Weft. The device then writes each record into the
 * ring as two words, the record and the record's bit of IRQ_STATUS, and
 * interrupts afterwards.
 *
 * A load holds the bridge until its answer arrives, and triggers of all
 * processes wait meanwhile. A write of 16 bytes delays no process. Therefore
 * with a ring, misses of one process cost time of the driver only and do not
 * delay other processes. Misses are written first, and error records use no
 * more than half of the ring, because instructions wait for misses. */
#include "systems/hostport/nic/nic.h"

enum { LOG_MAX = 256 }; /* largest number of records in the error log */

/* ---- the ring ---- */

static void events_wrote(struct hp_nic *n, struct hp_dma *d)
{
	n->records.events.written++;
	hp_irq(n, (uint32_t)d->user);
}

static void events_go(struct hp_nic *n)
{
	struct hp_records *r = &n->records;
	struct hp_events *e = &r->events;
	const struct {
		struct hp_miss *from;
		uint32_t bit, of;
	} row[] = { { &r->tlb_miss, HP_IRQ_TLB, e->size },
		    { &r->irq_vpid, HP_IRQ_NQE, e->size },
		    { &r->err_log, HP_IRQ_ERR, e->size / 2 } };

	for (uint32_t i = 0; i < 3; i++)
		while (!ring_empty(row[i].from) && e->wp - e->rp < row[i].of) {
			uint64_t w[2] = { *ring_front(row[i].from),
					  row[i].bit };

			ring_pop(row[i].from);
			hp_dma_put(n, e->base + sizeof(w) * (e->wp++ % e->size),
				   w, sizeof(w), events_wrote, NULL)
				->user = row[i].bit;
			hp_count(n, HP_K_EVENTS, 1);
		}
}

void hp_events_size(struct hp_nic *n, uint64_t size)
{
	n->records.events.size =
		size > HP_EVENTS_MAX ? HP_EVENTS_MAX : (uint32_t)size;
	if (n->records.events.size)
		events_go(n);
	hp_irq_clear(n, HP_IRQ_RECORDS);
}

/* Frees the ring entries that the driver has taken. Clears the interrupt line
 * if no record is left. */
void hp_events_took(struct hp_nic *n, uint32_t rp)
{
	struct hp_events *e = &n->records.events;

	if (rp - e->rp > e->written - e->rp)
		return; /* the driver reports more records than the ring has */
	e->rp = rp;
	if (e->size)
		events_go(n);
	hp_irq_clear(n, HP_IRQ_RECORDS);
}

/* ---- records ---- */

static void driver_events_record(struct hp_nic *n, struct hp_miss *r,
				 uint64_t val, uint32_t bit)
{
	*ring_push(r) = val;
	if (n->records.events.size)
		events_go(n);
	else
		hp_irq(n, bit);
}

void hp_tlb_missed(struct hp_nic *n, uint32_t vpid, uint64_t vpage, bool write)
{
	driver_events_record(n, &n->records.tlb_miss,
			     HP_MISS_MAKE(vpid, vpage, write), HP_IRQ_TLB);
}

/* Records an interrupt of a VPID. A VPID needs only one pending record, because
 * its process polls its whole queue. */
void hp_irq_vpid(struct hp_nic *n, uint32_t vpid)
{
	for (uint32_t i = 0; i < ring_count(&n->records.irq_vpid); i++)
		if (*ring_nth(&n->records.irq_vpid, i) == vpid)
			return;
	driver_events_record(n, &n->records.irq_vpid, vpid, HP_IRQ_NQE);
}

void hp_err_log(struct hp_nic *n, uint32_t cmd, uint32_t vpid)
{
	if (ring_count(&n->records.err_log) == LOG_MAX) {
		hp_count(n, HP_K_ERR_LOST, 1);
		return;
	}
	hp_count(n, HP_K_ERR_LOGS, 1);
	driver_events_record(n, &n->records.err_log, HP_LOG_MAKE(cmd, vpid),
			     HP_IRQ_ERR);
}
