/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of flink: shared by flink*.c. */
#ifndef SYSTEMS_FORTH_LINK_PORT_INTERNAL_H
#define SYSTEMS_FORTH_LINK_PORT_INTERNAL_H

#include "systems/forth/link/port.h"

#define FLINK_SKEW_WORDS 16 /* synchronisation FIFO (forth.md 4.9) */

static inline void mask_set(struct flink_mask *m, uint32_t i)
{
	m->w[i / 64] |= 1ull << (i % 64);
}
static inline void mask_clear(struct flink_mask *m, uint32_t i)
{
	m->w[i / 64] &= ~(1ull << (i % 64));
}
static inline bool mask_any(const struct flink_mask *m)
{
	return m->w[0] | m->w[1];
}
/* First set bit at or after `from`, wrapping round; the mask is not empty. */
static inline uint32_t mask_next(const struct flink_mask *m, uint32_t from)
{
	uint32_t k = from / 64;
	uint64_t w = m->w[k & 1] >> (from % 64) << (from % 64);

	for (;; w = m->w[++k & 1])
		if (w)
			return (k & 1) * 64 + (uint32_t)__builtin_ctzll(w);
}

/* The port's volume also counts what is not sent as a frame of its own. */
static inline void flink_volume(struct flink *l, uint32_t from, uint64_t frames,
				uint64_t words)
{
	uint64_t fs = words * l->word_fs;

	for (; from < l->cfg.links; from++) {
		l->port[from].out_frames += frames;
		l->port[from].out_words += words;
		l->port[from].out_busy += fs;
	}
}

/* credit_resync.c: all but init only with l->epoch */
int flink_epoch_init(struct flink *l, struct weft_err *err);
void flink_epoch_reset(struct flink *l);
/* The lane is between two epochs: it may not send. */
bool flink_epoch_stopped(const struct flink *l, uint32_t lane);
/* The lane lacks credits; at `cycle` its credits moved or a packet left. */
void flink_epoch_blocked(struct flink *l, uint32_t lane);
void flink_epoch_moved(struct flink *l, uint32_t lane, uint64_t cycle);
/* A packet is delivered; words of a lane come and go without one; they are
 * forwarded at t. */
void flink_epoch_in(struct flink *l, const struct weft_frame *f);
void flink_epoch_held(struct flink *l, uint32_t lane, int32_t words);
void flink_epoch_out(struct flink *l, uint32_t lane, uint32_t words,
		     weft_time_t t);
/* Messages: cycle at which the next wants the line; those of cycle `at`; one
 * came (false: it is a credit); one that will count at `cycle`. */
uint64_t flink_epoch_next(const struct flink *l);
uint32_t flink_epoch_pick(struct flink *l, uint64_t at, uint16_t *credit,
			  uint32_t max);
bool flink_epoch_take(struct flink *l, uint16_t credit);
void flink_epoch_soon(struct flink *l, uint64_t cycle);
/* Cycle of the next decision; decides. */
uint64_t flink_epoch_due(const struct flink *l);
void flink_epoch_event(struct flink *l, uint64_t now);

/* credit_return.c */
void flink_due_grow(struct flink *l);
/* Puts all credit-only frames of cycles < limit on the line. */
void flink_catch_up_all(struct flink *l, uint64_t limit);
static inline void flink_catch_up(struct flink *l, uint64_t limit)
{
	if (limit <= l->line_free)
		return;
	if (!mask_any(&l->active) &&
	    (l->due_head == l->due_tail ||
	     l->due[l->due_head & l->due_mask].cycle >= limit) &&
	    (!l->cfg.refresh_cc ||
	     l->last_start + l->cfg.refresh_cc >= limit) &&
	    (!l->epoch || flink_epoch_next(l) >= limit))
		return;
	flink_catch_up_all(l, limit);
}
/* First cycle at which the line may carry a credit that somebody listens to,
 * or WEFT_NEVER. */
uint64_t flink_next_credit(const struct flink *l);
/* Credits for a packet's delimiter at cycle `at` into f or the peer's inbox;
 * returns how many. */
uint32_t flink_packet_credits(struct flink *l, uint64_t at,
			      struct weft_frame *f);
/* The last edge that has passed: later credits do not count yet. */
static inline uint64_t flink_past(const struct flink *l)
{
	uint64_t now = flink_now(l);

	return weft_clock_edge(&l->clk, now) > weft_now(l->comp) ? now - 1
								 : now;
}

/* credit_use.c */
int flink_credit_init(struct flink *l, struct weft_err *err);
void flink_credit_fini(struct flink *l);
/* Takes what lies in the inbox and counts at `cycle`. */
void flink_in_apply(struct flink *l, uint64_t cycle);
/* Would this credit let a packet of `charge` go on its lane? */
bool flink_credit_helps(const struct flink *l, uint16_t credit,
			uint32_t charge);
/* Asks the peer for what counts up to `cycle` and takes what counts by now: the
 * rest stays in the inbox, so that counters never run ahead of time. */
void flink_pull(struct flink *l, uint64_t cycle);
/* A credit arrived (real frame); counts from `cycle` on. */
void flink_credit_in(struct flink *l, uint64_t cycle, uint16_t credit,
		     uint16_t words);
/* Words of a packet that is not delivered (5.7): the NIC returns them at the
 * end of the packet, a switch cannot tell whose they are. */
void flink_return(struct flink *l, uint32_t words, uint64_t end);
/* Nothing waits any more. */
void flink_unwait(struct flink *l);
void flink_unwait_lane(struct flink *l, uint32_t lane);
bool flink_lane_ok(const struct flink *l, uint32_t lane, uint32_t charge);
/* Cycle at which a credit in the inbox lets `charge` go, or WEFT_NEVER. */
uint64_t flink_lane_soon(const struct flink *l, uint32_t lane, uint32_t charge);
/* The packet at the head of this lane lacks credits. */
void flink_wait_lane(struct flink *l, uint32_t lane, uint32_t charge);
/* Nothing can go: from now on the peer speaks up.  Returns the cycle at which
 * a sufficient credit that is on its way counts, or WEFT_NEVER. */
uint64_t flink_wait(struct flink *l);

/* transmit.c */
/* Sets the timer to the next thing to do. */
void flink_arm(struct flink *l);
/* One frame of a credit-only transmission on the line at cycle `at`. */
void flink_send_credits(struct flink *l, uint64_t at, const uint16_t *credit,
			uint32_t n, uint32_t words);

/* listen.c: l->told, a frame or credits at cycle `at`. */
void flink_tap_setup(struct flink *l);
void flink_tell(struct flink *l, const struct weft_frame *f, uint64_t at);
void flink_tell_credits(struct flink *l, uint64_t at, const uint16_t *credit,
			uint32_t n, uint32_t words);
/* A frame of n credits. */
void flink_credits_fill(const struct flink *l, struct weft_frame *f,
			const uint16_t *credit, uint32_t n, uint32_t words);

/* loopback.c: what comes back by a loop end; a packet on the line meanwhile;
 * a loop end is over. */
void flink_loop_arrive(struct flink *loop);
void flink_loop_deaf(struct flink *l, struct weft_frame *f,
		     const struct flink_rx *rx);
void flink_loop_fini(struct flink *loop);

/* port.c */
/* Clock, lanes and delay towards the peer. */
void flink_peer_setup(struct flink *l);
/* An undamaged frame, or what the slow path made of a damaged one. */
void flink_deliver(struct flink *l, struct weft_frame *f,
		   const struct flink_rx *rx);

/* The link is out of sync: it sends commas, once what it did so far is on the
 * line. */
void flink_out_of_sync(struct flink *l);

/* symbol_receiver.c: symbol by symbol; f[] has one frame per link, NULL where
 * nothing came, `first` is one of them. */
void flink_rx_walk(struct flink *l, struct weft_frame *const *f,
		   struct weft_frame *first);

/* bundle.c */
/* Damaged, truncated or bundled frames, or any while out of sync. */
void flink_rx_odd(struct flink *l, uint32_t j, struct weft_frame *f);
void flink_rx_fini(struct flink *l);
/* Does a frame of `words` overflow the FIFO of a link that is `ahead` of the
 * slowest?  Such a frame is lost (4.9). */
static inline bool flink_skew_full(const struct flink *l, weft_time_t ahead,
				   uint32_t words)
{
	return words > FLINK_SKEW_WORDS &&
	       ahead > FLINK_SKEW_WORDS * l->word_fs;
}
void flink_skew_lost(struct flink *l, struct weft_frame *f);
/* Cycle at which the link is in sync again if nothing more comes. */
static inline uint64_t flink_resync(const struct flink *l)
{
	return l->rx_quiet + 16;
}

#endif
