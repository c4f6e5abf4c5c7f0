/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of routers that queue flits at their outputs (queued.h). Each output
 * sends one flit in a cycle. If the memory can send fewer flits than there are
 * outputs, round robin chooses the outputs. */
#include "systems/router/network/queued.h"

uint32_t queued_rank(const struct queued *r, uint32_t packet)
{
	const struct packet *p = queued_packet(r, packet);

	if (r->p.arbiter == QUEUED_CLASS)
		return p->rank;
	if (r->p.arbiter != QUEUED_AGE || p->measured.born >= UINT32_MAX)
		return 0;
	return UINT32_MAX - (uint32_t)p->measured.born;
}

/* Returns true if the first flit of queue o may leave. */
static bool line_asks(const struct queued *r, uint32_t o)
{
	const struct queued_out *q = &r->out[o];
	const struct queued_entry *e = ring_first(&q->packets);
	uint32_t flits, credits = r->behind[o].credits;

	if (!e || !e->flits)
		return false;
	if (!r->whole || q->sent)
		return credits > 0;
	flits = queued_packet(r, e->packet)->flits;
	return credits >= flits &&
	       (r->p.flow != ROUTER_STORE || e->flits == flits);
}

/* Returns the VC whose flit leaves output p, or ARBITER_NONE. */
static uint32_t line_choose(const struct queued *r, uint32_t p)
{
	uint32_t vcs = r->p.vcs, turn = r->turn_line[p], best = ARBITER_NONE;
	uint32_t last = p * vcs + (turn + vcs - 1) % vcs, rank = 0;

	if (r->p.hold && r->out[last].sent && line_asks(r, last))
		return last % vcs;
	for (uint32_t k = 0; k < vcs; k++) {
		uint32_t v = (turn + k) % vcs, o = p * vcs + v, other;

		if (!line_asks(r, o))
			continue;
		other = queued_rank(r, ring_front(&r->out[o].packets)->packet);
		if (best != ARBITER_NONE && other <= rank)
			continue;
		best = v;
		rank = other;
	}
	return best;
}

/* Puts a flit on the line. An end accepts every flit, so its credit is added
 * here. The end needs a step only for the last flit of a packet, so earlier
 * flits are not sent to it. */
static void flit_put(struct queued *r, uint32_t p, uint64_t now,
		     struct flit_run run, bool last)
{
	struct line *l = &r->s.line[p];

	if (!l->far->end) {
		station_send(&r->s, p, now, run);
		return;
	}
	line_credits_add(l, now + 2 * (1ull + l->latency) + r->s.credit_delay,
			 run.vc, 1);
	set_add(r->s.credits, p);
	run.head = true;
	if (last)
		station_send(&r->s, p, now, run);
}

static void line_send(struct queued *r, uint32_t p, uint32_t vc, uint64_t now)
{
	struct queued_out *q = &r->out[p * r->p.vcs + vc];
	uint32_t packet = ring_front(&q->packets)->packet;
	bool head = !q->sent;
	bool last = ++q->sent == queued_packet(r, packet)->flits;

	ring_front(&q->packets)->flits--;
	q->flits--;
	queued_return(r, q);
	r->behind[p * r->p.vcs + vc].credits--;
	r->turn_line[p] = (vc + 1) % r->p.vcs;
	r->flits--;
	if (!--r->queued[p])
		set_remove(r->live, p);
	r->worked = true;
	flit_put(r, p, now,
		 (struct flit_run){ .packet = packet,
				    .n = 1,
				    .vc = (uint8_t)vc,
				    .head = head },
		 last);
	weft_count(r->s.comp, ROUTER_FLITS, 1);
	if (!last)
		return;
	weft_count(r->s.comp, ROUTER_PACKETS, 1);
	q->sent = 0;
	ring_pop(&q->packets);
}

/* Sends a flit of output p. Returns true if one can leave. */
static bool output_send(struct queued *r, uint32_t p, uint64_t now)
{
	uint32_t vc = line_choose(r, p);

	if (vc == ARBITER_NONE)
		return false;
	line_send(r, p, vc, now);
	r->turn_out = (p + 1) % r->p.ports;
	return true;
}

void queued_lines(struct queued *r, uint64_t now)
{
	uint32_t turn = r->turn_out, left = r->rates.lines;

	SET_EACH(r->live, NET_PORTS_MAX / 64, p)
	if (p >= turn && left)
		left -= output_send(r, p, now);
	SET_EACH(r->live, NET_PORTS_MAX / 64, p)
	if (p < turn && left)
		left -= output_send(r, p, now);
}
