/* SPDX-License-Identifier: Apache-2.0 */
/* Fabric of routers that queue flits at their outputs (queued.h). Servers move
 * flits from buffers to queues. net.router_oq has a server for each output,
 * net.router_sm has one server for the memory. Each input VC requests at most
 * one server in a cycle. A server serves its requests in the order of
 * `arbiter`, until the limit of the server or of the inputs is reached. */
#include "systems/router/network/meter.h"
#include "systems/router/network/queued.h"

/* Returns the number of places that a queue needs for the first flit of a
 * packet. */
static uint32_t needs(const struct queued *r, uint32_t packet)
{
	return r->whole ? queued_packet(r, packet)->flits : 1;
}

/* Returns true if a head may enter queue o. */
static bool head_fits(const struct queued *r, uint32_t o, uint32_t packet)
{
	const struct queued_out *q = &r->out[o];
	bool first = q->open == q->packets.tail;

	if (r->alone && (!ring_empty(&q->packets) ||
			 r->behind[o].credits != r->behind[o].places))
		return false;
	return queued_fits(r, q, needs(r, packet), first);
}

/* Returns the number of flits in queue o, plus the number of places in use in
 * the buffer at the other end of its line. */
static uint32_t load_of(const struct queued *r, uint32_t o)
{
	return r->out[o].flits + r->behind[o].places - r->behind[o].credits;
}

/* Sets v->out to the queue that a head requests. Among the queues that the head
 * may enter now, priority decides first, then the least load. Returns false if
 * the head may enter no queue. */
static bool head_choose(struct queued *r, struct queued_in *v)
{
	const struct net_choices *c = v->choices;
	uint32_t packet = queued_front(v), best = ARBITER_NONE;
	uint32_t priority = 0, least = 0;

	for (uint32_t k = 0; k < c->n; k++)
		for (uint32_t vc = c->at[k].first; vc <= c->at[k].last; vc++) {
			uint32_t o = c->at[k].port * r->p.vcs + vc;
			uint32_t load = load_of(r, o);

			if (!head_fits(r, o, packet) ||
			    (best != ARBITER_NONE &&
			     (c->at[k].priority < priority ||
			      (c->at[k].priority == priority &&
			       load >= least))))
				continue;
			best = o;
			priority = c->at[k].priority;
			least = load;
		}
	v->out = best;
	return best != ARBITER_NONE;
}

/* Returns true if the first flit of a buffer may enter its queue now. */
static bool flit_fits(const struct queued *r, const struct queued_in *v)
{
	const struct queued_out *q = &r->out[v->out];

	if (v->state == QUEUED_HEAD)
		return head_fits(r, v->out, queued_front(v));
	return r->whole || queued_fits(r, q, 1, v->entry == q->open);
}

/* Collects the requests of input VCs for each server. Returns true if there is
 * any request. */
static bool wants_collect(struct queued *r)
{
	bool any = false;

	SET_EACH(r->busy, r->words, i)
	{
		struct queued_in *v = &r->in[i];
		uint32_t server;

		if (v->state == QUEUED_HEAD
			    ? !head_choose(r, v)
			    : v->state != QUEUED_BODY || !flit_fits(r, v))
			continue;
		server = r->rates.servers == 1 ? 0 : v->out / r->p.vcs;
		set_add(r->want + (size_t)server * r->words, i);
		any = true;
	}
	return any;
}

/* Moves the first flit of a buffer into the fabric. */
static void flit_enter(struct queued *r, struct queued_in *v, uint64_t now)
{
	struct queued_out *q = &r->out[v->out];
	uint32_t packet = queued_front(v), p = v->out / r->p.vcs;
	uint64_t *peak = &r->s.comp->counters[QUEUED_PEAK];

	if (v->state == QUEUED_HEAD || !r->whole)
		queued_take(r, q, needs(r, packet));
	if (v->state == QUEUED_HEAD) {
		v->state = QUEUED_BODY;
		v->entry = q->packets.tail;
		*ring_push(&q->packets) = (struct queued_entry){ packet };
	}
	*ring_push(&r->moving) =
		(struct queued_flit){ now + r->p.t_cross, v->out, v->entry };
	station_wake(&r->s, now + r->p.t_cross);
	q->flits++;
	r->queued[p]++;
	set_add(r->live, p);
	if (++r->flits > *peak)
		*peak = r->flits;
}

/* Removes the first packet of a buffer after its last flit has entered the
 * queue. Marks the packet as whole there. */
static void packet_end(struct queued *r, struct queued_in *v)
{
	struct queued_out *q = &r->out[v->out];

	ring_at(&q->packets, v->entry)->whole = true;
	while (q->open != q->packets.tail &&
	       ring_at(&q->packets, q->open)->whole)
		q->open++;
	v->sent = 0;
	ring_pop(&v->packets);
	v->state = ring_empty(&v->packets) ? QUEUED_IDLE : QUEUED_WAIT;
}

static void flit_move(struct queued *r, uint32_t i, uint64_t now)
{
	struct queued_in *v = &r->in[i];

	flit_enter(r, v, now);
	station_credit(&r->s, i / r->p.vcs, now, i % r->p.vcs, 1);
	if (!--v->flits)
		set_remove(r->busy, i);
	if (++v->sent == queued_packet(r, queued_front(v))->flits)
		packet_end(r, v);
}

/* Returns the input VC of a set with the highest rank, or ARBITER_NONE. Among
 * equal ranks, round robin from `turn` on decides. */
static uint32_t want_first(const struct queued *r, const uint64_t *want,
			   uint32_t turn)
{
	uint32_t first = set_next(want, r->words, turn), n, rank;
	uint32_t best = first, highest = 0;

	if (r->p.arbiter == QUEUED_ROUND_ROBIN || first == ARBITER_NONE)
		return first;
	n = r->p.ports * r->p.vcs;
	SET_EACH(want, r->words, i)
	{
		rank = queued_rank(r, queued_front(&r->in[i]));
		if (rank < highest)
			continue;
		if (rank == highest &&
		    (i + n - turn) % n > (best + n - turn) % n)
			continue;
		highest = rank;
		best = i;
	}
	return best;
}

static void server_serve(struct queued *r, uint32_t server, uint64_t now)
{
	uint64_t *want = r->want + (size_t)server * r->words;
	uint32_t *turn = &r->turn[server], i;

	for (uint32_t left = r->rates.server; left;) {
		i = want_first(r, want, *turn);
		if (i == ARBITER_NONE)
			break;
		set_remove(want, i);
		if (!r->left[i / r->p.vcs] || !flit_fits(r, &r->in[i]))
			continue;
		r->left[i / r->p.vcs]--;
		left--;
		*turn = (i + 1) % (r->p.ports * r->p.vcs);
		r->worked = true;
		flit_move(r, i, now);
	}
	set_clear(want, r->words);
}

void queued_arrived(struct queued *r, uint64_t now)
{
	struct queued_flit *f;

	while ((f = ring_first(&r->moving)) && f->from <= now) {
		ring_at(&r->out[f->out].packets, f->entry)->flits++;
		ring_pop(&r->moving);
	}
}

void queued_fabric(struct queued *r, uint64_t now)
{
	uint32_t n = r->rates.servers, first = (uint32_t)(now % n);

	if (!wants_collect(r))
		return;
	for (uint32_t p = 0; p < r->p.ports; p++)
		r->left[p] = r->rates.input;
	for (uint32_t k = 0; k < n; k++)
		server_serve(r, (first + k) % n, now);
}
