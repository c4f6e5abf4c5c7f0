/* SPDX-License-Identifier: Apache-2.0 */
/* Class fault.cut: a cable that is interrupted (forth.md 4.9, extoll.md T-28).
 *
 * The fault sits on a sending port, so that one instance interrupts one
 * direction. A cable that is pulled out needs one instance at each end, with
 * equal times. Times are those of the receiving end: a word that would arrive
 * while the line is down is lost. A transmission that has begun to arrive is
 * cut short. If the line is up again before the end of the transmission, its
 * remaining words arrive without a delimiter.
 *
 * The receiver gets invalid codes from a line that is down: it loses sync at
 * once and regains it after 16 words of commas. Invalid codes are counted
 * (0x88) until sync is lost. Codes that a deserialiser gives on a dead line
 * after the loss of sync are not modelled. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "net/fault.h"
#include "sim/fault_schedule.h"

struct cut {
	/* first member, because OUTAGE_PARAMS expects it there */
	struct outage when;
	uint32_t next; /* number of the next span to begin */
	uint32_t at;   /* number of the first span that can affect later
			* frames */
	const struct weft_wire_faults *wire;
	uint64_t word_fs;
};

enum { C_CUTS, C_PACKETS, C_TRUNCATED, C_CREDITS, C_WORDS, C_N };
static const struct weft_counter cut_counters[C_N] = {
	[C_CUTS] = { "cuts", "times", "the line went down" },
	[C_PACKETS] = { "packets", "packets", "packets lost, with delimiter" },
	[C_TRUNCATED] = { "truncated", "packets", "packets cut short" },
	[C_CREDITS] = { "credits", "credits", "credits lost" },
	[C_WORDS] = { "words", "words", "words of transmissions lost" },
};

static const struct weft_param cut_params[] = { OUTAGE_PARAMS, { 0 } };

/* ---- the line goes down ---- */

static void cut_plan(struct weft_comp *c)
{
	struct cut *k = c->state;
	const struct outage_span *s = outage_get(&k->when, k->next);

	if (s)
		weft_wake(c, 0, s->from ? s->from - 1 : 0);
}

static void cut_event(struct weft_comp *c, uint32_t tag)
{
	struct cut *k = c->state;
	const struct outage_span *s = outage_get(&k->when, k->next++);
	struct weft_frame *f = weft_frame_new(c->sim);
	weft_time_t from = s->from > weft_now(c) ? s->from : weft_now(c) + 1;
	uint64_t words = (s->to - from + k->word_fs - 1) / k->word_fs;

	/* the receiver gets invalid codes from now until the line is up
	 * again */
	f->time = from;
	f->word_fs = k->word_fs;
	f->words = words < UINT32_MAX / 2 ? (uint32_t)words : UINT32_MAX / 2;
	f->raw = weft_raw_new(c->sim, k->wire->noise);
	for (uint32_t i = 0; i < k->wire->noise; i++)
		f->raw->sym[i] = WEFT_SYM_BAD;
	f->raw->n = k->wire->noise;
	weft_count(c, C_CUTS, 1);
	weft_filter_pass(c, f);
	cut_plan(c);
}

/* ---- frames on the line ---- */

/* Sends words from..to-1 of a frame as a separate transmission. */
static void pass_piece(struct weft_comp *c, const struct weft_frame *f,
		       const struct weft_raw *all, uint32_t from, uint32_t to)
{
	struct cut *k = c->state;
	struct weft_frame *g = weft_frame_dup(f);
	uint32_t w = fault_word(k->wire, f);
	uint32_t end = to == f->words ? all->n : w * to, n;
	struct weft_raw *raw;

	end = end < all->n ? end : all->n;
	n = end > w * from ? end - w * from : 0;
	raw = weft_raw_new(c->sim, n);
	memcpy(raw->sym, all->sym + w * from, n * sizeof(*raw->sym));
	raw->n = n;
	fault_set(g, raw);
	if (from) {
		g->flags = 0;
		weft_slice_drop(&g->payload);
	}
	g->time += from * f->word_fs;
	g->words = to - from;
	weft_filter_pass(c, g);
}

/* Returns the index of the first word of f that arrives at t or later. */
static uint32_t word_at(const struct weft_frame *f, weft_time_t t)
{
	uint64_t n;

	if (t <= f->time)
		return 0;
	n = (t - f->time + f->word_fs - 1) / f->word_fs;
	return n < f->words ? (uint32_t)n : f->words;
}

/* Sends the pieces of f that arrive while the line is up. Frees f. */
static void cut_frame(struct weft_comp *c, struct weft_frame *f)
{
	struct cut *k = c->state;
	struct weft_raw *all = fault_raw(c, f, 0);
	const struct outage_span *s;
	uint32_t i = k->at, w = 0, lost = 0, credits = 0, first = f->words;
	uint32_t per = fault_word(k->wire, f);
	uint32_t sent = fault_credits(k->wire, f);

	for (; w < f->words; i++) {
		uint32_t down, up, span = 0; /* down: first word of f that is
					      * lost; up: first word after
					      * the outage; span: number of
					      * lost credit symbols */

		s = outage_get(&k->when, i);
		down = s ? word_at(f, s->from) : f->words;
		up = s ? word_at(f, s->to) : f->words;
		if (down > w)
			pass_piece(c, f, all, w, down);
		for (uint32_t n = per * down; n < per * up && n < all->n; n++)
			span += all->sym[n] >> WEFT_PART_SHIFT ==
				k->wire->credit_part;
		credits += span / k->wire->credit_symbols;
		if (up > down && down < first)
			first = down;
		lost += up - down;
		w = up;
	}
	weft_count(c, C_WORDS, lost);
	weft_count(c, C_CREDITS, credits < sent ? credits : sent);
	if (lost && fault_is_packet(k->wire, f))
		weft_count(c, first ? C_TRUNCATED : C_PACKETS, 1);
	free(all);
	weft_frame_free(f);
}

static void cut_filter(struct weft_comp *c, struct weft_frame *f)
{
	struct cut *k = c->state;
	const struct outage_span *s = outage_after(&k->when, &k->at, f->time);

	if (!s || word_at(f, s->from) == word_at(f, s->to))
		weft_filter_pass(c, f);
	else
		cut_frame(c, f);
}

/* ---- start and end ---- */

static int cut_start(struct weft_comp *c, struct weft_err *err)
{
	struct cut *k = c->state;

	k->wire = fault_wire(c);
	if (!k->wire)
		return weft_fail(err, EINVAL,
				 "%s: the line at %s.%s cannot be cut", c->name,
				 c->on->comp->name, c->on->name);
	k->word_fs = k->wire->word_fs(c->on);
	if (c->on->peer) /* an open port has no line */
		cut_plan(c);
	return 0;
}

WEFT_COMPONENT(fault_cut, .name = "fault.cut", .kind = WEFT_KIND_FAULT,
	       .doc = "a serial link that goes down and up",
	       .source = "forth.md 4.9, 13", .state_size = sizeof(struct cut),
	       .params = cut_params, .counters = cut_counters,
	       .n_counters = C_N,
	       .ops = { .init = outage_init,
			.start = cut_start,
			.event = cut_event,
			.filter = cut_filter,
			.fini = outage_fini });
