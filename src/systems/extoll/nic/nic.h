/* SPDX-License-Identifier: Apache-2.0 */
/* State of the EXTOLL NIC (class extoll.nic). The headers of its blocks have
 * the state and the interface of each block. Source: extoll.md 1.2, 2.
 *
 *   bus --+-- register_file.c, registers.c, event_queue.c
 *         |            register file, routes, event queue
 *         +-- htax.c ---+-- velo_requester.c  --> np[0]       VELO
 *                       |   velo_completer.c  <-- np[0]
 *                       +-- rma*.c    <--> np[1], np[2]
 *                       +-- atu*.c
 *
 * Times in the state are numbers of core clock edges ("cycles") unless a name
 * says otherwise. */
#ifndef SYSTEMS_EXTOLL_NIC_NIC_H
#define SYSTEMS_EXTOLL_NIC_NIC_H

#include "systems/extoll/network/network_port.h"
#include "systems/extoll/nic/htax.h"
#include "systems/extoll/nic/register_file.h"
#include "systems/extoll/nic/rma.h"
#include "systems/extoll/nic/velo.h"

enum { EX_PORT_BUS, EX_PORT_NP };
enum { EX_NP_VELO, EX_NP_RMA, EX_NP_RESP, EX_NPS };
/* Order of events at one time: arrivals, the units, then HTAX, so that HTAX
 * sees all requests of its cycle. */
enum {
	EX_TAG_NP,			/* + 0..2 */
	EX_TAG_IN = EX_TAG_NP + EX_NPS, /* arrivals from HTAX at units */
	EX_TAG_NEWS,			/* events of links */
	EX_TAG_UNIT,			/* + HTAX port */
	EX_TAG_HTAX = EX_TAG_UNIT + EXTOLL_HX_N,
	EX_TAG_OUT,  /* HTAX to the bus */
	EX_TAG_LOAD, /* answer to a load that waited for stores */
	EX_TAG_N
};

enum {
	EX_C_STORES,
	EX_C_DISCARDED,
	EX_C_WRITES,
	EX_C_READS,
	EX_C_ABORTS,
	EX_C_EVENTS,
	EX_C_IRQS,
	EX_C_VELO_SENT,
	EX_C_VELO_RECEIVED,
	EX_C_VELO_DROPPED,
	EX_C_VELO_DISCARDED,
	EX_C_VELO_STALLS,
	/* From EX_C_NP + 3 * np on: packets sent, packets received, cells that
	 * waited for a credit. */
	EX_C_NP,
	EX_C_RMA = EX_C_NP + 3 * EX_NPS, /* + enum extoll_rma_counter */
	EX_C_N = EX_C_RMA + RMA_K_N
};

struct rma;

struct extoll_nic {
	struct ex_place place; /* first member, because ex_place() casts */
	/* parameters: */
	struct weft_clock clock;
	double ppm;
	uint32_t width, node;
	uint32_t t_sync_in, t_htax, t_sync_out;
	uint32_t posted, reads, np_depth;
	uint32_t velo_req, velo_comp, velo_partial, velo_max;
	uint32_t rma_interval, gats;
	bool rf_core, error_events;
	/* state: */
	struct weft_comp *comp;
	struct weft_port *bus;
	struct weft_clock ht; /* of the bus */
	bool started;
	struct netport np[EX_NPS];
	struct ex_htax htax;
	struct ex_velo velo;
	struct rma *rma; /* made on first use */
	struct ex_evq evq;
	struct ex_routes routes;
	struct ex_interval interval[EXTOLL_INTERVALS];
	uint64_t aborts, discarded, driver_state;
	/* pending link events: mask of tag - CELL_CHANNEL_NEWS */
	uint32_t news;
	bool driver_lock;
};

/* Indices of rows of the register table that other files use. */
enum { EX_R_COMMAND, EX_R_N };
static inline uint64_t *ex_command(struct extoll_nic *n)
{
	return weft_reg_cell(n->comp, EX_R_COMMAND, 0);
}

/* Units by HTAX port; NULL: the port has no unit. */
extern const struct ex_unit *const ex_units[EXTOLL_HX_N];
extern const struct ex_unit ex_rf_unit;

static inline uint64_t ex_now(const struct extoll_nic *n)
{
	return weft_clock_cycle(&n->clock, weft_now(n->comp));
}
static inline weft_time_t ex_edge(const struct extoll_nic *n, uint64_t cycle)
{
	return weft_clock_edge(&n->clock, cycle);
}
/* Marks the end of a stage of a message. */
static inline void ex_mark(const struct extoll_nic *n, uint64_t id,
			   const char *stage, uint64_t cycle)
{
	if (weft_told(n->comp, id))
		weft_mark(n->comp, id, stage, ex_edge(n, cycle));
}
/* Returns the cycle of clock `to` at which a signal leaves a synchroniser of k
 * cycles. The signal enters at time t, takes k - 1/2 periods and then waits for
 * the next edge: k cycles on average. */
static inline uint64_t ex_sync(const struct weft_clock *to, weft_time_t t,
			       uint32_t k)
{
	return weft_clock_cycle(
		to, t + (k ? (2 * k - 1) * to->num / (2 * to->den) : 0));
}

/* Set and return the sender's protection descriptor, which the check of 5.2
 * needs. It is in the flags of the frame, because the command words have no
 * bits for it (3.9). */
static inline void ex_pd_set(struct weft_frame *f, uint32_t pd)
{
	f->flags = (f->flags & 0xffff) | pd << 16;
}
static inline uint32_t ex_pd(const struct weft_frame *f)
{
	return f->flags >> 16;
}

#endif
