/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL crossbar: void cells that wait (extoll.md 5.6), what its link ports
 * count, and what they tell the NIC (2.7). */
#include "systems/extoll/network/crossbar.h"

#include <assert.h>

#include "systems/extoll/network/cell_channel_framed.h"

/* The cell before `slot` in queue q, slot itself when it is the first, or none.
 */
static uint32_t before(const struct xb *x, uint32_t i, uint32_t q,
		       uint32_t slot)
{
	const struct ecell *s = x->ep[i].slot;
	uint32_t at = x->in[i].head[q];

	if (at == slot)
		return at;
	while (at != XB_NONE && s[at].next != slot)
		at = s[at].next;
	return at;
}

/* Takes the cell out of queue (o, vc), if it is there. */
static bool unlink_cell(struct xb *x, uint32_t i, uint32_t o, uint32_t slot)
{
	struct ecell *s = x->ep[i].slot;
	uint32_t vc = s[slot].vc, q = o * EX_VCS + vc;
	uint32_t at = before(x, i, q, slot);

	if (at == XB_NONE)
		return false;
	if (at == slot) {
		xb_queue_pop(x, i, o, i * EX_VCS + vc);
		return true;
	}
	s[at].next = s[slot].next;
	if (x->in[i].tail[q] == slot)
		x->in[i].tail[q] = (uint8_t)at;
	xb_queue_left(x, i, &s[slot]);
	return true;
}

/* The next packet may have come already: all queues are looked at. */
void xb_gone(void *own, struct eport *ep, uint32_t slot)
{
	struct xb *x = own;
	uint32_t i = (uint32_t)(ep - x->ep), o;

	for (o = 0; o < EX_PORTS; o++)
		if (unlink_cell(x, i, o, slot))
			break;
	assert(o < EX_PORTS);
	weft_count(x->comp, XB_VOIDS, 1);
	eport_release(ep, slot, eport_now(ep));
	ep->ops->wake(own, ep, eport_now(ep));
}

/* To the event queue of the NIC beside us: a register's time later. */
void xb_news(struct xb *x, uint32_t lp, enum eport_link what)
{
	const struct weft_port *nic = x->comp->ports[0].peer;
	uint64_t now = eport_now(&x->ep[0]);

	if (nic && nic->comp->cls->kind == WEFT_KIND_NIC)
		weft_post(nic->comp, EPORT_NEWS_TAG(lp, what),
			  weft_clock_edge(&x->clock, now + 1));
}

void xb_link(void *own, struct eport *ep, enum eport_link what)
{
	struct xb *x = own;

	xb_news(x, (uint32_t)(ep - x->ep) - EX_INTERNAL, what);
}

static void slow_counts(uint64_t *n, const struct slow_count *c)
{
	n[XB_LOST] += c->lost;
	n[XB_RESENT] += c->resent;
	n[XB_NACKS_IN] += c->nacks_in;
	n[XB_STALE] += c->nacks_stale;
	n[XB_IGNORED] += c->ignored;
	n[XB_CONTROL] += c->control;
	n[XB_IDLE] += c->idle;
	n[XB_PIECES] += c->pieces;
}

/* Sums over all link ports. */
void xb_link_counts(struct xb *x)
{
	uint64_t *n = x->comp->counters;
	uint32_t i;

	for (i = XB_RETRIES; i < XB_N_COUNTERS; i++)
		n[i] = 0;
	for (i = EX_INTERNAL; i < EX_PORTS; i++) {
		const struct eport_count *c = &x->ep[i].count;

		n[XB_RETRIES] += c->replays;
		n[XB_TIMEOUTS] += c->timeouts;
		n[XB_NACKS] += c->nacks;
		n[XB_CRC] += c->crc;
		n[XB_CODE] += c->code;
		n[XB_SEQ] += c->seq;
		n[XB_VOIDS_IN] += c->voids;
		n[XB_DOWNS] += c->downs;
		if (x->ep[i].slow)
			slow_counts(n, &x->ep[i].slow->n);
	}
}
