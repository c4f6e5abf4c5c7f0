/* SPDX-License-Identifier: Apache-2.0 */
/* Fabric `direct`: joins two ends back to back, link k to link k. */
#include "front/exp/build.h"
#include "front/exp/section.h"

static const char *const keys[] = { "link", NULL };

static int direct_build(struct exp_build *b, const struct doc_node *map,
			struct weft_err *err)
{
	const struct doc_node *link = doc_get(map, "link");
	struct weft_port *x, *y;
	struct weft_comp *l;

	if (b->ends.n != 2)
		return doc_fail(
			map->at, err,
			"a direct fabric joins 2 ends, here are %zu: set nodes.count to 2 or use a switch",
			b->ends.n);
	if (!link)
		return build_lacks(map, "link", err);
	if (build_link(b, link, NULL, &l, err))
		return -1;
	for (uint32_t k = 0;; k++) {
		x = build_link_port(b->ends.at[0], k);
		y = build_link_port(b->ends.at[1], k);
		if (!x || !y)
			break;
		if (build_cable(b, x, y, l, link->at, err))
			return -1;
	}
	return 0;
}

const struct fabric_gen fabric_direct = {
	.name = "direct",
	.doc = "two ends back to back, all their links",
	.keys = keys,
	.build = direct_build,
};
