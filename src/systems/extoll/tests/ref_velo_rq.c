/* SPDX-License-Identifier: Apache-2.0 */
/* See ref_velo_rq.h. */
#include "ref_velo_rq.h"

#include <string.h>

#include "ref_htax.h"

enum { LEN_MOST = 64, BUFFER = 128 };

struct page {
	bool open, swallow;
	/* received and needed bytes; need = 0: header incomplete */
	uint32_t have, need;
	uint8_t header[8];
	uint64_t touched; /* cycle */
};

struct program {
	struct ref_vrq *x;
	uint64_t now, busy;
	struct page page[REF_VRQ_PAGES];
	struct ref_vrq_seen s;
	uint32_t granted, taken, next_left, queued;
	/* cycle at which a granted store is at the unit */
	uint64_t at[REF_VRQ_MAX];
};

static uint64_t header(const struct page *p)
{
	uint64_t h;

	memcpy(&h, p->header, 8);
	return h;
}

static uint32_t bits(uint64_t h, uint32_t hi, uint32_t lo)
{
	return (uint32_t)(h >> lo & ((1ull << (hi - lo + 1)) - 1));
}

static void drop(struct program *w, struct page *p, enum ref_vrq_why why)
{
	w->s.drop[why]++;
	p->swallow = true;
	p->touched = w->now;
}

/* Gives a complete message to the network port, or holds it until the port has
 * room. */
static void offer(struct program *w)
{
	if (w->queued == w->x->cfg.depth) {
		w->s.holds = true;
		return;
	}
	w->queued++;
	w->s.holds = false;
	w->s.sent++;
}

static void complete(struct program *w, struct page *p, uint32_t page)
{
	uint64_t h = header(p);

	if (bits(h, 15, 0) >= w->x->cfg.nodes) {
		drop(w, p, REF_VRQ_NO_ROUTE);
		return;
	}
	w->x->header[w->s.sent] = h;
	w->x->page[w->s.sent] = page;
	w->s.first = w->now + w->x->cfg.t_req;
	p->open = false;
	offer(w);
}

static int header_wrong(const struct program *w, uint64_t h, uint32_t page)
{
	uint32_t len = bits(h, 54, 48);

	if (bits(h, 31, 31))
		return REF_VRQ_MULTICAST;
	if (bits(h, 25, 24) || bits(h, 30, 26) || bits(h, 39, 35) ||
	    bits(h, 63, 55))
		return REF_VRQ_RESERVED;
	if (!len || len > LEN_MOST)
		return REF_VRQ_LENGTH;
	return w->x->cfg.enabled[page] ? -1 : REF_VRQ_DISABLED;
}

/* Handles the message of a page after a store has added bytes to it. */
static void look(struct program *w, struct page *p, uint32_t page)
{
	p->touched = w->now;
	if (!p->need) {
		int why;

		if (p->have < 8)
			return;
		why = header_wrong(w, header(p), page);
		if (why >= 0) {
			drop(w, p, (enum ref_vrq_why)why);
			return;
		}
		p->need = 8 + (bits(header(p), 54, 48) + 7) / 8 * 8;
	}
	if (p->have > p->need)
		drop(w, p, REF_VRQ_LENGTH);
	else if (p->have == p->need)
		complete(w, p, page);
}

static void append(struct page *p, const struct ref_vrq_store *s)
{
	for (uint32_t i = 0; i < s->bytes && p->have + i < 8; i++)
		p->header[p->have + i] = s->data[i];
	p->have += s->bytes;
}

static void take(struct program *w, const struct ref_vrq_store *s)
{
	struct page *p = &w->page[s->page];

	if (!s->off || !p->open) {
		if (p->open && !p->swallow)
			w->s.drop[REF_VRQ_PARTIAL]++;
		*p = (struct page){ .open = true };
	}
	if (s->off != p->have) {
		drop(w, p, REF_VRQ_ALIGN);
		return;
	}
	append(p, s);
	if (p->swallow)
		p->touched = w->now;
	else if (p->have > BUFFER)
		drop(w, p, REF_VRQ_LENGTH);
	else
		look(w, p, s->page);
}

static void expire(struct program *w)
{
	for (uint32_t i = 0; i < REF_VRQ_PAGES; i++) {
		struct page *p = &w->page[i];

		if (!p->open || w->now < p->touched + w->x->cfg.partial)
			continue;
		w->s.drop[REF_VRQ_PARTIAL] += !p->swallow;
		p->open = false;
	}
}

/* Grants the next store if there is room. Each store in flight needs room,
 * because it may complete a message. */
static void grant(struct program *w)
{
	const struct ref_vrq_cfg *c = &w->x->cfg;
	const struct ref_vrq_store *s = &w->x->store[w->granted];
	uint32_t flying = w->granted - w->taken;

	if (w->granted == w->x->n_store || w->busy > w->now ||
	    ref_hx_cross(&c->core, s->time, c->t_sync_in) > w->now)
		return;
	if (w->s.holds || (flying && w->queued + flying >= c->depth))
		return;
	w->at[w->granted++] = w->now + c->t_htax;
	w->busy = w->now + 1 + (s->bytes + 7) / 8;
}

void ref_vrq_run(struct ref_vrq *x)
{
	static struct program w;

	memset(&w, 0, sizeof(w));
	w.x = x;
	for (uint32_t k = 0; k < x->cycles; k++) {
		w.now = x->from + k;
		for (; w.next_left < x->n_left && x->left[w.next_left] <= w.now;
		     w.next_left++) {
			w.queued--;
			if (w.s.holds)
				offer(&w);
		}
		for (; w.taken < w.granted && w.at[w.taken] <= w.now; w.taken++)
			take(&w, &x->store[w.taken]);
		expire(&w);
		grant(&w);
		x->seen[k] = w.s;
	}
}
