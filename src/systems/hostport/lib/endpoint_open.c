/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over the Host Port: opening and closing.  See
 * endpoint.h.
 *
 * Not covered: nodes with different attributes. */
#include <errno.h>
#include <stdio.h>

#include "endpoint/ep_open.h"
#include "systems/hostport/lib/driver.h"
#include "systems/hostport/lib/endpoint.h"

enum {
	EPH_MAX_MSG = 65536, /* default */
	EPH_EAGER = 2048,    /* default, see endpoint.h */
	EPH_SLOTS = 16,	     /* default */
	EPH_SDR = 16,	     /* messages of the send data region */
	EPH_RDR = 8 << 20,   /* bytes at most */
	EPH_WQ = 64,
	EPH_MAX_LEN = 1 << 24, /* in a tag */
};

static void eph_key(const struct eph *e, uint32_t node, const char *what,
		    char *key, size_t n)
{
	snprintf(key, n, "eph%u.%u.%s", e->group, node, what);
}

static uint64_t eph_ask(struct eph *e, uint32_t node, const char *what)
{
	char key[48];

	eph_key(e, node, what, key, sizeof(key));
	return weft_oob_get(e->h, key);
}

static int eph_meet(struct eph *e)
{
	char key[48];

	eph_key(e, e->me, "slots", key, sizeof(key));
	weft_oob_put(e->h, key, e->slots);
	eph_key(e, e->me, "vpid", key, sizeof(key));
	weft_oob_put(e->h, key, hport_vpid(e->p));
	for (uint32_t i = 0; i < e->n; i++) {
		struct eph_peer *p = &e->peer[i];
		uint32_t vpid = (uint32_t)eph_ask(e, i, "vpid");

		p->slots = (uint32_t)eph_ask(e, i, "slots");
		if (hport_connect(e->p, i, vpid, &p->to))
			return -EHOSTUNREACH;
	}
	return 0;
}

/* ---- sizes of the queues ---- */

/* Words of the receive data region for one message. */
static uint64_t rdr_words(uint32_t eager)
{
	return (eager / 8 + EPH_UNIT) / EPH_UNIT * EPH_UNIT;
}

/* Notifications of one peer that may wait: its messages, ends of ours that it
 * has fetched, requests and answers, credits. */
static uint32_t peer_notes(uint32_t slots)
{
	return 2 * slots + 2 * EPH_REQUESTS + 4;
}

enum { OWN_NOTES = EPH_WQ + 32 }; /* instructions, status */

/* All processes of a node have queues of equal size: the first one asks for
 * enough for others with the usual attributes. */
static struct hport_sizes eph_sizes(const struct eph *e)
{
	uint32_t slots = e->slots > EPH_SLOTS ? e->slots : EPH_SLOTS;
	uint32_t eager = e->eager_max > EPH_EAGER ? e->eager_max : EPH_EAGER;
	uint64_t rdr = e->n * slots * rdr_words(eager);

	if (8 * rdr > EPH_RDR)
		rdr = e->n * e->slots * rdr_words(e->eager_max);
	return (struct hport_sizes){ .wq = EPH_WQ,
				     .nq = e->n * peer_notes(slots) + OWN_NOTES,
				     .sdr = EPH_SDR * ((eager + 7) / 8),
				     .rdr = (uint32_t)rdr + EPH_UNIT,
				     .rdr_unit = 6 };
}

static int eph_port(struct eph *e)
{
	struct hport_attr a = {
		.vpid = -1,
		.flags = HPORT_ORDERED | (e->irq ? HPORT_IRQ : 0),
		.sizes = eph_sizes(e),
	};
	struct hport_sizes s;
	int ret = hport_open(e->h, &a, &e->p);

	if (ret)
		return ret;
	s = hport_sizes_of(e->p);
	/* somebody else may have decided */
	while (e->slots && (e->n * peer_notes(e->slots) + OWN_NOTES > s.nq ||
			    e->n * e->slots * rdr_words(e->eager_max) >= s.rdr))
		e->slots--;
	e->sdr = hport_sdr(e->p, &(uint64_t){ 0 });
	e->sdr_slots = s.sdr / ((e->eager_max + 7) / 8);
	if (e->sdr_slots > EPH_SDR_MAX)
		e->sdr_slots = EPH_SDR_MAX;
	e->windows = s.wdt;
	e->win_used = weft_host_calloc(e->h, s.wdt / 64 + 1, 8);
	return !e->win_used ? -ENOMEM : !e->slots || !e->sdr_slots ? -EBUSY : 0;
}

/* ---- memory ---- */

static uint64_t pool_cut(struct eph *e, struct eph_buf *b, uint32_t n,
			 uint64_t bytes, uint64_t at)
{
	for (uint32_t i = 0; i < n; i++, at += bytes)
		b[i] = (struct eph_buf){ .p = e->pool.p + at, .at = at };
	return at;
}

static int eph_pool(struct eph *e)
{
	uint64_t big = (e->ep.info.max_msg / EPH_PAGE + 2) * EPH_PAGE, at;
	struct eph_reg *r = &e->pool;

	r->len = EPH_BOUNCES * EPH_BOUNCE + (EPH_STAGES + EPH_LANDS) * big;
	r->p = hport_alloc(e->p, r->len, &r->va);
	if (!r->p)
		return -ENOMEM;
	at = pool_cut(e, e->bounce, EPH_BOUNCES, EPH_BOUNCE, 0);
	at = pool_cut(e, e->stage, EPH_STAGES, big, at);
	pool_cut(e, e->land, EPH_LANDS, big, at);
	return eph_win_open(e, r, HPORT_READ);
}

static int eph_peers(struct eph *e)
{
	size_t eager = ((size_t)e->eager_max + 7) & ~(size_t)7;
	size_t slots = (size_t)e->n * e->slots;
	struct eph_msg *m = weft_host_calloc(e->h, slots, sizeof(*m));

	e->peer = weft_host_calloc(e->h, e->n, sizeof(*e->peer));
	e->eager = weft_host_calloc(e->h, slots, eager);
	e->note_size = (uint32_t)slots + e->n * EPH_REQUESTS;
	e->note = weft_host_calloc(e->h, e->note_size, sizeof(*e->note));
	if (!m || !e->peer || !e->eager || !e->note)
		return -ENOMEM;
	for (size_t i = 0; i < slots; i++)
		m[i].eager = e->eager + i * eager;
	for (uint32_t i = 0; i < e->n; i++) {
		e->peer[i].msg = m + (size_t)i * e->slots;
		eph_list_init(&e->peer[i].todo);
	}
	return 0;
}

static int eph_lists(struct eph *e)
{
	e->ev_size = 2 * EPH_OPS;
	e->ev = weft_host_calloc(e->h, e->ev_size, sizeof(*e->ev));
	e->ops = weft_host_calloc(e->h, EPH_OPS, sizeof(*e->ops));
	if (!e->ev || !e->ops)
		return -ENOMEM;
	for (uint32_t i = EPH_OPS; i--; e->free_ops = &e->ops[i])
		e->ops[i].next = e->free_ops;
	for (uint32_t i = EPH_PIECES; i--; e->free_pieces = &e->piece[i])
		e->piece[i].next = e->free_pieces;
	eph_list_init(&e->rma_todo);
	return 0;
}

/* ---- opening, closing ---- */

void eph_close(struct weft_ep *ep)
{
	struct eph *e = eph_of(ep);
	void *own[] = { e->peer ? e->peer[0].msg : NULL,
			e->peer,
			e->eager,
			e->note,
			e->ops,
			e->ev,
			e->win_used };

	if (e->p)
		hport_close(e->p);
	eph_mem_free(e);
	for (uint32_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		weft_host_free(e->h, own[i]);
	weft_host_free(e->h, e);
}

static void eph_info(struct eph *e, const struct weft_ep_attr *attr)
{
	struct weft_ep_info *i = &e->ep.info;

	i->name = "hostport";
	i->caps = WEFT_EP_MSG | WEFT_EP_PUT | WEFT_EP_GET | WEFT_EP_FADD |
		  WEFT_EP_CSWAP;
	i->emulated = WEFT_EP_FADD | WEFT_EP_CSWAP;
	i->max_msg = attr->max_msg ? attr->max_msg : EPH_MAX_MSG;
	i->max_put = UINT32_MAX;
	i->align = 1;
	e->slots = attr->rx_slots ? attr->rx_slots : EPH_SLOTS;
	e->eager_max = attr->eager_max ? attr->eager_max : EPH_EAGER;
	if (e->eager_max > EPH_EAGER_MAX)
		e->eager_max = EPH_EAGER_MAX;
	while (e->eager_max > EPH_FAST &&
	       e->n * e->slots * rdr_words(e->eager_max) * 8 > EPH_RDR)
		e->eager_max /= 2;
	if (e->eager_max < EPH_FAST)
		e->eager_max = EPH_FAST;
}

static int eph_start(struct eph *e)
{
	int ret = eph_lists(e);

	if (!ret)
		ret = eph_port(e);
	if (!ret)
		ret = eph_peers(e);
	if (!ret)
		ret = eph_pool(e);
	return ret ? ret : eph_meet(e);
}

static int ep_hostport_open(struct weft_host *h,
			    const struct weft_ep_attr *attr,
			    struct weft_ep **ep_p)
{
	struct eph *e;
	int ret;

	if (attr->max_msg >= EPH_MAX_LEN)
		return -EINVAL;
	e = weft_host_calloc(h, 1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->ep.ops = &eph_ops;
	e->ep.host = e->h = h;
	e->me = weft_host_node(h);
	e->n = weft_host_nodes(h);
	e->group = attr->group;
	e->irq = attr->use_irq;
	eph_info(e, attr);
	ret = eph_start(e);
	*ep_p = ret ? NULL : &e->ep;
	if (ret)
		eph_close(&e->ep);
	return ret;
}

const struct ep_nic ep_nic_hostport = { .probe = hport_drv_probe,
					.open = ep_hostport_open,
					.groups = true };
