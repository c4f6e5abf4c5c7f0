/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint: puts, gets and fetches of long messages that the NIC
 * executes. A transfer is split into pieces. Pieces use the user's memory, or
 * bounce buffers if the NIC cannot reach that memory or cannot place the bytes
 * there. */
#include <errno.h>

#include "endpoint/core.h"

/* ---- pieces ---- */

struct ep_piece *ep_piece_new(struct ep *e, struct ep_op *op, bool bounce)
{
	struct ep_piece *p = e->free_pieces;
	struct ep_buf *b = NULL;

	if (p && bounce)
		b = ep_buf_get(e->bounce, EP_BOUNCES);
	if (!p || (bounce && !b))
		return NULL;
	e->free_pieces = p->next;
	*p = (struct ep_piece){ .op = op, .bounce = b };
	if (op)
		p->off = op->off;
	return p;
}

static void piece_free(struct ep *e, struct ep_piece *p)
{
	if (p->bounce)
		p->bounce->busy = false;
	*p = (struct ep_piece){ .next = e->free_pieces };
	e->free_pieces = p;
}

bool ep_piece_issued(struct ep *e, struct ep_piece *p, size_t len)
{
	if (!len) {
		piece_free(e, p);
		return false;
	}
	p->len = len;
	p->op->off += len;
	p->op->pieces++;
	return true;
}

/* ---- long messages ---- */

static void fetch_start(struct ep *e, struct ep_msg *m)
{
	struct ep_piece *p;

	m->land = ep_buf_get(e->land, e->lands);
	if (!m->land)
		return;
	p = ep_piece_new(e, NULL, false);
	if (p)
		p->msg = m;
	if (p && e->nic->fetch(e, m, p)) {
		m->state = EP_FETCH;
		e->wants--;
		return;
	}
	if (p)
		piece_free(e, p);
	/* The NIC has no room for the fetch, therefore the landing buffer
	 * becomes free for other messages. */
	m->land->busy = false;
	m->land = NULL;
}

/* ---- operations ---- */

/* Ends an operation. A put with notify still has to send its notification. */
static void op_end(struct ep *e, struct ep_op *op)
{
	if (op->req.notify && !op->status) {
		op->last_kind = EP_NOTIFY;
		ep_list_push(&e->peer[op->req.dst].todo, op);
	} else {
		ep_complete(e, op);
	}
}

void ep_piece_done(struct ep *e, struct ep_piece *p, const uint8_t *data)
{
	struct ep_op *op = p->op, *fin;
	struct ep_msg *m = p->msg;

	if (!data && p->bounce)
		data = p->bounce->p;
	if (!op) {
		if (p->failed) /* the transfer failed, because the sender's
				* region is closed */
			m->len = 0;
		m->state = EP_READY;
		fin = ep_answer(e, m->src, m->id, EP_FIN);
		if (fin) {
			fin->status = p->failed ? -EIO : 0;
			ep_answer_push(e, fin);
		}
	} else if (p->failed) {
		op->status = -EFAULT;
	} else if (op->event == WEFT_EV_GET && data) {
		weft_host_copy(e->h, (uint8_t *)op->req.into + p->off,
			       data + p->skip, p->len);
	}
	piece_free(e, p);
	if (op && !--op->pieces && op->issued)
		op_end(e, op);
}

/* Issues an operation. Returns true if it is completely in flight or has
 * failed. */
static bool op_issue(struct ep *e, struct ep_op *op)
{
	while (op->off < op->req.len && !op->status)
		if (!e->nic->remote(e, op))
			return false;
	if (op->req.notify && e->nic->notify) {
		e->nic->notify(e, op);
		op->req.notify = false;
	}
	return true;
}

void ep_progress_remote(struct ep *e)
{
	struct ep_op *op;

	if (!e->nic->remote)
		return;
	if (e->nic->reap)
		e->nic->reap(e);
	/* Fetches long messages that wait for a landing buffer. The oldest
	 * message of a peer is fetched first, because messages are delivered in
	 * order. */
	for (uint32_t i = 0; i < e->n && e->wants; i++) {
		struct ep_peer *p = &e->peer[(e->turn + i) % e->n];

		for (uint64_t k = p->given; k < p->got; k++) {
			struct ep_msg *m = &p->msg[k % e->slots];

			if (m->state == EP_WANT)
				fetch_start(e, m);
			if (m->state == EP_WANT)
				break;
		}
	}
	while ((op = e->remote_todo.head) && op_issue(e, op)) {
		ep_list_pop(&e->remote_todo);
		op->issued = true;
		if (!op->pieces)
			op_end(e, op);
	}
}
