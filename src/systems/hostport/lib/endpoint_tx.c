/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint over the Host Port: messages out.  Each peer has one list of
 * operations that need a message, posted in order as the peer has slots and the
 * work queue has room. */
#include <errno.h>
#include <string.h>

#include "systems/hostport/lib/endpoint.h"
#include "systems/hostport/nic/regs_map.h"

static bool tx_words(struct hostport_ep *e, uint32_t dst, uint64_t api,
		     uint64_t imm, const uint64_t *w, uint32_t n)
{
	struct hport_tag tag = { imm, api };

	return !hport_fast_send(e->p, &e->peer[dst].to, HPORT_MORE, tag, w, n);
}

/* ---- what the library has to say ---- */

void hostport_ep_tell(struct hostport_ep *e, uint32_t dst,
		      enum hostport_ep_kind kind, uint32_t id, uint64_t w0,
		      uint64_t w1)
{
	e->note[e->note_tail++ % e->note_size] = (struct hostport_ep_note){
		.dst = dst, .id = id, .kind = kind, .w = { w0, w1 }
	};
}

static void tx_notes(struct hostport_ep *e)
{
	while (e->note_head != e->note_tail) {
		struct hostport_ep_note *n =
			&e->note[e->note_head % e->note_size];

		if (!tx_words(e, n->dst, hostport_ep_tag(n->kind, n->id, 0), 0,
			      n->w, 2))
			return;
		e->note_head++;
	}
}

/* When half of the slots are owed. */
static void tx_credits(struct hostport_ep *e)
{
	for (uint32_t d = 0; d < e->n; d++) {
		struct hostport_ep_peer *p = &e->peer[d];

		if (p->consumed - p->returned >= (e->slots + 1) / 2 &&
		    tx_words(e, d, hostport_ep_tag(HOSTPORT_EP_CREDIT, 0, 0), 0,
			     &p->consumed, 1))
			p->returned = p->consumed;
	}
}

/* ---- messages ---- */

static bool tx_fast(struct hostport_ep *e, struct hostport_ep_op *op)
{
	uint64_t w[HOSTPORT_EP_FAST / 8] = { 0 };

	weft_host_move(e->h, w, op->buf, op->len);
	return tx_words(e, op->dst,
			hostport_ep_tag(HOSTPORT_EP_MSG, 0, op->len), op->imm,
			w, (uint32_t)(op->len + 7) / 8);
}

/* Room of one message in the send data region. */
static uint64_t sdr_bytes(const struct hostport_ep *e)
{
	return (e->eager_max + 7ull) & ~7ull;
}

static bool tx_eager(struct hostport_ep *e, struct hostport_ep_op *op)
{
	struct hport_tag tag = { .user = op->imm };
	uint32_t s = 0;

	while (s < e->sdr_slots && e->sdr_busy[s])
		s++;
	if (s == e->sdr_slots)
		return false;
	tag.api = hostport_ep_tag(HOSTPORT_EP_MSG, s, op->len);
	weft_host_copy(e->h, e->sdr + s * sdr_bytes(e), op->buf, op->len);
	if (hport_send(e->p, &e->peer[op->dst].to, HPORT_MORE, tag,
		       s * sdr_bytes(e), (op->len + 7) & ~(size_t)7))
		return false;
	e->sdr_busy[s] = true;
	return true;
}

/* A refusal by the target comes behind the end of the instruction, which has
 * freed the place. */
void hostport_ep_sent(struct hostport_ep *e, const struct hport_note *n)
{
	uint32_t s = HOSTPORT_EP_ID(n->tag.api);

	if (n->error < HP_ERR_TVPID_INV && s < e->sdr_slots)
		e->sdr_busy[s] = false;
}

/* Where others find it: where it is, or in a copy. */
static bool tx_window(struct hostport_ep *e, struct hostport_ep_op *op,
		      uint64_t *w)
{
	const struct hostport_ep_reg *r;

	if (op->reg || hostport_ep_reachable(e, op->buf, op->len)) {
		if (!op->reg)
			op->reg = hostport_ep_reg_get(e, op->buf, op->len);
		if (!op->reg)
			return false;
		r = op->reg;
		w[1] = hostport_ep_reg_at(r, op->buf);
	} else {
		if (!op->stage) {
			op->stage = hostport_ep_buf_get(e->stage,
							HOSTPORT_EP_STAGES);
			if (!op->stage)
				return false;
			weft_host_copy(e->h, op->stage->p, op->buf, op->len);
		}
		r = &e->pool;
		w[1] = op->stage->at;
	}
	w[0] = (uint64_t)r->win << 32 | r->capability;
	return true;
}

static bool tx_long(struct hostport_ep *e, struct hostport_ep_op *op)
{
	uint64_t w[2];

	if (!tx_window(e, op, w) ||
	    !tx_words(e, op->dst,
		      hostport_ep_tag(HOSTPORT_EP_RTS, op->id, op->len),
		      op->imm, w, 2))
		return false;
	op->waiting = true;
	return true;
}

static bool tx_message(struct hostport_ep *e, struct hostport_ep_op *op)
{
	struct hostport_ep_peer *p = &e->peer[op->dst];
	bool ok;

	if (p->sent - p->acked >= p->slots)
		return false;
	if (op->event == WEFT_EV_PUT)
		ok = tx_words(e, op->dst,
			      hostport_ep_tag(HOSTPORT_EP_PUT_IN, 0, 0),
			      op->imm, &op->imm, 0);
	else if (op->len <= HOSTPORT_EP_FAST)
		ok = tx_fast(e, op);
	else if (op->len <= e->eager_max)
		ok = tx_eager(e, op);
	else
		ok = tx_long(e, op);
	p->sent += ok;
	if (ok && !op->waiting)
		hostport_ep_complete(e, op);
	return ok;
}

static bool tx_atomic(struct hostport_ep *e, struct hostport_ep_op *op)
{
	uint64_t w[5] = { op->raddr, op->rkey, op->a, op->b, op->swap };

	op->waiting = true;
	return tx_words(e, op->dst,
			hostport_ep_tag(HOSTPORT_EP_ATOMIC, op->id, 0), 0, w,
			5);
}

void hostport_ep_progress_tx(struct hostport_ep *e)
{
	tx_notes(e);
	for (uint32_t d = 0; d < e->n; d++) {
		struct hostport_ep_list *l = &e->peer[d].todo;

		while (l->head) {
			struct hostport_ep_op *op = l->head, *next = op->next;

			if (!(op->event == WEFT_EV_ATOMIC ? tx_atomic(e, op)
							  : tx_message(e, op)))
				break;
			l->head = next;
			if (!next)
				l->tail = &l->head;
		}
	}
	tx_credits(e);
}
