/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic generator: order of arrival over several paths.
 *
 * The depth of a packet is the number of later packets of its flow (source and
 * destination) that arrived before it. `held` is the number of packets, over
 * all sources, that have arrived although an earlier packet is missing. A
 * resequencer would hold these packets (forth.md 7.1, 7.6). A missing packet
 * counts as lost once a packet arrives whose number is higher by GEN_WINDOW or
 * more. */
#include "systems/forth/traffic/generator.h"

#include <errno.h>
#include <stdlib.h>

#define NUMBER_MASK 0xFFFFFFu

int forth_gen_order_init(struct weft_comp *c, struct weft_err *err)
{
	struct forth_gen *g = c->state;

	if (forth_gen_in_order(g))
		return 0;
	g->sink.from = calloc(g->p.dests, sizeof(*g->sink.from));
	if (!g->sink.from)
		return weft_fail(err, ENOMEM, "%s: no memory", c->name);
	g->sink.reorder = weft_hist(c, "reorder", "packets");
	return 0;
}

static uint64_t *word_of(struct forth_gen_from *s, uint32_t number)
{
	return &s->seen[number % GEN_WINDOW / 64];
}

static bool generator_order_seen(struct forth_gen_from *s, uint32_t number)
{
	return *word_of(s, number) >> number % 64 & 1;
}

/* Returns how many packets with a higher number than `number` have arrived. */
static uint32_t generator_order_overtook(struct forth_gen_from *s,
					 uint32_t number)
{
	uint32_t at = number + 1, end = s->base + s->span, n = 0;

	while ((int32_t)(end - at) > 0) {
		uint32_t bits = 64 - at % 64, left = end - at;
		uint64_t w = *word_of(s, at) >> at % 64;

		if (left < bits)
			w &= (1ull << left) - 1;
		n += (uint32_t)__builtin_popcountll(w);
		at += left < bits ? left : bits;
	}
	return n;
}

/* Advances `base` past the packet with this number, which has arrived or counts
 * as lost, and past all arrived packets directly behind that packet. */
static void generator_order_step(struct forth_gen *g, struct forth_gen_from *s)
{
	s->base++;
	s->span -= s->span > 0;
	while (s->held && generator_order_seen(s, s->base)) {
		*word_of(s, s->base) &= ~(1ull << s->base % 64);
		s->held--;
		g->sink.held--;
		s->base++;
		s->span--;
	}
}

static uint32_t depth_of(struct weft_comp *c, struct forth_gen_from *s,
			 uint32_t number)
{
	struct forth_gen *g = c->state;
	uint32_t depth = s->held;

	if (number == s->base) {
		generator_order_step(g, s);
		return depth;
	}
	depth = s->span > number - s->base ? generator_order_overtook(s, number)
					   : 0;
	*word_of(s, number) |= 1ull << number % 64;
	s->held++;
	g->sink.held++;
	if (s->span < number + 1 - s->base)
		s->span = number + 1 - s->base;
	return depth;
}

void forth_gen_order_add(struct weft_comp *c, uint32_t src, uint32_t number,
			 bool measure)
{
	struct forth_gen *g = c->state;
	struct forth_gen_from *s = &g->sink.from[src];
	uint32_t ahead = (number - s->base) & NUMBER_MASK, depth;

	/* let the number continue past 2^24, to avoid a wrap */
	number = s->base + ahead;
	for (; ahead >= GEN_WINDOW && ahead <= NUMBER_MASK / 2;
	     ahead = number - s->base) {
		weft_count(c, C_MISSING, 1);
		generator_order_step(g, s);
	}
	if (ahead >= GEN_WINDOW || (ahead && generator_order_seen(s, number))) {
		weft_count(c, C_DUPLICATE, 1);
		return;
	}
	depth = depth_of(c, s, number);
	if (!measure)
		return;
	weft_hist_put(g->sink.reorder, depth);
	weft_count(c, C_LATE, depth > 0);
	if (depth > s->deepest)
		s->deepest = depth;
	if (g->sink.held > g->sink.held_max)
		g->sink.held_max = g->sink.held;
}

void forth_gen_order_report(struct weft_comp *c)
{
	struct forth_gen *g = c->state;
	uint32_t most = 0;

	if (!forth_port_paths(&g->link))
		return;
	for (uint32_t s = 0; g->sink.from && s < g->p.dests; s++) {
		weft_series_add(c, "reorder_max", "source", "packets", s,
				g->sink.from[s].deepest);
		if (g->sink.from[s].deepest > most)
			most = g->sink.from[s].deepest;
	}
	weft_metric(c, "reorder_max", "packets", most);
	weft_metric(c, "held_max", "packets", g->sink.held_max);
}
