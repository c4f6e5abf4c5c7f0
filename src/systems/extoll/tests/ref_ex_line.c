/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the reference: see ref_ex.h. */
#include "ref_ex_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Returns the line in the opposite direction to that of output (n, o), or to
 * that of network port o if np_side. */
struct line *rx_back(struct world *w, uint32_t n, uint32_t o, bool np_side)
{
	uint32_t peer;

	if (np_side)
		return &w->node[n].out[o];
	if (o < 3)
		return &w->node[n].in[o];
	peer = w->c->peer[n][o];
	return &w->node[peer / RX_PORTS].out[peer % RX_PORTS];
}

static void list_add(struct list *l, uint64_t at, uint32_t kind, uint32_t n)
{
	assert(l->n < 4096);
	l->v[l->n++] = (struct note){ at, (uint8_t)kind, (uint8_t)n };
}

static void list_drop(struct list *l, uint32_t i)
{
	memmove(&l->v[i], &l->v[i + 1], (l->n - i - 1) * sizeof(l->v[0]));
	l->n--;
}

void rx_take_effect(struct line *l, uint64_t now)
{
	uint32_t i = 0;

	while (i < l->effects.n) {
		struct note e = l->effects.v[i];

		if (e.at > now) {
			i++;
			continue;
		}
		if (e.kind == 4)
			l->unacked -= e.n;
		else
			l->used[e.kind] -= e.n;
		list_drop(&l->effects, i);
	}
}

bool rx_may_send(const struct rx_cfg *c, const struct line *l, uint32_t vc)
{
	uint32_t v, pool = 0;

	for (v = 0; v < RX_VCS; v++)
		pool += l->used[v] > c->reserved ? l->used[v] - c->reserved : 0;
	if (l->framed && l->unacked >= c->window)
		return false;
	return l->used[vc] < c->reserved ||
	       pool < c->slots - RX_VCS * c->reserved;
}

static bool ack_wanted(const struct rx_cfg *c, struct list *ends, uint64_t slot,
		       uint32_t *n_p)
{
	uint64_t last = 0;
	uint32_t i, n = 0;

	for (i = 0; i < ends->n; i++) {
		if (ends->v[i].at > slot)
			continue;
		n++;
		if (ends->v[i].at > last)
			last = ends->v[i].at;
	}
	*n_p = n;
	return n >= c->ack_every || (n && slot - last >= c->ack_idle);
}

static void ends_drop(struct list *ends, uint64_t slot)
{
	uint32_t i = 0;

	while (i < ends->n)
		if (ends->v[i].at <= slot)
			list_drop(ends, i);
		else
			i++;
}

/* Plans the slot of line l that is t_out cycles ahead. Returns true if a data
 * cell may use the slot. `rev` is the line in the opposite direction, whose
 * receiver owes credits and ACKs on l. */
bool rx_plan(struct world *w, struct line *l, struct line *rev,
	     struct rx_sum *sum)
{
	const struct rx_cfg *c = w->c;
	uint64_t slot = w->now + l->t_out;
	uint32_t ctl = c->flit_bytes == 2 ? 2 : 1, i = 0, n, v;

	if (slot < l->busy_till)
		return false;
	if (!l->framed)
		return !l->any_cell || slot >= l->last_cell + c->gap;
	while (i < rev->due.n) {
		if (rev->due.v[i].at <= slot) {
			rev->owed[rev->due.v[i].kind]++;
			list_drop(&rev->due, i);
		} else {
			i++;
		}
	}
	for (v = 0; v < RX_VCS && !rev->owed[v]; v++)
		;
	if (ack_wanted(c, &rev->ends, slot, &n)) {
		ends_drop(&rev->ends, slot);
		list_add(&rev->effects, slot + ctl + c->cross + c->t_lp_in, 4,
			 n);
	} else if (v < RX_VCS) {
		list_add(&rev->effects, slot + ctl + c->cross + c->t_lp_in, v,
			 rev->owed[v]);
		rev->owed[v] = 0;
	} else if (slot >= l->refresh_at) {
		l->refresh_at += c->refresh;
	} else {
		return !l->any_cell || slot >= l->last_cell + c->gap;
	}
	l->busy_till = slot + ctl;
	if (slot < w->end) {
		sum->busy += ctl;
		sum->ctl++;
	}
	return false;
}

/* Sends the cell on line l, in the slot that was planned in this cycle. */
void rx_leave(struct world *w, struct line *l, struct cell x, uint32_t vc,
	      uint32_t t_in, struct rx_sum *sum)
{
	const struct rx_cfg *c = w->c;
	uint32_t over = !l->framed ? 0 : c->flit_bytes == 2 ? 5 : 2;
	uint64_t start = w->now + l->t_out;

	sum->cells++;
	sum->flits += x.flits;
	sum->busy += x.flits + over;
	l->used[vc]++;
	l->last_cell = start;
	l->any_cell = true;
	start += x.skip;
	l->busy_till = start + x.flits + over;
	if (l->framed) {
		l->unacked++;
		list_add(&l->ends,
			 start + x.flits + over + c->cross + 2 + c->t_lp_out, 4,
			 1);
	}
	x.skip = 0;
	x.vc = (uint8_t)vc;
	x.seen = start + t_in;
	assert(l->n_way < 128);
	l->way[l->n_way++] = x;
}

/* Frees a slot of vc at the receiving end of line l at time `at`. */
void rx_freed(struct world *w, struct line *l, uint32_t vc, uint64_t at,
	      bool link)
{
	const struct rx_cfg *c = w->c;

	if (l->framed)
		list_add(&l->due, at + 5 + c->t_lp_out, vc, 1);
	else if (link)
		list_add(&l->effects, at + 1 + c->cross + c->t_lp_in, vc, 1);
	else
		list_add(&l->effects, at + 2, vc, 1);
}
