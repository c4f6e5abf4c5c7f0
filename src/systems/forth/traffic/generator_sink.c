/* SPDX-License-Identifier: Apache-2.0 */
/* Sink of the traffic generator: a FIFO that a bus drains, and checks of
 * arriving packets (forth.md 5.2). */
#include <stdlib.h>

#include "systems/forth/traffic/generator.h"

static bool payload_good(const struct forth_gen *g, const struct weft_frame *f)
{
	const uint64_t *p = (const uint64_t *)weft_slice_data(f->payload);
	uint64_t header = f->u[FORTH_U_HEADER];

	if (f->payload.len != forth_hdr_size(header) * 8)
		return false;
	for (uint32_t k = 0; p && g->p.verify && k < f->payload.len / 8; k++)
		if (p[k] != pattern_qword(forth_hdr_addr(header), g->p.node, k))
			return false;
	return true;
}

/* Drains the packet when the bus is free. F grows at the header, then with each
 * payload qword, and by the remaining charge with the last qword (5.2). */
static void sink_drain(struct forth_gen *g, const struct weft_frame *f,
		       const struct forth_port_rx *rx)
{
	struct forth_port *l = &g->link;
	uint32_t bytes = forth_shape_get(f).wire_len;
	uint32_t charge = forth_charge(1, bytes);
	uint32_t data = forth_hdr_size(f->u[FORTH_U_HEADER]) * 2;
	/* cut-through wait (4.11) with L = 1 */
	uint64_t wait = g->p.t_l2d + (rx->words * 3 + 3) / 4;
	weft_time_t t = weft_clock_edge(&l->clk, rx->cycle + wait);
	uint64_t at;

	if (t < g->p.hold)
		t = g->p.hold;
	at = weft_clock_cycle(&g->p.bus, t);
	if (at < g->sink.bus_free)
		at = g->sink.bus_free;
	at += g->p.t_bus;
	g->sink.bus_free = at + data / 2;
	g->sink.last = weft_clock_edge(&g->p.bus, g->sink.bus_free);
	forth_port_fwd(l, 0, 2, weft_clock_edge(&g->p.bus, at));
	forth_port_fwd_ramp(l, 0, data, 2, &g->p.bus, at);
	forth_port_fwd(l, 0, charge - 2 - data, g->sink.last);
}

/* Returns whether the FIFO has room for the packet. On a line without faults it
 * always has room, because the sender has credits. */
static bool fifo_room(struct forth_gen *g, uint32_t charge)
{
	struct forth_gen_fifo *q = g->sink.fifo;
	uint64_t now = weft_clock_cycle(&g->p.bus, weft_now(g->link.comp) + 1);
	uint32_t left = 0;

	for (now--; !ring_empty(q); ring_pop(q)) {
		const struct forth_gen_held *p = ring_front(q);

		if (now < p->at)
			break;
		/* a part of the packet has left already. sink_drain computes
		 * the same times */
		if (now - p->at < p->data / 2) {
			left = (uint32_t)(2 + 2 * (now - p->at));
			break;
		}
		q->words -= p->charge;
	}
	return ring_count(q) < GEN_FIFO &&
	       q->words - left + charge <= g->link.cfg.rx_cap;
}

/* Stores the packet in the FIFO and drains it. Returns false if the FIFO has no
 * room. The sender then loses the credits of the dropped packet, because the
 * sink does not return the charge. */
static bool sink_take(struct weft_comp *c, const struct weft_frame *f,
		      const struct forth_port_rx *rx)
{
	struct forth_gen *g = c->state;
	struct forth_gen_fifo *q = g->sink.fifo;
	uint32_t charge = forth_charge(1, forth_shape_get(f).wire_len);
	uint32_t data = forth_hdr_size(f->u[FORTH_U_HEADER]) * 2;

	if (q && !fifo_room(g, charge)) {
		weft_count(c, C_OVERFLOW, 1);
		forth_port_dropped(&g->link, 0, charge);
		return false;
	}
	sink_drain(g, f, rx);
	if (q) {
		*ring_push(q) =
			(struct forth_gen_held){ .at = g->sink.bus_free -
						       data / 2,
						 .charge = charge,
						 .data = data };
		q->words += charge;
	}
	return true;
}

static void check_order(struct weft_comp *c, const struct weft_frame *f)
{
	struct forth_gen *g = c->state;
	uint32_t tag = forth_hdr_addr(f->u[FORTH_U_HEADER]);
	uint32_t src = tag >> 24;

	if (src >= g->p.dests) {
		weft_count(c, C_DISORDER, 1);
		return;
	}
	if (g->sink.from) {
		forth_gen_order_add(c, src, tag & 0xFFFFFF,
				    weft_now(c) >= g->p.warmup);
		return;
	}
	if ((tag & 0xFFFFFF) != (g->voq[src].expected & 0xFFFFFF))
		weft_count(c, C_DISORDER, 1);
	g->voq[src].expected = tag + 1;
}

void forth_gen_packet(void *own, struct forth_port *l, struct weft_frame *f,
		      const struct forth_port_rx *rx)
{
	struct weft_comp *c = own;
	struct forth_gen *g = c->state;

	if (!g->sink.first)
		g->sink.first = weft_now(c);
	if (!sink_take(c, f, rx)) {
		weft_frame_free(f);
		return;
	}
	weft_count(c, C_RECEIVED, 1);
	weft_count(c, C_BYTES, f->payload.len);
	if (rx->bad)
		weft_count(c, C_BAD_BODY, 1);
	else if (!payload_good(g, f))
		weft_count(c, C_CORRUPT, 1);
	check_order(c, f);
	if (weft_now(c) >= g->p.warmup) {
		g->sink.words += rx->words - rx->shift;
		if (g->sink.latency && f->trace_id)
			weft_hist_put(g->sink.latency,
				      (double)(weft_now(c) - f->trace_id) /
					      (double)WEFT_NS);
	}
	weft_frame_free(f);
}
