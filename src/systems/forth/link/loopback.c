/* SPDX-License-Identifier: Apache-2.0 */
/* Loopback of a FORTH link end (forth.md 2.6): the link end receives its own
 * packets, and the cable carries commas.
 *
 * The loop is a link end of its own, whose peer is itself, so that packets and
 * credits of line and loop never mix, whatever is in flight when the mode
 * changes. One of the two ends has the transmitter, the other one is muted.
 *
 *   a packet that has begun     continues on the end where it began. The other
 *                               end gets the transmitter after the last word of
 *                               the packet
 *   looped packets in flight    arrive, also after the loop has ended
 *   packets of the line         are dropped while the line is muted. Their
 *                               words count as forwarded (5.7) and return as
 *                               credits afterwards
 *   received credits            of the line take effect at any time
 *   credits to be sent          on the line wait until it is unmuted */
#include "systems/forth/link/port_internal.h"

#include <assert.h>
#include <stdlib.h>

static struct forth_port *loop_new(struct forth_port *line)
{
	struct forth_port *l = calloc(1, sizeof(*l));
	struct weft_err err = { 0 };

	assert(l);
	l->comp = line->comp;
	l->port = line->port;
	l->cfg = line->cfg;
	l->cfg.tx_cap = 0;
	/* no resynchronisation, because no credit is lost inside the loop */
	l->cfg.resync_cc = 0;
	l->ops = line->ops;
	l->own = line->own;
	l->tag = line->tag;
	l->kick = l->blocked = l->wake_at = WEFT_NEVER;
	l->loop = l->muted = true;
	l->line = line;
	l->peer = l;
	l->watched = line->watched;
	forth_port_peer_setup(l);
	if (forth_port_credit_init(l, &err))
		assert(!"memory");
	return l;
}

void forth_port_loopback(struct forth_port *l, bool on)
{
	struct forth_port *from = forth_port_active(l), *to;
	uint64_t now = forth_port_now(l);

	if (on == l->muted)
		return;
	if (!l->back)
		l->back = loop_new(l);
	to = on ? l->back : l;
	/* settle the work of the end that loses the transmitter, because its
	 * later frames do not reach the line */
	if (from->peer) {
		forth_port_counts(from);
		forth_port_unwait(from);
	}
	from->muted = true;
	from->kick = from->blocked = from->wake_at = WEFT_NEVER;
	/* the other end gets the transmitter once the line is free */
	to->muted = false;
	now = from->line_free > now ? from->line_free : now;
	to->line_free = to->line_free > now ? to->line_free : now;
	if (!to->peer)
		return;
	forth_port_kick(to, weft_now(to->comp));
	forth_port_arm(to);
}

void forth_port_loop_arrive(struct forth_port *loop)
{
	while (loop->loop_q && loop->loop_q->time <= weft_now(loop->comp)) {
		struct weft_frame *f = loop->loop_q;

		loop->loop_q = f->next;
		forth_port_arrive(loop, 0, f);
	}
}
