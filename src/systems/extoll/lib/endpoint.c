/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over EXTOLL: opening, memory, waiting. See endpoint.h.
 *
 * The key of a region is address << 31 | length. An address fits into 30 bits,
 * because the driver uses only one translation table. The key tells the
 * sender's library the bounds of the region, and the library refuses a put
 * outside the bounds. The NIC itself checks only pages. */
#include <errno.h>

#include "endpoint/ep_open.h"
#include "host/times.h"
#include "systems/extoll/lib/driver.h"
#include "systems/extoll/lib/endpoint.h"

enum {
	EXTOLL_EP_EAGER_MAX = 65536,
	EXTOLL_EP_MAILBOX = 8 << 20, /* most bytes of the mailbox */
	EXTOLL_EP_SLOT = 128,	     /* bytes of a mailbox slot */
	EXTOLL_EP_NOTIS = 4096,
	EXTOLL_EP_REQUESTS = 8,
	EXTOLL_EP_KEY_BITS = 31,
};

/* ---- memory ---- */

static int extoll_ep_region_open(struct ep *e, struct ep_region *r, bool write)
{
	struct rma_region *region;

	if (rma_register(extoll_ep_of(e)->rma, r->p, r->len, &region))
		return -ENOMEM;
	r->handle = region;
	rma_get_nla(region, 0, &r->addr);
	r->key = r->addr << EXTOLL_EP_KEY_BITS | r->len;
	return 0;
}

/* Closes a region. Returns after the ATU has dropped its entries and no
 * transfer uses them, so that the memory can be reused. */
static void extoll_ep_region_close(struct ep *e, struct ep_region *r)
{
	rma_unregister(extoll_ep_of(e)->rma, r->handle);
}

static int extoll_ep_pool_open(struct ep *e, struct ep_region *r)
{
	weft_phys_t phys;

	r->p = weft_mem_alloc(e->h, r->len, EP_PAGE, &phys);
	return r->p ? extoll_ep_region_open(e, r, false) : -ENOMEM;
}

/* ---- opening, closing ---- */

/* Returns the bytes of this node's mailbox that all peers together may fill
 * before they need new credits. */
static size_t extoll_ep_mailbox(const struct ep *e)
{
	size_t msg = 3 + (e->eager_max + EXTOLL_EP_VELO - 1) / EXTOLL_EP_VELO;

	return (size_t)e->n * (e->slots * msg + 4 * EXTOLL_EP_REQUESTS) *
	       EXTOLL_EP_SLOT;
}

static int extoll_ep_start(struct ep *e)
{
	struct extoll_ep *x = extoll_ep_of(e);
	struct velo_attr va;
	struct rma_attr ra = { .slots = EXTOLL_EP_NOTIS };
	const uint32_t least = EXTOLL_EP_VELO - sizeof(uint64_t);
	const uint8_t *box, *ring;
	size_t box_n, ring_n;
	int ret;

	if (e->eager_max > EXTOLL_EP_EAGER_MAX)
		e->eager_max = EXTOLL_EP_EAGER_MAX;
	while (e->eager_max > EXTOLL_EP_VELO &&
	       extoll_ep_mailbox(e) > EXTOLL_EP_MAILBOX)
		e->eager_max /= 2;
	if (e->eager_max < least)
		e->eager_max = least;
	x->puts.tail = &x->puts.head;
	x->peer = weft_host_calloc(e->h, e->n, sizeof(*x->peer));
	if (!x->peer)
		return -ENOMEM;
	va = (struct velo_attr){ .mailbox = extoll_ep_mailbox(e) };
	ret = velo_open(e->h, &va, &x->velo);
	if (ret)
		return ret == VELO_ERR_FDOPEN ? -ENODEV : -ENOMEM;
	/* The endpoint's protocol needs VELO messages that hold EXTOLL_EP_VELO
	 * bytes. */
	if (velo_max_len(x->velo) < EXTOLL_EP_VELO)
		return -ENOTSUP;
	if (rma_open(e->h, &ra, &x->rma))
		return -ENOMEM;
	box = velo_mailbox(x->velo, &box_n);
	ring = (const uint8_t *)rma_noti_ring(x->rma, &ring_n);
	x->watch = box < ring ? box : ring;
	x->watch_bytes =
		(size_t)((box < ring ? ring + ring_n : box + box_n) - x->watch);
	return 0;
}

static int extoll_ep_meet(struct ep *e)
{
	struct extoll_ep *x = extoll_ep_of(e);
	uint32_t opt = e->irq ? RMA_CONN_IRQ : RMA_CONN_DEFAULT;

	ep_tell(e, "velo", velo_vpid(x->velo));
	ep_tell(e, "rma", rma_get_vpid(x->rma));
	ep_tell(e, "irq", e->irq);
	for (uint32_t i = 0; i < e->n; i++) {
		struct extoll_ep_peer *p = &x->peer[i];

		p->gets.tail = &p->gets.head;
		p->irq = ep_ask(e, i, "irq");
		if (velo_connect(x->velo, &p->velo, i,
				 (uint32_t)ep_ask(e, i, "velo")) ||
		    rma_connect(x->rma, i, (uint32_t)ep_ask(e, i, "rma"), opt,
				&p->rma))
			return -EHOSTUNREACH;
	}
	return 0;
}

static void extoll_ep_stop(struct ep *e)
{
	struct extoll_ep *x = extoll_ep_of(e);

	if (x->velo)
		velo_close(x->velo);
	if (x->rma)
		rma_close(x->rma);
	if (e->pool.p)
		weft_mem_free(e->h, e->pool.p);
	weft_host_free(e->h, x->peer);
}

static bool extoll_ep_idle(struct ep *e, weft_time_t deadline)
{
	struct extoll_ep *x = extoll_ep_of(e);

	if (velo_check(x->velo) == VELO_SUCCESS)
		return true;
	if (!e->irq)
		return weft_host_poll_range(e->h, x->watch, x->watch_bytes,
					    deadline);
	velo_arm(x->velo);
	rma_noti_arm(x->rma);
	if (velo_check(x->velo) == VELO_SUCCESS || rma_noti_ready(x->rma))
		return true;
	return rma_irq_wait(x->rma, deadline);
}

static const struct ep_nic_ops extoll_ep_nic = {
	.name = "extoll",
	.bytes = sizeof(struct extoll_ep),
	.emulated = WEFT_EP_FADD | WEFT_EP_CSWAP,
	.max_msg = 65536,
	.slots = 16,
	.eager = 1024,
	.requests = EXTOLL_EP_REQUESTS,
	.lands = EP_LANDS,
	.key_len_bits = EXTOLL_EP_KEY_BITS,
	.copies = true,
	.call_time = T_extoll_ep_call,
	.start = extoll_ep_start,
	.meet = extoll_ep_meet,
	.stop = extoll_ep_stop,
	.message = extoll_ep_message,
	.poll = extoll_ep_poll,
	.idle = extoll_ep_idle,
	.region_open = extoll_ep_region_open,
	.region_close = extoll_ep_region_close,
	.pool_open = extoll_ep_pool_open,
	.reap = extoll_ep_reap,
	.remote = extoll_ep_remote,
	.notify = extoll_ep_notify,
	.fetch = extoll_ep_fetch,
};

static int ep_extoll_open(struct weft_host *h, const struct weft_ep_attr *attr,
			  struct weft_ep **ep_p)
{
	return ep_open(h, attr, &extoll_ep_nic, ep_p);
}

const struct ep_nic ep_nic_extoll = { .probe = extoll_drv_probe,
				      .open = ep_extoll_open };
