/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of a FORTH link, put on what leaves through a port (forth.md 13).
 *
 * fault.bits flips bits: at a rate, or `flips` adjacent bits of one part of the
 * n-th frame that has such a part.  fault.drop loses or repeats whole packets
 * and credits and adds or removes single commas. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "link/fault.h"

/* ---- common -------------------------------------------------------------- */

struct weft_raw *fault_raw(struct weft_comp *c, const struct weft_frame *f,
			   uint32_t spare)
{
	uint32_t n = f->raw ? f->raw->n : forth_encode_parts(f, NULL, 0);
	struct weft_raw *raw = weft_raw_new(c->sim, n + spare);

	if (f->raw) {
		memcpy(raw->sym, f->raw->sym, n * sizeof(raw->sym[0]));
		raw->n = n;
	} else {
		raw->n = forth_encode_parts(f, raw->sym, n);
	}
	return raw;
}

void fault_set(struct weft_frame *f, struct weft_raw *raw)
{
	uint32_t i;

	for (i = 0; i < raw->n; i++)
		raw->sym[i] &= (1u << FORTH_PART_SHIFT) - 1;
	free(f->raw);
	f->raw = raw;
}

/* ---- fault.bits ------------------------------------------------------------
 */

enum { T_ANY, T_CONTROL, T_CREDIT, T_HEADER, T_BODY };

struct bits {
	double rate;
	uint32_t target;
	uint64_t frame, count, bit;
	uint32_t flips;
	bool invalid;
	uint64_t seen, skip; /* frames with the part; bits to the next error */
	uint32_t parts;	     /* of this frame that are damaged */
};

/* C_PART + enum forth_part: frames damaged in that part. */
enum { C_FLIPPED, C_BITS_HIT, C_PART, C_BITS_N = C_PART + FORTH_PARTS };
static const struct weft_counter bits_counters[C_BITS_N] = {
	[C_FLIPPED] = { "flipped", "bits", "bits turned over" },
	[C_BITS_HIT] = { "hit", "frames", "frames damaged" },
	[C_PART + FORTH_PART_CONTROL] = { "control", "frames",
					  "with damaged control symbols" },
	[C_PART + FORTH_PART_CREDIT] = { "credit", "frames",
					 "with damaged credits" },
	[C_PART + FORTH_PART_HEADER] = { "header", "frames",
					 "with a damaged header or its CRC" },
	[C_PART + FORTH_PART_BODY] = { "body", "frames",
				       "with a damaged body or its CRC" },
	[C_PART +
		FORTH_PART_FILL] = { "fill", "frames", "with damaged padding" },
};

static const struct weft_param bits_params[] = {
	/* clang-format off */
	WEFT_PARAM(REAL, struct bits, rate, "0", "0..1", OWN,
		   "probability that a bit is wrong"),
	WEFT_PARAM(ENUM, struct bits, target, "any",
		   "any|control|credit|header|body", OWN,
		   "part of the frame that is hit; header and body include "
		   "their CRC"),
	WEFT_PARAM(U64, struct bits, frame, "0", "", OWN,
		   "hit the frame with this number (from 1, counting frames "
		   "that have the part); 0 = none"),
	WEFT_PARAM(U64, struct bits, count, "1", "1..", OWN,
		   "how many frames from that one on"),
	WEFT_PARAM(U64, struct bits, bit, "0", "", OWN,
		   "first bit of the part to flip, first on the wire = 0"),
	WEFT_PARAM(U32, struct bits, flips, "1", "1..64", OWN,
		   "adjacent bits to flip"),
	WEFT_PARAM(BOOL, struct bits, invalid, "no", "", OWN,
		   "make the symbols invalid codes instead"),
	{ 0 }
	/* clang-format on */
};

static bool bits_match(const struct bits *b, uint16_t sym)
{
	uint32_t part = sym >> FORTH_PART_SHIFT;

	switch (b->target) {
	case T_CONTROL:
		return part == FORTH_PART_CONTROL;
	case T_CREDIT:
		return part == FORTH_PART_CREDIT;
	case T_HEADER:
		return part == FORTH_PART_HEADER;
	case T_BODY:
		return part == FORTH_PART_BODY;
	default:
		return true;
	}
}

/* A control symbol with a wrong bit is no control symbol any more. */
static void bits_flip(struct weft_comp *c, uint16_t *sym, uint32_t bit)
{
	struct bits *b = c->state;

	weft_count(c, C_FLIPPED, 1);
	b->parts |= 1u << (*sym >> FORTH_PART_SHIFT);
	if (b->invalid)
		*sym |= WEFT_SYM_BAD;
	*sym = (uint16_t)((*sym ^ 0x80 >> bit) & ~WEFT_SYM_K);
}

/* Bits until the next error, geometric. */
static uint64_t bits_gap(struct weft_comp *c)
{
	const struct bits *b = c->state;
	double u = 1.0 - weft_rng_real(&c->rng);

	if (b->rate >= 1)
		return 0;
	u = floor(log(u) / log1p(-b->rate));
	return u < 1e18 ? (uint64_t)u : (uint64_t)1e18;
}

static void bits_exact(struct weft_comp *c, struct weft_raw *raw)
{
	struct bits *b = c->state;
	uint64_t at = 0, end = b->bit + b->flips;
	uint32_t i, k;

	for (i = 0; i < raw->n; i++)
		for (k = 0; k < 8 && bits_match(b, raw->sym[i]); k++, at++)
			if (at >= b->bit && at < end)
				bits_flip(c, &raw->sym[i], k);
}

static void bits_random(struct weft_comp *c, struct weft_raw *raw)
{
	struct bits *b = c->state;
	uint32_t i, k;

	for (i = 0; i < raw->n; i++) {
		if (!bits_match(b, raw->sym[i]))
			continue;
		for (k = 0; k < 8; k++) {
			if (b->skip--)
				continue;
			b->skip = bits_gap(c);
			bits_flip(c, &raw->sym[i], k);
		}
	}
}

static bool bits_has_part(const struct bits *b, const struct weft_frame *f)
{
	if (b->target == T_HEADER || b->target == T_BODY)
		return f->flags & FORTH_F_PACKET;
	if (b->target == T_CREDIT)
		return forth_shape_get(f).credits;
	return true;
}

static void bits_filter(struct weft_comp *c, struct weft_frame *f)
{
	struct bits *b = c->state;
	struct weft_raw *raw;
	uint32_t i;

	if (f->raw || !bits_has_part(b, f)) {
		weft_filter_pass(c, f);
		return;
	}
	b->seen++;
	b->parts = 0;
	raw = fault_raw(c, f, 0);
	if (b->frame && b->seen >= b->frame && b->seen < b->frame + b->count)
		bits_exact(c, raw);
	if (b->rate > 0)
		bits_random(c, raw);
	for (i = 0; i < FORTH_PARTS; i++)
		weft_count(c, C_PART + i, b->parts >> i & 1);
	if (b->parts) {
		weft_count(c, C_BITS_HIT, 1);
		fault_set(f, raw);
	} else {
		free(raw);
	}
	weft_filter_pass(c, f);
}

static int bits_start(struct weft_comp *c, struct weft_err *err)
{
	struct bits *b = c->state;

	b->skip = b->rate > 0 ? bits_gap(c) : 0;
	return 0;
}

WEFT_COMPONENT(fault_bits, .name = "fault.bits", .kind = WEFT_KIND_FAULT,
	       .doc = "bit errors on a FORTH link", .source = "forth.md 13",
	       .state_size = sizeof(struct bits), .params = bits_params,
	       .counters = bits_counters, .n_counters = C_BITS_N,
	       .ops = { .start = bits_start, .filter = bits_filter });

/* ---- fault.drop -------------------------------------------------------------
 */

struct drop {
	double packets, credits, repeat, comma_add, comma_del;
	uint64_t frame, count, seen;
};

enum { C_PACKETS, C_CREDITS, C_REPEATS, C_COMMAS, C_DROP_N };
static const struct weft_counter drop_counters[C_DROP_N] = {
	[C_PACKETS] = { "packets", "packets", "packets lost" },
	[C_CREDITS] = { "credits", "credits", "credits lost" },
	[C_REPEATS] = { "repeats", "packets", "packets sent twice" },
	[C_COMMAS] = { "commas", "symbols", "commas added or removed" },
};

static const struct weft_param drop_params[] = {
	/* clang-format off */
	WEFT_PARAM(REAL, struct drop, packets, "0", "0..1", OWN,
		   "probability that a packet is lost with its delimiter"),
	WEFT_PARAM(REAL, struct drop, credits, "0", "0..1", OWN,
		   "probability that a credit is lost"),
	WEFT_PARAM(REAL, struct drop, repeat, "0", "0..1", OWN,
		   "probability that a packet comes twice"),
	WEFT_PARAM(REAL, struct drop, comma_add, "0", "0..1", OWN,
		   "probability of one comma more before a delimiter"),
	WEFT_PARAM(REAL, struct drop, comma_del, "0", "0..1", OWN,
		   "probability that a delimiter loses its comma"),
	WEFT_PARAM(U64, struct drop, frame, "0", "", OWN,
		   "lose the packet with this number (from 1); 0 = none"),
	WEFT_PARAM(U64, struct drop, count, "1", "1..", OWN,
		   "how many packets from that one on"),
	{ 0 }
	/* clang-format on */
};

static bool drop_chance(struct weft_comp *c, double p)
{
	return p > 0 && weft_rng_real(&c->rng) < p;
}

static bool drop_packet(struct weft_comp *c, struct weft_frame *f)
{
	struct drop *d = c->state;

	if (!(f->flags & FORTH_F_PACKET))
		return false;
	d->seen++;
	if (d->frame && d->seen >= d->frame && d->seen < d->frame + d->count)
		return true;
	return drop_chance(c, d->packets);
}

/* Keeps the slots of a packet; a credit-only frame with none left is gone. */
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

static void drop_filter(struct weft_comp *c, struct weft_frame *f)
{
	struct drop *d = c->state;
	struct weft_frame *twin;

	if (drop_packet(c, f)) {
		weft_count(c, C_PACKETS, 1);
		weft_frame_free(f);
		return;
	}
	if (!f->raw && d->credits > 0 && drop_credits(c, f)) {
		weft_frame_free(f);
		return;
	}
	if (drop_chance(c, d->comma_add))
		drop_comma(c, f, true);
	else if (drop_chance(c, d->comma_del))
		drop_comma(c, f, false);
	if (!(f->flags & FORTH_F_PACKET) || !drop_chance(c, d->repeat)) {
		weft_filter_pass(c, f);
		return;
	}
	weft_count(c, C_REPEATS, 1);
	twin = weft_frame_dup(f);
	twin->time += f->words * f->word_fs;
	weft_filter_pass(c, f);
	weft_filter_pass(c, twin);
}

WEFT_COMPONENT(fault_drop, .name = "fault.drop", .kind = WEFT_KIND_FAULT,
	       .doc = "lost, repeated and shifted transmissions",
	       .source = "forth.md 13", .state_size = sizeof(struct drop),
	       .params = drop_params, .counters = drop_counters,
	       .n_counters = C_DROP_N, .ops = { .filter = drop_filter });
