/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of bus notes: contract in weft/bus.h. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim_internal.h"
#include "weft/bus.h"
#include "weft/trace.h"

struct note_queue {
	uint32_t head, tail, mask;
	struct weft_bus_note *note;
};

static struct note_queue *queue_of(struct weft_port *p)
{
	if (!p->notes)
		p->notes = calloc(1, sizeof(struct note_queue));
	assert(p->notes);
	return p->notes;
}

/* Only notes about host accesses carry bytes in data[]. */
static inline void note_copy(struct weft_bus_note *to,
			     const struct weft_bus_note *from)
{
	memcpy(to, from, offsetof(struct weft_bus_note, data));
	if (from->kind == WEFT_NOTE_STORE || from->kind == WEFT_NOTE_LOADED ||
	    from->kind >= WEFT_NOTE_TAGGED)
		memcpy(to->data, from->data, sizeof(to->data));
}

static void queue_grow(struct note_queue *q)
{
	uint32_t n = q->tail - q->head, cap = n ? n * 2 : 4;
	struct weft_bus_note *a = malloc(cap * sizeof(*a));

	assert(a);
	for (uint32_t i = 0; i < n; i++)
		a[i] = q->note[(q->head + i) & q->mask];
	free(q->note);
	q->note = a;
	q->mask = cap - 1;
	q->head = 0;
	q->tail = n;
}

static inline __attribute__((always_inline)) void
queue_add(struct note_queue *q, const struct weft_bus_note *note)
{
	uint32_t i;

	if (!q->note || q->tail - q->head > q->mask)
		queue_grow(q);
	/* An interrupt may be due before the end of a tenure told earlier. */
	for (i = q->tail; i != q->head; i--) {
		if (q->note[(i - 1) & q->mask].time <= note->time)
			break;
		q->note[i & q->mask] = q->note[(i - 1) & q->mask];
	}
	note_copy(&q->note[i & q->mask], note);
	q->tail++;
}

static inline __attribute__((always_inline)) void
tell(struct weft_port *p, const struct weft_bus_note *note)
{
	enum weft_told how = WEFT_TOLD_POST;

	if (p->comp->cls->ops.note) {
		p->comp->cls->ops.note(p->comp, p->index, note);
		return;
	}
	if (p->told)
		how = p->told(p, note);
	if (how == WEFT_TOLD_TAKEN)
		return;
	queue_add(queue_of(p), note);
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

	for (uint32_t i = q ? q->head : 0; q && i != q->tail; i++) {
		weft_time_t t = q->note[i & q->mask].time;

		if (t > weft_now(p->comp))
			weft_post(p->comp, p->index, t);
	}
}

uint32_t weft_bus_queued(const struct weft_port *p)
{
	const struct note_queue *q = p->notes;

	return q ? q->tail - q->head : 0;
}

bool weft_bus_left(struct weft_port *p, struct weft_bus_note *note_p)
{
	struct note_queue *q = p->notes;

	if (!q || q->head == q->tail)
		return false;
	note_copy(note_p, &q->note[q->head++ & q->mask]);
	return true;
}

bool weft_bus_next(struct weft_port *p, struct weft_bus_note *note_p)
{
	const struct note_queue *q = p->notes;

	if (!q || q->head == q->tail ||
	    q->note[q->head & q->mask].time > weft_now(p->comp))
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
	for (; q->head != q->tail; q->head++)
		weft_slice_drop(&q->note[q->head & q->mask].slice);
	free(q->note);
	free(q);
	p->notes = NULL;
}
