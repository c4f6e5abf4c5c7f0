/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint over the Host Port: puts, gets and fetches of long messages.
 *
 * The NIC moves whole words (hostport.md 5.5). A put whose first or last bytes
 * fill only a part of a word writes these bytes by MISALIGNED_PUT. A put goes
 * through bounce buffers if source and target differ in their offset within a
 * word, or if the device cannot reach the source. A get fetches whole words and
 * copies the requested bytes from a bounce buffer or from the notification. */
#include "systems/hostport/lib/endpoint.h"

enum { ACK = HPORT_ACK | HPORT_MORE };

/* The next instruction of a put or get: remote window and word (far), local
 * bytes (here), and number of bytes that no instruction has covered yet
 * (left). */
struct way {
	struct ep *e;
	struct ep_op *op;
	struct hport *p;
	const struct hport_peer *to;
	struct hport_far far;
	/* number of bytes in the first remote word before the first byte of the
	 * put or get */
	uint32_t skip;
	size_t left;
	const uint8_t *here;
};

static struct hport_tag piece_tag(const struct ep *e, const struct ep_piece *p)
{
	uint32_t id = (uint32_t)(p - e->piece);

	return (struct hport_tag){ .api = hostport_ep_tag(HOSTPORT_EP_PIECE, id,
							  0) };
}

/* Returns the region of the user's bytes. The first instruction of the
 * operation opens that region. Returns NULL when the caller has to try again
 * later. */
static const struct ep_region *own_region(struct way *w, const void *base)
{
	if (!w->op->reg)
		w->op->reg = ep_region_get(w->e, base, w->op->req.len);
	return w->op->reg;
}

/* ---- puts ---- */

static bool put_words(struct way *w, size_t k)
{
	bool bounce = (uintptr_t)w->here % 8 ||
		      !ep_reachable(w->e, w->op->req.buf, w->op->req.len);
	const struct ep_region *r =
		bounce ? &w->e->pool : own_region(w, w->op->req.buf);
	struct ep_piece *p = r ? ep_piece_new(w->e, w->op, bounce) : NULL;
	uint64_t at;

	if (!p)
		return false;
	if (bounce) {
		k = k < EP_BOUNCE ? k : EP_BOUNCE;
		at = p->bounce->at;
		weft_host_copy(w->e->h, p->bounce->p, w->here, k);
	} else {
		at = r->addr + (uint64_t)(w->here - r->p);
	}
	if (hport_put(w->p, w->to, ACK, piece_tag(w->e, p), &w->far,
		      (uint32_t)(r->key >> 32), at, k))
		k = 0;
	return ep_piece_issued(w->e, p, k);
}

static bool put_next(struct way *w)
{
	size_t k = w->left & ~(size_t)7;
	uint64_t words[HOSTPORT_EP_FAST_RMA / 8] = { 0 };
	bool some = w->skip || !k; /* masked write of some bytes of one word */
	struct ep_piece *p;
	uint8_t mask;
	int ret;

	if (!some && k > HOSTPORT_EP_FAST_RMA)
		return put_words(w, k);
	p = ep_piece_new(w->e, w->op, false);
	if (!p)
		return false;
	if (some)
		k = 8 - w->skip < w->left ? 8 - w->skip : w->left;
	weft_host_move(w->e->h, (uint8_t *)words + w->skip, w->here, k);
	if (some) {
		mask = (uint8_t)(((1u << k) - 1) << w->skip);
		ret = hport_put_bytes(w->p, w->to, ACK, piece_tag(w->e, p),
				      &w->far, words[0], mask);
	} else {
		ret = hport_fast_put(w->p, w->to, ACK, piece_tag(w->e, p),
				     &w->far, words, (uint32_t)k / 8);
	}
	return ep_piece_issued(w->e, p, ret ? 0 : k);
}

/* ---- gets ---- */

/* Posts the next get. The notification of a short get carries the requested
 * bytes. */
static bool get_next(struct way *w)
{
	bool fast = w->skip + w->left <= HOSTPORT_EP_FAST_RMA;
	bool bounce = w->skip || ((uintptr_t)w->here | w->left) % 8 ||
		      !ep_reachable(w->e, w->op->req.into, w->op->req.len);
	size_t k = w->left, room = EP_BOUNCE - w->skip;
	const struct ep_region *r = NULL;
	struct ep_piece *p;
	uint64_t at;
	int ret;

	if (!fast)
		r = bounce ? &w->e->pool : own_region(w, w->op->req.into);
	p = fast || r ? ep_piece_new(w->e, w->op, bounce && !fast) : NULL;
	if (!p)
		return false;
	p->skip = w->skip;
	if (fast) {
		ret = hport_fast_get(w->p, w->to, HPORT_MORE,
				     piece_tag(w->e, p), &w->far,
				     (uint32_t)(w->skip + k + 7) / 8);
		return ep_piece_issued(w->e, p, ret ? 0 : k);
	}
	if (bounce && k > room)
		k = room;
	at = bounce ? p->bounce->at : r->addr + (uint64_t)(w->here - r->p);
	ret = hport_get(w->p, w->to, HPORT_MORE, piece_tag(w->e, p), &w->far,
			(uint32_t)(r->key >> 32), at,
			(w->skip + k + 7) & ~(size_t)7);
	return ep_piece_issued(w->e, p, ret ? 0 : k);
}

bool hostport_ep_remote(struct ep *e, struct ep_op *op)
{
	struct hostport_ep *x = hostport_ep_of(e);
	bool get = op->event == WEFT_EV_GET;
	uint64_t there = op->req.raddr + op->off;
	struct way w = {
		.e = e,
		.op = op,
		.p = x->p,
		.to = &x->peer[op->req.dst],
		.far = { (uint32_t)(op->req.rkey >> 32), (uint32_t)op->req.rkey,
			 there & ~7ull },
		.skip = there % 8,
		.left = op->req.len - op->off,
		.here = (const uint8_t *)(get ? op->req.into : op->req.buf) +
			op->off,
	};

	return get ? get_next(&w) : put_next(&w);
}

/* ---- long messages ---- */

bool hostport_ep_fetch(struct ep *e, struct ep_msg *m, struct ep_piece *p)
{
	struct hostport_ep *x = hostport_ep_of(e);
	struct hport_far far = { (uint32_t)(m->key >> 32), (uint32_t)m->key,
				 m->addr & ~7ull };

	m->data = m->land->p + m->addr % 8;
	return !hport_get(x->p, &x->peer[m->src], HPORT_MORE, piece_tag(e, p),
			  &far, (uint32_t)(e->pool.key >> 32), m->land->at,
			  (m->addr % 8 + m->len + 7) & ~7ull);
}
