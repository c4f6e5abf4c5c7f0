/* SPDX-License-Identifier: Apache-2.0 */
/* FORTH NICs on a bench: a scripted bus with memory behind each, and a scripted
 * link end or a second NIC at the far side. Tests act through registers, bus
 * notes and frames only. */
#ifndef FORTH_TESTS_RIG_H
#define FORTH_TESTS_RIG_H

#include "systems/forth/link/port.h"
#include "systems/forth/nic/regs_map.h"
#include "weft/bus.h"
#include "weft/sim.h"

#define RIG_MEM	      0x10000000u /* physical address of a node's memory */
#define RIG_MEM_BYTES 0x100000u
/* number of entries of a log. A full log overwrites its last entry */
#define RIG_LOG	  8192
#define RIG_SENDS 1024

/* ---- bus (forth.md 11.1): fixed priority completion, write, read ---- */

struct tbus_op { /* one transaction, in the order of the bus */
	enum weft_bus_op op;
	uint64_t req, done; /* pc */
	weft_phys_t addr;
	uint32_t bytes, splits, tenures;
	uint64_t word; /* first qword, if it is a write */
};

struct tbus_pend {
	struct weft_bus_note note;
	bool mem_write;
	uint64_t phys;
};

struct tbus {
	/* parameters */
	struct weft_clock clock;
	uint32_t t_arb, t_ph, t_split, t_gap, t_disc;
	uint32_t chunk;
	/* another master requests the bus, so that latency timers count */
	bool contend;
	bool refuse; /* the target aborts instead of answering */
	/* number of PCI cycles for which the target repeats each completion of
	 * a read, or 0 */
	uint32_t repeat;
	/* transactions are reported as soon as their times are known, as by
	 * bus.pcix, and not at these times */
	bool ahead;
	/* state */
	struct weft_comp *comp;
	struct weft_port *dev;
	uint8_t *mem;
	struct weft_bus_txn *txn[2]; /* indexed by enum weft_bus_op */
	uint64_t ready[2], compl_ready, free_at;
	uint32_t seq_left;
	struct tbus_pend *pend; /* ordered by time */
	uint32_t n_pend;
	uint64_t reply;
	bool replied, irq;
	uint32_t irq_edges;
	struct tbus_op log[RIG_LOG];
	uint32_t n_log;
};
extern const struct weft_class weft_class_test_bus;

/* ---- far end of the link ---- */

struct tsink_pkt {
	uint64_t cycle; /* delimiter */
	uint64_t header;
	uint32_t words, len;
	uint64_t q[4]; /* first payload qwords */
};

struct tsink_send {
	uint64_t cycle; /* not before */
	uint64_t header;
	struct weft_slice payload;
};

struct tsink {
	uint32_t links, lanes, cap, min_payload, frame;
	uint32_t refresh, tx_cap;
	/* NET cycles from the delimiter of a packet to the return of its
	 * words */
	uint32_t hold;
	/* extra delay of each cable, in NET cycles */
	uint32_t delay0, delay1, delay2, delay3;
	bool stop; /* the sink returns no credits */
	struct weft_comp *comp;
	struct forth_port link;
	struct tsink_pkt log[RIG_LOG];
	uint32_t n_log;
	/* words that a stopped sink has not returned, by flow */
	uint64_t owed[FORTH_FLOWS];
	struct tsink_send send[RIG_SENDS];
	uint32_t head, tail;
	/* cycle at which each packet left the sink */
	uint64_t start[RIG_SENDS];
	uint32_t n_start;
};
extern const struct weft_class weft_class_test_sink;
extern const struct weft_class weft_class_forth_nic, weft_class_fault_bits;

/* ---- the bench ---- */

struct rig_node {
	struct weft_comp *nic;
	struct tbus *bus;
};

struct rig {
	struct weft_sim *sim;
	struct rig_node n[2];
	uint32_t nodes;
	struct tsink *sink; /* the sink, or NULL with two NICs */
	/* bundle=packet: a link end for each link, sink = on[0] */
	struct tsink *on[FORTH_PORT_LINKS_MAX];
};

/* Makes one NIC and a sink, or one sink per link with bundle=packet. `set` is
 * "param=value ...", applied after the preset. Names of parameters of a sink
 * start with "sink.", of the bus with "bus.", of the cable with "link.".
 * "sink.delayK=cycles" is the extra length of cable K. */
void rig_single(struct rig *r, const char *preset, const char *set);
void rig_pair(struct rig *r, const char *preset, const char *set);
/* Makes two NICs back to back. Frames of node 0 pass a fault.bits with the
 * parameters `fault`. */
void rig_pair_faulty(struct rig *r, const char *preset, const char *fault);
/* Ends the run, checks conservation and frees the bench. */
void rig_free(struct rig *r);

uint64_t rig_pc(const struct rig *r); /* number of PCI edges up to now */
/* runs up to and including PCI edge `pc` */
void rig_run_pc(struct rig *r, uint64_t pc);
void rig_wait(struct rig *r, uint64_t pcs);

/* Accesses of the host. Each takes effect one PCI cycle after the current
 * time. */
void rig_store(struct rig *r, uint32_t node, uint8_t space, uint64_t off,
	       const void *data, uint32_t bytes);
void rig_w32(struct rig *r, uint32_t node, uint32_t off, uint32_t val);
uint32_t rig_r32(struct rig *r, uint32_t node, uint32_t off);
void rig_cfg(struct rig *r, uint32_t node, uint32_t off, uint32_t size,
	     uint32_t val);
uint32_t rig_cfg_get(struct rig *r, uint32_t node, uint32_t off, uint32_t size);
uint64_t rig_load(struct rig *r, uint32_t node, uint8_t space, uint64_t off,
		  uint32_t bytes);
/* Initialises the NIC like a driver (2.9), but with latency timer 0 (off). */
void rig_setup(struct rig *r, uint32_t node);
/* Writes a descriptor by one 16-byte store. Returns the PCI edge at which the
 * NIC accepts the descriptor. */
uint64_t rig_post(struct rig *r, uint32_t node, uint32_t queue, uint32_t slot,
		  uint64_t src, uint64_t q1);
uint64_t rig_mem64(struct rig *r, uint32_t node, uint64_t phys);
void rig_mem_set64(struct rig *r, uint32_t node, uint64_t phys, uint64_t val);

/* Makes the sink send a packet at or after `cycle`. */
void rig_send(struct rig *r, uint64_t cycle, uint64_t header,
	      uint64_t first_qword);
/* Makes the sink of one of several links send a packet. */
void rig_send_on(struct rig *r, uint32_t link, uint64_t cycle, uint64_t header,
		 uint64_t first_qword);
uint64_t rig_cc(const struct rig *r); /* number of NET edges up to now */
/* Makes a stopped sink return the words that it owes. */
void rig_release(struct rig *r);

#define RIG_LNOTIFY (RIG_MEM + 0x1000)
#define RIG_RNOTIFY (RIG_MEM + 0x2000)

#endif
