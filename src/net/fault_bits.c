/* SPDX-License-Identifier: Apache-2.0 */
/* Class fault.bits flips bits in the frames that leave through a port
 * (forth.md 13, extoll.md 4.8, T-23). It flips random bits at a rate, or
 * `flips` adjacent bits in one part of a frame. That frame is chosen by its
 * number among the frames that have the part.
 *
 * The wire format defines the unit whose bits can be wrong
 * (weft_wire_faults.code): a byte, a character with its control bit, or a
 * 10-bit code. With `code: 8b10b` the unit is a 10-bit code on a wire of bytes,
 * too, and the commas of the idle line can have wrong bits. A transmission
 * starts with the disparity of an idle line. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "net/fault.h"

enum { LEVEL_FLIT, LEVEL_SYMBOL };
enum { CODE_BYTES, CODE_8B10B, CODE_BITS = 10 };

struct bits {
	double rate;
	uint32_t target, level, code;
	uint64_t frame, count, bit;
	uint32_t flips;
	bool invalid;
	const struct weft_wire_faults *wire;
	/* seen counts the frames so far that have the part. skip is the number
	 * of correct bits before the next wrong bit. */
	uint64_t seen, skip;
	struct {
		VEC(struct fault_hit);
	} hits;
	uint32_t width; /* number of bits of a symbol that can be wrong */
	/* The next fields are for the commas of an idle line. */
	bool idle; /* true: idle commas are damaged, too */
	/* end of the latest frame seen, after which the line is idle */
	weft_time_t end;
	uint64_t word_fs;
};

#define TARGETS                                                                \
	"any|control|credit|header|body|ctl|seq|len|route|payload|crc|ack|"    \
	"nack|refresh"
enum { TARGET_ANY };
static const uint8_t target_part[] = {
	WEFT_PARTS,	 WEFT_PART_CONTROL, WEFT_PART_CREDIT, WEFT_PART_HEADER,
	WEFT_PART_BODY,	 WEFT_PART_CTL,	    WEFT_PART_SEQ,    WEFT_PART_LEN,
	WEFT_PART_ROUTE, WEFT_PART_PAYLOAD, WEFT_PART_CRC,    WEFT_PART_ACK,
	WEFT_PART_NACK,	 WEFT_PART_REFRESH,
};

/* Counter C_PART + part counts frames with damage in that part. */
enum { C_FLIPPED, C_HIT, C_PART, C_SYMBOLS = C_PART + WEFT_PARTS, C_IDLE, C_N };
static const struct weft_counter bits_counters[C_N] = {
	[C_FLIPPED] = { "flipped", "bits", "bits turned over" },
	[C_HIT] = { "hit", "frames", "frames damaged" },
	[C_PART + WEFT_PART_CONTROL] = { "control", "frames",
					 "with damaged control symbols" },
	[C_PART + WEFT_PART_CREDIT] = { "credit", "frames",
					"with damaged credits, or CREDIT cells "
					"damaged" },
	[C_PART + WEFT_PART_HEADER] = { "header", "frames",
					"with a damaged header or its CRC" },
	[C_PART + WEFT_PART_BODY] = { "body", "frames",
				      "with a damaged body or its CRC" },
	[C_PART +
		WEFT_PART_FILL] = { "fill", "frames", "with damaged padding" },
	[C_PART + WEFT_PART_CTL] = { "ctl", "cells", "with a damaged CTL" },
	[C_PART + WEFT_PART_SEQ] = { "seq", "cells", "with a damaged SEQ" },
	[C_PART + WEFT_PART_LEN] = { "len", "cells", "with a damaged LEN" },
	[C_PART + WEFT_PART_ROUTE] = { "route", "cells",
				       "with a damaged routing flit" },
	[C_PART + WEFT_PART_PAYLOAD] = { "payload", "cells",
					 "with a damaged payload" },
	[C_PART + WEFT_PART_CRC] = { "crc", "cells", "with a damaged CRC" },
	[C_PART + WEFT_PART_CELL] = { "control_cells", "cells",
				      "control cells damaged behind their "
				      "first symbol" },
	[C_PART + WEFT_PART_ACK] = { "ack", "cells", "ACKs damaged" },
	[C_PART + WEFT_PART_NACK] = { "nack", "cells", "NACKs damaged" },
	[C_PART + WEFT_PART_REFRESH] = { "refresh", "cells",
					 "credit refreshes damaged" },
	[C_SYMBOLS] = { "symbols", "symbols", "on the line, damaged or not" },
	[C_IDLE] = { "idle", "words", "words of idle commas damaged" },
};
static const struct weft_param bits_params[] = {
	/* clang-format off */
	WEFT_PARAM(REAL, struct bits, rate, "0", "0..1", OWN,
		   "probability that a bit is wrong"),
	WEFT_PARAM(ENUM, struct bits, target, "any", TARGETS, OWN,
		   "part of the frame that is hit, of those that its line has "
		   "(docs/faults.md); header and body with their CRC; ack, "
		   "nack, credit and refresh are control cells"),
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
	WEFT_PARAM(ENUM, struct bits, level, "flit", "flit|symbol", OWN,
		   "8b/10b: damage single symbols, or a stream of all codes; "
		   "both do the same"),
	WEFT_PARAM(ENUM, struct bits, code, "bytes", "bytes|8b10b", OWN,
		   "lines with commas: bits of the bytes, or of the 10-bit "
		   "codes: invalid codes, wrong disparity, loss of sync; a "
		   "rate on any part hits idle commas too"),
	{ 0 }
	/* clang-format on */
};

/* ---- parts to hit ---- */

/* Returns the parts of the wire that the parameter `target` names, or 0 if the
 * wire has none of them. */
static uint32_t target_parts(const struct bits *b)
{
	return b->target == TARGET_ANY
		       ? UINT32_MAX >> 1
		       : b->wire->targets[target_part[b->target]];
}

/* Returns the mask of the parts that are hit in this frame. */
static uint32_t bits_parts(const struct bits *b, const struct weft_frame *f)
{
	uint32_t parts = target_parts(b);

	if (parts != WEFT_BY_CELL)
		return parts;
	return b->wire->cell(f) == target_part[b->target] ? parts : 0;
}

static bool bits_match(uint32_t parts, uint16_t sym)
{
	return parts >> (sym >> WEFT_PART_SHIFT) & 1;
}

/* Draws the number of bits until the next error from a geometric distribution,
 * so that one draw replaces a draw per bit. */
static uint64_t bits_gap(struct weft_comp *c)
{
	const struct bits *b = c->state;
	double u = 1.0 - weft_rng_real(&c->rng);

	if (b->rate >= 1)
		return 0;
	u = floor(log(u) / log1p(-b->rate));
	return u < 1e18 ? (uint64_t)u : (uint64_t)1e18;
}

/* Collects the wrong bits of the next symbol of a frame. */
static void bits_symbol(struct weft_comp *c, uint32_t symbol)
{
	struct bits *b = c->state;
	uint32_t k;

	for (k = 0; b->skip < b->width - k; k++) {
		k += (uint32_t)b->skip;
		vec_push(&b->hits, ((struct fault_hit){ symbol, k }));
		b->skip = bits_gap(c);
	}
	b->skip -= b->width - k;
}

/* ---- damage ---- */

static int hit_order(const void *a, const void *b)
{
	const struct fault_hit *x = a, *y = b;

	return x->symbol < y->symbol ? -1 : x->symbol > y->symbol;
}

static void bits_count(struct weft_comp *c, const struct weft_frame *f,
		       const struct weft_raw *raw)
{
	struct bits *b = c->state;
	uint32_t i, parts = 0;
	enum weft_part cell = WEFT_PARTS;

	weft_count(c, C_FLIPPED, b->hits.n);
	weft_count(c, C_HIT, 1);
	for (i = 0; i < b->hits.n; i++)
		parts |= 1u
			 << (raw->sym[b->hits.at[i].symbol] >> WEFT_PART_SHIFT);
	if (b->wire->cell)
		cell = b->wire->cell(f);
	for (i = 0; i < WEFT_PARTS; i++)
		weft_count(c, C_PART + i, (parts >> i & 1) + (cell == i));
}

static void bits_apply(struct bits *b, struct weft_raw *raw)
{
	bool codes = b->width == CODE_BITS && !b->invalid;
	enum weft_line_code code = b->wire->code;

	for (uint32_t i = 0; !codes && i < b->hits.n; i++) {
		uint16_t *s = &raw->sym[b->hits.at[i].symbol];
		uint32_t bit = b->hits.at[i].bit;

		if (code == WEFT_LINE_OCTETS)
			*s ^= (uint16_t)(1u << bit);
		else if (code != WEFT_LINE_8B10B)
			*s ^= (uint16_t)(bit < 8 ? 0x80 >> bit : WEFT_SYM_K);
		if (code == WEFT_LINE_BYTES)
			*s &= (uint16_t)~WEFT_SYM_K;
	}
	for (uint32_t i = 0; b->invalid && i < b->hits.n; i++) {
		uint16_t *s = &raw->sym[b->hits.at[i].symbol];

		*s = (uint16_t)((*s & ~WEFT_SYM_K) | WEFT_SYM_BAD);
	}
	if (codes) {
		qsort(b->hits.at, b->hits.n, sizeof(*b->hits.at), hit_order);
		if (!b->wire->comma && b->level == LEVEL_SYMBOL)
			fault_code_stream(raw, b->hits.at, b->hits.n);
		else
			fault_code_flit(raw, b->hits.at, b->hits.n,
					b->wire->comma);
	}
}

/* ---- the filter ---- */

static void bits_frame(struct weft_comp *c, struct weft_frame *f)
{
	struct bits *b = c->state;
	uint32_t parts = bits_parts(b, f);
	struct weft_raw *raw = fault_raw(c, f, 1);
	uint32_t i, k;
	uint64_t at = 0;
	bool has = false;

	b->hits.n = 0;
	for (i = 0; !has && i < raw->n; i++)
		has = bits_match(parts, raw->sym[i]);
	b->seen += has;
	/* Flips bits `bit` to `bit` + `flips` - 1 of the chosen parts in
	 * `count` frames, from number `frame` on. The numbers count only frames
	 * that have such a part. */
	if (b->frame && b->seen >= b->frame && b->seen < b->frame + b->count)
		for (i = 0; i < raw->n; i++)
			for (k = 0;
			     bits_match(parts, raw->sym[i]) && k < b->width;
			     k++, at++)
				if (at >= b->bit && at < b->bit + b->flips)
					vec_push(&b->hits,
						 ((struct fault_hit){ i, k }));
	for (i = 0; b->rate > 0 && i < raw->n; i++)
		if (bits_match(parts, raw->sym[i]))
			bits_symbol(c, i);
	if (b->hits.n) {
		bits_count(c, f, raw);
		bits_apply(b, raw);
		fault_set(f, raw);
	} else {
		free(raw);
	}
}

/* ---- idle commas ---- */

static weft_time_t idle_hit(const struct bits *b)
{
	/* number of comma words before the next wrong one */
	uint64_t words = b->skip / (4 * CODE_BITS);

	return words < (WEFT_NEVER - b->end) / b->word_fs
		       ? b->end + words * b->word_fs
		       : WEFT_NEVER;
}

/* Sends the next word of idle commas that has an error. */
static void idle_word(struct weft_comp *c)
{
	struct bits *b = c->state;
	weft_time_t t = idle_hit(b);

	b->skip %= 4 * CODE_BITS;
	b->hits.n = 0;
	for (uint32_t i = 0; i < 4; i++)
		bits_symbol(c, i);
	b->end = t + b->word_fs;
	weft_count(c, C_FLIPPED, b->hits.n);
	weft_count(c, C_IDLE, 1);
	fault_code_idle(c, b->wire, t > weft_now(c) ? t : weft_now(c) + 1,
			b->word_fs, b->hits.at, b->hits.n);
}

/* Plans the next damaged comma. Uses weft_watch instead of weft_wake, because
 * damaged commas alone must not keep a run going. */
static void idle_plan(struct weft_comp *c)
{
	weft_time_t t = idle_hit(c->state), next = weft_now(c) + 1;

	if (t != WEFT_NEVER)
		weft_watch(c, 0, t > next ? t - 1 : next);
}

/* Sends the damaged commas that idle_plan() has planned, and plans the next
 * ones. If the planned commas are no longer due, because frames have used the
 * line, only plans them again. */
static void bits_event(struct weft_comp *c, uint32_t tag)
{
	if (idle_hit(c->state) <= weft_now(c) + 1)
		idle_word(c);
	idle_plan(c);
}

static void bits_filter(struct weft_comp *c, struct weft_frame *f)
{
	struct bits *b = c->state;
	uint64_t symbols;

	if (b->idle) {
		/* Subtracts from `skip` the bits of the idle line before this
		 * frame. The bits of the frame are subtracted below. */
		uint64_t words;

		while (f->time >= b->word_fs &&
		       idle_hit(b) <= f->time - b->word_fs)
			idle_word(c);
		words = f->time > b->end ? (f->time - b->end) / b->word_fs : 0;
		b->skip -= words * 4 * CODE_BITS;
		b->end = f->time + f->words * b->word_fs;
	}
	symbols = (uint64_t)f->words * fault_word(b->wire, f);
	weft_count(c, C_SYMBOLS, symbols);
	if (!f->raw && bits_parts(b, f)) {
		/* A frame without a wrong bit is not encoded. */
		if (b->wire->whole_words && !b->frame && !b->target &&
		    b->skip >= symbols * b->width)
			b->skip -= symbols * b->width;
		else
			bits_frame(c, f);
	}
	weft_filter_pass(c, f);
}

static int bits_start(struct weft_comp *c, struct weft_err *err)
{
	static const uint8_t symbol_bits[] = { [WEFT_LINE_BYTES] = 8,
					       [WEFT_LINE_OCTETS] = 8,
					       [WEFT_LINE_CHARS] = 9,
					       [WEFT_LINE_8B10B] = 10 };
	struct bits *b = c->state;

	b->wire = fault_wire(c);
	if (!b->wire || !target_parts(b))
		return weft_fail(err, EINVAL,
				 "%s: %s.%s has no such part on its line",
				 c->name, c->on->comp->name, c->on->name);
	b->skip = b->rate > 0 ? bits_gap(c) : UINT64_MAX;
	b->width = b->wire->comma && b->code == CODE_8B10B && !b->invalid
			   ? CODE_BITS
			   : symbol_bits[b->wire->code];
	b->idle = b->wire->comma && b->width == CODE_BITS && b->rate > 0 &&
		  !b->target;
	if (!b->idle || !c->on->peer) /* an open port has no line */
		return 0;
	b->word_fs = b->wire->word_fs(c->on);
	idle_plan(c);
	return 0;
}

static void bits_fini(struct weft_comp *c)
{
	vec_free(&((struct bits *)c->state)->hits);
}

WEFT_COMPONENT(fault_bits, .name = "fault.bits", .kind = WEFT_KIND_FAULT,
	       .doc = "bit errors on a serial link",
	       .source = "forth.md 13, extoll.md 4.8, hostport.md 2.5",
	       .state_size = sizeof(struct bits), .params = bits_params,
	       .counters = bits_counters, .n_counters = C_N,
	       .ops = { .start = bits_start,
			.filter = bits_filter,
			.event = bits_event,
			.fini = bits_fini });
