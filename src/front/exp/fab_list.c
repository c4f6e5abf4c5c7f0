/* SPDX-License-Identifier: Apache-2.0 */
/* Fabric `list`: switches by name, cables one by one.
 *
 *	switches: { s0: {type: forth.xbar}, s1: {type: forth.xbar} }
 *	link: {type: forth.link}
 *	cables:
 *	  - [n0.nic.link0, s0.port3]
 *	  - [s0.port0, s1.port0, {delay: 100ns}]
 */
#include <string.h>

#include "front/exp/build.h"
#include "front/exp/section.h"

static const char *const keys[] = { "switches", "link", "cables", NULL };

static int list_switches(struct exp_build *b, const struct doc_node *map,
			 struct weft_err *err)
{
	struct build_spec spec = { .kind = WEFT_KIND_SWITCH,
				   .type_key = "type" };
	struct weft_comp *c;

	if (!map)
		return 0;
	if (exp_want(map, DOC_MAP, "switches", err))
		return -1;
	for (uint32_t i = 0; i < map->n; i++) {
		const struct doc_item *it = &map->items[i];

		if (!it->key[0] || strlen(it->key) > 32 ||
		    strpbrk(it->key, ". */"))
			return doc_fail(it->key_at, err,
					"'%.40s' is no name "
					"for a switch: use letters and digits",
					it->key);
		if (build_comp(b, &spec, it->key, it->val, &c, err))
			return -1;
	}
	return 0;
}

static int list_cable(struct exp_build *b, const struct doc_node *n,
		      const struct doc_node *link, struct weft_comp **dflt_p,
		      struct weft_err *err)
{
	struct weft_port *x, *y;
	struct weft_comp *l;

	if (exp_want(n, DOC_SEQ, "a cable", err))
		return -1;
	if (n->n < 2 || n->n > 3)
		return doc_fail(n->at, err,
				"a cable has two ends: write "
				"[PORT, PORT] or [PORT, PORT, {link "
				"settings}]");
	if (build_port(b, n->items[0].val, &x, err) ||
	    build_port(b, n->items[1].val, &y, err))
		return -1;
	if (n->n == 3) {
		if (build_link(b, n->items[2].val, link, &l, err))
			return -1;
		return build_cable(b, x, y, l, n->items[2].val->at, err);
	}
	if (!link)
		return doc_fail(n->at, err,
				"this cable has no settings and "
				"the fabric no 'link'");
	if (!*dflt_p && build_link(b, link, NULL, dflt_p, err))
		return -1;
	return build_cable(b, x, y, *dflt_p, n->at, err);
}

static int list_build(struct exp_build *b, const struct doc_node *map,
		      struct weft_err *err)
{
	const struct doc_node *cables = doc_get(map, "cables");
	struct weft_comp *dflt = NULL;

	if (!cables)
		return doc_fail(map->at, err, "the fabric has no 'cables'");
	if (list_switches(b, doc_get(map, "switches"), err) ||
	    exp_want(cables, DOC_SEQ, "cables", err))
		return -1;
	for (uint32_t i = 0; i < cables->n; i++)
		if (list_cable(b, cables->items[i].val, doc_get(map, "link"),
			       &dflt, err))
			return -1;
	return 0;
}

const struct fabric_gen fabric_list = {
	.name = "list",
	.doc = "switches by name, cables one by one",
	.keys = keys,
	.build = list_build,
};
