/* SPDX-License-Identifier: Apache-2.0 */
/* The crossbar of net.router that is not pipelined: cycles of packets that
 * cross two routers alone. */
#include "unit/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>

#include "systems/router/network/meter.h"
#include "systems/router/network/router.h"
#include "systems/router/traffic/source.h"

enum { N = 2, CROSS = 4, PACKETS = 4 };

/* Two routers with an end each. End 0 sends one packet after the other. */
struct line_of_two {
	struct weft_sim *sim;
	struct net_graph graph;
	struct weft_comp *net, **router, *end[N];
	uint64_t latency[PACKETS];
	uint32_t n;
};

static struct weft_comp *add(struct line_of_two *t,
			     const struct weft_class *cls, const char *name)
{
	struct weft_err err = { 0 };
	struct weft_comp *c = weft_sim_add(t->sim, cls, name, &err);

	assert_non_null(c);
	return c;
}

static void set(struct weft_comp *c, const char *param, const char *value)
{
	struct weft_err err = { 0 };

	assert_int_equal(weft_param_set(c, param, value, &err), 0);
}

static void place(struct line_of_two *t, struct weft_comp *c, uint32_t i)
{
	struct weft_place at = { .node = i, .graph = &t->graph, .net = t->net };
	struct weft_err err = { 0 };

	assert_int_equal(weft_comp_init(c, &err), 0);
	assert_int_equal(c->cls->ops.place(c, &at, &err), 0);
}

static void seen(void *own, const struct packet *p, uint64_t cycle)
{
	struct line_of_two *t = own;

	assert_true(t->n < PACKETS);
	t->latency[t->n++] = cycle - p->measured.injected;
}

static void net_add(struct line_of_two *t)
{
	static const struct net_shape shape = { 1, { N } };
	struct weft_network parts = { .n_switches = N };
	struct weft_err err = { 0 };
	struct router_net *n;

	assert_int_equal(net_graph_init(&t->graph, net_topology_called("mesh"),
					&shape, &err),
			 0);
	t->graph.routing = net_routing_called("dimension_order", t->graph.type);
	t->net = add(t, &weft_class_net_meter, "net");
	assert_int_equal(weft_comp_init(t->net, &err), 0);
	parts.graph = malloc(sizeof(*parts.graph));
	*parts.graph = t->graph;
	parts.switches = t->router = calloc(N, sizeof(*t->router));
	assert_int_equal(t->net->cls->ops.network(t->net, &parts, &err), 0);
	n = t->net->state;
	n->seen = seen;
	n->own = t;
}

static void router_add(struct line_of_two *t, uint32_t i, const char *pipelined)
{
	char name[8];

	snprintf(name, sizeof(name), "s%u", i);
	t->router[i] = add(t, &weft_class_net_router, name);
	set(t->router[i], "ports", "3");
	set(t->router[i], "t_route", "0");
	set(t->router[i], "speculative", "yes");
	set(t->router[i], "t_cross", "4");
	set(t->router[i], "pipelined", pipelined);
	place(t, t->router[i], i);
}

static void end_add(struct line_of_two *t, uint32_t i, const char *flits)
{
	char name[8];

	snprintf(name, sizeof(name), "t%u", i);
	t->end[i] = add(t, &weft_class_net_source, name);
	set(t->end[i], "nodes", "2");
	set(t->end[i], "node", i ? "1" : "0");
	set(t->end[i], "pattern", i ? "none" : "neighbour");
	set(t->end[i], "flits", flits);
	set(t->end[i], "outstanding", "1");
	set(t->end[i], "batch", i ? "0" : "4");
	set(t->end[i], "packets", "4");
	place(t, t->end[i], i);
}

static void cables_add(struct line_of_two *t)
{
	struct weft_comp *cable = add(t, &weft_class_net_channel, "cable");
	struct weft_err err = { 0 };

	assert_int_equal(weft_comp_init(cable, &err), 0);
	for (uint32_t r = 0; r < N; r++)
		for (uint32_t p = 0; p < net_graph_ports(&t->graph, r); p++) {
			const struct net_far *f =
				net_graph_far(&t->graph, r, p);
			struct weft_port *a = &t->router[r]->ports[p];

			if (f->at == NET_NOWHERE || a->peer)
				continue;
			a = f->end ? &t->end[f->at]->ports[f->port]
				   : &t->router[f->at]->ports[f->port];
			assert_int_equal(weft_connect(&t->router[r]->ports[p],
						      a, cable, 0, &err),
					 0);
		}
}

/* Sends PACKETS packets, each when the one before has arrived. */
static void run(struct line_of_two *t, const char *flits, const char *pipelined)
{
	struct weft_err err = { 0 };

	*t = (struct line_of_two){ .sim = weft_sim_new(1) };
	net_add(t);
	for (uint32_t i = 0; i < N; i++)
		router_add(t, i, pipelined);
	for (uint32_t i = 0; i < N; i++)
		end_add(t, i, flits);
	cables_add(t);
	assert_int_equal(weft_sim_start(t->sim, &err), 0);
	weft_sim_run(t->sim, WEFT_MS);
	assert_int_equal(t->n, PACKETS);
	weft_sim_free(t->sim);
}

/* On each of three cables a flit takes 2 cycles. Allocation takes 1. */
enum { ALONE = 3 * 2 + 2 * (1 + CROSS) - 2 };

static void first_flit_finds_the_crossbar_empty(void **state)
{
	struct line_of_two t;

	run(&t, "1", "no");
	for (uint32_t i = 0; i < PACKETS; i++)
		assert_int_equal(t.latency[i], ALONE);
	run(&t, "1", "yes");
	for (uint32_t i = 0; i < PACKETS; i++)
		assert_int_equal(t.latency[i], ALONE);
}

static void crossbar_takes_flits_again_when_those_before_have_left(void **state)
{
	struct line_of_two t;

	run(&t, "3", "no");
	for (uint32_t i = 0; i < PACKETS; i++)
		assert_int_equal(t.latency[i], ALONE + 2 * CROSS);
	run(&t, "3", "yes");
	for (uint32_t i = 0; i < PACKETS; i++)
		assert_int_equal(t.latency[i], ALONE + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_flit_finds_the_crossbar_empty),
		cmocka_unit_test(
			crossbar_takes_flits_again_when_those_before_have_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
