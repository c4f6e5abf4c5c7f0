/* SPDX-License-Identifier: Apache-2.0 */
/* Large graphs: tables and their checks pass each router once for each
 * destination, however long the ways are, and the search for circles does not
 * allocate for all pairs of channels of a router. */
#include "../cmocka_all.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/need.h"
#include "net/routing.h"

enum { LINE = 3000, SECONDS = 15, ALL = 128, WIDE = 32 };

/* Builds a graph of n routers with an end each, whose cables lead from a router
 * to the next `far` ones. */
static void graph_make(struct net_graph *g, uint32_t n, uint32_t far)
{
	struct net_cables l = { .routers = n, .ends = n };
	struct net_shape s = { .cables = &l };
	struct weft_err err = { 0 };

	l.at = need(calloc((size_t)n * (far + 1), sizeof(*l.at)));
	for (uint32_t r = 0; r < n; r++) {
		l.at[l.n++] = (struct net_cable){ r, r, 0, 1, true };
		for (uint32_t b = r + 1; b < n && b <= r + far; b++)
			l.at[l.n++] = (struct net_cable){ r, b, 0, 1, false };
	}
	assert_int_equal(
		net_graph_init(g, net_topology_called("graph"), &s, &err), 0);
	free(l.at);
}

/* Checks that a routing is refused with this text, and that the refusal takes
 * little time. */
static void refused_soon(struct net_graph *g, const char *routing,
			 const char *text)
{
	clock_t from = clock();
	struct weft_err err = { 0 };

	g->routing = net_routing_called(routing, g->type);
	assert_int_not_equal(net_routing_check(g->routing, g, 1, &err), 0);
	assert_non_null(strstr(err.msg, text));
	assert_in_range((clock() - from) / CLOCKS_PER_SEC, 0, SECONDS);
}

static void ways_along_a_long_line_are_counted_soon(void **state)
{
	struct net_graph g;

	graph_make(&g, LINE, 1);
	refused_soon(&g, "shortest", "needs 2999 VCs");
	net_graph_fini(&g);
}

static void a_table_for_a_long_line_is_checked_soon(void **state)
{
	struct net_graph g;

	graph_make(&g, LINE, 1);
	g.way = need(calloc((size_t)LINE * LINE, sizeof(*g.way)));
	for (uint32_t r = 0; r < LINE; r++)
		for (uint32_t e = 0; e < LINE; e++)
			g.way[(size_t)r * LINE + e] =
				(struct net_way){ .port = e == r	? 0
							  : e < r || !r ? 1
									: 2,
						  .last = 1 };
	refused_soon(&g, "table", "needs 2 VCs");
	g.way[(size_t)(LINE - 1) * LINE].port = NET_WAY_NONE;
	refused_soon(&g, "table", "no way from router 2999 to end 0");
	g.way[(size_t)(LINE - 1) * LINE].port = 1;
	g.way[(size_t)(LINE - 3) * LINE].port = 2;
	refused_soon(&g, "table", "round and round");
	net_graph_fini(&g);
}

static void channels_of_wide_routers_are_searched_in_4_gib(void **state)
{
	struct weft_err err = { 0 };
	struct rlimit was, few;
	struct net_graph g;

#ifdef __SANITIZE_ADDRESS__
	skip();
#endif
	assert_int_equal(getrlimit(RLIMIT_AS, &was), 0);
	few = was;
	few.rlim_cur = 4ul << 30;
	graph_make(&g, ALL, ALL);
	g.routing = net_routing_called("shortest", g.type);
	assert_int_equal(setrlimit(RLIMIT_AS, &few), 0);
	assert_int_equal(net_routing_check(g.routing, &g, WIDE, &err), 0);
	assert_int_equal(setrlimit(RLIMIT_AS, &was), 0);
	net_graph_fini(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ways_along_a_long_line_are_counted_soon),
		cmocka_unit_test(a_table_for_a_long_line_is_checked_soon),
		cmocka_unit_test(
			channels_of_wide_routers_are_searched_in_4_gib),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
