/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL crossbar: void cells in its queues (extoll.md 5.6), counters of its
 * link ports, and notifications to the NIC (2.7). */
#include "systems/extoll/network/crossbar.h"

#include <assert.h>

#include "systems/extoll/network/cell_channel_framed.h"

/* Removes the void cell from its queue. Searches all queues of the cell's VC,
 * because in->out of the VC may belong to the next packet already. */
void extoll_xbar_gone(void *own, struct cell_channel *ep, uint32_t slot)
{
	struct extoll_xbar *x = own;
	uint32_t i = (uint32_t)(ep - x->ep), vc = ep->slot[slot].vc, o, q;
	struct ecell *s = ep->slot;
	uint32_t at = EXTOLL_XBAR_NONE;

	for (o = 0; o < EX_PORTS; o++) {
		q = o * EX_VCS + vc;
		at = x->in[i].head[q];
		if (at == slot)
			break;
		while (at != EXTOLL_XBAR_NONE && s[at].next != slot)
			at = s[at].next;
		if (at != EXTOLL_XBAR_NONE)
			break;
	}
	assert(o < EX_PORTS);
	if (at == slot) {
		extoll_xbar_queue_pop(x, i, o, i * EX_VCS + vc);
	} else { /* the cell follows the one at index `at` */
		s[at].next = s[slot].next;
		if (x->in[i].tail[q] == slot)
			x->in[i].tail[q] = (uint8_t)at;
		extoll_xbar_queue_left(x, i, &s[slot]);
	}
	weft_count(x->comp, EXTOLL_XBAR_VOIDS, 1);
	cell_channel_release(ep, slot, cell_channel_now(ep));
	ep->ops->wake(own, ep, cell_channel_now(ep));
}

/* Posts the event to the event queue of the NIC beside the crossbar, one cycle
 * later. */
void extoll_xbar_news(struct extoll_xbar *x, uint32_t lp,
		      enum cell_channel_link what)
{
	const struct weft_port *nic = x->comp->ports[0].peer;
	uint64_t now = cell_channel_now(&x->ep[0]);

	if (nic && nic->comp->cls->kind == WEFT_KIND_NIC)
		weft_post(nic->comp, CELL_CHANNEL_NEWS_TAG(lp, what),
			  weft_clock_edge(&x->clock, now + 1));
}

void extoll_xbar_link(void *own, struct cell_channel *ep,
		      enum cell_channel_link what)
{
	struct extoll_xbar *x = own;

	extoll_xbar_news(x, (uint32_t)(ep - x->ep) - EX_INTERNAL, what);
}

/* Sums the counters of all link ports. */
void extoll_xbar_link_counts(struct extoll_xbar *x)
{
	uint64_t *n = x->comp->counters;
	const struct slow_count *s;
	uint32_t i;

	for (i = EXTOLL_XBAR_RETRIES; i < EXTOLL_XBAR_N_COUNTERS; i++)
		n[i] = 0;
	for (i = EX_INTERNAL; i < EX_PORTS; i++) {
		const struct cell_channel_count *c = &x->ep[i].count;

		n[EXTOLL_XBAR_RETRIES] += c->replays;
		n[EXTOLL_XBAR_TIMEOUTS] += c->timeouts;
		n[EXTOLL_XBAR_NACKS] += c->nacks;
		n[EXTOLL_XBAR_CRC] += c->crc;
		n[EXTOLL_XBAR_CODE] += c->code;
		n[EXTOLL_XBAR_SEQ] += c->seq;
		n[EXTOLL_XBAR_VOIDS_IN] += c->voids;
		n[EXTOLL_XBAR_DOWNS] += c->downs;
		if (!x->ep[i].slow)
			continue;
		s = &x->ep[i].slow->n;
		n[EXTOLL_XBAR_LOST] += s->lost;
		n[EXTOLL_XBAR_RESENT] += s->resent;
		n[EXTOLL_XBAR_NACKS_IN] += s->nacks_in;
		n[EXTOLL_XBAR_STALE] += s->nacks_stale;
		n[EXTOLL_XBAR_IGNORED] += s->ignored;
		n[EXTOLL_XBAR_CONTROL] += s->control;
		n[EXTOLL_XBAR_IDLE] += s->idle;
		n[EXTOLL_XBAR_PIECES] += s->pieces;
	}
}
