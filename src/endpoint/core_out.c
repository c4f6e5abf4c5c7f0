/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint: messages to peers. Each peer has one list of operations.
 * Operations of a list are issued in order, as long as credits are left and the
 * NIC has room. */
#include "base/minmax.h"
#include "endpoint/core.h"

bool ep_takes_place(const struct ep *e, enum ep_kind kind)
{
	if (e->nic->one_ring)
		return kind != EP_CREDIT;
	return kind == EP_MSG || kind == EP_RTS || kind == EP_NOTIFY;
}

static bool place_free(struct ep *e, uint32_t dst)
{
	struct ep_peer *p = &e->peer[dst];

	if (p->sent - p->acked >= p->slots && e->nic->credits)
		e->nic->credits(e, dst);
	return p->sent - p->acked < p->slots;
}

static bool message_out(struct ep *e, uint32_t dst, const struct ep_head *h,
			const void *data)
{
	struct ep_peer *p = &e->peer[dst];
	bool place = ep_takes_place(e, h->kind);

	if (place && !place_free(e, dst))
		return false;
	if (!e->nic->message(e, dst, h, data))
		return false;
	p->sent += place;
	/* The message carried the count of consumed messages to the peer. */
	if (e->nic->one_ring || h->kind == EP_CREDIT)
		p->returned = p->consumed;
	return true;
}

/* ---- operations ---- */

static bool data_out(struct ep *e, struct ep_op *op)
{
	size_t left = op->req.len - op->off, max = e->ep.info.max_msg;
	const uint8_t *buf = op->req.buf; /* NULL if no bytes are sent */
	struct ep_head h = { .kind = op->data_kind,
			     .id = op->id,
			     .len = (uint32_t)min_of(left, max),
			     .notify = op->req.notify,
			     .imm = op->req.imm,
			     .addr = op->off,
			     .key = op->req.rkey };

	h.last = h.len == left;
	if (h.kind == EP_PUT)
		h.addr += op->req.raddr;
	if (!message_out(e, op->req.dst, &h, buf ? buf + op->off : NULL))
		return false;
	op->off += h.len;
	if (h.last)
		op->data_kind = 0;
	return true;
}

/* Fills in the address of a long message. If the NIC cannot reach the user's
 * memory, copies the message and fills in the address of the copy. Returns
 * false if no buffer or region is free. */
static bool rts_address(struct ep *e, struct ep_op *op, struct ep_head *h)
{
	const uint8_t *buf = op->req.buf;

	h->len = (uint32_t)op->req.len;
	if (!op->stage && (op->reg || ep_reachable(e, buf, h->len))) {
		if (!op->reg)
			op->reg = ep_region_get(e, buf, h->len);
		if (!op->reg)
			return false;
		h->addr = op->reg->addr + (uint64_t)(buf - op->reg->p);
		h->key = op->reg->key;
		return true;
	}
	if (!op->stage) {
		op->stage = ep_buf_get(e->stage, EP_STAGES);
		if (!op->stage)
			return false;
		weft_host_copy(e->h, op->stage->p, buf, h->len);
	}
	h->addr = e->pool.addr + op->stage->at;
	h->key = e->pool.key;
	return true;
}

static bool last_out(struct ep *e, struct ep_op *op)
{
	struct ep_head h = { .kind = op->last_kind,
			     .id = op->id,
			     .swap = op->req.code == WEFT_EP_CSWAP,
			     .status = op->status,
			     .imm = op->req.imm,
			     .addr = op->req.raddr,
			     .key = op->req.rkey,
			     .a = op->result,
			     .b = op->req.desired,
			     .back = op->local };

	if (h.kind == EP_RTS &&
	    (!place_free(e, op->req.dst) || !rts_address(e, op, &h)))
		return false;
	if (h.kind == EP_NOTIFY || h.kind == EP_GET)
		h.a = op->req.len;
	if (h.kind == EP_ATOMIC)
		h.a = op->req.operand;
	return message_out(e, op->req.dst, &h, NULL);
}

/* Issues as much of op as possible. Returns true if op is issued completely. */
static bool op_issue(struct ep *e, struct ep_op *op)
{
	while (op->off < op->direct)
		if (!e->nic->direct(e, op))
			return false;
	while (op->data_kind)
		if (!data_out(e, op))
			return false;
	return !op->last_kind || last_out(e, op);
}

static void list_out(struct ep *e, struct ep_list *l)
{
	while (l->head && op_issue(e, l->head)) {
		struct ep_op *op = ep_list_pop(l);

		if (op->asks || op->last_kind == EP_RTS)
			op->waiting = true;
		else if (!e->nic->issued || !e->nic->issued(e, op))
			ep_complete(e, op);
	}
}

void ep_progress_out(struct ep *e)
{
	list_out(e, &e->notes);
	for (uint32_t d = 0; d < e->n; d++)
		list_out(e, &e->peer[d].todo);
}

/* Returns credits to each peer that lacks half of its credits. Does nothing
 * while answers are queued, because a peer with credits may send new requests,
 * and each request needs a free entry for its answer. */
void ep_return_credits(struct ep *e)
{
	for (uint32_t d = 0; d < e->n && !e->notes.head; d++) {
		struct ep_peer *p = &e->peer[d];
		struct ep_head h = { .kind = EP_CREDIT, .a = p->consumed };

		if (p->consumed - p->returned >= (e->slots + 1) / 2)
			message_out(e, d, &h, NULL);
	}
}
