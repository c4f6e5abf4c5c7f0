/* SPDX-License-Identifier: Apache-2.0 */
/* Records of a capture, docs/captures.md.
 *
 * Ethernet: destination to FCS.  Others: struct head, the symbols, a bit for
 * each that says "control", and, when flagged, another that says "no valid
 * code".  In a run without payload records end in front of it, and have no
 * bits. */
#include <stdlib.h>
#include <string.h>

#include "front/run/capture_internal.h"

enum { HEAD_VERSION = 2, HEAD_DAMAGED = 1, HEAD_BAD = 2, HEAD_CUT = 4 };

/* In front of the symbols; little-endian. */
struct head {
	uint8_t version, wire, flags, more;
	uint32_t symbols;
	uint32_t words;
	uint32_t word_ps;
	uint32_t line; /* that of the other direction: ^ 1 */
};
_Static_assert(sizeof(struct head) == 20, "as docs/captures.md says");

/* ---- records ---- */

/* Line symbols of a frame: the first n of `all`. */
struct symbols {
	const uint16_t *at;
	uint32_t n, all;
};

static uint32_t capture_rec_encode(struct capture *cap,
				   const struct weft_wire *w,
				   const struct weft_frame *f, uint32_t *all)
{
	if (cap->bare && w->front)
		return w->front(f, cap->sym, cap->cap, all);
	return *all = w->encode(f, cap->sym, cap->cap);
}

/* In cap->sym or where a fault has left them. */
static struct symbols symbols(struct capture *cap, const struct weft_port *p,
			      const struct weft_frame *f)
{
	struct symbols s;

	if (f->raw)
		return (struct symbols){ f->raw->sym, f->raw->n, f->raw->n };
	while ((s.n = capture_rec_encode(cap, p->decl->wire, f, &s.all)) >
	       cap->cap) {
		cap->cap = s.n;
		free(cap->sym);
		cap->sym = calloc(s.n, sizeof(*cap->sym));
		if (!cap->sym)
			abort();
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

/* Bit `shift` of four symbols. */
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

static bool capture_rec_any(const uint16_t *sym, uint32_t n, uint32_t flag)
{
	for (uint32_t i = 0; i < n; i++)
		if (sym[i] & flag)
			return true;
	return false;
}

static void put_symbols(struct tap *t, const struct weft_frame *f,
			const struct symbols *s, weft_time_t at)
{
	bool bad = f->raw && capture_rec_any(s->at, s->n, WEFT_SYM_BAD);
	bool cut = s->n < s->all;
	struct head h = {
		.version = HEAD_VERSION,
		.wire = t->wire->number,
		.flags = (uint8_t)((f->raw ? HEAD_DAMAGED : 0) |
				   (bad ? HEAD_BAD : 0) | (cut ? HEAD_CUT : 0)),
		.more = t->wire->more ? t->wire->more(f, t->cap->upper) : 0,
		.symbols = s->all,
		.words = f->words,
		.word_ps = (uint32_t)(f->word_fs / 1000),
		.line = t->iface,
	};
	/* behind the symbols one bit each, and another when some are no code */
	uint32_t all =
		(uint32_t)sizeof(h) + s->all + (s->all + 7) / 8 * (1u + bad);
	uint32_t len = cut ? (uint32_t)sizeof(h) + s->n : all;
	uint8_t *out = pcapng_record(t->cap->file, t->iface, at, len, all);

	memcpy(out, &h, sizeof(h));
	out += sizeof(h);
	capture_rec_bytes(out, s->at, s->n);
	out += s->n;
	if (!cut)
		out += capture_rec_bitmap(out, s->at, s->n, WEFT_SYM_K);
	if (bad)
		capture_rec_bitmap(out, s->at, s->n, WEFT_SYM_BAD);
}

static void capture_rec_put(struct tap *t, const struct weft_frame *f,
			    weft_time_t at)
{
	struct symbols s;
	uint32_t skip;

	if (pcapng_over(t->cap->file))
		return;
	s = symbols(t->cap, t->port, f);
	if (s.n && t->wire->number)
		put_symbols(t, f, &s, at);
	if (!s.n || t->wire->number)
		return;
	skip = s.n < t->wire->skip ? s.n : t->wire->skip;
	capture_rec_bytes(pcapng_record(t->cap->file, t->iface,
					at + skip * f->word_fs, s.n - skip,
					s.all - skip),
			  s.at + skip, s.n - skip);
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

static void capture_rec_took(struct tap *t, weft_time_t at)
{
	struct capture *cap = t->cap;

	weft_time_t now = weft_now(t->port->comp);

	if (!pcapng_full(cap->file) || cap->writing)
		return;
	/* The one that is telling has nothing of the time before `at`. */
	capture_settle(cap);
	pcapng_write(cap->file, at < now ? at : now);
}

void capture_hear(struct weft_line_listener *tap, const struct weft_frame *f,
		  weft_time_t start)
{
	struct tap *t = (struct tap *)tap;

	capture_rec_put(t, f, start);
	capture_rec_took(t, start);
}

static void capture_filter(struct weft_comp *c, struct weft_frame *f)
{
	struct tap *t = c->state;
	weft_time_t at = f->time - c->on->delay;

	capture_rec_put(t, f, at);
	capture_rec_took(t, at);
	weft_filter_pass(c, f);
}

WEFT_COMPONENT(capture, .name = "capture", .kind = WEFT_KIND_FAULT,
	       .doc = "writes down what passes", .source = "own",
	       .state_size = sizeof(struct tap),
	       .ops = { .filter = capture_filter });
