/* SPDX-License-Identifier: Apache-2.0 */
/* HyperTransport: transactions and interrupts of devices. Rules: top of
 * ht.c. */
#include "host/ht.h"

#include <assert.h>
#include <string.h>

void ht_submit(struct weft_port *dev_port, struct weft_bus_txn *t)
{
	struct ht *b;
	struct ht_link *l = ht_link_dev(dev_port, &b);
	struct ht_pkt *p = ht_pkt_new(b);
	uint64_t s = ht_slot_next(b);
	bool read = t->op == WEFT_BUS_READ;

	assert(t->bytes);
	t->status = WEFT_BUS_OK;
	t->t_req = ht_time(b, s);
	t->t_done = 0;
	t->tenures = t->splits = t->moved = 0;
	p->txn = t;
	p->ready = s + b->s_tx;
	p->seq = l->seq++;
	ht_queue_push(&l->lane[HT_UP].queue[read ? HT_NONPOSTED : HT_POSTED],
		      p);
	ht_kick(b, l, HT_UP);
}

void ht_irq(struct weft_port *dev_port, bool asserted)
{
	struct ht *b;
	struct ht_link *l = ht_link_dev(dev_port, &b);
	struct ht_pkt *p = ht_pkt_new(b);

	p->ready = ht_slot_next(b) + b->s_tx;
	p->seq = l->seq++;
	p->level = asserted;
	ht_queue_push(&l->lane[HT_UP].queue[HT_POSTED], p);
	ht_kick(b, l, HT_UP);
}

/* Returns true if host memory decodes the address. No target decodes an address
 * that does not fit into a header. */
static bool ht_dma_decoded(const struct ht *b, weft_phys_t addr, uint32_t bytes)
{
	const struct weft_bus_host_ops *host = b->host->peer->iface;

	return !(addr >> HT_ADDR_BITS) &&
	       host->decode(b->host->peer, addr, bytes);
}

static void mem_tell(struct ht *b, const struct ht_link *l,
		     const struct weft_bus_txn *t, uint32_t at, uint32_t bytes,
		     weft_time_t time)
{
	const struct weft_bus_host_ops *host = b->host->peer->iface;
	struct weft_bus_note note = {
		.kind = t->op == WEFT_BUS_READ ? WEFT_NOTE_MEM_READ
					       : WEFT_NOTE_MEM_WRITE,
		.time = time,
		.off = t->addr + at,
		.bytes = bytes,
		.dev = ht_link_number(b, l),
		.lazy = l->port->peer->told && host->settle,
		.slice = t->data.buf ? weft_slice_sub(t->data, at, bytes)
				     : (struct weft_slice){ .len = bytes },
		.trace_id = t->trace_id,
	};

	weft_bus_tell(b->host, &note);
}

static void ht_dma_done(struct ht *b, struct ht_link *l, struct weft_bus_txn *t,
			uint64_t s)
{
	struct weft_bus_note note = { .kind = WEFT_NOTE_DONE,
				      .time = ht_time(b, s),
				      .txn = t,
				      .last = true };

	t->t_done = note.time;
	weft_bus_tell(l->port, &note);
}

/* Reports to listeners that a packet of t is on the link in slots d to
 * `end`. */
static void trace_way(const struct ht *b, const struct ht_link *l,
		      const struct weft_bus_txn *t, uint64_t d, uint64_t end)
{
	bool read = t->op == WEFT_BUS_READ;

	weft_mark(l->port->peer->comp, t->trace_id,
		  read ? "asks to read" : "asks to write", t->t_req);
	weft_mark(b->comp, t->trace_id, "waits for the bus", ht_time(b, d));
	weft_mark(b->comp, t->trace_id,
		  read ? "DMA read: request" : "DMA write: data",
		  ht_time(b, end));
}

/* ---- writes ---- */

/* Returns the bytes of the next packet, which ends at the end of a line or
 * earlier. A 32-byte block in which a dword is written in part is a separate
 * packet, because it needs a mask. */
static uint32_t ht_dma_cut(uint64_t addr, uint32_t left, bool *masked_p)
{
	uint32_t n = HT_LINE - (uint32_t)(addr % HT_LINE), block;

	n = n < left ? n : left;
	*masked_p = true;
	if (addr % 4) {
		block = HT_BLOCK - (uint32_t)(addr % HT_BLOCK);
		return block < n ? block : n;
	}
	if (n % 4 && addr % HT_LINE + n <= HT_BLOCK)
		return n;
	if (n % 4 && addr % HT_LINE >= HT_BLOCK)
		return n;
	*masked_p = false;
	return n % 4 ? HT_BLOCK - (uint32_t)(addr % HT_LINE) : n;
}

/* Returns the sequence number of a packet. All packets of a transaction have
 * the same number, so that they stay in order. A transaction of one packet has
 * number 0. */
static uint8_t ht_dma_sequence(struct ht_link *l, const struct weft_bus_txn *t,
			       uint32_t at, uint32_t n)
{
	if (n == t->bytes)
		return 0;
	if (!at)
		l->sequences++;
	return (uint8_t)(1 + l->sequences % 15);
}

/* Puts the header of a device's request on the link. */
static void head_put(struct ht *b, struct ht_link *l, struct ht_head *h)
{
	h->unit = (uint8_t)(1 + ht_link_number(b, l));
	ht_request_pack(h, l->lane[HT_UP].head);
}

static void irq_send(struct ht *b, struct ht_link *l, uint64_t d)
{
	struct ht_lane *lane = &l->lane[HT_UP];
	struct ht_pkt *p = ht_queue_pop(&lane->queue[HT_POSTED]);
	uint64_t end = ht_occupy(b, l, HT_UP, d, HT_REQUEST / 4);
	struct ht_head h = { .cmd = HT_CMD_WRITE_BYTES, .addr = HT_INTERRUPT };
	struct weft_bus_note note = { .kind = WEFT_NOTE_IRQ,
				      .dev = ht_link_number(b, l),
				      .level = p->level };

	head_put(b, l, &h);
	note.time = ht_later(ht_time(b, end) + b->t_irq, l->commit);
	weft_bus_tell(b->host, &note);
	weft_count(b->comp, HT_C_IRQS, 1);
	ht_ring_take(&lane->credit[HT_POSTED], b->credits, end + b->s_credit);
	ht_pkt_free(b, p);
}

static void write_head(struct ht *b, struct ht_link *l,
		       const struct weft_bus_txn *t, uint32_t n, bool masked)
{
	uint64_t addr = t->addr + t->moved;
	struct ht_head h = { .cmd = HT_CMD_WRITE,
			     .seq = ht_dma_sequence(l, t, t->moved, n),
			     .count = (uint8_t)(ht_dwords(addr, n) - 1),
			     .addr = addr & ~3ull };

	if (masked) {
		h.cmd = HT_CMD_WRITE_BYTES;
		h.count++;
		h.addr = addr & ~(HT_BLOCK - 1ull);
		l->lane[HT_UP].mask = ht_mask(addr, n);
	}
	head_put(b, l, &h);
}

/* Writes to memory T_WRITE after the packet's end. A write that no target
 * decodes is lost without notice, because it is posted. */
static void write_commit(struct ht *b, struct ht_link *l,
			 const struct weft_bus_txn *t, uint64_t end)
{
	uint32_t mask = l->lane[HT_UP].mask, n;
	struct ht_head h;
	uint64_t addr;

	/* Takes the address and the number of bytes from the header, as the
	 * bridge does. */
	ht_request_parse(l->lane[HT_UP].head, &h);
	if (h.cmd == HT_CMD_WRITE) {
		n = 4 * (h.count + 1u);
		addr = h.addr;
	} else {
		n = ht_mask_bytes(mask);
		addr = h.addr + ht_mask_first(mask);
	}

	if ((t->addr + t->moved) >> HT_ADDR_BITS ||
	    !ht_dma_decoded(b, addr, n)) {
		weft_count(b->comp, HT_C_ABORTS, 1);
		return;
	}
	assert(addr == t->addr + t->moved); /* the packet carries these data */
	l->commit = ht_later(ht_time(b, end) + b->t_write, l->commit);
	mem_tell(b, l, t, t->moved, n, l->commit);
}

void ht_write_send(struct ht *b, struct ht_link *l, uint64_t d)
{
	struct ht_lane *lane = &l->lane[HT_UP];
	struct ht_pkt *p = lane->queue[HT_POSTED].head;
	struct weft_bus_txn *t = p->txn;
	uint32_t n, size;
	uint64_t end;
	bool masked;

	if (!t) {
		irq_send(b, l, d);
		return;
	}
	n = ht_dma_cut(t->addr + t->moved, t->bytes - t->moved, &masked);
	size = HT_REQUEST / 4 + ht_dwords(t->addr + t->moved, n);
	end = ht_occupy(b, l, HT_UP, d, size + (masked ? HT_MASK / 4 : 0));
	ht_ring_take(&lane->credit[HT_POSTED], b->credits, end + b->s_credit);
	weft_count(b->comp, HT_C_WRITES, 1);
	weft_count(b->comp, HT_C_WRITE_BYTES, n);
	weft_count(b->comp, HT_C_MASKED, masked);
	if (t->trace_id)
		trace_way(b, l, t, d, end);
	write_head(b, l, t, n, masked);
	write_commit(b, l, t, end);
	t->tenures++;
	t->moved += n;
	if (t->moved < t->bytes)
		return;
	ht_pkt_free(b, ht_queue_pop(&lane->queue[HT_POSTED]));
	ht_dma_done(b, l, t, end);
}

/* ---- reads ---- */

/* Queues the bridge's answer to a read packet of n bytes from p->at. `end` is
 * the last slot of the read packet. */
static void read_serve(struct ht *b, struct ht_link *l, struct ht_pkt *p,
		       uint32_t n, uint64_t end)
{
	struct weft_bus_txn *t = p->txn;
	struct ht_pkt *a = ht_pkt_new(b);
	uint32_t slow = p->at ? t->slow_next : t->slow_split;
	bool overtakes = b->banks > 1 && t->any_order;
	weft_time_t ready = ht_time(b, end);
	struct ht_head h;
	uint64_t s;

	ht_request_parse(l->lane[HT_UP].head, &h);
	/* Memory answers after earlier writes. Answers stay in order, or only
	 * in the order of their transaction if the read allows that. */
	ready += t->slow_factor > 1
			 ? (weft_time_t)(t->slow_factor * (double)b->t_read)
			 : b->t_read;
	ready += (t->addr + p->at) / HT_LINE % b->banks * b->t_bank;
	s = ht_slot_near(b, ready + weft_clock_edge(&b->core, slow));
	s = ht_later(s, end + 1);
	s = ht_later(s, weft_clock_cycle(&b->slot, l->commit));
	s = ht_later(s, overtakes ? p->after : l->answered);
	a->ready = p->after = s;
	l->answered = ht_later(l->answered, a->ready);
	a->tag = h.tag;
	a->bytes = 4 * (h.count + 1u);
	a->relaxed = h.cmd & HT_CMD_READ_RELAXED;
	a->error = !ht_dma_decoded(b, t->addr + p->at, n);
	if (!a->error)
		mem_tell(b, l, t, p->at, n, ht_time(b, a->ready));
	ht_queue_insert(&l->lane[HT_DOWN].queue[HT_ANSWER], a);
	ht_kick(b, l, HT_DOWN);
}

void ht_read_send(struct ht *b, struct ht_link *l, uint64_t d)
{
	struct ht_lane *lane = &l->lane[HT_UP];
	struct ht_pkt *p = lane->queue[HT_NONPOSTED].head;
	struct weft_bus_txn *t = p->txn;
	uint64_t end = ht_occupy(b, l, HT_UP, d, HT_REQUEST / 4);
	uint64_t addr = t->addr + p->at;
	uint32_t n = HT_LINE - (uint32_t)(addr % HT_LINE);
	uint32_t left = t->bytes - p->at;
	uint8_t tag = ht_tag_take(b, l, d);
	struct ht_head h;

	n = n < left ? n : left;
	ht_ring_take(&lane->credit[HT_NONPOSTED], b->credits,
		     end + b->s_credit);
	weft_count(b->comp, HT_C_READS, 1);
	weft_count(b->comp, HT_C_READ_BYTES, n);
	t->tenures++;
	if (t->trace_id)
		trace_way(b, l, t, d, end);
	h = (struct ht_head){ .cmd = HT_CMD_READ,
			      .seq = ht_dma_sequence(l, t, p->at, n),
			      .tag = tag,
			      .count = (uint8_t)(ht_dwords(addr, n) - 1),
			      .addr = addr & ~3ull };
	if (t->relaxed)
		h.cmd |= HT_CMD_READ_RELAXED;
	/* The core stores the read, because the answer carries only its tag. */
	l->reads->of[tag] = (struct ht_read){ t, p->at, n };
	head_put(b, l, &h);
	read_serve(b, l, p, n, end);
	p->at += n;
	if (p->at == t->bytes)
		ht_pkt_free(b, ht_queue_pop(&lane->queue[HT_NONPOSTED]));
	if (lane->queue[HT_NONPOSTED].head && ht_tag_slot(b, l) > end)
		weft_count(b->comp, HT_C_TAG_WAITS, 1);
}

/* Delivers the answer to the device at slot s. The source tag identifies the
 * read. */
static void answer_take(struct ht *b, struct ht_link *l, uint64_t s)
{
	const struct ht_read *r;
	struct weft_bus_txn *t;
	struct ht_head h;

	ht_answer_parse(l->lane[HT_DOWN].head, &h);
	r = &l->reads->of[h.tag];
	ht_tag_back(b, l, h.tag, s);
	t = r->txn;
	if (h.error) {
		weft_count(b->comp, HT_C_ABORTS, 1);
		t->status = WEFT_BUS_MASTER_ABORT;
		if (t->data.buf)
			memset(weft_slice_data(t->data) + r->at, 0xff,
			       r->bytes);
	}
	t->moved += r->bytes;
	if (r->bytes < t->bytes) {
		struct weft_bus_note note = { .kind = WEFT_NOTE_BURST,
					      .time = ht_time(b, s),
					      .txn = t,
					      .offset = r->at,
					      .bytes = r->bytes,
					      .last = r->at + r->bytes ==
						      t->bytes };

		note.frame = note.data_end = note.time;
		weft_bus_tell(l->port, &note);
	}
	if (t->moved == t->bytes)
		ht_dma_done(b, l, t, s);
}

void ht_answer_send(struct ht *b, struct ht_link *l, uint64_t d)
{
	struct ht_lane *lane = &l->lane[HT_DOWN];
	struct ht_pkt *p = ht_queue_pop(&lane->queue[HT_ANSWER]);
	struct ht_head h = { .cmd = HT_CMD_ANSWER,
			     .unit = (uint8_t)(1 + ht_link_number(b, l)),
			     .tag = p->tag,
			     .count = (uint8_t)(p->bytes / 4 - 1),
			     .pass_pw = p->relaxed,
			     .error = p->error };
	uint64_t s = ht_occupy(b, l, HT_DOWN, d, (HT_RESPONSE + p->bytes) / 4) +
		     b->s_rx;
	uint64_t trace = l->reads->of[p->tag].txn->trace_id;

	ht_ring_take(&lane->credit[HT_ANSWER], b->credits, s + b->s_credit);
	ht_answer_pack(&h, lane->head);
	if (trace)
		weft_mark(b->comp, trace, "DMA read: memory", ht_time(b, d));
	answer_take(b, l, s);
	ht_pkt_free(b, p);
	ht_kick(b, l, HT_UP);
}
