/* SPDX-License-Identifier: Apache-2.0 */
/* Access of HVIA-GE to host memory (hvia.md 2.1). The card is a master of the
 * PCI bus with one read and one write at a time, in order. Each unit has one
 * transaction, whose end wakes the unit. Transactions wait while the command
 * register does not let the card be master. */
#include <assert.h>
#include <string.h>

#include "systems/hvia/nic/nic.h"

static void dma_next(struct hv_nic *n, enum weft_bus_op op)
{
	struct hv_dma *d = n->dma[op].head;

	if (n->dma[op].busy || !d || !(hv_command(n) & HVIA_CMD_MASTER))
		return;
	n->dma[op].busy = true;
	weft_bus_of(n->bus)->submit(n->bus, &d->txn);
}

void hv_command_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	dma_next(c->state, WEFT_BUS_READ);
	dma_next(c->state, WEFT_BUS_WRITE);
}

void hv_dma(struct hv_nic *n, struct hv_dma *d, enum weft_bus_op op,
	    weft_phys_t addr, struct weft_slice data)
{
	d->txn = (struct weft_bus_txn){
		.op = op, .addr = addr, .bytes = data.len, .data = data
	};
	d->next = NULL;
	if (n->dma[op].head)
		n->dma[op].tail->next = d;
	else
		n->dma[op].head = d;
	n->dma[op].tail = d;
	dma_next(n, op);
}

bool hv_dma_take(struct hv_dma *d, void *to)
{
	bool ok = d->txn.status == WEFT_BUS_OK;

	if (ok && to)
		memcpy(to, weft_slice_data(d->txn.data), d->txn.bytes);
	weft_slice_drop(&d->txn.data);
	return ok;
}

void hv_dma_done(struct hv_nic *n, struct hv_dma *d)
{
	enum weft_bus_op op = d->txn.op;

	assert(n->dma[op].head == d);
	n->dma[op].head = d->next;
	n->dma[op].busy = false;
	if (d->txn.status != WEFT_BUS_OK)
		hv_count(n, HV_K_BUS_ABORTS);
	weft_bus_settle(n->bus);
	dma_next(n, op);
	hv_wake(n, d->unit, 0);
}
