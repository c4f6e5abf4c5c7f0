/* SPDX-License-Identifier: Apache-2.0 */
/* See ex_feed.h. */
#include "unit/cmocka_all.h"

#include "ex_feed.h"

#include <string.h>

extern const struct weft_class weft_class_extoll_xbar;

/* ---- waking ---- */

static void arm(struct feed *f, uint32_t i, uint64_t cycle)
{
	if (cycle >= f->armed[i])
		return;
	f->armed[i] = cycle;
	weft_wake(f->comp, i, weft_clock_edge(&f->clock, cycle));
}

static void feed_wake(void *own, struct cell_channel *ep, uint64_t cycle)
{
	struct feed *f = own;

	arm(f, (uint32_t)(ep - f->ep), cycle);
}

static const struct cell_channel_ops feed_port = { .wake = feed_wake };

/* ---- sending ---- */

/* Starts a packet with the route: output, then internal port 0. ex_meta.dim is
 * the dimension of that output, so that the packet keeps its VC. */
static void flow_packet(struct feed *f, struct feed_flow *w)
{
	struct weft_frame *p = weft_frame_new(f->comp->sim);

	memset(&p->u[4], 0xff, 4 * sizeof(p->u[0]));
	*ex_meta(p) = (struct ex_meta){
		.hops = w->hops ? w->hops : 2,
		.cls = w->vc / 2,
		.dim = w->out < 3 ? 0xff : (uint8_t)((w->out - 3) / 2),
	};
	ex_meta(p)->dest = w->out;
	if (w->table) {
		ex_meta(p)->hops = 0;
	} else {
		ex_route_set(p, 0, w->out);
		ex_route_set(p, 1, 0);
	}
	p->u[0] = (uint64_t)(w - f->flow);
	p->u[1] = w->sent++;
	/* becomes the number of the packet's cells that have left the
	 * crossbar */
	p->u[2] = 0;
	w->pkt = p;
	w->at = 0;
}

static bool flow_over(const struct feed_flow *w)
{
	return !w->pkt && w->limit && w->sent >= w->limit;
}

static void flow_cell(struct feed *f, struct feed_flow *w, uint64_t c)
{
	struct ecell cell;

	if (!w->pkt)
		flow_packet(f, w);
	cell = (struct ecell){
		.pkt = w->pkt,
		.first = (uint16_t)(w->at * FEED_FLITS),
		.flits = w->flits ? w->flits : FEED_FLITS,
		.flags = (w->at ? 0 : ECELL_SOP) |
			 (w->at + 1u == w->cells ? ECELL_EOP : 0),
	};
	if (w->table && !w->at) {
		cell.flags |= ECELL_TABLE;
		cell.dest = ex_meta(w->pkt)->dest;
		cell.cls = ex_meta(w->pkt)->cls;
		cell.dim = ex_meta(w->pkt)->dim;
	}
	w->at++;
	w->cells_sent++;
	if (cell.flags & ECELL_EOP)
		w->pkt = NULL;
	cell_channel_commit(&f->ep[w->in], &cell, w->vc, c);
}

/* Returns true if another flow is sending a packet on the input and VC of w. */
static bool flow_waits(const struct feed *f, const struct feed_flow *w)
{
	for (uint32_t k = 0; k < f->n_flows; k++) {
		const struct feed_flow *v = &f->flow[k];

		if (v != w && v->pkt && v->in == w->in && v->vc == w->vc)
			return true;
	}
	return false;
}

/* Returns the flow of input i that sends next, round robin, or NULL. */
static struct feed_flow *flow_next(struct feed *f, uint32_t i, uint64_t c)
{
	for (uint32_t k = 0; k < f->n_flows; k++) {
		uint32_t at = (f->turn[i] + k) % f->n_flows;
		struct feed_flow *w = &f->flow[at];

		if (w->in != i || flow_over(w) || flow_waits(f, w) ||
		    !cell_channel_can(&f->ep[i], w->vc, c))
			continue;
		f->turn[i] = at + 1;
		return w;
	}
	return NULL;
}

static void feed_tx(struct feed *f, uint32_t i, uint64_t c)
{
	struct cell_channel *ep = &f->ep[i];
	uint64_t next = cell_channel_next(ep, c);
	struct feed_flow *w;

	if (next <= c) {
		w = flow_next(f, i, c);
		if (!w)
			return; /* a credit wakes the port */
		flow_cell(f, w, c);
		next = cell_channel_next(ep, c);
	}
	if (next > c)
		arm(f, i, next);
}

/* ---- receiving ---- */

static void feed_rx(struct feed *f, uint32_t o, uint64_t c)
{
	struct cell_channel *ep = &f->ep[o];
	uint32_t slot;

	while ((slot = cell_channel_take(ep, c)) != 0xff) {
		struct ecell *s = &ep->slot[slot];
		struct feed_flow *w = &f->flow[s->pkt->u[0]];

		f->bad += w->out != o || s->pkt->u[1] != w->got_packets ||
			  s->pkt->u[2]++ * FEED_FLITS != s->first;
		f->most = ep->held > f->most ? ep->held : f->most;
		w->got++;
		if (s->flags & ECELL_EOP) {
			w->got_packets++;
			weft_frame_free(s->pkt);
		}
		if (!(f->keep[o] >> s->vc & 1))
			cell_channel_release(ep, slot, c + s->flits);
	}
	if (cell_channel_seen(ep) != WEFT_NEVER)
		arm(f, o, cell_channel_seen(ep));
}

/* ---- the component ---- */

static void feed_event(struct weft_comp *c, uint32_t tag)
{
	struct feed *f = c->state;
	uint64_t cycle = f->armed[tag];

	if (cycle == WEFT_NEVER ||
	    weft_clock_edge(&f->clock, cycle) != weft_now(c))
		return;
	f->armed[tag] = WEFT_NEVER;
	feed_rx(f, tag, cycle);
	feed_tx(f, tag, cycle);
}

static void feed_arrive(struct weft_comp *c, uint32_t port,
			struct weft_frame *fr)
{
	fail_msg("a frame at port %u", port);
}

static int feed_init(struct weft_comp *c, struct weft_err *err)
{
	struct feed *f = c->state;
	struct cell_channel_cfg link =
		cell_channel_cfg_link(f->width, &f->clock);
	struct cell_channel_cfg inner =
		cell_channel_cfg_internal(f->width, &f->clock);

	f->comp = c;
	for (uint32_t i = 0; i < EX_PORTS; i++) {
		f->armed[i] = WEFT_NEVER;
		if (cell_channel_init(&f->ep[i], c, &c->ports[i],
				      i < EX_INTERNAL ? &inner : &link,
				      &feed_port, f, err))
			return -1;
	}
	return 0;
}

static int feed_start(struct weft_comp *c, struct weft_err *err)
{
	struct feed *f = c->state;

	for (uint32_t i = 0; i < EX_PORTS; i++) {
		if (cell_channel_start(&f->ep[i], err))
			return -1;
		arm(f, i, 10 + i);
	}
	return 0;
}

static void feed_fini(struct weft_comp *c)
{
	struct feed *f = c->state;

	for (uint32_t i = 0; i < EX_PORTS; i++)
		cell_channel_fini(&f->ep[i]);
}

static const struct weft_param feed_params[] = {
	WEFT_PARAM(CLOCK, struct feed, clock, "156MHz", "", OWN, "clock"),
	WEFT_PARAM(ENUM, struct feed, width, "w32", "w16|w32", OWN, "width"),
	{ 0 },
};
static const struct weft_port_decl feed_ports[] = {
	{ "np%u", WEFT_PORT_LINK, "3", &ex_wire_internal, true, "" },
	{ "lp%u", WEFT_PORT_LINK, "6", &ex_wire_link, true, "" },
	{ 0 },
};
static WEFT_COMPONENT(ex_feed, .name = "test.ex_feed",
		      .kind = WEFT_KIND_TRAFFIC, .doc = "nine ports",
		      .state_size = sizeof(struct feed), .params = feed_params,
		      .ports = feed_ports,
		      .ops = { .init = feed_init,
			       .start = feed_start,
			       .arrive = feed_arrive,
			       .event = feed_event,
			       .fini = feed_fini });

/* ---- the bench ---- */

static void must(int ret, const struct weft_err *err)
{
	if (ret)
		fail_msg("%s", err->msg);
}

static void bench_make(struct bench *b, const char *width)
{
	struct weft_err err = { 0 };
	struct weft_comp *f;

	b->sim = weft_sim_new(1);
	b->x = weft_sim_add(b->sim, &weft_class_extoll_xbar, "x", &err);
	f = weft_sim_add(b->sim, &weft_class_ex_feed, "f", &err);
	must(weft_param_set(b->x, "width", width, &err), &err);
	must(weft_param_set(f, "width", width, &err), &err);
	must(weft_comp_init(b->x, &err), &err);
	must(weft_comp_init(f, &err), &err);
	b->xb = b->x->state;
	b->f = f->state;
}

static void join(struct weft_port *p, struct weft_port *q)
{
	struct weft_err err = { 0 };

	must(weft_connect(p, q, NULL, p->index < EX_INTERNAL ? 1 : 10 * WEFT_NS,
			  &err),
	     &err);
}

void bench_new(struct bench *b, const char *width)
{
	bench_make(b, width);
	for (uint32_t i = 0; i < EX_PORTS; i++)
		join(&b->f->comp->ports[i], &b->x->ports[i]);
}

void bench_new_looped(struct bench *b, const char *width)
{
	bench_make(b, width);
	join(&b->x->ports[3], &b->x->ports[4]);
	for (uint32_t i = 5; i < EX_PORTS; i++)
		join(&b->f->comp->ports[i], &b->x->ports[i]);
}

struct feed_flow *bench_flow(struct bench *b, uint32_t in, uint32_t out,
			     uint32_t vc, uint32_t cells)
{
	struct feed_flow *w = &b->f->flow[b->f->n_flows++];

	assert_in_range(b->f->n_flows, 1, FEED_FLOWS);
	*w = (struct feed_flow){ .in = (uint8_t)in,
				 .out = (uint8_t)out,
				 .vc = (uint8_t)vc,
				 .cells = (uint8_t)cells };
	return w;
}

void bench_start(struct bench *b)
{
	struct weft_err err = { 0 };

	must(weft_sim_start(b->sim, &err), &err);
}

void bench_run(struct bench *b, uint64_t cycle)
{
	uint64_t now = cell_channel_now(&b->f->ep[0]);

	while (now < cycle) {
		now = now + 50 < cycle ? now + 50 : cycle;
		weft_sim_run(b->sim, weft_clock_edge(&b->f->clock, now));
		for (uint32_t i = 0; i < EX_PORTS; i++)
			assert_in_range(b->xb->ep[i].held, 0, b->xb->slots);
	}
}

void bench_free(struct bench *b)
{
	assert_int_equal(b->f->bad, 0);
	weft_sim_free(b->sim);
}
