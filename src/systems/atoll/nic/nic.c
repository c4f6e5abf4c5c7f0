/* SPDX-License-Identifier: Apache-2.0 */
/* Class atoll.nic: ATOLL, the predecessor of the Host Port's network: four host
 * ports, four network ports, crossbar and four link ports on one chip
 * (hostport.md 2).
 *
 *          +-- host port 0..3 (PIO, DMA) -- network port --+
 *   bus ---+                                               +-- 8x8 -- link0..3
 *          +-- management page: deadlock counters, interrupt
 *
 * Not modelled: several cards in a node joined by a link (cable them in the
 * experiment), link detection, line time of state characters. */
#include <errno.h>
#include <stdlib.h>

#include "systems/atoll/nic/nic.h"

/* clang-format off */
#define P(type, field, def, range, source, doc)                                \
	WEFT_PARAM(type, struct at_nic, field, def, range, source, doc)

static const struct weft_param at_params[] = {
	P(CLOCK, clock, "330MHz", "", STATED, "of crossbar and links (2.1)"),
	P(U32, t_in, "13", "1..1000", RECONSTRUCTED,
	  "cycles, link port in; a hop has 30, most of the other 27 are "
	  "synchronisation (2.1)"),
	P(U32, t_xbar, "3", "1..1000", STATED,
	  "cycles, fall-through of the crossbar (2.1)"),
	P(U32, t_out, "14", "1..1000", RECONSTRUCTED,
	  "cycles, link port out"),
	P(U32, buffer, "512", "138..1048576", RECONSTRUCTED,
	  "characters that a link port holds"),
	P(U32, stop_free, "256", "1..", RECONSTRUCTED,
	  "it says stop when fewer are left"),
	P(U32, cont_free, "384", "1..", RECONSTRUCTED,
	  "and continue when so many are"),
	P(U32, dl_counter, "4096", "1..", OWN,
	  "cycles a deadlock condition holds before the interrupt (2.3)"),
	P(U32, timeout, "4096", "64..", OWN,
	  "cycles without an answer on a link that may have errors"),
	P(U32, attempts, "1000", "1..", OWN,
	  "of these in vain: the link waits for the other end"),
	P(U32, rx_flits, "16", "1..1024", RECONSTRUCTED,
	  "of 64 bytes that a host port holds for PIO"),
	P(U32, node, "65535", "0..65535", OWN,
	  "own number; 65535 = digits of the name"),
	P(BOOL, report, "yes", "", OWN,
	  "a deadlock condition at the end of the run is a failed check"),
	{ 0 }
};

static const struct weft_counter at_counters[AT_K_XBAR + AX_K_N] = {
#define X(id, name, unit, doc) [AT_K_##id] = { name, unit, doc },
	AT_OWN_COUNTERS(X)
#undef X
#define X(id, name, unit, doc) [AT_K_XBAR + AX_K_##id] = { name, unit, doc },
	AX_COUNTERS(X)
#undef X
};

static const struct weft_port_decl at_ports[] = {
	{ "bus", WEFT_PORT_BUS, .doc = "PCI-X" },
	{ "link%u", WEFT_PORT_LINK, .count = "4", .wire = &atoll_wire,
	  .optional = true, .doc = "links, ports 4 to 7 of the crossbar" },
	{ 0 }
};
/* clang-format on */

static void on_deadlock(void *own, uint32_t out)
{
	struct at_nic *n = own;

	n->dl_ports |= 1u << out;
	at_irq(n, ATOLL_IRQ_DEADLOCK);
}

static void on_misrouted(void *own, uint32_t in)
{
	at_irq(own, ATOLL_IRQ_ROUTE);
}

static const struct atoll_xbar_ops xbar_ops = { .flit = at_rx_flit,
						.room = at_rx_room,
						.ready = at_tx_go,
						.deadlock = on_deadlock,
						.misrouted = on_misrouted };

static int at_init(struct weft_comp *c, struct weft_err *err)
{
	struct at_nic *n = c->state;
	const char *digits = c->name; /* n3.nic is node 3 */

	while (*digits && *digits != '.' && (*digits < '0' || *digits > '9'))
		digits++;
	n->comp = c;
	n->bus = &c->ports[AT_PORT_BUS];
	if (n->node == 65535)
		n->node = (uint32_t)strtoul(digits, NULL, 10);
	n->x.clk = n->clock;
	n->x.t_in = n->t_in;
	n->x.t_xbar = n->t_xbar;
	n->x.t_out = n->t_out;
	n->x.buffer = n->buffer;
	n->x.stop_free = n->stop_free;
	n->x.cont_free = n->cont_free;
	n->x.dl_counter = n->dl_counter;
	n->x.timeout = n->timeout;
	n->x.attempts = n->attempts;
	n->x.counter0 = AT_K_XBAR;
	atoll_xbar_init(&n->x, c, &c->ports[AT_PORT_LINK], &xbar_ops, n,
			AT_TAG_XBAR);
	return 0;
}

static int at_start(struct weft_comp *c, struct weft_err *err)
{
	struct at_nic *n = c->state;

	return atoll_xbar_start(&n->x, err);
}

static void at_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
	struct at_nic *n = c->state;
	struct weft_bus_note note;

	if (port >= AT_PORT_LINK) {
		atoll_xbar_arrive(&n->x, port - AT_PORT_LINK, f);
		return;
	}
	while (weft_bus_next(n->bus, &note)) {
		if (note.kind == WEFT_NOTE_STORE || note.kind == WEFT_NOTE_LOAD)
			at_access(n, &note);
		else if (note.kind == WEFT_NOTE_DONE)
			at_dma_done(n, (struct at_dma *)note.txn);
	}
}

static void at_event(struct weft_comp *c, uint32_t tag)
{
	struct at_nic *n = c->state;

	atoll_xbar_event(&n->x);
}

static int at_finish(struct weft_comp *c, struct weft_err *err)
{
	struct at_nic *n = c->state;

	if (!weft_sim_idle(c->sim))
		return 0;
	for (uint32_t o = 0, i, j; n->report && o < AT_PORTS; o++)
		if (atoll_xbar_dl_cond(&n->x, o, &i, &j))
			weft_check_failed(
				c,
				"deadlock: OutPort %u is granted to InPort %u and stopped, InPort %u waits for it",
				o, i, j);
	atoll_xbar_fini(&n->x);
	for (uint32_t i = 0; i < ATOLL_PORTS; i++)
		at_tx_fini(n, i);
	return 0;
}

/* Reports the flits that wait for a link. */
static void at_waiting(struct weft_comp *c, uint32_t port,
		       struct weft_waiting *w)
{
	const struct at_nic *n = c->state;
	uint32_t out = AT_LINK0 + port - AT_PORT_LINK;

	*w = (struct weft_waiting){ .unit = "flits" };
	for (uint32_t i = 0; port >= AT_PORT_LINK && i < AT_PORTS; i++)
		if (n->x.in[i].out == out || n->x.in[i].want == out)
			w->queued += ring_count(&n->x.in[i].q);
}

static void at_fini(struct weft_comp *c)
{
	struct at_nic *n = c->state;

	for (uint32_t i = 0; i < ATOLL_PORTS; i++) {
		at_tx_fini(n, i);
		ring_free(&n->rx[i].words);
		ring_free(&n->rx[i].pkts);
	}
	atoll_xbar_fini(&n->x);
	at_dma_fini(n);
}

WEFT_COMPONENT(atoll_nic, .name = "atoll.nic", .kind = WEFT_KIND_NIC,
	       .doc = "ATOLL: four host ports, crossbar and four links",
	       .source = "hostport.md 2",
	       .not_modelled = "link detection, room of state characters",
	       .state_size = sizeof(struct at_nic), .params = at_params,
	       .counters = at_counters, .n_counters = AT_K_XBAR + AX_K_N,
	       .ports = at_ports, .regs = at_regs,
	       .ops = { .init = at_init,
			.start = at_start,
			.arrive = at_arrive,
			.event = at_event,
			.finish = at_finish,
			.fini = at_fini,
			.waiting = at_waiting });
