/* SPDX-License-Identifier: Apache-2.0 */
/* The search for circles of channels, see routing.h. A channel is one VC of a
 * cable in one direction. The search follows packets between all pairs of ends,
 * with all values of the coins and all choices. It records each pair of
 * channels that a packet takes one after another.
 *
 * A routing with phases is searched in two parts, phase 0 and phase 1. The
 * channels of both are then joined at the routers where the phase changes.
 * Packets of an adaptive routing may enter the escape channels at any router.
 * Walks therefore start at every router with an end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/need.h"
#include "base/vec.h"
#include "net/routing.h"

/* Number of coins that a routing may use for a phase. */
enum { COINS = NET_DIMS };

/* A packet that arrives at a router through VCs first..last of a port. */
struct place {
	uint32_t router, hops;
	uint16_t port;
	uint8_t first, last;
	struct net_route r;
	uint32_t stamp; /* of the walks in which it was visited */
};

struct search {
	const struct net_routing *r;
	const struct net_graph *g;
	uint32_t vcs, words;
	struct net_range range; /* of the packets that are walked */
	/* By channel: a set of the VCs for which packets on the channel may
	 * wait. The set has a bit for each VC of each output of the router
	 * behind the channel. */
	uint64_t *next;
	/* place: hash table of the places that the walks to an end have
	 * visited; todo: visited places whose next steps have not been walked
	 * yet */
	uint64_t *into, *from;
	uint8_t *mark;
	/* place: hash table of the places that the walks to an end have
	 * visited; todo: visited places from which the walks have not gone on
	 * yet */
	struct place *place;
	struct {
		VEC(struct place);
	} todo;
	uint32_t place_mask, places, stamp;
};

static uint32_t channel(const struct search *s, uint32_t router, uint32_t port,
			uint32_t vc)
{
	return (s->g->first[router] + port) * s->vcs + vc;
}

/* Adds the VCs of a choice to a set of outputs of a router. The VCs are at most
 * 32 adjacent bits (NET_VCS_MAX). */
static void choice_set(const struct search *s, uint64_t *set,
		       const struct net_choice *c)
{
	uint32_t bit = c->port * s->vcs + c->first;
	uint64_t vcs = (2ull << (c->last - c->first)) - 1;

	set[bit / 64] |= vcs << (bit & 63);
	if ((bit & 63) + (c->last - c->first) > 63)
		set[bit / 64 + 1] |= vcs >> (64 - (bit & 63));
}

/* Notes that packets on the VCs of `held`, an output of `router`, may wait for
 * the VCs of `want` at the next router. */
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

/* Adds the VCs of c, at port `port`, to the set of a router. */
static void router_note(struct search *s, uint64_t *sets, uint32_t router,
			uint32_t port, struct net_choice c)
{
	c.port = (uint16_t)port;
	choice_set(s, sets + (size_t)router * s->words, &c);
}

/* ---- walks ---- */

/* Returns the slot of a place in the hash table. The place is new to the
 * present walks if the slot's stamp is not s->stamp. */
static struct place *place_slot(struct search *s, const struct place *p)
{
	uint64_t hash = s->g->first[p->router] + p->port;
	uint32_t i;

	/* All places of the present walks have the same destination and source,
	 * so the hash omits both. */
	hash = hash << 32 ^ p->r.mid ^ (uint32_t)p->first << 24 ^
	       (uint32_t)p->last << 16 ^ (uint32_t)p->r.phase << 8 ^ p->r.part;
	hash = (hash ^ (uint64_t)p->r.coins << 20) * 0x9e3779b97f4a7c15u;
	hash ^= hash >> 29;
	for (i = (uint32_t)(hash >> 32);; i++) {
		struct place *at = &s->place[i & s->place_mask];

		if (at->stamp != s->stamp ||
		    (at->router == p->router && at->port == p->port &&
		     at->first == p->first && at->last == p->last &&
		     !memcmp(&at->r, &p->r, sizeof(p->r))))
			return at;
	}
}

static void places_grow(struct search *s)
{
	struct place *old = s->place;
	uint32_t n = s->place_mask + 1;

	s->place_mask = 2 * n - 1;
	s->place = need(calloc(2ul * n, sizeof(*s->place)));
	for (uint32_t i = 0; i < n; i++)
		if (old[i].stamp == s->stamp)
			*place_slot(s, &old[i]) = old[i];
	free(old);
}

/* Adds a place to the table and to s->todo, unless the present walks have
 * already visited it. */
static void place_visit(struct search *s, struct place p)
{
	struct place *slot = place_slot(s, &p);

	if (slot->stamp == s->stamp)
		return;
	p.stamp = s->stamp;
	*slot = p;
	if (++s->places > s->place_mask / 2)
		places_grow(s);
	vec_push(&s->todo, p);
}

/* Notes the outputs that a packet may take at a place, and visits the routers
 * behind these outputs. If the routing has escape channels, ignores all other
 * outputs. */
static void place_pass(struct search *s, const struct place *p,
		       const struct net_choices *c)
{
	const struct net_graph *g = s->g;
	const struct net_far *back = net_graph_far(g, p->router, p->port);
	struct net_choice held = { back->port, p->first, p->last, 0 };

	for (uint32_t i = 0; i < c->n; i++) {
		const struct net_choice *want = &c->at[i];
		const struct net_far *far =
			net_graph_far(g, p->router, want->port);

		if (s->r->escape && want->priority)
			continue;
		if (!back->end)
			search_note(s, back->at, &held, want);
		else if (p->r.phase)
			router_note(s, s->from, p->router, want->port, *want);
		if (far->end || p->hops > 4 * g->routers)
			continue;
		place_visit(s, (struct place){ .router = far->at,
					       .port = far->port,
					       .first = want->first,
					       .last = want->last,
					       .r = p->r,
					       .hops = p->hops + 1 });
	}
}

/* Walks one step from a place for each draw of the routing. */
static void place_leave(struct search *s, const struct place *from)
{
	const struct net_far *back =
		net_graph_far(s->g, from->router, from->port);
	struct net_arrival at = { from->router, from->port, from->first, NULL,
				  s->r->draws };
	struct net_choice held = { back->port, from->first, from->last, 0 };
	struct net_choices c;

	do {
		struct place p = *from;

		c.n = 0;
		net_range_route(s->r, s->g, s->range, at, &p.r, &c);
		if (p.r.phase == from->r.phase)
			place_pass(s, &p, &c);
		else if (!back->end)
			router_note(s, s->into, p.router, p.port, held);
	} while (c.n && at.draw++);
}

/* Walks packets to the destination of r, or in phase 0 to the router on the
 * way. Walks start at each router that has an end, at the port of its first
 * end. */
static void search_walk(struct search *s, struct net_route r)
{
	const struct net_graph *g = s->g;

	s->stamp++;
	s->places = 0;
	for (uint32_t router = 0; router < g->routers; router++) {
		uint32_t p = 0;

		while (p < net_graph_ports(g, router) &&
		       !net_graph_far(g, router, p)->end)
			p++;
		if (p < net_graph_ports(g, router))
			place_visit(s, (struct place){ .router = router,
						       .port = (uint16_t)p,
						       .first = s->range.first,
						       .last = s->range.first,
						       .r = r });
		while (s->todo.n) {
			struct place from = vec_pop(&s->todo);

			place_leave(s, &from);
		}
	}
}

/* Joins the channels of both phases: packets that reach a router in phase 0
 * leave it in phase 1. */
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

/* Returns true if packets to end e take the same ways as packets to end e - 1,
 * so that one walk serves both. */
static bool end_alike(const struct search *s, uint32_t e)
{
	return s->r->by_router && e && s->g->in[e].at == s->g->in[e - 1].at;
}

static void search_walks(struct search *s)
{
	const struct net_graph *g = s->g;
	uint32_t most = s->r->draws || s->r->by_router ? 0 : g->shape.dims;
	uint32_t bits = s->r->coins ? s->r->coins : most;

	bits = bits < COINS ? bits : COINS;
	for (uint32_t e = 0; e < g->ends; e++)
		for (uint32_t k = end_alike(s, e); k < 1u << bits; k++)
			for (uint8_t f = !s->r->phases; f < 2; f++) {
				struct net_route r;

				memset(&r, 0, sizeof(r));
				r.src = r.dest = e;
				r.mid = g->in[e].at;
				r.coins = k | k << NET_DIMS;
				r.phase = f;
				search_walk(s, r);
			}
	search_meet(s);
}

/* ---- the circle ---- */

struct stack {
	uint32_t *at;
	size_t n, room;
};

/* Pushes a channel. The stack grows on demand, because a channel rarely leads
 * to all VCs of a router. */
static void stack_push(struct stack *st, uint32_t c)
{
	if (st->n == st->room) {
		st->room = st->room ? 2 * st->room : 1024;
		st->at = need(realloc(st->at, st->room * sizeof(*st->at)));
	}
	st->at[st->n++] = c;
}

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

			stack_push(st,
				   channel(s, far->at, b / s->vcs, b % s->vcs));
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

/* Searches depth first for a circle. Marks: 1 = on the path, 2 = all channels
 * behind it are searched. The stack also contains the channels of the path.
 * When the last channel of the path is on top of the stack, the search of the
 * channels behind it has ended. */
static bool circle_from(struct search *s, struct stack *st, struct stack *path,
			uint32_t c, char *text, size_t size)
{
	st->n = path->n = 0;
	stack_push(st, c);
	while (st->n) {
		uint32_t top = st->at[st->n - 1];
		size_t n;

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
		stack_push(path, top);
		n = st->n;
		stack_next(s, st, top);
		for (size_t i = n; i < st->n; i++)
			if (s->mark[st->at[i]] == 1) {
				circle_text(s, path, st->at[i], text, size);
				return true;
			}
	}
	return false;
}

bool net_routing_cycle(const struct net_routing *r, const struct net_graph *g,
		       uint32_t vcs, const struct net_range *range,
		       uint32_t ranges, char *text, size_t size)
{
	struct search s = { .r = r, .g = g, .vcs = vcs };
	size_t sets;
	uint32_t ports = 0, n = g->first[g->routers] * vcs;
	struct stack st = { 0 }, path = { 0 };
	bool found = false;

	for (uint32_t i = 0; i < g->routers; i++)
		ports = net_graph_ports(g, i) > ports ? net_graph_ports(g, i)
						      : ports;
	s.words = (ports * vcs + 63) / 64;
	s.next = need(calloc((size_t)n * s.words, sizeof(*s.next)));
	s.into = need(calloc((size_t)g->routers * s.words, sizeof(*s.into)));
	s.from = need(calloc((size_t)g->routers * s.words, sizeof(*s.from)));
	s.mark = need(calloc(n, 1));
	s.place_mask = 63;
	s.place = need(calloc(64, sizeof(*s.place)));
	sets = (size_t)g->routers * s.words * sizeof(*s.into);
	for (uint32_t i = 0; i < ranges; i++) {
		s.range = range[i];
		memset(s.into, 0, sets);
		memset(s.from, 0, sets);
		search_walks(&s);
	}
	for (uint32_t c = 0; c < n && !found; c++)
		if (!s.mark[c])
			found = circle_from(&s, &st, &path, c, text, size);
	free(s.next);
	free(s.into);
	free(s.from);
	free(s.mark);
	free(s.place);
	vec_free(&s.todo);
	free(st.at);
	free(path.at);
	return found;
}
