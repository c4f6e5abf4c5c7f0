/* SPDX-License-Identifier: Apache-2.0 */
/* Crossbars, cables and routes of direct networks, see direct_network.h. */
#include "front/exp/direct_network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/exp/section.h"
#include "systems/extoll/network/direct_network.h"

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

bool direct_port(const struct ex_topo *t, const char *text, uint32_t *node_p,
		 uint32_t *port_p)
{
	unsigned node, port;
	int used = 0;

	if (sscanf(text, "s%5u.lp%1u%n", &node, &port, &used) != 2 ||
	    text[used] || node >= t->nodes || port >= EX_LINKS)
		return false;
	*node_p = node;
	*port_p = port + EX_INTERNAL;
	return true;
}

/* "[4, 5]": the first cable between two nodes. */
static int cut_pair(const struct ex_topo *t, const struct doc_node *n,
		    uint32_t *node_p, uint32_t *port_p, struct weft_err *err)
{
	uint32_t to;

	if (n->n != 2 ||
	    exp_value(n->items[0].val, WEFT_P_U32, "", node_p, sizeof(*node_p),
		      "cut", err) ||
	    exp_value(n->items[1].val, WEFT_P_U32, "", &to, sizeof(to), "cut",
		      err))
		return doc_fail(n->at, err, "a cut is s3.lp0 or [3, 4]");
	for (uint32_t p = EX_INTERNAL; p < EX_PORTS && *node_p < t->nodes; p++)
		if (ex_topo_far(t, *node_p, p) == to) {
			*port_p = p;
			return 0;
		}
	return doc_fail(
		n->at, err,
		"there is no cable from node %u to %u: only what is there can be cut",
		*node_p, to);
}

static int cut_one(struct ex_topo *t, const struct doc_node *n,
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
	if (!ex_topo_cut(t, node, port))
		return doc_fail(
			n->at, err,
			t->n_cuts == EX_CUTS
				? "too many cuts (s%u.lp%u): make it a graph without those cables"
				: "there is no cable at s%u.lp%u to cut: it is cut already, or an edge",
			node, port - EX_INTERNAL);
	return 0;
}

static int cuts_read(struct ex_topo *t, const struct doc_node *map,
		     struct weft_err *err)
{
	const struct doc_node *n = doc_get(map, "cut");

	if (!n)
		return 0;
	if (exp_want(n, DOC_SEQ, "cut", err))
		return -1;
	for (uint32_t i = 0; i < n->n; i++)
		if (cut_one(t, n->items[i].val, err))
			return -1;
	return 0;
}

/* ---- routes ---- */

static int fail_at(const struct doc_node *map, struct weft_err *err,
		   const struct weft_err *sub)
{
	return doc_fail(map->at, err, "%s", sub->msg);
}

/* Dimension order fails at a cut: tables, shortest ways if they cannot
 * deadlock, else up and down. */
static int routes_mend(struct ex_topo *t, const struct doc_node *map,
		       char *note, size_t size, struct weft_err *err)
{
	struct weft_err sub = { 0 };
	uint32_t s, d;

	if (t->kind == EX_TOPO_GRID && !route_broken(t, &s, &d))
		return 0;
	if (t->kind == EX_TOPO_GRID && route_graph(t, &sub))
		return fail_at(map, err, &sub);
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

static int routes_check(struct ex_topo *t, const struct doc_node *map,
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
			t->kind == EX_TOPO_GRAPH ? "routes: up_down cannot, "
						 : "");
	snprintf(note, size, "may deadlock: %.180s", text);
	fprintf(stderr, "weft: warning: these routes may deadlock: %s\n", text);
	return 0;
}

/* The longest way in a grid without cuts; others are looked at one by one. */
static uint32_t longest(const struct ex_topo *t)
{
	uint32_t most = 0, s, d;

	for (uint32_t i = 0; t->kind == EX_TOPO_GRID && i < t->dims; i++)
		most += t->wrap >> i & 1 && !t->n_cuts ? t->size[i] / 2
						       : t->size[i] - 1;
	for (s = 0; t->kind == EX_TOPO_GRAPH && s < t->nodes; s++)
		for (d = 0; d < t->nodes && most < EX_ROUTE_MAX; d++) {
			uint32_t n = ex_topo_hops(t, s, d);

			most = n > most ? n : most;
		}
	return most;
}

static int routes_make(struct ex_topo *t, const struct doc_node *map,
		       char *note, size_t size, struct weft_err *err)
{
	struct doc_item items[2];
	struct doc_node own = { .kind = DOC_MAP, .items = items };
	struct opts o;

	for (const struct weft_param *p = opt_params; p->name; p++)
		if (doc_item(map, p->name))
			items[own.n++] = *doc_item(map, p->name);
	if (exp_fill(&own, opt_params, &o, "fabric", err) ||
	    cuts_read(t, map, err) || routes_mend(t, map, note, size, err) ||
	    routes_check(t, map, o.cycles == WARN || !t->dateline, note, size,
			 err))
		return -1;
	t->path = o.routing == PATH;
	if (!t->path && t->tie == EX_TIE_RANDOM)
		return doc_fail(
			map->at, err,
			"tie: random is the sender's choice: use routing: path");
	if (t->path && longest(t) + 1 > EX_ROUTE_MAX)
		return doc_fail(
			map->at, err,
			"a route has room for %u hops, the longest way is longer: use routing: table",
			EX_ROUTE_MAX - 1);
	return 0;
}

/* ---- components ---- */

#define NET_CLASS "extoll.net"

struct direct {
	struct exp_build *b;
	const struct doc_node *map;
	struct weft_comp *net, *link;
	struct weft_comp **sw;
};

/* Settings under `key`, over the class that stands there by default. */
static int part(struct direct *d, const char *key, const char *type,
		enum weft_kind kind, const char *name, struct weft_comp **c_p,
		struct weft_err *err)
{
	static const struct doc_node none = { .kind = DOC_MAP };
	const struct doc_node *map = doc_get(d->map, key);
	struct doc_node text = { .kind = DOC_SCALAR,
				 .at = d->map->at,
				 .text = type };
	struct doc_item item = { .key = "type", .val = &text };
	struct doc_node base = { .kind = DOC_MAP, .items = &item, .n = 1 };
	struct build_spec spec = { .kind = kind,
				   .type_key = "type",
				   .base = &base };

	return build_comp(d->b, &spec, name, map ? map : &none, c_p, err);
}

/* The network's state is its own. */
static int net_check(const struct direct *d, struct weft_err *err)
{
	const char *name = d->net->cls->name;

	if (!strcmp(name, NET_CLASS))
		return 0;
	return doc_fail(
		d->map->at, err,
		"%s is no network: leave out the 'type' of net, which is " NET_CLASS,
		name);
}

/* Tells a component where it stands. */
static int place(struct direct *d, struct weft_comp *c, uint32_t node,
		 struct weft_err *err)
{
	struct ex_place *p = ex_place(c);

	if (c->cls->state_size < sizeof(*p) || p->magic != EX_PLACE_MAGIC)
		return doc_fail(
			d->map->at, err,
			"%s (%s) cannot stand in a network of extoll.xbar",
			c->name, c->cls->name);
	p->node = node;
	p->topo = &((struct exnet *)d->net->state)->topo;
	p->net = d->net;
	return 0;
}

static int switches(struct direct *d, uint32_t n, struct weft_err *err)
{
	char name[16];

	d->sw = calloc(n, sizeof(*d->sw));
	if (!d->sw)
		abort();
	((struct exnet *)d->net->state)->xbar = d->sw;
	((struct exnet *)d->net->state)->n_xbars = n;
	for (uint32_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		if (part(d, "switch", "extoll.xbar", WEFT_KIND_SWITCH, name,
			 &d->sw[i], err) ||
		    place(d, d->sw[i], i, err))
			return -1;
		if (d->sw[i]->n_ports != EX_PORTS)
			return doc_fail(
				d->map->at, err,
				"%s has %u ports, not 3 internal ones and 6 links",
				d->sw[i]->cls->name, d->sw[i]->n_ports);
	}
	return 0;
}

/* The end's ports np0.. to those of its switch. */
static int end_join(struct direct *d, struct weft_comp *end, uint32_t i,
		    struct weft_err *err)
{
	struct weft_err sub = { 0 };
	uint32_t n = 0;

	if (place(d, end, i, err))
		return -1;
	for (uint32_t k = 0; k < EX_INTERNAL; k++) {
		char name[8];
		struct weft_port *p;

		snprintf(name, sizeof(name), "np%u", k);
		p = weft_port_find(end, name);
		if (!p)
			continue;
		n++;
		if (weft_connect(p, weft_port_find(d->sw[i], name), NULL, 1,
				 &sub))
			return fail_at(d->map, err, &sub);
	}
	if (!n)
		return doc_fail(d->map->at, err, "%s has no port np0",
				end->name);
	return 0;
}

static int cables(struct direct *d, const struct ex_topo *t,
		  struct weft_err *err)
{
	for (uint32_t s = 0; s < t->nodes; s++)
		for (uint32_t p = EX_INTERNAL; p < EX_PORTS; p++) {
			uint32_t n = ex_topo_far(t, s, p), q;

			if (n == EX_FAR_NONE)
				continue;
			q = ex_topo_far_port(t, s, p);
			if ((n > s || (n == s && q > p)) &&
			    build_cable(d->b, &d->sw[s]->ports[p],
					&d->sw[n]->ports[q], d->link,
					d->map->at, err))
				return -1;
		}
	return 0;
}

static int parts(struct direct *d, struct weft_err *err)
{
	const struct ex_topo *t = &((struct exnet *)d->net->state)->topo;

	if (part(d, "link", "extoll.cable", WEFT_KIND_LINK, "link", &d->link,
		 err) ||
	    switches(d, t->nodes, err))
		return -1;
	for (uint32_t i = 0; i < t->nodes; i++)
		if (end_join(d, d->b->ends.at[i], i, err))
			return -1;
	return cables(d, t, err);
}

int direct_build(struct exp_build *b, const struct doc_node *map,
		 struct ex_topo *t, struct weft_err *err)
{
	struct direct d = { .b = b, .map = map };
	char note[200] = "";

	if (b->ends.n != t->nodes) {
		doc_fail(
			map->at, err,
			"this network has %u nodes, here are %zu ends: set nodes.count or traffic.count to %u",
			t->nodes, b->ends.n, t->nodes);
		goto fail;
	}
	if (routes_make(t, map, note, sizeof(note), err) ||
	    part(&d, "net", NET_CLASS, WEFT_KIND_TRAFFIC, "net", &d.net, err) ||
	    net_check(&d, err))
		goto fail;
	if (note[0])
		weft_param_set(d.net, "note", note, NULL);
	((struct exnet *)d.net->state)->topo = *t;
	*t = (struct ex_topo){ 0 };
	return parts(&d, err);
fail:
	ex_topo_fini(t);
	return -1;
}
