/* SPDX-License-Identifier: Apache-2.0 */
/* Resynchronisation of credits (forth.md 5.7), our own addition. It sets
 * T = F = F' = 0 on both sides of one lane, while all other lanes continue. It
 * is off unless both ends have cfg.resync_cc. models/credit.pml checks this
 * protocol:
 *
 *   sender    a lane has lacked credits for resync_cc cycles: stop the lane,
 *             change the epoch bit of the lane, send ASK(bit) now and every
 *             resync_cc cycles
 *   receiver  ASK with a new bit: once the lane's buffer has drained, F = 0.
 *             Then, and for every further ASK, send GRANT(bit)
 *   sender    GRANT with the bit of the last ASK: T = F' = 0, continue. Credits
 *             of the lane that arrive before GRANT are ignored. Credits of the
 *             new epoch follow GRANT, because a line keeps order.
 *
 * Messages have the form of credits of flow 64 + lane, so that an end without
 * this protocol ignores them (5.4). The values of ASK and GRANT differ in four
 * bits, so that parity and value together find up to three wrong bits. Any
 * number of messages may be lost.
 *
 * This file also counts the words in the buffer of each lane: a delivered
 * packet adds its charge, forth_port_fwd subtracts the forwarded words. */
#include "systems/forth/link/port_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EPOCH_LANES 64

enum epoch_msg { ASK = 0, GRANT = 2, MSGS = 4 }; /* + bit */
static const uint8_t msg_code[MSGS] = { 0x33, 0x55, 0x0F, 0x69 };

struct epoch_tx {
	/* cycle since which the lane lacks credits, or NEVER */
	uint64_t since;
	uint64_t ask; /* cycle of the next ASK */
	uint8_t bit;
};

struct epoch_rx {
	/* cycle at which the buffer has forwarded all words whose time of
	 * forwarding is known */
	uint64_t empty;
	/* words in the buffer for which no time of forwarding is known */
	int32_t held;
	uint8_t bit, want;
};

struct forth_port_epoch {
	struct epoch_tx tx[EPOCH_LANES];
	struct epoch_rx rx[EPOCH_LANES];
	/* sets of lanes, one bit per lane */
	uint64_t waits; /* lanes that wait for GRANT */
	/* lanes that start a new epoch once their buffer has drained */
	uint64_t wanted;
	uint64_t grants; /* lanes for which a GRANT is due at cycle grant_at */
	uint64_t grant_at;
};

void credit_resync_reset(struct forth_port *l)
{
	uint32_t i;

	if (!l->epoch)
		return;
	memset(l->epoch, 0, sizeof(*l->epoch));
	for (i = 0; i < EPOCH_LANES; i++)
		l->epoch->tx[i].since = WEFT_NEVER;
}

int credit_resync_init(struct forth_port *l, struct weft_err *err)
{
	if (!l->cfg.resync_cc)
		return 0;
	if (l->tx_lanes > EPOCH_LANES || l->cfg.rx_lanes > EPOCH_LANES)
		return weft_fail(
			err, EINVAL,
			"%s: credits of more than %d flows cannot be resynchronised",
			l->comp->name, EPOCH_LANES);
	l->epoch = malloc(sizeof(*l->epoch));
	if (!l->epoch)
		return weft_fail(err, ENOMEM, "%s: no memory", l->comp->name);
	credit_resync_reset(l);
	return 0;
}

/* ---- sender ---- */

bool credit_resync_stopped(const struct forth_port *l, uint32_t lane)
{
	return l->epoch->waits >> lane & 1;
}

void credit_resync_blocked(struct forth_port *l, uint32_t lane)
{
	struct epoch_tx *t = &l->epoch->tx[lane];

	if (credit_resync_stopped(l, lane))
		return;
	if (t->since == WEFT_NEVER)
		t->since = forth_port_now(l);
	credit_resync_soon(l, t->since + l->cfg.resync_cc);
}

void credit_resync_moved(struct forth_port *l, uint32_t lane, uint64_t cycle)
{
	l->epoch->tx[lane].since = l->tx[lane].need ? cycle : WEFT_NEVER;
}

/* ---- receiver ---- */

void credit_resync_held(struct forth_port *l, uint32_t lane, int32_t words)
{
	l->epoch->rx[lane].held += words;
}

void credit_resync_out(struct forth_port *l, uint32_t lane, uint32_t words,
		       weft_time_t t)
{
	struct epoch_rx *r = &l->epoch->rx[lane];
	uint64_t cycle = forth_port_cycle(l, t);

	r->held -= (int32_t)words;
	if (cycle > r->empty)
		r->empty = cycle;
	if (l->epoch->wanted >> lane & 1)
		forth_port_arm(l);
}

static void credit_resync_grant(struct forth_port *l, uint32_t lane)
{
	struct forth_port_epoch *e = l->epoch;

	if (!e->grants)
		e->grant_at = forth_port_now(l) + l->cfg.t_crtx;
	e->grants |= 1ull << lane;
	e->wanted &= ~(1ull << lane);
}

/* ---- messages ---- */

uint64_t credit_resync_next(const struct forth_port *l)
{
	uint64_t at = WEFT_NEVER, m;
	uint32_t lane;

	if (l->epoch->grants)
		at = l->epoch->grant_at;
	for (m = l->epoch->waits; m; m &= m - 1) {
		lane = (uint32_t)__builtin_ctzll(m);
		if (l->epoch->tx[lane].ask < at)
			at = l->epoch->tx[lane].ask;
	}
	return at;
}

uint32_t credit_resync_pick(struct forth_port *l, uint64_t at, uint16_t *credit,
			    uint32_t max)
{
	struct forth_port_epoch *e = l->epoch;
	uint32_t n = 0, lane;
	uint64_t m;

	for (m = e->grant_at <= at ? e->grants : 0; m; m &= m - 1) {
		lane = (uint32_t)__builtin_ctzll(m);
		if (n == max)
			return n;
		credit[n++] = forth_credit(EPOCH_LANES + lane,
					   msg_code[GRANT + e->rx[lane].bit]);
		e->grants &= ~(1ull << lane);
	}
	for (m = e->waits; m; m &= m - 1) {
		lane = (uint32_t)__builtin_ctzll(m);
		struct epoch_tx *t = &e->tx[lane];

		if (n == max)
			return n;
		if (t->ask > at)
			continue;
		credit[n++] = forth_credit(EPOCH_LANES + lane,
					   msg_code[ASK + t->bit]);
		t->ask = at + l->cfg.resync_cc;
	}
	return n;
}

bool credit_resync_take(struct forth_port *l, uint16_t credit)
{
	uint32_t flow = forth_credit_flow(credit), m, bit;
	uint32_t lane = flow - EPOCH_LANES;
	struct forth_port_epoch *e = l->epoch;

	if (flow < EPOCH_LANES)
		return false;
	for (m = 0; m < MSGS; m++)
		if (msg_code[m] == forth_credit_value(credit))
			break;
	bit = m & 1;
	if (m == MSGS) {
		l->count.credits_odd++;
	} else if (m < GRANT && lane < l->cfg.rx_lanes) {
		/* the peer repeats the ASK of this epoch */
		if (e->rx[lane].bit == bit) {
			credit_resync_grant(l, lane);
		} else {
			e->rx[lane].want = (uint8_t)bit;
			e->wanted |= 1ull << lane;
		}
	} else if (m >= GRANT && lane < l->tx_lanes &&
		   credit_resync_stopped(l, lane) && e->tx[lane].bit == bit) {
		e->waits &= ~(1ull << lane);
		e->tx[lane].since = WEFT_NEVER;
		l->tx[lane].sent = l->tx[lane].acked = 0;
		l->count.resyncs++;
		l->wake_at = forth_port_now(l);
	}
	credit_resync_soon(l, forth_port_now(l));
	return true;
}

void credit_resync_soon(struct forth_port *l, uint64_t cycle)
{
	if (cycle < forth_port_now(l))
		cycle = forth_port_now(l);
	weft_timer_arm(l->comp, &l->timer, l->tag,
		       weft_clock_edge(&l->clk, cycle));
}

/* ---- time ---- */

uint64_t credit_resync_due(const struct forth_port *l)
{
	const struct forth_port_epoch *e = l->epoch;
	uint64_t at = WEFT_NEVER, t, m;
	uint32_t lane;

	/* find the cycle at which the first resynchronisation message of the
	 * inbox takes effect */
	for (uint32_t i = l->in.head; i != l->in.tail && at == WEFT_NEVER;
	     i++) {
		const struct forth_port_inbox *c = ring_at(&l->in, i);

		if (c->credit && forth_credit_flow(c->credit) >= EPOCH_LANES)
			at = c->cycle;
	}
	for (m = l->wait.w[0] & ~e->waits; m; m &= m - 1) {
		lane = (uint32_t)__builtin_ctzll(m);
		if (e->tx[lane].since == WEFT_NEVER)
			continue;
		t = e->tx[lane].since + l->cfg.resync_cc;
		at = t < at ? t : at;
	}
	for (m = e->wanted; m; m &= m - 1) {
		lane = (uint32_t)__builtin_ctzll(m);
		if (e->rx[lane].held <= 0 && e->rx[lane].empty < at)
			at = e->rx[lane].empty;
	}
	return at > forth_port_now(l) ? at : forth_port_now(l);
}

void credit_resync_event(struct forth_port *l, uint64_t now)
{
	struct forth_port_epoch *e = l->epoch;
	uint32_t lane, i, to;
	uint64_t m;

	forth_port_in_apply(l, now);
	/* lanes whose buffer has drained start the new epoch */
	for (m = e->wanted; m; m &= m - 1) {
		lane = (uint32_t)__builtin_ctzll(m);
		if (e->rx[lane].held > 0 || now < e->rx[lane].empty)
			continue;
		/* remove the lane's credits of the old epoch that have not been
		 * sent, because the peer would count them after GRANT */
		for (i = to = l->due.head; i != l->due.tail; i++)
			if (ring_at(&l->due, i)->lane != lane)
				*ring_at(&l->due, to++) = *ring_at(&l->due, i);
		l->due.tail = to;
		mask_clear(&l->active, lane);
		l->rx[lane] = (struct forth_port_lane_rx){ 0 };
		e->rx[lane].bit = e->rx[lane].want;
		credit_resync_grant(l, lane);
	}
	/* lanes that have lacked credits for resync_cc stop and send a
	 * request */
	for (m = l->wait.w[0] & ~e->waits; m; m &= m - 1) {
		lane = (uint32_t)__builtin_ctzll(m);
		if (e->tx[lane].since == WEFT_NEVER ||
		    now < e->tx[lane].since + l->cfg.resync_cc)
			continue;
		e->waits |= 1ull << lane;
		e->tx[lane].bit ^= 1;
		e->tx[lane].ask = now;
	}
}
