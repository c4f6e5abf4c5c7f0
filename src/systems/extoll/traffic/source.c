/* SPDX-License-Identifier: Apache-2.0 */
/* Source of traffic in a direct network, see source.h. */
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
	const struct topology *t = s->place.topo;
	struct pattern_shape shape = { 0 };

	if (t && t->kind == TOPO_GRID) {
		shape.size = t->size;
		shape.dims = t->dims;
	}
	return net_source_start(c, &s->own, s->net ? &s->net->m : NULL, shape,
				(struct net_source_cost){ source_cost, s },
				err);
}

int extoll_source_join(struct weft_comp *c, const struct net_source_ops *ops,
		       struct weft_err *err)
{
	const struct extoll_source *s = c->state;

	if (!s->place.net)
		return 0;
	return extoll_net_join(s->place.net, s->place.node,
			       (struct net_end){ c, ops }, &s->clock,
			       traffic_total(&s->t), err);
}

struct net_backlog extoll_source_backlog(const struct weft_comp *c,
					 uint64_t from, uint64_t cycle)
{
	const struct extoll_source *s = c->state;

	if (s->t.replay || extoll_net_over(s->net))
		return (struct net_backlog){ 0, 0 };
	return net_source_backlog(&s->own, &c->rng,
				  (struct net_source_cost){ source_cost, s },
				  from, cycle);
}
