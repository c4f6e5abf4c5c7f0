/* SPDX-License-Identifier: Apache-2.0 */
/* The packets that a source without classes sends. */
#include "systems/router/network/meter.h"
#include "systems/router/traffic/source_classes.h"

void source_credits(struct router_source *s, uint64_t now)
{
	struct line *l = &s->s.line[0];

	router_credits_take(l, s->vc, s->router->wait_for_tail, now);
	if (ring_empty(&l->back))
		s->s.credits[0] = 0;
}

static uint32_t packet_draw(struct router_source *s)
{
	struct weft_comp *c = s->s.comp;
	struct traffic_packet t = traffic_draw(&s->t, &c->rng);
	uint32_t i = packet_new(s->s.packets);
	struct packet *p = &s->s.packets->at[i];
	const struct net_routing *r = s->s.graph->routing;

	traffic_step(&s->t, 0, &c->rng);
	if (s->t.replay)
		t.size = source_trace_flits(s, t.size);
	*p = (struct packet){
		.flits = t.size,
		.route = { .src = s->s.number, .dest = t.dest },
		.range = s->range,
		.kind = s->t.replay ? PACKET_TRACED : PACKET_PLAIN,
		.tag = t.id,
		.rank = (uint8_t)s->priority,
		.measured = { .born = t.at,
			      .flits = t.size,
			      .cls = NET_CLASS_NONE },
	};
	s->made += t.size;
	p->route.coins = (uint32_t)weft_rng_u64(&s->coins);
	if (r->inject)
		r->inject(s->s.graph, &p->route, weft_rng_u64(&s->coins));
	net_meter_made(s->s.net, &p->measured);
	return i;
}

/* Returns a VC that can take the packet, or ARBITER_NONE. The first packet of
 * the source takes VC 0 or waits for it. */
static uint32_t vc_choose(const struct router_source *s)
{
	const struct packet *p = &s->s.packets->at[s->packet];
	uint32_t vcs = s->router->vcs, flow = s->router->flow;

	for (uint32_t k = 1; k <= vcs; k++) {
		uint32_t v =
			s->last_vc == ARBITER_NONE ? 0 : (s->last_vc + k) % vcs;
		const struct out_vc *o = &s->vc[v];

		if (!o->taken && o->credits &&
		    (flow == ROUTER_WORMHOLE || o->credits >= p->flits))
			return v;
	}
	return ARBITER_NONE;
}

/* Returns the number of credits of the packet's VC that arrive by cycle t. */
static uint32_t credits_by(const struct router_source *s, uint64_t t)
{
	const struct line *l = &s->s.line[0];
	uint64_t sum = 0;

	for (uint32_t k = 0; k < ring_count(&l->back); k++) {
		const struct credit_run *c = ring_nth(&l->back, k);
		uint64_t n = t + 1 - c->cycle;

		if (c->cycle > t)
			break;
		if (c->vc == s->last_vc)
			sum += (n < c->n ? n : c->n) - c->taken;
	}
	return (uint32_t)sum;
}

/* Returns the number of flits that leave one per cycle from `now` on. The first
 * ones have credits, and later ones rely on credits that arrive in time. The
 * last flits of a packet leave only when the source has credits for all of
 * them, because the source then counts the packet as sent. */
static uint32_t flits_ahead(struct router_source *s, uint32_t left,
			    uint64_t now)
{
	uint32_t credits = s->vc[s->last_vc].credits;
	uint32_t n = left < credits ? left : credits, more;

	s->s.line[0].relies = 0;
	while (n < left) {
		more = credits + credits_by(s, now + n) - n;
		if (!more || more >= left - n)
			break;
		n += more;
		s->s.line[0].relies = 1u << s->last_vc;
	}
	return n;
}

void source_cut(struct router_source *s, uint64_t now)
{
	struct out_vc *v = &s->vc[s->last_vc];
	uint32_t n = (uint32_t)(s->free - now), k = 0;
	int32_t credits;

	s->s.cuts[0] = 0;
	if (!s->s.line[0].relies || s->free <= now)
		return;
	credits = (int16_t)v->credits + (int32_t)n;
	while (k < n && (int32_t)credits_by(s, now + k) + credits > (int32_t)k)
		k++;
	if (k == n)
		return;
	station_send_cut(&s->s, 0, n - k);
	v->credits += (uint16_t)(n - k);
	/* A first request may have moved the packet and `sent` to class 0
	 * (source_classes_plain). */
	if (s->classes)
		s->classes->at[0].sent -= n - k;
	else
		s->sent -= n - k;
	s->free -= n - k;
	if (s->free > now)
		station_wake(&s->s, s->free);
}

/* Sends the flits that can leave one per cycle. */
static void flits_send(struct router_source *s, uint64_t now)
{
	struct packet *p = &s->s.packets->at[s->packet];
	struct out_vc *v = &s->vc[s->last_vc];
	uint32_t n = flits_ahead(s, p->flits - s->sent, now);

	if (!s->sent)
		p->measured.injected = now;
	station_send(&s->s, 0, now,
		     (struct flit_run){ .packet = s->packet,
					.n = (uint16_t)n,
					.vc = (uint8_t)s->last_vc,
					.head = !s->sent });
	v->credits -= (uint16_t)n;
	s->sent += n;
	s->free = now + n;
	if (s->sent < p->flits)
		return;
	v->tail_sent = true;
	v->taken = s->router->wait_for_tail;
	s->packet = ARBITER_NONE;
	s->last_sent = now;
	weft_count(s->s.comp, SOURCE_SENT, 1);
	net_meter_sent(s->s.net);
}

/* Requests a step for the next credit. Before the head has left, this is a
 * credit of any VC, and afterwards a credit of the packet's VC. */
static void source_wait(struct router_source *s)
{
	struct line *l = &s->s.line[0];

	s->s.hungry = !s->sent;
	l->wants = s->sent ? 1u << s->last_vc : 0;
	for (uint32_t k = 0; k < ring_count(&l->back); k++) {
		const struct credit_run *c = ring_nth(&l->back, k);

		if (s->sent && c->vc != s->last_vc)
			continue;
		station_wake(&s->s, c->cycle + c->taken);
		return;
	}
}

void source_send(struct router_source *s, uint64_t now)
{
	uint32_t v;

	s->s.hungry = false;
	s->s.line[0].wants = 0;
	if (now < s->free) {
		station_wake(&s->s, s->free);
		return;
	}
	if (s->packet == ARBITER_NONE) {
		bool over = net_meter_over(s->s.net->state);
		uint64_t due = net_source_due(&s->own, over);

		if (due > now) {
			if (due != ARRIVALS_NEVER)
				station_wake(&s->s, due);
			return;
		}
		s->packet = packet_draw(s);
		s->sent = 0;
	}
	source_credits(s, now);
	if (!s->sent) {
		v = vc_choose(s);
		if (v == ARBITER_NONE) {
			source_wait(s);
			return;
		}
		s->last_vc = v;
		s->vc[v].taken = true;
	}
	if (!s->vc[s->last_vc].credits) {
		source_wait(s);
		return;
	}
	flits_send(s, now);
	station_wake(&s->s, s->free);
}
