/* SPDX-License-Identifier: Apache-2.0 */
/* PCI-X bus, exact to the clock at transaction level.
 *
 *   host ---- bridge (posted writes, split completions) --+-- dev0
 *                                                         +-- dev1 ...
 *
 * Source: FORTH specification 2.1, 3.7 and 11.1 to 11.5, 11.10.  The bus is a
 * serial resource; a tenure occupies it from the arbitration to its last datum:
 *
 *   device write     T_ARB + T_PH + q, again after a disconnect every WR_CHUNK
 *   read request     T_ARB + T_PH, ends in a split response
 *   completion       T_GAP + T_PH + q, SC_CHUNK bytes each; first datum no
 *                    earlier than T_SPLIT after the split response
 *   host store       T_PIO1 for one dword, T_PIOB + dwords for a burst
 *   host load        T_ARB + T_PH + T_READ + dwords
 *
 * Memory is read when the address phase of a completion begins, and written
 * when the last datum of a burst has moved.
 *
 * Arbitration is round robin over {host accesses, completions, each device's
 * writes, each device's read requests}, evaluated at the first edge at which
 * the bus is free and somebody asks.
 *
 * Own choices: a device tenure whose latency timer has run out while another
 * master waits ends behind the 128-byte block that starts next (the block a
 * tenure starts with is never the one to be cut); after that the device asks
 * again as after a disconnect.  A read cut by max_request asks again when the
 * last datum of a sequence has moved.  Nobody decodes: T_ABORT more clocks.
 * Addresses above 4 GB: T_DAC more clocks.  The bridge answers splits in the
 * order of their requests, one sequence after the other.
 *
 * Not modelled: parity errors, target retries, wait states of the initiator,
 * fast back-to-back, ordering of completions behind posted host stores. */
#include "host/pcix.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* clang-format off */
#define P(type, field, def, range, source, doc) \
	WEFT_PARAM(type, struct pcix, field, def, range, source, doc)
static const struct weft_param pcix_params[] = {
	P(CLOCK, clock,     "100MHz", "",      STATED,        "bus clock F_PCI (P 1, T 2.1)"),
	P(U32,   width,     "8",      "4|8",   STATED,        "bytes per clock of device transfers W_PCI (P 1)"),
	P(U32,   devices,   "1",      "1..32", OWN,           "devices on the bus"),
	P(U32,   t_arb,     "6",      "1..",   CALIBRATED,    "T_ARB: request to start, device-initiated, clocks (R-26)"),
	P(U32,   t_ph,      "4",      "1..",   STATED,        "T_PH: protocol phases of a transaction, clocks (P 5.2)"),
	P(U32,   t_gap,     "6",      "1..",   STATED,        "T_GAP: before each completion transaction, clocks (P 5.2)"),
	P(U32,   t_split,   "50",     "2..",   STATED,        "T_SPLIT: split response to first datum, clocks (P 5.2)"),
	P(BYTES, sc_chunk,  "1536",   "8..",   CALIBRATED,    "SC_CHUNK: bytes per completion transaction (P 5.2: 3 per 4 KB)"),
	P(BYTES, wr_chunk,  "1536",   "8..",   CALIBRATED,    "WR_CHUNK: bytes until the bridge disconnects a write (11.3)"),
	P(U32,   t_disc,    "20",     "1..",   CALIBRATED,    "T_DISC: disconnect to next address phase, clocks (11.3)"),
	P(U32,   t_pio1,    "10",     "2..",   STATED,        "T_PIO1: single-word host store, clocks (P 5.2)"),
	P(U32,   t_piob,    "8",      "1..",   STATED,        "T_PIOB: host burst store less one clock per dword (P 5.2)"),
	P(U32,   t_read,    "6",      "1..",   OWN,           "target latency of a host load, clocks"),
	P(U32,   t_abort,   "4",      "1..",   OWN,           "clocks until a master aborts when nobody answers"),
	P(U32,   t_dac,     "1",      "0..",   RECONSTRUCTED, "dual address cycle: more clocks above 4 GB (T 3.1.1)"),
	P(U32,   t_irq,     "2",      "1..",   OWN,           "interrupt line to processor, clocks"),
	P(U32,   pio_depth, "8",      "1..",   OWN,           "stores the bridge holds (64 bytes each)"),
	{ 0 }
};
#undef P

static const struct weft_counter pcix_counters[PCIX_C_N] = {
	[PCIX_C_BUSY]        = { "busy", "clocks", "bus clocks in tenures, arbitration included" },
	[PCIX_C_STORES]      = { "pio_stores", "tenures", "host stores and bursts" },
	[PCIX_C_STORE_BYTES] = { "pio_store_bytes", "bytes", "bytes stored by the host" },
	[PCIX_C_LOADS]       = { "pio_loads", "tenures", "host loads" },
	[PCIX_C_COMPLETIONS] = { "completions", "tenures", "split completions" },
	[PCIX_C_READS]       = { "read_requests", "tenures", "read requests of devices, split" },
	[PCIX_C_WRITES]      = { "writes", "tenures", "write tenures of devices" },
	[PCIX_C_READ_BYTES]  = { "read_bytes", "bytes", "bytes read by devices" },
	[PCIX_C_WRITE_BYTES] = { "write_bytes", "bytes", "bytes written by devices" },
	[PCIX_C_DISCONNECTS] = { "disconnects", "tenures", "writes the bridge disconnected" },
	[PCIX_C_TIMER_CUTS]  = { "timer_cuts", "tenures", "writes ended by the latency timer" },
	[PCIX_C_ABORTS]      = { "aborts", "tenures", "tenures nobody answered" },
};

static const struct weft_port_decl pcix_ports[] = {
	{ "host", WEFT_PORT_BUS, NULL, .doc = "the node's memory and processor" },
	{ "dev%u", WEFT_PORT_BUS, "devices", .optional = true, .doc = "slots" },
	{ 0 }
};
/* clang-format on */

/* ---- arbiter ------------------------------------------------------------ */

static uint32_t pcix_masters(const struct pcix *b)
{
	return PCIX_M_DEVICES + 2 * b->devices;
}

uint64_t pcix_ready(const struct pcix *b, uint32_t m)
{
	const struct pcix_dev *d;

	if (m == PCIX_M_PIO)
		return b->n_pio ? b->pio[b->pio_head].ready : PCIX_NEVER;
	if (m == PCIX_M_COMPLETION)
		return b->n_split ? b->split[b->split_head].ready : PCIX_NEVER;
	d = &b->dev[(m - PCIX_M_DEVICES) / 2];
	return (m - PCIX_M_DEVICES) % 2 ? d->rd_ready : d->wr_ready;
}

void pcix_occupy(struct pcix *b, uint64_t d, uint64_t len)
{
	assert(d >= b->free_at);
	b->free_at = d + len;
	weft_count(b->comp, PCIX_C_BUSY, len);
}

static inline uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void pcix_kick(struct pcix *b)
{
	uint64_t first = pcix_ready(b, PCIX_M_PIO);

	if (b->tenure.left)
		return; /* the end of this one is not known yet */
	first = sooner(first, pcix_ready(b, PCIX_M_COMPLETION));
	for (const struct pcix_dev *d = b->dev; d < b->dev + b->devices; d++)
		first = sooner(first, sooner(d->rd_ready, d->wr_ready));
	if (first == PCIX_NEVER)
		return;
	if (first < b->free_at)
		first = b->free_at;
	weft_timer_arm(b->comp, &b->decide, PCIX_EV_DECIDE,
		       pcix_time(b, first) + 1);
}

static void pcix_grant(struct pcix *b, uint32_t m, uint64_t d)
{
	uint32_t dev = (m - PCIX_M_DEVICES) / 2;

	b->last = m;
	if (m == PCIX_M_PIO)
		pcix_pio_grant(b, d);
	else if (m == PCIX_M_COMPLETION)
		pcix_completion_grant(b, d);
	else if ((m - PCIX_M_DEVICES) % 2)
		pcix_read_grant(b, dev, d);
	else
		pcix_write_grant(b, dev, d);
}

static void pcix_decide(struct pcix *b)
{
	uint32_t n = pcix_masters(b), m = b->last;
	uint64_t d;

	if (!weft_timer_due(b->comp, &b->decide))
		return;
	d = pcix_edge_past(b);
	for (uint32_t i = 0; d >= b->free_at && i < n; i++) {
		m = m + 1 < n ? m + 1 : 0;
		if (pcix_ready(b, m) > d)
			continue;
		pcix_grant(b, m, d);
		break;
	}
	pcix_kick(b);
}

static void pcix_event(struct weft_comp *c, uint32_t tag)
{
	static void (*const handler[PCIX_EV_N])(struct pcix *) = {
		[PCIX_EV_DECIDE] = pcix_decide,
		[PCIX_EV_LOADED] = pcix_loaded,
		[PCIX_EV_BLOCK] = pcix_block,
	};

	handler[tag](c->state);
}

/* Hosts and devices call; nothing arrives at a bus by itself. */
static void pcix_arrive(struct weft_comp *c, uint32_t port,
			struct weft_frame *f)
{
	(void)c;
	(void)port;
	(void)f;
	assert(!"a bus takes no messages");
}

/* ---- interface and life ----------------------------------------------------
 */

static void pcix_irq(struct weft_port *dev_port, bool asserted)
{
	struct pcix *b = dev_port->peer->comp->state;
	struct weft_bus_note note = {
		.kind = WEFT_NOTE_IRQ,
		.time = pcix_time(b, pcix_edge_next(b) + b->t_irq),
		.dev = dev_port->peer->index - 1,
		.level = asserted,
	};

	weft_bus_tell(b->host, &note);
}

static const struct weft_clock *pcix_clock(struct weft_port *port)
{
	struct pcix *b = port->peer->comp->state;

	return &b->clock;
}

static void pcix_settle(struct weft_port *dev_port)
{
	struct pcix *b = dev_port->peer->comp->state;
	const struct weft_bus_host_ops *host = b->host->peer->iface;

	if (host->settle)
		host->settle(b->host->peer);
}

static const struct weft_bus_ops pcix_ops = {
	.submit = pcix_submit,
	.reply = pcix_reply,
	.irq = pcix_irq,
	.pio_store = pcix_store,
	.pio_load = pcix_load,
	.present = pcix_present,
	.clock = pcix_clock,
	.settle = pcix_settle,
};

static int pcix_check(struct weft_comp *c, struct weft_err *err)
{
	const struct pcix *b = c->state;

	if (b->sc_chunk % b->width || b->wr_chunk % b->width)
		return weft_fail(err, EINVAL,
				 "%s: sc_chunk and wr_chunk must be multiples "
				 "of the bus width %u",
				 c->name, b->width);
	if (b->t_split < b->t_gap + b->t_ph)
		return weft_fail(err, EINVAL,
				 "%s.t_split: %u is below t_gap + t_ph = %u",
				 c->name, b->t_split, b->t_gap + b->t_ph);
	return 0;
}

static int pcix_init(struct weft_comp *c, struct weft_err *err)
{
	struct pcix *b = c->state;

	if (pcix_check(c, err))
		return -EINVAL;
	b->comp = c;
	b->host = &c->ports[0];
	b->last = pcix_masters(b) - 1;
	b->dev = calloc(b->devices, sizeof(*b->dev));
	b->split = calloc(b->devices, sizeof(*b->split));
	b->pio = calloc(b->pio_depth + 1, sizeof(*b->pio));
	if (!b->dev || !b->split || !b->pio)
		return weft_fail(err, ENOMEM, "%s: out of memory", c->name);
	for (uint32_t i = 0; i < b->devices; i++)
		b->dev[i] = (struct pcix_dev){ .port = &c->ports[1 + i],
					       .rd_ready = PCIX_NEVER,
					       .wr_ready = PCIX_NEVER };
	for (uint32_t i = 0; i < c->n_ports; i++)
		c->ports[i].iface = &pcix_ops;
	return 0;
}

static int pcix_finish(struct weft_comp *c, struct weft_err *err)
{
	struct pcix *b = c->state;

	if (!weft_sim_idle(c->sim))
		return 0; /* stopped early: tenures may be on the bus */
	for (uint32_t i = 0; i < b->devices; i++)
		if (b->dev[i].rd || b->dev[i].wr)
			return weft_fail(err, EPROTO,
					 "%s: a transaction of "
					 "dev%u never ended",
					 c->name, i);
	return 0;
}

static void pcix_fini(struct weft_comp *c)
{
	struct pcix *b = c->state;

	free(b->dev);
	free(b->split);
	free(b->pio);
}

WEFT_COMPONENT(bus_pcix, .name = "bus.pcix", .kind = WEFT_KIND_BUS,
	       .doc = "PCI-X bus with split reads, and its host bridge",
	       .source = "FORTH specification 2.1, 11.1",
	       .not_modelled = "parity, target retries, initiator wait states",
	       .state_size = sizeof(struct pcix), .params = pcix_params,
	       .counters = pcix_counters, .n_counters = PCIX_C_N,
	       .ports = pcix_ports,
	       .ops = { .init = pcix_init,
			.arrive = pcix_arrive,
			.event = pcix_event,
			.finish = pcix_finish,
			.fini = pcix_fini });
