/* SPDX-License-Identifier: Apache-2.0 */
/* Class eth.gateway: joins an Ethernet station to an end of a network of
 * routers (systems/router/network/gateway.h). All gateways together are a
 * learning bridge. A gateway reads the source addresses of frames and learns at
 * which end of the network each station is. A frame to an unknown station or a
 * group is copied to all other ends.
 *
 * A gateway checks frames as a store-and-forward switch does. A full gateway
 * loses the frame (full: drop), or pauses the station (802.3x). The pause
 * begins when `xoff` frames wait and ends when only `xon` frames wait. Towards
 * the station the gateway obeys pause frames. With full: drop it loses a frame
 * for the station when `out` frames wait.
 *
 * Not modelled: spanning tree, VLANs, priorities. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/need.h"
#include "systems/ethernet/switch/station_table.h"
#include "systems/router/network/gateway.h"

enum { TAG_IN, TAG_OUT };
enum { FULL_DROP, FULL_PAUSE };

enum {
	GW_DROPPED = GATEWAY_N_COUNTERS,
	GW_BAD,
	GW_RESERVED,
	GW_FLOODED,
	GW_FILTERED,
	GW_LEARNED,
	GW_PAUSE_IN,
	GW_PAUSE_OUT,
	GW_N_COUNTERS
};

struct out_frame {
	struct weft_frame *f;
	weft_time_t ready;
	uint32_t src;
};

struct eth_gateway {
	struct gateway g;
	/* parameters: */
	uint32_t full, xoff, xon, out, quanta, table, frame_max;
	weft_time_t ageing;
	/* state: */
	struct weft_comp *comp;
	struct weft_port *port;
	struct weft_frame *line; /* arriving frames, by their end */
	struct weft_timer in, send;
	struct eth_table stations; /* ends by station */
	struct {
		RING(struct weft_frame *);
	} wait; /* frames that wait for room in the gateway's queue, with the
		   number of the destination's end in u[0] */
	struct {
		RING(struct out_frame);
	} q;
	struct weft_frame *ctl; /* a pause frame that waits to be sent */
	weft_time_t free;	/* time from which the line is free */
	weft_time_t pause;	/* time until which it is paused */
	bool paused;		/* the station was paused last */
	weft_time_t paused_at;
	uint8_t addr[ETH_ADDR];
};

/* clang-format off */
#define P(type, field, def, range, source, doc) \
	WEFT_PARAM(type, struct eth_gateway, field, def, range, source, doc)
static const struct weft_param params[] = {
	GATEWAY_PARAMS,
	P(ENUM, full, "drop", "drop|pause", OWN,
	  "a full gateway loses frames, or pauses the station"),
	P(U32, xoff, "4", "1..4096", OWN,
	  "pause the station when so many frames wait for the network"),
	P(U32, xon, "2", "0..4096", OWN, "and end it at that many"),
	P(U32, out, "128", "1..65536", OWN,
	  "drop: frames that wait for the line to the station at most"),
	P(U32, quanta, "65535", "1..65535", OWN, "time of a pause, in 512 ns"),
	P(U32, table, "4096", "4..1048576", OWN,
	  "stations it can know; 4 times a power of two"),
	P(TIME, ageing, "300s", "1fs..", OWN,
	  "a station that is silent so long is forgotten (802.1D)"),
	P(U32, frame_max, "9014", "60..16384", OWN,
	  "longest frame without FCS"),
	{ 0 }
};
#undef P

static const struct weft_counter counters[GW_N_COUNTERS] = {
	GATEWAY_COUNTERS,
	[GW_DROPPED] = { "dropped", "frames", "found no place" },
	[GW_BAD] = { "bad", "frames",
		     "wrong FCS, too short or too long: dropped" },
	[GW_RESERVED] = { "reserved", "frames",
			  "to 01:80:c2:00:00:0x: not for a bridge to forward" },
	[GW_FLOODED] = { "flooded", "frames",
			 "sent to all other ends: unknown station or group" },
	[GW_FILTERED] = { "filtered", "frames", "their station is this one" },
	[GW_LEARNED] = { "learned", "stations", "new in the table, or moved" },
	[GW_PAUSE_IN] = { "pause_in", "frames", "pause frames received" },
	[GW_PAUSE_OUT] = { "pause_out", "frames", "pause frames sent" },
};

static const struct weft_port_decl ports[] = {
	GATEWAY_PORTS,
	{ "nic", WEFT_PORT_LINK, .wire = &eth_wire, .doc = "1000BASE-T" },
	{ 0 }
};
/* clang-format on */

static void line_send(struct eth_gateway *e);

/* ---- pause ---- */

/* Sends a pause frame. It replaces a waiting pause frame, because only the
 * newest pause frame counts. */
static void pause_send(struct eth_gateway *e, uint16_t quanta)
{
	if (e->ctl)
		weft_frame_free(e->ctl);
	e->ctl = eth_pause_new(e->comp->sim, e->addr, quanta);
	e->paused = quanta;
	e->paused_at = weft_now(e->comp);
	weft_count(e->comp, GW_PAUSE_OUT, 1);
	line_send(e);
}

static uint32_t waiting(const struct eth_gateway *e)
{
	return e->g.queue[0].n + ring_count(&e->wait);
}

/* Sends the station a pause frame when `xoff` frames wait. Repeats the pause
 * frame after half of its pause time, so that the station stays paused. */
static void pause_above(struct eth_gateway *e)
{
	weft_time_t half = e->quanta * ETH_PAUSE_QUANTA / 2;

	if (e->full == FULL_PAUSE && waiting(e) >= e->xoff &&
	    (!e->paused || weft_now(e->comp) - e->paused_at >= half))
		pause_send(e, (uint16_t)e->quanta);
}

/* ---- from the station ---- */

static void learn(struct eth_gateway *e, const uint8_t *src, uint32_t end)
{
	if (!eth_is_group(src) &&
	    eth_table_learn(&e->stations, eth_addr_key(src), end,
			    weft_now(e->comp)) != ETH_KNOWN)
		weft_count(e->comp, GW_LEARNED, 1);
}

/* Handles frames to addresses 01:80:c2:00:00:00 to 0f, which a bridge does not
 * forward. Returns true for such a frame. */
static bool for_us(struct eth_gateway *e, const struct weft_frame *f)
{
	const uint8_t *dst = eth_frame_data(f);
	uint16_t quanta;

	if (memcmp(dst, eth_pause_group, ETH_ADDR - 1) || dst[5] & 0xf0)
		return false;
	if (eth_pause_parse(f, &quanta)) {
		weft_count(e->comp, GW_PAUSE_IN, 1);
		e->pause = weft_now(e->comp) + quanta * ETH_PAUSE_QUANTA;
		line_send(e);
	} else {
		weft_count(e->comp, GW_RESERVED, 1);
	}
	return true;
}

/* Moves waiting frames into the network while the gateway's queue has room. */
static void copies_send(struct eth_gateway *e)
{
	while (!ring_empty(&e->wait) && gateway_room(&e->g, 0)) {
		struct weft_frame *f = *ring_front(&e->wait);
		uint32_t end = (uint32_t)f->u[0];

		ring_pop(&e->wait);
		gateway_send(&e->g, f, end, 0, f->payload.len);
	}
	if (e->paused && waiting(e) <= e->xon)
		pause_send(e, 0);
}

/* Copies a frame to all other ends. The number of waiting copies is not
 * limited, because they share the bytes of the frame. */
static void flood(struct eth_gateway *e, struct weft_frame *f)
{
	weft_count(e->comp, GW_FLOODED, 1);
	for (uint32_t end = 0; end < e->g.s.graph->ends; end++) {
		struct weft_frame *copy;

		if (end == e->g.s.number || !gateway_knows(&e->g, end))
			continue;
		copy = weft_frame_dup(f);
		copy->u[0] = end;
		*ring_push(&e->wait) = copy;
	}
	weft_frame_free(f);
}

static void forward(struct eth_gateway *e, struct weft_frame *f)
{
	const uint8_t *dst = eth_frame_data(f);
	uint32_t end = ETH_NO_PORT;

	learn(e, dst + ETH_ADDR, e->g.s.number);
	if (for_us(e, f)) {
		weft_frame_free(f);
		return;
	}
	if (!eth_is_group(dst))
		end = eth_table_find(&e->stations, eth_addr_key(dst),
				     weft_now(e->comp));
	if (end == e->g.s.number) {
		weft_count(e->comp, GW_FILTERED, 1);
		weft_frame_free(f);
	} else if (!ring_empty(&e->wait) || !gateway_room(&e->g, 0)) {
		weft_count(e->comp, GW_DROPPED, 1);
		weft_msg_end(e->comp, f->trace_id, false);
		weft_frame_free(f);
	} else if (end == ETH_NO_PORT) {
		flood(e, f);
	} else {
		f->u[0] = end;
		*ring_push(&e->wait) = f;
	}
	copies_send(e);
	pause_above(e);
}

static void in_event(struct eth_gateway *e)
{
	struct weft_frame *f;

	if (!weft_timer_due(e->comp, &e->in))
		return;
	while ((f = eth_line_take(&e->line, weft_now(e->comp)))) {
		if (eth_frame_check(f, e->frame_max) == ETH_GOOD) {
			forward(e, f);
			continue;
		}
		weft_count(e->comp, GW_BAD, 1);
		weft_msg_end(e->comp, f->trace_id, false);
		weft_frame_free(f);
	}
	if (e->line)
		weft_timer_arm(e->comp, &e->in, TAG_IN, eth_frame_end(e->line));
}

static void egw_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
	struct eth_gateway *e = c->state;

	eth_line_add(&e->line, f);
	weft_timer_arm(c, &e->in, TAG_IN, eth_frame_end(e->line));
}

static void line_room(struct weft_comp *c, uint32_t cls)
{
	copies_send(c->state);
}

/* ---- to the station ---- */

static void line_deliver(struct weft_comp *c, struct weft_frame *f,
			 uint32_t src, uint32_t cls, weft_time_t ready)
{
	struct eth_gateway *e = c->state;

	learn(e, eth_frame_data(f) + ETH_ADDR, src);
	if (e->full == FULL_DROP && ring_count(&e->q) >= e->out) {
		weft_count(c, GW_DROPPED, 1);
		weft_msg_end(c, f->trace_id, false);
		weft_frame_free(f);
		gateway_done(&e->g, src, 0);
		return;
	}
	*ring_push(&e->q) = (struct out_frame){ f, ready, src };
	if (e->full == FULL_DROP)
		gateway_done(&e->g, src, 0);
	line_send(e);
}

/* Requests an event for the time at which the next frame may be sent. */
static void line_send(struct eth_gateway *e)
{
	weft_time_t t = e->free, now = weft_now(e->comp);

	if (!e->ctl) {
		if (ring_empty(&e->q))
			return;
		t = t > e->pause ? t : e->pause;
		t = t > ring_front(&e->q)->ready ? t : ring_front(&e->q)->ready;
	}
	weft_timer_arm(e->comp, &e->send, TAG_OUT, t > now ? t : now);
}

static void out_event(struct eth_gateway *e)
{
	struct weft_frame *f = e->ctl;
	weft_time_t now = weft_now(e->comp);

	if (!weft_timer_due(e->comp, &e->send))
		return;
	if (now >= e->free && f) {
		e->ctl = NULL;
	} else if (now >= e->free && !ring_empty(&e->q) && now >= e->pause &&
		   now >= ring_front(&e->q)->ready) {
		struct out_frame o = *ring_front(&e->q);

		ring_pop(&e->q);
		f = o.f;
		weft_mark(e->comp, f->trace_id, "gateway", now);
		if (e->full == FULL_PAUSE)
			gateway_done(&e->g, o.src, 0);
	} else {
		line_send(e);
		return;
	}
	e->free = now + eth_frame_time(f) + ETH_GAP * ETH_BYTE_FS;
	weft_port_send(e->port, f, now);
	line_send(e);
}

/* ---- the class ---- */

static const struct gateway_ops gateway_ops = { .deliver = line_deliver,
						.room = line_room };

static void egw_event(struct weft_comp *c, uint32_t tag)
{
	if (tag == TAG_IN)
		in_event(c->state);
	else
		out_event(c->state);
}

static int egw_init(struct weft_comp *c, struct weft_err *err)
{
	struct eth_gateway *e = c->state;

	e->comp = c;
	e->port = &c->ports[GATEWAY_PORT_NIC];
	if (e->table % ETH_WAYS || e->table & (e->table - 1))
		return weft_fail(
			err, EINVAL,
			"%s: table = %u: 4 times a power of two is needed",
			c->name, e->table);
	if (e->full == FULL_PAUSE &&
	    (e->xon >= e->xoff || e->xoff > e->g.places))
		return weft_fail(
			err, EINVAL,
			"%s: xoff = %u, xon = %u: xon < xoff <= places = %u is needed",
			c->name, e->xoff, e->xon, e->g.places);
	e->stations = (struct eth_table){
		.at = need(calloc(e->table, sizeof(*e->stations.at))),
		.sets = e->table / ETH_WAYS,
		.ageing = e->ageing,
	};
	memcpy(e->addr, "\x02\xff\xff\0\0\1", ETH_ADDR);
	return gateway_init(c, &gateway_ops, err);
}

static int egw_finish(struct weft_comp *c, struct weft_err *err)
{
	struct eth_gateway *e = c->state;

	if (!weft_sim_idle(c->sim))
		return 0;
	gateway_abandon(&e->g);
	eth_line_free(&e->line);
	for (; !ring_empty(&e->wait); ring_pop(&e->wait))
		weft_frame_free(*ring_front(&e->wait));
	for (; !ring_empty(&e->q); ring_pop(&e->q))
		weft_frame_free(ring_front(&e->q)->f);
	if (e->ctl)
		weft_frame_free(e->ctl);
	e->ctl = NULL;
	return 0;
}

static void egw_fini(struct weft_comp *c)
{
	struct eth_gateway *e = c->state;

	ring_free(&e->wait);
	ring_free(&e->q);
	free(e->stations.at);
	gateway_fini(c);
}

static const struct weft_network_parts parts = {
	.net = "net.meter",
	.switch_class = "net.router",
	.link = "net.channel",
};

WEFT_COMPONENT(eth_gateway, .name = "eth.gateway", .kind = WEFT_KIND_SWITCH,
	       .doc = "Ethernet station at a network of routers",
	       .source = "own; IEEE 802.1D, 802.3x",
	       .not_modelled = "spanning tree, VLANs, priorities",
	       .state_size = sizeof(struct eth_gateway), .params = params,
	       .counters = counters, .n_counters = GW_N_COUNTERS,
	       .ports = ports,
	       .ops = { .init = egw_init,
			.start = gateway_start,
			.arrive = egw_arrive,
			.event = egw_event,
			.finish = egw_finish,
			.place = station_place,
			.fini = egw_fini },
	       .network_parts = &parts);
