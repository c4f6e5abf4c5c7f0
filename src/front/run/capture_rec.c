/* SPDX-License-Identifier: Apache-2.0 */
/* Records of a capture, docs/captures.md.
 *
 * A record of Ethernet has the bytes from destination to FCS. A record of
 * another wire has struct head, the symbols, and one bit for each symbol, set
 * for control symbols. If the head has the flag HEAD_BAD, a second bit for each
 * symbol follows, set for invalid codes. In a run without payload a record ends
 * before the payload and has no bits. */
#include <stdlib.h>
#include <string.h>

#include "base/need.h"
#include "front/run/capture_internal.h"

enum { HEAD_VERSION = 2, HEAD_DAMAGED = 1, HEAD_BAD = 2, HEAD_CUT = 4 };

/* Head of a record, before its symbols, in little-endian order. */
struct head {
	uint8_t version, wire, flags, more;
	uint32_t symbols;
	uint32_t words;
	uint32_t word_ps;
	uint32_t line; /* number of the line's direction; the other direction
			* has number ^ 1 */
};
_Static_assert(sizeof(struct head) == 20, "as docs/captures.md says");

/* ---- records ---- */

/* The first n of `all` line symbols of a frame. */
struct symbols {
	const uint16_t *at;
	uint32_t n, all;
};

/* Returns the symbols of a frame. They are in cap->sym, or in `raw` if a fault
 * has changed them. */
static struct symbols symbols(struct capture *cap, const struct weft_port *p,
			      const struct weft_frame *f)
{
	const struct weft_wire *w = p->decl->wire;
	struct symbols s;

	if (f->raw)
		return (struct symbols){ f->raw->sym, f->raw->n, f->raw->n };
	for (;;) {
		if (cap->bare && w->front)
			s.n = w->front(f, cap->sym, cap->cap, &s.all);
		else
			s.n = s.all = w->encode(f, cap->sym, cap->cap);
		if (s.n <= cap->cap)
			break;
		cap->cap = s.n;
		free(cap->sym);
		cap->sym = need(calloc(s.n, sizeof(*cap->sym)));
	}
	s.at = cap->sym;
	return s;
}

static void capture_rec_bytes(uint8_t *restrict out,
			      const uint16_t *restrict sym, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		out[i] = (uint8_t)sym[i];
}

/* Returns bit `shift` of four symbols. */
static uint32_t capture_rec_four(const uint16_t *sym, uint32_t shift)
{
	uint64_t v;

	memcpy(&v, sym, sizeof(v));
	v = v >> shift & 0x0001000100010001;
	return v * 0x0001000200040008 >> 48 & 0xf;
}

static uint32_t capture_rec_bitmap(uint8_t *out, const uint16_t *sym,
				   uint32_t n, uint32_t flag)
{
	uint32_t shift = (uint32_t)__builtin_ctz(flag), i;

	for (i = 0; i + 8 <= n; i += 8)
		out[i / 8] =
			(uint8_t)(capture_rec_four(sym + i, shift) |
				  capture_rec_four(sym + i + 4, shift) << 4);
	if (i < n)
		out[i / 8] = 0;
	for (; i < n; i++)
		out[i / 8] |= (uint8_t)((sym[i] >> shift & 1u) << i % 8);
	return (n + 7) / 8;
}

static void put_symbols(struct tap *t, const struct weft_frame *f,
			const struct symbols *s, weft_time_t at)
{
	bool bad = false, cut = s->n < s->all;
	struct head h = {
		.version = HEAD_VERSION,
		.wire = t->wire->number,
		.more = t->wire->more ? t->wire->more(f, t->cap->upper) : 0,
		.symbols = s->all,
		.words = f->words,
		.word_ps = (uint32_t)(f->word_fs / 1000),
		.line = t->iface,
	};
	uint32_t all, len;
	uint8_t *out;

	for (uint32_t i = 0; f->raw && !bad && i < s->n; i++)
		bad = s->at[i] & WEFT_SYM_BAD;
	h.flags = (uint8_t)((f->raw ? HEAD_DAMAGED : 0) | (bad ? HEAD_BAD : 0) |
			    (cut ? HEAD_CUT : 0));
	/* The symbols are followed by a bit for each symbol, and by a second
	 * bit for each if some symbols are invalid. */
	all = (uint32_t)sizeof(h) + s->all + (s->all + 7) / 8 * (1u + bad);
	len = cut ? (uint32_t)sizeof(h) + s->n : all;
	out = pcapng_record(t->cap->file, t->iface, at, len, all);
	memcpy(out, &h, sizeof(h));
	out += sizeof(h);
	capture_rec_bytes(out, s->at, s->n);
	out += s->n;
	if (!cut)
		out += capture_rec_bitmap(out, s->at, s->n, WEFT_SYM_K);
	if (bad)
		capture_rec_bitmap(out, s->at, s->n, WEFT_SYM_BAD);
}

void capture_hear(struct weft_line_listener *tap, const struct weft_frame *f,
		  weft_time_t at)
{
	struct tap *t = (struct tap *)tap;
	struct capture *cap = t->cap;
	weft_time_t now = weft_now(t->port->comp);
	struct symbols s = { 0 };
	uint32_t skip;

	if (!pcapng_over(cap->file))
		s = symbols(cap, t->port, f);
	if (s.n && t->wire->number) {
		put_symbols(t, f, &s, at);
	} else if (s.n) {
		skip = s.n < t->wire->skip ? s.n : t->wire->skip;
		capture_rec_bytes(pcapng_record(cap->file, t->iface,
						at + skip * f->word_fs,
						s.n - skip, s.all - skip),
				  s.at + skip, s.n - skip);
	}
	if (!pcapng_full(cap->file) || cap->writing)
		return;
	/* The line has just reported a frame at `at`, and will report no
	 * earlier frame. */
	capture_settle(cap);
	pcapng_write(cap->file, at < now ? at : now);
}

/* ---- order ---- */

void capture_settle(struct capture *cap)
{
	cap->writing = true;
	for (size_t i = 0; i < cap->taps.n; i++) {
		struct tap *t = cap->taps.at[i];

		if (t->head.settle)
			t->head.settle(t->port);
	}
	cap->writing = false;
}

static void capture_filter(struct weft_comp *c, struct weft_frame *f)
{
	struct tap *t = c->state;

	capture_hear(&t->head, f, f->time - c->on->delay);
	weft_filter_pass(c, f);
}

WEFT_COMPONENT(capture, .name = "capture", .kind = WEFT_KIND_FAULT,
	       .doc = "writes down what passes", .source = "own",
	       .state_size = sizeof(struct tap),
	       .ops = { .filter = capture_filter });
