/* SPDX-License-Identifier: Apache-2.0 */
/* The step of a plain router, see plain.h. */
#include "systems/router/network/meter.h"
#include "systems/router/network/router.h"

bool plain_fits(const struct router *r)
{
	return r->lazy && r->words == 1 && r->p.t_route <= 1 &&
	       r->p.t_vc_alloc == 1 && !r->p.speculative &&
	       allocator_simple(&r->vcs) && allocator_simple(&r->switches);
}

/* ---- arrivals ---- */

static void run_take(struct router *r, uint32_t i, const struct flit_run *run,
		     uint32_t n)
{
	struct in_vc *v = &r->in[i];

	v->flits += (uint16_t)n;
	if (run->head && !run->taken) {
		v->packets[(v->head + v->n++) & r->buf_mask] = run->packet;
		if (v->state == IN_IDLE)
			plain_begin(r, i,
				    run->cycle > v->from ? run->cycle
							 : v->from);
	} else if (v->state == IN_ACTIVE && !(r->plain.flows >> i & 1)) {
		r->plain.asking |= 1ull << i;
	}
}

static void runs_take(struct router *r, uint64_t now)
{
	SET_EACH(r->s.flits, 1, p)
	{
		struct line *l = &r->s.line[p];

		do {
			struct flit_run *run = ring_front(&l->in);
			uint64_t n = now + 1 - run->cycle;

			if (run->cycle > now)
				break;
			n = (n < run->n ? n : run->n) - run->taken;
			if (!n)
				break;
			run_take(r, p * r->p.vcs + run->vc, run, (uint32_t)n);
			run->taken += (uint16_t)n;
			if (run->taken < run->n)
				break;
			ring_pop(&l->in);
		} while (!ring_empty(&l->in));
		if (ring_empty(&l->in))
			r->s.flits[0] &= ~(1ull << p);
	}
}

/* ---- heads ---- */

/* Routes heads that request a VC before cycle `now`. */
static void heads_route(struct router *r, uint64_t now)
{
	struct plain *f = &r->plain;

	SET_EACH(&f->heads, 1, i)
	{
		struct in_vc *v = &r->in[i];
		struct net_arrival at = { r->s.number, v->port, v->vc,
					  &r->loads };
		struct packet *p = router_front(r, v);
		struct net_choices c;

		if (v->due >= now)
			continue;
		c.n = 0;
		net_range_route(r->routing, r->s.graph, p->range, at, &p->route,
				&c);
		v->want = 0;
		for (uint32_t k = 0; k < c.n; k++) {
			uint64_t vcs = (2ull << c.at[k].last) -
				       (1ull << c.at[k].first);

			v->want |= vcs << c.at[k].port * r->p.vcs;
		}
		v->left = (uint16_t)p->flits;
		v->fresh = true;
		v->state = IN_VC;
		f->heads &= ~(1ull << i);
		f->blocked |= 1ull << i;
		f->again = true;
	}
}

/* Advances the turns of both arbiters like allocator_pass() for round robin. */
static void turns_pass(struct allocator *a, uint32_t in, uint32_t out)
{
	a->in[in].turn = out + 1 < a->n_out ? out + 1 : 0;
	a->out[out].turn = in + 1 < a->n_in ? in + 1 : 0;
}

static void vc_grant(struct router *r, uint32_t i, uint32_t o)
{
	struct plain *f = &r->plain;
	struct in_vc *v = &r->in[i];

	v->granted = o;
	v->out = r->in[o].port;
	v->out_vc = r->in[o].vc;
	v->state = IN_ACTIVE;
	f->taken |= 1ull << o;
	f->blocked &= ~(1ull << i);
	f->asking |= 1ull << i;
}

/* Allocates VCs to heads that request some of the same VCs. */
static void vcs_match(struct router *r, uint64_t heads)
{
	uint64_t free = ~r->plain.taken;

	SET_EACH(&heads, 1, i)
	{
		uint64_t want = r->in[i].want & free;

		SET_EACH(&want, 1, o)
		allocator_add(&r->vcs, i, o, 0, 0);
	}
	allocator_run(&r->vcs);
	SET_EACH(&heads, 1, i)
	if (r->vcs.match[i] != ARBITER_NONE)
		vc_grant(r, i, r->vcs.match[i]);
	allocator_clear(&r->vcs);
}

/* Carries out the requests for VCs of the previous cycle. A head without
 * competitors is granted the first VC in turn, as in all allocators without
 * ranks. */
static void vcs_allocate(struct router *r)
{
	struct plain *f = &r->plain;
	uint64_t any = 0, twice = 0, free = ~f->taken, clash = 0;
	uint64_t before = f->taken;

	SET_EACH(&f->blocked, 1, i)
	{
		twice |= any & r->in[i].want & free;
		any |= r->in[i].want & free;
	}
	SET_EACH(&f->blocked, 1, i)
	{
		uint64_t want = r->in[i].want & free, later;
		uint32_t o;

		if (want & twice)
			clash |= 1ull << i;
		if (!want || want & twice)
			continue;
		later = want & ~0ull << r->vcs.in[i].turn;
		o = (uint32_t)__builtin_ctzll(later ? later : want);
		turns_pass(&r->vcs, i, o);
		vc_grant(r, i, o);
	}
	if (clash)
		vcs_match(r, clash);
	f->again = f->taken != before;
}

/* ---- the switch ---- */

/* Returns true if the output VC of an input VC has no place for a flit. */
static bool plain_full(struct router *r, const struct in_vc *v)
{
	if ((int16_t)r->out[v->granted].credits > 0)
		return false;
	router_line_credits(r, v->out);
	return (int16_t)r->out[v->granted].credits <= 0;
}

/* Returns true if a flow keeps the input or output of an input VC. */
static bool kept_from(const struct plain *f, const struct in_vc *v)
{
	uint32_t in = f->by_in[v->port], out = f->by_out[v->out];

	return (in && f->kept >> (in - 1) & 1) ||
	       (out && f->kept >> (out - 1) & 1);
}

/* Finds the input VCs that request the switch, and ends flows that they compete
 * with. Adds inputs and outputs that several of them request to twice[]. */
static uint64_t requests_find(struct router *r, uint64_t now, uint64_t twice[2])
{
	struct plain *f = &r->plain;
	uint64_t ins = 0, outs = 0, ask = 0, left;

	for (left = f->asking; left; left = f->asking & ~ask & ~f->full) {
		uint64_t before = f->asking;

		SET_EACH(&left, 1, i)
		{
			const struct in_vc *v = &r->in[i];
			uint64_t in = 1ull << v->port, out = 1ull << v->out;

			if (kept_from(f, v))
				continue;
			if (plain_full(r, v)) {
				f->full |= 1ull << i;
				continue;
			}
			if (f->by_in[v->port])
				plain_interrupt(r, f->by_in[v->port] - 1, now);
			if (f->by_out[v->out])
				plain_interrupt(r, f->by_out[v->out] - 1, now);
			twice[0] |= ins & in;
			twice[1] |= outs & out;
			ins |= in;
			outs |= out;
			ask |= 1ull << i;
		}
		if (f->asking == before)
			break;
	}
	return ask;
}

/* Allocates the switch to input VCs that compete. Returns those that are
 * granted. */
static uint64_t switch_match(struct router *r, uint64_t ask)
{
	uint64_t got = 0;

	SET_EACH(&ask, 1, i)
	{
		r->in[i].cross = ARBITER_NONE;
		router_switch_request(r, i, r->in[i].out);
	}
	allocator_run(&r->switches);
	SET_EACH(&ask, 1, i)
	{
		router_switch_grant(r, i);
		if (r->in[i].cross != ARBITER_NONE)
			got |= 1ull << i;
	}
	allocator_clear(&r->switches);
	return got;
}

static void switch_allocate(struct router *r, uint64_t now)
{
	uint64_t twice[2] = { 0, 0 }, clash = 0, got = 0;
	uint64_t ask = requests_find(r, now, twice);

	SET_EACH(&ask, 1, i)
	{
		const struct in_vc *v = &r->in[i];

		if (twice[0] >> v->port & 1 || twice[1] >> v->out & 1) {
			clash |= 1ull << i;
			continue;
		}
		turns_pass(&r->switches, v->port, v->out);
		r->turn[v->port] = v->vc + 1u < r->p.vcs ? v->vc + 1 : 0;
		plain_send(r, i, now, false);
	}
	if (clash)
		got = switch_match(r, clash);
	SET_EACH(&got, 1, i)
	plain_send(r, i, now, true);
}

/* ---- the next step ---- */

static void wake_at(uint64_t *next, uint64_t cycle)
{
	*next = cycle < *next ? cycle : *next;
}

/* Sets *next to the cycle in which the next credit for an input VC arrives, if
 * this is before *next. */
static void credit_wait(struct router *r, const struct in_vc *v, uint64_t *next)
{
	struct line *l = &r->s.line[v->out];

	l->wants |= 1u << v->out_vc;
	set_add(r->wanting, v->out);
	for (uint32_t k = 0; k < ring_count(&l->back); k++) {
		const struct credit_run *c = ring_nth(&l->back, k);

		if (c->vc != v->out_vc)
			continue;
		wake_at(next, c->cycle + c->taken);
		return;
	}
}

static void wants_clear(struct router *r)
{
	SET_EACH(r->wanting, 1, p)
	r->s.line[p].wants = 0;
	r->wanting[0] = 0;
}

/* Requests steps for the ends of flows that need one. `ins` and `outs` are sets
 * of inputs and outputs that input VCs wait for. */
static void flows_wait(struct router *r, uint64_t ins, uint64_t outs,
		       uint64_t *next)
{
	struct plain *f = &r->plain;
	uint64_t want = 0;

	f->flow_end = ROUTER_NEVER;
	SET_EACH(&f->blocked, 1, i)
	want |= r->in[i].want;
	if (want & f->freed)
		wake_at(next, r->now + 2);
	SET_EACH(&f->flows, 1, i)
	{
		const struct in_vc *v = &r->in[i];

		wake_at(&f->flow_end, v->end);
		if (!(f->tails >> i & 1))
			wake_at(next, v->end);
		else if (ins >> v->port & 1 || outs >> v->out & 1)
			wake_at(next, v->end + 1);
		else if (want >> v->granted & 1)
			wake_at(next, v->end + 2);
		else if (v->n > 1)
			wake_at(next, v->end + 2 + r->p.t_route);
	}
}

static void plain_wait(struct router *r, uint64_t now)
{
	struct plain *f = &r->plain;
	uint64_t next = ROUTER_NEVER, ins = 0, outs = 0;
	bool soon = f->soon || (f->again && f->blocked);

	SET_EACH(&f->asking, 1, i)
	{
		const struct in_vc *v = &r->in[i];

		if (kept_from(f, v)) {
			ins |= 1ull << v->port;
			outs |= 1ull << v->out;
		} else if (f->full >> i & 1 || plain_full(r, v)) {
			credit_wait(r, v, &next);
		} else {
			soon = true;
		}
	}
	flows_wait(r, ins, outs, &next);
	SET_EACH(&f->heads, 1, i)
	wake_at(&next, r->in[i].due + 1);
	if (soon)
		next = now + 1;
	if (next != ROUTER_NEVER)
		station_wake(&r->s, next);
}

/* ---- the cycle ---- */

/* Interrupts flows that have no credit in this cycle, unless they keep the
 * switch. Their input VCs request the switch again. */
static void flows_starve(struct router *r, uint64_t now)
{
	struct plain *f = &r->plain;
	uint64_t set = f->flows & ~f->kept & ~f->tails;

	SET_EACH(&set, 1, i)
	if (r->in[i].end == now && r->in[i].until == now)
		plain_interrupt(r, i, now);
}

static void freed_release(struct plain *f)
{
	if (!f->freed)
		return;
	f->taken &= ~f->freed;
	f->freed = 0;
	f->again = true;
}

void plain_step(struct station *s, uint64_t now)
{
	struct router *r = (struct router *)s;
	struct plain *f = &r->plain;

	r->now = now;
	f->soon = false;
	f->full = 0;
	if (f->stepped + 1 < now)
		freed_release(f);
	if (f->flow_end < now)
		plain_finish(r, now);
	if (s->flits[0])
		runs_take(r, now);
	if (f->heads)
		heads_route(r, now);
	if (f->again && f->blocked)
		vcs_allocate(r);
	else
		f->again = false;
	freed_release(f);
	f->stepped = now;
	if (s->cuts[0])
		plain_cuts(r, now);
	if (f->flow_end == now)
		flows_starve(r, now);
	wants_clear(r);
	if (f->asking)
		switch_allocate(r, now);
	if (f->flow_end <= now)
		plain_extend(r, now);
	plain_wait(r, now);
}

void plain_count(struct router *r, uint64_t upto)
{
	const struct plain *f = &r->plain;
	uint64_t flits = f->flits, packets = f->packets;

	SET_EACH(&f->flows, 1, i)
	{
		const struct in_vc *v = &r->in[i];

		if (v->until > upto)
			flits -= v->until - upto;
		packets += (f->tails >> i & 1) && v->end < upto;
	}
	r->s.comp->counters[ROUTER_FLITS] = flits;
	r->s.comp->counters[ROUTER_PACKETS] = packets;
}
