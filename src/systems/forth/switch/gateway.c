/* SPDX-License-Identifier: Apache-2.0 */
/* Class forth.gateway: joins a FORTH link to an end of a network of routers
 * (systems/router/network/gateway.h). It uses the common link end of FORTH
 * links (link/port.h). The flow of a packet is the number of the destination's
 * end.
 *
 * The gateway forwards only packets that have arrived completely. The words of
 * a packet stay in the buffer of the link end until the gateway has room to
 * send the packet into the network. Then the credits for these words return. A
 * packet with a wrong body CRC is forwarded with this CRC, as by forth.xbar.
 *
 * Not modelled: bundles, paths. */
#include <errno.h>

#include "systems/forth/link/port.h"
#include "systems/router/network/gateway.h"

enum { TAG_IN, TAG_LINK };

enum {
	GW_OVERFLOW = GATEWAY_N_COUNTERS,
	GW_HEADER_CRC,
	GW_BODY_CRC,
	GW_BACKPRESSURE,
	GW_N_COUNTERS
};

struct in_packet {
	struct weft_frame *f;
	weft_time_t whole;
};
struct out_packet {
	struct weft_frame *f;
	weft_time_t ready;
	uint32_t src;
};

struct forth_gateway {
	struct gateway g;
	/* parameters: */
	uint32_t frame, min_payload, refresh_cc, resync;
	uint64_t rx_bytes;
	bool crc32_complement;
	/* state: */
	struct forth_port link;
	struct weft_timer in;
	struct {
		RING(struct in_packet);
	} wait; /* from the NIC, in order */
	struct {
		RING(struct out_packet);
	} q;	       /* for the NIC */
	uint32_t held; /* words of `wait` */
};

/* clang-format off */
static const struct weft_param params[] = {
	GATEWAY_PARAMS,
	WEFT_PARAM(BYTES, struct forth_gateway, rx_bytes, "8184", "32..16376",
		   OWN, "buffer of the link end, for which the NIC has credits"),
	WEFT_PARAM(ENUM, struct forth_gateway, frame, "word", "word|packed",
		   RECONSTRUCTED, "frame layout (R-18); as the NIC"),
	WEFT_PARAM(U32, struct forth_gateway, min_payload, "24", "0..4096",
		   STATED, "shorter payloads are padded on the wire (P 3, "
		   "R-40); as the NIC"),
	WEFT_PARAM(U32, struct forth_gateway, refresh_cc, "1024", "0..",
		   RECONSTRUCTED,
		   "cycles after which an idle line repeats a credit (5.3)"),
	WEFT_PARAM(BOOL, struct forth_gateway, crc32_complement, "false", "",
		   STATED,
		   "body CRC complemented as in AAL5 (R-20); as the NIC"),
	WEFT_PARAM(U32, struct forth_gateway, resync, "0", "0..", OWN,
		   "cycles without credits after which the flow starts anew "
		   "on both sides (5.7); 0 = never; as the NIC"),
	{ 0 }
};

static const struct weft_preset presets[] = {
	{ "tr-switch", "min_payload=8", "beside NICs of TR-376" },
	{ "plat-switch", "min_payload=24", "beside NICs of the platform paper" },
	{ 0 }
};

static const struct weft_counter counters[GW_N_COUNTERS] = {
	GATEWAY_COUNTERS,
	[GW_OVERFLOW] = { "overflow", "packets",
			  "came without credits and found no room" },
	[GW_HEADER_CRC] = { "header_crc", "packets",
			    "dropped: wrong header CRC" },
	[GW_BODY_CRC] = { "body_crc", "packets",
			  "forwarded with a wrong body CRC" },
	[GW_BACKPRESSURE] = { "backpressure", "cycles",
			      "a packet for the NIC lacked credits" },
};

static const struct weft_port_decl ports[] = {
	GATEWAY_PORTS,
	{ "nic", WEFT_PORT_LINK, .wire = &forth_wire,
	  .doc = "full-duplex link" },
	{ 0 }
};
/* clang-format on */

static uint32_t wire_len(const struct weft_frame *f)
{
	return forth_shape_get(f).wire_len;
}

/* ---- from the NIC ---- */

/* Sends packets that have arrived completely into the network while the gateway
 * has room. */
static void packets_send(struct forth_gateway *e)
{
	struct weft_comp *c = e->g.s.comp;
	weft_time_t now = weft_now(c);

	while (!ring_empty(&e->wait)) {
		struct in_packet p = *ring_front(&e->wait);
		uint32_t end = forth_hdr_flow(p.f->u[FORTH_U_HEADER]);
		uint32_t charge = forth_charge(1, wire_len(p.f));

		if (p.whole > now) {
			weft_timer_arm(c, &e->in, TAG_IN, p.whole);
			return;
		}
		if (!gateway_room(&e->g, 0))
			return;
		ring_pop(&e->wait);
		e->held -= charge;
		forth_port_fwd(&e->link, 0, charge, now);
		/* the length covers header, payload with padding, and CRC */
		if (gateway_knows(&e->g, end))
			gateway_send(&e->g, p.f, end, 0, wire_len(p.f) + 12);
		else
			gateway_drop(&e->g, p.f);
	}
}

static void link_packet(void *own, struct forth_port *l, struct weft_frame *f,
			const struct forth_port_rx *rx)
{
	struct forth_gateway *e = own;
	uint32_t charge = forth_charge(1, wire_len(f));
	weft_time_t whole = weft_clock_edge(&l->clk, rx->cycle + rx->words);

	if (rx->bad)
		weft_count(l->comp, GW_BODY_CRC, 1);
	if (e->held + charge > l->cfg.rx_cap) {
		weft_count(l->comp, GW_OVERFLOW, 1);
		forth_port_dropped(l, 0, charge);
		weft_frame_free(f);
		return;
	}
	e->held += charge;
	*ring_push(&e->wait) = (struct in_packet){ f, whole };
	if (ring_count(&e->wait) == 1)
		weft_timer_arm(l->comp, &e->in, TAG_IN, whole);
}

static bool link_drained(void *own, struct forth_port *l)
{
	return !((struct forth_gateway *)own)->held;
}

static void line_room(struct weft_comp *c, uint32_t cls)
{
	struct forth_gateway *e = c->state;

	if (!ring_empty(&e->wait))
		weft_timer_arm(c, &e->in, TAG_IN, weft_now(c));
}

/* ---- to the NIC ---- */

static void line_deliver(struct weft_comp *c, struct weft_frame *f,
			 uint32_t src, uint32_t cls, weft_time_t ready)
{
	struct forth_gateway *e = c->state;

	*ring_push(&e->q) = (struct out_packet){ f, ready, src };
	forth_port_kick(&e->link, ready);
}

static bool link_next(void *own, struct forth_port *l, struct forth_port_pkt *p)
{
	struct forth_gateway *e = own;
	struct out_packet o;

	if (ring_empty(&e->q))
		return false;
	o = *ring_front(&e->q);
	if (o.ready > weft_now(l->comp)) {
		forth_port_kick(l, o.ready);
		return false;
	}
	if (!forth_port_credit(l, forth_hdr_flow(o.f->u[FORTH_U_HEADER]),
			       (wire_len(o.f) + 7) / 8))
		return false;
	ring_pop(&e->q);
	weft_mark(l->comp, o.f->trace_id, "gateway", weft_now(l->comp));
	gateway_done(&e->g, o.src, 0);
	*p = (struct forth_port_pkt){ .f = o.f, .last = ring_empty(&e->q) };
	return true;
}

static void link_sent(void *own, struct forth_port *l, uint64_t start,
		      uint64_t end, uint32_t shift)
{
}

static const struct forth_port_ops link_ops = {
	.next = link_next,
	.sent = link_sent,
	.packet = link_packet,
	.drained = link_drained,
};

/* ---- the class ---- */

static const struct gateway_ops gateway_ops = { .deliver = line_deliver,
						.room = line_room };

static void fgw_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
	forth_port_arrive(&((struct forth_gateway *)c->state)->link, 0, f);
}

static void fgw_event(struct weft_comp *c, uint32_t tag)
{
	struct forth_gateway *e = c->state;

	if (tag == TAG_LINK)
		forth_port_event(&e->link);
	else if (weft_timer_due(c, &e->in))
		packets_send(e);
}

static int fgw_init(struct weft_comp *c, struct weft_err *err)
{
	struct forth_gateway *e = c->state;
	struct forth_port_cfg cfg = forth_port_cfg_default();

	if (gateway_init(c, &gateway_ops, err))
		return -EINVAL;
	cfg.layout = e->frame;
	cfg.rx_cap = (uint32_t)e->rx_bytes / 4;
	cfg.min_payload = e->min_payload > 8 ? e->min_payload : 0;
	cfg.refresh_cc = e->refresh_cc;
	cfg.resync_cc = e->resync;
	cfg.crc32_complement = e->crc32_complement;
	return forth_port_init(&e->link, c, &c->ports[GATEWAY_PORT_NIC], &cfg,
			       &link_ops, e, TAG_LINK, err);
}

static int fgw_start(struct weft_comp *c, struct weft_err *err)
{
	struct forth_gateway *e = c->state;
	const struct forth_port *nic = c->ports[GATEWAY_PORT_NIC].peer->iface;

	if (gateway_start(c, err) || forth_port_start(&e->link, err))
		return -EINVAL;
	if (e->g.s.graph->ends > FORTH_FLOWS)
		return weft_fail(
			err, EINVAL,
			"%s: a header names one of %u destinations, here are %u ends: make the network smaller",
			c->name, FORTH_FLOWS, e->g.s.graph->ends);
	return nic ? forth_port_room_check(&e->link, nic->cfg.max_payload,
					   nic->cfg.one_size, err)
		   : 0;
}

static int fgw_sample(struct weft_comp *c, struct weft_err *err)
{
	struct forth_gateway *e = c->state;
	const struct forth_port_count *n = forth_port_counts(&e->link);

	c->counters[GW_HEADER_CRC] = n->header_crc;
	c->counters[GW_BACKPRESSURE] = n->backpressure;
	return 0;
}

static int fgw_finish(struct weft_comp *c, struct weft_err *err)
{
	struct forth_gateway *e = c->state;

	if (weft_sim_idle(c->sim)) {
		gateway_abandon(&e->g);
		for (; !ring_empty(&e->wait); ring_pop(&e->wait))
			weft_frame_free(ring_front(&e->wait)->f);
		for (; !ring_empty(&e->q); ring_pop(&e->q))
			weft_frame_free(ring_front(&e->q)->f);
	}
	return fgw_sample(c, err);
}

static void fgw_fini(struct weft_comp *c)
{
	struct forth_gateway *e = c->state;

	ring_free(&e->wait);
	ring_free(&e->q);
	if (e->link.comp)
		forth_port_fini(&e->link);
	gateway_fini(c);
}

static const struct weft_network_parts parts = {
	.net = "net.meter",
	.switch_class = "net.router",
	.link = "net.channel",
};

WEFT_COMPONENT(forth_gateway, .name = "forth.gateway", .kind = WEFT_KIND_SWITCH,
	       .doc = "FORTH link to a network of routers",
	       .source = "own; link end as forth.md 4, 5",
	       .not_modelled = "bundles, paths",
	       .state_size = sizeof(struct forth_gateway), .params = params,
	       .presets = presets, .counters = counters,
	       .n_counters = GW_N_COUNTERS, .ports = ports,
	       .ops = { .init = fgw_init,
			.start = fgw_start,
			.arrive = fgw_arrive,
			.event = fgw_event,
			.finish = fgw_finish,
			.sample = fgw_sample,
			.place = station_place,
			.fini = fgw_fini },
	       .network_parts = &parts);
