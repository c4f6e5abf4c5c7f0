/* SPDX-License-Identifier: Apache-2.0 */
/* A small network of routers for a test, see bench.h. */
#include "systems/router/tests/bench.h"

#include "unit/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>

#include "systems/router/traffic/source.h"

static struct weft_comp *add(struct bench *b, const struct weft_class *cls,
			     const char *prefix, uint32_t i)
{
	struct weft_err err = { 0 };
	struct weft_comp *c;
	char name[16];

	snprintf(name, sizeof(name), "%s%u", prefix, i);
	c = weft_sim_add(b->sim, cls, name, &err);
	assert_non_null(c);
	return c;
}

void bench_set(struct weft_comp *c, const char *settings)
{
	struct weft_err err = { 0 };
	char name[32], value[64];
	int n;

	while (sscanf(settings, " %31[^=]=%63s%n", name, value, &n) == 2) {
		if (weft_param_set(c, name, value, &err))
			fail_msg("%s", err.msg);
		settings += n;
	}
}

void bench_init(struct bench *b, const char *topology,
		const struct net_shape *shape, const char *routing)
{
	struct weft_network parts = { 0 };
	struct weft_err err = { 0 };

	b->sim = weft_sim_new(1);
	if (net_graph_init(&b->graph, net_topology_called(topology), shape,
			   &err))
		fail_msg("%s", err.msg);
	b->graph.routing = net_routing_called(routing, b->graph.type);
	b->router = calloc(b->graph.routers, sizeof(*b->router));
	b->end = calloc(b->graph.ends, sizeof(*b->end));
	b->net = add(b, &weft_class_net_meter, "net", 0);
	assert_int_equal(weft_comp_init(b->net, &err), 0);
	parts.graph = malloc(sizeof(*parts.graph));
	*parts.graph = b->graph;
	parts.switches = b->router;
	parts.n_switches = b->graph.routers;
	assert_int_equal(b->net->cls->ops.network(b->net, &parts, &err), 0);
}

void bench_seen(struct bench *b,
		void (*seen)(void *own, const struct packet *p, uint64_t cycle),
		void *own)
{
	struct router_net *n = b->net->state;

	n->seen = seen;
	n->own = own;
}

void bench_add(struct bench *b, const struct weft_class *cls,
	       const char *router, const char *end)
{
	char text[64];

	for (uint32_t i = 0; i < b->graph.routers; i++) {
		b->router[i] = add(b, cls, "s", i);
		snprintf(text, sizeof(text), "ports=%u",
			 net_graph_ports(&b->graph, i));
		bench_set(b->router[i], text);
		bench_set(b->router[i], router);
	}
	for (uint32_t i = 0; i < b->graph.ends; i++) {
		b->end[i] = add(b, &weft_class_net_source, "t", i);
		snprintf(text, sizeof(text), "nodes=%u node=%u", b->graph.ends,
			 i);
		bench_set(b->end[i], text);
		bench_set(b->end[i], end);
	}
}

static int place(struct bench *b, struct weft_comp *c, uint32_t i,
		 struct weft_err *err)
{
	struct weft_place at = { .node = i, .graph = &b->graph, .net = b->net };
	int ret = weft_comp_init(c, err);

	return ret ? ret : c->cls->ops.place(c, &at, err);
}

/* Connects port p of router r, unless its other end has connected it. */
static int port_connect(struct bench *b, uint32_t r, uint32_t p,
			struct weft_comp *cable, struct weft_err *err)
{
	const struct net_far *f = net_graph_far(&b->graph, r, p);
	struct weft_port *a = &b->router[r]->ports[p];

	if (f->at == NET_NOWHERE || a->peer)
		return 0;
	return weft_connect(a,
			    f->end ? &b->end[f->at]->ports[f->port]
				   : &b->router[f->at]->ports[f->port],
			    cable, 0, err);
}

int bench_try(struct bench *b, struct weft_err *err)
{
	struct weft_comp *cable = add(b, &weft_class_net_channel, "cable", 0);
	int ret = weft_comp_init(cable, err);

	for (uint32_t i = 0; i < b->graph.routers && !ret; i++)
		ret = place(b, b->router[i], i, err);
	for (uint32_t i = 0; i < b->graph.ends && !ret; i++)
		ret = place(b, b->end[i], i, err);
	for (uint32_t r = 0; r < b->graph.routers; r++)
		for (uint32_t p = 0; p < net_graph_ports(&b->graph, r) && !ret;
		     p++)
			ret = port_connect(b, r, p, cable, err);
	return ret ? ret : weft_sim_start(b->sim, err);
}

void bench_start(struct bench *b)
{
	struct weft_err err = { 0 };

	if (bench_try(b, &err))
		fail_msg("%s", err.msg);
}

void bench_fini(struct bench *b)
{
	weft_sim_free(b->sim);
	free(b->end);
}
