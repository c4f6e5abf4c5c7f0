/* SPDX-License-Identifier: Apache-2.0 */
/* Payload of a packet to host memory (hostport.md 8.4 step 5, 8.10).
 *
 * Pieces are written in order as they arrive. While stores wait for a
 * translation or the bus, the ingress buffer of the unit takes up to a page of
 * the packet from the network. The rest of the packet stays in the network and
 * blocks it. */
#include "systems/hostport/nic/functional_units.h"

enum { PIECES = 8 };

uint32_t hp_rx_bytes(const struct hp_rx *rx, uint32_t size, enum hp_err *tail_p)
{
	const uint8_t *b = weft_slice_data(rx->f->payload) + rx->head.skip;
	uint64_t tail;

	*tail_p = HP_ERR_NOERR;
	if (!rx->whole || rx->here >= size)
		return rx->here < size ? rx->here : size;
	*tail_p = HP_ERR_TLENGTH; /* the packet is too short and has no tail */
	if (rx->here < 8)
		return 0;
	memcpy(&tail, b + rx->here - 8, sizeof(tail));
	if (HP_TAIL_ERR(tail))
		*tail_p = HP_TAIL_ERR(tail);
	return rx->here - 8;
}

static void push_done(struct hp_nic *n, struct hp_dma *d)
{
	struct hp_push *p = d->arg;

	p->out--;
	p->stored += d->txn.data.len;
	if (d->txn.status != WEFT_BUS_OK)
		p->stop = true;
	hp_walk_past(n, &p->walk, p->stored);
	hp_push_go(n, p);
}

static bool push_piece(struct hp_nic *n, struct hp_push *p, uint32_t here)
{
	uint32_t left, bytes = p->total - p->asked;
	weft_phys_t pa;
	enum hp_step step = hp_walk_at(&p->walk, p->asked, &pa, &left);
	struct hp_rx *rx = p->rx;

	if (step == HP_STEP_FAULT)
		p->stop = true;
	if (step != HP_STEP_READY)
		return false;
	bytes = bytes < left ? bytes : left;
	bytes = bytes < n->param.dma_piece ? bytes : n->param.dma_piece;
	if (here < p->asked + bytes && rx->whole)
		bytes = here - p->asked;
	if (!bytes || here < p->asked + bytes)
		return false;
	p->out++;
	hp_dma_write(
		n, pa,
		weft_slice_sub(rx->f->payload, rx->head.skip + p->asked, bytes),
		push_done, p)
		->txn.trace_id = rx->f->trace_id;
	p->asked += bytes;
	return true;
}

void hp_push_go(struct hp_nic *n, void *push)
{
	struct hp_push *p = push;
	uint32_t here = hp_rx_bytes(p->rx, p->size, &p->tail), have = here;
	uint32_t came = p->rx->here, done;
	/* Parked bytes are written one piece at a time, so that other packets
	 * get the bus in between. */
	uint32_t pieces = p->copied || p->park.pages ? 1 : PIECES;

	if (p->park.pages)
		have = hp_park_go(n, p, here);
	while (!p->hold && !p->stop && p->asked < p->total && p->asked < have &&
	       p->out < pieces)
		if (!push_piece(n, p, have))
			break;
	/* the network need not keep bytes that are stored or parked, or that
	 * fit into the ingress buffer */
	done = p->park.pages ? p->park.there : p->stored + HP_INGRESS;
	if (p->copied || (p->park.pages && done == p->size))
		hp_rx_copied(n, p->rx);
	else
		hp_rx_took(n, p->rx, done < came ? done : came);
	if (!p->hold && !p->over && !p->out && !p->park.out &&
	    hp_walk_known(&p->walk) &&
	    (p->stop || p->asked == p->total ||
	     (p->rx->whole && p->asked >= here))) {
		hp_walk_end(n, &p->walk);
		hp_park_end(n, p);
		p->over = true;
	}
	p->go(n, p);
}

static void push_more(struct hp_nic *n, struct hp_rx *rx)
{
	hp_push_go(n, rx->arg);
}

void hp_push_start(struct hp_nic *n, struct hp_push *p)
{
	p->rx->more = push_more;
	p->rx->arg = p;
	hp_push_go(n, p);
}
