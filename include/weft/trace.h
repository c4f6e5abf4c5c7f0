/* SPDX-License-Identifier: Apache-2.0 */
/* Observation: components report messages, activities and states to listeners
 * (`weft explain`, timelines, waveforms).
 *
 * A message has a number from the host access that begins it to the last
 * action of a NIC for it; transactions (weft_bus_txn.trace_id) and frames
 * (weft_frame.trace_id) carry it, 0 when no listener asked.  weft_mark names
 * what a message's time was spent with since its previous mark, so its stages
 * add up to its time whichever components mark.  The kernel marks what the bus
 * does for a transaction, and departures and arrivals of frames.
 *
 * Times may lie ahead of now.  Texts are constants, or live as long as the
 * component.  Nothing here changes a run; without a listener each call costs
 * the test of a flag. */
#ifndef WEFT_TRACE_H
#define WEFT_TRACE_H

#include "weft/sim.h"

WEFT_C_BEGIN

enum weft_trace_kind {
	WEFT_TRACE_OPEN,  /* message id begins at `from`; parent = value */
	WEFT_TRACE_MARK,  /* stage `name` of id ends at `to` */
	WEFT_TRACE_END,	  /* message id ends; value 1: it has arrived */
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
/* The track of a process's calls (index: its rank).  Its spans may lie within
 * each other; inner ones are reported first. */
#define WEFT_TRACE_CALLS "rank"

/* A listener embeds this first. */
struct weft_listener {
	/* Called for each record, in the order of reports.  t and its texts
	 * last until the call returns. */
	void (*hear)(struct weft_listener *l, const struct weft_trace *t);
	/* Returns the kinds that the listener wants of c, as a mask of
	 * 1 << WEFT_TRACE_*; others may come, too.  NULL: all. */
	uint8_t (*wants)(const struct weft_comp *c);
	struct weft_listener *next;
};
/* Adds a listener, from now to the end of the simulation.  l belongs to the
 * caller and must last as long. */
void weft_sim_listen(struct weft_sim *sim, struct weft_listener *l);

/* Returns true when a listener wants any record of c. */
static inline bool weft_heard(const struct weft_comp *c)
{
	return __builtin_expect(c->heard != 0, 0);
}
/* Returns true when a listener wants records of this kind from c. */
static inline bool weft_heard_kind(const struct weft_comp *c,
				   enum weft_trace_kind kind)
{
	return __builtin_expect(c->heard & 1u << kind, 0);
}
/* Returns true when message id has a number and a listener wants records of
 * c. */
static inline bool weft_told(const struct weft_comp *c, uint64_t id)
{
	return __builtin_expect(id != 0, 0) && weft_heard(c);
}

/* Out-of-line parts of the functions below, called only with a listener, so
 * that the path without one stays short.  They take the arguments of weft_span
 * and its like; weft_trace_open returns the number of the new message. */
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
WEFT_COLD void weft_trace_program(const struct weft_comp *c,
				  enum weft_trace_kind kind, uint32_t node,
				  weft_time_t t);

/* Begins a message.  Call in the event in which c takes the host access that
 * starts it: the way of this access to the device is its first stage.  Returns
 * its number, or 0 without a listener. */
static inline uint64_t weft_msg_open(const struct weft_comp *c)
{
	return weft_heard(c) ? weft_trace_open(c, 0) : 0;
}
/* Begins a part of message id, with all marks that id has so far: for a message
 * that leaves in several packets.  Returns its number, or 0 when id is 0. */
static inline uint64_t weft_msg_fork(const struct weft_comp *c, uint64_t id)
{
	return weft_told(c, id) ? weft_trace_open(c, id) : 0;
}
/* Says that message id spent its time since its previous mark, up to t, with
 * `stage`. */
static inline void weft_mark(const struct weft_comp *c, uint64_t id,
			     const char *stage, weft_time_t t)
{
	if (weft_told(c, id))
		weft_trace_mark(c, id, stage, t);
}
/* Ends message id: no record of it follows.  `arrived`: all of it has reached
 * its destination. */
static inline void weft_msg_end(const struct weft_comp *c, uint64_t id,
				bool arrived)
{
	if (weft_told(c, id))
		weft_trace_end(c, id, arrived);
}
/* Says that c's track `track` does `text` from..to, with a number to show. */
static inline void weft_span(const struct weft_comp *c, const char *track,
			     uint32_t index, const char *text, uint64_t value,
			     weft_time_t from, weft_time_t to)
{
	if (weft_heard_kind(c, WEFT_TRACE_SPAN))
		weft_trace_span(c, track, index, text, value, from, to);
}
/* Says that from t on state machine number `index` of several is in `state`, a
 * single word. */
static inline void weft_state_at(const struct weft_comp *c, const char *machine,
				 uint32_t index, const char *state,
				 weft_time_t t)
{
	if (weft_heard_kind(c, WEFT_TRACE_STATE))
		weft_trace_state(c, machine, index, state, t);
}
/* Says that from t on the state machine of this name is in `state`. */
static inline void weft_state(const struct weft_comp *c, const char *machine,
			      const char *state, weft_time_t t)
{
	weft_state_at(c, machine, WEFT_TRACE_ONE, state, t);
}
/* Says that from t on queue number `index` of this name holds `level`. */
static inline void weft_level(const struct weft_comp *c, const char *queue,
			      uint32_t index, uint64_t level, weft_time_t t)
{
	if (weft_heard_kind(c, WEFT_TRACE_LEVEL))
		weft_trace_level(c, queue, index, level, t);
}
/* Says that program c began a message to a node at t. Messages of one direction
 * between two nodes must be seen in the order in which they began, because they
 * are matched by order. */
static inline void weft_sent(const struct weft_comp *c, uint32_t to,
			     weft_time_t t)
{
	if (weft_heard(c))
		weft_trace_program(c, WEFT_TRACE_SENT, to, t);
}
/* Says that program c saw a message from a node at t. */
static inline void weft_got(const struct weft_comp *c, uint32_t from,
			    weft_time_t t)
{
	if (weft_heard(c))
		weft_trace_program(c, WEFT_TRACE_GOT, from, t);
}

WEFT_C_END

#endif
