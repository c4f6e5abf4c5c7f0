/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint over the Host Port: puts, gets and fetches of long messages.
 *
 * The NIC moves words (hostport.md 5.5).  A put whose ends are no words writes
 * these bytes by MISALIGNED_PUT; where words of the source do not lie on words
 * of the target, or no device reaches the source, it goes through bounce
 * buffers.  A get fetches whole words and takes the bytes out of a bounce
 * buffer, or out of the notification. */
#include <errno.h>
#include <string.h>

#include "systems/hostport/lib/endpoint.h"

/* ---- pieces ---- */

static struct hostport_ep_piece *piece_new(struct hostport_ep *e,
					   struct hostport_ep_buf *bounce)
{
	struct hostport_ep_piece *p = e->free_pieces;

	if (!p)
		return NULL;
	e->free_pieces = p->next;
	*p = (struct hostport_ep_piece){ .bounce = bounce };
	return p;
}

static void piece_free(struct hostport_ep *e, struct hostport_ep_piece *p)
{
	if (p->bounce)
		p->bounce->busy = false;
	*p = (struct hostport_ep_piece){ .next = e->free_pieces };
	e->free_pieces = p;
}

static struct hport_tag piece_tag(const struct hostport_ep *e,
				  const struct hostport_ep_piece *p)
{
	return (struct hport_tag){ .api = hostport_ep_tag(
					   HOSTPORT_EP_PIECE,
					   (uint32_t)(p - e->piece), 0) };
}

/* The instruction of a piece was posted, or not. */
static bool piece_posted(struct hostport_ep *e, struct hostport_ep_piece *p,
			 struct hostport_ep_op *op, size_t len, int ret)
{
	if (ret) {
		piece_free(e, p);
		return false;
	}
	p->op = op;
	p->off = op->off;
	p->len = len;
	op->off += len;
	op->pieces++;
	return true;
}

static struct hport_far far_of(const struct hostport_ep_op *op)
{
	return (struct hport_far){ .win = (uint32_t)(op->rkey >> 32),
				   .capability = (uint32_t)op->rkey,
				   .off = (op->raddr + op->off) & ~7ull };
}

enum { ACK = HPORT_ACK | HPORT_MORE };

/* ---- puts ---- */

static bool put_bytes(struct hostport_ep *e, struct hostport_ep_op *op,
		      struct hostport_ep_piece *p)
{
	uint32_t at = (op->raddr + op->off) % 8;
	size_t left = op->len - op->off, k = 8 - at < left ? 8 - at : left;
	struct hport_far far = far_of(op);
	uint64_t w = 0;

	weft_host_move(e->h, (uint8_t *)&w + at, op->buf + op->off, k);
	return piece_posted(e, p, op, k,
			    hport_put_bytes(e->p, &e->peer[op->dst].to, ACK,
					    piece_tag(e, p), &far, w,
					    (uint8_t)(((1u << k) - 1) << at)));
}

static bool put_fast(struct hostport_ep *e, struct hostport_ep_op *op,
		     struct hostport_ep_piece *p, size_t k)
{
	struct hport_far far = far_of(op);
	uint64_t w[HOSTPORT_EP_FAST_RMA / 8];

	weft_host_move(e->h, w, op->buf + op->off, k);
	return piece_posted(e, p, op, k,
			    hport_fast_put(e->p, &e->peer[op->dst].to, ACK,
					   piece_tag(e, p), &far, w,
					   (uint32_t)k / 8));
}

/* From k bytes at a place of a window of ours. */
static bool put_words(struct hostport_ep *e, struct hostport_ep_op *op,
		      struct hostport_ep_piece *p,
		      const struct hostport_ep_reg *r, uint64_t at, size_t k)
{
	struct hport_far far = far_of(op);

	return piece_posted(e, p, op, k,
			    hport_put(e->p, &e->peer[op->dst].to, ACK,
				      piece_tag(e, p), &far, r->win, at, k));
}

static bool put_bounce(struct hostport_ep *e, struct hostport_ep_op *op,
		       struct hostport_ep_piece *p, size_t k)
{
	p->bounce = hostport_ep_buf_get(e->bounce, HOSTPORT_EP_BOUNCES);
	if (!p->bounce) {
		piece_free(e, p);
		return false;
	}
	k = k < HOSTPORT_EP_BOUNCE ? k : HOSTPORT_EP_BOUNCE;
	weft_host_copy(e->h, p->bounce->p, op->buf + op->off, k);
	return put_words(e, op, p, &e->pool, p->bounce->at, k);
}

static bool put_next(struct hostport_ep *e, struct hostport_ep_op *op,
		     struct hostport_ep_piece *p)
{
	size_t left = op->len - op->off, k = left & ~(size_t)7;
	const uint8_t *from = op->buf + op->off;

	if ((op->raddr + op->off) % 8 || left < 8)
		return put_bytes(e, op, p);
	if (k <= HOSTPORT_EP_FAST_RMA)
		return put_fast(e, op, p, k);
	if ((uintptr_t)from % 8 || !hostport_ep_reachable(e, op->buf, op->len))
		return put_bounce(e, op, p, k);
	if (!op->reg)
		op->reg = hostport_ep_reg_get(e, op->buf, op->len);
	if (!op->reg) {
		piece_free(e, p);
		return false;
	}
	return put_words(e, op, p, op->reg, hostport_ep_reg_at(op->reg, from),
			 k);
}

/* ---- gets ---- */

static bool get_words(struct hostport_ep *e, struct hostport_ep_op *op,
		      struct hostport_ep_piece *p,
		      const struct hostport_ep_reg *r, uint64_t at, size_t k)
{
	uint32_t skip = (op->raddr + op->off) % 8;
	struct hport_far far = far_of(op);

	p->skip = skip;
	return piece_posted(e, p, op, k,
			    hport_get(e->p, &e->peer[op->dst].to, HPORT_MORE,
				      piece_tag(e, p), &far, r->win, at,
				      (skip + k + 7) & ~(size_t)7));
}

static bool get_bounce(struct hostport_ep *e, struct hostport_ep_op *op,
		       struct hostport_ep_piece *p, size_t left)
{
	size_t room = HOSTPORT_EP_BOUNCE - (op->raddr + op->off) % 8;

	p->bounce = hostport_ep_buf_get(e->bounce, HOSTPORT_EP_BOUNCES);
	if (!p->bounce) {
		piece_free(e, p);
		return false;
	}
	return get_words(e, op, p, &e->pool, p->bounce->at,
			 left < room ? left : room);
}

/* The bytes come in the notification. */
static bool get_fast(struct hostport_ep *e, struct hostport_ep_op *op,
		     struct hostport_ep_piece *p, size_t k)
{
	uint32_t skip = (op->raddr + op->off) % 8;
	struct hport_far far = far_of(op);

	p->skip = skip;
	return piece_posted(e, p, op, k,
			    hport_fast_get(e->p, &e->peer[op->dst].to,
					   HPORT_MORE, piece_tag(e, p), &far,
					   (uint32_t)(skip + k + 7) / 8));
}

static bool get_next(struct hostport_ep *e, struct hostport_ep_op *op,
		     struct hostport_ep_piece *p)
{
	uint64_t from = op->raddr + op->off;
	const uint8_t *to = op->buf + op->off;
	size_t left = op->len - op->off;

	if (from % 8 + left <= HOSTPORT_EP_FAST_RMA)
		return get_fast(e, op, p, left);
	if ((from | (uintptr_t)to | left) % 8 ||
	    !hostport_ep_reachable(e, op->buf, op->len))
		return get_bounce(e, op, p, left);
	op->reg = hostport_ep_reg_get(e, op->buf, op->len);
	if (!op->reg) {
		piece_free(e, p);
		return false;
	}
	return get_words(e, op, p, op->reg, hostport_ep_reg_at(op->reg, to),
			 left);
}

/* ---- operations of the user ---- */

/* Told when all is over; a put that announces itself is a message then. */
static void op_end(struct hostport_ep *e, struct hostport_ep_op *op)
{
	if (op->notify && !op->status)
		hostport_ep_list_push(&e->peer[op->dst].todo, op);
	else
		hostport_ep_complete(e, op);
}

/* True: all of it is asked for. */
static bool op_issue(struct hostport_ep *e, struct hostport_ep_op *op)
{
	while (op->off < op->len && !op->status) {
		struct hostport_ep_piece *p = piece_new(e, NULL);

		if (!p || !(op->get ? get_next(e, op, p) : put_next(e, op, p)))
			return false;
	}
	return true;
}

static void op_piece(struct hostport_ep *e, const struct hostport_ep_piece *p,
		     const struct hport_note *n)
{
	const uint8_t *from =
		p->bounce ? p->bounce->p : (const uint8_t *)n->data;
	struct hostport_ep_op *op = p->op;

	if (n->error)
		op->status = -EFAULT;
	else if (op->get && (p->bounce || n->n))
		weft_host_copy(e->h, (uint8_t *)(uintptr_t)op->buf + p->off,
			       from + p->skip, p->len);
	op->pieces--;
}

/* ---- long messages ---- */

static void fetch_start(struct hostport_ep *e, struct hostport_ep_msg *m)
{
	struct hport_far far = m->from;
	struct hostport_ep_piece *p;

	m->land = hostport_ep_buf_get(e->land, HOSTPORT_EP_LANDS);
	if (!m->land)
		return;
	p = piece_new(e, NULL);
	far.off &= ~7ull;
	if (!p || hport_get(e->p, &e->peer[m->src].to, HPORT_MORE,
			    piece_tag(e, p), &far, e->pool.win, m->land->at,
			    (m->from.off % 8 + m->len + 7) & ~7ull)) {
		if (p)
			piece_free(e, p);
		m->land->busy = false;
		m->land = NULL;
		return;
	}
	p->msg = m;
	m->data = m->land->p + m->from.off % 8;
	m->state = HOSTPORT_EP_FETCH;
	e->wants--;
}

/* In its turn: a younger one that took the last place could not be delivered
 * before it, and the place would not come back. */
void hostport_ep_fetch(struct hostport_ep *e, struct hostport_ep_msg *m)
{
	m->state = HOSTPORT_EP_WANT;
	e->wants++;
}

/* Of each peer the oldest first. */
static void fetch_more(struct hostport_ep *e)
{
	for (uint32_t i = 0; i < e->n && e->wants; i++) {
		struct hostport_ep_peer *p = &e->peer[(e->turn + i) % e->n];

		for (uint64_t k = p->given; k < p->got; k++) {
			struct hostport_ep_msg *m = &p->msg[k % e->slots];

			if (m->state == HOSTPORT_EP_WANT)
				fetch_start(e, m);
			if (m->state == HOSTPORT_EP_WANT)
				break;
		}
	}
}

static void fetch_end(struct hostport_ep *e, struct hostport_ep_msg *m,
		      bool failed)
{
	if (failed) /* the sender took its memory away */
		m->len = 0;
	m->state = HOSTPORT_EP_READY;
	hostport_ep_tell(e, m->src, HOSTPORT_EP_FIN, m->id,
			 failed ? (uint64_t)(int64_t)-EIO : 0, 0);
}

/* ---- notifications ---- */

void hostport_ep_piece_done(struct hostport_ep *e, const struct hport_note *n)
{
	uint32_t id = HOSTPORT_EP_ID(n->tag.api);
	struct hostport_ep_piece *p =
		id < HOSTPORT_EP_PIECES ? &e->piece[id] : NULL;
	struct hostport_ep_op *op = p ? p->op : NULL;

	if (!p || (!op && !p->msg))
		return;
	if (op)
		op_piece(e, p, n);
	else
		fetch_end(e, p->msg, n->error);
	piece_free(e, p);
	if (op && !op->pieces && op->off == SIZE_MAX)
		op_end(e, op);
}

void hostport_ep_progress_rma(struct hostport_ep *e)
{
	struct hostport_ep_op *op;

	fetch_more(e);
	while ((op = e->rma_todo.head) && op_issue(e, op)) {
		e->rma_todo.head = op->next;
		if (!op->next)
			e->rma_todo.tail = &e->rma_todo.head;
		op->off = SIZE_MAX; /* not in the list any more */
		if (!op->pieces)
			op_end(e, op);
	}
}
