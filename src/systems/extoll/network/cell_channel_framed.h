/* SPDX-License-Identifier: Apache-2.0 */
/* A link port whose line is framed: state of its retransmission, shared
 * by cell_channel_framed.c (sending), cell_channel_retry.c (again),
 * cell_channel_receive.c (receiving), cell_channel_training.c (bring-up). */
#ifndef SYSTEMS_EXTOLL_NETWORK_CELL_CHANNEL_FRAMED_H
#define SYSTEMS_EXTOLL_NETWORK_CELL_CHANNEL_FRAMED_H

#include "base/vec.h"
#include "systems/extoll/network/cell_channel_control.h"
#include "systems/extoll/network/frame.h"

enum cell_channel_state {
	CELL_CHANNEL_DOWN,  /* 15 attempts were in vain */
	CELL_CHANNEL_ALIGN, /* no commas */
	CELL_CHANNEL_INIT1,
	CELL_CHANNEL_INIT2,
	CELL_CHANNEL_READY,
	CELL_CHANNEL_STATES
};

enum { SLOW_SENT = 128, SLOW_SPECIALS = 8 };

/* Costs of a line with errors, beside cell_channel_count.  Of one direction,
 * when it is at rest: damaged transmissions = code + crc + control + idle -
 * pieces; code + crc + seq = nacks + ignored; and, of the other end, replays =
 * timeouts + nacks_in - nacks_stale + trainings. */
struct slow_count {
	uint64_t control;     /* control cells that were bad */
	uint64_t idle;	      /* transmissions in which no bad cell was found */
	uint64_t pieces;      /* further bad cells in one transmission */
	uint64_t ignored;     /* cells refused while a NACK was out */
	uint64_t nacks_in;    /* NACKs heard ... */
	uint64_t nacks_stale; /* ... that asked for nothing any more */
	uint64_t resent;      /* cells */
	uint64_t lost;	      /* times without alignment */
};

/* Control cell that was heard: counts from `cycle` on. */
struct slow_ctl {
	uint64_t cycle;
	uint8_t type, value;
};

struct cell_channel_framed {
	enum cell_channel_state state;
	uint64_t armed; /* cycle of the live wake-up, or WEFT_NEVER */
	/* sending */
	struct weft_frame *sent[SLOW_SENT]; /* by SEQ: for replay */
	struct {
		VEC(struct weft_frame *);
	} early;	       /* acknowledged before the peer had got them */
	uint32_t made;	       /* cells so far */
	uint8_t seq;	       /* of the next cell */
	uint8_t oldest;	       /* first that is not acknowledged */
	uint8_t replay;	       /* next to be sent again ... */
	bool replaying;	       /* ... until all have been */
	uint32_t tries;	       /* replays, or training, without success */
	uint64_t since;	       /* cycle of the last progress or replay */
	uint64_t gap_end;      /* first cycle at which a cell may start */
	uint64_t comp_at;      /* compensation is due, WEFT_NEVER = off */
	uint8_t cells[EX_VCS]; /* committed so far, modulo 256 */
	struct {
		RING(struct slow_ctl);
	} in;		 /* control cells heard, by cycle */
	uint64_t urgent; /* cycle of the first that starts something */
	/* receiving */
	uint8_t expect; /* SEQ of the next cell */
	uint32_t taken; /* cells so far */
	uint8_t acked;	/* SEQ up to which ACKs were sent, exclusive */
	bool waiting;	/* a NACK was sent, or will be: for `expect` */
	uint8_t open;	/* mask: VCs with a packet begun */
	bool rebuild;	/* packets from bytes: a fault, a listener */
	struct ex_built built;
	uint64_t nack_at;      /* NACK ready, WEFT_NEVER = none */
	uint8_t given[EX_VCS]; /* credits returned so far, modulo 256 */
	uint64_t fifo_free;    /* receive FIFO: first cycle not taken */
	uint32_t n_verdicts;
	uint64_t verdict[SLOW_SENT]; /* by slot: void from then on; or NEVER */
	uint64_t unpaid[2];	     /* by slot: no credit goes back */
	/* training */
	struct slow_ctl special[SLOW_SPECIALS]; /* to be sent, in order */
	uint32_t n_specials;
	uint64_t aligned_at, down_at, again_at;
	bool told; /* the owner knows that it is not ready */
	struct slow_count n;
};

extern const char *const cell_channel_state_name[CELL_CHANNEL_STATES];

/* cell_channel_framed.c */
void cell_channel_framed_arm(struct cell_channel *ep);
void cell_channel_framed_send(struct cell_channel *ep, struct weft_frame *f,
			      uint64_t at);
/* A copy of the cell starts at cycle `at`. */
void cell_channel_framed_cell(struct cell_channel *ep,
			      const struct weft_frame *f, uint64_t at);
/* A slot, or none, is free again: credit of vc ready t_credit after cycle. */
void cell_channel_framed_credit(struct cell_channel *ep, uint32_t vc,
				uint64_t cycle);

/* The peer has not got this cell of ours. */
bool cell_channel_framed_missing(const struct cell_channel *ep,
				 const struct weft_frame *f);

/* cell_channel_retry.c */
/* What the peer has got: all before `seq`. */
bool cell_channel_retry_acked(struct cell_channel *ep, uint8_t seq,
			      uint64_t cycle);
void cell_channel_retry_drop(struct cell_channel_framed *s, uint8_t seq);
void cell_channel_retry_drop_all(struct cell_channel_framed *s);
/* From now on cells are sent again, first that which is not acknowledged. */
void cell_channel_retry_replay(struct cell_channel *ep, uint64_t cycle);
/* Next cycle for one of them; one, when the line is free. */
uint64_t cell_channel_retry_next(const struct cell_channel *ep);
void cell_channel_retry_step(struct cell_channel *ep, uint64_t cycle);
/* Control cell heard, counts from `cycle` on; all that count by then. */
void cell_channel_retry_heard(struct cell_channel *ep, uint64_t cycle,
			      uint32_t type, uint32_t value);
void cell_channel_retry_apply(struct cell_channel *ep, uint64_t cycle);

/* cell_channel_receive.c */
void cell_channel_rx_verdicts(struct cell_channel *ep, uint64_t cycle);

/* cell_channel_training.c */
/* No commas until `back` (WEFT_NEVER: for good). */
void cell_channel_train_lost(struct cell_channel *ep, uint64_t cycle,
			     uint64_t back);
void cell_channel_train_heard(struct cell_channel *ep, uint64_t cycle,
			      uint32_t type, uint32_t value);
void cell_channel_train_down(struct cell_channel *ep, uint64_t cycle);
void cell_channel_train_event(struct cell_channel *ep, uint64_t cycle);
uint64_t cell_channel_train_next(const struct cell_channel *ep);

#endif
