/* SPDX-License-Identifier: Apache-2.0 */
/* Sending side of ATOLL's host ports and their network ports (hostport.md 2.1,
 * 2.4). With PIO the host port assembles a packet from single stores. With DMA
 * it reads descriptors and payload from host memory. The network port cuts
 * packets into flits.
 *
 * A packet is its routing string, a header word (sender, tag, bytes) and the
 * payload. The device has no packet memory, therefore it holds only a few flits
 * of a packet sent by DMA at a time. */
#include <string.h>

#include "systems/atoll/nic/nic.h"

/* PIECE: bytes per read of the payload. QUEUED: flits that fit into the
 * queue. */
enum { PIECE = 512, QUEUED = 16 };

/* ---- flits ---- */

static struct weft_frame *flit_put(struct at_nic *n, uint32_t hp,
				   enum at_kind kind, const void *p,
				   uint32_t bytes)
{
	struct weft_frame *f = weft_frame_new(n->comp->sim);

	*at_line(f) = (struct at_line){ .kind = (uint8_t)kind };
	f->payload = weft_slice_word(n->comp->sim, bytes);
	if (bytes)
		memcpy(weft_slice_data(f->payload), p, bytes);
	*ring_push(&n->tx[hp].q) = f;
	return f;
}

static void pkt_head(struct at_nic *n, uint32_t hp, const uint8_t *route,
		     uint32_t chars, uint64_t head)
{
	struct at_tx *t = &n->tx[hp];

	flit_put(n, hp, AT_HEAD, route, chars);
	memcpy(t->part, &head, 8);
	t->n_part = 8;
}

/* Appends bytes to the packet and queues each full flit. */
static void pkt_bytes(struct at_nic *n, uint32_t hp, const uint8_t *p,
		      uint32_t bytes)
{
	struct at_tx *t = &n->tx[hp];

	while (bytes) {
		uint32_t k = AT_FLIT - t->n_part;

		if (!k) {
			flit_put(n, hp, AT_DATA, t->part, AT_FLIT);
			t->n_part = 0;
			continue;
		}
		k = k < bytes ? k : bytes;
		memcpy(t->part + t->n_part, p, k);
		t->n_part += k;
		p += k;
		bytes -= k;
	}
}

/* Queues the last flit. It carries the trace id, because a packet counts as
 * arrived with its last flit. */
static void pkt_end(struct at_nic *n, uint32_t hp, uint64_t trace)
{
	struct at_tx *t = &n->tx[hp];
	struct weft_frame *f = flit_put(n, hp, AT_DATA, t->part, t->n_part);

	at_line(f)->flags = AT_EOP;
	f->trace_id = trace;
	t->n_part = 0;
	at_count(n, AT_K_SENT, 1);
}

static void flits_go(struct at_nic *n, uint32_t hp)
{
	struct at_tx *t = &n->tx[hp];

	while (!ring_empty(&t->q) && atoll_xbar_np_room(&n->x, hp)) {
		atoll_xbar_inject(&n->x, hp, *ring_front(&t->q));
		ring_pop(&t->q);
	}
}

/* ---- PIO ---- */

static void pio_data(struct at_nic *n, uint32_t hp, uint64_t val, bool last)
{
	struct at_tx *t = &n->tx[hp];

	if (t->n_pio < ATOLL_PIO_MAX / 8)
		t->pio[t->n_pio++] = val;
	if (!last)
		return;
	pkt_head(n, hp, t->route, t->n_route,
		 ATOLL_HEAD(n->node * ATOLL_PORTS + hp, t->tag, t->n_pio * 8));
	pkt_bytes(n, hp, (const uint8_t *)t->pio, t->n_pio * 8);
	at_mark(n, t->pio_trace, "further stores");
	pkt_end(n, hp, t->pio_trace);
	t->n_route = t->n_pio = 0;
	t->pio_trace = 0;
	flits_go(n, hp);
}

/* ---- DMA ---- */

static void payload_done(struct at_nic *n, struct at_dma *d);

/* Reads up to PIECE bytes of the payload once the queue has room for their
 * flits. Ends the packet after the last byte. */
static void payload_ask(struct at_nic *n, uint32_t hp)
{
	struct at_tx *t = &n->tx[hp];
	uint64_t left = t->bytes - t->asked;
	uint32_t k = left < PIECE ? (uint32_t)left : PIECE;
	uint64_t done = ATOLL_D_DONE;

	if (!t->busy || t->reading ||
	    ring_count(&t->q) + PIECE / AT_FLIT > QUEUED)
		return;
	if (!left) {
		if (!t->desc[0])
			return;
		pkt_end(n, hp, t->trace);
		at_dma(n, WEFT_BUS_WRITE,
		       t->sdq_base + (uint64_t)t->sdq_rp * ATOLL_DESC + 56,
		       &done, 8, hp, NULL);
		t->sdq_rp = t->sdq_rp + 1 == t->sdq_size ? 0 : t->sdq_rp + 1;
		t->busy = false;
		return;
	}
	t->reading = true;
	at_dma(n, WEFT_BUS_READ, t->sdr_base + t->desc[1] + t->asked, NULL, k,
	       hp, payload_done)
		->txn.trace_id = t->trace;
	t->asked += k;
}

static void payload_done(struct at_nic *n, struct at_dma *d)
{
	n->tx[d->hp].reading = false;
	pkt_bytes(n, d->hp, weft_slice_data(d->txn.data), d->txn.bytes);
	at_tx_go(n, d->hp);
}

static void desc_done(struct at_nic *n, struct at_dma *d)
{
	struct at_tx *t = &n->tx[d->hp];
	const uint64_t *w = t->desc;
	uint32_t chars;

	memcpy(t->desc, weft_slice_data(d->txn.data), ATOLL_DESC);
	t->reading = false;
	chars = (uint32_t)(w[0] >> 48 & 0xff);
	t->bytes = (uint32_t)w[0];
	t->asked = 0;
	if (chars > ATOLL_ROUTE_MAX || !chars || t->bytes % 8) {
		at_count(n, AT_K_BAD_DESC, 1);
		chars = chars && chars <= ATOLL_ROUTE_MAX ? chars : 1;
		t->bytes = 0;
	}
	pkt_head(n, d->hp, (const uint8_t *)&w[2], chars,
		 w[7] & ATOLL_D_AGAIN
			 ? w[5]
			 : ATOLL_HEAD(n->node * ATOLL_PORTS + d->hp,
				      w[0] >> 32 & 0xffff, t->bytes));
	at_tx_go(n, d->hp);
}

static void tx_tell(const struct at_nic *n, uint32_t hp)
{
	const struct at_tx *t = &n->tx[hp];
	const char *state = "FLITS";

	if (!weft_heard_kind(n->comp, WEFT_TRACE_STATE))
		return;
	if (t->n_route || t->n_pio)
		state = "STORE";
	else if (!t->busy && ring_empty(&t->q))
		state = "IDLE";
	else if (t->busy && t->reading)
		state = t->desc[0] ? "DATA" : "DESC";
	weft_state_at(n->comp, "send", hp, state, weft_now(n->comp));
	weft_level(n->comp, "send_flits", hp, ring_count(&t->q),
		   weft_now(n->comp));
}

void at_tx_go(void *own, uint32_t hp)
{
	struct at_nic *n = own;
	struct at_tx *t = &n->tx[hp];

	flits_go(n, hp);
	payload_ask(n, hp);
	flits_go(n, hp);
	if (!t->busy && t->sdq_rp != t->sdq_wp && t->sdq_size) {
		/* fetch the next descriptor */
		t->busy = t->reading = true;
		t->desc[0] = 0;
		t->trace = 0;
		if (!ring_empty(&t->traces)) {
			t->trace = *ring_front(&t->traces);
			ring_pop(&t->traces);
		}
		at_dma(n, WEFT_BUS_READ,
		       t->sdq_base + (uint64_t)t->sdq_rp * ATOLL_DESC, NULL,
		       ATOLL_DESC, hp, desc_done)
			->txn.trace_id = t->trace;
	}
	tx_tell(n, hp);
}

/* Starts the trace of a message for each descriptor between the old SDQ_WP and
 * `wp`. */
static void trace_descs(struct at_nic *n, struct at_tx *t, uint32_t wp)
{
	uint64_t first = 0;

	for (uint32_t i = t->sdq_wp; t->sdq_size && i != wp;
	     i = (i + 1) % t->sdq_size) {
		uint64_t id = first ? weft_msg_fork(n->comp, first)
				    : weft_msg_open(n->comp);

		first = first ? first : id;
		*ring_push(&t->traces) = id;
	}
}

void at_tx_store(struct at_nic *n, uint32_t hp, uint32_t off, uint64_t val)
{
	struct at_tx *t = &n->tx[hp];
	uint32_t chars = (uint32_t)(val >> 56);

	/* A message that the host stores word by word begins with this
	 * store. */
	if (weft_heard(n->comp) && !t->pio_trace && off <= ATOLL_PIO_TAG)
		t->pio_trace = weft_msg_open(n->comp);
	switch (off) {
	case ATOLL_PIO_ROUTE:
		if (chars <= ATOLL_PIO_CHARS && t->n_route + chars <= AT_ROUTE)
			for (uint32_t i = 0; i < chars; i++)
				t->route[t->n_route++] =
					(uint8_t)(val >> 8 * i);
		tx_tell(n, hp);
		break;
	case ATOLL_PIO_TAG:
		t->tag = (uint32_t)val & 0xffff;
		break;
	case ATOLL_PIO_DATA:
	case ATOLL_PIO_LAST:
		pio_data(n, hp, val, off == ATOLL_PIO_LAST);
		tx_tell(n, hp);
		break;
	case ATOLL_SDQ_BASE:
		t->sdq_base = val;
		break;
	case ATOLL_SDQ_SIZE:
		if (t->busy)
			break;
		t->sdq_size = (uint32_t)val;
		t->sdq_wp = t->sdq_rp = 0;
		break;
	case ATOLL_SDR_BASE:
		t->sdr_base = val;
		break;
	case ATOLL_SDQ_WP:
		val = t->sdq_size ? val % t->sdq_size : 0;
		if (weft_heard(n->comp))
			trace_descs(n, t, (uint32_t)val);
		t->sdq_wp = (uint32_t)val;
		at_tx_go(n, hp);
		break;
	}
}

void at_tx_fini(struct at_nic *n, uint32_t hp)
{
	struct at_tx *t = &n->tx[hp];

	for (; !ring_empty(&t->q); ring_pop(&t->q))
		weft_frame_free(*ring_front(&t->q));
	ring_free(&t->q);
	ring_free(&t->traces);
}
