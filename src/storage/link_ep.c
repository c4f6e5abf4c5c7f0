/* SPDX-License-Identifier: Apache-2.0 */
/* The link over the common endpoint. A record is a message whose imm is its
 * slot. Data are a put with notification whose imm is their mark.
 *
 * The endpoint loses nothing and repeats nothing, but puts and messages may
 * overtake each other. Therefore the link is unordered.
 *
 * A node cannot have this link beside another endpoint, because an endpoint
 * does not share the NIC. */
#include <errno.h>
#include <string.h>

#include "base/minmax.h"
#include "storage/link.h"
#include "weft/ep.h"

enum {
	EPL_OPS = 64, /* operations in flight, all peers together */
	EPL_REGIONS = 256,
	/* limit of a put, so that a record does not wait long behind a put */
	EPL_MAX_PUT = 1 << 16,
};

/* A message or a put in flight. */
struct epl_op {
	struct epl_op *next;
	bool put;
	uint32_t peer;
	uint64_t ticket; /* number of the put */
	uint8_t rec[sizeof(struct storage_record)];
};

struct epl_peer {
	uint64_t started, departed;
	uint64_t done; /* bit t % 64 is set if put number t (t >= departed) has
			* ended */
	bool gone;
};

struct epl {
	struct storage_link link; /* first member, because epl_of casts */
	struct weft_ep *ep;
	uint32_t n;
	struct epl_peer *peer;
	struct epl_op op[EPL_OPS], *free;
	struct weft_ep_mr mr[EPL_REGIONS];
	uint32_t gone; /* number of gone peers that no event has reported yet */
};

static struct epl *epl_of(struct storage_link *l)
{
	return (struct epl *)l;
}

/* ---- operations ---- */

static struct epl_op *op_get(struct epl *e)
{
	struct epl_op *op = e->free;

	if (op)
		e->free = op->next;
	return op;
}

static void op_put(struct epl *e, struct epl_op *op)
{
	op->next = e->free;
	e->free = op;
}

static int epl_put(struct storage_link *l, uint32_t peer, const void *p,
		   size_t len, uint64_t addr, uint64_t key, uint32_t mark)
{
	struct epl *e = epl_of(l);
	struct epl_peer *to = &e->peer[peer];
	/* `done` has one bit for each put in flight, which limits their
	 * number. */
	struct epl_op *op =
		to->started - to->departed < EPL_OPS ? op_get(e) : NULL;
	struct weft_ep_op req = { .code = WEFT_EP_PUT,
				  .dst = peer,
				  .buf = p,
				  .len = len,
				  .imm = mark,
				  .ctx = op,
				  .raddr = addr,
				  .rkey = key,
				  .notify = true };
	int ret = op ? e->ep->ops->post(e->ep, &req) : -EAGAIN;

	if (ret && op)
		op_put(e, op);
	if (ret)
		return ret == -EAGAIN ? -EAGAIN : -EINVAL;
	op->put = true;
	op->peer = peer;
	op->ticket = to->started++;
	return 0;
}

static int epl_record(struct storage_link *l, uint32_t peer, uint32_t slot,
		      const struct storage_record *rec)
{
	struct epl *e = epl_of(l);
	struct epl_op *op = op_get(e);
	size_t n = storage_record_bytes(rec);
	int ret;

	if (!op)
		return -EAGAIN;
	op->put = false;
	op->peer = peer;
	memcpy(op->rec, rec, n);
	ret = weft_ep_send(e->ep, peer, op->rec, n, slot, op);
	if (ret)
		op_put(e, op);
	/* The link treats a message that the peer refuses as lost. */
	return ret == -EAGAIN ? -EAGAIN : 0;
}

static void put_ended(struct epl_peer *p, uint64_t ticket)
{
	p->done |= (uint64_t)1 << ticket % EPL_OPS;
	while (p->departed < p->started &&
	       p->done >> p->departed % EPL_OPS & 1) {
		p->done &= ~((uint64_t)1 << p->departed % EPL_OPS);
		p->departed++;
	}
}

static void op_ended(struct epl *e, const struct weft_ep_event *ev)
{
	struct epl_op *op = ev->ctx;
	struct epl_peer *p = &e->peer[op->peer];

	if (op->put)
		put_ended(p, op->ticket);
	if (ev->status == -EPIPE && !p->gone) {
		p->gone = true;
		e->gone++;
	}
	op_put(e, op);
}

static uint64_t epl_started(struct storage_link *l, uint32_t peer)
{
	return epl_of(l)->peer[peer].started;
}

static uint64_t epl_departed(struct storage_link *l, uint32_t peer)
{
	return epl_of(l)->peer[peer].departed;
}

/* ---- events ---- */

static bool event_in(struct epl *e, const struct weft_ep_event *in,
		     struct storage_event *out)
{
	switch (in->kind) {
	case WEFT_EV_RECV:
		*out = (struct storage_event){ .kind = STORAGE_EV_RECORD,
					       .peer = in->src,
					       .slot = (uint32_t)in->imm };
		storage_record_read(&out->rec, in->data, in->len);
		e->ep->ops->release(e->ep, in);
		return true;
	case WEFT_EV_PUT_IN:
		*out = (struct storage_event){ .kind = STORAGE_EV_LANDED,
					       .peer = in->src,
					       .mark = (uint32_t)in->imm };
		return true;
	default:
		op_ended(e, in);
		return false;
	}
}

static int gone_out(struct epl *e, struct storage_event *ev, int max)
{
	int n = 0;

	for (uint32_t i = 0; e->gone && i < e->n && n < max; i++) {
		if (!e->peer[i].gone)
			continue;
		e->peer[i].gone = false;
		e->gone--;
		ev[n++] = (struct storage_event){ .kind = STORAGE_EV_GONE,
						  .peer = i };
	}
	return n;
}

static int epl_poll(struct storage_link *l, struct storage_event *ev, int max)
{
	enum { PIECE = 16 };
	struct epl *e = epl_of(l);
	struct weft_ep_event in[PIECE];
	int n = gone_out(e, ev, max), got;

	do {
		got = max > n ? e->ep->ops->poll(e->ep, in,
						 min_of(max - n, PIECE))
			      : 0;
		for (int i = 0; i < got; i++)
			n += event_in(e, &in[i], &ev[n]);
	} while (got == PIECE);
	return n;
}

static void epl_wait(struct storage_link *l, weft_time_t deadline)
{
	struct epl *e = epl_of(l);

	if (!e->gone)
		e->ep->ops->wait(e->ep, deadline);
}

/* ---- regions ---- */

static int epl_reg(struct storage_link *l, void *p, size_t len,
		   struct storage_mr *mr_p)
{
	struct epl *e = epl_of(l);
	uint32_t i = 0;
	int ret;

	while (i < EPL_REGIONS && e->mr[i].len)
		i++;
	if (i == EPL_REGIONS)
		return -ENOSPC;
	ret = e->ep->ops->mr_reg(e->ep, p, len, &e->mr[i]);
	if (ret) {
		e->mr[i].len = 0;
		return ret == -EFAULT ? -EFAULT : -ENOSPC;
	}
	*mr_p = (struct storage_mr){ .addr = e->mr[i].addr,
				     .key = e->mr[i].key,
				     .own = &e->mr[i] };
	return 0;
}

static int epl_dereg(struct storage_link *l, struct storage_mr *mr)
{
	struct epl *e = epl_of(l);
	struct weft_ep_mr *m = mr->own;

	if (e->ep->ops->mr_dereg(e->ep, m) == -EAGAIN)
		return -EAGAIN;
	m->len = 0;
	return 0;
}

/* ---- opening ---- */

static void epl_close(struct storage_link *l)
{
	struct epl *e = epl_of(l);
	struct weft_host *h = l->host;

	if (e->ep)
		e->ep->ops->close(e->ep);
	weft_host_free(h, e->peer);
	weft_host_free(h, e);
}

/* Does nothing, because a message needs no address of a table. */
static void epl_peer_table(struct storage_link *l, uint32_t peer, uint64_t addr,
			   uint64_t key)
{
}

static const struct storage_link_ops epl_ops = {
	.close = epl_close,
	.reg = epl_reg,
	.dereg = epl_dereg,
	.put = epl_put,
	.record = epl_record,
	.started = epl_started,
	.departed = epl_departed,
	.poll = epl_poll,
	.wait = epl_wait,
	.peer_table = epl_peer_table,
};

static int epl_start(struct epl *e, const struct storage_link_attr *attr)
{
	struct weft_ep_attr a = { .use_irq = attr->use_irq };
	struct storage_link_info *i = &e->link.info;
	int ret;

	if (!e->peer)
		return -ENOMEM;
	for (uint32_t k = EPL_OPS; k--;)
		op_put(e, &e->op[k]);
	ret = weft_ep_open(e->link.host, &a, &e->ep);
	if (ret)
		return ret == -ENODEV || ret == -EOPNOTSUPP ? ret : -ENOMEM;
	i->name = "ep";
	i->nic = e->ep->info.name;
	i->bytes = e->ep->info.align == 1;
	i->max_put = min_of(e->ep->info.max_put, (uint32_t)EPL_MAX_PUT);
	return e->ep->info.caps & WEFT_EP_PUT ? 0 : -EOPNOTSUPP;
}

int storage_ep_open(struct weft_host *h, const struct storage_link_attr *attr,
		    struct storage_link **l_p)
{
	struct epl *e = weft_host_calloc(h, 1, sizeof(*e));
	int ret;

	if (!e)
		return -ENOMEM;
	e->link.ops = &epl_ops;
	e->link.host = h;
	e->n = weft_host_nodes(h);
	e->peer = weft_host_calloc(h, e->n, sizeof(*e->peer));
	ret = epl_start(e, attr);
	if (ret)
		epl_close(&e->link);
	else
		*l_p = &e->link;
	return ret;
}
