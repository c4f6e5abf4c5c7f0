/* SPDX-License-Identifier: Apache-2.0 */
/* Class extoll.gateway: joins the crossbar beside a NIC to an end of a network
 * of routers (systems/router/network/gateway.h). The line to the crossbar is a
 * link port with framing, credits, acknowledgements and replay
 * (cell_channel.h).
 *
 *   lp0 of the crossbar <-> cells <-> packets <-> frames of the network
 *
 * Packets have table routing: the routing flit names node, internal port and
 * class. The node is the number of the destination's end. Each class of packets
 * has its own buffers and windows, because a NIC accepts requests only while it
 * can send responses. A packet that carries a path is dropped, because a path
 * does not name a node behind the gateway. */
#include "systems/extoll/network/gateway.h"

#include <errno.h>

#include "systems/extoll/network/cell_channel_internal.h"
#include "systems/extoll/network/place.h"

enum { TAG_LINE }; /* 1 + GATEWAY_PORT_NIC is that of the channel */

/* clang-format off */
static const struct weft_param params[] = {
	EX_GATEWAY_PARAMS("156MHz", "w32", STATED),
	{ 0 }
};

const struct weft_counter ex_gateway_counters[EX_GATEWAY_N_COUNTERS] = {
	GATEWAY_COUNTERS,
	[EX_GATEWAY_UNROUTED] = { "unrouted", "packets",
				  "dropped: their route names no node" },
	[EX_GATEWAY_REPLAYS] = { "replays", "times",
				 "cells were sent again (4.7)" },
	[EX_GATEWAY_DAMAGED] = { "damaged", "cells",
				 "received with bad CRC or code" },
};

const struct weft_port_decl ex_gateway_ports[] = {
	GATEWAY_PORTS,
	{ "nic", WEFT_PORT_LINK, .wire = &ex_wire_link,
	  .doc = "link port to the crossbar of the NIC" },
	{ 0 }
};
/* clang-format on */

const struct weft_network_parts ex_gateway_parts = {
	.net = "net.meter",
	.switch_class = "net.router",
	.link = "net.channel",
};

static void line_arm(struct ex_gateway *e, uint64_t cycle)
{
	if (cycle >= e->armed)
		return;
	e->armed = cycle;
	weft_wake(e->g.s.comp, TAG_LINE, weft_clock_edge(&e->core, cycle));
}

static void line_wake(void *own, struct cell_channel *ep, uint64_t cycle)
{
	line_arm(own, cycle);
}

static const struct cell_channel_ops channel_ops = { .wake = line_wake };

/* ---- from the NIC ---- */

static void packet_in(struct ex_gateway *e, struct weft_frame *f)
{
	const struct ex_meta *m = ex_meta(f);
	uint32_t end, bytes = m->words ? ex_words(f) * 8 : f->payload.len;

	if (!e->dest(f, &end)) {
		weft_count(e->g.s.comp, EX_GATEWAY_UNROUTED, 1);
		weft_msg_end(e->g.s.comp, f->trace_id, false);
		weft_frame_free(f);
	} else if (!gateway_knows(&e->g, end)) {
		gateway_drop(&e->g, f);
	} else {
		gateway_send(&e->g, f, end, m->cls, bytes);
	}
}

/* Consumes the cells of a VC in order. The last cell of a packet keeps its slot
 * and its credit until the network has room for the packet. */
static void cells_take(struct ex_gateway *e, uint32_t vc, uint64_t cycle)
{
	while (e->head[vc] != CELL_CHANNEL_NONE) {
		uint32_t slot = e->head[vc];
		const struct ecell *c = &e->ep.slot[slot];
		bool last = (c->flags & (ECELL_EOP | ECELL_VOID)) == ECELL_EOP;
		struct weft_frame *f = c->pkt;

		if (last && !gateway_room(&e->g, vc / 2))
			return;
		e->head[vc] = c->next;
		cell_channel_release(&e->ep, slot, cycle);
		if (last)
			packet_in(e, f);
	}
}

static void cells_arrive(struct ex_gateway *e, uint64_t cycle)
{
	uint32_t slot;

	while ((slot = cell_channel_take(&e->ep, cycle)) != CELL_CHANNEL_NONE) {
		uint32_t vc = e->ep.slot[slot].vc;

		if (e->head[vc] == CELL_CHANNEL_NONE)
			e->head[vc] = (uint8_t)slot;
		else
			e->ep.slot[e->tail[vc]].next = (uint8_t)slot;
		e->tail[vc] = (uint8_t)slot;
	}
	for (uint32_t vc = 0; vc < EX_VCS; vc++)
		cells_take(e, vc, cycle);
	if (cell_channel_seen(&e->ep) != WEFT_NEVER)
		line_arm(e, cell_channel_seen(&e->ep));
}

static void line_room(struct weft_comp *c, uint32_t cls)
{
	struct ex_gateway *e = c->state;

	if (e->head[2 * cls] != CELL_CHANNEL_NONE ||
	    e->head[2 * cls + 1] != CELL_CHANNEL_NONE)
		line_arm(e, cell_channel_now(&e->ep));
}

/* ---- to the NIC ---- */

static void line_deliver(struct weft_comp *c, struct weft_frame *f,
			 uint32_t src, uint32_t cls, weft_time_t ready)
{
	struct ex_gateway *e = c->state;
	uint64_t cycle = weft_clock_cycle(&e->core, ready);

	ex_meta(f)->pos = 0;
	ex_meta(f)->dim = 0xff;
	*ring_push(&e->out[cls].q) =
		(struct ex_gateway_packet){ f, cycle, src };
	line_arm(e, cycle);
}

/* Sends the next cell of the first packet. The routing flits of a packet come
 * before its content. */
static void cell_send(struct ex_gateway *e, uint32_t cls, uint64_t cycle)
{
	struct ex_gateway_queue *o = &e->out[cls];
	struct ex_gateway_packet p = *ring_front(&o->q);
	const struct ex_meta *m = ex_meta(p.f);
	uint32_t w = ex_flit_bytes(e->width), most = EX_CELL_BYTES / w;
	uint32_t route = ex_route_flits(e->width, m->hops);
	uint32_t bytes = m->words ? ex_words(p.f) * 8 : p.f->payload.len;
	uint32_t left = route + bytes / w - o->flit;
	struct ecell c = {
		.pkt = p.f,
		.first = (uint16_t)(o->flit > route ? o->flit - route : 0),
		.flits = (uint8_t)(left < most ? left : most),
		.flags = (o->flit ? 0 : ECELL_SOP) |
			 (o->flit || m->hops ? 0 : ECELL_TABLE) |
			 (left <= most ? ECELL_EOP : 0),
		.dest = m->dest,
		.port = m->port,
		.cls = m->cls,
		.dim = 0xff,
	};

	o->flit += c.flits;
	if (left <= most)
		weft_mark(e->g.s.comp, p.f->trace_id, "gateway",
			  weft_clock_edge(&e->core, cycle + e->ep.t_out));
	cell_channel_commit(&e->ep, &c, cls * 2, cycle);
	e->turn = !cls;
	if (left > most)
		return;
	o->flit = 0;
	ring_pop(&o->q);
	gateway_done(&e->g, p.src, cls);
}

/* Sends a cell of a class if it may. */
static bool class_try(struct ex_gateway *e, uint32_t cls, uint64_t cycle)
{
	struct ex_gateway_queue *o = &e->out[cls];

	if (ring_empty(&o->q))
		return false;
	if (ring_front(&o->q)->ready > cycle) {
		line_arm(e, ring_front(&o->q)->ready);
		return false;
	}
	if (!cell_channel_can(&e->ep, cls * 2, cycle))
		return false;
	cell_send(e, cls, cycle);
	return true;
}

static void cells_leave(struct ex_gateway *e, uint64_t cycle)
{
	uint64_t next;

	if (ring_empty(&e->out[0].q) && ring_empty(&e->out[1].q))
		return;
	next = cell_channel_next(&e->ep, cycle);
	if (next > cycle) {
		line_arm(e, next);
		return;
	}
	if (class_try(e, e->turn, cycle) || class_try(e, !e->turn, cycle))
		line_arm(e, e->ep.next_grant > cycle ? e->ep.next_grant
						     : cycle + 1);
}

/* ---- the class ---- */

static const struct gateway_ops gateway_ops = { .deliver = line_deliver,
						.room = line_room };

void ex_gateway_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
	struct ex_gateway *e = c->state;

	if (port == GATEWAY_PORT_NIC && f)
		cell_channel_arrive(&e->ep, f);
}

void ex_gateway_event(struct weft_comp *c, uint32_t tag)
{
	struct ex_gateway *e = c->state;
	uint64_t cycle = e->armed;

	if (tag == 1 + GATEWAY_PORT_NIC) {
		cell_channel_event(&e->ep);
	} else if (cycle != WEFT_NEVER &&
		   weft_clock_edge(&e->core, cycle) == weft_now(c)) {
		e->armed = WEFT_NEVER;
		cells_arrive(e, cycle);
		cells_leave(e, cycle);
	}
}

int ex_gateway_init(struct weft_comp *c,
		    bool (*dest)(const struct weft_frame *f, uint32_t *end_p),
		    struct weft_err *err)
{
	struct ex_gateway *e = c->state;
	struct cell_channel_cfg cfg;

	if (gateway_init(c, &gateway_ops, err))
		return -EINVAL;
	e->dest = dest;
	memset(e->head, CELL_CHANNEL_NONE, sizeof(e->head));
	e->armed = WEFT_NEVER;
	cfg = cell_channel_cfg_link(e->width, &e->core);
	cfg.slots = e->slots;
	cfg.reserved = e->reserved;
	cfg.store_forward = true;
	return cell_channel_init(&e->ep, c, &c->ports[GATEWAY_PORT_NIC], &cfg,
				 &channel_ops, e, err);
}

int ex_gateway_start(struct weft_comp *c, struct weft_err *err)
{
	struct ex_gateway *e = c->state;

	if (gateway_start(c, err) || cell_channel_start(&e->ep, err))
		return -EINVAL;
	if (e->ep.peer->cfg.overhead != e->ep.cfg.overhead)
		return weft_fail(
			err, EINVAL,
			"%s: %s has bare links, a gateway has framed ones: leave out 'links'",
			c->name, e->ep.peer->comp->name);
	return 0;
}

int ex_gateway_sample(struct weft_comp *c, struct weft_err *err)
{
	struct ex_gateway *e = c->state;
	const struct cell_channel_count *n = cell_channel_counts(&e->ep);

	c->counters[EX_GATEWAY_REPLAYS] = n->replays;
	c->counters[EX_GATEWAY_DAMAGED] = n->crc + n->code;
	cell_channel_volume(&e->ep);
	return 0;
}

int ex_gateway_finish(struct weft_comp *c, struct weft_err *err)
{
	struct ex_gateway *e = c->state;

	if (weft_sim_idle(c->sim)) {
		cell_channel_abandon(&e->ep, true);
		gateway_abandon(&e->g);
		for (uint32_t k = 0; k < GATEWAY_CLASSES; k++)
			for (; !ring_empty(&e->out[k].q);
			     ring_pop(&e->out[k].q))
				weft_frame_free(ring_front(&e->out[k].q)->f);
	}
	return ex_gateway_sample(c, err);
}

void ex_gateway_fini(struct weft_comp *c)
{
	struct ex_gateway *e = c->state;

	for (uint32_t k = 0; k < GATEWAY_CLASSES; k++)
		ring_free(&e->out[k].q);
	if (e->ep.comp)
		cell_channel_fini(&e->ep);
	gateway_fini(c);
}

/* ---- table routing ---- */

static bool table_dest(const struct weft_frame *f, uint32_t *end_p)
{
	const struct ex_meta *m = (const struct ex_meta *)&f->u[3];

	*end_p = m->dest;
	return !m->hops;
}

static int egw_init(struct weft_comp *c, struct weft_err *err)
{
	return ex_gateway_init(c, table_dest, err);
}

WEFT_COMPONENT(extoll_gateway, .name = "extoll.gateway",
	       .kind = WEFT_KIND_SWITCH,
	       .doc = "EXTOLL link to a network of routers",
	       .source = "own; link port as extoll.md 4",
	       .not_modelled = "packets routed by path",
	       .state_size = sizeof(struct ex_gateway), .params = params,
	       .counters = ex_gateway_counters,
	       .n_counters = EX_GATEWAY_N_COUNTERS, .ports = ex_gateway_ports,
	       .ops = EX_GATEWAY_OPS(egw_init),
	       .network_parts = &ex_gateway_parts);
