/* SPDX-License-Identifier: Apache-2.0 */
/* ATOLL's access to host memory: at most one read and one write in flight.
 * Reads execute in order, and so do writes. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "systems/atoll/nic/nic.h"

static void dma_next(struct at_nic *n, enum weft_bus_op op)
{
	struct at_dma *d = n->dma[op].head;

	if (n->dma[op].busy || !d)
		return;
	n->dma[op].busy = true;
	at_count(n, op == WEFT_BUS_READ ? AT_K_READS : AT_K_WRITES, 1);
	weft_bus_of(n->bus)->submit(n->bus, &d->txn);
}

struct at_dma *at_dma(struct at_nic *n, enum weft_bus_op op, weft_phys_t addr,
		      const void *data, uint32_t bytes, uint32_t hp,
		      void (*done)(struct at_nic *, struct at_dma *))
{
	struct at_dma *d = n->pool;

	if (d)
		n->pool = d->next;
	else
		d = malloc(sizeof(*d));
	assert(d);
	*d = (struct at_dma){ .txn = { .op = op, .addr = addr, .bytes = bytes },
			      .done = done,
			      .hp = hp };
	d->txn.data = weft_slice_word(n->comp->sim, bytes);
	if (data)
		memcpy(weft_slice_data(d->txn.data), data, bytes);
	if (n->dma[op].head)
		n->dma[op].tail->next = d;
	else
		n->dma[op].head = d;
	n->dma[op].tail = d;
	dma_next(n, op);
	return d;
}

void at_dma_done(struct at_nic *n, struct at_dma *d)
{
	enum weft_bus_op op = d->txn.op;

	assert(n->dma[op].head == d);
	n->dma[op].head = d->next;
	n->dma[op].busy = false;
	weft_bus_settle(n->bus);
	if (d->txn.op == WEFT_BUS_READ && d->txn.status != WEFT_BUS_OK)
		memset(weft_slice_data(d->txn.data), 0xff, d->txn.bytes);
	dma_next(n, op);
	if (d->done)
		d->done(n, d);
	weft_slice_drop(&d->txn.data);
	d->next = n->pool;
	n->pool = d;
}

void at_dma_fini(struct at_nic *n)
{
	struct at_dma *d;

	for (uint32_t op = 0; op < 2; op++)
		while ((d = n->dma[op].head)) {
			n->dma[op].head = d->next;
			weft_slice_drop(&d->txn.data);
			free(d);
		}
	while ((d = n->pool)) {
		n->pool = d->next;
		free(d);
	}
}
