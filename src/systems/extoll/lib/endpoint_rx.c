/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint over EXTOLL: VELO messages in, one function per kind; messages to
 * the user in the order of their sender. */
#include <errno.h>
#include <string.h>

#include "endpoint/ep_open.h"
#include "systems/extoll/lib/endpoint.h"

/* A VELO message as its handler sees it. */
struct in {
	uint32_t src;
	const uint8_t *data;
	size_t len;
};

static struct extoll_ep_msg *msg_nth(struct extoll_ep *e, uint32_t src,
				     uint64_t seq)
{
	return &e->peer[src].msg[seq % e->slots];
}

/* The place of the next message; NULL: the peer sends more than it may. */
static struct extoll_ep_msg *msg_new(struct extoll_ep *e, uint32_t src,
				     uint64_t imm, uint64_t len)
{
	struct extoll_ep_msg *m = msg_nth(e, src, e->peer[src].got);

	if (m->state != EXTOLL_EP_EMPTY || len > e->ep.info.max_msg)
		return NULL;
	e->peer[src].got++;
	m->imm = imm;
	m->len = (uint32_t)len;
	m->got = 0;
	m->data = m->eager;
	return m;
}

static void msg_data(struct extoll_ep *e, struct extoll_ep_msg *m,
		     const uint8_t *data, size_t len)
{
	if (len > m->len - m->got)
		len = m->len - m->got;
	if (len)
		weft_host_copy(e->h, m->eager + m->got, data, len);
	m->got += (uint32_t)len;
	m->state = m->got == m->len ? EXTOLL_EP_READY : EXTOLL_EP_PART;
}

static void in_msg(struct extoll_ep *e, const struct in *in)
{
	uint64_t imm;
	struct extoll_ep_msg *m;

	if (in->len < sizeof(imm))
		return;
	memcpy(&imm, in->data, sizeof(imm));
	m = msg_new(e, in->src, imm, in->len - sizeof(imm));
	if (m)
		msg_data(e, m, in->data + sizeof(imm), in->len - sizeof(imm));
}

static void in_first(struct extoll_ep *e, const struct in *in)
{
	struct extoll_ep_first f;
	struct extoll_ep_msg *m;

	if (in->len < sizeof(f))
		return;
	memcpy(&f, in->data, sizeof(f));
	if (f.len > e->eager_max)
		return;
	m = msg_new(e, in->src, f.imm, f.len);
	if (m)
		msg_data(e, m, in->data + sizeof(f), in->len - sizeof(f));
}

static void in_more(struct extoll_ep *e, const struct in *in)
{
	struct extoll_ep_msg *m = msg_nth(e, in->src, e->peer[in->src].got - 1);

	if (e->peer[in->src].got && m->state == EXTOLL_EP_PART)
		msg_data(e, m, in->data, in->len);
}

static void in_rts(struct extoll_ep *e, const struct in *in)
{
	struct extoll_ep_rts r;
	struct extoll_ep_msg *m;

	if (in->len != sizeof(r))
		return;
	memcpy(&r, in->data, sizeof(r));
	m = msg_new(e, in->src, r.imm, r.len);
	if (!m)
		return;
	m->rts = r;
	extoll_ep_fetch(e, m);
}

/* My operation that waits for src, or NULL. */
static struct extoll_ep_op *op_of(struct extoll_ep *e, const struct in *in,
				  struct extoll_ep_done *d)
{
	struct extoll_ep_op *op;

	if (in->len != sizeof(*d))
		return NULL;
	memcpy(d, in->data, sizeof(*d));
	if (d->id >= EXTOLL_EP_OPS)
		return NULL;
	op = &e->ops[d->id];
	return op->used && op->waiting && op->dst == in->src ? op : NULL;
}

static void in_done(struct extoll_ep *e, const struct in *in)
{
	struct extoll_ep_done d;
	struct extoll_ep_op *op = op_of(e, in, &d);

	if (!op)
		return;
	op->status = d.status;
	op->result = d.result;
	if (op->event == WEFT_EV_ATOMIC)
		e->peer[in->src].requests--;
	extoll_ep_complete(e, op);
}

static void in_atomic(struct extoll_ep *e, const struct in *in)
{
	struct extoll_ep_done d = { .status = -EINVAL };
	struct extoll_ep_atomic a;
	uint8_t *p;

	if (in->len != sizeof(a))
		return;
	memcpy(&a, in->data, sizeof(a));
	d.id = a.id;
	p = a.raddr % 8 ? NULL : extoll_ep_mr_at(e, a.raddr, 8);
	if (p) {
		d.result = ep_atomic(e->h, p, a.swap, a.a, a.b);
		d.status = 0;
	}
	extoll_ep_velo(e, in->src, EXTOLL_EP_ANSWER, &d, sizeof(d));
}

static void in_credit(struct extoll_ep *e, const struct in *in)
{
	struct extoll_ep_peer *p = &e->peer[in->src];
	struct extoll_ep_done d;
	uint32_t news;

	if (in->len != sizeof(d))
		return;
	memcpy(&d, in->data, sizeof(d));
	news = d.id - (uint32_t)p->acked;
	if (news <= p->sent - p->acked)
		p->acked += news;
}

static void (*const in_table[EXTOLL_EP_KINDS])(struct extoll_ep *,
					       const struct in *) = {
	[EXTOLL_EP_MSG] = in_msg,	[EXTOLL_EP_FIRST] = in_first,
	[EXTOLL_EP_MORE] = in_more,	[EXTOLL_EP_RTS] = in_rts,
	[EXTOLL_EP_FIN] = in_done,	[EXTOLL_EP_ANSWER] = in_done,
	[EXTOLL_EP_ATOMIC] = in_atomic, [EXTOLL_EP_CREDIT] = in_credit,
};

void extoll_ep_progress_rx(struct extoll_ep *e)
{
	uint8_t buf[128];
	uint32_t src, tag, len;

	while (velo_recv(e->velo, buf, &src, &tag, NULL, &len) ==
	       VELO_SUCCESS) {
		struct in in = { .src = VELO_SRC_NODE(src),
				 .data = buf,
				 .len = len };

		if (in.src < e->n && tag < EXTOLL_EP_KINDS && in_table[tag])
			in_table[tag](e, &in);
	}
}

/* ---- to the user ---- */

static struct extoll_ep_msg *msg_ready(struct extoll_ep *e, uint32_t src)
{
	struct extoll_ep_peer *p = &e->peer[src];
	struct extoll_ep_msg *m = msg_nth(e, src, p->given);

	return p->given < p->got && m->state == EXTOLL_EP_READY ? m : NULL;
}

bool extoll_ep_rx_ready(struct extoll_ep *e)
{
	for (uint32_t p = 0; p < e->n; p++)
		if (msg_ready(e, p))
			return true;
	return velo_check(e->velo) == VELO_SUCCESS;
}

int extoll_ep_give(struct extoll_ep *e, struct weft_ep_event *ev, int max)
{
	struct extoll_ep_msg *m;
	int n = 0;

	for (uint32_t i = 0; i < e->n && n < max; i++) {
		uint32_t src = (e->turn + i) % e->n;

		while (n < max && (m = msg_ready(e, src))) {
			m->state = EXTOLL_EP_GIVEN;
			e->peer[src].given++;
			ev[n++] = (struct weft_ep_event){ .kind = WEFT_EV_RECV,
							  .src = src,
							  .imm = m->imm,
							  .data = m->data,
							  .len = m->len };
		}
	}
	if (n == max || e->wants)
		e->turn = (e->turn + 1) % e->n;
	return n;
}

/* Places are given back in order. */
static void msg_free(struct extoll_ep *e, uint32_t src, struct extoll_ep_msg *m)
{
	struct extoll_ep_peer *p = &e->peer[src];

	if (m->land)
		m->land->busy = false;
	m->land = NULL;
	m->state = EXTOLL_EP_FREED;
	while (msg_nth(e, src, p->consumed)->state == EXTOLL_EP_FREED)
		msg_nth(e, src, p->consumed++)->state = EXTOLL_EP_EMPTY;
}

void extoll_ep_release(struct weft_ep *ep, const struct weft_ep_event *ev)
{
	struct extoll_ep *e = extoll_ep_of(ep);

	if (ev->kind != WEFT_EV_RECV || ev->src >= e->n)
		return;
	for (uint32_t i = 0; i < e->slots; i++) {
		struct extoll_ep_msg *m = &e->peer[ev->src].msg[i];

		if (m->state != EXTOLL_EP_GIVEN || m->data != ev->data)
			continue;
		msg_free(e, ev->src, m);
		return;
	}
}
