/* SPDX-License-Identifier: Apache-2.0 */
/* See atoll_mesh.h. */
#include "atoll_mesh.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/prog.h"
#include "measure/result.h"
#include "systems/atoll/network/wire.h"

extern const struct weft_class weft_class_host_pc, weft_class_bus_pcix;
extern const struct weft_class weft_class_atoll_nic, weft_class_link_cable;

struct prog {
	struct mesh *r;
	mesh_fn fn;
	uint32_t node;
};

static int prog_main(struct weft_comp *c)
{
	struct prog *p = c->state;

	p->fn(p->r, weft_prog_host(c), p->node);
	return 0;
}

static WEFT_COMPONENT(prog, .name = "test.prog", .kind = WEFT_KIND_PROGRAM,
		      .doc = "test function", .state_size = sizeof(struct prog),
		      .ops = { .main = prog_main });

/* ---- a fault that flips bits of one flit and observes routing strings ---- */

struct tap {
	struct mesh *r;
	uint32_t seen;
};

static void tap_filter(struct weft_comp *c, struct weft_frame *f)
{
	struct tap *t = c->state;
	struct mesh *r = t->r;
	const struct at_line *l = at_line(f);

	if (l->kind == AT_HEAD && f->payload.len > r->chars)
		r->chars = f->payload.len;
	if (r->hit && l->kind == r->kind && ++t->seen == r->hit) {
		uint32_t n = atoll_wire.encode(f, NULL, 0);

		assert(2 + r->bit / 8 < n);
		f->raw = weft_raw_new(c->sim, n);
		f->raw->n = atoll_wire.encode(f, f->raw->sym, n);
		f->raw->sym[2 + r->bit / 8] ^= (uint16_t)(1 << r->bit % 8);
	}
	weft_filter_pass(c, f);
}

static WEFT_COMPONENT(tap, .name = "test.tap", .kind = WEFT_KIND_FAULT,
		      .doc = "bits of one flit",
		      .state_size = sizeof(struct tap),
		      .ops = { .filter = tap_filter });

/* ---- the bench ---- */

static void must(int ret, const struct weft_err *err)
{
	if (!ret)
		return;
	fprintf(stderr, "%s\n", err->msg);
	abort();
}

static struct weft_comp *add(struct mesh *r, const struct weft_class *cls,
			     uint32_t node, const char *what, const char *set)
{
	struct weft_err err = { 0 };
	struct weft_comp *c;
	char name[32], par[32], val[32];

	snprintf(name, sizeof(name), "n%u.%s", node, what);
	c = weft_sim_add(r->sim, cls, name, &err);
	must(!c, &err);
	for (int used = 0;
	     set && sscanf(set, " %31[^=]=%31s%n", par, val, &used) == 2;
	     set += used)
		must(weft_param_set(c, par, val, &err), &err);
	return c;
}

static void join(struct weft_port *a, struct weft_port *b,
		 struct weft_comp *link)
{
	struct weft_err err = { 0 };

	must(weft_connect(a, b, link, 0, &err), &err);
}

static struct weft_comp *add_prog(struct mesh *r, uint32_t node,
				  const char *what, mesh_fn fn)
{
	struct weft_comp *c = add(r, &weft_class_prog, node, what, NULL);

	*(struct prog *)c->state = (struct prog){ r, fn, node };
	return c;
}

static void node_new(struct mesh *r, uint32_t i, const char *set)
{
	struct weft_err err = { 0 };
	struct weft_comp *bus = add(r, &weft_class_bus_pcix, i, "bus", NULL);
	struct weft_comp *prog = add_prog(r, i, "prog0", r->fn);
	struct weft_comp *mgr =
		r->manager ? add_prog(r, i, "prog1", r->manager) : NULL;

	r->host[i] = add(r, &weft_class_host_pc, i, "host", NULL);
	r->nic[i] = add(r, &weft_class_atoll_nic, i, "nic", set);
	must(weft_comp_init(bus, &err), &err);
	must(weft_comp_init(r->host[i], &err), &err);
	must(weft_comp_init(r->nic[i], &err), &err);
	must(weft_comp_init(prog, &err), &err);
	if (mgr)
		must(weft_comp_init(mgr, &err), &err);
	join(&bus->ports[0], &r->host[i]->ports[0], NULL);
	join(&bus->ports[1], &r->nic[i]->ports[0], NULL);
	must(weft_prog_attach(r->host[i], prog), &err);
	if (mgr)
		must(weft_prog_attach(r->host[i], mgr), &err);
}

static void tap_on(struct mesh *r, uint32_t node, struct weft_port *p)
{
	struct weft_err err = { 0 };
	struct weft_comp *c = add(r, &weft_class_tap, node, p->name, NULL);

	((struct tap *)c->state)->r = r;
	must(weft_comp_init(c, &err), &err);
	must(weft_filter_add(p, c, &err), &err);
}

void mesh_run(struct mesh *r, uint32_t nodes, uint32_t width, const char *set,
	      const char *cable, bool tap)
{
	struct weft_err err = { 0 };
	struct weft_comp *link;

	r->sim = weft_sim_new(1);
	r->nodes = nodes;
	r->width = width;
	for (uint32_t i = 0; i < nodes; i++)
		node_new(r, i, set);
	link = add(r, &weft_class_link_cable, 0, "cable", cable);
	must(weft_comp_init(link, &err), &err);
	for (uint32_t i = 0; i < nodes; i++) {
		if (i % width + 1 < width)
			join(&r->nic[i]->ports[1], &r->nic[i + 1]->ports[2],
			     link);
		if (i + width < nodes)
			join(&r->nic[i]->ports[3], &r->nic[i + width]->ports[4],
			     link);
	}
	if (tap)
		tap_on(r, 0, &r->nic[0]->ports[1]);
	must(weft_sim_start(r->sim, &err), &err);
	weft_sim_run(r->sim, WEFT_NEVER);
	must(weft_sim_finish(r->sim, &err), &err);
}

uint64_t mesh_counter(const struct weft_comp *c, const char *name)
{
	for (uint32_t i = 0; i < c->cls->n_counters; i++)
		if (!strcmp(c->cls->counters[i].name, name))
			return c->counters[i];
	abort();
}

uint64_t mesh_all(const struct mesh *r, const char *name)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < r->nodes; i++)
		n += mesh_counter(r->nic[i], name);
	return n;
}

size_t mesh_failures(const struct mesh *r)
{
	return weft_sim_result(r->sim)->n_failures;
}

void mesh_fill(uint64_t *w, uint32_t n, uint64_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		w[i] = seed * 0x9E3779B97F4A7C15ull + i;
}

bool mesh_good(const uint64_t *w, uint32_t n, uint64_t seed)
{
	uint64_t want[MESH_WORDS];

	mesh_fill(want, n, seed);
	return !memcmp(w, want, 8 * n);
}

struct atoll_port *mesh_open(struct weft_host *h, uint32_t port,
			     enum atoll_mode mode)
{
	struct atoll_attr a = { .port = port, .mode = mode };
	struct atoll_port *p;

	if (atoll_open(h, &a, &p))
		abort();
	return p;
}
