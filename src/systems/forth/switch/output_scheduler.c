/* SPDX-License-Identifier: Apache-2.0 */
/* Output scheduler of the buffered crossbar, one per column (forth.md 8.3).
 *
 *   choice at  c = max(first packet visible, end of current - os_presched)
 *   start  at      max(visible + os_decide + tx_start,
 *                      end - os_presched + os_pipe_{same,change}, end, credit)
 *
 * The choice is round robin over the packets visible at c and is never taken
 * back. Therefore a packet that lacks credits blocks the column. (R-25 has the
 * reason for the two pipelines.) The departure of a packet is fixed up to
 * `ahead` cycles early. It is not fixed earlier, because the credits that leave
 * in its delimiter word could still change. */
#include "systems/forth/switch/crossbar.h"

#include <string.h>

static void os_arm(struct weft_comp *c, uint32_t o, uint64_t cycle)
{
	struct forth_xbar *x = c->state;
	struct forth_xbar_port *p = &x->port[o];

	weft_timer_arm(c, &p->timer, o, weft_clock_edge(&p->link.clk, cycle));
}

/* Returns the first input at or after `from`, round robin, whose packet is
 * visible at `now`. Otherwise sets *soon_p to the next time at which a packet
 * becomes visible. */
static uint32_t os_pick(const struct forth_xbar *x, uint32_t o, uint32_t from,
			uint64_t now, uint64_t *soon_p)
{
	const struct forth_xbar_port *p = &x->port[o];
	uint64_t high = from < 64 ? p->busy >> from << from : 0;
	uint64_t half[2] = { high, p->busy & ~high };
	uint32_t k;

	for (k = 0; k < 2; k++)
		for (; half[k]; half[k] &= half[k] - 1) {
			uint32_t i = (uint32_t)__builtin_ctzll(half[k]);
			uint64_t ready = forth_xbar_xp(x, i, o)->ready;

			if (ready <= now)
				return i;
			if (ready < *soon_p)
				*soon_p = ready;
		}
	return FORTH_XBAR_NOWHERE;
}

/* Writes the switch's two stamps into qword 1 of the payload (10.1), and
 * computes the CRC anew because the payload has changed. */
static void os_stamp(struct weft_comp *c, struct weft_frame *f, uint64_t start)
{
	uint64_t ts = f->u[FORTH_U_OWN + 1] << 32 | (start & 0xFFFFFFFF);
	struct weft_slice s;
	uint32_t i;

	if (f->payload.len < 16 || !f->payload.buf)
		return;
	if (f->payload.buf->refs > 1) {
		s = weft_slice_new(c->sim, f->payload.len);
		memcpy(weft_slice_data(s), weft_slice_data(f->payload),
		       f->payload.len);
		weft_slice_drop(&f->payload);
		f->payload = s;
	}
	for (i = 0; i < 8; i++)
		weft_slice_data(f->payload)[8 + i] = (uint8_t)(ts >> 8 * i);
	f->flags &= ~(uint32_t)FORTH_F_CRC32;
}

static void os_next(struct weft_comp *c, uint32_t o)
{
	struct forth_xbar *x = c->state;
	struct forth_xbar_port *p = &x->port[o];
	uint64_t at = WEFT_NEVER;
	const char *head;
	uint32_t i;

	if (!p->busy || p->chosen != FORTH_XBAR_NOWHERE)
		return;
	i = os_pick(x, o, p->last + 1, p->end - x->os_presched, &at);
	if (i != FORTH_XBAR_NOWHERE) {
		at = p->end - x->os_presched;
		/* prefetch the frame that will most likely be chosen next,
		 * because it has left the processor's cache by now */
		head = (const char *)forth_xbar_xp(x, i, o)->head;
		__builtin_prefetch(head);
		__builtin_prefetch(head + 64);
		__builtin_prefetch(head + 128);
	}
	os_arm(c, o, at);
}

/* Reports to listeners which input output o serves. */
WEFT_COLD static void os_tell_send(const struct weft_comp *c, uint32_t o,
				   uint64_t start)
{
	const struct forth_xbar *x = c->state;
	const struct forth_xbar_port *p = &x->port[o];
	weft_time_t from = weft_clock_edge(&p->link.clk, start);

	weft_state_at(c, "chosen", o, "none", from);
	weft_state_at(c, "output", o, c->ports[p->last].name, from);
	weft_state_at(c, "output", o, "idle",
		      weft_clock_edge(&p->link.clk, p->end));
	forth_xbar_tell_queue(c, o);
}

/* Removes the first packet from its crosspoint. The level of the crosspoint is
 * highest when that packet starts, because from then on the crosspoint drains
 * as fast as it can fill. */
static void xp_pop(const struct forth_xbar *x, uint32_t in, uint32_t o,
		   uint64_t start)
{
	struct forth_xbar_xp *xp = forth_xbar_xp(x, in, o);
	struct weft_frame *f = xp->head, *last = xp->tail;
	uint64_t came = last->u[FORTH_U_OWN + 1];

	xp->drain = start;
	xp->drain_words =
		xp->words - forth_xbar_fifo_words(last) +
		forth_xbar_written(x, last, start > came ? start - came : 0);
	if (xp->drain_words > xp->high)
		xp->high = xp->drain_words;
	xp->head = f->next;
	f->next = NULL;
	if (xp->head)
		xp->ready = xp->head->u[FORTH_U_OWN];
	else
		x->port[o].busy &= ~(1ull << in);
	xp->words -= forth_xbar_fifo_words(f);
	xp->charged -= forth_charge(1, forth_shape_get(f).wire_len);
}

static void os_send(struct weft_comp *c, uint32_t o, uint64_t start)
{
	struct forth_xbar *x = c->state;
	struct forth_xbar_port *p = &x->port[o];
	uint32_t in = p->chosen;
	struct forth_port *from = &x->port[in].link;
	const struct weft_clock *clk = &p->link.clk;
	struct forth_port_pkt pkt = { .f = forth_xbar_xp(x, in, o)->head };
	uint32_t charge = forth_charge(1, forth_shape_get(pkt.f).wire_len);

	start = forth_port_tx_slot(&p->link, start);
	xp_pop(x, in, o, start);
	if (x->stamps)
		os_stamp(c, pkt.f, start);
	p->end = forth_port_tx_commit(&p->link, &pkt, start);
	p->last = (uint8_t)in;
	p->served = true;
	p->chosen = FORTH_XBAR_NOWHERE;
	if (weft_heard_kind(c, WEFT_TRACE_STATE))
		os_tell_send(c, o, start);
	x->hops++;
	/* the credit scheduler of the input returns the credits (8.4). The
	 * synchroniser of that scheduler is part of t_crtx */
	if (x->cs_credit == FORTH_XBAR_CS_START)
		forth_port_fwd(from, o, charge, weft_clock_edge(clk, start));
	else
		forth_port_fwd_ramp(from, o, charge, 1, clk, start);
	os_next(c, o);
}

/* Starts the chosen packet if its start is near enough to be fixed. Otherwise
 * waits for its credits or for its time. */
static void os_try(struct weft_comp *c, uint32_t o, uint64_t now)
{
	struct forth_xbar *x = c->state;
	struct forth_xbar_port *p = &x->port[o];
	const struct weft_frame *f = forth_xbar_xp(x, p->chosen, o)->head;
	uint64_t start = p->begin > now ? p->begin : now;

	if (start > now + x->ahead) {
		os_arm(c, o, start - x->ahead);
		return;
	}
	start = forth_port_tx_ready(&p->link, f->u[FORTH_U_HEADER],
				    forth_shape_get(f).wire_len, start);
	if (start == WEFT_NEVER)
		return;
	if (start > now + x->ahead)
		os_arm(c, o, start);
	else
		os_send(c, o, start);
}

static void os_choose(struct weft_comp *c, uint32_t o, uint64_t now)
{
	struct forth_xbar *x = c->state;
	struct forth_xbar_port *p = &x->port[o];
	uint64_t soon = WEFT_NEVER, begin;
	uint32_t i = os_pick(x, o, p->served ? p->last + 1 : 0, now, &soon);

	if (i == FORTH_XBAR_NOWHERE) {
		if (soon != WEFT_NEVER)
			os_arm(c, o, soon);
		return;
	}
	begin = forth_xbar_xp(x, i, o)->ready + x->os_decide + x->tx_start;
	if (p->served) {
		uint64_t turn = p->end + (i == p->last ? x->os_pipe_same
						       : x->os_pipe_change);

		turn = turn > p->end + x->os_presched ? turn - x->os_presched
						      : p->end;
		begin = begin > turn ? begin : turn;
	}
	p->chosen = (uint8_t)i;
	p->begin = begin;
	weft_state_at(c, "chosen", o, c->ports[i].name, weft_now(c));
	os_try(c, o, now);
}

void forth_xbar_os_event(struct weft_comp *c, uint32_t o)
{
	struct forth_xbar *x = c->state;
	struct forth_xbar_port *p = &x->port[o];
	uint64_t now;

	if (!weft_timer_due(c, &p->timer))
		return;
	now = forth_port_now(&p->link);
	if (p->chosen != FORTH_XBAR_NOWHERE)
		os_try(c, o, now);
	else if (p->busy && (!p->served || now + x->os_presched >= p->end))
		os_choose(c, o, now);
}

void forth_xbar_os_woken(void *own, struct forth_port *l)
{
	struct weft_comp *c = own;
	struct forth_xbar *x = c->state;
	struct forth_xbar_port *p = forth_xbar_port_of(l);

	if (p->chosen != FORTH_XBAR_NOWHERE)
		os_try(c, (uint32_t)(p - x->port), forth_port_now(l));
}

void forth_xbar_os_notice(struct weft_comp *c, uint32_t o, uint64_t ready)
{
	struct forth_xbar *x = c->state;
	struct forth_xbar_port *p = &x->port[o];

	if (p->chosen != FORTH_XBAR_NOWHERE)
		return;
	if (p->served && ready + x->os_presched < p->end)
		ready = p->end - x->os_presched;
	os_arm(c, o, ready);
}
