/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint over EXTOLL: messages out (extoll.md 6.3).  Each peer has one list
 * of operations that need VELO, issued in order as the peer has slots. */
#include <errno.h>
#include <string.h>

#include "systems/extoll/lib/endpoint.h"

void epx_velo(struct epx *e, uint32_t dst, enum epx_kind kind, const void *data,
	      size_t len)
{
	struct epx_peer *p = &e->peer[dst];

	if (p->irq)
		velo_send_irq(&p->velo, data, (uint32_t)len, kind, 0);
	else
		velo_send(&p->velo, data, (uint32_t)len, kind, 0);
}

/* ---- short messages ---- */

/* The data behind a head of n bytes; how many. */
static size_t tx_head(struct epx *e, struct epx_op *op, enum epx_kind kind,
		      const void *head, size_t n)
{
	uint8_t m[EPX_VELO];
	size_t k = op->len < EPX_VELO - n ? op->len : EPX_VELO - n;

	memcpy(m, head, n);
	weft_host_move(e->h, m + n, op->buf, k);
	epx_velo(e, op->dst, kind, m, n + k);
	return k;
}

static void tx_eager(struct epx *e, struct epx_op *op)
{
	struct epx_first f = { .imm = op->imm, .len = op->len };
	uint8_t m[EPX_VELO];

	if (op->len <= EPX_VELO - sizeof(f.imm)) {
		tx_head(e, op, EPX_MSG, &f.imm, sizeof(f.imm));
		return;
	}
	op->off = tx_head(e, op, EPX_FIRST, &f, sizeof(f));
	while (op->off < op->len) {
		size_t k = op->len - op->off;

		k = k < EPX_VELO ? k : EPX_VELO;
		weft_host_move(e->h, m, op->buf + op->off, k);
		epx_velo(e, op->dst, EPX_MORE, m, k);
		op->off += k;
	}
}

/* ---- long messages ---- */

static struct epx_buf *stage_get(struct epx *e)
{
	for (uint32_t i = 0; i < EPX_STAGES; i++)
		if (!e->stage[i].busy) {
			e->stage[i].busy = true;
			return &e->stage[i];
		}
	return NULL;
}

/* Its address for others: where it is, or in a pinned copy. */
static bool tx_address(struct epx *e, struct epx_op *op, rma_nla_t *nla_p)
{
	if (epx_reachable(e, op->buf, op->len)) {
		op->reg = epx_reg_get(e, op->buf, op->len);
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

static bool tx_long(struct epx *e, struct epx_op *op)
{
	struct epx_rts r = { .imm = op->imm,
			     .len = (uint32_t)op->len,
			     .id = op->id };

	if (!tx_address(e, op, &r.nla))
		return false;
	op->waiting = true;
	epx_velo(e, op->dst, EPX_RTS, &r, sizeof(r));
	return true;
}

/* ---- operations ---- */

static bool tx_message(struct epx *e, struct epx_op *op)
{
	struct epx_peer *p = &e->peer[op->dst];

	if (p->sent - p->acked >= e->slots)
		return false;
	if (op->len > e->eager_max) {
		if (!tx_long(e, op))
			return false;
	} else {
		tx_eager(e, op);
		epx_complete(e, op);
	}
	p->sent++;
	return true;
}

static bool tx_one(struct epx *e, struct epx_op *op)
{
	if (op->event == WEFT_EV_SENT)
		return tx_message(e, op);
	op->waiting = true;
	epx_velo(e, op->dst, EPX_ATOMIC, &op->atomic, sizeof(op->atomic));
	return true;
}

void epx_progress_tx(struct epx *e)
{
	for (uint32_t d = 0; d < e->n; d++) {
		struct epx_list *l = &e->peer[d].todo;

		while (l->head) {
			struct epx_op *op = epx_list_pop(l);

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
void epx_return_credits(struct epx *e)
{
	for (uint32_t d = 0; d < e->n; d++) {
		struct epx_peer *p = &e->peer[d];
		struct epx_done c = { .id = (uint32_t)p->consumed };

		if (p->consumed - p->returned < (e->slots + 1) / 2)
			continue;
		p->returned = p->consumed;
		epx_velo(e, d, EPX_CREDIT, &c, sizeof(c));
	}
}
