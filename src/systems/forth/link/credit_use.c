/* SPDX-License-Identifier: Apache-2.0 */
/* Credits that a FORTH link end has (forth.md 5.2, 5.4): the inbox of credits
 * in flight, T and F' of every lane, and the wait for more credits. The credits
 * that the link end owes are in credit_return.c. */
#include "systems/forth/link/port_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* When an inbox of at least this size is full, this end applies the credits
 * that have taken effect, to make room. The moment of this step decides when
 * the peer computes its own frames, and thus the order in which a listener
 * hears the frames. */
enum { INBOX_ROOM = 16 };

int forth_port_credit_init(struct forth_port *l, struct weft_err *err)
{
	l->tx = calloc(l->tx_lanes, sizeof(*l->tx));
	l->rx = calloc(l->cfg.rx_lanes, sizeof(*l->rx));
	if (!l->tx || !l->rx)
		return weft_fail(err, ENOMEM, "%s: no memory for credits",
				 l->comp->name);
	return 0;
}

void forth_port_credit_reset(struct forth_port *l)
{
	memset(l->tx, 0, l->tx_lanes * sizeof(*l->tx));
	memset(l->rx, 0, l->cfg.rx_lanes * sizeof(*l->rx));
	memset(&l->active, 0, sizeof(l->active));
	memset(&l->wait, 0, sizeof(l->wait));
	ring_clear(&l->due);
	ring_clear(&l->in);
	credit_resync_reset(l);
}

void forth_port_dropped(struct forth_port *l, uint32_t lane, uint32_t words)
{
	if (l->epoch)
		credit_resync_held(l, lane, -(int32_t)words);
}

bool forth_port_lane_ok(const struct forth_port *l, uint32_t lane,
			uint32_t charge)
{
	const struct forth_port_lane_tx *t = &l->tx[lane];

	if (l->epoch && credit_resync_stopped(l, lane))
		return false;
	return ((t->sent - t->acked) & FORTH_COUNT_MASK) + charge <= l->tx_cap;
}

/* Checks that the credit does not acknowledge more words than were sent
 * (5.4). */
static bool credit_use_plausible(const struct forth_port *l,
				 const struct forth_port_lane_tx *t,
				 uint32_t acked)
{
	return !l->cfg.credit_filter ||
	       ((acked - t->acked) & FORTH_COUNT_MASK) <=
		       ((t->sent - t->acked) & FORTH_COUNT_MASK);
}

/* Returns whether this credit suffices for a packet of `charge` words on its
 * lane. */
bool forth_port_credit_helps(const struct forth_port *l, uint16_t credit,
			     uint32_t charge)
{
	const struct forth_port_lane_tx *t = &l->tx[forth_credit_flow(credit)];
	uint32_t acked = forth_credit_value(credit) * FORTH_CREDIT_GRAN;

	if (l->epoch && credit_resync_stopped(l, forth_credit_flow(credit)))
		return false;
	return credit_use_plausible(l, t, acked) &&
	       ((t->sent - acked) & FORTH_COUNT_MASK) + charge <= l->tx_cap;
}

static void credit_take(struct forth_port *l, const struct forth_port_inbox *c)
{
	struct forth_port_lane_tx *t;
	uint32_t acked;

	l->count.in_cycles += c->words;
	if (!c->credit)
		return;
	l->count.credits_in++;
	if (l->watched)
		l->ops->credit(l->own, l, c->cycle, c->credit, true);
	if (l->epoch && credit_resync_take(l, c->credit))
		return;
	acked = forth_credit_value(c->credit) * FORTH_CREDIT_GRAN;
	if (forth_credit_flow(c->credit) >= l->tx_lanes) {
		l->count.credits_odd++;
		return;
	}
	t = &l->tx[forth_credit_flow(c->credit)];
	if (l->epoch && credit_resync_stopped(l, forth_credit_flow(c->credit)))
		return;
	if (!credit_use_plausible(l, t, acked)) {
		l->count.credits_odd++;
		return;
	}
	if (l->epoch && t->acked != acked)
		credit_resync_moved(l, forth_credit_flow(c->credit), c->cycle);
	t->acked = (uint16_t)acked;
}

void forth_port_in_apply(struct forth_port *l, uint64_t cycle)
{
	while (!ring_empty(&l->in) && ring_front(&l->in)->cycle <= cycle) {
		credit_take(l, ring_front(&l->in));
		ring_pop(&l->in);
	}
}

void forth_port_credit_in(struct forth_port *l, uint64_t cycle, uint16_t credit,
			  uint16_t words)
{
	uint32_t lane = forth_credit_flow(credit);

	/* apply credits that have taken effect already, so that the inbox need
	 * not grow */
	if (ring_full(&l->in) && l->in.mask >= INBOX_ROOM - 1)
		forth_port_in_apply(l, forth_port_past(l));
	*ring_push(&l->in) = (struct forth_port_inbox){ .cycle = cycle,
							.credit = credit,
							.words = words };
	if (mask_any(&l->wait) && credit && lane < l->tx_lanes &&
	    l->tx[lane].need &&
	    forth_port_credit_helps(l, credit, l->tx[lane].need)) {
		l->wake_at = cycle < l->wake_at ? cycle : l->wake_at;
		weft_timer_arm(l->comp, &l->timer, l->tag,
			       weft_clock_edge(&l->clk, cycle));
	}
	if (l->epoch && lane >= l->tx_lanes)
		credit_resync_soon(l, cycle);
}

uint64_t forth_port_lane_soon(const struct forth_port *l, uint32_t lane,
			      uint32_t charge)
{
	uint32_t i;

	for (i = l->in.head; i != l->in.tail; i++) {
		const struct forth_port_inbox *c = ring_at(&l->in, i);

		if (c->credit && forth_credit_flow(c->credit) == lane &&
		    forth_port_credit_helps(l, c->credit, charge))
			return c->cycle;
	}
	return WEFT_NEVER;
}

void forth_port_unwait(struct forth_port *l)
{
	while (mask_any(&l->wait)) {
		uint32_t lane = mask_next(&l->wait, 0);

		l->tx[lane].need = 0;
		mask_clear(&l->wait, lane);
	}
}

void forth_port_wait_lane(struct forth_port *l, uint32_t lane, uint32_t charge)
{
	struct forth_port_lane_tx *t = &l->tx[lane];

	/* keep the charge of the smallest packet, because several flows may
	 * share the lane */
	if (!t->need || charge < t->need)
		t->need = (uint16_t)charge;
	mask_set(&l->wait, lane);
	if (l->epoch)
		credit_resync_blocked(l, lane);
}

uint64_t forth_port_wait(struct forth_port *l)
{
	struct forth_port_mask m;
	uint64_t at = WEFT_NEVER;

	if (!l->peer->needs_frames)
		forth_port_catch_up(l->peer, forth_port_now(l->peer));
	for (m = l->wait; mask_any(&m);) {
		uint32_t lane = mask_next(&m, 0);
		uint64_t soon = forth_port_lane_soon(l, lane, l->tx[lane].need);

		at = soon < at ? soon : at;
		mask_clear(&m, lane);
	}
	forth_port_arm(l->peer);
	return at;
}

void forth_port_pull(struct forth_port *l, uint64_t cycle)
{
	struct forth_port *p = l->peer;
	uint64_t past = forth_port_past(l), limit;
	weft_time_t t;

	/* compute `limit`: a credit that the peer sends in cycle `limit` or
	 * later takes effect here only after `cycle` */
	if (p->needs_frames || cycle < l->cfg.t_crrx) {
		limit = 0;
	} else if (p->same_clk) {
		limit = cycle - l->cfg.t_crrx + 1;
		limit = limit > p->delay_cc ? limit - p->delay_cc : 0;
	} else {
		t = weft_clock_edge(&l->clk, cycle - l->cfg.t_crrx);
		limit = t < p->delay ? 0
				     : forth_port_cycle(p, t - p->delay + 1);
	}
	if (limit > p->line_free) {
		/* exclude the peer's present cycle, because the peer may still
		 * have work in that cycle */
		if (weft_clock_edge(&p->clk, limit - 1) >= weft_now(p->comp))
			limit = forth_port_now(p);
		forth_port_catch_up(p, limit);
	}
	forth_port_in_apply(l, cycle < past ? cycle : past);
}

void forth_port_return(struct forth_port *l, uint32_t words, uint64_t end)
{
	weft_time_t t = weft_clock_edge(&l->clk, end);

	if (!l->cfg.return_discards || l->cfg.rx_lanes != 1) {
		l->count.credit_leak += words;
		return;
	}
	/* use the latest known time if t is earlier, because forth_port_fwd
	 * needs times that do not decrease */
	t = t > l->fwd_last ? t : l->fwd_last;
	if (l->epoch)
		credit_resync_held(l, 0, (int32_t)words);
	forth_port_fwd(l, 0, words, t);
}
