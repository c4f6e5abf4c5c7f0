/* SPDX-License-Identifier: Apache-2.0 */
/* Class toy.switch: stores and forwards packets. Each input has a queue in
 * order of arrival, and the inputs take turns.  np0 leads to the node, lp0 to
 * lp3 are cables of a grid or torus.  Routes are those of the topology,
 * dimension by dimension.
 *
 * Bubble flow control: a packet enters a ring when two slots are free behind
 * the cable, and moves on in the ring when one slot is free.  A ring always has
 * a free slot, so that packets never wait for each other in a circle, although
 * there are no virtual channels.
 *
 * Not modelled: routes given by the sender. */
#include <errno.h>

#include "net/topology.h"
#include "systems/toy/link/wire.h"
#include "weft/trace.h"

enum { PORTS = 5, NODE = 0 };
enum { C_UNROUTABLE = TOY_C_OWN, C_BLOCKED, C_N };

struct toy_switch {
	/* parameters */
	struct weft_clock clock;
	uint32_t slots, latency;
	/* run */
	struct toy_line line[PORTS];
	const struct topology *topo;
	struct topo_here here;
	struct weft_timer timer;
	uint32_t turn; /* number of the input that the next step serves first */
};

static const struct weft_param switch_params[] = {
	WEFT_PARAM(CLOCK, struct toy_switch, clock, "25MHz", "", OWN,
		   "a symbol of each line per cycle"),
	WEFT_PARAM(U32, struct toy_switch, slots, "4", "2..64", OWN,
		   "packets of a queue; a ring needs 2"),
	WEFT_PARAM(U32, struct toy_switch, latency, "5", "1..1000", OWN,
		   "cycles from the last symbol in to the first one out"),
	{ 0 }
};

static const struct weft_counter switch_counters[C_N] = {
	TOY_LINE_COUNTERS,
	[C_UNROUTABLE] = { "unroutable", "packets", "packets for no node" },
	[C_BLOCKED] = { "blocked", "times",
			"a packet stood ready without a credit" },
};

static const struct weft_port_decl switch_ports[] = {
	{ "np%u", WEFT_PORT_LINK, "1", &toy_wire, false, "to the node" },
	{ "lp%u", WEFT_PORT_LINK, "4", &toy_wire, true, "cables" },
	{ 0 }
};

/* ---- forwarding ---- */

/* Requests a step at the first edge at or after t. */
static void step_at(struct weft_comp *c, weft_time_t t)
{
	struct toy_switch *s = c->state;

	weft_timer_arm(c, &s->timer, 0, weft_clock_align(&s->clock, t));
}

static uint32_t route(const struct toy_switch *s, uint32_t dest)
{
	if (dest >= s->topo->nodes)
		return TOPO_NO_PORT;
	return dest == s->here.node ? NODE
				    : topo_here_port(&s->here, s->topo, dest);
}

/* Returns the number of slots that must be free behind the output: two if the
 * packet enters a ring, otherwise one. */
static uint32_t need(const struct toy_switch *s, uint32_t in, uint32_t out)
{
	bool turns = topo_dim(s->topo, in) != topo_dim(s->topo, out);

	return out != NODE && turns ? 2 : 1;
}

static void drop(struct weft_comp *c, struct toy_line *in)
{
	struct weft_frame *f = toy_line_take(in);

	weft_count(c, C_UNROUTABLE, 1);
	weft_msg_end(c, f->trace_id, false);
	weft_frame_free(f);
}

/* Forwards the oldest packet of an input if possible. Otherwise requests a step
 * for the time at which packet and output are ready. A packet without a credit
 * is tried again when a credit arrives. */
static void forward(struct weft_comp *c, uint32_t i)
{
	struct toy_switch *s = c->state;
	struct toy_line *in = &s->line[i], *out;
	struct weft_frame *f = toy_line_head(in);
	weft_time_t now = weft_now(c), ready;
	uint32_t to;

	if (!f)
		return;
	ready = weft_clock_after(&s->clock, toy_end(f), s->latency);
	to = route(s, toy_fields(f)->dest);
	out = to == TOPO_NO_PORT ? NULL : &s->line[to];
	if (ready < now)
		ready = now;
	if (out && out->idle > ready)
		ready = out->idle;
	if (ready > now) {
		step_at(c, ready);
		return;
	}
	if (out && toy_line_room(out) < need(s, i, to)) {
		weft_count(c, C_BLOCKED, 1);
		return;
	}
	if (out)
		toy_line_send(out, toy_line_take(in));
	else
		drop(c, in);
	step_at(c, now + 1);
}

static void switch_event(struct weft_comp *c, uint32_t tag)
{
	struct toy_switch *s = c->state;

	if (!weft_timer_due(c, &s->timer))
		return;
	for (uint32_t i = 0; i < PORTS; i++)
		if (!toy_line_credit(&s->line[i]))
			step_at(c, s->line[i].idle);
	for (uint32_t i = 0; i < PORTS; i++)
		forward(c, (s->turn + i) % PORTS);
	s->turn = (s->turn + 1) % PORTS;
}

static void switch_arrive(struct weft_comp *c, uint32_t port,
			  struct weft_frame *f)
{
	struct toy_switch *s = c->state;

	toy_line_arrive(&s->line[port], f);
	step_at(c, weft_now(c));
}

/* ---- start and end ---- */

static int switch_init(struct weft_comp *c, struct weft_err *err)
{
	struct toy_switch *s = c->state;

	for (uint32_t i = 0; i < PORTS; i++) {
		s->line[i].clk = &s->clock;
		s->line[i].stage = "receives the packet";
		toy_line_init(&s->line[i], c, i, s->slots);
	}
	return 0;
}

static int switch_place(struct weft_comp *c, const struct weft_place *at,
			struct weft_err *err)
{
	struct toy_switch *s = c->state;

	if (at->topo->path || at->topo->nodes > TOY_NODES)
		return weft_fail(
			err, EINVAL,
			"%s: packets carry one of %u nodes: use routing: table",
			c->name, TOY_NODES);
	s->topo = at->topo;
	topo_here_init(&s->here, at->topo, at->node);
	return 0;
}

static int switch_start(struct weft_comp *c, struct weft_err *err)
{
	struct toy_switch *s = c->state;

	if (!s->topo)
		return weft_fail(err, EINVAL,
				 "%s stands in no direct network: use torus",
				 c->name);
	for (uint32_t i = 0; i < PORTS; i++)
		toy_line_start(&s->line[i]);
	return 0;
}

static void switch_fini(struct weft_comp *c)
{
	struct toy_switch *s = c->state;

	for (uint32_t i = 0; i < PORTS; i++)
		toy_line_fini(&s->line[i]);
}

WEFT_COMPONENT(toy_switch, .name = "toy.switch", .kind = WEFT_KIND_SWITCH,
	       .doc = "switch of a toy torus: store and forward, credits",
	       .source = "tests/sixth", .not_modelled = "routes of the sender",
	       .state_size = sizeof(struct toy_switch), .params = switch_params,
	       .counters = switch_counters, .n_counters = C_N,
	       .ports = switch_ports,
	       .ops = { .init = switch_init,
			.place = switch_place,
			.start = switch_start,
			.arrive = switch_arrive,
			.event = switch_event,
			.fini = switch_fini });
