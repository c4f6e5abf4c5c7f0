/* SPDX-License-Identifier: Apache-2.0 */
/* Folded multistage networks, see multistage.h. The number of an end has one
 * digit for each level, with the digit of level 1 lowest. The digits name the
 * switches above the end. The number of a switch has two parts: the digits that
 * all ends below the switch share, and the parents that lead from these ends up
 * to the switch. */
#include "front/exp/multistage.h"

#include <stdio.h>
#include <stdlib.h>

#include "front/exp/registry.h"
#include "front/exp/section.h"
#include "systems/examples.def"

/* ---- shape ---- */

uint32_t stages_ends(const struct stages *s, uint32_t level)
{
	uint32_t n = 1;

	for (uint32_t l = 1; l <= level; l++)
		n *= s->down[l];
	return n;
}

/* Returns how many switches of a level are above one end. */
static uint32_t stages_twins(const struct stages *s, uint32_t level)
{
	uint32_t n = 1;

	for (uint32_t l = 2; l <= level; l++)
		n *= s->up[l];
	return n;
}

uint32_t stages_switches(const struct stages *s, uint32_t level)
{
	return stages_ends(s, s->levels) / stages_ends(s, level) *
	       stages_twins(s, level);
}

uint32_t stages_ports(const struct stages *s, uint32_t level)
{
	return s->down[level] + (level < s->levels ? s->up[level + 1] : 0);
}

uint32_t stages_port(const struct stages *s, uint32_t level, uint32_t index,
		     uint32_t path, uint32_t dest, bool falling)
{
	bool turn = falling || !s->whole || level == s->levels;
	uint32_t parent;

	if (turn &&
	    dest / stages_ends(s, level) == index / stages_twins(s, level))
		return dest / stages_ends(s, level - 1) % s->down[level];
	/* The parent depends on the path number or, for path 0, on the
	 * destination. */
	parent = path ? (path - 1) / stages_twins(s, level)
		      : dest / stages_ends(s, level - 1);
	return s->down[level] + parent % s->up[level + 1];
}

/* ---- keys ---- */

int stages_depth(const struct exp_build *b, const struct doc_node *map,
		 uint32_t radix, uint32_t *levels_p, struct weft_err *err)
{
	uint32_t l = 1, room = radix;

	for (; room < b->ends.n && l < STAGES_MAX; l++)
		room *= radix;
	*levels_p = l;
	return exp_option(map, "levels", WEFT_P_U32, "1..7", levels_p,
			  sizeof(*levels_p), err);
}

/* ---- building ---- */

struct rise {
	struct exp_build *b;
	const struct doc_node *map;
	const struct stages *s;
	struct weft_comp *link, *trunk;
	struct weft_comp **sw[STAGES_MAX + 1]; /* [level][index] */
};

/* Builds a switch. A parameter `ports` of its class is set to the number of
 * ports that a switch of this level needs, unless the mapping sets more. */
static int rise_switch(struct rise *r, uint32_t level, uint32_t index,
		       struct weft_err *err)
{
	struct build_spec spec = { .kind = WEFT_KIND_SWITCH,
				   .type_key = "type" };
	const struct doc_node *map = doc_get(r->map, "switch");
	char name[24], text[16];
	struct doc_node num = { .kind = DOC_SCALAR,
				.at = map->at,
				.text = text };
	struct doc_item item = { .key = "ports",
				 .key_at = map->at,
				 .val = &num };
	struct doc_node base = {
		.kind = DOC_MAP, .at = map->at, .items = &item, .n = 1
	};
	const struct weft_class *cls;

	if (exp_want(map, DOC_MAP, "switch", err) ||
	    build_class(r->b, &spec, map, &cls, err))
		return -1;
	if (!cls->ops.route)
		return doc_fail(
			map->at, err,
			"%s has no routing tables: this fabric needs a switch that has, e.g. " EXAMPLE_SWITCH,
			cls->name);
	snprintf(name, sizeof(name), "s%u_%u", level, index);
	snprintf(text, sizeof(text), "%u", stages_ports(r->s, level));
	if (class_param(cls, "ports"))
		spec.base = &base;
	return build_comp(r->b, &spec, name, map, &r->sw[level][index], err);
}

static int rise_switches(struct rise *r, struct weft_err *err)
{
	for (uint32_t l = 1; l <= r->s->levels; l++) {
		uint32_t n = stages_switches(r->s, l);

		r->sw[l] = calloc(n, sizeof(*r->sw[l]));
		if (!r->sw[l])
			abort();
		for (uint32_t i = 0; i < n; i++)
			if (rise_switch(r, l, i, err))
				return -1;
	}
	return 0;
}

static int rise_cable(struct rise *r, struct weft_comp *sw, uint32_t port,
		      struct weft_port *far, struct weft_comp *link,
		      struct weft_err *err)
{
	struct weft_port *p = build_link_port(sw, port);

	if (!p || !far)
		return doc_fail(
			r->map->at, err,
			"%s has no port %u, which its place in the fabric needs: give it more ports",
			sw->name, port);
	return build_cable(r->b, p, far, link, r->map->at, err);
}

static int rise_ends(struct rise *r, struct weft_err *err)
{
	for (uint32_t i = 0; i < r->b->ends.n; i++) {
		struct weft_comp *end = r->b->ends.at[i];
		struct weft_port *far = build_link_port(end, 0);

		if (!far || build_link_port(end, 1))
			return doc_fail(
				r->map->at, err,
				"%s has %s: this fabric joins ends of one link each",
				end->name, far ? "several links" : "no link");
		if (rise_cable(r, r->sw[1][i / r->s->down[1]],
			       i % r->s->down[1], far, r->link, err))
			return -1;
	}
	return 0;
}

/* Connects the switches of `level` to their parents. */
static int rise_trunks(struct rise *r, uint32_t level, struct weft_err *err)
{
	const struct stages *s = r->s;
	uint32_t twins = stages_twins(s, level), down = s->down[level + 1];

	for (uint32_t i = 0; i < stages_switches(s, level); i++) {
		uint32_t place = i / twins, twin = i % twins;
		uint32_t above = place / down * twins * s->up[level + 1] + twin;

		for (uint32_t q = 0; q < s->up[level + 1]; q++) {
			struct weft_comp *far =
				r->sw[level + 1][above + q * twins];

			if (rise_cable(r, r->sw[level][i], s->down[level] + q,
				       build_link_port(far, place % down),
				       r->trunk, err))
				return -1;
		}
	}
	return 0;
}

/* Fills one row of routes for all inputs of a switch. Fills two rows if inputs
 * from below and from above have different routes. */
static int rise_row(struct rise *r, uint32_t level, uint32_t index,
		    uint32_t path, struct weft_err *err)
{
	struct weft_comp *sw = r->sw[level][index];
	uint32_t n = (uint32_t)r->b->ends.n, *to, ret = 0;
	bool both = r->s->whole && level < r->s->levels;
	struct weft_err sub = { 0 };

	to = calloc(n + 1, sizeof(*to));
	if (!to)
		abort();
	for (uint32_t d = 0; d < n; d++)
		to[d] = stages_port(r->s, level, index, path, d, false);
	ret |= sw->cls->ops.route(sw, WEFT_ANY_PORT, path, to, n, &sub) != 0;
	for (uint32_t d = 0; both && d < n; d++)
		to[d] = stages_port(r->s, level, index, path, d, true);
	for (uint32_t p = r->s->down[level];
	     both && !ret && p < stages_ports(r->s, level); p++)
		ret |= sw->cls->ops.route(sw, p, path, to, n, &sub) != 0;
	free(to);
	return ret ? doc_fail(r->map->at, err, "%s", sub.msg) : 0;
}

static int rise_tables(struct rise *r, struct weft_err *err)
{
	/* Number of paths between two ends whose packets turn at the top. */
	uint32_t paths = stages_twins(r->s, r->s->levels);

	for (uint32_t l = 1; l <= r->s->levels; l++)
		for (uint32_t i = 0; i < stages_switches(r->s, l); i++)
			for (uint32_t p = 0; p <= (paths > 1 ? paths : 0); p++)
				if (rise_row(r, l, i, p, err))
					return -1;
	return 0;
}

int stages_build(struct exp_build *b, const struct doc_node *map,
		 const struct stages *s, struct weft_err *err)
{
	struct rise r = { .b = b, .map = map, .s = s };
	uint32_t room = stages_ends(s, s->levels);
	const struct doc_node *link = doc_get(map, "link");
	const struct doc_node *trunk = doc_get(map, "trunk");
	int ret;

	if (!doc_get(map, "switch") || !link)
		return build_lacks(
			map, doc_get(map, "switch") ? "link" : "switch", err);
	if (b->ends.n > room)
		return doc_fail(
			map->at, err,
			"%zu ends do not fit: this fabric has room for %u: set nodes.count or traffic.count to that, or give its switches more ports",
			b->ends.n, room);
	if (build_link(b, link, NULL, &r.link, err))
		return -1;
	r.trunk = r.link;
	if (trunk && build_link(b, trunk, link, &r.trunk, err))
		return -1;
	ret = rise_switches(&r, err) || rise_ends(&r, err);
	for (uint32_t l = 1; l < s->levels && !ret; l++)
		ret = rise_trunks(&r, l, err);
	ret = ret || rise_tables(&r, err);
	for (uint32_t l = 1; l <= s->levels; l++)
		free(r.sw[l]);
	return ret ? -1 : 0;
}
