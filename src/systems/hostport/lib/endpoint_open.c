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
	HOSTPORT_EP_MAX_MSG = 65536, /* default */
	HOSTPORT_EP_EAGER = 2048,    /* default, see endpoint.h */
	HOSTPORT_EP_SLOTS = 16,	     /* default */
	HOSTPORT_EP_SDR = 16,	     /* messages of the send data region */
	HOSTPORT_EP_RDR = 8 << 20,   /* bytes at most */
	HOSTPORT_EP_WQ = 64,
	HOSTPORT_EP_MAX_LEN = 1 << 24, /* in a tag */
};

static void hostport_ep_key(const struct hostport_ep *e, uint32_t node,
			    const char *what, char *key, size_t n)
{
	snprintf(key, n, "eph%u.%u.%s", e->group, node, what);
}

static uint64_t hostport_ep_ask(struct hostport_ep *e, uint32_t node,
				const char *what)
{
	char key[48];

	hostport_ep_key(e, node, what, key, sizeof(key));
	return weft_oob_get(e->h, key);
}

static int hostport_ep_meet(struct hostport_ep *e)
{
	char key[48];

	hostport_ep_key(e, e->me, "slots", key, sizeof(key));
	weft_oob_put(e->h, key, e->slots);
	hostport_ep_key(e, e->me, "vpid", key, sizeof(key));
	weft_oob_put(e->h, key, hport_vpid(e->p));
	for (uint32_t i = 0; i < e->n; i++) {
		struct hostport_ep_peer *p = &e->peer[i];
		uint32_t vpid = (uint32_t)hostport_ep_ask(e, i, "vpid");

		p->slots = (uint32_t)hostport_ep_ask(e, i, "slots");
		if (hport_connect(e->p, i, vpid, &p->to))
			return -EHOSTUNREACH;
	}
	return 0;
}

/* ---- sizes of the queues ---- */

/* Words of the receive data region for one message. */
static uint64_t rdr_words(uint32_t eager)
{
	return (eager / 8 + HOSTPORT_EP_UNIT) / HOSTPORT_EP_UNIT *
	       HOSTPORT_EP_UNIT;
}

/* Notifications of one peer that may wait: its messages, ends of ours that it
 * has fetched, requests and answers, credits. */
static uint32_t peer_notes(uint32_t slots)
{
	return 2 * slots + 2 * HOSTPORT_EP_REQUESTS + 4;
}

enum { OWN_NOTES = HOSTPORT_EP_WQ + 32 }; /* instructions, status */

/* All processes of a node have queues of equal size: the first one asks for
 * enough for others with the usual attributes. */
static struct hport_sizes hostport_ep_sizes(const struct hostport_ep *e)
{
	uint32_t slots =
		e->slots > HOSTPORT_EP_SLOTS ? e->slots : HOSTPORT_EP_SLOTS;
	uint32_t eager = e->eager_max > HOSTPORT_EP_EAGER ? e->eager_max
							  : HOSTPORT_EP_EAGER;
	uint64_t rdr = e->n * slots * rdr_words(eager);

	if (8 * rdr > HOSTPORT_EP_RDR)
		rdr = e->n * e->slots * rdr_words(e->eager_max);
	return (struct hport_sizes){ .wq = HOSTPORT_EP_WQ,
				     .nq = e->n * peer_notes(slots) + OWN_NOTES,
				     .sdr = HOSTPORT_EP_SDR * ((eager + 7) / 8),
				     .rdr = (uint32_t)rdr + HOSTPORT_EP_UNIT,
				     .rdr_unit = 6 };
}

static int hostport_ep_port(struct hostport_ep *e)
{
	struct hport_attr a = {
		.vpid = -1,
		.flags = HPORT_ORDERED | (e->irq ? HPORT_IRQ : 0),
		.sizes = hostport_ep_sizes(e),
	};
	struct hport_sizes s;
	int ret = hport_open(e->h, &a, &e->p);

	if (ret)
		return ret;
	s = hport_sizes_of(e->p);
	/* another process may have decided */
	while (e->slots && (e->n * peer_notes(e->slots) + OWN_NOTES > s.nq ||
			    e->n * e->slots * rdr_words(e->eager_max) >= s.rdr))
		e->slots--;
	e->sdr = hport_sdr(e->p, &(uint64_t){ 0 });
	e->sdr_slots = s.sdr / ((e->eager_max + 7) / 8);
	if (e->sdr_slots > HOSTPORT_EP_SDR_MAX)
		e->sdr_slots = HOSTPORT_EP_SDR_MAX;
	e->windows = s.wdt;
	e->win_used = weft_host_calloc(e->h, s.wdt / 64 + 1, 8);
	return !e->win_used ? -ENOMEM : !e->slots || !e->sdr_slots ? -EBUSY : 0;
}

/* ---- memory ---- */

static uint64_t pool_cut(struct hostport_ep *e, struct hostport_ep_buf *b,
			 uint32_t n, uint64_t bytes, uint64_t at)
{
	for (uint32_t i = 0; i < n; i++, at += bytes)
		b[i] = (struct hostport_ep_buf){ .p = e->pool.p + at,
						 .at = at };
	return at;
}

static int hostport_ep_pool(struct hostport_ep *e)
{
	uint64_t big = (e->ep.info.max_msg / HOSTPORT_EP_PAGE + 2) *
		       HOSTPORT_EP_PAGE,
		 at;
	struct hostport_ep_reg *r = &e->pool;

	r->len = HOSTPORT_EP_BOUNCES * HOSTPORT_EP_BOUNCE +
		 (HOSTPORT_EP_STAGES + HOSTPORT_EP_LANDS) * big;
	r->p = hport_alloc(e->p, r->len, &r->va);
	if (!r->p)
		return -ENOMEM;
	at = pool_cut(e, e->bounce, HOSTPORT_EP_BOUNCES, HOSTPORT_EP_BOUNCE, 0);
	at = pool_cut(e, e->stage, HOSTPORT_EP_STAGES, big, at);
	pool_cut(e, e->land, HOSTPORT_EP_LANDS, big, at);
	return hostport_ep_win_open(e, r, HPORT_READ);
}

static int hostport_ep_peers(struct hostport_ep *e)
{
	size_t eager = ((size_t)e->eager_max + 7) & ~(size_t)7;
	size_t slots = (size_t)e->n * e->slots;
	struct hostport_ep_msg *m = weft_host_calloc(e->h, slots, sizeof(*m));

	e->peer = weft_host_calloc(e->h, e->n, sizeof(*e->peer));
	e->eager = weft_host_calloc(e->h, slots, eager);
	e->note_size = (uint32_t)slots + e->n * HOSTPORT_EP_REQUESTS;
	e->note = weft_host_calloc(e->h, e->note_size, sizeof(*e->note));
	if (!m || !e->peer || !e->eager || !e->note)
		return -ENOMEM;
	for (size_t i = 0; i < slots; i++)
		m[i].eager = e->eager + i * eager;
	for (uint32_t i = 0; i < e->n; i++) {
		e->peer[i].msg = m + (size_t)i * e->slots;
		hostport_ep_list_init(&e->peer[i].todo);
	}
	return 0;
}

static int hostport_ep_lists(struct hostport_ep *e)
{
	e->ev_size = 2 * HOSTPORT_EP_OPS;
	e->ev = weft_host_calloc(e->h, e->ev_size, sizeof(*e->ev));
	e->ops = weft_host_calloc(e->h, HOSTPORT_EP_OPS, sizeof(*e->ops));
	if (!e->ev || !e->ops)
		return -ENOMEM;
	for (uint32_t i = HOSTPORT_EP_OPS; i--; e->free_ops = &e->ops[i])
		e->ops[i].next = e->free_ops;
	for (uint32_t i = HOSTPORT_EP_PIECES; i--;
	     e->free_pieces = &e->piece[i])
		e->piece[i].next = e->free_pieces;
	hostport_ep_list_init(&e->rma_todo);
	return 0;
}

/* ---- opening, closing ---- */

void hostport_ep_close(struct weft_ep *ep)
{
	struct hostport_ep *e = hostport_ep_of(ep);
	void *own[] = { e->peer ? e->peer[0].msg : NULL,
			e->peer,
			e->eager,
			e->note,
			e->ops,
			e->ev,
			e->win_used };

	if (e->p)
		hport_close(e->p);
	hostport_ep_mem_free(e);
	for (uint32_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		weft_host_free(e->h, own[i]);
	weft_host_free(e->h, e);
}

static void hostport_ep_info(struct hostport_ep *e,
			     const struct weft_ep_attr *attr)
{
	struct weft_ep_info *i = &e->ep.info;

	i->name = "hostport";
	i->caps = WEFT_EP_MSG | WEFT_EP_PUT | WEFT_EP_GET | WEFT_EP_FADD |
		  WEFT_EP_CSWAP;
	i->emulated = WEFT_EP_FADD | WEFT_EP_CSWAP;
	i->max_msg = attr->max_msg ? attr->max_msg : HOSTPORT_EP_MAX_MSG;
	i->max_put = UINT32_MAX;
	i->align = 1;
	e->slots = attr->rx_slots ? attr->rx_slots : HOSTPORT_EP_SLOTS;
	e->eager_max = attr->eager_max ? attr->eager_max : HOSTPORT_EP_EAGER;
	if (e->eager_max > HOSTPORT_EP_EAGER_MAX)
		e->eager_max = HOSTPORT_EP_EAGER_MAX;
	while (e->eager_max > HOSTPORT_EP_FAST &&
	       e->n * e->slots * rdr_words(e->eager_max) * 8 > HOSTPORT_EP_RDR)
		e->eager_max /= 2;
	if (e->eager_max < HOSTPORT_EP_FAST)
		e->eager_max = HOSTPORT_EP_FAST;
}

static int hostport_ep_start(struct hostport_ep *e)
{
	int ret = hostport_ep_lists(e);

	if (!ret)
		ret = hostport_ep_port(e);
	if (!ret)
		ret = hostport_ep_peers(e);
	if (!ret)
		ret = hostport_ep_pool(e);
	return ret ? ret : hostport_ep_meet(e);
}

static int ep_hostport_open(struct weft_host *h,
			    const struct weft_ep_attr *attr,
			    struct weft_ep **ep_p)
{
	struct hostport_ep *e;
	int ret;

	if (attr->max_msg >= HOSTPORT_EP_MAX_LEN)
		return -EINVAL;
	e = weft_host_calloc(h, 1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->ep.ops = &hostport_ep_ops;
	e->ep.host = e->h = h;
	e->me = weft_host_node(h);
	e->n = weft_host_nodes(h);
	e->group = attr->group;
	e->irq = attr->use_irq;
	hostport_ep_info(e, attr);
	ret = hostport_ep_start(e);
	*ep_p = ret ? NULL : &e->ep;
	if (ret)
		hostport_ep_close(&e->ep);
	return ret;
}

const struct ep_nic ep_nic_hostport = { .probe = hport_drv_probe,
					.open = ep_hostport_open,
					.groups = true };
