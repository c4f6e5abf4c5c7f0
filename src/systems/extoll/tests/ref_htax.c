/* SPDX-License-Identifier: Apache-2.0 */
/* See ref_htax.h. */
#include "ref_htax.h"

#include <string.h>

#define NOT_YET UINT64_MAX

static uint64_t words(uint32_t bytes)
{
	return 1 + (bytes + 7) / 8;
}

uint64_t ref_hx_cross(const struct weft_clock *to, uint64_t t, uint32_t k)
{
	uint64_t twice = 2 * t * to->den + (k ? 2 * k - 1 : 0) * to->num;
	uint64_t n = twice / (2 * to->num);
	uint64_t half = k ? (2 * k - 1) * to->num / (2 * to->den) : 0;

	while (weft_clock_edge(to, n) < t + half)
		n++;
	return n;
}

/* ---- the bus ---- */

uint64_t ref_hx_bus_end(const struct ref_hx *x, const struct ref_hx_req *r)
{
	uint64_t t = r->read ? x->cfg.t_read : x->cfg.t_write;

	return weft_clock_edge(&x->cfg.ht, r->given) +
	       (r->t_bus ? r->t_bus : t);
}

static void bus_done(struct ref_hx *x)
{
	const struct ref_hx_cfg *c = &x->cfg;
	uint64_t t = weft_clock_edge(&c->core, x->w.now);

	for (uint32_t i = x->w.first; i < x->n_req; i++) {
		struct ref_hx_req *r = &x->req[i];
		uint64_t end;

		if (r->granted == NOT_YET || r->done != NOT_YET)
			continue;
		end = ref_hx_bus_end(x, r);
		if (end > t)
			continue;
		if (!r->read)
			r->done = x->w.now;
		else if (x->w.answer[i] == NOT_YET)
			x->w.answer[i] =
				ref_hx_cross(&c->core, end, c->t_sync_in);
	}
}

/* Returns the number of requests in the HT core, or in flight to it or back. */
static uint32_t in_core(const struct ref_hx *x, bool read)
{
	uint32_t n = 0;

	for (uint32_t i = x->w.first; i < x->n_req; i++) {
		const struct ref_hx_req *r = &x->req[i];

		n += r->read == read && r->granted != NOT_YET &&
		     r->done == NOT_YET;
	}
	return n;
}

/* ---- units to host ---- */

static bool waits(const struct ref_hx *x, uint32_t i, uint32_t unit, bool read)
{
	const struct ref_hx_req *r = &x->req[i];

	return r->unit == unit && r->read == read && r->granted == NOT_YET;
}

/* Returns the unit's first request for this output. Returns -1 if there is
 * none, or if it is a read behind a write of the same or an earlier cycle. */
static int first_of(const struct ref_hx *x, uint32_t unit, bool read)
{
	uint32_t i = x->w.first, k;

	while (i < x->n_req && !waits(x, i, unit, read))
		i++;
	if (i == x->n_req || x->req[i].cycle > x->w.now)
		return -1;
	for (k = x->w.first; read && k < x->n_req; k++)
		if (waits(x, k, unit, false) &&
		    x->req[k].cycle <= x->req[i].cycle)
			return -1;
	return (int)i;
}

static bool to_host(struct ref_hx *x, bool read)
{
	const struct ref_hx_cfg *c = &x->cfg;
	struct ref_hx_work *w = &x->w;

	if (w->busy[read] > w->now ||
	    in_core(x, read) >= (read ? c->reads : c->posted))
		return false;
	for (uint32_t k = 1; k <= REF_HX_UNITS; k++) {
		uint32_t u = (w->turn[read] + k) % REF_HX_UNITS;
		int i = first_of(x, u, read);
		struct ref_hx_req *r;

		if (i < 0)
			continue;
		r = &x->req[i];
		r->granted = w->now;
		r->given = ref_hx_cross(
			&c->ht, weft_clock_edge(&c->core, w->now + c->t_htax),
			c->t_sync_out);
		w->busy[read] = w->now + words(read ? 0 : r->bytes);
		w->turn[read] = u;
		return true;
	}
	return false;
}

/* ---- host to units ---- */

static void arrive(struct ref_hx *x)
{
	struct ref_hx_work *w = &x->w;

	for (uint32_t i = w->first; i < x->n_req; i++)
		if (w->at_unit[i] <= w->now)
			x->req[i].done = w->now, w->at_unit[i] = NOT_YET;
	while (w->first < x->n_req && x->req[w->first].done != NOT_YET)
		w->first++;
}

/* Brings stores from the host to the arbiter. The HT core has room for `posted`
 * stores. A store that finds the core full arrives at the core's next edge
 * after another store has left the core. */
static void places(struct ref_hx *x)
{
	const struct ref_hx_cfg *c = &x->cfg;
	struct ref_hx_work *w = &x->w;

	for (; w->told < x->n_store; w->told++) {
		uint64_t t = x->store[w->told].time;

		if (w->told >= c->posted) {
			uint32_t k = w->told - c->posted;
			uint64_t left, next;

			if (k >= x->n_went)
				return;
			left = x->store[x->went[k]].taken;
			if (left > w->now)
				return;
			next = weft_clock_align(
				&c->ht, weft_clock_edge(&c->core, left) + 1);
			t = t > next ? t : next;
		}
		w->ready[w->told] = ref_hx_cross(&c->core, t, c->t_sync_in);
		w->line[w->n_line++] = w->told;
	}
}

static bool has_room(const struct ref_hx *x, uint32_t unit)
{
	uint32_t flying = 0;

	for (uint32_t k = x->n_went; k-- > 0;) {
		const struct ref_hx_store *s = &x->store[x->went[k]];

		if (s->taken <= x->w.now)
			break;
		flying += s->unit == unit;
	}
	return !x->room || x->room(x->own, unit, flying);
}

/* Moves the store at index `place` of the arbiter's queue to the front of the
 * queue. */
static void to_front(struct ref_hx_work *w, uint32_t place)
{
	uint32_t i = w->line[place];

	memmove(&w->line[1], &w->line[0], place * sizeof(w->line[0]));
	w->line[0] = i;
}

/* Called when the first store has no room. If the first register store behind
 * it is a store of a read pointer, moves that store to the front. Returns true
 * if a store was moved. */
static bool pass(struct ref_hx *x)
{
	struct ref_hx_work *w = &x->w;

	for (uint32_t k = 1; k < w->n_line; k++) {
		const struct ref_hx_store *s = &x->store[w->line[k]];

		if (w->ready[w->line[k]] > w->now)
			return false;
		if (s->unit != REF_HX_RF)
			continue;
		if (s->pass)
			to_front(w, k);
		return s->pass;
	}
	return false;
}

static bool store_free(const struct ref_hx *x)
{
	const struct ref_hx_work *w = &x->w;

	return w->n_line && w->ready[w->line[0]] <= w->now &&
	       w->in_busy[0] <= w->now &&
	       w->unit_busy[x->store[w->line[0]].unit] <= w->now;
}

static bool store_go(struct ref_hx *x)
{
	struct ref_hx_work *w = &x->w;
	struct ref_hx_store *s;

	if (!store_free(x))
		return false;
	if (!has_room(x, x->store[w->line[0]].unit) &&
	    !(pass(x) && store_free(x)))
		return false;
	s = &x->store[w->line[0]];
	s->taken = w->now + x->cfg.t_htax;
	w->in_busy[0] = w->unit_busy[s->unit] = w->now + words(s->bytes);
	w->store_last[s->unit] = true;
	x->went[x->n_went++] = w->line[0];
	w->n_line--;
	memmove(&w->line[0], &w->line[1], w->n_line * sizeof(w->line[0]));
	return true;
}

/* Returns the first answer of the bus that waits for a grant, or -1. */
static int answer_head(const struct ref_hx *x)
{
	const struct ref_hx_work *w = &x->w;
	int best = -1;

	for (uint32_t i = w->first; i < x->n_req; i++)
		if (x->req[i].read && w->answer[i] != NOT_YET &&
		    w->at_unit[i] == NOT_YET && x->req[i].done == NOT_YET &&
		    (best < 0 || ref_hx_bus_end(x, &x->req[i]) <
					 ref_hx_bus_end(x, &x->req[best])))
			best = (int)i;
	return best;
}

static bool answer_go(struct ref_hx *x)
{
	struct ref_hx_work *w = &x->w;
	int i = answer_head(x);
	const struct ref_hx_req *r;

	if (i < 0)
		return false;
	r = &x->req[i];
	if (w->answer[i] > w->now || w->in_busy[1] > w->now ||
	    w->unit_busy[r->unit] > w->now)
		return false;
	w->at_unit[i] = w->now + x->cfg.t_htax;
	w->in_busy[1] = w->unit_busy[r->unit] = w->now + words(r->bytes);
	w->store_last[r->unit] = false;
	return true;
}

static bool to_units(struct ref_hx *x)
{
	int a = answer_head(x);
	bool any = false;

	if (a >= 0 && x->w.store_last[x->req[a].unit])
		any |= answer_go(x);
	any |= store_go(x);
	return answer_go(x) || any;
}

/* ---- the whole crossbar ---- */

static bool all_done(const struct ref_hx *x)
{
	for (uint32_t i = x->w.first; i < x->n_req; i++)
		if (x->req[i].done == NOT_YET)
			return false;
	return x->n_went == x->n_store;
}

void ref_hx_reset(struct ref_hx *x)
{
	struct ref_hx_work *w = &x->w;

	memset(w, 0, sizeof(*w));
	x->n_went = 0;
	for (uint32_t i = 0; i < REF_HX_MAX; i++) {
		x->req[i].granted = x->req[i].given = x->req[i].done = NOT_YET;
		x->store[i].taken = NOT_YET;
		w->answer[i] = w->at_unit[i] = NOT_YET;
	}
	for (uint32_t u = 0; u < REF_HX_UNITS; u++)
		w->store_last[u] = true;
}

void ref_hx_begin(struct ref_hx *x, uint64_t now)
{
	x->w.now = now;
	arrive(x);
	bus_done(x);
	places(x);
}

bool ref_hx_end(struct ref_hx *x)
{
	bool any = to_host(x, false);

	any |= to_host(x, true);
	return to_units(x) || any;
}

bool ref_hx_run(struct ref_hx *x, uint64_t cycles)
{
	ref_hx_reset(x);
	for (uint64_t now = 0; now < cycles && !all_done(x); now++) {
		ref_hx_begin(x, now);
		ref_hx_end(x);
	}
	return all_done(x);
}
