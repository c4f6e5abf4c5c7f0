/* SPDX-License-Identifier: Apache-2.0 */
/* The simulation: components, ports, events, frames.
 *
 * Order.  Simultaneous events run by (phase, component id, tag): phase 0 are
 * arrivals, phase 1 wake-ups.  Ids follow from component names, never from the
 * order of construction, so the result of a run is a function of the experiment
 * and its seed alone.  Frames that reach one port at the same time keep the
 * order in which they were sent.  A message from one component to another takes
 * at least one femtosecond (asserted): a component sees in phase 1 of time t
 * everything that was sent to arrive at t, and nothing else. */
#ifndef WEFT_SIM_H
#define WEFT_SIM_H

#include "weft/component.h"
#include "weft/frame.h"
#include "weft/rng.h"

WEFT_C_BEGIN

/* ---- ports ---- */

/* A receiver's answer to a note that it gets ahead of the note's time. */
enum weft_told {
	WEFT_TOLD_POST,	 /* queue it, with an arrival at its time */
	WEFT_TOLD_QUIET, /* queue it: the receiver polls the queue by itself */
	WEFT_TOLD_TAKEN, /* drop it: the receiver has all it needs */
};

/* An observer of the frames that leave through a port (weft_wire.tells): a
 * capture.  It is not part of the line. */
struct weft_port;
struct weft_line_listener {
	/* Called for each frame on the line from `start` on, in the order of
	 * the line.  An owner that computes frames late, or plans them, calls
	 * late, or ahead of time. */
	void (*hear)(struct weft_line_listener *t, const struct weft_frame *f,
		     weft_time_t start);
	/* Set by the owner of the port: reports all frames that were on the
	 * line before now, unless such a report is under way. */
	void (*settle)(struct weft_port *p);
};

struct weft_port {
	struct weft_comp *comp; /* owner */
	uint32_t index;		/* among the owner's ports, = arrival tag */
	enum weft_port_kind kind;
	const struct weft_port_decl *decl;
	struct weft_port *peer; /* NULL: not connected */
	struct weft_comp *link; /* KIND_LINK instance on the cable, or NULL */
	weft_time_t delay;	/* one way, to the peer; > 0 */
	struct weft_comp **filters; /* faults on the way out, in order */
	uint32_t n_filters;
	bool needs_frames; /* a filter wants real frames */
	/* set by the owner: frames may overlap in time, because they are on
	 * several lines of a bundle */
	bool beside;
	bool overlapped; /* frames overlapped without leave: reported once */
	struct weft_line_listener *listener; /* set before the start, or NULL */
	const void *iface; /* operations of the owner (bus ports) */
	void *notes;	   /* bus ports: queue of notes, see bus.h */
	/* Bus ports: called when a note is sent, ahead of its time, and
	 * returns what becomes of it; NULL: the note arrives at its time.  See
	 * bus.h. */
	enum weft_told (*told)(struct weft_port *p,
			       const struct weft_bus_note *note);
	/* Frames in flight to this port, in order of arrival: a ring. */
	struct {
		struct weft_frame **at;
		uint32_t head, tail, mask;
	} in;
	/* Volume that left through this port. */
	uint64_t out_frames, out_words;
	weft_time_t out_busy;
	weft_time_t out_end; /* of the last frame on the line ... */
	weft_time_t out_run; /* ... and of those before it without a gap, time
			      * on the line */
	char name[24];
};

/* A running component.  `state` holds class->state_size zeroed bytes in which
 * the parameters were stored. */
struct weft_comp {
	struct weft_sim *sim;
	const struct weft_class *cls;
	void *state;
	uint64_t *counters; /* cls->n_counters of them */
	struct weft_port *ports;
	uint32_t n_ports;
	uint32_t id;   /* valid from start() on */
	uint8_t heard; /* kinds that listeners want, see weft/trace.h */
	struct weft_rng rng;
	uint64_t *regs;		 /* register file, see weft_reg_* */
	struct weft_comp *owner; /* a program's host, or NULL */
	struct weft_port *on;	 /* KIND_FAULT: the port it sits on */
	uint32_t on_index;	 /* ... and its index among the filters there */
	const struct reg_map *regmap;
	bool inited;
	char *name; /* "n3.nic" */
};

/* Returns zeroed memory near the component's state, in lines of 64 bytes.  It
 * lasts as long as the component and cannot be freed: for tables whose size the
 * parameters give.  Running out of memory ends the program. */
void *weft_comp_alloc(struct weft_comp *c, size_t bytes);

/* Returns the port of c called `name`, or NULL. */
struct weft_port *weft_port_find(struct weft_comp *c, const char *name);

/* Sends f out of p; its first word is on the line at `start` (>= now). Gives f
 * away. It arrives at the peer at start + delay: ops.arrive, phase 0. A line
 * carries one frame at a time, therefore keep the time at which it is free
 * (words * word_fs after the start); a frame that begins before is a failed
 * check of the run, unless weft_port.beside is set. */
void weft_port_send(struct weft_port *p, struct weft_frame *f,
		    weft_time_t start);
/* Returns how much of out_busy lies behind now, because weft_port_send counts a
 * frame when it is sent, with all of its time on the line. */
weft_time_t weft_port_ahead(const struct weft_port *p);
/* Hands a frame on to the next filter of the port, or to the peer.  Call from
 * ops.filter; gives f away. */
void weft_filter_pass(struct weft_comp *filter, struct weft_frame *f);

/* ---- events ---- */

/* First member of struct weft_sim. */
struct weft_listener;
struct weft_sim_head {
	weft_time_t now;
	struct weft_listener *listeners; /* weft/trace.h; NULL: none */
};
/* Returns the time of the event that runs. */
static inline weft_time_t weft_now(const struct weft_comp *c)
{
	return ((const struct weft_sim_head *)c->sim)->now;
}
/* Calls ops.event(c, tag) at time t >= now, phase 1.  From phase 1 and with t
 * == now the event runs after the current one.  tag < 2^16. */
void weft_wake(struct weft_comp *c, uint32_t tag, weft_time_t t);
/* Wakes an observer: as weft_wake, but the event is dropped when no other event
 * is left, so that observing does not prolong a run.  At most one of a tag may
 * be pending. */
void weft_watch(struct weft_comp *c, uint32_t tag, weft_time_t t);
/* Calls ops.arrive(dst, tag, NULL) at time t > now, phase 0: how one component
 * pokes another without a frame.  tag < 2^16; ports use 0..n_ports-1. */
void weft_post(struct weft_comp *dst, uint32_t tag, weft_time_t t);

/* A timer has one live wake-up: an earlier time supersedes a later one, whose
 * event is ignored.  All zeros: not set. */
struct weft_timer {
	weft_time_t at;	   /* + 1; 0 = not set */
	weft_time_t stale; /* + 1: a superseded wake-up, used again if it can */
};
/* Ensures that ops.event(c, tag) runs at t or earlier. */
void weft_timer_arm(struct weft_comp *c, struct weft_timer *tm, uint32_t tag,
		    weft_time_t t);
/* Returns true, and clears the timer, when it is due now; false for the event
 * of a superseded or cancelled wake-up. Call it first in the event, because
 * such events still run. */
bool weft_timer_due(struct weft_comp *c, struct weft_timer *tm);
/* Clears the timer.  Its event still runs, and weft_timer_due is false in it.
 */
static inline void weft_timer_cancel(struct weft_timer *tm)
{
	if (tm->at)
		tm->stale = tm->at;
	tm->at = 0;
}

/* Adds n to counter i of c's class. */
static inline void weft_count(struct weft_comp *c, uint32_t i, uint64_t n)
{
	c->counters[i] += n;
}

/* ---- registers ---- */

/* Carries out a host's load of `size` bytes (1, 2, 4, 8), naturally aligned,
 * with its side effects (hooks of the row).  An 8-byte access of 32-bit
 * registers touches the pair.  Returns the value, little-endian; 0 at an offset
 * without a register. */
uint64_t weft_reg_load(struct weft_comp *c, uint8_t space, uint32_t off,
		       uint32_t size);
/* Carries out a host's store, with the masks and hooks of the row.  A store to
 * an offset without a register is ignored. */
void weft_reg_store(struct weft_comp *c, uint8_t space, uint32_t off,
		    uint32_t size, uint64_t val);
/* Returns the cell of a register by its index in cls->regs, and of an array by
 * element: the device's own view, without hooks and masks.  It lasts as long as
 * the component. */
uint64_t *weft_reg_cell(struct weft_comp *c, uint32_t reg, uint32_t index);
/* Sets all registers to the reset values of their rows, without hooks. */
void weft_reg_reset(struct weft_comp *c);

/* ---- measurement ---- */

/* Sets a named result of the run, e.g. ("bandwidth", "MiB/s", 286.5).  Its name
 * in results is "<component>.<name>"; a second value overwrites the first. */
void weft_metric(struct weft_comp *c, const char *name, const char *unit,
		 double value);
/* Appends one point to the curve "<component>.<series>". */
void weft_series_add(struct weft_comp *c, const char *series,
		     const char *x_unit, const char *y_unit, double x,
		     double y);
/* Returns the histogram "<component>.<name>", made at the first call. The
 * handle is valid for the whole run, so that a hot loop keeps it and calls
 * weft_hist_put without a search. */
struct weft_hist;
struct weft_hist *weft_hist(struct weft_comp *c, const char *name,
			    const char *unit);
/* Puts a value into a histogram. */
void weft_hist_put(struct weft_hist *h, double value);
/* Removes all values, so that those of a warm-up do not count. */
void weft_hist_clear(struct weft_hist *h);
/* Puts a value into the histogram "<component>.<name>". For rare values,
 * because it costs a search by name. */
void weft_hist_add(struct weft_comp *c, const char *name, const char *unit,
		   double value);
/* Reports that a check of the model or program failed: recorded and shown, and
 * the exit status is 1. The run goes on, so that later failures are found
 * too. */
void weft_check_failed(struct weft_comp *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- building and running (front ends and tests) ---- */

/* Returns an empty simulation, which the caller frees.  All random streams of
 * its components follow from seed and their names. */
struct weft_sim *weft_sim_new(uint64_t seed);
/* Frees the simulation with its components, frames and result. */
void weft_sim_free(struct weft_sim *sim);
/* Creates a component with default parameters; before weft_sim_start only.
 * weft_sim_start refuses two of one name.  Returns it, owned by the simulation,
 * or NULL with a message in err when the class was built for another interface
 * or a default is wrong. */
struct weft_comp *weft_sim_add(struct weft_sim *sim,
			       const struct weft_class *cls, const char *name,
			       struct weft_err *err);
/* Returns the component called `name`, or NULL. */
struct weft_comp *weft_sim_find(struct weft_sim *sim, const char *name);
/* Returns the number of components. */
uint32_t weft_sim_count(const struct weft_sim *sim);
/* Returns component i, or NULL beyond the last: in the order in which they were
 * added, and by name from weft_sim_start on. */
struct weft_comp *weft_sim_at(const struct weft_sim *sim, uint32_t i);
/* Sets a parameter from text as an experiment has it ("12.8ns", "4KiB"); before
 * weft_comp_init only.  Returns 0, -ENOENT (no such parameter: the message
 * names the nearest one) or -EINVAL (not a value of its type and range). */
int weft_param_set(struct weft_comp *c, const char *param, const char *value,
		   struct weft_err *err);
/* Sets all parameters of a preset of c's class.  Returns 0, -ENOENT (no such
 * preset: the message names the nearest one) or -EINVAL (a value of it is
 * wrong). */
int weft_preset_apply(struct weft_comp *c, const char *preset,
		      struct weft_err *err);
/* Writes a parameter's value as canonical text, cut off at size.  Returns the
 * length of all of it, or -ENOENT when there is no such parameter. */
int weft_param_get(const struct weft_comp *c, const char *param, char *buf,
		   size_t size);
/* Makes parameters final, creates the ports and runs ops.init.  Returns 0, or a
 * negative errno with a message in err. */
int weft_comp_init(struct weft_comp *c, struct weft_err *err);
/* Joins two ports by a cable.  `link` (KIND_LINK, initialised) gives the delay
 * through its public head `struct weft_link_state`; without one `delay` does.
 * Returns 0, -EBUSY (a port has a cable already) or -EINVAL (kinds or wires
 * that do not fit, a port with itself, no delay), with a message in err. */
int weft_connect(struct weft_port *a, struct weft_port *b,
		 struct weft_comp *link, weft_time_t delay,
		 struct weft_err *err);
/* Puts a fault on the frames that leave through p, behind those that are there;
 * on a bus port, between p and its peer.  Returns 0, -EBUSY (the fault sits on
 * another port) or -EINVAL (not a fault, or not one for this wire). */
int weft_filter_add(struct weft_port *p, struct weft_comp *fault,
		    struct weft_err *err);
/* First member of the state of every KIND_LINK class. */
struct weft_link_state {
	weft_time_t delay; /* one way, set by init */
};
/* Assigns ids in the order of names and runs ops.start.  Returns 0, -EEXIST
 * (two components of one name), -EINVAL (a port that needs a cable has none) or
 * what ops.start returns. */
int weft_sim_start(struct weft_sim *sim, struct weft_err *err);
/* Runs events up to and including `until`, or until none is left, or until
 * weft_sim_stop.  Returns the number of events run. */
uint64_t weft_sim_run(struct weft_sim *sim, weft_time_t until);
/* Runs events as weft_sim_run does and returns their number, but the clock
 * stays at the last event when none is left: a run made in steps ends at the
 * time at which it ends in one. */
uint64_t weft_sim_step(struct weft_sim *sim, weft_time_t until);
/* Ends the run behind the event that runs. */
void weft_sim_stop(struct weft_sim *sim);
/* Lets a gate outside decide when time passes, because attached processes run
 * in real time. The kernel calls fn when no event is left at the present time
 * (idle: none at all). fn may sleep, and may add events at the present time. It
 * returns true when the kernel is to look for events again; false when time may
 * pass or, when idle, the run ends. NULL removes the gate. */
typedef bool (*weft_gate_fn)(void *arg, bool idle);
void weft_sim_set_gate(struct weft_sim *sim, weft_gate_fn fn, void *arg);
/* Returns true when there is a gate: then a run does not end because no event
 * is left. */
bool weft_sim_gated(const struct weft_sim *sim);
/* Returns true when weft_sim_stop ended the last run. */
bool weft_sim_stopped(const struct weft_sim *sim);
/* Brings all counters up to date (ops.sample); between runs. */
void weft_sim_sample(struct weft_sim *sim);
/* Returns the present time. */
weft_time_t weft_sim_now(const struct weft_sim *sim);
/* Returns the component whose event runs, or ran last; NULL before the first.
 */
struct weft_comp *weft_sim_current(const struct weft_sim *sim);
/* Returns the number of events run so far. */
uint64_t weft_sim_events(const struct weft_sim *sim);
/* Returns true when no event is left but those of weft_watch. */
bool weft_sim_idle(const struct weft_sim *sim);
/* Runs ops.finish of all components and collects the result.  Returns 0, or a
 * negative errno with a message: the first that ops.finish returned, or -EPROTO
 * when an idle simulation still holds frames or payloads, which a model lost.
 */
int weft_sim_finish(struct weft_sim *sim, struct weft_err *err);
/* Returns the result, which belongs to the simulation. */
struct weft_result;
struct weft_result *weft_sim_result(struct weft_sim *sim);
/* Chooses whether payload bytes are carried (they are by default), or sizes and
 * times only. */
void weft_sim_set_payload(struct weft_sim *sim, bool carried);
/* Returns true when payload bytes are carried. */
bool weft_sim_payload(const struct weft_sim *sim);

WEFT_C_END

#endif
