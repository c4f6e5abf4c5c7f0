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

/* An address interval for host requests, set by the registers from 0x100 on. */
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
	/* Chunks of 64 nodes, each allocated at its first write. */
	struct ex_entry **chunk;
	uint32_t index; /* node of `entry` */
	/* entry in the registers, stored to the table when its length is
	 * written */
	struct ex_entry entry;
};

/* Fills route and meta of a packet to internal port `port` of node dest. cls is
 * 0 for a request, 1 for a response. Uses the entry of the route table if
 * software has written one. Otherwise uses the route of the network
 * (net/topology.h), as if management software had loaded it. Returns false if
 * there is no route. */
bool ex_route(struct extoll_nic *n, struct weft_frame *f, uint32_t dest,
	      uint32_t port, uint32_t words, uint32_t cls);

/* Returns the entry of node dest, or NULL if it is not valid. */
const struct ex_entry *ex_route_entry(const struct extoll_nic *n,
				      uint32_t dest);
/* Stores a copy of the entry. */
void ex_route_write(struct extoll_nic *n, uint32_t dest,
		    const struct ex_entry *e);

/* ---- events ---- */

struct ex_evq {
	weft_phys_t base;
	uint32_t size, wp, rp;
	/* index behind the last entry that has left the NIC */
	uint32_t written;
	bool armed, level;
	/* mask of link errors already reported, bits as in `news` */
	uint32_t told;
	bool missed; /* the event of a mailbox or ring found the queue full */
	uint64_t lost;
};

/* Writes an entry of the event queue, then raises the interrupt if it is armed.
 * Returns false if the queue is full and the event is lost. */
bool ex_event(struct extoll_nic *n, enum extoll_event kind, uint32_t vpid,
	      uint32_t node, uint32_t info);
/* Writes the event of a VPID's mailbox or ring, like ex_event(). Returns false
 * if the queue is full. When it has room again, extoll_velo_look() and
 * extoll_rma_look() are called. */
bool ex_event_vpid(struct extoll_nic *n, enum extoll_event kind, uint32_t vpid,
		   uint32_t node);
/* Reports pending events of links (link_registers.c). */
void ex_link_news(struct extoll_nic *n);
/* Return register i of the crossbar's ports, and register i of the link
 * ports. */
uint64_t ex_xbar_read(struct weft_comp *c, uint32_t i);
uint64_t ex_lp_read(struct weft_comp *c, uint32_t i);
/* Handle stores to the registers of the event queue. */
void ex_evq_set_size(struct extoll_nic *n, uint64_t val);
/* Stores the read pointer. Arms the interrupt if bit 32 is set. Writes the
 * events of VPIDs that found the queue full. */
void ex_evq_set_rp(struct extoll_nic *n, uint64_t val);

/* Performs a host store to configuration space or register file. */
void ex_rf_store(struct extoll_nic *n, uint8_t space, uint64_t off,
		 const uint8_t *data, uint32_t bytes);
/* Answers a host load. Returns false, without a reply, if memory accesses are
 * off. */
bool ex_rf_load(struct extoll_nic *n, const struct weft_bus_note *note);
/* Returns the HTAX port of a host request, -1 if no interval contains it. */
int ex_rf_target(const struct extoll_nic *n, uint64_t off, uint32_t bytes);

/* Both macros define a hook of the register table. EX_REG_SHOWS defines a load
 * hook that returns `value`. EX_REG_SETS defines a store hook that executes
 * `what`. `value` and `what` may refer to the NIC n and the register's index i,
 * and `what` also to the stored value val. */
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
