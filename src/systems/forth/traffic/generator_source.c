/* SPDX-License-Identifier: Apache-2.0 */
/* Source of the traffic generator: packets of a traffic source, a queue per
 * destination, round robin over queues with credits (forth.md 6.3). */
#include "systems/forth/traffic/generator.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- generation of packets ---- */

/* Parses one entry of the list: node, or node+node+.. */
static const char *list_entry(struct forth_gen *g, const char *p)
{
	uint32_t n = 0;
	char *end;

	for (;; p = end + 1) {
		unsigned long v = strtoul(p, &end, 10);

		/* strtoul would skip blanks, and take a sign */
		if (*p < '0' || *p > '9' || v >= g->p.dests ||
		    n == GEN_PARTNERS)
			return NULL;
		g->partner[n++] = (uint32_t)v;
		if (*end != '+')
			break;
	}
	g->source.pattern.n_set = n;
	return *end && *end != ',' ? NULL : end + (*end == ',');
}

static int list_read(struct weft_comp *c, struct weft_err *err)
{
	struct forth_gen *g = c->state;
	const char *p = g->p.targets;

	for (uint32_t i = 0; i <= g->p.node; i++) {
		p = list_entry(g, p);
		if (!p)
			return weft_fail(
				err, EINVAL,
				"%s.targets: entry %u of '%.60s' is no node below %u: write one for each node, with commas",
				c->name, i, g->p.targets, g->p.dests);
	}
	return 0;
}

static int pattern_read(struct weft_comp *c, struct weft_err *err)
{
	static const enum pattern_kind kinds[] = {
		/* kinds in the order of the values of `pattern` */
		PATTERN_UNIFORM,     PATTERN_OFFSET, PATTERN_HOTSPOT,
		PATTERN_RUNS,	     PATTERN_FIXED,  PATTERN_NONE,
		PATTERN_PERMUTATION, PATTERN_TURN
	};
	struct forth_gen *g = c->state;
	uint32_t perm[FORTH_FLOWS];
	struct pattern_shape shape = { .perm = perm, .dest = g->p.dest };

	g->source.pattern = (struct pattern){ .kind = kinds[g->p.pattern],
					      .node = g->p.node,
					      .nodes = g->p.dests,
					      .self = true,
					      .hot = g->p.hot,
					      .run = g->p.burst };
	if (g->source.pattern.kind == PATTERN_TURN) {
		if (list_read(c, err))
			return -EINVAL;
		g->source.pattern.set = g->partner;
	}
	pattern_permute(g->p.shuffle, perm, g->p.dests);
	return pattern_init(&g->source.pattern, &shape, err);
}

/* Sets up the source. The first arrivals need no random draw, because all
 * arrivals begin in cycle 0. */
int forth_gen_source_init(struct weft_comp *c, struct weft_err *err)
{
	struct forth_gen *g = c->state;
	struct traffic_source *s = &g->source;

	if (g->p.node >= g->p.dests || g->p.dest >= g->p.dests)
		return weft_fail(
			err, EINVAL,
			"%s: node %u and dest %u must be below dests = %u",
			c->name, g->p.node, g->p.dest, g->p.dests);
	if (pattern_read(c, err))
		return -EINVAL;
	s->size = (uint32_t)(g->p.size + 7) / 8;
	s->size_max = (uint32_t)(g->p.size_max + 7) / 8;
	s->packets = g->p.packets;
	s->arrivals.kind =
		g->p.load <= 1 ? ARRIVALS_UNIFORM : ARRIVALS_SATURATED;
	s->arrivals.rate = pattern_sends(&s->pattern) ? g->p.load : 0;
	return arrivals_init(&s->arrivals, 0, 0, &c->rng, err);
}

/* Queues all arrivals up to and including cycle `now`. */
static void source_fill(struct weft_comp *c, uint64_t now)
{
	struct forth_gen *g = c->state;

	while (g->queued < g->p.backlog && traffic_due(&g->source) <= now) {
		struct traffic_packet k = traffic_draw(&g->source, &c->rng);

		*ring_push(&g->voq[k.dest]) =
			(struct forth_gen_item){ k.at, k.size };
		g->mask[k.dest / 64] |= 1ull << (k.dest % 64);
		g->queued++;
		traffic_step(&g->source, forth_port_words(&g->link, k.size),
			     &c->rng);
	}
	if (g->queued >= g->p.backlog)
		arrivals_wait(&g->source.arrivals, now);
}

void forth_gen_rearm(struct forth_gen *g)
{
	const struct weft_clock *clk = &g->link.clk;
	uint64_t due = traffic_due(&g->source);
	/* last cycle that simulated time can represent */
	double last =
		(double)WEFT_NEVER / 2 / ((double)clk->num / (double)clk->den);

	if (g->queued < g->p.backlog && (double)due < last)
		forth_port_kick(&g->link, weft_clock_edge(clk, due));
}

/* ---- choice of the next packet ---- */

static struct weft_slice payload_make(struct weft_comp *c, uint32_t tag,
				      uint32_t dest, uint32_t qwords)
{
	struct forth_gen *g = c->state;
	struct weft_slice s;
	uint64_t *p;

	if (!g->p.verify)
		return weft_slice_sub(g->shared, 0, qwords * 8);
	s = weft_slice_new(c->sim, qwords * 8);
	p = (uint64_t *)weft_slice_data(s);
	for (uint32_t k = 0; p && k < qwords; k++)
		p[k] = pattern_qword(tag, dest, k);
	return s;
}

static bool try_dest(struct weft_comp *c, uint32_t d, struct forth_port_pkt *p)
{
	struct forth_gen *g = c->state;
	struct forth_gen_voq *v = &g->voq[d];
	const struct forth_gen_item *it = ring_front(v);
	uint32_t n = it->qwords, path = forth_gen_path(g, d), tag;

	if (!forth_port_credit(&g->link, forth_way(path, d), n))
		return false;
	tag = g->p.node << 24 | (v->sent++ & 0xFFFFFF);
	p->header = forth_header_path(forth_header(d, 0, n, tag), path);
	if (g->p.stamp)
		p->trace_id = weft_clock_edge(&g->link.clk, it->born);
	if (g->ways) {
		g->turn++;
		v->turn++;
	}
	p->payload = payload_make(c, tag, d, n);
	ring_pop(v);
	if (ring_empty(v))
		g->mask[d / 64] &= ~(1ull << (d % 64));
	g->queued--;
	g->rr = d + 1;
	weft_count(c, C_SENT, 1);
	weft_count(c, C_SENT_BYTES, n * 8);
	return true;
}

/* Returns the next destination at or after `from` whose bit in left[] is set,
 * or FORTH_FLOWS if there is none. */
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

/* Chooses the next packet: round robin over queues that hold a packet (6.3) and
 * have credits for it. */
bool forth_gen_next(void *own, struct forth_port *l, struct forth_port_pkt *p)
{
	struct weft_comp *c = own;
	struct forth_gen *g = c->state;
	uint64_t left[2];
	uint32_t from = g->rr, d;

	source_fill(c, forth_port_now(l));
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
