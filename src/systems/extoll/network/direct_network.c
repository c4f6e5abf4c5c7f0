/* SPDX-License-Identifier: Apache-2.0 */
/* Class extoll.net, see direct_network.h: services for traffic sources, the
 * watchdog and the results of the measurement (net/network_meter.h).
 *
 * States of a run. `saturated`: the content of sources and network has grown in
 * the window by more than chance (growth.h) and by more than a packet per
 * source. `starved`: a source had a packet ready but sent none for
 * `watchdog` cycles, while other packets were sent or received. `deadlock`:
 * cells have waited for each other in a circle for `watchdog` cycles. */
#include "systems/extoll/network/direct_network.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/result.h"
#include "net/graph.h"
#include "net/packet_trace.h"

/* clang-format off */
static const struct weft_param net_params[] = {
	NET_METER_PARAMS,
	WEFT_PARAM(U64, struct extoll_net, watchdog, "20000", "0..1000000000", OWN,
		   "cycles a cell may wait before it is asked for what; "
		   "0 = never"),
	WEFT_PARAM(STR, struct extoll_net, note, "", "", OWN,
		   "what the maker of the routes has to say"),
	{ 0 }
};
/* clang-format on */

static const struct weft_counter net_counters[NET_N_COUNTERS] = {
	NET_METER_COUNTERS("packets through crossbars"),
};

/* ---- services for traffic components ---- */

static uint64_t net_now(const struct weft_comp *c)
{
	const struct extoll_net *n = c->state;

	return weft_clock_cycle(&n->m.clk, weft_now(c));
}

/* Uses the clock of the crossbars as the clock of the network. */
static void net_clock(struct extoll_net *n)
{
	const struct weft_comp *x = n->n_xbars ? n->xbar[0] : NULL;

	for (const struct weft_param *p = x ? x->cls->params : net_params;
	     p->name && !n->m.clk.num; p++)
		if (p->type == WEFT_P_CLOCK && !strcmp(p->name, "clock"))
			memcpy(&n->m.clk, (char *)x->state + p->offset,
			       sizeof(n->m.clk));
}

int extoll_net_join(struct weft_comp *net, uint32_t node, struct net_end gen,
		    const struct weft_clock *clk, uint64_t packets,
		    struct weft_err *err)
{
	struct extoll_net *n = net->state;

	net_clock(n); /* for a source that starts before the network does */
	return net_meter_join(net, node, n->topo->nodes, gen, clk, packets,
			      err);
}

/* ---- the watchdog ---- */

static void direct_network_deadlocked(struct weft_comp *c, const char *text)
{
	struct extoll_net *n = c->state;

	n->m.state = NET_DEADLOCK;
	n->m.over = true;
	n->m.last = weft_now(c);
	weft_check_failed(
		c, "deadlock: cells in these inputs wait for each other: %s",
		text);
	/* A run ends as "not idle" only if an event is pending. This run is not
	 * idle, because cells are left in the network. Therefore requests an
	 * event in the far future. */
	weft_wake(c, NET_TAG_NONE, weft_now(c) + 1000 * WEFT_SEC);
}

static void watch_arm(struct weft_comp *c)
{
	struct extoll_net *n = c->state;

	if (n->watchdog)
		weft_watch(
			c, NET_TAG_WATCH,
			weft_clock_edge(&n->m.clk, net_now(c) + n->watchdog));
}

/* Searches for deadlock and starved sources. The watchdog is an observer
 * (weft_watch), whose event is dropped when no other event is left.
 * net_finish() then makes the search. In a run with attached processes the
 * watchdog stops when the network is empty, because the next events of these
 * processes may be minutes away. */
static void direct_network_watch(struct weft_comp *c)
{
	struct extoll_net *n = c->state;
	uint64_t before = net_now(c) - n->watchdog;
	uint64_t moved = c->counters[NET_SENT] + c->counters[NET_RECEIVED];
	char text[300] = "";
	bool blocked;

	if (extoll_net_cycle(n, before, text, sizeof(text), &blocked)) {
		direct_network_deadlocked(c, text);
		weft_sim_stop(c->sim);
		return;
	}
	/* Counts sources that had a packet ready but sent none, although other
	 * packets were sent or received. */
	if (moved != n->moved)
		net_meter_starved(&n->m, before);
	n->moved = moved;
	if (!weft_sim_gated(c->sim) ||
	    c->counters[NET_SENT] != c->counters[NET_RECEIVED])
		watch_arm(c);
}

static void net_event(struct weft_comp *c, uint32_t tag)
{
	if (tag == NET_TAG_OPEN)
		extoll_net_links_begin(c);
	else if (tag == NET_TAG_CLOSE)
		net_meter_due(c);
	else if (tag == NET_TAG_WATCH)
		direct_network_watch(c);
}

/* ---- results ---- */

static int net_sample(struct weft_comp *c, struct weft_err *err)
{
	const struct extoll_net *n = c->state;
	uint64_t sum = 0;

	/* Finds the counter by name, because crossbars of other classes have it
	 * at another index. */
	for (uint32_t i = 0; i < n->n_xbars; i++) {
		const struct weft_class *cls = n->xbar[i]->cls;

		for (uint32_t k = 0; k < cls->n_counters; k++)
			if (!strcmp(cls->counters[k].name, "packets"))
				sum += n->xbar[i]->counters[k];
	}
	c->counters[NET_HOPS] = sum;
	return 0;
}

static int net_finish(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_net *n = c->state;
	uint64_t now = net_now(c);
	char text[300] = "";
	bool blocked;

	net_sample(c, err);
	if (weft_sim_idle(c->sim)) {
		if (extoll_net_cycle(n, now, text, sizeof(text), &blocked))
			direct_network_deadlocked(c, text);
		if (blocked)
			result_param_set(weft_sim_result(c->sim), "net.blocked",
					 text);
		/* the last packet was the last event */
		now = weft_clock_cycle(&n->m.clk, n->m.last) + 1;
	}
	net_meter_finish(c, now);
	extoll_net_links_end(c);
	extoll_net_links_report(c);
	net_meter_report(c);
	return 0;
}

static int net_start(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_net *n = c->state;

	for (uint32_t i = 0; i < n->n_xbars; i++)
		if (!ex_stands(n->xbar[i]))
			return weft_fail(
				err, EINVAL,
				"%s: %s is no crossbar of EXTOLL, whose cells it knows",
				c->name, n->xbar[i]->cls->name);
	net_clock(n);
	if (!n->m.clk.num)
		return weft_fail(err, EINVAL,
				 "%s: there are no crossbars with a clock",
				 c->name);
	extoll_net_links_begin(c);
	watch_arm(c);
	return 0;
}

static int net_init(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_net *n = c->state;

	net_meter_init(&n->m);
	n->m.closing = extoll_net_links_end;
	return 0;
}

static int net_network(struct weft_comp *c, const struct weft_network *parts,
		       struct weft_err *err)
{
	struct extoll_net *n = c->state;
	const struct topology *t = parts->topo;
	uint32_t most = 0; /* hops */

	n->topo = parts->topo;
	n->xbar = parts->switches;
	if (!t) {
		net_graph_fini(parts->graph);
		free(parts->graph);
		return weft_fail(
			err, EINVAL,
			"%s is a direct network: use fabric torus, mesh, hypercube or graph",
			c->cls->name);
	}
	n->n_xbars = parts->n_switches;
	/* Computes the longest route in hops. For a grid with cuts the result
	 * is only an upper bound. In a graph all routes are compared. */
	for (uint32_t i = 0; t->kind == TOPO_GRID && i < t->dims; i++)
		most += t->wrap >> i & 1 && !t->n_cuts ? t->size[i] / 2
						       : t->size[i] - 1;
	for (uint32_t s = 0; t->kind == TOPO_GRAPH && s < t->nodes; s++)
		for (uint32_t d = 0; d < t->nodes && most < EX_ROUTE_MAX; d++) {
			uint32_t hops = topo_hops(t, s, d);

			most = hops > most ? hops : most;
		}
	if (t->path && most + 1 > EX_ROUTE_MAX)
		return weft_fail(
			err, EINVAL,
			"a route has room for %u hops, the longest way is longer: use routing: table",
			EX_ROUTE_MAX - 1);
	return 0;
}

static void net_fini(struct weft_comp *c)
{
	struct extoll_net *n = c->state;

	topo_free(n->topo);
	net_meter_fini(&n->m);
	trace_free(n->trace);
	free(n->xbar);
	free(n->busy);
}

WEFT_COMPONENT(extoll_net, .name = "extoll.net", .kind = WEFT_KIND_TRAFFIC,
	       .doc = "a direct network as a whole: measurement, watchdog",
	       .source = "own; extoll.md 4.5, 4.6",
	       .not_modelled = "takes no part in what happens",
	       .state_size = sizeof(struct extoll_net), .params = net_params,
	       .counters = net_counters, .n_counters = NET_N_COUNTERS,
	       .ops = { .init = net_init,
			.start = net_start,
			.event = net_event,
			.finish = net_finish,
			.sample = net_sample,
			.network = net_network,
			.fini = net_fini });
