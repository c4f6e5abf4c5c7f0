/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of a gateway, see gateway.h. Each packet has a header of header_bytes
 * bytes, whose layout is in docs/systems/router.md, and a part of the content
 * of a frame. The packet fills ceil((header + part) / flit_bytes) flits.
 * Packets are sent one at a time, as in net.source. A packet uses the first VC,
 * in round robin, that is free and has places. It sends a flit in each cycle
 * while the VC has credits. */
#include "systems/router/network/gateway.h"

#include <stdlib.h>

uint32_t gateway_flits(const struct gateway *g, uint32_t bytes)
{
	return (g->header_bytes + bytes + g->flit_bytes - 1) / g->flit_bytes;
}

/* ---- out of the gateway ---- */

static void credits_take(struct gateway *g, uint64_t now)
{
	struct line *l = &g->s.line[0];

	router_credits_take(l, g->vc, g->router->wait_for_tail, now);
	if (ring_empty(&l->back))
		g->s.credits[0] = 0;
}

/* Makes a packet with the next part of a frame. The first packet of a frame
 * carries the credits that are owed to its destination. */
static uint32_t packet_cut(struct gateway *g, struct gateway_frame *w,
			   uint64_t now)
{
	uint32_t most = g->packet_bytes - g->header_bytes;
	uint32_t part = w->bytes - w->sent < most ? w->bytes - w->sent : most;
	uint32_t i = packet_new(g->s.packets);
	struct packet *p = &g->s.packets->at[i];
	const struct net_routing *r = g->s.graph->routing;

	*p = (struct packet){
		.flits = gateway_flits(g, part),
		.route = { .src = w->src, .dest = w->dest },
		.range = { 0, (uint8_t)g->router->vcs },
		.measured = { .born = now, .injected = now },
		.cargo = w,
	};
	p->measured.flits = p->flits;
	p->route.coins = (uint32_t)weft_rng_u64(&g->coins);
	if (r->inject)
		r->inject(g->s.graph, &p->route, weft_rng_u64(&g->coins));
	if (!w->sent)
		w->credits = gateway_pay(g, w->dest, w->cls);
	w->sent += part;
	w->packets++;
	w->cut = w->sent == w->bytes;
	weft_count(g->s.comp, GATEWAY_PACKETS_OUT, 1);
	router_net_sent(g->s.net, p);
	return i;
}

/* Begins the next packet. Returns false if none is ready. */
static bool packet_begin(struct gateway *g, uint64_t now)
{
	if (!g->now) {
		g->now = gateway_next(g, now);
		if (!g->now)
			return false;
		if (g->now->f)
			weft_mark(g->s.comp, g->now->f->trace_id, "gateway",
				  weft_now(g->s.comp));
	}
	g->packet = packet_cut(g, g->now, now);
	g->flits_sent = 0;
	return true;
}

/* Returns a VC that is free and has places for the packet, or ARBITER_NONE. */
static uint32_t vc_choose(const struct gateway *g)
{
	uint32_t vcs = g->router->vcs;

	for (uint32_t k = 1; k <= vcs; k++) {
		uint32_t v =
			g->last_vc == ARBITER_NONE ? 0 : (g->last_vc + k) % vcs;
		const struct out_vc *o = &g->vc[v];

		if (!o->taken && o->credits &&
		    (g->router->flow == ROUTER_WORMHOLE ||
		     o->credits >= g->s.packets->at[g->packet].flits))
			return v;
	}
	return ARBITER_NONE;
}

/* Frees the place of a frame whose last packet has left. */
static void frame_left(struct gateway *g)
{
	struct gateway_frame *w = g->now;

	g->now = NULL;
	if (!w->f)
		return;
	weft_count(g->s.comp, GATEWAY_OUT, 1);
	weft_count(g->s.comp, GATEWAY_BYTES_OUT, w->bytes);
	g->queue[w->cls].n--;
	g->ops->room(g->s.comp, w->cls);
}

/* Sends as many flits of the packet as its VC has credits. */
static void flits_send(struct gateway *g, uint64_t now)
{
	const struct packet *p = &g->s.packets->at[g->packet];
	struct out_vc *v = &g->vc[g->last_vc];
	uint32_t left = p->flits - g->flits_sent;
	uint32_t n = left < v->credits ? left : v->credits;

	station_send(&g->s, 0, now,
		     (struct flit_run){ .packet = g->packet,
					.n = (uint16_t)n,
					.vc = (uint8_t)g->last_vc,
					.head = !g->flits_sent });
	v->credits -= (uint16_t)n;
	g->flits_sent += n;
	g->free = now + n;
	if (g->flits_sent < p->flits)
		return;
	v->tail_sent = true;
	v->taken = g->router->wait_for_tail;
	g->packet = ARBITER_NONE;
	if (g->now->cut)
		frame_left(g);
}

/* Waits for a credit. */
static void credit_wait(struct gateway *g)
{
	const struct line *l = &g->s.line[0];

	g->s.hungry = true;
	if (!ring_empty(&l->back))
		station_wake(&g->s, ring_front(&l->back)->cycle +
					    ring_front(&l->back)->taken);
}

void gateway_inject(struct gateway *g, uint64_t now)
{
	g->s.hungry = false;
	if (now < g->free) {
		station_wake(&g->s, g->free);
		return;
	}
	if (g->packet == ARBITER_NONE && !packet_begin(g, now))
		return;
	credits_take(g, now);
	if (!g->flits_sent) {
		uint32_t v = vc_choose(g);

		if (v == ARBITER_NONE) {
			credit_wait(g);
			return;
		}
		g->last_vc = v;
		g->vc[v].taken = true;
	}
	if (!g->vc[g->last_vc].credits) {
		credit_wait(g);
		return;
	}
	flits_send(g, now);
	station_wake(&g->s, g->free);
}

/* ---- into the gateway ---- */

static void packet_take(struct gateway *g, uint32_t i, uint64_t now)
{
	struct packet *p = &g->s.packets->at[i];
	struct gateway_frame *w = p->cargo;

	if (p->route.dest != g->s.number)
		weft_check_failed(g->s.comp,
				  "a packet for end %u arrived at end %u",
				  p->route.dest, g->s.number);
	weft_count(g->s.comp, GATEWAY_PACKETS_IN, 1);
	router_net_received(g->s.net, p, now);
	packet_free(g->s.packets, i);
	if (!--w->packets && w->cut)
		gateway_whole(g, w, now);
}

void gateway_take(struct gateway *g, uint64_t now)
{
	for (uint32_t k = 0; k < GATEWAY_PORT_NIC; k++) {
		struct line *l = &g->s.line[k];

		while (!ring_empty(&l->in) &&
		       ring_front(&l->in)->cycle <= now) {
			uint32_t i = ring_front(&l->in)->packet;

			ring_pop(&l->in);
			packet_take(g, i, now);
		}
		if (ring_empty(&l->in))
			g->s.flits[0] &= ~(1ull << k);
	}
}
