/* SPDX-License-Identifier: Apache-2.0 */
/* Credits and acknowledgements of a cell channel (extoll.md 3.10, 4.4, 4.7).
 *
 * A link port's line carries, in this order when several are ready: ACK,
 * CREDIT of VC 0..3 (all that is owed of that VC), refresh, data.  ACK: after
 * ack_every cells or ack_idle cycles after the last one.  Refresh: one VC every
 * `refresh` cycles; on a line without faults it tells nothing new. */
#include "systems/extoll/network/cell_channel_control.h"

#include <assert.h>
#include <stdlib.h>

/* ---- rings ---- */

static inline uint32_t ring_n(const struct cell_channel_ring *r)
{
	return r->tail - r->head;
}

/* Room for one more: doubles a full ring of `size` byte entries. */
void *cell_channel_ring_room(struct cell_channel_ring *r, void *at, size_t size)
{
	uint32_t i, n = ring_n(r), cap;
	char *p;

	if (at && n <= r->mask)
		return at;
	cap = n ? 2 * n : 4;
	p = malloc(cap * size);
	assert(p);
	for (i = 0; i < n; i++)
		__builtin_memcpy(p + i * size,
				 (char *)at + ((r->head + i) & r->mask) * size,
				 size);
	free(at);
	*r = (struct cell_channel_ring){ .tail = n, .mask = cap - 1 };
	return p;
}

/* The same for rings of cycles, in the component's memory. */
static uint64_t *ring_more(struct cell_channel *ep, struct cell_channel_ring *r,
			   const uint64_t *at)
{
	uint32_t i, n = ring_n(r), cap = n ? 2 * n : 8;
	uint64_t *p = weft_comp_alloc(ep->comp, cap * sizeof(*p));

	for (i = 0; i < n; i++)
		p[i] = at[(r->head + i) & r->mask];
	*r = (struct cell_channel_ring){ .tail = n, .mask = cap - 1 };
	return p;
}

/* Sorted; nearly always at the end. */
static void ring_insert(struct cell_channel *ep, struct cell_channel_ring *r,
			uint64_t **at, uint64_t v)
{
	uint64_t *p = *at;
	uint32_t i;

	if (!p || ring_n(r) > r->mask)
		p = *at = ring_more(ep, r, p);

	for (i = r->tail; i != r->head; i--) {
		if (p[(i - 1) & r->mask] <= v)
			break;
		p[i & r->mask] = p[(i - 1) & r->mask];
	}
	p[i & r->mask] = v;
	r->tail++;
}

static void in_push(struct cell_channel *ep, uint64_t cycle, uint32_t kind,
		    uint32_t n)
{
	ring_insert(ep, &ep->in_r, &ep->in, cycle << 16 | kind << 8 | n);
}

void cell_channel_ctl_due(struct cell_channel *ep, uint64_t cycle, uint32_t vc)
{
	ring_insert(ep, &ep->due_r, &ep->due, cycle << 8 | vc);
}

/* First cycle in a ring whose entries have the cycle above `shift` bits. */
static inline uint64_t ring_first(const struct cell_channel_ring *r,
				  const uint64_t *p, uint32_t shift)
{
	return r->head == r->tail ? WEFT_NEVER : p[r->head & r->mask] >> shift;
}

void cell_channel_end(struct cell_channel *ep, uint64_t cycle)
{
	ring_insert(ep, &ep->end_r, &ep->end, cycle);
}

/* ---- what is ready ---- */

static inline bool credits_owed(const struct cell_channel *ep)
{
	uint32_t w;

	__builtin_memcpy(&w, ep->owed, sizeof(w));
	return w;
}

/* Everything that is ready at cycle `at` is owed. */
static void channel_control_owe(struct cell_channel *ep, uint64_t at)
{
	for (; ep->due_r.head != ep->due_r.tail; ep->due_r.head++) {
		uint64_t d = ep->due[ep->due_r.head & ep->due_r.mask];

		if (d >> 8 > at)
			break;
		ep->owed[d & 0xff]++;
	}
	for (; ep->end_r.head != ep->end_r.tail; ep->end_r.head++) {
		uint64_t e = ep->end[ep->end_r.head & ep->end_r.mask];

		if (e > at)
			break;
		ep->ack_owed++;
		ep->last_end = e;
	}
}

/* First cycle at which an ACK is ready, with the cells known now.  A cell that
 * ends before the line is free starts the idle time anew. */
static uint64_t ack_ready(const struct cell_channel *ep)
{
	uint32_t i = ep->end_r.head, n = ep->ack_owed;
	uint64_t last = ep->last_end;

	for (; i != ep->end_r.tail; n++, i++) {
		uint64_t e = ep->end[i & ep->end_r.mask];

		if (e > ep->line_free && (n >= ep->cfg.ack_every ||
					  (n && e > last + ep->cfg.ack_idle)))
			break;
		last = e;
	}
	if (n >= ep->cfg.ack_every)
		return last;
	return n ? last + ep->cfg.ack_idle : WEFT_NEVER;
}

static bool ack_due(const struct cell_channel *ep, uint64_t at)
{
	return ep->ack_owed >= ep->cfg.ack_every ||
	       (ep->ack_owed && ep->last_end + ep->cfg.ack_idle <= at);
}

/* First cycle at which a credit or an ACK is ready; 0: some are owed. */
static uint64_t news_ready(const struct cell_channel *ep)
{
	uint64_t r, t;

	if (credits_owed(ep))
		return 0;
	t = ring_first(&ep->due_r, ep->due, 8);
	r = ack_ready(ep);
	return t < r ? t : r;
}

/* The same with refreshes. */
uint64_t cell_channel_ctl_ready(const struct cell_channel *ep)
{
	uint64_t r = news_ready(ep);

	return r < ep->next_refresh ? r : ep->next_refresh;
}

/* ---- sending it ---- */

static void ctl_tell(struct cell_channel *ep, uint64_t at, uint32_t kind,
		     uint8_t *n_p)
{
	uint8_t n = *n_p;

	*n_p = 0;
	if (ep->slow) {
		cell_channel_framed_tell(ep, at, kind, n);
		return;
	}
	in_push(ep->peer, at + ep->way_ctl, kind, n);
	if (ep->listener)
		cell_channel_listen_tell(ep, at, kind, n);
}

/* The control cell that starts at cycle `at`. */
void cell_channel_ctl_send(struct cell_channel *ep, uint64_t at)
{
	uint32_t vc;

	channel_control_owe(ep, at);
	ep->line_free = at + ep->cfg.ctl_flits;
	ep->busy += ep->cfg.ctl_flits;
	ep->count.ctl_out++;
	ep->peer->count.ctl_in += !ep->slow;
	if (ack_due(ep, at)) {
		ep->count.acks++;
		ctl_tell(ep, at, CELL_CHANNEL_TELL_ACK, &ep->ack_owed);
		return;
	}
	for (vc = 0; vc < EX_VCS; vc++) {
		if (ep->owed[vc]) {
			ctl_tell(ep, at, vc, &ep->owed[vc]);
			return;
		}
	}
	ep->next_refresh += ep->cfg.refresh;
	if (ep->slow)
		cell_channel_framed_tell(ep, at, CELL_CHANNEL_TELL_REFRESH, 0);
	else if (ep->listener)
		cell_channel_listen_refresh(ep, at, 1);
}

/* A quiet line: all refreshes before `limit` at once. */
static void refresh_skip(struct cell_channel *ep, uint64_t limit)
{
	uint64_t k;

	if (ep->next_refresh >= limit || ep->next_refresh < ep->line_free)
		return;
	k = (limit - 1 - ep->next_refresh) / ep->cfg.refresh;
	if (ep->listener && k)
		cell_channel_listen_refresh(ep, ep->next_refresh, k);
	ep->next_refresh += k * ep->cfg.refresh;
	ep->busy += k * ep->cfg.ctl_flits;
	ep->count.ctl_out += k;
	ep->peer->count.ctl_in += k;
}

void cell_channel_settle(struct cell_channel *ep, uint64_t limit)
{
	for (;;) {
		uint64_t r = cell_channel_ctl_ready(ep);
		uint64_t at = r > ep->line_free ? r : ep->line_free;

		if (at >= limit)
			return;
		if (r == ep->next_refresh && !ring_n(&ep->due_r) &&
		    !ring_n(&ep->end_r) && !ep->ack_owed) {
			refresh_skip(ep, limit);
			at = ep->next_refresh > ep->line_free ? ep->next_refresh
							      : ep->line_free;
		}
		cell_channel_ctl_send(ep, at);
	}
}

uint64_t cell_channel_next(struct cell_channel *ep, uint64_t g)
{
	uint64_t slot;

	if (ep->next_grant > g)
		return ep->next_grant;
	if (ep->needs_frames)
		return cell_channel_framed_next(ep, g);
	slot = g + ep->t_out;
	if (ep->ctl)
		cell_channel_settle(ep, slot + 1);
	return ep->line_free > slot ? ep->line_free - ep->t_out : g;
}

void cell_channel_owe(struct cell_channel *ep, uint32_t vc, uint64_t cycle)
{
	struct cell_channel *p = ep->peer;
	uint64_t at = cycle;

	if (ep->aside)
		at = cycle += ep->way_ctl;
	cell_channel_ctl_due(ep, cycle, vc);
	if (!ep->listened)
		return;
	if (!ep->aside)
		at = (cycle > ep->line_free ? cycle : ep->line_free) +
		     ep->way_ctl;
	p->ops->wake(p->own, p, at);
}

/* ---- hearing it ---- */

static void in_apply(struct cell_channel *ep, uint64_t g)
{
	for (; ep->in_r.head != ep->in_r.tail; ep->in_r.head++) {
		uint64_t v = ep->in[ep->in_r.head & ep->in_r.mask];
		uint32_t kind = v >> 8 & 0xff, n = v & 0xff;

		if (v >> 16 > g)
			return;
		if (kind == CELL_CHANNEL_TELL_ACK)
			ep->unacked = (uint8_t)(ep->unacked - n);
		else
			cell_channel_use(ep, kind, ep->used[kind] - n);
	}
}

/* Credits beside the data. */
static uint64_t hear_aside(struct cell_channel *ep, uint64_t g)
{
	struct cell_channel *p = ep->peer;

	for (; p->due_r.head != p->due_r.tail; p->due_r.head++) {
		uint64_t d = p->due[p->due_r.head & p->due_r.mask];
		uint32_t vc = d & 0xff;

		if (d >> 8 > g)
			return d >> 8;
		cell_channel_use(ep, vc, ep->used[vc] - 1u);
	}
	return WEFT_NEVER;
}

uint64_t cell_channel_hear(struct cell_channel *ep, uint64_t g)
{
	struct cell_channel *p = ep->peer;
	uint64_t next, r;

	if (!ep->ctl) /* as the peer */
		return hear_aside(ep, g);
	if (g >= p->way_ctl)
		cell_channel_settle(p, g - p->way_ctl + 1);
	in_apply(ep, g);
	next = ring_first(&ep->in_r, ep->in, 16);
	r = news_ready(p);
	if (r != WEFT_NEVER) {
		r = (r > p->line_free ? r : p->line_free) + p->way_ctl;
		next = r < next ? r : next;
	}
	return next;
}
