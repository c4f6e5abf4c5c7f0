/* SPDX-License-Identifier: Apache-2.0 */
/* Class net.source: source and sink of traffic at an end of a network of
 * routers. It draws a packet and the cycle of its arrival when the previous
 * packet has left. Therefore its queue has no bound and needs no memory.
 *
 * A packet takes the first VC in turn that is free. The VC needs a place for
 * one flit or for all flits of the packet, depending on the flow control of the
 * router. One flit of the packet leaves in each cycle while there are credits.
 * The sink accepts flits at once (router_step.c), so only the last flit of a
 * packet is an event here. */
#include <errno.h>
#include <stdlib.h>

#include "base/need.h"
#include "base/rng.h"
#include "net/collective.h"
#include "systems/router/network/meter.h"
#include "systems/router/traffic/source_classes.h"

/* clang-format off */
static const struct weft_param source_params[] = {
	NET_SOURCE_PARAMS(struct router_source, "packets", "sink only"),
	CLASS_PARAMS(struct router_source),
	WEFT_PARAM(STR, struct router_source, digits, "", "", OWN,
		   "tornado, neighbour, row_column: sizes of the digits of a "
		   "node's number, the lowest first, e.g. 4,4; empty: the "
		   "dimensions of a grid with an end per router, else one digit"),
	WEFT_PARAM(ENUM, struct router_source, collective, "none",
		   COLLECTIVE_NAMES, OWN,
		   "operation of all ends, in packets of `flits`, instead"),
	WEFT_PARAM(STR, struct router_source, trace, "", "", OWN,
		   "file of packets to send instead, for all ends: lines of "
		   "CYCLE SOURCE DESTINATION BYTES [ID [ID,..]]"),
	WEFT_PARAM(U32, struct router_source, flit_bytes, "16", "1..4096", OWN,
		   "trace: bytes of a flit"),
	NET_SOURCE_PACKETS(struct router_source, "packets"),
	WEFT_PARAM(CLOCK, struct router_source, clock, "1GHz", "", OWN,
		   "the same for the whole network"),
	{ 0 }
};
/* clang-format on */

static const struct weft_counter source_counters[SOURCE_N_COUNTERS] = {
	[SOURCE_SENT] = { "sent", "packets", "packets sent" },
	[SOURCE_RECEIVED] = { "received", "packets", "packets received" },
	[SOURCE_BACKLOG] = { "backlog", "packets",
			     "waiting in the source at the end" },
};

static const struct weft_port_decl source_ports[] = {
	{ "p%u", WEFT_PORT_LINK, "2", &router_wire, true,
	  "to a router; p1: from the last stage of a network that is passed in "
	  "one direction" },
	{ 0 },
};

static const struct weft_network_parts source_parts = {
	.net = "net.meter",
	.switch_class = "net.router",
	.link = "net.channel",
	.traffic_class = "net.class",
};

/* ---- sink ---- */

static void packet_take(struct router_source *s, uint32_t i, uint64_t now)
{
	const struct packet *p = &s->s.packets->at[i];
	const struct router_net *net = s->s.net->state;

	if (p->route.dest != s->s.number)
		weft_check_failed(s->s.comp,
				  "a packet for end %u arrived at end %u",
				  p->route.dest, s->s.number);
	weft_count(s->s.comp, SOURCE_RECEIVED, 1);
	if (net->seen)
		net->seen(net->own, p, now);
	net_meter_received(s->s.net, &p->measured, now);
	if (p->kind == PACKET_TRACED)
		source_trace_done(s, (uint32_t)p->tag, now);
	else if (p->kind != PACKET_PLAIN)
		source_classes_take(s, p, now);
	packet_free(s->s.packets, i);
}

static void packets_take(struct router_source *s, uint64_t now)
{
	SET_EACH(s->s.flits, 1, p)
	{
		struct line *l = &s->s.line[p];

		while (!ring_empty(&l->in) &&
		       ring_front(&l->in)->cycle <= now) {
			uint32_t i = ring_front(&l->in)->packet;

			ring_pop(&l->in);
			packet_take(s, i, now);
		}
		if (ring_empty(&l->in))
			set_remove(s->s.flits, p);
	}
}

/* ---- source ---- */

static void source_step(struct station *station, uint64_t now)
{
	struct router_source *s = (struct router_source *)station;

	if (s->s.cuts[0])
		source_cut(s, now);
	if (s->classes) {
		source_classes_send(s, now);
		packets_take(s, now);
		return;
	}
	packets_take(s, now);
	if (!s->classes)
		source_send(s, now);
}

static void source_event(struct weft_comp *c, uint32_t tag)
{
}

static void source_arrive(struct weft_comp *c, uint32_t port,
			  struct weft_frame *f)
{
	if (f)
		weft_frame_free(f);
}

/* ---- questions of the meter ---- */

static uint32_t source_flits(const void *unused, uint32_t flits)
{
	return flits;
}

static struct net_backlog source_backlog_of(const struct weft_comp *c,
					    uint32_t cls, uint64_t from,
					    uint64_t cycle)
{
	struct router_source *s = c->state;

	if (net_meter_over(s->s.net->state))
		return (struct net_backlog){ 0, 0 };
	if (s->classes)
		return source_classes_backlog(s, cls, from, cycle);
	if (cls != NET_CLASSES_MAX || s->t.replay)
		return (struct net_backlog){ 0, 0 };
	if (!s->scouts)
		s->scouts = weft_comp_alloc(s->s.comp, 2 * sizeof(*s->scouts));
	return net_scout_backlog(s->scouts, &s->own, &c->rng,
				 (struct net_source_cost){ source_flits, s },
				 s->made, from, cycle);
}

static struct net_backlog source_backlog(const struct weft_comp *c,
					 uint64_t from, uint64_t cycle)
{
	return source_backlog_of(c, NET_CLASSES_MAX, from, cycle);
}

static bool source_starves(const struct weft_comp *c, uint64_t before)
{
	const struct router_source *s = c->state;
	bool waits = s->packet != ARBITER_NONE;

	for (uint32_t i = 0; s->classes && i < s->classes->n; i++)
		waits |= s->classes->at[i].packet != ARBITER_NONE;
	return waits && s->free < before && s->last_sent < before;
}

static const struct net_source_ops source_ops = {
	.backlog = source_backlog,
	.backlog_of = source_backlog_of,
	.starves = source_starves,
};

/* ---- set-up ---- */

static int source_init(struct weft_comp *c, struct weft_err *err)
{
	struct router_source *s = c->state;

	s->s.comp = c;
	s->s.end = true;
	s->s.clock = s->clock;
	s->s.step = source_step;
	s->last_vc = s->packet = ARBITER_NONE;
	if (s->node >= s->nodes)
		return weft_fail(err, EINVAL, "%s: node = %u of %u nodes",
				 c->name, s->node, s->nodes);
	s->s.line = need(calloc(c->n_ports, sizeof(*s->s.line)));
	return 0;
}

/* ops.part: takes a class of its packets. */
static int source_part(struct weft_comp *c, struct weft_comp *part,
		       struct weft_err *err)
{
	struct router_source *s = c->state;

	if (part->cls != &weft_class_net_class)
		return weft_fail(err, EINVAL,
				 "%s is not a net.class: leave out its 'type'",
				 part->name);
	if (s->n_parts == NET_CLASSES_MAX)
		return weft_fail(err, EINVAL, "a source has at most %u classes",
				 NET_CLASSES_MAX);
	s->part[s->n_parts++] = part;
	return 0;
}

static void queues_start(struct router_source *s)
{
	s->vc = need(calloc(s->router->vcs, sizeof(*s->vc)));
	for (uint32_t v = 0; v < s->router->vcs; v++)
		s->vc[v].credits = s->vc[v].places =
			(uint16_t)s->router->places;
}

/* Finds the size of each digit of node numbers. Reads the sizes from the
 * parameter `digits` and stores them in `size`. Without the parameter, the
 * digits are the coordinates of a grid. */
static int digits_find(const struct router_source *s, uint32_t *size,
		       struct pattern_shape *shape, struct weft_err *err)
{
	const struct net_graph *g = s->s.graph;
	const char *p = s->digits;
	uint64_t product = 1;

	if (!*p && g->shape.ends == 1 && g->type->grid) {
		shape->size = g->shape.size;
		shape->dims = g->shape.dims;
	}
	while (*p && shape->dims < NET_DIMS && product <= g->ends) {
		char *end;

		product *= size[shape->dims++] = (uint32_t)strtoul(p, &end, 10);
		if (end == p || (*end && *end != ','))
			break;
		p = *end ? end + 1 : end;
	}
	if (!s->digits[0])
		return 0;
	shape->size = size;
	if (*p || product != g->ends)
		return weft_fail(
			err, EINVAL,
			"%s: digits = %s: write sizes whose product is the number of ends, %u, e.g. 4,4",
			s->s.comp->name, s->digits, g->ends);
	return 0;
}

/* Starts a source with plain packets. */
static int packets_start(struct router_source *s, struct pattern_shape shape,
			 struct weft_err *err)
{
	uint32_t places =
		s->router->flow == ROUTER_WORMHOLE ? 0 : s->router->places;
	struct net_source_cost cost = { source_flits, s };
	struct weft_err sub = { 0 };

	s->range = (struct net_range){ 0, (uint8_t)s->router->vcs };
	if (class_sizes(&s->cls, &s->t, places, &sub) ||
	    router_net_range(s->s.net, s->range, (struct net_range){ 0 }, &sub))
		return weft_fail(err, EINVAL, "%s%s", s->s.comp->name, sub.msg);
	if (net_source_start(s->s.comp, &s->own, s->s.net->state, shape, cost,
			     err))
		return -EINVAL;
	if (traffic_due(&s->t) != ARRIVALS_NEVER)
		station_wake(&s->s, traffic_due(&s->t));
	return 0;
}

static int source_start(struct weft_comp *c, struct weft_err *err)
{
	struct router_source *s = c->state;
	struct pattern_shape shape = { 0 };
	uint32_t size[NET_DIMS];

	if (station_start(&s->s, err))
		return -EINVAL;
	if (s->node != s->s.number || s->nodes != s->s.graph->ends)
		return weft_fail(
			err, EINVAL,
			"%s: node = %u of %u nodes, its place in the network is %u of %u: leave out 'node' and 'nodes'",
			c->name, s->node, s->nodes, s->s.number,
			s->s.graph->ends);
	s->router = &s->s.line[0].far->face;
	s->s.packets = router_packets(s->s.net);
	if (digits_find(s, size, &shape, err))
		return -EINVAL;
	if (s->pattern == PATTERN_ADVERSARIAL && !s->group)
		shape.group = router_net_group(s->s.net);
	weft_rng_seed(&s->coins, weft_rng_u64(&c->rng), "routes");
	router_net_clock(s->s.net);
	queues_start(s);
	if (source_trace_alike(s, err))
		return -EINVAL;
	if (s->collective || s->trace[0]) {
		if (source_trace_start(s, err))
			return -EINVAL;
	} else if (s->n_parts || !class_plain(&s->cls)) {
		if (source_classes_start(s, shape, err))
			return -EINVAL;
		station_wake(&s->s, 0);
	} else if (packets_start(s, shape, err)) {
		return -EINVAL;
	}
	return net_meter_join(s->s.net, s->s.number, s->s.graph->ends,
			      (struct net_end){ c, &source_ops }, &s->clock,
			      s->classes ? source_classes_total(s)
					 : traffic_total(&s->t),
			      err);
}

static int source_sample(struct weft_comp *c, struct weft_err *err)
{
	const struct router_source *s = c->state;

	c->counters[SOURCE_BACKLOG] =
		source_backlog(c, 0, station_now(&s->s)).packets +
		(s->packet != ARBITER_NONE);
	for (uint32_t i = 0; s->classes && i < s->classes->n; i++)
		c->counters[SOURCE_BACKLOG] +=
			s->classes->at[i].packet != ARBITER_NONE;
	return 0;
}

static void source_fini(struct weft_comp *c)
{
	struct router_source *s = c->state;

	traffic_source_fini(&s->t);
	source_classes_fini(s);
	station_fini(&s->s);
	free(s->vc);
}

WEFT_COMPONENT(net_source, .name = "net.source", .kind = WEFT_KIND_TRAFFIC,
	       .doc = "traffic source and sink in a network of routers",
	       .source = "own", .not_modelled = "payload",
	       .state_size = sizeof(struct router_source),
	       .params = source_params, .counters = source_counters,
	       .n_counters = SOURCE_N_COUNTERS, .ports = source_ports,
	       .ops = { .init = source_init,
			.start = source_start,
			.arrive = source_arrive,
			.event = source_event,
			.finish = source_sample,
			.sample = source_sample,
			.place = station_place,
			.part = source_part,
			.fini = source_fini },
	       .network_parts = &source_parts);
