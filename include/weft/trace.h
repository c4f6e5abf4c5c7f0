/* SPDX-License-Identifier: Apache-2.0 */
/* Looking inside: what components tell those who listen to a run.
 *
 * A message has a number from the host's access that begins it to the last
 * thing its NIC does for it; transactions (weft_bus_txn.trace_id) and frames
 * (weft_frame.trace_id) carry it on, 0 = nobody asks.  weft_mark says what the
 * time of the message up to t was spent with, since the mark before it; so the
 * stages of a message add up to its time whoever marks.  The kernel marks what
 * the bus does for a transaction and where a frame leaves and arrives.
 *
 * Times may lie ahead of now.  Texts are constants, or live as long as the
 * component.  Nothing here changes what happens in a run, and as long as nobody
 * listens a call is the test of a flag. */
#ifndef WEFT_TRACE_H
#define WEFT_TRACE_H

#include "weft/sim.h"

WEFT_C_BEGIN

enum weft_trace_kind {
	WEFT_TRACE_OPEN,  /* message id begins at `from`; parent = value */
	WEFT_TRACE_MARK,  /* stage `name` of id is over at `to` */
	WEFT_TRACE_END,	  /* id is over; value: it has arrived */
	WEFT_TRACE_SPAN,  /* track `name` does `text` (value) from..to */
	WEFT_TRACE_STATE, /* machine `name` is in state `text` from `from` on */
	WEFT_TRACE_LEVEL, /* queue `name` holds `value` from `from` on */
	WEFT_TRACE_SENT,  /* a program begins a message to node value */
	WEFT_TRACE_GOT,	  /* a program has one from node value */
};

struct weft_trace {
	enum weft_trace_kind kind;
	uint32_t index; /* of several tracks or queues; WEFT_TRACE_ONE */
	const struct weft_comp *comp;
	uint64_t id, value;
	const char *name, *text;
	weft_time_t from, to;
};
#define WEFT_TRACE_ONE UINT32_MAX
/* The track of a process's calls (index: its rank); its spans may lie within
 * each other, inner ones are told first. */
#define WEFT_TRACE_CALLS "rank"

/* Embedded by who listens. */
struct weft_listener {
	void (*hear)(struct weft_listener *l, const struct weft_trace *t);
	/* Mask of kinds, 1 << WEFT_TRACE_*: what it wants to hear of c; the
	 * rest may come, too.  NULL: all. */
	uint8_t (*wants)(const struct weft_comp *c);
	struct weft_listener *next;
};
/* From now on, for as long as the simulation lives. */
void weft_sim_listen(struct weft_sim *sim, struct weft_listener *l);

static inline bool weft_heard(const struct weft_comp *c)
{
	return __builtin_expect(c->heard != 0, 0);
}
static inline bool weft_heard_kind(const struct weft_comp *c,
				   enum weft_trace_kind kind)
{
	return __builtin_expect(c->heard & 1u << kind, 0);
}
/* The same for what is said of one message; 0 as long as nobody listens. */
static inline bool weft_told(const struct weft_comp *c, uint64_t id)
{
	return __builtin_expect(id != 0, 0) && weft_heard(c);
}

/* The rest of the functions below; called when somebody listens, and kept out
 * of the way of those to whom nobody does. */
#define WEFT_COLD __attribute__((cold, noinline))
WEFT_COLD void weft_trace_tell(const struct weft_trace *t);
WEFT_COLD uint64_t weft_trace_open(const struct weft_comp *c, uint64_t parent);
WEFT_COLD void weft_trace_mark(const struct weft_comp *c, uint64_t id,
			       const char *stage, weft_time_t t);
WEFT_COLD void weft_trace_end(const struct weft_comp *c, uint64_t id,
			      bool arrived);
WEFT_COLD void weft_trace_span(const struct weft_comp *c, const char *track,
			       uint32_t index, const char *text, uint64_t value,
			       weft_time_t from, weft_time_t to);
WEFT_COLD void weft_trace_state(const struct weft_comp *c, const char *machine,
				uint32_t index, const char *state,
				weft_time_t t);
WEFT_COLD void weft_trace_level(const struct weft_comp *c, const char *queue,
				uint32_t index, uint64_t level, weft_time_t t);
/* A program has begun (SENT) or seen (GOT) a message. */
WEFT_COLD void weft_trace_program(const struct weft_comp *c,
				  enum weft_trace_kind kind, uint32_t node,
				  weft_time_t t);

/* A new message, from the event in which c took the host's access that begins
 * it (the way of that access to the device is its first stage). */
static inline uint64_t weft_msg_open(const struct weft_comp *c)
{
	return weft_heard(c) ? weft_trace_open(c, 0) : 0;
}
/* One part of several of a message: has all its marks so far. */
static inline uint64_t weft_msg_fork(const struct weft_comp *c, uint64_t id)
{
	return weft_told(c, id) ? weft_trace_open(c, id) : 0;
}
static inline void weft_mark(const struct weft_comp *c, uint64_t id,
			     const char *stage, weft_time_t t)
{
	if (weft_told(c, id))
		weft_trace_mark(c, id, stage, t);
}
/* Nothing more will be said of it; arrived: all of it is where it had to go. */
static inline void weft_msg_end(const struct weft_comp *c, uint64_t id,
				bool arrived)
{
	if (weft_told(c, id))
		weft_trace_end(c, id, arrived);
}
static inline void weft_span(const struct weft_comp *c, const char *track,
			     uint32_t index, const char *text, uint64_t value,
			     weft_time_t from, weft_time_t to)
{
	if (weft_heard_kind(c, WEFT_TRACE_SPAN))
		weft_trace_span(c, track, index, text, value, from, to);
}
/* State: one word.  Of several machines of a kind the one of this number. */
static inline void weft_state_at(const struct weft_comp *c, const char *machine,
				 uint32_t index, const char *state,
				 weft_time_t t)
{
	if (weft_heard_kind(c, WEFT_TRACE_STATE))
		weft_trace_state(c, machine, index, state, t);
}
static inline void weft_state(const struct weft_comp *c, const char *machine,
			      const char *state, weft_time_t t)
{
	weft_state_at(c, machine, WEFT_TRACE_ONE, state, t);
}
static inline void weft_level(const struct weft_comp *c, const char *queue,
			      uint32_t index, uint64_t level, weft_time_t t)
{
	if (weft_heard_kind(c, WEFT_TRACE_LEVEL))
		weft_trace_level(c, queue, index, level, t);
}
/* Programs: the message that c began at t; the one that it saw at t.  In one
 * direction between two nodes they come in the order in which they went. */
static inline void weft_sent(const struct weft_comp *c, uint32_t to,
			     weft_time_t t)
{
	if (weft_heard(c))
		weft_trace_program(c, WEFT_TRACE_SENT, to, t);
}
static inline void weft_got(const struct weft_comp *c, uint32_t from,
			    weft_time_t t)
{
	if (weft_heard(c))
		weft_trace_program(c, WEFT_TRACE_GOT, from, t);
}

WEFT_C_END

#endif
