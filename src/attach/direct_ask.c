/* SPDX-License-Identifier: Apache-2.0 */
/* Operations of a direct endpoint that the target's library executes in pieces.
 * These are atomics, and also put and get if the kernel refuses to copy. */
#include <errno.h>
#include <string.h>

#include "attach/direct_internal.h"
#include "base/minmax.h"

/* ---- operations of this process ---- */

struct direct_op *direct_op_new(struct direct *d, uint32_t to,
				enum weft_ep_kind event, void *ctx)
{
	struct direct_op *op = d->op;

	while (op < d->op + DIRECT_OPS && op->used)
		op++;
	if (op == d->op + DIRECT_OPS)
		return NULL;
	*op = (struct direct_op){ .used = true,
				  .event = event,
				  .place = to,
				  .id = (uint32_t)(op - d->op),
				  .ctx = ctx };
	op->ask.id = op->id;
	d->n_ops++;
	return op;
}

static void op_end(struct direct *d, struct direct_op *op, int status,
		   uint64_t result)
{
	struct weft_ep_event ev = { .kind = status ? WEFT_EV_ERROR : op->event,
				    .status = status,
				    .src = direct_addr(d, op->place),
				    .len = op->len,
				    .result = result,
				    .ctx = op->ctx };

	op->used = false;
	d->n_ops--;
	if (op->ctx)
		direct_event(d, &ev);
}

/* Sends the next request, or ends the operation. Returns false if the ring is
 * full. */
static bool op_step(struct direct *d, struct direct_op *op)
{
	bool put = op->ask.what == ASK_PUT, get = op->ask.what == ASK_GET;
	size_t most = d->ep.info.max_msg - sizeof(op->ask), n;
	struct direct_head *h;
	uint8_t *to;

	if ((put || get) && op->off == op->len) {
		/* The notice of a put follows its last piece, so that the data
		 * is complete when the notice arrives. */
		h = op->notify ? direct_begin(d, op->place, 0) : NULL;
		if (op->notify && !h)
			return false;
		if (h)
			direct_commit(d, op->place, h, DIRECT_PUT_IN, 0,
				      op->imm);
		op_end(d, op, 0, 0);
		return true;
	}
	op->step = min_of(op->len - op->off, most);
	n = sizeof(op->ask) + (put ? op->step : 0);
	h = direct_begin(d, op->place, n);
	if (!h)
		return false;
	to = (uint8_t *)(h + 1);
	if (get)
		op->ask.a = op->step;
	memcpy(to, &op->ask, sizeof(op->ask));
	if (put)
		memcpy(to + sizeof(op->ask), op->buf + op->off, op->step);
	op->asked = true;
	direct_commit(d, op->place, h, DIRECT_ASK, n, 0);
	return true;
}

void direct_op_start(struct direct *d, struct direct_op *op)
{
	if (d->todo || !op_step(d, op)) {
		op->next = NULL;
		*d->todo_tail = op;
		d->todo_tail = &op->next;
	}
}

void direct_answered(struct direct *d, uint32_t from, const uint8_t *data,
		     size_t len)
{
	struct direct_answer a;
	struct direct_op *op;

	if (len < sizeof(a))
		return;
	memcpy(&a, data, sizeof(a));
	op = a.id < DIRECT_OPS ? &d->op[a.id] : NULL;
	if (!op || !op->used || !op->asked || op->place != from)
		return;
	op->asked = false;
	if (op->ask.what == ASK_GET && !a.status) {
		if (len - sizeof(a) != op->step)
			a.status = -EIO;
		else
			memcpy(op->buf + op->off, data + sizeof(a), op->step);
	}
	if (a.status || op->event == WEFT_EV_ATOMIC) {
		op_end(d, op, a.status, a.result);
		return;
	}
	op->off += op->step;
	op->ask.raddr += op->step;
	direct_op_start(d, op);
}

/* ---- requests of peers ---- */

/* Executes a request on this process's memory and fills in the reply. */
static void ask_do(struct direct *d, const struct direct_ask *q,
		   const uint8_t *data, size_t len, struct direct_reply *r)
{
	uint64_t n = q->what == ASK_PUT ? len : q->what == ASK_GET ? q->a : 8;
	uint64_t *at = (uint64_t *)(uintptr_t)q->raddr;

	if (!direct_covers(d, q->raddr, q->rkey, n)) {
		r->a.status = -EFAULT;
	} else if (q->what == ASK_PUT) {
		memcpy((void *)(uintptr_t)q->raddr, data, len);
	} else if (q->what == ASK_GET) {
		if (n > d->ep.info.max_msg - sizeof(*q)) {
			r->a.status = -EMSGSIZE;
		} else {
			r->raddr = q->raddr;
			r->rkey = q->rkey;
			r->len = n;
		}
	} else if (q->raddr % 8) {
		r->a.status = -EINVAL;
	} else if (q->what == ASK_FADD) {
		r->a.result = __atomic_fetch_add(at, q->a, __ATOMIC_SEQ_CST);
	} else {
		r->a.result = q->a;
		__atomic_compare_exchange_n(at, &r->a.result, q->b, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	}
}

/* Sends a reply. Checks the region again, because it may have been
 * deregistered while the reply waited for room. */
static bool reply_send(struct direct *d, struct direct_reply *r)
{
	size_t n = sizeof(r->a) + r->len;
	struct direct_head *h = direct_begin(d, r->place, n);

	if (!h)
		return false;
	if (r->len && !direct_covers(d, r->raddr, r->rkey, r->len)) {
		r->a.status = -EFAULT;
		n = sizeof(r->a);
	} else if (r->len) {
		memcpy((uint8_t *)(h + 1) + sizeof(r->a),
		       (const void *)(uintptr_t)r->raddr, r->len);
	}
	memcpy(h + 1, &r->a, sizeof(r->a));
	direct_commit(d, r->place, h, DIRECT_ANSWER, n, 0);
	return true;
}

void direct_asked(struct direct *d, uint32_t from, const uint8_t *data,
		  size_t len)
{
	struct direct_reply r = { .place = from };
	uint32_t all = d->n * DIRECT_OPS;
	struct direct_ask q;

	if (len < sizeof(q))
		return;
	memcpy(&q, data, sizeof(q));
	r.a.id = q.id;
	ask_do(d, &q, data + sizeof(q), len - sizeof(q), &r);
	if (d->reply_head == d->reply_tail && reply_send(d, &r))
		return;
	if (d->reply_tail - d->reply_head <
	    /* The ring holds DIRECT_OPS replies for each peer, so that it is
	     * full only if a peer exceeds this limit. */
	    all)
		d->reply[d->reply_tail++ % all] = r;
}

/* ---- progress ---- */

bool direct_is_left(const struct direct *d, uint32_t place)
{
	return atomic_load_explicit(&d->seg->post[place].state,
				    memory_order_relaxed) >= DIRECT_LEFT;
}

void direct_progress(struct direct *d)
{
	uint32_t all = d->n * DIRECT_OPS;
	struct direct_op *op;

	for (; d->reply_head != d->reply_tail; d->reply_head++) {
		struct direct_reply *r = &d->reply[d->reply_head % all];

		if (!direct_is_left(d, r->place) && !reply_send(d, r))
			break;
	}
	while ((op = d->todo)) {
		struct direct_op *next = op->next;

		if (direct_is_left(d, op->place))
			op_end(d, op, -EPIPE, 0);
		else if (!op_step(d, op))
			break;
		d->todo = next;
		if (!next)
			d->todo_tail = &d->todo;
	}
	/* Peers that have left send no replies. */
	for (op = d->op; op < d->op + DIRECT_OPS; op++)
		if (op->used && op->asked && d->peer[op->place].left)
			op_end(d, op, -EPIPE, 0);
}
