/* SPDX-License-Identifier: Apache-2.0 */
/* Receiving side of ATOLL's host ports (hostport.md 2.2, 2.4). With DMA the
 * host port stores the payload in the receive data region and then writes a
 * descriptor. With PIO the host loads the words from a small buffer. The host
 * port drops routing characters that the crossbars have not used. If the
 * management has removed the packet from the network, the host port keeps the
 * routing string, because the packet has to be sent again. A host port without
 * room accepts nothing, so that the packet waits in the network.
 *
 * The length in a header word may be wrong: software supplies the header word
 * of a packet that is sent again, and a CRC of 16 bits misses some damage.
 * Therefore the host port counts the bytes of the flits. It corrects and counts
 * a header with another length (`lengths`). */
#include <string.h>

#include "systems/atoll/nic/nic.h"

enum { WRITES = 8 }; /* writes in flight */

bool at_rx_room(void *own, uint32_t np)
{
	struct at_nic *n = own;
	const struct at_rx *r = &n->rx[np];
	uint32_t next = r->rdq_wp + 1 == r->rdq_size ? 0 : r->rdq_wp + 1;

	if (!(r->ctrl & ATOLL_CTRL_DMA))
		return ring_count(&r->words) + AT_FLIT / 8 <=
		       n->rx_flits * AT_FLIT / 8;
	return r->writes < WRITES && r->rdq_size && next != r->rdq_rp &&
	       r->rdr_wp - r->rdr_rp + AT_FLIT <= r->rdr_size;
}

/* Reports the fill levels to listeners, and `state` unless it is NULL. */
static void rx_tell(const struct at_nic *n, uint32_t hp, const char *state)
{
	const struct at_rx *r = &n->rx[hp];

	if (!weft_heard_kind(n->comp, WEFT_TRACE_STATE))
		return;
	if (state)
		weft_state_at(n->comp, "receive", hp, state, weft_now(n->comp));
	weft_level(n->comp, "receive_words", hp, ring_count(&r->words),
		   weft_now(n->comp));
	weft_level(n->comp, "receive_writes", hp, r->writes, weft_now(n->comp));
}

/* Returns the payload bytes received so far. */
static uint32_t receive_came(const struct at_rx *r)
{
	return r->got > 8 ? (r->got - 8) & ~7u : 0;
}

static uint64_t head_with(uint64_t head, uint32_t bytes)
{
	return (head & UINT32_MAX) | (uint64_t)bytes << 32;
}

/* ---- DMA ---- */

static void receive_stored(struct at_nic *n, struct at_dma *d)
{
	n->rx[d->hp].writes--;
	rx_tell(n, d->hp, NULL);
	atoll_xbar_kick(&n->x);
}

static void receive_store(struct at_nic *n, uint32_t hp, const uint8_t *p,
			  uint32_t bytes, uint64_t trace)
{
	struct at_rx *r = &n->rx[hp];

	while (bytes) {
		uint32_t at = (uint32_t)(r->rdr_wp % r->rdr_size);
		uint32_t k = r->rdr_size - at;

		k = k < bytes ? k : bytes;
		r->writes++;
		at_dma(n, WEFT_BUS_WRITE, r->rdr_base + at, p, k, hp,
		       receive_stored)
			->txn.trace_id = trace;
		r->rdr_wp += k;
		p += k;
		bytes -= k;
	}
}

static void receive_described(struct at_nic *n, struct at_dma *d)
{
	n->rx[d->hp].descs--;
	if (n->rx[d->hp].ctrl & ATOLL_CTRL_IRQ)
		at_irq(n, ATOLL_IRQ_RECEIVED);
}

static void receive_describe(struct at_nic *n, uint32_t hp, uint64_t trace)
{
	struct at_rx *r = &n->rx[hp];
	uint64_t w[8] = { r->head, r->start % r->rdr_size };
	struct at_dma *d;

	if (r->retrieved) {
		memcpy(&w[2], r->route, r->n_route);
		w[6] = (uint64_t)r->n_route << 48;
	}
	w[7] = ATOLL_D_VALID | (r->retrieved ? ATOLL_D_RETRIEVED : 0);
	r->descs++;
	d = at_dma(n, WEFT_BUS_WRITE,
		   r->rdq_base + (uint64_t)r->rdq_wp * ATOLL_DESC, w,
		   ATOLL_DESC, hp, receive_described);
	d->txn.trace_id = trace;
	d->txn.trace_last = true;
	r->rdq_wp = r->rdq_wp + 1 == r->rdq_size ? 0 : r->rdq_wp + 1;
}

/* ---- PIO ---- */

static uint64_t pio_status(const struct at_nic *n, const struct at_rx *r)
{
	const struct at_pkt *k;
	uint32_t left, there;

	if (ring_empty(&r->pkts))
		return 0;
	k = ring_front(&r->pkts);
	at_mark(n, k->trace, "load: status");
	left = (ATOLL_HEAD_BYTES(k->head) - k->read) / 8;
	there = ring_count(&r->words);
	return ATOLL_STATUS_PACKET |
	       (k->retrieved ? ATOLL_STATUS_RETRIEVED : 0) |
	       (uint64_t)(there < left ? there : left) << 32 |
	       ATOLL_HEAD_BYTES(k->head);
}

static void pio_over(struct at_nic *n, struct at_rx *r)
{
	weft_msg_end(n->comp, ring_front(&r->pkts)->trace, true);
	ring_pop(&r->pkts);
}

static uint64_t pio_read(struct at_nic *n, struct at_rx *r)
{
	struct at_pkt *k = ring_front(&r->pkts);
	uint64_t w;

	if (ring_empty(&r->pkts))
		return ~0ULL;
	if (k->read >= ATOLL_HEAD_BYTES(k->head)) {
		pio_over(n, r); /* the packet is shorter than its header said */
		return ~0ULL;
	}
	if (ring_empty(&r->words))
		return ~0ULL;
	w = *ring_front(&r->words);
	ring_pop(&r->words);
	k->read += 8;
	rx_tell(n, (uint32_t)(r - n->rx), NULL);
	at_mark(n, k->trace, "load: data");
	if (k->read >= ATOLL_HEAD_BYTES(k->head))
		pio_over(n, r);
	atoll_xbar_kick(&n->x);
	return w;
}

/* ---- flits ---- */

/* Completes a packet at its last flit. Drops a packet without a header word. */
static void packet_end(struct at_nic *n, uint32_t np, uint64_t trace)
{
	struct at_rx *r = &n->rx[np];
	bool dma = r->ctrl & ATOLL_CTRL_DMA;
	struct at_pkt *last;

	r->open = false;
	if (!r->got) {
		at_count(n, AT_K_LENGTHS, 1);
		return;
	}
	at_count(n, AT_K_RECEIVED, 1);
	if (ATOLL_HEAD_BYTES(r->head) != receive_came(r)) {
		at_count(n, AT_K_LENGTHS, 1);
		r->head = head_with(r->head, receive_came(r));
	}
	if (dma) {
		receive_describe(n, np, trace);
	} else if (r->pio && !ring_empty(&r->pkts)) {
		last = ring_nth(&r->pkts, ring_count(&r->pkts) - 1);
		if (receive_came(r) < ATOLL_HEAD_BYTES(last->head))
			last->head = r->head;
		last->trace = trace;
	}
	r->pio = false;
}

static void data_in(struct at_nic *n, uint32_t np, const struct weft_frame *f)
{
	struct at_rx *r = &n->rx[np];
	const uint8_t *p = weft_slice_data(f->payload);
	uint32_t bytes = f->payload.len & ~7u;
	bool dma = r->ctrl & ATOLL_CTRL_DMA;
	uint32_t told, have;

	if (!r->got && bytes) {
		memcpy(&r->head, p, 8);
		r->head = head_with(r->head, ATOLL_HEAD_BYTES(r->head) & ~7u);
		p += 8;
		bytes -= 8;
		r->got = 8;
		r->pio = !dma;
		/* A PIO packet without payload ends when its header is read. */
		if (!dma)
			*ring_push(&r->pkts) =
				(struct at_pkt){ .head = r->head,
						 .retrieved = r->retrieved };
	}
	/* PIO: drop words beyond the length in the header, because the host
	 * will not read them. */
	told = ATOLL_HEAD_BYTES(r->head);
	have = receive_came(r);
	at_mark(n, f->trace_id, "host port");
	if (dma)
		receive_store(n, np, p, bytes, f->trace_id);
	for (uint32_t i = 0; r->pio && i < bytes && have + i < told; i += 8)
		memcpy(ring_push(&r->words), p + i, 8);
	r->got += bytes;
	if (at_line(f)->flags & AT_EOP)
		packet_end(n, np, f->trace_id);
}

void at_rx_flit(void *own, uint32_t np, struct weft_frame *f)
{
	struct at_nic *n = own;
	struct at_rx *r = &n->rx[np];
	bool head = at_line(f)->kind == AT_HEAD;

	if (head) {
		r->retrieved = at_line(f)->flags & AT_RETRIEVED;
		r->n_route = f->payload.len < ATOLL_ROUTE_MAX ? f->payload.len
							      : ATOLL_ROUTE_MAX;
		if (r->n_route)
			memcpy(r->route, weft_slice_data(f->payload),
			       r->n_route);
		r->got = 0;
		r->open = true;
		r->start = r->rdr_wp;
	} else if (r->open) {
		data_in(n, np, f);
	}
	rx_tell(n, np,
		head			     ? "HEAD"
		: at_line(f)->flags & AT_EOP ? "IDLE"
					     : "DATA");
	weft_frame_free(f);
}

/* ---- registers ---- */

uint64_t at_rx_load(struct weft_comp *c, uint32_t index)
{
	struct at_nic *n = c->state;
	uint32_t hp = index * 8 / ATOLL_PAGE, off = index * 8 % ATOLL_PAGE;
	struct at_rx *r = &n->rx[hp];
	uint64_t head;

	switch (off) {
	case ATOLL_PIO_STATUS:
		return pio_status(n, r);
	case ATOLL_PIO_HEAD:
		if (ring_empty(&r->pkts))
			return 0;
		head = ring_front(&r->pkts)->head;
		at_mark(n, ring_front(&r->pkts)->trace, "load: header");
		if (!ATOLL_HEAD_BYTES(head))
			pio_over(n, r);
		return head;
	case ATOLL_PIO_RDATA:
		return pio_read(n, r);
	case ATOLL_CTRL:
		return r->ctrl |
		       (r->writes || r->descs ? ATOLL_CTRL_STORES : 0);
	case ATOLL_SDQ_RP:
		return n->tx[hp].sdq_rp;
	default:
		return 0;
	}
}

void at_rx_store(struct weft_comp *c, uint32_t index, uint64_t val)
{
	struct at_nic *n = c->state;
	uint32_t hp = index * 8 / ATOLL_PAGE, off = index * 8 % ATOLL_PAGE;
	struct at_rx *r = &n->rx[hp];

	switch (off) {
	case ATOLL_CTRL:
		r->ctrl = (uint32_t)val & (ATOLL_CTRL_DMA | ATOLL_CTRL_IRQ);
		break;
	case ATOLL_RDQ_BASE:
		r->rdq_base = val;
		break;
	case ATOLL_RDQ_SIZE:
		r->rdq_size = (uint32_t)val;
		r->rdq_wp = r->rdq_rp = 0;
		break;
	case ATOLL_RDQ_RP:
		r->rdq_rp = r->rdq_size ? (uint32_t)(val % r->rdq_size) : 0;
		break;
	case ATOLL_RDR_BASE:
		r->rdr_base = val;
		break;
	/* Drops an open packet, because its start is in the old region. */
	case ATOLL_RDR_SIZE:
		r->rdr_size = (uint32_t)val & ~63u;
		r->rdr_wp = r->rdr_rp = 0;
		r->open = false;
		break;
	case ATOLL_RDR_RP: /* the pointer counts on without wrapping */
		if (val <= r->rdr_wp && val >= r->rdr_rp)
			r->rdr_rp = val;
		break;
	default:
		at_tx_store(n, hp, off, val);
		return;
	}
	atoll_xbar_kick(&n->x);
}
