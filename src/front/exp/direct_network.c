/* SPDX-License-Identifier: Apache-2.0 */
/* Crossbars, cables and routes of direct networks, see direct_network.h. */
#include "front/exp/direct_network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/exp/network_part.h"
#include "front/exp/registry.h"
#include "front/exp/section.h"

struct opts {
	uint32_t routing, cycles;
};

/* clang-format off */
static const struct weft_param opt_params[] = {
	WEFT_PARAM(ENUM, struct opts, routing, "path", "path|table", OWN, ""),
	WEFT_PARAM(ENUM, struct opts, cycles, "refuse", "refuse|warn", OWN, ""),
	{ 0 },
};
/* clang-format on */
enum { PATH, TABLE };
enum { REFUSE, WARN };

/* ---- cuts ---- */

bool direct_port(const struct topology *t, const char *text, uint32_t *node_p,
		 uint32_t *port_p)
{
	unsigned node, port;
	int used = 0;

	if (sscanf(text, "s%5u.lp%2u%n", &node, &port, &used) != 2 ||
	    text[used] || node >= t->nodes || port >= t->ports.links)
		return false;
	*node_p = node;
	*port_p = port + t->ports.first;
	return true;
}

/* Finds the first cable between two nodes given as "[4, 5]". */
static int cut_pair(const struct topology *t, const struct doc_node *n,
		    uint32_t *node_p, uint32_t *port_p, struct weft_err *err)
{
	uint32_t to;

	if (n->n != 2 ||
	    exp_value(n->items[0].val, WEFT_P_U32, "", node_p, sizeof(*node_p),
		      "cut", err) ||
	    exp_value(n->items[1].val, WEFT_P_U32, "", &to, sizeof(to), "cut",
		      err))
		return doc_fail(n->at, err, "a cut is s3.lp0 or [3, 4]");
	for (uint32_t p = t->ports.first;
	     p < topo_ports_end(t) && *node_p < t->nodes; p++)
		if (topo_far(t, *node_p, p) == to) {
			*port_p = p;
			return 0;
		}
	return doc_fail(
		n->at, err,
		"there is no cable from node %u to %u: only what is there can be cut",
		*node_p, to);
}

static int cut_one(struct topology *t, const struct doc_node *n,
		   struct weft_err *err)
{
	uint32_t node = 0, port = 0;

	if (n->kind == DOC_SEQ) {
		if (cut_pair(t, n, &node, &port, err))
			return -1;
	} else if (exp_want(n, DOC_SCALAR, "a cut", err) ||
		   !direct_port(t, n->text, &node, &port)) {
		return doc_fail(
			n->at, err,
			"'%.40s' is no link port: write e.g. s3.lp0, or [3, 4] for the cable between two nodes",
			n->text);
	}
	if (!topo_cut(t, node, port))
		return doc_fail(
			n->at, err,
			t->n_cuts == TOPO_CUTS
				? "too many cuts (s%u.lp%u): make it a graph without those cables"
				: "there is no cable at s%u.lp%u to cut: it is cut already, or an edge",
			node, port - t->ports.first);
	return 0;
}

/* ---- routes ---- */

/* Makes routes around cut cables if dimension order leaves nodes without a
 * route. Uses a table of shortest routes if these cannot deadlock, otherwise
 * routes that go up and then down a tree. */
static int routes_mend(struct topology *t, const struct doc_node *map,
		       char *note, size_t size, struct weft_err *err)
{
	struct weft_err sub = { 0 };
	uint32_t s, d;

	if (t->kind == TOPO_GRID && !route_broken(t, &s, &d))
		return 0;
	if (t->kind == TOPO_GRID && route_graph(t, &sub))
		return doc_fail(map->at, err, "%s", sub.msg);
	if (!t->table) {
		route_shortest(t, &sub);
		snprintf(note, size, "shortest ways by table");
		if (route_check(t).n) {
			route_up_down(t, &sub);
			snprintf(note, size, "up and down a tree, by table");
		}
	}
	if (route_broken(t, &s, &d))
		return doc_fail(
			map->at, err,
			"there is no way from node %u to node %u: add a cable or cut fewer",
			s, d);
	return 0;
}

static int routes_check(struct topology *t, const struct doc_node *map,
			bool warn, char *note, size_t size,
			struct weft_err *err)
{
	struct route_cycle c = route_check(t);
	char text[300];

	if (!c.n)
		return 0;
	route_cycle_text(&c, text, sizeof(text));
	if (!warn)
		return doc_fail(
			map->at, err,
			"these routes may deadlock: %s; %scycles: warn runs them all the same",
			text,
			t->kind == TOPO_GRAPH ? "routes: up_down cannot, "
					      : "");
	snprintf(note, size, "may deadlock: %.180s", text);
	fprintf(stderr, "weft: warning: these routes may deadlock: %s\n", text);
	return 0;
}

static int routes_make(struct topology *t, const struct doc_node *map,
		       char *note, size_t size, struct weft_err *err)
{
	struct doc_item items[2];
	struct doc_node own = { .kind = DOC_MAP, .items = items };
	const struct doc_node *cut = doc_get(map, "cut");
	struct opts o;

	for (const struct weft_param *p = opt_params; p->name; p++)
		if (doc_item(map, p->name))
			items[own.n++] = *doc_item(map, p->name);
	if (exp_fill(&own, opt_params, &o, "fabric", err) ||
	    (cut && exp_want(cut, DOC_SEQ, "cut", err)))
		return -1;
	for (uint32_t i = 0; cut && i < cut->n; i++)
		if (cut_one(t, cut->items[i].val, err))
			return -1;
	if (routes_mend(t, map, note, size, err) ||
	    routes_check(t, map, o.cycles == WARN || !t->dateline, note, size,
			 err))
		return -1;
	t->path = o.routing == PATH;
	if (!t->path && t->tie == TOPO_TIE_RANDOM)
		return doc_fail(
			map->at, err,
			"tie: random is the sender's choice: use routing: path");
	return 0;
}

/* ---- components ---- */

struct direct {
	struct exp_build *b;
	const struct doc_node *map;
	struct weft_comp *net, *link;
	struct weft_comp **sw;
	struct topology *topo;
};

/* Returns the number of ports of that name in a class. */
static uint32_t ports_called(const struct weft_class *cls, const char *name)
{
	const struct weft_port_decl *p = cls->ports;
	const struct weft_param *param;

	while (p && p->name && strcmp(p->name, name))
		p++;
	if (!p || !p->name)
		return 0;
	if (!p->count)
		return 1;
	param = class_param(cls, p->count);
	return (uint32_t)strtoul(param ? param->def : p->count, NULL, 10);
}

int direct_ports(struct exp_build *b, const struct doc_node *map,
		 struct topo_ports *ports_p, struct weft_err *err)
{
	const struct weft_class *cls;
	uint32_t first, links;
	struct network_part p;

	if (!b->ends.n)
		return doc_fail(
			map->at, err,
			"here are 0 ends for a direct network: add a section 'nodes' or 'traffic'");
	if (network_part_stands(b->ends.at[0], map, err))
		return -1;
	network_part_init(&p, map, "switch", network_parts(b)->switch_class,
			  WEFT_KIND_SWITCH);
	if (exp_want(p.map, DOC_MAP, "switch", err) ||
	    build_class(b, &p.spec, p.map, &cls, err))
		return -1;
	first = ports_called(cls, "np%u");
	links = ports_called(cls, "lp%u");
	/* Ports are numbered in the order of their declaration, therefore the
	 * ports to the node (np) must be declared before the links (lp). */
	if (!cls->ops.place || !first || !links ||
	    strcmp(cls->ports[0].name, "np%u") ||
	    strcmp(cls->ports[1].name, "lp%u") || first > TOPO_PORTS_MAX ||
	    links > TOPO_PORTS_MAX - first)
		return doc_fail(
			p.map->at, err,
			"%s cannot stand in a direct network: its switches have ports np0.. to their node, then lp0.. for cables, %u at most",
			cls->name, TOPO_PORTS_MAX);
	*ports_p = (struct topo_ports){ (uint8_t)first, (uint8_t)links };
	return 0;
}

static int net_build(struct direct *d, const char *note, struct weft_err *err)
{
	if (network_part_net(d->b, d->map, network_parts(d->b)->net, &d->net,
			     err))
		return -1;
	if (note[0])
		weft_param_set(d->net, "note", note, NULL);
	return 0;
}

static int switches_build(struct direct *d, struct weft_err *err)
{
	const char *type = network_parts(d->b)->switch_class;
	uint32_t ports = topo_ports_end(d->topo);
	char name[16];

	for (uint32_t i = 0; i < d->topo->nodes; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		if (network_part_build(d->b, d->map, "switch", type,
				       WEFT_KIND_SWITCH, name, &d->sw[i], err))
			return -1;
		if (d->sw[i]->n_ports != ports)
			return doc_fail(
				d->map->at, err,
				"%s has %u ports: a network is made for the %u that %s has by default",
				name, d->sw[i]->n_ports, ports,
				d->sw[i]->cls->name);
	}
	return 0;
}

/* Sets the position of a component in the network. */
static int direct_network_place(struct direct *d, struct weft_comp *c,
				uint32_t node, struct weft_err *err)
{
	struct weft_place at = { .node = node, .topo = d->topo, .net = d->net };

	return network_part_place(c, &at, d->map, err);
}

/* Builds components in the order of their numbers, then sets their positions,
 * then connects cables. */
static int parts_build(struct direct *d, struct weft_err *err)
{
	const struct topology *t = d->topo;

	if (network_part_build(d->b, d->map, "link", network_parts(d->b)->link,
			       WEFT_KIND_LINK, "link", &d->link, err) ||
	    switches_build(d, err))
		return -1;
	for (uint32_t i = 0; i < t->nodes; i++)
		if (direct_network_place(d, d->sw[i], i, err))
			return -1;
	for (uint32_t i = 0; i < t->nodes; i++)
		if (direct_network_place(d, d->b->ends.at[i], i, err) ||
		    network_part_beside(d->b->ends.at[i], d->sw[i], d->map,
					err))
			return -1;
	for (uint32_t s = 0; s < t->nodes; s++)
		for (uint32_t p = t->ports.first; p < topo_ports_end(t); p++) {
			uint32_t n = topo_far(t, s, p), q;

			if (n == TOPO_FAR_NONE)
				continue;
			q = topo_far_port(t, s, p);
			/* builds each cable once, from its end with the lower
			 * number */
			if ((n > s || (n == s && q > p)) &&
			    build_cable(d->b, &d->sw[s]->ports[p],
					&d->sw[n]->ports[q], d->link,
					d->map->at, err))
				return -1;
		}
	return 0;
}

int direct_build(struct exp_build *b, const struct doc_node *map,
		 struct topology *t, struct weft_err *err)
{
	struct direct d = { .b = b, .map = map };
	struct weft_network parts = { .n_switches = t->nodes };
	struct weft_err sub = { 0 };
	char note[200] = "";

	if (b->ends.n != t->nodes) {
		doc_fail(
			map->at, err,
			"this network has %u nodes, here are %zu ends: set nodes.count or traffic.count to %u",
			t->nodes, b->ends.n, t->nodes);
		goto fail;
	}
	if (routes_make(t, map, note, sizeof(note), err) ||
	    net_build(&d, note, err))
		goto fail;
	/* The network owns the topology from now on. `sw` is filled later. */
	parts.topo = d.topo = malloc(sizeof(*t));
	parts.switches = d.sw = calloc(t->nodes, sizeof(*d.sw));
	if (!d.topo || !d.sw)
		abort();
	*d.topo = *t;
	*t = (struct topology){ 0 };
	if (d.net->cls->ops.network(d.net, &parts, &sub))
		return doc_fail(map->at, err, "%s", sub.msg);
	return parts_build(&d, err);
fail:
	topo_fini(t);
	return -1;
}
