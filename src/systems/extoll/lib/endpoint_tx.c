/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint over EXTOLL: messages out (extoll.md 6.3).  Each peer has one list
 * of operations that need VELO, issued in order as the peer has slots. */
#include <errno.h>
#include <string.h>

#include "systems/extoll/lib/endpoint.h"

void extoll_ep_velo(struct extoll_ep *e, uint32_t dst, enum extoll_ep_kind kind,
		    const void *data, size_t len)
{
	struct extoll_ep_peer *p = &e->peer[dst];

	if (p->irq)
		velo_send_irq(&p->velo, data, (uint32_t)len, kind, 0);
	else
		velo_send(&p->velo, data, (uint32_t)len, kind, 0);
}

/* ---- short messages ---- */

/* The data behind a head of n bytes; how many. */
static size_t tx_head(struct extoll_ep *e, struct extoll_ep_op *op,
		      enum extoll_ep_kind kind, const void *head, size_t n)
{
	uint8_t m[EXTOLL_EP_VELO];
	size_t k = op->len < EXTOLL_EP_VELO - n ? op->len : EXTOLL_EP_VELO - n;

	memcpy(m, head, n);
	weft_host_move(e->h, m + n, op->buf, k);
	extoll_ep_velo(e, op->dst, kind, m, n + k);
	return k;
}

static void tx_eager(struct extoll_ep *e, struct extoll_ep_op *op)
{
	struct extoll_ep_first f = { .imm = op->imm, .len = op->len };
	uint8_t m[EXTOLL_EP_VELO];

	if (op->len <= EXTOLL_EP_VELO - sizeof(f.imm)) {
		tx_head(e, op, EXTOLL_EP_MSG, &f.imm, sizeof(f.imm));
		return;
	}
	op->off = tx_head(e, op, EXTOLL_EP_FIRST, &f, sizeof(f));
	while (op->off < op->len) {
		size_t k = op->len - op->off;

		k = k < EXTOLL_EP_VELO ? k : EXTOLL_EP_VELO;
		weft_host_move(e->h, m, op->buf + op->off, k);
		extoll_ep_velo(e, op->dst, EXTOLL_EP_MORE, m, k);
		op->off += k;
	}
}

/* ---- long messages ---- */

static struct extoll_ep_buf *stage_get(struct extoll_ep *e)
{
	for (uint32_t i = 0; i < EXTOLL_EP_STAGES; i++)
		if (!e->stage[i].busy) {
			e->stage[i].busy = true;
			return &e->stage[i];
		}
	return NULL;
}

/* Its address for others: where it is, or in a pinned copy. */
static bool tx_address(struct extoll_ep *e, struct extoll_ep_op *op,
		       rma_nla_t *nla_p)
{
	if (extoll_ep_reachable(e, op->buf, op->len)) {
		op->reg = extoll_ep_reg_get(e, op->buf, op->len);
		return op->reg &&
		       !rma_get_nla(op->reg->region,
				    (size_t)(op->buf - op->reg->p), nla_p);
	}
	op->stage = stage_get(e);
	if (!op->stage)
		return false;
	weft_host_copy(e->h, op->stage->p, op->buf, op->len);
	rma_get_nla(e->pool_region, op->stage->at, nla_p);
	return true;
}

static bool tx_long(struct extoll_ep *e, struct extoll_ep_op *op)
{
	struct extoll_ep_rts r = { .imm = op->imm,
				   .len = (uint32_t)op->len,
				   .id = op->id };

	if (!tx_address(e, op, &r.nla))
		return false;
	op->waiting = true;
	extoll_ep_velo(e, op->dst, EXTOLL_EP_RTS, &r, sizeof(r));
	return true;
}

/* ---- operations ---- */

static bool tx_message(struct extoll_ep *e, struct extoll_ep_op *op)
{
	struct extoll_ep_peer *p = &e->peer[op->dst];

	if (p->sent - p->acked >= e->slots)
		return false;
	if (op->len > e->eager_max) {
		if (!tx_long(e, op))
			return false;
	} else {
		tx_eager(e, op);
		extoll_ep_complete(e, op);
	}
	p->sent++;
	return true;
}

static bool tx_one(struct extoll_ep *e, struct extoll_ep_op *op)
{
	if (op->event == WEFT_EV_SENT)
		return tx_message(e, op);
	op->waiting = true;
	extoll_ep_velo(e, op->dst, EXTOLL_EP_ATOMIC, &op->atomic,
		       sizeof(op->atomic));
	return true;
}

void extoll_ep_progress_tx(struct extoll_ep *e)
{
	for (uint32_t d = 0; d < e->n; d++) {
		struct extoll_ep_list *l = &e->peer[d].todo;

		while (l->head) {
			struct extoll_ep_op *op = extoll_ep_list_pop(l);

			if (tx_one(e, op))
				continue;
			op->next = l->head; /* not now */
			l->head = op;
			if (!op->next)
				l->tail = &op->next;
			break;
		}
	}
}

/* When half of the slots are owed. */
void extoll_ep_return_credits(struct extoll_ep *e)
{
	for (uint32_t d = 0; d < e->n; d++) {
		struct extoll_ep_peer *p = &e->peer[d];
		struct extoll_ep_done c = { .id = (uint32_t)p->consumed };

		if (p->consumed - p->returned < (e->slots + 1) / 2)
			continue;
		p->returned = p->consumed;
		extoll_ep_velo(e, d, EXTOLL_EP_CREDIT, &c, sizeof(c));
	}
}
