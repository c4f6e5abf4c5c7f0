/* SPDX-License-Identifier: Apache-2.0 */
/* Loads of outputs that adaptive routings read (net/routing.h). All loads are
 * those of the end of the previous cycle, so that the order in which routers
 * and packets are served in a cycle does not matter. A router that has a step
 * stores its loads at the start of the step. A router without a step has
 * unchanged loads, except that credits may have arrived without an event. */
#include <stdlib.h>

#include "base/need.h"
#include "systems/router/network/meter.h"
#include "systems/router/network/router.h"

/* Returns the number of credits of a run that arrive before `cycle` and that
 * the router has not counted yet. */
static uint32_t credits_of(const struct credit_run *c, uint64_t cycle)
{
	uint64_t n = cycle - c->cycle;

	return (uint32_t)(n < c->n ? n : c->n) - c->taken;
}

/* Returns the number of credits for VCs first..last of a port that arrived
 * before `cycle` and that the router has not counted yet. */
static uint32_t credits_before(const struct line *l, uint64_t cycle,
			       uint32_t first, uint32_t last)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ring_count(&l->back); i++) {
		const struct credit_run *c = ring_nth(&l->back, i);

		if (c->cycle >= cycle)
			break;
		if (c->vc >= first && c->vc <= last)
			n += credits_of(c, cycle);
	}
	return n;
}

/* Returns the number of flits that streams and flows have sent to output VC o
 * by `now` and that the router has not yet subtracted from the credits of o. */
static uint32_t ahead_of(const struct router *r, uint32_t o, uint64_t now)
{
	uint64_t n = 0;

	SET_EACH(r->streams, r->words, i)
	if (router_out(r, &r->in[i]) == o && now > r->from)
		n += now - r->from;
	SET_EACH(r->flowing, r->words, i)
	if (router_out(r, &r->in[i]) == o && now > r->in[i].from)
		n += now - r->in[i].from;
	return (uint32_t)n;
}

/* Finds the output VC for which the first packet of input VC i waits. Returns
 * the number of flits of this packet that have not left. Returns 0 if the
 * packet does not wait for an output VC. */
static uint32_t waits(const struct router *r, uint32_t i, uint32_t *out_p)
{
	const struct in_vc *v = &r->in[i];

	if (v->state == IN_ACTIVE)
		*out_p = v->out * r->p.vcs + v->out_vc;
	else if (v->state == IN_VC && v->choices->n)
		*out_p = v->choices->at[0].port * r->p.vcs +
			 v->choices->at[0].first;
	else
		return 0;
	return router_front(r, v)->flits - v->sent;
}

/* Returns the number of flits that wait for output VCs first..last. Includes
 * flits that streams and flows have sent and that the router has not yet added
 * to in_vc.sent. */
static uint32_t waiting(const struct router *r, uint32_t first, uint32_t last)
{
	uint32_t sum = 0, n = r->p.ports * r->p.vcs, out;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t flits = waits(r, i, &out);

		if (flits && out >= first && out <= last)
			sum += flits;
	}
	return sum;
}

static uint32_t router_used(const void *own, uint32_t router, uint32_t port,
			    uint32_t first, uint32_t last)
{
	const struct router *r = own;
	const struct router_net *net = r->s.net->state;
	uint64_t now = station_now(&r->s);
	uint32_t sum = 0;

	if (router != r->s.number)
		r = net->router[router]->state;
	for (uint32_t v = first; v <= last; v++) {
		const struct out_vc *o = &r->out[port * r->p.vcs + v];

		sum += r->noted_at == now ? r->noted[port * r->p.vcs + v]
					  : (uint32_t)(o->places - o->credits);
	}
	if (r->noted_at == now)
		return sum;
	sum -= credits_before(&r->s.line[port], now, first, last);
	for (uint32_t v = first;
	     v <= last && r->s.graph->loads == NET_LOADS_CREDITS; v++)
		sum += ahead_of(r, port * r->p.vcs + v, now);
	if (r->s.graph->loads == NET_LOADS_CREDITS)
		return sum;
	return sum +
	       waiting(r, port * r->p.vcs + first, port * r->p.vcs + last);
}

void router_loads_init(struct router *r)
{
	uint32_t n = r->p.ports * r->p.vcs;

	r->noted_at = ROUTER_NEVER;
	r->loads = (struct net_loads){ router_used, r };
	if (r->routing->looks)
		r->noted = need(calloc(n, sizeof(*r->noted)));
}

void router_loads_note(struct router *r, uint64_t now)
{
	uint32_t n = r->p.ports * r->p.vcs, out;

	r->noted_at = now;
	for (uint32_t i = 0; i < n; i++)
		r->noted[i] = r->out[i].places - r->out[i].credits;
	for (uint32_t i = 0; r->s.graph->loads == NET_LOADS_QUEUES && i < n;
	     i++) {
		uint32_t flits = waits(r, i, &out);

		if (flits)
			r->noted[out] += flits;
	}
}
