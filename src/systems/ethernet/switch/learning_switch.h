/* SPDX-License-Identifier: Apache-2.0 */
/* State and internal functions of class eth.switch: class and inputs
 * (learning_switch.c), outputs and buffer (output_queues.c). */
#ifndef SYSTEMS_ETHERNET_SWITCH_LEARNING_SWITCH_H
#define SYSTEMS_ETHERNET_SWITCH_LEARNING_SWITCH_H

#include "base/ring.h"
#include "systems/ethernet/switch/station_table.h"
#include "weft/trace.h"

enum {
	ESW_C_IN,
	ESW_C_OUT,
	ESW_C_FLOODED,
	ESW_C_FILTERED,
	ESW_C_DROPPED,
	ESW_C_DROPPED_BYTES,
	ESW_C_BAD,
	ESW_C_RESERVED,
	ESW_C_PEAK,
	ESW_C_LEARNED,
	ESW_C_MOVED,
	ESW_C_EVICTED,
	ESW_C_PAUSE_IN,
	ESW_C_PAUSE_OUT,
	ESW_C_N
};

enum { ESW_STORE, ESW_CUT };
enum { ESW_DROP, ESW_PAUSE };

/* A frame in the buffer. It is stored once, even if it leaves by several
 * ports. */
struct esw_item {
	struct weft_frame *f;
	uint32_t refs; /* number of ports that queue or send the frame */
	/* number of ports that have the frame in their queues */
	uint32_t waits;
	uint32_t bytes;
};

struct esw_wait {
	struct esw_item *item;
	weft_time_t ready;
};

struct esw_port {
	struct weft_port *port;
	struct weft_frame *line; /* arriving frames, in order of decisions */
	struct weft_timer in, done, out;
	struct {
		RING(struct esw_wait);
	} q;
	struct weft_frame *ctl; /* a pause frame that waits to be sent */
	struct esw_item *now;	/* frame on the line, or NULL */
	bool ctl_now;
	/* end: time at which the frame on the line ends, or at which the last
	 * frame ended if the line is free. pause: time until which the port may
	 * not send */
	weft_time_t end, pause;
	bool xoff;
	weft_time_t xoff_at;
};

struct esw {
	uint32_t ports, mode, full, table, frame_max, quanta;
	uint64_t buffer, xoff, xon;
	weft_time_t latency, ageing;
	/* state: */
	struct weft_comp *comp;
	struct esw_port *p;
	struct eth_table stations;
	uint64_t used;
	uint8_t addr[ETH_ADDR];
};

/* Order of events at one time: decisions, then ends of frames, then starts of
 * frames. */
#define ESW_TAG_DONE(w, i)  ((w)->ports + (i))
#define ESW_TAG_START(w, i) (2 * (w)->ports + (i))

/* Queues frame f, which arrived at port `in`, for port `to`. If `to` is
 * ETH_NO_PORT, queues f for all ports except `in`. Takes ownership of f. */
void esw_forward(struct esw *w, struct weft_frame *f, uint32_t in, uint32_t to,
		 weft_time_t ready);
/* Requests the event that starts the next frame of port i. Called after each
 * change of the port's queue or pause. */
void esw_out_next(struct esw *w, uint32_t i);
/* esw_done_event() handles the end of the frame on the line. esw_start_event()
 * starts the next frame. */
void esw_done_event(struct esw *w, uint32_t i);
void esw_start_event(struct esw *w, uint32_t i);
/* Implements ops.waiting: reports the frames in the queue of a port. */
void esw_waiting(struct weft_comp *c, uint32_t port, struct weft_waiting *wt);
void esw_out_fini(struct esw *w);

#endif
