/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint over EXTOLL: puts, gets and fetches of long messages by RMA.
 *
 * Everything goes in pieces: from where the user's data are, or through bounce
 * buffers when no device can reach them.  Ends of puts are told
 * by requester notifications in the order of the commands; ends of gets by
 * completer notifications in the order of one peer's answers. */
#include <errno.h>
#include <string.h>

#include "systems/extoll/lib/endpoint.h"

/* ---- pieces ---- */

static struct extoll_ep_piece *piece_new(struct extoll_ep *e,
					 struct extoll_ep_pieces *on)
{
	struct extoll_ep_piece *p = e->free_pieces;

	if (!p)
		return NULL;
	e->free_pieces = p->next;
	*p = (struct extoll_ep_piece){ 0 };
	*on->tail = p;
	on->tail = &p->next;
	return p;
}

/* The notification is about the oldest; true, and a copy, when it is the one of
 * its end.  Errors are told on the way, too. */
static bool piece_pop(struct extoll_ep *e, struct extoll_ep_pieces *on,
		      const struct rma_noti *n, struct extoll_ep_piece *c)
{
	struct extoll_ep_piece *p = on->head;

	if (!p)
		return false;
	p->failed |= n->error;
	if (n->value + n->bytes != p->end)
		return false;
	*c = *p;
	on->head = p->next;
	if (!on->head)
		on->tail = &on->head;
	p->next = e->free_pieces;
	e->free_pieces = p;
	return true;
}

static struct extoll_ep_buf *buf_get(struct extoll_ep_buf *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!b[i].busy) {
			b[i].busy = true;
			return &b[i];
		}
	return NULL;
}

/* Quadwords where possible: they need no byte masks.  Returns the local address
 * behind the last byte. */
static rma_nla_t rma_move(struct extoll_ep *e, uint32_t dst, bool get,
			  const struct rma_region *r, size_t at, size_t len,
			  uint64_t raddr)
{
	uint32_t noti = get ? RMA_NOTI_COMPLETER : RMA_NOTI_REQUESTER;
	static rma_post_fn *const post[2][2] = {
		{ rma_post_put_bt, rma_post_put_qw },
		{ rma_post_get_bt, rma_post_get_qw },
	};
	rma_nla_t here = 0;

	rma_get_nla(r, at, &here);
	post[get][!((here | raddr | len) % 8)](e->rma, e->peer[dst].rma, r, at,
					       len, raddr, noti, 0);
	return here + len;
}

/* ---- operations of the user ---- */

static struct extoll_ep_pieces *op_pieces(struct extoll_ep *e,
					  const struct extoll_ep_op *op)
{
	return op->get ? &e->peer[op->dst].gets : &e->puts;
}

/* How much of it may be asked for now, 0: later.  Commands of puts stay in the
 * NIC's queue (extoll.md 5.3) until their data are out; more than it takes
 * would hold the processor in its stores, and nobody would be answered in the
 * meantime.  Behind others in steps, each with an end of its own, so that the
 * queue does not run empty. */
static size_t op_room(const struct extoll_ep *e, const struct extoll_ep_op *op)
{
	size_t left = op->len - op->off, step = EXTOLL_EP_STEP;

	if (op->get || (!e->out && left <= EXTOLL_EP_QUEUE))
		return left;
	step -= (uintptr_t)(op->buf + op->off) % EXTOLL_EP_PAGE;
	step = step < left ? step : left;
	return e->out + step <= EXTOLL_EP_QUEUE ? step : 0;
}

/* From or to where the user has it. */
static bool op_direct(struct extoll_ep *e, struct extoll_ep_op *op)
{
	size_t k = op_room(e, op);
	struct extoll_ep_piece *p;

	if (k && !op->reg)
		op->reg = extoll_ep_reg_get(e, op->buf, op->len);
	p = k && op->reg ? piece_new(e, op_pieces(e, op)) : NULL;
	if (!p)
		return false;
	p->op = op;
	p->len = k;
	p->end = rma_move(e, op->dst, op->get, op->reg->region,
			  (size_t)(op->buf - op->reg->p) + op->off, k,
			  op->raddr + op->off);
	op->off += k;
	if (!op->get)
		e->out += k;
	return true;
}

static bool op_bounce(struct extoll_ep *e, struct extoll_ep_op *op)
{
	size_t k = op->len - op->off;
	struct extoll_ep_buf *b = buf_get(e->bounce, EXTOLL_EP_BOUNCES);
	struct extoll_ep_piece *p = b ? piece_new(e, op_pieces(e, op)) : NULL;

	if (!p) {
		if (b)
			b->busy = false;
		return false;
	}
	k = k < EXTOLL_EP_BOUNCE ? k : EXTOLL_EP_BOUNCE;
	p->op = op;
	p->bounce = b;
	p->off = op->off;
	p->len = k;
	if (!op->get)
		weft_host_copy(e->h, b->p, op->buf + op->off, k);
	p->end = rma_move(e, op->dst, op->get, e->pool_region, b->at, k,
			  op->raddr + op->off);
	op->off += k;
	if (!op->get)
		e->out += k;
	return true;
}

/* True: all of it is asked for. */
static bool op_issue(struct extoll_ep *e, struct extoll_ep_op *op)
{
	bool direct = op->len && extoll_ep_reachable(e, op->buf, op->len);

	while (op->off < op->len)
		if (!(direct ? op_direct(e, op) : op_bounce(e, op)))
			return false;
	if (op->notify) /* behind the data, on the same way */
		rma_post_notification(e->rma, e->peer[op->dst].rma, op->imm, 0,
				      RMA_NOTI_COMPLETER, 0);
	return true;
}

/* ---- long messages ---- */

/* It lands at the same place of a page from which it comes: one request for
 * each page. */
static void fetch_start(struct extoll_ep *e, uint32_t src,
			struct extoll_ep_msg *m)
{
	size_t skew = m->rts.nla % EXTOLL_EP_PAGE;
	struct extoll_ep_piece *p;

	m->land = buf_get(e->land, e->lands);
	if (!m->land)
		return;
	p = piece_new(e, &e->peer[src].gets);
	if (!p) {
		m->land->busy = false;
		m->land = NULL;
		return;
	}
	p->msg = m;
	m->state = EXTOLL_EP_FETCH;
	m->data = m->land->p + skew;
	e->wants--;
	p->end = rma_move(e, src, true, e->pool_region, m->land->at + skew,
			  m->len, m->rts.nla);
}

/* In its turn: a younger one that took the last place could not be delivered
 * before it, and the place would not come back. */
void extoll_ep_fetch(struct extoll_ep *e, struct extoll_ep_msg *m)
{
	m->state = EXTOLL_EP_WANT;
	e->wants++;
}

/* Those that wait for a landing buffer; of each peer the oldest first. */
static void fetch_more(struct extoll_ep *e)
{
	for (uint32_t i = 0; i < e->n && e->wants; i++) {
		uint32_t src = (e->turn + i) % e->n;
		struct extoll_ep_peer *p = &e->peer[src];

		for (uint64_t k = p->given; k < p->got; k++) {
			struct extoll_ep_msg *m = &p->msg[k % e->slots];

			if (m->state == EXTOLL_EP_WANT)
				fetch_start(e, src, m);
			if (m->state == EXTOLL_EP_WANT)
				break;
		}
	}
}

static void fetch_end(struct extoll_ep *e, uint32_t src,
		      struct extoll_ep_msg *m, bool failed)
{
	struct extoll_ep_done d = { .id = m->rts.id,
				    .status = failed ? -EIO : 0 };

	if (failed) /* the sender took its memory away */
		m->len = 0;
	m->state = EXTOLL_EP_READY;
	extoll_ep_velo(e, src, EXTOLL_EP_FIN, &d, sizeof(d));
}

/* ---- notifications ---- */

static void piece_end(struct extoll_ep *e, const struct extoll_ep_piece *p)
{
	struct extoll_ep_op *op = p->op;

	if (p->bounce && op->get && !p->failed)
		weft_host_copy(e->h, op->into + p->off, p->bounce->p, p->len);
	if (p->bounce)
		p->bounce->busy = false;
	if (p->failed)
		op->status = -EFAULT;
	op->done += p->len;
	if (op->done < op->len)
		return;
	extoll_ep_complete(e, op);
}

static void noti_put_in(struct extoll_ep *e, const struct rma_noti *n)
{
	struct weft_ep_event ev = { .kind = WEFT_EV_PUT_IN,
				    .src = n->node,
				    .imm = n->value };

	extoll_ep_event(e, &ev);
}

static void noti_get(struct extoll_ep *e, const struct rma_noti *n)
{
	struct extoll_ep_piece p;

	if (n->node >= e->n || !piece_pop(e, &e->peer[n->node].gets, n, &p))
		return;
	if (p.msg)
		fetch_end(e, n->node, p.msg, p.failed);
	else
		piece_end(e, &p);
}

static void noti_handle(struct extoll_ep *e, const struct rma_noti *n)
{
	struct extoll_ep_piece p;

	if (n->command == RMA_CMD_NOTIFICATION && n->unit == RMA_NOTI_COMPLETER)
		noti_put_in(e, n);
	else if (n->command == RMA_CMD_GET_BT_RSP ||
		 n->command == RMA_CMD_GET_QW_RSP)
		noti_get(e, n);
	else if (n->unit == RMA_NOTI_REQUESTER &&
		 piece_pop(e, &e->puts, n, &p)) {
		e->out -= p.len;
		piece_end(e, &p);
	}
	/* what else there is tells of a peer's mistake */
}

/* As long as there is a place for what they say. */
static void endpoint_rma_notis(struct extoll_ep *e)
{
	struct rma_noti *n;

	while (e->ev_tail - e->ev_head < e->ev_size / 2 &&
	       rma_noti_probe(e->rma, &n) == RMA_SUCCESS) {
		noti_handle(e, n);
		rma_noti_free(e->rma, n);
	}
}

void extoll_ep_progress_rma(struct extoll_ep *e)
{
	endpoint_rma_notis(e);
	fetch_more(e);
	while (e->rma_todo.head && op_issue(e, e->rma_todo.head)) {
		struct extoll_ep_op *op = extoll_ep_list_pop(&e->rma_todo);

		if (!op->len)
			extoll_ep_complete(e, op);
	}
}
