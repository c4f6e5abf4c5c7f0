/* SPDX-License-Identifier: Apache-2.0 */
/* The queues of a crossbar input (extoll.md 4.3): which cells request their
 * output.
 *
 * A packet of several cells holds its output from SOP to EOP. Suppose that an
 * incomplete packet overtakes earlier packets of its input and VC. The earlier
 * packets may fill the slots that the last cells of the incomplete packet need.
 * They may also wait, some links further, for an output that the incomplete
 * packet holds. Datelines do not prevent this deadlock. Therefore the SOP cell
 * of a packet requests only when the whole packet is in the queues, or when no
 * earlier packet of its VC is in them. */
#include "systems/extoll/network/crossbar.h"
#include "weft/trace.h"

bool extoll_xbar_may_ask(const struct extoll_xbar_in *in, const struct ecell *c)
{
	const struct extoll_xbar_open *p = &in->open[c->vc];

	if ((c->flags & (ECELL_SOP | ECELL_EOP)) != ECELL_SOP)
		return true;
	return !p->is_open || c->serial != p->serial || p->waiting == p->cells;
}

static void crossbar_queues_ask(struct extoll_xbar *x, uint32_t i, uint32_t o,
				const struct ecell *c)
{
	/* A packet from a link port to a link port may request t_transit cycles
	 * after its SOP cell has arrived. Only the SOP cell waits here, because
	 * the distances between the cells of a packet stay equal. */
	if (x->t_transit && i >= EX_INTERNAL && o >= EX_INTERNAL &&
	    c->flags & ECELL_SOP &&
	    c->cycle + x->t_transit > cell_channel_now(&x->ep[i])) {
		vec_push(&x->held, ((struct extoll_xbar_held){
					   c->cycle + x->t_transit, (uint8_t)i,
					   (uint8_t)o, (uint8_t)c->vc }));
		return;
	}
	if (!extoll_xbar_may_ask(&x->in[i], c) ||
	    (x->n_turn && c->flags & ECELL_SOP &&
	     !extoll_xbar_turn_is(x, i, c)))
		return;
	x->out[o].want[c->vc_out] |= 1ULL << (i * EX_VCS + c->vc);
	x->asked |= (uint16_t)(1u << o);
	x->fresh |= (uint16_t)(1u << o);
}

uint64_t extoll_xbar_queue_held(struct extoll_xbar *x, uint64_t cycle)
{
	uint64_t next = WEFT_NEVER;

	for (size_t k = 0; k < x->held.n;) {
		struct extoll_xbar_held h = x->held.at[k];
		uint32_t slot = x->in[h.in].head[h.out * EX_VCS + h.vc];

		if (h.cycle > cycle) {
			next = h.cycle < next ? h.cycle : next;
			k++;
			continue;
		}
		x->held.at[k] = vec_pop(&x->held);
		if (slot != EXTOLL_XBAR_NONE)
			crossbar_queues_ask(x, h.in, h.out,
					    &x->ep[h.in].slot[slot]);
	}
	return next;
}

/* Adds a packet that has a hash to the order of such packets. Does nothing if
 * the packet may not request an output yet, or if its SOP cell has left the
 * queue. */
static void order_in(struct extoll_xbar *x, uint32_t i, uint32_t q,
		     const struct ecell *c)
{
	const struct ecell *s = x->ep[i].slot;
	uint32_t at = x->in[i].head[q];

	if (!(c->flags & (ECELL_SOP | ECELL_EOP)))
		return;
	while (at != EXTOLL_XBAR_NONE && s[at].serial != c->serial)
		at = s[at].next;
	if (at != EXTOLL_XBAR_NONE && s[at].flags & ECELL_SOP &&
	    extoll_xbar_may_ask(&x->in[i], &s[at]))
		extoll_xbar_turn_add(x, i, &s[at]);
}

void extoll_xbar_queue_push(struct extoll_xbar *x, uint32_t i, uint32_t o,
			    uint32_t slot)
{
	struct extoll_xbar_in *in = &x->in[i];
	struct ecell *s = x->ep[i].slot, *c = &s[slot];
	struct extoll_xbar_open *p = &in->open[c->vc];
	uint32_t q = o * EX_VCS + c->vc;

	if (c->flags & ECELL_SOP) {
		p->serial++;
		p->cells = 0;
		p->is_open = !(c->flags & (ECELL_EOP | ECELL_VOID));
	}
	c->serial = p->serial;
	p->waiting++;
	p->cells += p->is_open;
	if ((c->flags & (ECELL_EOP | ECELL_VOID)) == ECELL_EOP)
		p->is_open = false;
	if (in->head[q] != EXTOLL_XBAR_NONE)
		s[in->tail[q]].next = (uint8_t)slot;
	else
		in->head[q] = (uint8_t)slot;
	in->tail[q] = (uint8_t)slot;
	if (x->hash_order)
		order_in(x, i, q, c);
	/* Adding a cell lets the head of the queue request in two cases: the
	 * cell is the head, or the cell is the EOP for which the head
	 * waited. */
	if (in->head[q] == slot || c->flags & ECELL_EOP)
		crossbar_queues_ask(x, i, o, &s[in->head[q]]);
}

void extoll_xbar_queue_left(struct extoll_xbar *x, uint32_t i,
			    const struct ecell *c)
{
	struct extoll_xbar_in *in = &x->in[i];
	struct extoll_xbar_open *p = &in->open[c->vc];
	uint32_t q;

	if (x->n_turn && c->flags & ECELL_SOP) {
		/* The next packet of the same hash may now request, if it is at
		 * the head of its queue. */
		struct extoll_xbar_turn t;
		uint32_t slot;

		if (!(!extoll_xbar_turn_drop(x, i, c, &t))) {
			slot = x->in[t.in].head[t.out * EX_VCS + t.vc];
			if (slot != EXTOLL_XBAR_NONE &&
			    x->ep[t.in].slot[slot].serial == t.serial)
				crossbar_queues_ask(x, t.in, t.out,
						    &x->ep[t.in].slot[slot]);
		}
	}
	p->waiting--;
	if (!p->is_open)
		return;
	p->cells -= c->serial == p->serial;
	if (p->waiting != p->cells || !p->cells)
		return;
	q = in->out[c->vc] * EX_VCS + c->vc;
	if (x->hash_order)
		order_in(x, i, q, &x->ep[i].slot[in->head[q]]);
	crossbar_queues_ask(x, i, in->out[c->vc], &x->ep[i].slot[in->head[q]]);
}

void extoll_xbar_queue_pop(struct extoll_xbar *x, uint32_t i, uint32_t o,
			   uint32_t bit)
{
	struct extoll_xbar_in *in = &x->in[i];
	uint32_t q = o * EX_VCS + bit % EX_VCS;
	struct ecell *c = &x->ep[i].slot[in->head[q]];
	struct extoll_xbar_out *out = &x->out[o];

	out->want[c->vc_out] &= ~(1ULL << bit);
	in->head[q] = c->next;
	if (c->next != EXTOLL_XBAR_NONE)
		crossbar_queues_ask(x, i, o, &x->ep[i].slot[c->next]);
	extoll_xbar_queue_left(x, i, c);
	if (!(out->want[0] | out->want[1] | out->want[2] | out->want[3]))
		x->asked &= (uint16_t) ~(1u << o);
}

static uint64_t crossbar_queues_queued(const struct extoll_xbar *x, uint32_t o)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < EX_PORTS; i++)
		for (uint32_t vc = 0; vc < EX_VCS; vc++) {
			uint32_t at = x->in[i].head[o * EX_VCS + vc];

			for (; at != EXTOLL_XBAR_NONE;
			     at = x->ep[i].slot[at].next)
				n++;
		}
	return n;
}

void extoll_xbar_waiting(struct weft_comp *c, uint32_t port,
			 struct weft_waiting *w)
{
	*w = (struct weft_waiting){ .unit = "cells",
				    .queued = crossbar_queues_queued(c->state,
								     port) };
}

void extoll_xbar_tell_queues(const struct extoll_xbar *x)
{
	for (uint32_t o = 0; o < EX_PORTS; o++)
		weft_level(x->comp, "queue", o, crossbar_queues_queued(x, o),
			   weft_now(x->comp));
}

void extoll_xbar_tell_cell(const struct extoll_xbar *x, uint32_t i, uint32_t o,
			   uint64_t from, uint64_t to)
{
	weft_state_at(x->comp, "output", o, x->comp->ports[i].name,
		      weft_clock_edge(&x->clock, from));
	weft_state_at(x->comp, "output", o, "idle",
		      weft_clock_edge(&x->clock, to));
}
