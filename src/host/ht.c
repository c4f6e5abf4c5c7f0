/* SPDX-License-Identifier: Apache-2.0 */
/* HyperTransport, exact to the time of 4 bytes on the link.
 *
 *            +-- P, NP, R --> link down --> core RX --+
 *   host ----+                                        +---- dev0
 *            +-- memory <---- link up <--- core TX ---+
 *
 * Source: EXTOLL specification 2.1 to 2.3, stages H1 to H3 and H6 to H8 of 7.1,
 * 7.4, 7.5. Each device has a separate link. Its two directions share only
 * credits and tags. Packets on the link:
 *
 *   posted write     8 B + data; 12 B + data with a byte mask, for a block of
 *                    32 B in which a dword is written partially
 *   interrupt        8 B, posted
 *   read             8 B, not posted, one of 32 tags until it is answered
 *   answer           4 B + data
 *   tagged access    16 B, a condition of 8 B, data; answer 8 B + data (Host
 *                    Port specification 10.1)
 *
 * with up to 64 B of data inside an aligned line, in whole dwords. A packet has
 * arrived when its last byte has. Three queues (posted, non-posted, answers)
 * share the link. No packet overtakes an earlier posted packet, but posted
 * packets overtake all others. Each packet needs one of 8 buffers of its kind
 * at the receiver.
 *
 * Own choices: a buffer of the device's core is free when the packet is in the
 * core's queue (16 stores, 16 loads), a buffer of the bridge when the packet
 * has arrived. A credit returns after T_CREDIT and occupies no link time. The
 * bridge delivers an answer to the processor, and data of memory to a device,
 * when all earlier writes are in memory. An answer queues behind those stores
 * of the host that were ready no later than the answer, unless the read is
 * relaxed. The phase between the link's dword and the core's 8-byte word is not
 * modelled.
 *
 * With several banks of memory, answers to reads with any_order leave in the
 * order in which memory has their data. Answers of one transaction stay in
 * order. The device's core finds the read by its source tag.
 *
 * Several loads of the host (parameter loads) are in flight at a time. The core
 * notifies a device of one load at a time. It notifies the device of the next
 * load when the first one is answered, T_REG has passed and the queue of
 * answers (16) has room.
 *
 * Tags limit the reads of a device that are on the link. The core's queues of
 * reads and of their answers have no limit, because the units of the NIC have
 * at most 19 reads (8, 8 and 3). A queue of 16 together with the 8 buffers of
 * the link would hold more.
 *
 * Not modelled: the link time of credits (NOP packets), link errors,
 * isochronous channels, chains of devices. Packets of devices have headers
 * (ht_head.h), from which the receiver takes tag, length, address, mask and
 * error. Packets of the host have none. */
#include "base/need.h"
#include "host/ht.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define P(type, field, def, range, source, doc) \
	WEFT_PARAM(type, struct ht, field, def, range, source, doc)
static const struct weft_param ht_params[] = {
	P(CLOCK, clock,     "400MHz", "",        STATED,        "link clock; data move on both edges (1.3)"),
	P(U32,   width,     "16",     "8|16|32", STATED,        "bits of the link, each direction (1.3)"),
	P(CLOCK, core,      "200MHz", "",        STATED,        "clock of the device's HT core (1.3)"),
	P(U32,   devices,   "1",      "1..8",    OWN,           "links, one device each"),
	P(U32,   rx,        "12",     "1..",     CALIBRATED,    "H3: link to device, core clocks (7.1; with tx: PIO read of 180 ns)"),
	P(U32,   tx,        "6",      "1..",     CALIBRATED,    "H6: device to link, core clocks (7.1)"),
	P(U32,   credits,   "8",      "1..",     RECONSTRUCTED, "buffers per virtual channel at each end of a link (2.3)"),
	P(U32,   tags,      "32",     "1..32",   STATED,        "reads of a device on the way (2.2)"),
	P(U32,   depth,     "16",     "1..",     RECONSTRUCTED, "stores the core's posted queue holds (2.3)"),
	P(U32,   np_depth,  "16",     "1..",     RECONSTRUCTED, "loads the core's non-posted queue holds (2.3), with the one that the device has"),
	P(U32,   r_depth,   "16",     "1..",     RECONSTRUCTED, "answers to loads the core's response queue holds (2.3)"),
	P(U32,   pio_depth, "8",      "1..",     OWN,           "stores the bridge holds for a link (64 bytes each)"),
	P(U32,   loads,     "1",      "1..32",   OWN,           "loads of the host on the way, each of another thread (Host Port specification 7.5, CSB6)"),
	P(TIME,  t_store,   "75ns",   "",        CALIBRATED,    "H1: stores, write-combining flush, north bridge (7.6)"),
	P(TIME,  t_out,     "35ns",   "",        CALIBRATED,    "load: processor to link (7.4)"),
	P(TIME,  t_in,      "35ns",   "1fs..",   CALIBRATED,    "load: link to processor (7.4)"),
	P(TIME,  t_reg,     "10ns",   "",        CALIBRATED,    "load: time of the target, in which a register or less is answered (7.4)"),
	P(TIME,  t_read,    "90ns",   "",        RECONSTRUCTED, "read: request to data, north bridge and memory (7.5)"),
	P(TIME,  t_write,   "74ns",   "1fs..",   CALIBRATED,    "write: link to memory, H8 less what the host takes to see it (7.6)"),
	P(TIME,  t_irq,     "74ns",   "1fs..",   OWN,           "interrupt: link to processor"),
	P(U32,   banks,     "1",      "1..64",   OWN,           "banks of memory, by line of 64 bytes: answers overtake each other where the device allows it; 1: all alike, in order"),
	P(TIME,  t_bank,    "0",      "0..1ms",  OWN,           "read: bank b takes b times this longer"),
	P(TIME,  t_credit,  "32.5ns", "",        OWN,           "a buffer is free to its sender knows (6 core clocks, 4 B)"),
	{ 0 }
};
#undef P

static const struct weft_preset ht_presets[] = {
	{ "ht200", "clock=200MHz", "HT200, 16 bit: 0.8 GB/s each way" },
	{ "ht400", "clock=400MHz", "HT400, 16 bit: 1.6 GB/s each way" },
	{ "ht800", "clock=800MHz", "HT800, 16 bit: 3.2 GB/s each way" },
#define HT_PRESET(...) { __VA_ARGS__ },
#include "systems.def"
	{ 0 }
};

static const struct weft_counter ht_counters[HT_C_N] = {
	[HT_C_STORES]      = { "pio_stores", "packets", "stores of the host" },
	[HT_C_STORE_BYTES] = { "pio_store_bytes", "bytes", "bytes stored by the host" },
	[HT_C_HELD]        = { "held", "packets", "stores that found no place at the device" },
	[HT_C_LOADS]       = { "pio_loads", "packets", "loads of the host" },
	[HT_C_LOADS_HELD]  = { "loads_held", "packets", "loads that found the core's queue full" },
	[HT_C_ANSWER_WAITS] = { "answer_waits", "packets", "loads that waited at the core for room for their answer" },
	[HT_C_WRITES]      = { "writes", "packets", "writes of devices" },
	[HT_C_WRITE_BYTES] = { "write_bytes", "bytes", "bytes written by devices" },
	[HT_C_MASKED]      = { "byte_writes", "packets", "writes with a byte mask" },
	[HT_C_READS]       = { "reads", "packets", "reads of devices" },
	[HT_C_READ_BYTES]  = { "read_bytes", "bytes", "bytes read by devices" },
	[HT_C_TAG_WAITS]   = { "tag_waits", "packets", "reads that found all tags in use" },
	[HT_C_IRQS]        = { "interrupts", "packets", "interrupt packets" },
	[HT_C_ABORTS]      = { "aborts", "packets", "nobody there: lost, or answered with all ones and the error bit" },
	[HT_C_DOWN_BUSY]   = { "down_busy", "dwords", "dwords on links from the host" },
	[HT_C_UP_BUSY]     = { "up_busy", "dwords", "dwords on links to the host" },
	[HT_C_TAGGED]      = { "tagged", "packets", "tagged accesses of the host" },
};

static const struct weft_port_decl ht_ports[] = {
	{ "host", WEFT_PORT_BUS, NULL, .doc = "the node's memory and processor" },
	{ "dev%u", WEFT_PORT_BUS, "devices", .optional = true, .doc = "far ends of the links" },
	{ 0 }
};
/* clang-format on */

/* ---- packets, links ---- */

struct ht_pkt *ht_pkt_new(struct ht *b)
{
	struct ht_pkt *p = b->unused;

	if (p)
		b->unused = p->next;
	else
		p = need(malloc(sizeof(*p)));
	memset(p, 0, sizeof(*p));
	return p;
}

static void ht_event(struct weft_comp *c, uint32_t tag)
{
	struct ht *b = c->state;

	if (tag >= b->devices * HT_DIRS)
		ht_unanswered(b, &b->link[tag - b->devices * HT_DIRS]);
	else
		ht_decide(b, &b->link[tag / HT_DIRS], tag % HT_DIRS);
}

/* ---- interface and lifetime ---- */

static bool ht_present(struct weft_port *host_port, uint32_t dev)
{
	return ht_link_of(host_port->peer->comp->state, dev);
}

static const struct weft_clock *ht_clock(struct weft_port *port)
{
	struct ht *b = port->peer->comp->state;

	return &b->core;
}

static bool ht_many(struct weft_port *dev_port)
{
	return true;
}

static uint32_t ht_loads(struct weft_port *host_port)
{
	const struct ht *b = host_port->peer->comp->state;

	return b->loads;
}

static const struct weft_bus_ops ht_ops = {
	.submit = ht_submit,
	.reply = ht_reply,
	.refuse = ht_refuse,
	.irq = ht_irq,
	.pio_store = ht_store,
	.pio_load = ht_load,
	.loads = ht_loads,
	.pio_load_as = ht_load_as,
	.present = ht_present,
	.clock = ht_clock,
	.window = ht_window,
	.consumed = ht_consumed,
	.defer = ht_defer,
	.settle = pio_settle,
	.many = ht_many,
	.pio_tagged = ht_tagged,
	.takes_tagged = ht_takes_tagged,
	.tagged_reply = ht_tagged_reply,
};

static uint32_t ht_slots_of(const struct ht *b, weft_time_t t)
{
	return (uint32_t)weft_clock_cycle(&b->slot, t);
}

static int ht_init(struct weft_comp *c, struct weft_err *err)
{
	struct ht *b = c->state;

	b->comp = c;
	b->host = &c->ports[0];
	/* 4 bytes take 16 / width clocks of the link. */
	b->slot = b->clock;
	b->slot.num *= 16;
	b->slot.den *= b->width;
	while (b->slot.num % 2 == 0 && b->slot.den % 2 == 0) {
		b->slot.num /= 2;
		b->slot.den /= 2;
	}
	if (b->slot.num / b->slot.den < 4)
		return weft_fail(err, EINVAL,
				 "%s.clock: 4 bytes must take at least 4 fs",
				 c->name);
	b->s_rx = ht_slots_of(b, weft_clock_edge(&b->core, b->rx));
	b->s_tx = ht_slots_of(b, weft_clock_edge(&b->core, b->tx));
	b->s_reg = ht_slots_of(b, b->t_reg);
	b->s_credit = ht_slots_of(b, b->t_credit);
	b->link = calloc(b->devices, sizeof(*b->link));
	if (!b->link)
		return weft_fail(err, ENOMEM, "%s: out of memory", c->name);
	for (uint32_t i = 0; i < b->devices; i++) {
		b->link[i].port = &c->ports[1 + i];
		b->link[i].places = 1;
		b->link[i].lane[HT_DOWN].last = HT_VCS - 1;
		b->link[i].lane[HT_UP].last = HT_VCS - 1;
	}
	for (uint32_t i = 0; i < c->n_ports; i++)
		c->ports[i].iface = &ht_ops;
	return 0;
}

static int ht_finish(struct weft_comp *c, struct weft_err *err)
{
	struct ht *b = c->state;

	if (!weft_sim_idle(c->sim))
		return 0; /* stopped early: packets may be in flight */
	for (uint32_t i = 0; i < b->devices; i++) {
		struct ht_link *l = &b->link[i];

		if (l->lane[HT_UP].queue[HT_POSTED].n ||
		    l->lane[HT_UP].queue[HT_NONPOSTED].n ||
		    l->lane[HT_DOWN].queue[HT_ANSWER].n)
			return weft_fail(
				err, EPROTO,
				"%s: a transaction of dev%u never ended",
				c->name, i);
	}
	return 0;
}

static void ht_fini(struct weft_comp *c)
{
	struct ht *b = c->state;
	struct ht_pkt *p;

	for (uint32_t i = 0; b->link && i < b->devices; i++) {
		struct ht_link *l = &b->link[i];

		for (uint32_t dir = 0; dir < HT_DIRS; dir++)
			for (uint32_t vc = 0; vc < HT_VCS; vc++) {
				ht_queue_clear(b, &l->lane[dir].queue[vc]);
				free(l->lane[dir].credit[vc].back);
			}
		ht_queue_clear(b, &l->wait);
		ht_queue_clear(b, &l->loads);
		free(l->tag.back);
		free(l->reads);
	}
	free(b->link);
	while ((p = b->unused)) {
		b->unused = p->next;
		free(p);
	}
}

WEFT_COMPONENT(bus_ht, .name = "bus.ht", .kind = WEFT_KIND_BUS,
	       .doc = "HyperTransport links of a host, and their cores",
	       .source = "EXTOLL specification 2.1 to 2.3, 7.1, 7.4, 7.5",
	       .not_modelled =
		       "link time of credits, link errors, chains of "
		       "devices, headers of host accesses",
	       .state_size = sizeof(struct ht), .params = ht_params,
	       .presets = ht_presets, .counters = ht_counters,
	       .n_counters = HT_C_N, .ports = ht_ports,
	       .ops = { .init = ht_init,
			.arrive = pio_arrive,
			.event = ht_event,
			.finish = ht_finish,
			.fini = ht_fini });
