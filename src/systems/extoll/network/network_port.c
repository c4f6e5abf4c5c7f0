/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL network port: queues, cutting of packets into cells, delivery of cells
 * to the unit. See network_port.h. */
#include "systems/extoll/network/network_port.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "systems/extoll/network/cell_channel_internal.h"
#include "weft/trace.h"

/* ---- waking ---- */

static void netport_arm(struct netport *np, uint64_t cycle)
{
	if (cycle >= np->armed)
		return;
	np->armed = cycle;
	weft_wake(np->ep.comp, np->tag,
		  weft_clock_edge(&np->ep.cfg.clk, cycle));
}

static void netport_wake(void *own, struct cell_channel *ep, uint64_t cycle)
{
	netport_arm(own, cycle);
}

/* Returns the cycle at which the unit sees the last word of the cell in `slot`
 * (N4). */
static uint64_t network_port_whole(const struct netport *np, uint32_t slot)
{
	const struct ecell *c = &np->ep.slot[slot];

	return c->cycle + c->flits + np->t_rx;
}

static void netport_cell(void *own, struct cell_channel *ep, uint64_t cycle)
{
	struct netport *np = own;

	netport_arm(np, network_port_whole(np, ep->way_tail));
}

static const struct cell_channel_ops port_ops = { .wake = netport_wake,
						  .cell = netport_cell };

int netport_init(struct netport *np, struct weft_comp *c, struct weft_port *p,
		 const struct cell_channel_cfg *cfg, uint32_t depth,
		 const struct netport_ops *ops, void *own, uint32_t tag,
		 struct weft_err *err)
{
	uint32_t route = ex_route_flits(cfg->width, EX_ROUTE_MAX);
	struct cell_channel_cfg cell = *cfg;

	/* A crossbar reads the whole route in the first cell, and that cell
	 * must still have flits when the route is used up. */
	if (cfg->cell_flits && cfg->cell_flits <= route)
		return weft_fail(
			err, EINVAL,
			"%s: cell_flits = %u: the first cell must hold the longest route, %u flits, and more",
			c->name, cfg->cell_flits, route);
	*np = (struct netport){ .ops = ops,
				.own = own,
				.tag = tag,
				.depth = depth,
				.armed = WEFT_NEVER,
				.t_rx = 3 };
	cell.t_out = 3; /* N3 */
	/* 0 here, because N4 counts from the last flit of a cell */
	cell.t_in = 0;
	return cell_channel_init(&np->ep, c, p, &cell, &port_ops, np, err);
}

static void queue_free(struct netport_queue *q)
{
	struct netport_pkt *p;

	while ((p = q->head)) {
		q->head = p->next;
		weft_frame_free(p->f);
		free(p);
	}
}

void netport_abandon(struct netport *np)
{
	queue_free(&np->q[0]);
	queue_free(&np->q[1]);
	cell_channel_abandon(&np->ep, false);
}

void netport_fini(struct netport *np)
{
	struct netport_pkt *p;

	queue_free(&np->q[0]);
	queue_free(&np->q[1]);
	while ((p = np->free)) {
		np->free = p->next;
		free(p);
	}
	cell_channel_fini(&np->ep);
}

/* ---- sending ---- */

/* Returns the number of routing flits in front of the packet's words. */
static uint32_t route_flits(const struct netport *np,
			    const struct weft_frame *f)
{
	const struct ex_meta *m = (const struct ex_meta *)&f->u[3];

	return ex_route_flits(np->ep.cfg.width, m->hops);
}

struct netport_pkt *netport_send(struct netport *np, struct weft_frame *f,
				 uint64_t cycle, uint32_t avail)
{
	struct netport_queue *q = &np->q[ex_meta(f)->cls];
	struct netport_pkt *p = np->free;
	uint32_t w = ex_flit_bytes(np->ep.cfg.width);
	uint32_t bytes = ex_meta(f)->words ? ex_words(f) * 8 : f->payload.len;

	if (p)
		np->free = p->next;
	else
		p = malloc(sizeof(*p));
	assert(p);
	ex_meta(f)->pos = 0;
	ex_meta(f)->dim = 0xff;
	*p = (struct netport_pkt){ .f = f,
				   .ready = cycle,
				   .avail = avail,
				   .flits = route_flits(np, f) + bytes / w };
	if (q->head)
		q->tail->next = p;
	else
		q->head = p;
	q->tail = p;
	q->n++;
	netport_arm(np, cycle > np->ep.next_grant ? cycle : np->ep.next_grant);
	return p;
}

void netport_more(struct netport *np, struct netport_pkt *p, uint32_t avail)
{
	uint64_t now = cell_channel_now(&np->ep);

	p->avail = avail;
	netport_arm(np, now > np->ep.next_grant ? now : np->ep.next_grant);
}

static uint32_t cell_flits(const struct netport *np,
			   const struct netport_pkt *p)
{
	uint32_t max = EX_CELL_BYTES / ex_flit_bytes(np->ep.cfg.width);
	uint32_t left = p->flits - p->flit;

	if (np->ep.cfg.cell_flits)
		max = np->ep.cfg.cell_flits;
	return left < max ? left : max;
}

static void cell_send(struct netport *np, uint32_t cls, uint64_t c)
{
	struct netport_queue *q = &np->q[cls];
	struct netport_pkt *p = q->head;
	uint64_t id = p->f->trace_id;
	uint32_t n = cell_flits(np, p), rf = route_flits(np, p->f);
	struct ecell cell = {
		.pkt = p->f,
		.first = (uint16_t)(p->flit > rf ? p->flit - rf : 0),
		.flits = (uint8_t)n,
		.flags = (p->flit ? 0 : ECELL_SOP) |
			 (p->flit + n == p->flits ? ECELL_EOP : 0),
	};

	if (cell.flags & ECELL_SOP && !ex_meta(p->f)->hops) {
		cell.flags |= ECELL_TABLE;
		cell.dest = ex_meta(p->f)->dest;
		cell.port = ex_meta(p->f)->port;
		cell.cls = ex_meta(p->f)->cls;
		cell.dim = 0xff;
	}
	p->flit += n;
	cell_channel_commit(&np->ep, &cell, cls * 2, c);
	np->turn = !cls;
	if (!(cell.flags & ECELL_EOP))
		return;
	q->head = p->next;
	q->n--;
	p->next = np->free;
	np->free = p;
	if (np->ops->sent)
		np->ops->sent(np->own, np, cls, id);
}

/* Returns the first cycle at which packets of class cls may send a cell, or
 * WEFT_NEVER. */
static uint64_t class_next(struct netport *np, uint32_t cls)
{
	struct netport_pkt *p = np->q[cls].head;
	uint64_t now = np->ep.next_grant;
	uint32_t end, words;

	if (!p)
		return WEFT_NEVER;
	/* the words of the next cell must be available */
	words = ex_meta(p->f)->words * 8u;
	end = p->flit + cell_flits(np, p) - route_flits(np, p->f);
	end *= ex_flit_bytes(np->ep.cfg.width);
	end = end > words ? end - words : 0;
	if (p->avail < end && p->avail < p->f->payload.len)
		return WEFT_NEVER;
	return p->ready > now ? p->ready : now;
}

static bool class_try(struct netport *np, uint32_t cls, uint64_t c)
{
	if (class_next(np, cls) > c || !cell_channel_can(&np->ep, cls * 2, c))
		return false;
	cell_send(np, cls, c);
	return true;
}

/* ---- receiving ---- */

static void netport_rx(struct netport *np, uint64_t c)
{
	struct cell_channel *ep = &np->ep;
	uint32_t w = ex_flit_bytes(ep->cfg.width);

	while (ep->way_head != CELL_CHANNEL_NONE &&
	       network_port_whole(np, ep->way_head) <= c) {
		uint32_t slot = cell_channel_take(ep, c);
		const struct ecell *s = &ep->slot[slot];
		struct netport_cell cell = { .pkt = s->pkt,
					     .first = s->first * w,
					     .sop = s->flags & ECELL_SOP,
					     .eop = s->flags & ECELL_EOP,
					     .vc = s->vc,
					     .slot = (uint8_t)slot };
		uint32_t route;

		if (s->flags & ECELL_VOID) {
			netport_release(np, slot, c);
			continue;
		}
		route = cell.sop && !ex_meta(s->pkt)->hops ? 1 : 0;
		cell.bytes = (s->flits - route) * w;
		weft_mark(ep->comp, cell.eop ? s->pkt->trace_id : 0,
			  "network port, whole cell", weft_now(ep->comp));
		np->ops->cell(np->own, np, &cell);
	}
	if (ep->way_head != CELL_CHANNEL_NONE)
		netport_arm(np, network_port_whole(np, ep->way_head));
}

void netport_event(struct netport *np)
{
	uint64_t c = np->armed;
	uint32_t cls;

	if (c == WEFT_NEVER ||
	    weft_clock_edge(&np->ep.cfg.clk, c) != weft_now(np->ep.comp))
		return;
	np->armed = WEFT_NEVER;
	netport_rx(np, c);
	if (!class_try(np, np->turn, c))
		class_try(np, !np->turn, c);
	for (cls = 0; cls < 2; cls++) {
		uint64_t t = class_next(np, cls);

		if (t != WEFT_NEVER && t > c)
			netport_arm(np, t);
	}
}
