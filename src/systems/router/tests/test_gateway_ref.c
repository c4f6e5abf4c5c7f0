/* SPDX-License-Identifier: Apache-2.0 */
/* Compares gateways with their reference model (ref_gateway.h), over networks
 * of routers. The number of a case selects frames of two classes, windows,
 * places, framing, and NICs that are slow to send frames on. Each packet must
 * leave, and each frame must be delivered with its bytes, in the same cycle as
 * in the reference. At the end all frames must be delivered and all credits
 * returned. */
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "systems/router/network/gateway.h"
#include "systems/router/tests/ref_gateway.h"
#include "unit/replay.h"

struct scene {
	struct ref_gateway_case c;
	struct net_graph graph;
	struct weft_rng rng;
	struct weft_sim *sim;
	struct weft_comp **router, **end, *net;
	struct {
		VEC(struct ref_gateway_delivery);
	} delivered;
	uint32_t wrong, broken, left;
};

struct totals {
	uint64_t frames, packets, waits, early, credits;
};

static uint32_t pick(struct scene *s, uint32_t n)
{
	return (uint32_t)weft_rng_below(&s->rng, n);
}

static uint64_t keeps(uint32_t offer)
{
	return offer % 11 == 3 ? 400 : offer * 7 % 5;
}

/* ---- a gateway without a line ---- */

enum { TAG_OFFER, TAG_DONE };

struct leaving {
	uint64_t cycle;
	uint32_t src, cls;
};

struct toy {
	struct gateway g;
	struct scene *scene;
	size_t next; /* offer, of all ends */
	struct {
		RING(uint32_t);
	} wait[GATEWAY_CLASSES];
	struct {
		VEC(struct leaving);
	} nic;
};

static uint8_t byte_of(uint32_t offer, uint32_t k)
{
	return (uint8_t)(offer * 31 + k * 7 + k / 256);
}

static void toy_room(struct weft_comp *c, uint32_t cls)
{
	struct toy *t = c->state;

	while (!ring_empty(&t->wait[cls]) && gateway_room(&t->g, cls)) {
		uint32_t i = *ring_front(&t->wait[cls]);
		const struct ref_gateway_offer *o = &t->scene->c.offers.at[i];
		struct weft_frame *f = weft_frame_new(c->sim);

		ring_pop(&t->wait[cls]);
		f->u[0] = i;
		f->payload = weft_slice_word(c->sim, o->bytes);
		for (uint32_t k = 0; k < o->bytes; k++)
			weft_slice_data(f->payload)[k] = byte_of(i, k);
		gateway_send(&t->g, f, o->dest, cls, o->bytes);
	}
}

static void toy_deliver(struct weft_comp *c, struct weft_frame *f, uint32_t src,
			uint32_t cls, weft_time_t ready)
{
	struct toy *t = c->state;
	struct scene *s = t->scene;
	uint32_t i = (uint32_t)f->u[0];
	const struct ref_gateway_offer *o = &s->c.offers.at[i];
	uint64_t gone = weft_clock_cycle(&t->g.clock, ready) + keeps(i);

	s->wrong += o->dest != t->g.s.number || o->src != src || o->cls != cls;
	for (uint32_t k = 0; k < o->bytes; k++)
		s->broken += weft_slice_data(f->payload)[k] != byte_of(i, k);
	vec_push(&s->delivered,
		 (struct ref_gateway_delivery){ station_now(&t->g.s), i });
	vec_push(&t->nic, (struct leaving){ gone, src, cls });
	weft_wake(c, TAG_DONE, weft_clock_edge(&t->g.clock, gone));
	weft_frame_free(f);
}

static const struct gateway_ops toy_ops = { .deliver = toy_deliver,
					    .room = toy_room };

static void toy_offer(struct weft_comp *c)
{
	struct toy *t = c->state;
	struct scene *s = t->scene;
	uint64_t now = station_now(&t->g.s);

	for (; t->next < s->c.offers.n; t->next++) {
		const struct ref_gateway_offer *o = &s->c.offers.at[t->next];

		if (o->src != t->g.s.number)
			continue;
		if (o->cycle > now) {
			weft_wake(c, TAG_OFFER,
				  weft_clock_edge(&t->g.clock, o->cycle));
			return;
		}
		*ring_push(&t->wait[o->cls]) = (uint32_t)t->next;
		toy_room(c, o->cls);
	}
}

static void toy_event(struct weft_comp *c, uint32_t tag)
{
	struct toy *t = c->state;
	uint64_t now = station_now(&t->g.s);

	if (tag == TAG_OFFER) {
		toy_offer(c);
		return;
	}
	for (size_t i = 0; i < t->nic.n;) {
		struct leaving l = t->nic.at[i];

		if (l.cycle != now) {
			i++;
			continue;
		}
		vec_remove(&t->nic, i);
		gateway_done(&t->g, l.src, l.cls);
	}
}

static void toy_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
	if (f)
		weft_frame_free(f);
}

static int toy_init(struct weft_comp *c, struct weft_err *err)
{
	return gateway_init(c, &toy_ops, err);
}

static int toy_start(struct weft_comp *c, struct weft_err *err)
{
	if (gateway_start(c, err))
		return -1;
	toy_offer(c);
	return 0;
}

static void toy_fini(struct weft_comp *c)
{
	struct toy *t = c->state;

	for (uint32_t k = 0; k < GATEWAY_CLASSES; k++)
		ring_free(&t->wait[k]);
	vec_free(&t->nic);
	gateway_fini(c);
}

static const struct weft_param toy_params[] = { GATEWAY_PARAMS, { 0 } };
static const struct weft_counter toy_counters[GATEWAY_N_COUNTERS] = {
	GATEWAY_COUNTERS,
};
static const struct weft_port_decl toy_ports[] = { GATEWAY_PORTS, { 0 } };

static WEFT_COMPONENT(test_gateway, .name = "test.gateway",
		      .kind = WEFT_KIND_SWITCH, .doc = "gateway without a line",
		      .state_size = sizeof(struct toy), .params = toy_params,
		      .counters = toy_counters,
		      .n_counters = GATEWAY_N_COUNTERS, .ports = toy_ports,
		      .ops = { .init = toy_init,
			       .start = toy_start,
			       .arrive = toy_arrive,
			       .event = toy_event,
			       .place = station_place,
			       .fini = toy_fini });

/* ---- the case ---- */

static void graph_make(struct scene *s)
{
	static const struct {
		const char *topology, *routing;
		struct net_shape shape;
	} shapes[] = {
		{ "mesh", "dimension_order", { 1, { 4 } } },
		{ "mesh", "minimal_adaptive", { 2, { 3, 3 } } },
		{ "mesh", "romm", { 2, { 3, 2 } } },
		{ "torus", "valiant", { 2, { 3, 3 } } },
		{ "fly", "destination_tag", { 2, { 2, 2 } } },
		{ "dragonfly", "valiant", { 2, { 2, 1 } } },
	};
	uint32_t k = pick(s, sizeof(shapes) / sizeof(*shapes));
	struct weft_err err = { 0 };

	if (net_graph_init(&s->graph, net_topology_called(shapes[k].topology),
			   &shapes[k].shape, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
	s->graph.routing = net_routing_called(shapes[k].routing, s->graph.type);
	s->c.p.ends = s->graph.ends;
}

static void scene_make(struct scene *s, uint64_t seed)
{
	struct ref_gateway_params *p = &s->c.p;
	uint32_t hot, gap;
	uint64_t cycle = 1;

	weft_rng_seed(&s->rng, seed, "scene");
	graph_make(s);
	p->flit_bytes = 1 + pick(s, 20);
	p->header_bytes = 16 + pick(s, 10);
	p->packet_bytes = p->header_bytes + 16 + pick(s, 100);
	p->window = 1 + pick(s, pick(s, 2) ? 2 : 9);
	p->places = 1 + pick(s, pick(s, 2) ? 2 : 9);
	p->t_in = 1 + pick(s, 4);
	p->t_out = pick(s, 4);
	hot = pick(s, p->ends);
	gap = 1 + pick(s, 60);
	for (uint32_t i = 0; i < 60 + pick(s, 100); i++) {
		cycle += pick(s, gap);
		vec_push(&s->c.offers,
			 (struct ref_gateway_offer){
				 .cycle = cycle,
				 .src = pick(s, p->ends),
				 .dest = pick(s, 3) ? pick(s, p->ends) : hot,
				 .cls = pick(s, 2),
				 .bytes = pick(s, pick(s, 2) ? 20 : 300) });
	}
	s->c.keeps = keeps;
}

/* ---- the product ---- */

static struct weft_comp *add(struct scene *s, const struct weft_class *cls,
			     const char *name, uint32_t i)
{
	struct weft_err err = { 0 };
	char text[32];

	snprintf(text, sizeof(text), name, i);
	return weft_sim_add(s->sim, cls, text, &err);
}

static void set(struct weft_comp *c, const char *param, uint32_t value)
{
	struct weft_err err = { 0 };
	char text[32];

	snprintf(text, sizeof(text), "%u", value);
	if (weft_param_set(c, param, text, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
}

static void init(struct weft_comp *c)
{
	struct weft_err err = { 0 };

	if (weft_comp_init(c, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
}

/* Queues hold all flits, so that no packet waits for a place in the first
 * router. */
static void router_add(struct scene *s, uint32_t i)
{
	struct weft_comp *c = add(s, &weft_class_net_router, "s%u", i);
	struct weft_place at = { .node = i, .graph = &s->graph, .net = s->net };

	set(c, "ports", net_graph_ports(&s->graph, i));
	set(c, "vcs", 6);
	set(c, "buf_flits", 4096);
	init(c);
	c->cls->ops.place(c, &at, NULL);
	s->router[i] = c;
}

static void end_add(struct scene *s, uint32_t i)
{
	struct weft_comp *c = add(s, &weft_class_test_gateway, "t%u", i);
	struct weft_place at = { .node = i, .graph = &s->graph, .net = s->net };
	const struct ref_gateway_params *p = &s->c.p;

	set(c, "flit_bytes", p->flit_bytes);
	set(c, "header_bytes", p->header_bytes);
	set(c, "packet_bytes", p->packet_bytes);
	set(c, "window", p->window);
	set(c, "places", p->places);
	set(c, "t_in", p->t_in);
	set(c, "t_out", p->t_out);
	init(c);
	((struct toy *)c->state)->scene = s;
	c->cls->ops.place(c, &at, NULL);
	s->end[i] = c;
}

static void connect_all(struct scene *s)
{
	struct weft_comp *link = add(s, &weft_class_net_channel, "link", 0);
	struct weft_err err = { 0 };

	init(link);
	for (uint32_t r = 0; r < s->graph.routers; r++)
		for (uint32_t p = 0; p < net_graph_ports(&s->graph, r); p++) {
			const struct net_far *f =
				net_graph_far(&s->graph, r, p);
			struct weft_port *a = &s->router[r]->ports[p];

			if (f->at == NET_NOWHERE || a->peer)
				continue;
			if (weft_connect(
				    a,
				    f->end ? &s->end[f->at]->ports[f->port]
					   : &s->router[f->at]->ports[f->port],
				    link, 0, &err))
				abort();
		}
}

/* Inserts a packet into the list of its source, which is sorted by the cycle of
 * the first flit. */
static void seen(void *own, const struct packet *p, uint64_t cycle)
{
	struct scene *s = own;
	struct ref_gateway_packets *v = &s->c.packets[p->route.src];
	size_t i = v->n;

	while (i && v->at[i - 1].sent > p->measured.injected)
		i--;
	vec_insert(v, i,
		   (struct ref_gateway_packet){ p->route.src, p->route.dest,
						p->flits, p->measured.injected,
						cycle - p->measured.injected });
}

static void product_build(struct scene *s)
{
	struct weft_network parts = { .n_switches = s->graph.routers };
	struct weft_err err = { 0 };
	struct router_net *n;

	s->sim = weft_sim_new(1);
	s->router = calloc(s->graph.routers, sizeof(*s->router));
	s->end = calloc(s->graph.ends, sizeof(*s->end));
	s->c.packets = calloc(s->graph.ends, sizeof(*s->c.packets));
	s->net = add(s, &weft_class_net_meter, "net", 0);
	init(s->net);
	parts.graph = malloc(sizeof(*parts.graph));
	*parts.graph = s->graph;
	parts.switches = s->router;
	s->net->cls->ops.network(s->net, &parts, &err);
	n = s->net->state;
	n->seen = seen;
	n->own = s;
	for (uint32_t i = 0; i < s->graph.routers; i++)
		router_add(s, i);
	for (uint32_t i = 0; i < s->graph.ends; i++)
		end_add(s, i);
	connect_all(s);
	if (weft_sim_start(s->sim, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
}

/* Returns the number of packets and frames that are still in the network or in
 * gateways, plus the number of windows whose credits do not add up. */
static uint32_t product_left(struct scene *s)
{
	uint32_t left = ((struct router_net *)s->net->state)->packets.live;

	for (uint32_t i = 0; i < s->graph.ends; i++) {
		struct toy *t = s->end[i]->state;

		left += t->g.queue[0].n + t->g.queue[1].n + (t->g.now != NULL);
		for (uint32_t k = 0; k < s->graph.ends; k++)
			for (uint32_t cls = 0; cls < GATEWAY_CLASSES; cls++) {
				struct toy *o = s->end[k]->state;
				uint32_t open = 0, owed = 0;

				if (t->g.peer[k])
					open = t->g.peer[k]->way[cls].open;
				if (o->g.peer[i])
					owed = o->g.peer[i]->way[cls].owed;
				left += open != owed;
			}
	}
	return left;
}

static void product_run(struct scene *s)
{
	struct weft_err err = { 0 };

	product_build(s);
	weft_sim_run(s->sim, 10 * WEFT_MS);
	s->c.cycles =
		weft_clock_cycle(&((struct toy *)s->end[0]->state)->g.clock,
				 ((struct router_net *)s->net->state)->m.last) +
		2000;
	s->left = product_left(s);
	if (weft_sim_finish(s->sim, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		s->left++;
	}
}

/* ---- the comparison ---- */

static int delivery_cmp(const void *a, const void *b)
{
	const struct ref_gateway_delivery *x = a, *y = b;

	if (x->cycle != y->cycle)
		return x->cycle < y->cycle ? -1 : 1;
	return x->offer < y->offer ? -1 : x->offer > y->offer;
}

static int packets_differ(const struct scene *s,
			  const struct ref_gateway_result *want, uint32_t e)
{
	const struct ref_gateway_packets *g = &s->c.packets[e];
	const struct ref_gateway_packets *w = &want->packets[e];

	for (size_t i = 0; i < g->n && i < w->n; i++)
		if (replay_differ("packet leaves", i, g->at[i].sent,
				  w->at[i].sent) ||
		    replay_differ("to", i, g->at[i].dest, w->at[i].dest) ||
		    replay_differ("flits", i, g->at[i].flits, w->at[i].flits))
			return 1;
	return replay_differ("packets", e, g->n, w->n);
}

static int compare(struct scene *s, struct ref_gateway_result *want)
{
	size_t n = s->c.offers.n;

	if (replay_differ("wrong frames", 0, s->wrong, 0) ||
	    replay_differ("wrong bytes", 0, s->broken, 0) ||
	    replay_differ("leftover", 0, s->left, 0) ||
	    replay_differ("frames", 0, s->delivered.n, n) ||
	    replay_differ("frames of the reference", 0, n, want->delivered.n))
		return 1;
	for (uint32_t e = 0; e < s->graph.ends; e++)
		if (packets_differ(s, want, e))
			return 1;
	qsort(s->delivered.at, n, sizeof(*s->delivered.at), delivery_cmp);
	qsort(want->delivered.at, n, sizeof(*want->delivered.at), delivery_cmp);
	for (size_t i = 0; i < n; i++)
		if (replay_differ("delivery", i, s->delivered.at[i].cycle,
				  want->delivered.at[i].cycle) ||
		    replay_differ("of frame", i, s->delivered.at[i].offer,
				  want->delivered.at[i].offer))
			return 1;
	return 0;
}

static void totals_add(struct scene *s, struct totals *t)
{
	t->frames += s->c.offers.n;
	for (uint32_t i = 0; i < s->graph.ends; i++) {
		t->packets += s->end[i]->counters[GATEWAY_PACKETS_OUT];
		t->waits += s->end[i]->counters[GATEWAY_WAITS];
		t->early += s->end[i]->counters[GATEWAY_EARLY];
		t->credits += s->end[i]->counters[GATEWAY_CREDITS];
	}
}

static int one(uint64_t seed, void *totals)
{
	struct scene *s = calloc(1, sizeof(*s));
	struct ref_gateway_result want;
	int bad;

	scene_make(s, seed);
	product_run(s);
	ref_gateway_run(&s->c, &want);
	bad = compare(s, &want);
	totals_add(s, totals);
	for (uint32_t e = 0; e < s->graph.ends; e++) {
		vec_free(&want.packets[e]);
		vec_free(&s->c.packets[e]);
	}
	free(want.packets);
	free(s->c.packets);
	vec_free(&want.delivered);
	vec_free(&s->delivered);
	vec_free(&s->c.offers);
	weft_sim_free(s->sim);
	free(s->end);
	free(s);
	return bad;
}

int main(int argc, char **argv)
{
	struct totals t = { 0 };
	uint64_t n = replay(argc, argv, 100, one, &t);

	if (!n)
		return 1;
	printf("%llu scenarios: %llu frames in %llu packets, %llu waited for "
	       "their window, %llu came early, %llu packets of credits: the "
	       "same\n",
	       (unsigned long long)n, (unsigned long long)t.frames,
	       (unsigned long long)t.packets, (unsigned long long)t.waits,
	       (unsigned long long)t.early, (unsigned long long)t.credits);
	return n >= 100 && (!t.waits || !t.early || !t.credits);
}
