/* SPDX-License-Identifier: Apache-2.0 */
/* RMA and ATU on the bench of velo_rig.h: one NIC with one process, its pages
 * and a table, descriptors, arriving packets. */
#ifndef EXTOLL_TESTS_RMA_MSG_H
#define EXTOLL_TESTS_RMA_MSG_H

#include "systems/extoll/nic/nic.h"
#include "velo_rig.h"

/* Addresses in a node's memory: notification ring, words written by the ATU,
 * locks, pages, table. */
#define RR_RING	   (XR_MEM + 0x20000)
#define RR_WORD	   (XR_MEM + 0x30000)
#define RR_LOCKS   (XR_MEM + 0x38000)
#define RR_PAGE(i) (XR_MEM + 0x100000 + (i)*RMA_PAGE)
#define RR_GAT	   (XR_MEM + 0x200000)
enum { RR_PAGES = 64, RR_SLOTS = 1024, RR_VPID = 3, RR_PD = 0x55, RR_FAR = 1 };

extern struct xr rr;

/* Open and close the bench. NLA page i is RR_PAGE(i), readable and writable. */
int rr_open(void **state);
int rr_close(void **state);
/* Writes the entry of NLA page i: rights (GATE_*) on RR_PAGE(page). */
void rr_gate(uint32_t i, uint32_t rights, uint32_t page);
void rr_fill(uint32_t page, uint32_t seed);
/* A packet from node 1 that does `op`, and whose first word arrives at
 * `cycle`. */
struct rr_pkt {
	uint32_t op, bytes, spec;
	uint64_t w[2];
	uint32_t pd;   /* difference from the right protection descriptor */
	uint32_t seed; /* seed of the data */
};
#define RR_PKT(...) ((struct rr_pkt){ __VA_ARGS__ })
void rr_arrive(struct rr_pkt p, uint64_t cycle);
/* Posts a put from page `from` to node 1. */
void rr_put(uint32_t from, uint32_t bytes);
/* rr_landed returns whether the data of rr_arrive are in the page from offset 0
 * on, rr_empty whether the page is unchanged. */
bool rr_landed(uint32_t page, uint32_t bytes, uint32_t seed);
bool rr_empty(uint32_t page);
/* Returns word 1 of notification i, 0 = none. */
uint64_t rr_noti(uint32_t i);
uint64_t rr_faults(enum atu_fault why);
uint64_t rr_counter(const char *name);
/* Number of the transactions in the bus log with this op and lo <= address <
 * hi, and the indices of the first and the last. */
struct rr_ops {
	uint32_t n, first, last;
};
struct rr_ops rr_ops(enum weft_bus_op op, weft_phys_t lo, weft_phys_t hi);

#endif
