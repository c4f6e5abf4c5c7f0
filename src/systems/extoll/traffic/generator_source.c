/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of extoll.gen. Its own packets (source.h) are drawn ahead of their
 * time, so that no event is needed for them. Packets of a trace
 * (net/packet_trace.h) are sent when their cycle is reached and the packets
 * that they depend on have arrived. If several packets may be sent, the source
 * sends the earliest one first. Every source knows of an arrival one cycle
 * later, because a trace does not say how a node would learn of it. */
#include <errno.h>

#include "systems/extoll/traffic/generator.h"

enum { TAG_READY = 1 };

/* ---- packets ---- */

uint32_t extoll_gen_flits(const struct extoll_gen *g,
			  const struct weft_frame *f)
{
	const struct ex_meta *m = (const struct ex_meta *)&f->u[3];
	uint32_t w = ex_flit_bytes(g->s.width);

	return ex_route_flits(g->s.width, m->hops) +
	       (m->words ? ex_words(f) * 8 : f->payload.len) / w;
}

static struct weft_frame *packet_make(struct weft_comp *c,
				      const struct traffic_packet *p)
{
	struct extoll_gen *g = c->state;
	struct weft_frame *f = weft_frame_new(c->sim);
	struct ex_meta *m = ex_meta(f);
	uint32_t node = g->s.node, len = p->size, route;
	/* If the order of packets is checked, all packets of a pair take one
	 * route. On random routes packets could overtake each other. */
	uint32_t coins = g->check
				 ? topo_coins_pair(node, p->dest)
				 : topo_coins((uint64_t)node << 48 | p->number);

	*m = (struct ex_meta){ .words = (uint8_t)g->s.words,
			       .cls = (uint8_t)g->kind,
			       .dest = (uint16_t)p->dest,
			       .port = (uint8_t)g->port };
	if (g->s.place.topo &&
	    !ex_route_make(g->s.place.topo, node, p->dest, g->port, coins, f)) {
		weft_frame_free(f);
		return NULL;
	}
	f->u[0] = EX_H0_MAKE(node, 0, 0, p->dest);
	route = ex_route_flits(g->s.width, m->hops);
	if (!g->s.words)
		len = (len > route ? len - route : 0) *
		      ex_flit_bytes(g->s.width);
	f->payload = (struct weft_slice){ .len = len };
	return f;
}

static bool packet_send(struct weft_comp *c, const struct traffic_packet *p)
{
	struct extoll_gen *g = c->state;
	uint64_t now = extoll_gen_now(g), ready = p->at > now ? p->at : now;
	struct net_packet k = { .born = p->at,
				.injected = g->np.ep.next_grant };
	struct weft_frame *f = packet_make(c, p);
	uint32_t number = p->id;

	if (!f) { /* cannot happen: routes are checked before the run */
		weft_check_failed(c, "no way to node %u", p->dest);
		return false;
	}
	if (g->check) {
		number = g->check->sent[p->dest]++;
		f->payload = extoll_gen_check_payload(c, p->dest, number,
						      f->payload.len);
	}
	if (k.injected < ready)
		k.injected = ready;
	k.flits = extoll_gen_flits(g, f);
	if (g->s.net)
		net_meter_made(g->s.place.net, &k);
	extoll_gen_stamp(f, &k, number);
	netport_send(&g->np, f, ready, UINT32_MAX);
	return true;
}

void extoll_gen_next(struct weft_comp *c)
{
	struct extoll_gen *g = c->state;
	struct traffic_packet p;
	uint64_t due;

	while (netport_room(&g->np, g->kind)) {
		due = extoll_source_due(&g->s);
		if (due == ARRIVALS_NEVER)
			return;
		/* wait, since an arrival may release an earlier packet of the
		 * trace */
		if (g->s.t.replay && due > extoll_gen_now(g)) {
			if (g->armed != due)
				weft_wake(c, TAG_READY,
					  weft_clock_edge(&g->s.clock, due));
			g->armed = due;
			return;
		}
		p = traffic_draw(&g->s.t, &c->rng);
		traffic_step(&g->s.t, 0, &c->rng);
		if (!packet_send(c, &p))
			return;
	}
}

/* ---- a trace ---- */

void extoll_gen_replay_done(struct weft_comp *c, uint32_t i)
{
	struct extoll_gen *g = c->state;
	struct trace *t = g->s.net->trace;
	uint64_t then = extoll_gen_now(g) + 1;

	if (i >= t->n) /* the number was damaged on the line */
		return;
	for (uint32_t k = 0; k < t->pkt[i].n; k++) {
		uint32_t d = t->next[t->pkt[i].first + k];
		struct trace_pkt *p = &t->pkt[d];
		struct weft_comp *src = g->s.net->m.gen[p->src].comp;

		if (p->cycle < then)
			p->cycle = then;
		if (--p->wait || !src || src->cls != c->cls)
			continue;
		packet_replay_ready(
			((struct extoll_gen *)src->state)->s.t.replay, d);
		weft_post(src, src->n_ports,
			  weft_clock_edge(&g->s.clock, then));
	}
}

/* Loads the trace once for all sources, in the first one that starts. */
static int replay_start(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_gen *g = c->state;
	struct extoll_net *n = g->s.net;

	if (!n)
		return weft_fail(err, EINVAL, "%s: a trace needs a fabric",
				 c->name);
	if (g->verify)
		return weft_fail(
			err, EINVAL,
			"%s: packets of a trace have its numbers, not those that verify compares: leave one out",
			c->name);
	if (!n->trace)
		n->trace =
			trace_load(g->trace, g->s.nodes, EX_PAYLOAD_MAX, err);
	if (!n->trace)
		return -EINVAL;
	traffic_replay(&g->s.t, n->trace, g->s.node);
	g->armed = ARRIVALS_NEVER;
	return 0;
}

/* ---- start ---- */

int extoll_gen_src_start(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_gen *g = c->state;
	struct traffic_source *t = &g->s.t;
	bool raw = g->flits > 0;

	g->s.words = g->words;
	if (g->trace[0])
		return replay_start(c, err);
	if (raw)
		g->s.words = 0;
	t->size = raw ? g->flits : (uint32_t)g->size;
	t->size_max = raw ? g->flits_max : (uint32_t)g->size_max;
	if (!g->sizes[0] && t->size_max && t->size_max < t->size)
		return weft_fail(err, EINVAL, "%s.%s_max: %u is below %u",
				 c->name, raw ? "flits" : "size", t->size_max,
				 t->size);
	if (g->sizes[0] && traffic_mix_read(t, g->sizes, EX_PAYLOAD_MAX))
		return weft_fail(
			err, EINVAL,
			"%s.sizes: '%s': write up to %u sizes of at most %u as SIZE:WEIGHT,SIZE:WEIGHT",
			c->name, g->sizes, TRAFFIC_SIZES, EX_PAYLOAD_MAX);
	return extoll_source_start(c, err);
}
