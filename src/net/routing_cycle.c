/* SPDX-License-Identifier: Apache-2.0 */
/* The search for circles of channels, see routing.h. A channel is a cable in
 * one direction and a VC. Packets of all pairs of ends are walked with all
 * coins, and each pair of channels that a packet takes one after another is
 * noted. A routing with phases is walked in two parts, to the router on the way
 * and from it, whose channels meet there. Packets of an adaptive routing may
 * enter the escape channels anywhere, so their walks start at every router. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/need.h"
#include "net/routing.h"

/* COINS: bits of the coins that routings use for a phase. */
enum { COINS = NET_DIMS };

struct search {
	const struct net_routing *r;
	const struct net_graph *g;
	uint32_t vcs, words;
	/* A bit for each VC of each output of the router behind the channel, by
	 * channel. */
	uint64_t *next;
	/* Channels by which walks of phase 0 reach a router, and channels by
	 * which walks of phase 1 leave it: as `next`, by router. */
	uint64_t *into, *from;
	uint8_t *mark;
};

static uint32_t channel(const struct search *s, uint32_t router, uint32_t port,
			uint32_t vc)
{
	return (s->g->first[router] + port) * s->vcs + vc;
}

/* Adds the VCs of a choice to a set of outputs of a router. They are at most 32
 * bits one after another (NET_VCS_MAX). */
static void choice_set(const struct search *s, uint64_t *set,
		       const struct net_choice *c)
{
	uint32_t bit = c->port * s->vcs + c->first;
	uint64_t vcs = (2ull << (c->last - c->first)) - 1;

	set[bit / 64] |= vcs << (bit & 63);
	if ((bit & 63) + (c->last - c->first) > 63)
		set[bit / 64 + 1] |= vcs >> (64 - (bit & 63));
}

/* Notes that packets which hold a VC of `held`, an output of `router`, may wait
 * for `want` at the next router. */
static void search_note(struct search *s, uint32_t router,
			const struct net_choice *held,
			const struct net_choice *want)
{
	for (uint32_t v = held->first; v <= held->last; v++)
		choice_set(s,
			   s->next + (size_t)channel(s, router, held->port, v) *
					     s->words,
			   want);
}

/* Adds the VCs of an output to a set of a router. */
static void router_note(struct search *s, uint64_t *sets, uint32_t router,
			uint32_t port, struct net_choice c)
{
	c.port = (uint16_t)port;
	choice_set(s, sets + (size_t)router * s->words, &c);
}

/* Returns the escape choice, or the first one of a routing without escape. */
static const struct net_choice *choice_of(const struct search *s,
					  const struct net_choices *c)
{
	for (uint32_t i = 0; s->r->escape && i < c->n; i++)
		if (!c->at[i].priority)
			return &c->at[i];
	return &c->at[0];
}

/* Walks a packet from a router to its end, or in phase 0 to the router on the
 * way. */
static void search_walk(struct search *s, struct net_arrival at,
			struct net_route r, uint8_t phase)
{
	const struct net_graph *g = s->g;
	struct net_choice held = { 0 };
	uint32_t before = NET_NOWHERE;

	r.phase = phase;
	for (uint32_t hops = 0; hops <= 4 * g->routers; hops++) {
		struct net_choices c = { 0 };
		const struct net_choice *want;
		const struct net_far *far;

		s->r->route(g, s->vcs, at, &r, &c);
		if (r.phase != phase) {
			if (before != NET_NOWHERE)
				router_note(s, s->into, at.router, at.port,
					    held);
			return;
		}
		want = choice_of(s, &c);
		far = net_graph_far(g, at.router, want->port);
		if (before != NET_NOWHERE)
			search_note(s, before, &held, want);
		else if (phase)
			router_note(s, s->from, at.router, want->port, *want);
		if (far->end)
			return;
		before = at.router;
		held = *want;
		at = (struct net_arrival){ far->at, far->port, held.first };
	}
}

/* Packets that reached a router in phase 0 leave it in phase 1. */
static void search_meet(struct search *s)
{
	for (uint32_t r = 0; r < s->g->routers; r++)
		for (uint32_t b = 0; b < net_graph_ports(s->g, r) * s->vcs;
		     b++) {
			const struct net_far *f =
				net_graph_far(s->g, r, b / s->vcs);
			uint64_t *from = s->from + (size_t)r * s->words;
			uint64_t *next;

			if (!(s->into[(size_t)r * s->words + b / 64] >>
				      (b & 63) &
			      1))
				continue;
			next = s->next +
			       (size_t)channel(s, f->at, f->port, b % s->vcs) *
				       s->words;
			for (uint32_t w = 0; w < s->words; w++)
				next[w] |= from[w];
		}
}

static void search_walks(struct search *s)
{
	const struct net_graph *g = s->g;
	uint32_t coins = 1u << (g->shape.dims < COINS ? g->shape.dims : COINS);

	for (uint32_t router = 0; router < g->routers; router++)
		for (uint32_t e = 0; e < g->ends; e++)
			for (uint32_t k = 0; k < coins; k++) {
				struct net_route r = { .src = e,
						       .dest = e,
						       .mid = g->in[e].at };
				uint32_t p = 0;

				r.coins = k | k << NET_DIMS;
				/* Only packets of its own ends start at a
				 * router, at the port of an end. */
				while (p < net_graph_ports(g, router) &&
				       !net_graph_far(g, router, p)->end)
					p++;
				if (p == net_graph_ports(g, router))
					break;
				for (uint8_t f = !s->r->phases; f < 2; f++)
					search_walk(s,
						    (struct net_arrival){
							    router, p, 0 },
						    r, f);
			}
	search_meet(s);
}

/* ---- the circle ---- */

struct stack {
	uint32_t *at, n;
};

/* Adds the channels behind channel c to the stack. */
static void stack_next(const struct search *s, struct stack *st, uint32_t c)
{
	const struct net_far *far = &s->g->port[c / s->vcs];
	const uint64_t *next = s->next + (size_t)c * s->words;

	if (far->at == NET_NOWHERE || far->end)
		return;
	for (uint32_t w = 0; w < s->words; w++)
		for (uint64_t m = next[w]; m; m &= m - 1) {
			uint32_t b = w * 64 + (uint32_t)__builtin_ctzll(m);

			st->at[st->n++] =
				channel(s, far->at, b / s->vcs, b % s->vcs);
		}
}

static void circle_text(const struct search *s, const struct stack *path,
			uint32_t first, char *text, size_t size)
{
	size_t len = 0;
	uint32_t i = 0, r = 0;

	while (path->at[i] != first)
		i++;
	for (uint32_t k = i; k < path->n && len < size; k++) {
		uint32_t port = path->at[k] / s->vcs;

		for (r = 0; s->g->first[r + 1] <= port; r++)
			;
		len += (size_t)snprintf(text + len, size - len,
					"%ss%u.p%u VC %u", k > i ? " -> " : "",
					r, port - s->g->first[r],
					path->at[k] % s->vcs);
	}
}

/* Searches depth first. Marks: 1 = on the path, 2 = done. The stack holds the
 * path, too: a channel that is marked 1 when it is on top is left for good. */
static bool circle_from(struct search *s, struct stack *st, struct stack *path,
			uint32_t c, char *text, size_t size)
{
	st->n = path->n = 0;
	st->at[st->n++] = c;
	while (st->n) {
		uint32_t top = st->at[st->n - 1], n;

		if (s->mark[top]) {
			if (s->mark[top] == 1 && path->n &&
			    path->at[path->n - 1] == top) {
				s->mark[top] = 2;
				path->n--;
			}
			st->n--;
			continue;
		}
		s->mark[top] = 1;
		path->at[path->n++] = top;
		n = st->n;
		stack_next(s, st, top);
		for (uint32_t i = n; i < st->n; i++)
			if (s->mark[st->at[i]] == 1) {
				circle_text(s, path, st->at[i], text, size);
				return true;
			}
	}
	return false;
}

bool net_routing_cycle(const struct net_routing *r, const struct net_graph *g,
		       uint32_t vcs, char *text, size_t size)
{
	struct search s = { .r = r, .g = g, .vcs = vcs };
	uint32_t ports = net_graph_ports(g, 0), n = g->first[g->routers] * vcs;
	struct stack st = { 0 }, path = { 0 };
	bool found = false;

	s.words = (ports * vcs + 63) / 64;
	s.next = need(calloc((size_t)n * s.words, sizeof(*s.next)));
	s.into = need(calloc((size_t)g->routers * s.words, sizeof(*s.into)));
	s.from = need(calloc((size_t)g->routers * s.words, sizeof(*s.from)));
	s.mark = need(calloc(n, 1));
	st.at = need(calloc((size_t)n * (ports * vcs + 1), sizeof(*st.at)));
	path.at = need(calloc(n + 1, sizeof(*path.at)));
	search_walks(&s);
	for (uint32_t c = 0; c < n && !found; c++)
		if (!s.mark[c])
			found = circle_from(&s, &st, &path, c, text, size);
	free(s.next);
	free(s.into);
	free(s.from);
	free(s.mark);
	free(st.at);
	free(path.at);
	return found;
}
