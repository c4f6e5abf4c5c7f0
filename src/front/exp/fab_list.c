/* SPDX-License-Identifier: Apache-2.0 */
/* Fabric `list`: switches by name, cables one by one.
 *
 *	switches: { s0: {type: CLASS}, s1: {type: CLASS} }
 *	link: {type: CLASS}
 *	cables:
 *	  - [n0.nic.link0, s0.port3]
 *	  - [s0.port0, s1.port0, {delay: 100ns}]
 *	routes: shortest	switches get tables of shortest routes, with the
 *				lowest port where several routes are shortest;
 *				without this key the class of the switches makes
 *				its own routes
 */
#include <stdlib.h>
#include <string.h>

#include "base/need.h"
#include "front/exp/build.h"
#include "front/exp/section.h"
#include "systems/examples.def"

static const char *const keys[] = { "switches", "link", "cables", "routes",
				    NULL };

/* ---- switches and cables ---- */

struct list {
	struct exp_build *b;
	struct weft_comp **sw;
	uint32_t **to; /* port towards an end: to[switch][end] */
	uint32_t n;
};

static int list_switches(struct list *l, const struct doc_node *map,
			 struct weft_err *err)
{
	struct build_spec spec = { .kind = WEFT_KIND_SWITCH,
				   .type_key = "type" };

	if (!map)
		return 0;
	if (exp_want(map, DOC_MAP, "switches", err))
		return -1;
	l->sw = calloc(map->n + 1, sizeof(*l->sw));
	if (!l->sw)
		abort();
	for (uint32_t i = 0; i < map->n; i++) {
		const struct doc_item *it = &map->items[i];

		if (!it->key[0] || strlen(it->key) > 32 ||
		    strpbrk(it->key, ". */"))
			return doc_fail(
				it->key_at, err,
				"'%.40s' is no name for a switch: use letters and digits",
				it->key);
		if (build_comp(l->b, &spec, it->key, it->val, &l->sw[i], err))
			return -1;
		l->n++;
	}
	return 0;
}

static int list_cable(struct exp_build *b, const struct doc_node *n,
		      const struct doc_node *link, struct weft_comp **dflt_p,
		      struct weft_err *err)
{
	struct weft_port *x, *y;
	struct weft_comp *l;

	if (build_port(b, n->items[0].val, &x, err) ||
	    build_port(b, n->items[1].val, &y, err))
		return -1;
	if (n->n == 3) {
		if (build_link(b, n->items[2].val, link, &l, err))
			return -1;
		return build_cable(b, x, y, l, n->items[2].val->at, err);
	}
	if (!link)
		return doc_fail(
			n->at, err,
			"this cable has no settings and the fabric no 'link': write e.g. link: {type: " EXAMPLE_LINK
			"}");
	if (!*dflt_p && build_link(b, link, NULL, dflt_p, err))
		return -1;
	return build_cable(b, x, y, *dflt_p, n->at, err);
}

/* ---- routes ---- */

/* Adds routes to end d. Each switch that is cabled to component c and has no
 * route to d yet gets a route through c. The switch is appended to `queue`, so
 * that later steps give routes to its neighbours. Returns the new length of the
 * queue. */
static uint32_t list_step(struct list *l, const struct weft_comp *c, uint32_t d,
			  uint32_t *queue, uint32_t n)
{
	for (uint32_t p = 0; p < c->n_ports; p++) {
		const struct weft_port *far = c->ports[p].peer;
		uint32_t i = far ? 0 : l->n;

		while (i < l->n && l->sw[i] != far->comp)
			i++;

		if (i == l->n || l->to[i][d] != WEFT_ANY_PORT)
			continue;
		l->to[i][d] = far->index;
		queue[n++] = i;
	}
	return n;
}

static int list_tables(struct list *l, const struct doc_node *at,
		       struct weft_err *err)
{
	uint32_t ends = (uint32_t)l->b->ends.n;
	uint32_t *queue = need(calloc(l->n + 1, sizeof(*queue)));
	struct weft_err sub = { 0 };

	l->to = need(calloc(l->n + 1, sizeof(*l->to)));
	for (uint32_t i = 0; i < l->n; i++) {
		l->to[i] = need(malloc((ends + 1) * sizeof(**l->to)));
		for (uint32_t d = 0; d < ends; d++)
			l->to[i][d] = WEFT_ANY_PORT;
	}
	for (uint32_t d = 0; d < ends; d++) {
		uint32_t n = list_step(l, l->b->ends.at[d], d, queue, 0);

		for (uint32_t i = 0; i < n; i++)
			n = list_step(l, l->sw[queue[i]], d, queue, n);
	}
	free(queue);
	for (uint32_t i = 0; i < l->n; i++) {
		struct weft_comp *c = l->sw[i];

		if (!c->cls->ops.route)
			return doc_fail(
				at->at, err,
				"%s has no routing tables: leave out 'routes'",
				c->cls->name);
		if (c->cls->ops.route(c, WEFT_ANY_PORT, 0, l->to[i], ends,
				      &sub))
			return doc_fail(at->at, err, "%s", sub.msg);
	}
	return 0;
}

/* ---- the whole fabric ---- */

static int list_check(const struct doc_node *map, struct weft_err *err)
{
	const struct doc_node *cables = doc_get(map, "cables");

	if (!cables)
		return build_lacks(map, "cables", err);
	if (exp_want(cables, DOC_SEQ, "cables", err))
		return -1;
	for (uint32_t i = 0; i < cables->n; i++) {
		const struct doc_node *n = cables->items[i].val;

		if (exp_want(n, DOC_SEQ, "a cable", err))
			return -1;
		if (n->n < 2 || n->n > 3)
			return doc_fail(
				n->at, err,
				"a cable has two ends: write [PORT, PORT] or [PORT, PORT, {link settings}]");
	}
	return 0;
}

static int list_join(struct list *l, const struct doc_node *map,
		     struct weft_err *err)
{
	const struct doc_node *cables = doc_get(map, "cables");
	const struct doc_node *routes = doc_get(map, "routes");
	struct weft_comp *dflt = NULL;
	uint32_t unused;

	if (list_switches(l, doc_get(map, "switches"), err))
		return -1;
	for (uint32_t i = 0; i < cables->n; i++)
		if (list_cable(l->b, cables->items[i].val, doc_get(map, "link"),
			       &dflt, err))
			return -1;
	if (!routes)
		return 0;
	if (exp_value(routes, WEFT_P_ENUM, "shortest", &unused, sizeof(unused),
		      "routes", err))
		return -1;
	return list_tables(l, routes, err);
}

static int list_build(struct exp_build *b, const struct doc_node *map,
		      struct weft_err *err)
{
	struct list l = { .b = b };
	int ret = list_join(&l, map, err);

	for (uint32_t i = 0; l.to && i < l.n; i++)
		free(l.to[i]);
	free(l.to);
	free(l.sw);
	return ret;
}

const struct fabric_gen fabric_list = {
	.name = "list",
	.doc = "switches by name, cables one by one",
	.keys = keys,
	.check = list_check,
	.build = list_build,
};
