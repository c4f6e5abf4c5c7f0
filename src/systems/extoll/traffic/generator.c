/* SPDX-License-Identifier: Apache-2.0 */
/* Class extoll.gen: traffic source and sink on an internal port of a crossbar,
 * without host and NIC.  Patterns, arrivals and sizes of its own
 * (generator_source.c) or packets of a trace (generator_replay.c); latency and
 * load are measured by extoll.net for all together.
 *
 *   arrivals -> (queue without end) -> network port -> np0
 *   np0 -> network port -> checked, measured, dropped; it never waits
 *
 * Sizes are bytes of payload behind `words` command words, or, with `flits`,
 * flits of the whole packet with its routing flit and nothing else.
 * Not modelled: anything of a NIC in front of the network port. */
#include "systems/extoll/traffic/generator.h"

#include <errno.h>
#include <stdlib.h>

enum { TAG_NP, TAG_READY };

/* clang-format off */
static const struct weft_param egen_params[] = {
	WEFT_PARAM(U32, struct egen, node, "0", "0..65535", OWN,
		   "own number"),
	WEFT_PARAM(U32, struct egen, nodes, "1", "1..65536", OWN,
		   "nodes there are"),
	WEFT_PARAM(ENUM, struct egen, pattern, "uniform", PATTERN_NAMES, OWN,
		   "whom it sends to; none = sink only"),
	WEFT_PARAM(U32, struct egen, dest, "0", "0..65535", OWN,
		   "fixed, hotspot: that node"),
	WEFT_PARAM(REAL, struct egen, hot, "0.2", "0..1", OWN,
		   "hotspot: share that goes to `dest`"),
	WEFT_PARAM(U64, struct egen, permutation, "1", "", OWN,
		   "permutation: which one, the same at every node"),
	WEFT_PARAM(BOOL, struct egen, self, "no", "", OWN,
		   "may send to itself"),
	WEFT_PARAM(ENUM, struct egen, arrivals, "bernoulli", ARRIVALS_NAMES,
		   OWN, "when packets are made"),
	WEFT_PARAM(REAL, struct egen, load, "0.1", "0..1000", OWN,
		   "offered flits per cycle, routing flits included"),
	WEFT_PARAM(REAL, struct egen, burst, "100", "1..", OWN,
		   "bursty: mean length of a burst in cycles"),
	WEFT_PARAM(REAL, struct egen, peak, "1", "0..", OWN,
		   "bursty: flits per cycle in a burst"),
	WEFT_PARAM(BYTES, struct egen, size, "64", "0..4096", OWN,
		   "payload"),
	WEFT_PARAM(BYTES, struct egen, size_max, "0", "0..4096", OWN,
		   "payload uniform from size to this; 0 = always size"),
	WEFT_PARAM(U32, struct egen, flits, "0", "0..1024", OWN,
		   "instead of size: flits of the whole packet"),
	WEFT_PARAM(U32, struct egen, flits_max, "0", "0..1024", OWN,
		   "flits uniform from flits to this; 0 = always flits"),
	WEFT_PARAM(STR, struct egen, sizes, "", "", OWN,
		   "a mix instead: SIZE:WEIGHT,SIZE:WEIGHT.. (flits when "
		   "`flits` is not 0)"),
	WEFT_PARAM(U32, struct egen, words, "1", "1..3", OWN,
		   "command words in front of the payload"),
	WEFT_PARAM(ENUM, struct egen, kind, "request", "request|response", OWN,
		   "class of the packets: channels 0/1 or 2/3 (4.6)"),
	WEFT_PARAM(U32, struct egen, port, "0", "0..2", OWN,
		   "internal port they go to"),
	WEFT_PARAM(U64, struct egen, packets, "0", "", OWN,
		   "packets to make; 0 = no end"),
	WEFT_PARAM(STR, struct egen, trace, "", "", OWN,
		   "file of packets to send instead, for all nodes: lines of "
		   "CYCLE SOURCE DESTINATION BYTES [ID [ID,..]]"),
	WEFT_PARAM(BOOL, struct egen, verify, "no", "", OWN,
		   "check order, loss and bytes of every pair of nodes; not "
		   "of a trace"),
	WEFT_PARAM(CLOCK, struct egen, clock, "156MHz", "", STATED,
		   "core clock"),
	WEFT_PARAM(ENUM, struct egen, width, "w32", "w16|w32", STATED,
		   "network data path, 16 or 32 bit"),
	WEFT_PARAM(U32, struct egen, gap, "4", "1..16", STATED,
		   "least distance of cell starts (4.1)"),
	WEFT_PARAM(U32, struct egen, cell_flits, "0", "0..128", OWN,
		   "flits of a cell at most; 0 = 64 bytes"),
	WEFT_PARAM(U32, struct egen, slots, "64", "4..128", RECONSTRUCTED,
		   "cells it holds"),
	WEFT_PARAM(U32, struct egen, reserved, "8", "1..32", RECONSTRUCTED,
		   "of these for each VC (4.4)"),
	WEFT_PARAM(U32, struct egen, t_tx, "3", "0..64", CALIBRATED,
		   "cycles, network port out, N3 (7.1)"),
	WEFT_PARAM(U32, struct egen, t_rx, "3", "0..64", CALIBRATED,
		   "cycles, network port in, N4 (7.1)"),
	{ 0 }
};
/* clang-format on */

static const struct weft_preset egen_presets[] = {
	{ "w16", "width=w16", "16-bit network data path (variant A)" },
	{ "w32", "width=w32", "32-bit network data path (variant B)" },
	{ "plain", "gap=1 cell_flits=32 t_tx=2 t_rx=1 self=yes",
	  "beside crossbars with the preset of this name: without load and "
	  "with cables of no length 6 + flits + 5 per hop" },
	{ 0 },
};

static const struct weft_counter egen_counters[EGEN_N_COUNTERS] = {
	[EGEN_SENT] = { "sent", "packets", "packets sent" },
	[EGEN_RECEIVED] = { "received", "packets", "packets received" },
	[EGEN_BYTES] = { "bytes", "bytes", "payload received" },
	[EGEN_MISROUTED] = { "misrouted", "packets", "for somebody else" },
	[EGEN_DISORDER] = { "disorder", "packets",
			    "not the next number of their source" },
	[EGEN_CORRUPT] = { "corrupt", "packets",
			   "payload is not what was sent" },
	[EGEN_BACKLOG] = { "backlog", "packets",
			   "waiting in the source at the end" },
};

static const struct weft_port_decl egen_ports[] = {
	{ "np%u", WEFT_PORT_LINK, "1", &ex_wire_internal, false,
	  "to an internal port of a crossbar" },
	{ 0 },
};

/* ---- sink ---- */

static void packet_take(struct weft_comp *c, struct weft_frame *f)
{
	struct egen *g = c->state;
	struct exnet_pkt p = { .born = f->u[1],
			       .injected = egen_injected(f),
			       .flits = egen_flits(g, f),
			       .marked = f->u[2] & EGEN_MARK };

	weft_count(c, EGEN_RECEIVED, 1);
	weft_count(c, EGEN_BYTES, f->payload.len);
	if (ex_meta(f)->dest != g->node)
		weft_count(c, EGEN_MISROUTED, 1);
	if (g->check)
		egen_check_take(c, f);
	if (g->net)
		exnet_received(g->place.net, &p, egen_now(g));
	if (g->replay)
		egen_replay_done(c, egen_number(f));
	weft_frame_free(f);
}

static void egen_cell(void *own, struct np *np, const struct np_cell *cell)
{
	struct weft_comp *c = own;

	np_release(np, cell->slot, egen_now(c->state));
	if (cell->eop)
		packet_take(c, cell->pkt);
}

static void egen_sent(void *own, struct np *np, uint32_t cls, uint64_t trace_id)
{
	struct weft_comp *c = own;
	struct egen *g = c->state;

	weft_count(c, EGEN_SENT, 1);
	g->last_sent = egen_now(g);
	if (g->net)
		exnet_sent(g->place.net);
	egen_next(c);
}

static const struct np_ops egen_np_ops = { .cell = egen_cell,
					   .sent = egen_sent };

static bool egen_starves(const struct weft_comp *c, uint64_t before)
{
	const struct egen *g = c->state;
	const struct np_pkt *p = g->np.q[g->kind].head;

	return p && p->ready < before && g->last_sent < before;
}

static const struct exnet_source egen_source = { .backlog = egen_backlog,
						 .starves = egen_starves };

/* ---- set-up and end ---- */

static int egen_init(struct weft_comp *c, struct weft_err *err)
{
	struct egen *g = c->state;
	struct eport_cfg cfg = eport_cfg_internal(g->width, &g->clock);

	if (g->node >= g->nodes)
		return weft_fail(err, EINVAL, "%s: node = %u of %u nodes",
				 c->name, g->node, g->nodes);
	cfg.gap = g->gap;
	cfg.cell_flits = g->cell_flits;
	cfg.slots = g->slots;
	cfg.reserved = g->reserved;
	if (np_init(&g->np, c, &c->ports[0], &cfg, 1, &egen_np_ops, c, TAG_NP,
		    err))
		return -EINVAL;
	g->np.ep.cfg.t_out = g->t_tx;
	g->np.t_rx = g->t_rx;
	return 0;
}

static int egen_start(struct weft_comp *c, struct weft_err *err)
{
	struct egen *g = c->state;

	g->net = exnet_of(&g->place);
	if (np_start(&g->np, err))
		return -EINVAL;
	if (egen_check_start(c, err) ||
	    (g->trace[0] ? egen_replay_start(c, err) : egen_src_start(c, err)))
		return -EINVAL;
	if (g->net && exnet_join(g->place.net, g->place.node,
				 (struct exnet_end){ c, &egen_source },
				 &g->clock, egen_total(g), err))
		return -EINVAL;
	egen_next(c);
	return 0;
}

/* Tapped ports do not exist inside a node; somebody's packet has arrived. */
static void egen_arrive(struct weft_comp *c, uint32_t port,
			struct weft_frame *f)
{
	if (f)
		weft_frame_free(f);
	weft_wake(c, TAG_READY, weft_now(c));
}

static void egen_event(struct weft_comp *c, uint32_t tag)
{
	struct egen *g = c->state;

	if (tag == TAG_NP)
		np_event(&g->np);
	else if (g->replay)
		egen_replay_next(c);
}

static int egen_sample(struct weft_comp *c, struct weft_err *err)
{
	struct egen *g = c->state;

	c->counters[EGEN_BACKLOG] = egen_backlog(c, 0, egen_now(g)).packets;
	eport_volume(&g->np.ep);
	return 0;
}

static int egen_finish(struct weft_comp *c, struct weft_err *err)
{
	struct egen *g = c->state;

	egen_sample(c, err);
	if (weft_sim_idle(c->sim))
		np_abandon(&g->np); /* a link on the way is down */
	return g->check ? egen_check_end(c, err) : 0;
}

static void egen_fini(struct weft_comp *c)
{
	struct egen *g = c->state;

	egen_check_fini(g);
	egen_replay_fini(g);
	free(g->mix);
	if (g->np.ops)
		np_fini(&g->np);
}

WEFT_COMPONENT(extoll_gen, .name = "extoll.gen", .kind = WEFT_KIND_TRAFFIC,
	       .doc = "traffic source and sink on an EXTOLL crossbar",
	       .source = "own; network port as extoll.md 5.6",
	       .not_modelled =
		       "everything of a NIC in front of the network "
		       "port",
	       .state_size = sizeof(struct egen), .params = egen_params,
	       .presets = egen_presets, .counters = egen_counters,
	       .n_counters = EGEN_N_COUNTERS, .ports = egen_ports,
	       .ops = { .init = egen_init,
			.start = egen_start,
			.arrive = egen_arrive,
			.event = egen_event,
			.sample = egen_sample,
			.finish = egen_finish,
			.fini = egen_fini,
			.place = ex_stand },
	       .network_parts = &ex_network_parts);
