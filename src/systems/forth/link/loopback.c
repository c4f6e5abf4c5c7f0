/* SPDX-License-Identifier: Apache-2.0 */
/* Loopback of a FORTH link end (forth.md 2.6): what it sends comes back to it,
 * the cable carries commas.
 *
 * The loop is a link end of its own, whose peer is itself: packets and credits
 * of line and loop never meet, whatever is under way when the mode changes.
 * One of the two has the transmitter, the other is muted.
 *
 *   a packet that has begun     ends where it began; the transmitter is free
 *                               for the other end after its last word
 *   looped packets under way    arrive, also after the loop is left
 *   packets of the line         are dropped while the line is muted; their
 *                               words count as forwarded (5.7) and go back as
 *                               credits once it is not
 *   credits of the line         count at any time; those to give wait */
#include "systems/forth/link/port_internal.h"

#include <assert.h>
#include <stdlib.h>

static struct flink *loop_new(struct flink *line)
{
	struct flink *l = calloc(1, sizeof(*l));
	struct weft_err err = { 0 };

	assert(l);
	l->comp = line->comp;
	l->port = line->port;
	l->cfg = line->cfg;
	l->cfg.tx_cap = 0;
	l->cfg.resync_cc = 0; /* nothing gets lost inside */
	l->ops = line->ops;
	l->own = line->own;
	l->tag = line->tag;
	l->kick = l->blocked = l->wake_at = WEFT_NEVER;
	l->loop = l->muted = true;
	l->line = line;
	l->peer = l;
	l->watched = line->watched;
	flink_peer_setup(l);
	if (flink_credit_init(l, &err))
		assert(!"memory");
	return l;
}

void flink_loop_fini(struct flink *loop)
{
	flink_fini(loop);
	free(loop);
}

/* The end gives the transmitter away: what it did so far is settled. */
static void mute(struct flink *l)
{
	if (l->peer) {
		flink_counts(l);
		flink_unwait(l);
	}
	l->muted = true;
	l->kick = l->blocked = l->wake_at = WEFT_NEVER;
}

static void unmute(struct flink *l, uint64_t free)
{
	l->muted = false;
	l->line_free = l->line_free > free ? l->line_free : free;
	if (!l->peer)
		return;
	flink_kick(l, weft_now(l->comp));
	flink_arm(l);
}

void flink_loopback(struct flink *l, bool on)
{
	struct flink *from = flink_active(l), *to;
	uint64_t now = flink_now(l);

	if (on == l->muted)
		return;
	if (!l->back)
		l->back = loop_new(l);
	to = on ? l->back : l;
	mute(from);
	unmute(to, from->line_free > now ? from->line_free : now);
}

void flink_loop_arrive(struct flink *loop)
{
	while (loop->loop_q && loop->loop_q->time <= weft_now(loop->comp)) {
		struct weft_frame *f = loop->loop_q;

		loop->loop_q = f->next;
		flink_arrive(loop, 0, f);
	}
}

void flink_loop_deaf(struct flink *l, struct weft_frame *f,
		     const struct flink_rx *rx)
{
	l->count.deaf++;
	flink_return(l, forth_charge(l->cfg.links, forth_shape_get(f).wire_len),
		     rx->cycle + rx->words);
	weft_frame_free(f);
}
