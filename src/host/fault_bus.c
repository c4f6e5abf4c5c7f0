/* SPDX-License-Identifier: Apache-2.0 */
/* Class fault.bus: a bus that treats one device badly for some time.
 *
 *   device ---- dev [fault.bus] bus ---- slot of the bus
 *
 * hold   requests of the device are not heard until the outage is over: a
 *        receiver that stops accepting, seen from the network
 * split, completion   clocks by which the bridge is slower: from the split
 *        response to the first datum, before each further completion
 *
 * Everything else passes through in no time: with hold = none and no clocks
 * the run is the same as without.  What was on the bus when an outage begins
 * goes on; host accesses are not held. */
#include <errno.h>
#include <string.h>

#include "sim/outage.h"
#include "weft/bus.h"

enum { HOLD_NONE, HOLD_WRITES, HOLD_READS, HOLD_ALL };
enum { P_DEV, P_BUS };

struct fault_bus {
	struct outage when; /* first: see OUTAGE_PARAMS */
	uint32_t hold, split, completion;
	uint32_t at;		   /* span of now or next */
	struct weft_bus_txn *held; /* oldest first */
	weft_time_t since;	   /* time up to which C_TIME is right */
};

enum { C_HELD, C_TIME, C_SLOWED, C_N };
static const struct weft_counter fb_counters[C_N] = {
	[C_HELD] = { "held", "requests", "requests held back" },
	[C_TIME] = { "held_ns", "ns", "time with a request held back" },
	[C_SLOWED] = { "slowed", "requests", "reads answered late" },
};

/* clang-format off */
static const struct weft_param fb_params[] = {
	OUTAGE_PARAMS,
	WEFT_PARAM(ENUM, struct fault_bus, hold, "none",
		   "none|writes|reads|all", OWN,
		   "requests of the device that are not heard meanwhile"),
	WEFT_PARAM(U32, struct fault_bus, split, "0", "0..1000000", OWN,
		   "bus clocks more from a split response to its first datum"),
	WEFT_PARAM(U32, struct fault_bus, completion, "0", "0..1000000", OWN,
		   "bus clocks more before each further completion"),
	{ 0 }
};

static const struct weft_port_decl fb_ports[] = {
	[P_DEV] = { "dev", WEFT_PORT_BUS, .doc = "the device" },
	[P_BUS] = { "bus", WEFT_PORT_BUS, .doc = "the bus" },
	{ 0 }
};
/* clang-format on */

static struct weft_port *fb_port(struct weft_port *dev_port)
{
	return &dev_port->peer->comp->ports[P_BUS];
}

/* ---- requests ------------------------------------------------------------ */

static bool fb_holds(const struct fault_bus *b, const struct weft_bus_txn *t)
{
	if (t->op == WEFT_BUS_WRITE)
		return b->hold == HOLD_WRITES || b->hold == HOLD_ALL;
	return b->hold == HOLD_READS || b->hold == HOLD_ALL;
}

static void fb_keep(struct weft_comp *c, struct weft_bus_txn *t,
		    weft_time_t until)
{
	struct fault_bus *b = c->state;
	struct weft_bus_txn **p = &b->held;

	while (*p)
		p = (struct weft_bus_txn **)&(*p)->link_;
	t->link_ = NULL;
	*p = t;
	weft_count(c, C_HELD, 1);
	if (b->held != t)
		return;
	b->since = weft_now(c);
	if (until != WEFT_NEVER)
		weft_wake(c, 0, until);
}

static void fb_submit(struct weft_port *dev_port, struct weft_bus_txn *t)
{
	struct weft_comp *c = dev_port->peer->comp;
	struct fault_bus *b = c->state;
	const struct outage_span *s =
		outage_after(&b->when, &b->at, weft_now(c));
	bool now = s && s->from <= weft_now(c);
	bool slow = now && t->op == WEFT_BUS_READ;

	t->slow_split = slow ? b->split : 0;
	t->slow_next = slow ? b->completion : 0;
	if (t->slow_split || t->slow_next)
		weft_count(c, C_SLOWED, 1);
	if (now && fb_holds(b, t))
		fb_keep(c, t, s->to);
	else
		weft_bus_of(fb_port(dev_port))->submit(fb_port(dev_port), t);
}

/* The outage is over. */
static void fb_event(struct weft_comp *c, uint32_t tag)
{
	struct fault_bus *b = c->state;
	struct weft_port *bus = &c->ports[P_BUS];

	(void)tag;
	weft_count(c, C_TIME, (weft_now(c) - b->since) / WEFT_NS);
	while (b->held) {
		struct weft_bus_txn *t = b->held;

		b->held = t->link_;
		t->link_ = NULL;
		weft_bus_of(bus)->submit(bus, t);
	}
}

/* ---- what passes --------------------------------------------------------- */

static void fb_reply(struct weft_port *dev_port, const void *data,
		     uint32_t bytes)
{
	weft_bus_of(fb_port(dev_port))->reply(fb_port(dev_port), data, bytes);
}

static void fb_irq(struct weft_port *dev_port, bool asserted)
{
	weft_bus_of(fb_port(dev_port))->irq(fb_port(dev_port), asserted);
}

static const struct weft_clock *fb_clock(struct weft_port *dev_port)
{
	return weft_bus_of(fb_port(dev_port))->clock(fb_port(dev_port));
}

static bool fb_window(struct weft_port *dev_port, uint32_t stores)
{
	return weft_bus_window(fb_port(dev_port), stores);
}

static bool fb_consumed(struct weft_port *dev_port, uint32_t stores)
{
	return weft_bus_consumed(fb_port(dev_port), stores);
}

static bool fb_defer(struct weft_port *dev_port)
{
	return weft_bus_defer(fb_port(dev_port));
}

static const struct weft_bus_ops fb_bus_ops = { .submit = fb_submit,
						.reply = fb_reply,
						.irq = fb_irq,
						.clock = fb_clock,
						.window = fb_window,
						.consumed = fb_consumed,
						.defer = fb_defer };

static void fb_note(struct weft_comp *c, uint32_t port,
		    const struct weft_bus_note *note)
{
	(void)port;
	weft_bus_tell(&c->ports[P_DEV], note);
}

/* ---- life ---------------------------------------------------------------- */

static int fb_init(struct weft_comp *c, struct weft_err *err)
{
	struct fault_bus *b = c->state;

	c->ports[P_DEV].iface = &fb_bus_ops;
	return outage_init(&b->when, c, err);
}

static int fb_start(struct weft_comp *c, struct weft_err *err)
{
	if (!strcmp(c->ports[P_BUS].peer->name, "host"))
		return weft_fail(err, EINVAL,
				 "%s: a fault.bus sits on the bus port of a "
				 "device, not on that of the host",
				 c->name);
	return 0;
}

static int fb_finish(struct weft_comp *c, struct weft_err *err)
{
	struct fault_bus *b = c->state;

	(void)err;
	if (b->held) {
		weft_count(c, C_TIME, (weft_now(c) - b->since) / WEFT_NS);
		b->since = weft_now(c);
	}
	return 0;
}

static void fb_fini(struct weft_comp *c)
{
	outage_fini(&((struct fault_bus *)c->state)->when);
}

WEFT_COMPONENT(fault_bus, .name = "fault.bus", .kind = WEFT_KIND_FAULT,
	       .doc = "a bus that holds or slows a device's requests",
	       .source = "own", .state_size = sizeof(struct fault_bus),
	       .params = fb_params, .counters = fb_counters, .n_counters = C_N,
	       .ports = fb_ports,
	       .ops = { .init = fb_init,
			.start = fb_start,
			.event = fb_event,
			.note = fb_note,
			.sample = fb_finish,
			.finish = fb_finish,
			.fini = fb_fini });
