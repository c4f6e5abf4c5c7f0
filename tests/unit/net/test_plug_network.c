/* SPDX-License-Identifier: Apache-2.0 */
/* Topologies and routings that a shared object adds: each of their errors is
 * refused. */
#include "../cmocka_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "net/plug_network.h"

/* A row of routers with an end each: port 0 up, 1 down, 2 the end. size[1]
 * selects the error. */
enum wrong {
	GOOD,
	FAR_ROUTER,
	FAR_PORT,
	TWICE,
	ITSELF,
	TWO_ENDS,
	LOST_END,
	NONE
};

static int row_build(struct weft_graph *g, const struct weft_shape *s,
		     struct weft_err *err)
{
	uint32_t n = s->size[0], wrong = s->size[1];

	if (wrong == NONE)
		return 0;
	if (weft_graph_alloc(g, n, 3, n, err))
		return -EINVAL;
	for (uint32_t r = 0; r < n; r++)
		if ((r + 1 < n && weft_graph_join(g, r, 0, r + 1, 1, err)) ||
		    (wrong != LOST_END && weft_graph_attach(g, r, r, 2, err)))
			return -EINVAL;
	if (wrong == FAR_ROUTER)
		return weft_graph_join(g, 0, 1, n, 0, err);
	if (wrong == FAR_PORT)
		return weft_graph_join(g, 0, 1, n - 1, 3, err);
	if (wrong == TWICE)
		return weft_graph_join(g, 0, 1, 1, 1, err);
	if (wrong == ITSELF)
		return weft_graph_join(g, 0, 1, 0, 1, err);
	if (wrong == TWO_ENDS)
		return weft_graph_attach(g, 0, n - 1, 0, err);
	return 0;
}

static const struct weft_topology row = { WEFT_NETWORK(struct weft_topology),
					  .name = "row", .routing = "along",
					  .build = row_build };
static const char *const rows[] = { "row", NULL };

static int graph_make(struct net_graph *g, const struct net_topology *t,
		      enum wrong wrong, struct weft_err *err)
{
	struct net_shape s = { 2, { 4, wrong } };

	return net_graph_init(g, t, &s, err);
}

static void wrong_cables_are_refused(void **state)
{
	static const char *const text[] = {
		[FAR_ROUTER] = "router 4, which does not exist",
		[FAR_PORT] = "port 3 of router 3",
		[TWICE] = "two cables lead to port 1 of router 1",
		[ITSELF] = "cabled to itself",
		[TWO_ENDS] = "end 0 does not exist or has two",
		[LOST_END] = "attaches end 0 to no router",
		[NONE] = "allocates no routers",
	};
	struct weft_err err = { 0 };
	struct net_topology *t = net_plug_topology(&row, &err);
	struct net_graph g;

	assert_non_null(t);
	for (enum wrong w = FAR_ROUTER; w <= NONE; w++) {
		err = (struct weft_err){ 0 };
		assert_int_not_equal(graph_make(&g, t, w, &err), 0);
		if (!strstr(err.msg, text[w]))
			fail_msg("%u: %s", w, err.msg);
	}
	free(t);
}

static void along(const struct weft_graph *g, struct weft_hop *h)
{
	uint32_t port = h->dest == h->router ? 2 : h->dest < h->router;

	assert_false(weft_choose(h, 3, 0, 0));
	assert_false(weft_choose(h, port, 0, h->vcs));
	assert_false(weft_choose(h, port, 1, 0));
	assert_true(weft_choose(h, port, 0, h->vcs - 1));
}
static void nowhere(const struct weft_graph *g, struct weft_hop *h)
{
	weft_choose(h, 7, 0, 0);
}
static void astray(const struct weft_graph *g, struct weft_hop *h)
{
	weft_choose(h, 2, 0, 0);
}
/* Routes a packet between routers 0 and 1 for ever if its second coin is set.
 */
static void around(const struct weft_graph *g, struct weft_hop *h)
{
	if (h->coins & 2)
		weft_choose(h, h->router != 0, 0, 0);
	else
		along(g, h);
}

static struct weft_routing routing_of(void (*route)(const struct weft_graph *,
						    struct weft_hop *))
{
	return (struct weft_routing){ WEFT_NETWORK(struct weft_routing),
				      .name = "along",
				      .topologies = rows,
				      .vcs = 1,
				      .coins = 2,
				      .route = route };
}

static void routings_that_lead_nowhere_are_refused(void **state)
{
	static const struct {
		void (*route)(const struct weft_graph *, struct weft_hop *);
		const char *text;
	} wrong[] = {
		{ along, NULL },
		{ nowhere, "no output at router 0" },
		{ astray, "for end 1 to end 0" },
		{ around, "round and round" },
	};
	struct weft_err err = { 0 };
	struct net_topology *t = net_plug_topology(&row, &err);

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct weft_routing own = routing_of(wrong[i].route);
		struct net_routing *r = net_plug_routing(&own, &err);
		struct net_graph g;
		int ret;

		assert_non_null(r);
		err = (struct weft_err){ 0 };
		assert_int_equal(graph_make(&g, t, GOOD, &err), 0);
		ret = net_routing_check(r, &g, 2, &err);
		assert_int_equal(ret != 0, wrong[i].text != NULL);
		if (ret && !strstr(err.msg, wrong[i].text))
			fail_msg("%zu: %s", i, err.msg);
		net_graph_fini(&g);
		free(r);
	}
	free(t);
}

static void incomplete_ones_are_refused(void **state)
{
	struct weft_routing own = routing_of(along);
	struct weft_topology t = row;
	struct weft_err err = { 0 };

	t.struct_size--;
	assert_null(net_plug_topology(&t, &err));
	assert_non_null(strstr(err.msg, "WEFT_NETWORK"));
	t = row;
	t.build = NULL;
	assert_null(net_plug_topology(&t, &err));
	own.vcs = 0;
	err = (struct weft_err){ 0 };
	assert_null(net_plug_routing(&own, &err));
	assert_non_null(strstr(err.msg, "'along' is incomplete"));
	own.vcs = 1;
	own.coins = 9;
	assert_null(net_plug_routing(&own, &err));
	own.coins = 0;
	own.api_version++;
	assert_null(net_plug_routing(&own, &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_cables_are_refused),
		cmocka_unit_test(routings_that_lead_nowhere_are_refused),
		cmocka_unit_test(incomplete_ones_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
