/* SPDX-License-Identifier: Apache-2.0 */
/* Host interface of the Host Port: its reads and writes of main memory.
 *
 * Reads and writes have one queue each. Each queue is served in order, and both
 * queues are served at the same time. A packet bus takes several transactions
 * at a time, any other bus takes one read and one write (bus.h). The bus reads
 * whole words. Therefore a read is cut to the requested bytes when it ends. */
#include <assert.h>

#include <stdlib.h>

#include "systems/hostport/nic/nic.h"
#include "systems/hostport/nic/pool.h"

enum { WORD = 8 };

static void dma_submit(struct hp_nic *n, struct hp_dma_list *l)
{
	while (l->head && l->out < l->limit) {
		struct hp_dma *d = l->head;

		l->head = d->next;
		l->n--;
		l->out++;
		weft_bus_of(n->bus)->submit(n->bus, &d->txn);
	}
}

static void dma_queue(struct hp_nic *n, struct hp_dma *d)
{
	struct hp_dma_list *l = &n->dma[d->txn.op];

	d->txn.max_request = n->param.max_request;
	d->next = NULL;
	if (l->head)
		l->tail->next = d;
	else
		l->head = d;
	l->tail = d;
	l->n++;
	dma_submit(n, l);
}

struct hp_dma *hp_dma_read(struct hp_nic *n, weft_phys_t addr, uint32_t bytes,
			   void (*done)(struct hp_nic *, struct hp_dma *),
			   void *arg)
{
	struct hp_dma *d = hp_pool_take(n->dma_pool, n->dma_all);
	uint32_t skew = addr % WORD;

	assert(bytes);
	d->txn.op = WEFT_BUS_READ;
	d->txn.addr = addr - skew;
	d->txn.bytes = (skew + bytes + WORD - 1) / WORD * WORD;
	d->txn.data = weft_slice_word(n->comp->sim, d->txn.bytes);
	d->skew = (uint8_t)skew;
	d->bytes = bytes;
	d->done = done;
	d->arg = arg;
	hp_count(n, HP_K_READS, 1);
	hp_count(n, HP_K_READ_BYTES, bytes);
	dma_queue(n, d);
	return d;
}

struct hp_dma *hp_dma_write(struct hp_nic *n, weft_phys_t addr,
			    struct weft_slice data,
			    void (*done)(struct hp_nic *, struct hp_dma *),
			    void *arg)
{
	struct hp_dma *d = hp_pool_take(n->dma_pool, n->dma_all);

	assert(data.len);
	d->txn.op = WEFT_BUS_WRITE;
	d->txn.addr = addr;
	d->txn.bytes = d->bytes = data.len;
	d->txn.data = data;
	d->done = done;
	d->arg = arg;
	hp_count(n, HP_K_WRITES, 1);
	hp_count(n, HP_K_WRITE_BYTES, data.len);
	dma_queue(n, d);
	return d;
}

struct hp_dma *hp_dma_put(struct hp_nic *n, weft_phys_t addr, const void *data,
			  uint32_t bytes,
			  void (*done)(struct hp_nic *, struct hp_dma *),
			  void *arg)
{
	struct weft_slice s = weft_slice_word(n->comp->sim, bytes);

	memcpy(weft_slice_data(s), data, bytes);
	return hp_dma_write(n, addr, s, done, arg);
}

/* Ends a transaction. Starts the next transaction before the ended one is
 * reported to its requester, so that the bus does not idle. */
static void dma_over(struct hp_nic *n, void *arg)
{
	struct hp_dma *d = arg;
	struct hp_dma_list *l = &n->dma[d->txn.op];

	l->out--;
	dma_submit(n, l);
	if (d->done)
		d->done(n, d);
	weft_slice_drop(&d->txn.data);
	hp_pool_put(n->dma_pool, d);
}

/* Completes a transaction. The data of a refused read are all ones. */
void hp_hif_done(struct hp_nic *n, struct hp_dma *d)
{
	struct weft_slice cut;

	if (d->txn.status != WEFT_BUS_OK)
		hp_count(n, HP_K_ABORTS, 1);
	if (d->txn.op == WEFT_BUS_READ) {
		weft_bus_settle(n->bus);
		if (d->txn.status != WEFT_BUS_OK)
			memset(weft_slice_data(d->txn.data), 0xff,
			       d->txn.bytes);
		if (d->bytes != d->txn.bytes) {
			cut = weft_slice_sub(d->txn.data, d->skew, d->bytes);
			weft_slice_drop(&d->txn.data);
			d->txn.data = cut;
		}
	}
	hp_at(n, hp_now(n), dma_over, d);
}
