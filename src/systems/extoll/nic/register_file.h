/* SPDX-License-Identifier: Apache-2.0 */
/* Register file (extoll.md 2.6), the route table in it, and the event queue
 * with its interrupt (2.7). */
#ifndef SYSTEMS_EXTOLL_NIC_REGISTER_FILE_H
#define SYSTEMS_EXTOLL_NIC_REGISTER_FILE_H

#include "systems/extoll/network/place.h"
#include "systems/extoll/nic/regs_map.h"
#include "weft/bus.h"

struct extoll_nic;
struct weft_frame;
extern const struct weft_reg extoll_regs[];

/* Address intervals: registers 0x100.. */
struct ex_interval {
	uint32_t lower, upper;
	uint8_t port;
	bool enable;
};

/* ---- routes ---- */

struct ex_entry {
	uint64_t nib[4];
	uint8_t n;
	bool valid;
};

enum { EX_ROUTE_CHUNK = 64, EX_ROUTE_CHUNKS = 65536 / EX_ROUTE_CHUNK };

struct ex_routes {
	struct ex_entry **chunk; /* of 64 nodes; made when first written */
	uint32_t index;		 /* of the entry in the registers */
	struct ex_entry entry;	 /* being written */
};

/* Fills route and meta of a packet to internal port `port` of node dest:
 * command words, class 0 request or 1 response.  Entries written through the
 * registers come first; for the others the network's routes
 * (net/topology.h) stand, as if management software had loaded them. False:
 * there is no route. */
bool ex_route(struct extoll_nic *n, struct weft_frame *f, uint32_t dest,
	      uint32_t port, uint32_t words, uint32_t cls);

const struct ex_entry *ex_route_entry(const struct extoll_nic *n,
				      uint32_t dest);
void ex_route_write(struct extoll_nic *n, uint32_t dest,
		    const struct ex_entry *e);

/* ---- events ---- */

struct ex_evq {
	weft_phys_t base;
	uint32_t size, wp, rp;
	uint32_t written; /* up to here entries have left the NIC */
	bool armed, level;
	uint32_t told; /* errors of links that it was told of, as news */
	bool missed;   /* an interrupt of a VPID found no entry: told later */
	uint64_t lost;
};

/* One entry of the event queue, then the interrupt if it is armed.  False: the
 * queue is full, the event is lost. */
bool ex_event(struct extoll_nic *n, enum extoll_event kind, uint32_t vpid,
	      uint32_t node, uint32_t info);
/* The same for an interrupt of a VPID's mailbox or ring.  False: full; its
 * extoll_velo_look or extoll_rma_look is called when there is room. */
bool ex_event_vpid(struct extoll_nic *n, enum extoll_event kind, uint32_t vpid,
		   uint32_t node);
/* Links have something to tell: events (link_registers.c). */
void ex_link_news(struct extoll_nic *n);
uint64_t ex_xbar_read(struct weft_comp *c, uint32_t i);
uint64_t ex_lp_read(struct weft_comp *c, uint32_t i);
/* Registers. */
void ex_evq_set_size(struct extoll_nic *n, uint64_t val);
void ex_evq_set_rp(struct extoll_nic *n, uint64_t val);

/* Host accesses: configuration space and register file. */
void ex_rf_store(struct extoll_nic *n, uint8_t space, uint64_t off,
		 const uint8_t *data, uint32_t bytes);
/* False: memory accesses are off, nothing is answered. */
bool ex_rf_load(struct extoll_nic *n, const struct weft_bus_note *note);
/* HTAX port of a host request, -1 = no interval has it. */
int ex_rf_target(const struct extoll_nic *n, uint64_t off, uint32_t bytes);
void ex_rf_fini(struct extoll_nic *n);

/* Hooks of rows that show a value, or set a field: what they are given sees the
 * NIC n, the index i of the register and the number val that is stored. */
#define EX_REG_SHOWS(name, value)                                              \
	uint64_t name##_read(struct weft_comp *c, uint32_t i)                  \
	{                                                                      \
		struct extoll_nic *n = c->state;                               \
                                                                               \
		return value;                                                  \
	}
#define EX_REG_SETS(name, what)                                                \
	void name##_wrote(struct weft_comp *c, uint32_t i, uint64_t val)       \
	{                                                                      \
		struct extoll_nic *n = c->state;                               \
                                                                               \
		what;                                                          \
	}

#endif
