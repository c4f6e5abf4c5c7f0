/* SPDX-License-Identifier: Apache-2.0 */
/* Set-up and backlog of sources with classes, see source_classes.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/need.h"
#include "base/rng.h"
#include "net/network_classes.h"
#include "systems/router/network/meter.h"
#include "systems/router/traffic/source_classes.h"

static struct source_classes *classes_new(uint32_t n)
{
	struct source_classes *all =
		need(calloc(1, sizeof(*all) + n * sizeof(all->at[0])));

	all->n = n;
	for (uint32_t i = 0; i < n; i++) {
		all->at[i].packet = all->at[i].last_vc = ARBITER_NONE;
		all->at[i].number = NET_CLASS_NONE;
	}
	return all;
}

/* Moves the packets of the source to a class, also the packet that is being
 * sent. */
void source_classes_plain(struct router_source *s)
{
	struct source_class *k;

	s->classes = classes_new(1);
	k = &s->classes->at[0];
	k->own = s->own;
	k->c = &s->cls;
	k->rng = s->s.comp->rng;
	k->range[PACKET_READ] = s->range;
	k->packet = s->packet;
	k->sent = s->sent;
	k->last_vc = s->last_vc;
	s->t.mix = NULL;
	s->t.replay = NULL;
	s->packet = ARBITER_NONE;
}

void source_classes_fini(struct router_source *s)
{
	for (uint32_t i = 0; s->classes && i < s->classes->n; i++) {
		struct source_class *k = &s->classes->at[i];

		traffic_source_fini(&k->own.t);
		ring_free(&k->back);
		ring_free(&k->replies);
	}
	free(s->classes);
}

/* ---- start ---- */

static uint32_t size_flits(const void *unused, uint32_t size)
{
	return size;
}

/* Corrects load and peak of a class for the size of writes. The load is in
 * flits, and the source divides it by the mean size of packets that are not
 * writes. */
static void load_share(struct source_class *k)
{
	double mean = traffic_mean(&k->own.t, size_flits, NULL);
	double w = k->c->writes, of = (1 - w) * mean + w * k->c->write_flits;

	if (w <= 0)
		return;
	k->own.load *= mean / of;
	k->own.peak *= mean / of;
}

/* Adds the VCs of the class to those of the network. */
static int ranges_join(struct router_source *s, struct source_class *k,
		       struct weft_err *err)
{
	for (int kind = PACKET_READ; kind <= PACKET_WRITE; kind++)
		if (k->range[kind].n &&
		    router_net_range(s->s.net, k->range[kind],
				     k->range[kind + PACKET_READ_REPLY], err))
			return -EINVAL;
	return 0;
}

static int class_start(struct router_source *s, struct source_class *k,
		       const char *name, struct pattern_shape shape,
		       struct weft_err *err)
{
	const struct router_face *r = s->router;
	uint32_t places = r->flow == ROUTER_WORMHOLE ? 0 : r->places;
	struct net_source_cost cost = { size_flits, NULL };
	struct net_meter *meter = s->s.net->state;
	struct weft_err sub = { 0 };

	if (class_sizes(k->c, &k->own.t, places, &sub))
		return weft_fail(err, EINVAL, "%s%s", name, sub.msg);
	if (class_ranges(k->c, r->vcs, k->range, &sub) ||
	    ranges_join(s, k, &sub))
		return weft_fail(err, EINVAL, "%s: %s", name, sub.msg);
	if (k->own.pattern == PATTERN_ADVERSARIAL && !k->own.group)
		shape.group = router_net_group(s->s.net);
	load_share(k);
	if (net_source_start(s->s.comp, &k->own, meter, shape, cost, err))
		return -EINVAL;
	if (!k->c->batch)
		return 0;
	meter->timed = true;
	if (!pattern_sends(&k->own.t.pattern))
		return 0;
	k->own.t.packets = k->c->batch;
	k->own.t.arrivals =
		(struct arrivals){ .kind = ARRIVALS_SATURATED, .rate = 1 };
	return 0;
}

/* Sets up class number i from the parameters of its net.class. Returns 0, or
 * -EINVAL with a message. */
static int part_start(struct router_source *s, uint32_t i,
		      struct pattern_shape shape, struct weft_err *err)
{
	const struct router_class *of = s->part[i]->state;
	struct source_class *k = &s->classes->at[i];
	uint32_t number = net_class_called(s->s.net, of->name);

	if (number == NET_CLASSES_MAX)
		return weft_fail(err, EINVAL,
				 "%s: a network has at most %u classes",
				 of->name, NET_CLASSES_MAX);
	k->number = (uint8_t)number;
	k->own = of->own;
	k->own.node = s->node;
	k->own.nodes = s->nodes;
	k->c = &of->cls;
	if (class_start(s, k, s->part[i]->name, shape, err))
		return -EINVAL;
	weft_rng_seed(&k->rng, weft_rng_u64(&s->s.comp->rng), of->name);
	return 0;
}

int source_classes_start(struct router_source *s, struct pattern_shape shape,
			 struct weft_err *err)
{
	s->classes = classes_new(s->n_parts ? s->n_parts : 1);
	for (uint32_t i = 0; i < s->n_parts; i++)
		if (part_start(s, i, shape, err))
			return -EINVAL;
	if (s->n_parts)
		return 0;
	s->classes->at[0].own = s->own;
	s->classes->at[0].c = &s->cls;
	if (class_start(s, &s->classes->at[0], s->s.comp->name, shape, err))
		return -EINVAL;
	s->classes->at[0].rng = s->s.comp->rng;
	return 0;
}

uint64_t source_classes_total(const struct router_source *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < s->classes->n; i++) {
		const struct source_class *k = &s->classes->at[i];
		uint64_t n = traffic_total(&k->own.t);

		if (n > UINT64_MAX / 4 || sum > UINT64_MAX / 4)
			return UINT64_MAX;
		sum += k->c->reply ? 2 * n : n;
	}
	return sum;
}

/* ---- backlog ---- */

static void class_backlog(const struct source_class *k, uint64_t from,
			  uint64_t cycle, struct net_backlog *b)
{
	struct traffic_source t = k->own.t;
	struct weft_rng rng = k->rng;
	/* Arrivals beyond the limit are not due before earlier packets have
	 * arrived. */
	uint32_t room =
		k->c->outstanding ? k->c->outstanding - k->out : UINT32_MAX;

	for (uint32_t i = k->replies.head; i != k->replies.tail; i++) {
		const struct pending *q = &k->replies.at[i & k->replies.mask];

		if (q->arrived < from || q->arrived >= cycle)
			continue;
		b->packets++;
		b->flits += q->flits;
	}
	while (!k->c->batch && room-- && traffic_due(&t) < cycle) {
		enum packet_kind kind;
		struct traffic_packet p = class_next(&t, k->c, &rng, &kind);

		if (p.at < from)
			continue;
		b->packets++;
		b->flits += class_flits(k->c, kind, p.size);
	}
}

struct net_backlog source_classes_backlog(const struct router_source *s,
					  uint32_t cls, uint64_t from,
					  uint64_t cycle)
{
	struct net_backlog b = { 0, 0 };

	for (uint32_t i = 0; i < s->classes->n; i++)
		if (cls == NET_CLASSES_MAX || s->classes->at[i].number == cls)
			class_backlog(&s->classes->at[i], from, cycle, &b);
	return b;
}
