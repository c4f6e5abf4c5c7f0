/* SPDX-License-Identifier: Apache-2.0 */
/* Turns an experiment into a machine: keeps its nodes, fabric, faults and
 * drivers, removes its other programs, `sweep` and `expect`, and adds an agent
 * to every node. */
#include <errno.h>
#include <string.h>

#include "front/exec/exec.h"
#include "front/exp/registry.h"

/* Copies the drivers and agents of the experiment. Adds an agent if the
 * experiment has none. */
static struct doc_node *new_workload(struct doc *d, const struct doc_node *old,
				     const struct registry *reg)
{
	struct doc_node *seq = doc_node_new(d, DOC_SEQ, d->root->at);
	struct doc_node *map, *name;
	bool agent = false;
	uint32_t n = !old ? 0 : old->kind == DOC_SEQ ? old->n : 1;

	for (uint32_t i = 0; i < n; i++) {
		const struct doc_node *w =
			old->kind == DOC_SEQ ? old->items[i].val : old;
		const struct doc_node *p =
			w->kind == DOC_MAP ? doc_get(w, "program") : NULL;
		const struct weft_class *cls =
			p && p->kind == DOC_SCALAR ? registry_find(reg, p->text)
						   : NULL;

		if (!cls ||
		    (!cls->background && strcmp(cls->name, "host.agent")))
			continue;
		agent |= !strcmp(p->text, "host.agent");
		doc_append(d, seq, NULL, w->at, (struct doc_node *)w);
	}
	if (agent)
		return seq;
	map = doc_node_new(d, DOC_MAP, d->root->at);
	name = doc_node_new(d, DOC_SCALAR, d->root->at);
	name->text = "host.agent";
	doc_append(d, map, "program", d->root->at, name);
	doc_append(d, seq, NULL, d->root->at, map);
	return seq;
}

/* Devices reach memory of processes by addresses of the node
 * (host/process_memory.h). The node gets 3 GiB of addresses, because addresses
 * cost nothing. A machine that sets mem_bytes keeps its own value. */
static void host_room(struct doc *d, const struct doc_node *group)
{
	struct doc_node *host =
		group->kind == DOC_MAP
			? (struct doc_node *)doc_get(group, "host")
			: NULL;
	struct doc_node *room;

	if (!host || host->kind != DOC_MAP || doc_get(host, "mem_bytes"))
		return;
	room = doc_node_new(d, DOC_SCALAR, host->at);
	room->text = "3GiB";
	doc_append(d, host, "mem_bytes", host->at, room);
}

int exec_edit(struct doc *d, const struct registry *reg, struct weft_err *err)
{
	static const char *const gone[] = { "workload", "sweep",  "expect",
					    "run",	"record", NULL };
	struct doc_node *root = doc_node_new(d, DOC_MAP, d->root->at);
	const struct doc_node *old = d->root, *nodes = doc_get(old, "nodes");

	if (!nodes)
		return doc_fail(
			old->at, err,
			"no machine: it has no nodes for processes to live on");
	for (uint32_t i = 0; i < old->n; i++) {
		const char *const *k = gone;

		while (*k && strcmp(*k, old->items[i].key))
			k++;
		if (!*k)
			doc_append(d, root, old->items[i].key,
				   old->items[i].key_at, old->items[i].val);
	}
	if (nodes->kind != DOC_SEQ)
		host_room(d, nodes);
	for (uint32_t i = 0; nodes->kind == DOC_SEQ && i < nodes->n; i++)
		host_room(d, nodes->items[i].val);
	doc_append(d, root, "workload", old->at,
		   new_workload(d, doc_get(old, "workload"), reg));
	d->root = root;
	return 0;
}

bool exec_drivers(const struct exp *e)
{
	const struct doc_node *w = doc_get(e->doc->root, "workload");

	for (uint32_t i = 0; w && i < w->n; i++)
		if (strcmp(doc_get(w->items[i].val, "program")->text,
			   "host.agent"))
			return true;
	return false;
}

static uint32_t group_count(const struct doc_node *g)
{
	const struct doc_node *n =
		g->kind == DOC_MAP ? doc_get(g, "count") : NULL;

	return n && n->kind == DOC_SCALAR ? (uint32_t)strtoul(n->text, NULL, 0)
					  : 1;
}

uint32_t exec_nodes(const struct exp *e)
{
	const struct doc_node *n = doc_get(e->doc->root, "nodes");
	uint32_t total = 0;

	if (!n || n->kind != DOC_SEQ)
		return n ? group_count(n) : 0;
	for (uint32_t i = 0; i < n->n; i++)
		total += group_count(n->items[i].val);
	return total;
}
