/* SPDX-License-Identifier: Apache-2.0 */
/* Class fault.bits: bits that are wrong, on what leaves through a port
 * (forth.md 13, extoll.md 4.8, T-23): at a rate, or `flips` adjacent bits of
 * one part of the n-th frame that has such a part.
 *
 * FORTH: bits of the bytes; a control symbol with a wrong bit is none any more.
 * With code: 8b10b bits of the 10-bit codes, of idle commas too; a transmission
 * starts with the disparity of an idle line.
 * ATOLL: bits of the characters, the control bit is the last one.
 * Ethernet: bits of the bytes; the FCS tells.
 * EXTOLL: bits of the 10-bit codes, each cell a line of its own; a disparity
 * error that shows only behind its end is not seen. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "link/atoll_wire.h"
#include "link/eth_parts.h"
#include "link/extoll_frame.h"
#include "link/fault.h"
#include "link/flink.h"

enum { LEVEL_FLIT, LEVEL_SYMBOL };
enum { CODE_BYTES, CODE_8B10B, CODE_BITS = 10 };

struct bits {
	double rate;
	uint32_t target, level, code;
	uint64_t frame, count, bit;
	uint32_t flips;
	bool invalid;
	const struct fault_line *line;
	uint64_t seen, skip; /* frames with the part; bits to the next error */
	uint32_t parts;	     /* of this frame that are damaged */
	struct fault_hit *hit;
	uint32_t n_hits, cap_hits;
	uint32_t width; /* bits of a symbol that can be wrong */
	/* idle commas of a FORTH line */
	bool idle;	 /* are hit */
	weft_time_t end; /* from here on the line is idle, as far as known */
	uint64_t word_fs;
};

/* What can be hit: parts by line, or control cells of EXTOLL by type. */
#define F(part) (1u << FORTH_PART_##part)
#define E(part) (1u << EX_PART_##part)
#define A(part) (1u << AT_PART_##part)
#define N(part) (1u << ETH_PART_##part)
static const struct target {
	uint32_t parts[FAULT_KINDS];
	uint8_t type, last;
} targets[] = {
	{ { ~0u, ~0u, ~0u, ~0u }, 0, 0 },
	{ { F(CONTROL), E(FRAME), A(FRAME), N(PREAMBLE) }, 0, 0 },
	{ { F(CREDIT), ~0u, A(STATE) }, EX_C_CREDIT, EX_C_CREDIT + 3 },
	{ { F(HEADER), E(HEADER), A(ROUTE), N(HEADER) }, 0, 0 },
	{ { F(BODY), E(PAYLOAD) | E(CRC), A(PAYLOAD) | A(CRC),
	    N(PAYLOAD) | N(FCS) },
	  0,
	  0 },
	{ { 0, E(CTL), 0 }, 0, 0 },
	{ { 0, E(SEQ), A(SEQ) }, 0, 0 },
	{ { 0, E(LEN), 0 }, 0, 0 },
	{ { 0, E(ROUTE), A(ROUTE) }, 0, 0 },
	{ { 0, E(PAYLOAD), A(PAYLOAD), N(PAYLOAD) }, 0, 0 },
	{ { 0, E(CRC), A(CRC), N(FCS) }, 0, 0 },
	{ { 0, ~0u, A(STATE) }, EX_C_ACK, EX_C_ACK },
	{ { 0, ~0u, 0 }, EX_C_NACK, EX_C_NACK },
	{ { 0, ~0u, 0 }, EX_C_REFRESH, EX_C_REFRESH + 3 },
};
#undef F
#undef E
#undef A
#undef N
#define TARGETS                                                                \
	"any|control|credit|header|body|ctl|seq|len|route|payload|crc|ack|"    \
	"nack|refresh"

enum {
	C_FLIPPED,
	C_HIT,
	C_CONTROL,
	C_CREDIT,
	C_HEADER,
	C_BODY,
	C_FILL,
	C_CTL,
	C_SEQ,
	C_LEN,
	C_ROUTE,
	C_PAYLOAD,
	C_CRC,
	C_CELLS,
	C_ACK,
	C_NACK,
	C_REFRESH,
	C_SYMBOLS,
	C_IDLE,
	C_N
};
static const struct weft_counter bits_counters[C_N] = {
	[C_FLIPPED] = { "flipped", "bits", "bits turned over" },
	[C_HIT] = { "hit", "frames", "frames damaged" },
	[C_CONTROL] = { "control", "frames", "with damaged control symbols" },
	[C_CREDIT] = { "credit", "frames",
		       "with damaged credits (EXTOLL: CREDIT cells; ATOLL: "
		       "state flits)" },
	[C_HEADER] = { "header", "frames",
		       "with a damaged header (FORTH: or its CRC)" },
	[C_BODY] = { "body", "frames", "with a damaged body or its CRC" },
	[C_FILL] = { "fill", "frames", "with damaged padding" },
	[C_CTL] = { "ctl", "cells", "with a damaged CTL" },
	[C_SEQ] = { "seq", "cells", "with a damaged SEQ" },
	[C_LEN] = { "len", "cells", "with a damaged LEN" },
	[C_ROUTE] = { "route", "cells", "with a damaged routing flit" },
	[C_PAYLOAD] = { "payload", "cells", "with a damaged payload" },
	[C_CRC] = { "crc", "cells", "with a damaged CRC" },
	[C_CELLS] = { "control_cells", "cells",
		      "control cells damaged behind their first symbol" },
	[C_ACK] = { "ack", "cells", "ACKs damaged" },
	[C_NACK] = { "nack", "cells", "NACKs damaged" },
	[C_REFRESH] = { "refresh", "cells", "credit refreshes damaged" },
	[C_SYMBOLS] = { "symbols", "symbols", "on the line, damaged or not" },
	[C_IDLE] = { "idle", "words", "FORTH: words of idle commas damaged" },
};
static const uint8_t forth_counter[FORTH_PARTS] = {
	[FORTH_PART_CONTROL] = C_CONTROL, [FORTH_PART_CREDIT] = C_CREDIT,
	[FORTH_PART_HEADER] = C_HEADER,	  [FORTH_PART_BODY] = C_BODY,
	[FORTH_PART_FILL] = C_FILL,
};
static const uint8_t ex_counter[EX_PARTS] = {
	[EX_PART_FRAME] = C_CONTROL,   [EX_PART_CTL] = C_CTL,
	[EX_PART_SEQ] = C_SEQ,	       [EX_PART_LEN] = C_LEN,
	[EX_PART_ROUTE] = C_ROUTE,     [EX_PART_HEADER] = C_HEADER,
	[EX_PART_PAYLOAD] = C_PAYLOAD, [EX_PART_CRC] = C_CRC,
	[EX_PART_CONTROL] = C_CELLS,
};
static const uint8_t at_counter[AT_PARTS] = {
	[AT_PART_FRAME] = C_CONTROL, [AT_PART_SEQ] = C_SEQ,
	[AT_PART_ROUTE] = C_ROUTE,   [AT_PART_PAYLOAD] = C_PAYLOAD,
	[AT_PART_CRC] = C_CRC,	     [AT_PART_STATE] = C_CREDIT,
};
static const uint8_t eth_counter[ETH_PARTS] = {
	[ETH_PART_PREAMBLE] = C_CONTROL,
	[ETH_PART_HEADER] = C_HEADER,
	[ETH_PART_PAYLOAD] = C_PAYLOAD,
	[ETH_PART_FCS] = C_CRC,
};
static const struct {
	const uint8_t *counter; /* by part */
	uint32_t n;
} part_of[FAULT_KINDS] = {
	[FAULT_FORTH] = { forth_counter, FORTH_PARTS },
	[FAULT_EXTOLL] = { ex_counter, EX_PARTS },
	[FAULT_ATOLL] = { at_counter, AT_PARTS },
	[FAULT_ETH] = { eth_counter, ETH_PARTS },
};

static const struct weft_param bits_params[] = {
	/* clang-format off */
	WEFT_PARAM(REAL, struct bits, rate, "0", "0..1", OWN,
		   "probability that a bit is wrong"),
	WEFT_PARAM(ENUM, struct bits, target, "any", TARGETS, OWN,
		   "part of the frame that is hit; FORTH: up to body, header "
		   "and body with their CRC; EXTOLL: ack, nack, credit and "
		   "refresh are control cells; ATOLL: credit and ack are "
		   "state flits; Ethernet: control is the preamble"),
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
		   "EXTOLL: damage single symbols, or a stream of all codes; "
		   "both do the same"),
	WEFT_PARAM(ENUM, struct bits, code, "bytes", "bytes|8b10b", OWN,
		   "FORTH: bits of the bytes, or of the 10-bit codes: invalid "
		   "codes, wrong disparity, loss of sync; a rate on any part "
		   "hits idle commas too"),
	{ 0 }
	/* clang-format on */
};

static bool is(const struct bits *b, enum fault_kind kind)
{
	return b->line->kind == kind;
}

/* ---- what is hit ------------------------------------------------------- */

/* Mask of parts of this frame that count. */
static uint32_t bits_parts(const struct bits *b, const struct weft_frame *f)
{
	const struct target *t = &targets[b->target];
	const struct ex_line *l = (const struct ex_line *)&f->u[0];

	if (t->type && is(b, FAULT_EXTOLL) &&
	    (!(f->flags & EX_F_CONTROL) || l->type < t->type ||
	     l->type > t->last))
		return 0;
	return t->parts[b->line->kind];
}

static bool bits_match(uint32_t parts, uint16_t sym)
{
	return parts >> (sym >> FAULT_PART_SHIFT) & 1;
}

static void bits_hit(struct bits *b, uint32_t symbol, uint32_t bit)
{
	if (b->n_hits == b->cap_hits) {
		b->cap_hits = b->cap_hits ? 2 * b->cap_hits : 64;
		b->hit = realloc(b->hit, b->cap_hits * sizeof(*b->hit));
	}
	b->hit[b->n_hits++] = (struct fault_hit){ symbol, bit };
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

static void bits_exact(struct bits *b, const struct weft_raw *raw,
		       uint32_t parts)
{
	uint64_t at = 0, end = b->bit + b->flips;
	uint32_t i, k;

	for (i = 0; i < raw->n; i++) {
		if (!bits_match(parts, raw->sym[i]))
			continue;
		for (k = 0; k < b->width; k++, at++)
			if (at >= b->bit && at < end)
				bits_hit(b, i, k);
	}
}

/* The wrong bits of the next symbol. */
static void bits_symbol(struct weft_comp *c, uint32_t symbol)
{
	struct bits *b = c->state;
	uint32_t k;

	for (k = 0; b->skip < b->width - k; k++) {
		k += (uint32_t)b->skip;
		bits_hit(b, symbol, k);
		b->skip = bits_gap(c);
	}
	b->skip -= b->width - k;
}

static void bits_random(struct weft_comp *c, const struct weft_raw *raw,
			uint32_t parts)
{
	uint32_t i;

	for (i = 0; i < raw->n; i++) {
		if (!bits_match(parts, raw->sym[i]))
			continue;
		bits_symbol(c, i);
	}
}

/* ---- what becomes of it ------------------------------------------------ */

static int hit_order(const void *a, const void *b)
{
	const struct fault_hit *x = a, *y = b;

	return x->symbol < y->symbol ? -1 : x->symbol > y->symbol;
}

static void bits_invalid(const struct bits *b, struct weft_raw *raw)
{
	uint32_t i;

	for (i = 0; i < b->n_hits; i++) {
		uint16_t *s = &raw->sym[b->hit[i].symbol];

		*s = (uint16_t)((*s & ~WEFT_SYM_K) | WEFT_SYM_BAD);
	}
}

/* Eight bits and the control bit. */
static void bits_chars(const struct bits *b, struct weft_raw *raw)
{
	for (uint32_t i = 0; i < b->n_hits; i++)
		raw->sym[b->hit[i].symbol] ^=
			b->hit[i].bit < 8 ? (uint16_t)(0x80 >> b->hit[i].bit)
					  : (uint16_t)WEFT_SYM_K;
}

static void bits_bytes(const struct bits *b, struct weft_raw *raw)
{
	uint32_t i;

	for (i = 0; i < b->n_hits; i++) {
		uint16_t *s = &raw->sym[b->hit[i].symbol];

		*s = (uint16_t)((*s ^ 0x80 >> b->hit[i].bit) & ~WEFT_SYM_K);
	}
}

/* Least significant bit first. */
static void bits_ether(const struct bits *b, struct weft_raw *raw)
{
	for (uint32_t i = 0; i < b->n_hits; i++)
		raw->sym[b->hit[i].symbol] ^= (uint16_t)(1u << b->hit[i].bit);
}

/* Control cells of EXTOLL, by type. */
static void bits_count_type(struct weft_comp *c, const struct weft_frame *f)
{
	static const uint8_t counter[][2] = { { EX_C_ACK, C_ACK },
					      { EX_C_NACK, C_NACK },
					      { EX_C_CREDIT, C_CREDIT },
					      { EX_C_REFRESH, C_REFRESH } };
	const struct ex_line *l = (const struct ex_line *)&f->u[0];
	uint32_t i;

	if (!is(c->state, FAULT_EXTOLL) || !(f->flags & EX_F_CONTROL))
		return;
	for (i = 0; i < sizeof(counter) / sizeof(*counter); i++)
		if (counter[i][0] == l->type ||
		    (l->type >= EX_C_CREDIT && counter[i][0] == (l->type & ~3)))
			weft_count(c, counter[i][1], 1);
}

static void bits_apply(struct weft_comp *c, struct weft_raw *raw)
{
	struct bits *b = c->state;
	uint32_t i, parts = 0;

	weft_count(c, C_FLIPPED, b->n_hits);
	weft_count(c, C_HIT, 1);
	for (i = 0; i < b->n_hits; i++)
		parts |= 1u << (raw->sym[b->hit[i].symbol] >> FAULT_PART_SHIFT);
	for (i = 0; i < part_of[b->line->kind].n; i++)
		weft_count(c, part_of[b->line->kind].counter[i],
			   parts >> i & 1);
	if (is(b, FAULT_FORTH) && (b->code == CODE_BYTES || b->invalid))
		bits_bytes(b, raw);
	if (is(b, FAULT_ATOLL))
		bits_chars(b, raw);
	if (is(b, FAULT_ETH))
		bits_ether(b, raw);
	if (b->invalid) {
		bits_invalid(b, raw);
		return;
	}
	if (b->width != CODE_BITS)
		return;
	qsort(b->hit, b->n_hits, sizeof(*b->hit), hit_order);
	(is(b, FAULT_FORTH)	    ? fault_code_forth
	 : b->level == LEVEL_SYMBOL ? fault_code_stream
				    : fault_code_flit)(raw, b->hit, b->n_hits);
}

/* ---- the filter -------------------------------------------------------- */

/* No error in the whole frame, seen without looking at it. */
static bool bits_over(struct bits *b, const struct weft_frame *f)
{
	uint64_t n = (uint64_t)f->words * b->line->word(f) * b->width;

	if (is(b, FAULT_FORTH) || b->frame || b->target || b->skip < n)
		return false;
	b->skip -= n;
	return true;
}

static bool bits_has_part(const struct weft_raw *raw, uint32_t parts)
{
	uint32_t i;

	for (i = 0; i < raw->n; i++)
		if (bits_match(parts, raw->sym[i]))
			return true;
	return false;
}

static void bits_frame(struct weft_comp *c, struct weft_frame *f)
{
	struct bits *b = c->state;
	uint32_t parts = bits_parts(b, f);
	struct weft_raw *raw = fault_raw(c, f, 1);

	b->n_hits = 0;
	b->seen += bits_has_part(raw, parts);
	if (b->frame && b->seen >= b->frame && b->seen < b->frame + b->count)
		bits_exact(b, raw, parts);
	if (b->rate > 0)
		bits_random(c, raw, parts);
	if (b->n_hits) {
		bits_count_type(c, f);
		bits_apply(c, raw);
		fault_set(f, raw);
	} else {
		free(raw);
	}
}

/* ---- idle commas of a FORTH line --------------------------------------- */

/* Words of commas up to the one with the next wrong bit. */
static uint64_t idle_words(const struct bits *b)
{
	return b->skip / (4 * CODE_BITS);
}

static weft_time_t idle_hit(const struct bits *b)
{
	uint64_t words = idle_words(b);

	return words < (WEFT_NEVER - b->end) / b->word_fs
		       ? b->end + words * b->word_fs
		       : WEFT_NEVER;
}

/* Damages the word that is next. */
static void idle_word(struct weft_comp *c)
{
	struct bits *b = c->state;
	weft_time_t t = idle_hit(b);

	b->skip %= 4 * CODE_BITS;
	b->n_hits = 0;
	for (uint32_t i = 0; i < 4; i++)
		bits_symbol(c, i);
	b->end = t + b->word_fs;
	weft_count(c, C_FLIPPED, b->n_hits);
	weft_count(c, C_IDLE, 1);
	fault_code_idle(c, t > weft_now(c) ? t : weft_now(c) + 1, b->word_fs,
			b->hit, b->n_hits);
}

/* Damaged commas alone keep no run going. */
static void idle_plan(struct weft_comp *c)
{
	weft_time_t t = idle_hit(c->state), next = weft_now(c) + 1;

	if (t != WEFT_NEVER)
		weft_watch(c, 0, t > next ? t - 1 : next);
}

/* Frames that arrive now have been sent: the line is still idle, or the hit
 * has moved. */
static void bits_event(struct weft_comp *c, uint32_t tag)
{
	(void)tag;
	if (idle_hit(c->state) <= weft_now(c) + 1)
		idle_word(c);
	idle_plan(c);
}

/* Commas up to this frame, then its own words. */
static void idle_until(struct weft_comp *c, const struct weft_frame *f)
{
	struct bits *b = c->state;
	uint64_t words;

	while (f->time >= b->word_fs && idle_hit(b) <= f->time - b->word_fs)
		idle_word(c);
	words = f->time > b->end ? (f->time - b->end) / b->word_fs : 0;
	b->skip -= words * 4 * CODE_BITS;
	b->end = f->time + f->words * b->word_fs;
}

static void bits_filter(struct weft_comp *c, struct weft_frame *f)
{
	struct bits *b = c->state;

	if (b->idle)
		idle_until(c, f);
	weft_count(c, C_SYMBOLS, (uint64_t)f->words * b->line->word(f));
	if (!f->raw && bits_parts(b, f) && !bits_over(b, f))
		bits_frame(c, f);
	weft_filter_pass(c, f);
}

static int bits_start(struct weft_comp *c, struct weft_err *err)
{
	struct bits *b = c->state;

	b->line = fault_line(c);
	if (!b->line || !targets[b->target].parts[b->line->kind])
		return weft_fail(err, EINVAL,
				 "%s: %s.%s has no such part on its line",
				 c->name, c->on->comp->name, c->on->name);
	b->skip = b->rate > 0 ? bits_gap(c) : UINT64_MAX;
	b->width = is(b, FAULT_FORTH) && b->code == CODE_8B10B && !b->invalid
			   ? CODE_BITS
			   : b->line->bits;
	b->idle = is(b, FAULT_FORTH) && b->width == CODE_BITS && b->rate > 0 &&
		  !b->target;
	if (!b->idle || !c->on->peer) /* a port may stay open */
		return 0;
	b->word_fs = b->line->word_fs(c->on);
	idle_plan(c);
	return 0;
}

static void bits_fini(struct weft_comp *c)
{
	free(((struct bits *)c->state)->hit);
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
