/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint over the FORTH NIC: messages in rings. All transfers to one peer use
 * one request queue, so that they arrive in the order of posting (forth.md
 * 3.8). Over several paths they may arrive in any order, but the NIC notifies
 * in the order of posting (7.4). */
#include <string.h>

#include "systems/forth/lib/endpoint.h"

/* Data of EP_GET and EP_ATOMIC. */
struct get {
	uint64_t addr, key, len, back;
};
struct atomic {
	uint64_t addr, key, swap, a, b;
};

static struct forth_ep_trailer *trailer_of(const struct forth_ep *x,
					   uint8_t *slot)
{
	return (struct forth_ep_trailer *)(slot + x->slot_bytes) - 1;
}

/* ---- out ---- */

uint32_t forth_ep_parts(const struct forth_ep *x, size_t bytes)
{
	uint32_t max = weft_forth_info(x->f)->max_transfer;

	return (uint32_t)((bytes + max - 1) / max);
}

void forth_ep_put(struct forth_ep *x, uint32_t p, weft_phys_t from,
		  weft_phys_t to, size_t bytes, uint32_t flags)
{
	uint32_t max = weft_forth_info(x->f)->max_transfer;
	struct weft_forth_desc d[16];
	uint32_t n = 0;

	while (bytes) {
		uint32_t k = bytes < max ? (uint32_t)bytes : max;

		d[n] = (struct weft_forth_desc){ .local = from,
						 .remote = (uint32_t)to,
						 .qwords = (uint16_t)(k / 8),
						 .dst = (uint8_t)p };
		from += k;
		to += k;
		bytes -= k;
		if (!bytes)
			d[n].flags = (uint8_t)flags;
		if (++n == 16 || !bytes) {
			weft_forth_post(x->f, d, n);
			n = 0;
		}
	}
}

/* Returns credits to peer p. Over several paths a put of credits could overtake
 * the previous put, and the older value would stay. Therefore a put waits until
 * the previous put has arrived. Its arrival is proved by messages that the peer
 * could send only with the credits of the previous put. Returns false if the
 * put must be tried again later. */
static bool credit_out(struct forth_ep *x, uint32_t p)
{
	const struct ep_peer *c = &x->core.peer[p];
	struct forth_ep_peer *to = &x->peer[p];

	if (x->paths && to->putting && c->got <= to->put_from + x->core.slots)
		return false;
	x->consumed[p] = c->consumed;
	if (p == x->core.me)
		x->credit[p] = c->consumed;
	else if (weft_forth_put(x->f, p, x->out_phys + 8 * p, to->credit, 1,
				to->irq ? WEFT_FORTH_RIRQ : 0))
		return false;
	to->putting = true;
	to->put_from = c->returned;
	return true;
}

/* Puts one message into the peer's ring. Returns false if the request queue has
 * no room. */
static bool slot_out(struct forth_ep *x, uint32_t p, struct forth_ep_trailer t,
		     const void *data, size_t len)
{
	const struct ep_peer *c = &x->core.peer[p];
	const struct forth_ep_peer *to = &x->peer[p];
	size_t bytes = forth_ep_pad(len) + sizeof(t);
	size_t start = x->slot_bytes - bytes;
	size_t at = forth_ep_slot(x, p, c->sent);
	bool self = p == x->core.me;
	uint8_t *slot = (self ? x->rx : x->tx) + at;

	if (!self && weft_forth_space(x->f, p) < forth_ep_parts(x, bytes))
		return false;
	if (len)
		weft_host_copy(x->core.h, slot + start, data, len);
	t.meta |= len | (uint64_t)(uint32_t)c->consumed << 32;
	t.seq = c->sent + 1;
	*trailer_of(x, slot) = t;
	if (!self)
		forth_ep_put(x, p,
			     x->out_phys + (weft_phys_t)(slot - x->out) + start,
			     to->rx + c->sent % x->core.slots * x->slot_bytes +
				     start,
			     bytes,
			     (to->irq ? WEFT_FORTH_RIRQ : 0) |
				     (x->paths ? WEFT_FORTH_RNOTIFY : 0));
	return true;
}

bool forth_ep_message(struct ep *e, uint32_t dst, const struct ep_head *h,
		      const void *data)
{
	struct forth_ep *x = forth_ep_of(e);
	const struct get get = { h->addr, h->key, h->a, h->back };
	const struct atomic atomic = { h->addr, h->key, h->swap, h->a, h->b };
	struct forth_ep_trailer t = { h->id, 0, (uint64_t)h->kind << 24, 0 };

	switch (h->kind) {
	case EP_CREDIT:
		return credit_out(x, dst);
	case EP_GET:
		return slot_out(x, dst, t, &get, sizeof(get));
	case EP_ATOMIC:
		return slot_out(x, dst, t, &atomic, sizeof(atomic));
	case EP_DONE:
		t.arg = h->a;
		return slot_out(x, dst, t, &h->status, sizeof(h->status));
	case EP_PUT:
	case EP_GET_DATA:
		t.arg = h->addr;
		return slot_out(x, dst, t, data, h->len);
	default: /* MSG, NOTIFY */
		t.imm = h->imm;
		t.arg = h->a;
		return slot_out(x, dst, t, data, h->len);
	}
}

/* ---- in ---- */

void forth_ep_credits(struct ep *e, uint32_t dst)
{
	ep_credits_in(e, dst, (uint32_t)forth_ep_of(e)->credit[dst]);
}

/* Returns message `seq` of peer p, counted from 0, if the last word of the
 * message has arrived, otherwise NULL. */
static struct forth_ep_trailer *slot_there(struct forth_ep *x, uint32_t p,
					   uint64_t seq)
{
	struct forth_ep_trailer *t =
		trailer_of(x, x->rx + forth_ep_slot(x, p, seq));

	return *(volatile uint64_t *)&t->seq == seq + 1 ? t : NULL;
}

/* If the NIC uses several paths, sets `late` to the number of messages that
 * have arrived minus the number of notifications. Reads the notifications
 * first, so that `late` is never too small. */
static void look(struct forth_ep *x)
{
	uint32_t noted = x->noted;
	uint64_t sum = 0;

	if (!x->paths)
		return;
	if (weft_forth_remote_word(x->f))
		noted = weft_forth_remote_count(x->f);
	for (uint32_t p = 0; p < x->core.n; p++) {
		while (slot_there(x, p, x->peer[p].landed))
			x->peer[p].landed++;
		sum += p == x->core.me ? 0 : x->peer[p].landed;
	}
	x->late = (uint32_t)(sum - (noted - x->noted));
}

/* Returns the next message of p if it has arrived, otherwise NULL. */
static struct forth_ep_trailer *slot_next(struct forth_ep *x, uint32_t p)
{
	uint64_t got = x->core.peer[p].got;

	if (x->paths && p != x->core.me && got + x->late >= x->peer[p].landed)
		return NULL;
	return slot_there(x, p, got);
}

/* Decodes the head of a message. Clears the kind if the length of the message
 * does not fit the kind. */
static void head_read(struct ep_head *h, const struct forth_ep_trailer *t,
		      const uint8_t *data)
{
	struct get get;
	struct atomic a;

	if (h->kind == EP_GET && h->len == sizeof(get)) {
		memcpy(&get, data, sizeof(get));
		h->addr = get.addr;
		h->key = get.key;
		h->a = get.len;
		h->back = get.back;
	} else if (h->kind == EP_ATOMIC && h->len == sizeof(a)) {
		memcpy(&a, data, sizeof(a));
		h->addr = a.addr;
		h->key = a.key;
		h->a = a.a;
		h->b = a.b;
		h->swap = a.swap;
	} else if (h->kind == EP_DONE && h->len == sizeof(h->status)) {
		memcpy(&h->status, data, sizeof(h->status));
		h->a = t->arg;
	} else {
		h->kind = 0;
	}
	h->len = 0;
}

void forth_ep_poll(struct ep *e)
{
	struct forth_ep *x = forth_ep_of(e);
	struct forth_ep_trailer *t;

	look(x);
	for (uint32_t i = 0; i < e->n; i++) {
		uint32_t p = (e->turn + i) % e->n;

		while ((t = slot_next(x, p))) {
			struct ep_head h = { .kind = t->meta >> 24 & 0xFF,
					     .id = (uint32_t)t->imm,
					     .len = t->meta & 0xFFFFFF,
					     .imm = t->imm,
					     .addr = t->arg,
					     .a = t->arg };
			const uint8_t *data =
				(const uint8_t *)t - forth_ep_pad(h.len);

			ep_credits_in(e, p, (uint32_t)(t->meta >> 32));
			if (h.kind == EP_GET || h.kind == EP_ATOMIC ||
			    h.kind == EP_DONE)
				head_read(&h, t, data);
			if (!ep_in(e, p, &h, data))
				break;
		}
	}
}

bool forth_ep_ready(struct ep *e)
{
	struct forth_ep *x = forth_ep_of(e);

	look(x);
	for (uint32_t p = 0; p < e->n; p++)
		if (slot_next(x, p))
			return true;
	return false;
}
