/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over EXTOLL: opening and closing.  See endpoint.h.
 *
 * Not covered: nodes with different attributes. */
#include <errno.h>
#include <stdio.h>

#include "endpoint/ep_open.h"
#include "systems/extoll/lib/driver.h"
#include "systems/extoll/lib/endpoint.h"

enum {
	EXTOLL_EP_MAX_MSG = 65536,   /* default */
	EXTOLL_EP_EAGER = 1024,	     /* default, extoll.md 6.3 */
	EXTOLL_EP_MAILBOX = 8 << 20, /* at most */
	EXTOLL_EP_SLOT = 128,	     /* of a mailbox */
	EXTOLL_EP_NOTIS = 4096,
};

static uint64_t extoll_ep_ask(struct extoll_ep *e, uint32_t node,
			      const char *what)
{
	char key[40];

	snprintf(key, sizeof(key), "epx%u.%s", node, what);
	return weft_oob_get(e->h, key);
}

static void extoll_ep_tell(struct extoll_ep *e, const char *what, uint64_t val)
{
	char key[40];

	snprintf(key, sizeof(key), "epx%u.%s", e->me, what);
	weft_oob_put(e->h, key, val);
}

static int extoll_ep_meet(struct extoll_ep *e)
{
	uint32_t opt = e->irq ? RMA_CONN_IRQ : RMA_CONN_DEFAULT;

	extoll_ep_tell(e, "velo", velo_vpid(e->velo));
	extoll_ep_tell(e, "rma", rma_get_vpid(e->rma));
	extoll_ep_tell(e, "irq", e->irq);
	for (uint32_t i = 0; i < e->n; i++) {
		struct extoll_ep_peer *p = &e->peer[i];

		p->irq = extoll_ep_ask(e, i, "irq");
		if (velo_connect(e->velo, &p->velo, i,
				 (uint32_t)extoll_ep_ask(e, i, "velo")) ||
		    rma_connect(e->rma, i, (uint32_t)extoll_ep_ask(e, i, "rma"),
				opt, &p->rma))
			return -EHOSTUNREACH;
	}
	return 0;
}

/* What the peers together may have in our mailbox without being asked. */
static size_t extoll_ep_mailbox(const struct extoll_ep *e, uint32_t eager)
{
	size_t msg = 3 + (eager + EXTOLL_EP_VELO - 1) / EXTOLL_EP_VELO;

	return (size_t)e->n * (e->slots * msg + 4 * EXTOLL_EP_REQUESTS) *
	       EXTOLL_EP_SLOT;
}

static int extoll_ep_ports(struct extoll_ep *e)
{
	struct velo_attr va = { .mailbox = extoll_ep_mailbox(e, e->eager_max) };
	struct rma_attr ra = { .slots = EXTOLL_EP_NOTIS };
	const uint8_t *box, *ring;
	size_t box_n, ring_n;
	int ret;

	ret = velo_open(e->h, &va, &e->velo);
	if (ret)
		return ret == VELO_ERR_FDOPEN ? -ENODEV : -ENOMEM;
	/* Messages of the endpoint's protocol fill a whole one of VELO. */
	if (velo_max_len(e->velo) < EXTOLL_EP_VELO)
		return -ENOTSUP;
	if (rma_open(e->h, &ra, &e->rma))
		return -ENOMEM;
	box = velo_mailbox(e->velo, &box_n);
	ring = (const uint8_t *)rma_noti_ring(e->rma, &ring_n);
	e->watch = box < ring ? box : ring;
	e->watch_bytes =
		(size_t)((box < ring ? ring + ring_n : box + box_n) - e->watch);
	return 0;
}

/* Pinned memory: bounces, stages, landings. */
static int extoll_ep_pool(struct extoll_ep *e)
{
	size_t big = (e->ep.info.max_msg / EXTOLL_EP_PAGE + 2) * EXTOLL_EP_PAGE;
	size_t bytes = EXTOLL_EP_BOUNCES * EXTOLL_EP_BOUNCE, at = 0;
	weft_phys_t phys;

	e->lands = big > 128 << 10 ? 4 : 8;
	bytes += (EXTOLL_EP_STAGES + e->lands) * big;
	e->land = weft_host_calloc(e->h, e->lands, sizeof(*e->land));
	e->pool = weft_mem_alloc(e->h, bytes, EXTOLL_EP_PAGE, &phys);
	if (!e->pool || !e->land ||
	    rma_register(e->rma, e->pool, bytes, &e->pool_region))
		return -ENOMEM;
	for (uint32_t i = 0; i < EXTOLL_EP_BOUNCES; i++, at += EXTOLL_EP_BOUNCE)
		e->bounce[i] =
			(struct extoll_ep_buf){ .p = e->pool + at, .at = at };
	for (uint32_t i = 0; i < EXTOLL_EP_STAGES; i++, at += big)
		e->stage[i] =
			(struct extoll_ep_buf){ .p = e->pool + at, .at = at };
	for (uint32_t i = 0; i < e->lands; i++, at += big)
		e->land[i] =
			(struct extoll_ep_buf){ .p = e->pool + at, .at = at };
	return 0;
}

static int extoll_ep_peers(struct extoll_ep *e)
{
	size_t eager = (e->eager_max + 7) & ~7u;
	struct extoll_ep_msg *m =
		weft_host_calloc(e->h, (size_t)e->n * e->slots, sizeof(*m));

	e->peer = weft_host_calloc(e->h, e->n, sizeof(*e->peer));
	e->eager = weft_host_calloc(e->h, (size_t)e->n * e->slots, eager);
	if (!m || !e->peer || !e->eager)
		return -ENOMEM;
	for (uint32_t i = 0; i < e->n * e->slots; i++)
		m[i].eager = e->eager + i * eager;
	for (uint32_t i = 0; i < e->n; i++) {
		e->peer[i].msg = m + (size_t)i * e->slots;
		extoll_ep_list_init(&e->peer[i].todo);
		e->peer[i].gets.tail = &e->peer[i].gets.head;
	}
	return 0;
}

static int extoll_ep_lists(struct extoll_ep *e)
{
	e->ev_size = 8 * EXTOLL_EP_OPS;
	e->ev = weft_host_calloc(e->h, e->ev_size, sizeof(*e->ev));
	e->ops = weft_host_calloc(e->h, EXTOLL_EP_OPS, sizeof(*e->ops));
	if (!e->ev || !e->ops)
		return -ENOMEM;
	for (uint32_t i = 0; i < EXTOLL_EP_OPS; i++) {
		e->ops[i].next = e->free_ops;
		e->free_ops = &e->ops[i];
	}
	for (uint32_t i = 0; i < EXTOLL_EP_PIECES; i++) {
		e->piece[i].next = e->free_pieces;
		e->free_pieces = &e->piece[i];
	}
	extoll_ep_list_init(&e->rma_todo);
	e->puts.tail = &e->puts.head;
	return 0;
}

void extoll_ep_close(struct weft_ep *ep)
{
	struct extoll_ep *e = extoll_ep_of(ep);

	if (e->velo)
		velo_close(e->velo);
	if (e->rma)
		rma_close(e->rma);
	if (e->pool)
		weft_mem_free(e->h, e->pool);
	extoll_ep_mem_free(e);
	if (e->peer)
		weft_host_free(e->h, e->peer[0].msg);
	weft_host_free(e->h, e->peer);
	weft_host_free(e->h, e->eager);
	weft_host_free(e->h, e->land);
	weft_host_free(e->h, e->ops);
	weft_host_free(e->h, e->ev);
	weft_host_free(e->h, e);
}

static void extoll_ep_info(struct extoll_ep *e, const struct weft_ep_attr *attr)
{
	struct weft_ep_info *i = &e->ep.info;

	i->name = "extoll";
	i->caps = WEFT_EP_MSG | WEFT_EP_PUT | WEFT_EP_GET | WEFT_EP_FADD |
		  WEFT_EP_CSWAP;
	i->emulated = WEFT_EP_FADD | WEFT_EP_CSWAP;
	i->max_msg = attr->max_msg ? attr->max_msg : EXTOLL_EP_MAX_MSG;
	i->max_put = UINT32_MAX;
	i->align = 1;
	e->slots = attr->rx_slots ? attr->rx_slots : 16;
	e->eager_max = attr->eager_max ? attr->eager_max : EXTOLL_EP_EAGER;
	if (e->eager_max > EXTOLL_EP_EAGER_MAX)
		e->eager_max = EXTOLL_EP_EAGER_MAX;
	while (e->eager_max > EXTOLL_EP_VELO &&
	       extoll_ep_mailbox(e, e->eager_max) > EXTOLL_EP_MAILBOX)
		e->eager_max /= 2;
	if (e->eager_max < EXTOLL_EP_VELO - sizeof(uint64_t))
		e->eager_max = EXTOLL_EP_VELO - sizeof(uint64_t);
}

static int extoll_ep_start(struct extoll_ep *e)
{
	int ret = extoll_ep_peers(e);

	if (!ret)
		ret = extoll_ep_lists(e);
	if (!ret)
		ret = extoll_ep_ports(e);
	if (!ret)
		ret = extoll_ep_pool(e);
	return ret ? ret : extoll_ep_meet(e);
}

static int ep_extoll_open(struct weft_host *h, const struct weft_ep_attr *attr,
			  struct weft_ep **ep_p)
{
	struct extoll_ep *e;
	int ret;

	if (attr->max_msg >= 1u << 24)
		return -EINVAL;
	e = weft_host_calloc(h, 1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->ep.ops = &extoll_ep_ops;
	e->ep.host = e->h = h;
	e->me = weft_host_node(h);
	e->n = weft_host_nodes(h);
	e->irq = attr->use_irq;
	extoll_ep_info(e, attr);
	ret = extoll_ep_start(e);
	if (ret) {
		extoll_ep_close(&e->ep);
		return ret;
	}
	*ep_p = &e->ep;
	return 0;
}

const struct ep_nic ep_nic_extoll = { .probe = extoll_drv_probe,
				      .open = ep_extoll_open };
