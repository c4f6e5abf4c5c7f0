/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint over the FORTH NIC: arrived messages, one function per kind. */
#include <errno.h>
#include <string.h>

#include "endpoint/ep_open.h"
#include "systems/forth/lib/endpoint.h"

/* A message as its handler sees it. */
struct forth_ep_in {
	uint32_t src;
	const uint8_t *data;
	size_t len;
	uint64_t imm, arg;
};

/* Handlers return the number of events given to the user (0 or 1). */

static int forth_ep_in_msg(struct forth_ep *e, const struct forth_ep_in *in,
			   struct weft_ep_event *ev)
{
	*ev = (struct weft_ep_event){ .kind = WEFT_EV_RECV,
				      .src = in->src,
				      .imm = in->imm,
				      .data = in->data,
				      .len = in->len };
	return 1;
}

static int forth_ep_in_put(struct forth_ep *e, const struct forth_ep_in *in,
			   struct weft_ep_event *ev)
{
	uint8_t *to = forth_ep_mr_at(e, in->arg, in->len);

	if (to)
		weft_host_copy(e->h, to, in->data, in->len);
	return 0;
}

static int forth_ep_in_notify(struct forth_ep *e, const struct forth_ep_in *in,
			      struct weft_ep_event *ev)
{
	*ev = (struct weft_ep_event){ .kind = WEFT_EV_PUT_IN,
				      .src = in->src,
				      .imm = in->imm,
				      .len = in->arg };
	return 1;
}

/* An answer always finds a place: a peer has at most FORTH_EP_REQUESTS open. */
static struct forth_ep_op *forth_ep_answer(struct forth_ep *e,
					   const struct forth_ep_in *in)
{
	struct forth_ep_peer *peer = &e->peer[in->src];
	struct forth_ep_op *op = peer->answers;

	if (!op)
		return NULL; /* the peer broke the rule: ignored */
	peer->answers = op->next;
	*op = (struct forth_ep_op){ .internal = true,
				    .dst = in->src,
				    .id = (uint32_t)in->imm,
				    .last_kind = FORTH_EP_DONE };
	return op;
}

static int forth_ep_in_get(struct forth_ep *e, const struct forth_ep_in *in,
			   struct weft_ep_event *ev)
{
	struct forth_ep_op *op = forth_ep_answer(e, in);
	struct forth_ep_get g;

	if (!op || in->len != sizeof(g))
		return 0;
	memcpy(&g, in->data, sizeof(g));
	op->buf = forth_ep_mr_at(e, g.raddr, g.len);
	if (!op->buf) {
		op->status = -EINVAL;
	} else {
		op->data_kind = FORTH_EP_GET_DATA;
		op->len = g.len;
		if (g.back && !((g.back | g.raddr) % 8) && in->src != e->me) {
			op->direct = g.len & ~(size_t)7;
			op->local = g.raddr;
			op->to = g.back;
		}
	}
	forth_ep_list_push(&e->peer[in->src].todo, op);
	return 0;
}

static int forth_ep_in_atomic(struct forth_ep *e, const struct forth_ep_in *in,
			      struct weft_ep_event *ev)
{
	struct forth_ep_op *op = forth_ep_answer(e, in);
	struct forth_ep_atomic a;
	uint8_t *p;

	if (!op || in->len != sizeof(a))
		return 0;
	memcpy(&a, in->data, sizeof(a));
	p = a.raddr % 8 ? NULL : forth_ep_mr_at(e, a.raddr, 8);
	if (p) {
		op->arg = ep_atomic(e->h, p, a.swap, a.a, a.b);
	} else {
		op->status = -EINVAL;
	}
	forth_ep_list_push(&e->peer[in->src].todo, op);
	return 0;
}

/* My request `imm` that waits for src, or NULL. */
static struct forth_ep_op *forth_ep_request(struct forth_ep *e,
					    const struct forth_ep_in *in)
{
	struct forth_ep_op *op =
		in->imm < FORTH_EP_OPS ? &e->ops[in->imm] : NULL;

	return op && op->waiting && op->dst == in->src ? op : NULL;
}

static int forth_ep_in_get_data(struct forth_ep *e,
				const struct forth_ep_in *in,
				struct weft_ep_event *ev)
{
	struct forth_ep_op *op = forth_ep_request(e, in);

	if (op && op->into && in->arg <= op->len &&
	    in->len <= op->len - in->arg)
		weft_host_copy(e->h, op->into + in->arg, in->data, in->len);
	return 0;
}

static int forth_ep_in_done(struct forth_ep *e, const struct forth_ep_in *in,
			    struct weft_ep_event *ev)
{
	struct forth_ep_op *op = forth_ep_request(e, in);

	if (!op || in->len != sizeof(op->status))
		return 0;
	memcpy(&op->status, in->data, sizeof(op->status));
	op->arg = in->arg;
	e->peer[in->src].requests--;
	forth_ep_complete(e, op);
	return 0;
}

typedef int forth_ep_in_fn(struct forth_ep *e, const struct forth_ep_in *in,
			   struct weft_ep_event *ev);
static forth_ep_in_fn *const forth_ep_in_table[] = {
	[FORTH_EP_MSG] = forth_ep_in_msg,
	[FORTH_EP_PUT] = forth_ep_in_put,
	[FORTH_EP_NOTIFY] = forth_ep_in_notify,
	[FORTH_EP_GET] = forth_ep_in_get,
	[FORTH_EP_GET_DATA] = forth_ep_in_get_data,
	[FORTH_EP_ATOMIC] = forth_ep_in_atomic,
	[FORTH_EP_DONE] = forth_ep_in_done,
};
#define FORTH_EP_KINDS                                                         \
	(sizeof(forth_ep_in_table) / sizeof(forth_ep_in_table[0]))

/* ---- slots ---- */

static void forth_ep_slot_done(struct forth_ep *e, uint32_t p, uint64_t seq)
{
	struct forth_ep_peer *peer = &e->peer[p];

	peer->done[seq % e->slots] = true;
	while (peer->done[peer->consumed % e->slots])
		peer->done[peer->consumed++ % e->slots] = false;
}

/* Message `seq` of p (from 0), if its last word is there. */
static struct forth_ep_trailer *forth_ep_there(struct forth_ep *e, uint32_t p,
					       uint64_t seq)
{
	struct forth_ep_trailer *t =
		forth_ep_trailer_of(e, forth_ep_rx_slot(e, p, seq));

	return *(volatile uint64_t *)&t->seq == seq + 1 ? t : NULL;
}

/* Several paths: what has landed, against the notifications given before. */
static void forth_ep_look(struct forth_ep *e)
{
	uint32_t noted;
	uint64_t sum = 0;

	if (!e->paths)
		return;
	noted = e->noted;
	if (weft_forth_remote_word(e->f))
		noted = weft_forth_remote_count(e->f);
	for (uint32_t p = 0; p < e->n; p++) {
		struct forth_ep_peer *peer = &e->peer[p];

		while (forth_ep_there(e, p, peer->landed))
			peer->landed++;
		sum += p == e->me ? 0 : peer->landed;
	}
	e->late = (uint32_t)(sum - (noted - e->noted));
}

/* The next message of p, if it is there. */
static struct forth_ep_trailer *forth_ep_next(struct forth_ep *e, uint32_t p)
{
	struct forth_ep_peer *peer = &e->peer[p];

	if (e->paths && p != e->me && peer->got + e->late >= peer->landed)
		return NULL;
	return forth_ep_there(e, p, peer->got);
}

static void forth_ep_take_ack(struct forth_ep_peer *peer, uint32_t ack)
{
	int32_t news = (int32_t)(ack - (uint32_t)peer->acked);

	if (news > 0)
		peer->acked += (uint32_t)news;
}

static int forth_ep_handle(struct forth_ep *e, uint32_t p,
			   struct forth_ep_trailer *t, struct weft_ep_event *ev)
{
	uint32_t kind = t->meta >> 24 & 0xFF;
	struct forth_ep_in in = { .src = p,
				  .len = t->meta & 0xFFFFFF,
				  .imm = t->imm,
				  .arg = t->arg };
	uint64_t seq = e->peer[p].got++;
	int n = 0;

	forth_ep_take_ack(&e->peer[p], (uint32_t)(t->meta >> 32));
	in.data = (uint8_t *)t - forth_ep_pad(in.len);
	if (kind < FORTH_EP_KINDS && forth_ep_in_table[kind])
		n = forth_ep_in_table[kind](e, &in, ev);
	if (kind != FORTH_EP_MSG)
		forth_ep_slot_done(e, p, seq);
	return n;
}

int forth_ep_receive(struct forth_ep *e, struct weft_ep_event *ev, int max)
{
	struct forth_ep_trailer *t;
	int n = 0;

	forth_ep_look(e);
	for (uint32_t i = 0; i < e->n && n < max; i++) {
		uint32_t p = (e->turn + i) % e->n;

		while (n < max && (t = forth_ep_next(e, p)))
			n += forth_ep_handle(e, p, t, &ev[n]);
	}
	if (n == max)
		e->turn = (e->turn + 1) % e->n;
	return n;
}

bool forth_ep_rx_ready(struct forth_ep *e)
{
	forth_ep_look(e);
	for (uint32_t p = 0; p < e->n; p++)
		if (forth_ep_next(e, p))
			return true;
	return false;
}

void forth_ep_release(struct weft_ep *ep, const struct weft_ep_event *ev)
{
	struct forth_ep *e = forth_ep_of(ep);
	size_t at = (size_t)((const uint8_t *)ev->data - e->rx);
	uint64_t index = at / e->slot_bytes;

	if (ev->kind == WEFT_EV_RECV)
		forth_ep_slot_done(e, (uint32_t)(index / e->slots),
				   index % e->slots);
}
