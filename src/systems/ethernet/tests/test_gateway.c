/* SPDX-License-Identifier: Apache-2.0 */
/* Tests eth.gateway with frames that a station addresses to the bridge
 * itself. */
#include <stdlib.h>
#include <string.h>

#include "eth_feed.h"
#include "net/routing.h"
#include "systems/router/network/gateway.h"

extern const struct weft_class weft_class_eth_gateway;

/* ---- the bench ---- */

static struct weft_comp *add(struct feed *d, const struct weft_class *cls,
			     const char *name, const char *const *set)
{
	struct weft_comp *c = weft_sim_add(d->sim, cls, name, NULL);

	for (; set && *set; set += 2)
		assert_int_equal(weft_param_set(c, set[0], set[1], NULL), 0);
	assert_int_equal(weft_comp_init(c, NULL), 0);
	return c;
}

static void place(struct weft_comp *c, uint32_t i, struct net_graph *g,
		  struct weft_comp *net)
{
	struct weft_place at = { .node = i, .graph = g, .net = net };

	assert_int_equal(c->cls->ops.place(c, &at, NULL), 0);
}

static void cables_lay(const struct net_graph *g, struct weft_comp *const *sw,
		       struct weft_comp *const *gw, struct weft_comp *link)
{
	for (uint32_t r = 0; r < g->routers; r++)
		for (uint32_t p = 0; p < net_graph_ports(g, r); p++) {
			const struct net_far *f = net_graph_far(g, r, p);
			struct weft_port *a = &sw[r]->ports[p];

			if (f->at == NET_NOWHERE || a->peer)
				continue;
			assert_int_equal(weft_connect(a,
						      &(f->end ? gw : sw)[f->at]
							       ->ports[f->port],
						      link, 0, NULL),
					 0);
		}
}

/* Builds two routers with a gateway and a station at each. d->sw is the gateway
 * of station 0. */
static void bench_new(struct feed *d)
{
	static const char *const of_router[] = { "ports", "3", "vcs", "1",
						 NULL };
	static const struct net_shape line = { 1, { 2 } };
	struct weft_comp **sw = calloc(2, sizeof(*sw)), *gw[2], *net;
	struct net_graph *g = malloc(sizeof(*g));
	struct weft_network parts = { .n_switches = 2, .switches = sw };

	memset(d, 0, sizeof(*d));
	d->sim = weft_sim_new(1);
	d->ports = 2;
	assert_int_equal(
		net_graph_init(g, net_topology_called("mesh"), &line, NULL), 0);
	g->routing = net_routing_called("dimension_order", g->type);
	parts.graph = g;
	net = add(d, &weft_class_net_meter, "net", NULL);
	assert_int_equal(net->cls->ops.network(net, &parts, NULL), 0);
	for (uint32_t i = 0; i < 2; i++) {
		sw[i] = add(d, &weft_class_net_router, i ? "r1" : "r0",
			    of_router);
		place(sw[i], i, g, net);
		gw[i] = add(d, &weft_class_eth_gateway, i ? "g1" : "g0", NULL);
		place(gw[i], i, g, net);
	}
	cables_lay(g, sw, gw, add(d, &weft_class_net_channel, "link", NULL));
	d->sw = gw[0];
	for (uint32_t i = 0; i < 2; i++)
		feed_station(d, i, &gw[i]->ports[GATEWAY_PORT_NIC]);
	assert_int_equal(weft_sim_start(d->sim, NULL), 0);
}

/* ---- tests ---- */

enum { HELLO = 1, FIRST, SECOND };

static const uint8_t addr[ETH_ADDR] = { 2 };

/* Both stations send a frame, so that the gateways learn their addresses. */
static void hello(struct feed *d)
{
	bench_new(d);
	feed_send(d, 0, feed_frame(d, 0, 1, 60, HELLO), WEFT_US);
	feed_send(d, 1, feed_frame(d, 1, 0, 60, HELLO), 10 * WEFT_US);
}

/* Returns the time at which a frame left for a station. */
static weft_time_t left(const struct feed *d, uint32_t station, uint32_t id)
{
	for (uint32_t i = 0; i < d->n_got; i++)
		if (d->got[i].port == station && d->got[i].id == id)
			return d->got[i].start;
	fail_msg("frame %u has not arrived", id);
	return 0;
}

/* A station pauses its gateway for 100 units of 512 ns (802.3x). In a second
 * test case it ends the pause after 20 us. The next frame for the station
 * leaves at the end of the pause. */
static void a_paused_gateway_keeps_frames_until_the_pause_ends(void **state)
{
	weft_time_t end = 100 * WEFT_US + 576 * WEFT_NS;

	for (uint32_t ended = 0; ended < 2; ended++) {
		struct feed d;

		hello(&d);
		feed_send(&d, 0, eth_pause_new(d.sim, addr, 100),
			  100 * WEFT_US);
		feed_send(&d, 1, feed_frame(&d, 1, 0, 60, FIRST),
			  101 * WEFT_US);
		if (ended)
			feed_send(&d, 0, eth_pause_new(d.sim, addr, 0),
				  120 * WEFT_US);
		feed_run(&d);
		assert_int_equal(left(&d, 0, FIRST),
				 end + (ended ? 20000 : 51200) * WEFT_NS);
		assert_int_equal(feed_count(&d, "pause_in"), 1 + ended);
		/* the other station has got its hello alone */
		assert_int_equal(d.n_got, 3);
		feed_fini(&d);
	}
}

/* Checks that a gateway drops and counts frames to the addresses of bridges
 * (802.1D). */
static void frames_for_a_bridge_are_counted_and_not_forwarded(void **state)
{
	struct feed d;

	hello(&d);
	for (uint32_t i = 0; i < 16; i++) {
		struct weft_frame *f = feed_frame(&d, 0, 1, 60, FIRST);

		memcpy(eth_frame_data(f), "\x01\x80\xc2\0\0", ETH_ADDR - 1);
		eth_frame_data(f)[5] = (uint8_t)i;
		feed_send(&d, 0, f, (100 + i) * WEFT_US);
	}
	feed_send(&d, 0, feed_frame(&d, 0, 1, 60, SECOND), 200 * WEFT_US);
	feed_run(&d);
	assert_int_equal(feed_count(&d, "reserved"), 16);
	assert_int_equal(feed_count(&d, "pause_in"), 0);
	assert_int_equal(d.n_got, 3);
	left(&d, 1, SECOND);
	feed_fini(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_paused_gateway_keeps_frames_until_the_pause_ends),
		cmocka_unit_test(
			frames_for_a_bridge_are_counted_and_not_forwarded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
