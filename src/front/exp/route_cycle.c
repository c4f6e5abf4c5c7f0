/* SPDX-License-Identifier: Apache-2.0 */
/* Builds and searches the channel dependency graph. Its edges lead from a
 * channel (cable and virtual channel) that a packet may hold to the channel for
 * which it waits. A cycle of this graph may deadlock.
 *
 * With dimension order no packet waits for a lower dimension, so a cycle lies
 * within one ring. Each ring with cuts is checked. Of the rings without cuts
 * one is checked, because they are all equal. In graphs, whose packets use one
 * virtual channel, the routes to all destinations are followed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/need.h"
#include "front/exp/route.h"

struct waits {
	uint32_t n;   /* number of channels */
	uint32_t *to; /* successors, at [channel * out] */
	uint32_t out; /* largest number of successors of a channel */
	uint8_t *n_to, *state;
	uint32_t *stack, *turn;
};

static struct waits waits_new(uint32_t n, uint32_t out)
{
	struct waits w = { .n = n, .out = out };

	w.to = calloc((size_t)n * out + 1, sizeof(*w.to));
	w.n_to = calloc(n + 1, 1);
	w.state = calloc(n + 1, 1);
	w.stack = calloc(n + 1, sizeof(*w.stack));
	w.turn = calloc(n + 1, sizeof(*w.turn));
	if (!w.to || !w.n_to || !w.state || !w.stack || !w.turn)
		abort();
	return w;
}

static void waits_add(struct waits *w, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < w->n_to[a]; i++)
		if (w->to[(size_t)a * w->out + i] == b)
			return;
	w->to[(size_t)a * w->out + w->n_to[a]++] = b;
}

/* Searches depth first from channel a. Returns the position on the stack at
 * which a cycle begins, or UINT32_MAX. */
static uint32_t waits_visit(struct waits *w, uint32_t a, uint32_t *depth_p)
{
	enum { NEW, OPEN, DONE };
	uint32_t depth = 0;

	w->stack[depth] = a;
	w->turn[depth++] = 0;
	w->state[a] = OPEN;
	while (depth) {
		uint32_t at = w->stack[depth - 1], next;

		if (w->turn[depth - 1] == w->n_to[at]) {
			w->state[at] = DONE;
			depth--;
			continue;
		}
		next = w->to[(size_t)at * w->out + w->turn[depth - 1]++];
		if (w->state[next] == OPEN) {
			*depth_p = depth;
			while (w->stack[depth - 1] != next)
				depth--;
			return depth - 1;
		}
		if (w->state[next] == DONE)
			continue;
		w->state[next] = OPEN;
		w->stack[depth] = next;
		w->turn[depth++] = 0;
	}
	return UINT32_MAX;
}

/* Returns a cycle with its channels as names, or an empty one. Frees w. */
static struct route_cycle waits_cycle(struct waits *w,
				      struct route_chan (*name)(const void *arg,
								uint32_t chan),
				      const void *arg)
{
	struct route_cycle c = { 0 };
	uint32_t depth = 0, first = UINT32_MAX;

	for (uint32_t a = 0; a < w->n && first == UINT32_MAX; a++)
		if (!w->state[a])
			first = waits_visit(w, a, &depth);
	if (first != UINT32_MAX)
		c.n = depth - first;
	for (uint32_t i = 0; i < c.n && i < ROUTE_CYCLE_SHOWN; i++)
		c.at[i] = name(arg, w->stack[first + i]);
	free(w->to);
	free(w->n_to);
	free(w->state);
	free(w->stack);
	free(w->turn);
	return c;
}

/* ---- rings ---- */

struct ring {
	const struct topology *t;
	uint32_t dim, base, dir;
};

/* Returns the node at position i of the ring, counted in the direction of
 * travel. The cable that wraps leaves the last position. */
static uint32_t ring_node(const struct ring *r, uint32_t i)
{
	uint32_t k = r->t->size[r->dim], at = r->dir ? k - 1 - i % k : i % k;

	return r->base + at * r->t->stride[r->dim];
}

/* Returns the number of steps of the longest route in this direction that
 * begins at position i. A binary search suffices: if a packet goes j steps in
 * this direction, packets to nearer nodes go in this direction, too. */
static uint32_t ring_reach(const struct ring *r, uint32_t i)
{
	uint32_t lo = 0, hi = r->t->size[r->dim] - 1;

	while (lo < hi) {
		uint32_t mid = (lo + hi + 1) / 2;

		if (topo_port(r->t, ring_node(r, i), ring_node(r, i + mid)) ==
		    r->t->port[r->dim][r->dir])
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo;
}

/* Returns the channel that leaves position u. Channels behind the wrap cable
 * have higher numbers, because packets use the odd virtual channel there. */
static uint32_t ring_chan(const struct ring *r, uint32_t u)
{
	uint32_t k = r->t->size[r->dim];

	return u % k * 2 + (r->t->dateline && u >= k - 1);
}

static struct route_chan ring_name(const void *arg, uint32_t chan)
{
	const struct ring *r = arg;

	return (struct route_chan){ .node = ring_node(r, chan / 2),
				    .link = r->t->port[r->dim][r->dir] -
					    r->t->ports.first,
				    .vc = chan % 2 };
}

static struct route_cycle ring_check(const struct ring *r)
{
	uint32_t k = r->t->size[r->dim], open = 0;
	struct waits w = waits_new(2 * k, r->t->ports.links);
	int32_t *step = need(calloc(2 * k + 1, sizeof(*step)));

	for (uint32_t i = 0; i < k; i++) {
		uint32_t n = ring_reach(r, i);

		if (n < 2)
			continue;
		step[i]++;
		step[i + n - 1]--;
	}
	for (uint32_t u = 0; u < 2 * k; u++) {
		open += (uint32_t)step[u];
		if (open)
			waits_add(&w, ring_chan(r, u), ring_chan(r, u + 1));
	}
	free(step);
	return waits_cycle(&w, ring_name, r);
}

static struct route_cycle rings_check(const struct topology *t, uint32_t dim,
				      uint32_t base)
{
	struct topology way = *t; /* With random ties packets choose between two
				   * directions. The check first gives all
				   * packets one direction, then the other. */
	struct ring r = { .t = &way, .dim = dim, .base = base };
	struct route_cycle c = ring_check(&r);

	if (c.n)
		return c;
	if (t->tie == TOPO_TIE_RANDOM)
		way.tie = TOPO_TIE_NEGATIVE;
	r.dir = 1;
	return ring_check(&r);
}

static struct route_cycle grid_check(const struct topology *t)
{
	struct route_cycle c = { 0 };

	for (uint32_t dim = 0; dim < t->dims && !c.n; dim++) {
		bool plain = false;

		for (uint32_t s = 0; s < t->nodes && !c.n; s++) {
			bool cut = false;

			if (!(t->wrap >> dim & 1) || topo_coord(t, s, dim))
				continue;
			for (uint32_t i = 0; i < t->n_cuts; i++)
				cut |= t->cut[i].dim == dim &&
				       t->cut[i].node -
						       topo_coord(
							       t,
							       t->cut[i].node,
							       dim) *
							       t->stride[dim] ==
					       s;
			if (cut || !plain)
				c = rings_check(t, dim, s);
			plain |= !cut;
		}
	}
	return c;
}

/* ---- graphs ---- */

static struct route_chan graph_name(const void *arg, uint32_t chan)
{
	const struct topology *t = arg;

	return (struct route_chan){ .node = chan / t->ports.links,
				    .link = chan % t->ports.links };
}

/* ---- both ---- */

struct route_cycle route_check(const struct topology *t)
{
	struct waits w;

	if (t->kind == TOPO_GRID)
		return grid_check(t);
	w = waits_new(t->nodes * t->ports.links, t->ports.links);
	for (uint32_t d = 0; d < t->nodes; d++)
		for (uint32_t s = 0; s < t->nodes; s++) {
			uint32_t p = s == d ? TOPO_NO_PORT : topo_port(t, s, d);
			uint32_t n = p == TOPO_NO_PORT ? d : topo_far(t, s, p);
			uint32_t q = n == d ? TOPO_NO_PORT : topo_port(t, n, d);

			if (q != TOPO_NO_PORT)
				waits_add(&w, topo_link(t, s, p),
					  topo_link(t, n, q));
		}
	return waits_cycle(&w, graph_name, t);
}

static size_t chan_text(const struct route_chan *c, char *buf, size_t size)
{
	return (size_t)snprintf(buf, size, "s%u.lp%u/vc%u -> ", c->node,
				c->link, c->vc);
}

void route_cycle_text(const struct route_cycle *c, char *buf, size_t size)
{
	size_t at = 0;

	for (uint32_t i = 0; i < c->n && i < ROUTE_CYCLE_SHOWN && at < size;
	     i++)
		at += chan_text(&c->at[i], buf + at, size - at);
	if (c->n > ROUTE_CYCLE_SHOWN && at < size)
		at += (size_t)snprintf(buf + at, size - at, "... -> ");
	if (at < size)
		at += chan_text(&c->at[0], buf + at, size - at);
	if (at >= 4 && at < size)
		snprintf(buf + at - 4, size - at + 4, " (%u channels)", c->n);
}
