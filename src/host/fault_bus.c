/* SPDX-License-Identifier: Apache-2.0 */
/* Class fault.bus: a bus that delays or damages accesses of one device, or of
 * the host, for some time.
 *
 *   device or host ---- dev [fault.bus] bus ---- slot of the bus
 *
 * Parameters:
 *	hold		on the port of a device, delays its requests until the
 *			outage ends, so that the network sees a receiver that
 *			stops accepting packets; on the port of the host,
 *			delays its loads or stores
 *	split		bus clocks added before the first datum that follows a
 *			split response
 *	completion	bus clocks added before each further completion
 *	factor		multiplies all times of the bridge
 *	error		on the port of a device, fails accesses of the device,
 *			or accesses to it (fault_bus_err.c)
 *
 * All other accesses pass without delay. With hold = none, no clocks and factor
 * 1 the run therefore equals a run without the fault. A transaction that is on
 * the bus when an outage starts continues. */
#include <errno.h>
#include <string.h>

#include "host/fault_bus.h"

static const struct weft_counter fb_counters[FB_C_N] = {
	[FB_C_HELD] = { "held", "requests", "requests held back" },
	[FB_C_TIME] = { "held_ns", "ns", "time with a request held back" },
	[FB_C_SLOWED] = { "slowed", "requests", "served by a slow bridge" },
	[FB_C_ERRORS] = { "errors", "accesses", "made to go wrong" },
	[FB_C_PERR] = { "perr", "times", "the device asserted PERR#" },
	[FB_C_SERR] = { "serr", "times", "the device asserted SERR#" },
};

/* clang-format off */
static const struct weft_param fb_params[] = {
	OUTAGE_PARAMS,
	WEFT_PARAM(ENUM, struct fault_bus, hold, "none",
		   "none|writes|reads|all", OWN,
		   "requests of the device, or accesses of the host, that are "
		   "not heard meanwhile"),
	WEFT_PARAM(U32, struct fault_bus, split, "0", "0..1000000", OWN,
		   "bus clocks more from a split response to its first datum"),
	WEFT_PARAM(U32, struct fault_bus, completion, "0", "0..1000000", OWN,
		   "bus clocks more before each further completion"),
	WEFT_PARAM(REAL, struct fault_bus, factor, "1", "1..1000", OWN,
		   "the bridge takes that many times as long: split latency, "
		   "gaps, recovery after a disconnect"),
	WEFT_PARAM(ENUM, struct fault_bus, error, "none",
		   "none|address|data|master_abort|target_abort|message|repeat|"
		   "discard", OWN,
		   "PCI-X: what goes wrong: parity of the address or of the "
		   "data, an abort, split completion error message, a "
		   "completion that comes twice, one that is not taken"),
	WEFT_PARAM(ENUM, struct fault_bus, access, "reads",
		   "reads|writes|loads|stores", OWN,
		   "error: of the device's reads or writes, of the host's "
		   "loads or stores"),
	WEFT_PARAM(REAL, struct fault_bus, rate, "0", "0..1", OWN,
		   "error: probability that an access is hit"),
	WEFT_PARAM(U64, struct fault_bus, number, "0", "", OWN,
		   "error: hit the access with this number (from 1, counting "
		   "while the outage lasts); 0 = none"),
	WEFT_PARAM(U64, struct fault_bus, count, "1", "1..", OWN,
		   "error: how many accesses from that one on"),
	{ 0 }
};

static const struct weft_port_decl fb_ports[] = {
	[FB_DEV] = { "dev", WEFT_PORT_BUS, .doc = "the device, or the host" },
	[FB_BUS] = { "bus", WEFT_PORT_BUS, .doc = "the bus" },
	{ 0 }
};
/* clang-format on */

/* ---- requests ---- */

const struct outage_span *fb_now(struct weft_comp *c)
{
	struct fault_bus *b = c->state;
	const struct outage_span *s =
		outage_after(&b->when, &b->at, weft_now(c));

	return s && s->from <= weft_now(c) ? s : NULL;
}

bool fb_holds(struct weft_comp *c, bool write, weft_time_t *until_p)
{
	const struct fault_bus *b = c->state;
	const struct outage_span *s = fb_now(c);

	if (!s || (b->hold != FB_HOLD_ALL &&
		   b->hold != (write ? FB_HOLD_WRITES : FB_HOLD_READS)))
		return false;
	*until_p = s->to;
	return true;
}

void fb_wait(struct weft_comp *c, weft_time_t until)
{
	struct fault_bus *b = c->state;

	if (b->waits)
		return;
	b->waits = true;
	b->since = weft_now(c);
	if (until != WEFT_NEVER)
		weft_wake(c, FB_EV_OVER, until);
}

static void fb_submit(struct weft_port *dev_port, struct weft_bus_txn *t)
{
	struct weft_comp *c = dev_port->peer->comp;
	weft_time_t until;
	struct fault_bus *b = c->state;
	struct weft_bus_txn **p;
	bool now = fb_now(c), read = now && t->op == WEFT_BUS_READ;

	t->slow_split = read ? b->split : 0;
	t->slow_next = read ? b->completion : 0;
	t->slow_factor = now ? b->factor : 1;
	if (t->slow_split || t->slow_next || t->slow_factor > 1)
		weft_count(c, FB_C_SLOWED, 1);
	t->error = fb_err_hit(c, t->op == WEFT_BUS_READ ? FB_READS : FB_WRITES);
	if (!fb_holds(c, t->op == WEFT_BUS_WRITE, &until)) {
		weft_bus_of(fb_port(dev_port))->submit(fb_port(dev_port), t);
		return;
	}
	p = &b->held;
	while (*p)
		p = (struct weft_bus_txn **)&(*p)->link_;
	t->link_ = NULL;
	*p = t;
	weft_count(c, FB_C_HELD, 1);
	fb_wait(c, until);
}

static void fb_event(struct weft_comp *c, uint32_t tag)
{
	if (tag == FB_EV_OVER) {
		struct fault_bus *b = c->state;
		struct weft_port *bus = &c->ports[FB_BUS];

		b->waits = false;
		b->waited += weft_now(c) - b->since;
		while (b->held) {
			struct weft_bus_txn *t = b->held;

			b->held = t->link_;
			t->link_ = NULL;
			weft_bus_of(bus)->submit(bus, t);
		}
	}
	fb_pio_go(c);
}

/* ---- passed on ---- */

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

static bool fb_many(struct weft_port *dev_port)
{
	return weft_bus_many(fb_port(dev_port));
}

static const struct weft_bus_ops fb_bus_ops = { .submit = fb_submit,
						.reply = fb_reply,
						.irq = fb_irq,
						.signal = fb_signal,
						.pio_store = fb_pio_store,
						.pio_load = fb_pio_load,
						.present = fb_pio_present,
						.clock = fb_clock,
						.window = fb_window,
						.consumed = fb_consumed,
						.defer = fb_defer,
						.many = fb_many };

/* Forwards a note of the bus with the error that the fault injects, if any. A
 * store that has left makes room in the bridge, so that held accesses can
 * continue. */
static void fb_note(struct weft_comp *c, uint32_t port,
		    const struct weft_bus_note *note)
{
	const struct fault_bus *b = c->state;
	struct weft_bus_note own = *note;

	if (b->error && note->kind == WEFT_NOTE_STORE) {
		own.wrong = fb_err_hit(c, FB_STORES);
		if (own.wrong == WEFT_BUS_E_DATA)
			own.data[0] ^= 1;
	} else if (b->error && note->kind == WEFT_NOTE_LOAD) {
		own.wrong = fb_err_hit(c, FB_LOADS);
	}
	weft_bus_tell(&c->ports[FB_DEV], &own);
	if (note->kind == WEFT_NOTE_STORED && b->n_pio)
		weft_wake(c, FB_EV_ROOM, note->time);
}

/* ---- lifetime ---- */

static int fb_init(struct weft_comp *c, struct weft_err *err)
{
	c->ports[FB_DEV].iface = &fb_bus_ops;
	return outage_init(c, err);
}

static int fb_start(struct weft_comp *c, struct weft_err *err)
{
	const struct fault_bus *b = c->state;

	if (fb_err_start(c, err))
		return -EINVAL;
	if (strcmp(c->ports[FB_BUS].peer->name, "host"))
		return 0;
	if (b->split || b->completion || b->factor > 1)
		return weft_fail(
			err, EINVAL,
			"%s: the bridge is slow for a device: put split, completion and factor on its port, not on that of the host",
			c->name);
	c->ports[FB_BUS].iface = &fb_host_ops;
	return 0;
}

static int fb_finish(struct weft_comp *c, struct weft_err *err)
{
	const struct fault_bus *b = c->state;
	weft_time_t t = b->waited;

	if (b->waits)
		t += weft_now(c) - b->since;
	c->counters[FB_C_TIME] = t / WEFT_NS;
	return 0;
}

WEFT_COMPONENT(fault_bus, .name = "fault.bus", .kind = WEFT_KIND_FAULT,
	       .doc = "a bus that holds, slows or spoils a device's requests",
	       .source = "own", .state_size = sizeof(struct fault_bus),
	       .params = fb_params, .counters = fb_counters,
	       .n_counters = FB_C_N, .ports = fb_ports,
	       .ops = { .init = fb_init,
			.start = fb_start,
			.event = fb_event,
			.note = fb_note,
			.sample = fb_finish,
			.finish = fb_finish,
			.fini = outage_fini });
