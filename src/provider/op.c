/* SPDX-License-Identifier: Apache-2.0 */
/* Operations in flight, their numbers and the answers to them; see op.h. */
#include "provider/op.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "provider/bulk.h"
#include "provider/rxq.h"

/* An id has 31 bits: generation << 20 | slot + 1. The generation changes with
 * each use of a slot, so that a late answer does not match the next operation
 * in the slot. */
enum { ID_BITS = 20, ID_MASK = (1 << ID_BITS) - 1 };

const struct wfi_op_type wfi_op_ghost = { 0 };

static void op_recycle(struct wfi_op *op)
{
	free(op->bounce);
	op->bounce = NULL;
	TAILQ_REMOVE(&op->hub->live, op, all);
	TAILQ_INSERT_HEAD(&op->hub->idle, op, link);
}

static void op_note(struct wfi_note *n, int status)
{
	struct wfi_op *op = container_of(n, struct wfi_op, note);

	op->notes--;
	if (status)
		op->err = -status;
	if (op->type == &wfi_op_ghost) {
		if (!op->notes)
			op_recycle(op);
	} else if (op->bulk) {
		wfi_bulk_out(op);
	} else if (op->err) {
		wfi_op_end(op, op->err);
	} else if (op->type->sent) {
		op->type->sent(op);
	}
}

struct wfi_op *wfi_op_new(struct wfi_hub *h, const struct wfi_op_type *type,
			  struct wfi_ep *ep, struct wfi_peer *p)
{
	struct wfi_op *op = TAILQ_FIRST(&h->idle);

	if (op)
		TAILQ_REMOVE(&h->idle, op, link);
	else
		op = malloc(sizeof(*op));
	if (!op)
		return NULL;
	memset(op, 0, sizeof(*op));
	op->note.fn = op_note;
	op->type = type;
	op->hub = h;
	op->ep = ep;
	op->peer = p;
	op->src = FI_ADDR_NOTAVAIL;
	TAILQ_INSERT_TAIL(&h->live, op, all);
	return op;
}

static int op_more_slots(struct wfi_hub *h)
{
	size_t n = h->slots ? h->slots * 2 : 64;
	struct wfi_slot *s;

	if (n > ID_MASK)
		return -ENOMEM;
	s = realloc(h->slot, n * sizeof(*s));
	if (!s)
		return -ENOMEM;
	for (size_t i = h->slots; i < n; i++)
		s[i] = (struct wfi_slot){ .gen = h->gen };
	h->slot = s;
	h->slots = n;
	return 0;
}

int wfi_op_number(struct wfi_op *op)
{
	struct wfi_hub *h = op->hub;
	struct wfi_slot *s;

	while (h->first_free < h->slots && h->slot[h->first_free].op)
		h->first_free++;
	if (h->first_free == h->slots && op_more_slots(h))
		return -ENOMEM;
	s = &h->slot[h->first_free];
	s->op = op;
	s->gen = (s->gen + 1) & 0x7ff;
	op->id = (uint32_t)s->gen << ID_BITS | (uint32_t)(h->first_free + 1);
	return 0;
}

struct wfi_op *wfi_op_find(struct wfi_hub *h, uint32_t id)
{
	size_t i = id & ID_MASK;

	if (!i || i > h->slots || !h->slot[i - 1].op)
		return NULL;
	return h->slot[i - 1].gen == id >> ID_BITS ? h->slot[i - 1].op : NULL;
}

int wfi_op_again(struct wfi_op *op, int (*step)(struct wfi_op *op))
{
	op->step = step;
	if (!op->queued)
		TAILQ_INSERT_TAIL(&op->hub->again, op, link);
	op->queued = true;
	return -EAGAIN;
}

void wfi_op_free(struct wfi_op *op)
{
	struct wfi_hub *h = op->hub;

	if (op->queued)
		TAILQ_REMOVE(&h->again, op, link);
	op->queued = false;
	if (op->id) {
		size_t i = (op->id & ID_MASK) - 1;

		h->slot[i].op = NULL;
		h->first_free = min_of(i, h->first_free);
		op->id = 0;
	}
	if (op->rx && !--op->rx->pending && !op->rx->posted)
		free(op->rx);
	op->rx = NULL;
	if (op->reg)
		wfi_reg_put(h, op->reg);
	op->reg = NULL;
	op->ep = NULL;
	op->peer = NULL;
	op->mr = NULL;
	op->type = &wfi_op_ghost;
	if (!op->notes)
		op_recycle(op);
}

void wfi_op_end(struct wfi_op *op, int status)
{
	int err = status < 0 ? -status : status;

	if (op->type->end)
		op->type->end(op, err);
	wfi_op_free(op);
}

void wfi_op_reply(struct wfi_hub *h, const struct wfi_in *in)
{
	struct wfi_op *op = wfi_op_find(h, in->w->id);
	void (*fn)(struct wfi_op *, const struct wfi_in *);

	if (!op || op->peer != in->peer)
		return;
	fn = in->w->op == WIRE_CTS   ? op->type->cts
	     : in->w->op == WIRE_ACK ? op->type->ack
				     : op->type->result;
	/* the answer is an error, with its errno in a */
	if (in->w->op != WIRE_CTS && in->w->a)
		wfi_op_end(op, in->w->a < 4096 ? (int)in->w->a : EIO);
	else if (fn)
		fn(op, in);
}

void wfi_op_acks(struct wfi_hub *h, const struct wfi_in *in)
{
	for (size_t i = 0; i + sizeof(uint32_t) <= in->len;
	     i += sizeof(uint32_t)) {
		struct wfi_op *op;
		uint32_t id;

		memcpy(&id, (const char *)in->data + i, sizeof(id));
		op = wfi_op_find(h, id);
		if (op && op->peer == in->peer && op->type->ack)
			op->type->ack(op, in);
	}
}

#define op_foreach_safe(h, op, next)                                           \
	for (op = TAILQ_FIRST(&(h)->live);                                     \
	     op && (next = TAILQ_NEXT(op, all), true); op = next)

void wfi_ops_fail(struct wfi_hub *h, struct wfi_peer *p)
{
	struct wfi_op *op, *next;

	op_foreach_safe(h, op,
			next) if (op->peer == p && op->type != &wfi_op_ghost)
		wfi_op_end(op, EPIPE);
}

void wfi_ops_leave(struct wfi_hub *h, struct wfi_ep *ep)
{
	struct wfi_op *op, *next;

	op_foreach_safe(h, op, next) if (op->ep == ep) wfi_op_free(op);
}

void wfi_ops_leave_mr(struct wfi_hub *h, struct wfi_mr *mr)
{
	struct wfi_op *op, *next;

	op_foreach_safe(h, op, next)
	{
		if (op->mr != mr)
			continue;
		op->mr = NULL;
		wfi_op_end(op, ECANCELED);
	}
}

void wfi_ops_free(struct wfi_hub *h)
{
	struct wfi_op *op, *next;
	struct wfi_reg *r;

	op_foreach_safe(h, op, next)
	{
		op->notes = 0;
		op->reg = NULL; /* the registration is freed with the
				 * attachment */
		wfi_op_free(op);
	}
	while ((op = TAILQ_FIRST(&h->idle))) {
		TAILQ_REMOVE(&h->idle, op, link);
		free(op);
	}
	/* Frees only the records, because the attachment is closed. */
	while ((r = h->regs)) {
		h->regs = r->next;
		free(r);
	}
	free(h->slot);
}
