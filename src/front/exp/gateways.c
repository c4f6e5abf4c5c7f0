/* SPDX-License-Identifier: Apache-2.0 */
/* Gateways of NICs in a routed network, see gateways.h.
 *
 *   n0.nic <-> g0 <-> router			a NIC with a link
 *   n0.nic <np> x0 <-> g0 <-> router		a NIC with a switch beside it
 *
 * The class of the NIC names the classes of the gateway, the switch and the
 * cable. */
#include "front/exp/gateways.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/need.h"
#include "front/exp/section.h"
#include "net/topology.h"

static const char *const gateway_keys[] = { GATEWAY_KEYS, NULL };

/* ---- classes ---- */

/* Returns true for a class of gateways. Such a class has a port `nic` and names
 * the classes of its network. */
static bool is_gateway(const struct weft_class *cls)
{
	const struct weft_port_decl *p = cls->ports;

	while (p && p->name && strcmp(p->name, "nic"))
		p++;
	return p && p->name && cls->network_parts && cls->ops.place;
}

static int keys_refuse(const struct gateways *w, struct weft_err *err)
{
	for (const char *const *k = gateway_keys; *k; k++)
		if (doc_get(w->map, *k))
			return doc_fail(
				doc_get(w->map, *k)->at, err,
				"%s stands in the network without a gateway: leave out '%s'",
				w->b->ends.at[0]->name, *k);
	return 0;
}

int gateways_find(struct gateways *w, struct exp_build *b,
		  const struct doc_node *map, struct weft_err *err)
{
	const struct weft_network_parts *parts = network_parts(b);
	struct network_part p;

	*w = (struct gateways){ .b = b, .map = map };
	for (size_t i = 0; i < b->ends.n; i++)
		if (b->ends.at[i]->cls->network_parts !=
		    b->ends.at[0]->cls->network_parts)
			return doc_fail(
				map->at, err,
				"%s (%s) and %s (%s) need different gateways: a routed network has ends of one kind",
				b->ends.at[0]->name, b->ends.at[0]->cls->name,
				b->ends.at[i]->name, b->ends.at[i]->cls->name);
	if (!parts->gateway) {
		if (network_part_stands(b->ends.at[0], map, err))
			return -1;
		return keys_refuse(w, err);
	}
	if (!parts->switch_class && doc_get(map, "nic_switch"))
		return doc_fail(
			doc_get(map, "nic_switch")->at, err,
			"%s (%s) has no switch beside it: leave out 'nic_switch'",
			b->ends.at[0]->name, b->ends.at[0]->cls->name);
	network_part_init(&p, map, "gateway", parts->gateway, WEFT_KIND_SWITCH);
	if (exp_want(p.map, DOC_MAP, "gateway", err) ||
	    build_class(b, &p.spec, p.map, &w->cls, err))
		return -1;
	if (is_gateway(w->cls))
		return 0;
	return doc_fail(
		p.map->at, err,
		"%s is not a gateway: leave out its 'type', which is %s",
		w->cls->name, parts->gateway);
}

const struct weft_network_parts *gateways_parts(const struct gateways *w)
{
	return w->cls ? w->cls->network_parts : network_parts(w->b);
}

/* ---- building ---- */

static uint8_t ports_named(const struct weft_comp *c, const char *prefix)
{
	uint8_t n = 0;

	for (uint32_t i = 0; i < c->n_ports; i++)
		n += !strncmp(c->ports[i].name, prefix, strlen(prefix));
	return n;
}

static int gateway_build(struct gateways *w, uint32_t i, struct weft_err *err)
{
	const struct weft_network_parts *parts = network_parts(w->b);
	char name[16];

	snprintf(name, sizeof(name), "g%u", i);
	if (network_part_build(w->b, w->map, "gateway", parts->gateway,
			       WEFT_KIND_SWITCH, name, &w->at[i], err))
		return -1;
	if (!parts->switch_class)
		return 0;
	snprintf(name, sizeof(name), "x%u", i);
	return network_part_build(w->b, w->map, "nic_switch",
				  parts->switch_class, WEFT_KIND_SWITCH, name,
				  &w->beside[i], err);
}

int gateways_build(struct gateways *w, struct topology **topo_p,
		   struct weft_err *err)
{
	size_t n = w->b->ends.n;
	const struct weft_comp *x;

	*topo_p = NULL;
	if (!w->cls)
		return 0;
	w->at = need(calloc(n, sizeof(*w->at)));
	w->beside = need(calloc(n, sizeof(*w->beside)));
	for (uint32_t i = 0; i < n; i++)
		if (gateway_build(w, i, err))
			return -1;
	x = w->beside[0];
	if (!x)
		return 0;
	if (!ports_named(x, "np") || !ports_named(x, "lp"))
		return doc_fail(
			w->map->at, err,
			"%s cannot stand beside a NIC: such switches have ports np0.. and lp0..",
			x->cls->name);
	*topo_p = w->topo = need(calloc(1, sizeof(**topo_p)));
	topo_hub(w->topo,
		 (struct topo_ports){ ports_named(x, "np"),
				      ports_named(x, "lp") },
		 (uint32_t)n);
	return 0;
}

/* ---- places and cables ---- */

static int nic_place(struct gateways *w, struct weft_comp *c, uint32_t i,
		     struct weft_err *err)
{
	struct weft_place at = { .node = i, .topo = w->topo };

	return c->cls->ops.place ? network_part_place(c, &at, w->map, err) : 0;
}

static int nic_join(struct gateways *w, uint32_t i, struct weft_comp *link,
		    struct weft_err *err)
{
	struct weft_comp *nic = w->b->ends.at[i], *x = w->beside[i];
	struct weft_port *p;

	if (nic_place(w, nic, i, err))
		return -1;
	if (x && (nic_place(w, x, i, err) ||
		  network_part_beside(nic, x, w->map, err)))
		return -1;
	p = x ? weft_port_find(x, "lp0") : build_link_port(nic, 0);
	if (!p)
		return doc_fail(w->map->at, err, "%s has no link", nic->name);
	return build_cable(w->b, p, weft_port_find(w->at[i], "nic"), link,
			   w->map->at, err);
}

int gateways_join(struct gateways *w, struct weft_err *err)
{
	struct weft_comp *link;

	if (!w->cls)
		return 0;
	if (network_part_build(w->b, w->map, "nic_link",
			       network_parts(w->b)->link, WEFT_KIND_LINK,
			       "nic_link", &link, err))
		return -1;
	for (uint32_t i = 0; i < w->b->ends.n; i++)
		if (nic_join(w, i, link, err))
			return -1;
	return 0;
}

void gateways_free(struct gateways *w)
{
	free(w->at);
	free(w->beside);
}
