/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the sections `nodes` and `traffic`. */
#include <stdio.h>
#include <stdlib.h>

#include "front/exp/build.h"
#include "front/exp/section.h"
#include "net/graph.h"

#define COUNT_RANGE   "1..65536"
#define SOURCES_RANGE "1..1048576"

/* Returns number k of a permutation of all numbers below n. The permutation
 * adds `step` modulo n. `step` has no common factor with n, so that each number
 * appears once. */
uint32_t build_turn(const struct exp_build *b, uint32_t k, uint32_t n)
{
	uint64_t step = b->shuffle % n;

	if (!b->shuffle)
		return k;
	for (;; step++) {
		uint64_t x = step ? step : n, y = n;

		while (y) {
			uint64_t rest = x % y;

			x = y;
			y = rest;
		}
		if (x == 1)
			break;
	}
	return (uint32_t)((step * k + b->shuffle / 2) % n);
}

/* ---- nodes ---- */

static struct weft_port *bus_port(struct weft_comp *c, const char *name)
{
	if (name)
		return weft_port_find(c, name);
	for (uint32_t i = 0; i < c->n_ports; i++)
		if (c->ports[i].kind == WEFT_PORT_BUS)
			return &c->ports[i];
	return NULL;
}

/* Connects a host or device to the bus. The cable has no delay, because the bus
 * models the time. */
static int bus_join(struct weft_comp *c, struct weft_comp *bus,
		    const char *slot, struct doc_where at, struct weft_err *err)
{
	struct weft_port *p = bus_port(c, NULL), *q = bus_port(bus, slot);
	struct weft_err sub = { 0 };

	if (!p)
		return doc_fail(at, err,
				"%s has no bus port: leave out the bus",
				c->cls->name);
	if (!q)
		return doc_fail(at, err, "%s has no slot '%s' for %s",
				bus->cls->name, slot, c->name);
	if (weft_connect(p, q, NULL, 0, &sub))
		return doc_fail(at, err, "%s", sub.msg);
	return 0;
}

struct group {
	const struct doc_node *host, *bus, *nic;
	struct doc_where at;
	uint32_t count;
};

static int node_part(struct exp_build *b, enum weft_kind kind, const char *part,
		     uint32_t i, uint32_t total, const struct doc_node *map,
		     struct weft_comp **comp_p, struct weft_err *err)
{
	struct build_spec spec = { .kind = kind,
				   .type_key = "type",
				   .numbered = true,
				   .index = i,
				   .count = total };
	char name[48];

	*comp_p = NULL;
	if (!map)
		return 0;
	snprintf(name, sizeof(name), "n%u.%s", i, part);
	return build_comp(b, &spec, name, map, comp_p, err);
}

static int node_nic(struct exp_build *b, struct exp_node *node,
		    const char *part, uint32_t i, uint32_t total,
		    const struct doc_node *map, struct weft_err *err)
{
	struct weft_comp *nic;
	char slot[16];

	snprintf(slot, sizeof(slot), "dev%zu", node->nics.n);
	if (node_part(b, WEFT_KIND_NIC, part, i, total, map, &nic, err))
		return -1;
	if (!nic)
		return 0;
	vec_push(&node->nics, nic);
	return node->bus ? bus_join(nic, node->bus, slot, map->at, err) : 0;
}

static int group_read(const struct doc_node *n, struct group *g,
		      struct weft_err *err)
{
	static const char *const keys[] = { "count", "host", "bus", "nic",
					    NULL };
	if (exp_want(n, DOC_MAP, "nodes", err) ||
	    exp_keys(n, keys, "nodes", err))
		return -1;
	*g = (struct group){ .host = doc_get(n, "host"),
			     .bus = doc_get(n, "bus"),
			     .nic = doc_get(n, "nic"),
			     .at = n->at,
			     .count = 1 };
	if (exp_option(n, "count", WEFT_P_U32, COUNT_RANGE, &g->count,
		       sizeof(g->count), err))
		return -1;
	if (!g->host && !g->nic)
		return doc_fail(
			n->at, err,
			"a node without host and nic: give at least one");
	return 0;
}

static int node_numbered(struct exp_build *b, const struct group *g,
			 uint32_t groups, uint32_t i, uint32_t total,
			 struct weft_err *err)
{
	struct exp_node *node = &b->nodes.at[i];
	uint32_t first = 0;
	char part[16];

	/* finds the group of node i */
	for (; groups > 1 && i >= first + g->count; groups--)
		first += g++->count;
	if (node_part(b, WEFT_KIND_HOST, "host", i, total, g->host, &node->host,
		      err) ||
	    node_part(b, WEFT_KIND_BUS, "bus", i, total, g->bus, &node->bus,
		      err))
		return -1;
	if (node->host && node->bus &&
	    bus_join(node->host, node->bus, "host", g->bus->at, err))
		return -1;
	if (!g->nic || g->nic->kind != DOC_SEQ)
		return node_nic(b, node, "nic", i, total, g->nic, err);
	for (uint32_t k = 0; k < g->nic->n; k++) {
		snprintf(part, sizeof(part), "nic%u", k);
		if (node_nic(b, node, part, i, total, g->nic->items[k].val,
			     err))
			return -1;
	}
	return 0;
}

int build_nodes(struct exp_build *b, const struct doc_node *n,
		struct weft_err *err)
{
	uint32_t groups = n->kind == DOC_SEQ ? n->n : 1, total = 0;
	struct group *g = calloc(groups ? groups : 1, sizeof(*g));
	int ret = 0;

	if (!g)
		abort();
	for (uint32_t k = 0; k < groups && !ret; k++) {
		ret = group_read(n->kind == DOC_SEQ ? n->items[k].val : n,
				 &g[k], err);
		total += g[k].count;
		if (!ret && total > 65536)
			ret = doc_fail(n->at, err,
				       "%u nodes are more than 65536", total);
	}
	for (uint32_t k = 0; k < total && !ret; k++)
		vec_push(&b->nodes, (struct exp_node){ 0 });
	for (uint32_t k = 0; k < total && !ret; k++)
		ret = node_numbered(b, g, groups, build_turn(b, k, total),
				    total, err);
	/* Fabrics number ends in the order of nodes, so that numbers do not
	 * depend on the order of construction. */
	for (size_t i = 0; i < b->nodes.n; i++)
		for (size_t k = 0; k < b->nodes.at[i].nics.n; k++)
			vec_push(&b->ends, b->nodes.at[i].nics.at[k]);
	free(g);
	return ret;
}

/* ---- traffic ---- */

struct class_list {
	VEC(struct weft_comp *);
};

/* Builds entry k of `classes`. Keys of the group that are parameters of the
 * entry's class are defaults for the entry. */
static int class_build(struct exp_build *b, const struct doc_node *group,
		       const char *type, const struct doc_node *map,
		       struct weft_comp **c_p, struct weft_err *err)
{
	const struct weft_class *cls = registry_find(b->reg, type);
	struct doc_node text = { .kind = DOC_SCALAR,
				 .at = map->at,
				 .text = type };
	struct doc_node base = { .kind = DOC_MAP, .at = map->at };
	struct build_spec spec = { .kind = WEFT_KIND_TRAFFIC,
				   .type_key = "type",
				   .base = &base };
	char name[32];
	int ret;

	base.items = calloc(group->n + 1, sizeof(*base.items));
	if (!base.items)
		abort();
	base.items[base.n++] = (struct doc_item){ .key = "type", .val = &text };
	for (uint32_t i = 0; cls && i < group->n; i++)
		if (class_param(cls, group->items[i].key))
			base.items[base.n++] = group->items[i];
	snprintf(name, sizeof(name), "class%u", b->n_classes++);
	ret = build_comp(b, &spec, name, map, c_p, err);
	free(base.items);
	return ret;
}

/* Builds the classes of packets of a group of sources. */
static int classes_build(struct exp_build *b, const struct doc_node *group,
			 struct class_list *list, struct weft_err *err)
{
	const struct doc_node *n = doc_get(group, "classes");
	const struct weft_class *cls;
	struct build_spec spec = { .kind = WEFT_KIND_TRAFFIC,
				   .type_key = "type" };
	struct weft_comp *c;

	if (!n)
		return 0;
	if (build_class(b, &spec, group, &cls, err))
		return -1;
	if (!cls->ops.part || !cls->network_parts)
		return doc_fail(
			n->at, err,
			"%s has no classes of packets: leave out 'classes'",
			cls->name);
	if (exp_want(n, DOC_SEQ, "classes", err))
		return -1;
	if (!n->n)
		return doc_fail(
			n->at, err,
			"no classes: write e.g. classes: [{load: 0.1}, {load: 0.2}]");
	for (uint32_t k = 0; k < n->n; k++) {
		if (exp_want(n->items[k].val, DOC_MAP, "a class", err) ||
		    class_build(b, group, cls->network_parts->traffic_class,
				n->items[k].val, &c, err))
			return -1;
		vec_push(list, c);
	}
	return 0;
}

/* Gives the classes to a source. */
static int classes_join(struct weft_comp *c, const struct class_list *list,
			struct doc_where at, struct weft_err *err)
{
	struct weft_err sub = { 0 };

	for (size_t k = 0; k < list->n; k++)
		if (c->cls->ops.part(c, list->at[k], &sub))
			return doc_fail(at, err, "%s", sub.msg);
	return 0;
}

static int traffic_group(struct exp_build *b, const struct doc_node *n,
			 uint32_t first, uint32_t count, uint32_t total,
			 struct weft_err *err)
{
	static const char *const reserved[] = { "count", "classes", NULL };
	struct class_list classes = { 0 };
	struct build_spec spec = { .kind = WEFT_KIND_TRAFFIC,
				   .type_key = "type",
				   .reserved = reserved,
				   .numbered = true,
				   .count = (uint32_t)b->nodes.n + total };
	size_t end = b->ends.n;
	struct weft_comp *c;
	char name[32];
	int ret = classes_build(b, n, &classes, err);

	for (uint32_t k = 0; k < count; k++)
		vec_push(&b->ends, NULL);
	/* Numbers of traffic components continue behind those of the nodes, but
	 * their names start at t0. */
	for (uint32_t k = 0; k < count && !ret; k++) {
		uint32_t turn = build_turn(b, k, count), i = first + turn;

		spec.index = (uint32_t)b->nodes.n + i;
		snprintf(name, sizeof(name), "t%u", i);
		ret = build_comp(b, &spec, name, n, &c, err);
		if (!ret)
			ret = classes_join(c, &classes, n->at, err);
		if (!ret)
			b->ends.at[end + turn] = c;
	}
	vec_free(&classes);
	return ret;
}

static int traffic_count(const struct doc_node *n, uint32_t *count_p,
			 struct weft_err *err)
{
	const struct doc_node *count;

	*count_p = 1;
	if (exp_want(n, DOC_MAP, "traffic", err))
		return -1;
	count = doc_get(n, "count");
	if (count && count->set)
		count->set->used++;
	return count ? exp_value(count, WEFT_P_U32, SOURCES_RANGE, count_p,
				 sizeof(*count_p), "count", err)
		     : 0;
}

int build_traffic(struct exp_build *b, const struct doc_node *n,
		  struct weft_err *err)
{
	uint32_t groups = n->kind == DOC_SEQ ? n->n : 1, total = 0, first = 0;
	uint32_t count;

	for (uint32_t k = 0; k < groups; k++) {
		if (traffic_count(n->kind == DOC_SEQ ? n->items[k].val : n,
				  &count, err))
			return -1;
		total += count;
		if (total > NET_ROUTERS_MAX)
			return doc_fail(n->at, err, "more than %u sources",
					NET_ROUTERS_MAX);
	}
	for (uint32_t k = 0; k < groups; k++) {
		const struct doc_node *g =
			n->kind == DOC_SEQ ? n->items[k].val : n;

		traffic_count(g, &count, err);
		if (traffic_group(b, g, first, count, total, err))
			return -1;
		first += count;
	}
	return 0;
}
