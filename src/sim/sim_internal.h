/* SPDX-License-Identifier: Apache-2.0 */
/* State and functions that only the kernel uses, not components. */
#ifndef SIM_SIM_INTERNAL_H
#define SIM_SIM_INTERNAL_H

#include "base/vec.h"
#include "measure/result.h"
#include "sim/arena.h"
#include "sim/queue.h"
#include "weft/trace.h"

enum {
	BUF_LOG2_MIN = 6,
	BUF_LOG2_MAX = 24,
	WEFT_PARAM_TEXT = 4096, /* bytes of a parameter as text */
};

/* The host access that a device received last. */
struct trace_access {
	const struct weft_comp *comp, *bus;
	/* times at which the host asked for the access, the access began on the
	 * bus, and the access arrived at the device */
	weft_time_t begin, start, end;
	weft_time_t taken;
};

struct weft_sim {
	struct weft_sim_head head;
	uint32_t phase;	  /* phase of the event that is being handled */
	uint32_t current; /* id of the component that handles the event */
	bool started, stopping, carried;
	/* gate that holds simulated time while attached processes run; NULL
	 * without attached processes */
	weft_gate_fn gate;
	void *gate_arg;
	struct evq q;
	/* Keys of events that do not keep a run going. */
	struct {
		VEC(uint64_t);
	} watch;
	uint64_t seed, events;
	/* components, ordered by name after the start */
	struct weft_comp **comps;
	void **states; /* states of the components, in the same order */
	uint32_t n_comps, cap_comps;
	struct weft_result *result;
	struct reg_map *regmaps;
	struct arena arena; /* memory of components, their state and counters */
	/* pools, so that packets allocate nothing after warm-up */
	struct weft_frame *free_frames;
	struct weft_buf *free_bufs[BUF_LOG2_MAX + 1];
	struct {
		VEC(void *);
	} slabs;
	uint64_t live_frames, live_bufs;
	/* Histograms that are being filled. They move into the result at the
	 * end. */
	struct {
		VEC(struct weft_hist *);
	} hists;
	/* last host access, and number of messages so far, for listeners */
	struct trace_access access;
	uint64_t messages;
};

static inline uint64_t comp_key(const struct weft_comp *c, uint32_t phase,
				uint32_t tag)
{
	return EVQ_KEY(phase, c->id, tag);
}

/* reg.c: regmap_fini frees the maps of registers. comp_regs_init makes the
 * cells of a component and returns 0 or a negative error. */
void regmap_fini(struct weft_sim *sim);
int comp_regs_init(struct weft_comp *c, struct weft_err *err);
/* port.c: makes the ports that a component's class declares. Returns 0 or a
 * negative error. */
int comp_ports_init(struct weft_comp *c, struct weft_err *err);
/* Frees the ports of a component and the frames in flight to them. */
void comp_ports_fini(struct weft_comp *c);
void port_drain(struct weft_comp *c, uint32_t port);
void result_collect(struct weft_sim *sim);
/* measure.c: adds the parameters of all components to the result. */
void result_manifest(struct weft_sim *sim);
/* Frees the histograms. */
void hists_fini(struct weft_sim *sim);
/* bus_note.c: frees the queue of a port and the slices in it. */
void notes_fini(struct weft_port *p);
/* message_trace.c: returns the mask of the kinds of records of c that listeners
 * want. */
uint8_t trace_wanted(const struct weft_sim *sim, const struct weft_comp *c);
/* message_trace.c: reports to listeners. trace_access reports the host access
 * in a note that port p has dequeued, trace_note a note that is sent to p, and
 * trace_frame a frame that leaves through p. Called only if a listener is
 * attached, so that runs without listeners lose no time. */
WEFT_COLD void trace_access(const struct weft_port *p,
			    const struct weft_bus_note *note);
WEFT_COLD void trace_note(const struct weft_port *p,
			  const struct weft_bus_note *n);
WEFT_COLD void trace_frame(const struct weft_port *p,
			   const struct weft_frame *f, weft_time_t start);

#endif
