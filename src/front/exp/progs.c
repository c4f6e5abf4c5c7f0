/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the sections `faults` and `workload`: faults on ports and programs on
 * hosts. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/exp/build.h"
#include "front/exp/section.h"
#include "host/prog.h"

/* ---- faults ---- */

static int fault_put(struct exp_build *b, const struct doc_node *n,
		     struct weft_port *p, struct weft_err *err)
{
	static const char *const reserved[] = { "on", NULL };
	struct build_spec spec = { .kind = WEFT_KIND_FAULT,
				   .type_key = "type",
				   .reserved = reserved };
	struct weft_err sub = { 0 };
	struct weft_comp *c;
	char name[32];

	snprintf(name, sizeof(name), "fault%u", b->n_faults++);
	if (build_comp(b, &spec, name, n, &c, err))
		return -1;
	if (weft_filter_add(p, c, &sub))
		return doc_fail(n->at, err, "%s", sub.msg);
	return 0;
}

struct comp_list {
	VEC(struct weft_comp *);
};

/* Lists the components of nodes by the number of the node, then traffic
 * components by number, then all others. A fault's number, and with it its
 * random stream, then depends on the experiment and not on the order of
 * construction. */
static void comps_in_order(const struct exp_build *b, struct comp_list *l)
{
	size_t nics = 0;

	for (size_t i = 0; i < b->nodes.n; i++) {
		const struct exp_node *nd = &b->nodes.at[i];

		if (nd->host)
			vec_push(l, nd->host);
		if (nd->bus)
			vec_push(l, nd->bus);
		for (size_t k = 0; k < nd->nics.n; k++)
			vec_push(l, nd->nics.at[k]);
		nics += nd->nics.n;
	}
	for (size_t i = nics; i < b->ends.n; i++)
		vec_push(l, b->ends.at[i]);
	/* Components that are built after the ends always have the same
	 * order. */
	for (size_t i = l->n; i < weft_sim_count(b->sim); i++)
		vec_push(l, weft_sim_at(b->sim, (uint32_t)i));
}

/* Puts a fault on every port of its kind whose name matches the pattern. */
static int fault_pattern(struct exp_build *b, const struct doc_node *n,
			 const struct doc_node *on, struct weft_err *err)
{
	struct build_spec spec = { .kind = WEFT_KIND_FAULT,
				   .type_key = "type" };
	const struct weft_class *cls;
	struct comp_list l = { 0 };
	enum weft_port_kind kind;
	int hits = 0, ret = 0;
	char name[160];

	if (build_class(b, &spec, n, &cls, err))
		return -1;
	kind = cls->ops.note ? WEFT_PORT_BUS : WEFT_PORT_LINK;
	comps_in_order(b, &l);
	for (size_t k = 0; k < l.n && !ret; k++) {
		struct weft_comp *c = l.at[k];

		for (uint32_t i = 0; i < c->n_ports && !ret; i++) {
			snprintf(name, sizeof(name), "%s.%s", c->name,
				 c->ports[i].name);
			if (c->ports[i].kind != kind ||
			    fnmatch(on->text, name, 0))
				continue;
			hits++;
			ret = fault_put(b, n, &c->ports[i], err);
		}
	}
	vec_free(&l);
	if (ret || hits)
		return ret ? -1 : 0;
	return doc_fail(on->at, err,
			"no %s port fits '%.80s': write e.g. 'n*.nic.*'",
			kind == WEFT_PORT_BUS ? "bus" : "link", on->text);
}

static int fault_one(struct exp_build *b, const struct doc_node *n,
		     struct weft_err *err)
{
	const struct doc_node *on;
	struct weft_port *p;

	if (exp_want(n, DOC_MAP, "a fault", err))
		return -1;
	on = doc_get(n, "on");
	if (!on)
		return doc_fail(
			n->at, err,
			"this fault has no 'on': name a port, e.g. n0.nic.link0");
	if (on->kind == DOC_SCALAR && strpbrk(on->text, "*?["))
		return fault_pattern(b, n, on, err);
	return build_port(b, on, &p, err) ? -1 : fault_put(b, n, p, err);
}

int build_faults(struct exp_build *b, const struct doc_node *n,
		 struct weft_err *err)
{
	if (n->kind != DOC_SEQ)
		return fault_one(b, n, err);
	for (uint32_t i = 0; i < n->n; i++)
		if (fault_one(b, n->items[i].val, err))
			return -1;
	return 0;
}

/* ---- workload ---- */

/* Refuses a program on a node without a NIC. The check is made here, so that
 * the message has a line of the file. */
static int prog_nic_check(const struct exp_node *nd, uint32_t node,
			  const struct weft_comp *c, const struct doc_node *n,
			  struct weft_err *err)
{
	const char *nic = "none";

	if (!c->cls->needs)
		return 0;
	for (size_t i = 0; i < nd->nics.n; i++) {
		nic = nd->nics.at[i]->cls->name;
		if (!strcmp(nic, c->cls->needs))
			return 0;
	}
	return doc_fail(
		n->at, err,
		"%s drives %s, but the NIC of n%u is %s: choose a program for that NIC (weft list programs), or another NIC",
		c->cls->name, c->cls->needs, node, nic);
}

static int prog_put(struct exp_build *b, const struct doc_node *n,
		    uint32_t node, struct weft_err *err)
{
	static const char *const reserved[] = { "on", "background", NULL };
	struct build_spec spec = { .kind = WEFT_KIND_PROGRAM,
				   .type_key = "program",
				   .reserved = reserved,
				   .numbered = true,
				   .index = node,
				   .count = (uint32_t)b->nodes.n };
	struct exp_node *nd = &b->nodes.at[node];
	const struct doc_node *bg = doc_get(n, "background");
	struct weft_comp *c;
	bool background;
	char name[48];

	if (!nd->host)
		return doc_fail(
			n->at, err,
			"node n%u has no host to run a program on: give it one, or choose others with 'on'",
			node);
	snprintf(name, sizeof(name), "n%u.prog%u", node, nd->n_progs++);
	if (build_comp(b, &spec, name, n, &c, err) ||
	    prog_nic_check(nd, node, c, n, err))
		return -1;
	background = c->cls->background;
	if (bg && exp_value(bg, WEFT_P_BOOL, "", &background,
			    sizeof(background), "background", err))
		return -1;
	if (weft_prog_attach(nd->host, c))
		return doc_fail(n->at, err, "%s cannot run on %s", c->cls->name,
				nd->host->cls->name);
	weft_prog_set_background(c, background);
	b->n_progs += !background;
	return 0;
}

static int prog_range(struct exp_build *b, const struct doc_node *n,
		      const struct doc_node *on, struct weft_err *err)
{
	unsigned long lo, hi;
	char *end;

	lo = hi = strtoul(on->text, &end, 10);
	if (end != on->text && !strncmp(end, "..", 2)) {
		const char *rest = end + 2;

		hi = strtoul(rest, &end, 10);
		if (end == rest)
			end = "?";
	}
	if (end == on->text || *end || on->text[0] == '-' || lo > hi)
		return doc_fail(
			on->at, err,
			"'%.40s' names no node: write all, 0, 0..3 or a list of these",
			on->text);
	if (hi >= b->nodes.n)
		return doc_fail(on->at, err,
				"there is no node %lu: nodes are 0..%zu", hi,
				b->nodes.n - 1);
	for (unsigned long i = lo; i <= hi; i++) {
		uint32_t turn = build_turn(b, (uint32_t)(i - lo),
					   (uint32_t)(hi - lo + 1));

		if (prog_put(b, n, (uint32_t)lo + turn, err))
			return -1;
	}
	return 0;
}

static int prog_one(struct exp_build *b, const struct doc_node *n,
		    const struct doc_node *on, struct weft_err *err)
{
	if (!on || (on->kind == DOC_SCALAR && !strcmp(on->text, "all"))) {
		uint32_t all = (uint32_t)b->nodes.n;

		for (uint32_t i = 0; i < all; i++)
			if (prog_put(b, n, build_turn(b, i, all), err))
				return -1;
		return 0;
	}
	if (on->kind == DOC_SEQ) {
		for (uint32_t i = 0; i < on->n; i++)
			if (exp_want(on->items[i].val, DOC_SCALAR, "on", err) ||
			    prog_range(b, n, on->items[i].val, err))
				return -1;
		return 0;
	}
	return exp_want(on, DOC_SCALAR, "on", err) ? -1
						   : prog_range(b, n, on, err);
}

int build_workload(struct exp_build *b, const struct doc_node *n,
		   struct weft_err *err)
{
	uint32_t count = n->kind == DOC_SEQ ? n->n : 1;

	if (!b->nodes.n)
		return doc_fail(
			n->at, err,
			"a workload needs nodes: traffic sources run no programs");
	for (uint32_t i = 0; i < count; i++) {
		const struct doc_node *w =
			n->kind == DOC_SEQ ? n->items[i].val : n;
		const struct doc_node *on;

		if (exp_want(w, DOC_MAP, "workload", err))
			return -1;
		on = doc_get(w, "on");
		if (on && on->set)
			on->set->used++;
		if (prog_one(b, w, on, err))
			return -1;
	}
	return 0;
}
