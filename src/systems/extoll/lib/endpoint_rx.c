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

static struct epx_msg *msg_nth(struct epx *e, uint32_t src, uint64_t seq)
{
	return &e->peer[src].msg[seq % e->slots];
}

/* The place of the next message; NULL: the peer sends more than it may. */
static struct epx_msg *msg_new(struct epx *e, uint32_t src, uint64_t imm,
			       uint64_t len)
{
	struct epx_msg *m = msg_nth(e, src, e->peer[src].got);

	if (m->state != EPX_EMPTY || len > e->ep.info.max_msg)
		return NULL;
	e->peer[src].got++;
	m->imm = imm;
	m->len = (uint32_t)len;
	m->got = 0;
	m->data = m->eager;
	return m;
}

static void msg_data(struct epx *e, struct epx_msg *m, const uint8_t *data,
		     size_t len)
{
	if (len > m->len - m->got)
		len = m->len - m->got;
	if (len)
		weft_host_copy(e->h, m->eager + m->got, data, len);
	m->got += (uint32_t)len;
	m->state = m->got == m->len ? EPX_READY : EPX_PART;
}

static void in_msg(struct epx *e, const struct in *in)
{
	uint64_t imm;
	struct epx_msg *m;

	if (in->len < sizeof(imm))
		return;
	memcpy(&imm, in->data, sizeof(imm));
	m = msg_new(e, in->src, imm, in->len - sizeof(imm));
	if (m)
		msg_data(e, m, in->data + sizeof(imm), in->len - sizeof(imm));
}

static void in_first(struct epx *e, const struct in *in)
{
	struct epx_first f;
	struct epx_msg *m;

	if (in->len < sizeof(f))
		return;
	memcpy(&f, in->data, sizeof(f));
	if (f.len > e->eager_max)
		return;
	m = msg_new(e, in->src, f.imm, f.len);
	if (m)
		msg_data(e, m, in->data + sizeof(f), in->len - sizeof(f));
}

static void in_more(struct epx *e, const struct in *in)
{
	struct epx_msg *m = msg_nth(e, in->src, e->peer[in->src].got - 1);

	if (e->peer[in->src].got && m->state == EPX_PART)
		msg_data(e, m, in->data, in->len);
}

static void in_rts(struct epx *e, const struct in *in)
{
	struct epx_rts r;
	struct epx_msg *m;

	if (in->len != sizeof(r))
		return;
	memcpy(&r, in->data, sizeof(r));
	m = msg_new(e, in->src, r.imm, r.len);
	if (!m)
		return;
	m->rts = r;
	epx_fetch(e, m);
}

/* My operation that waits for src, or NULL. */
static struct epx_op *op_of(struct epx *e, const struct in *in,
			    struct epx_done *d)
{
	struct epx_op *op;

	if (in->len != sizeof(*d))
		return NULL;
	memcpy(d, in->data, sizeof(*d));
	if (d->id >= EPX_OPS)
		return NULL;
	op = &e->ops[d->id];
	return op->used && op->waiting && op->dst == in->src ? op : NULL;
}

static void in_done(struct epx *e, const struct in *in)
{
	struct epx_done d;
	struct epx_op *op = op_of(e, in, &d);

	if (!op)
		return;
	op->status = d.status;
	op->result = d.result;
	if (op->event == WEFT_EV_ATOMIC)
		e->peer[in->src].requests--;
	epx_complete(e, op);
}

static void in_atomic(struct epx *e, const struct in *in)
{
	struct epx_done d = { .status = -EINVAL };
	struct epx_atomic a;
	uint8_t *p;

	if (in->len != sizeof(a))
		return;
	memcpy(&a, in->data, sizeof(a));
	d.id = a.id;
	p = a.raddr % 8 ? NULL : epx_mr_at(e, a.raddr, 8);
	if (p) {
		d.result = ep_atomic(e->h, p, a.swap, a.a, a.b);
		d.status = 0;
	}
	epx_velo(e, in->src, EPX_ANSWER, &d, sizeof(d));
}

static void in_credit(struct epx *e, const struct in *in)
{
	struct epx_peer *p = &e->peer[in->src];
	struct epx_done d;
	uint32_t news;

	if (in->len != sizeof(d))
		return;
	memcpy(&d, in->data, sizeof(d));
	news = d.id - (uint32_t)p->acked;
	if (news <= p->sent - p->acked)
		p->acked += news;
}

static void (*const in_table[EPX_KINDS])(struct epx *, const struct in *) = {
	[EPX_MSG] = in_msg,	  [EPX_FIRST] = in_first,
	[EPX_MORE] = in_more,	  [EPX_RTS] = in_rts,
	[EPX_FIN] = in_done,	  [EPX_ANSWER] = in_done,
	[EPX_ATOMIC] = in_atomic, [EPX_CREDIT] = in_credit,
};

void epx_progress_rx(struct epx *e)
{
	uint8_t buf[128];
	uint32_t src, tag, len;

	while (velo_recv(e->velo, buf, &src, &tag, NULL, &len) ==
	       VELO_SUCCESS) {
		struct in in = { .src = VELO_SRC_NODE(src),
				 .data = buf,
				 .len = len };

		if (in.src < e->n && tag < EPX_KINDS && in_table[tag])
			in_table[tag](e, &in);
	}
}

/* ---- to the user ---- */

static struct epx_msg *msg_ready(struct epx *e, uint32_t src)
{
	struct epx_peer *p = &e->peer[src];
	struct epx_msg *m = msg_nth(e, src, p->given);

	return p->given < p->got && m->state == EPX_READY ? m : NULL;
}

bool epx_rx_ready(struct epx *e)
{
	for (uint32_t p = 0; p < e->n; p++)
		if (msg_ready(e, p))
			return true;
	return velo_check(e->velo) == VELO_SUCCESS;
}

int epx_give(struct epx *e, struct weft_ep_event *ev, int max)
{
	struct epx_msg *m;
	int n = 0;

	for (uint32_t i = 0; i < e->n && n < max; i++) {
		uint32_t src = (e->turn + i) % e->n;

		while (n < max && (m = msg_ready(e, src))) {
			m->state = EPX_GIVEN;
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
static void msg_free(struct epx *e, uint32_t src, struct epx_msg *m)
{
	struct epx_peer *p = &e->peer[src];

	if (m->land)
		m->land->busy = false;
	m->land = NULL;
	m->state = EPX_FREED;
	while (msg_nth(e, src, p->consumed)->state == EPX_FREED)
		msg_nth(e, src, p->consumed++)->state = EPX_EMPTY;
}

void epx_release(struct weft_ep *ep, const struct weft_ep_event *ev)
{
	struct epx *e = epx_of(ep);

	if (ev->kind != WEFT_EV_RECV || ev->src >= e->n)
		return;
	for (uint32_t i = 0; i < e->slots; i++) {
		struct epx_msg *m = &e->peer[ev->src].msg[i];

		if (m->state != EPX_GIVEN || m->data != ev->data)
			continue;
		msg_free(e, ev->src, m);
		return;
	}
}
