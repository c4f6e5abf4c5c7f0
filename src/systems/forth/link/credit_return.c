/* SPDX-License-Identifier: Apache-2.0 */
/* Credits that a FORTH link end owes (forth.md 5.3). This file computes the
 * cycle from which on the line may carry F[11:5] of a lane, and the frames that
 * carry this value.
 *
 * Credit-only frames depend only on the due list, the times at which this end
 * sends packets, and the refresh period. Therefore such frames are computed
 * when needed (forth_port_catch_up), to avoid one event for each frame. All
 * frames that left before `now` are final. The peer needs only frames that left
 * at least a cable delay ago. */
#include "systems/forth/link/port_internal.h"

#include <assert.h>

/* ---- credits that are due ---- */

static void due_insert(struct forth_port *l, uint64_t cycle, uint32_t lane,
		       uint32_t value)
{
	struct forth_port_due d = { .cycle = cycle,
				    .lane = (uint8_t)lane,
				    .value = (uint8_t)value };

	/* delay the value to the cycle of an earlier value of its lane, because
	 * values of a lane leave in order */
	for (uint32_t i = l->due.tail;
	     i != l->due.head && ring_at(&l->due, i - 1)->cycle > d.cycle; i--)
		if (ring_at(&l->due, i - 1)->lane == lane)
			d.cycle = ring_at(&l->due, i - 1)->cycle;
	ring_insert_sorted(&l->due, d, .cycle);
}

/* Adds words to F. Returns whether F[11:5], the part that credits carry, has
 * changed. */
static bool fwd_add(struct forth_port_lane_rx *r, uint32_t words)
{
	uint32_t old = r->fwd;

	r->fwd = (uint16_t)((old + words) & FORTH_COUNT_MASK);
	return old / FORTH_CREDIT_GRAN != r->fwd / FORTH_CREDIT_GRAN;
}

static inline void fwd_known(struct forth_port *l, uint32_t lane,
			     uint32_t words, weft_time_t t)
{
	if (t > l->fwd_last)
		l->fwd_last = t;
	if (l->epoch)
		credit_resync_out(l, lane, words, t);
}

void forth_port_fwd(struct forth_port *l, uint32_t lane, uint32_t words,
		    weft_time_t t)
{
	struct forth_port_lane_rx *r = &l->rx[lane];

	assert(lane < l->cfg.rx_lanes && l->peer && words <= FORTH_COUNT_MASK);
	fwd_known(l, lane, words, t);
	if (!fwd_add(r, words))
		return;
	due_insert(l, forth_port_cycle(l, t) + l->cfg.t_crtx, lane,
		   r->fwd / FORTH_CREDIT_GRAN);
	if (forth_port_heard(l))
		forth_port_arm(l);
}

void forth_port_fwd_ramp(struct forth_port *l, uint32_t lane, uint32_t words,
			 uint32_t step, const struct weft_clock *clk,
			 uint64_t first)
{
	struct forth_port_lane_rx *r = &l->rx[lane];
	uint32_t done = 0;

	assert(lane < l->cfg.rx_lanes && l->peer);
	for (;;) {
		uint32_t room = FORTH_CREDIT_GRAN - r->fwd % FORTH_CREDIT_GRAN;
		uint32_t steps = (done + room + step - 1) / step;
		uint32_t to = steps * step < words ? steps * step : words;
		weft_time_t t;

		if (done + room > words)
			break;
		fwd_add(r, to - done);
		done = to;
		t = weft_clock_edge(clk, first + steps);
		due_insert(l, forth_port_cycle(l, t) + l->cfg.t_crtx, lane,
			   r->fwd / FORTH_CREDIT_GRAN);
	}
	fwd_add(r, words - done);
	fwd_known(l, lane, words,
		  weft_clock_edge(clk, first + (words + step - 1) / step));
	if (forth_port_heard(l))
		forth_port_arm(l);
}

static void due_apply(struct forth_port *l, uint64_t cycle)
{
	for (; !ring_empty(&l->due); ring_pop(&l->due)) {
		const struct forth_port_due *d = ring_front(&l->due);
		struct forth_port_lane_rx *r = &l->rx[d->lane];

		if (d->cycle > cycle)
			break;
		r->value = d->value;
		if (r->value != r->given)
			mask_set(&l->active, d->lane);
		else
			mask_clear(&l->active, d->lane);
	}
}

/* ---- which lanes report, in which frame ---- */

/* Picks up to max credits: messages of resynchronisation first, then lanes
 * whose value has changed, round robin (5.3). */
static uint32_t pick_changed(struct forth_port *l, uint64_t at,
			     uint16_t *credit, uint32_t max)
{
	uint32_t n = l->epoch ? credit_resync_pick(l, at, credit, max) : 0;

	for (; n < max && mask_any(&l->active); n++) {
		uint32_t lane = mask_next(&l->active, l->rr_active);
		struct forth_port_lane_rx *r = &l->rx[lane];

		r->given = r->value;
		mask_clear(&l->active, lane);
		l->rr_active = lane + 1 < l->cfg.rx_lanes ? lane + 1 : 0;
		credit[n] = forth_credit(lane, r->value);
	}
	return n;
}

/* Fills free slots of a frame. Goes round robin through the lanes that have no
 * credit in the frame, and repeats the last credit of each lane. The repetition
 * replaces a credit that was lost. Returns the number of credits in the
 * frame. */
static uint32_t pick_refresh(struct forth_port *l, uint16_t *credit, uint32_t n,
			     uint32_t slots)
{
	uint32_t tries;

	for (tries = 0; n < slots && tries < l->cfg.rx_lanes; tries++) {
		uint32_t lane = l->rr_refresh, i = 0;

		l->rr_refresh = lane + 1 < l->cfg.rx_lanes ? lane + 1 : 0;
		while (i < n && forth_credit_flow(credit[i]) != lane)
			i++;
		if (i == n)
			credit[n++] = forth_credit(lane, l->rx[lane].given);
	}
	return n;
}

/* Returns the largest number of credits in a frame. The packed layout sends the
 * credits before a packet in pairs. In the packed layout the first word of a
 * credit-only frame has room for one credit. */
static uint32_t credits_max(const struct forth_port *l, bool packet)
{
	uint32_t n = l->cfg.links * (1 + 2 * l->cfg.credit_words);

	if (l->cfg.layout == FORTH_PACKED && packet)
		n++;
	return n < FORTH_CREDITS_MAX ? n : FORTH_CREDITS_MAX;
}

/* Returns the cycle, on the peer's clock, at which a credit takes effect. The
 * credit leaves in cycle `at` of this end. */
static uint64_t counts_at(const struct forth_port *l, uint64_t at)
{
	const struct forth_port *p = l->peer;
	weft_time_t t;

	if (l->same_clk)
		return at + l->delay_cc + p->cfg.t_crrx;
	t = weft_clock_edge(&l->clk, at) + l->delay;
	return forth_port_cycle(p, t) + p->cfg.t_crrx;
}

/* Counts the n credits of a frame that starts at cycle `at`. Reports the
 * credits to the owner while forth_port_watch() is on. */
static void put_credits(struct forth_port *l, uint64_t at,
			const uint16_t *credit, uint32_t n)
{
	l->count.credits_out += n;
	for (uint32_t i = 0; l->watched && i < n; i++)
		l->ops->credit(
			l->own, l,
			at + forth_credit_word(l->cfg.layout, l->cfg.links, i),
			credit[i], false);
}

uint32_t forth_port_packet_credits(struct forth_port *l, uint64_t at,
				   struct weft_frame *f)
{
	uint16_t credit[FORTH_CREDITS_MAX];
	uint32_t i, n, told;

	due_apply(l, at);
	n = told = pick_changed(l, at, credit, credits_max(l, true));
	if (l->cfg.layout == FORTH_WORD && l->cfg.refresh_cc)
		n = pick_refresh(l, credit, n, l->cfg.links);
	put_credits(l, at, credit, n);
	for (i = 0; i < n; i++)
		forth_frame_set_credit(f, i, credit[i]);
	if (l->needs_frames)
		return n;
	/* skip refreshes unless the peer's owner watches credits, because a
	 * repetition changes nothing on a line without faults */
	if (l->peer->watched)
		told = n;
	for (i = 0; i < told; i++)
		forth_port_credit_in(
			l->peer,
			counts_at(l, at + forth_credit_word(l->cfg.layout,
							    l->cfg.links, i)),
			credit[i], 0);
	l->peer->count.credits_in += n - told;
	return n;
}

static void credit_frame(struct forth_port *l, uint64_t at)
{
	uint16_t credit[FORTH_CREDITS_MAX];
	uint32_t i, n = pick_changed(l, at, credit, credits_max(l, false));
	uint32_t words;

	if (l->cfg.refresh_cc && (!n || l->cfg.layout == FORTH_WORD))
		n = pick_refresh(l, credit, n,
				 l->cfg.layout == FORTH_WORD ? l->cfg.links
							     : 1);
	words = 1 + forth_credit_words(l->cfg.layout, l->cfg.links, n, false);
	l->line_free = at + words;
	l->last_start = at;
	put_credits(l, at, credit, n);
	l->count.out_cycles += words;
	if (l->needs_frames) {
		struct weft_frame *f = weft_frame_new(l->comp->sim);

		forth_port_credits_fill(l, f, credit, n, words);
		forth_port_line_put(l, f, at);
		return;
	}
	if (l->told) {
		struct weft_frame f = { .word_fs = l->word_fs };

		forth_port_credits_fill(l, &f, credit, n, words);
		forth_port_tell(l, &f, at);
	}
	if (!l->loop)
		forth_port_volume(l, 0, 1, words);
	for (i = 0; i < n; i++)
		forth_port_credit_in(
			l->peer,
			counts_at(l, at + forth_credit_word(l->cfg.layout,
							    l->cfg.links, i)),
			credit[i], (uint16_t)(i ? 0 : words));
}

/* ---- catching up ---- */

/* Skips a long time in which only refreshes leave. If no listener, fault or
 * owner needs each refresh, counts all refreshes before `limit` in one step,
 * except for the last refresh. */
static void refresh_skip(struct forth_port *l, uint64_t first, uint64_t limit)
{
	uint64_t k = (limit - 1 - first) / l->cfg.refresh_cc;
	uint32_t n = l->cfg.layout == FORTH_WORD ? l->cfg.links : 1;

	if (l->needs_frames || l->told || l->watched || l->peer->watched || !k)
		return;
	n = n < l->cfg.rx_lanes ? n : l->cfg.rx_lanes;
	l->last_start += k * l->cfg.refresh_cc;
	l->rr_refresh = (uint32_t)((l->rr_refresh + k * n) % l->cfg.rx_lanes);
	l->count.credits_out += k * n;
	l->count.out_cycles += k;
	if (!l->loop)
		forth_port_volume(l, 0, k, k);
	l->peer->count.credits_in += k * n;
	l->peer->count.in_cycles += k;
}

/* Returns the first cycle at which the next credit-only frame may start. */
static uint64_t credit_start(const struct forth_port *l)
{
	uint64_t at = WEFT_NEVER;

	if (mask_any(&l->active))
		return l->line_free;
	if (!ring_empty(&l->due))
		at = ring_front(&l->due)->cycle;
	if (l->cfg.refresh_cc && l->last_start + l->cfg.refresh_cc < at)
		at = l->last_start + l->cfg.refresh_cc;
	if (l->epoch && credit_resync_next(l) < at)
		at = credit_resync_next(l);
	return at > l->line_free ? at : l->line_free;
}

/* Computes the credit-only frames before `limit` of an end with one lane, if no
 * listener hears the line. Each entry of the due list becomes a frame, unless
 * the next value was due before the line was free. Credits that have taken
 * effect at the peer already are applied at once, without the peer's inbox. */
static void catch_up_lane(struct forth_port *l, uint64_t limit)
{
	struct forth_port_lane_rx *r = &l->rx[0];
	struct forth_port *p = l->peer;
	uint64_t refresh = l->cfg.refresh_cc ? l->cfg.refresh_cc : WEFT_NEVER;
	uint64_t now = forth_port_past(p), past = 0, n = 0;

	for (; !ring_empty(&l->due); ring_pop(&l->due)) {
		const struct forth_port_due *d = ring_front(&l->due);
		uint64_t at = d->cycle > l->line_free ? d->cycle : l->line_free;
		uint64_t counts;

		if (at >= limit || at - l->last_start >= refresh)
			break;
		if (ring_count(&l->due) > 1 &&
		    ring_nth(&l->due, 1)->cycle <= at)
			continue;
		r->value = d->value;
		if (r->value == r->given)
			continue;
		r->given = r->value;
		l->line_free = at + 1;
		l->last_start = at;
		n++;
		counts = counts_at(l, at);
		if (counts > now) {
			forth_port_credit_in(p, counts,
					     forth_credit(0, r->value), 1);
		} else {
			past++;
			p->tx[0].acked =
				(uint16_t)(r->value * FORTH_CREDIT_GRAN);
		}
	}
	l->count.credits_out += n;
	l->count.out_cycles += n;
	if (!l->loop)
		forth_port_volume(l, 0, n, n);
	p->count.credits_in += past;
	p->count.in_cycles += past;
}

void forth_port_catch_up_all(struct forth_port *l, uint64_t limit)
{
	const struct forth_port *p = l->peer;

	if (l->lost_sync || l->muted)
		return;
	if (l->cfg.rx_lanes == 1 && !l->needs_frames && !l->told &&
	    !mask_any(&l->active) && !mask_any(&p->wait) &&
	    !p->cfg.credit_filter && !l->watched && !p->watched) {
		forth_port_in_apply(l->peer, forth_port_past(l->peer));
		catch_up_lane(l, limit);
	}
	for (;;) {
		uint64_t at, refresh;

		due_apply(l, l->line_free);
		at = credit_start(l);
		if (at >= limit)
			return;
		due_apply(l, at);
		refresh = l->last_start + l->cfg.refresh_cc;
		if (!mask_any(&l->active) &&
		    !(l->epoch && credit_resync_next(l) <= at)) {
			if (!l->cfg.refresh_cc || at < refresh)
				continue;
			if (ring_empty(&l->due) && at == refresh)
				refresh_skip(l, at, limit);
			at = l->last_start + l->cfg.refresh_cc;
			if (at < l->line_free)
				at = l->line_free;
		}
		credit_frame(l, at);
	}
}

/* Returns the first cycle at which the line may carry a credit that lets the
 * peer send the waiting packet of this lane, or WEFT_NEVER. */
static uint64_t lane_credit(const struct forth_port *l, uint32_t lane)
{
	const struct forth_port *p = l->peer;
	uint32_t i, need = p->tx[lane].need;

	if (lane >= l->cfg.rx_lanes)
		return WEFT_NEVER;
	if (l->rx[lane].value != l->rx[lane].given &&
	    forth_port_credit_helps(p, forth_credit(lane, l->rx[lane].value),
				    need))
		return l->line_free;
	for (i = l->due.head; i != l->due.tail; i++) {
		const struct forth_port_due *d = ring_at(&l->due, i);

		if (d->lane == lane &&
		    forth_port_credit_helps(p, forth_credit(lane, d->value),
					    need))
			return d->cycle > l->line_free ? d->cycle
						       : l->line_free;
	}
	return WEFT_NEVER;
}

uint64_t forth_port_next_credit(const struct forth_port *l)
{
	struct forth_port_mask m;
	uint64_t at = WEFT_NEVER;

	if (l->lost_sync || l->muted)
		return WEFT_NEVER;
	if (l->needs_frames)
		return credit_start(l);
	for (m = l->peer->wait; mask_any(&m);) {
		uint32_t lane = mask_next(&m, 0);
		uint64_t t = lane_credit(l, lane);

		at = t < at ? t : at;
		mask_clear(&m, lane);
	}
	return at;
}
