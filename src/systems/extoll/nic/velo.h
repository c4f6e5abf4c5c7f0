/* SPDX-License-Identifier: Apache-2.0 */
/* VELO: requester (extoll.md 5.1) and completer (5.2), mailboxes (3.3). */
#ifndef SYSTEMS_EXTOLL_NIC_VELO_H
#define SYSTEMS_EXTOLL_NIC_VELO_H

#include "systems/extoll/network/network_port.h"
#include "systems/extoll/nic/htax.h"
#include "systems/extoll/nic/sparse_table.h"

struct extoll_nic;

/* ---- requester ---- */

enum extoll_velo_rq_state {
	VELO_RQ_IDLE, /* partial messages are kept in `open` */
	VELO_RQ_HEADER,
	VELO_RQ_BODY,
	VELO_RQ_ROUTE,
	VELO_RQ_SEND, /* outlasts an event only while NP 0 is full */
	VELO_RQ_DROP,
	VELO_RQ_STATES
};

/* A message of which a part has been stored on a page, or a dropped message
 * whose further bytes are dropped, too. */
struct extoll_velo_open {
	struct extoll_velo_open *next;
	uint64_t expires; /* cycle */
	uint8_t buf[128]; /* header and payload so far */
	/* bytes so far: the next store must start at this offset in the page */
	uint16_t have;
	/* bytes of the whole message store; 0 = header incomplete */
	uint16_t need;
	uint16_t page; /* TC, VPID */
	bool dropped;
	uint64_t trace; /* message of the store that began it */
};

struct extoll_velo_rq {
	enum extoll_velo_rq_state state;
	enum extoll_drop why;
	struct extoll_velo_open *open, *spare;
	/* message to which the current store belongs */
	struct extoll_velo_open *cur;
	const struct hx_store *store; /* store that is being handled */
	struct weft_frame *held;      /* packet that waits in SEND */
	uint64_t from; /* cycle at which the first word of `held` is ready */
	struct weft_timer timer; /* expiry of partial messages */
};

/* ---- completer ---- */

enum extoll_velo_cp_state {
	VELO_CP_WAIT,
	VELO_CP_CHECK,
	VELO_CP_SLOT,
	VELO_CP_DATA,
	VELO_CP_WRITE,
	VELO_CP_STALL,
	VELO_CP_DISCARD,
	VELO_CP_STATES
};

/* Registers of a VPID: its mailbox, and its permission to send. */
struct extoll_velo_vpid {
	uint64_t tx; /* EXTOLL_VELO_TX */
	uint64_t rx; /* EXTOLL_VELO_RX */
	weft_phys_t base;
	uint32_t wp, rp; /* slots */
	bool armed;	 /* interrupt */
	bool wanted;	 /* an unread message asked for the interrupt */
	uint16_t late;	 /* node of that message's sender */
};

struct extoll_velo_cp {
	enum extoll_velo_cp_state state;
	enum extoll_discard why;
	/* cells not yet handled, by VC */
	struct {
		RING(struct netport_cell);
	} cell[EX_VCS];
	uint8_t vc;   /* VC of the current message */
	bool discard; /* the current message is dropped */
	/* Packet of the current message. The completer owns the packet once its
	 * last cell has arrived. */
	struct weft_frame *pkt;
	uint64_t stalled; /* cycle at which STALL was entered */
	/* cycle at which the write of the current message is ready */
	uint64_t from;
	uint32_t writes; /* writes requested and not granted by HTAX */
	struct weft_timer timer;
};

struct ex_velo {
	struct ex_vpids vpid; /* struct extoll_velo_vpid */
	struct extoll_velo_rq rq;
	struct extoll_velo_cp cp;
	uint64_t timeout;
	bool policy_drop;
	uint64_t sent, received, bad_rp;
	uint32_t drop[EXTOLL_DROP_N];
	uint32_t discard[EXTOLL_DISCARD_N];
	/* sender of the last discarded message: node, VPID << 16 */
	uint32_t discard_src;
};

extern const struct ex_unit ex_velo_unit;
extern const struct netport_ops ex_velo_np;
extern const char *const extoll_velo_rq_name[VELO_RQ_STATES];
extern const char *const extoll_velo_cp_name[VELO_CP_STATES];

static inline struct extoll_velo_vpid *velo_vpid(const struct ex_velo *v,
						 uint32_t vpid)
{
	return ex_vpid_find(&v->vpid, vpid, sizeof(struct extoll_velo_vpid));
}

/* Handle stores to the registers of a mailbox, and to its read pointer. */
void extoll_velo_rx_set(struct extoll_nic *n, uint32_t vpid, uint64_t val);
void extoll_velo_rp_set(struct extoll_nic *n, uint32_t vpid, uint64_t val);
/* Makes the completer try again, because a register has changed or HTAX has
 * granted a write. */
void extoll_velo_cp_again(struct extoll_nic *n);
/* Writes the event if the mailbox is armed and an unread message asks for the
 * interrupt. */
void extoll_velo_look(struct extoll_nic *n, uint32_t vpid);

/* velo_requester.c: returns true if the requester has room for another store
 * besides the `flying` stores in flight to it. */
bool extoll_velo_rq_room(struct extoll_nic *n, uint32_t flying);
/* Handles a store on a requester page. HTAX calls it only after
 * extoll_velo_rq_room() returned true. */
void extoll_velo_rq_store(struct extoll_nic *n, const struct hx_store *s);
/* Gives the held message to the network port, which has room again. */
void extoll_velo_rq_sent(void *own, struct netport *np, uint32_t cls,
			 uint64_t trace_id);
/* Drops partial messages whose time has expired. */
void extoll_velo_rq_expire(struct extoll_nic *n);
void extoll_velo_rq_fini(struct extoll_nic *n);
/* Receives a cell of network port 0. Keeps its slot until the message of the
 * cell has room in its mailbox, or is discarded. */
void extoll_velo_cp_cell(void *own, struct netport *np,
			 const struct netport_cell *c);
/* Runs the completer until it must wait. */
void extoll_velo_cp_run(struct extoll_nic *n);
void extoll_velo_cp_fini(struct extoll_nic *n);

/* Registers (velo_regs.c), for the table in registers.c. */
#define VELO_READ(reg)                                                         \
	uint64_t extoll_velo_##reg##_read(struct weft_comp *c, uint32_t i)
#define VELO_HOOKS(reg)                                                        \
	VELO_READ(reg);                                                        \
	void extoll_velo_##reg##_wrote(struct weft_comp *c, uint32_t i,        \
				       uint64_t val)
VELO_HOOKS(config);
VELO_HOOKS(timeout);
VELO_READ(count);
VELO_READ(drop);
VELO_READ(discard);
VELO_READ(misc);
VELO_HOOKS(tx);
VELO_HOOKS(rx);
VELO_HOOKS(base);
VELO_READ(wp);
VELO_READ(pending);
VELO_HOOKS(rp);
#undef VELO_HOOKS
#undef VELO_READ

#endif
