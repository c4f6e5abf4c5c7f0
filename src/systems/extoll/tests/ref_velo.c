/* SPDX-License-Identifier: Apache-2.0 */
/* See ref_velo.h. */
#include "ref_velo.h"

#include <string.h>

#include "ref_htax.h"

enum { UNGRANTED_MOST = 8 }; /* most writes that HTAX has not granted */

struct box {
	uint32_t slots, slot_bytes, pd, wp, rp;
};

struct pending {
	uint64_t up; /* cycle of the request */
	bool granted, out;
};

struct program {
	struct ref_velo *x;
	uint64_t now;
	struct box box[REF_VELO_BOXES];
	/* cells that have arrived and are not handled, in order */
	uint32_t seen[REF_VELO_MAX];
	uint32_t n_seen, next_cell, next_set;
	enum ref_velo_state state;
	uint32_t vc, msg;
	bool lost;		/* the current message is discarded */
	uint64_t stalled, done; /* cycles */
	struct pending pend[REF_VELO_MAX];
	uint64_t busy; /* cycle until which HTAX's output is busy */
};

/* ---- stores and cells ---- */

static void set_box(struct program *w, const struct ref_velo_set *s)
{
	struct box *b = &w->box[s->box];

	if (s->is_rp) {
		if (s->rp < b->slots)
			b->rp = s->rp;
		return;
	}
	if (!b->slots || s->slots != b->slots)
		b->wp = b->rp = 0;
	b->slots = s->slots;
	b->slot_bytes = s->slot_bytes;
	b->pd = s->pd;
}

/* Makes the stores that are due. */
static void stores(struct program *w)
{
	const struct ref_velo *x = w->x;
	const struct ref_velo_cfg *c = &x->cfg;

	for (; w->next_set < x->n_set; w->next_set++) {
		const struct ref_velo_set *s = &x->set[w->next_set];

		if (ref_hx_cross(&c->core, s->time, c->t_sync_in) + c->t_htax >
		    w->now)
			return;
		set_box(w, s);
	}
}

/* Returns the index in `seen` of the first cell of a VC, or -1. */
static int cell_of(const struct program *w, uint32_t vc)
{
	for (uint32_t i = 0; i < w->n_seen; i++)
		if (w->x->cell[w->seen[i]].vc == vc)
			return (int)i;
	return -1;
}

static void cell_take(struct program *w, uint32_t i)
{
	w->n_seen--;
	memmove(&w->seen[i], &w->seen[i + 1],
		(w->n_seen - i) * sizeof(w->seen[0]));
}

/* ---- the table of 5.2 ---- */

static int wrong(const struct program *w)
{
	const struct ref_velo_msg *m = &w->x->msg[w->msg];
	const struct box *b = &w->box[m->box];

	if (m->malformed)
		return REF_VELO_FORMAT;
	if (m->misrouted)
		return REF_VELO_MISROUTED;
	if (!b->slots)
		return REF_VELO_DISABLED;
	return m->pd == b->pd ? -1 : REF_VELO_PROTECTION;
}

/* Returns true if the message fits into the slots from the write pointer on.
 * The slot before the read pointer stays empty. */
static bool room(const struct program *w)
{
	const struct ref_velo_msg *m = &w->x->msg[w->msg];
	const struct box *b = &w->box[m->box];
	uint32_t at = b->wp;

	for (uint32_t left = m->len; left;) {
		uint32_t k = b->slot_bytes - 8;

		at = (at + 1) % b->slots;
		if (at == b->rp)
			return false;
		left -= left < k ? left : k;
	}
	return true;
}

static enum ref_velo_state discard(struct program *w, int why)
{
	w->x->discard[why]++;
	w->lost = true;
	return REF_VELO_DATA;
}

static enum ref_velo_state in_wait(struct program *w)
{
	for (uint32_t k = 1; k <= REF_VELO_VCS; k++) {
		uint32_t vc = (w->vc + k) % REF_VELO_VCS;
		int i = cell_of(w, vc);

		if (i < 0)
			continue;
		w->vc = vc;
		w->msg = w->x->cell[w->seen[i]].msg;
		w->lost = false;
		if (wrong(w) >= 0)
			return discard(w, wrong(w));
		if (room(w))
			return REF_VELO_DATA;
		w->stalled = w->now;
		w->x->stalls++;
		return REF_VELO_STALL;
	}
	return REF_VELO_WAIT;
}

static enum ref_velo_state in_stall(struct program *w)
{
	if (!w->box[w->x->msg[w->msg].box].slots)
		return discard(w, REF_VELO_DISABLED);
	if (room(w))
		return REF_VELO_DATA;
	if (w->x->cfg.drop && w->now >= w->stalled + w->x->cfg.timeout)
		return discard(w, REF_VELO_FULL);
	return REF_VELO_STALL;
}

static enum ref_velo_state in_data(struct program *w)
{
	int i;

	while ((i = cell_of(w, w->vc)) >= 0) {
		bool last = w->x->cell[w->seen[i]].last;

		cell_take(w, (uint32_t)i);
		if (!last)
			continue;
		w->done = w->now + w->x->cfg.t_comp;
		return w->lost ? REF_VELO_WAIT : REF_VELO_WRITE;
	}
	return REF_VELO_DATA;
}

static void put(struct program *w, uint64_t addr, uint32_t bytes,
		uint64_t status)
{
	struct ref_velo *x = w->x;

	w->pend[x->n_write] =
		(struct pending){ .up = w->done > w->now ? w->done : w->now };
	x->write[x->n_write++] = (struct ref_velo_write){ .addr = addr,
							  .bytes = bytes,
							  .status = status };
}

/* Writes a slot, which ends with its status. The last 64 bytes are written
 * last. */
static void put_slot(struct program *w, struct box *b, uint32_t len, bool last)
{
	const struct ref_velo_msg *m = &w->x->msg[w->msg];
	uint64_t end =
		w->x->cfg.base[m->box] + (uint64_t)b->slot_bytes * (b->wp + 1);
	uint32_t bytes = 8 + (len + 7) / 8 * 8;

	if (bytes > 64)
		put(w, end - bytes, bytes - 64, 0);
	bytes = bytes > 64 ? 64 : bytes;
	put(w, end - bytes, bytes,
	    m->status | (uint64_t)len << 48 | (uint64_t)last << 36);
	b->wp = (b->wp + 1) % b->slots;
}

static enum ref_velo_state in_write(struct program *w)
{
	const struct ref_velo_msg *m = &w->x->msg[w->msg];
	struct box *b = &w->box[m->box];
	uint32_t waiting = 0;

	for (uint32_t i = 0; i < w->x->n_write; i++)
		waiting += !w->pend[i].granted;
	if (waiting >= UNGRANTED_MOST)
		return REF_VELO_WRITE;
	if (wrong(w) >= 0) {
		w->x->discard[wrong(w)]++;
	} else if (!room(w)) {
		w->x->discard[REF_VELO_DISABLED]++;
	} else {
		for (uint32_t off = 0, k; off < m->len; off += k) {
			k = m->len - off;
			k = k < b->slot_bytes - 8 ? k : b->slot_bytes - 8;
			put_slot(w, b, k, off + k == m->len);
		}
		w->x->received++;
	}
	return REF_VELO_WAIT;
}

static void go(struct program *w)
{
	static enum ref_velo_state (*const in[])(struct program *) = {
		[REF_VELO_WAIT] = in_wait,
		[REF_VELO_STALL] = in_stall,
		[REF_VELO_DATA] = in_data,
		[REF_VELO_WRITE] = in_write,
	};
	enum ref_velo_state old;

	do {
		old = w->state;
		w->state = in[old](w);
	} while (w->state != old);
}

/* Handles the cells of the present cycle before the stores, as all units of the
 * NIC do. */
static void inputs(struct program *w)
{
	const struct ref_velo *x = w->x;

	while (w->next_cell < x->n_cell &&
	       x->cell[w->next_cell].cycle <= w->now) {
		w->seen[w->n_seen++] = w->next_cell++;
		go(w);
	}
	stores(w);
	go(w);
}

/* ---- HTAX ---- */

static uint32_t in_core(struct program *w)
{
	const struct ref_velo_cfg *c = &w->x->cfg;
	uint64_t t = weft_clock_edge(&c->core, w->now);
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->x->n_write; i++) {
		if (!w->pend[i].granted)
			continue;
		if (weft_clock_edge(&c->ht, w->x->write[i].given) +
			    c->t_write <=
		    t)
			w->pend[i].out = true;
		n += !w->pend[i].out;
	}
	return n;
}

static bool grant(struct program *w)
{
	const struct ref_velo_cfg *c = &w->x->cfg;
	uint32_t i = 0;

	while (i < w->x->n_write && w->pend[i].granted)
		i++;
	if (i == w->x->n_write || w->pend[i].up > w->now || w->busy > w->now ||
	    in_core(w) >= c->posted)
		return false;
	w->pend[i].granted = true;
	w->busy = w->now + 1 + (w->x->write[i].bytes + 7) / 8;
	w->x->write[i].given = ref_hx_cross(
		&c->ht, weft_clock_edge(&c->core, w->now + c->t_htax),
		c->t_sync_out);
	return true;
}

void ref_velo_run(struct ref_velo *x)
{
	static struct program w;

	memset(&w, 0, sizeof(w));
	w.x = x;
	x->n_write = x->received = x->stalls = 0;
	memset(x->discard, 0, sizeof(x->discard));
	for (uint32_t k = 0; k < x->cycles; k++) {
		w.now = x->from + k;
		inputs(&w);
		if (grant(&w))
			go(&w);
		x->state[k] = (uint8_t)w.state;
	}
}
