/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL NICs on a bench: a scripted packet bus with memory behind each, and on
 * the network ports either a scripted peer or, with two NICs, two real
 * crossbars and a cable. Tests act through registers, bus notes and packets. */
#ifndef EXTOLL_TESTS_VELO_RIG_H
#define EXTOLL_TESTS_VELO_RIG_H

#include "systems/extoll/network/network_port.h"
#include "systems/extoll/network/place.h"
#include "systems/extoll/nic/regs_map.h"
#include "weft/bus.h"
#include "weft/sim.h"

#define XR_MEM	     0x10000000u /* physical address of a node's memory */
#define XR_MEM_BYTES 0x400000u
enum { XR_LOG = 4096, XR_NPS = 3 };

/* ---- bus: stores arrive at given times, requests take fixed times ---- */

struct xbus_op { /* a transaction as the bus saw it */
	enum weft_bus_op op;
	weft_time_t time; /* submit */
	weft_phys_t addr;
	uint32_t bytes;
	uint64_t first, word; /* first and last quadword of a write */
};

struct xbus_store {
	struct xbus_store *next;
	struct weft_bus_note note;
};

struct xbus {
	/* parameters */
	struct weft_clock clock;
	weft_time_t t_write, t_read;
	bool refuse;	  /* requests end with a master abort */
	bool early;	  /* reads return memory as it is at the request */
	weft_phys_t slow; /* a read of this address takes t_slow */
	/* t_slow is also the time of a read of every n-th block of 64 bytes */
	uint32_t slow_each;
	weft_time_t t_slow;
	/* state */
	struct weft_comp *comp;
	struct weft_port *dev;
	uint8_t *mem;
	struct weft_bus_txn *write[XR_LOG], *read[XR_LOG], *late[XR_LOG];
	uint32_t w_head, w_tail, r_head, r_tail, l_head, l_tail;
	/* stores that the NIC's posted queue has no room for */
	struct xbus_store *wait, **wait_end;
	uint32_t places, held;
	uint64_t reply;
	bool replied, irq;
	uint32_t irq_edges;
	struct xbus_op log[XR_LOG];
	uint32_t n_log;
};

/* ---- scripted peer of the network ports ---- */

struct xnet_pkt {
	/* cycle at which the peer sees the last word, after stage N4 */
	uint64_t cycle;
	uint32_t np;
	struct ex_meta meta;
	uint64_t u[8];
	uint32_t len, pd;
	uint8_t data[128]; /* first bytes of the payload */
};

struct xnet {
	struct weft_clock clock;
	uint32_t width;
	bool stop; /* the peer frees no slot */
	struct weft_comp *comp;
	struct netport np[XR_NPS];
	struct xnet_pkt *log;
	uint32_t n_log;
	struct {
		struct netport *np;
		uint8_t slot;
	} owed[64];
	uint32_t n_owed;
};

/* ---- the bench ---- */

struct xr {
	struct weft_sim *sim;
	struct weft_comp *nic[2], *sw[2];
	struct xbus *bus[2];
	struct xnet *net; /* peer of a single NIC */
	struct topology topo;
	struct weft_clock core;
};

/* Make a bench of one NIC, or of two. `set` has parameters of the NICs as
 * "name=value ...". */
void xr_single(struct xr *r, const char *set);
void xr_pair(struct xr *r, const char *set);
/* Ends the run, checks conservation, and frees the bench. */
void xr_free(struct xr *r);

uint64_t xr_cycle(const struct xr *r); /* number of core edges up to now */
void xr_run(struct xr *r, uint64_t cycles);
void xr_settle(struct xr *r); /* runs until nothing happens any more */

/* Host accesses. Each takes effect at the next HT edge. xr_store returns the
 * time of that edge. */
weft_time_t xr_store(struct xr *r, uint32_t node, uint64_t off,
		     const void *data, uint32_t bytes);
void xr_w64(struct xr *r, uint32_t node, uint64_t off, uint64_t val);
uint64_t xr_r64(struct xr *r, uint32_t node, uint64_t off);
uint64_t xr_mem64(const struct xr *r, uint32_t node, weft_phys_t phys);
void xr_mem_set64(struct xr *r, uint32_t node, weft_phys_t phys, uint64_t val);

/* Initialises a node as a driver does: memory, intervals of VELO and RMA, an
 * event queue of 64 entries. */
#define XR_EVQ (XR_MEM + 0x1000)
void xr_setup(struct xr *r, uint32_t node);
/* Returns the i-th entry of the event queue. */
uint64_t xr_evt(const struct xr *r, uint32_t node, uint32_t i);

/* Makes the peer send a packet whose first word is at its network port at
 * `cycle`. */
void xr_send(struct xr *r, uint32_t np, struct weft_frame *f, uint64_t cycle);
/* Makes a stopped peer free the slots that it holds. From then on it frees each
 * slot at once. */
void xr_release(struct xr *r);

#endif
