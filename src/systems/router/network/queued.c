/* SPDX-License-Identifier: Apache-2.0 */
/* Set-up of routers that queue flits at their outputs (queued.h). */
#include "systems/router/network/queued.h"

#include <errno.h>
#include <stdlib.h>

#include "base/need.h"
#include "systems/router/network/meter.h"

const struct weft_port_decl queued_ports[] = {
	{ "p%u", WEFT_PORT_LINK, "ports", &router_wire, true,
	  "to routers and ends" },
	{ 0 },
};

int queued_init(struct weft_comp *c, struct weft_err *err)
{
	struct queued *r = c->state;
	const struct queued_params *p = &r->p;
	uint32_t n = p->ports * p->vcs;

	r->s.comp = c;
	r->s.step = queued_step;
	r->s.face = (struct router_face){
		.vcs = p->vcs,
		.places = p->buf_flits,
		.flow = p->flow,
		.hold = p->hold,
		.silence = 2ull * (p->t_route + p->t_cross + 1) +
			   r->s.credit_delay +
			   (p->flow == ROUTER_STORE ? p->buf_flits : 0),
	};
	r->whole = p->flow != ROUTER_WORMHOLE;
	r->words = (n + 63) / 64;
	r->s.line = need(calloc(p->ports, sizeof(*r->s.line)));
	r->in = need(calloc(n, sizeof(*r->in)));
	r->out = need(calloc(n, sizeof(*r->out)));
	r->behind = need(calloc(n, sizeof(*r->behind)));
	r->busy = need(calloc(r->words, 8));
	r->queued = need(calloc(p->ports, sizeof(*r->queued)));
	r->turn_line = need(calloc(p->ports, sizeof(*r->turn_line)));
	r->left = need(calloc(p->ports, sizeof(*r->left)));
	return 0;
}

/* Returns true if packets can leave through port p. If packets pass the network
 * in one direction only, p must lead to a router with a higher number, because
 * numbers ascend from stage to stage. */
static bool output_used(const struct queued *r, uint32_t p)
{
	const struct net_graph *g = r->s.graph;
	const struct station *far = r->s.line[p].far;

	if (!far || !g->type->one_way)
		return far;
	if (!far->end)
		return far->number > r->s.number;
	return g->in[far->number].at == r->s.number &&
	       g->in[far->number].port == p;
}

uint32_t queued_outputs(const struct queued *r)
{
	uint32_t n = 0;

	for (uint32_t p = 0; p < r->p.ports; p++)
		n += output_used(r, p);
	return n;
}

int queued_start(struct weft_comp *c,
		 int (*start)(struct queued *r, struct weft_err *err),
		 struct weft_err *err)
{
	struct queued *r = c->state;

	if (station_start(&r->s, err))
		return -EINVAL;
	r->s.packets = router_packets(r->s.net);
	r->routing = r->s.graph->routing;
	r->alone = r->routing->escape && !r->whole;
	queued_loads_init(r);
	if (station_outputs(&r->s, r->behind, err) || start(r, err))
		return -EINVAL;
	r->room.spare = !r->whole;
	r->room.own -= r->room.spare;
	r->room.limit -= r->room.spare;
	r->turn = need(calloc(r->rates.servers, sizeof(*r->turn)));
	r->want = need(calloc((size_t)r->rates.servers * r->words, 8));
	return 0;
}

/* Frames do not arrive in phase 0, because runs of flits are not frames. */
void queued_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
	if (f)
		weft_frame_free(f);
}

void queued_event(struct weft_comp *c, uint32_t tag)
{
}

void queued_fini(struct weft_comp *c)
{
	struct queued *r = c->state;
	uint32_t n = r->p.ports * r->p.vcs;

	station_fini(&r->s);
	for (uint32_t i = 0; r->in && i < n; i++) {
		ring_free(&r->in[i].packets);
		ring_free(&r->out[i].packets);
		free(r->in[i].choices);
	}
	ring_free(&r->moving);
	free(r->in);
	free(r->out);
	free(r->behind);
	free(r->busy);
	free(r->queued);
	free(r->turn_line);
	free(r->left);
	free(r->turn);
	free(r->want);
	free(r->noted);
}
