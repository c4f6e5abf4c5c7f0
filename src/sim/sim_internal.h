/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the kernel; not for components. */
#ifndef SIM_SIM_INTERNAL_H
#define SIM_SIM_INTERNAL_H

#include "base/vec.h"
#include "measure/result.h"
#include "sim/arena.h"
#include "sim/queue.h"
#include "weft/trace.h"

enum { BUF_LOG2_MIN = 6, BUF_LOG2_MAX = 24 };

/* The access of a host that a device took last. */
struct trace_access {
	const struct weft_comp *comp, *bus;
	weft_time_t begin, start, end; /* asked for, on the bus, there */
	weft_time_t taken;
};

struct weft_sim {
	struct weft_sim_head head;
	uint32_t phase;	  /* of the event being run */
	uint32_t current; /* component that runs it */
	bool started, stopping, carried;
	weft_gate_fn gate; /* NULL: time is our own */
	void *gate_arg;
	struct evq q;
	/* keys of events that keep no run going */
	struct {
		VEC(uint64_t);
	} watch;
	uint64_t seed, events;
	struct weft_comp **comps; /* by name once started */
	void **states;		  /* theirs, in the same order */
	uint32_t n_comps, cap_comps;
	struct weft_result *result;
	struct reg_map *regmaps;
	struct arena arena; /* components, their state and counters */
	/* pools */
	struct weft_frame *free_frames;
	struct weft_buf *free_bufs[BUF_LOG2_MAX + 1];
	struct {
		VEC(void *);
	} slabs;
	uint64_t live_frames, live_bufs;
	/* histograms being filled; moved into the result at the end */
	struct {
		VEC(struct weft_hist *);
	} hists;
	/* for those who listen */
	struct trace_access access;
	uint64_t messages;
};

static inline uint64_t comp_key(const struct weft_comp *c, uint32_t phase,
				uint32_t tag)
{
	return EVQ_KEY(phase, c->id, tag);
}

void pool_fini(struct weft_sim *sim);
void regmap_fini(struct weft_sim *sim);
int comp_regs_init(struct weft_comp *c, struct weft_err *err);
int comp_ports_init(struct weft_comp *c, struct weft_err *err);
void comp_ports_fini(struct weft_comp *c);
int comp_params_default(struct weft_comp *c, struct weft_err *err);
int comp_params_check(const struct weft_comp *c, struct weft_err *err);
void port_drain(struct weft_comp *c, uint32_t port);
void result_collect(struct weft_sim *sim);
void result_manifest(struct weft_sim *sim);
void hists_fini(struct weft_sim *sim);
void notes_fini(struct weft_port *p);
/* message_trace.c: kinds of events of c that a listener wants. */
uint8_t trace_wanted(const struct weft_sim *sim, const struct weft_comp *c);
/* The same, when somebody listens: p takes a note; p is told one; a frame
 * leaves through p. */
WEFT_COLD void trace_access(const struct weft_port *p,
			    const struct weft_bus_note *note);
WEFT_COLD void trace_note(const struct weft_port *p,
			  const struct weft_bus_note *n);
WEFT_COLD void trace_frame(const struct weft_port *p,
			   const struct weft_frame *f, weft_time_t start);

#endif
