/* SPDX-License-Identifier: Apache-2.0 */
/* Class net.meter, see meter.h. The watchdog reports a deadlock when packets
 * are in the network and none of their flits has moved since it ran last. */
#include "systems/router/network/meter.h"

#include <errno.h>
#include <stdlib.h>

#include "base/need.h"
#include "net/topology.h"
#include "systems/router/network/queued.h"

static const struct weft_param meter_params[] = {
	NET_METER_PARAMS,
	WEFT_PARAM(U64, struct router_net, watchdog, "20000", "0..1000000000",
		   OWN, "cycles without a move that are a deadlock; 0 = never"),
	WEFT_PARAM(BOOL, struct router_net, detail, "no", "", OWN,
		   "metrics of paths, cables and fairness, too"),
	{ 0 }
};

static const struct weft_counter meter_counters[NET_N_COUNTERS] = {
	NET_METER_COUNTERS("packets through routers"),
};

static uint64_t meter_now(const struct router_net *n, const struct weft_comp *c)
{
	return weft_clock_cycle(&n->m.clk, weft_now(c));
}

static uint64_t counted(const struct router_net *n, uint32_t counter)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n->n_routers; i++)
		sum += n->router[i]->counters[counter];
	return sum;
}

void router_net_count(const struct router_net *n, uint64_t upto)
{
	for (uint32_t i = 0; i < n->n_routers; i++) {
		struct station *s = n->router[i]->state;

		if (s->face.count)
			s->face.count(s, upto);
	}
}

/* ---- cycles ---- */

/* Tag of the event of a cycle. Its number follows those of the measurement,
 * because a window that ends at the same time ends before the cycle. */
enum { METER_TAG_CYCLE = NET_TAG_NONE + 1 };

void router_net_join(struct station *s)
{
	struct router_net *n = s->net->state;

	s->id = wheel_join(&n->wheel);
	n->station = need(
		reallocarray(n->station, s->id + 1ul, sizeof(*n->station)));
	n->station[s->id] = s;
}

void router_net_event(struct station *s, uint64_t cycle)
{
	struct router_net *n = s->net->state;

	n->event = cycle;
	weft_wake(s->net, METER_TAG_CYCLE, weft_clock_edge(&s->clock, cycle));
}

static void station_step(void *own, uint32_t id, uint64_t cycle)
{
	struct station *s = ((struct router_net *)own)->station[id];

	s->step(s, cycle);
}

static void meter_cycle(struct weft_comp *c)
{
	struct router_net *n = c->state;
	uint64_t now = meter_now(n, c);

	if (now != n->event)
		return;
	n->event = 0;
	wheel_take(&n->wheel, now, station_step, n);
	n->event = WHEEL_NEVER;
	now = wheel_next(&n->wheel);
	if (now != WHEEL_NEVER)
		router_net_event(n->station[0], now);
}

/* ---- the watchdog ---- */

/* Returns the latency of the cable at port p. Reads it from the cable, because
 * a router sets the latency of its lines only when it starts. */
static uint64_t port_latency(const struct weft_comp *c, uint32_t p)
{
	const struct weft_comp *link = c->ports[p].link;

	if (!link || link->cls != &weft_class_net_channel)
		return 0;
	return ((const struct net_channel *)link->state)->latency;
}

static void meter_deadlocked(struct weft_comp *c)
{
	struct router_net *n = c->state;

	n->m.state = NET_DEADLOCK;
	n->m.over = true;
	n->m.last = weft_now(c);
	weft_check_failed(c,
			  "deadlock: %u packets are in the network and none "
			  "of their flits can move",
			  n->packets.live);
}

/* Returns the largest number of cycles in which a network that works moves no
 * flit. Meanwhile flits and credits are in flight or inside routers. */
static uint64_t network_silence(const struct router_net *n)
{
	uint64_t longest = 0;

	for (uint32_t i = 0; i < n->n_routers; i++) {
		const struct weft_comp *c = n->router[i];
		const struct station *s = c->state;

		for (uint32_t p = 0; p < c->n_ports; p++) {
			uint64_t t =
				s->face.silence + 2 * (1 + port_latency(c, p));

			longest = t > longest ? t : longest;
		}
	}
	return longest;
}

static void watch_arm(struct weft_comp *c)
{
	struct router_net *n = c->state;

	if (n->watchdog)
		weft_watch(c, NET_TAG_WATCH,
			   weft_clock_edge(&n->m.clk,
					   meter_now(n, c) + n->watchdog));
}

static void meter_watch(struct weft_comp *c)
{
	struct router_net *n = c->state;
	/* A new packet counts as a move, because the network may have been
	 * empty for long. */
	uint64_t moved;

	router_net_count(n, meter_now(n, c));
	moved = counted(n, ROUTER_FLITS) + n->m.made_flits;

	if (n->packets.live && moved == n->moved) {
		meter_deadlocked(c);
		weft_sim_stop(c->sim);
		return;
	}
	if (moved != n->moved)
		net_meter_starved(&n->m, meter_now(n, c) - n->watchdog);
	n->moved = moved;
	watch_arm(c);
}

static void meter_event(struct weft_comp *c, uint32_t tag)
{
	if (tag == NET_TAG_OPEN && ((struct router_net *)c->state)->detail)
		router_use_begin(c);
	else if (tag == NET_TAG_CLOSE)
		net_meter_due(c);
	else if (tag == NET_TAG_WATCH)
		meter_watch(c);
	else if (tag == METER_TAG_CYCLE)
		meter_cycle(c);
}

/* ---- gateways ---- */

void router_net_end(struct weft_comp *net, struct station *s)
{
	struct router_net *n = net->state;

	if (!n->end)
		n->end = need(calloc(n->graph->ends, sizeof(struct station *)));
	n->end[s->number] = s;
}

void router_net_sent(struct weft_comp *net, const struct packet *p)
{
	struct router_net *n = net->state;

	n->m.made_flits += p->flits;
	weft_count(net, NET_SENT, 1);
}

void router_net_received(struct weft_comp *net, const struct packet *p,
			 uint64_t cycle)
{
	struct router_net *n = net->state;

	weft_count(net, NET_RECEIVED, 1);
	weft_count(net, NET_FLITS, p->flits);
	n->m.last = weft_now(net);
	if (n->seen)
		n->seen(n->own, p, cycle);
}

/* ---- results ---- */

static int meter_sample(struct weft_comp *c, struct weft_err *err)
{
	struct router_net *n = c->state;

	router_net_count(n, weft_clock_cycle(&n->m.clk, weft_now(c) + 1));
	c->counters[NET_HOPS] = counted(n, ROUTER_PACKETS);
	return 0;
}

/* Reports the duration of each step of a collective operation, counted from the
 * end of the previous step. */
static void steps_report(struct weft_comp *c)
{
	const struct router_net *n = c->state;
	uint64_t was = 0;

	if (!n->step || c->counters[NET_RECEIVED] != n->trace->n)
		return;
	weft_metric(c, "steps", "steps", n->trace->steps);
	weft_metric(c, "step_time", "cycles",
		    (double)n->step[n->trace->steps - 1] / n->trace->steps);
	for (uint32_t k = 0; k < n->trace->steps; k++) {
		weft_hist_add(c, "step", "cycles",
			      n->step[k] > was ? (double)(n->step[k] - was)
					       : 0);
		was = n->step[k] > was ? n->step[k] : was;
	}
}

static int meter_finish(struct weft_comp *c, struct weft_err *err)
{
	struct router_net *n = c->state;
	uint64_t now = meter_now(n, c);

	meter_sample(c, err);
	if (weft_sim_idle(c->sim)) {
		if (n->packets.live)
			meter_deadlocked(c);
		/* the last packet was the last event */
		now = weft_clock_cycle(&n->m.clk, n->m.last) + 1;
	}
	net_meter_finish(c, now);
	net_meter_report(c);
	router_use_report(c);
	steps_report(c);
	return 0;
}

/* ---- set-up ---- */

static int meter_init(struct weft_comp *c, struct weft_err *err)
{
	struct router_net *n = c->state;

	net_meter_init(&n->m);
	n->m.closing = router_use_end;
	n->event = WHEEL_NEVER;
	n->packets.free = UINT32_MAX;
	return 0;
}

static int meter_network(struct weft_comp *c, const struct weft_network *parts,
			 struct weft_err *err)
{
	struct router_net *n = c->state;

	n->graph = parts->graph;
	n->topo = parts->topo;
	n->router = parts->switches;
	n->n_routers = parts->n_switches;
	if (n->graph)
		return 0;
	return weft_fail(
		err, EINVAL,
		"%s: %s measures routed networks: write fabric: {type: routed, ..}",
		c->name, c->cls->name);
}

void router_net_clock(struct weft_comp *net)
{
	struct router_net *n = net->state;

	n->m.clk = ((struct station *)n->router[0]->state)->clock;
}

uint32_t router_net_group(struct weft_comp *net)
{
	struct router_net *n = net->state;

	if (!n->group)
		n->group = net_graph_group(n->graph);
	return n->group;
}

int router_net_range(struct weft_comp *net, struct net_range range,
		     struct net_range reply, struct weft_err *err)
{
	struct router_net *n = net->state;
	struct net_ranges *s = &n->ranges;
	uint32_t vcs = ((struct station *)n->router[0]->state)->face.vcs;
	uint32_t was = s->n, pairs = s->n_pairs;
	uint32_t a = net_ranges_add(s, range), b;

	if (reply.n) {
		b = net_ranges_add(s, reply);
		net_ranges_pair(s, a, b);
	}
	if (s->n == NET_RANGES_MAX || s->n_pairs == NET_RANGES_MAX)
		return weft_fail(
			err, EINVAL,
			"classes have more than %u ranges of VCs: let several share one",
			NET_RANGES_MAX - 1);
	if (s->n == was && s->n_pairs == pairs)
		return 0;
	/* The fabric has already checked the case of one range with all VCs. */
	if (s->n == 1 && s->at[0].n == vcs)
		return 0;
	return net_ranges_check(s, n->graph->routing, n->graph, vcs, err);
}

static bool is_router(const struct weft_comp *c)
{
	return c->cls == &weft_class_net_router ||
	       c->cls == &weft_class_net_router_oq ||
	       c->cls == &weft_class_net_router_sm;
}

static int meter_start(struct weft_comp *c, struct weft_err *err)
{
	struct router_net *n = c->state;
	uint64_t silence;

	if (!n->graph)
		return weft_fail(err, EINVAL,
				 "%s: a %s is part of a fabric: {type: routed}",
				 c->name, c->cls->name);
	for (uint32_t i = 0; i < n->n_routers; i++)
		if (!is_router(n->router[i]))
			return weft_fail(
				err, EINVAL,
				"%s: %s is not a router with virtual channels: leave out the 'type' of switch",
				n->router[i]->name, n->router[i]->cls->name);
	router_net_clock(c);
	silence = network_silence(n);
	if (n->watchdog && n->watchdog < silence)
		n->watchdog = silence;
	watch_arm(c);
	return 0;
}

static void meter_fini(struct weft_comp *c)
{
	struct router_net *n = c->state;

	net_meter_fini(&n->m);
	if (n->graph)
		net_graph_fini(n->graph);
	free(n->graph);
	topo_free(n->topo);
	free(n->router);
	free(n->end);
	free(n->use.sent);
	free(n->packets.at);
	trace_free(n->trace);
	free(n->step);
	free(n->station);
	while (n->choices.n)
		free(vec_pop(&n->choices));
	vec_free(&n->choices);
	wheel_fini(&n->wheel);
}

WEFT_COMPONENT(net_meter, .name = "net.meter", .kind = WEFT_KIND_TRAFFIC,
	       .doc = "a network of routers as a whole: measurement, watchdog",
	       .source = "own", .not_modelled = "takes no part in what happens",
	       .state_size = sizeof(struct router_net), .params = meter_params,
	       .counters = meter_counters, .n_counters = NET_N_COUNTERS,
	       .ops = { .init = meter_init,
			.start = meter_start,
			.event = meter_event,
			.finish = meter_finish,
			.sample = meter_sample,
			.network = meter_network,
			.fini = meter_fini });
