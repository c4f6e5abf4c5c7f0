/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint over the FORTH NIC: arrived messages, one function per kind. */
#include <errno.h>
#include <string.h>

#include "endpoint/ep_open.h"
#include "systems/forth/lib/endpoint.h"

/* A message as its handler sees it. */
struct epf_in {
	uint32_t src;
	const uint8_t *data;
	size_t len;
	uint64_t imm, arg;
};

/* Handlers return the number of events given to the user (0 or 1). */

static int epf_in_msg(struct epf *e, const struct epf_in *in,
		      struct weft_ep_event *ev)
{
	*ev = (struct weft_ep_event){ .kind = WEFT_EV_RECV,
				      .src = in->src,
				      .imm = in->imm,
				      .data = in->data,
				      .len = in->len };
	return 1;
}

static int epf_in_put(struct epf *e, const struct epf_in *in,
		      struct weft_ep_event *ev)
{
	uint8_t *to = epf_mr_at(e, in->arg, in->len);

	if (to)
		weft_host_copy(e->h, to, in->data, in->len);
	return 0;
}

static int epf_in_notify(struct epf *e, const struct epf_in *in,
			 struct weft_ep_event *ev)
{
	*ev = (struct weft_ep_event){ .kind = WEFT_EV_PUT_IN,
				      .src = in->src,
				      .imm = in->imm,
				      .len = in->arg };
	return 1;
}

/* An answer always finds a place: a peer has at most EPF_REQUESTS open. */
static struct epf_op *epf_answer(struct epf *e, const struct epf_in *in)
{
	struct epf_peer *peer = &e->peer[in->src];
	struct epf_op *op = peer->answers;

	if (!op)
		return NULL; /* the peer broke the rule: ignored */
	peer->answers = op->next;
	*op = (struct epf_op){ .internal = true,
			       .dst = in->src,
			       .id = (uint32_t)in->imm,
			       .last_kind = EPF_DONE };
	return op;
}

static int epf_in_get(struct epf *e, const struct epf_in *in,
		      struct weft_ep_event *ev)
{
	struct epf_op *op = epf_answer(e, in);
	struct epf_get g;

	if (!op || in->len != sizeof(g))
		return 0;
	memcpy(&g, in->data, sizeof(g));
	op->buf = epf_mr_at(e, g.raddr, g.len);
	if (!op->buf) {
		op->status = -EINVAL;
	} else {
		op->data_kind = EPF_GET_DATA;
		op->len = g.len;
		if (g.back && !((g.back | g.raddr) % 8) && in->src != e->me) {
			op->direct = g.len & ~(size_t)7;
			op->local = g.raddr;
			op->to = g.back;
		}
	}
	epf_list_push(&e->peer[in->src].todo, op);
	return 0;
}

static int epf_in_atomic(struct epf *e, const struct epf_in *in,
			 struct weft_ep_event *ev)
{
	struct epf_op *op = epf_answer(e, in);
	struct epf_atomic a;
	uint8_t *p;

	if (!op || in->len != sizeof(a))
		return 0;
	memcpy(&a, in->data, sizeof(a));
	p = a.raddr % 8 ? NULL : epf_mr_at(e, a.raddr, 8);
	if (p) {
		op->arg = ep_atomic(e->h, p, a.swap, a.a, a.b);
	} else {
		op->status = -EINVAL;
	}
	epf_list_push(&e->peer[in->src].todo, op);
	return 0;
}

/* My request `imm` that waits for src, or NULL. */
static struct epf_op *epf_request(struct epf *e, const struct epf_in *in)
{
	struct epf_op *op = in->imm < EPF_OPS ? &e->ops[in->imm] : NULL;

	return op && op->waiting && op->dst == in->src ? op : NULL;
}

static int epf_in_get_data(struct epf *e, const struct epf_in *in,
			   struct weft_ep_event *ev)
{
	struct epf_op *op = epf_request(e, in);

	if (op && op->into && in->arg <= op->len &&
	    in->len <= op->len - in->arg)
		weft_host_copy(e->h, op->into + in->arg, in->data, in->len);
	return 0;
}

static int epf_in_done(struct epf *e, const struct epf_in *in,
		       struct weft_ep_event *ev)
{
	struct epf_op *op = epf_request(e, in);

	if (!op || in->len != sizeof(op->status))
		return 0;
	memcpy(&op->status, in->data, sizeof(op->status));
	op->arg = in->arg;
	e->peer[in->src].requests--;
	epf_complete(e, op);
	return 0;
}

typedef int epf_in_fn(struct epf *e, const struct epf_in *in,
		      struct weft_ep_event *ev);
static epf_in_fn *const epf_in_table[] = {
	[EPF_MSG] = epf_in_msg,		  [EPF_PUT] = epf_in_put,
	[EPF_NOTIFY] = epf_in_notify,	  [EPF_GET] = epf_in_get,
	[EPF_GET_DATA] = epf_in_get_data, [EPF_ATOMIC] = epf_in_atomic,
	[EPF_DONE] = epf_in_done,
};
#define EPF_KINDS (sizeof(epf_in_table) / sizeof(epf_in_table[0]))

/* ---- slots ---- */

static void epf_slot_done(struct epf *e, uint32_t p, uint64_t seq)
{
	struct epf_peer *peer = &e->peer[p];

	peer->done[seq % e->slots] = true;
	while (peer->done[peer->consumed % e->slots])
		peer->done[peer->consumed++ % e->slots] = false;
}

/* Message `seq` of p (from 0), if its last word is there. */
static struct epf_trailer *epf_there(struct epf *e, uint32_t p, uint64_t seq)
{
	struct epf_trailer *t = epf_trailer_of(e, epf_rx_slot(e, p, seq));

	return *(volatile uint64_t *)&t->seq == seq + 1 ? t : NULL;
}

/* Several paths: what has landed, against the notifications given before. */
static void epf_look(struct epf *e)
{
	uint32_t noted;
	uint64_t sum = 0;

	if (!e->paths)
		return;
	noted = e->noted;
	if (weft_forth_remote_word(e->f))
		noted = weft_forth_remote_count(e->f);
	for (uint32_t p = 0; p < e->n; p++) {
		struct epf_peer *peer = &e->peer[p];

		while (epf_there(e, p, peer->landed))
			peer->landed++;
		sum += p == e->me ? 0 : peer->landed;
	}
	e->late = (uint32_t)(sum - (noted - e->noted));
}

/* The next message of p, if it is there. */
static struct epf_trailer *epf_next(struct epf *e, uint32_t p)
{
	struct epf_peer *peer = &e->peer[p];

	if (e->paths && p != e->me && peer->got + e->late >= peer->landed)
		return NULL;
	return epf_there(e, p, peer->got);
}

static void epf_take_ack(struct epf_peer *peer, uint32_t ack)
{
	int32_t news = (int32_t)(ack - (uint32_t)peer->acked);

	if (news > 0)
		peer->acked += (uint32_t)news;
}

static int epf_handle(struct epf *e, uint32_t p, struct epf_trailer *t,
		      struct weft_ep_event *ev)
{
	uint32_t kind = t->meta >> 24 & 0xFF;
	struct epf_in in = { .src = p,
			     .len = t->meta & 0xFFFFFF,
			     .imm = t->imm,
			     .arg = t->arg };
	uint64_t seq = e->peer[p].got++;
	int n = 0;

	epf_take_ack(&e->peer[p], (uint32_t)(t->meta >> 32));
	in.data = (uint8_t *)t - epf_pad(in.len);
	if (kind < EPF_KINDS && epf_in_table[kind])
		n = epf_in_table[kind](e, &in, ev);
	if (kind != EPF_MSG)
		epf_slot_done(e, p, seq);
	return n;
}

int epf_receive(struct epf *e, struct weft_ep_event *ev, int max)
{
	struct epf_trailer *t;
	int n = 0;

	epf_look(e);
	for (uint32_t i = 0; i < e->n && n < max; i++) {
		uint32_t p = (e->turn + i) % e->n;

		while (n < max && (t = epf_next(e, p)))
			n += epf_handle(e, p, t, &ev[n]);
	}
	if (n == max)
		e->turn = (e->turn + 1) % e->n;
	return n;
}

bool epf_rx_ready(struct epf *e)
{
	epf_look(e);
	for (uint32_t p = 0; p < e->n; p++)
		if (epf_next(e, p))
			return true;
	return false;
}

void epf_release(struct weft_ep *ep, const struct weft_ep_event *ev)
{
	struct epf *e = epf_of(ep);
	size_t at = (size_t)((const uint8_t *)ev->data - e->rx);
	uint64_t index = at / e->slot_bytes;

	if (ev->kind == WEFT_EV_RECV)
		epf_slot_done(e, (uint32_t)(index / e->slots),
			      index % e->slots);
}
