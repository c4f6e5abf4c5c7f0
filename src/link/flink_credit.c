/* SPDX-License-Identifier: Apache-2.0 */
/* Credits of a FORTH link (forth.md 5): what we owe and when it may be on the
 * line, what we have and when it counts.
 *
 * Credit-only frames depend on nothing but the due list, the times at which
 * this end sends packets, and the refresh period, so they are worked out when
 * needed (flink_catch_up) and not one event each.  Everything before `now` is
 * final; the peer only ever asks for what left at least a cable delay ago. */
#include "link/flink_int.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- rings ------------------------------------------------------------ */

static void due_grow(struct flink *l)
{
	uint32_t i, n = l->due_tail - l->due_head, cap = n ? 2 * n : 16;
	struct flink_due *d = malloc(cap * sizeof(*d));

	assert(d);
	for (i = 0; i < n; i++)
		d[i] = l->due[(l->due_head + i) & l->due_mask];
	free(l->due);
	l->due = d;
	l->due_mask = cap - 1;
	l->due_head = 0;
	l->due_tail = n;
}

static void in_grow(struct flink *l)
{
	uint32_t i, n = l->in_tail - l->in_head, cap = n ? 2 * n : 16;
	struct flink_inbox *d = malloc(cap * sizeof(*d));

	assert(d);
	for (i = 0; i < n; i++)
		d[i] = l->in[(l->in_head + i) & l->in_mask];
	free(l->in);
	l->in = d;
	l->in_mask = cap - 1;
	l->in_head = 0;
	l->in_tail = n;
}

int flink_credit_init(struct flink *l, struct weft_err *err)
{
	l->tx = calloc(l->tx_lanes, sizeof(*l->tx));
	l->rx = calloc(l->cfg.rx_lanes, sizeof(*l->rx));
	if (!l->tx || !l->rx)
		return weft_fail(err, ENOMEM, "%s: no memory for credits",
				 l->comp->name);
	due_grow(l);
	in_grow(l);
	return 0;
}

void flink_credit_fini(struct flink *l)
{
	free(l->tx);
	free(l->rx);
	free(l->tx_other);
	free(l->rx_other);
	free(l->due);
	free(l->in);
	l->tx = l->tx_other = NULL;
	l->rx = l->rx_other = NULL;
	l->due = NULL;
	l->in = NULL;
}

void flink_credit_reset(struct flink *l)
{
	memset(l->tx, 0, l->tx_lanes * sizeof(*l->tx));
	memset(l->rx, 0, l->cfg.rx_lanes * sizeof(*l->rx));
	memset(&l->active, 0, sizeof(l->active));
	memset(&l->wait, 0, sizeof(l->wait));
	l->due_head = l->due_tail;
	l->in_head = l->in_tail;
}

/* ---- credits we have --------------------------------------------------- */

bool flink_lane_ok(const struct flink *l, uint32_t lane, uint32_t charge)
{
	const struct flink_lane_tx *t = &l->tx[lane];

	return ((t->sent - t->acked) & FORTH_COUNT_MASK) + charge <= l->tx_cap;
}

/* Would this credit let the packet go that waits for its lane? */
static bool credit_helps(const struct flink *l, uint16_t credit,
			 uint32_t charge)
{
	const struct flink_lane_tx *t = &l->tx[forth_credit_flow(credit)];
	uint32_t acked = forth_credit_value(credit) * FORTH_CREDIT_GRAN;

	return ((t->sent - acked) & FORTH_COUNT_MASK) + charge <= l->tx_cap;
}

static void credit_take(struct flink *l, const struct flink_inbox *c)
{
	struct flink_lane_tx *t;
	uint32_t acked;

	l->count.in_cycles += c->words;
	if (!c->credit)
		return;
	l->count.credits_in++;
	acked = forth_credit_value(c->credit) * FORTH_CREDIT_GRAN;
	if (forth_credit_flow(c->credit) >= l->tx_lanes) {
		l->count.credits_odd++;
		return;
	}
	t = &l->tx[forth_credit_flow(c->credit)];
	if (l->cfg.credit_filter &&
	    ((acked - t->acked) & FORTH_COUNT_MASK) >
		    ((t->sent - t->acked) & FORTH_COUNT_MASK)) {
		l->count.credits_odd++;
		return;
	}
	t->acked = (uint16_t)acked;
}

static void in_apply(struct flink *l, uint64_t cycle)
{
	while (l->in_head != l->in_tail) {
		const struct flink_inbox *c = &l->in[l->in_head & l->in_mask];

		if (c->cycle > cycle)
			break;
		credit_take(l, c);
		l->in_head++;
	}
}

static void wait_check(struct flink *l, uint64_t cycle, uint16_t credit)
{
	uint32_t lane = forth_credit_flow(credit);

	if (!credit || lane >= l->tx_lanes || !l->tx[lane].need ||
	    !credit_helps(l, credit, l->tx[lane].need))
		return;
	if (cycle < l->wake_at)
		l->wake_at = cycle;
	weft_timer_arm(l->comp, &l->timer, l->tag,
		       weft_clock_edge(&l->clk, cycle));
}

void flink_credit_in(struct flink *l, uint64_t cycle, uint16_t credit,
		     uint16_t words)
{
	if (l->in_tail - l->in_head > l->in_mask)
		in_apply(l, flink_now(l));
	if (l->in_tail - l->in_head > l->in_mask)
		in_grow(l);
	l->in[l->in_tail++ & l->in_mask] = (struct flink_inbox){
		.cycle = cycle, .credit = credit, .words = words
	};
	if (mask_any(&l->wait))
		wait_check(l, cycle, credit);
}

static uint64_t lane_soon(const struct flink *l, uint32_t lane, uint32_t charge)
{
	uint32_t i;

	for (i = l->in_head; i != l->in_tail; i++) {
		const struct flink_inbox *c = &l->in[i & l->in_mask];

		if (c->credit && forth_credit_flow(c->credit) == lane &&
		    credit_helps(l, c->credit, charge))
			return c->cycle;
	}
	return WEFT_NEVER;
}

/* First cycle of the peer whose credits count after our `cycle`. */
static uint64_t peer_limit(const struct flink *l, uint64_t cycle)
{
	const struct flink *p = l->peer;
	weft_time_t t;

	if (cycle < l->cfg.t_crrx)
		return 0;
	cycle -= l->cfg.t_crrx;
	if (p->same_clk)
		return cycle < p->delay_cc ? 0 : cycle - p->delay_cc + 1;
	t = weft_clock_edge(&l->clk, cycle);
	return t < p->delay ? 0 : flink_cycle(p, t - p->delay + 1);
}

void flink_unwait(struct flink *l)
{
	while (mask_any(&l->wait)) {
		uint32_t lane = mask_next(&l->wait, 0);

		l->tx[lane].need = 0;
		mask_clear(&l->wait, lane);
	}
}

void flink_wait_lane(struct flink *l, uint32_t lane, uint32_t charge)
{
	struct flink_lane_tx *t = &l->tx[lane];

	/* several flows may share the lane: the smallest goes first */
	if (!t->need || charge < t->need)
		t->need = (uint16_t)charge;
	mask_set(&l->wait, lane);
}

void flink_unwait_lane(struct flink *l, uint32_t lane)
{
	l->tx[lane].need = 0;
	mask_clear(&l->wait, lane);
}

uint64_t flink_wait(struct flink *l)
{
	struct flink_mask m;
	uint64_t at = WEFT_NEVER;

	if (!l->peer->tapped)
		flink_catch_up(l->peer, flink_now(l->peer));
	for (m = l->wait; mask_any(&m);) {
		uint32_t lane = mask_next(&m, 0);
		uint64_t soon = lane_soon(l, lane, l->tx[lane].need);

		at = soon < at ? soon : at;
		mask_clear(&m, lane);
	}
	flink_arm(l->peer);
	return at;
}

/* ---- credits we owe ------------------------------------------------------ */

static void due_insert(struct flink *l, uint64_t cycle, uint32_t lane,
		       uint32_t value)
{
	uint32_t i;

	if (l->due_tail - l->due_head > l->due_mask)
		due_grow(l);
	for (i = l->due_tail; i != l->due_head; i--) {
		struct flink_due *d = &l->due[(i - 1) & l->due_mask];

		if (d->lane == lane && d->cycle > cycle)
			cycle = d->cycle; /* a lane's values keep order */
		if (d->cycle <= cycle)
			break;
		l->due[i & l->due_mask] = *d;
	}
	l->due[i & l->due_mask] = (struct flink_due){
		.cycle = cycle, .lane = (uint8_t)lane, .value = (uint8_t)value
	};
	l->due_tail++;
}

static inline bool listened(const struct flink *l)
{
	return l->tapped || mask_any(&l->peer->wait);
}

/* F moves on; true when the part that travels has changed. */
static bool fwd_add(struct flink_lane_rx *r, uint32_t words)
{
	uint32_t old = r->fwd;

	r->fwd = (uint16_t)((old + words) & FORTH_COUNT_MASK);
	return old / FORTH_CREDIT_GRAN != r->fwd / FORTH_CREDIT_GRAN;
}

void flink_fwd(struct flink *l, uint32_t lane, uint32_t words, weft_time_t t)
{
	struct flink_lane_rx *r = &l->rx[lane];

	assert(lane < l->cfg.rx_lanes && l->peer);
	if (!fwd_add(r, words))
		return;
	due_insert(l, flink_cycle(l, t) + l->cfg.t_crtx, lane,
		   r->fwd / FORTH_CREDIT_GRAN);
	if (listened(l))
		flink_arm(l);
}

void flink_fwd_ramp(struct flink *l, uint32_t lane, uint32_t words,
		    uint32_t step, const struct weft_clock *clk,
		    uint64_t first)
{
	struct flink_lane_rx *r = &l->rx[lane];
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
		due_insert(l, flink_cycle(l, t) + l->cfg.t_crtx,
			   lane, r->fwd / FORTH_CREDIT_GRAN);
	}
	fwd_add(r, words - done);
	if (listened(l))
		flink_arm(l);
}

static void due_apply(struct flink *l, uint64_t cycle)
{
	while (l->due_head != l->due_tail) {
		const struct flink_due *d = &l->due[l->due_head & l->due_mask];
		struct flink_lane_rx *r = &l->rx[d->lane];

		if (d->cycle > cycle)
			break;
		r->value = d->value;
		if (r->value != r->given)
			mask_set(&l->active, d->lane);
		else
			mask_clear(&l->active, d->lane);
		l->due_head++;
	}
}

/* Up to n changed lanes, round robin (5.3). */
static uint32_t pick_active(struct flink *l, uint16_t *credit, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n && mask_any(&l->active); i++) {
		uint32_t lane = mask_next(&l->active, l->rr_active);
		struct flink_lane_rx *r = &l->rx[lane];

		r->given = r->value;
		mask_clear(&l->active, lane);
		l->rr_active = lane + 1 < l->cfg.rx_lanes ? lane + 1 : 0;
		credit[i] = forth_credit(lane, r->value);
	}
	return i;
}

static bool picked(const uint16_t *credit, uint32_t n, uint32_t lane)
{
	while (n--)
		if (forth_credit_flow(credit[n]) == lane)
			return true;
	return false;
}

/* Unchanged lanes into slots that are left, round robin, each once. */
static uint32_t pick_refresh(struct flink *l, uint16_t *credit, uint32_t n,
			     uint32_t slots)
{
	uint32_t tries;

	for (tries = 0; n < slots && tries < l->cfg.rx_lanes; tries++) {
		uint32_t lane = l->rr_refresh;

		l->rr_refresh = lane + 1 < l->cfg.rx_lanes ? lane + 1 : 0;
		if (!picked(credit, n, lane))
			credit[n++] = forth_credit(lane, l->rx[lane].given);
	}
	return n;
}

/* Packed: a packet takes credits by the pair, a credit frame's first word has
 * room for one. */
static uint32_t credits_max(const struct flink *l, bool packet)
{
	uint32_t n = l->cfg.links * (1 + 2 * l->cfg.credit_words);

	if (l->cfg.layout == FORTH_PACKED && packet)
		n++;
	return n < FORTH_CREDITS_MAX ? n : FORTH_CREDITS_MAX;
}

/* Word of the frame in which credit i lies. */
static uint32_t credit_word(const struct flink *l, uint32_t i)
{
	if (l->cfg.layout == FORTH_PACKED)
		return (i + 1) / 2;
	return i < l->cfg.links ?
		       0 :
		       1 + (i - l->cfg.links) / (2 * l->cfg.links);
}

/* Cycle of the peer from which a credit of our cycle `at` counts. */
static uint64_t counts_at(const struct flink *l, uint64_t at)
{
	const struct flink *p = l->peer;
	weft_time_t t;

	if (l->same_clk)
		return at + l->delay_cc + p->cfg.t_crrx;
	t = weft_clock_edge(&l->clk, at) + l->delay;
	return flink_cycle(p, t) + p->cfg.t_crrx;
}

uint32_t flink_packet_credits(struct flink *l, uint64_t at,
			      struct weft_frame *f)
{
	uint16_t credit[FORTH_CREDITS_MAX];
	uint32_t i, n, changed;

	due_apply(l, at);
	n = changed = pick_active(l, credit, credits_max(l, true));
	if (l->cfg.layout == FORTH_WORD && l->cfg.refresh_cc)
		n = pick_refresh(l, credit, n, l->cfg.links);
	l->count.credits_out += n;
	for (i = 0; i < n; i++)
		forth_frame_set_credit(f, i, credit[i]);
	if (l->tapped)
		return n;
	for (i = 0; i < changed; i++)
		flink_credit_in(l->peer, counts_at(l, at + credit_word(l, i)),
				credit[i], 0);
	/* a repetition changes nothing on a line without faults */
	l->peer->count.credits_in += n - changed;
	return n;
}

static void credit_frame(struct flink *l, uint64_t at)
{
	uint16_t credit[FORTH_CREDITS_MAX];
	uint32_t i, n = pick_active(l, credit, credits_max(l, false));
	uint32_t words;

	if (l->cfg.refresh_cc && (!n || l->cfg.layout == FORTH_WORD))
		n = pick_refresh(l, credit, n,
				 l->cfg.layout == FORTH_WORD ? l->cfg.links :
							       1);
	words = 1 + forth_credit_words(l->cfg.layout, l->cfg.links, n, false);
	l->line_free = at + words;
	l->last_start = at;
	l->count.credits_out += n;
	l->count.out_cycles += words;
	if (l->tapped) {
		flink_send_credits(l, at, credit, n, words);
		return;
	}
	for (i = 0; i < n; i++)
		flink_credit_in(l->peer, counts_at(l, at + credit_word(l, i)),
				credit[i], (uint16_t)(i ? 0 : words));
}

/* A long quiet time: all refreshes before `limit` but the last, at once. */
static void refresh_skip(struct flink *l, uint64_t first, uint64_t limit)
{
	uint64_t k = (limit - 1 - first) / l->cfg.refresh_cc;
	uint32_t n = l->cfg.layout == FORTH_WORD ? l->cfg.links : 1;

	if (l->tapped || !k)
		return;
	n = n < l->cfg.rx_lanes ? n : l->cfg.rx_lanes;
	l->last_start += k * l->cfg.refresh_cc;
	l->rr_refresh = (uint32_t)((l->rr_refresh + k * n) % l->cfg.rx_lanes);
	l->count.credits_out += k * n;
	l->count.out_cycles += k;
	l->peer->count.credits_in += k * n;
	l->peer->count.in_cycles += k;
}

/* First cycle at which the next credit-only frame may start. */
static uint64_t credit_start(const struct flink *l)
{
	uint64_t at = WEFT_NEVER;

	if (mask_any(&l->active))
		return l->line_free;
	if (l->due_head != l->due_tail)
		at = l->due[l->due_head & l->due_mask].cycle;
	if (l->cfg.refresh_cc && l->last_start + l->cfg.refresh_cc < at)
		at = l->last_start + l->cfg.refresh_cc;
	return at > l->line_free ? at : l->line_free;
}

/* One lane on a line that nobody listens to: the due list is the sequence of
 * credit frames, but for values overtaken while the line was busy.  What
 * counts at the peer by now needs no place in its inbox. */
static void catch_up_lane(struct flink *l, uint64_t limit)
{
	struct flink_lane_rx *r = &l->rx[0];
	struct flink *p = l->peer;
	uint64_t refresh = l->cfg.refresh_cc ? l->cfg.refresh_cc : WEFT_NEVER;
	uint64_t now = flink_now(p), past = 0;

	for (; l->due_head != l->due_tail; l->due_head++) {
		const struct flink_due *d = &l->due[l->due_head & l->due_mask];
		uint64_t at = d->cycle > l->line_free ? d->cycle :
							l->line_free;
		uint64_t counts;

		if (at >= limit || at - l->last_start >= refresh)
			break;
		if (l->due_head + 1 != l->due_tail &&
		    l->due[(l->due_head + 1) & l->due_mask].cycle <= at)
			continue;
		r->value = d->value;
		if (r->value == r->given)
			continue;
		r->given = r->value;
		l->line_free = at + 1;
		l->last_start = at;
		l->count.credits_out++;
		l->count.out_cycles++;
		counts = counts_at(l, at);
		if (counts > now) {
			flink_credit_in(p, counts, forth_credit(0, r->value),
					1);
		} else {
			past++;
			p->tx[0].acked = (uint16_t)(r->value *
						    FORTH_CREDIT_GRAN);
		}
	}
	p->count.credits_in += past;
	p->count.in_cycles += past;
}

static inline bool lane_alone(const struct flink *l)
{
	return l->cfg.rx_lanes == 1 && !l->tapped && !mask_any(&l->active) &&
	       !mask_any(&l->peer->wait) && !l->peer->cfg.credit_filter;
}

void flink_catch_up_all(struct flink *l, uint64_t limit)
{
	if (l->lost_sync)
		return;
	if (lane_alone(l)) {
		in_apply(l->peer, flink_now(l->peer));
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
		if (!mask_any(&l->active)) {
			if (!l->cfg.refresh_cc || at < refresh)
				continue;
			if (l->due_head == l->due_tail && at == refresh)
				refresh_skip(l, at, limit);
			at = l->last_start + l->cfg.refresh_cc;
			if (at < l->line_free)
				at = l->line_free;
		}
		credit_frame(l, at);
	}
}

/* What the peer does at `now` is not known yet. */
static inline uint64_t limit_final(const struct flink *p, uint64_t limit)
{
	if (weft_clock_edge(&p->clk, limit - 1) < weft_now(p->comp))
		return limit;
	return flink_now(p);
}

void flink_pull(struct flink *l, uint64_t cycle)
{
	struct flink *p = l->peer;

	if (!p->tapped) {
		uint64_t limit = peer_limit(l, cycle);

		if (limit > p->line_free)
			flink_catch_up(p, limit_final(p, limit));
	}
	in_apply(l, cycle);
}

/* A lane the peer waits for: when its sufficient credit may start. */
static uint64_t lane_credit(const struct flink *l, uint32_t lane)
{
	const struct flink *p = l->peer;
	uint32_t i, need = p->tx[lane].need;

	if (lane >= l->cfg.rx_lanes)
		return WEFT_NEVER;
	if (l->rx[lane].value != l->rx[lane].given &&
	    credit_helps(p, forth_credit(lane, l->rx[lane].value), need))
		return l->line_free;
	for (i = l->due_head; i != l->due_tail; i++) {
		const struct flink_due *d = &l->due[i & l->due_mask];

		if (d->lane == lane &&
		    credit_helps(p, forth_credit(lane, d->value), need))
			return d->cycle > l->line_free ? d->cycle :
							 l->line_free;
	}
	return WEFT_NEVER;
}

uint64_t flink_next_credit(const struct flink *l)
{
	struct flink_mask m;
	uint64_t at = WEFT_NEVER;

	if (l->lost_sync)
		return WEFT_NEVER;
	if (l->tapped)
		return credit_start(l);
	for (m = l->peer->wait; mask_any(&m);) {
		uint32_t lane = mask_next(&m, 0);
		uint64_t t = lane_credit(l, lane);

		at = t < at ? t : at;
		mask_clear(&m, lane);
	}
	return at;
}
