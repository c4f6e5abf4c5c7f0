/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a network, see network_part.h. */
#include "front/exp/network_part.h"

#include <stdio.h>
#include <string.h>

const struct weft_network_parts *network_parts(const struct exp_build *b)
{
	static const struct weft_network_parts none;

	return b->ends.at[0]->cls->network_parts
		       ? b->ends.at[0]->cls->network_parts
		       : &none;
}

void network_part_init(struct network_part *p, const struct doc_node *map,
		       const char *key, const char *type, enum weft_kind kind)
{
	const struct doc_node *n = doc_get(map, key);

	p->text = (struct doc_node){ .kind = DOC_SCALAR,
				     .at = map->at,
				     .text = type };
	p->item[0] = (struct doc_item){ .key = "type", .val = &p->text };
	p->base = (struct doc_node){ .kind = DOC_MAP,
				     .at = map->at,
				     .items = p->item,
				     .n = type ? 1 : 0 };
	p->map = n ? n : &p->base;
	p->spec = (struct build_spec){ .kind = kind,
				       .type_key = "type",
				       .base = &p->base };
}

void network_part_default(struct network_part *p, const char *param,
			  const char *value)
{
	p->number = (struct doc_node){ .kind = DOC_SCALAR,
				       .at = p->base.at,
				       .text = value };
	p->item[p->base.n++] = (struct doc_item){ .key = param,
						  .key_at = p->base.at,
						  .val = &p->number };
}

int network_part_build(struct exp_build *b, const struct doc_node *map,
		       const char *key, const char *type, enum weft_kind kind,
		       const char *name, struct weft_comp **c_p,
		       struct weft_err *err)
{
	struct network_part p;

	network_part_init(&p, map, key, type, kind);
	return build_comp(b, &p.spec, name, p.map, c_p, err);
}

int network_part_stands(const struct weft_comp *c, const struct doc_node *map,
			struct weft_err *err)
{
	const struct doc_node *type = doc_get(map, "type");
	bool routed = type && type->text && !strcmp(type->text, "routed");
	const char *instead = "use fabric direct or switch";

	if (c->cls->ops.place)
		return 0;
	if (c->cls->kind == WEFT_KIND_SWITCH)
		instead = "leave out the 'type' of switch";
	else if (routed)
		instead =
			"use traffic of a kind that can (weft list traffic), or fabric direct or switch";
	return doc_fail(map->at, err,
			"%s (%s) cannot stand in a %s network: %s", c->name,
			c->cls->name, routed ? "routed" : "direct", instead);
}

int network_part_place(struct weft_comp *c, const struct weft_place *at,
		       const struct doc_node *map, struct weft_err *err)
{
	struct weft_err sub = { 0 };

	if (network_part_stands(c, map, err))
		return -1;
	if (c->cls->ops.place(c, at, &sub))
		return doc_fail(map->at, err, "%s", sub.msg);
	return 0;
}

int network_part_net(struct exp_build *b, const struct doc_node *map,
		     const char *type, struct weft_comp **net_p,
		     struct weft_err *err)
{
	if (network_part_build(b, map, "net", type, WEFT_KIND_TRAFFIC, "net",
			       net_p, err))
		return -1;
	if ((*net_p)->cls->ops.network)
		return 0;
	return doc_fail(map->at, err,
			"%s is no network: leave out the 'type' of net%s%s",
			(*net_p)->cls->name, type ? ", which is " : "",
			type ? type : "");
}

int network_part_beside(struct weft_comp *end, struct weft_comp *sw,
			const struct doc_node *map, struct weft_err *err)
{
	struct weft_err sub = { 0 };
	uint32_t n = 0;
	char name[8];

	for (uint32_t k = 0; k < sw->n_ports; k++) {
		struct weft_port *p, *q;

		snprintf(name, sizeof(name), "np%u", k);
		q = weft_port_find(sw, name);
		p = q ? weft_port_find(end, name) : NULL;
		if (!p)
			continue;
		n++;
		if (weft_connect(p, q, NULL, 1, &sub))
			return doc_fail(map->at, err, "%s", sub.msg);
	}
	if (!n)
		return doc_fail(map->at, err, "%s has no port np0", end->name);
	return 0;
}
