/* SPDX-License-Identifier: Apache-2.0 */
/* See net.h. */
#include "net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct weft_class weft_class_forth_xbar;

int net_try(struct net *n, uint32_t ends, const char *traffic, const char *set,
	    const char *fabric)
{
	struct exp_opts o = { 0 };
	char text[2048];

	snprintf(text, sizeof(text),
		 "traffic: {count: %u, type: forth.gen, dests: %u, %s}\n"
		 "set: {%s}\n"
		 "fabric: {%s}\n"
		 "run: {until: 1s}\n",
		 ends, ends, traffic, set, fabric);
	memset(n, 0, sizeof(*n));
	registry_init(&n->reg);
	if (exp_load_text("f", text, strlen(text), &o, &n->reg, &n->e, &n->err))
		return -1;
	return exp_case_open(n->e, 0, &n->c, &n->err);
}

void net_open(struct net *n, uint32_t ends, const char *traffic,
	      const char *set, const char *fabric)
{
	if (net_try(n, ends, traffic, set, fabric))
		fail_msg("%s", n->err.msg);
}

void net_close(struct net *n)
{
	if (n->c.sim)
		exp_case_close(&n->c);
	exp_free(n->e);
	registry_fini(&n->reg);
}

struct weft_comp *net_end(const struct net *n, uint32_t i)
{
	char name[16];

	snprintf(name, sizeof(name), "t%u", i);
	return weft_sim_find(n->c.sim, name);
}

struct forth_xbar *net_xbar(const struct weft_comp *c)
{
	return c->cls == &weft_class_forth_xbar ? c->state : NULL;
}

/* ---- walking ---- */

static uint32_t hop(const struct weft_port *at, uint32_t dst, uint32_t path,
		    uint32_t *cycles_p)
{
	const struct forth_xbar *x = at->comp->state;
	const struct forth_xbar_port *in = &x->port[at->index];
	uint32_t way = forth_way(path & in->path_mask, dst);
	uint32_t out = in->route[way];

	if (out < x->ports)
		*cycles_p +=
			24 + 5 + (in->bottom == x->port[out].bottom ? 1 : 3);
	return out;
}

struct net_way net_walk(const struct net *n, uint32_t src, uint32_t dst,
			uint32_t path)
{
	struct net_way w = { .cycles = 24 };
	struct weft_port *at = net_end(n, src)->ports[0].peer;

	while (at && net_xbar(at->comp)) {
		uint32_t out = hop(at, dst, path, &w.cycles);

		if (out >= at->comp->n_ports || w.hops == NET_HOPS)
			return w;
		w.link[w.hops++] = at->comp->id * 64 + out;
		at = at->comp->ports[out].peer;
	}
	w.to = at ? at->comp : NULL;
	return w;
}

/* ---- waiting ---- */

struct graph {
	uint32_t n; /* outputs */
	/* for each output: mask of the outputs that its packets may request at
	 * the next switch */
	uint64_t *next;
	uint32_t *at;  /* for each output: number of that next switch */
	uint8_t *mark; /* 1 while the search follows the output, 2 afterwards */
};

static bool loops(struct graph *g, uint32_t v)
{
	uint64_t left = g->next[v];

	if (g->mark[v])
		return g->mark[v] == 1;
	g->mark[v] = 1;
	for (; left; left &= left - 1)
		if (loops(g, g->at[v] * 64 + (uint32_t)__builtin_ctzll(left)))
			return true;
	g->mark[v] = 2;
	return false;
}

static void add_way(struct graph *g, const struct net_way *w)
{
	for (uint32_t k = 1; k < w->hops; k++) {
		g->next[w->link[k - 1]] |= 1ull << w->link[k] % 64;
		g->at[w->link[k - 1]] = w->link[k] / 64;
	}
}

bool net_cyclic(const struct net *n, uint32_t ends, uint32_t paths)
{
	struct graph g = { .n = weft_sim_count(n->c.sim) * 64 };
	bool ret = false;

	g.next = calloc(g.n, sizeof(*g.next));
	g.at = calloc(g.n, sizeof(*g.at));
	g.mark = calloc(g.n, 1);
	for (uint32_t s = 0; s < ends; s++)
		for (uint32_t d = 0; d < ends; d++)
			for (uint32_t p = 0; p <= paths; p++) {
				struct net_way w = net_walk(n, s, d, p);

				add_way(&g, &w);
			}
	for (uint32_t v = 0; v < g.n && !ret; v++)
		ret = loops(&g, v);
	free(g.next);
	free(g.at);
	free(g.mark);
	return ret;
}
