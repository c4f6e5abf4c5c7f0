/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over the NIC of examples/own, which copies a block to the
 * memory of the other node and does nothing else.
 *
 * Each receiver has a ring of slots for each sender. A message is one copy. It
 * is placed at the end of its slot, so that its last word, the sequence number,
 * has the same place in every slot. Puts, gets and atomics are sent as messages
 * too. Credits are sent with messages, or as a copy of one word. */
#include <errno.h>
#include <string.h>

#include "endpoint/core.h"

enum { R_SRC = 0x00, R_DST = 0x08, R_NODE = 0x10, R_LEN = 0x18, R_END = 0x28 };
enum { LAST = 1, NOTIFY = 2, SWAP = 4 };

/* Fields of a message that follow its data. */
struct own_tail {
	uint32_t kind, flags, len, id;
	uint64_t imm, addr, key, a, b;
	int32_t status;
	uint32_t consumed;
	uint64_t seq; /* sequence number, from 1 on */
};

struct own_ep {
	struct ep core; /* first */
	struct weft_io io;
	/* bytes of a slot; bytes of the credit words and all rings */
	size_t slot, bytes;
	/* memory for receiving and sending: credit words, then rings */
	uint8_t *rx, *tx;
	weft_phys_t rx_phys, tx_phys;
	uint64_t there[2]; /* physical address of rx of each node */
};

static struct own_ep *own_of(struct ep *e)
{
	return (struct own_ep *)e;
}

/* Returns the offset of message seq of a ring. */
static size_t slot_at(const struct own_ep *x, uint32_t ring, uint64_t seq)
{
	const struct ep *e = &x->core;

	return 8 * e->n + (ring * e->slots + seq % e->slots) * x->slot;
}

static struct own_tail *tail_of(const struct own_ep *x, uint8_t *slot)
{
	return (struct own_tail *)(slot + x->slot) - 1;
}

/* ---- sending ---- */

static bool busy(struct own_ep *x)
{
	return weft_io_load64(x->core.h, &x->io, R_LEN);
}

static void copy(struct own_ep *x, uint32_t dst, size_t from, size_t to,
		 size_t len)
{
	struct weft_host *h = x->core.h;

	weft_io_store64(h, &x->io, R_SRC, x->tx_phys + from);
	weft_io_store64(h, &x->io, R_DST, x->there[dst] + to);
	weft_io_store64(h, &x->io, R_NODE, dst);
	weft_io_store64(h, &x->io, R_LEN, len);
}

static void credit_out(struct own_ep *x, uint32_t dst)
{
	bool self = dst == x->core.me;
	uint64_t *word = (uint64_t *)(self ? x->rx : x->tx) + dst;

	*word = x->core.peer[dst].consumed;
	if (!self)
		copy(x, dst, 8 * dst, 8 * x->core.me, 8);
}

static bool own_message(struct ep *e, uint32_t dst, const struct ep_head *h,
			const void *data)
{
	struct own_ep *x = own_of(e);
	bool self = dst == e->me;
	uint64_t sent = e->peer[dst].sent;
	size_t at = slot_at(x, dst, sent), pad = (h->len + 7ul) & ~7ul;
	uint8_t *slot = (self ? x->rx : x->tx) + at;
	size_t start = x->slot - sizeof(struct own_tail) - pad;

	if (!self && busy(x))
		return false;
	if (h->kind == EP_CREDIT) {
		credit_out(x, dst);
		return true;
	}
	if (h->len)
		weft_host_copy(e->h, slot + start, data, h->len);
	*tail_of(x, slot) = (struct own_tail){
		.kind = h->kind,
		.flags = (h->last ? LAST : 0) | (h->notify ? NOTIFY : 0) |
			 (h->swap ? SWAP : 0),
		.len = h->len,
		.id = h->id,
		.imm = h->imm,
		.addr = h->addr,
		.key = h->key,
		.a = h->a,
		.b = h->b,
		.status = h->status,
		.consumed = (uint32_t)e->peer[dst].consumed,
		.seq = sent + 1,
	};
	if (!self)
		copy(x, dst, at + start, slot_at(x, e->me, sent) + start,
		     x->slot - start);
	return true;
}

/* ---- receiving ---- */

static struct own_tail *next(struct own_ep *x, uint32_t src)
{
	uint64_t got = x->core.peer[src].got;
	struct own_tail *t = tail_of(x, x->rx + slot_at(x, src, got));

	return *(volatile uint64_t *)&t->seq == got + 1 ? t : NULL;
}

static void own_credits(struct ep *e, uint32_t dst)
{
	ep_credits_in(e, dst, (uint32_t)((uint64_t *)own_of(e)->rx)[dst]);
}

static bool take(struct ep *e, uint32_t src, const struct own_tail *t)
{
	struct ep_head h = { .kind = (enum ep_kind)t->kind,
			     .id = t->id,
			     .len = t->len,
			     .last = t->flags & LAST,
			     .notify = t->flags & NOTIFY,
			     .swap = t->flags & SWAP,
			     .status = t->status,
			     .imm = t->imm,
			     .addr = t->addr,
			     .key = t->key,
			     .a = t->a,
			     .b = t->b };

	ep_credits_in(e, src, t->consumed);
	return ep_in(e, src, &h, (const uint8_t *)t - ((h.len + 7ul) & ~7ul));
}

static void own_poll(struct ep *e)
{
	const struct own_tail *t;

	for (uint32_t p = 0; p < e->n; p++)
		while ((t = next(own_of(e), p)) && take(e, p, t))
			continue;
}

/* Waits for memory to change. Polls at intervals of 100 ns if operations wait
 * for the NIC, because the NIC does not report that it is free. Returns false
 * at the deadline. */
static bool own_idle(struct ep *e, weft_time_t deadline)
{
	struct own_ep *x = own_of(e);

	for (uint32_t p = 0; p < e->n; p++) {
		if (next(x, p))
			return true;
		if (!e->peer[p].todo.head)
			continue;
		weft_host_cpu(e->h, 100 * WEFT_NS);
		return weft_host_now(e->h) < deadline;
	}
	return weft_host_poll_range(e->h, x->rx, x->bytes, deadline);
}

/* ---- opening, closing ---- */

static int own_start(struct ep *e)
{
	struct own_ep *x = own_of(e);
	struct weft_dev *d = weft_dev_open(e->h, 0);

	x->slot = ((e->ep.info.max_msg + 7) & ~7ul) + sizeof(struct own_tail);
	x->bytes = 8 * e->n + e->n * e->slots * x->slot;
	x->rx = weft_mem_alloc(e->h, x->bytes, 64, &x->rx_phys);
	x->tx = weft_mem_alloc(e->h, x->bytes, 64, &x->tx_phys);
	if (!x->rx || !x->tx ||
	    !weft_io_map(e->h, d, 0, 0, R_END, WEFT_UC, &x->io))
		return -ENOMEM;
	return e->n <= 2 ? 0 : -EOPNOTSUPP;
}

static int own_meet(struct ep *e)
{
	struct own_ep *x = own_of(e);

	ep_tell(e, "rx", x->rx_phys);
	for (uint32_t p = 0; p < e->n; p++)
		x->there[p] = ep_ask(e, p, "rx");
	return 0;
}

static void own_stop(struct ep *e)
{
	struct own_ep *x = own_of(e);

	if (x->rx)
		weft_mem_free(e->h, x->rx);
	if (x->tx)
		weft_mem_free(e->h, x->tx);
}

static const struct ep_nic_ops own_nic = {
	.name = "own",
	.bytes = sizeof(struct own_ep),
	.emulated = WEFT_EP_PUT | WEFT_EP_GET | WEFT_EP_FADD | WEFT_EP_CSWAP,
	.max_msg = 1024,
	.slots = 8,
	.requests = 16,
	.one_ring = true,
	.call_time = T_forth_ep_call,
	.start = own_start,
	.meet = own_meet,
	.stop = own_stop,
	.message = own_message,
	.poll = own_poll,
	.idle = own_idle,
	.credits = own_credits,
};

int weft_ep_open(struct weft_host *h, const struct weft_ep_attr *attr,
		 struct weft_ep **ep_p)
{
	return ep_open(h, attr ? attr : &(struct weft_ep_attr){ 0 }, &own_nic,
		       ep_p);
}
