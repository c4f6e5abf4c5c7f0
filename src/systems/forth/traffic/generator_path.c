/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic component: which of several paths a packet takes (forth.md 7.1: in
 * Benes and Clos fabrics the load must be spread per destination), and the
 * fixed partners of a permutation or list.
 *
 *   packet        paths in turn over all packets of this source
 *   destination   paths in turn over the packets of each destination
 *   static        one path per source and destination, by a hash of the two
 *   fabric        path 0: what the switches do with packets that name none */
#include "systems/forth/traffic/generator.h"

#include <errno.h>
#include <stdlib.h>

#include "net/pattern.h"

/* All nodes draw the same permutation. */
static uint32_t generator_path_shuffled(const struct forth_gen *g)
{
	uint32_t at[FORTH_FLOWS];

	pattern_permute(g->shuffle, at, g->dests);
	return at[g->node];
}

/* One entry of the list: node, or node+node+.. */
static const char *list_entry(struct forth_gen *g, const char *p)
{
	char *end;

	g->partners = 0;
	for (;; p = end + 1) {
		unsigned long v = strtoul(p, &end, 10);

		if (end == p || v >= g->dests || g->partners == GEN_PARTNERS)
			return NULL;
		g->partner[g->partners++] = (uint32_t)v;
		if (*end != '+')
			break;
	}
	return *end && *end != ',' ? NULL : end + (*end == ',');
}

static int generator_path_listed(struct weft_comp *c, struct weft_err *err)
{
	struct forth_gen *g = c->state;
	const char *p = g->targets;

	for (uint32_t i = 0; i <= g->node; i++) {
		p = list_entry(g, p);
		if (!p)
			return weft_fail(
				err, EINVAL,
				"%s.targets: entry %u of '%.60s' is no node below %u: write one for each node, with commas",
				c->name, i, g->targets, g->dests);
	}
	return 0;
}

int forth_gen_partner(struct weft_comp *c, struct weft_err *err)
{
	struct forth_gen *g = c->state;

	if (g->pattern == PAT_LIST)
		return generator_path_listed(c, err);
	g->partner[0] = generator_path_shuffled(g);
	g->partners = 1;
	return 0;
}

int forth_gen_paths(struct weft_comp *c, struct weft_err *err)
{
	struct forth_gen *g = c->state;
	uint32_t there = forth_port_paths(&g->link);

	if (g->paths > (there ? there : 1))
		return weft_fail(err, EINVAL,
				 "%s: paths = %u: the fabric has %u", c->name,
				 g->paths, there ? there : 1);
	g->ways = g->paths ? g->paths : there;
	if (!there || g->balance == BAL_FABRIC)
		g->ways = 0;
	g->turn = g->node;
	for (uint32_t d = 0; d < g->dests; d++)
		g->voq[d].turn = g->node;
	return 0;
}

static uint32_t generator_path_hash(uint32_t src, uint32_t dst)
{
	uint32_t z = (src << 8 | dst) * 0x9E3779B1u;

	z = (z ^ z >> 15) * 0x85EBCA77u;
	return z ^ z >> 13;
}

uint32_t forth_gen_path(const struct forth_gen *g, uint32_t d)
{
	if (!g->ways)
		return 0;
	switch (g->balance) {
	case BAL_PACKET:
		return 1 + g->turn % g->ways;
	case BAL_DESTINATION:
		return 1 + g->voq[d].turn % g->ways;
	default:
		return 1 + generator_path_hash(g->node, d) % g->ways;
	}
}

void forth_gen_path_taken(struct forth_gen *g, uint32_t d)
{
	g->turn++;
	g->voq[d].turn++;
}
