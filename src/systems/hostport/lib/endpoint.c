/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over the Host Port (see endpoint.h): opens endpoints,
 * registers memory, and waits for notifications.
 *
 * A memory region of the endpoint is a window (hostport.md 4.7) of whole words.
 * The key of a region consists of Win-ID and capability. A remote address is an
 * offset in the window. The NIC of the node that has the memory checks key and
 * address. */
#include <errno.h>

#include "endpoint/ep_open.h"
#include "host/times.h"
#include "systems/hostport/lib/driver.h"
#include "systems/hostport/lib/endpoint.h"

enum {
	HOSTPORT_EP_EAGER = 2048, /* default */
	HOSTPORT_EP_EAGER_MAX = 65536,
	HOSTPORT_EP_SLOTS = 16, /* default */
	/* number of messages that the send data region holds */
	HOSTPORT_EP_SDR = 16,
	/* upper limit of the receive data region in bytes */
	HOSTPORT_EP_RDR = 8 << 20,
	/* number of words of the RDR that one update gives back */
	HOSTPORT_EP_UNIT = 64,
	HOSTPORT_EP_WQ = 64,
	HOSTPORT_EP_REQUESTS = 8,
	/* number of entries of the notification queue for this node's own
	 * instructions and for status notifications */
	HOSTPORT_EP_OWN_NOTES = HOSTPORT_EP_WQ + 32,
};

/* ---- windows ---- */

/* Opens a window of whole words, with a capability that was not used before, so
 * that keys of an older region fail. */
static int win_open(struct ep *e, struct ep_region *r, uint32_t rights)
{
	struct hostport_ep *x = hostport_ep_of(e);
	uint64_t from = r->va & ~7ull, to = (r->va + r->len + 7) & ~7ull;
	uint32_t cap = hport_vpid(x->p) << 16 ^ (uint32_t)++e->age * 40503u;
	uint32_t win = 0;

	while (win < x->windows && x->win_used[win / 64] >> win % 64 & 1)
		win++;
	if (win == x->windows)
		return -ENOSPC;
	x->win_used[win / 64] |= 1ull << win % 64;
	r->addr = r->va % 8;
	r->key = (uint64_t)win << 32 | cap;
	return hport_window(x->p, win, from, to - from, rights, cap);
}

static int hostport_ep_region_open(struct ep *e, struct ep_region *r,
				   bool write)
{
	struct hostport_ep *x = hostport_ep_of(e);
	int ret = hport_map(x->p, r->p, r->len, &r->va);

	if (ret)
		return ret;
	ret = win_open(e, r, write ? HPORT_READ | HPORT_WRITE : HPORT_READ);
	if (ret)
		hport_unmap(x->p, r->va);
	return ret;
}

static void hostport_ep_region_close(struct ep *e, struct ep_region *r)
{
	struct hostport_ep *x = hostport_ep_of(e);
	uint32_t win = (uint32_t)(r->key >> 32);

	hport_window_close(x->p, win);
	hport_unmap(x->p, r->va);
	x->win_used[win / 64] &= ~(1ull << win % 64);
}

static int hostport_ep_pool_open(struct ep *e, struct ep_region *r)
{
	r->p = hport_alloc(hostport_ep_of(e)->p, r->len, &r->va);
	return r->p ? win_open(e, r, HPORT_READ) : -ENOMEM;
}

/* ---- sizes of the queues ---- */

/* Returns the number of words of the receive data region for one message. */
static uint64_t rdr_words(uint32_t eager)
{
	return (eager / 8 + HOSTPORT_EP_UNIT) / HOSTPORT_EP_UNIT *
	       HOSTPORT_EP_UNIT;
}

/* Returns the largest number of unread notifications that one peer can cause.
 * The peer causes them by messages, requests, answers and credits, and by
 * fetching long messages from this node. */
static uint32_t peer_notes(uint32_t slots)
{
	return 2 * slots + 2 * HOSTPORT_EP_REQUESTS + 4;
}

/* Adopts the sizes that the queues have, because another process of the node
 * may have decided them. */
static int queues_take(struct hostport_ep *x, const struct hport_sizes *s)
{
	struct ep *e = &x->core;

	while (e->slots &&
	       (e->n * peer_notes(e->slots) + HOSTPORT_EP_OWN_NOTES > s->nq ||
		e->n * e->slots * rdr_words(e->eager_max) >= s->rdr))
		e->slots--;
	x->sdr = hport_sdr(x->p, &(uint64_t){ 0 });
	x->sdr_slots = s->sdr / ((e->eager_max + 7) / 8);
	if (x->sdr_slots > HOSTPORT_EP_SDR_MAX)
		x->sdr_slots = HOSTPORT_EP_SDR_MAX;
	x->windows = s->wdt;
	x->win_used = weft_host_calloc(e->h, s->wdt / 64 + 1, 8);
	x->peer = weft_host_calloc(e->h, e->n, sizeof(*x->peer));
	if (!x->win_used || !x->peer)
		return -ENOMEM;
	return e->slots && x->sdr_slots ? 0 : -EBUSY;
}

/* ---- opening, closing ---- */

static int hostport_ep_start(struct ep *e)
{
	struct hostport_ep *x = hostport_ep_of(e);
	struct hport_attr a = {
		.vpid = -1, .flags = HPORT_ORDERED | (e->irq ? HPORT_IRQ : 0)
	};
	uint32_t slots, eager;
	struct hport_sizes s;
	uint64_t rdr;
	int ret;

	if (e->eager_max > HOSTPORT_EP_EAGER_MAX)
		e->eager_max = HOSTPORT_EP_EAGER_MAX;
	while (e->eager_max > HOSTPORT_EP_FAST &&
	       e->n * e->slots * rdr_words(e->eager_max) * 8 > HOSTPORT_EP_RDR)
		e->eager_max /= 2;
	if (e->eager_max < HOSTPORT_EP_FAST)
		e->eager_max = HOSTPORT_EP_FAST;
	/* Requests at least the sizes that the usual attributes need, because
	 * the first process decides the size of all queues of the node. */
	slots = e->slots > HOSTPORT_EP_SLOTS ? e->slots : HOSTPORT_EP_SLOTS;
	eager = e->eager_max > HOSTPORT_EP_EAGER ? e->eager_max
						 : HOSTPORT_EP_EAGER;
	rdr = e->n * slots * rdr_words(eager);
	if (8 * rdr > HOSTPORT_EP_RDR)
		rdr = e->n * e->slots * rdr_words(e->eager_max);
	a.sizes = (struct hport_sizes){
		.wq = HOSTPORT_EP_WQ,
		.nq = e->n * peer_notes(slots) + HOSTPORT_EP_OWN_NOTES,
		.sdr = HOSTPORT_EP_SDR * ((eager + 7) / 8),
		.rdr = (uint32_t)rdr + HOSTPORT_EP_UNIT,
		.rdr_unit = 6
	};
	ret = hport_open(e->h, &a, &x->p);
	if (ret)
		return ret;
	s = hport_sizes_of(x->p);
	return queues_take(x, &s);
}

static int hostport_ep_meet(struct ep *e)
{
	struct hostport_ep *x = hostport_ep_of(e);

	ep_tell(e, "slots", e->slots);
	ep_tell(e, "vpid", hport_vpid(x->p));
	for (uint32_t i = 0; i < e->n; i++) {
		uint32_t vpid = (uint32_t)ep_ask(e, i, "vpid");

		e->peer[i].slots = (uint32_t)ep_ask(e, i, "slots");
		if (hport_connect(x->p, i, vpid, &x->peer[i]))
			return -EHOSTUNREACH;
	}
	return 0;
}

static void hostport_ep_stop(struct ep *e)
{
	struct hostport_ep *x = hostport_ep_of(e);

	if (x->p)
		hport_close(x->p);
	weft_host_free(e->h, x->win_used);
	weft_host_free(e->h, x->peer);
}

static bool hostport_ep_idle(struct ep *e, weft_time_t deadline)
{
	return hport_idle(hostport_ep_of(e)->p, e->irq, deadline);
}

static void hostport_ep_flush(struct ep *e)
{
	hport_flush(hostport_ep_of(e)->p);
}

static const struct ep_nic_ops hostport_ep_nic = {
	.name = "hostport",
	.bytes = sizeof(struct hostport_ep),
	.emulated = WEFT_EP_FADD | WEFT_EP_CSWAP,
	.max_msg = 65536,
	.slots = HOSTPORT_EP_SLOTS,
	.eager = HOSTPORT_EP_EAGER,
	.requests = HOSTPORT_EP_REQUESTS,
	.lands = EP_LANDS / 2,
	.copies = true,
	.call_time = T_hostport_ep_call,
	.start = hostport_ep_start,
	.meet = hostport_ep_meet,
	.stop = hostport_ep_stop,
	.message = hostport_ep_message,
	.poll = hostport_ep_poll,
	.idle = hostport_ep_idle,
	.flush = hostport_ep_flush,
	.region_open = hostport_ep_region_open,
	.region_close = hostport_ep_region_close,
	.pool_open = hostport_ep_pool_open,
	.remote = hostport_ep_remote,
	.fetch = hostport_ep_fetch,
};

static int ep_hostport_open(struct weft_host *h,
			    const struct weft_ep_attr *attr,
			    struct weft_ep **ep_p)
{
	return ep_open(h, attr, &hostport_ep_nic, ep_p);
}

const struct ep_nic ep_nic_hostport = { .probe = hport_drv_probe,
					.open = ep_hostport_open,
					.groups = true };
