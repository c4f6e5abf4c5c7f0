/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: flits that leave one per cycle without steps of the router.
 *
 * At the end of a step the router knows which input VCs will request the switch
 * in the next cycle if nothing arrives. If no two of them need the same input
 * or output, each sends a flit in each cycle until its packet ends, or flits or
 * credits run out. A step follows in the first such cycle, or earlier if
 * something arrives that may interfere. Until the next step, queues and credits
 * follow from the number of cycles (router_commit).
 *
 * The router puts the flits of a stream and their credits on the lines ahead of
 * time. If a VC does not send in a later step, the router takes back its flits
 * and credits from this step on. */
#include <assert.h>
#include <stdlib.h>

#include "base/need.h"
#include "systems/router/network/meter.h"
#include "systems/router/network/router.h"

static uint64_t *set_new(const struct router *r)
{
	return need(calloc(r->words, 8));
}

void router_streams_init(struct router *r)
{
	/* Streams need a router that sends one flit in each cycle, no less and
	 * no more. */
	r->steady = r->sw.delay == 1 && r->p.speedup == 1 &&
		    r->p.input_speedup == 1 && r->p.output_speedup == 1 &&
		    (r->p.pipelined || r->p.t_cross == 1);
	r->lazy = r->steady && r->p.flow == ROUTER_WORMHOLE &&
		  !r->p.busy_when_full && !r->p.wait_for_tail && !r->noted;
	r->flowing = set_new(r);
	r->defers = r->lazy && r->p.t_route <= 1 && r->vc.delay == 1 &&
		    !r->p.speculative;
	r->s.defer = r->defers ? r->p.t_route + 1 : 0;
	r->heads = set_new(r);
	r->flow_end = ROUTER_NEVER;
	r->streams = set_new(r);
	r->grabs = set_new(r);
	r->ahead = set_new(r);
	r->ready = set_new(r);
}

void router_streams_fini(struct router *r)
{
	free(r->heads);
	free(r->flowing);
	free(r->streams);
	free(r->grabs);
	free(r->ahead);
	free(r->ready);
}

/* ---- the past of streams ---- */

/* Returns the number of cycles in which the stream requested the switch. */
static uint64_t stream_commit(struct router *r, uint32_t i, uint64_t k)
{
	struct in_vc *v = &r->in[i];

	v->flits -= (uint16_t)k;
	v->sent += (uint16_t)k;
	if (r->lazy && r->out[router_out(r, v)].credits < k)
		router_line_credits(r, v->out);
	r->out[router_out(r, v)].credits -= (uint16_t)k;
	weft_count(r->s.comp, ROUTER_FLITS, k);
	if (set_has(r->held, i))
		return 0;
	router_switch_pass(r, v);
	if (!set_has(r->grabs, i))
		return k;
	set_remove(r->grabs, i);
	router_hold_set(r, i);
	return 1;
}

void router_commit(struct router *r, uint64_t upto)
{
	uint64_t asked = 0;

	if (upto <= r->from || set_empty(r->streams, r->words))
		return;
	r->now = upto - 1;
	SET_EACH(r->streams, r->words, i)
	{
		uint64_t k = stream_commit(r, i, upto - r->from);

		asked = k > asked ? k : asked;
	}
	if (asked)
		allocator_turn(&r->switches, asked);
	r->from = upto;
}

void router_streams_end(struct router *r)
{
	if (set_empty(r->streams, r->words))
		return;
	SET_EACH(r->streams, r->words, i)
	{
		const struct in_vc *v = &r->in[i];

		if (v->flits && !set_has(r->held, i))
			set_add(r->sw.fresh, i);
		r->s.line[v->out].relies &= ~(1u << v->out_vc);
	}
	set_clear(r->streams, r->words);
	set_clear(r->grabs, r->words);
}

/* ---- flits ahead of time ---- */

/* An end accepts flits at once, so the router returns their credits itself. The
 * end has a step only for the last flit of a packet (router_send). */
void router_flits_put(struct router *r, uint32_t i, uint64_t t, uint32_t n,
		      bool head)
{
	const struct in_vc *v = &r->in[i];
	struct line *l = &r->s.line[v->out];

	if (!l->far->end) {
		station_send(&r->s, v->out, t,
			     (struct flit_run){ .packet = router_packet(r, v),
						.n = (uint16_t)n,
						.vc = v->out_vc,
						.head = head });
		return;
	}
	t += 2 * (1ull + l->latency) + r->s.credit_delay;
	line_credits_add(l, t, v->out_vc, n);
	set_add(r->s.credits, v->out);
}

void router_put(struct router *r, uint32_t i, uint64_t t, uint32_t n, bool head)
{
	router_flits_put(r, i, t + r->p.t_cross, n, head);
	station_credit(&r->s, r->in[i].port, t, r->in[i].vc, n);
	r->in[i].until = t + n;
}

static void ahead_cut(struct router *r, uint32_t i, uint64_t now)
{
	struct in_vc *v = &r->in[i];
	uint32_t n = (uint32_t)(v->until - now);
	struct line *l = &r->s.line[v->out];

	if (!n)
		return;
	v->until = now;
	station_credit_cut(&r->s, router_port(r, i), n);
	if (l->far->end)
		line_credits_cut(l, n);
	else
		station_send_cut(&r->s, v->out, n);
}

void router_cut(struct router *r, uint64_t now)
{
	const uint64_t *due = stage_due(r, &r->sw, now);

	SET_EACH(r->ahead, r->words, i)
	{
		if ((!set_has(due, i) && !set_has(r->held, i)) ||
		    r->in[i].cross == ARBITER_NONE)
			ahead_cut(r, i, now);
		if (r->in[i].until <= now + 1)
			set_remove(r->ahead, i);
	}
}

/* Takes back flits sent ahead of time if their VC has no flit for the next
 * cycle. */
static void ahead_end(struct router *r, uint64_t now)
{
	SET_EACH(r->ahead, r->words, i)
	{
		if (set_has(r->ready, i))
			continue;
		if (r->in[i].until > now + 1)
			ahead_cut(r, i, now + 1);
		set_remove(r->ahead, i);
	}
}

/* ---- the plan ---- */

/* The inputs and outputs that the next cycle uses. */
struct plan {
	uint64_t now, next;
	uint64_t in[NET_PORTS_MAX / 64], out[NET_PORTS_MAX / 64];
};

static void plan_step(struct plan *p, uint64_t cycle)
{
	p->next = cycle < p->next ? cycle : p->next;
}

/* Asks for a step when a credit arrives for output VC o. */
static void plan_credit(struct router *r, struct plan *p, uint32_t o)
{
	uint32_t out = o / r->p.vcs, vc = o % r->p.vcs;
	struct line *l = &r->s.line[out];

	if (l->wants >> vc & 1)
		return;
	l->wants |= 1u << vc;
	set_add(r->wanting, out);
	for (uint32_t k = 0; k < ring_count(&l->back); k++) {
		const struct credit_run *c = ring_nth(&l->back, k);

		if (c->vc != vc)
			continue;
		plan_step(p, c->cycle + c->taken);
		return;
	}
}

/* Adds an input VC that has a flit in the next cycle. Returns false if the
 * input VC competes with another one. */
static bool plan_add(struct router *r, struct plan *p, uint32_t i)
{
	const struct in_vc *v = &r->in[i];
	uint32_t in = router_port(r, i);

	if (r->hold_in[in] || r->hold_out[v->out])
		return true;
	if (router_full(r, router_out(r, v))) {
		plan_credit(r, p, router_out(r, v));
		return true;
	}
	if (set_has(p->in, in) || set_has(p->out, v->out))
		return false;
	set_add(p->in, in);
	set_add(p->out, v->out);
	set_add(r->ready, i);
	return true;
}

/* Adds the input VC to which the next flits of port `port` go. */
static bool plan_arrival(struct router *r, struct plan *p, uint32_t port)
{
	struct line *l = &r->s.line[port];
	const struct flit_run *run = ring_front(&l->in);
	uint32_t i = port * r->p.vcs + run->vc;
	const struct in_vc *v = &r->in[i];
	uint32_t most = run->n - run->taken;

	/* If no flit of a run has arrived, the sender has already requested a
	 * step for its first flit. */
	if (ring_empty(&l->in) || !run->taken)
		return true;
	if (v->state == IN_ACTIVE && !v->flits)
		return plan_add(r, p, i);
	if (v->state == IN_IDLE && v->n) {
		/* With store and forward, request a step for the last flit of
		 * the packet. */
		uint32_t lacks = router_front(r, v)->flits - v->flits;

		most = lacks < most ? lacks : most;
		plan_step(p, run->cycle + run->taken + most - 1);
	}
	return true;
}

/* Requests steps for credits that may allow a head to request a VC. A head may
 * lack places for its packet, a place in a VC that is busy when full, or the
 * last credit of the previous packet. */
static void plan_heads(struct router *r, struct plan *p)
{
	if (r->p.flow == ROUTER_WORMHOLE && !r->p.busy_when_full &&
	    !r->p.wait_for_tail)
		return;
	SET_EACH(r->vc.fresh, r->words, i)
	{
		const struct net_choices *c = r->in[i].choices;

		for (uint32_t k = 0; k < c->n; k++)
			for (uint32_t vc = c->at[k].first; vc <= c->at[k].last;
			     vc++)
				plan_credit(r, p,
					    c->at[k].port * r->p.vcs + vc);
	}
}

/* Finds the VCs that are ready. Returns false if some of them compete. */
static bool plan_ready(struct router *r, struct plan *p)
{
	set_clear(r->ready, r->words);
	SET_EACH(r->held, r->words, i)
	{
		if (router_full(r, router_out(r, &r->in[i])))
			return false;
		set_add(p->in, router_port(r, i));
		set_add(p->out, r->in[i].out);
		set_add(r->ready, i);
	}
	SET_EACH(r->sw.fresh, r->words, i)
	if (r->in[i].state == IN_ACTIVE && !plan_add(r, p, i))
		return false;
	SET_EACH(r->s.flits, NET_PORTS_MAX / 64, port)
	if (!plan_arrival(r, p, port))
		return false;
	plan_heads(r, p);
	return true;
}

/* Counts flits of the packet in the queue, and those that arrive one per cycle
 * from the next cycle on. */
uint32_t router_length(struct router *r, uint32_t i, uint64_t now)
{
	const struct in_vc *v = &r->in[i];
	uint32_t left = router_front(r, v)->flits - v->sent, n = v->flits;
	const struct line *in = &r->s.line[router_port(r, i)];
	const struct flit_run *run = ring_first(&in->in);

	if (n < left && run && run->vc == v->vc &&
	    run->cycle + run->taken == now + 1)
		n += run->n - run->taken;
	return n < left ? n : left;
}

uint32_t router_credits(struct router *r, const struct in_vc *v, uint32_t most,
			uint64_t now)
{
	struct line *l = &r->s.line[v->out];
	uint32_t n = r->out[router_out(r, v)].credits;

	for (uint32_t k = 0; k < ring_count(&l->back) && n < most; k++) {
		const struct credit_run *c = ring_nth(&l->back, k);

		if (c->cycle + c->taken > now + 1 + n)
			break;
		if (c->vc != v->out_vc)
			continue;
		n += c->n - c->taken;
		l->relies |= 1u << v->out_vc;
	}
	return n;
}

/* Sets the length of a stream of VC i. Requests a step for its last flit, and
 * for the first cycle without a credit. */
static void stream_plan(struct router *r, struct plan *p, uint32_t i)
{
	struct in_vc *v = &r->in[i];
	uint32_t n = router_length(r, i, p->now);
	uint32_t credits = router_credits(r, v, n, p->now);

	v->flow = (uint16_t)(credits < n ? credits : n);
	plan_step(p, p->now + n);
	if (credits < n)
		plan_step(p, p->now + credits + 1);
}

/* Returns true if a flit waits behind the one that leaves in the next cycle. */
static bool stream_queues(const struct router *r, uint32_t i, uint64_t now)
{
	const struct in_vc *v = &r->in[i];
	const struct line *l = &r->s.line[router_port(r, i)];
	const struct flit_run *run = ring_first(&l->in);

	return v->flits + (run && run->vc == v->vc &&
			   run->cycle + run->taken == now + 1) >
	       1;
}

void router_put_ahead(struct router *r, uint32_t i, uint64_t now,
		      uint64_t until)
{
	const struct in_vc *v = &r->in[i];
	bool ahead = v->until > now + 1;
	uint64_t from = ahead ? v->until : now + 1;

	if (until > from)
		router_put(r, i, from, (uint32_t)(until - from),
			   !v->sent && !ahead);
}

static void stream_begin(struct router *r, uint32_t i, uint64_t now)
{
	set_add(r->streams, i);
	set_remove(r->sw.fresh, i);
	if (r->p.hold && !set_has(r->held, i) && stream_queues(r, i, now))
		set_add(r->grabs, i);
	router_put_ahead(r, i, now, now + 1 + r->in[i].flow);
	set_add(r->ahead, i);
}

void router_plan(struct router *r, uint64_t now)
{
	struct plan p = { .now = now, .next = ROUTER_NEVER };

	if (!plan_ready(r, &p)) {
		station_wake(&r->s, now + 1);
		return;
	}
	SET_EACH(r->ready, r->words, i)
	stream_plan(r, &p, i);
	if (p.next > now + 1) {
		r->from = now + 1;
		ahead_end(r, now);
		SET_EACH(r->ready, r->words, i)
		stream_begin(r, i, now);
	}
	if (p.next != ROUTER_NEVER)
		station_wake(&r->s, p.next);
}
