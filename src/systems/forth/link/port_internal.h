/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of flink: shared by flink*.c. */
#ifndef SYSTEMS_FORTH_LINK_PORT_INTERNAL_H
#define SYSTEMS_FORTH_LINK_PORT_INTERNAL_H

#include "systems/forth/link/port.h"

#define FORTH_PORT_SKEW_WORDS 16 /* synchronisation FIFO (forth.md 4.9) */

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
/* First set bit at or after `from`, wrapping round; the mask is not empty. */
static inline uint32_t mask_next(const struct forth_port_mask *m, uint32_t from)
{
	uint32_t k = from / 64;
	uint64_t w = m->w[k & 1] >> (from % 64) << (from % 64);

	for (;; w = m->w[++k & 1])
		if (w)
			return (k & 1) * 64 + (uint32_t)__builtin_ctzll(w);
}

/* Behind all frames of a list. */
static inline void forth_port_append(struct weft_frame **q,
				     struct weft_frame *f)
{
	while (*q)
		q = &(*q)->next;
	f->next = NULL;
	*q = f;
}

/* The port's volume also counts what is not sent as a frame of its own. */
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

/* credit_resync.c: all but init only with l->epoch */
int credit_resync_init(struct forth_port *l, struct weft_err *err);
void credit_resync_reset(struct forth_port *l);
/* The lane is between two epochs: it may not send. */
bool credit_resync_stopped(const struct forth_port *l, uint32_t lane);
/* The lane lacks credits; at `cycle` its credits moved or a packet left. */
void credit_resync_blocked(struct forth_port *l, uint32_t lane);
void credit_resync_moved(struct forth_port *l, uint32_t lane, uint64_t cycle);
/* A packet is delivered; words of a lane come and go without one; they are
 * forwarded at t. */
void credit_resync_held(struct forth_port *l, uint32_t lane, int32_t words);
void credit_resync_out(struct forth_port *l, uint32_t lane, uint32_t words,
		       weft_time_t t);
/* Messages: cycle at which the next wants the line; those of cycle `at`; one
 * came (false: it is a credit); one that will count at `cycle`. */
uint64_t credit_resync_next(const struct forth_port *l);
uint32_t credit_resync_pick(struct forth_port *l, uint64_t at, uint16_t *credit,
			    uint32_t max);
bool credit_resync_take(struct forth_port *l, uint16_t credit);
void credit_resync_soon(struct forth_port *l, uint64_t cycle);
/* Cycle of the next decision; decides. */
uint64_t credit_resync_due(const struct forth_port *l);
void credit_resync_event(struct forth_port *l, uint64_t now);

/* credit_return.c */
/* Puts all credit-only frames of cycles < limit on the line. */
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
/* The peer wants to know of each credit when it is on the line. */
static inline bool forth_port_heard(const struct forth_port *l)
{
	return l->needs_frames || mask_any(&l->peer->wait);
}
/* First cycle at which the line may carry a credit for a listener,
 * or WEFT_NEVER. */
uint64_t forth_port_next_credit(const struct forth_port *l);
/* Credits for a packet's delimiter at cycle `at` into f or the peer's inbox;
 * returns how many. */
uint32_t forth_port_packet_credits(struct forth_port *l, uint64_t at,
				   struct weft_frame *f);
/* The last edge that has passed: later credits do not count yet. */
static inline uint64_t forth_port_past(const struct forth_port *l)
{
	uint64_t now = forth_port_now(l);

	return weft_clock_edge(&l->clk, now) > weft_now(l->comp) ? now - 1
								 : now;
}

/* credit_use.c */
int forth_port_credit_init(struct forth_port *l, struct weft_err *err);
/* Takes what lies in the inbox and counts at `cycle`. */
void forth_port_in_apply(struct forth_port *l, uint64_t cycle);
/* Would this credit let a packet of `charge` go on its lane? */
bool forth_port_credit_helps(const struct forth_port *l, uint16_t credit,
			     uint32_t charge);
/* Asks the peer for what counts up to `cycle` and takes what counts by now: the
 * rest stays in the inbox, so that counters never run ahead of time. */
void forth_port_pull(struct forth_port *l, uint64_t cycle);
/* A credit arrived (real frame); counts from `cycle` on. */
void forth_port_credit_in(struct forth_port *l, uint64_t cycle, uint16_t credit,
			  uint16_t words);
/* Words of a packet that is not delivered (5.7): the NIC returns them at the
 * end of the packet, a switch cannot tell whose they are. */
void forth_port_return(struct forth_port *l, uint32_t words, uint64_t end);
/* Nothing waits any more. */
void forth_port_unwait(struct forth_port *l);
bool forth_port_lane_ok(const struct forth_port *l, uint32_t lane,
			uint32_t charge);
/* Cycle at which a credit in the inbox lets `charge` go, or WEFT_NEVER. */
uint64_t forth_port_lane_soon(const struct forth_port *l, uint32_t lane,
			      uint32_t charge);
/* The packet at the head of this lane lacks credits. */
void forth_port_wait_lane(struct forth_port *l, uint32_t lane, uint32_t charge);
/* Nothing can go: from now on the peer speaks up.  Returns the cycle at which
 * a sufficient credit that is on its way counts, or WEFT_NEVER. */
uint64_t forth_port_wait(struct forth_port *l);

/* transmit.c */
/* Sets the timer to the next thing to do. */
void forth_port_arm(struct forth_port *l);
/* The frame on the line at cycle `at`. */
void forth_port_line_put(struct forth_port *l, struct weft_frame *f,
			 uint64_t at);

/* listen.c: l->told, a frame or credits at cycle `at`. */
void forth_port_tap_setup(struct forth_port *l);
void forth_port_tell(struct forth_port *l, const struct weft_frame *f,
		     uint64_t at);
/* A frame of n credits. */
void forth_port_credits_fill(const struct forth_port *l, struct weft_frame *f,
			     const uint16_t *credit, uint32_t n,
			     uint32_t words);

/* loopback.c: what comes back by a loop end. */
void forth_port_loop_arrive(struct forth_port *loop);

/* port.c */
/* Clock, lanes and delay towards the peer. */
void forth_port_peer_setup(struct forth_port *l);
/* An undamaged frame, or what the slow path made of a damaged one. */
void forth_port_deliver(struct forth_port *l, struct weft_frame *f,
			const struct forth_port_rx *rx);

/* The link is out of sync: it sends commas, once what it did so far is on the
 * line. */
void forth_port_out_of_sync(struct forth_port *l);

/* symbol_receiver.c: symbol by symbol; f[] has one frame per link, NULL where
 * nothing came, `first` is one of them. */
void forth_port_rx_walk(struct forth_port *l, struct weft_frame *const *f,
			struct weft_frame *first);

/* bundle.c */
/* Damaged, truncated or bundled frames, or any while out of sync. */
void forth_port_rx_odd(struct forth_port *l, uint32_t j, struct weft_frame *f);
/* Does a frame of `words` overflow the FIFO of a link that is `ahead` of the
 * slowest?  Such a frame is lost (4.9). */
static inline bool forth_port_skew_full(const struct forth_port *l,
					weft_time_t ahead, uint32_t words)
{
	return words > FORTH_PORT_SKEW_WORDS &&
	       ahead > FORTH_PORT_SKEW_WORDS * l->word_fs;
}
void forth_port_skew_lost(struct forth_port *l, struct weft_frame *f);
/* Cycle at which the link is in sync again if nothing more comes. */
static inline uint64_t forth_port_in_sync_at(const struct forth_port *l)
{
	return l->rx_quiet + 16;
}

#endif
