/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint over the Host Port: notifications in, one function per kind of
 * message; messages to the user in the order of their sender. */
#include <errno.h>
#include <string.h>

#include "endpoint/ep_open.h"
#include "systems/hostport/lib/endpoint.h"
#include "systems/hostport/nic/regs_map.h"

/* A message as its handler sees it. */
struct in {
	uint32_t src, id, len;
	const struct hport_note *n;
};

static struct hostport_ep_msg *msg_nth(struct hostport_ep *e, uint32_t src,
				       uint64_t seq)
{
	return &e->peer[src].msg[seq % e->slots];
}

/* The place of the next message; NULL: the peer sends more than it may. */
static struct hostport_ep_msg *
msg_new(struct hostport_ep *e, const struct in *in, enum weft_ep_kind event)
{
	struct hostport_ep_msg *m = msg_nth(e, in->src, e->peer[in->src].got);

	if (m->state != HOSTPORT_EP_EMPTY || in->len > e->ep.info.max_msg)
		return NULL;
	e->peer[in->src].got++;
	m->event = event;
	m->src = in->src;
	m->id = in->id;
	m->len = in->len;
	m->imm = in->n->tag.user;
	m->data = m->eager;
	m->state = HOSTPORT_EP_READY;
	return m;
}

/* Its place in the receive data region is free again in any case. */
static bool in_msg(struct hostport_ep *e, const struct in *in)
{
	struct hostport_ep_msg *m = NULL;

	if (in->len <= in->n->bytes &&
	    in->n->bytes <= ((e->eager_max + 7) & ~7u))
		m = msg_new(e, in, WEFT_EV_RECV);
	hport_take(e->p, in->n, m ? m->eager : NULL);
	return m;
}

static bool in_put(struct hostport_ep *e, const struct in *in)
{
	return msg_new(e, in, WEFT_EV_PUT_IN);
}

static bool in_rts(struct hostport_ep *e, const struct in *in)
{
	const uint64_t *w = in->n->data;
	struct hostport_ep_msg *m = msg_new(e, in, WEFT_EV_RECV);

	if (!m)
		return false;
	m->from = (struct hport_far){ .win = (uint32_t)(w[0] >> 32),
				      .capability = (uint32_t)w[0],
				      .off = w[1] };
	hostport_ep_fetch(e, m);
	return true;
}

/* FIN or ANSWER for an operation of mine that waits for that peer. */
static bool in_done(struct hostport_ep *e, const struct in *in)
{
	struct hostport_ep_op *op =
		in->id < HOSTPORT_EP_OPS ? &e->ops[in->id] : NULL;

	if (!op || !op->used || !op->waiting || op->dst != in->src)
		return false;
	op->status = (int32_t)in->n->data[0];
	op->result = in->n->data[1];
	if (op->event == WEFT_EV_ATOMIC)
		e->peer[in->src].requests--;
	hostport_ep_complete(e, op);
	return true;
}

static bool in_atomic(struct hostport_ep *e, const struct in *in)
{
	const uint64_t *w = in->n->data;
	uint8_t *at = w[0] % 8 ? NULL : hostport_ep_mr_word(e, w[0], w[1]);
	uint64_t old = 0;

	if (at)
		old = ep_atomic(e->h, at, w[4], w[2], w[3]);
	hostport_ep_tell(e, in->src, HOSTPORT_EP_ANSWER, in->id,
			 at ? 0 : (uint64_t)(int64_t)-EFAULT, old);
	return true;
}

static bool in_credit(struct hostport_ep *e, const struct in *in)
{
	struct hostport_ep_peer *p = &e->peer[in->src];
	uint64_t all = in->n->data[0];

	if (all < p->acked || all > p->sent)
		return false;
	p->acked = all;
	return true;
}

/* Words that such a message has at least. */
static const struct {
	bool (*fn)(struct hostport_ep *, const struct in *);
	uint32_t words;
} in_table[HOSTPORT_EP_KINDS] = {
	[HOSTPORT_EP_MSG] = { in_msg, 0 },
	[HOSTPORT_EP_RTS] = { in_rts, 2 },
	[HOSTPORT_EP_PUT_IN] = { in_put, 0 },
	[HOSTPORT_EP_FIN] = { in_done, 2 },
	[HOSTPORT_EP_ATOMIC] = { in_atomic, 5 },
	[HOSTPORT_EP_ANSWER] = { in_done, 2 },
	[HOSTPORT_EP_CREDIT] = { in_credit, 1 },
};

/* Of strangers nothing is taken. */
static void in_message(struct hostport_ep *e, const struct hport_note *n)
{
	struct in in = { .src = n->hpid - 1,
			 .id = HOSTPORT_EP_ID(n->tag.api),
			 .len = HOSTPORT_EP_LEN(n->tag.api),
			 .n = n };
	uint32_t kind = HOSTPORT_EP_KIND(n->tag.api);
	bool known = in.src < e->n && e->peer[in.src].to.vpid == n->vpid &&
		     kind < HOSTPORT_EP_KINDS && in_table[kind].fn &&
		     n->n >= in_table[kind].words;

	if (known)
		in_table[kind].fn(e, &in);
	else
		hport_take(e->p, n, NULL);
}

void hostport_ep_progress_rx(struct hostport_ep *e)
{
	struct hport_note n;

	while (hport_poll(e->p, &n)) {
		if (n.event == HPORT_MESSAGE)
			in_message(e, &n);
		else if (n.event != HPORT_DONE)
			continue; /* somebody was refused */
		else if (HP_MAIN(n.command) == HP_M_SEND)
			hostport_ep_sent(e, &n);
		else if (HP_MAIN(n.command) != HP_M_FAST_SEND)
			hostport_ep_piece_done(e, &n);
	}
}

/* ---- to the user ---- */

static struct hostport_ep_msg *msg_ready(struct hostport_ep *e, uint32_t src)
{
	struct hostport_ep_peer *p = &e->peer[src];
	struct hostport_ep_msg *m = msg_nth(e, src, p->given);

	return p->given < p->got && m->state == HOSTPORT_EP_READY ? m : NULL;
}

bool hostport_ep_rx_ready(struct hostport_ep *e)
{
	for (uint32_t p = 0; p < e->n; p++)
		if (msg_ready(e, p))
			return true;
	return false;
}

/* Places are given back in order. */
static void msg_free(struct hostport_ep *e, struct hostport_ep_msg *m)
{
	struct hostport_ep_peer *p = &e->peer[m->src];

	if (m->land)
		m->land->busy = false;
	m->land = NULL;
	m->state = HOSTPORT_EP_FREED;
	for (m = msg_nth(e, m->src, p->consumed); m->state == HOSTPORT_EP_FREED;
	     m = msg_nth(e, m->src, p->consumed)) {
		m->state = HOSTPORT_EP_EMPTY;
		p->consumed++;
	}
}

static void msg_event(struct hostport_ep *e, struct hostport_ep_msg *m,
		      struct weft_ep_event *ev)
{
	e->peer[m->src].given++;
	*ev = (struct weft_ep_event){ .kind = m->event,
				      .src = m->src,
				      .imm = m->imm };
	if (m->event == WEFT_EV_RECV) {
		ev->data = m->data;
		ev->len = m->len;
		m->state = HOSTPORT_EP_GIVEN;
	} else {
		msg_free(e, m);
	}
}

int hostport_ep_give(struct hostport_ep *e, struct weft_ep_event *ev, int max)
{
	struct hostport_ep_msg *m;
	int n = 0;

	for (uint32_t i = 0; i < e->n; i++)
		while (n < max && (m = msg_ready(e, (e->turn + i) % e->n)))
			msg_event(e, m, &ev[n++]);
	if (n == max || e->wants)
		e->turn = (e->turn + 1) % e->n;
	return n;
}

void hostport_ep_release(struct weft_ep *ep, const struct weft_ep_event *ev)
{
	struct hostport_ep *e = hostport_ep_of(ep);
	struct hostport_ep_msg *m;

	if (ev->kind != WEFT_EV_RECV || ev->src >= e->n)
		return;
	m = e->peer[ev->src].msg;
	for (uint32_t i = 0; i < e->slots; i++, m++)
		if (m->state == HOSTPORT_EP_GIVEN && m->data == ev->data) {
			msg_free(e, m);
			return;
		}
}
