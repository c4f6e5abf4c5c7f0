/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the machine of `weft disk` from an experiment: keeps its targets and
 * adds an agent. */
#include <errno.h>
#include <string.h>

#include "front/disk/disk.h"
#include "front/exp/registry.h"

#define DISK_TARGET "disk.target"

static struct doc_node *text_new(struct doc *d, const char *text)
{
	struct doc_node *n = doc_node_new(d, DOC_SCALAR, d->root->at);

	n->text = text;
	return n;
}

static bool is_target(const struct doc_node *w)
{
	const struct doc_node *p =
		w->kind == DOC_MAP ? doc_get(w, "program") : NULL;

	return p && p->kind == DOC_SCALAR && !strcmp(p->text, DISK_TARGET);
}

/* Appends the targets of an experiment's workload to seq. The targets become
 * background programs, because the run must end when the attached process
 * ends. */
static void take_targets(struct doc *d, const struct doc_node *old,
			 struct doc_node *seq)
{
	uint32_t n = !old ? 0 : old->kind == DOC_SEQ ? old->n : 1;

	for (uint32_t i = 0; i < n; i++) {
		const struct doc_node *w =
			old->kind == DOC_SEQ ? old->items[i].val : old;

		if (!is_target(w))
			continue;
		if (!doc_get(w, "background"))
			doc_append(d, (struct doc_node *)w, "background", w->at,
				   text_new(d, "true"));
		doc_append(d, seq, NULL, w->at, (struct doc_node *)w);
	}
}

static void add_target(struct doc *d, struct doc_node *seq)
{
	struct doc_node *map = doc_node_new(d, DOC_MAP, d->root->at);

	doc_append(d, map, "program", d->root->at, text_new(d, DISK_TARGET));
	doc_append(d, map, "on", d->root->at, text_new(d, "1"));
	doc_append(d, map, "background", d->root->at, text_new(d, "true"));
	doc_append(d, seq, NULL, d->root->at, map);
}

int disk_edit(struct doc *d, const struct registry *reg, struct weft_err *err)
{
	struct doc_node *seq = doc_node_new(d, DOC_SEQ, d->root->at);
	struct doc_node *rest;

	take_targets(d, doc_get(d->root, "workload"), seq);
	if (exec_edit(d, reg, err))
		return -EINVAL;
	if (!seq->n)
		add_target(d, seq);
	rest = doc_get(d->root, "workload");
	for (uint32_t i = 0; i < rest->n; i++)
		if (!is_target(rest->items[i].val))
			doc_append(d, seq, NULL, rest->items[i].val->at,
				   rest->items[i].val);
	doc_item(d->root, "workload")->val = seq;
	return 0;
}

/* ---- nodes ---- */

/* Sets target[] for the nodes of a text such as "2" or "0..3". Ignores other
 * texts, because the build of the machine refuses them. */
static void mark_range(const struct doc_node *on, bool *target, uint32_t n)
{
	char *end;
	unsigned long lo = strtoul(on->text, &end, 10), hi = lo;

	if (end == on->text)
		return;
	if (!strncmp(end, "..", 2))
		hi = strtoul(end + 2, NULL, 10);
	for (; lo <= hi && lo < n; lo++)
		target[lo] = true;
}

static void mark(const struct doc_node *on, bool *target, uint32_t n)
{
	if (!on || (on->kind == DOC_SCALAR && !strcmp(on->text, "all")))
		memset(target, true, n);
	else if (on->kind == DOC_SCALAR)
		mark_range(on, target, n);
	else if (on->kind == DOC_SEQ)
		for (uint32_t i = 0; i < on->n; i++)
			if (on->items[i].val->kind == DOC_SCALAR)
				mark_range(on->items[i].val, target, n);
}

int disk_nodes(const struct exp *e, struct disk_nodes *n_p,
	       struct weft_err *err)
{
	const struct doc_node *w = doc_get(e->doc->root, "workload");
	uint32_t n = exec_nodes(e);
	bool *target = calloc(n + 1, sizeof(*target));

	if (!target)
		abort();
	*n_p = (struct disk_nodes){ .initiator = n };
	for (uint32_t i = 0; w && i < w->n; i++)
		if (is_target(w->items[i].val))
			mark(doc_get(w->items[i].val, "on"), target, n);
	for (uint32_t i = n; i-- > 0;)
		if (!target[i])
			n_p->initiator = i;
	for (uint32_t i = 0; i < n; i++)
		if (target[i])
			vec_push(&n_p->targets, i);
	free(target);
	if (n_p->targets.n && n_p->initiator < n)
		return 0;
	vec_free(&n_p->targets);
	return weft_fail(
		err, EINVAL,
		n < 2 ? "disk: %s has one node: a disk needs another for its drive"
		      : "disk: every node of %s has a target: leave one for the programs (on: 1..%u)",
		e->label, n - 1);
}

const char *disk_target_param(const struct exp *e, const char *name)
{
	const struct doc_node *w = doc_get(e->doc->root, "workload");

	for (uint32_t i = 0; w && i < w->n; i++) {
		const struct doc_node *v;

		if (!is_target(w->items[i].val))
			continue;
		v = doc_get(w->items[i].val, name);
		return v && v->kind == DOC_SCALAR ? v->text : NULL;
	}
	return NULL;
}
