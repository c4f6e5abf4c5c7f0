/* SPDX-License-Identifier: Apache-2.0 */
/* PCI and PCI-X: the arbiter, and other parts that both classes share.
 * Arbitration is round robin over {host accesses, completions, each device's
 * writes, each device's read requests}, evaluated at the first edge at which
 * the bus is free and a master requests it. */
#include "base/minmax.h"
#include "host/pcibus.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

static_assert(offsetof(struct pcibus, p) == 0, "rows have offsets in params");

const struct weft_port_decl pcibus_ports[] = {
	{ "host", WEFT_PORT_BUS, NULL,
	  .doc = "the node's memory and processor" },
	{ "dev%u", WEFT_PORT_BUS, "devices", .optional = true, .doc = "slots" },
	{ 0 }
};

/* ---- arbiter ---- */

uint64_t pcibus_ready(const struct pcibus *b, uint32_t m)
{
	const struct pcibus_dev *d;

	if (m == PCIBUS_M_PIO)
		return b->n_pio ? b->pio[b->pio_head].ready : PCIBUS_NEVER;
	if (m == PCIBUS_M_COMPLETION)
		return b->n_split ? b->split[b->split_head].ready
				  : PCIBUS_NEVER;
	d = &b->dev[(m - PCIBUS_M_DEVICES) / 2];
	return (m - PCIBUS_M_DEVICES) % 2 ? d->rd_ready : d->wr_ready;
}

WEFT_COLD static void occupied(const struct pcibus *b, uint64_t d, uint64_t len)
{
	bool odd = (b->last - PCIBUS_M_DEVICES) % 2;
	const char *doing = odd ? "read" : "write";

	/* The span is named after the access of the last granted master. */
	if (b->last == PCIBUS_M_PIO)
		doing = b->pio[b->pio_head].op == PCIBUS_STORE ? "store"
							       : "load";
	else if (b->last == PCIBUS_M_COMPLETION)
		doing = "read data";
	weft_span(b->comp, "bus", WEFT_TRACE_ONE, doing, len, pcibus_time(b, d),
		  pcibus_time(b, d + len));
}

void pcibus_occupy(struct pcibus *b, uint64_t d, uint64_t len)
{
	assert(d >= b->free_at);
	b->held = len + (d > b->free_at ? 0 : b->held);
	b->free_at = d + len;
	weft_count(b->comp, PCIBUS_C_BUSY, len);
	if (weft_heard(b->comp))
		occupied(b, d, len);
}

void pcibus_kick(struct pcibus *b)
{
	uint64_t first = pcibus_ready(b, PCIBUS_M_PIO), ready;

	if (b->tenure.left || b->load.open)
		return; /* the end of this tenure is not known yet */
	ready = pcibus_ready(b, PCIBUS_M_COMPLETION);
	first = min_of(first, ready);
	for (const struct pcibus_dev *d = b->dev; d < b->dev + b->p.devices;
	     d++) {
		ready = min_of(d->rd_ready, d->wr_ready);
		first = min_of(first, ready);
	}
	if (first == PCIBUS_NEVER)
		return;
	if (first < b->free_at)
		first = b->free_at;
	weft_timer_arm(b->comp, &b->decide, PCIBUS_EV_DECIDE,
		       pcibus_time(b, first) + 1);
}

static void pcibus_decide(struct pcibus *b)
{
	uint32_t n = PCIBUS_M_DEVICES + 2 * b->p.devices, m = b->last;
	uint64_t d;
	uint32_t dev;

	if (!weft_timer_due(b->comp, &b->decide))
		return;
	d = pcibus_edge_past(b);
	for (uint32_t i = 0; d >= b->free_at && i < n; i++) {
		m = m + 1 < n ? m + 1 : 0;
		if (pcibus_ready(b, m) > d)
			continue;
		dev = (m - PCIBUS_M_DEVICES) / 2;
		b->last = m;
		if (m == PCIBUS_M_PIO)
			pcibus_pio_grant(b, d);
		else if (m == PCIBUS_M_COMPLETION)
			b->kind->completion_grant(b, d);
		else if ((m - PCIBUS_M_DEVICES) % 2)
			b->kind->read_grant(b, dev, d);
		else
			pcibus_write_grant(b, dev, d);
		break;
	}
	pcibus_kick(b);
}

void pcibus_event(struct weft_comp *c, uint32_t tag)
{
	static void (*const handler[PCIBUS_EV_N])(struct pcibus *) = {
		[PCIBUS_EV_DECIDE] = pcibus_decide,
		[PCIBUS_EV_LOADED] = pcibus_loaded,
		[PCIBUS_EV_BLOCK] = pcibus_block,
	};

	handler[tag](c->state);
}

/* ---- interface and lifetime ---- */

void pcibus_irq(struct weft_port *dev_port, bool asserted)
{
	struct pcibus *b = dev_port->peer->comp->state;
	struct weft_bus_note note = {
		.kind = WEFT_NOTE_IRQ,
		.time = pcibus_time(b, pcibus_edge_next(b) + b->p.t_irq),
		.dev = dev_port->peer->index - 1,
		.level = asserted,
	};

	weft_bus_tell(b->host, &note);
}

const struct weft_clock *pcibus_clock(struct weft_port *port)
{
	struct pcibus *b = port->peer->comp->state;

	return &b->p.clock;
}

int pcibus_init(struct weft_comp *c, const struct pcibus_kind *kind,
		const struct weft_bus_ops *ops, struct weft_err *err)
{
	struct pcibus *b = c->state;

	b->comp = c;
	b->kind = kind;
	b->host = &c->ports[0];
	b->last = PCIBUS_M_DEVICES + 2 * b->p.devices - 1;
	b->dev = calloc(b->p.devices, sizeof(*b->dev));
	b->split = calloc(b->p.devices, sizeof(*b->split));
	b->pio = calloc(b->p.pio_depth + 1, sizeof(*b->pio));
	if (!b->dev || !b->split || !b->pio)
		return weft_fail(err, ENOMEM, "%s: out of memory", c->name);
	for (uint32_t i = 0; i < b->p.devices; i++)
		b->dev[i] = (struct pcibus_dev){ .port = &c->ports[1 + i],
						 .rd_ready = PCIBUS_NEVER,
						 .wr_ready = PCIBUS_NEVER };
	for (uint32_t i = 0; i < c->n_ports; i++)
		c->ports[i].iface = ops;
	return 0;
}

uint64_t pcibus_ahead(const struct weft_comp *c, uint32_t k)
{
	const struct pcibus *b = c->state;
	const struct pcibus_burst *u = &b->burst;
	weft_time_t now = weft_now(c);

	if (k == PCIBUS_C_BUSY) {
		uint64_t cycle = weft_clock_cycle(&b->p.clock, now);
		uint64_t left = b->free_at > cycle ? b->free_at - cycle : 0;

		return left < b->held ? left : b->held;
	}
	if (k != u->counter || now >= u->end)
		return 0;
	if (now <= u->start)
		return u->bytes;
	return (uint64_t)((double)u->bytes * (double)(u->end - now) /
			  (double)(u->end - u->start));
}

int pcibus_finish(struct weft_comp *c, struct weft_err *err)
{
	struct pcibus *b = c->state;

	if (!weft_sim_idle(c->sim))
		return 0; /* stopped early: tenures may be on the bus */
	for (uint32_t i = 0; i < b->p.devices; i++)
		if (b->dev[i].rd || b->dev[i].wr)
			return weft_fail(
				err, EPROTO,
				"%s: a transaction of dev%u never ended",
				c->name, i);
	return 0;
}

void pcibus_fini(struct weft_comp *c)
{
	struct pcibus *b = c->state;

	free(b->dev);
	free(b->split);
	free(b->pio);
}
