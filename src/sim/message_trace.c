/* SPDX-License-Identifier: Apache-2.0 */
/* Listeners of a run, and events that the kernel itself reports: accesses,
 * transactions and frames. Contract: weft/trace.h. */
#include "weft/trace.h"

#include "sim/sim_internal.h"
#include "weft/bus.h"

/* Bit that is set in all numbers of messages. A component that stores another
 * value in trace_id leaves the bit clear. */
#define TRACE_ID (1ull << 63)

uint8_t trace_wanted(const struct weft_sim *sim, const struct weft_comp *c)
{
	const struct weft_listener *l = sim->head.listeners;
	uint8_t all = 0;

	for (; l; l = l->next)
		all |= l->wants ? l->wants(c) : UINT8_MAX;
	return all;
}

void weft_sim_listen(struct weft_sim *sim, struct weft_listener *l)
{
	l->next = sim->head.listeners;
	sim->head.listeners = l;
	for (uint32_t i = 0; i < weft_sim_count(sim); i++) {
		struct weft_comp *c = weft_sim_at(sim, i);

		c->heard = trace_wanted(sim, c);
	}
}

void weft_trace_tell(const struct weft_trace *t)
{
	struct weft_listener *l = t->comp->sim->head.listeners;

	for (; l; l = l->next)
		l->hear(l, t);
}

void weft_trace_mark(const struct weft_comp *c, uint64_t id, const char *stage,
		     weft_time_t t)
{
	weft_trace_tell(&(struct weft_trace){ WEFT_TRACE_MARK, 0, c, id, 0,
					      stage, NULL, t, t });
}

void weft_trace_end(const struct weft_comp *c, uint64_t id, bool arrived)
{
	weft_trace_tell(&(struct weft_trace){ WEFT_TRACE_END, 0, c, id, arrived,
					      NULL, NULL, weft_now(c), 0 });
}

void weft_trace_span(const struct weft_comp *c, const char *track,
		     uint32_t index, const char *text, uint64_t value,
		     weft_time_t from, weft_time_t to)
{
	weft_trace_tell(&(struct weft_trace){ WEFT_TRACE_SPAN, index, c, 0,
					      value, track, text, from, to });
}

void weft_trace_state(const struct weft_comp *c, const char *machine,
		      uint32_t index, const char *state, weft_time_t t)
{
	weft_trace_tell(&(struct weft_trace){ WEFT_TRACE_STATE, index, c, 0, 0,
					      machine, state, t, t });
}

void weft_trace_level(const struct weft_comp *c, const char *queue,
		      uint32_t index, uint64_t level, weft_time_t t)
{
	weft_trace_tell(&(struct weft_trace){ WEFT_TRACE_LEVEL, index, c, 0,
					      level, queue, NULL, t, t });
}

void weft_trace_program(const struct weft_comp *c, enum weft_trace_kind kind,
			uint32_t node, weft_time_t t)
{
	weft_trace_tell(
		&(struct weft_trace){ kind, 0, c, 0, node, NULL, NULL, t, t });
}

uint64_t weft_trace_open(const struct weft_comp *c, uint64_t parent)
{
	const struct trace_access *a = &c->sim->access;
	weft_time_t now = weft_now(c);
	bool fits = !parent && a->comp == c && a->taken == now;
	struct weft_trace t = { .kind = WEFT_TRACE_OPEN,
				.comp = c,
				.id = TRACE_ID | ++c->sim->messages,
				.value = parent,
				.from = fits ? a->begin : now };

	weft_trace_tell(&t);
	if (!fits)
		return t.id;
	weft_mark(a->bus, t.id, "access waits for the bus", a->start);
	weft_mark(a->bus, t.id, "access on the bus", a->end);
	return t.id;
}

void trace_access(const struct weft_port *p, const struct weft_bus_note *note)
{
	weft_time_t start = note->frame ? note->frame : note->time;

	if (note->kind != WEFT_NOTE_STORE && note->kind != WEFT_NOTE_LOAD &&
	    note->kind != WEFT_NOTE_TAGGED)
		return;
	p->comp->sim->access = (struct trace_access){
		.comp = p->comp,
		.bus = p->peer->comp,
		.begin = note->asked ? note->asked : start,
		.start = start,
		.end = note->time,
		.taken = weft_now(p->comp),
	};
}

static void trace_txn(const struct weft_comp *bus, const struct weft_comp *dev,
		      const struct weft_bus_note *n)
{
	const struct weft_bus_txn *t = n->txn;
	bool read = t->op == WEFT_BUS_READ;

	if (n->kind == WEFT_NOTE_DONE) {
		weft_mark(bus, t->trace_id,
			  read ? "DMA read: data" : "DMA write: data", n->time);
		weft_span(dev, read ? "dma_read" : "dma_write", WEFT_TRACE_ONE,
			  read ? "read" : "write", t->bytes, t->t_req, n->time);
		if (t->trace_last)
			weft_msg_end(dev, t->trace_id, true);
		return;
	}
	weft_mark(dev, t->trace_id, read ? "asks to read" : "asks to write",
		  t->t_req);
	if (n->frame && n->frame < n->time)
		weft_mark(bus, t->trace_id,
			  n->kind == WEFT_NOTE_BURST && read
				  ? "DMA read: memory"
			  : t->splits > 1 ? "DMA read: tries again"
					  : "waits for the bus",
			  n->frame);
	if (n->kind == WEFT_NOTE_SPLIT)
		weft_mark(bus, t->trace_id,
			  t->splits > 1 ? "DMA read: tries again"
					: "DMA read: request",
			  n->time);
	else if (n->data_end)
		weft_mark(bus, t->trace_id,
			  read ? "DMA read: data" : "DMA write: data",
			  n->data_end);
}

void trace_note(const struct weft_port *p, const struct weft_bus_note *n)
{
	const struct weft_comp *bus = p->peer->comp;

	if (bus->cls->kind != WEFT_KIND_BUS)
		return;
	if (n->kind <= WEFT_NOTE_DONE)
		trace_txn(bus, p->comp, n);
	else if (n->kind == WEFT_NOTE_MEM_WRITE)
		weft_mark(p->comp, n->trace_id, "into memory", n->time);
}

void trace_frame(const struct weft_port *p, const struct weft_frame *f,
		 weft_time_t start)
{
	const struct weft_comp *c = p->comp;
	bool through = c->cls->kind == WEFT_KIND_SWITCH;

	weft_span(c, p->name, WEFT_TRACE_ONE, "frame", f->words, start,
		  start + f->words * f->word_fs);
	if (!(f->trace_id & TRACE_ID))
		return;
	weft_mark(c, f->trace_id,
		  through ? "through the switch" : "waits for the line", start);
	weft_mark(p->link ? p->link : c, f->trace_id, "cable",
		  start + p->delay);
}
