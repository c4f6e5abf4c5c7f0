/* SPDX-License-Identifier: Apache-2.0 */
/* Sources with classes of packets, see source_classes.h. */
#include "systems/router/traffic/source_classes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/need.h"
#include "base/rng.h"
#include "systems/router/network/meter.h"

/* ---- drawing ---- */

static struct packet *packet_make(struct router_source *s,
				  struct source_class *k, struct packet p)
{
	const struct net_routing *r = s->s.graph->routing;
	struct packet *to;

	p.route.src = s->s.number;
	p.route.coins = (uint32_t)weft_rng_u64(&s->coins);
	if (r->inject)
		r->inject(s->s.graph, &p.route, weft_rng_u64(&s->coins));
	p.measured.flits = p.flits;
	net_meter_made(s->s.net, &p.measured);
	k->packet = packet_new(s->s.packets);
	k->sent = 0;
	to = &s->s.packets->at[k->packet];
	*to = p;
	return to;
}

static void own_make(struct router_source *s, struct source_class *k,
		     uint64_t now)
{
	enum packet_kind kind;
	struct traffic_packet t = class_next(&k->own.t, k->c, &k->rng, &kind);
	uint32_t flits = class_flits(k->c, kind, t.size);
	struct packet *p = packet_make(
		s, k,
		(struct packet){
			.route = { .dest = t.dest },
			.range = k->range[kind],
			.kind = (uint8_t)kind,
			.rank = (uint8_t)k->c->priority,
			.flits = flits,
			/* A packet of a batch is made when the queue of its
			 * class is empty. */
			.measured = { .born = k->c->batch ? now : t.at,
				      .cls = k->number },
		});

	k->out += k->c->outstanding > 0;
	if (k->c->reply)
		net_meter_asked(s->s.net, &p->measured);
}

static const struct router_source *source_of(const struct router_source *s,
					     uint32_t end)
{
	const struct net_meter *n = s->s.net->state;

	return n->gen[end].comp->state;
}

/* Returns the class with this number, or the first class if there is no such
 * class. */
static struct source_class *class_of(const struct router_source *s,
				     uint32_t number)
{
	for (uint32_t i = 0; i < s->classes->n; i++)
		if (s->classes->at[i].number == number)
			return &s->classes->at[i];
	return &s->classes->at[0];
}

static void reply_make(struct router_source *s, struct source_class *k)
{
	struct pending q = *ring_front(&k->replies);
	const struct source_class *of = class_of(source_of(s, q.dest), q.cls);

	ring_pop(&k->replies);
	packet_make(s, k,
		    (struct packet){
			    .route = { .dest = q.dest },
			    .range = of->range[q.kind],
			    .kind = q.kind,
			    .rank = (uint8_t)of->c->priority,
			    .flits = q.flits,
			    .measured = { .born = q.arrived, .cls = q.cls },
			    .tag = q.asked,
		    });
}

static uint64_t class_due(const struct source_class *k, bool over)
{
	return net_source_due(&k->own, over && !k->c->batch);
}

/* Makes the next packet of a class if a packet is due and the previous packet
 * has left. */
static void class_fill(struct router_source *s, struct source_class *k,
		       uint64_t now)
{
	bool over = net_meter_over(s->s.net->state);

	while (!ring_empty(&k->back) && *ring_front(&k->back) <= now) {
		if (limit_reached(k))
			arrivals_wait(&k->own.t.arrivals,
				      *ring_front(&k->back));
		ring_pop(&k->back);
		k->out--;
	}
	if (k->packet != ARBITER_NONE)
		return;
	if (!ring_empty(&k->replies))
		reply_make(s, k);
	else if (!limit_reached(k) && class_due(k, over) <= now)
		own_make(s, k, now);
}

/* ---- sending ---- */

/* Returns the VC for the next flit of a class, or ARBITER_NONE if the flit must
 * wait. A head uses the next VC of its range, in round robin, that is free and
 * has enough places. If the previous packet did not use a VC of this range,
 * only the first VC of the range is possible. */
static uint32_t class_vc(const struct router_source *s,
			 const struct source_class *k)
{
	const struct packet *p = &s->s.packets->at[k->packet];
	uint32_t first = p->range.first, n = p->range.n;
	bool fresh = k->last_vc < first || k->last_vc >= first + n;

	if (k->sent)
		return s->vc[k->last_vc].credits ? k->last_vc : ARBITER_NONE;
	for (uint32_t i = 1; i <= n; i++) {
		uint32_t v =
			fresh ? first : first + (k->last_vc - first + i) % n;
		const struct out_vc *o = &s->vc[v];

		if (!o->taken && o->credits &&
		    (s->router->flow == ROUTER_WORMHOLE ||
		     o->credits >= p->flits))
			return v;
	}
	return ARBITER_NONE;
}

/* Chooses the class that sends a flit, and sets *vc_p to the VC of the flit.
 * Returns NULL if no class can send. */
static struct source_class *class_choose(struct router_source *s,
					 uint32_t *vc_p)
{
	struct source_classes *all = s->classes;
	struct source_class *best = NULL;
	uint32_t rank = 0, n = all->n;

	for (uint32_t i = s->router->hold ? 0 : 1; i <= n; i++) {
		struct source_class *k = &all->at[(all->last + i) % n];
		uint32_t v, r;

		/* With `hold`, the first candidate is the class whose packet is
		 * being sent. It precedes other classes of equal rank. */
		if (k->packet == ARBITER_NONE || (!i && !k->sent))
			continue;
		r = s->s.packets->at[k->packet].rank;
		if (best && rank >= r)
			continue;
		v = class_vc(s, k);
		if (v == ARBITER_NONE)
			continue;
		best = k;
		rank = r;
		*vc_p = v;
	}
	return best;
}

static void flit_send(struct router_source *s, struct source_class *k,
		      uint32_t vc, uint64_t now)
{
	struct packet *p = &s->s.packets->at[k->packet];
	struct out_vc *v = &s->vc[vc];

	if (!k->sent) {
		p->measured.injected = now;
		v->taken = true;
		v->tail_sent = false;
	}
	station_send(&s->s, 0, now,
		     (struct flit_run){ .packet = k->packet,
					.n = 1,
					.vc = (uint8_t)vc,
					.head = !k->sent });
	v->credits--;
	k->last_vc = vc;
	s->classes->last = (uint32_t)(k - s->classes->at);
	s->free = now + 1;
	s->last_sent = now;
	if (++k->sent < p->flits)
		return;
	v->tail_sent = true;
	v->taken = s->router->wait_for_tail;
	k->packet = ARBITER_NONE;
	weft_count(s->s.comp, SOURCE_SENT, 1);
	net_meter_sent(s->s.net);
}

/* Sets a wake for the cycle in which the next packet is due or the next credit
 * arrives. */
static void classes_wait(struct router_source *s)
{
	bool over = net_meter_over(s->s.net->state);
	const struct line *l = &s->s.line[0];

	for (uint32_t i = 0; i < s->classes->n; i++) {
		struct source_class *k = &s->classes->at[i];
		uint64_t due;

		if (k->packet != ARBITER_NONE) {
			s->s.hungry = true;
			continue;
		}
		due = class_due(k, over);
		if (limit_reached(k))
			due = ring_empty(&k->back) ? ARRIVALS_NEVER
						   : *ring_front(&k->back);
		if (due != ARRIVALS_NEVER)
			station_wake(&s->s, due);
	}
	if (s->s.hungry && !ring_empty(&l->back))
		station_wake(&s->s, ring_front(&l->back)->cycle +
					    ring_front(&l->back)->taken);
}

void source_classes_send(struct router_source *s, uint64_t now)
{
	struct source_class *k;
	uint32_t vc = 0;

	s->s.hungry = false;
	if (now < s->free) {
		station_wake(&s->s, s->free);
		return;
	}
	for (uint32_t i = 0; i < s->classes->n; i++)
		class_fill(s, &s->classes->at[i], now);
	source_credits(s, now);
	k = class_choose(s, &vc);
	if (!k) {
		classes_wait(s);
		return;
	}
	flit_send(s, k, vc, now);
	station_wake(&s->s, s->free);
}

/* ---- packets that arrive ---- */

/* Allows the source at `end` to have one more packet of class `cls` in the
 * network, from the next cycle on. */
static void limit_return(const struct router_source *s, uint32_t end,
			 uint32_t cls, uint64_t now)
{
	struct router_source *of = (struct router_source *)source_of(s, end);
	struct source_class *k;

	if (!of->classes)
		return;
	k = class_of(of, cls);
	if (!k->c->outstanding)
		return;
	*ring_push(&k->back) = now + 1;
	station_wake(&of->s, now + 1);
}

void source_classes_take(struct router_source *s, const struct packet *p,
			 uint64_t now)
{
	const struct router_source *of = source_of(s, p->route.src);
	uint32_t cls = p->measured.cls;
	uint8_t kind = p->kind == PACKET_WRITE ? PACKET_WRITE_REPLY
					       : PACKET_READ_REPLY;
	struct source_class *k;

	if (p->kind >= PACKET_READ_REPLY) {
		net_meter_answered(s->s.net, p->tag, now);
		limit_return(s, s->s.number, cls, now);
		return;
	}
	if (!of->classes || !class_of(of, cls)->c->reply) {
		limit_return(s, p->route.src, cls, now);
		return;
	}
	if (!s->classes)
		source_classes_plain(s);
	k = class_of(s, cls);
	*ring_push(&k->replies) = (struct pending){
		.dest = p->route.src,
		.cls = (uint8_t)cls,
		.kind = kind,
		.flits = (uint16_t)class_flits(class_of(of, cls)->c, kind, 0),
		.asked = p->measured.born,
		.arrived = now,
	};
	station_wake(&s->s, now + 1);
}
