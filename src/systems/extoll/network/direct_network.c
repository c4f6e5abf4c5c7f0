/* SPDX-License-Identifier: Apache-2.0 */
/* Class extoll.net, see direct_network.h: services for traffic sources, the
 * watchdog and the results of the window of measurement (measuring_window.c).
 *
 * States of a run. `saturated`: the content of sources and network has grown in
 * the window by more than chance (growth.h) and by more than a packet per
 * source. `starved`: a source with a packet ready sent none for a watchdog's
 * time while others did. `deadlock`: cells have waited for each other in a
 * circle for a watchdog's time. */
#include "systems/extoll/network/direct_network.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/result.h"
#include "net/packet_trace.h"

/* clang-format off */
static const struct weft_param net_params[] = {
	WEFT_PARAM(U64, struct extoll_net, warmup, "0", "", OWN,
		   "cycles before the window of measurement"),
	WEFT_PARAM(BOOL, struct extoll_net, detect, "no", "", OWN,
		   "and as long as latency has not settled (MSER-5)"),
	WEFT_PARAM(U64, struct extoll_net, measure, "0", "", OWN,
		   "cycles of the window, twice as many in the second one when "
		   "content grows in the first; the run ends when what was "
		   "made in it has arrived; 0 = to the end of the run"),
	WEFT_PARAM(REAL, struct extoll_net, precision, "0", "0..1", OWN,
		   "the window ends when the 95 % confidence interval of the "
		   "mean latency is this narrow, +- as a share of it; 0 = no"),
	WEFT_PARAM(U64, struct extoll_net, watchdog, "20000", "0..1000000000", OWN,
		   "cycles a cell may wait before it is asked for what; "
		   "0 = never"),
	WEFT_PARAM(STR, struct extoll_net, note, "", "", OWN,
		   "what the maker of the routes has to say"),
	{ 0 }
};
/* clang-format on */

static const struct weft_counter net_counters[EXTOLL_NET_N_COUNTERS] = {
	[EXTOLL_NET_SENT] = { "sent", "packets", "packets into the network" },
	[EXTOLL_NET_RECEIVED] = { "received", "packets", "packets out of it" },
	[EXTOLL_NET_FLITS] = { "flits", "flits", "flits out of it" },
	[EXTOLL_NET_HOPS] = { "hops", "packets", "packets through crossbars" },
};

const char *const extoll_net_state_names[] = {
	[EXTOLL_NET_STEADY] = "steady",
	[EXTOLL_NET_UNSETTLED] = "unsettled",
	[EXTOLL_NET_SATURATED] = "saturated",
	[EXTOLL_NET_STARVED] = "starved",
	[EXTOLL_NET_DEADLOCK] = "deadlock",
};

/* ---- services for traffic components ---- */

static uint64_t net_now(const struct weft_comp *c)
{
	const struct extoll_net *n = c->state;

	return weft_clock_cycle(&n->clk, weft_now(c));
}

/* Takes the clock of the crossbars as that of the network. */
static void net_clock(struct extoll_net *n)
{
	const struct weft_comp *x = n->n_xbars ? n->xbar[0] : NULL;

	for (const struct weft_param *p = x ? x->cls->params : net_params;
	     p->name && !n->clk.num; p++)
		if (p->type == WEFT_P_CLOCK && !strcmp(p->name, "clock"))
			memcpy(&n->clk, (char *)x->state + p->offset,
			       sizeof(n->clk));
}

int extoll_net_join(struct weft_comp *net, uint32_t node,
		    struct extoll_net_end gen, const struct weft_clock *clk,
		    uint64_t packets, struct weft_err *err)
{
	struct extoll_net *n = net->state;

	net_clock(n); /* because a source may start before the network */
	if (!weft_clock_same(clk, &n->clk))
		return weft_fail(
			err, EINVAL,
			"%s.clock: sources measure in cycles, their clock must be that of all crossbars, e.g. extoll.*.clock=200MHz",
			gen.comp->name);
	if (!n->gen) {
		n->gen = calloc(n->topo->nodes, sizeof(*n->gen));
		if (!n->gen)
			abort();
		n->latency = weft_hist(net, "latency", "cycles");
		n->network = weft_hist(net, "network_latency", "cycles");
		if (!n->detect)
			extoll_net_window_open(net, n->warmup);
	}
	n->gen[node] = gen;
	n->n_gens++;
	n->total = n->total > UINT64_MAX - packets ? UINT64_MAX
						   : n->total + packets;
	return 0;
}

int extoll_net_pattern(const struct ex_place *at, uint64_t permutation,
		       uint32_t dest, struct pattern *p, struct weft_err *err)
{
	struct pattern_shape s = { .dest = dest };
	struct extoll_net *n = extoll_net_of(at);

	if (at->topo && at->topo->kind == TOPO_GRID) {
		s.size = at->topo->size;
		s.dims = at->topo->dims;
	}
	if (p->kind == PATTERN_PERMUTATION) {
		if (!n)
			return weft_fail(err, EINVAL,
					 "a permutation needs a fabric");
		if (!n->perm || n->perm_seed != permutation) {
			n->perm = realloc(n->perm,
					  n->topo->nodes * sizeof(*n->perm));
			if (!n->perm)
				abort();
			n->perm_seed = permutation;
			pattern_permute(permutation, n->perm, n->topo->nodes);
		}
		s.perm = n->perm;
	}
	return pattern_init(p, &s, err);
}

/* ---- the watchdog ---- */

static void direct_network_deadlocked(struct weft_comp *c, const char *text)
{
	struct extoll_net *n = c->state;

	n->state = EXTOLL_NET_DEADLOCK;
	n->over = true;
	n->last = weft_now(c);
	weft_check_failed(
		c, "deadlock: cells in these inputs wait for each other: %s",
		text);
	/* Keeps an event pending in the far future, because a run with cells
	 * left in the network must not end as idle. */
	weft_wake(c, EXTOLL_NET_TAG_NONE, weft_now(c) + 1000 * WEFT_SEC);
}

static void watch_arm(struct weft_comp *c)
{
	struct extoll_net *n = c->state;

	if (n->watchdog)
		weft_watch(c, EXTOLL_NET_TAG_WATCH,
			   weft_clock_edge(&n->clk, net_now(c) + n->watchdog));
}

/* Searches for deadlock and starved sources. The watchdog is a watch: it does
 * not run when no other event is left, and net_finish() searches then. In a run
 * with attached processes it stops when the network is empty, because the next
 * events of these processes may be minutes away. */
static void direct_network_watch(struct weft_comp *c)
{
	struct extoll_net *n = c->state;
	uint64_t before = net_now(c) - n->watchdog;
	uint64_t moved =
		c->counters[EXTOLL_NET_SENT] + c->counters[EXTOLL_NET_RECEIVED];
	char text[300] = "";
	uint32_t starved = 0;
	bool blocked;

	if (extoll_net_cycle(n, before, text, sizeof(text), &blocked)) {
		direct_network_deadlocked(c, text);
		weft_sim_stop(c->sim);
		return;
	}
	/* A source starves if it sent no packet while others did. */
	EXTOLL_NET_GENS(n, g)
	{
		starved +=
			moved != n->moved && g->ops->starves(g->comp, before);
	}
	if (starved > n->starved)
		n->starved = starved;
	n->moved = moved;
	if (!weft_sim_gated(c->sim) ||
	    c->counters[EXTOLL_NET_SENT] != c->counters[EXTOLL_NET_RECEIVED])
		watch_arm(c);
}

static void net_event(struct weft_comp *c, uint32_t tag)
{
	struct extoll_net *n = c->state;

	if (tag == EXTOLL_NET_TAG_OPEN)
		extoll_net_links_begin(c);
	else if (tag == EXTOLL_NET_TAG_CLOSE && !n->closed &&
		 weft_now(c) == weft_clock_edge(&n->clk, n->until))
		extoll_net_window_end(c, n->until, false);
	else if (tag == EXTOLL_NET_TAG_WATCH)
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
	c->counters[EXTOLL_NET_HOPS] = sum;
	return 0;
}

static void report_state(struct weft_comp *c)
{
	struct extoll_net *n = c->state;
	char text[64];

	if (n->state == EXTOLL_NET_STEADY &&
	    (n->from == UINT64_MAX || (n->measure && !n->over)))
		n->state = EXTOLL_NET_UNSETTLED;
	if (n->again) {
		snprintf(text, sizeof(text), "cycles %llu to %llu",
			 (unsigned long long)n->from,
			 (unsigned long long)n->until);
		result_param_set(weft_sim_result(c->sim), "net.window", text);
	}
	if (n->starved && n->state != EXTOLL_NET_DEADLOCK)
		n->state = EXTOLL_NET_STARVED;
	weft_metric(c, "starved", "sources", n->starved);
	weft_metric(c, "state", extoll_net_state_names[n->state], n->state);
	result_param_set(weft_sim_result(c->sim), "net.state",
			 extoll_net_state_names[n->state]);
}

static void report_load(struct weft_comp *c)
{
	struct extoll_net *n = c->state;
	double mean, half, cycles = (double)(n->until - n->from);
	double nodes = (double)n->n_gens;

	weft_metric(c, "offered", "flits/cycle",
		    (double)n->offered / cycles / nodes);
	weft_metric(c, "accepted", "flits/cycle",
		    (double)n->in_flits / cycles / nodes);
	weft_metric(c, "backlog", "packets", (double)n->backlog / nodes);
	if (n->marked_in)
		weft_metric(c, "latency", "cycles",
			    n->latency_sum / (double)n->marked_in);
	if (steady_interval(&n->steady, 0, &mean, &half))
		weft_metric(c, "latency_ci", "cycles", half);
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
		/* the time after the last packet does not count */
		now = weft_clock_cycle(&n->clk, n->last) + 1;
	}
	if (!n->closed && n->n_gens && now > n->from)
		extoll_net_window_end(c, now, true);
	extoll_net_links_end(c);
	extoll_net_links_report(c);
	if (!n->n_gens)
		return 0;
	if (n->closed && n->until > n->from)
		report_load(c);
	report_state(c);
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
	if (!n->clk.num)
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

	n->from = n->until = UINT64_MAX;
	steady_init(&n->steady);
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
	n->n_xbars = parts->n_switches;
	/* Longest route in hops. On a grid without cuts it is known, otherwise
	 * computed as a bound or searched. */
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
	free(n->gen);
	trace_free(n->trace);
	free(n->xbar);
	free(n->busy);
	free(n->perm);
}

WEFT_COMPONENT(extoll_net, .name = "extoll.net", .kind = WEFT_KIND_TRAFFIC,
	       .doc = "a direct network as a whole: measurement, watchdog",
	       .source = "own; extoll.md 4.5, 4.6",
	       .not_modelled = "takes no part in what happens",
	       .state_size = sizeof(struct extoll_net), .params = net_params,
	       .counters = net_counters, .n_counters = EXTOLL_NET_N_COUNTERS,
	       .ops = { .init = net_init,
			.start = net_start,
			.event = net_event,
			.finish = net_finish,
			.sample = net_sample,
			.network = net_network,
			.fini = net_fini });
