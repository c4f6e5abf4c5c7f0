/* SPDX-License-Identifier: Apache-2.0 */
/* A cycle of a router, see router.h. A router in which nothing can happen has
 * no step. An empty router waits for a flit. A router whose packets are all
 * blocked waits for a flit or a credit. A router that works is stepped once in
 * each cycle. */
#include <string.h>
#include <assert.h>

#include "systems/router/network/meter.h"
#include "systems/router/network/router.h"

/* ---- arrivals ---- */

static void flits_take(struct router *r, uint32_t i, const struct flit_run *run,
		       uint32_t n)
{
	struct in_vc *v = &r->in[i];
	bool was_empty = !v->flits;

	v->flits += (uint16_t)n;
	if (run->head && !run->taken)
		v->packets[(v->head + v->n++) & r->buf_mask] = run->packet;
	assert(v->n);
	if (v->state == IN_IDLE)
		router_begin(r, i, run->cycle + run->taken);
	else if (v->state == IN_ACTIVE && was_empty &&
		 !set_has(r->streams, i) && !set_has(r->flowing, i) &&
		 !set_has(r->held, i))
		set_add(r->sw.fresh, i);
}

static void flits_arrive(struct router *r, uint64_t now)
{
	SET_EACH(r->s.flits, NET_PORTS_MAX / 64, p)
	{
		struct line *l = &r->s.line[p];

		while (!ring_empty(&l->in) &&
		       ring_front(&l->in)->cycle <= now) {
			struct flit_run *run = ring_front(&l->in);
			uint64_t n = now - run->cycle + 1;

			n = (n < run->n ? n : run->n) - run->taken;
			if (!n)
				break;
			flits_take(r, p * r->p.vcs + run->vc, run, (uint32_t)n);
			run->taken += (uint16_t)n;
			if (run->taken == run->n)
				ring_pop(&l->in);
		}
		if (ring_empty(&l->in))
			set_remove(r->s.flits, p);
	}
}

void router_credits_take(struct line *l, struct out_vc *out, bool wait_for_tail,
			 uint64_t now)
{
	uint32_t n, vc;

	while ((n = line_credits_take(l, now, &vc))) {
		struct out_vc *v = &out[vc];

		v->credits += (uint16_t)n;
		if (wait_for_tail && v->tail_sent && v->credits == v->places)
			v->taken = false;
	}
}

void router_line_credits(struct router *r, uint32_t p)
{
	router_credits_take(&r->s.line[p], r->out + p * r->p.vcs,
			    r->p.wait_for_tail, r->now);
}

static void credits_arrive(struct router *r, uint64_t now)
{
	SET_EACH(r->s.credits, NET_PORTS_MAX / 64, p)
	{
		struct line *l = &r->s.line[p];

		router_credits_take(l, r->out + p * r->p.vcs,
				    r->p.wait_for_tail, now);
		if (ring_empty(&l->back))
			set_remove(r->s.credits, p);
	}
}

/* ---- departures ---- */

/* Runs of credits that wait to be taken. */
enum { LAZY_MOST = 24 };

/* Returns the first cycle from `t` on in which a flit or a credit can leave,
 * and reserves it. Only one can leave in each cycle. */
static uint64_t in_turn(uint64_t *free_p, uint64_t t)
{
	t = t > *free_p ? t : *free_p;
	*free_p = t + 1;
	return t;
}

/* Returns the cycle in which a flit that enters the crossbar at `t` leaves it.
 * A crossbar that is not pipelined accepts flits only when it is empty. All
 * flits that wait for it then enter together. */
static uint64_t crossed(struct router *r, uint64_t t)
{
	uint64_t left = t + r->p.t_cross;

	if (r->p.pipelined)
		return left - 1;
	if (left > r->cross_free)
		r->cross_free = left > r->cross_free + r->p.t_cross
					? left
					: r->cross_free + r->p.t_cross;
	return r->cross_free - 1;
}

/* Returns the cycle in which a credit leaves. All credits of one step leave in
 * one message. */
static uint64_t credit_turn(struct router *r, uint32_t in, uint64_t now)
{
	if (r->credit_step[in] == r->steps)
		return r->credit_free[in] - 1;
	r->credit_step[in] = r->steps;
	return in_turn(&r->credit_free[in], now);
}

/* Puts a flit on the output line, and its credit on the line back to the
 * sender. Earlier flits and credits leave first. Returns the cycle in which the
 * flit leaves. */
static uint64_t flit_put(struct router *r, uint32_t i, uint64_t now, bool head)
{
	uint32_t in = router_port(r, i), out = r->in[i].out;
	uint64_t t = in_turn(&r->flit_free[out], crossed(r, now + r->last));

	router_flits_put(r, i, t, 1, head);
	station_credit(&r->s, in, credit_turn(r, in, now), r->in[i].vc, 1);
	return t;
}

bool router_send(struct router *r, uint32_t i, uint64_t now)
{
	struct in_vc *v = &r->in[i];
	struct out_vc *o = &r->out[router_out(r, v)];
	uint64_t t = now + r->p.t_cross;
	assert(v->flits && o->credits);
	bool head = !v->sent, last = ++v->sent == router_front(r, v)->flits;

	o->credits--;
	v->flits--;
	if (r->lazy && ring_count(&r->s.line[v->out].back) > LAZY_MOST)
		router_line_credits(r, v->out);
	if (!r->steady)
		t = flit_put(r, i, now, head);
	else if (v->until <= now)
		router_put(r, i, now, 1, head);
	weft_count(r->s.comp, ROUTER_FLITS, 1);
	if (!last)
		return false;
	if (r->s.line[v->out].far->end)
		station_send(&r->s, v->out, t,
			     (struct flit_run){ .packet = router_packet(r, v),
						.n = 1,
						.vc = v->out_vc,
						.head = true });
	weft_count(r->s.comp, ROUTER_PACKETS, 1);
	o->tail_sent = true;
	o->taken = r->p.wait_for_tail;
	r->freed = true;
	v->sent = 0;
	v->head++;
	v->n--;
	return true;
}

/* ---- the cycle ---- */

/* Returns true if the set is not empty. */
static inline bool some(const struct router *r, const uint64_t *set)
{
	return r->words == 1 ? *set != 0 : !set_empty(set, r->words);
}

/* Returns the number of parts of a cycle, which differs from 1 with a speedup
 * of the switch. */
static uint32_t cycle_parts(const struct router *r, uint64_t now)
{
	if (r->p.speedup == 1)
		return 1;
	return (uint32_t)((uint64_t)((double)(now + 1) * r->p.speedup) -
			  (uint64_t)((double)now * r->p.speedup));
}

static bool stage_waits(const struct router *r, const struct stage *s)
{
	return s->delay > 1 && !set_empty(s->due, s->delay * r->words);
}

static bool router_busy(const struct router *r)
{
	uint64_t any = 0;

	for (uint32_t w = 0; w < r->words; w++)
		any |= r->route.fresh[w] | r->vc.fresh[w] | r->sw.fresh[w] |
		       r->held[w];
	return any;
}

/* Requests a step in the cycle after a head first requests a VC. */
static void heads_wait(struct router *r, uint64_t now)
{
	SET_EACH(r->heads, r->words, i)
	station_wake(&r->s, r->in[i].due + 1);
	r->again = some(r, r->vc.fresh) && (r->freed || r->worked);
	if (r->again)
		station_wake(&r->s, now + 2);
}

static void router_next(struct router *r, uint64_t now)
{
	bool busy;

	r->s.hungry = false;
	if (r->defers)
		heads_wait(r, now);
	if (r->worked || stage_waits(r, &r->route) || stage_waits(r, &r->vc) ||
	    stage_waits(r, &r->sw)) {
		station_wake(&r->s, now + 1);
		return;
	}
	if (r->steady) {
		router_plan(r, now);
		return;
	}
	busy = router_busy(r);
	r->s.hungry = busy;
	now = station_arrival(&r->s, busy);
	if (now != ROUTER_NEVER)
		station_wake(&r->s, now);
}

static void wants_clear(struct router *r)
{
	if (set_empty(r->wanting, NET_PORTS_MAX / 64))
		return;
	SET_EACH(r->wanting, NET_PORTS_MAX / 64, p)
	r->s.line[p].wants = 0;
	memset(r->wanting, 0, sizeof(r->wanting));
}

/* Begins the stages. A stage of several cycles begins in each cycle, because it
 * must find the input VCs that end in it. */
static void part_begin(struct router *r, uint64_t now)
{
	if (some(r, r->route.fresh))
		router_route_begin(r, now);
	if (r->defers ? r->again : some(r, r->vc.fresh) || r->vc.delay > 1)
		router_vc_begin(r, now);
	if (some(r, r->held))
		router_hold_begin(r);
	if (some(r, r->sw.fresh) || r->sw.delay > 1)
		router_switch_begin(r, now);
	if (some(r, r->ahead))
		router_cut(r, now);
}

static void part_end(struct router *r, uint64_t now)
{
	if (some(r, stage_due(r, &r->route, now)))
		router_route_end(r, now);
	if (some(r, stage_due(r, &r->vc, now)))
		router_vc_end(r, now);
	if (some(r, r->held))
		router_hold_end(r, now);
	if (some(r, stage_due(r, &r->sw, now)))
		router_switch_end(r, now);
}

void router_step(struct station *s, uint64_t now)
{
	struct router *r = (struct router *)s;
	uint32_t parts = cycle_parts(r, now);

	r->worked = parts == 0;
	r->freed = false;
	if (some(r, r->streams))
		router_commit(r, now);
	if (now >= r->flow_end || !set_empty(s->cuts, NET_PORTS_MAX / 64))
		router_flows_end(r, now);
	r->now = now;
	if (r->noted) {
		router_flows_commit(r, now);
		credits_arrive(r, now ? now - 1 : 0);
		router_loads_note(r, now);
	}
	flits_arrive(r, now);
	if (!r->lazy)
		credits_arrive(r, now);
	if (some(r, r->streams))
		router_streams_end(r);
	wants_clear(r);
	if (r->defers)
		router_heads_step(r, now);
	for (uint32_t k = 0; k < parts; k++) {
		r->last = k + 1 == parts;
		r->steps++;
		part_begin(r, now);
		part_end(r, now);
	}
	if (!r->defers)
		r->worked |= some(r, r->route.fresh) ||
			     (r->freed && some(r, r->vc.fresh));
	if (r->steady && some(r, r->held))
		router_flows_begin(r, now);
	router_next(r, now);
}
