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

static struct eph_piece *piece_new(struct eph *e, struct eph_buf *bounce)
{
	struct eph_piece *p = e->free_pieces;

	if (!p)
		return NULL;
	e->free_pieces = p->next;
	*p = (struct eph_piece){ .bounce = bounce };
	return p;
}

static void piece_free(struct eph *e, struct eph_piece *p)
{
	if (p->bounce)
		p->bounce->busy = false;
	*p = (struct eph_piece){ .next = e->free_pieces };
	e->free_pieces = p;
}

static struct hport_tag piece_tag(const struct eph *e,
				  const struct eph_piece *p)
{
	return (struct hport_tag){
		.api = eph_tag(EPH_PIECE, (uint32_t)(p - e->piece), 0)
	};
}

/* The instruction of a piece was posted, or not. */
static bool piece_posted(struct eph *e, struct eph_piece *p, struct eph_op *op,
			 size_t len, int ret)
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

static struct hport_far far_of(const struct eph_op *op)
{
	return (struct hport_far){ .win = (uint32_t)(op->rkey >> 32),
				   .capability = (uint32_t)op->rkey,
				   .off = (op->raddr + op->off) & ~7ull };
}

enum { ACK = HPORT_ACK | HPORT_MORE };

/* ---- puts ---- */

static bool put_bytes(struct eph *e, struct eph_op *op, struct eph_piece *p)
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

static bool put_fast(struct eph *e, struct eph_op *op, struct eph_piece *p,
		     size_t k)
{
	struct hport_far far = far_of(op);
	uint64_t w[EPH_FAST_RMA / 8];

	weft_host_move(e->h, w, op->buf + op->off, k);
	return piece_posted(e, p, op, k,
			    hport_fast_put(e->p, &e->peer[op->dst].to, ACK,
					   piece_tag(e, p), &far, w,
					   (uint32_t)k / 8));
}

/* From k bytes at a place of a window of ours. */
static bool put_words(struct eph *e, struct eph_op *op, struct eph_piece *p,
		      const struct eph_reg *r, uint64_t at, size_t k)
{
	struct hport_far far = far_of(op);

	return piece_posted(e, p, op, k,
			    hport_put(e->p, &e->peer[op->dst].to, ACK,
				      piece_tag(e, p), &far, r->win, at, k));
}

static bool put_bounce(struct eph *e, struct eph_op *op, struct eph_piece *p,
		       size_t k)
{
	p->bounce = eph_buf_get(e->bounce, EPH_BOUNCES);
	if (!p->bounce) {
		piece_free(e, p);
		return false;
	}
	k = k < EPH_BOUNCE ? k : EPH_BOUNCE;
	weft_host_copy(e->h, p->bounce->p, op->buf + op->off, k);
	return put_words(e, op, p, &e->pool, p->bounce->at, k);
}

static bool put_next(struct eph *e, struct eph_op *op, struct eph_piece *p)
{
	size_t left = op->len - op->off, k = left & ~(size_t)7;
	const uint8_t *from = op->buf + op->off;

	if ((op->raddr + op->off) % 8 || left < 8)
		return put_bytes(e, op, p);
	if (k <= EPH_FAST_RMA)
		return put_fast(e, op, p, k);
	if ((uintptr_t)from % 8 || !eph_reachable(e, op->buf, op->len))
		return put_bounce(e, op, p, k);
	if (!op->reg)
		op->reg = eph_reg_get(e, op->buf, op->len);
	if (!op->reg) {
		piece_free(e, p);
		return false;
	}
	return put_words(e, op, p, op->reg, eph_reg_at(op->reg, from), k);
}

/* ---- gets ---- */

static bool get_words(struct eph *e, struct eph_op *op, struct eph_piece *p,
		      const struct eph_reg *r, uint64_t at, size_t k)
{
	uint32_t skip = (op->raddr + op->off) % 8;
	struct hport_far far = far_of(op);

	p->skip = skip;
	return piece_posted(e, p, op, k,
			    hport_get(e->p, &e->peer[op->dst].to, HPORT_MORE,
				      piece_tag(e, p), &far, r->win, at,
				      (skip + k + 7) & ~(size_t)7));
}

static bool get_bounce(struct eph *e, struct eph_op *op, struct eph_piece *p,
		       size_t left)
{
	size_t room = EPH_BOUNCE - (op->raddr + op->off) % 8;

	p->bounce = eph_buf_get(e->bounce, EPH_BOUNCES);
	if (!p->bounce) {
		piece_free(e, p);
		return false;
	}
	return get_words(e, op, p, &e->pool, p->bounce->at,
			 left < room ? left : room);
}

/* The bytes come in the notification. */
static bool get_fast(struct eph *e, struct eph_op *op, struct eph_piece *p,
		     size_t k)
{
	uint32_t skip = (op->raddr + op->off) % 8;
	struct hport_far far = far_of(op);

	p->skip = skip;
	return piece_posted(e, p, op, k,
			    hport_fast_get(e->p, &e->peer[op->dst].to,
					   HPORT_MORE, piece_tag(e, p), &far,
					   (uint32_t)(skip + k + 7) / 8));
}

static bool get_next(struct eph *e, struct eph_op *op, struct eph_piece *p)
{
	uint64_t from = op->raddr + op->off;
	const uint8_t *to = op->buf + op->off;
	size_t left = op->len - op->off;

	if (from % 8 + left <= EPH_FAST_RMA)
		return get_fast(e, op, p, left);
	if ((from | (uintptr_t)to | left) % 8 ||
	    !eph_reachable(e, op->buf, op->len))
		return get_bounce(e, op, p, left);
	op->reg = eph_reg_get(e, op->buf, op->len);
	if (!op->reg) {
		piece_free(e, p);
		return false;
	}
	return get_words(e, op, p, op->reg, eph_reg_at(op->reg, to), left);
}

/* ---- operations of the user ---- */

/* Told when all is over; a put that announces itself is a message then. */
static void op_end(struct eph *e, struct eph_op *op)
{
	if (op->notify && !op->status)
		eph_list_push(&e->peer[op->dst].todo, op);
	else
		eph_complete(e, op);
}

/* True: all of it is asked for. */
static bool op_issue(struct eph *e, struct eph_op *op)
{
	while (op->off < op->len && !op->status) {
		struct eph_piece *p = piece_new(e, NULL);

		if (!p || !(op->get ? get_next(e, op, p) : put_next(e, op, p)))
			return false;
	}
	return true;
}

static void op_piece(struct eph *e, const struct eph_piece *p,
		     const struct hport_note *n)
{
	const uint8_t *from =
		p->bounce ? p->bounce->p : (const uint8_t *)n->data;
	struct eph_op *op = p->op;

	if (n->error)
		op->status = -EFAULT;
	else if (op->get && (p->bounce || n->n))
		weft_host_copy(e->h, (uint8_t *)(uintptr_t)op->buf + p->off,
			       from + p->skip, p->len);
	op->pieces--;
}

/* ---- long messages ---- */

static void fetch_start(struct eph *e, struct eph_msg *m)
{
	struct hport_far far = m->from;
	struct eph_piece *p;

	m->land = eph_buf_get(e->land, EPH_LANDS);
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
	m->state = EPH_FETCH;
	e->wants--;
}

/* In its turn: a younger one that took the last place could not be delivered
 * before it, and the place would not come back. */
void eph_fetch(struct eph *e, struct eph_msg *m)
{
	m->state = EPH_WANT;
	e->wants++;
}

/* Of each peer the oldest first. */
static void fetch_more(struct eph *e)
{
	for (uint32_t i = 0; i < e->n && e->wants; i++) {
		struct eph_peer *p = &e->peer[(e->turn + i) % e->n];

		for (uint64_t k = p->given; k < p->got; k++) {
			struct eph_msg *m = &p->msg[k % e->slots];

			if (m->state == EPH_WANT)
				fetch_start(e, m);
			if (m->state == EPH_WANT)
				break;
		}
	}
}

static void fetch_end(struct eph *e, struct eph_msg *m, bool failed)
{
	if (failed) /* the sender took its memory away */
		m->len = 0;
	m->state = EPH_READY;
	eph_tell(e, m->src, EPH_FIN, m->id,
		 failed ? (uint64_t)(int64_t)-EIO : 0, 0);
}

/* ---- notifications ---- */

void eph_piece_done(struct eph *e, const struct hport_note *n)
{
	uint32_t id = EPH_ID(n->tag.api);
	struct eph_piece *p = id < EPH_PIECES ? &e->piece[id] : NULL;
	struct eph_op *op = p ? p->op : NULL;

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

void eph_progress_rma(struct eph *e)
{
	struct eph_op *op;

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
