/* SPDX-License-Identifier: Apache-2.0 */
/* Fabric `switch`: one switch s0, or `count` parallel ones s0, s1... End i is
 * at port ports[i] (default i) of each switch, and link k of the end leads to
 * switch k. */
#include <stdio.h>

#include "front/exp/build.h"
#include "front/exp/section.h"

static const char *const keys[] = { "switch", "link", "count", "ports", NULL };

static int switch_join(struct exp_build *b, const struct doc_node *map,
		       struct weft_comp *sw, uint32_t k, struct weft_comp *l,
		       struct weft_err *err)
{
	const struct doc_node *link = doc_get(map, "link");
	const struct doc_node *ports = doc_get(map, "ports");

	if (ports && b->ends.n && exp_want(ports, DOC_SEQ, "ports", err))
		return -1;
	for (uint32_t i = 0; i < b->ends.n; i++) {
		struct weft_port *x = build_link_port(b->ends.at[i], k), *y;
		uint32_t slot = i;

		if (ports && i >= ports->n)
			return doc_fail(
				ports->at, err,
				"ports lists %u places: give one for each end",
				ports->n);
		if (ports && exp_value(ports->items[i].val, WEFT_P_U32, "",
				       &slot, sizeof(slot), "ports", err))
			return -1;
		y = build_link_port(sw, slot);
		if (!x)
			return doc_fail(
				map->at, err,
				"%s has no link for switch %u: give it more links",
				b->ends.at[i]->name, k);
		if (!y)
			return doc_fail(
				map->at, err,
				"%s has no port %u for %s: give it more ports",
				sw->name, slot, b->ends.at[i]->name);
		if (build_cable(b, x, y, l, link->at, err))
			return -1;
	}
	return 0;
}

static int switch_build(struct exp_build *b, const struct doc_node *map,
			struct weft_err *err)
{
	struct build_spec spec = { .kind = WEFT_KIND_SWITCH,
				   .type_key = "type" };
	const struct doc_node *sw = doc_get(map, "switch");
	const struct doc_node *link = doc_get(map, "link");
	struct weft_comp *c, *l;
	uint32_t n = 1;
	char name[16];

	if (!sw || !link)
		return build_lacks(map, sw ? "link" : "switch", err);
	if (exp_option(map, "count", WEFT_P_U32, "1..64", &n, sizeof(n), err) ||
	    build_link(b, link, NULL, &l, err))
		return -1;
	for (uint32_t k = 0; k < n; k++) {
		snprintf(name, sizeof(name), "s%u", k);
		if (build_comp(b, &spec, name, sw, &c, err) ||
		    switch_join(b, map, c, k, l, err))
			return -1;
	}
	return 0;
}

const struct fabric_gen fabric_switch = {
	.name = "switch",
	.doc = "one switch, or several in parallel",
	.keys = keys,
	.build = switch_build,
};
