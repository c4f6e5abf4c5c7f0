/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL: remote memory access (extoll.md 3.4 to 3.6, 5.3, 5.4, 7.5).
 *
 *   host --> command queue -> requester --.            .-> NP 1 (requests)
 *   NP 2 --> request queue -> responder --+-- transmit --+-> NP 1 (responses)
 *   NP 1 --> cells ---------> completer --> posted writes, notifications
 *
 * Requester and responder share one state machine (rma_transmit.c) with two
 * front ends. It takes a command, translates, reads host memory, and sends. In
 * the responder it also executes locks. If a lock is addressed to the
 * completer, the completer hands it over to the responder.
 *
 * A get that faults at the responder is answered by a response without payload,
 * so that the completer can report the error to the origin.
 *
 * Not modelled: remote register access (RRA), multicast, and the fields that
 * R1's packets do not carry: TE and INT act at the requester alone. */
#ifndef SYSTEMS_EXTOLL_NIC_RMA_H
#define SYSTEMS_EXTOLL_NIC_RMA_H

#include "systems/extoll/network/network_port.h"
#include "systems/extoll/nic/atu.h"
#include "systems/extoll/nic/htax.h"
#include "systems/extoll/nic/sparse_table.h"

struct rma;

enum {
	RMA_TXOPS = 4,	      /* commands in progress in a unit */
	RMA_READS = 8,	      /* outstanding reads of a unit (5.3) */
	RMA_T_CHECK = 8,      /* cycles of a check before the 4 of the ATU */
	RMA_T_COMPL = 20,     /* cycles of the completer from cell to write */
	RMA_CELLS = 64,	      /* slots of a network port */
	RMA_CELL_NONE = 0xff, /* no slot */
	RMA_WRITES = 16,      /* depth of the completer's write queue */
};

/* Reasons to refuse a command or packet. */
enum extoll_rma_bad {
	RMA_FINE,
	RMA_BAD_FORMAT,	  /* wrong valid bits, reserved bits or length of the
			     write */
	RMA_BAD_OP,	  /* command */
	RMA_BAD_MODS,	  /* modifiers */
	RMA_BAD_COUNT,	  /* byte count */
	RMA_BAD_PAGE,	  /* operand crosses a page */
	RMA_BAD_ALIGN,	  /* operand not aligned for the quadword form */
	RMA_BAD_OPTION,	  /* TE, INT, RRA, TC not allowed */
	RMA_BAD_ROUTE,	  /* no such node */
	RMA_BAD_XLATE,	  /* ATU fault */
	RMA_BAD_READ,	  /* host read failed */
	RMA_BAD_VPID,	  /* not enabled */
	RMA_BAD_MISROUTE, /* for another node or unit */
	RMA_BAD_LOCK,	  /* no such lock */
	RMA_BAD_REMOTE,	  /* the responder refused */
	RMA_BADS
};
extern const char *const extoll_rma_bad_name[RMA_BADS];

/* A descriptor as received. */
struct extoll_rma_desc {
	uint64_t w[3], trace;
	uint8_t vpid, opt;
};

/* A decoded command, of a descriptor or a packet. */
struct extoll_rma_cmd {
	uint8_t op, opt, spec, mods;
	uint8_t vpid, far_vpid; /* VPID at this node, VPID at the far node */
	uint16_t far_node;
	uint32_t low;	/* count - 1, or class, encoded as in a notification */
	uint32_t bytes; /* bytes of data, 0 = none */
	uint64_t w[2];	/* words 1 and 2 */
	/* lock: addressed to the responder, not to the completer */
	bool at_resp;
	uint64_t trace; /* message */
};

/* Decodes the descriptor, and returns the first error or RMA_FINE. Fills *c
 * even if the descriptor is invalid, because errors must be reported. ctl is
 * the VPID's control register, mtu is in bytes. */
enum extoll_rma_bad extoll_rma_desc_decode(const struct extoll_rma_desc *d,
					   uint64_t ctl, uint32_t mtu,
					   struct extoll_rma_cmd *c);
/* Returns H0 of the packet that carries command c from `node`. */
uint64_t extoll_rma_h0(const struct extoll_rma_cmd *c, uint32_t node);
/* Returns the number of command words in a packet of this operation. */
uint32_t extoll_rma_words(uint32_t op);
/* Decodes a received packet. c->vpid is the VPID at this node. Returns false if
 * the packet is invalid. */
bool extoll_rma_packet_decode(const struct weft_frame *f,
			      struct extoll_rma_cmd *c);

/* Returns the length of the next piece of a write to [addr, addr + len): whole
 * dwords inside one 64-byte block, or any bytes inside one 32-byte block,
 * because HyperTransport has no other writes (2.2). */
uint32_t extoll_rma_split(weft_phys_t addr, uint32_t len);

/* Counters of the RMA. Their indices in the NIC's table of counters begin at
 * EX_C_RMA. */
#define RMA_COUNTERS(X)                                                        \
	X(COMMANDS, "rma_commands", "commands", "taken by the requester")      \
	X(BAD_COMMANDS, "rma_bad_commands", "commands", "refused")             \
	X(RESPONSES, "rma_responses", "requests", "served by the responder")   \
	X(BAD_RESPONSES, "rma_bad_responses", "requests",                      \
	  "refused by the responder")                                          \
	X(COMPLETIONS, "rma_completions", "packets",                           \
	  "carried out by the completer")                                      \
	X(BAD_COMPLETIONS, "rma_bad_completions", "packets",                   \
	  "refused by the completer")                                          \
	X(DISCARDED, "rma_discarded", "packets",                               \
	  "malformed, misrouted, or for a VPID that is not enabled")           \
	X(NOTIFICATIONS, "rma_notifications", "notifications", "written")      \
	X(NOTI_STALLS, "rma_noti_stalls", "times",                             \
	  "a notification waited because its ring was full")                   \
	X(READ_BYTES, "rma_read_bytes", "bytes", "read from host memory")      \
	X(WRITE_BYTES, "rma_write_bytes", "bytes", "written to host memory")   \
	X(LOCKS, "rma_locks", "requests", "fetch-compare-and-add carried out") \
	X(TLB_HITS, "atu_hits", "lookups", "found in the TLB")                 \
	X(TLB_MISSES, "atu_misses", "lookups", "read from the table")          \
	X(ATU_FAULTS, "atu_faults", "lookups", "refused")
enum extoll_rma_counter {
#define X(id, name, unit, doc) RMA_K_##id,
	RMA_COUNTERS(X)
#undef X
		RMA_K_N
};

/* ---- a VPID ---- */

struct extoll_rma_vpid {
	uint64_t ctl; /* RMA_V_* */
	weft_phys_t base;
	uint32_t size; /* slots of the notification ring */
	uint32_t wp, rp;
	bool armed;    /* interrupt */
	bool wanted;   /* an unread notification still asks for the interrupt */
	uint32_t late; /* node to report for that notification */
};

/* ---- requester and responder ---- */

enum extoll_rma_tx_state {
	RMA_TX_FREE,
	RMA_TX_CMD,
	RMA_TX_XLATE,
	RMA_TX_READ,
	RMA_TX_SEND,
	RMA_TX_NOTI,
	RMA_TX_STATES
};
extern const char *const extoll_rma_tx_name[RMA_TX_STATES];

struct extoll_rma_tx;

struct extoll_rma_txop {
	struct extoll_rma_tx *u;
	enum extoll_rma_tx_state state;
	uint64_t until;
	struct extoll_rma_cmd cmd;
	enum extoll_rma_bad bad;
	/* set by type->check: */
	uint32_t bytes; /* bytes of data from memory; 0 = none */
	uint64_t from;	/* address of these data */
	bool physical;	/* `from` needs no translation */
	/* a lock, which excludes other locks while it is in progress */
	bool alone;
	struct weft_frame *f;
	/* set afterwards: */
	bool asked_atu, translated, sent, stalled;
	weft_phys_t phys;
	uint32_t skew;	/* bytes read before the first one needed */
	uint32_t total; /* bytes to read, skew included */
	/* bytes of `total` that are requested, and bytes that have arrived */
	uint32_t asked, got;
	struct weft_slice buf;
	struct netport_pkt *pkt;
	/* payload bytes available at the network port, UINT32_MAX = all */
	uint32_t told;
	uint64_t w0; /* first word of a notification */
	struct atu_req xl;
};

struct extoll_rma_rd { /* an outstanding read */
	struct extoll_rma_txop *op;
	uint32_t at;  /* offset in op->buf */
	uint32_t end; /* value of op->got once this read has arrived */
	bool done;
};

/* Differences between requester and responder. */
struct extoll_rma_tx_type {
	/* machine: name of the state machine for listeners */
	const char *name, *machine;
	enum extoll_htax_port port;
	uint32_t unit; /* RMA_REQUESTER, ... */
	uint32_t cls;
	enum extoll_rma_counter good, bad;
	/* waits() returns true if a command is queued. take() removes it. */
	bool (*waits)(const struct rma *r);
	void (*take)(struct rma *r, struct extoll_rma_txop *op);
	/* Checks the command and makes the frame of its packet. Returns the
	 * reason for which the command is refused, or RMA_FINE. */
	enum extoll_rma_bad (*check)(struct rma *r, struct extoll_rma_txop *op);
	/* Completes the frame with the data, or with the failure of a refused
	 * command, before it is sent. If fill is NULL, a refused command sends
	 * no packet. */
	void (*fill)(struct rma *r, struct extoll_rma_txop *op);
};

struct extoll_rma_tx {
	struct rma *rma;
	const struct extoll_rma_tx_type *type;
	uint32_t interval;   /* cycles between commands */
	uint64_t next_start; /* earliest start of the next command */
	struct extoll_rma_txop op[RMA_TXOPS];
	uint32_t head, tail; /* of op */
	bool in_xlate;	     /* a command waits for the ATU, one at a time */
	struct extoll_rma_rd rd[RMA_READS];
	uint32_t rd_head, rd_tail;
	struct weft_timer timer;
};

/* Advances each command of the unit until it must wait. */
void extoll_rma_tx_run(struct extoll_rma_tx *u);
void extoll_rma_tx_fini(struct extoll_rma_tx *u);
extern const struct extoll_rma_tx_type extoll_rma_requester,
	extoll_rma_responder;

/* ---- completer ---- */

enum extoll_rma_in_state {
	RMA_IN_WAIT,
	RMA_IN_CHECK,
	RMA_IN_XLATE,
	RMA_IN_LOCK,
	RMA_IN_WRITE,
	RMA_IN_DRAIN,
	RMA_IN_NOTI,
	RMA_IN_STATES
};
extern const char *const extoll_rma_in_name[RMA_IN_STATES];

struct extoll_rma_cell { /* a cell in a slot of NP 1 */
	struct weft_frame *pkt;
	uint64_t cycle;
	uint32_t end; /* offset in the packet behind the cell's last byte */
	bool eop;
	uint8_t next;
};

struct extoll_rma_in { /* state of one virtual channel */
	struct rma *rma;
	enum extoll_rma_in_state state;
	uint8_t head, tail; /* first and last cell, 0xff = none */
	uint64_t until;
	struct extoll_rma_cmd cmd;
	enum extoll_rma_bad bad;
	uint32_t wrote; /* bytes for which writes were requested */
	uint32_t out;	/* writes requested and not granted by HTAX */
	bool asked_atu, translated, stalled;
	struct weft_slice data;
	struct weft_frame *pkt;
	uint64_t trace; /* message */
	struct atu_req xl;
};

/* Advances the packet of each channel until it must wait. */
void extoll_rma_compl_run(struct rma *r);
/* Receives a cell of network port 1. Its slot is released later. */
void extoll_rma_compl_cell(struct rma *r, const struct netport_cell *c);

/* ---- the RMA as a whole ---- */

struct extoll_rma_lock_table {
	weft_phys_t base;
	uint32_t n; /* locks of each VPID; 0 = none */
};

struct rma {
	struct extoll_nic *nic;
	uint64_t config;      /* RMA_C_* */
	struct ex_vpids vpid; /* struct extoll_rma_vpid */
	struct atu atu;
	struct extoll_rma_tx req, resp;
	struct extoll_rma_desc queue[RMA_QUEUE];
	uint32_t q_head, q_tail;
	/* responder: queued requests, and packets that wait for room in that
	 * queue */
	struct extoll_rma_cmd asked[RMA_QUEUE];
	uint32_t a_head, a_tail;
	struct weft_frame *wait_head, *wait_tail;
	struct extoll_rma_lock_table lock;
	/* completer: */
	struct extoll_rma_in in[EX_VCS];
	struct extoll_rma_cell cell[RMA_CELLS];
	uint64_t in_next;  /* earliest start of a packet */
	bool in_xlate;	   /* a packet waits for the ATU, one at a time */
	uint32_t in_queue; /* writes requested and not granted by HTAX */
	struct weft_timer in_timer;
};

/* Returns the RMA of the NIC. Allocates it on first use. */
struct rma *extoll_rma_make(struct extoll_nic *n);
extern const struct ex_unit ex_rma_req_unit, ex_rma_resp_unit, ex_rma_comp_unit,
	ex_atu_unit;
extern const struct netport_ops ex_rma_np; /* ports 1 and 2 */

/* Registers of the RMA. The index of a register is a VPID, the number of a
 * table, or a fault. The rows of the NIC's register table come from this list,
 * in this order. */
#define RMA_REGS(X)                                                            \
	X(CONFIG, "rma_config", EXTOLL_RMA_CONFIG, 1, 8, RW,                   \
	  "6:0 largest packet / 64 B, 8 errors always notify")                 \
	X(LOCK_BASE, "rma_lock_base", EXTOLL_RMA_LOCK_BASE, 1, 8, RW,          \
	  "lock table: physical address")                                      \
	X(LOCK_N, "rma_lock_n", EXTOLL_RMA_LOCK_N, 1, 8, RW,                   \
	  "locks of each VPID (3.5)")                                          \
	X(ATU_ENABLE, "atu_enable", EXTOLL_ATU_ENABLE, 1, 8, RW,               \
	  "0: every translation faults")                                       \
	X(ATU_COMMAND, "atu_command", EXTOLL_ATU_COMMAND, 1, 8, MIXED,         \
	  "flush, fence, notification (3.8); reads: commands not finished")    \
	X(ATU_GATS, "atu_gats", EXTOLL_ATU_GATS, 1, 8, RO, "tables there are") \
	X(ATU_FAULT, "atu_fault", EXTOLL_ATU_FAULTS, ATU_FAULTS, 8, RO,        \
	  "faults: -, address, crossing, table, entry, access, owner, bus")    \
	X(VPID, "rma_vpid", EXTOLL_RMA_VPID, RMA_VPIDS, 8, RW,                 \
	  "0 enable, 1 may use physical addresses, 2 RRA, 3 INT, 7:4 traffic " \
	  "classes, 31:16 protection descriptor")                              \
	X(BASE, "rma_vpid_base", EXTOLL_RMA_BASE, RMA_VPIDS, 8, RW,            \
	  "notification ring, a multiple of 64")                               \
	X(SIZE, "rma_vpid_size", EXTOLL_RMA_SIZE, RMA_VPIDS, 8, RW,            \
	  "its slots; a store empties it")                                     \
	X(WP, "rma_vpid_wp", EXTOLL_RMA_WP, RMA_VPIDS, 8, RO,                  \
	  "next slot to be written")                                           \
	X(PENDING, "rma_vpid_pending", EXTOLL_RMA_PENDING, RMA_VPIDS, 8, RO,   \
	  "its commands that wait or are under way, and its notifications in " \
	  "the NIC")                                                           \
	X(ATU_GAT, "atu_gat", EXTOLL_ATU_GAT, ATU_GATS, 8, RW,                 \
	  "0 valid, 31:1 table's physical address / 2 MB (3.7)")               \
	X(RP, "rma_rp", EXTOLL_RMA_RP, RMA_VPIDS, RMA_PAGE, RW,                \
	  "software's read pointer; 32 arms the interrupt")
enum extoll_rma_reg {
#define X(id, name, off, n, step, acc, doc) RMA_R_##id,
	RMA_REGS(X)
#undef X
};
#define X(id, name, off, n, step, acc, doc)                                    \
	uint64_t extoll_rma_##id##_read(struct weft_comp *c, uint32_t i);      \
	void extoll_rma_##id##_wrote(struct weft_comp *c, uint32_t i,          \
				     uint64_t val);
RMA_REGS(X)
#undef X
/* Return and set a register. A load does not allocate the RMA. */
uint64_t extoll_rma_reg_get(struct extoll_nic *n, enum extoll_rma_reg reg,
			    uint32_t index);
void extoll_rma_reg_set(struct extoll_nic *n, enum extoll_rma_reg reg,
			uint32_t index, uint64_t val);

/* Starts a read of host memory. Calls done() with p->user[0] = own when the
 * data have arrived. */
void extoll_rma_read(struct extoll_nic *n, enum extoll_htax_port port,
		     weft_phys_t addr, uint32_t bytes,
		     void (*done)(struct extoll_nic *n, struct hx_pkt *p),
		     void *own, uint64_t trace);
/* Requests an event of a unit at this cycle. */
void extoll_rma_wake(struct rma *r, struct weft_timer *tm,
		     enum extoll_htax_port port, uint64_t cycle);

/* rma_notification.c: returns the VPID's state, or NULL if it was never
 * written */
static inline struct extoll_rma_vpid *extoll_rma_vpid(const struct rma *r,
						      uint32_t vpid)
{
	return ex_vpid_find(&r->vpid, vpid, sizeof(struct extoll_rma_vpid));
}
/* Returns the VPID's control register, 0 if it was never written. */
static inline uint64_t extoll_rma_vpid_ctl(const struct rma *r, uint32_t vpid)
{
	const struct extoll_rma_vpid *v = extoll_rma_vpid(r, vpid);

	return v ? v->ctl : 0;
}
/* Returns word 1 of a notification. unit is RMA_REQUESTER .. RMA_COMPLETER,
 * error is a mask of units. */
uint64_t extoll_rma_noti_pack(const struct extoll_rma_cmd *c, uint32_t unit,
			      uint32_t error);
/* Writes a notification into the ring of an enabled VPID. Returns false if the
 * ring is full. The unit then tries again after software has stored the read
 * pointer. */
bool extoll_rma_notify(struct rma *r, enum extoll_htax_port port, uint32_t vpid,
		       uint64_t w0, uint64_t w1, uint64_t trace);
/* Writes the event if the VPID's ring is armed and an unread notification asks
 * for the interrupt. */
void extoll_rma_look(struct extoll_nic *n, uint32_t vpid);
/* Returns true if `unit` must write a notification, because the command asks
 * for it, or because the command failed and errors always notify. */
bool extoll_rma_wants_noti(const struct rma *r, const struct extoll_rma_cmd *c,
			   uint32_t unit, enum extoll_rma_bad bad);

/* Decodes a packet into c, even if the packet is invalid. Returns true if the
 * packet is valid and addressed to this node. */
bool extoll_rma_packet_ours(const struct rma *r, const struct weft_frame *f,
			    struct extoll_rma_cmd *c);

/* in rma_requester.c */
bool extoll_rma_req_room(struct extoll_nic *n, uint32_t flying);
/* Queues the descriptor that the store carries. Counts and reports a store that
 * is not a descriptor. */
void extoll_rma_req_store(struct extoll_nic *n, const struct hx_store *s);

/* in rma_responder.c */
/* Queues a request. Returns false if the request queue is full. */
bool extoll_rma_resp_push(struct rma *r, const struct extoll_rma_cmd *c);
/* Receives a cell of network port 2. If the request queue has no room, keeps
 * the cell's slot. Later requests then wait in the network. */
void extoll_rma_resp_cell(struct rma *r, const struct netport_cell *c);

/* Executes a fetch-compare-and-add (3.5) on *mem. Returns the result,
 * RMA_LOCK_YES or RMA_LOCK_NO. */
uint32_t extoll_rma_lock_fcaa(int32_t *mem, int32_t compare, int32_t add);

void extoll_rma_count(struct extoll_nic *n, enum extoll_rma_counter k,
		      uint64_t by);

#endif
