/* SPDX-License-Identifier: Apache-2.0 */
/* See ex_pair.h. */
#include "ex_pair.h"

#include <stdlib.h>
#include <string.h>

enum { TAG_NODE = 0, TAG_PORT = 1 };

static const struct weft_param node_params[] = {
	WEFT_PARAM(CLOCK, struct ex_node, clock, "156MHz", "", OWN, "clock"),
	WEFT_PARAM(ENUM, struct ex_node, width, "w32", "w16|w32", OWN, "width"),
	WEFT_PARAM(U32, struct ex_node, packets, "0", "", OWN, "to send"),
	WEFT_PARAM(U32, struct ex_node, gap, "100", "", OWN, "cycles, at most"),
	WEFT_PARAM(U32, struct ex_node, hold, "100", "", OWN, "cycles"),
	WEFT_PARAM(U32, struct ex_node, keep, "0", "", OWN,
		   "cycle before which good cells keep their slots"),
	WEFT_PARAM(U32, struct ex_node, size, "300", "", OWN, "bytes at most"),
	WEFT_PARAM(U32, struct ex_node, vcs, "4", "1..4", OWN, "channels"),
	WEFT_PARAM(U32, struct ex_node, window, "32", "1..127", OWN, "cells"),
	WEFT_PARAM(U32, struct ex_node, mode, "0", "", OWN,
		   "void cells: 0 sends some on, 1 all, 2 none"),
	WEFT_PARAM(BOOL, struct ex_node, train, "no", "", OWN, "bring-up"),
	WEFT_PARAM(BOOL, struct ex_node, store_forward, "no", "", OWN, "whole"),
	WEFT_PARAM(REAL, struct ex_node, ppm, "0", "", OWN, "fast by so much"),
	{ 0 },
};

static const struct weft_port_decl node_ports[] = {
	{ "lp", WEFT_PORT_LINK, NULL, &ex_wire_link, true, "" },
	{ 0 },
};

static void arm(struct ex_node *n, uint64_t cycle)
{
	if (cycle >= n->armed)
		return;
	n->armed = cycle;
	weft_wake(n->comp, TAG_NODE, weft_clock_edge(&n->ep.cfg.clk, cycle));
}

static void node_wake(void *own, struct cell_channel *ep, uint64_t cycle)
{
	arm(own, cycle);
}

static void node_gone(void *own, struct cell_channel *ep, uint32_t slot)
{
	struct ex_node *n = own;

	n->gone++;
	assert_true(ep->slot[slot].flags & ECELL_VOID);
	cell_channel_release(ep, slot, cell_channel_now(ep));
}

static void node_link(void *own, struct cell_channel *ep,
		      enum cell_channel_link what)
{
	struct ex_node *n = own;

	n->lost += what == CELL_CHANNEL_LINK_LOST;
	n->downs += what == CELL_CHANNEL_LINK_DOWN;
	n->ups += what == CELL_CHANNEL_LINK_UP;
}

static const struct cell_channel_ops node_ops = { .wake = node_wake,
						  .gone = node_gone,
						  .link = node_link };

/* ---- receiving ---- */

static void node_order(struct ex_node *n, const struct ecell *c)
{
	uint8_t bit = (uint8_t)(1u << c->vc);

	n->bad_order += !!(n->in_packet & bit) == !!(c->flags & ECELL_SOP);
	n->in_packet |= bit;
	if (c->flags & ECELL_EOP)
		n->in_packet &= (uint8_t)~bit;
}

enum { ROUTE = 0x03 };

static uint8_t byte_of(uint64_t number, uint32_t i)
{
	return (uint8_t)(number * 7 + i);
}

static void node_whole(struct ex_node *n, const struct weft_frame *f)
{
	const uint8_t *p = weft_slice_data(f->payload);
	bool good = f->u[0] == f->trace_id && f->u[4] == (~0xffULL | ROUTE);

	for (uint32_t i = 0; p && i < f->payload.len; i++)
		good &= p[i] == byte_of(f->trace_id, i);
	n->bad_bytes += !good;
	n->last = *f;
}

static void node_good(struct ex_node *n, const struct ecell *c)
{
	if (n->n_log == n->cap_log) {
		n->cap_log = n->cap_log ? 2 * n->cap_log : 1024;
		n->log = realloc(n->log, n->cap_log * sizeof(*n->log));
	}
	n->log[n->n_log++] = (struct ex_seen){
		.cycle = c->cycle,
		.id = c->pkt->trace_id,
		.first = c->first,
		.flits = c->flits,
		.flags = c->flags,
		.vc = c->vc,
	};
	node_order(n, c);
	if (c->flags & ECELL_EOP)
		node_whole(n, c->pkt);
	n->last_good = c->cycle;
}

static void node_rx(struct ex_node *n, uint64_t cycle)
{
	uint32_t slot;

	while (n->n_kept && cycle >= n->keep)
		cell_channel_release(&n->ep, n->kept[--n->n_kept], cycle);
	while ((slot = cell_channel_take(&n->ep, cycle)) != 0xff) {
		struct ecell *c = &n->ep.slot[slot];
		uint64_t end = cycle + c->flits;

		if (c->flags & ECELL_VOID) {
			n->voids++;
			if (n->mode == 1 || (!n->mode && n->voids % 2))
				cell_channel_release(&n->ep, slot, end);
			continue;
		}
		node_good(n, c);
		/* an irregular time, computed from time and length of the
		 * cell */
		end += n->hold ? (c->cycle * 7 + c->flits) % n->hold : 0;
		if (c->flags & ECELL_EOP)
			weft_frame_free(c->pkt);
		if (cycle < n->keep)
			n->kept[n->n_kept++] = (uint8_t)slot;
		else
			cell_channel_release(&n->ep, slot, end);
	}
	if (n->n_kept)
		arm(n, n->keep);
	if (cell_channel_seen(&n->ep) != WEFT_NEVER)
		arm(n, cell_channel_seen(&n->ep));
}

/* ---- sending ---- */

static void stream_next(struct ex_node *n, uint32_t vc, uint64_t cycle)
{
	struct ex_stream *s = &n->stream[vc];
	uint32_t w = ex_flit_bytes(n->width), len, i;
	struct weft_frame *f;

	s->pkt = NULL;
	if (n->sent == n->packets)
		return;
	n->sent++;
	f = weft_frame_new(n->comp->sim);
	len = n->size ? weft_rng_below(&n->rng, n->size + 1) & ~7u : 0;
	*ex_meta(f) = (struct ex_meta){ .words = 1, .hops = 2 };
	f->u[0] = n->sent;
	f->u[4] = ~0xffULL | ROUTE;
	f->payload = weft_slice_new(n->comp->sim, len);
	for (i = 0; weft_slice_data(f->payload) && i < len; i++)
		weft_slice_data(f->payload)[i] = byte_of(n->sent, i);
	f->trace_id = n->sent;
	s->pkt = f;
	s->flit = 0;
	s->flits = 1 + ex_words(f) * 8 / w;
	s->ready = cycle + (n->gap ? weft_rng_below(&n->rng, n->gap) : 0);
	/* Makes a long pause now and then. */
	if (n->gap > 8 && !weft_rng_below(&n->rng, 16))
		s->ready += 3000;
}

static void stream_send(struct ex_node *n, uint32_t vc, uint64_t cycle)
{
	struct ex_stream *s = &n->stream[vc];
	uint32_t max = EX_CELL_BYTES / ex_flit_bytes(n->width);
	uint32_t left = s->flits - s->flit;
	struct ecell cell = {
		.pkt = s->pkt,
		.first = (uint16_t)(s->flit ? s->flit - 1 : 0),
		.flits = (uint8_t)(left < max ? left : max),
		.flags = s->flit ? 0 : ECELL_SOP,
	};

	s->flit += cell.flits;
	if (s->flit == s->flits)
		cell.flags |= ECELL_EOP;
	n->sent_cells++;
	cell_channel_commit(&n->ep, &cell, vc, cycle);
	if (s->flit == s->flits)
		stream_next(n, vc, cycle);
}

static void node_tx(struct ex_node *n, uint64_t cycle)
{
	uint64_t next = WEFT_NEVER, line;
	uint32_t k;

	for (k = 0; k < n->vcs; k++) {
		uint32_t vc = (n->turn + k) % n->vcs;
		struct ex_stream *s = &n->stream[vc];

		if (!s->pkt || s->ready > cycle ||
		    cell_channel_next(&n->ep, cycle) > cycle ||
		    !cell_channel_can(&n->ep, vc, cycle))
			continue;
		stream_send(n, vc, cycle);
		n->turn = vc + 1;
		break;
	}
	line = cell_channel_next(&n->ep, cycle);
	for (k = 0; k < n->vcs; k++) {
		struct ex_stream *s = &n->stream[k];
		uint64_t t = s->ready > line ? s->ready : line;

		if (s->pkt && t > cycle && t < next)
			next = t;
	}
	if (next != WEFT_NEVER)
		arm(n, next);
}

static void node_event(struct weft_comp *c, uint32_t tag)
{
	struct ex_node *n = c->state;
	uint64_t cycle = n->armed;

	if (tag >= TAG_PORT) {
		cell_channel_event(&n->ep);
		return;
	}
	if (cycle == WEFT_NEVER ||
	    weft_clock_edge(&n->ep.cfg.clk, cycle) != weft_now(c))
		return;
	n->armed = WEFT_NEVER;
	node_rx(n, cycle);
	node_tx(n, cycle);
}

static void node_arrive(struct weft_comp *c, uint32_t port,
			struct weft_frame *f)
{
	cell_channel_arrive(&((struct ex_node *)c->state)->ep, f);
}

/* ---- set-up and end ---- */

static int node_init(struct weft_comp *c, struct weft_err *err)
{
	struct ex_node *n = c->state;
	struct cell_channel_cfg cfg =
		cell_channel_cfg_link(n->width, &n->clock);

	n->comp = c;
	n->armed = WEFT_NEVER;
	cfg.train = n->train;
	cfg.store_forward = n->store_forward;
	cfg.window = n->window;
	cfg.clk = weft_clock_offset_ppm(cfg.clk, (int32_t)n->ppm);
	return cell_channel_init(&n->ep, c, &c->ports[0], &cfg, &node_ops, n,
				 err);
}

static int node_start(struct weft_comp *c, struct weft_err *err)
{
	struct ex_node *n = c->state;
	uint32_t vc;

	n->rng = c->rng;
	for (vc = 0; vc < n->vcs; vc++)
		stream_next(n, vc, 10);
	if (cell_channel_start(&n->ep, err))
		return -1;
	arm(n, 10);
	return 0;
}

static void node_fini(struct weft_comp *c)
{
	struct ex_node *n = c->state;

	if (n->comp)
		cell_channel_fini(&n->ep);
	free(n->log);
}

static WEFT_COMPONENT(ex_node, .name = "test.ex_node",
		      .kind = WEFT_KIND_TRAFFIC, .doc = "link port",
		      .state_size = sizeof(struct ex_node),
		      .params = node_params, .ports = node_ports,
		      .ops = { .init = node_init,
			       .start = node_start,
			       .arrive = node_arrive,
			       .event = node_event,
			       .fini = node_fini });

/* ---- the pair ---- */

static void must(int ret, const struct weft_err *err)
{
	if (ret)
		fail_msg("%s", err->msg);
}

void ex_pair_init(struct ex_pair *p, const char *const *set)
{
	static const char *const names[] = { "a", "b" };
	struct weft_err err = { 0 };
	uint32_t i;

	*p = (struct ex_pair){ .sim = weft_sim_new(11) };
	for (i = 0; i < 2; i++) {
		const char *const *s = set;

		p->comp[i] = weft_sim_add(p->sim, &weft_class_ex_node, names[i],
					  &err);
		for (; s && *s; s += 2) {
			const char *name = *s;

			if (name[1] == '.' && name[0] != (char)('0' + i))
				continue;
			name += name[1] == '.' ? 2 : 0;
			must(weft_param_set(p->comp[i], name, s[1], &err),
			     &err);
		}
		must(weft_comp_init(p->comp[i], &err), &err);
		p->n[i] = p->comp[i]->state;
	}
	p->cable =
		weft_sim_add(p->sim, &weft_class_extoll_cable, "cable", &err);
	must(weft_comp_init(p->cable, &err), &err);
	must(weft_connect(&p->comp[0]->ports[0], &p->comp[1]->ports[0],
			  p->cable, 0, &err),
	     &err);
}

struct weft_comp *ex_pair_fault(struct ex_pair *p, uint32_t from,
				const struct weft_class *cls,
				const char *const *set)
{
	char name[] = { 'f', (char)('0' + p->n_faults), 0 };
	struct weft_err err = { 0 };
	struct weft_comp *f = weft_sim_add(p->sim, cls, name, &err);

	for (; set && *set; set += 2)
		must(weft_param_set(f, set[0], set[1], &err), &err);
	must(weft_comp_init(f, &err), &err);
	must(weft_filter_add(&p->comp[from]->ports[0], f, &err), &err);
	p->fault[p->n_faults++] = f;
	return f;
}

void ex_pair_start(struct ex_pair *p)
{
	struct weft_err err = { 0 };

	must(weft_sim_start(p->sim, &err), &err);
}

void ex_pair_run(struct ex_pair *p, uint64_t cycles)
{
	weft_sim_run(p->sim, weft_clock_edge(&p->n[0]->ep.cfg.clk, cycles));
}

/* Checks that all packets of `from` arrived once, with their cells in order. */
static void check_log(struct ex_pair *p, uint32_t from)
{
	const struct ex_node *n = p->n[1 - from], *tx = p->n[from];
	uint32_t *next = calloc(tx->packets + 1, sizeof(*next)), i;
	uint32_t done = 0;

	for (i = 0; i < n->n_log; i++) {
		const struct ex_seen *c = &n->log[i];
		uint32_t route = c->flags & ECELL_SOP ? 1 : 0;

		assert_in_range(c->id, 1, tx->packets);
		assert_int_equal(c->first, next[c->id]);
		next[c->id] += c->flits - route;
		done += !!(c->flags & ECELL_EOP);
	}
	if (n->n_log != tx->sent_cells)
		fail_msg("from %u%s: %u of %llu cells", from,
			 tx->ep.needs_frames ? ", tapped" : "", n->n_log,
			 (unsigned long long)tx->sent_cells);
	assert_int_equal(done, tx->packets);
	assert_int_equal(n->bad_order, 0);
	assert_int_equal(n->bad_bytes, 0);
	free(next);
}

void ex_pair_check_all(struct ex_pair *p)
{
	struct weft_err err = { 0 };
	uint32_t i, vc;

	for (i = 0; i < 2; i++) {
		struct cell_channel *ep = &p->n[i]->ep;

		check_log(p, i);
		if (!ep->needs_frames)
			cell_channel_hear(ep, cell_channel_now(ep) + 1000);
		assert_int_equal(ep->held, 0);
		for (vc = 0; vc < EX_VCS; vc++) {
			if (!cell_channel_can(ep, vc,
					      cell_channel_now(ep) + 1000))
				fail_msg("end %u: no credit on %u", i, vc);
			assert_int_equal(ep->used[vc], 0);
		}
		assert_int_equal(ep->unacked, 0);
	}
	must(weft_sim_finish(p->sim, &err), &err);
}

void ex_pair_drain(struct ex_pair *p, uint64_t cycles)
{
	ex_pair_run(p, cycles);
	if (!weft_sim_idle(p->sim))
		fail_msg("something goes on for ever");
}

void ex_pair_fini(struct ex_pair *p)
{
	weft_sim_free(p->sim);
}
