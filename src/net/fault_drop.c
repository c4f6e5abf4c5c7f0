/* SPDX-License-Identifier: Apache-2.0 */
/* Class fault.drop: loses or repeats transmissions that leave through a port. A
 * transmission is a whole packet (cell, flit, frame), a credit or a control
 * cell. The fault also adds or removes single commas on lines that have commas
 * (forth.md 13, extoll.md T-24). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "net/fault.h"

struct drop {
	double packets, credits, controls, repeat, comma_add, comma_del;
	uint32_t target;
	uint64_t frame, count, seen;
	const struct weft_wire_faults *wire;
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
		   "probability that a packet (cell, flit) is lost with its "
		   "delimiter"),
	WEFT_PARAM(REAL, struct drop, credits, "0", "0..1", OWN,
		   "probability that a credit is lost, or a control cell with "
		   "credits"),
	WEFT_PARAM(REAL, struct drop, controls, "0", "0..1", OWN,
		   "probability that a control cell (state flit) is lost"),
	WEFT_PARAM(REAL, struct drop, repeat, "0", "0..1", OWN,
		   "probability that a packet or cell comes twice"),
	WEFT_PARAM(REAL, struct drop, comma_add, "0", "0..1", OWN,
		   "lines with commas: probability of one more before a "
		   "delimiter"),
	WEFT_PARAM(REAL, struct drop, comma_del, "0", "0..1", OWN,
		   "lines with commas: probability that a delimiter loses its "
		   "comma"),
	WEFT_PARAM(ENUM, struct drop, target, "packet",
		   "packet|control|ack|nack|credit|refresh", OWN,
		   "what `frame` counts: packets (cells, flits), or control "
		   "cells of this kind, where the line has such"),
	WEFT_PARAM(U64, struct drop, frame, "0", "", OWN,
		   "lose the target with this number (from 1); 0 = none"),
	WEFT_PARAM(U64, struct drop, count, "1", "1..", OWN,
		   "how many from that one on"),
	{ 0 }
	/* clang-format on */
};

enum { TARGET_PACKET, TARGET_CONTROL };

/* Control cells that are dropped for each value of `target`. WEFT_PARTS stands
 * for a target that is not one kind of control cell. */
static const uint8_t cells[] = { WEFT_PARTS,	   WEFT_PARTS,
				 WEFT_PART_ACK,	   WEFT_PART_NACK,
				 WEFT_PART_CREDIT, WEFT_PART_REFRESH };

static bool drop_chance(struct weft_comp *c, double p)
{
	return p > 0 && weft_rng_real(&c->rng) < p;
}

/* Counts the frame if it is a target. Returns true if the whole frame is
 * lost. */
static bool drop_whole(struct weft_comp *c, struct weft_frame *f)
{
	struct drop *d = c->state;
	const struct weft_wire_faults *w = d->wire;
	bool lost = false, target = fault_is_packet(w, f);

	if (d->target != TARGET_PACKET)
		target = fault_is_control(w, f) &&
			 (d->target == TARGET_CONTROL ||
			  w->cell(f) == cells[d->target]);
	if (target) {
		d->seen++;
		lost = d->frame && d->seen >= d->frame &&
		       d->seen < d->frame + d->count;
	}
	if (fault_is_packet(d->wire, f)) {
		lost = lost || drop_chance(c, d->packets);
		weft_count(c, C_PACKETS, lost);
	} else if (fault_is_control(d->wire, f)) {
		lost = lost || drop_chance(c, d->controls) ||
		       (fault_credits(d->wire, f) &&
			drop_chance(c, d->credits));
		weft_count(c, C_CONTROLS, lost);
		weft_count(c, C_CREDITS, lost ? fault_credits(d->wire, f) : 0);
	}
	return lost;
}

/* Implements the argument of weft_wire_faults.lose_credits: returns true if the
 * next credit is lost. */
static bool credit_lost(void *arg)
{
	struct weft_comp *c = arg;
	const struct drop *d = c->state;
	bool lost = drop_chance(c, d->credits);

	weft_count(c, C_CREDITS, lost);
	return lost;
}

/* Adds or removes a comma, which shifts the line by one symbol. The receiver
 * realigns at the SOP (4.9). */
static void drop_comma(struct weft_comp *c, struct weft_frame *f, bool add)
{
	const struct drop *d = c->state;
	struct weft_raw *raw = fault_raw(c, f, 1);

	if (add)
		memmove(raw->sym + 1, raw->sym, raw->n++ * sizeof(*raw->sym));
	else
		memmove(raw->sym, raw->sym + 1, --raw->n * sizeof(*raw->sym));
	if (add)
		raw->sym[0] = d->wire->comma;
	fault_set(f, raw);
	weft_count(c, C_COMMAS, 1);
}

static void drop_filter(struct weft_comp *c, struct weft_frame *f)
{
	struct drop *d = c->state;
	const struct weft_wire_faults *w = d->wire;

	if (drop_whole(c, f) || (w->lose_credits && !f->raw && d->credits > 0 &&
				 w->lose_credits(f, credit_lost, c))) {
		weft_frame_free(f);
		return;
	}
	if (w->comma) {
		if (drop_chance(c, d->comma_add))
			drop_comma(c, f, true);
		else if (drop_chance(c, d->comma_del))
			drop_comma(c, f, false);
	}
	if (fault_is_packet(w, f) && drop_chance(c, d->repeat)) {
		struct weft_frame *twin = weft_frame_dup(f);

		weft_count(c, C_REPEATS, 1);
		twin->time += f->words * f->word_fs;
		weft_filter_pass(c, f);
		weft_filter_pass(c, twin);
	} else {
		weft_filter_pass(c, f);
	}
}

static int drop_start(struct weft_comp *c, struct weft_err *err)
{
	struct drop *d = c->state;

	d->wire = fault_wire(c);
	if (!d->wire || (d->target != TARGET_PACKET && !d->wire->control) ||
	    (d->target > TARGET_CONTROL && !d->wire->cell))
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
