/* SPDX-License-Identifier: Apache-2.0 */
/* Flows: an input VC that holds the switch sends a flit in each cycle, and
 * nothing in the router can interfere. So it takes no part in steps until its
 * packet ends, flits or credits run out, or the flits or credits that it relies
 * on are taken back. Steps for other packets leave it alone. */
#include "systems/router/network/meter.h"
#include "systems/router/network/router.h"

static void flow_commit(struct router *r, uint32_t i, uint64_t upto)
{
	struct in_vc *v = &r->in[i];
	struct out_vc *o = &r->out[router_out(r, v)];
	uint64_t k = upto - v->from;

	if (upto <= v->from)
		return;
	v->from = upto;
	v->flits -= (uint16_t)k;
	v->sent += (uint16_t)k;
	if (r->lazy && o->credits < k) {
		r->now = upto - 1;
		router_line_credits(r, v->out);
	}
	o->credits -= (uint16_t)k;
	weft_count(r->s.comp, ROUTER_FLITS, k);
}

void router_flows_commit(struct router *r, uint64_t upto)
{
	SET_EACH(r->flowing, r->words, i)
	flow_commit(r, i, upto);
}

static void flow_end(struct router *r, uint32_t i, uint64_t now)
{
	struct in_vc *v = &r->in[i];

	flow_commit(r, i, now);
	set_remove(r->flowing, i);
	set_add(r->held, i);
	if (v->until > now)
		set_add(r->ahead, i);
	r->s.line[v->out].relies &= ~(1u << v->out_vc);
}

/* Ends flows whose flits or credits were taken back. A port may have one flow
 * at its input and another at its output. */
static void cuts_take(struct router *r, uint64_t now)
{
	SET_EACH(r->s.cuts, NET_PORTS_MAX / 64, p)
	{
		uint32_t in = r->hold_in[p], out = r->hold_out[p];

		if (in && set_has(r->flowing, in - 1))
			flow_end(r, in - 1, now);
		if (out && set_has(r->flowing, out - 1))
			flow_end(r, out - 1, now);
		set_remove(r->s.cuts, p);
	}
}

void router_flows_end(struct router *r, uint64_t now)
{
	cuts_take(r, now);
	r->flow_end = ROUTER_NEVER;
	SET_EACH(r->flowing, r->words, i)
	if (r->in[i].end <= now)
		flow_end(r, i, now);
	else if (r->in[i].end < r->flow_end)
		r->flow_end = r->in[i].end;
}

static void flow_begin(struct router *r, uint32_t i, uint64_t now)
{
	struct in_vc *v = &r->in[i];
	uint32_t n = router_length(r, i, now);
	uint32_t credits = router_credits(r, v, n, now);

	v->end = credits < n ? now + credits + 1 : now + n;
	if (v->end <= now + 1)
		return;
	v->from = now + 1;
	router_put_ahead(r, i, now, now + 1 + (credits < n ? credits : n));
	set_remove(r->held, i);
	set_remove(r->ahead, i);
	set_add(r->flowing, i);
	r->flow_end = v->end < r->flow_end ? v->end : r->flow_end;
	station_wake(&r->s, v->end);
}

void router_flows_begin(struct router *r, uint64_t now)
{
	SET_EACH(r->held, r->words, i)
	flow_begin(r, i, now);
}

void router_count(struct station *s, uint64_t upto)
{
	struct router *r = (struct router *)s;

	if (s->step == plain_step) {
		plain_count(r, upto);
		return;
	}
	router_commit(r, upto);
	router_flows_commit(r, upto);
}
