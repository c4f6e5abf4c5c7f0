/* SPDX-License-Identifier: Apache-2.0 */
/* Class fault.drop: loses or repeats what leaves through a port, whole packets
 * (EXTOLL: cells, ATOLL: flits, Ethernet: frames) and credits (EXTOLL: control
 * cells), and adds or removes single commas of FORTH lines (forth.md 13,
 * extoll.md T-24). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "link/extoll_frame.h"
#include "link/fault.h"
#include "link/flink.h"

struct drop {
	double packets, credits, controls, repeat, comma_add, comma_del;
	uint32_t target;
	uint64_t frame, count, seen;
	const struct fault_line *line;
};

enum { C_PACKETS, C_CREDITS, C_REPEATS, C_COMMAS, C_CONTROLS, C_N };
static const struct weft_counter drop_counters[C_N] = {
	[C_PACKETS] = { "packets", "packets", "packets or cells lost" },
	[C_CREDITS] = { "credits", "credits", "credits lost" },
	[C_CONTROLS] = { "controls", "cells", "control cells lost" },
	[C_REPEATS] = { "repeats", "packets", "packets or cells sent twice" },
	[C_COMMAS] = { "commas", "symbols", "commas added or removed" },
};

static const struct weft_param drop_params[] = {
	/* clang-format off */
	WEFT_PARAM(REAL, struct drop, packets, "0", "0..1", OWN,
		   "probability that a packet is lost with its delimiter; "
		   "EXTOLL: a cell; ATOLL: a flit"),
	WEFT_PARAM(REAL, struct drop, credits, "0", "0..1", OWN,
		   "probability that a credit is lost; EXTOLL: a control cell "
		   "with credits"),
	WEFT_PARAM(REAL, struct drop, controls, "0", "0..1", OWN,
		   "EXTOLL: probability that a control cell is lost; ATOLL: "
		   "a state flit"),
	WEFT_PARAM(REAL, struct drop, repeat, "0", "0..1", OWN,
		   "probability that a packet or cell comes twice"),
	WEFT_PARAM(REAL, struct drop, comma_add, "0", "0..1", OWN,
		   "FORTH: probability of one comma more before a delimiter"),
	WEFT_PARAM(REAL, struct drop, comma_del, "0", "0..1", OWN,
		   "FORTH: probability that a delimiter loses its comma"),
	WEFT_PARAM(ENUM, struct drop, target, "packet",
		   "packet|control|ack|nack|credit|refresh", OWN,
		   "what `frame` counts; FORTH: packets, else EXTOLL's cells "
		   "or these control cells"),
	WEFT_PARAM(U64, struct drop, frame, "0", "", OWN,
		   "lose the target with this number (from 1); 0 = none"),
	WEFT_PARAM(U64, struct drop, count, "1", "1..", OWN,
		   "how many from that one on"),
	{ 0 }
	/* clang-format on */
};

/* Types of control cells, by target. */
static const uint8_t types[][2] = {
	{ 0, 0 },
	{ 1, 255 },
	{ EX_C_ACK, EX_C_ACK },
	{ EX_C_NACK, EX_C_NACK },
	{ EX_C_CREDIT, EX_C_CREDIT + 3 },
	{ EX_C_REFRESH, EX_C_REFRESH + 3 },
};

static bool drop_chance(struct weft_comp *c, double p)
{
	return p > 0 && weft_rng_real(&c->rng) < p;
}

static bool drop_target(const struct drop *d, const struct weft_frame *f)
{
	const struct ex_line *l = (const struct ex_line *)&f->u[0];

	if (!d->target)
		return d->line->packet(f);
	if (!d->line->control(f) || d->line->kind == FAULT_ATOLL)
		return d->line->control(f);
	return l->type >= types[d->target][0] && l->type <= types[d->target][1];
}

/* This very one. */
static bool drop_numbered(struct drop *d, const struct weft_frame *f)
{
	if (!drop_target(d, f))
		return false;
	d->seen++;
	return d->frame && d->seen >= d->frame && d->seen < d->frame + d->count;
}

/* Lost as a whole? */
static bool drop_whole(struct weft_comp *c, struct weft_frame *f)
{
	struct drop *d = c->state;
	bool lost = drop_numbered(d, f);

	if (d->line->packet(f)) {
		lost = lost || drop_chance(c, d->packets);
		weft_count(c, C_PACKETS, lost);
	} else if (d->line->control(f)) {
		lost = lost || drop_chance(c, d->controls) ||
		       (d->line->credits(f) && drop_chance(c, d->credits));
		weft_count(c, C_CONTROLS, lost);
		weft_count(c, C_CREDITS, lost ? d->line->credits(f) : 0);
	}
	return lost;
}

/* FORTH: keeps the slots of a packet; a credit-only frame with none left is
 * gone. */
static bool drop_credits(struct weft_comp *c, struct weft_frame *f)
{
	struct drop *d = c->state;
	struct forth_shape s = forth_shape_get(f);
	uint32_t i, kept = 0;

	for (i = 0; i < s.credits; i++) {
		if (drop_chance(c, d->credits))
			weft_count(c, C_CREDITS, 1);
		else
			forth_frame_set_credit(f, kept++,
					       forth_frame_credit(f, i));
	}
	if (kept < s.credits) {
		f->words -= forth_credit_words(s.layout, s.links, s.credits,
					       f->flags & FORTH_F_PACKET) -
			    forth_credit_words(s.layout, s.links, kept,
					       f->flags & FORTH_F_PACKET);
		s.credits = (uint8_t)kept;
		forth_shape_set(f, s);
	}
	return !kept && !(f->flags & FORTH_F_PACKET);
}

/* The line shifts by a symbol: the receiver realigns at the SOP (4.9). */
static void drop_comma(struct weft_comp *c, struct weft_frame *f, bool add)
{
	struct weft_raw *raw = fault_raw(c, f, 1);

	if (add)
		memmove(raw->sym + 1, raw->sym, raw->n++ * sizeof(*raw->sym));
	else
		memmove(raw->sym, raw->sym + 1, --raw->n * sizeof(*raw->sym));
	if (add)
		raw->sym[0] = FORTH_COMMA;
	fault_set(f, raw);
	weft_count(c, C_COMMAS, 1);
}

static void drop_commas(struct weft_comp *c, struct weft_frame *f)
{
	struct drop *d = c->state;

	if (drop_chance(c, d->comma_add))
		drop_comma(c, f, true);
	else if (drop_chance(c, d->comma_del))
		drop_comma(c, f, false);
}

static void drop_repeat(struct weft_comp *c, struct weft_frame *f)
{
	struct weft_frame *twin = weft_frame_dup(f);

	weft_count(c, C_REPEATS, 1);
	twin->time += f->words * f->word_fs;
	weft_filter_pass(c, f);
	weft_filter_pass(c, twin);
}

static void drop_filter(struct weft_comp *c, struct weft_frame *f)
{
	struct drop *d = c->state;
	bool forth = d->line->kind == FAULT_FORTH;

	if (drop_whole(c, f) ||
	    (forth && !f->raw && d->credits > 0 && drop_credits(c, f))) {
		weft_frame_free(f);
		return;
	}
	if (forth)
		drop_commas(c, f);
	if (d->line->packet(f) && drop_chance(c, d->repeat))
		drop_repeat(c, f);
	else
		weft_filter_pass(c, f);
}

static int drop_start(struct weft_comp *c, struct weft_err *err)
{
	struct drop *d = c->state;

	d->line = fault_line(c);
	if (!d->line || (d->line->kind == FAULT_FORTH && d->target) ||
	    (d->line->kind == FAULT_ETH && d->target) ||
	    (d->line->kind == FAULT_ATOLL && d->target > 1))
		return weft_fail(err, EINVAL,
				 "%s: %s.%s has no such frames on its line",
				 c->name, c->on->comp->name, c->on->name);
	return 0;
}

WEFT_COMPONENT(fault_drop, .name = "fault.drop", .kind = WEFT_KIND_FAULT,
	       .doc = "lost, repeated and shifted transmissions",
	       .source = "forth.md 13, extoll.md 9",
	       .state_size = sizeof(struct drop), .params = drop_params,
	       .counters = drop_counters, .n_counters = C_N,
	       .ops = { .start = drop_start, .filter = drop_filter });
