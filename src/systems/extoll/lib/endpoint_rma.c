/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint over EXTOLL: puts, gets and fetches of long messages by RMA. Puts
 * end with requester notifications, in the order of the commands. Gets end with
 * completer notifications, in the order in which one peer answers. */
#include "systems/extoll/lib/endpoint.h"

/* Returns the oldest piece if notification n ends that piece, otherwise NULL. A
 * notification for an earlier part of the piece only adds the notification's
 * error to the piece. */
static struct ep_piece *piece_pop(struct extoll_ep_pieces *on,
				  const struct rma_noti *n)
{
	struct ep_piece *p = on->head;

	if (!p)
		return NULL;
	p->failed |= n->error;
	if (n->value + n->bytes != p->end)
		return NULL;
	on->head = p->next;
	if (!on->head)
		on->tail = &on->head;
	return p;
}

/* Posts the put or get of len bytes. Uses quadwords where possible, because
 * they need no byte masks. */
static void rma_move(struct extoll_ep *x, uint32_t dst, bool get,
		     struct ep_piece *p, const struct ep_region *r, size_t at,
		     size_t len, uint64_t raddr)
{
	uint32_t noti = get ? RMA_NOTI_COMPLETER : RMA_NOTI_REQUESTER;
	static rma_post_fn *const post[2][2] = {
		{ rma_post_put_bt, rma_post_put_qw },
		{ rma_post_get_bt, rma_post_get_qw },
	};
	struct extoll_ep_pieces *on = get ? &x->peer[dst].gets : &x->puts;
	uint64_t here = r->addr + at;

	p->end = here + len;
	p->next = NULL;
	*on->tail = p;
	on->tail = &p->next;
	post[get][!((here | raddr | len) % 8)](
		x->rma, x->peer[dst].rma, r->handle, at, len, raddr, noti, 0);
	if (!get)
		x->out += len;
}

/* Starts a put or get, or a part of it. Limits the bytes of puts in flight,
 * because a command stays in the NIC's queue (extoll.md 5.3) until its data
 * have left. If that queue were full, the processor would wait in its stores
 * and answer no peer. A put is cut into parts if it is large or if other puts
 * are in flight. Each part completes separately, so that the next part can
 * start before the queue is empty. */
bool extoll_ep_remote(struct ep *e, struct ep_op *op)
{
	struct extoll_ep *x = extoll_ep_of(e);
	bool get = op->event == WEFT_EV_GET;
	const uint8_t *buf = get ? op->req.into : op->req.buf;
	bool direct = ep_reachable(e, buf, op->req.len);
	size_t k = op->req.len - op->off, at, step = EXTOLL_EP_STEP;
	const struct ep_region *r = &e->pool;
	struct ep_piece *p;

	if (!direct && k > EP_BOUNCE)
		k = EP_BOUNCE;
	if (direct && !get && (x->out || k > EXTOLL_EP_QUEUE)) {
		step -= ((uintptr_t)buf + op->off) % EP_PAGE;
		step = step < k ? step : k;
		/* 0: no room */
		k = x->out + step <= EXTOLL_EP_QUEUE ? step : 0;
	}
	if (direct && k && !op->reg)
		op->reg = ep_region_get(e, buf, op->req.len);
	p = k && (op->reg || !direct) ? ep_piece_new(e, op, !direct) : NULL;
	if (!p)
		return false;
	if (direct) {
		r = op->reg;
		at = (size_t)(buf - r->p) + op->off;
	} else {
		at = p->bounce->at;
		if (!get)
			weft_host_copy(e->h, p->bounce->p, buf + op->off, k);
	}
	rma_move(x, op->req.dst, get, p, r, at, k, op->req.raddr + op->off);
	return ep_piece_issued(e, p, k);
}

void extoll_ep_notify(struct ep *e, struct ep_op *op)
{
	struct extoll_ep *x = extoll_ep_of(e);

	rma_post_notification(x->rma, x->peer[op->req.dst].rma, op->req.imm, 0,
			      RMA_NOTI_COMPLETER, 0);
}

/* Fetches a long message. The destination has the same offset in its page as
 * the source. Therefore a get of one source page crosses no page boundary of
 * the destination. */
bool extoll_ep_fetch(struct ep *e, struct ep_msg *m, struct ep_piece *p)
{
	size_t skew = m->addr % EP_PAGE;

	m->data = m->land->p + skew;
	rma_move(extoll_ep_of(e), m->src, true, p, &e->pool, m->land->at + skew,
		 m->len, m->addr);
	return true;
}

/* ---- notifications ---- */

/* Handles notifications as long as the endpoint's event queue has room. */
void extoll_ep_reap(struct ep *e)
{
	struct extoll_ep *x = extoll_ep_of(e);
	struct rma_noti *n;

	while (ep_event_room(e) && rma_noti_probe(x->rma, &n) == RMA_SUCCESS) {
		bool get = n->command == RMA_CMD_GET_BT_RSP ||
			   n->command == RMA_CMD_GET_QW_RSP;
		struct ep_piece *p = NULL;

		if (n->command == RMA_CMD_NOTIFICATION &&
		    n->unit == RMA_NOTI_COMPLETER)
			ep_event(e, &(struct weft_ep_event){
					    .kind = WEFT_EV_PUT_IN,
					    .src = n->node,
					    .imm = n->value });
		else if (get && n->node < e->n)
			p = piece_pop(&x->peer[n->node].gets, n);
		else if (!get && n->unit == RMA_NOTI_REQUESTER)
			p = piece_pop(&x->puts, n);
		/* a notification of a peer's error belongs to no piece (p is
		 * NULL) */
		if (p && !get)
			x->out -= p->len;
		if (p)
			ep_piece_done(e, p, NULL);
		rma_noti_free(x->rma, n);
	}
}
