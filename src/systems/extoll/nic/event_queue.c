/* SPDX-License-Identifier: Apache-2.0 */
/* Event queue of the EXTOLL NIC and its interrupt (extoll.md 2.7).
 *
 *   event -> 8-byte entry in host memory -> interrupt, when armed
 *   store of the read pointer with bit 32 -> armed again
 *
 * A full queue (one entry stays empty) loses events and counts them. The event
 * of an armed mailbox or ring is not lost: the mailbox or ring stays armed, and
 * the event is written when the read pointer of the queue has moved. */
#include "systems/extoll/nic/nic.h"

static void irq_level(struct extoll_nic *n, bool level)
{
	if (n->evq.level == level)
		return;
	n->evq.level = level;
	if (level)
		weft_count(n->comp, EX_C_IRQS, 1);
	weft_bus_of(n->bus)->irq(n->bus, level);
}

static void irq_raise(struct extoll_nic *n)
{
	if (!n->evq.armed)
		return;
	n->evq.armed = false;
	irq_level(n, true);
}

/* Raises the interrupt after the entry has left the NIC, so that the host finds
 * the entry. */
static void event_written(struct extoll_nic *n, struct hx_pkt *p)
{
	n->evq.written = (uint32_t)p->user[0];
	irq_raise(n);
}

bool ex_event(struct extoll_nic *n, enum extoll_event kind, uint32_t vpid,
	      uint32_t node, uint32_t info)
{
	struct ex_evq *q = &n->evq;
	uint64_t entry = EXTOLL_EVENT(kind, vpid, node, info);
	struct hx_pkt *p;

	weft_count(n->comp, EX_C_EVENTS, 1);
	if (!q->size || ((q->wp + 1) & (q->size - 1)) == q->rp) {
		q->lost++;
		return false;
	}
	p = ex_pkt_write(n, q->base + 8 * q->wp, 8);
	memcpy(weft_slice_data(p->txn.data), &entry, 8);
	q->wp = (q->wp + 1) & (q->size - 1);
	p->user[0] = q->wp;
	p->done = event_written;
	ex_htax_send(n, EXTOLL_HX_RF, p, ex_now(n));
	return true;
}

bool ex_event_vpid(struct extoll_nic *n, enum extoll_event kind, uint32_t vpid,
		   uint32_t node)
{
	if (ex_event(n, kind, vpid, node, 0))
		return true;
	n->evq.missed = n->evq.size != 0;
	return false;
}

void ex_evq_set_rp(struct extoll_nic *n, uint64_t val)
{
	struct ex_evq *q = &n->evq;

	q->rp = q->size ? (uint32_t)val & (q->size - 1) : 0;
	q->told = 0;
	if (q->missed) {
		/* armed mailboxes and rings with unread content report now */
		q->missed = false;
		for (uint32_t vpid = 0; vpid < EXTOLL_VPIDS; vpid++) {
			extoll_velo_look(n, vpid);
			extoll_rma_look(n, vpid);
		}
	}
	if (!(val & EXTOLL_RP_ARM))
		return;
	irq_level(n, false);
	q->armed = true;
	if (q->rp != q->written)
		irq_raise(n);
}

void ex_evq_set_size(struct extoll_nic *n, uint64_t val)
{
	struct ex_evq *q = &n->evq;
	uint32_t size = (uint32_t)val;

	if (size & (size - 1) || size == 1 || size > EXTOLL_EVQ_MAX)
		size = 0;
	q->size = size;
	q->wp = q->rp = q->written = 0;
	q->armed = q->missed = false;
	q->told = 0;
	irq_level(n, false);
}
