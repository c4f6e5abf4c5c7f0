/* SPDX-License-Identifier: Apache-2.0 */
/* Credits a FORTH link end has (forth.md 5.2, 5.4): the inbox of what is on its
 * way, T and F' of every lane, waiting for more.  What it owes is in
 * credit_return.c. */
#include "systems/forth/link/port_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void in_grow(struct forth_port *l)
{
	uint32_t i, n = l->in_tail - l->in_head, cap = n ? 2 * n : 16;
	struct forth_port_inbox *d = malloc(cap * sizeof(*d));

	assert(d);
	for (i = 0; i < n; i++)
		d[i] = l->in[(l->in_head + i) & l->in_mask];
	free(l->in);
	l->in = d;
	l->in_mask = cap - 1;
	l->in_head = 0;
	l->in_tail = n;
}

int forth_port_credit_init(struct forth_port *l, struct weft_err *err)
{
	l->tx = calloc(l->tx_lanes, sizeof(*l->tx));
	l->rx = calloc(l->cfg.rx_lanes, sizeof(*l->rx));
	if (!l->tx || !l->rx)
		return weft_fail(err, ENOMEM, "%s: no memory for credits",
				 l->comp->name);
	forth_port_due_grow(l);
	in_grow(l);
	return 0;
}

void forth_port_credit_fini(struct forth_port *l)
{
	free(l->tx);
	free(l->rx);
	free(l->epoch);
	l->epoch = NULL;
	free(l->due);
	free(l->in);
	l->tx = NULL;
	l->rx = NULL;
	l->due = NULL;
	l->in = NULL;
}

void forth_port_credit_reset(struct forth_port *l)
{
	memset(l->tx, 0, l->tx_lanes * sizeof(*l->tx));
	memset(l->rx, 0, l->cfg.rx_lanes * sizeof(*l->rx));
	memset(&l->active, 0, sizeof(l->active));
	memset(&l->wait, 0, sizeof(l->wait));
	l->due_head = l->due_tail;
	l->in_head = l->in_tail;
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

/* 5.4: no more is acknowledged than was sent. */
static bool credit_use_plausible(const struct forth_port *l,
				 const struct forth_port_lane_tx *t,
				 uint32_t acked)
{
	return !l->cfg.credit_filter ||
	       ((acked - t->acked) & FORTH_COUNT_MASK) <=
		       ((t->sent - t->acked) & FORTH_COUNT_MASK);
}

/* Would this credit let the packet go that waits for its lane? */
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
	while (l->in_head != l->in_tail) {
		const struct forth_port_inbox *c =
			&l->in[l->in_head & l->in_mask];

		if (c->cycle > cycle)
			break;
		credit_take(l, c);
		l->in_head++;
	}
}

static void wait_check(struct forth_port *l, uint64_t cycle, uint16_t credit)
{
	uint32_t lane = forth_credit_flow(credit);

	if (!credit || lane >= l->tx_lanes || !l->tx[lane].need ||
	    !forth_port_credit_helps(l, credit, l->tx[lane].need))
		return;
	if (cycle < l->wake_at)
		l->wake_at = cycle;
	weft_timer_arm(l->comp, &l->timer, l->tag,
		       weft_clock_edge(&l->clk, cycle));
}

void forth_port_credit_in(struct forth_port *l, uint64_t cycle, uint16_t credit,
			  uint16_t words)
{
	if (l->in_tail - l->in_head > l->in_mask)
		forth_port_in_apply(l, forth_port_past(l));
	if (l->in_tail - l->in_head > l->in_mask)
		in_grow(l);
	l->in[l->in_tail++ & l->in_mask] = (struct forth_port_inbox){
		.cycle = cycle, .credit = credit, .words = words
	};
	if (mask_any(&l->wait))
		wait_check(l, cycle, credit);
	if (l->epoch && forth_credit_flow(credit) >= l->tx_lanes)
		credit_resync_soon(l, cycle);
}

uint64_t forth_port_lane_soon(const struct forth_port *l, uint32_t lane,
			      uint32_t charge)
{
	uint32_t i;

	for (i = l->in_head; i != l->in_tail; i++) {
		const struct forth_port_inbox *c = &l->in[i & l->in_mask];

		if (c->credit && forth_credit_flow(c->credit) == lane &&
		    forth_port_credit_helps(l, c->credit, charge))
			return c->cycle;
	}
	return WEFT_NEVER;
}

/* First cycle of the peer whose credits count after our `cycle`. */
static uint64_t peer_limit(const struct forth_port *l, uint64_t cycle)
{
	const struct forth_port *p = l->peer;
	weft_time_t t;

	if (cycle < l->cfg.t_crrx)
		return 0;
	cycle -= l->cfg.t_crrx;
	if (p->same_clk)
		return cycle < p->delay_cc ? 0 : cycle - p->delay_cc + 1;
	t = weft_clock_edge(&l->clk, cycle);
	return t < p->delay ? 0 : forth_port_cycle(p, t - p->delay + 1);
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

	/* several flows may share the lane: the smallest goes first */
	if (!t->need || charge < t->need)
		t->need = (uint16_t)charge;
	mask_set(&l->wait, lane);
	if (l->epoch)
		credit_resync_blocked(l, lane);
}

void forth_port_unwait_lane(struct forth_port *l, uint32_t lane)
{
	l->tx[lane].need = 0;
	mask_clear(&l->wait, lane);
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

/* What the peer does at `now` is not known yet. */
static inline uint64_t limit_final(const struct forth_port *p, uint64_t limit)
{
	if (weft_clock_edge(&p->clk, limit - 1) < weft_now(p->comp))
		return limit;
	return forth_port_now(p);
}

void forth_port_pull(struct forth_port *l, uint64_t cycle)
{
	struct forth_port *p = l->peer;
	uint64_t past = forth_port_past(l);

	if (!p->needs_frames) {
		uint64_t limit = peer_limit(l, cycle);

		if (limit > p->line_free)
			forth_port_catch_up(p, limit_final(p, limit));
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
	t = t > l->fwd_last ? t : l->fwd_last; /* F of a lane grows in order */
	if (l->epoch)
		credit_resync_held(l, 0, (int32_t)words);
	forth_port_fwd(l, 0, words, t);
}
