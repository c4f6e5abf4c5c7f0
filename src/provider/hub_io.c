/* SPDX-License-Identifier: Apache-2.0 */
/* Sends and receives messages, and handles events of the transport. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "provider/bulk.h"
#include "provider/hub.h"
#include "provider/op.h"

enum { HUB_BATCH = 32 };

struct wfi_peer *wfi_peer_get(struct wfi_hub *h, uint32_t addr)
{
	struct wfi_peer *p = map_ptr(&h->peers, addr);

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p || map_set(&h->peers, addr, (uintptr_t)p)) {
		free(p);
		return NULL;
	}
	p->addr = addr;
	STAILQ_INIT(&p->queue);
	return p;
}

/* ---- sending ---- */

static int hub_keep(struct wfi_pkts *q, const void *buf, size_t len,
		    struct wfi_note *note)
{
	struct wfi_pkt *k = malloc(sizeof(*k) + len);

	if (!k)
		return -ENOMEM;
	k->note = note;
	k->len = len;
	memcpy(k->buf, buf, len);
	STAILQ_INSERT_TAIL(q, k, link);
	return 0;
}

int wfi_hub_send(struct wfi_hub *h, struct wfi_peer *p, const struct wire *w,
		 const struct iovec *iov, size_t n, struct wfi_note *note,
		 bool must)
{
	size_t len = sizeof(*w);
	int rc;

	if (p->dead)
		return -EPIPE;
	if (p->busy && !must)
		return -EAGAIN;
	memcpy(h->scratch, w, sizeof(*w));
	for (size_t i = 0; i < n; i++) {
		if (iov[i].iov_len)
			memcpy(h->scratch + len, iov[i].iov_base,
			       iov[i].iov_len);
		len += iov[i].iov_len;
	}
	if (p->addr == h->self)
		return hub_keep(&h->loop, h->scratch, len, note);
	rc = p->busy ? -EAGAIN
		     : weft_ep_send(h->ep, p->addr, h->scratch, len, 0, note);
	if (rc == -EAGAIN && must) {
		rc = hub_keep(&p->queue, h->scratch, len, note);
		if (!rc && !p->busy) {
			p->busy = true;
			TAILQ_INSERT_TAIL(&h->busy, p, link);
		}
	}
	return rc;
}

void wfi_hub_tell(struct wfi_hub *h, struct wfi_peer *p, const struct wire *w,
		  const void *data, size_t len)
{
	struct iovec iov = { (void *)data, len };

	wfi_hub_send(h, p, w, &iov, len ? 1 : 0, NULL, true);
}

/* Sends all collected acknowledgements in one message, so that a stream of
 * writes does not cause a stream of messages. */
static void peer_acks(struct wfi_hub *h, struct wfi_peer *p)
{
	struct wire w = { .op = WIRE_ACKS, .flags = WIRE_REPLY };

	if (p->n_acks)
		wfi_hub_tell(h, p, &w, p->acks, p->n_acks * sizeof(*p->acks));
	p->n_acks = 0;
}

void wfi_hub_ack(struct wfi_hub *h, struct wfi_peer *p, uint16_t port,
		 uint32_t id, int err)
{
	struct wire w = { .op = WIRE_ACK,
			  .flags = WIRE_REPLY,
			  .dst = port,
			  .id = id,
			  .a = err };

	if (err || !h->progressing) {
		wfi_hub_tell(h, p, &w, NULL, 0);
		return;
	}
	if (!p->owed) {
		p->owed = true;
		p->next_ack = h->acks;
		h->acks = p;
	}
	p->acks[p->n_acks++] = id;
	if (p->n_acks == WFI_ACKS)
		peer_acks(h, p);
}

/* Sends queued messages of all peers while the transport has room. */
static void hub_flush_busy(struct wfi_hub *h)
{
	struct wfi_peer *p, *next;
	struct wfi_pkt *k;

	for (p = TAILQ_FIRST(&h->busy); p; p = next) {
		next = TAILQ_NEXT(p, link);
		while ((k = STAILQ_FIRST(&p->queue))) {
			int rc = p->dead ? -EPIPE
					 : weft_ep_send(h->ep, p->addr, k->buf,
							k->len, 0, k->note);

			if (rc == -EAGAIN)
				break;
			STAILQ_REMOVE_HEAD(&p->queue, link);
			if (rc && k->note)
				k->note->fn(k->note, rc);
			free(k);
		}
		if (k)
			continue;
		p->busy = false;
		TAILQ_REMOVE(&h->busy, p, link);
	}
}

/* ---- receiving ---- */

/* Handles a message, or delivers it to its port. Refuses a request to a closed
 * port, so that its sender does not wait. */
static void hub_message(struct wfi_hub *h, uint32_t src, const void *data,
			size_t len)
{
	struct wire w;
	struct wfi_in in = { .peer = wfi_peer_get(h, src), .w = &w };
	struct wfi_port *port;

	if (len < sizeof(w) || !in.peer)
		return;
	memcpy(&w, data, sizeof(w));
	/* A message from the address of a dead peer shows that a new process
	 * has that address. */
	in.peer->dead = false;
	in.from = WFI_NAME(src, w.src);
	in.data = (const char *)data + sizeof(w);
	in.len = len - sizeof(w);
	switch (w.op) {
	case WIRE_ASK:
		wfi_name_ask(h, &in);
		break;
	case WIRE_HERE:
		wfi_name_here(h, &in);
		break;
	case WIRE_ACKS:
		wfi_op_acks(h, &in);
		break;
	case WIRE_ACK:
	case WIRE_CTS:
	case WIRE_RESULT:
		wfi_op_reply(h, &in);
		break;
	default:
		port = map_ptr(&h->ports, w.dst);
		if (port)
			port->in(port, &in);
		else if (w.id && !(w.flags & WIRE_REPLY))
			wfi_hub_ack(h, in.peer, w.src, w.id, EHOSTUNREACH);
	}
}

static void hub_peer_down(struct wfi_hub *h, uint32_t addr)
{
	struct wfi_peer *p = wfi_peer_get(h, addr);

	if (!p || p->dead)
		return;
	p->dead = true;
	wfi_ops_fail(h, p);
	map_foreach(&h->ports, it)
	{
		struct wfi_port *port = (void *)(uintptr_t)it->val;

		if (port->down)
			port->down(port, p);
	}
}

/* Handles messages from this process to itself. New messages that the handlers
 * send wait for the next call, so that this call ends. */
static bool hub_loop(struct wfi_hub *h)
{
	struct wfi_pkts q = STAILQ_HEAD_INITIALIZER(q);
	struct wfi_pkt *k;
	bool any = !STAILQ_EMPTY(&h->loop);

	STAILQ_CONCAT(&q, &h->loop);
	while ((k = STAILQ_FIRST(&q))) {
		STAILQ_REMOVE_HEAD(&q, link);
		if (k->note)
			k->note->fn(k->note, 0);
		hub_message(h, h->self, k->buf, k->len);
		free(k);
	}
	return any;
}

static bool hub_again(struct wfi_hub *h)
{
	TAILQ_HEAD(, wfi_op) q = TAILQ_HEAD_INITIALIZER(q);
	struct wfi_op *op;
	bool any = false;

	TAILQ_CONCAT(&q, &h->again, link);
	while ((op = TAILQ_FIRST(&q))) {
		TAILQ_REMOVE(&q, op, link);
		op->queued = false;
		any |= op->step(op) != -EAGAIN;
	}
	return any;
}

bool wfi_hub_progress(struct wfi_hub *h)
{
	struct weft_ep_event ev[HUB_BATCH];
	bool any = false, nested = h->progressing;
	int n;
	struct wfi_peer *p;

	h->progressing = true;
	do {
		n = h->ep->ops->poll(h->ep, ev, HUB_BATCH);
		for (int i = 0; i < n; i++) {
			struct wfi_note *note = ev[i].ctx;

			if (ev[i].kind == WEFT_EV_RECV) {
				hub_message(h, ev[i].src, ev[i].data,
					    ev[i].len);
				h->ep->ops->release(h->ep, &ev[i]);
			} else if (ev[i].kind == WEFT_EV_PUT_IN) {
				wfi_bulk_in(h, ev[i].src, (uint32_t)ev[i].imm);
			} else if (note) {
				note->fn(note, ev[i].kind == WEFT_EV_ERROR
						       ? ev[i].status
						       : 0);
			} else if (ev[i].kind == WEFT_EV_ERROR &&
				   ev[i].status == -EPIPE) {
				hub_peer_down(h, ev[i].src);
			}
		}
		any |= n > 0;
	} while (n == HUB_BATCH);
	any |= hub_loop(h);
	any |= hub_again(h);
	h->progressing = nested;
	while ((p = h->acks)) {
		h->acks = p->next_ack;
		p->next_ack = NULL;
		p->owed = false;
		peer_acks(h, p);
	}
	hub_flush_busy(h);
	return any;
}
