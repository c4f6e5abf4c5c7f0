/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation of the crossbar, see router.h. An input requests each output for
 * one VC, and VCs of equal rank take turns. With input_speedup a port has
 * several inputs, each for some of its VCs. With output_speedup a port has
 * several outputs, each for some of the ports. A speculative request is made
 * together with the request for a VC, and ranks below all others. With `hold` a
 * packet keeps its input and output until its last flit has left, or until it
 * has no flit to send. */
#include "systems/router/network/router.h"

/* Rank of a request that is not speculative. It is higher than all ages. */
#define SURE 0x80000000u

/* ---- a held switch ---- */

void router_hold_set(struct router *r, uint32_t i)
{
	const struct in_vc *v = &r->in[i];

	r->hold_in[v->side] = i + 1;
	r->hold_out[router_lane(r, v, v->out)] = i + 1;
	set_add(r->held, i);
}

static void hold_release(struct router *r, uint32_t i)
{
	const struct in_vc *v = &r->in[i];

	r->hold_in[v->side] = 0;
	r->hold_out[router_lane(r, v, v->out)] = 0;
	set_remove(r->held, i);
}

void router_hold_begin(struct router *r)
{
	SET_EACH(r->held, r->words, i)
	{
		struct in_vc *v = &r->in[i];

		v->cross = router_full(r, router_out(r, v)) ? ARBITER_NONE
							    : v->out;
		r->worked |= !r->steady;
	}
}

void router_hold_end(struct router *r, uint64_t now)
{
	SET_EACH(r->held, r->words, i)
	{
		struct in_vc *v = &r->in[i];
		bool last;

		if (v->cross == ARBITER_NONE) {
			hold_release(r, i);
			set_add(r->sw.fresh, i);
			continue;
		}
		last = router_send(r, i, now);
		if (!last && v->flits)
			continue;
		hold_release(r, i);
		if (last && v->flits)
			router_begin(r, i, now + 1);
		else if (last)
			v->state = IN_IDLE;
	}
}

/* ---- requests ---- */

/* Returns true if VC a has a higher rank than VC b, or has the same rank and
 * precedes b in the order that begins with VC `turn`. */
static bool precedes(const struct router *r, uint32_t a, uint32_t rank_a,
		     uint32_t b, uint32_t rank_b, uint32_t turn)
{
	uint32_t n = r->p.vcs;

	if (rank_a != rank_b)
		return rank_a > rank_b;
	return (a + n - turn) % n < (b + n - turn) % n;
}

void router_switch_request(struct router *r, uint32_t i, uint32_t out)
{
	struct in_vc *v = &r->in[i];
	struct allocator *a = &r->switches;
	uint32_t in = v->side, vc = v->vc, lane = router_lane(r, v, out);
	uint32_t at = in * a->n_out + lane;
	uint32_t rank = router_age(r, v) | (v->state == IN_ACTIVE ? SURE : 0);

	if (r->hold_in[in] || r->hold_out[lane])
		return;
	if (set_has(a->want + in * a->w_out, lane) &&
	    !precedes(r, vc, rank, r->asking[at],
		      a->rank_in ? a->rank_in[at] : rank, r->turn[in]))
		return;
	r->asking[at] = (uint8_t)vc;
	allocator_add(a, in, lane, rank, rank);
}

/* Requests each output at which a VC may be free. */
static void switch_speculate(struct router *r, uint32_t i)
{
	const struct net_choices *c = r->in[i].choices;
	const struct packet *p = router_front(r, &r->in[i]);

	for (uint32_t k = 0; k < c->n; k++)
		for (uint32_t vc = c->at[k].first; vc <= c->at[k].last; vc++) {
			uint32_t o = c->at[k].port * r->p.vcs + vc;

			if (router_eligible(r, p, o) && !router_full(r, o)) {
				router_switch_request(r, i, c->at[k].port);
				break;
			}
		}
}

void router_switch_grant(struct router *r, uint32_t i)
{
	struct allocator *a = &r->switches;
	uint32_t in = r->in[i].side, vc = r->in[i].vc, lane;

	if (!set_has(a->ins, in))
		return;
	lane = a->match[in];
	if (lane == ARBITER_NONE || r->asking[in * a->n_out + lane] != vc)
		return;
	r->in[i].cross = lane / r->p.output_speedup;
	r->turn[in] = (uint8_t)((vc + r->p.input_speedup) % r->p.vcs);
}

/* Withdraws grants that cannot be used in this cycle: another packet holds the
 * switch, the next queue is full, or a speculation failed. */
static void switch_recheck(struct router *r, const uint64_t *due)
{
	SET_EACH(due, r->words, i)
	{
		struct in_vc *v = &r->in[i];
		uint32_t o =
			v->state == IN_ACTIVE ? router_out(r, v) : v->granted;

		if (v->cross == ARBITER_NONE)
			continue;
		if (r->hold_in[v->side] ||
		    r->hold_out[router_lane(r, v, v->cross)] ||
		    o == ARBITER_NONE || o / r->p.vcs != v->cross ||
		    router_full(r, o))
			v->cross = ARBITER_NONE;
	}
}

/* Returns true if no two VCs compete for an input or output, and sets `cross`
 * of those that request the switch. */
static bool switch_apart(struct router *r)
{
	uint64_t ins[NET_PORTS_MAX / 64] = { 0 };
	uint64_t outs[NET_PORTS_MAX / 64] = { 0 };

	if (r->p.input_speedup > 1 || r->p.output_speedup > 1)
		return false;
	SET_EACH(r->sw.fresh, r->words, i)
	{
		struct in_vc *v = &r->in[i];

		v->cross = ARBITER_NONE;
		if (v->state != IN_ACTIVE)
			return false;
		if (r->hold_in[v->port] || r->hold_out[v->out] ||
		    router_full(r, router_out(r, v)))
			continue;
		if (set_has(ins, v->port) || set_has(outs, v->out))
			return false;
		set_add(ins, v->port);
		set_add(outs, v->out);
		v->cross = v->out;
	}
	return true;
}

void router_switch_pass(struct router *r, const struct in_vc *v)
{
	allocator_pass(&r->switches, v->port, v->out);
	r->turn[v->port] = v->vc + 1u < r->p.vcs ? v->vc + 1 : 0;
}

/* All allocators grant requests with which nothing competes. */
static void switch_grant_all(struct router *r)
{
	bool any = false;

	SET_EACH(r->sw.fresh, r->words, i)
	{
		if (r->in[i].cross == ARBITER_NONE)
			continue;
		router_switch_pass(r, &r->in[i]);
		any = true;
	}
	if (any)
		allocator_turn(&r->switches, 1);
	r->worked |= !r->steady && any;
}

static void switch_allocate(struct router *r)
{
	SET_EACH(r->sw.fresh, r->words, i)
	{
		struct in_vc *v = &r->in[i];

		v->cross = ARBITER_NONE;
		if (v->state != IN_ACTIVE)
			switch_speculate(r, i);
		else if (!router_full(r, router_out(r, v)))
			router_switch_request(r, i, v->out);
	}
	r->worked |=
		!r->steady && !set_empty(r->switches.ins, r->switches.w_in);
	allocator_run(&r->switches);
	SET_EACH(r->sw.fresh, r->words, i)
	router_switch_grant(r, i);
	allocator_clear(&r->switches);
}

void router_switch_begin(struct router *r, uint64_t now)
{
	if (router_stage_starts(r, &r->sw)) {
		if (switch_apart(r))
			switch_grant_all(r);
		else
			switch_allocate(r);
		router_stage_move(r, &r->sw, now);
	}
	if (r->p.speculative || r->sw.delay > 1)
		switch_recheck(r, stage_due(r, &r->sw, now));
}

void router_switch_end(struct router *r, uint64_t now)
{
	uint64_t *due = stage_due(r, &r->sw, now);

	r->worked |= r->sw.delay > 1 && !set_empty(due, r->words);
	SET_EACH(due, r->words, i)
	{
		struct in_vc *v = &r->in[i];
		bool last;

		if (v->cross == ARBITER_NONE) {
			set_add(r->sw.fresh, i);
			continue;
		}
		last = router_send(r, i, now);
		if (last && v->flits)
			router_begin(r, i, now + 1);
		else if (last)
			v->state = IN_IDLE;
		else if (v->flits && r->p.hold)
			router_hold_set(r, i);
		else if (v->flits)
			set_add(r->sw.fresh, i);
	}
	set_clear(due, r->words);
}
