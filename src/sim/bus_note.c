/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of bus notes. Their contract is in weft/bus.h. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/ring.h"
#include "sim/sim_internal.h"
#include "weft/bus.h"
#include "weft/trace.h"

struct note_queue {
	RING(struct weft_bus_note);
};

/* Copies a note. Copies data[] only for host accesses, because other notes have
 * no bytes there. */
static inline void note_copy(struct weft_bus_note *to,
			     const struct weft_bus_note *from)
{
	memcpy(to, from, offsetof(struct weft_bus_note, data));
	if (from->kind == WEFT_NOTE_STORE || from->kind == WEFT_NOTE_LOADED ||
	    from->kind >= WEFT_NOTE_TAGGED)
		memcpy(to->data, from->data, sizeof(to->data));
}

static inline __attribute__((always_inline)) void
tell(struct weft_port *p, const struct weft_bus_note *note)
{
	enum weft_told how = WEFT_TOLD_POST;
	struct note_queue *q;

	if (p->comp->cls->ops.note) {
		p->comp->cls->ops.note(p->comp, p->index, note);
		return;
	}
	if (p->told)
		how = p->told(p, note);
	if (how == WEFT_TOLD_TAKEN)
		return;
	if (!p->notes)
		p->notes = calloc(1, sizeof(struct note_queue));
	q = p->notes;
	assert(q);
	/* The queue is sorted by time. A note that is queued later may be due
	 * earlier, because the bus queues the end of a tenure ahead of time. */
	note_copy(ring_insert(q, e, e->time <= note->time), note);
	if (how == WEFT_TOLD_POST)
		weft_post(p->comp, p->index, note->time);
}

WEFT_COLD static void tell_heard(struct weft_port *p,
				 const struct weft_bus_note *note)
{
	trace_note(p, note);
	tell(p, note);
}

void weft_bus_tell(struct weft_port *bus_port, const struct weft_bus_note *note)
{
	struct weft_port *p = bus_port->peer;

	if (weft_heard(p->comp))
		tell_heard(p, note);
	else
		tell(p, note);
}

void weft_bus_expect(struct weft_port *p)
{
	struct note_queue *q = p->notes;

	for (uint32_t i = 0; q && i < ring_count(q); i++) {
		weft_time_t t = ring_nth(q, i)->time;

		if (t > weft_now(p->comp))
			weft_post(p->comp, p->index, t);
	}
}

uint32_t weft_bus_queued(const struct weft_port *p)
{
	const struct note_queue *q = p->notes;

	return q ? ring_count(q) : 0;
}

bool weft_bus_left(struct weft_port *p, struct weft_bus_note *note_p)
{
	struct note_queue *q = p->notes;

	if (!q || ring_empty(q))
		return false;
	note_copy(note_p, ring_front(q));
	ring_pop(q);
	return true;
}

bool weft_bus_next(struct weft_port *p, struct weft_bus_note *note_p)
{
	const struct note_queue *q = p->notes;

	if (!q || ring_empty(q) || ring_front(q)->time > weft_now(p->comp))
		return false;
	weft_bus_left(p, note_p);
	if (weft_heard(p->comp))
		trace_access(p, note_p);
	return true;
}

void notes_fini(struct weft_port *p)
{
	struct note_queue *q = p->notes;

	if (!q)
		return;
	for (; !ring_empty(q); ring_pop(q))
		weft_slice_drop(&ring_front(q)->slice);
	ring_free(q);
	free(q);
	p->notes = NULL;
}
