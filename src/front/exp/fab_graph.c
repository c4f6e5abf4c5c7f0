/* SPDX-License-Identifier: Apache-2.0 */
/* Fabric `graph`: switches and any cables between their links.
 *
 *	type: graph
 *	cables: [[0, 1], [1, 2], [s0.lp3, s2.lp0]]
 *	file: my.cables		file of cables, one in each line, as two nodes
 *				or two ports; # begins a comment
 *	routes: shortest	shortest routes (default)
 *	routes: up_down		routes that go up and then down a tree
 *
 * Cables between nodes use the lowest free ports, in order. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/exp/direct_network.h"
#include "front/exp/section.h"

static const char *const keys[] = { "cables", "file", "routes", DIRECT_KEYS,
				    NULL };

struct graph {
	struct topology t;
	struct doc_where at; /* line and column of the cable in the text */
};

/* Finds the port "s0.lp3", or the lowest free port of a node. */
static int graph_end(struct graph *g, const char *text, uint32_t *node_p,
		     uint32_t *port_p, struct weft_err *err)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (direct_port(&g->t, text, node_p, port_p))
		return 0;
	if (end == text || *end || !isdigit((unsigned char)*text) ||
	    v >= g->t.nodes)
		return doc_fail(
			g->at, err,
			"'%.40s' is neither a node below %u nor a port like s0.lp3",
			text, g->t.nodes);
	*node_p = (uint32_t)v;
	*port_p = route_free_port(&g->t, *node_p);
	if (*port_p == TOPO_NO_PORT)
		return doc_fail(
			g->at, err,
			"node %u has %u cables already: that is all its links",
			*node_p, g->t.ports.links);
	return 0;
}

static int graph_cable(struct graph *g, const char *a, const char *b,
		       struct weft_err *err)
{
	uint32_t an, ap, bn, bp;

	if (graph_end(g, a, &an, &ap, err) || graph_end(g, b, &bn, &bp, err))
		return -1;
	if (an == bn)
		return doc_fail(
			g->at, err,
			"node %u is cabled to itself: write two nodes, e.g. [0, 1]",
			an);
	if (!route_join(&g->t, an, ap, bn, bp))
		return doc_fail(
			g->at, err,
			"s%u.lp%u or s%u.lp%u already has a cable: write e.g. [%u, %u] to take free ports",
			an, ap - g->t.ports.first, bn, bp - g->t.ports.first,
			an, bn);
	return 0;
}

static int graph_list(struct graph *g, const struct doc_node *list,
		      struct weft_err *err)
{
	if (exp_want(list, DOC_SEQ, "cables", err))
		return -1;
	for (uint32_t i = 0; i < list->n; i++) {
		const struct doc_node *n = list->items[i].val;

		if (exp_want(n, DOC_SEQ, "a cable", err))
			return -1;
		g->at = n->at;
		if (n->n != 2 || n->items[0].val->kind != DOC_SCALAR ||
		    n->items[1].val->kind != DOC_SCALAR)
			return doc_fail(n->at, err,
					"a cable has two ends: write [0, 1]");
		if (graph_cable(g, n->items[0].val->text, n->items[1].val->text,
				err))
			return -1;
	}
	return 0;
}

static int graph_line(struct graph *g, char *line, struct weft_err *err)
{
	static const char blank[] = " \t\r\n,";
	char *save, *a, *b;

	line[strcspn(line, "#")] = '\0';
	a = strtok_r(line, blank, &save);
	if (!a)
		return 0;
	b = strtok_r(NULL, blank, &save);
	if (!b || strtok_r(NULL, blank, &save))
		return doc_fail(
			g->at, err,
			"a cable has two ends: write two nodes in a line, e.g. 0 1");
	return graph_cable(g, a, b, err);
}

static int graph_file(struct graph *g, const struct doc_node *n,
		      struct weft_err *err)
{
	struct weft_err sub = { 0 };
	char *text, *p, *nl;
	int ret = 0;

	if (exp_want(n, DOC_SCALAR, "file", err))
		return -1;
	if (doc_read_lines(n->text, &text, &sub))
		return doc_fail(n->at, err, "%s", sub.msg);
	g->at = (struct doc_where){ .file = n->text };
	for (p = text; p && !ret; p = nl) {
		nl = strchr(p, '\n');
		if (nl)
			*nl++ = '\0';
		g->at.line++;
		ret = graph_line(g, p, err);
	}
	free(text);
	return ret;
}

static int graph_routes(struct graph *g, const struct doc_node *map,
			struct weft_err *err)
{
	uint32_t up_down = 0;

	if (exp_option(map, "routes", WEFT_P_ENUM, "shortest|up_down", &up_down,
		       sizeof(up_down), err))
		return -1;
	return up_down ? route_up_down(&g->t, err) : route_shortest(&g->t, err);
}

/* Makes routes for all cables. direct_build reads cuts later, and makes new
 * routes if a cable was cut. */
static int graph_build(struct exp_build *b, const struct doc_node *map,
		       struct weft_err *err)
{
	const struct doc_node *list = doc_get(map, "cables");
	const struct doc_node *file = doc_get(map, "file");
	struct graph g = { .t = { .dateline = true } };
	struct topo_ports ports;
	struct weft_err sub = { 0 };

	if (!list && !file)
		return doc_fail(
			map->at, err,
			"the fabric has no 'cables' and no 'file': write e.g. cables: [[0, 1], [1, 2]]");
	if (direct_ports(b, map, &ports, err))
		return -1;
	if (route_graph_new(&g.t, ports, (uint32_t)b->ends.n, &sub))
		return doc_fail(map->at, err, "%s", sub.msg);
	if ((list && graph_list(&g, list, err)) ||
	    (file && graph_file(&g, file, err)) ||
	    (!doc_get(map, "cut") && graph_routes(&g, map, err))) {
		topo_fini(&g.t);
		return -1;
	}
	return direct_build(b, map, &g.t, err);
}

const struct fabric_gen fabric_graph = {
	.name = "graph",
	.doc = "a switch at each end, cables between any two of them",
	.keys = keys,
	.build = graph_build,
};
