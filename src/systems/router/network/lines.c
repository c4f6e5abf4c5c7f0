/* SPDX-License-Identifier: Apache-2.0 */
/* Lines between routers and ends, see lines.h. They do not use frames of the
 * kernel, because each flit would need a frame. */
#include "systems/router/network/lines.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/need.h"
#include "systems/router/network/meter.h"

const struct weft_wire router_wire = { .name = "flits" };

/* ---- packets ---- */

uint32_t packet_new(struct packets *p)
{
	uint32_t i = p->free;

	p->live++;
	if (i != UINT32_MAX) {
		p->free = p->at[i].next;
		return i;
	}
	p->at = grown(p->at, p->n, sizeof(*p->at));
	return p->n++;
}

void packet_free(struct packets *p, uint32_t i)
{
	p->at[i].next = p->free;
	p->free = i;
	p->live--;
}

/* ---- lines ---- */

static uint32_t bit_first(uint64_t m)
{
	return (uint32_t)__builtin_ctzll(m);
}

uint64_t station_arrival(const struct station *s, bool credits)
{
	uint64_t first = ROUTER_NEVER;

	for (uint32_t w = 0; w < NET_PORTS_MAX / 64; w++) {
		for (uint64_t m = s->flits[w]; m; m &= m - 1) {
			struct line *l = &s->line[w * 64 + bit_first(m)];
			const struct flit_run *run = ring_front(&l->in);

			if (!ring_empty(&l->in) &&
			    run->cycle + run->taken < first)
				first = run->cycle + run->taken;
		}
		for (uint64_t m = credits ? s->credits[w] : 0; m; m &= m - 1) {
			struct line *l = &s->line[w * 64 + bit_first(m)];
			const struct credit_run *c = ring_front(&l->back);

			if (!ring_empty(&l->back) &&
			    c->cycle + c->taken < first)
				first = c->cycle + c->taken;
		}
	}
	return first;
}

void station_send(struct station *s, uint32_t p, uint64_t t,
		  struct flit_run run)
{
	const struct line *l = &s->line[p];
	struct station *far = l->far;
	struct line *to = &far->line[l->far_port];
	struct flit_run *last = ring_last(&to->in);

	run.cycle = t + 1 + l->latency;
	if (!run.head && last && last->packet == run.packet &&
	    last->cycle + last->n == run.cycle) {
		last->n += run.n;
		return;
	}
	*ring_push(&to->in) = run;
	far->flits[l->far_port / 64] |= 1ull << (l->far_port & 63);
	station_wake(far, run.head ? run.cycle + far->defer : run.cycle);
}

void station_send_cut(struct station *s, uint32_t p, uint32_t n)
{
	const struct line *l = &s->line[p];
	struct line *to = &l->far->line[l->far_port];
	struct flit_run *last = ring_at(&to->in, to->in.tail - 1);

	assert(!ring_empty(&to->in) && last->n - last->taken >= (int)n);
	last->n -= (uint16_t)n;
	l->far->cuts[l->far_port / 64] |= 1ull << (l->far_port & 63);
	station_wake(l->far, last->cycle + last->n);
	if (!last->n)
		to->in.tail--;
}

bool line_credits_add(struct line *l, uint64_t cycle, uint32_t vc, uint32_t n)
{
	struct credit_run *last = ring_last(&l->back);

	if (last && last->vc == vc && last->cycle + last->n == cycle &&
	    last->n + n <= UINT16_MAX) {
		last->n += (uint16_t)n;
		return false;
	}
	*ring_push(&l->back) = (struct credit_run){ .cycle = cycle,
						    .n = (uint16_t)n,
						    .vc = (uint8_t)vc };
	return true;
}

uint64_t line_credits_cut(struct line *l, uint32_t n)
{
	struct credit_run *last = ring_at(&l->back, l->back.tail - 1);
	uint64_t cycle;

	assert(!ring_empty(&l->back) && last->n - last->taken >= (int)n);
	last->n -= (uint16_t)n;
	cycle = last->cycle + last->n;
	if (!last->n)
		l->back.tail--;
	return cycle;
}

void station_credit(struct station *s, uint32_t p, uint64_t t, uint32_t vc,
		    uint32_t n)
{
	const struct line *l = &s->line[p];
	struct station *far = l->far;
	struct line *to = &far->line[l->far_port];
	uint64_t cycle = t + 1 + l->latency + far->credit_delay;

	if (!line_credits_add(to, cycle, vc, n))
		return;
	far->credits[l->far_port / 64] |= 1ull << (l->far_port & 63);
	if (far->hungry || to->wants >> vc & 1)
		station_wake(far, cycle);
}

void station_credit_cut(struct station *s, uint32_t p, uint32_t n)
{
	const struct line *l = &s->line[p];
	struct line *to = &l->far->line[l->far_port];
	uint32_t vc = ring_at(&to->back, to->back.tail - 1)->vc;
	uint64_t cycle = line_credits_cut(to, n);

	if (!(to->relies >> vc & 1))
		return;
	l->far->cuts[l->far_port / 64] |= 1ull << (l->far_port & 63);
	station_wake(l->far, cycle);
}

/* ---- set-up ---- */

int station_place(struct weft_comp *c, const struct weft_place *at,
		  struct weft_err *err)
{
	struct station *s = c->state;

	s->number = at->node;
	s->graph = at->graph;
	s->net = at->net;
	return 0;
}

static int line_start(struct station *s, uint32_t i, struct weft_err *err)
{
	const struct weft_port *p = &s->comp->ports[i];

	if (!p->peer || p->decl->wire != &router_wire)
		return 0;
	if (p->n_filters || p->peer->n_filters)
		return weft_fail(
			err, EINVAL,
			"%s.%s: a line between routers has no faults, because its flits are not frames: take the fault away",
			s->comp->name, p->name);
	if (!p->link || p->link->cls != &weft_class_net_channel)
		return weft_fail(
			err, EINVAL,
			"%s.%s: a line between routers is a net.channel, whose latency counts cycles",
			s->comp->name, p->name);
	if (!weft_clock_same(&((struct net_channel *)p->link->state)->clock,
			     &s->clock))
		return weft_fail(
			err, EINVAL,
			"%s.clock is not that of %s: a network has one clock, set net.*.clock",
			p->link->name, s->comp->name);
	s->line[i].far = p->peer->comp->state;
	s->line[i].far_port = p->peer->index;
	s->line[i].latency = ((struct net_channel *)p->link->state)->latency;
	return 0;
}

int station_start(struct station *s, struct weft_err *err)
{
	if (!s->graph || !s->net)
		return weft_fail(
			err, EINVAL,
			"%s stands in no network: write fabric: {type: routed, topology: mesh, ..}",
			s->comp->name);
	for (uint32_t i = 0; i < s->comp->n_ports; i++)
		if (line_start(s, i, err))
			return -EINVAL;
	s->asked = ROUTER_NEVER;
	router_net_join(s);
	return 0;
}

static int next_check(const struct station *s, const struct station *next,
		      struct weft_err *err)
{
	if (!next->end && next->face.vcs != s->face.vcs)
		return weft_fail(
			err, EINVAL,
			"%s has %u VCs, %s behind it %u: a network has one number, set switch.vcs",
			s->comp->name, s->face.vcs, next->comp->name,
			next->face.vcs);
	if (!weft_clock_same(&next->clock, &s->clock))
		return weft_fail(
			err, EINVAL,
			"%s.clock is not that of %s: a network has one clock, set net.*.clock",
			next->comp->name, s->comp->name);
	if (!next->end && next->face.flow != s->face.flow)
		return weft_fail(
			err, EINVAL,
			"%s.flow is not that of %s: a network has one flow control, set switch.flow",
			next->comp->name, s->comp->name);
	if (!next->end && s->face.flow != ROUTER_WORMHOLE &&
	    next->face.places < s->face.places)
		return weft_fail(
			err, EINVAL,
			"%s has %u places for flits of a VC, %s before it %u, and packets that fit there would wait for ever: set switch.buf_flits, or flow: wormhole",
			next->comp->name, next->face.places, s->comp->name,
			s->face.places);
	return 0;
}

int station_outputs(const struct station *s, struct out_vc *out,
		    struct weft_err *err)
{
	uint32_t vcs = s->face.vcs;

	for (uint32_t i = 0; i < s->comp->n_ports * vcs; i++) {
		const struct station *far = s->line[i / vcs].far;
		uint32_t places;

		if (!far)
			continue;
		if (i % vcs == 0 && next_check(s, far, err))
			return -EINVAL;
		places = far->end ? s->face.places : far->face.places;
		out[i].credits = out[i].places = (uint16_t)places;
	}
	return 0;
}

void station_fini(struct station *s)
{
	for (uint32_t i = 0; s->line && i < s->comp->n_ports; i++) {
		ring_free(&s->line[i].in);
		ring_free(&s->line[i].back);
	}
	free(s->line);
}
