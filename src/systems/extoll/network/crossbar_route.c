/* SPDX-License-Identifier: Apache-2.0 */
/* Next output and virtual channel of a packet at a crossbar (extoll.md 3.9,
 * 4.5, 4.6). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "systems/extoll/network/crossbar.h"
#include "systems/extoll/network/route_runs.h"

/* Returns the outgoing VC. A packet starts each dimension on the even VC. On a
 * cable that closes a ring, and on all links behind it in that dimension, it
 * uses the odd VC, so that no cycle of channels exists (4.6). */
static uint32_t vc_next(const struct extoll_xbar *x, struct ex_meta *m,
			uint32_t vc, uint32_t out)
{
	uint32_t dim = 0xff, odd; /* 0xff: an internal port has no dimension */

	if (x->place.topo)
		dim = topo_dim(x->place.topo, out);
	else if (out >= EX_INTERNAL)
		dim = (out - EX_INTERNAL) / 2;
	odd = dim == m->dim ? vc & 1 : 0;
	m->dim = (uint8_t)dim;
	if (out < EX_INTERNAL)
		return m->cls * 2u;
	return m->cls * 2u + (odd | (x->datelines >> out & 1));
}

/* Consumes the next nibble of the route and returns it. */
static uint32_t path_next(struct extoll_xbar *x, struct ecell *c,
			  struct ex_meta *m)
{
	uint32_t nib;

	if (m->hops == EX_ROUTE_RUNS)
		return ex_runs_step(c->pkt);
	if (m->pos >= m->hops) {
		/* The route has ended although the packet came over a cable.
		 * The crossbar reads the flit behind the route, which is the
		 * low part of H0, as the next routing flit (3.9; T-29). If only
		 * one nibble of that flit is left, the crossbar would have to
		 * remove the flit and so cut H0. We chose to drop the packet in
		 * this case. */
		uint32_t bits = 8 * ex_flit_bytes(x->width);
		uint64_t all = (1ULL << bits) - 1, flit = c->pkt->u[0] & all;
		uint64_t rest = flit >> 4 | (uint64_t)EX_NIB_FILL << (bits - 4);

		if (!ex_meta(c->pkt)->words || rest == all)
			return EX_NIB_FILL;
		c->pkt->u[0] = (c->pkt->u[0] & ~all) | rest;
		return flit & 0xf;
	}
	nib = ex_route_nibble(c->pkt, m->pos);
	if (ex_route_removes(x->width, m->hops, m->pos) && c->flits > 1) {
		c->flits--;
		c->skip = 1;
	}
	m->pos++;
	return nib;
}

static uint32_t table_next(const struct extoll_xbar *x, const struct ex_meta *m)
{
	if (m->dest == x->node)
		return m->port;
	if (x->place.topo)
		return topo_here_port(&x->here, x->place.topo, m->dest);
	return m->dest < x->n_table ? x->table[m->dest] : EXTOLL_XBAR_NONE;
}

uint32_t extoll_xbar_peek(const struct extoll_xbar *x, const struct ecell *c)
{
	struct ex_meta m = { .dest = c->dest, .port = c->port };

	return c->flags & ECELL_TABLE ? table_next(x, &m) : EXTOLL_XBAR_NONE;
}

uint32_t extoll_xbar_route(struct extoll_xbar *x, uint32_t in, struct ecell *c)
{
	struct ex_meta table = {
		.dest = c->dest, .port = c->port, .cls = c->cls, .dim = c->dim
	};
	struct ex_meta *m = c->flags & ECELL_TABLE ? &table : ex_meta(c->pkt);
	uint32_t out;

	if (c->hint)
		out = c->hint - 1u;
	else
		out = m->hops ? path_next(x, c, m) : table_next(x, m);
	if (out >= EX_PORTS || !x->ep[out].peer) {
		weft_count(x->comp,
			   out >= EX_PORTS ? EXTOLL_XBAR_ILLEGAL
					   : EXTOLL_XBAR_NO_PORT,
			   1);
		extoll_xbar_news(x, CELL_CHANNEL_NEWS_XBAR,
				 CELL_CHANNEL_LINK_ERROR);
		if (!x->hap || !x->ep[EX_INTERNAL - 1].peer)
			return EXTOLL_XBAR_NONE;
		out = EX_INTERNAL - 1;
	}
	c->vc_out = (uint8_t)vc_next(x, m, c->vc, out);
	c->dim = m->dim;
	return out;
}

int extoll_xbar_set_table(struct weft_comp *c, uint32_t in, uint32_t path,
			  const uint32_t *to, uint32_t n, struct weft_err *err)
{
	struct extoll_xbar *x = c->state;
	uint32_t d;

	if (in != WEFT_ANY_PORT || path)
		return weft_fail(err, EINVAL,
				 "%s has one table for all inputs and paths",
				 c->name);
	free(x->table);
	x->table = malloc(n ? n : 1);
	if (!x->table)
		return weft_fail(err, ENOMEM, "no memory for a routing table");
	for (d = 0; d < n; d++)
		x->table[d] =
			to[d] < EX_PORTS ? (uint8_t)to[d] : EXTOLL_XBAR_NONE;
	x->n_table = n;
	return 0;
}

/* ---- waiting cells, for deadlock.c ---- */

static struct ex_wait wait_of(struct extoll_xbar *x, uint32_t in, uint32_t o,
			      const struct ecell *c)
{
	const struct cell_channel *ep = &x->ep[o];
	uint32_t lock = x->out[o].lock[c->vc_out], own = in * EX_VCS + c->vc;
	struct ex_wait w = { .out = o,
			     .vc = c->vc_out,
			     .since = c->cycle,
			     .lock = lock == EXTOLL_XBAR_NONE || lock == own
					     ? EX_UNLOCKED
					     : lock,
			     .early = !extoll_xbar_may_ask(&x->in[in], c),
			     .room = cell_channel_room(ep, c->vc_out) };

	for (uint32_t v = 0; v < EX_VCS; v++)
		w.pool |= (uint8_t)((ep->used[v] > ep->lim_reserved) << v);
	/* The deadlock search skips this cell, because it waits for an earlier
	 * packet of its hash, not for room. */
	if (x->n_turn && c->flags & ECELL_SOP && !extoll_xbar_turn_is(x, in, c))
		w.since = UINT64_MAX;
	return w;
}

static uint32_t waits_heads(struct weft_comp *c, uint32_t in, uint32_t vc,
			    struct ex_wait w[EX_PORTS])
{
	struct extoll_xbar *x = c->state;
	uint32_t n = 0;

	for (uint32_t o = 0; o < EX_PORTS; o++) {
		uint32_t slot = x->in[in].head[o * EX_VCS + vc];

		if (slot != EXTOLL_XBAR_NONE)
			w[n++] = wait_of(x, in, o, &x->ep[in].slot[slot]);
	}
	return n;
}

static bool waits_comes(struct weft_comp *c, uint32_t in, uint32_t vc)
{
	const struct extoll_xbar *x = c->state;
	const struct cell_channel *ep = &x->ep[in];

	return ep->peer && (ep->way_head != EXTOLL_XBAR_NONE ||
			    cell_channel_room(ep->peer, vc));
}

static uint32_t waits_lock(struct weft_comp *c, uint32_t out, uint32_t vc)
{
	const struct extoll_xbar *x = c->state;
	uint32_t lock = x->out[out].lock[vc];

	return lock == EXTOLL_XBAR_NONE ? EX_UNLOCKED : lock;
}

const struct ex_waits extoll_xbar_waits = { .heads = waits_heads,
					    .comes = waits_comes,
					    .lock = waits_lock };
