/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL nodes on a bench: see exrig.h. */
#include "exrig.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/prog.h"
#include "measure/result.h"

extern const struct weft_class weft_class_host_pc, weft_class_bus_ht,
	weft_class_extoll_nic, weft_class_extoll_xbar, weft_class_extoll_cable;

struct prog {
	exrig_fn fn;
	struct exrig *rig;
	uint32_t node;
};

static int prog_main(struct weft_comp *c)
{
	struct prog *p = c->state;

	return p->fn(weft_prog_host(c), p->rig, p->node);
}

static WEFT_COMPONENT(prog, .name = "test.prog", .kind = WEFT_KIND_PROGRAM,
		      .doc = "test function", .state_size = sizeof(struct prog),
		      .ops = { .main = prog_main });

static void must(int ret, const struct weft_err *err)
{
	if (!ret)
		return;
	fprintf(stderr, "%s\n", err->msg);
	abort();
}

static struct weft_comp *rig_add(struct exrig *r, const struct weft_class *cls,
				 const char *prefix, uint32_t node,
				 const char *what)
{
	struct weft_err err = { 0 };
	struct weft_comp *c;
	char name[32];

	snprintf(name, sizeof(name), "%s%u%s", prefix, node, what);
	c = weft_sim_add(r->sim, cls, name, &err);
	must(!c, &err);
	return c;
}

void exrig_new(struct exrig *r, const char *dims)
{
	exrig_new_of(r, dims, &weft_class_extoll_nic, &weft_class_bus_ht);
}

void exrig_new_of(struct exrig *r, const char *dims,
		  const struct weft_class *nic, const struct weft_class *bus)
{
	uint32_t size[3] = { 1, 1, 1 };
	struct weft_err err = { 0 };

	memset(r, 0, sizeof(*r));
	sscanf(dims, "%ux%ux%u", &size[0], &size[1], &size[2]);
	must(topo_grid(&r->topo, EX_TOPO_PORTS, size, 3, true, false, &err),
	     &err);
	r->topo.path = r->topo.dateline = true;
	r->nodes = r->topo.nodes;
	assert(r->nodes <= EXRIG_NODES);
	r->sim = weft_sim_new(1);
	for (uint32_t i = 0; i < r->nodes; i++)
		r->node[i] = (struct exrig_node){
			.host = rig_add(r, &weft_class_host_pc, "n", i,
					".host"),
			.bus = rig_add(r, bus, "n", i, ".bus"),
			.nic = rig_add(r, nic, "n", i, ".nic"),
			.xbar = rig_add(r, &weft_class_extoll_xbar, "s", i, ""),
		};
	for (uint32_t i = 0; i < r->nodes; i++)
		must(weft_preset_apply(r->node[i].host, "opteron", &err), &err);
}

void exrig_set(struct exrig *r, const char *cls, const char *param,
	       const char *value)
{
	struct weft_err err = { 0 };

	for (uint32_t i = 0; i < weft_sim_count(r->sim); i++) {
		struct weft_comp *c = weft_sim_at(r->sim, i);

		if (!strcmp(c->cls->name, cls))
			must(weft_param_set(c, param, value, &err), &err);
	}
}

void exrig_prog(struct exrig *r, uint32_t node, exrig_fn fn)
{
	struct exrig_node *n = &r->node[node];
	struct prog *p;
	char what[16];

	snprintf(what, sizeof(what), ".prog%u", n->progs++);
	p = rig_add(r, &weft_class_prog, "n", node, what)->state;
	*p = (struct prog){ fn, r, node };
}

void exrig_fault(struct exrig *r, uint32_t node, uint32_t port,
		 const struct weft_class *cls, const char *const *set)
{
	struct weft_comp *c = rig_add(r, cls, "fault", r->n_faults, "");
	struct weft_err err = { 0 };

	for (; *set; set += 2)
		must(weft_param_set(c, set[0], set[1], &err), &err);
	r->fault[r->n_faults].comp = c;
	r->fault[r->n_faults].xbar = r->node[node].xbar;
	r->fault[r->n_faults++].port = port;
}

static void join(struct weft_port *a, struct weft_port *b,
		 struct weft_comp *link, weft_time_t delay)
{
	struct weft_err err = { 0 };

	must(weft_connect(a, b, link, delay, &err), &err);
}

static void join_node(struct exrig *r, uint32_t i)
{
	struct exrig_node *n = &r->node[i];
	struct weft_err err = { 0 };

	join(&n->bus->ports[0], &n->host->ports[0], NULL, 0);
	join(&n->bus->ports[1], &n->nic->ports[0], NULL, 0);
	for (uint32_t k = 0; k < EX_INTERNAL; k++)
		join(&n->nic->ports[1 + k], &n->xbar->ports[k], NULL, 1);
	ex_place(n->nic)->topo = ex_place(n->xbar)->topo = &r->topo;
	ex_place(n->nic)->node = ex_place(n->xbar)->node = i;
	for (uint32_t k = 0; k < n->progs; k++) {
		char name[32];

		snprintf(name, sizeof(name), "n%u.prog%u", i, k);
		must(weft_prog_attach(n->host, weft_sim_find(r->sim, name)),
		     &err);
	}
}

static void join_cables(struct exrig *r, uint32_t i)
{
	struct weft_err err = { 0 };

	for (uint32_t p = EX_INTERNAL; p < EX_PORTS; p++) {
		uint32_t far = topo_far(&r->topo, i, p), q;
		struct weft_comp *cable;

		if (far == TOPO_FAR_NONE || r->node[i].xbar->ports[p].peer)
			continue;
		q = topo_far_port(&r->topo, i, p);
		cable = rig_add(r, &weft_class_extoll_cable, "c",
				i * EX_PORTS + p, "");
		must(weft_comp_init(cable, &err), &err);
		join(&r->node[i].xbar->ports[p], &r->node[far].xbar->ports[q],
		     cable, 0);
	}
}

void exrig_start(struct exrig *r)
{
	struct weft_err err = { 0 };
	uint32_t n = weft_sim_count(r->sim);

	for (uint32_t i = 0; i < n; i++)
		must(weft_comp_init(weft_sim_at(r->sim, i), &err), &err);
	for (uint32_t i = 0; i < r->nodes; i++)
		join_node(r, i);
	for (uint32_t i = 0; i < r->nodes; i++)
		join_cables(r, i);
	for (uint32_t i = 0; i < r->n_faults; i++)
		must(weft_filter_add(&r->fault[i].xbar->ports[r->fault[i].port],
				     r->fault[i].comp, &err),
		     &err);
	must(weft_sim_start(r->sim, &err), &err);
}

void exrig_run(struct exrig *r)
{
	struct weft_err err = { 0 };
	const struct weft_result *res = weft_sim_result(r->sim);

	weft_sim_run(r->sim, WEFT_NEVER);
	must(weft_sim_finish(r->sim, &err), &err);
	for (size_t i = 0; i < res->n_failures; i++)
		fprintf(stderr, "failed: %s\n", res->failures[i]);
	assert(!res->n_failures);
}

void exrig_free(struct exrig *r)
{
	weft_sim_free(r->sim);
	topo_fini(&r->topo);
}

uint64_t exrig_counter(const struct weft_comp *c, const char *name)
{
	for (uint32_t i = 0; i < c->cls->n_counters; i++)
		if (!strcmp(c->cls->counters[i].name, name))
			return c->counters[i];
	abort();
}
