/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of a link end, shared by the files of this folder. */
#ifndef SYSTEMS_FORTH_LINK_PORT_INTERNAL_H
#define SYSTEMS_FORTH_LINK_PORT_INTERNAL_H

#include "systems/forth/link/port.h"

/* size of the synchronisation FIFO in words (forth.md 4.9) */
#define FORTH_PORT_SKEW_WORDS 16

static inline void mask_set(struct forth_port_mask *m, uint32_t i)
{
	m->w[i / 64] |= 1ull << (i % 64);
}
static inline void mask_clear(struct forth_port_mask *m, uint32_t i)
{
	m->w[i / 64] &= ~(1ull << (i % 64));
}
static inline bool mask_any(const struct forth_port_mask *m)
{
	return m->w[0] | m->w[1];
}
/* Returns the first set bit at or after `from`, with wrap-round. The mask must
 * not be empty. */
static inline uint32_t mask_next(const struct forth_port_mask *m, uint32_t from)
{
	uint32_t k = from / 64;
	uint64_t w = m->w[k & 1] >> (from % 64) << (from % 64);

	for (;; w = m->w[++k & 1])
		if (w)
			return (k & 1) * 64 + (uint32_t)__builtin_ctzll(w);
}

/* Appends a frame to a list. */
static inline void forth_port_append(struct weft_frame **q,
				     struct weft_frame *f)
{
	while (*q)
		q = &(*q)->next;
	f->next = NULL;
	*q = f;
}

/* Adds transmissions that have no struct weft_frame to the port's counters of
 * frames and words. */
static inline void forth_port_volume(struct forth_port *l, uint32_t from,
				     uint64_t frames, uint64_t words)
{
	uint64_t fs = words * l->word_fs;

	for (; from < l->cfg.links; from++) {
		l->port[from].out_frames += frames;
		l->port[from].out_words += words;
		l->port[from].out_busy += fs;
	}
}

/* credit_resync.c: only credit_resync_init may be called without l->epoch */
int credit_resync_init(struct forth_port *l, struct weft_err *err);
void credit_resync_reset(struct forth_port *l);
/* Returns whether the lane waits for GRANT, so that it may not send. */
bool credit_resync_stopped(const struct forth_port *l, uint32_t lane);
/* credit_resync_blocked notes that the lane lacks credits. credit_resync_moved
 * notes that at `cycle` the credits of the lane changed or a packet of the lane
 * left. */
void credit_resync_blocked(struct forth_port *l, uint32_t lane);
void credit_resync_moved(struct forth_port *l, uint32_t lane, uint64_t cycle);
/* credit_resync_held adds words of a delivered packet to the lane's buffer, or
 * removes words if `words` is negative. credit_resync_out notes words that are
 * forwarded at time t. */
void credit_resync_held(struct forth_port *l, uint32_t lane, int32_t words);
void credit_resync_out(struct forth_port *l, uint32_t lane, uint32_t words,
		       weft_time_t t);
/* Messages of resynchronisation. credit_resync_next returns the cycle at which
 * a message is due. credit_resync_pick writes the messages due at cycle `at` to
 * credit[] and returns their number. credit_resync_take handles a message that
 * has arrived, or returns false if `credit` is an ordinary credit.
 * credit_resync_soon wakes this end at `cycle`, at which a message takes
 * effect. */
uint64_t credit_resync_next(const struct forth_port *l);
uint32_t credit_resync_pick(struct forth_port *l, uint64_t at, uint16_t *credit,
			    uint32_t max);
bool credit_resync_take(struct forth_port *l, uint16_t credit);
void credit_resync_soon(struct forth_port *l, uint64_t cycle);
/* credit_resync_due returns the next cycle at which a lane must stop or may
 * start a new epoch, or at which a message takes effect. credit_resync_event
 * does the work of that cycle. */
uint64_t credit_resync_due(const struct forth_port *l);
void credit_resync_event(struct forth_port *l, uint64_t now);

/* credit_return.c */
/* Computes all credit-only frames of cycles < limit and puts them on the
 * line. */
void forth_port_catch_up_all(struct forth_port *l, uint64_t limit);
static inline void forth_port_catch_up(struct forth_port *l, uint64_t limit)
{
	if (limit <= l->line_free)
		return;
	if (!mask_any(&l->active) &&
	    (ring_empty(&l->due) || ring_front(&l->due)->cycle >= limit) &&
	    (!l->cfg.refresh_cc ||
	     l->last_start + l->cfg.refresh_cc >= limit) &&
	    (!l->epoch || credit_resync_next(l) >= limit))
		return;
	forth_port_catch_up_all(l, limit);
}
/* Returns whether the peer needs each credit as soon as the credit is on the
 * line, because a lane waits for credits or the line carries real frames. */
static inline bool forth_port_heard(const struct forth_port *l)
{
	return l->needs_frames || mask_any(&l->peer->wait);
}
/* Returns the first cycle at which the line may carry a credit for which the
 * peer waits, or WEFT_NEVER. If the line carries real frames, the peer waits
 * for every credit. */
uint64_t forth_port_next_credit(const struct forth_port *l);
/* Puts the credits of a packet whose delimiter is at cycle `at` into f or the
 * peer's inbox. Returns their number. */
uint32_t forth_port_packet_credits(struct forth_port *l, uint64_t at,
				   struct weft_frame *f);
/* Returns the last edge that has passed. Callers need that edge because credits
 * of later edges have not taken effect yet. */
static inline uint64_t forth_port_past(const struct forth_port *l)
{
	uint64_t now = forth_port_now(l);

	return weft_clock_edge(&l->clk, now) > weft_now(l->comp) ? now - 1
								 : now;
}

/* credit_use.c */
int forth_port_credit_init(struct forth_port *l, struct weft_err *err);
/* Applies the credits of the inbox that take effect at or before `cycle`. */
void forth_port_in_apply(struct forth_port *l, uint64_t cycle);
/* Returns whether this credit suffices for a packet of `charge` on its lane. */
bool forth_port_credit_helps(const struct forth_port *l, uint16_t credit,
			     uint32_t charge);
/* Makes the peer compute the credits that take effect up to `cycle`, and
 * applies the credits that take effect by now. All later credits stay in the
 * inbox, so that counters never run ahead of time. */
void forth_port_pull(struct forth_port *l, uint64_t cycle);
/* Puts a credit that takes effect at `cycle` into the inbox. `words` is the
 * number of words of the credit-only frame whose first credit this is, or 0 for
 * any other credit. */
void forth_port_credit_in(struct forth_port *l, uint64_t cycle, uint16_t credit,
			  uint16_t words);
/* Gives the words of a packet that is not delivered (5.7) back to the peer as
 * credits, at the end of the packet, cycle `end`. A switch only counts the
 * words as leaked, because it cannot know their lane. */
void forth_port_return(struct forth_port *l, uint32_t words, uint64_t end);
/* Forgets which lanes wait for credits. */
void forth_port_unwait(struct forth_port *l);
/* Returns whether the lane has credits for `charge` and may send. */
bool forth_port_lane_ok(const struct forth_port *l, uint32_t lane,
			uint32_t charge);
/* Returns the cycle at which a credit in the inbox suffices for `charge`, or
 * WEFT_NEVER. */
uint64_t forth_port_lane_soon(const struct forth_port *l, uint32_t lane,
			      uint32_t charge);
/* Notes that a packet of `charge` on this lane lacks credits. */
void forth_port_wait_lane(struct forth_port *l, uint32_t lane, uint32_t charge);
/* Starts to wait for credits, because no packet can start: from now on the peer
 * reports each credit. Returns the first cycle at which credits in flight
 * suffice for a waiting packet, or WEFT_NEVER. */
uint64_t forth_port_wait(struct forth_port *l);

/* transmit.c */
/* Sets the timer to the next action of this end. */
void forth_port_arm(struct forth_port *l);
/* Puts the frame on the line at cycle `at`. */
void forth_port_line_put(struct forth_port *l, struct weft_frame *f,
			 uint64_t at);

/* listen.c: notifies the listener (l->told) of frames or credits at cycle
 * `at`. */
void forth_port_tap_setup(struct forth_port *l);
void forth_port_tell(struct forth_port *l, const struct weft_frame *f,
		     uint64_t at);
/* Fills f as a credit-only frame of n credits and `words` words. */
void forth_port_credits_fill(const struct forth_port *l, struct weft_frame *f,
			     const uint16_t *credit, uint32_t n,
			     uint32_t words);

/* loopback.c: handles a packet that arrives at a loop end. */
void forth_port_loop_arrive(struct forth_port *loop);

/* port.c */
/* Sets clock, lanes and delay, which depend on the peer. */
void forth_port_peer_setup(struct forth_port *l);
/* Delivers an undamaged frame, or a packet that the symbol receiver has rebuilt
 * from a damaged one. */
void forth_port_deliver(struct forth_port *l, struct weft_frame *f,
			const struct forth_port_rx *rx);

/* Puts the link end out of sync, after it has computed the frames of earlier
 * cycles. While out of sync, a link end sends commas only. */
void forth_port_out_of_sync(struct forth_port *l);

/* symbol_receiver.c: receives symbol by symbol. f[] has one frame per link, or
 * NULL for a link on which no frame arrived. `first` is one of the frames. */
void forth_port_rx_walk(struct forth_port *l, struct weft_frame *const *f,
			struct weft_frame *first);

/* bundle.c */
/* Handles frames that are damaged, truncated or bundled, and all frames that
 * arrive while this end is out of sync. */
void forth_port_rx_odd(struct forth_port *l, uint32_t j, struct weft_frame *f);
/* `ahead` is the time by which a link is faster than the slowest link. Returns
 * whether a frame of `words` overflows the FIFO of that link. Such a frame is
 * lost (4.9). */
static inline bool forth_port_skew_full(const struct forth_port *l,
					weft_time_t ahead, uint32_t words)
{
	return words > FORTH_PORT_SKEW_WORDS &&
	       ahead > FORTH_PORT_SKEW_WORDS * l->word_fs;
}
/* Drops a frame that overflowed the FIFO of a link (4.9), and returns its words
 * as credits. */
void forth_port_skew_lost(struct forth_port *l, struct weft_frame *f);
/* Returns the cycle at which the link end is in sync again if no further frame
 * arrives. */
static inline uint64_t forth_port_in_sync_at(const struct forth_port *l)
{
	return l->rx_quiet + 16;
}

#endif
