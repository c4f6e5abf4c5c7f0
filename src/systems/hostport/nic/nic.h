/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the Host Port (class hostport.nic): the device, and the
 * functions that its blocks offer each other. Source: hostport.md 1, 4 to 9.
 *
 *   bus --+-- registers.c      configuration space, management and info page
 *         |   trigger.c        Triggerpages -> store_buffer.c
 *         |                                          |
 *         |   fetch.c          pointer commands, VCI fetch, shares
 *         |                                          |
 *         |   scheduler.c -> requester units (requester.c) --+--> NPs
 *         |                                                  |
 *         (network_ports.c)
 *         |   dispatch.c <- network_ports.c                  |
 *         |   scheduler.c -> completers (completer.c),       |
 *         |                  responders (responder.c) -------+
 *         +-- host_interface.c <---- notification.c, context_cache.c,
 *         |                          windows.c, route_cache.c, tlb.c
 *         +-- ultra.c
 *
 * Inside the device, times are numbers of core clock edges ("cycles"). */
#ifndef SYSTEMS_HOSTPORT_NIC_NIC_H
#define SYSTEMS_HOSTPORT_NIC_NIC_H

#include "base/vec.h"
#include "systems/hostport/nic/context_cache.h"
#include "systems/hostport/nic/fetch.h"
#include "systems/hostport/nic/network_ports.h"
#include "systems/hostport/nic/notification.h"
#include "systems/hostport/nic/parameters.h"
#include "systems/hostport/nic/regs_map.h"
#include "systems/hostport/nic/scheduler.h"
#include "systems/hostport/nic/stage_marks.h"
#include "systems/hostport/nic/store_buffer.h"
#include "systems/hostport/nic/wire.h"
#include "weft/bus.h"

enum { HP_PORT_BUS, HP_PORT_NETS };
/* Tags order the calls of one moment: arrivals, callbacks, then the schedulers.
 * Therefore the schedulers see all requests of their cycle. */
enum {
	HP_TAG_NP,
	HP_TAG_LATER = HP_TAG_NP + HP_NPS,
	HP_TAG_SLOT, /* base of the tags of schedulers: enum hp_part is added */
	HP_TAG_N = HP_TAG_SLOT + 3
};
enum hp_part { HP_REQ, HP_CPL, HP_RSP, HP_PARTS };

/* Counters: X(id, name, unit, doc). They are also registers from HP_R_COUNTERS
 * on. */
#define HP_COUNTERS(X)                                                         \
	X(TRIGGERS, "triggers", "loads", "of Triggerpages")                    \
	X(ACCEPTED, "accepted", "entries", "put into the CSB")                 \
	X(REJECTED, "rejected", "entries", "asked for and not taken")          \
	X(PARKED, "parked", "VCIs", "waited for notification space (CSB12)")   \
	X(VCIS, "vcis", "VCIs", "fetched")                                     \
	X(BAD_VCIS, "bad_vcis", "VCIs", "that no command list has")            \
	X(STATUS, "status", "commands", "snapshots and pointer updates")       \
	X(BARRIERS, "barriers", "commands", "Barrier Reached")                 \
	X(TAGGED, "tagged", "VCIs", "stored by tagged conditional stores")     \
	X(TAGGED_FULL, "tagged_full", "VCIs", "refused: queue full")           \
	X(TAGGED_STORES, "tagged_stores", "stores", "taken by registers")      \
	X(TAGGED_REFUSED, "tagged_refused", "stores",                          \
	  "no register, or not of the tag")                                    \
	X(ERR_LOGS, "err_logs", "records", "put into the error log")           \
	X(ERR_LOST, "err_lost", "records", "error log full")                   \
	X(CTX_HITS, "ctx_hits", "lookups", "found in the context cache")       \
	X(CTX_MISSES, "ctx_misses", "lookups", "read from the table")          \
	X(CTX_BACKS, "ctx_backs", "contexts", "written back")                  \
	X(WIN_HITS, "win_hits", "lookups", "found in the window cache")        \
	X(WIN_MISSES, "win_misses", "lookups", "read from the table")          \
	X(ROUTE_HITS, "route_hits", "lookups", "found in the routing cache")   \
	X(ROUTE_MISSES, "route_misses", "lookups", "read from the space")      \
	X(TLB_HITS, "tlb_hits", "lookups", "found in the TLB")                 \
	X(TLB_MISSES, "tlb_misses", "lookups", "asked of the driver")          \
	X(TLB_FAULTS, "tlb_faults", "lookups", "not translatable")             \
	X(PACKETS_OUT, "packets_out", "packets", "given to network ports")     \
	X(PACKETS_IN, "packets_in", "packets", "taken from network ports")     \
	X(BAD_PACKETS, "bad_packets", "packets", "malformed: discarded")       \
	X(NQES, "nqes", "notifications", "written")                            \
	X(NQE_WAITS, "nqe_waits", "notifications", "waited for space")         \
	X(ACKS, "acks", "packets", "positive acknowledges sent")               \
	X(NACKS, "nacks", "packets", "negative acknowledges sent")             \
	X(RX_STALLS, "rx_stalls", "packets", "waited for RDR, PRD or NQ")      \
	X(RX_REFUSED, "rx_refused", "packets", "receiver had no room left")    \
	X(READS, "reads", "transactions", "of host memory")                    \
	X(READ_BYTES, "read_bytes", "bytes", "read from host memory")          \
	X(WRITES, "writes", "transactions", "to host memory")                  \
	X(WRITE_BYTES, "write_bytes", "bytes", "written to host memory")       \
	X(ABORTS, "aborts", "transactions", "that the host refused")           \
	X(IRQS, "irqs", "interrupts", "raised")                                \
	X(DEADLOCKS, "deadlocks", "times", "a deadlock timer ran out")         \
	X(COPIES, "copies", "packets", "sent by the multicast port")           \
	X(ULTRA_SENT, "ultra_sent", "packets", "injected by ULTRA")            \
	X(ULTRA_RECEIVED, "ultra_received", "packets", "stored by ULTRA")      \
	X(ULTRA_REFUSED, "ultra_refused", "packets", "not accepted (9.5, 5a)") \
	X(ULTRA_DISCARDED, "ultra_discarded", "packets", "wrong source (9.6)") \
	X(EVENTS, "events", "records", "written to the driver's ring")         \
	X(PARKS, "parks", "packets", "waited for a page in main memory")       \
	X(STALE, "stale", "packets", "for an earlier owner of their VPID")
enum hp_counter {
#define X(id, name, unit, doc) HP_K_##id,
	HP_COUNTERS(X)
#undef X
		HP_K_N
};

/* ---- callbacks (callback_heap.c) ---- */

typedef void (*hp_fn)(struct hp_nic *n, void *arg);
struct hp_call {
	uint64_t cycle, seq;
	hp_fn fn;
	void *arg;
};
struct hp_later {
	VEC(struct hp_call); /* heap */
	uint64_t seq;
	struct weft_timer timer;
};
/* Calls fn(n, arg) at `cycle` (>= now), after all calls that are already queued
 * for that cycle. */
void hp_at(struct hp_nic *n, uint64_t cycle, hp_fn fn, void *arg);

/* ---- host memory (host_interface.c) ---- */

/* A read or write. Reads are executed in the order of their requests, and so
 * are writes. A read may pass a write that is not `done`. */
struct hp_dma {
	struct weft_bus_txn txn; /* status, data */
	/* Called when all bytes of a read have arrived (all ones when the bus
	 * refused), or when a write was handed to the bus. May be NULL. d and
	 * its data are freed afterwards. A callback that needs the data longer
	 * calls weft_slice_ref(). */
	void (*done)(struct hp_nic *n, struct hp_dma *d);
	void *arg;
	uint64_t user;	/* value that the requesting block may use */
	uint32_t bytes; /* number of bytes requested */
	uint8_t skew;
	struct hp_dma *next, *chain;
};
struct hp_dma_list {
	struct hp_dma *head, *tail;
	/* n: number of requests that wait. out: number of requests at the bus,
	 * at most `limit` */
	uint32_t n, out, limit;
};
/* Reads `bytes` > 0 bytes at any address. Returns the request, which is valid
 * until done has returned. */
struct hp_dma *hp_dma_read(struct hp_nic *n, weft_phys_t addr, uint32_t bytes,
			   void (*done)(struct hp_nic *, struct hp_dma *),
			   void *arg);
/* Writes a slice to memory and takes over the caller's reference to the slice.
 * Returns the request, which is valid until the callback `done` has returned.
 */
struct hp_dma *hp_dma_write(struct hp_nic *n, weft_phys_t addr,
			    struct weft_slice data,
			    void (*done)(struct hp_nic *, struct hp_dma *),
			    void *arg);
/* Writes a copy of bytes of the device. Result and callback are those of
 * hp_dma_write(). */
struct hp_dma *hp_dma_put(struct hp_nic *n, weft_phys_t addr, const void *data,
			  uint32_t bytes,
			  void (*done)(struct hp_nic *, struct hp_dma *),
			  void *arg);

/* ---- instructions (instruction.c) ---- */

struct hp_vci {
	uint64_t w[HP_WORDS];
	uint16_t vpid; /* origin */
	uint8_t byte;  /* command */
	uint8_t main;  /* enum hp_main */
	bool ack;      /* A */
	bool three;    /* three-staged: a response follows (1.5) */
	bool rma;      /* the instruction names a target window */
	uint8_t imm;   /* number of immediate words that the packet carries */
	uint8_t first; /* index of the first immediate word */
	/* ERR_CMD_INV if the instruction is invalid, else HP_ERR_NOERR */
	enum hp_err err;
};
/* Decodes the words of a VCI. If the VCI is invalid, sets err and clears
 * main. */
void hp_vci_decode(struct hp_vci *v, const uint64_t *w, uint32_t vpid);

/* Record of a requester's job (requester.c extends it). */
struct hp_req {
	struct hp_job job;
	struct hp_vci vci;
	/* id of the listeners' message that continues with the packet of this
	 * instruction, or 0 */
	uint64_t trace;
	/* true if an NQ entry is reserved for the notification. False only in
	 * tests */
	bool reserved;
	/* the instruction counts in the share of its VPID (fetch_share.c) */
	bool ahead;
};

/* ---- interrupts (interrupts.c), records for the driver (driver_events.c) ----
 */

/* Sets bits of IRQ_STATUS. */
void hp_irq(struct hp_nic *n, uint32_t bits);
/* Clears bits of IRQ_STATUS. The bit of a kind of record stays set while
 * records of that kind are left. */
void hp_irq_clear(struct hp_nic *n, uint32_t bits);
/* Records in the error log an error for which no notification queue exists.
 * hp_irq_vpid() records the VPID of an NQE interrupt, and hp_tlb_missed() asks
 * the driver for a page. */
void hp_err_log(struct hp_nic *n, uint32_t cmd, uint32_t vpid);
void hp_irq_vpid(struct hp_nic *n, uint32_t vpid);
void hp_tlb_missed(struct hp_nic *n, uint32_t vpid, uint64_t vpage, bool write);
/* Hooks that are called when the driver stores size or read pointer of the ring
 * of records. */
struct hp_miss;
void hp_events_size(struct hp_nic *n, uint64_t size);
void hp_events_took(struct hp_nic *n, uint32_t rp);
/* Functions of register VPID_QUIET (quiescence.c). hp_quiet() ends all waits
 * for a closed VPID. hp_held() returns how many parts of the device still use
 * the VPID. */
void hp_quiet(struct hp_nic *n, uint32_t vpid);
uint32_t hp_held(const struct hp_nic *n, uint32_t vpid);
/* Sets the number of pages in the area for parked packets
 * (parked_packets.c). */
void hp_park_area(struct hp_nic *n, uint64_t pages);

/* ---- incoming (dispatch.c) ---- */

/* Dispatches a packet that begins to arrive: checks DTAG, then passes it to
 * ULTRA, a responder or a completer. */
void hp_incoming(struct hp_nic *n, struct hp_rx *rx);
/* Handles a packet of the service port: sends the copies of a multicast, or
 * reports a packet that no crossbar could route. */
void hp_service(struct hp_nic *n, struct hp_rx *rx);
/* Sends the acknowledge that packet h requested (8.4, 3.4). err is 0 for a
 * positive one. `trace` is the id of the listeners' message that continues with
 * the acknowledge, or 0. */
void hp_ack(struct hp_nic *n, const struct hp_head *h, enum hp_err err,
	    uint64_t trace);

/* ---- caches of the units (windows.c, route_cache.c, tlb.c) ---- */

struct hp_lines;
struct hp_tlb;
struct hp_ultra;

/* Functions of a block that the NIC calls. Each may be NULL. */
struct hp_block {
	const char *name;
	int (*init)(struct hp_nic *n, struct weft_err *err);
	/* Handle stores and loads of the host in the block's BAR (enum hp_bar).
	 * Only ULTRA has such a BAR. hp_reply() answers a load. */
	void (*store)(struct hp_nic *n, const struct weft_bus_note *note);
	void (*load)(struct hp_nic *n, const struct weft_bus_note *note);
	/* Handle tagged accesses: conditional store, store, load. Return true
	 * when the conditional store was done, the store was accepted, or the
	 * load is valid. */
	bool (*tstore)(struct hp_nic *n, const struct weft_bus_note *note);
	bool (*tput)(struct hp_nic *n, const struct weft_bus_note *note);
	bool (*tload)(struct hp_nic *n, const struct weft_bus_note *note,
		      uint64_t *val_p);
	/* Executes CACHE_CMD for the block's cache. Returns CACHE_STATUS. */
	uint64_t (*cache)(struct hp_nic *n, uint64_t cmd, uint64_t arg0,
			  uint64_t arg1);
	/* Takes a packet of the block's group (ULTRA). */
	void (*rx)(struct hp_nic *n, struct hp_rx *rx);
	int (*finish)(struct hp_nic *n, struct weft_err *err);
	void (*fini)(struct hp_nic *n);
};
/* The first entries are caches, by enum hp_cache. An entry is NULL when the
 * block does not exist. */
enum { HP_BLOCK_ULTRA = 4, HP_BLOCK_NOTIFY, HP_BLOCKS };
extern const struct hp_block *const hp_blocks[HP_BLOCKS];
extern const struct hp_block hp_win_block, hp_route_block, hp_tlb_block;
extern const struct hp_block hp_notify_block;
extern const struct hp_block hp_ultra_block;
/* Pipelines of the units, in the order of enum hp_part. */
extern const struct hp_pipe hp_req_pipe, hp_cpl_pipe, hp_rsp_pipe;

/* ---- the device ---- */

/* FIFO of records. Loads of a register take records from the FIFO, or the
 * device moves them into the ring. */
struct hp_miss {
	RING(uint64_t);
};
enum { HP_EVENTS_MAX = 1 << 16 };
enum { HP_PARK_MAX = 1 << 20 };
struct hp_park_area { /* area for packets that wait (parked_packets.c) */
	weft_phys_t base;
	uint32_t pages, used;
	/* page[i] is set while page i of the area is in use */
	uint8_t *page;
	uint32_t kept[HP_FU_MAX]; /* bytes in the buffer of each completer */
};
struct hp_in;
struct hp_in_list {
	struct hp_in *head, *tail;
};
/* Packets that arrived and wait for room in a scheduler's queue. */
enum { HP_PEND_REPLY, HP_PEND_REQUEST, HP_PEND_RESPONDER, HP_PENDS };
/* resources that a receiver without room uses (receiver_room.c): waiting slots,
 * bytes of unit buffers, pages of the parking area */
struct hp_share {
	uint16_t vpid;
	uint32_t places, bytes, pages;
};
struct hp_room {
	struct hp_in *head, *tail; /* packets that wait, oldest first */
	struct {
		VEC(struct hp_share);
	} shares;
	uint32_t used; /* number of waiting slots in use */
};
/* Ring of records. Its pointers count all records of the run. */
struct hp_events {
	weft_phys_t base;
	uint32_t size; /* number of records, or 0 without a ring */
	uint32_t wp, written, rp;
};

struct hp_records {
	struct hp_miss tlb_miss, irq_vpid, err_log;
	struct hp_events events;
};
struct hp_registers { /* 4.10 */
	uint64_t hpid, ct_base, rs_base, rs_size, ctrl;
	uint32_t wq_size, sdr_size, rdr_size, wdt_size, prq_size, nq_size;
	uint32_t rdr_unit;
	uint64_t cache_arg[2], cache_status;
	uint32_t irq_status;
	bool irq_level, driver_lock;
	uint64_t driver_state;
	uint32_t route_node, quiet;
};

struct hp_nic {
	struct ex_place place; /* position of the node in the network */
	struct hp_params param;
	/* below: state */
	struct weft_comp *comp;
	struct weft_port *bus;
	bool started;
	struct hp_registers reg;
	struct hp_records records;
	struct hp_park_area park;
	struct hp_room room;
	/* blocks */
	struct hp_later later;
	/* lists of reads and writes, by enum weft_bus_op */
	struct hp_dma_list dma[2];
	struct hp_dma *dma_pool, *dma_all;
	struct hp_csb csb;
	struct { /* the load whose answer is pending */
		uint64_t off;
		uint32_t bytes;
		uint8_t space;
	} load;
	struct hp_marks marks;
	struct hp_ctx_cache ctx;
	struct hp_fetch_unit fetch;
	/* number of VCIs that have reached the device, and sum of their times
	 * of arrival in ns */
	uint64_t vcis;
	double vci_at;
	struct hp_sched sched[HP_PARTS];
	struct weft_timer slot[HP_PARTS];
	/* first cycle whose slot is not used yet */
	uint64_t slot_next[HP_PARTS];
	struct hp_net net;
	struct hp_notify notify;
	struct hp_in_list pend[HP_PENDS];
	/* allocated by their blocks */
	struct hp_lines *win, *routes;
	struct hp_tlb *xlate;
	struct hp_ultra *ultra;
};

/* Rows of the register table that other files read. */
enum { HP_REG_COMMAND, HP_REG_N };
extern const struct weft_reg hp_regs[];

/* Answers the load of the present note, or the load that was deferred. */
static inline void hp_reply(struct hp_nic *n, uint64_t val, uint32_t bytes)
{
	weft_bus_of(n->bus)->reply(n->bus, &val, bytes);
}
/* Returns whether the scheduler's queue has room for one more VCI, besides
 * those that are being fetched and decoded. */
static inline bool hp_fetch_room(const struct hp_nic *n)
{
	const struct hp_sched *s = &n->sched[HP_REQ];

	return s->n_queue + n->fetch.n + n->fetch.decoding < s->room;
}

static inline uint64_t hp_now(const struct hp_nic *n)
{
	return weft_clock_cycle(&n->param.f_core, weft_now(n->comp));
}
static inline weft_time_t hp_edge(const struct hp_nic *n, uint64_t cycle)
{
	return weft_clock_edge(&n->param.f_core, cycle);
}
static inline void hp_after(struct hp_nic *n, uint32_t cycles, hp_fn fn,
			    void *arg)
{
	hp_at(n, hp_now(n) + cycles, fn, arg);
}
/* Reports to listeners that the message was in this stage until now. */
static inline void hp_mark(const struct hp_nic *n, uint64_t id,
			   const char *stage)
{
	if (__builtin_expect(id != 0, 0))
		weft_mark(n->comp, id, stage, weft_now(n->comp));
}
static inline void hp_csb_tell(const struct hp_nic *n)
{
	weft_level(n->comp, "csb", WEFT_TRACE_ONE, n->csb.n, weft_now(n->comp));
}
static inline void hp_count(struct hp_nic *n, enum hp_counter k, uint64_t by)
{
	weft_count(n->comp, k, by);
}

/* Functions that nic.c calls. */
void hp_later_event(struct hp_nic *n);
void hp_hif_done(struct hp_nic *n, struct hp_dma *d);
/* Dispatches an access of the host. */
void hp_access(struct hp_nic *n, const struct weft_bus_note *note);
/* Executes a load of the Triggerpages. Returns the answer to it. */
uint64_t hp_trigger(struct hp_nic *n, uint64_t off, uint32_t bytes);

#endif
