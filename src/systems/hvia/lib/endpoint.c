/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over VIs. Each node has one reliable VI of VIPL for each
 * other node. All operations are sent as messages of a head and up to max_msg
 * bytes.
 *
 * A receiver posts `slots` receives for each peer, and a few more for messages
 * that carry only credits, so that a credit never waits for a credit. Messages
 * of a node to itself stay in the library. */
#include <errno.h>
#include <string.h>

#include "endpoint/core.h"
#include "endpoint/ep_open.h"
#include "host/times.h"
#include "systems/hvia/lib/agent.h"
#include "systems/hvia/lib/vipl_internal.h"

enum { SPARE = 4, LAST = 1, NOTIFY = 2, SWAP = 4 };

struct hvia_ep_head {
	uint32_t kind, flags;
	/* len: bytes of data that follow. consumed: number of messages of the
	 * peer consumed so far */
	uint32_t len, consumed;
	uint64_t imm, addr, key, a; /* EP_ATOMIC: imm is operand b */
	uint32_t id;
	int32_t status;
};

struct hvia_ep_slot {
	_Alignas(HVIA_DESC_ALIGN) VIP_DESCRIPTOR desc;
	struct hvia_ep_head head;
	uint8_t data[];
};

struct hvia_ep_peer {
	VIP_VI_HANDLE vi; /* NULL for the own node */
	uint8_t *mem;	  /* memory of the slots for sending and receiving */
	VIP_MEM_HANDLE handle;
	/* sending: number of slots at the card. next: slot to use next */
	uint32_t sending, next;
};

struct hvia_ep {
	struct ep core;	   /* first member */
	size_t stride;	   /* bytes from a slot to the next */
	uint32_t seen;	   /* event count of the card before the last poll */
	uint32_t skip;	   /* 1 + number of queues to leave out, or 0 */
	weft_time_t first; /* time charged for the next queue that is polled */
	VIP_NIC_HANDLE nic;
	VIP_PROTECTION_HANDLE ptag;
	struct hvia_ep_peer *peer;
};

static struct hvia_ep_slot *slot_of(const struct hvia_ep *x,
				    const struct hvia_ep_peer *p, uint32_t i)
{
	return (struct hvia_ep_slot *)(p->mem + i * x->stride);
}

static void desc_fill(struct hvia_ep_slot *s, const struct hvia_ep_peer *p,
		      size_t bytes)
{
	memset(&s->desc, 0, sizeof(s->desc));
	s->desc.CS.SegCount = 1;
	s->desc.DS[0].Local.Data.Address = &s->head;
	s->desc.DS[0].Local.Handle = p->handle;
	s->desc.DS[0].Local.Length = (uint32_t)bytes;
}

/* ---- sending ---- */

static bool hvia_ep_message(struct ep *e, uint32_t dst, const struct ep_head *h,
			    const void *data)
{
	struct hvia_ep *x = (struct hvia_ep *)e;
	struct hvia_ep_peer *p = &x->peer[dst];
	uint32_t bytes = (uint32_t)sizeof(struct hvia_ep_head) + h->len;
	struct hvia_ep_slot *s;

	if (dst == e->me && h->kind == EP_CREDIT) {
		ep_credits_in(e, dst, (uint32_t)h->a);
		return true;
	}
	if (p->sending >= e->slots + (h->kind == EP_CREDIT ? SPARE : 0))
		return false;
	s = slot_of(x, p, p->next++ % (e->slots + SPARE));
	s->head = (struct hvia_ep_head){
		.kind = h->kind,
		.flags = (h->last ? LAST : 0) | (h->notify ? NOTIFY : 0) |
			 (h->swap ? SWAP : 0),
		.len = h->len,
		.consumed = (uint32_t)e->peer[dst].consumed,
		.imm = h->kind == EP_ATOMIC ? h->b : h->imm,
		.addr = h->addr,
		.key = h->key,
		.a = h->a,
		.id = h->id,
		.status = h->status,
	};
	if (h->len)
		weft_host_copy(e->h, s->data, data, h->len);
	p->sending++;
	if (dst == e->me)
		return true;
	desc_fill(s, p, bytes);
	s->desc.CS.Length = bytes;
	VipPostSend(p->vi, &s->desc, p->handle);
	return true;
}

/* ---- receiving ---- */

static void receive_post(struct hvia_ep *x, struct hvia_ep_peer *p,
			 struct hvia_ep_slot *s)
{
	desc_fill(s, p, x->stride - offsetof(struct hvia_ep_slot, head));
	VipPostRecv(p->vi, &s->desc, p->handle);
}

static void hvia_ep_msg_free(struct ep *e, struct ep_msg *m)
{
	struct hvia_ep *x = (struct hvia_ep *)e;
	uintptr_t at = (uintptr_t)m->data - offsetof(struct hvia_ep_slot, data);

	if (m->src != e->me)
		receive_post(x, &x->peer[m->src], (struct hvia_ep_slot *)at);
	else
		x->peer[e->me].sending--;
}

static bool received(struct ep *e, uint32_t src, struct hvia_ep_slot *s)
{
	const struct hvia_ep_head *in = &s->head;
	struct ep_head h = { .kind = (enum ep_kind)in->kind,
			     .id = in->id,
			     .len = in->len,
			     .last = in->flags & LAST,
			     .notify = in->flags & NOTIFY,
			     .swap = in->flags & SWAP,
			     .status = in->status,
			     .imm = in->imm,
			     .addr = in->addr,
			     .key = in->key,
			     .a = in->a,
			     .b = in->imm };

	ep_credits_in(e, src, in->consumed);
	return h.kind != EP_CREDIT && ep_in(e, src, &h, s->data);
}

static bool queue_done(struct hvia_ep *x, const struct hvia_ep_peer *p,
		       uint32_t dir, VIP_DESCRIPTOR **d_p)
{
	weft_time_t cost = x->first;

	x->first = weft_host_time(x->core.h, T_vipl_poll);
	return vipl_done(p->vi, dir, cost, d_p) == VIP_SUCCESS;
}

static bool queue_skipped(struct hvia_ep *x)
{
	x->skip -= x->skip != 0;
	return x->skip;
}

static void peer_poll(struct hvia_ep *x, uint32_t i)
{
	struct hvia_ep_peer *p = &x->peer[i];
	VIP_DESCRIPTOR *d;

	if (!queue_skipped(x))
		while (queue_done(x, p, HVIA_Q_SEND, &d))
			p->sending--;
	if (queue_skipped(x))
		return;
	while (queue_done(x, p, HVIA_Q_RECV, &d))
		if (!received(&x->core, i, (struct hvia_ep_slot *)d))
			receive_post(x, p, (struct hvia_ep_slot *)d);
}

static void hvia_ep_poll(struct ep *e)
{
	struct hvia_ep *x = (struct hvia_ep *)e;
	struct ep_peer *own = &e->peer[e->me];
	struct hvia_ep_peer *p = &x->peer[e->me];

	/* Keeps the earlier event count if this poll leaves queues out. The
	 * event may concern such a queue, and a changed count makes the next
	 * wait return at once. */
	if (!x->skip)
		x->seen = vipl_nic(x->nic)->client->event;
	for (uint32_t i = 0; i < e->n; i++) {
		if (i != e->me) {
			peer_poll(x, i);
			continue;
		}
		/* The slots from `got` to `sent` - 1 hold messages of this node
		 * to itself. */
		while (own->got < own->sent &&
		       received(e, i,
				slot_of(x, p, own->got % (e->slots + SPARE))))
			continue;
	}
}

/* Waits for an event, and takes the time of a loop that polls all queues in
 * turn. If the event arrives in the middle of the loop, the next call of
 * hvia_ep_poll() skips the queues that the loop has polled (skip). For its
 * first queue the call charges only the remaining time of the loop's current
 * poll (first). */
static bool spin(struct hvia_ep *x, weft_time_t deadline)
{
	struct weft_host *h = x->core.h;
	weft_time_t poll = weft_host_time(h, T_vipl_poll), into = 0;
	const uint32_t *event = &vipl_nic(x->nic)->client->event;
	uint32_t polls = 2 * (x->core.n - 1), at;

	if (*event == x->seen)
		into = weft_host_spin(h, event, x->seen, (polls + 1) * poll,
				      deadline);
	if (into == WEFT_NEVER)
		return false;
	if (into <= poll) {
		weft_host_cpu(h, poll - into);
		return true;
	}
	/* A poll that ends at the time of the event misses the event, because
	 * at equal times the library's threads, which were started later, run
	 * after the calling thread. */
	at = (uint32_t)(into / poll) + 1;
	x->skip = at - 1;
	x->first = at * poll - into;
	return true;
}

static bool hvia_ep_idle(struct ep *e, weft_time_t deadline)
{
	struct hvia_ep *x = (struct hvia_ep *)e;

	if (e->peer[e->me].got < e->peer[e->me].sent)
		return true;
	if (weft_host_now(e->h) >= deadline)
		return false;
	if (e->irq)
		return vipl_sleep(vipl_nic(x->nic), NULL, 0, x->seen,
				  deadline) != -ETIMEDOUT;
	return spin(x, deadline);
}

/* ---- opening, closing ---- */

static int peer_make(struct hvia_ep *x, uint32_t i)
{
	struct ep *e = &x->core;
	struct hvia_ep_peer *p = &x->peer[i];
	uint32_t n = 2 * (e->slots + SPARE);
	VIP_MEM_ATTRIBUTES m = { .Ptag = x->ptag };
	VIP_VI_ATTRIBUTES a = {
		.ReliabilityLevel = VIP_SERVICE_RELIABLE_RECEPTION,
		.MaxTransferSize = VIPL_MAX_TRANSFER,
		.Ptag = x->ptag,
	};

	p->mem = weft_host_align(e->h, HVIA_PAGE, n * x->stride);
	if (!p->mem)
		return -ENOMEM;
	if (i == e->me)
		return 0;
	if (VipRegisterMem(x->nic, p->mem, n * x->stride, &m, &p->handle) !=
		    VIP_SUCCESS ||
	    VipCreateVi(x->nic, &a, NULL, NULL, &p->vi) != VIP_SUCCESS)
		return -ENOMEM;
	for (uint32_t k = n / 2; k < n; k++)
		receive_post(x, p, slot_of(x, p, k));
	return 0;
}

static int hvia_ep_start(struct ep *e)
{
	struct hvia_ep *x = (struct hvia_ep *)e;
	size_t bytes = sizeof(struct hvia_ep_head) + e->ep.info.max_msg;
	int ret = 0;

	if (bytes > VIPL_MAX_TRANSFER)
		return -EINVAL;
	x->stride =
		(sizeof(struct hvia_ep_slot) + e->ep.info.max_msg + 63) & ~63ul;
	x->first = weft_host_time(e->h, T_vipl_poll);
	x->peer = weft_host_calloc(e->h, e->n, sizeof(*x->peer));
	if (!x->peer || VipOpenNic("hvia0+reliable", &x->nic) != VIP_SUCCESS ||
	    VipCreatePtag(x->nic, &x->ptag) != VIP_SUCCESS)
		return -ENOMEM;
	for (uint32_t i = 0; i < e->n && !ret; i++)
		ret = peer_make(x, i);
	return ret;
}

static void address_fill(const struct hvia_ep *x, uint32_t node, uint32_t peer,
			 uint32_t *out)
{
	const struct vipl_nic *n = vipl_nic(x->nic);
	VIP_NET_ADDRESS *a = (VIP_NET_ADDRESS *)out;
	uint32_t me = x->core.me;
	uint32_t disc[3] = { me < peer ? me : peer, me < peer ? peer : me,
			     x->core.group };
	uint8_t *b = (uint8_t *)out;

	a->HostAddressLen = 6;
	a->DiscriminatorLen = sizeof(disc);
	memcpy(b + 4, n->mac, 6);
	b[8] = (uint8_t)(node >> 8);
	b[9] = (uint8_t)node;
	memcpy(b + 10, disc, sizeof(disc));
}

static int hvia_ep_meet(struct ep *e)
{
	struct hvia_ep *x = (struct hvia_ep *)e;
	uint32_t local[8], remote[8];
	VIP_VI_ATTRIBUTES a;

	for (uint32_t i = 0; i < e->n; i++) {
		if (i == e->me)
			continue;
		address_fill(x, e->me, i, local);
		address_fill(x, i, i, remote);
		if (VipConnectPeerRequest(x->peer[i].vi,
					  (VIP_NET_ADDRESS *)local,
					  (VIP_NET_ADDRESS *)remote,
					  VIP_INFINITE) != VIP_SUCCESS ||
		    VipConnectPeerWait(x->peer[i].vi, &a) != VIP_SUCCESS)
			return -ECONNREFUSED;
	}
	return 0;
}

static void hvia_ep_stop(struct ep *e)
{
	struct hvia_ep *x = (struct hvia_ep *)e;
	VIP_DESCRIPTOR *d = NULL;

	for (uint32_t i = 0; x->peer && i < e->n; i++) {
		struct hvia_ep_peer *p = &x->peer[i];

		/* Closes a connection only after its sends have completed,
		 * because the program considers them sent. The loop ends even
		 * without an answer, because the reliable service gives up
		 * after its last attempt. */
		if (p->vi) {
			while (VipSendDone(p->vi, &d) == VIP_NOT_DONE || d)
				if (!d)
					host_nap(e->h, T_hvia_close_poll);
			VipDisconnect(p->vi);
			do
				VipRecvDone(p->vi, &d);
			while (d);
			VipDestroyVi(p->vi);
			VipDeregisterMem(x->nic, p->mem, p->handle);
		}
		weft_host_free(e->h, p->mem);
	}
	if (x->nic)
		VipCloseNic(x->nic);
	weft_host_free(e->h, x->peer);
}

static const struct ep_nic_ops hvia_ep_nic = {
	.name = "hvia",
	.bytes = sizeof(struct hvia_ep),
	.emulated = WEFT_EP_PUT | WEFT_EP_GET | WEFT_EP_FADD | WEFT_EP_CSWAP,
	.max_msg = 16384,
	.slots = 8,
	.requests = EP_OPS,
	.one_ring = true,
	.call_time = T_hvia_ep_call,
	.start = hvia_ep_start,
	.meet = hvia_ep_meet,
	.stop = hvia_ep_stop,
	.message = hvia_ep_message,
	.poll = hvia_ep_poll,
	.idle = hvia_ep_idle,
	.msg_free = hvia_ep_msg_free,
};

static int ep_hvia_open(struct weft_host *h, const struct weft_ep_attr *attr,
			struct weft_ep **ep_p)
{
	return ep_open(h, attr, &hvia_ep_nic, ep_p);
}

const struct ep_nic ep_nic_hvia = { .probe = hvia_probe,
				    .open = ep_hvia_open,
				    .groups = true };
