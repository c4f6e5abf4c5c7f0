/* SPDX-License-Identifier: Apache-2.0 */
/* Flows of a plain router, see plain.h. */
#include <assert.h>

#include "systems/router/network/router.h"

void plain_begin(struct router *r, uint32_t i, uint64_t from)
{
	struct in_vc *v = &r->in[i];

	v->state = IN_ROUTE;
	v->due = from + r->p.t_route;
	r->plain.heads |= 1ull << i;
}

/* ---- lengths ---- */

/* Returns the number of flits in flight to an input VC that arrive one per
 * cycle from the next cycle on. */
static uint32_t following(const struct router *r, const struct in_vc *v,
			  uint64_t now)
{
	const struct line *in = &r->s.line[v->port];
	const struct flit_run *run = ring_front(&in->in);

	if (ring_empty(&in->in) || run->vc != v->vc ||
	    run->cycle + run->taken != now + 1)
		return 0;
	return (uint32_t)(run->n - run->taken);
}

/* Returns how many of `most` flits have credits, if one flit leaves in each
 * cycle from `from` on. */
static uint32_t credits_for(struct router *r, const struct in_vc *v,
			    uint32_t most, uint64_t from)
{
	struct line *l = &r->s.line[v->out];
	int32_t n = (int16_t)r->out[v->granted].credits;

	for (uint32_t k = 0; k < ring_count(&l->back) && n < (int32_t)most;
	     k++) {
		const struct credit_run *c = ring_nth(&l->back, k);

		if (c->vc != v->out_vc)
			continue;
		if (c->cycle + c->taken > from + (uint64_t)(n > 0 ? n : 0))
			break;
		n += c->n - c->taken;
		l->relies |= 1u << v->out_vc;
	}
	if (n <= 0)
		return 0;
	return (uint32_t)n < most ? (uint32_t)n : most;
}

/* ---- lines ---- */

static void flits_put(struct router *r, uint32_t i, uint64_t t, uint32_t n,
		      bool head)
{
	struct in_vc *v = &r->in[i];
	struct line *l = &r->s.line[v->out];

	v->flits -= (uint16_t)n;
	v->left -= (uint16_t)n;
	v->until = t + n;
	r->out[v->granted].credits -= (uint16_t)n;
	r->plain.flits += n;
	router_put(r, i, t, n, head);
	if (!v->left && l->far->end)
		station_send(&r->s, v->out, v->until - 1 + r->p.t_cross,
			     (struct flit_run){ .packet = router_packet(r, v),
						.n = 1,
						.vc = v->out_vc,
						.head = true });
}

/* Takes back the flits from cycle t on. */
static void flits_cut(struct router *r, uint32_t i, uint64_t t)
{
	struct in_vc *v = &r->in[i];
	struct line *l = &r->s.line[v->out];
	uint32_t n = (uint32_t)(v->until - t);

	if (v->until <= t)
		return;
	station_credit_cut(&r->s, v->port, n);
	if (!l->far->end) {
		station_send_cut(&r->s, v->out, n);
	} else {
		line_credits_cut(l, n);
		if (!v->left)
			station_send_cut(&r->s, v->out, 1);
	}
	v->until = t;
	v->flits += (uint16_t)n;
	v->left += (uint16_t)n;
	r->out[v->granted].credits += (uint16_t)n;
	r->plain.flits -= n;
}

/* ---- flows ---- */

static void flow_add(struct router *r, uint32_t i, uint64_t end)
{
	struct plain *f = &r->plain;
	struct in_vc *v = &r->in[i];

	v->end = end;
	f->flows |= 1ull << i;
	if (!v->left)
		f->tails |= 1ull << i;
	f->by_in[v->port] = f->by_out[v->out] = (uint8_t)(i + 1);
	f->flow_end = end < f->flow_end ? end : f->flow_end;
}

static void flow_remove(struct router *r, uint32_t i)
{
	struct plain *f = &r->plain;
	const struct in_vc *v = &r->in[i];

	f->flows &= ~(1ull << i);
	f->kept &= ~(1ull << i);
	f->tails &= ~(1ull << i);
	f->by_in[v->port] = f->by_out[v->out] = 0;
	r->s.line[v->out].relies &= ~(1u << v->out_vc);
}

/* Updates the request of an input VC without a flow. The VC requests the switch
 * if its queue has flits. */
static void flow_none(struct router *r, uint32_t i, uint64_t now)
{
	struct plain *f = &r->plain;
	const struct in_vc *v = &r->in[i];

	if ((int16_t)v->flits > 0) {
		f->asking |= 1ull << i;
		return;
	}
	f->asking &= ~(1ull << i);
	f->soon |= following(r, v, now) > 0;
}

/* The packet at the front of input VC i has left. Its last flit entered the
 * crossbar in cycle `end`. */
static void packet_end(struct router *r, uint32_t i, uint64_t end)
{
	struct plain *f = &r->plain;
	struct in_vc *v = &r->in[i];

	f->packets++;
	v->head++;
	v->state = IN_IDLE;
	v->from = end + 1;
	if (--v->n)
		plain_begin(r, i, v->from);
}

void plain_finish(struct router *r, uint64_t now)
{
	struct plain *f = &r->plain;
	uint64_t first = ROUTER_NEVER;

	SET_EACH(&f->flows, 1, i)
	{
		const struct in_vc *v = &r->in[i];
		uint64_t bit = 1ull << v->granted;

		if (v->end >= now) {
			first = v->end < first ? v->end : first;
			continue;
		}
		assert(f->tails >> i & 1);
		flow_remove(r, i);
		packet_end(r, i, v->end);
		if (v->end + 1 == now) {
			f->freed |= bit;
		} else {
			f->taken &= ~bit;
			f->again = true;
		}
	}
	f->flow_end = first;
}

/* Returns the number of flits that can leave one per cycle from cycle `from`
 * on. Sets *end_p to the cycle in which their flow ends. */
static uint32_t flow_length(struct router *r, uint32_t i, uint64_t now,
			    uint64_t from, uint64_t *end_p)
{
	const struct in_vc *v = &r->in[i];
	uint32_t n = (int16_t)v->flits > 0 ? v->flits : 0, most;

	/* A flow whose queue becomes empty in this cycle does not keep the
	 * switch for a flit that arrives in the next cycle. */
	if (n < v->left && (from > now || n > 1 || !(r->plain.kept >> i & 1)))
		n += following(r, v, now);
	n = n < v->left ? n : v->left;
	most = credits_for(r, v, n, from);
	*end_p = most < n ? from + most : from + n - 1;
	return most;
}

void plain_send(struct router *r, uint32_t i, uint64_t now, bool shared)
{
	struct plain *f = &r->plain;
	struct in_vc *v = &r->in[i];
	bool keep = r->p.hold && v->flits > 1 && v->left > 1;
	uint32_t n = 1;
	uint64_t end = now;

	if (ring_count(&r->s.line[v->out].back) > PLAIN_CREDITS)
		router_line_credits(r, v->out);
	if (keep || (v->left > 1 && !shared))
		n = flow_length(r, i, now, now, &end);
	flits_put(r, i, now, n, v->fresh);
	v->fresh = false;
	if (n == 1 && !v->left) {
		f->freed |= 1ull << v->granted;
		f->asking &= ~(1ull << i);
		packet_end(r, i, now);
	} else if (n == 1 && !keep) {
		flow_none(r, i, now);
	} else {
		f->asking &= ~(1ull << i);
		f->kept |= (uint64_t)keep << i;
		flow_add(r, i, end);
	}
}

void plain_interrupt(struct router *r, uint32_t i, uint64_t now)
{
	flits_cut(r, i, now);
	flow_remove(r, i);
	flow_none(r, i, now);
}

static void flow_cut(struct router *r, uint32_t i, uint64_t now)
{
	struct plain *f = &r->plain;
	struct in_vc *v = &r->in[i];
	uint32_t were = (uint32_t)(v->until - now), n;
	uint64_t end = now;

	if (v->until <= now)
		return;
	router_line_credits(r, v->out);
	v->flits += (uint16_t)were;
	v->left += (uint16_t)were;
	r->out[v->granted].credits += (uint16_t)were;
	n = (int16_t)v->flits > 0 ? flow_length(r, i, now, now, &end) : 0;
	v->flits -= (uint16_t)were;
	v->left -= (uint16_t)were;
	r->out[v->granted].credits -= (uint16_t)were;
	if (n >= were)
		return;
	flits_cut(r, i, now + n);
	f->tails &= ~(1ull << i);
	if (n || f->kept >> i & 1) {
		v->end = end;
		f->flow_end = end < f->flow_end ? end : f->flow_end;
		return;
	}
	flow_remove(r, i);
	flow_none(r, i, now);
}

void plain_cuts(struct router *r, uint64_t now)
{
	struct plain *f = &r->plain;

	SET_EACH(r->s.cuts, 1, p)
	{
		uint32_t in = f->by_in[p], out = f->by_out[p];

		if (in)
			flow_cut(r, in - 1, now);
		if (out && f->by_out[p] == out && out != in)
			flow_cut(r, out - 1, now);
	}
	r->s.cuts[0] = 0;
}

/* Continues a flow with the flits that can leave from cycle `from` on. Ends the
 * flow if there are none. */
static void flow_extend(struct router *r, uint32_t i, uint64_t now,
			uint64_t from)
{
	struct plain *f = &r->plain;
	struct in_vc *v = &r->in[i];
	bool keep = f->kept >> i & 1;
	uint64_t end = from;
	uint32_t n = 0;

	if ((int16_t)v->flits > 0 || (!keep && following(r, v, now)))
		n = flow_length(r, i, now, from, &end);
	if (n)
		flits_put(r, i, from, n, false);
	if (n || (keep && (int16_t)v->flits > 0 && from > now)) {
		flow_add(r, i, end);
		return;
	}
	flow_remove(r, i);
	flow_none(r, i, now);
}

void plain_extend(struct router *r, uint64_t now)
{
	struct plain *f = &r->plain;

	SET_EACH(&f->flows, 1, i)
	{
		const struct in_vc *v = &r->in[i];

		/* A flow may need two rounds if the last flit in its queue had
		 * a credit. */
		while (f->flows & ~f->tails & 1ull << i && v->end == now) {
			router_line_credits(r, v->out);
			flow_extend(r, i, now, v->until > now ? now + 1 : now);
		}
	}
}
