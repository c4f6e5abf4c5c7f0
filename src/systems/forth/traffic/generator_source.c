/* SPDX-License-Identifier: Apache-2.0 */
/* Source of the traffic component: arrivals, a queue per destination, round
 * robin over those with credits (forth.md 6.3). */
#include "systems/forth/traffic/generator.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static struct weft_slice payload_make(struct weft_comp *c, uint32_t tag,
				      uint32_t dest, uint32_t qwords)
{
	struct forth_gen *g = c->state;
	struct weft_slice s;
	uint64_t *p;
	uint32_t k;

	if (!g->verify)
		return weft_slice_sub(g->shared, 0, qwords * 8);
	s = weft_slice_new(c->sim, qwords * 8);
	p = (uint64_t *)weft_slice_data(s);
	for (k = 0; p && k < qwords; k++)
		p[k] = pattern_qword(tag, dest, k);
	return s;
}

/* ---- arrivals ---- */

static void voq_put(struct forth_gen *g, uint32_t d, uint32_t qwords,
		    uint64_t born)
{
	struct forth_gen_voq *v = &g->voq[d];
	uint32_t n = v->tail - v->head, i;

	if (!v->ring || n > v->mask) {
		uint32_t cap = n ? n * 2 : 8;
		struct forth_gen_item *r = malloc(cap * sizeof(*r));

		assert(r);
		for (i = 0; i < n; i++)
			r[i] = v->ring[(v->head + i) & v->mask];
		free(v->ring);
		v->ring = r;
		v->mask = cap - 1;
		v->head = 0;
		v->tail = n;
	}
	v->ring[v->tail++ & v->mask] = (struct forth_gen_item){ born, qwords };
	g->mask[d / 64] |= 1ull << (d % 64);
	g->queued++;
}

static uint32_t pick_dest(struct weft_comp *c)
{
	struct forth_gen *g = c->state;

	switch (g->pattern) {
	case PAT_PERMUTATION:
		return (g->node + g->dest) % g->dests;
	case PAT_FIXED:
		return g->dest;
	case PAT_SHUFFLE:
	case PAT_LIST:
		return g->partner[g->made % g->partners];
	case PAT_HOTSPOT:
		if (weft_rng_real(&c->rng) < g->hot)
			return g->dest;
		break;
	case PAT_BURSTY:
		if (!g->burst_left) {
			g->burst_dest =
				(uint32_t)weft_rng_below(&c->rng, g->dests);
			g->burst_left =
				1 +
				(uint32_t)weft_rng_below(
					&c->rng, (uint64_t)(2 * g->burst - 1));
		}
		g->burst_left--;
		return g->burst_dest;
	}
	return (uint32_t)weft_rng_below(&c->rng, g->dests);
}

static uint32_t pick_size(struct weft_comp *c)
{
	struct forth_gen *g = c->state;
	uint32_t lo = (uint32_t)(g->size + 7) / 8;
	uint32_t hi = (uint32_t)(g->size_max + 7) / 8;

	return hi > lo ? lo + (uint32_t)weft_rng_below(&c->rng, hi - lo + 1)
		       : lo;
}

static bool forth_gen_over(const struct forth_gen *g)
{
	return g->pattern == PAT_NONE || g->load <= 0 ||
	       (g->packets && g->made >= g->packets);
}

static uint64_t cycle_up(double cycle)
{
	uint64_t at = (uint64_t)cycle;

	return at + ((double)at < cycle);
}

/* Everything that arrives up to and including cycle `now`.  The gap behind a
 * packet is uniform around its line time over the load. */
static void forth_gen_fill(struct weft_comp *c, uint64_t now)
{
	struct forth_gen *g = c->state;

	while (!forth_gen_over(g) && g->queued < g->backlog &&
	       g->next <= (double)now) {
		uint32_t d = pick_dest(c), n = pick_size(c);
		double gap = forth_port_words(&g->link, n) / g->load;

		voq_put(g, d, n, cycle_up(g->next));
		g->made++;
		if (g->load <= 1)
			g->next += gap * 2 * weft_rng_real(&c->rng);
	}
	if (g->queued >= g->backlog && g->next < (double)now)
		g->next = (double)now;
}

/* Cycles that simulated time can count; a load of 1e-30 draws later ones. */
static double cycles_max(const struct weft_clock *clk)
{
	return (double)WEFT_NEVER / 2 / ((double)clk->num / (double)clk->den);
}

/* The cycle at which next() should look for arrivals again. */
void forth_gen_rearm(struct forth_gen *g)
{
	const struct weft_clock *clk = &g->link.clk;

	if (!forth_gen_over(g) && g->queued < g->backlog &&
	    g->next < cycles_max(clk))
		forth_port_kick(&g->link,
				weft_clock_edge(clk, cycle_up(g->next)));
}

/* ---- source ---- */

static bool try_dest(struct weft_comp *c, uint32_t d, struct forth_port_pkt *p)
{
	struct forth_gen *g = c->state;
	struct forth_gen_voq *v = &g->voq[d];
	const struct forth_gen_item *it = &v->ring[v->head & v->mask];
	uint32_t n = it->qwords, path = forth_gen_path(g, d), tag;

	if (!forth_port_credit(&g->link, forth_way(path, d), n))
		return false;
	tag = g->node << 24 | (v->sent++ & 0xFFFFFF);
	p->header = forth_header_path(forth_header(d, 0, n, tag), path);
	if (g->stamp)
		p->trace_id = weft_clock_edge(&g->link.clk, it->born);
	if (g->ways)
		forth_gen_path_taken(g, d);
	p->payload = payload_make(c, tag, d, n);
	if (++v->head == v->tail)
		g->mask[d / 64] &= ~(1ull << (d % 64));
	g->queued--;
	g->rr = d + 1;
	weft_count(c, C_SENT, 1);
	weft_count(c, C_SENT_BYTES, n * 8);
	return true;
}

/* Next destination at or after `from` that has packets and whose bit in
 * left[] is set; FORTH_FLOWS when there is none. */
static uint32_t next_dest(const uint64_t *left, uint32_t from)
{
	uint32_t k = from / 64;
	uint64_t w;

	if (from >= FORTH_FLOWS)
		return FORTH_FLOWS;
	for (w = left[k] >> from % 64 << from % 64; !w; w = left[k])
		if (++k == 2)
			return FORTH_FLOWS;
	return k * 64 + (uint32_t)__builtin_ctzll(w);
}

/* Round robin over queues that hold something (6.3). */
bool forth_gen_next(void *own, struct forth_port *l, struct forth_port_pkt *p)
{
	struct weft_comp *c = own;
	struct forth_gen *g = c->state;
	uint64_t left[2];
	uint32_t from = g->rr, d;

	forth_gen_fill(c, forth_port_now(l));
	memcpy(left, g->mask, sizeof(left));
	while (left[0] | left[1]) {
		d = next_dest(left, from);
		if (d == FORTH_FLOWS) {
			from = 0;
			continue;
		}
		if (try_dest(c, d, p)) {
			p->last = !g->queued;
			return true;
		}
		left[d / 64] &= ~(1ull << (d % 64));
	}
	forth_gen_rearm(g);
	return false;
}

void forth_gen_sent(void *own, struct forth_port *l, uint64_t start,
		    uint64_t end, uint32_t shift)
{
	struct forth_gen *g = ((struct weft_comp *)own)->state;

	if (!g->queued)
		forth_gen_rearm(g);
}
