/* SPDX-License-Identifier: Apache-2.0 */
/* Class extoll.gen: traffic source and sink on an internal port of a crossbar,
 * without host and NIC. It has patterns, arrivals and sizes of its own, or
 * sends packets of a trace (generator_source.c). extoll.net measures latency
 * and load for all sources.
 *
 *   arrivals -> (queue without end) -> network port -> np0
 *   np0 -> network port -> checked, measured, freed at once
 *
 * Sizes are bytes of payload behind `words` command words. With `flits` they
 * are flits of a whole packet, which consists of a routing flit and raw
 * payload. Not modelled: the units of a NIC in front of the network port. */
#include "systems/extoll/traffic/generator.h"

#include <errno.h>
#include <stdlib.h>

enum { TAG_NP, TAG_READY };

/* clang-format off */
static const struct weft_param extoll_gen_params[] = {
	EXTOLL_SOURCE_PARAMS("packets", "sink only"),
	WEFT_PARAM(BYTES, struct extoll_gen, size, "64", "0..4096", OWN,
		   "payload"),
	WEFT_PARAM(BYTES, struct extoll_gen, size_max, "0", "0..4096", OWN,
		   "payload uniform from size to this; 0 = always size"),
	WEFT_PARAM(U32, struct extoll_gen, flits, "0", "0..1024", OWN,
		   "instead of size: flits of the whole packet"),
	WEFT_PARAM(U32, struct extoll_gen, flits_max, "0", "0..1024", OWN,
		   "flits uniform from flits to this; 0 = always flits"),
	WEFT_PARAM(STR, struct extoll_gen, sizes, "", "", OWN,
		   "a mix instead: SIZE:WEIGHT,SIZE:WEIGHT.. (flits when "
		   "`flits` is not 0)"),
	WEFT_PARAM(U32, struct extoll_gen, words, "1", "1..3", OWN,
		   "command words in front of the payload"),
	WEFT_PARAM(ENUM, struct extoll_gen, kind, "request", "request|response", OWN,
		   "class of the packets: channels 0/1 or 2/3 (4.6)"),
	WEFT_PARAM(U32, struct extoll_gen, port, "0", "0..2", OWN,
		   "internal port they go to"),
	EXTOLL_SOURCE_PACKETS("packets"),
	WEFT_PARAM(STR, struct extoll_gen, trace, "", "", OWN,
		   "file of packets to send instead, for all nodes: lines of "
		   "CYCLE SOURCE DESTINATION BYTES [ID [ID,..]]"),
	WEFT_PARAM(BOOL, struct extoll_gen, verify, "no", "", OWN,
		   "check order, loss and bytes of every pair of nodes; not "
		   "of a trace"),
	WEFT_PARAM(CLOCK, struct extoll_source, clock, "156MHz", "", STATED,
		   "core clock"),
	WEFT_PARAM(ENUM, struct extoll_source, width, "w32", "w16|w32", STATED,
		   "network data path, 16 or 32 bit"),
	WEFT_PARAM(U32, struct extoll_gen, gap, "4", "1..16", STATED,
		   "least distance of cell starts (4.1)"),
	WEFT_PARAM(U32, struct extoll_gen, cell_flits, "0", "0..128", OWN,
		   "flits of a cell at most; 0 = 64 bytes"),
	WEFT_PARAM(U32, struct extoll_gen, slots, "64", "4..128", RECONSTRUCTED,
		   "cells it holds"),
	WEFT_PARAM(U32, struct extoll_gen, reserved, "8", "1..32", RECONSTRUCTED,
		   "of these for each VC (4.4)"),
	WEFT_PARAM(U32, struct extoll_gen, t_tx, "3", "0..64", CALIBRATED,
		   "cycles, network port out, N3 (7.1)"),
	WEFT_PARAM(U32, struct extoll_gen, t_rx, "3", "0..64", CALIBRATED,
		   "cycles, network port in, N4 (7.1)"),
	{ 0 }
};
/* clang-format on */

static const struct weft_preset extoll_gen_presets[] = {
	{ "w16", "width=w16", "16-bit network data path (variant A)" },
	{ "w32", "width=w32", "32-bit network data path (variant B)" },
	{ "plain", "gap=1 cell_flits=32 t_tx=2 t_rx=1 self=yes",
	  "beside crossbars with the preset of this name: without load and "
	  "with cables of no length 6 + flits + 5 per hop" },
	{ 0 },
};

static const struct weft_counter extoll_gen_counters[EXTOLL_GEN_N_COUNTERS] = {
	[EXTOLL_GEN_SENT] = { "sent", "packets", "packets sent" },
	[EXTOLL_GEN_RECEIVED] = { "received", "packets", "packets received" },
	[EXTOLL_GEN_BYTES] = { "bytes", "bytes", "payload received" },
	[EXTOLL_GEN_MISROUTED] = { "misrouted", "packets", "for another node" },
	[EXTOLL_GEN_DISORDER] = { "disorder", "packets",
				  "not the next number of their source" },
	[EXTOLL_GEN_CORRUPT] = { "corrupt", "packets",
				 "payload is not what was sent" },
	[EXTOLL_GEN_BACKLOG] = { "backlog", "packets",
				 "waiting in the source at the end" },
};

static const struct weft_port_decl extoll_gen_ports[] = {
	{ "np%u", WEFT_PORT_LINK, "1", &ex_wire_internal, false,
	  "to an internal port of a crossbar" },
	{ 0 },
};

/* ---- sink ---- */

static void packet_take(struct weft_comp *c, struct weft_frame *f)
{
	struct extoll_gen *g = c->state;
	struct net_packet p = { .born = f->u[1],
				.injected = extoll_gen_injected(f),
				.flits = extoll_gen_flits(g, f),
				.marked = f->u[2] & EXTOLL_GEN_MARK };

	weft_count(c, EXTOLL_GEN_RECEIVED, 1);
	weft_count(c, EXTOLL_GEN_BYTES, f->payload.len);
	if (ex_meta(f)->dest != g->s.node)
		weft_count(c, EXTOLL_GEN_MISROUTED, 1);
	if (g->check)
		extoll_gen_check_take(c, f);
	if (g->s.net)
		net_meter_received(g->s.place.net, &p, extoll_gen_now(g));
	if (g->s.t.replay)
		extoll_gen_replay_done(c, extoll_gen_number(f));
	weft_frame_free(f);
}

static void extoll_gen_cell(void *own, struct netport *np,
			    const struct netport_cell *cell)
{
	struct weft_comp *c = own;

	netport_release(np, cell->slot, extoll_gen_now(c->state));
	if (cell->eop)
		packet_take(c, cell->pkt);
}

static void extoll_gen_sent(void *own, struct netport *np, uint32_t cls,
			    uint64_t trace_id)
{
	struct weft_comp *c = own;
	struct extoll_gen *g = c->state;

	weft_count(c, EXTOLL_GEN_SENT, 1);
	g->last_sent = extoll_gen_now(g);
	if (g->s.net)
		net_meter_sent(g->s.place.net);
	extoll_gen_next(c);
}

static const struct netport_ops extoll_gen_np_ops = { .cell = extoll_gen_cell,
						      .sent = extoll_gen_sent };

static bool extoll_gen_starves(const struct weft_comp *c, uint64_t before)
{
	const struct extoll_gen *g = c->state;
	const struct netport_pkt *p = g->np.q[g->kind].head;

	return p && p->ready < before && g->last_sent < before;
}

static const struct net_source_ops extoll_gen_source = {
	.backlog = extoll_source_backlog, .starves = extoll_gen_starves
};

/* ---- set-up and end ---- */

static int extoll_gen_init(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_gen *g = c->state;
	struct cell_channel_cfg cfg =
		cell_channel_cfg_internal(g->s.width, &g->s.clock);

	if (extoll_source_init(c, err))
		return -EINVAL;
	cfg.gap = g->gap;
	cfg.cell_flits = g->cell_flits;
	cfg.slots = g->slots;
	cfg.reserved = g->reserved;
	if (netport_init(&g->np, c, &c->ports[0], &cfg, 1, &extoll_gen_np_ops,
			 c, TAG_NP, err))
		return -EINVAL;
	g->np.ep.cfg.t_out = g->t_tx;
	g->np.t_rx = g->t_rx;
	return 0;
}

static int extoll_gen_start(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_gen *g = c->state;

	g->s.net = extoll_net_of(&g->s.place);
	if (netport_start(&g->np, err) || extoll_gen_check_start(c, err) ||
	    extoll_gen_src_start(c, err) ||
	    extoll_source_join(c, &extoll_gen_source, err))
		return -EINVAL;
	extoll_gen_next(c);
	return 0;
}

/* Called without a frame (extoll_gen_replay_done) when a packet of the trace at
 * this source may be sent, because all packets on which it depends have
 * arrived. Real frames do not arrive, because ports inside a node are not
 * framed. */
static void extoll_gen_arrive(struct weft_comp *c, uint32_t port,
			      struct weft_frame *f)
{
	if (f)
		weft_frame_free(f);
	weft_wake(c, TAG_READY, weft_now(c));
}

static void extoll_gen_event(struct weft_comp *c, uint32_t tag)
{
	struct extoll_gen *g = c->state;

	if (tag == TAG_NP)
		netport_event(&g->np);
	else if (g->s.t.replay)
		extoll_gen_next(c);
}

static int extoll_gen_sample(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_gen *g = c->state;

	c->counters[EXTOLL_GEN_BACKLOG] =
		extoll_source_backlog(c, 0, extoll_gen_now(g)).packets;
	cell_channel_volume(&g->np.ep);
	return 0;
}

static int extoll_gen_finish(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_gen *g = c->state;

	extoll_gen_sample(c, err);
	if (weft_sim_idle(c->sim))
		/* packets are left because a link on the route is down */
		netport_abandon(&g->np);
	return g->check ? extoll_gen_check_end(c, err) : 0;
}

static void extoll_gen_fini(struct weft_comp *c)
{
	struct extoll_gen *g = c->state;

	if (g->check) {
		free(g->check->sent);
		free(g->check->expected);
	}
	free(g->check);
	traffic_source_fini(&g->s.t);
	if (g->np.ops)
		netport_fini(&g->np);
}

WEFT_COMPONENT(extoll_gen, .name = "extoll.gen", .kind = WEFT_KIND_TRAFFIC,
	       .doc = "traffic source and sink on an EXTOLL crossbar",
	       .source = "own; network port as extoll.md 5.6",
	       .not_modelled =
		       "everything of a NIC in front of the network "
		       "port",
	       .state_size = sizeof(struct extoll_gen),
	       .params = extoll_gen_params, .presets = extoll_gen_presets,
	       .counters = extoll_gen_counters,
	       .n_counters = EXTOLL_GEN_N_COUNTERS, .ports = extoll_gen_ports,
	       .ops = { .init = extoll_gen_init,
			.start = extoll_gen_start,
			.arrive = extoll_gen_arrive,
			.event = extoll_gen_event,
			.sample = extoll_gen_sample,
			.finish = extoll_gen_finish,
			.fini = extoll_gen_fini,
			.place = ex_stand },
	       .network_parts = &ex_network_parts);
