/* SPDX-License-Identifier: Apache-2.0 */
/* The simulation: components, ports, events, frames.
 *
 * Order.  Simultaneous events run by (phase, component id, tag): phase 0 are
 * arrivals, phase 1 wake-ups.  Ids follow from component names, never from the
 * order of construction, so the result of a run is a function of the experiment
 * and its seed alone.  Frames that reach one port at the same time keep the
 * order in which they were sent.  Whatever one component tells another takes
 * at least one femtosecond (asserted): a component sees in phase 1 of time t
 * everything that was sent to arrive at t, and nothing else. */
#ifndef WEFT_SIM_H
#define WEFT_SIM_H

#include "weft/component.h"
#include "weft/frame.h"
#include "weft/rng.h"

WEFT_C_BEGIN

/* ---- ports ---- */

/* What becomes of a note whose receiver was told ahead of time. */
enum weft_told {
	WEFT_TOLD_POST,	 /* queued, with an arrival at its time */
	WEFT_TOLD_QUIET, /* queued; the receiver looks by itself */
	WEFT_TOLD_TAKEN, /* the receiver has all it needs */
};

/* Who listens to what leaves through a port (weft_wire.tells), without being on
 * the line. */
struct weft_port;
struct weft_line_listener {
	/* f is on the line from `start` on.  Of one port in order of the line;
	 * what the owner works out late, or plans, is told late, or ahead. */
	void (*hear)(struct weft_line_listener *t, const struct weft_frame *f,
		     weft_time_t start);
	/* Set by the owner: tells what has been on the line before now, all of
	 * it unless it is telling already. */
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
	bool beside;	   /* set by the owner: frames may lie beside each
			    * other, as on the lines of a bundle */
	bool overlapped;   /* they do, and may not: told once */
	struct weft_line_listener *listener; /* set before the start, or NULL */
	const void *iface; /* what the owner offers here (bus ports) */
	void *notes;	   /* bus ports: queue of notes, see bus.h */
	/* Bus ports: the owner hears of a note when it is told, ahead of its
	 * time; NULL: only then.  See bus.h. */
	enum weft_told (*told)(struct weft_port *p,
			       const struct weft_bus_note *note);
	/* Frames on their way to this port, in order of arrival: a ring. */
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
	uint8_t heard; /* mask: what somebody listens to, weft/trace.h */
	struct weft_rng rng;
	uint64_t *regs;		 /* register file, see weft_reg_* */
	struct weft_comp *owner; /* a program's host, or NULL */
	struct weft_port *on;	 /* KIND_FAULT: the port it sits on */
	uint32_t on_index;	 /* ... and its place among the filters there */
	const struct reg_map *regmap;
	bool inited;
	char *name; /* "n3.nic" */
};

/* Zeroed memory near the component's state, in lines of 64 bytes, that lives as
 * long as the component: for what a run needs more of, once or a few times. */
void *weft_comp_alloc(struct weft_comp *c, size_t bytes);

/* The port called `name`, or NULL. */
struct weft_port *weft_port_find(struct weft_comp *c, const char *name);

/* Sends f out of p; its first word is on the line at `start` (>= now).  Gives
 * f away.  It arrives at the peer at start + delay: ops.arrive, phase 0.
 * A line carries one frame at a time: keep the time at which it is free
 * (words * word_fs after the start); a frame that begins before is a failed
 * check of the run, unless weft_port.beside is set. */
void weft_port_send(struct weft_port *p, struct weft_frame *f,
		    weft_time_t start);
/* Of out_busy, what lies behind now: frames are counted when they are sent. */
weft_time_t weft_port_ahead(const struct weft_port *p);
/* From ops.filter: hand the frame on (to the next filter, then the peer). */
void weft_filter_pass(struct weft_comp *filter, struct weft_frame *f);

/* ---- events ---- */

/* First member of struct weft_sim. */
struct weft_listener;
struct weft_sim_head {
	weft_time_t now;
	struct weft_listener *listeners; /* weft/trace.h; NULL: nobody */
};
static inline weft_time_t weft_now(const struct weft_comp *c)
{
	return ((const struct weft_sim_head *)c->sim)->now;
}
/* ops.event(c, tag) at time t, phase 1.  t == now is allowed from phase 0, and
 * from phase 1 (the event then runs after the current one). tag < 2^16. */
void weft_wake(struct weft_comp *c, uint32_t tag, weft_time_t t);
/* The same for who only looks on: it does not come when nothing else is left to
 * happen, so it keeps no run going.  One at a time with this tag. */
void weft_watch(struct weft_comp *c, uint32_t tag, weft_time_t t);
/* ops.arrive(dst, tag, NULL) at time t > now, phase 0: how one component pokes
 * another without a frame.  tag < 2^16; ports use 0..n_ports-1. */
void weft_post(struct weft_comp *dst, uint32_t tag, weft_time_t t);

/* One live wake-up per timer: setting an earlier time supersedes, stale ones
 * are ignored.  Zero-initialised = not set. */
struct weft_timer {
	weft_time_t at;	   /* + 1; 0 = not set */
	weft_time_t stale; /* + 1: a superseded wake-up, used again if it can */
};
/* Ensures event(c, tag) at min(current, t). */
void weft_timer_arm(struct weft_comp *c, struct weft_timer *tm, uint32_t tag,
		    weft_time_t t);
/* True once when the timer is due now; clears it.  Call first in the event. */
bool weft_timer_due(struct weft_comp *c, struct weft_timer *tm);
static inline void weft_timer_cancel(struct weft_timer *tm)
{
	if (tm->at)
		tm->stale = tm->at;
	tm->at = 0;
}

static inline void weft_count(struct weft_comp *c, uint32_t i, uint64_t n)
{
	c->counters[i] += n;
}

/* ---- registers ---- */

/* Host access of `size` bytes (1, 2, 4, 8), naturally aligned, little-endian.
 * Unlisted offsets read 0 and ignore writes. An 8-byte access of 32-bit
 * registers touches the pair. */
uint64_t weft_reg_load(struct weft_comp *c, uint8_t space, uint32_t off,
		       uint32_t size);
void weft_reg_store(struct weft_comp *c, uint8_t space, uint32_t off,
		    uint32_t size, uint64_t val);
/* Cell of a register by its index in cls->regs (and element for arrays): the
 * device's own view, no hooks, no masks. */
uint64_t *weft_reg_cell(struct weft_comp *c, uint32_t reg, uint32_t index);
void weft_reg_reset(struct weft_comp *c);

/* ---- measurement ---- */

/* A named result of the run, e.g. ("bandwidth", "MiB/s", 286.5).  The stored
 * name is "<component>.<name>"; setting it again overwrites. */
void weft_metric(struct weft_comp *c, const char *name, const char *unit,
		 double value);
/* One point of a curve "<component>.<series>". */
void weft_series_add(struct weft_comp *c, const char *series,
		     const char *x_unit, const char *y_unit, double x,
		     double y);
/* A value into histogram "<component>.<name>".  A hot loop keeps the handle of
 * weft_hist and uses weft_hist_put; it stays valid for the whole run. */
struct weft_hist;
struct weft_hist *weft_hist(struct weft_comp *c, const char *name,
			    const char *unit);
void weft_hist_put(struct weft_hist *h, double value);
/* Forgets all values: they were of a warm-up. */
void weft_hist_clear(struct weft_hist *h);
void weft_hist_add(struct weft_comp *c, const char *name, const char *unit,
		   double value);
/* The run is wrong (a check failed): recorded, shown, exit status 1.  The
 * run goes on. */
void weft_check_failed(struct weft_comp *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- building and running (front ends and tests) ---- */

struct weft_sim *weft_sim_new(uint64_t seed);
void weft_sim_free(struct weft_sim *sim);
/* Creates a component with default parameters. Name must be new. */
struct weft_comp *weft_sim_add(struct weft_sim *sim,
			       const struct weft_class *cls, const char *name,
			       struct weft_err *err);
struct weft_comp *weft_sim_find(struct weft_sim *sim, const char *name);
uint32_t weft_sim_count(const struct weft_sim *sim);
struct weft_comp *weft_sim_at(const struct weft_sim *sim, uint32_t i);
int weft_param_set(struct weft_comp *c, const char *param, const char *value,
		   struct weft_err *err);
int weft_preset_apply(struct weft_comp *c, const char *preset,
		      struct weft_err *err);
/* Current value as canonical text. */
int weft_param_get(const struct weft_comp *c, const char *param, char *buf,
		   size_t size);
/* Parameters are final: creates ports, runs ops.init. */
int weft_comp_init(struct weft_comp *c, struct weft_err *err);
/* Joins two ports by a cable; `link` (KIND_LINK, initialised) gives the delay
 * through its public head `struct weft_link_state` or, when NULL, `delay`. */
int weft_connect(struct weft_port *a, struct weft_port *b,
		 struct weft_comp *link, weft_time_t delay,
		 struct weft_err *err);
/* Puts a fault on what leaves through p; on a bus port, in between p and what
 * it is connected to. */
int weft_filter_add(struct weft_port *p, struct weft_comp *fault,
		    struct weft_err *err);
/* First member of the state of every KIND_LINK class. */
struct weft_link_state {
	weft_time_t delay; /* one way, set by init */
};
/* Assigns ids, checks that no port dangles, runs ops.start. */
int weft_sim_start(struct weft_sim *sim, struct weft_err *err);
/* Runs events up to and including `until`, or until none is left, or until
 * weft_sim_stop.  Returns the number of events run. */
uint64_t weft_sim_run(struct weft_sim *sim, weft_time_t until);
/* The same, but the clock stays at the last event when none is left: a run made
 * in steps ends at the time at which it ends in one. */
uint64_t weft_sim_step(struct weft_sim *sim, weft_time_t until);
void weft_sim_stop(struct weft_sim *sim);
/* Somebody outside has a say in when time passes.  fn is called when nothing is
 * left to do at the present time (idle: nor later).  It may sleep, and may add
 * events at the present time; true: look again; false: time may pass, or, when
 * idle, the run is over.  NULL: nobody. */
typedef bool (*weft_gate_fn)(void *arg, bool idle);
void weft_sim_set_gate(struct weft_sim *sim, weft_gate_fn fn, void *arg);
/* There is one: that nothing is left to happen does not end a run. */
bool weft_sim_gated(const struct weft_sim *sim);
/* True when weft_sim_stop ended the last run. */
bool weft_sim_stopped(const struct weft_sim *sim);
/* Between runs: brings all counters up to date (ops.sample). */
void weft_sim_sample(struct weft_sim *sim);
weft_time_t weft_sim_now(const struct weft_sim *sim);
/* The component whose event runs, or ran last; NULL before the first. */
struct weft_comp *weft_sim_current(const struct weft_sim *sim);
uint64_t weft_sim_events(const struct weft_sim *sim);
/* True when nothing is left to happen. */
bool weft_sim_idle(const struct weft_sim *sim);
/* ops.finish of all, then: no frame and no payload alive. */
int weft_sim_finish(struct weft_sim *sim, struct weft_err *err);
struct weft_result;
struct weft_result *weft_sim_result(struct weft_sim *sim);
/* No payload bytes are carried: sizes and times only. */
void weft_sim_set_payload(struct weft_sim *sim, bool carried);
bool weft_sim_payload(const struct weft_sim *sim);

WEFT_C_END

#endif
