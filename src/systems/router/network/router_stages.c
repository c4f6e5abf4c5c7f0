/* SPDX-License-Identifier: Apache-2.0 */
/* Routing and allocation of virtual channels, see router.h. */
#include <stdlib.h>

#include "base/need.h"
#include "systems/router/network/meter.h"
#include "systems/router/network/router.h"

bool router_stage_starts(const struct router *r, const struct stage *s)
{
	return !set_empty(s->fresh, r->words) &&
	       (r->p.pipelined || s->delay == 1 ||
		set_empty(s->due, s->delay * r->words));
}

void router_stage_move(struct router *r, struct stage *s, uint64_t now)
{
	uint64_t *due = stage_due(r, s, now + s->delay - 1);

	for (uint32_t w = 0; w < r->words; w++) {
		due[w] |= s->fresh[w];
		s->fresh[w] = 0;
	}
}

uint32_t router_age(const struct router *r, const struct in_vc *v)
{
	uint64_t born;

	if (r->p.arbiter < ROUTER_AGE)
		return 0;
	if (r->p.arbiter == ROUTER_CLASS)
		return router_front(r, v)->rank;
	born = router_front(r, v)->measured.born;
	return born < INT32_MAX ? INT32_MAX - (uint32_t)born : 0;
}

/* ---- routing ---- */

static struct net_choices *choices_new(struct router_net *net)
{
	if (net->choices.n)
		return vec_pop(&net->choices);
	return need(malloc(sizeof(struct net_choices)));
}

static void packet_route(struct router *r, uint32_t i)
{
	struct in_vc *v = &r->in[i];
	struct net_arrival at = { r->s.number, v->port, v->vc, &r->loads };

	struct packet *p = router_front(r, v);

	v->choices = choices_new(r->s.net->state);
	v->choices->n = 0;
	net_range_route(r->routing, r->s.graph, p->range, at, &p->route,
			r->in[i].choices);
	v->state = IN_VC;
	r->worked = true;
	set_add(r->vc.fresh, i);
	if (r->p.speculative)
		set_add(r->sw.fresh, i);
}

void router_begin(struct router *r, uint32_t i, uint64_t from)
{
	struct in_vc *v = &r->in[i];

	if (r->defers) {
		v->state = IN_ROUTE;
		v->due = from + r->p.t_route;
		set_add(r->heads, i);
		return;
	}
	v->state = IN_IDLE;
	if (r->p.flow == ROUTER_STORE && v->flits < router_front(r, v)->flits)
		return;
	if (!r->p.t_route) {
		packet_route(r, i);
		return;
	}
	v->state = IN_ROUTE;
	set_add(r->route.fresh, i);
}

static void heads_route(struct router *r, uint64_t now)
{
	SET_EACH(r->heads, r->words, i)
	{
		if (r->in[i].due > now)
			continue;
		packet_route(r, i);
		set_remove(r->heads, i);
		r->again = true;
	}
}

void router_heads_step(struct router *r, uint64_t now)
{
	r->worked = false;
	if (now > r->stepped + 1) {
		heads_route(r, now - 1);
		if (r->again) {
			router_vc_begin(r, now - 1);
			router_vc_end(r, now - 1);
			r->again = r->worked;
		}
	}
	heads_route(r, now);
	r->worked = false;
	r->stepped = now;
}

void router_route_begin(struct router *r, uint64_t now)
{
	if (router_stage_starts(r, &r->route))
		router_stage_move(r, &r->route, now);
}

void router_route_end(struct router *r, uint64_t now)
{
	uint64_t *due = stage_due(r, &r->route, now);

	if (!r->p.t_route || set_empty(due, r->words))
		return;
	SET_EACH(due, r->words, i)
	packet_route(r, i);
	set_clear(due, r->words);
	r->worked = true;
}

/* ---- VC allocation ---- */

bool router_eligible(const struct router *r, const struct packet *p, uint32_t o)
{
	const struct out_vc *v = &r->out[o];

	if (v->taken || (r->p.busy_when_full && !v->credits))
		return false;
	return r->p.flow == ROUTER_WORMHOLE || v->credits >= p->flits;
}

static void vc_request(struct router *r, uint32_t i)
{
	struct in_vc *v = &r->in[i];
	const struct packet *p = router_front(r, v);
	const struct net_choices *c = r->in[i].choices;
	uint32_t age = router_age(r, v);

	v->granted = ARBITER_NONE;
	for (uint32_t k = 0; k < c->n; k++)
		for (uint32_t vc = c->at[k].first; vc <= c->at[k].last; vc++) {
			uint32_t o = c->at[k].port * r->p.vcs + vc;

			if (router_eligible(r, p, o))
				allocator_add(&r->vcs, i, o, c->at[k].priority,
					      age);
		}
}

/* Grants an output VC to input VC i: of those that it may request, the next one
 * in turn. All allocators without ranks grant this VC if no other input VC
 * requests one. */
static bool vc_take(struct router *r, uint32_t i)
{
	struct in_vc *v = &r->in[i];
	const struct packet *p = router_front(r, v);
	const struct net_choices *c = r->in[i].choices;
	uint32_t n = r->vcs.n_out, turn = r->vcs.in[i].turn, least = n;

	v->granted = ARBITER_NONE;
	for (uint32_t k = 0; k < c->n; k++)
		for (uint32_t vc = c->at[k].first; vc <= c->at[k].last; vc++) {
			uint32_t o = c->at[k].port * r->p.vcs + vc;
			uint32_t after = o >= turn ? o - turn : o + n - turn;

			if (after >= least || !router_eligible(r, p, o))
				continue;
			least = after;
			v->granted = o;
		}
	if (v->granted == ARBITER_NONE)
		return false;
	allocator_pass(&r->vcs, i, v->granted);
	return true;
}

/* Returns true if no two heads request the same output. */
static bool vcs_apart(const struct router *r)
{
	uint64_t ports[NET_PORTS_MAX / 64] = { 0 };

	SET_EACH(r->vc.fresh, r->words, i)
	for (uint32_t k = 0; k < r->in[i].choices->n; k++) {
		uint32_t p = r->in[i].choices->at[k].port;

		if (set_has(ports, p))
			return false;
		set_add(ports, p);
	}
	return true;
}

static void vcs_allocate(struct router *r)
{
	if (allocator_simple(&r->vcs) && vcs_apart(r)) {
		SET_EACH(r->vc.fresh, r->words, i)
		r->worked |= vc_take(r, i);
		return;
	}
	SET_EACH(r->vc.fresh, r->words, i)
	vc_request(r, i);
	r->worked |= !set_empty(r->vcs.ins, r->vcs.w_in);
	allocator_run(&r->vcs);
	SET_EACH(r->vcs.ins, r->words, i)
	r->in[i].granted = r->vcs.match[i];
	allocator_clear(&r->vcs);
}

/* Withdraws a grant if its VC was taken while the allocation lasted. */
static void vc_recheck(struct router *r, const uint64_t *due)
{
	SET_EACH(due, r->words, i)
	{
		struct in_vc *v = &r->in[i];

		if (v->granted != ARBITER_NONE &&
		    !router_eligible(r, router_front(r, v), v->granted))
			v->granted = ARBITER_NONE;
	}
}

void router_vc_begin(struct router *r, uint64_t now)
{
	if (router_stage_starts(r, &r->vc)) {
		vcs_allocate(r);
		router_stage_move(r, &r->vc, now);
	}
	if (r->vc.delay > 1)
		vc_recheck(r, stage_due(r, &r->vc, now));
}

void router_vc_end(struct router *r, uint64_t now)
{
	uint64_t *due = stage_due(r, &r->vc, now);

	r->worked |= r->vc.delay > 1 && !set_empty(due, r->words);
	SET_EACH(due, r->words, i)
	{
		struct in_vc *v = &r->in[i];

		if (v->granted == ARBITER_NONE) {
			set_add(r->vc.fresh, i);
			continue;
		}
		r->out[v->granted].taken = true;
		r->out[v->granted].tail_sent = false;
		v->out = (uint8_t)(v->granted / r->p.vcs);
		v->out_vc = (uint8_t)(v->granted % r->p.vcs);
		v->state = IN_ACTIVE;
		vec_push(&((struct router_net *)r->s.net->state)->choices,
			 v->choices);
		v->choices = NULL;
		if (!r->p.speculative)
			set_add(r->sw.fresh, i);
	}
	set_clear(due, r->words);
}
