/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic generator: choice among several paths (forth.md 7.1: in Benes and
 * Clos fabrics the load must be spread per destination).
 *
 *   packet        paths in turn over all packets of this source
 *   destination   paths in turn over the packets of each destination
 *   static        one path per source and destination, by a hash of the two
 *   fabric        path 0, for which the switches choose */
#include "systems/forth/traffic/generator.h"

#include <errno.h>

int forth_gen_paths(struct weft_comp *c, struct weft_err *err)
{
	struct forth_gen *g = c->state;
	uint32_t there = forth_port_paths(&g->link);

	if (g->p.paths > (there ? there : 1))
		return weft_fail(err, EINVAL,
				 "%s: paths = %u: the fabric has %u", c->name,
				 g->p.paths, there ? there : 1);
	g->ways = g->p.paths ? g->p.paths : there;
	if (!there || g->p.balance == BAL_FABRIC)
		g->ways = 0;
	g->turn = g->p.node;
	for (uint32_t d = 0; d < g->p.dests; d++)
		g->voq[d].turn = g->p.node;
	return 0;
}

uint32_t forth_gen_path(const struct forth_gen *g, uint32_t d)
{
	uint32_t z;

	if (!g->ways)
		return 0;
	switch (g->p.balance) {
	case BAL_PACKET:
		return 1 + g->turn % g->ways;
	case BAL_DESTINATION:
		return 1 + g->voq[d].turn % g->ways;
	default:
		z = (g->p.node << 8 | d) * 0x9E3779B1u;
		z = (z ^ z >> 15) * 0x85EBCA77u;
		return 1 + (z ^ z >> 13) % g->ways;
	}
}
