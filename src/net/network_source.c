/* SPDX-License-Identifier: Apache-2.0 */
/* A source of traffic as a component of a network, see network_source.h. */
#include "net/network_source.h"

#include <errno.h>
#include <stdlib.h>

/* Sets the permutation in the shape. All sources share one array, because the
 * permutation's number determines its content. */
static int source_permute(const struct net_source *s, struct net_meter *n,
			  struct pattern_shape *shape, struct weft_err *err)
{
	if (s->pattern != PATTERN_PERMUTATION)
		return 0;
	if (!n)
		return weft_fail(err, EINVAL, "a permutation needs a fabric");
	if (!n->perm || n->perm_seed != s->permutation) {
		n->perm = realloc(n->perm, s->nodes * sizeof(*n->perm));
		if (!n->perm)
			abort();
		n->perm_seed = s->permutation;
		pattern_permute(s->permutation, n->perm, s->nodes);
	}
	shape->perm = n->perm;
	return 0;
}

/* Reads the list of nodes with weights, for patterns that have one. */
static int source_spots(struct weft_comp *c, struct net_source *s,
			struct weft_err *err)
{
	struct pattern_spots *spots;

	if (!s->spots[0])
		return 0;
	if (s->pattern != PATTERN_HOTSPOT && s->pattern != PATTERN_BACKGROUND)
		return weft_fail(
			err, EINVAL,
			"spots belong to the patterns hotspot and background: leave them out");
	spots = weft_comp_alloc(c, sizeof(*spots));
	s->t.pattern.spots = spots;
	return pattern_spots_read(spots, s->spots, s->nodes, err);
}

int net_source_start(struct weft_comp *c, struct net_source *s,
		     struct net_meter *meter, struct pattern_shape shape,
		     struct net_source_cost cost, struct weft_err *err)
{
	double mean = traffic_mean(&s->t, cost.flits, cost.own);
	struct weft_err sub = { 0 };

	s->t.packets = s->packets;
	s->t.pattern = (struct pattern){ .kind = s->pattern,
					 .node = s->node,
					 .nodes = s->nodes,
					 .self = s->self,
					 .group = s->group,
					 .hot = s->hot };
	s->t.arrivals = (struct arrivals){ .kind = s->arrivals,
					   .start = s->start,
					   .stop = s->stop,
					   .rate = s->load / mean };
	shape.dest = s->dest;
	if (source_permute(s, meter, &shape, &sub) ||
	    source_spots(c, s, &sub) ||
	    pattern_init(&s->t.pattern, &shape, &sub))
		return weft_fail(err, EINVAL, "%s: %s", c->name, sub.msg);
	if (!pattern_sends(&s->t.pattern))
		s->t.arrivals.rate = 0;
	if (arrivals_init(&s->t.arrivals, s->peak / mean, s->burst, &c->rng,
			  &sub))
		return weft_fail(err, EINVAL, "%s: %s", c->name, sub.msg);
	return 0;
}

struct net_backlog net_source_backlog(const struct net_source *s,
				      const struct weft_rng *rng,
				      struct net_source_cost cost,
				      uint64_t from, uint64_t cycle)
{
	struct net_backlog b = { 0, 0 };
	struct traffic_source t = s->t;
	struct weft_rng copy = *rng;

	while (traffic_due(&t) < cycle) {
		struct traffic_packet p = traffic_draw(&t, &copy);

		traffic_step(&t, 0, &copy);
		if (p.at < from)
			continue;
		b.packets++;
		b.flits += cost.flits(cost.own, p.size);
	}
	return b;
}

static void scout_advance(struct net_scout *k, const struct net_source *s,
			  const struct weft_rng *rng,
			  struct net_source_cost cost, uint64_t made,
			  uint64_t cycle)
{
	if (k->t.made < s->t.made || cycle < k->cycle || !k->cycle)
		*k = (struct net_scout){ .t = s->t,
					 .rng = *rng,
					 .flits = made };
	k->cycle = cycle;
	while (traffic_due(&k->t) < cycle) {
		struct traffic_packet p = traffic_draw(&k->t, &k->rng);

		traffic_step(&k->t, 0, &k->rng);
		k->flits += cost.flits(cost.own, p.size);
	}
}

struct net_backlog net_scout_backlog(struct net_scout k[2],
				     const struct net_source *s,
				     const struct weft_rng *rng,
				     struct net_source_cost cost, uint64_t made,
				     uint64_t from, uint64_t cycle)
{
	struct net_backlog before = { s->t.made, made };

	scout_advance(&k[0], s, rng, cost, made, cycle);
	if (traffic_due(&s->t) < from) {
		scout_advance(&k[1], s, rng, cost, made,
			      from < cycle ? from : cycle);
		before = (struct net_backlog){ k[1].t.made, k[1].flits };
	}
	return (struct net_backlog){ k[0].t.made - before.packets,
				     k[0].flits - before.flits };
}
