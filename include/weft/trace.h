/* SPDX-License-Identifier: Apache-2.0 */
/* Observation: components report messages, activities and states to listeners
 * (`weft explain`, timelines, waveforms).
 *
 * A message begins with a host access and ends with the last action that a NIC
 * takes for the message. Each message has a number. Transactions
 * (weft_bus_txn.trace_id) and frames (weft_frame.trace_id) carry this number,
 * or 0 without a listener. weft_mark names the stage of a message in the time
 * since its previous mark. Therefore the stages of a message add up to its
 * time, whichever components set the marks. The kernel marks the stages of bus
 * transactions, and departures and arrivals of frames.
 *
 * Times may be later than now. Texts are constants, or live as long as the
 * component. No function of this header changes a run. Without a listener each
 * call costs the test of a flag. */
#ifndef WEFT_TRACE_H
#define WEFT_TRACE_H

#include "weft/sim.h"

WEFT_C_BEGIN

enum weft_trace_kind {
	WEFT_TRACE_OPEN,  /* message `id` begins at `from`; `value` is the id of
			   * its parent message */
	WEFT_TRACE_MARK,  /* stage `name` of message `id` ends at `to` */
	WEFT_TRACE_END,	  /* message `id` ends; `value` is 1 if the message has
			   * arrived */
	WEFT_TRACE_SPAN,  /* track `name` shows activity `text` with number
			   * `value` in from..to */
	WEFT_TRACE_STATE, /* machine `name` is in state `text` from `from` on */
	WEFT_TRACE_LEVEL, /* queue `name` holds `value` from `from` on */
	WEFT_TRACE_SENT,  /* a program sends a message to node number `value` */
	WEFT_TRACE_GOT,	  /* a program has received a message from node number
			   * `value` */
};

struct weft_trace {
	enum weft_trace_kind kind;
	uint32_t index; /* number among several tracks or queues, or
			 * WEFT_TRACE_ONE */
	const struct weft_comp *comp;
	uint64_t id, value;
	const char *name, *text;
	weft_time_t from, to;
};
#define WEFT_TRACE_ONE UINT32_MAX
/* Track of the calls of a process (index: its rank). Spans of this track may be
 * nested, and inner spans are reported first. */
#define WEFT_TRACE_CALLS "rank"

/* A listener. It is the first member of the listener's own struct. */
struct weft_listener {
	/* Called for each record, in the order of reports. t and its texts are
	 * valid until the call returns. */
	void (*hear)(struct weft_listener *l, const struct weft_trace *t);
	/* Returns the kinds that the listener wants of c, as a mask of 1 <<
	 * WEFT_TRACE_*. Records of other kinds may be reported, too. NULL: all
	 * kinds. */
	uint8_t (*wants)(const struct weft_comp *c);
	struct weft_listener *next;
};
/* Adds a listener until the end of the simulation. l belongs to the caller and
 * must live as long as the simulation. */
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
/* Returns true when id is the number of a message and a listener wants records
 * of c. */
static inline bool weft_told(const struct weft_comp *c, uint64_t id)
{
	return __builtin_expect(id != 0, 0) && weft_heard(c);
}

/* Parts of the functions below that run only with a listener. They are not
 * inline, so that the path without a listener stays short. Most take the
 * arguments of the inline function that calls them. weft_trace_open returns the
 * number of the new message. */
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

/* Begins a message. Called in the event in which c receives the host access
 * that starts the message, because the first stage of the message is the path
 * of this access to the device. Returns the message's number, or 0 without a
 * listener. */
static inline uint64_t weft_msg_open(const struct weft_comp *c)
{
	return weft_heard(c) ? weft_trace_open(c, 0) : 0;
}
/* Begins a part of message id, for a message that leaves in several packets.
 * The part gets all marks that message `id` has so far. Returns the number of
 * the part, or 0 when id is 0. */
static inline uint64_t weft_msg_fork(const struct weft_comp *c, uint64_t id)
{
	return weft_told(c, id) ? weft_trace_open(c, id) : 0;
}
/* Reports that message id was in `stage` from its previous mark to t. */
static inline void weft_mark(const struct weft_comp *c, uint64_t id,
			     const char *stage, weft_time_t t)
{
	if (weft_told(c, id))
		weft_trace_mark(c, id, stage, t);
}
/* Ends message id. No further record belongs to the message. `arrived` is true
 * when the whole message has reached its destination. */
static inline void weft_msg_end(const struct weft_comp *c, uint64_t id,
				bool arrived)
{
	if (weft_told(c, id))
		weft_trace_end(c, id, arrived);
}
/* Reports an activity `text` on track `track` of c in from..to. `value` is a
 * number to show. */
static inline void weft_span(const struct weft_comp *c, const char *track,
			     uint32_t index, const char *text, uint64_t value,
			     weft_time_t from, weft_time_t to)
{
	if (weft_heard_kind(c, WEFT_TRACE_SPAN))
		weft_trace_span(c, track, index, text, value, from, to);
}
/* Reports that state machine `machine` number `index` is in `state` (a single
 * word) from t on. */
static inline void weft_state_at(const struct weft_comp *c, const char *machine,
				 uint32_t index, const char *state,
				 weft_time_t t)
{
	if (weft_heard_kind(c, WEFT_TRACE_STATE))
		weft_trace_state(c, machine, index, state, t);
}
/* Reports that state machine `machine` is in `state` from t on. */
static inline void weft_state(const struct weft_comp *c, const char *machine,
			      const char *state, weft_time_t t)
{
	weft_state_at(c, machine, WEFT_TRACE_ONE, state, t);
}
/* Reports that queue `queue` number `index` has fill level `level` from t
 * on. */
static inline void weft_level(const struct weft_comp *c, const char *queue,
			      uint32_t index, uint64_t level, weft_time_t t)
{
	if (weft_heard_kind(c, WEFT_TRACE_LEVEL))
		weft_trace_level(c, queue, index, level, t);
}
/* Reports that program c began a message to a node at t. Listeners match
 * weft_sent and weft_got of two nodes by their order, so programs must call
 * both functions in the order of the messages. */
static inline void weft_sent(const struct weft_comp *c, uint32_t to,
			     weft_time_t t)
{
	if (weft_heard(c))
		weft_trace_program(c, WEFT_TRACE_SENT, to, t);
}
/* Reports that program c received a message from a node at t. */
static inline void weft_got(const struct weft_comp *c, uint32_t from,
			    weft_time_t t)
{
	if (weft_heard(c))
		weft_trace_program(c, WEFT_TRACE_GOT, from, t);
}

WEFT_C_END

#endif
