/* SPDX-License-Identifier: Apache-2.0 */
/* Decisions of routings that read the loads of outputs: which way a packet
 * takes with empty outputs and with full ones. */
#include "../cmocka_all.h"

#include <stdlib.h>

#include "net/routing.h"

enum { VCS = 8 };

/* A network whose outputs have the loads that a test sets. */
struct bed {
	struct net_graph g;
	uint32_t *load; /* by output */
	struct net_loads loads;
};

static uint32_t bed_used(const void *own, uint32_t router, uint32_t port,
			 uint32_t first, uint32_t last)
{
	const struct bed *b = own;

	return b->load[b->g.first[router] + port];
}

static void bed_init(struct bed *b, const char *topology, const char *routing,
		     struct net_shape shape)
{
	struct weft_err err = { 0 };

	assert_int_equal(net_graph_init(&b->g, net_topology_called(topology),
					&shape, &err),
			 0);
	b->g.routing = net_routing_called(routing);
	assert_non_null(b->g.routing);
	b->load = calloc(b->g.first[b->g.routers], sizeof(*b->load));
	b->loads = (struct net_loads){ bed_used, b };
}

static void bed_fini(struct bed *b)
{
	net_graph_fini(&b->g);
	free(b->load);
}

static void load(struct bed *b, uint32_t router, uint32_t port, uint32_t used)
{
	b->load[b->g.first[router] + port] = used;
}

/* Routes a packet at its source. Returns the port of its only choice. */
static uint32_t first_port(struct bed *b, struct net_route *r)
{
	const struct net_far *out = &b->g.out[r->src];
	struct net_arrival in = { out->at, out->port, 0, &b->loads };
	struct net_choices c = { 0 };

	b->g.routing->route(&b->g, VCS, in, r, &c);
	assert_int_equal(c.n, 1);
	return c.at[0].port;
}

static void xy_yx_takes_the_emptier_first_output(void **state)
{
	struct net_route r = { .src = 0, .dest = 15 }, at_tie = r;
	struct bed b;

	bed_init(&b, "mesh", "xy_yx_adaptive",
		 (struct net_shape){ 2, { 4, 4 } });
	load(&b, 0, 0, 3);
	load(&b, 0, 2, 2);
	assert_int_equal(first_port(&b, &r), 2);
	load(&b, 0, 2, 4);
	assert_int_equal(first_port(&b, &r), 0);
	load(&b, 0, 2, 3);
	assert_int_equal(first_port(&b, &at_tie), 0);
	at_tie.coins = 1;
	assert_int_equal(first_port(&b, &at_tie), 2);
	bed_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(xy_yx_takes_the_emptier_first_output),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
