/* SPDX-License-Identifier: Apache-2.0 */
/* List of routings and the check of a routing for a graph, see routing.h. */
#include "net/routing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Graphs with more pairs of a router and an end than this are not searched. The
 * search then uses a smaller graph of the same topology. */
enum { PAIRS = 1 << 18 };

extern const struct net_routing net_routing_dimension_order,
	net_routing_valiant, net_routing_romm, net_routing_ugal,
	net_routing_o1turn, net_routing_xy_yx_adaptive,
	net_routing_planar_adaptive, net_routing_minimal_adaptive,
	net_routing_destination_tag;
extern const struct net_routing net_routing_nearest_common_ancestor,
	net_routing_d_mod_k, net_routing_nca_adaptive;
extern const struct net_routing net_routing_dragonfly_minimal,
	net_routing_dragonfly_valiant, net_routing_dragonfly_valiant_group,
	net_routing_dragonfly_ugal, net_routing_dragonfly_ugal_global,
	net_routing_dragonfly_progressive;
extern const struct net_routing net_routing_hyperx_dimension_order,
	net_routing_hyperx_o1turn, net_routing_hyperx_xy_yx_adaptive,
	net_routing_hyperx_valiant, net_routing_hyperx_ugal,
	net_routing_hyperx_minimal_adaptive;
extern const struct net_routing net_routing_table, net_routing_shortest,
	net_routing_shortest_all_vcs, net_routing_table_valiant,
	net_routing_up_down;
extern const struct net_routing net_routing_cube_dimension_order,
	net_routing_cube_valiant, net_routing_cube_minimal_adaptive,
	net_routing_express_order, net_routing_cmesh_dimension_order;

const struct net_routing *const net_routings[] = {
	&net_routing_dimension_order,
	&net_routing_valiant,
	&net_routing_romm,
	&net_routing_ugal,
	&net_routing_o1turn,
	&net_routing_xy_yx_adaptive,
	&net_routing_planar_adaptive,
	&net_routing_minimal_adaptive,
	&net_routing_destination_tag,
	&net_routing_nearest_common_ancestor,
	&net_routing_d_mod_k,
	&net_routing_nca_adaptive,
	&net_routing_dragonfly_minimal,
	&net_routing_dragonfly_valiant,
	&net_routing_dragonfly_valiant_group,
	&net_routing_dragonfly_ugal,
	&net_routing_dragonfly_ugal_global,
	&net_routing_dragonfly_progressive,
	&net_routing_hyperx_dimension_order,
	&net_routing_hyperx_o1turn,
	&net_routing_hyperx_xy_yx_adaptive,
	&net_routing_hyperx_valiant,
	&net_routing_hyperx_ugal,
	&net_routing_hyperx_minimal_adaptive,
	&net_routing_cube_dimension_order,
	&net_routing_cube_valiant,
	&net_routing_cube_minimal_adaptive,
	&net_routing_express_order,
	&net_routing_cmesh_dimension_order,
	&net_routing_up_down,
	&net_routing_table,
	&net_routing_shortest,
	&net_routing_shortest_all_vcs,
	&net_routing_table_valiant,
	NULL,
};

static bool routing_fits(const struct net_routing *r,
			 const struct net_topology *t)
{
	if (!r->topologies)
		return !t->one_way;
	for (const char *const *n = r->topologies; *n; n++)
		if (!strcmp(*n, t->name))
			return true;
	return false;
}

const struct net_routing *net_routing_called(const char *name,
					     const struct net_topology *t)
{
	const struct net_routing *other = NULL;

	for (const struct net_routing *const *r = net_routings; *r; r++) {
		if (strcmp((*r)->name, name))
			continue;
		if (t && routing_fits(*r, t))
			return *r;
		other = other ? other : *r;
	}
	return other;
}

void net_choose_half(struct net_choices *c, uint32_t port, uint32_t first,
		     uint32_t last, uint32_t k)
{
	uint32_t half = (last - first + 1) / 2;

	if (k)
		net_choose(c, port, last + 1 - half, last, 0);
	else
		net_choose(c, port, first, last - half, 0);
}

void net_choose_class(struct net_choices *c, uint32_t port, uint32_t vcs,
		      uint32_t k, uint32_t n)
{
	net_choose(c, port, k * vcs / n, (k + 1) * vcs / n - 1, 0);
}

bool net_emptier(struct net_arrival in, uint32_t vcs, uint32_t a, uint32_t b,
		 bool coin)
{
	uint32_t used_a, used_b;

	if (!in.loads)
		return coin;
	used_a = net_used(in, in.router, a, 0, vcs - 1);
	used_b = net_used(in, in.router, b, 0, vcs - 1);
	return used_a == used_b ? coin : used_a < used_b;
}

/* Writes names of the routings of a graph to text. */
static void routings_of(const struct net_graph *g, char *text, size_t size)
{
	const char *own = g->type->routing;
	const struct net_routing *first = net_routing_called(own, g->type);
	size_t len = 0;

	/* net_routings does not contain the default routing of a topology from
	 * a shared object */
	text[0] = '\0';
	if (!first || !routing_fits(first, g->type))
		len = (size_t)snprintf(text, size, "%s", own);
	for (const struct net_routing *const *r = net_routings; *r; r++)
		if (routing_fits(*r, g->type) && len < size &&
		    net_routing_called((*r)->name, g->type) == *r)
			len += (size_t)snprintf(text + len, size - len, "%s%s",
						len ? ", " : "", (*r)->name);
}

/* Makes the tables of a routing anew. */
static int routing_prepare(const struct net_routing *r, struct net_graph *g,
			   struct weft_err *err)
{
	free(g->table);
	g->table = NULL;
	g->routing = r;
	return r->prepare ? r->prepare(g, err) : 0;
}

bool net_routing_circle(const struct net_routing *r, const struct net_graph *g,
			uint32_t vcs, const struct net_range *range, uint32_t n,
			char *text, size_t size)
{
	struct net_shape s = g->shape;
	struct weft_err unused = { 0 };
	struct net_graph small = { 0 };
	const char *why;
	bool found;

	if ((uint64_t)g->routers * g->ends <= PAIRS || r->user ||
	    !g->type->reduce(&s) ||
	    net_graph_init(&small, g->type, &s, &unused))
		return net_routing_cycle(r, g, vcs, range, n, text, size);
	small.datelines = g->datelines;
	if (routing_prepare(r, &small, &unused) || r->vcs(&small, &why) > vcs)
		found = net_routing_cycle(r, g, vcs, range, n, text, size);
	else
		found = net_routing_circle(r, &small, vcs, range, n, text,
					   size);
	net_graph_fini(&small);
	return found;
}

int net_routing_check(const struct net_routing *r, struct net_graph *g,
		      uint32_t vcs, struct weft_err *err)
{
	struct net_range all = { 0, (uint8_t)vcs };
	const char *why = "";
	uint32_t least;
	char text[400];

	if (!routing_fits(r, g->type)) {
		routings_of(g, text, sizeof(text));
		return weft_fail(
			err, EINVAL,
			"routing %s is not one for topology %s: use %s",
			r->name, g->type->name, text);
	}
	if (routing_prepare(r, g, err))
		return -EINVAL;
	least = r->vcs(g, &why);
	if (least > NET_VCS_MAX)
		return weft_fail(
			err, EINVAL,
			"routing %s needs %u VCs (%s), a router has at most %u: use routing up_down",
			r->name, least, why, NET_VCS_MAX);
	if (vcs < least)
		return weft_fail(
			err, EINVAL,
			"routing %s needs %u VCs (%s), here are %u: set switch.vcs to %u or more",
			r->name, least, why, vcs, least);
	if (vcs > NET_VCS_MAX)
		return weft_fail(err, EINVAL, "%u VCs are too many: at most %u",
				 vcs, NET_VCS_MAX);
	if (net_routing_circle(r, g, vcs, &all, 1, text, sizeof(text)))
		return weft_fail(err, EINVAL,
				 "routing %s with %u VCs may deadlock%s%s: %s",
				 r->name, vcs, r->instead ? ", " : "",
				 r->instead ? r->instead : "", text);
	return 0;
}
