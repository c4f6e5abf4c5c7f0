/* SPDX-License-Identifier: Apache-2.0 */
/* The simulation: components, ports, events, frames.
 *
 * Order. Simultaneous events run in the order of (phase, component id, tag).
 * Arrivals run in phase 0, wake-ups in phase 1. Ids follow from component
 * names, never from the order of construction, so the result of a run is a
 * function of the experiment and its seed alone. Frames that reach one port at
 * the same time keep the order in which they were sent. A message from one
 * component to another takes at least one femtosecond (asserted). Therefore in
 * phase 1 of time t a component has received everything that arrives at t or
 * earlier. */
#ifndef WEFT_SIM_H
#define WEFT_SIM_H

#include "weft/component.h"
#include "weft/frame.h"
#include "weft/rng.h"

WEFT_C_BEGIN

/* ---- ports ---- */

/* Result of a receiver's told(), which the bus calls before the note's time. */
enum weft_told {
	WEFT_TOLD_POST,	 /* the note is queued, and an arrival follows at its
			  * time */
	WEFT_TOLD_QUIET, /* the note is queued without an arrival: the receiver
			  * polls the queue */
	WEFT_TOLD_TAKEN, /* the note is dropped: the receiver has stored its
			  * content */
};

/* An observer of the frames that leave through a port (weft_wire.tells), such
 * as a capture. The observer is not a component. */
struct weft_port;
struct weft_line_listener {
	/* Called for each frame, in the order of frames on the line. The first
	 * word of the frame is on the line at `start`. `start` may be before or
	 * after now, because the owners of some ports compute frames late or
	 * plan frames ahead. */
	void (*hear)(struct weft_line_listener *t, const struct weft_frame *f,
		     weft_time_t start);
	/* Set by the owner of the port: reports all frames that were on the
	 * line before now. A call from inside `hear` does nothing. */
	void (*settle)(struct weft_port *p);
};

struct weft_port {
	struct weft_comp *comp; /* component that owns the port */
	uint32_t index;		/* number among the owner's ports, also the tag
				 * of arrivals */
	enum weft_port_kind kind;
	const struct weft_port_decl *decl;
	struct weft_port *peer; /* port at the other end of the cable; NULL: no
				 * cable */
	struct weft_comp *link; /* component (KIND_LINK) of the cable, or
				 * NULL */
	weft_time_t delay;	/* time from the first word on the line to its
				 * arrival at the peer; > 0 */
	struct weft_comp **filters; /* faults through which outgoing frames
				     * pass, in order */
	uint32_t n_filters;
	bool needs_frames; /* true when a filter needs real frames */
	/* Set by the owner: frames may overlap in time, because they use
	 * several lines of a bundle. */
	bool beside;
	bool overlapped; /* true when an overlap without `beside` was reported;
			  * later overlaps are not reported */
	struct weft_line_listener *listener; /* observer of frames, set before
					      * the start, or NULL */
	const void *iface; /* operations of the owner (bus ports) */
	void *notes;	   /* bus ports: queue of notes, see weft/bus.h */
	/* Bus ports: called when a note is sent, before its time. Returns how
	 * the bus treats the note. NULL: the note arrives at its time. See
	 * weft/bus.h. */
	enum weft_told (*told)(struct weft_port *p,
			       const struct weft_bus_note *note);
	/* Ring of frames in flight to this port, in order of arrival. */
	struct {
		struct weft_frame **at;
		uint32_t head, tail, mask;
	} in;
	/* Frames and words sent through this port so far, and their time on the
	 * line. */
	uint64_t out_frames, out_words;
	weft_time_t out_busy;
	weft_time_t out_end; /* time at which the last frame leaves the line */
	weft_time_t out_run; /* length of the busy period that ends at out_end;
			      * frames of a busy period follow each other
			      * without a gap */
	char name[24];
};

/* A running component. `state` holds class->state_size bytes, zeroed at first,
 * in which the parameters are stored. */
struct weft_comp {
	struct weft_sim *sim;
	const struct weft_class *cls;
	void *state;
	uint64_t *counters; /* cls->n_counters counters */
	struct weft_port *ports;
	uint32_t n_ports;
	uint32_t id;   /* rank in the order of events, valid from start() on */
	uint8_t heard; /* mask of the kinds of records that listeners want, see
			* weft/trace.h */
	struct weft_rng rng;
	uint64_t *regs;		 /* register file, see weft_reg_cell */
	struct weft_comp *owner; /* host of a program, or NULL */
	struct weft_port *on;	 /* port that the fault is on (KIND_FAULT) */
	uint32_t on_index;	 /* number of the fault among the filters of
				  * `on` (KIND_FAULT) */
	const struct reg_map *regmap;
	bool inited;
	char *name; /* name in the experiment: "n3.nic" */
};

/* Returns zeroed memory near the component's state, at a multiple of 64 bytes,
 * for tables whose size depends on parameters. The memory lives as long as the
 * component and cannot be freed. Ends the program when memory runs out. */
void *weft_comp_alloc(struct weft_comp *c, size_t bytes);

/* Returns the port of c called `name`, or NULL. */
struct weft_port *weft_port_find(struct weft_comp *c, const char *name);

/* Sends f out of p. The first word of f is on the line at `start` (>= now), and
 * f arrives at the peer at start + delay (ops.arrive, phase 0). The call takes
 * ownership of f. A line carries one frame at a time, so the sender must not
 * send before the line is free (words * word_fs after start). An overlap fails
 * a check of the run, unless weft_port.beside is set. */
void weft_port_send(struct weft_port *p, struct weft_frame *f,
		    weft_time_t start);
/* Returns the part of out_busy that belongs to the time after now, because
 * weft_port_send counts a frame's whole time on the line at once. */
weft_time_t weft_port_ahead(const struct weft_port *p);
/* Hands a frame to the next filter of the port, or to the peer. Called in
 * ops.filter. The call takes ownership of f. */
void weft_filter_pass(struct weft_comp *filter, struct weft_frame *f);

/* ---- events ---- */

/* First member of struct weft_sim, so that weft_now can be inline. */
struct weft_listener;
struct weft_sim_head {
	weft_time_t now;
	struct weft_listener *listeners; /* list of listeners (weft/trace.h);
					  * NULL: none */
};
/* Returns the time of the current event. */
static inline weft_time_t weft_now(const struct weft_comp *c)
{
	return ((const struct weft_sim_head *)c->sim)->now;
}
/* Calls ops.event(c, tag) at time t >= now, in phase 1. If phase 1 of t runs
 * already, the event runs after the current one. tag < 2^16. */
void weft_wake(struct weft_comp *c, uint32_t tag, weft_time_t t);
/* Wakes an observer as weft_wake does. The event is dropped when no other event
 * is left, so that observing does not prolong a run. At most one event of a tag
 * may be pending. */
void weft_watch(struct weft_comp *c, uint32_t tag, weft_time_t t);
/* Calls ops.arrive(dst, tag, NULL) at time t > now, in phase 0, so that a
 * component can poke another one without a frame. tag < 2^16; ports use
 * 0..n_ports-1. */
void weft_post(struct weft_comp *dst, uint32_t tag, weft_time_t t);

/* A timer has one live wake-up. An earlier time supersedes a later one, and the
 * event of the later one is ignored. All zeros: not set. */
struct weft_timer {
	weft_time_t at;	   /* time of the live wake-up + 1; 0 = not set */
	weft_time_t stale; /* time + 1 of a superseded wake-up, which is used
			    * again if the timer is set to this time */
};
/* Ensures that ops.event(c, tag) runs at t or earlier. */
void weft_timer_arm(struct weft_comp *c, struct weft_timer *tm, uint32_t tag,
		    weft_time_t t);
/* Returns true, and clears the timer, when it is due now. Returns false for the
 * event of a superseded or cancelled wake-up. The handler of the event calls
 * this function first, because events of superseded wake-ups still run. */
bool weft_timer_due(struct weft_comp *c, struct weft_timer *tm);
/* Clears the timer. Its event still runs, but weft_timer_due returns false in
 * it. */
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
 * and calls the hooks of the register's row. An access of 8 bytes to registers
 * of 32 bits covers two registers.  Returns the value, little-endian; 0 at an
 * offset without a register. */
uint64_t weft_reg_load(struct weft_comp *c, uint8_t space, uint32_t off,
		       uint32_t size);
/* Carries out a host's store with the masks and hooks of the register's row.
 * Ignores a store to an offset without a register. */
void weft_reg_store(struct weft_comp *c, uint8_t space, uint32_t off,
		    uint32_t size, uint64_t val);
/* Returns the cell of a register: `reg` is its row in cls->regs, `index` its
 * element in an array. The device reads and writes the cell without hooks and
 * masks. The cell lives as long as the component. */
uint64_t *weft_reg_cell(struct weft_comp *c, uint32_t reg, uint32_t index);
/* Sets all registers to the reset values of their rows, without hooks. */
void weft_reg_reset(struct weft_comp *c);

/* ---- measurement ---- */

/* Sets a named result of the run, e.g. ("bandwidth", "MiB/s", 286.5). Its name
 * in results is "<component>.<name>". A second value overwrites the first. */
void weft_metric(struct weft_comp *c, const char *name, const char *unit,
		 double value);
/* Appends one point to the curve "<component>.<series>". */
void weft_series_add(struct weft_comp *c, const char *series,
		     const char *x_unit, const char *y_unit, double x,
		     double y);
struct hist;
/* Returns the histogram "<component>.<name>", made at the first call. The
 * handle is valid for the whole run. A hot loop keeps the handle and calls
 * weft_hist_put, because this function searches by name. */
struct weft_hist;
struct weft_hist *weft_hist(struct weft_comp *c, const char *name,
			    const char *unit);
/* Puts a value into a histogram. */
void weft_hist_put(struct weft_hist *h, double value);
/* Returns the values of a histogram (measure/hist.h). */
const struct hist *weft_hist_values(const struct weft_hist *h);
/* Removes all values, for example at the end of a warm-up. */
void weft_hist_clear(struct weft_hist *h);
/* Puts a value into the histogram "<component>.<name>". For rare values,
 * because each call searches by name. */
void weft_hist_add(struct weft_comp *c, const char *name, const char *unit,
		   double value);
/* Reports that a check of the model or program failed. The failure is recorded
 * and shown, and the exit status becomes 1. The run continues, so that later
 * failures are found, too. */
void weft_check_failed(struct weft_comp *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- building and running (front ends and tests) ---- */

/* Returns an empty simulation, which the caller frees. The random streams of
 * its components depend on seed and their names alone. */
struct weft_sim *weft_sim_new(uint64_t seed);
/* Frees the simulation with its components, frames and result. */
void weft_sim_free(struct weft_sim *sim);
/* Creates a component with default parameters, before weft_sim_start.
 * weft_sim_start refuses two components of one name. Returns the component,
 * owned by the simulation, or NULL with a message in err when the class was
 * built for another version of the interface or a default is wrong. */
struct weft_comp *weft_sim_add(struct weft_sim *sim,
			       const struct weft_class *cls, const char *name,
			       struct weft_err *err);
/* Returns the component called `name`, or NULL. */
struct weft_comp *weft_sim_find(struct weft_sim *sim, const char *name);
/* Returns the number of components. */
uint32_t weft_sim_count(const struct weft_sim *sim);
/* Returns component i, or NULL beyond the last. Components are in the order in
 * which they were added, and in the order of names from weft_sim_start on. */
struct weft_comp *weft_sim_at(const struct weft_sim *sim, uint32_t i);
/* Sets a parameter from the text of an experiment ("12.8ns", "4KiB"), before
 * weft_comp_init. Returns 0, -ENOENT (no such parameter: the message names the
 * nearest one) or -EINVAL (not a value of its type and range). */
int weft_param_set(struct weft_comp *c, const char *param, const char *value,
		   struct weft_err *err);
/* Sets all parameters of a preset of c's class.  Returns 0, -ENOENT (no such
 * preset: the message names the nearest one) or -EINVAL (the preset has a wrong
 * value). */
int weft_preset_apply(struct weft_comp *c, const char *preset,
		      struct weft_err *err);
/* Writes a parameter's value as canonical text, truncated to size. Returns the
 * length of the whole text, or -ENOENT when the parameter does not exist. */
int weft_param_get(const struct weft_comp *c, const char *param, char *buf,
		   size_t size);
/* Makes parameters final, creates the ports and runs ops.init.  Returns 0, or a
 * negative errno with a message in err. */
int weft_comp_init(struct weft_comp *c, struct weft_err *err);
/* Joins two ports by a cable.  `link` (KIND_LINK, initialised) gives the delay
 * in the head of its state, struct weft_link_state. With link NULL, `delay` is
 * the delay. Returns 0, -EBUSY (a port has a cable already) or -EINVAL (kinds
 * or wires that do not fit, a port with itself, no delay), with a message in
 * err. */
int weft_connect(struct weft_port *a, struct weft_port *b,
		 struct weft_comp *link, weft_time_t delay,
		 struct weft_err *err);
/* Adds a fault to port p, after the faults that p already has. Frames that
 * leave through p pass through its faults in this order. On a bus port the
 * fault is between p and its peer. Returns 0, -EBUSY (the fault is on another
 * port) or -EINVAL (not a fault, or a fault that does not support this wire).
 */
int weft_filter_add(struct weft_port *p, struct weft_comp *fault,
		    struct weft_err *err);
/* First member of the state of every KIND_LINK class. */
struct weft_link_state {
	weft_time_t delay; /* time of one direction, set by init */
};
/* Assigns ids in the order of names and runs ops.start.  Returns 0, -EEXIST
 * (two components of one name), -EINVAL (a port that needs a cable has none) or
 * the error of ops.start. */
int weft_sim_start(struct weft_sim *sim, struct weft_err *err);
/* Runs events up to and including `until`. Ends earlier when no event is left
 * or after weft_sim_stop. Returns the number of events run. */
uint64_t weft_sim_run(struct weft_sim *sim, weft_time_t until);
/* Runs events as weft_sim_run does and returns their number, but when no event
 * is left the clock stays at the last event. Therefore a run in several steps
 * ends at the same time as a run in one step. */
uint64_t weft_sim_step(struct weft_sim *sim, weft_time_t until);
/* Ends the run after the current event. */
void weft_sim_stop(struct weft_sim *sim);
/* Sets a gate, which decides when time passes, because attached processes run
 * in real time. The kernel calls fn when no event is left at the present time.
 * `idle` is true when no event is left at all. fn may sleep, and may add events
 * at the present time. fn returns true when the kernel has to check for events
 * again. fn returns false when time may pass or, when idle, the run ends. NULL
 * removes the gate. */
typedef bool (*weft_gate_fn)(void *arg, bool idle);
void weft_sim_set_gate(struct weft_sim *sim, weft_gate_fn fn, void *arg);
/* Returns true when a gate is set. A run with a gate does not end when no event
 * is left, because the gate may add events. */
bool weft_sim_gated(const struct weft_sim *sim);
/* Returns true when weft_sim_stop ended the last run. */
bool weft_sim_stopped(const struct weft_sim *sim);
/* Brings all counters up to date (ops.sample). Called between runs. */
void weft_sim_sample(struct weft_sim *sim);
/* Returns the present time. */
weft_time_t weft_sim_now(const struct weft_sim *sim);
/* Returns the component of the current or last event, or NULL before the first
 * event. */
struct weft_comp *weft_sim_current(const struct weft_sim *sim);
/* Returns the number of events run so far. */
uint64_t weft_sim_events(const struct weft_sim *sim);
/* Returns true when no event is left except those of weft_watch. */
bool weft_sim_idle(const struct weft_sim *sim);
/* Runs ops.finish of all components and collects the result.  Returns 0, or a
 * negative errno with a message: the first that ops.finish returned, or -EPROTO
 * when an idle simulation still holds frames or payloads, because a model has
 * lost them.
 */
int weft_sim_finish(struct weft_sim *sim, struct weft_err *err);
/* Returns the result, which belongs to the simulation. */
struct weft_result;
struct weft_result *weft_sim_result(struct weft_sim *sim);
/* Sets whether frames carry payload bytes (the default) or only sizes and
 * times. */
void weft_sim_set_payload(struct weft_sim *sim, bool carried);
/* Returns true when frames carry payload bytes. */
bool weft_sim_payload(const struct weft_sim *sim);

WEFT_C_END

#endif
