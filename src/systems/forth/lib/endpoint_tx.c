/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint over the FORTH NIC: issuing operations.  Each peer has one list of
 * operations that are issued in order; an operation is a direct part (puts of
 * whole aligned qwords), then messages for what the hardware cannot place,
 * then one last message (notification, request or answer).  Everything for one
 * peer uses one request queue, so it lands in that order (forth.md 3.8); over
 * several paths it is notified in that order (7.4). */
#include <errno.h>
#include <string.h>

#include "systems/forth/lib/endpoint.h"

void forth_ep_list_init(struct forth_ep_list *l)
{
	l->head = NULL;
	l->tail = &l->head;
}

void forth_ep_list_push(struct forth_ep_list *l, struct forth_ep_op *op)
{
	op->next = NULL;
	*l->tail = op;
	l->tail = &op->next;
}

struct forth_ep_op *forth_ep_list_pop(struct forth_ep_list *l)
{
	struct forth_ep_op *op = l->head;

	l->head = op->next;
	if (!l->head)
		l->tail = &l->head;
	return op;
}

/* ---- completion ---- */

void forth_ep_event(struct forth_ep *e, const struct weft_ep_event *ev)
{
	e->ev[e->ev_tail++ % e->ev_size] = *ev;
}

void forth_ep_op_free(struct forth_ep *e, struct forth_ep_op *op)
{
	struct forth_ep_op **pool =
		op->internal ? &e->peer[op->dst].answers : &e->free_ops;

	op->waiting = false;
	op->next = *pool;
	*pool = op;
}

void forth_ep_complete(struct forth_ep *e, struct forth_ep_op *op)
{
	struct weft_ep_event ev = { .kind = op->event,
				    .status = op->status,
				    .src = op->dst,
				    .imm = op->imm,
				    .len = op->len,
				    .result = op->arg,
				    .ctx = op->ctx };

	if (op->status)
		ev.kind = WEFT_EV_ERROR;
	if (!op->internal)
		forth_ep_event(e, &ev);
	forth_ep_op_free(e, op);
}

/* ---- messages ---- */

static void forth_ep_acks(struct forth_ep *e, uint32_t p)
{
	struct forth_ep_peer *peer = &e->peer[p];
	uint64_t word = e->credit[p];

	if (word > peer->acked)
		peer->acked = word;
}

/* Space in p's ring and, for n transfers, in the request queue. */
static bool forth_ep_room(struct forth_ep *e, uint32_t p, uint32_t n)
{
	forth_ep_acks(e, p);
	if (e->peer[p].sent - e->peer[p].acked >= e->slots)
		return false;
	return p == e->me || weft_forth_space(e->f, p) >= n;
}

static uint32_t forth_ep_parts(struct forth_ep *e, size_t bytes)
{
	uint32_t max = weft_forth_info(e->f)->max_transfer;

	return (uint32_t)((bytes + max - 1) / max);
}

/* Puts `bytes` (whole qwords) in as many transfers as the NIC needs. */
static void forth_ep_put(struct forth_ep *e, uint32_t p, weft_phys_t from,
			 weft_phys_t to, size_t bytes, uint32_t flags)
{
	uint32_t max = weft_forth_info(e->f)->max_transfer;
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
			weft_forth_post(e->f, d, n);
			n = 0;
		}
	}
}

/* One message, if there is room now. */
static bool forth_ep_message(struct forth_ep *e, uint32_t p,
			     enum forth_ep_kind kind, const void *data,
			     size_t len, uint64_t imm, uint64_t arg)
{
	struct forth_ep_peer *peer = &e->peer[p];
	size_t bytes = forth_ep_pad(len) + sizeof(struct forth_ep_trailer);
	size_t at =
		((size_t)p * e->slots + peer->sent % e->slots) * e->slot_bytes;
	uint8_t *slot = p == e->me ? e->rx + at : e->tx + at;
	struct forth_ep_trailer *t = forth_ep_trailer_of(e, slot);
	size_t start = e->slot_bytes - bytes;

	if (!forth_ep_room(e, p, forth_ep_parts(e, bytes)))
		return false;
	if (len)
		weft_host_copy(e->h, slot + start, data, len);
	t->imm = imm;
	t->arg = arg;
	t->meta = len | (uint64_t)kind << 24 |
		  (uint64_t)(uint32_t)peer->consumed << 32;
	peer->returned = peer->consumed;
	t->seq = ++peer->sent;
	if (p != e->me)
		forth_ep_put(
			e, p,
			e->out_phys + (weft_phys_t)(slot - e->out) + start,
			peer->rx + (peer->sent - 1) % e->slots * e->slot_bytes +
				start,
			bytes,
			(peer->irq ? WEFT_FORTH_RIRQ : 0) |
				(e->paths ? WEFT_FORTH_RNOTIFY : 0));
	return true;
}

/* ---- direct part ---- */

static struct forth_ep_bounce *forth_ep_bounce_get(struct forth_ep *e)
{
	struct forth_ep_bounce *b = &e->bounce[e->bounce_next];

	if (b->busy && weft_forth_departed(e->f, b->dst) < b->departs)
		return NULL;
	e->bounce_next = (e->bounce_next + 1) % FORTH_EP_BOUNCES;
	b->busy = true;
	return b;
}

static void forth_ep_direct_self(struct forth_ep *e, struct forth_ep_op *op)
{
	struct forth_ep_mr *mr = forth_ep_mr_find(e, op->to, op->direct);

	weft_host_copy(e->h, mr->p + (op->to - mr->phys), op->buf, op->direct);
	op->off = op->direct;
}

/* Next piece of the direct part; false = no room now. */
static bool forth_ep_direct_step(struct forth_ep *e, struct forth_ep_op *op)
{
	size_t k = op->direct - op->off;
	weft_phys_t from = op->local + op->off;
	struct forth_ep_bounce *b = NULL;

	if (k > FORTH_EP_BOUNCE_BYTES)
		k = FORTH_EP_BOUNCE_BYTES;
	if (weft_forth_space(e->f, op->dst) < forth_ep_parts(e, k))
		return false;
	if (!op->local) {
		b = forth_ep_bounce_get(e);
		if (!b)
			return false;
		weft_host_copy(e->h, b->p, op->buf + op->off, k);
		from = b->phys;
	}
	forth_ep_put(e, op->dst, from, op->to + op->off, k, WEFT_FORTH_LNOTIFY);
	op->off += k;
	op->departs = weft_forth_posted(e->f, op->dst);
	if (b) {
		b->dst = op->dst;
		b->departs = op->departs;
	}
	return true;
}

/* ---- operations ---- */

static bool forth_ep_data_step(struct forth_ep *e, struct forth_ep_op *op)
{
	size_t k = op->len - op->off;
	uint64_t imm = op->data_kind == FORTH_EP_MSG ? op->imm : op->id;
	uint64_t arg =
		op->data_kind == FORTH_EP_GET_DATA ? op->off : op->to + op->off;

	if (k > e->ep.info.max_msg)
		k = e->ep.info.max_msg;
	if (!forth_ep_message(e, op->dst, op->data_kind, op->buf + op->off, k,
			      imm, arg))
		return false;
	op->off += k;
	return true;
}

static bool forth_ep_last_step(struct forth_ep *e, struct forth_ep_op *op)
{
	switch (op->last_kind) {
	case FORTH_EP_GET:
		return forth_ep_message(e, op->dst, FORTH_EP_GET, &op->req.get,
					sizeof(op->req.get), op->id, 0);
	case FORTH_EP_ATOMIC:
		return forth_ep_message(e, op->dst, FORTH_EP_ATOMIC,
					&op->req.atomic, sizeof(op->req.atomic),
					op->id, 0);
	case FORTH_EP_DONE:
		return forth_ep_message(e, op->dst, FORTH_EP_DONE, &op->status,
					sizeof(op->status), op->id, op->arg);
	case FORTH_EP_MSG: /* an empty message */
	case FORTH_EP_NOTIFY:
		return forth_ep_message(e, op->dst, op->last_kind, NULL, 0,
					op->imm, op->arg);
	default:
		return true;
	}
}

/* Issues as much of op as possible; true when all of it is out. */
static bool forth_ep_op_issue(struct forth_ep *e, struct forth_ep_op *op)
{
	while (op->off < op->direct) {
		if (op->dst == e->me)
			forth_ep_direct_self(e, op);
		else if (!forth_ep_direct_step(e, op))
			return false;
	}
	while (op->off < op->len && op->data_kind)
		if (!forth_ep_data_step(e, op))
			return false;
	return forth_ep_last_step(e, op);
}

/* Issued: wait for an answer, for the DMA to have read buf, or be done. */
static void forth_ep_op_issued(struct forth_ep *e, struct forth_ep_op *op)
{
	if (op->last_kind == FORTH_EP_GET || op->last_kind == FORTH_EP_ATOMIC)
		op->waiting = true;
	else if (op->local && op->direct && op->dst != e->me)
		forth_ep_list_push(&e->peer[op->dst].departing, op);
	else
		forth_ep_complete(e, op);
}

static bool forth_ep_progress_peer(struct forth_ep *e, uint32_t p)
{
	struct forth_ep_peer *peer = &e->peer[p];
	bool moved = false;

	while (peer->todo.head && forth_ep_op_issue(e, peer->todo.head)) {
		forth_ep_op_issued(e, forth_ep_list_pop(&peer->todo));
		moved = true;
	}
	while (peer->departing.head &&
	       weft_forth_departed(e->f, p) >= peer->departing.head->departs) {
		forth_ep_complete(e, forth_ep_list_pop(&peer->departing));
		moved = true;
	}
	return moved;
}

bool forth_ep_progress(struct forth_ep *e)
{
	bool moved = false;

	for (uint32_t p = 0; p < e->n; p++)
		moved |= forth_ep_progress_peer(e, p);
	return moved;
}

/* Over several paths a put could overtake the one before and the older value
 * stay.  That one has landed when its credits were used: messages came that
 * those returned before it do not cover. */
static bool forth_ep_put_open(const struct forth_ep *e,
			      const struct forth_ep_peer *peer)
{
	return e->paths && peer->putting &&
	       peer->got <= peer->put_from + e->slots;
}

/* By put when half of the ring is owed and no message carried it. */
void forth_ep_return_credits(struct forth_ep *e)
{
	for (uint32_t p = 0; p < e->n; p++) {
		struct forth_ep_peer *peer = &e->peer[p];

		if (peer->consumed - peer->returned < (e->slots + 1) / 2 ||
		    forth_ep_put_open(e, peer))
			continue;
		e->consumed[p] = peer->consumed;
		if (p == e->me)
			e->credit[p] = peer->consumed;
		else if (weft_forth_put(e->f, p, e->out_phys + 8 * p,
					peer->credit, 1,
					peer->irq ? WEFT_FORTH_RIRQ : 0))
			continue; /* no room: at the next call */
		peer->putting = true;
		peer->put_from = peer->returned;
		peer->returned = peer->consumed;
	}
}
