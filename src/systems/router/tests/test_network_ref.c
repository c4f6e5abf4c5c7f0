/* SPDX-License-Identifier: Apache-2.0 */
/* Compares routers with a network flit by flit (ref_network.h). The number of a
 * case selects topology, routing, parameters of routers, lengths and loads.
 * Each packet must arrive in the same cycle, ends and routers must have moved
 * the same flits, and all credits must be back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "systems/router/network/meter.h"
#include "systems/router/tests/scene.h"
#include "unit/replay.h"

struct totals {
	uint64_t packets, flits, waits, replies;
};

/* ---- the case ---- */

/* A ring of 5 with a chord, cables of several lengths, two parallel cables, and
 * 0, 1 or 2 ends at a router. */
static struct net_cable lengths_at[] = {
	{ 0, 0, 3, 1, true }, { 0, 1, 0, 1, true }, { 1, 2, 0, 1, true },
	{ 3, 3, 1, 1, true }, { 4, 4, 0, 1, true }, { 0, 1, 0, 1 },
	{ 1, 2, 6, 2 },	      { 2, 3, 1, 1 },	    { 3, 4, 0, 1 },
	{ 4, 0, 2, 1 },	      { 1, 3, 4, 1 },
};
static const struct net_cables lengths = { 11, 5, 5, lengths_at };
static struct net_cable tree_at[] = {
	{ 0, 0, 0, 1, true }, { 1, 1, 0, 1, true }, { 2, 2, 0, 1, true },
	{ 2, 3, 0, 1, true }, { 0, 1, 0, 1 },	    { 0, 2, 2, 1 },
};
static const struct net_cables tree = { 6, 3, 4, tree_at };

static bool graph_make(struct scene *s)
{
	static const struct {
		const char *topology;
		struct net_shape shape;
	} shapes[] = {
		{ "mesh", { 1, { 5 } } },
		{ "mesh", { 2, { 3, 3 } } },
		{ "mesh", { 2, { 4, 2 }, 2 } },
		{ "mesh", { 3, { 2, 2, 2 } } },
		{ "torus", { 1, { 4 } } },
		{ "torus", { 1, { 5 }, 2 } },
		{ "torus", { 2, { 4, 4 } } },
		{ "torus", { 2, { 3, 2 } } },
		{ "torus", { 3, { 2, 3, 2 } } },
		{ "fly", { 1, { 4 } } },
		{ "fly", { 2, { 3, 3 } } },
		{ "fly", { 3, { 2, 2, 2 } } },
		{ "fat_tree", { 2, { 3, 3 } } },
		{ "fat_tree", { 3, { 2, 2, 2 } } },
		{ "fat_tree", { 3, { 3, 2, 2 }, 0, 2, { 2, 1 } } },
		{ "dragonfly", { 2, { 2, 1 }, 2 } },
		{ "dragonfly", { 2, { 3, 1 }, 1, .arrangement = 1 } },
		{ "dragonfly", { 3, { 4, 2, 3 }, 1 } },
		{ "dragonfly", { 3, { 3, 2, 4 }, 2 } },
		{ "dragonfly_plus", { 3, { 2, 2, 1 }, 2 } },
		{ "dragonfly_plus", { 4, { 3, 2, 2, 3 }, 1 } },
		{ "flattened_butterfly", { 2, { 3, 3 }, 2 } },
		{ "flattened_butterfly", { 1, { 4 }, 4 } },
		{ "hyperx", { 2, { 2, 4 }, 2 } },
		{ "hyperx",
		  { 2, { 3, 2 }, 2, .trunked = 2, .trunking = { 2, 3 } } },
		{ "fat_tree",
		  { 3, { 2, 2, 2 }, .lengthy = 2, .length = { 2, 5 } } },
		{ "graph", { .cables = &lengths } },
		{ "graph", { .cables = &tree } },
		{ "hypercube", { 1, { 3 }, 2 } },
		{ "hypercube", { 1, { 4 } } },
		{ "slim_fly", { 1, { 3 }, 1 } },
		{ "random_regular", { 2, { 8, 3 }, 2 } },
		{ "clos", { 3, { 2, 3, 3 } } },
		{ "clos", { 3, { 3, 2, 2 } } },
		{ "benes", { 3, { 2, 2, 2 } } },
		{ "benes", { 2, { 3, 3 } } },
		{ "cmesh", { 2, { 4, 4 } } },
	};
	uint32_t k = pick(s, sizeof(shapes) / sizeof(*shapes)), n = 0;
	struct weft_err err = { 0 };

	while (net_routings[n])
		n++;
	if (net_graph_init(&s->graph, net_topology_called(shapes[k].topology),
			   &shapes[k].shape, &err))
		return false;
	s->graph.routing = net_routings[pick(s, n)];
	s->graph.threshold = pick(s, 2) ? 0 : pick(s, 10);
	s->graph.loads = pick(s, 2);
	s->c.graph = &s->graph;
	if (!net_routing_check(s->graph.routing, &s->graph, s->c.p.vcs, &err))
		return true;
	net_graph_fini(&s->graph);
	return false;
}

static struct net_range some_vcs(struct scene *s)
{
	uint32_t first = pick(s, s->c.p.vcs);

	return (struct net_range){ (uint8_t)first,
				   (uint8_t)(1 + pick(s, s->c.p.vcs - first)) };
}

/* Adds limits, replies and VCs to a class. */
static void class_extend(struct scene *s, struct scene_class *k, uint32_t most)
{
	k->priority = pick(s, 3);
	k->outstanding = pick(s, 2) ? 0 : 1 + pick(s, 4);
	k->batch = pick(s, 4) ? 0 : k->packets;
	for (uint32_t i = 0; i < PACKET_KINDS; i++)
		k->range[i] = some_vcs(s);
	if (pick(s, 2))
		return;
	k->reply = 1 + pick(s, most);
	k->writes = pick(s, 2) ? 0 : 0.3;
	k->write_flits = 1 + pick(s, most);
	k->write_reply = 1 + pick(s, most);
}

static void traffic_make(struct scene *s, struct scene_class *k)
{
	static const double loads[] = { 0.01, 0.05, 0.1, 0.2, 0.4, 0.7, 1 };
	static const uint32_t patterns[] = { PATTERN_UNIFORM, PATTERN_NEIGHBOUR,
					     PATTERN_TORNADO, PATTERN_HOTSPOT };
	uint32_t most = s->c.p.flow == ROUTER_WORMHOLE ? 20 : s->c.p.buf_flits;

	k->load = loads[pick(s, 7)];
	k->flits = 1 + pick(s, most);
	k->flits_max = pick(s, 2) ? 0 : k->flits + pick(s, most - k->flits + 1);
	k->packets = 3 + pick(s, 40);
	k->pattern = patterns[pick(s, 4)];
	k->write_flits = k->write_reply = 1;
	if (s->graph.shape.ends > 1)
		k->pattern = PATTERN_UNIFORM;
	if (s->parts || pick(s, 2))
		class_extend(s, k, most);
	else
		k->range[0] = (struct net_range){ 0, (uint8_t)s->c.p.vcs };
}

/* Returns true if the VCs of the classes are proved free of deadlock. */
static bool classes_fit(struct scene *s)
{
	struct net_ranges all = { 0 };
	struct weft_err err = { 0 };

	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t w = 0; w < (s->cls[i].writes > 0 ? 2 : 1); w++) {
			uint32_t a = net_ranges_add(&all, s->cls[i].range[w]);

			if (s->cls[i].reply)
				net_ranges_pair(
					&all, a,
					net_ranges_add(&all,
						       s->cls[i].range[w + 2]));
		}
	return !net_ranges_check(&all, s->graph.routing, &s->graph, s->c.p.vcs,
				 &err);
}

static void scene_make(struct scene *s, uint64_t seed)
{
	weft_rng_seed(&s->rng, seed, "scene");
	s->plain = seed % 2;
	do {
		scene_kind.make(s);
		s->c.credit_delay = pick(s, 3) ? 0 : pick(s, 6);
		s->c.link = 1 + (pick(s, 2) ? 0 : pick(s, 8));
		s->c.access = 1 + (pick(s, 3) ? 0 : pick(s, 4));
	} while (!graph_make(s));
	if (scene_kind.fit)
		scene_kind.fit(s);
	s->parts = pick(s, 2);
	s->n = s->parts ? 1 + pick(s, CLASSES) : 1;
	do
		for (uint32_t i = 0; i < s->n; i++) {
			s->cls[i] = (struct scene_class){ 0 };
			traffic_make(s, &s->cls[i]);
		}
	while (!classes_fit(s));
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

static void set(struct weft_comp *c, const char *param, double value)
{
	struct weft_err err = { 0 };
	char text[32];

	snprintf(text, sizeof(text), "%.9g", value);
	if (weft_param_set(c, param, text, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
}

static void set_text(struct weft_comp *c, const char *param, const char *text)
{
	struct weft_err err = { 0 };

	if (weft_param_set(c, param, text, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
}

static void set_range(struct weft_comp *c, const char *param,
		      struct net_range r)
{
	char text[16];

	snprintf(text, sizeof(text), "%u-%u", r.first, r.first + r.n - 1);
	set_text(c, param, text);
}

static void class_set(struct weft_comp *c, const struct scene *s,
		      const struct scene_class *k)
{
	set(c, "load", k->load);
	set(c, "flits", k->flits);
	set(c, "flits_max", k->flits_max);
	set(c, "packets", k->packets);
	set(c, "reply", k->reply);
	set(c, "writes", k->writes);
	set(c, "write_flits", k->write_flits);
	set(c, "write_reply", k->write_reply);
	set(c, "outstanding", k->outstanding);
	set(c, "priority", k->priority);
	set(c, "batch", k->batch);
	if (k->range[0].n != s->c.p.vcs || k->reply)
		set_range(c, "vcs", k->range[0]);
	if (!k->reply)
		return;
	set_range(c, "write_vcs", k->range[1]);
	set_range(c, "reply_vcs", k->range[2]);
	set_range(c, "write_reply_vcs", k->range[3]);
}

static void init(struct weft_comp *c)
{
	struct weft_err err = { 0 };

	if (weft_comp_init(c, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
}

static void router_add(struct scene *s, uint32_t i)
{
	struct weft_comp *c = scene_kind.add(s, i);
	struct weft_place at = { .node = i, .graph = &s->graph, .net = s->net };

	set(c, "ports", net_graph_ports(&s->graph, i));
	set(c, "credit_delay", s->c.credit_delay);
	init(c);
	c->cls->ops.place(c, &at, NULL);
	s->router[i] = c;
}

static void class_add(struct scene *s, uint32_t i)
{
	struct weft_comp *c = add(s, &weft_class_net_class, "class%u", i);

	class_set(c, s, &s->cls[i]);
	((struct router_class *)c->state)->pattern = s->cls[i].pattern;
	((struct router_class *)c->state)->self = true;
	init(c);
	s->cls[i].comp = c;
}

static void end_add(struct scene *s, uint32_t i)
{
	struct weft_comp *c = add(s, &weft_class_net_source, "t%u", i);
	struct weft_place at = { .node = i, .graph = &s->graph, .net = s->net };
	struct router_source *t = c->state;

	set(c, "node", i);
	set(c, "nodes", s->graph.ends);
	if (!s->parts) {
		class_set(c, s, &s->cls[0]);
		t->pattern = s->cls[0].pattern;
	}
	t->self = true;
	init(c);
	for (uint32_t k = 0; s->parts && k < s->n; k++)
		c->cls->ops.part(c, s->cls[k].comp, NULL);
	c->cls->ops.place(c, &at, NULL);
	s->end[i] = c;
}

static struct weft_comp *channel_add(struct scene *s, const char *name,
				     uint32_t latency)
{
	struct weft_comp *c = add(s, &weft_class_net_channel, name, 0);

	set(c, "latency", latency);
	init(c);
	return c;
}

static void connect_all(struct scene *s)
{
	struct weft_comp *link = channel_add(s, "link", s->c.link);
	struct weft_comp *access = channel_add(s, "access", s->c.access);
	struct weft_comp *kind[8];
	struct weft_err err = { 0 };

	for (uint32_t k = 0; k < s->graph.kinds; k++) {
		char name[16];

		snprintf(name, sizeof(name), "kind%u", k);
		kind[k] = channel_add(s, name, s->graph.latency[k]);
	}
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
				    f->kind  ? kind[f->kind - 1]
				    : f->end ? access
					     : link,
				    0, &err))
				abort();
		}
}

static void seen(void *own, const struct packet *p, uint64_t cycle)
{
	struct scene *s = own;

	vec_push(&s->got.arrived,
		 (struct ref_arrival){ p->route.dest, p->route.src, cycle,
				       p->measured.born, p->measured.injected,
				       p->tag });
}

static void product_build(struct scene *s)
{
	struct weft_network parts = { .n_switches = s->graph.routers };
	struct weft_err err = { 0 };
	struct router_net *n;

	s->sim = weft_sim_new(1);
	s->router = calloc(s->graph.routers, sizeof(*s->router));
	s->end = calloc(s->graph.ends, sizeof(*s->end));
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
	for (uint32_t i = 0; s->parts && i < s->n; i++)
		class_add(s, i);
	for (uint32_t i = 0; i < s->graph.ends; i++)
		end_add(s, i);
	connect_all(s);
	if (weft_sim_start(s->sim, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
}

/* Copies the sources as they are before the run. */
static void sources_copy(struct scene *s)
{
	s->c.source = calloc(s->graph.ends, sizeof(*s->c.source));
	for (uint32_t i = 0; i < s->graph.ends; i++) {
		struct router_source *of = s->end[i]->state;
		struct ref_source *to = &s->c.source[i];

		to->cls = calloc(s->n, sizeof(*to->cls));
		to->n = s->n;
		to->coins = of->coins;
		for (uint32_t k = 0; k < s->n; k++) {
			struct ref_class *c = &to->cls[k];

			memcpy(c->range, s->cls[k].range, sizeof(c->range));
			c->t = of->classes ? of->classes->at[k].own.t : of->t;
			c->rng = of->classes ? of->classes->at[k].rng
					     : s->end[i]->rng;
			c->own = of->classes ? of->classes->at[k].c : &of->cls;
		}
	}
}

static uint64_t packets_all(const struct scene *s)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < s->n; k++)
		sum += (uint64_t)s->cls[k].packets * s->graph.ends *
		       (s->cls[k].reply ? 2 : 1);
	return sum;
}

static uint32_t product_left(struct scene *s)
{
	uint32_t left = ((struct router_net *)s->net->state)->packets.live;

	for (uint32_t i = 0; i < s->graph.routers; i++)
		left += scene_kind.left(s, i);
	return left;
}

static void product_run(struct scene *s)
{
	product_build(s);
	sources_copy(s);
	weft_sim_run(s->sim, 10 * WEFT_MS);
	s->got.stuck =
		((struct router_net *)s->net->state)->m.state == NET_DEADLOCK;
	s->got.flits = calloc(s->graph.routers, sizeof(uint64_t));
	s->got.peak = calloc(s->graph.routers, sizeof(uint64_t));
	for (uint32_t i = 0; i < s->graph.routers; i++) {
		struct station *st = s->router[i]->state;

		if (st->face.count)
			st->face.count(st, station_now(st) + 1);
		s->got.flits[i] = s->router[i]->counters[ROUTER_FLITS];
		if (s->c.queued)
			s->got.peak[i] = s->router[i]->counters[QUEUED_PEAK];
	}
	s->c.cycles = 200;
	vec_foreach (&s->got.arrived, struct ref_arrival, a)
		if (a->cycle + 200 > s->c.cycles)
			s->c.cycles = a->cycle + 200;
	s->got.leftover = product_left(s);
}

/* ---- the comparison ---- */

static int arrival_cmp(const void *a, const void *b)
{
	const struct ref_arrival *x = a, *y = b;

	if (x->cycle != y->cycle)
		return x->cycle < y->cycle ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return x->src < y->src ? -1 : x->src > y->src;
}

static int arrivals_differ(const struct scene *s, size_t i)
{
	const struct ref_arrival *g = &s->got.arrived.at[i];
	const struct ref_arrival *w = &s->want.arrived.at[i];

	return replay_differ("cycle", i, g->cycle, w->cycle) ||
	       replay_differ("end", i, g->end, w->end) ||
	       replay_differ("source", i, g->src, w->src) ||
	       replay_differ("birth", i, g->born, w->born) ||
	       replay_differ("injection", i, g->injected, w->injected) ||
	       replay_differ("request", i, g->asked, w->asked);
}

static int compare(struct scene *s)
{
	size_t n = s->want.arrived.n;

	qsort(s->got.arrived.at, s->got.arrived.n, sizeof(struct ref_arrival),
	      arrival_cmp);
	qsort(s->want.arrived.at, n, sizeof(struct ref_arrival), arrival_cmp);
	for (size_t i = 0; i < n && i < s->got.arrived.n; i++)
		if (arrivals_differ(s, i))
			return 1;
	if (replay_differ("deadlock", 0, s->got.stuck, false) ||
	    replay_differ("packets", 0, s->got.arrived.n, n) ||
	    replay_differ("all packets", 0, n, packets_all(s)) ||
	    replay_differ("leftover", 0, s->got.leftover, 0) ||
	    replay_differ("leftover of the reference", 0, 0, s->want.leftover))
		return 1;
	for (uint32_t i = 0; i < s->graph.routers; i++)
		if (replay_differ("flits", i, s->got.flits[i],
				  s->want.flits[i]) ||
		    replay_differ("peak", i, s->got.peak[i], s->want.peak[i]))
			return 1;
	return 0;
}

static void scene_print(const struct scene *s)
{
	fprintf(stderr,
		"%s by %s, dims %u %u %u, ends %u: credits %u, cables %u %u, loads %u, ",
		s->graph.type->name, s->graph.routing->name,
		s->graph.shape.size[0], s->graph.shape.size[1],
		s->graph.shape.size[2], s->graph.shape.ends, s->c.credit_delay,
		s->c.link, s->c.access, s->graph.loads);
	scene_kind.print(s);
	for (uint32_t i = 0; i < s->n; i++) {
		const struct scene_class *k = &s->cls[i];

		fprintf(stderr,
			"%s: flits %u..%u, load %g, pattern %u, packets %u, batch %u, reply %u, writes %g %u %u, outstanding %u, priority %u, VCs",
			s->parts ? "class" : "source", k->flits, k->flits_max,
			k->load, k->pattern, k->packets, k->batch, k->reply,
			k->writes, k->write_flits, k->write_reply,
			k->outstanding, k->priority);
		for (uint32_t r = 0; r < PACKET_KINDS; r++)
			fprintf(stderr, " %u+%u", k->range[r].first,
				k->range[r].n);
		fputc('\n', stderr);
	}
}

static int one(uint64_t seed, void *totals)
{
	struct scene *s = calloc(1, sizeof(*s));
	struct totals *t = totals;
	int bad;

	scene_make(s, seed);
	product_run(s);
	ref_network_run(&s->c, &s->want);
	bad = compare(s);
	if (bad)
		scene_print(s);
	t->packets += s->want.arrived.n;
	for (uint32_t i = 0; i < s->graph.routers; i++)
		t->flits += s->want.flits[i];
	vec_foreach (&s->want.arrived, struct ref_arrival, a) {
		t->waits += a->injected > a->born;
		t->replies += a->asked > 0;
	}
	weft_sim_free(s->sim);
	vec_free(&s->got.arrived);
	vec_free(&s->want.arrived);
	free(s->got.flits);
	free(s->want.flits);
	free(s->got.peak);
	free(s->want.peak);
	for (uint32_t i = 0; i < s->graph.ends; i++)
		free(s->c.source[i].cls);
	free(s->c.source);
	free(s->end);
	free(s);
	return bad;
}

int main(int argc, char **argv)
{
	struct totals t = { 0 };
	uint64_t n = replay(argc, argv, 200, one, &t);

	if (!n)
		return 1;
	printf("%llu scenarios: %llu packets, %llu of them replies, %llu waited in their source, "
	       "%llu flits through routers: the same\n",
	       (unsigned long long)n, (unsigned long long)t.packets,
	       (unsigned long long)t.replies, (unsigned long long)t.waits,
	       (unsigned long long)t.flits);
	return n >= 200 && (!t.packets || !t.waits || !t.flits || !t.replies);
}
