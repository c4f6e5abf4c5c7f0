/* SPDX-License-Identifier: Apache-2.0 */
/* See ref_htax.h. */
#include "ref_htax.h"

#include <string.h>

#define NOT_YET UINT64_MAX

struct work {
	struct ref_hx *x;
	uint64_t now;	  /* cycle */
	uint64_t busy[2]; /* outputs to the host, until */
	uint64_t unit_busy[REF_HX_UNITS];
	uint64_t in_busy[2];	       /* host's inputs: stores, answers */
	uint32_t turn[2];	       /* unit that won last */
	bool store_last[REF_HX_UNITS]; /* a store came last, not an answer */
	uint64_t ready[REF_HX_MAX];    /* store: cycle at the arbiter */
	uint64_t answer[REF_HX_MAX];   /* read: cycle at the arbiter */
	uint64_t at_unit[REF_HX_MAX];  /* read: granted, at the unit */
	uint32_t told, granted;	       /* stores */
};

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

static void bus_done(struct work *w)
{
	const struct ref_hx_cfg *c = &w->x->cfg;
	uint64_t t = weft_clock_edge(&c->core, w->now);

	for (uint32_t i = 0; i < w->x->n_req; i++) {
		struct ref_hx_req *r = &w->x->req[i];
		uint64_t end;

		if (r->granted == NOT_YET || r->done != NOT_YET)
			continue;
		end = weft_clock_edge(&c->ht, r->given) +
		      (r->read ? c->t_read : c->t_write);
		if (end > t)
			continue;
		if (!r->read)
			r->done = w->now;
		else if (w->answer[i] == NOT_YET)
			w->answer[i] =
				ref_hx_cross(&c->core, end, c->t_sync_in);
	}
}

/* Requests in the HT core, or on their way there and back. */
static uint32_t in_core(const struct work *w, bool read)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->x->n_req; i++) {
		const struct ref_hx_req *r = &w->x->req[i];

		n += r->read == read && r->granted != NOT_YET &&
		     r->done == NOT_YET;
	}
	return n;
}

/* ---- units to host ---- */

/* The unit's first request for this output, or -1: none is up, or it is a read
 * behind a write. */
static int first_of(const struct work *w, uint32_t unit, bool read)
{
	for (uint32_t i = 0; i < w->x->n_req; i++) {
		const struct ref_hx_req *r = &w->x->req[i];

		if (r->unit != unit || r->granted != NOT_YET)
			continue;
		if (r->cycle > w->now)
			return -1;
		if (r->read == read)
			return (int)i;
		if (read)
			return -1; /* a write was asked for before */
	}
	return -1;
}

static void to_host(struct work *w, bool read)
{
	const struct ref_hx_cfg *c = &w->x->cfg;

	if (w->busy[read] > w->now ||
	    in_core(w, read) >= (read ? c->reads : c->posted))
		return;
	for (uint32_t k = 1; k <= REF_HX_UNITS; k++) {
		uint32_t u = (w->turn[read] + k) % REF_HX_UNITS;
		int i = first_of(w, u, read);
		struct ref_hx_req *r;

		if (i < 0)
			continue;
		r = &w->x->req[i];
		r->granted = w->now;
		r->given = ref_hx_cross(
			&c->ht, weft_clock_edge(&c->core, w->now + c->t_htax),
			c->t_sync_out);
		w->busy[read] = w->now + words(read ? 0 : r->bytes);
		w->turn[read] = u;
		return;
	}
}

/* ---- host to units ---- */

static void arrive(struct work *w)
{
	for (uint32_t i = 0; i < w->x->n_req; i++)
		if (w->at_unit[i] <= w->now)
			w->x->req[i].done = w->now, w->at_unit[i] = NOT_YET;
}

/* Stores that have a place now: store i has that of store i - posted, and comes
 * at the HT core's next edge after that has left it. */
static void places(struct work *w)
{
	const struct ref_hx_cfg *c = &w->x->cfg;

	for (; w->told < w->x->n_store; w->told++) {
		uint64_t t = w->x->store[w->told].time;

		if (w->told >= c->posted) {
			uint64_t x = w->x->store[w->told - c->posted].taken;
			uint64_t next;

			if (x > w->now)
				return;
			next = weft_clock_align(
				&c->ht, weft_clock_edge(&c->core, x) + 1);
			t = t > next ? t : next;
		}
		w->ready[w->told] = ref_hx_cross(&c->core, t, c->t_sync_in);
	}
}

static bool store_go(struct work *w)
{
	struct ref_hx_store *s = &w->x->store[w->granted];

	if (w->granted == w->told || w->ready[w->granted] > w->now ||
	    w->in_busy[0] > w->now || w->unit_busy[s->unit] > w->now)
		return false;
	s->taken = w->now + w->x->cfg.t_htax;
	w->in_busy[0] = w->unit_busy[s->unit] = w->now + words(s->bytes);
	w->store_last[s->unit] = true;
	w->granted++;
	return true;
}

/* The answer that the bus gave first. */
static int answer_head(const struct work *w)
{
	int best = -1;

	for (uint32_t i = 0; i < w->x->n_req; i++)
		if (w->x->req[i].read && w->answer[i] != NOT_YET &&
		    w->at_unit[i] == NOT_YET && w->x->req[i].done == NOT_YET &&
		    (best < 0 || w->x->req[i].given < w->x->req[best].given))
			best = (int)i;
	return best;
}

static void answer_go(struct work *w)
{
	int i = answer_head(w);
	const struct ref_hx_req *r;

	if (i < 0)
		return;
	r = &w->x->req[i];
	if (w->answer[i] > w->now || w->in_busy[1] > w->now ||
	    w->unit_busy[r->unit] > w->now)
		return;
	w->at_unit[i] = w->now + w->x->cfg.t_htax;
	w->in_busy[1] = w->unit_busy[r->unit] = w->now + words(r->bytes);
	w->store_last[r->unit] = false;
}

static void to_units(struct work *w)
{
	int a = answer_head(w);

	if (a >= 0 && w->store_last[w->x->req[a].unit])
		answer_go(w);
	store_go(w);
	answer_go(w);
}

/* ---- all ---- */

static bool all_done(const struct work *w)
{
	for (uint32_t i = 0; i < w->x->n_req; i++)
		if (w->x->req[i].done == NOT_YET)
			return false;
	return w->granted == w->x->n_store;
}

static void reset(struct work *w, struct ref_hx *x)
{
	memset(w, 0, sizeof(*w));
	w->x = x;
	for (uint32_t i = 0; i < REF_HX_MAX; i++) {
		x->req[i].granted = x->req[i].given = x->req[i].done = NOT_YET;
		x->store[i].taken = NOT_YET;
		w->answer[i] = w->at_unit[i] = NOT_YET;
	}
	for (uint32_t u = 0; u < REF_HX_UNITS; u++)
		w->store_last[u] = true;
}

bool ref_hx_run(struct ref_hx *x, uint64_t cycles)
{
	static struct work w;

	for (reset(&w, x); w.now < cycles && !all_done(&w); w.now++) {
		arrive(&w);
		bus_done(&w);
		places(&w);
		to_host(&w, false);
		to_host(&w, true);
		to_units(&w);
	}
	return all_done(&w);
}
