/* SPDX-License-Identifier: Apache-2.0 */
/* Source of traffic in a direct network, see source.h.
 *
 * Arrivals do not depend on the network. Therefore the source's unbounded queue
 * needs no memory: a packet is drawn when the network has room for it, with the
 * cycle at which it arrived at the source. The backlog is counted by drawing
 * from a copy of the source. */
#include "systems/extoll/traffic/source.h"

#include <errno.h>

int extoll_source_init(const struct weft_comp *c, struct weft_err *err)
{
	const struct extoll_source *s = c->state;

	if (s->node >= s->nodes)
		return weft_fail(err, EINVAL, "%s: node = %u of %u nodes",
				 c->name, s->node, s->nodes);
	return 0;
}

uint32_t extoll_source_flits(const struct extoll_source *s, uint32_t size)
{
	if (!s->words)
		return size;
	return 1 +
	       (s->words * 8 + (size + 7) / 8 * 8) / ex_flit_bytes(s->width);
}

static uint32_t source_cost(const void *own, uint32_t size)
{
	return extoll_source_flits(own, size);
}

int extoll_source_start(struct weft_comp *c, struct weft_err *err)
{
	struct extoll_source *s = c->state;
	double mean = traffic_mean(&s->t, source_cost, s);
	struct weft_err sub = { 0 };

	s->t.packets = s->packets;
	s->t.pattern = (struct pattern){ .kind = s->pattern,
					 .node = s->node,
					 .nodes = s->nodes,
					 .self = s->self,
					 .hot = s->hot };
	s->t.arrivals = (struct arrivals){ .kind = s->arrivals,
					   .rate = s->load / mean };
	if (extoll_net_pattern(&s->place, s->permutation, s->dest,
			       &s->t.pattern, &sub))
		return weft_fail(err, EINVAL, "%s: %s", c->name, sub.msg);
	if (!pattern_sends(&s->t.pattern))
		s->t.arrivals.rate = 0;
	if (arrivals_init(&s->t.arrivals, s->peak / mean, s->burst, &c->rng,
			  &sub))
		return weft_fail(err, EINVAL, "%s: %s", c->name, sub.msg);
	return 0;
}

int extoll_source_join(struct weft_comp *c, const struct extoll_net_source *ops,
		       struct weft_err *err)
{
	const struct extoll_source *s = c->state;

	if (!s->place.net)
		return 0;
	return extoll_net_join(s->place.net, s->place.node,
			       (struct extoll_net_end){ c, ops }, &s->clock,
			       traffic_total(&s->t), err);
}

struct extoll_net_backlog extoll_source_backlog(const struct weft_comp *c,
						uint64_t from, uint64_t cycle)
{
	const struct extoll_source *s = c->state;
	struct extoll_net_backlog b = { 0, 0 };
	struct traffic_source t = s->t;
	struct weft_rng rng = c->rng;

	if (t.replay || extoll_net_over(s->net))
		return b;
	while (traffic_due(&t) < cycle) {
		struct traffic_packet p = traffic_draw(&t, &rng);

		traffic_step(&t, 0, &rng);
		if (p.at < from)
			continue;
		b.packets++;
		b.flits += extoll_source_flits(s, p.size);
	}
	return b;
}
