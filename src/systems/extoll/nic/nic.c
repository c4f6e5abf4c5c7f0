/* SPDX-License-Identifier: Apache-2.0 */
/* Class extoll.nic: the network interface half of EXTOLL R1 on one FPGA
 * (HyperTransport, HTAX, register file, VELO, RMA, ATU, three network ports).
 * The crossbar beside it is class extoll.xbar. Source: extoll.md 1, 2, 5, 7.
 *
 *                 bus (HT400)               np0..np2
 *        host <------> +-------------------+ <=====> crossbar
 *                      | RF HTAX VELO RMA  |
 *                      +-------------------+
 *
 * Not modelled: multicast, I2C, EEPROM and oscillator. */
#include <errno.h>

#include "systems/extoll/nic/nic.h"

/* clang-format off */
#define P(type, field, def, range, source, doc)                                \
	WEFT_PARAM(type, struct extoll_nic, field, def, range, source, doc)

static const struct weft_param extoll_params[] = {
	P(CLOCK, clock, "156MHz", "", STATED,
	  "core clock; 156.25 MHz is the other reading (1.3, O-5)"),
	P(REAL, ppm, "0", "-1000..1000", OWN,
	  "offset of this node's crystal in parts per million"),
	P(ENUM, width, "w32", "w16|w32", STATED,
	  "bits of the network data path (variant A or B)"),
	P(U32, node, "65535", "0..65535", OWN,
	  "node id; 65535 = what the network says, or digits of the name"),
	P(U32, t_sync_in, "3", "0..64", CALIBRATED,
	  "core cycles: sync FIFO from the HT core (H4)"),
	P(U32, t_htax, "4", "1..64", CALIBRATED,
	  "core cycles through HTAX (N1, N6)"),
	P(U32, t_sync_out, "3", "0..64", CALIBRATED,
	  "HT cycles: sync FIFO to the HT core (H5)"),
	P(U32, posted, "16", "1..255", RECONSTRUCTED,
	  "packets in the posted queues of the HT core (2.3)"),
	P(U32, reads, "32", "1..32", STATED,
	  "reads at a time: HT source tags (2.2)"),
	P(U32, np_depth, "4", "1..64", RECONSTRUCTED,
	  "packets per class that wait in a network port"),
	P(U32, velo_req, "13", "1..255", STATED,
	  "core cycles: VELO requester (N2)"),
	P(U32, velo_comp, "21", "1..255", STATED,
	  "core cycles: VELO completer (N5)"),
	P(U32, velo_partial, "256", "1..", RECONSTRUCTED,
	  "core cycles an unfinished message may rest (5.1)"),
	P(U32, velo_max, "64", "8..120", STATED,
	  "longest VELO message; R2 has 120 (O-8)"),
	P(U32, rma_interval, "31", "1..255", CALIBRATED,
	  "core cycles between RMA commands (5.3)"),
	P(U32, gats, "16", "1..512", RECONSTRUCTED,
	  "address translation tables (3.7)"),
	P(BOOL, error_events, "no", "", OWN,
	  "events for errors that links mend (CRC, code, sequence) and for "
	  "packets the crossbar drops (2.7), one per port until the read "
	  "pointer moves"),
	P(BOOL, rf_core, "no", "", OWN,
	  "register stores act at the HT core, ahead of stores for VELO and "
	  "RMA that came before them"),
	{ 0 }
};

static const struct weft_preset extoll_presets[] = {
	{ "a", "width=w16", "variant A: 16-bit network path (table III)" },
	{ "b", "width=w32", "variant B: 32-bit network path (table IV)" },
	{ 0 }
};

#define NETPORT_COUNTERS(i)                                                         \
	[EX_C_NP + 3 * i] = { "np" #i "_packets_out", "packets",               \
			      "sent by network port " #i },                    \
	[EX_C_NP + 3 * i + 1] = { "np" #i "_packets_in", "packets",            \
				  "received by network port " #i },            \
	[EX_C_NP + 3 * i + 2] = { "np" #i "_no_credit", "cycles",              \
				  "a cell waited for a credit" }

static const struct weft_counter extoll_counters[EX_C_N] = {
	[EX_C_STORES] = { "stores", "packets", "stores of the host" },
	[EX_C_DISCARDED] = { "htax_discarded", "requests",
			     "host requests that hit no interval (2.4)" },
	[EX_C_WRITES] = { "writes", "packets", "posted writes to the host" },
	[EX_C_READS] = { "reads", "packets", "reads of host memory" },
	[EX_C_ABORTS] = { "htax_aborts", "packets",
			  "own requests that the host refused" },
	[EX_C_EVENTS] = { "events", "events", "for the event queue (2.7)" },
	[EX_C_IRQS] = { "irqs", "interrupts", "raised" },
	[EX_C_VELO_SENT] = { "velo_sent", "messages", "given to NP 0" },
	[EX_C_VELO_RECEIVED] = { "velo_received", "messages",
				 "written into mailboxes" },
	[EX_C_VELO_DROPPED] = { "velo_dropped", "messages",
				"by the requester (5.1)" },
	[EX_C_VELO_DISCARDED] = { "velo_discarded", "messages",
				  "by the completer (5.2)" },
	[EX_C_VELO_STALLS] = { "velo_stalls", "messages",
			       "that found their mailbox full" },
	NETPORT_COUNTERS(0), NETPORT_COUNTERS(1), NETPORT_COUNTERS(2),
#define X(id, name, unit, doc) [EX_C_RMA + RMA_K_##id] = { name, unit, doc },
	RMA_COUNTERS(X)
#undef X
};

static const struct weft_port_decl extoll_ports[] = {
	[EX_PORT_BUS] = { "bus", WEFT_PORT_BUS, .doc = "HyperTransport" },
	[EX_PORT_NP] = { "np%u", WEFT_PORT_LINK, .count = "3",
			 .wire = &ex_wire_internal, .optional = true,
			 .doc = "network ports: 0 VELO, 1 RMA requester and "
				"completer, 2 RMA responder" },
	{ 0 }
};
/* clang-format on */

/* ---- blocks ---- */

const struct ex_unit *const ex_units[EXTOLL_HX_N] = {
	[EXTOLL_HX_RF] = &ex_rf_unit,
	[EXTOLL_HX_VELO] = &ex_velo_unit,
	[EXTOLL_HX_RMA_REQ] = &ex_rma_req_unit,
	[EXTOLL_HX_RMA_RESP] = &ex_rma_resp_unit,
	[EXTOLL_HX_RMA_COMP] = &ex_rma_comp_unit,
	[EXTOLL_HX_ATU] = &ex_atu_unit,
};

static const struct netport_ops *const netport_ops_of[EX_NPS] = {
	[EX_NP_VELO] = &ex_velo_np,
	[EX_NP_RMA] = &ex_rma_np,
	[EX_NP_RESP] = &ex_rma_np,
};

/* ---- operations ---- */

static int extoll_init(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_nic *n = c->state;
	struct cell_channel_cfg cfg;
	int ret = 0;

	n->comp = c;
	n->bus = &c->ports[EX_PORT_BUS];
	n->place.node = n->node;
	/* node 65535 means: take the node from the name, 3 for n3.nic */
	if (n->node == 65535)
		n->place.node = (uint32_t)strtoul(
			c->name + strcspn(c->name, ".0123456789"), NULL, 10);
	n->clock = weft_clock_offset_ppm(n->clock, (int32_t)n->ppm);
	n->interval[0] = (struct ex_interval){ .lower = EXTOLL_RF,
					       .upper = EXTOLL_RF_BYTES - 1,
					       .port = EXTOLL_HX_RF,
					       .enable = true };
	cfg = cell_channel_cfg_internal(n->width, &n->clock);
	for (uint32_t i = 0; !ret && i < EX_NPS; i++)
		ret = netport_init(&n->np[i], c, &c->ports[EX_PORT_NP + i],
				   &cfg, n->np_depth, netport_ops_of[i], n,
				   EX_TAG_NP + i, err);
	for (uint32_t i = 0; !ret && i < EXTOLL_HX_N; i++)
		if (ex_units[i] && ex_units[i]->init)
			ret = ex_units[i]->init(n, err);
	return ret;
}

static int extoll_start(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_nic *n = c->state;
	int ret = 0;

	if (n->node != 65535)
		n->place.node = n->node;
	n->ht = *weft_bus_of(n->bus)->clock(n->bus);
	ex_htax_start(n);
	for (uint32_t i = 0; !ret && i < EX_NPS; i++)
		ret = netport_start(&n->np[i], err);
	n->started = !ret;
	return ret;
}

static void extoll_arrive(struct weft_comp *c, uint32_t port,
			  struct weft_frame *f)
{
	struct extoll_nic *n = c->state;

	if (port >= CELL_CHANNEL_NEWS) {
		if (CELL_CHANNEL_NEWS_WHAT(port) == CELL_CHANNEL_LINK_ERROR &&
		    !n->error_events)
			return;
		n->news |= 1u << (port - CELL_CHANNEL_NEWS);
		weft_wake(c, EX_TAG_NEWS, weft_now(c));
		return;
	}
	if (port != EX_PORT_BUS) {
		cell_channel_arrive(&n->np[port - EX_PORT_NP].ep, f);
		return;
	}
	ex_htax_notes(n);
}

static void extoll_event(struct weft_comp *c, uint32_t tag)
{
	struct extoll_nic *n = c->state;

	if (tag < EX_TAG_IN)
		netport_event(&n->np[tag - EX_TAG_NP]);
	else if (tag == EX_TAG_IN)
		ex_htax_deliver(n);
	else if (tag == EX_TAG_NEWS)
		ex_link_news(n);
	else if (tag < EX_TAG_HTAX)
		ex_units[tag - EX_TAG_UNIT]->event(n, tag - EX_TAG_UNIT);
	else if (tag == EX_TAG_HTAX)
		ex_htax_event(n);
	else if (tag == EX_TAG_OUT)
		ex_htax_leave(n);
	else
		ex_htax_load(n);
}

static int extoll_sample(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_nic *n = c->state;

	for (uint32_t i = 0; i < EX_NPS; i++) {
		const struct cell_channel_count *k =
			cell_channel_counts(&n->np[i].ep);

		c->counters[EX_C_NP + 3 * i] = k->tx_packets;
		c->counters[EX_C_NP + 3 * i + 1] = k->rx_packets;
		c->counters[EX_C_NP + 3 * i + 2] = k->no_credit;
		cell_channel_volume(&n->np[i].ep);
	}
	return 0;
}

static int extoll_finish(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_nic *n = c->state;
	int ret = extoll_sample(c, err);

	for (uint32_t i = 0; !ret && i < EXTOLL_HX_N; i++)
		if (ex_units[i] && ex_units[i]->finish)
			ret = ex_units[i]->finish(n, err);
	for (uint32_t i = 0; weft_sim_idle(c->sim) && i < EX_NPS; i++)
		netport_abandon(&n->np[i]);
	return ret;
}

static void extoll_fini(struct weft_comp *c)
{
	struct extoll_nic *n = c->state;

	for (uint32_t i = 0; i < EXTOLL_HX_N; i++)
		if (ex_units[i] && ex_units[i]->fini)
			ex_units[i]->fini(n);
	for (uint32_t i = 0; i < EX_NPS; i++)
		netport_fini(&n->np[i]);
	ex_htax_fini(n);
	for (uint32_t i = 0; n->routes.chunk && i < EX_ROUTE_CHUNKS; i++)
		free(n->routes.chunk[i]);
	free(n->routes.chunk);
}

WEFT_COMPONENT(extoll_nic, .name = "extoll.nic", .kind = WEFT_KIND_NIC,
	       .capture_upper = 1,
	       .doc = "EXTOLL R1 network interface on HyperTransport",
	       .source = "extoll.md",
	       .not_modelled =
		       "multicast, remote register access (RRA), I2C, "
		       "EEPROM, oscillator",
	       .state_size = sizeof(struct extoll_nic), .params = extoll_params,
	       .presets = extoll_presets, .counters = extoll_counters,
	       .n_counters = EX_C_N, .ports = extoll_ports, .regs = extoll_regs,
	       .ops = { .init = extoll_init,
			.start = extoll_start,
			.arrive = extoll_arrive,
			.event = extoll_event,
			.finish = extoll_finish,
			.sample = extoll_sample,
			.fini = extoll_fini,
			.place = ex_stand },
	       .network_parts = &ex_network_parts);
