/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over the FORTH NIC: opens the endpoint, puts data, and
 * waits for events. See endpoint.h.
 *
 * The NIC has no table of regions and writes to any address of the node.
 * Therefore each key carries base and length of its region, and the endpoint
 * refuses a put outside the region before it posts the put to the NIC.
 *
 * The endpoint does not recover lost packets, because the network does not lose
 * any. */
#include <errno.h>

#include "endpoint/ep_open.h"
#include "host/times.h"
#include "systems/forth/lib/endpoint.h"
#include "systems/forth/nic/regs_map.h"

enum { FORTH_EP_KEY_BITS = 32 };

/* ---- puts of whole qwords ---- */

/* Prepares a put, a get, or the answer to a get (h is not NULL). op->direct is
 * the number of bytes that the NIC writes directly to their address. For a put
 * these are the whole qwords if the address is aligned. For the answer to a get
 * they are the whole qwords if the addresses at both nodes are aligned.
 * op->local is the bus address of the local buffer, or 0 if the NIC cannot
 * access the buffer. */
static void forth_ep_prepare(struct ep *e, struct ep_op *op,
			     const struct ep_head *h)
{
	if (h) {
		op->last_kind = EP_DONE;
		if (h->back && !((h->back | h->addr) % 8) &&
		    op->req.dst != e->me) {
			op->direct = op->req.len & ~(size_t)7;
			op->local = h->addr;
			op->req.raddr = h->back;
		}
	} else if (op->req.code == WEFT_EP_GET) {
		if (!weft_mem_phys(e->h, op->req.into, &op->local) ||
		    op->local > UINT32_MAX)
			op->local = 0;
		return;
	} else if (op->req.raddr % 8 == 0) {
		op->direct = op->req.len & ~(size_t)7;
		if (!weft_mem_phys(e->h, op->req.buf, &op->local) ||
		    op->local % 8)
			op->local = 0;
	}
	if (op->direct == op->req.len)
		op->data_kind = 0;
}

/* Issues the next piece of the bytes that the NIC writes directly. Returns
 * false when the request queue or the bounce buffers have no room now. */
static bool forth_ep_direct(struct ep *e, struct ep_op *op)
{
	struct forth_ep *x = forth_ep_of(e);
	uint32_t dst = op->req.dst;
	size_t k = op->direct - op->off;
	weft_phys_t from = op->local + op->off;
	struct forth_ep_bounce *b = NULL;
	uint8_t *to;

	if (dst == e->me) {
		to = ep_region_at(e, op->req.rkey, op->req.raddr, op->direct);
		if (to)
			weft_host_copy(e->h, to, op->req.buf, op->direct);
		else
			op->status = -EFAULT;
		op->off = op->direct;
		return true;
	}
	if (k > EP_BOUNCE)
		k = EP_BOUNCE;
	if (weft_forth_space(x->f, dst) < forth_ep_parts(x, k))
		return false;
	if (!op->local) {
		b = &x->bounce[x->bounce_next];
		if (b->busy && weft_forth_departed(x->f, b->dst) < b->departs)
			return false;
		x->bounce_next = (x->bounce_next + 1) % FORTH_EP_BOUNCES;
		b->busy = true;
		weft_host_copy(e->h, b->p,
			       (const uint8_t *)op->req.buf + op->off, k);
		from = b->phys;
	}
	forth_ep_put(x, dst, from, op->req.raddr + op->off, k,
		     WEFT_FORTH_LNOTIFY);
	op->off += k;
	op->departs = weft_forth_posted(x->f, dst);
	if (b) {
		b->dst = dst;
		b->departs = op->departs;
	}
	return true;
}

/* Keeps an operation until its transfers have departed, because the DMA still
 * reads buf. Returns false if the NIC does not read buf. */
static bool forth_ep_issued(struct ep *e, struct ep_op *op)
{
	if (!op->local || !op->direct || op->req.dst == e->me)
		return false;
	ep_list_push(&forth_ep_of(e)->peer[op->req.dst].departing, op);
	return true;
}

static void forth_ep_flush(struct ep *e)
{
	struct forth_ep *x = forth_ep_of(e);

	for (uint32_t p = 0; p < e->n; p++) {
		struct ep_list *l = &x->peer[p].departing;

		while (l->head &&
		       weft_forth_departed(x->f, p) >= l->head->departs)
			ep_complete(e, ep_list_pop(l));
	}
}

/* ---- waiting ---- */

static bool forth_ep_idle(struct ep *e, weft_time_t deadline)
{
	struct forth_ep *x = forth_ep_of(e);
	bool spin = !e->irq;

	if (forth_ep_ready(e))
		return true;
	/* poll without sleeping while an operation waits for a departure or for
	 * room in the request queue, because neither event raises an
	 * interrupt */
	for (uint32_t p = 0; p < e->n && !spin; p++)
		spin = x->peer[p].departing.head || e->peer[p].todo.head;
	if (spin)
		return weft_host_poll_range(e->h, x->block, x->block_bytes,
					    deadline);
	if (!weft_forth_irq_wait(x->f, deadline))
		return false;
	weft_forth_irq_ack(x->f);
	return true;
}

/* ---- opening ---- */

static int forth_ep_region_open(struct ep *e, struct ep_region *r, bool write)
{
	if (!weft_mem_phys(e->h, r->p, &r->addr) ||
	    r->addr + r->len - 1 > UINT32_MAX)
		return -EFAULT;
	r->key = r->addr << FORTH_EP_KEY_BITS | r->len;
	return 0;
}

static bool memory_get(struct ep *e)
{
	struct forth_ep *x = forth_ep_of(e);
	size_t ring = (size_t)e->n * e->slots * x->slot_bytes;
	size_t words = forth_ep_pad(8 * e->n);
	size_t out = words + ring + FORTH_EP_BOUNCES * EP_BOUNCE;

	x->block_bytes = WEFT_FORTH_NOTIFY_BYTES + words + ring;
	x->block = weft_mem_alloc(e->h, x->block_bytes, 64, &x->block_phys);
	x->out = weft_mem_alloc(e->h, out, 64, &x->out_phys);
	x->peer = weft_host_calloc(e->h, e->n, sizeof(*x->peer));
	if (!x->block || !x->out || !x->peer)
		return false;
	x->credit = (uint64_t *)(x->block + WEFT_FORTH_NOTIFY_BYTES);
	x->rx = x->block + WEFT_FORTH_NOTIFY_BYTES + words;
	x->consumed = (uint64_t *)x->out;
	x->tx = x->out + words;
	for (uint32_t i = 0; i < FORTH_EP_BOUNCES; i++) {
		size_t at = words + ring + (size_t)i * EP_BOUNCE;

		x->bounce[i].p = x->out + at;
		x->bounce[i].phys = x->out_phys + at;
	}
	return true;
}

static int forth_ep_start(struct ep *e)
{
	struct forth_ep *x = forth_ep_of(e);
	struct weft_forth_attr fa = { .irq = e->irq };
	size_t room = forth_ep_pad(e->ep.info.max_msg);
	int ret;

	x->slot_bytes =
		(room < 64 ? 64 : room) + sizeof(struct forth_ep_trailer);
	if (!memory_get(e))
		return -ENOMEM;
	fa.notify = x->block;
	ret = weft_forth_open(e->h, &fa, &x->f);
	if (ret)
		return ret;
	if (x->block_phys + x->block_bytes > UINT32_MAX)
		return -ENOMEM;
	/* Refuses a NIC that notifies by counting, because messages need
	 * notifications in order. */
	if (weft_forth_info(x->f)->groups)
		return -EOPNOTSUPP;
	x->paths = weft_forth_info(x->f)->multipath;
	if (x->paths)
		x->noted = weft_forth_load(x->f, FORTH_RNOTIFY_TOTAL);
	return 0;
}

static int forth_ep_meet(struct ep *e)
{
	struct forth_ep *x = forth_ep_of(e);
	weft_phys_t credit = x->block_phys + WEFT_FORTH_NOTIFY_BYTES;

	ep_tell(e, "credit", credit);
	ep_tell(e, "irq", e->irq);
	ep_tell(e, "rx", x->block_phys + (weft_phys_t)(x->rx - x->block));
	for (uint32_t p = 0; p < e->n; p++) {
		ep_list_init(&x->peer[p].departing);
		x->peer[p].irq = ep_ask(e, p, "irq");
		x->peer[p].credit = ep_ask(e, p, "credit") + 8 * e->me;
		x->peer[p].rx =
			ep_ask(e, p, "rx") + e->me * e->slots * x->slot_bytes;
	}
	return 0;
}

static void forth_ep_stop(struct ep *e)
{
	struct forth_ep *x = forth_ep_of(e);

	if (x->f)
		weft_forth_close(x->f);
	if (x->block)
		weft_mem_free(e->h, x->block);
	if (x->out)
		weft_mem_free(e->h, x->out);
	weft_host_free(e->h, x->peer);
}

static const struct ep_nic_ops forth_ep_nic = {
	.name = "forth",
	.bytes = sizeof(struct forth_ep),
	.emulated = WEFT_EP_GET | WEFT_EP_FADD | WEFT_EP_CSWAP,
	.max_msg = 4096,
	.slots = 16,
	.requests = 8,
	.key_len_bits = FORTH_EP_KEY_BITS,
	.one_ring = true,
	.call_time = T_forth_ep_call,
	.start = forth_ep_start,
	.meet = forth_ep_meet,
	.stop = forth_ep_stop,
	.message = forth_ep_message,
	.poll = forth_ep_poll,
	.idle = forth_ep_idle,
	.flush = forth_ep_flush,
	.credits = forth_ep_credits,
	.region_open = forth_ep_region_open,
	.prepare = forth_ep_prepare,
	.direct = forth_ep_direct,
	.issued = forth_ep_issued,
};

static int ep_forth_open(struct weft_host *h, const struct weft_ep_attr *attr,
			 struct weft_ep **ep_p)
{
	return ep_open(h, attr, &forth_ep_nic, ep_p);
}

const struct ep_nic ep_nic_forth = { .probe = weft_forth_probe,
				     .open = ep_forth_open };
