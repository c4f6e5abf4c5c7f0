/* SPDX-License-Identifier: Apache-2.0 */
/* Fabric `routed`: routers and cables of a topology (net/graph.h), and a
 * routing that is proved free of deadlock (net/routing.h).
 *
 *	type: routed, topology: mesh, dims: [8, 8], ends: 1	(routed_shape.h)
 *	routing: dimension_order, threshold: 4
 *	switch, link, net: {..}		classes and their settings
 *	trunk: {..}			cables between groups
 *	access: {..}			cables to ends
 *	gateway, nic_switch, nic_link: {..}	in front of NICs (gateways.h)
 *
 * The class of the ends, or of their gateways, gives the default classes of
 * `switch`, `link` and `net`. Without `trunk`, cables between groups have the
 * class and settings of `link`. Without `access`, cables to ends have the
 * default class of `link` and no settings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/need.h"
#include "front/exp/gateways.h"
#include "front/exp/routed_routes.h"
#include "front/exp/routed_shape.h"
#include "front/exp/section.h"
#include "net/routing.h"
#include "net/topology.h"

static const char *const keys[] = { "topology",	  ROUTED_SHAPE_KEYS,
				    "routes",	  "routing",
				    "threshold",  "loads",
				    "datelines",  "switch",
				    "link",	  "trunk",
				    "access",	  "net",
				    GATEWAY_KEYS, NULL };

enum { THRESHOLD = 4 };

struct routed {
	struct exp_build *b;
	const struct doc_node *map;
	struct net_graph *g;
	struct gateways gates;
	const struct weft_network_parts *parts; /* default classes */
	struct weft_comp *net, **sw;
	struct weft_comp *link, *trunk, *access;
	/* Link components of cables that do not have the default latency, at
	 * index net_far.kind - 1. kind[0] is for cables between routers,
	 * kind[1] for cables to ends. An element is NULL until its component is
	 * built. */
	struct weft_comp *kind[2][UINT8_MAX];
};

/* ---- the graph ---- */

static const char *topology_next(void *unused, size_t i)
{
	return net_topologies[i] ? net_topologies[i]->name : NULL;
}

static const char *routing_next(void *unused, size_t i)
{
	return net_routings[i] ? net_routings[i]->name : NULL;
}

/* Finds the generator and the routing that the fabric names. */
static int names_read(const struct registry *reg, const struct doc_node *map,
		      const struct net_topology **t_p,
		      const struct net_routing **r_p, struct weft_err *err)
{
	const struct doc_node *t = doc_get(map, "topology");
	const struct doc_node *r = doc_get(map, "routing");

	if (!t)
		return doc_fail(
			map->at, err,
			"the fabric has no 'topology': write e.g. topology: mesh");
	if (exp_want(t, DOC_SCALAR, "topology", err) ||
	    (r && exp_want(r, DOC_SCALAR, "routing", err)))
		return -1;
	*t_p = registry_topology(reg, t->text);
	if (!*t_p)
		return doc_fail_near(t->at, err, t->text, topology_next, NULL,
				     "no topology is called '%.60s'", t->text);
	*r_p = registry_routing(reg, r ? r->text : (*t_p)->routing, *t_p);
	if (!*r_p)
		return doc_fail_near(
			r ? r->at : map->at, err, r ? r->text : (*t_p)->routing,
			routing_next, NULL, "no routing is called '%.60s'",
			r ? r->text : (*t_p)->routing);
	return 0;
}

/* Reads the threshold, in flits. A packet takes a longer route only if the
 * weighted load of the shortest route exceeds the weighted load of the longer
 * route by more than the threshold. The default is above 0, because otherwise a
 * few flits would send packets of a nearly empty network over longer routes. */
static int threshold_read(const struct doc_node *map, struct net_graph *g,
			  struct weft_err *err)
{
	const struct doc_node *n = doc_get(map, "threshold");

	g->threshold = THRESHOLD;
	if (n && !g->routing->threshold)
		return doc_fail(
			n->at, err,
			"routing %s compares no loads of two ways: leave out 'threshold'",
			g->routing->name);
	return exp_option(map, "threshold", WEFT_P_U32, "0..1048576",
			  &g->threshold, sizeof(g->threshold), err);
}

/* Reads the rule that gives packets their class of VCs in a ring. */
static int datelines_read(const struct doc_node *map, struct net_graph *g,
			  struct weft_err *err)
{
	const struct doc_node *n = doc_get(map, "datelines");

	if (n && !g->type->rings)
		return doc_fail(
			n->at, err,
			"topology %s has no rings: leave out 'datelines'",
			g->type->name);
	if (n && !g->routing->datelines)
		return doc_fail(
			n->at, err,
			"routing %s has no classes of VCs by datelines: leave out 'datelines'",
			g->routing->name);
	return exp_option(map, "datelines", WEFT_P_ENUM, "one|balanced",
			  &g->datelines, sizeof(g->datelines), err);
}

/* Returns the position in the experiment that messages about the graph name.
 * This is the position of `dims`, of `cables`, or of the fabric. If cables are
 * read from a file, messages name the file. */
static struct doc_where graph_where(const struct doc_node *map)
{
	static const char *const from[] = { "dims", "cables" };
	const struct doc_node *file = doc_get(map, "file");

	for (uint32_t i = 0; i < 2; i++)
		if (doc_get(map, from[i]))
			return doc_get(map, from[i])->at;
	return file ? (struct doc_where){ .file = file->text } : map->at;
}

static int graph_read(const struct registry *reg, const struct doc_node *map,
		      struct net_graph *g, struct weft_err *err)
{
	const struct net_topology *type = NULL;
	const struct net_routing *routing = NULL;
	struct net_cables cables = { 0 };
	struct weft_err sub = { 0 };
	struct net_shape s;
	int ret;

	if (names_read(reg, map, &type, &routing, err))
		return -1;
	ret = routed_shape_read(map, type, &s, &cables, err);
	if (!ret && net_graph_init(g, type, &s, &sub))
		ret = doc_fail(graph_where(map), err, "%s", sub.msg);
	free(cables.at);
	g->routing = routing;
	if (ret)
		return ret;
	if (!routed_routes_read(map, g, err) && !threshold_read(map, g, err) &&
	    !exp_option(map, "loads", WEFT_P_ENUM, "credits|queues", &g->loads,
			sizeof(g->loads), err) &&
	    !datelines_read(map, g, err))
		return 0;
	net_graph_fini(g);
	return -1;
}

/* ---- parts ---- */

static int router_build(struct routed *d, uint32_t i, struct weft_err *err)
{
	uint32_t ports = net_graph_ports(d->g, i);
	struct network_part p;
	char name[16], text[16];

	snprintf(name, sizeof(name), "s%u", i);
	snprintf(text, sizeof(text), "%u", ports);
	network_part_init(&p, d->map, "switch", d->parts->switch_class,
			  WEFT_KIND_SWITCH);
	network_part_default(&p, "ports", text);
	if (build_comp(d->b, &p.spec, name, p.map, &d->sw[i], err) ||
	    network_part_stands(d->sw[i], d->map, err))
		return -1;
	if (d->sw[i]->n_ports != ports)
		return doc_fail(
			d->map->at, err,
			"%s has %u ports, its place in the network %u: leave out 'ports'",
			name, d->sw[i]->n_ports, ports);
	return 0;
}

/* Checks the routing with the number of VCs that the routers have. */
static int routing_check(struct routed *d, struct weft_err *err)
{
	struct weft_err sub = { 0 };
	char text[16];

	if (weft_param_get(d->sw[0], "vcs", text, sizeof(text)) < 0)
		return doc_fail(
			d->map->at, err,
			"%s has no parameter 'vcs': a routed network has routers with virtual channels",
			d->sw[0]->cls->name);
	if (net_routing_check(d->g->routing, d->g,
			      (uint32_t)strtoul(text, NULL, 10), &sub))
		return doc_fail(d->map->at, err, "%s", sub.msg);
	return 0;
}

static bool has_trunks(const struct net_graph *g)
{
	for (uint32_t i = 0; i < g->first[g->routers]; i++)
		if (g->port[i].at != NET_NOWHERE && g->port[i].trunk)
			return true;
	return false;
}

static int channels_build(struct routed *d, struct weft_err *err)
{
	const char *type = d->parts->link;

	if (network_part_build(d->b, d->map, "link", type, WEFT_KIND_LINK,
			       "link", &d->link, err) ||
	    network_part_build(d->b, d->map, "access", type, WEFT_KIND_LINK,
			       "access", &d->access, err))
		return -1;
	d->trunk = d->link;
	if (doc_get(d->map, "trunk") && !has_trunks(d->g))
		return doc_fail(
			doc_get(d->map, "trunk")->at, err,
			"a %s has no groups of routers, and no cables between them: leave out 'trunk'",
			d->g->type->name);
	if (doc_get(d->map, "trunk"))
		return network_part_build(d->b, d->map, "trunk", type,
					  WEFT_KIND_LINK, "trunk", &d->trunk,
					  err);
	return 0;
}

static int routed_place(struct routed *d, struct weft_comp *c, uint32_t number,
			struct weft_err *err)
{
	struct weft_place at = { .node = number, .graph = d->g, .net = d->net };

	return network_part_place(c, &at, d->map, err);
}

/* Builds the link component of one latency. Its other settings are those of the
 * fabric's key `key`. */
static int kind_build(struct routed *d, const char *key, uint32_t latency,
		      struct weft_comp **c_p, struct weft_err *err)
{
	struct doc_node *own = doc_get(d->map, key);
	struct doc_node value = { DOC_SCALAR, .at = d->map->at };
	struct doc_node with = { DOC_MAP, .at = d->map->at };
	struct doc_item only = { .key = key, .val = &with };
	struct doc_node map = { DOC_MAP, .at = d->map->at, .n = 1 };
	char name[32], text[16];
	int ret;

	snprintf(name, sizeof(name), "%s%u", key, latency);
	snprintf(text, sizeof(text), "%u", latency);
	value.text = text;
	map.items = &only;
	with.items = need(calloc(own ? own->n + 1ul : 1, sizeof(only)));
	for (uint32_t i = 0; own && i < own->n; i++)
		if (strcmp(own->items[i].key, "latency") != 0)
			with.items[with.n++] = own->items[i];
	with.items[with.n++] =
		(struct doc_item){ "latency", d->map->at, &value };
	ret = network_part_build(d->b, &map, key, d->parts->link,
				 WEFT_KIND_LINK, name, c_p, err);
	free(with.items);
	return ret;
}

/* Finds the link component for the cable at a port. Builds the component first
 * if it is the first with this latency. */
static int link_of(struct routed *d, const struct net_far *f,
		   struct weft_comp **c_p, struct weft_err *err)
{
	struct weft_comp **kind;

	*c_p = f->end ? d->access : f->trunk ? d->trunk : d->link;
	if (!f->kind)
		return 0;
	kind = &d->kind[f->end][f->kind - 1];
	if (!*kind && kind_build(d, f->end ? "access" : "link",
				 d->g->latency[f->kind - 1], kind, err))
		return -1;
	*c_p = *kind;
	return 0;
}

/* Connects the cable at port p of router r. Does nothing if the other end of
 * the cable is at an earlier router or port, because the cable was connected
 * from that end. */
static int port_connect(struct routed *d, uint32_t r, uint32_t p,
			struct weft_err *err)
{
	const struct net_far *f = net_graph_far(d->g, r, p);
	struct weft_comp *far, *link;

	if (f->at == NET_NOWHERE)
		return 0;
	if (!f->end && (f->at < r || (f->at == r && f->port < p)))
		return 0;
	far = f->end ? gateways_end(&d->gates, f->at) : d->sw[f->at];
	if (link_of(d, f, &link, err))
		return -1;
	if (f->port >= far->n_ports)
		return doc_fail(d->map->at, err,
				"%s has no port p%u, which this network needs",
				far->name, f->port);
	return build_cable(d->b, &d->sw[r]->ports[p], &far->ports[f->port],
			   link, d->map->at, err);
}

static int parts_build(struct routed *d, struct weft_err *err)
{
	const struct net_graph *g = d->g;

	for (uint32_t i = 0; i < g->routers; i++)
		if (router_build(d, i, err) || (!i && routing_check(d, err)))
			return -1;
	if (channels_build(d, err))
		return -1;
	for (uint32_t i = 0; i < g->routers; i++)
		if (routed_place(d, d->sw[i], i, err))
			return -1;
	for (uint32_t i = 0; i < g->ends; i++)
		if (routed_place(d, gateways_end(&d->gates, i), i, err))
			return -1;
	for (uint32_t r = 0; r < g->routers; r++)
		for (uint32_t p = 0; p < net_graph_ports(g, r); p++)
			if (port_connect(d, r, p, err))
				return -1;
	return gateways_join(&d->gates, err);
}

/* Builds the component that stands for the whole network, and passes the graph
 * to it. */
static int net_build(struct routed *d, struct net_graph *g,
		     struct weft_err *err)
{
	struct weft_network parts = { .n_switches = g->routers };
	struct weft_err sub = { 0 };

	if (network_part_net(d->b, d->map, d->parts->net, &d->net, err) ||
	    gateways_build(&d->gates, &parts.topo, err)) {
		net_graph_fini(g);
		topo_free(parts.topo);
		return -1;
	}
	parts.graph = d->g = need(malloc(sizeof(*g)));
	parts.switches = d->sw = need(calloc(g->routers, sizeof(*d->sw)));
	*d->g = *g;
	if (d->net->cls->ops.network(d->net, &parts, &sub))
		return doc_fail(d->map->at, err, "%s", sub.msg);
	return 0;
}

static int routed_build(struct exp_build *b, const struct doc_node *map,
			struct weft_err *err)
{
	struct routed d = { .b = b, .map = map };
	struct net_graph g;
	int ret;

	if (graph_read(b->reg, map, &g, err))
		return -1;
	if (b->ends.n != g.ends) {
		doc_fail(
			map->at, err,
			"this network has %u ends, here are %zu: set nodes.count or traffic.count to %u",
			g.ends, b->ends.n, g.ends);
		net_graph_fini(&g);
		return -1;
	}
	if (gateways_find(&d.gates, b, map, err)) {
		net_graph_fini(&g);
		return -1;
	}
	d.parts = gateways_parts(&d.gates);
	ret = net_build(&d, &g, err) || parts_build(&d, err) ? -1 : 0;
	gateways_free(&d.gates);
	return ret;
}

const struct fabric_gen fabric_routed = {
	.name = "routed",
	.doc = "routers of any topology, routing proved free of deadlock",
	.keys = keys,
	.build = routed_build,
};
