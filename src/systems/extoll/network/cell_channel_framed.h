/* SPDX-License-Identifier: Apache-2.0 */
/* State of a link port on a framed line, shared by cell_channel_framed.c
 * (sending), cell_channel_retry.c (retransmission), cell_channel_receive.c
 * (receiving) and cell_channel_training.c (bring-up). */
#ifndef SYSTEMS_EXTOLL_NETWORK_CELL_CHANNEL_FRAMED_H
#define SYSTEMS_EXTOLL_NETWORK_CELL_CHANNEL_FRAMED_H

#include "base/vec.h"
#include "systems/extoll/network/cell_channel_control.h"
#include "systems/extoll/network/frame.h"

enum cell_channel_state {
	CELL_CHANNEL_DOWN,  /* `attempts` replays or trainings failed */
	CELL_CHANNEL_ALIGN, /* no commas */
	CELL_CHANNEL_INIT1,
	CELL_CHANNEL_INIT2,
	CELL_CHANNEL_READY,
	CELL_CHANNEL_STATES
};

enum { SLOW_SENT = 128, SLOW_SPECIALS = 8 };

/* Events of a line with errors, in addition to cell_channel_count. When the run
 * has come to rest, the counts of each direction obey two equations: damaged
 * transmissions = code + crc + control + idle - pieces, and code + crc + seq =
 * nacks + ignored. At the sending end, replays = timeouts + nacks_in -
 * nacks_stale + trainings. */
struct slow_count {
	uint64_t control; /* damaged control cells */
	uint64_t idle;	  /* damaged transmissions without a bad cell */
	uint64_t pieces;  /* bad cells in a transmission, beyond the first */
	/* cells refused without a NACK, because a NACK was already sent or
	 * due */
	uint64_t ignored;
	uint64_t nacks_in;    /* NACKs received */
	uint64_t nacks_stale; /* NACKs received without a cell left to resend */
	uint64_t resent;      /* cells sent again */
	uint64_t lost;	      /* times that alignment was lost */
};

/* A received control cell, which takes effect at `cycle`. */
struct slow_ctl {
	uint64_t cycle;
	uint8_t type, value;
};

struct cell_channel_framed {
	enum cell_channel_state state;
	uint64_t armed; /* cycle of the pending event, or WEFT_NEVER */
	/* sending: */
	/* copies of cells by SEQ, for replay */
	struct weft_frame *sent[SLOW_SENT];
	struct {
		VEC(struct weft_frame *);
	} early; /* cells that the peer lacks, although an ACK covered them */
	uint32_t made; /* cells made so far */
	/* SEQ of the next new cell */
	uint8_t seq;
	uint8_t oldest; /* SEQ of the first cell that is not acknowledged */
	uint8_t replay; /* SEQ of the next cell to resend */
	bool replaying; /* a replay is under way */
	uint32_t tries; /* replays or trainings without success */
	/* cycle of the last ACK that acknowledged a new cell, or of the last
	 * replay */
	uint64_t since;
	uint64_t gap_end; /* earliest start of a cell */
	/* cycle at which compensation is due, or WEFT_NEVER */
	uint64_t comp_at;
	uint8_t cells[EX_VCS]; /* cells committed so far by VC, modulo 256 */
	struct {
		RING(struct slow_ctl);
	} in; /* control cells received and not applied, by cycle */
	/* cycle of the first NACK or training cell in `in`, or WEFT_NEVER */
	uint64_t urgent;
	/* receiving: */
	uint8_t expect; /* SEQ of the cell that is accepted next */
	uint32_t taken; /* cells received so far */
	uint8_t acked;	/* SEQ up to which ACKs were sent, exclusive */
	bool waiting;	/* a NACK for `expect` was sent or is due */
	uint8_t open;	/* mask of VCs whose packet has begun and not ended */
	/* The packets for the owner are rebuilt from received bytes, because a
	 * fault or listener is on the line. */
	bool rebuild;
	struct ex_built built;
	uint64_t nack_at; /* cycle at which a NACK is ready, or WEFT_NEVER */
	uint8_t given[EX_VCS]; /* credits returned so far by VC, modulo 256 */
	uint64_t fifo_free; /* first cycle at which the receive FIFO is free */
	uint32_t n_verdicts;
	/* By slot: cycle at which its cell is known to be void, or
	 * WEFT_NEVER. */
	uint64_t verdict[SLOW_SENT];
	uint64_t unpaid[2]; /* mask of slots whose release returns no credit */
	/* training: */
	/* training cells to be sent, in order */
	struct slow_ctl special[SLOW_SPECIALS];
	uint32_t n_specials;
	uint64_t aligned_at, down_at, again_at;
	bool told; /* the owner was notified that the link is not ready */
	struct slow_count n;
};

extern const char *const cell_channel_state_name[CELL_CHANNEL_STATES];

/* cell_channel_framed.c: requests an event at the next cycle at which the port
 * has work */
void cell_channel_framed_arm(struct cell_channel *ep);
/* Sends f, which starts at cycle `at`. Takes ownership of f. */
void cell_channel_framed_send(struct cell_channel *ep, struct weft_frame *f,
			      uint64_t at);
/* Sends a copy of cell f, which starts at cycle `at`. The caller keeps f. */
void cell_channel_framed_cell(struct cell_channel *ep,
			      const struct weft_frame *f, uint64_t at);
/* Queues a credit of vc for the peer. The credit is ready t_credit cycles after
 * `cycle`. */
void cell_channel_framed_credit(struct cell_channel *ep, uint32_t vc,
				uint64_t cycle);

/* Returns true if the peer has not received cell f. */
bool cell_channel_framed_missing(const struct cell_channel *ep,
				 const struct weft_frame *f);

/* cell_channel_retry.c: */
/* Drops the copies of cells before `seq`, because the peer has them. Returns
 * false if `seq` is not in the window. */
bool cell_channel_retry_acked(struct cell_channel *ep, uint8_t seq,
			      uint64_t cycle);
/* Free the copy of one cell, and all copies. */
void cell_channel_retry_drop(struct cell_channel_framed *s, uint8_t seq);
void cell_channel_retry_drop_all(struct cell_channel_framed *s);
/* Starts to resend all cells that are not acknowledged, oldest first. Takes the
 * link down instead after too many attempts. */
void cell_channel_retry_replay(struct cell_channel *ep, uint64_t cycle);
/* cell_channel_retry_next() returns the next cycle at which a cell may be
 * resent. cell_channel_retry_step() resends the next cell of the replay if the
 * line is free. */
uint64_t cell_channel_retry_next(const struct cell_channel *ep);
void cell_channel_retry_step(struct cell_channel *ep, uint64_t cycle);
/* cell_channel_retry_heard() queues a received control cell that takes effect
 * at `cycle`. cell_channel_retry_apply() applies the queued control cells up to
 * `cycle`. */
void cell_channel_retry_heard(struct cell_channel *ep, uint64_t cycle,
			      uint32_t type, uint32_t value);
void cell_channel_retry_apply(struct cell_channel *ep, uint64_t cycle);

/* cell_channel_receive.c: reports to the owner the void cells whose CRC has
 * been received by `cycle` */
void cell_channel_rx_verdicts(struct cell_channel *ep, uint64_t cycle);

/* cell_channel_training.c: */
/* Handles a line that carries no commas until cycle `back` (WEFT_NEVER: for
 * good). */
void cell_channel_train_lost(struct cell_channel *ep, uint64_t cycle,
			     uint64_t back);
/* Handles a received training cell. */
void cell_channel_train_heard(struct cell_channel *ep, uint64_t cycle,
			      uint32_t type, uint32_t value);
/* Takes the link down and tells the owner. */
void cell_channel_train_down(struct cell_channel *ep, uint64_t cycle);
void cell_channel_train_event(struct cell_channel *ep, uint64_t cycle);
/* Returns the next cycle at which cell_channel_train_event() has work, or
 * WEFT_NEVER. */
uint64_t cell_channel_train_next(const struct cell_channel *ep);

#endif
