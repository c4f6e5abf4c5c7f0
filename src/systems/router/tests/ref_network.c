/* SPDX-License-Identifier: Apache-2.0 */
/* Reference model of a network of routers (ref_network.h). */
#include "systems/router/tests/ref_network.h"

#include <stdlib.h>
#include <string.h>

#include "systems/router/tests/ref_allocator.h"
#include "systems/router/tests/ref_parts.h"

enum { SPEAKS = 128 };

/* ---- cables ---- */

static uint32_t latency_of(const struct net *n, const struct net_far *f)
{
	if (f->kind)
		return n->c->graph->latency[f->kind - 1];
	return f->end ? n->c->access : n->c->link;
}

struct ref_port *far_port(struct net *n, uint32_t router, uint32_t port,
			  uint32_t *latency_p)
{
	const struct net_far *f = net_graph_far(n->c->graph, router, port);

	*latency_p = latency_of(n, f);
	return f->end ? &n->end[f->at].port[f->port]
		      : &n->router[f->at].port[f->port];
}

void cable_put(struct cable *to, uint64_t cycle, struct flit f, uint32_t vc)
{
	vec_push(to, (struct on_cable){ cycle, f, vc });
}

bool cable_get(struct cable *c, uint64_t now, struct on_cable *got)
{
	if (!c->n || c->at[0].cycle > now)
		return false;
	*got = TAKE(c);
	return true;
}

void place_free(const struct net *n, struct place *p)
{
	p->credits++;
	if (n->c->p.wait_for_tail && p->credits == p->places && p->tail_sent)
		p->taken = false;
}

static void place_use(const struct net *n, struct place *p,
		      const struct flit *f)
{
	p->credits--;
	if (!f->tail)
		return;
	p->tail_sent = true;
	if (!n->c->p.wait_for_tail)
		p->taken = false;
}

/* ---- a router ---- */

static bool usable(const struct net *n, const struct place *p, uint32_t flits)
{
	/* A packet that holds an output VC without a free place can no longer
	 * use the escape channel. */
	bool wants_place =
		n->c->p.busy_when_full || n->c->graph->routing->escape;

	if (p->taken || (wants_place && !p->credits))
		return false;
	return n->c->p.flow == ROUTER_WORMHOLE || p->credits >= flits;
}

static uint32_t age(const struct net *n, const struct queue *q)
{
	if (n->c->p.arbiter == ROUTER_CLASS)
		return n->packets.at[q->at[0].packet].rank;
	if (n->c->p.arbiter != ROUTER_AGE)
		return 0;
	return INT32_MAX - (uint32_t)n->packets.at[q->at[0].packet].born;
}

static void wait_for(struct list *l, uint32_t vc)
{
	vec_push(l, (struct item){ -1, vc, -1 });
}

static uint32_t router_used(const void *own, uint32_t router, uint32_t port,
			    uint32_t first, uint32_t last)
{
	const struct net *n = own;
	uint32_t sum = 0;

	for (uint32_t v = first; v <= last; v++)
		sum += n->router[router].used[port * n->c->p.vcs + v];
	return sum;
}

void packet_route(struct net *n, uint32_t id, uint32_t vc, uint32_t packet,
		  struct net_choices *c)
{
	uint32_t vcs = n->c->p.vcs;
	struct net_loads loads = { router_used, n };
	struct ref_packet *p = &n->packets.at[packet];
	struct net_arrival at = { id,	  vc / vcs, vc % vcs - p->range.first,
				  &loads, 0,	    p->range.first };

	c->n = 0;
	n->c->graph->routing->route(n->c->graph, p->range.n, at, &p->route, c);
	for (uint32_t i = 0; i < c->n; i++) {
		c->at[i].first += p->range.first;
		c->at[i].last += p->range.first;
	}
}

static void queue_route(struct net *n, uint32_t id, uint32_t vc)
{
	struct ref_router *r = &n->router[id];
	struct queue *q = &r->in[vc];

	packet_route(n, id, vc, q->at[0].packet, &q->choices);
	q->state = ALLOCATING;
	q->packet = q->at[0].packet;
	q->sent = 0;
	wait_for(&r->vcs, vc);
	if (n->c->p.speculative)
		wait_for(&r->sw, vc);
}

/* A packet's head is at the front. */
static void queue_begin(struct net *n, uint32_t id, uint32_t vc)
{
	struct ref_router *r = &n->router[id];
	struct queue *q = &r->in[vc];

	q->state = IDLE;
	if (n->c->p.flow == ROUTER_STORE) {
		bool whole = false;

		for (size_t i = 0; i < q->n && !whole; i++)
			whole = q->at[i].tail;
		if (!whole)
			return;
	}
	if (!n->c->p.t_route) {
		queue_route(n, id, vc);
		return;
	}
	q->state = ROUTING;
	wait_for(&r->route, vc);
}

static void router_receive(struct net *n, uint32_t id)
{
	struct ref_router *r = &n->router[id];
	uint32_t vcs = n->c->p.vcs;
	struct on_cable got;

	for (uint32_t p = 0; p < r->ports; p++) {
		while (cable_get(&r->port[p].in, n->now, &got)) {
			uint32_t vc = p * vcs + got.f.vc;
			struct queue *q = &r->in[vc];

			vec_push(q, got.f);
			if (q->state == IDLE)
				queue_begin(n, id, vc);
			else if (q->state == ACTIVE && q->n == 1)
				wait_for(&r->sw, vc);
		}
		while (cable_get(&r->port[p].back, n->now, &got))
			place_free(n, &r->out[p * vcs + got.vc]);
	}
}

/* Returns true if a stage may start new items. A stage that is not pipelined
 * must have finished its previous items. */
static bool may_begin(const struct net *n, const struct list *l)
{
	for (size_t i = 0; i < l->n && !n->c->p.pipelined; i++)
		if (l->at[i].end >= 0)
			return false;
	return true;
}

static void list_begin(const struct net *n, struct list *l, uint32_t delay)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->at[i].end < 0)
			l->at[i].end = (int64_t)n->now + delay - 1;
}

static void vcs_begin(struct net *n, struct ref_router *r)
{
	uint32_t vcs = n->c->p.vcs;

	for (uint32_t i = 0; i < r->ports * vcs; i++)
		r->in[i].granted = -1;
	if (r->vcs.n && may_begin(n, &r->vcs)) {
		ref_allocator_clear(r->va);
		for (size_t k = 0; k < r->vcs.n; k++) {
			const struct item *it = &r->vcs.at[k];
			struct queue *q = &r->in[it->vc];
			uint32_t flits;

			if (it->end >= 0)
				continue;
			flits = n->packets.at[q->at[0].packet].flits;
			for (uint32_t c = 0; c < q->choices.n; c++) {
				struct net_choice *w = &q->choices.at[c];

				for (uint32_t v = w->first; v <= w->last; v++) {
					uint32_t o = w->port * vcs + v;

					if (!usable(n, &r->out[o], flits))
						continue;
					r->va->want[it->vc][o] = true;
					r->va->rank_in[it->vc][o] = w->priority;
					r->va->rank_out[it->vc][o] = age(n, q);
				}
			}
		}
		ref_allocator_run(r->va);
		for (size_t k = 0; k < r->vcs.n; k++) {
			struct item *it = &r->vcs.at[k];

			if (it->end >= 0)
				continue;
			it->result = r->in[it->vc].granted =
				r->va->match[it->vc];
		}
		list_begin(n, &r->vcs, n->c->p.t_vc_alloc);
	}
	for (size_t k = 0; k < r->vcs.n; k++) {
		struct item *it = &r->vcs.at[k];
		uint32_t flits =
			n->packets.at[r->in[it->vc].at[0].packet].flits;

		if (it->end == (int64_t)n->now && it->result >= 0 &&
		    !usable(n, &r->out[it->result], flits))
			it->result = -1;
	}
}

static void hold_begin(struct net *n, struct ref_router *r)
{
	for (size_t k = 0; k < r->hold.n; k++) {
		struct item *it = &r->hold.at[k];
		struct queue *q = &r->in[it->vc];
		uint32_t o = q->out * n->c->p.vcs + q->out_vc;

		it->end = (int64_t)n->now;
		it->result = r->out[o].credits ? (int64_t)q->out : -1;
	}
}

/* Returns the input of the crossbar that an input VC uses, among those of its
 * port. lane_of() returns the output that it uses, among those of a port. */
static uint32_t side_of(const struct net *n, uint32_t vc)
{
	return vc % n->c->p.vcs % n->c->p.input_speedup;
}

static uint32_t lane_of(const struct net *n, uint32_t vc)
{
	return vc / n->c->p.vcs % n->c->p.output_speedup;
}

static bool is_held(const struct net *n, const struct ref_router *r,
		    uint32_t vc, uint32_t out)
{
	return r->port[vc / n->c->p.vcs].held_by[side_of(n, vc)] >= 0 ||
	       r->port[out].held_for[lane_of(n, vc)] >= 0;
}

/* Adds a request of an input VC for an output of the crossbar. If several VCs
 * of an input want one output, only the VC with the highest rank requests
 * it. */
static void ask(struct net *n, struct ref_router *r, uint32_t vc, uint32_t out,
		int *speaks)
{
	uint32_t vcs = n->c->p.vcs, side = side_of(n, vc);
	uint32_t in = vc / vcs * n->c->p.input_speedup + side;
	struct queue *q = &r->in[vc];
	uint32_t rank = age(n, q) + (q->state == ACTIVE ? 1u << 31 : 0);
	uint32_t turn = r->port[vc / vcs].turn[side];
	int *was;

	if (is_held(n, r, vc, out))
		return;
	out = out * n->c->p.output_speedup + lane_of(n, vc);
	was = &speaks[in * SPEAKS + out];
	if (*was >= 0) {
		uint32_t other = r->sa->rank_in[in][out];

		if (rank < other ||
		    (rank == other &&
		     (vc % vcs + vcs - turn) % vcs >
			     ((uint32_t)*was % vcs + vcs - turn) % vcs))
			return;
	}
	*was = (int)vc;
	r->sa->want[in][out] = true;
	r->sa->rank_in[in][out] = r->sa->rank_out[in][out] = rank;
}

static void switch_ask(struct net *n, struct ref_router *r, uint32_t vc,
		       int *speaks)
{
	struct queue *q = &r->in[vc];
	uint32_t vcs = n->c->p.vcs;

	if (q->state == ACTIVE) {
		if (r->out[q->out * vcs + q->out_vc].credits)
			ask(n, r, vc, q->out, speaks);
		return;
	}
	for (uint32_t c = 0; c < q->choices.n; c++) {
		struct net_choice *w = &q->choices.at[c];
		bool any = false;

		for (uint32_t v = w->first; v <= w->last; v++) {
			struct place *p = &r->out[w->port * vcs + v];

			any |= p->credits &&
			       usable(n, p,
				      n->packets.at[q->at[0].packet].flits);
		}
		if (any)
			ask(n, r, vc, w->port, speaks);
	}
}

static void switch_begin(struct net *n, struct ref_router *r)
{
	uint32_t vcs = n->c->p.vcs;
	int speaks[SPEAKS * SPEAKS];

	if (r->sw.n && may_begin(n, &r->sw)) {
		memset(speaks, 0xff, sizeof(speaks));
		ref_allocator_clear(r->sa);
		for (size_t k = 0; k < r->sw.n; k++)
			if (r->sw.at[k].end < 0)
				switch_ask(n, r, r->sw.at[k].vc, speaks);
		ref_allocator_run(r->sa);
		for (size_t k = 0; k < r->sw.n; k++) {
			struct item *it = &r->sw.at[k];
			uint32_t side = side_of(n, it->vc);
			uint32_t in =
				it->vc / vcs * n->c->p.input_speedup + side;
			int out = r->sa->match[in];

			if (it->end >= 0)
				continue;
			it->result = -1;
			if (out < 0 ||
			    speaks[in * SPEAKS + (uint32_t)out] != (int)it->vc)
				continue;
			it->result = out / (int)n->c->p.output_speedup;
			r->port[it->vc / vcs].turn[side] =
				(it->vc % vcs + n->c->p.input_speedup) % vcs;
		}
		list_begin(n, &r->sw, n->c->p.t_sw_alloc);
	}
	for (size_t k = 0; k < r->sw.n; k++) {
		struct item *it = &r->sw.at[k];
		struct queue *q = &r->in[it->vc];
		int64_t o = q->state == ACTIVE ? q->out * vcs + q->out_vc
					       : q->granted;

		if (it->end != (int64_t)n->now || it->result < 0)
			continue;
		if (is_held(n, r, it->vc, (uint32_t)it->result) || o < 0 ||
		    o / vcs != it->result || !r->out[o].credits)
			it->result = -1;
	}
}

static void crossbar_begin(struct net *n, struct ref_router *r)
{
	for (size_t k = 0; k < r->cross.n && !n->c->p.pipelined; k++)
		if (r->cross.at[k].end >= 0)
			return;
	for (size_t k = 0; k < r->cross.n; k++)
		if (r->cross.at[k].end < 0)
			r->cross.at[k].end =
				(int64_t)n->now + n->c->p.t_cross - 1;
}

/* Sends a flit into the crossbar. Returns true if it is a tail. */
static bool queue_send(struct net *n, uint32_t id, uint32_t vc, uint32_t order)
{
	struct ref_router *r = &n->router[id];
	struct queue *q = &r->in[vc];
	struct flit f = TAKE(q);
	uint32_t vcs = n->c->p.vcs;

	f.vc = q->out_vc;
	q->sent++;
	place_use(n, &r->out[q->out * vcs + q->out_vc], &f);
	vec_push(&r->cross, (struct crossing){ -1, order, f, q->out });
	r->port[vc / vcs].freed |= 1u << vc % vcs;
	n->r->flits[id]++;
	return f.tail;
}

static bool list_ended(const struct net *n, const struct list *l, size_t *left,
		       struct item *got, struct list *rest)
{
	while ((*left)--) {
		*got = TAKE((struct list *)l);
		if (got->end == (int64_t)n->now)
			return true;
		vec_push(rest, *got);
	}
	return false;
}

/* Runs a body for each item of a list whose stage ends in the current cycle, in
 * order. Removes the item from the list. The body may append items. */
#define EACH_ENDED(n, l, it)                                                   \
	for (                                                                  \
		struct {                                                       \
			size_t left;                                           \
			struct list rest;                                      \
		} e_ = { (l)->n, { 0 } };                                      \
		e_.left != SIZE_MAX;                                           \
		list_join(l, &e_.rest), e_.left = SIZE_MAX)                    \
		for (struct item it;                                           \
		     list_ended(n, l, &e_.left, &(it), &e_.rest);)

/* Inserts the items of `rest` at the front of the list. */
static void list_join(struct list *l, struct list *rest)
{
	for (size_t i = 0; i < l->n; i++)
		vec_push(rest, l->at[i]);
	vec_free(l);
	*l = *rest;
}

static void hold(const struct net *n, struct ref_router *r, uint32_t vc,
		 bool on)
{
	struct ref_port *in = &r->port[vc / n->c->p.vcs];
	struct ref_port *out = &r->port[r->in[vc].out];

	in->held_by[side_of(n, vc)] = on ? (int64_t)vc : -1;
	out->held_for[lane_of(n, vc)] = on ? (int64_t)vc : -1;
}

static void hold_end(struct net *n, uint32_t id)
{
	struct ref_router *r = &n->router[id];

	EACH_ENDED(n, &r->hold, it)
	{
		struct queue *q = &r->in[it.vc];
		bool tail;

		if (it.result < 0) {
			hold(n, r, it.vc, false);
			wait_for(&r->sw, it.vc);
			continue;
		}
		tail = queue_send(n, id, it.vc, it.vc);
		if (q->n && !tail) {
			wait_for(&r->hold, it.vc);
			continue;
		}
		hold(n, r, it.vc, false);
		if (tail && q->n)
			queue_begin(n, id, it.vc);
		else if (tail)
			q->state = IDLE;
	}
}

static void switch_end(struct net *n, uint32_t id)
{
	struct ref_router *r = &n->router[id];

	EACH_ENDED(n, &r->sw, it)
	{
		struct queue *q = &r->in[it.vc];
		bool tail;

		if (it.result < 0) {
			wait_for(&r->sw, it.vc);
			continue;
		}
		tail = queue_send(n, id, it.vc, UINT16_MAX + it.vc);
		if (tail && q->n) {
			queue_begin(n, id, it.vc);
		} else if (tail) {
			q->state = IDLE;
		} else if (q->n && n->c->p.hold) {
			hold(n, r, it.vc, true);
			wait_for(&r->hold, it.vc);
		} else if (q->n) {
			wait_for(&r->sw, it.vc);
		}
	}
}

static void vcs_end(struct net *n, struct ref_router *r)
{
	EACH_ENDED(n, &r->vcs, it)
	{
		struct queue *q = &r->in[it.vc];

		if (it.result < 0) {
			wait_for(&r->vcs, it.vc);
			continue;
		}
		r->out[it.result].taken = true;
		r->out[it.result].tail_sent = false;
		q->out = (uint32_t)it.result / n->c->p.vcs;
		q->out_vc = (uint32_t)it.result % n->c->p.vcs;
		q->state = ACTIVE;
		if (!n->c->p.speculative)
			wait_for(&r->sw, it.vc);
	}
}

/* Stores the loads of the outputs at the beginning of a cycle. */
static void router_look(struct net *n, uint32_t id)
{
	struct ref_router *r = &n->router[id];
	uint32_t vcs = n->c->p.vcs;

	for (uint32_t o = 0; o < r->ports * vcs; o++)
		r->used[o] = r->out[o].places - r->out[o].credits;
	if (n->c->graph->loads == NET_LOADS_CREDITS)
		return;
	for (uint32_t i = 0; i < r->ports * vcs; i++) {
		const struct queue *q = &r->in[i];

		if (q->state == ACTIVE)
			r->used[q->out * vcs + q->out_vc] +=
				n->packets.at[q->packet].flits - q->sent;
		else if (q->state == ALLOCATING && q->choices.n)
			r->used[q->choices.at[0].port * vcs +
				q->choices.at[0].first] +=
				n->packets.at[q->packet].flits;
	}
}

/* Sorts flits that entered the crossbar in this step by their inputs. Flits of
 * packets that held the crossbar come first. */
static void crossbar_sort(struct ref_router *r)
{
	for (size_t i = 1; i < r->cross.n; i++)
		for (size_t k = i;
		     k && r->cross.at[k - 1].end < 0 &&
		     r->cross.at[k - 1].order > r->cross.at[k].order;
		     k--) {
			struct crossing c = r->cross.at[k];

			r->cross.at[k] = r->cross.at[k - 1];
			r->cross.at[k - 1] = c;
		}
	for (size_t i = 0; i < r->cross.n; i++)
		r->cross.at[i].order = 0;
}

static void router_part(struct net *n, uint32_t id)
{
	struct ref_router *r = &n->router[id];

	if (may_begin(n, &r->route))
		list_begin(n, &r->route, n->c->p.t_route);
	vcs_begin(n, r);
	hold_begin(n, r);
	switch_begin(n, r);
	crossbar_begin(n, r);
	EACH_ENDED(n, &r->route, it)
	queue_route(n, id, it.vc);
	vcs_end(n, r);
	hold_end(n, id);
	switch_end(n, id);
	crossbar_sort(r);
	for (uint32_t p = 0; p < r->ports; p++) {
		if (r->port[p].freed)
			vec_push(&r->port[p].credits, r->port[p].freed);
		r->port[p].freed = 0;
	}
	for (size_t k = 0; k < r->cross.n;) {
		struct crossing c = r->cross.at[k];

		if (c.end != (int64_t)n->now) {
			k++;
			continue;
		}
		vec_push(&r->port[c.out].leaving, c.f);
		memmove(r->cross.at + k, r->cross.at + k + 1,
			(--r->cross.n - k) * sizeof(c));
	}
}

static void credits_put(struct cable *to, uint64_t cycle, uint32_t vcs)
{
	for (uint32_t v = 0; v < 32; v++)
		if (vcs >> v & 1)
			cable_put(to, cycle, (struct flit){ 0 }, v);
}

static void router_write(struct net *n, uint32_t id)
{
	struct ref_router *r = &n->router[id];

	for (uint32_t p = 0; p < r->ports; p++) {
		const struct net_far *f = net_graph_far(n->c->graph, id, p);
		struct ref_port *to;
		uint32_t latency;

		if (f->at == NET_NOWHERE)
			continue;
		to = far_port(n, id, p, &latency);
		if (r->port[p].leaving.n)
			cable_put(&to->in, n->now + 1 + latency,
				  TAKE(&r->port[p].leaving), 0);
		if (r->port[p].credits.n)
			credits_put(&to->back,
				    n->now + 1 + latency +
					    (f->end ? 0 : n->c->credit_delay),
				    TAKE(&r->port[p].credits));
	}
}

/* ---- an end ---- */

static void end_make(struct net *n, uint32_t id, uint32_t cls,
		     struct ref_packet p)
{
	struct ref_source *s = &n->c->source[id];
	const struct net_routing *r = n->c->graph->routing;

	p.cls = cls;
	p.rank = s->cls[cls].own->priority;
	p.range = s->cls[cls].range[p.kind];
	p.route.src = id;
	p.route.coins = (uint32_t)weft_rng_u64(&s->coins);
	if (r->inject)
		r->inject(n->c->graph, &p.route, weft_rng_u64(&s->coins));
	n->end[id].queue[cls].packet = (int64_t)n->packets.n;
	n->end[id].queue[cls].sent = 0;
	vec_push(&n->packets, p);
}

static void end_draw(struct net *n, uint32_t id, uint32_t cls)
{
	struct ref_class *s = &n->c->source[id].cls[cls];
	struct ref_queue *q = &n->end[id].queue[cls];
	enum packet_kind kind;
	struct traffic_packet t;

	for (size_t i = 0; i < q->back.n;)
		if (q->back.at[i].from <= n->now) {
			if (s->own->outstanding &&
			    q->out == s->own->outstanding)
				arrivals_wait(&s->t.arrivals,
					      q->back.at[i].from);
			vec_remove(&q->back, i);
			q->out--;
		} else {
			i++;
		}
	if (q->packet >= 0)
		return;
	if (q->owed.n && q->owed.at[0].from <= n->now) {
		struct owed o = TAKE(&q->owed);

		end_make(n, id, cls,
			 (struct ref_packet){
				 .route = { .dest = o.dest },
				 .kind = o.kind,
				 .flits = o.kind == PACKET_WRITE_REPLY
						  ? s->own->write_reply
						  : s->own->reply,
				 .born = o.from - 1,
				 .asked = o.asked });
		return;
	}
	if (s->own->outstanding && q->out == s->own->outstanding)
		return;
	if (traffic_due(&s->t) > n->now)
		return;
	t = class_next(&s->t, s->own, &s->rng, &kind);
	q->out++;
	end_make(n, id, cls,
		 (struct ref_packet){ .route = { .dest = t.dest },
				      .kind = kind,
				      .flits = kind == PACKET_WRITE
						       ? s->own->write_flits
						       : t.size,
				      .born = s->own->batch ? n->now : t.at });
}

/* Handles the arrival of a packet. For a request, schedules the reply for the
 * next cycle. Any other packet allows an end to send another packet under its
 * limit from the next cycle on. */
static void packet_end(struct net *n, uint32_t id, const struct ref_packet *p)
{
	struct ref_queue *here = &n->end[id].queue[p->cls];
	struct ref_queue *there = &n->end[p->route.src].queue[p->cls];
	bool asks = n->c->source[id].cls[p->cls].own->reply;
	struct owed o = { .from = n->now + 1,
			  .dest = p->route.src,
			  .kind = p->kind + PACKET_READ_REPLY,
			  .asked = p->born };

	if (p->kind >= PACKET_READ_REPLY)
		vec_push(&here->back, o);
	else if (asks)
		vec_push(&here->owed, o);
	else
		vec_push(&there->back, o);
}

static void end_receive(struct net *n, uint32_t id)
{
	struct ref_end *e = &n->end[id];
	const struct net_far *out = &n->c->graph->in[id];
	const struct net_far *far =
		net_graph_far(n->c->graph, out->at, out->port);
	struct on_cable got;

	for (uint32_t k = 0; k < 2; k++) {
		while (cable_get(&e->port[k].in, n->now, &got)) {
			const struct ref_packet *p =
				&n->packets.at[got.f.packet];

			cable_put(&n->router[out->at].port[out->port].back,
				  n->now + 1 + latency_of(n, far) +
					  n->c->credit_delay,
				  (struct flit){ 0 }, got.f.vc);
			if (!got.f.tail)
				continue;
			vec_push(&n->r->arrived,
				 (struct ref_arrival){ id, p->route.src, n->now,
						       p->born, p->injected,
						       p->asked });
			packet_end(n, id, p);
		}
		while (cable_get(&e->port[k].back, n->now, &got))
			place_free(n, &e->out[got.vc]);
	}
}

/* Returns the VC for the next flit of a class, or -1 if it cannot be sent. */
static int64_t end_vc(const struct net *n, uint32_t id, uint32_t cls)
{
	const struct ref_end *e = &n->end[id];
	const struct ref_queue *q = &e->queue[cls];
	const struct ref_packet *p;
	int64_t first, count;

	if (q->packet < 0)
		return -1;
	if (q->sent)
		return e->out[q->last_vc].credits ? q->last_vc : -1;
	p = &n->packets.at[q->packet];
	first = p->range.first;
	count = p->range.n;
	for (int64_t k = 1; k <= count; k++) {
		int64_t v = q->last_vc < first || q->last_vc >= first + count
				    ? first
				    : first + (q->last_vc - first + k) % count;
		const struct place *o = &e->out[v];

		if (!o->taken && o->credits &&
		    (n->c->p.flow == ROUTER_WORMHOLE || o->credits >= p->flits))
			return v;
	}
	return -1;
}

/* Returns the class that sends a flit, or -1. The highest rank decides, then
 * round robin. With `hold`, the class whose packet is being sent precedes other
 * classes of equal rank. */
static int64_t end_choose(const struct net *n, uint32_t id)
{
	const struct ref_end *e = &n->end[id];
	uint32_t classes = n->c->source[id].n;
	int64_t best = -1, best_rank = -1;

	if (n->c->p.hold && e->queue[e->last].sent &&
	    end_vc(n, id, e->last) >= 0) {
		best = e->last;
		best_rank = n->packets.at[e->queue[best].packet].rank;
	}
	for (uint32_t k = 1; k <= classes; k++) {
		uint32_t c = (e->last + k) % classes;

		if (end_vc(n, id, c) < 0)
			continue;
		if (n->packets.at[e->queue[c].packet].rank > best_rank) {
			best = c;
			best_rank = n->packets.at[e->queue[c].packet].rank;
		}
	}
	return best;
}

static void end_send(struct net *n, uint32_t id)
{
	const struct net_far *to = &n->c->graph->out[id];
	const struct net_far *far =
		net_graph_far(n->c->graph, to->at, to->port);
	struct ref_end *e = &n->end[id];
	struct ref_packet *p;
	struct ref_queue *q;
	struct flit f;
	int64_t cls;

	for (uint32_t c = 0; c < n->c->source[id].n; c++)
		end_draw(n, id, c);
	cls = end_choose(n, id);
	if (cls < 0)
		return;
	q = &e->queue[cls];
	p = &n->packets.at[q->packet];
	if (!q->sent) {
		q->last_vc = end_vc(n, id, (uint32_t)cls);
		e->out[q->last_vc].taken = true;
		e->out[q->last_vc].tail_sent = false;
		p->injected = n->now;
	}
	e->last = (uint32_t)cls;
	f = (struct flit){ (uint32_t)q->packet, (uint32_t)q->last_vc, !q->sent,
			   q->sent + 1 == p->flits };
	q->sent++;
	place_use(n, &e->out[q->last_vc], &f);
	cable_put(&n->router[to->at].port[to->port].in,
		  n->now + 1 + latency_of(n, far), f, 0);
	if (f.tail) {
		q->packet = -1;
		q->sent = 0;
	}
}

/* ---- the network ---- */

static struct place *places(uint32_t n, uint32_t flits)
{
	struct place *p = calloc(n, sizeof(*p));

	for (uint32_t i = 0; i < n; i++)
		p[i].credits = p[i].places = flits;
	return p;
}

static void net_init(struct net *n)
{
	const struct net_graph *g = n->c->graph;
	const struct router_params *p = &n->c->p;
	struct allocator_spec va = {
		.kind = p->vc_alloc,
		.arbiter = p->arbiter == ROUTER_MATRIX ? ARBITER_MATRIX
						       : ARBITER_ROUND_ROBIN,
		.iterations = p->vc_iterations,
		.ranked = p->arbiter >= ROUTER_AGE || g->routing->escape,
	};
	struct allocator_spec sa = va;

	sa.kind = p->sw_alloc;
	sa.iterations = p->sw_iterations;
	sa.ranked = p->arbiter >= ROUTER_AGE || p->speculative;
	n->router = calloc(g->routers, sizeof(*n->router));
	n->end = calloc(g->ends, sizeof(*n->end));
	for (uint32_t i = 0; i < g->routers; i++) {
		struct ref_router *r = &n->router[i];
		uint32_t k;

		r->ports = net_graph_ports(g, i);
		k = r->ports * p->vcs;
		r->port = calloc(r->ports, sizeof(*r->port));
		r->in = calloc(k, sizeof(*r->in));
		r->out = places(k, p->buf_flits);
		r->used = calloc(k, sizeof(*r->used));
		if (n->c->queued) {
			ref_queued_init(n, i);
			continue;
		}
		r->va = ref_allocator_new(&va, (int)k, (int)k);
		r->sa = ref_allocator_new(
			&sa, (int)(r->ports * n->c->p.input_speedup),
			(int)(r->ports * n->c->p.output_speedup));
		for (uint32_t j = 0; j < r->ports * REF_SPEEDUP; j++) {
			struct ref_port *o = &r->port[j / REF_SPEEDUP];
			uint32_t side = j % REF_SPEEDUP;

			o->held_by[side] = o->held_for[side] = -1;
			o->turn[side] = side;
		}
	}
	for (uint32_t i = 0; i < g->ends; i++) {
		n->end[i].out = places(p->vcs, p->buf_flits);
		for (uint32_t k = 0; k < 4; k++)
			n->end[i].queue[k].packet = n->end[i].queue[k].last_vc =
				-1;
	}
}

static uint32_t places_left(const struct place *p, uint32_t n)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += p[i].credits != p[i].places || p[i].taken;
	return sum;
}

static void port_fini(struct ref_port *p)
{
	vec_free(&p->in);
	vec_free(&p->back);
	vec_free(&p->leaving);
	vec_free(&p->credits);
}

static void net_fini(struct net *n)
{
	const struct net_graph *g = n->c->graph;
	uint32_t vcs = n->c->p.vcs;

	for (uint32_t i = 0; i < g->routers; i++) {
		struct ref_router *r = &n->router[i];

		n->r->leftover += places_left(r->out, r->ports * vcs);
		if (r->queued)
			n->r->leftover += ref_queued_fini(n, i);
		for (uint32_t k = 0; k < r->ports * vcs; k++) {
			n->r->leftover += r->in[k].n > 0;
			vec_free(&r->in[k]);
		}
		for (uint32_t k = 0; k < r->ports; k++)
			port_fini(&r->port[k]);
		vec_free(&r->route);
		vec_free(&r->vcs);
		vec_free(&r->hold);
		vec_free(&r->sw);
		vec_free(&r->cross);
		free(r->port);
		free(r->in);
		free(r->out);
		free(r->used);
		if (n->c->queued)
			continue;
		ref_allocator_free(r->va);
		ref_allocator_free(r->sa);
	}
	for (uint32_t i = 0; i < g->ends; i++) {
		n->r->leftover += places_left(n->end[i].out, vcs);
		port_fini(&n->end[i].port[0]);
		port_fini(&n->end[i].port[1]);
		for (uint32_t k = 0; k < 4; k++) {
			n->r->leftover += n->end[i].queue[k].owed.n > 0;
			vec_free(&n->end[i].queue[k].owed);
			vec_free(&n->end[i].queue[k].back);
		}
		free(n->end[i].out);
	}
	vec_free(&n->packets);
	free(n->router);
	free(n->end);
}

void ref_network_run(const struct ref_case *c, struct ref_result *r)
{
	struct net n = { .c = c, .r = r };
	double speedup = c->p.speedup;

	*r = (struct ref_result){
		.flits = calloc(c->graph->routers, sizeof(uint64_t)),
		.peak = calloc(c->graph->routers, sizeof(uint64_t)),
	};
	net_init(&n);
	for (n.now = 0; n.now < c->cycles; n.now++) {
		uint64_t parts = (uint64_t)((double)(n.now + 1) * speedup) -
				 (uint64_t)((double)n.now * speedup);

		for (uint32_t i = 0; i < c->graph->routers; i++)
			if (c->queued)
				ref_queued_look(&n, i);
			else
				router_look(&n, i);
		for (uint32_t i = 0; i < c->graph->ends; i++)
			end_receive(&n, i);
		for (uint32_t i = 0; i < c->graph->ends; i++)
			end_send(&n, i);
		for (uint32_t i = 0; i < c->graph->routers; i++) {
			if (c->queued) {
				ref_queued_cycle(&n, i);
				continue;
			}
			router_receive(&n, i);
			for (uint64_t k = 0; k < parts; k++)
				router_part(&n, i);
			router_write(&n, i);
		}
	}
	net_fini(&n);
}
