/* SPDX-License-Identifier: Apache-2.0 */
/* See line.h. One byte of the input describes the fate of each frame: bits
 * [2:0] hold the action, [7:3] its repetitions. */
#include "line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum what { PASS, DROP, REPEAT, CHANGE, SEAL, NOISE, FORGE, FRONT };

void fuzz_must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

static struct weft_raw *symbols(struct weft_comp *c, const struct weft_frame *f)
{
	struct weft_raw *raw = weft_raw_new(c->sim, FUZZ_SYMBOLS);

	raw->n = c->on->decl->wire->encode(f, raw->sym, FUZZ_SYMBOLS / 2);
	return raw;
}

static void set(struct weft_frame *f, struct weft_raw *raw)
{
	free(f->raw);
	f->raw = raw;
}

/* Changes up to n symbols. A number from the input selects for each symbol
 * whether one bit, the low byte or the whole symbol changes. */
static void change(struct fuzz_line *l, struct weft_raw *raw, uint32_t n)
{
	while (n-- && raw->n) {
		uint32_t a = (uint32_t)take(&l->in, 2);
		uint16_t *s = &raw->sym[(a >> 2 & 127) % raw->n];

		if (!(a & 3))
			*s = (uint16_t)take(&l->in, 2) & 0x3ff;
		else if (a & 1)
			*s ^= (uint16_t)(1u << (a >> 9 & 7));
		else
			*s = (uint16_t)((*s & ~0xffu) | take(&l->in, 1));
	}
}

/* Counts a changed or forged frame that the receiver would accept. Data frames
 * count in `sealed`, control frames in `forged`. */
static void judge(struct fuzz_line *l, const struct weft_raw *raw)
{
	enum fuzz_passes what = l->wire->passes(raw);

	l->sealed += what == FUZZ_DATA;
	l->forged += what == FUZZ_CONTROL;
}

static bool differs(struct weft_comp *c, const struct weft_frame *f,
		    const struct weft_raw *raw)
{
	struct weft_raw *was = symbols(c, f);
	bool same = was->n == raw->n &&
		    !memcmp(was->sym, raw->sym, raw->n * sizeof(raw->sym[0]));

	free(was);
	return !same;
}

static void changed(struct weft_comp *c, struct weft_frame *f, uint32_t n,
		    bool seal)
{
	struct fuzz_line *l = *(struct fuzz_line **)c->state;
	struct weft_raw *raw = symbols(c, f);

	change(l, raw, n % 8);
	if (seal)
		l->wire->seal(raw->sym, raw->n, n >= 24);
	if (differs(c, f, raw))
		judge(l, raw);
	set(f, raw);
}

static void noise(struct weft_comp *c, struct weft_frame *f, uint32_t n)
{
	struct fuzz_line *l = *(struct fuzz_line **)c->state;
	struct weft_raw *raw = weft_raw_new(c->sim, FUZZ_SYMBOLS);

	for (raw->n = 0; raw->n < n; raw->n++)
		raw->sym[raw->n] = (uint16_t)take(&l->in, 2) & 0x3ff;
	judge(l, raw);
	set(f, raw);
}

/* Sends a forged frame at the same time as f. */
static void forge(struct weft_comp *c, const struct weft_frame *f)
{
	struct fuzz_line *l = *(struct fuzz_line **)c->state;
	struct weft_frame *g = weft_frame_dup(f);
	struct weft_raw *raw = weft_raw_new(c->sim, FUZZ_SYMBOLS);

	raw->n = l->wire->forge(&l->in, raw->sym);
	judge(l, raw);
	set(g, raw);
	weft_filter_pass(c, g);
}

/* Puts forged symbols in front of f, in one transmission. */
static void front(struct weft_comp *c, struct weft_frame *f)
{
	struct fuzz_line *l = *(struct fuzz_line **)c->state;
	struct weft_raw *raw = symbols(c, f);
	uint16_t own[FUZZ_SYMBOLS];
	uint32_t n = raw->n;

	memcpy(own, raw->sym, n * sizeof(own[0]));
	raw->n = l->wire->forge(&l->in, raw->sym);
	judge(l, raw);
	memcpy(raw->sym + raw->n, own, n * sizeof(own[0]));
	raw->n += n;
	set(f, raw);
}

static void repeat(struct weft_comp *c, const struct weft_frame *f)
{
	struct weft_frame *twin = weft_frame_dup(f);

	weft_filter_pass(c, twin);
}

/* Applies the action of the input to f. Returns false if f is lost. */
static bool happen(struct weft_comp *c, struct weft_frame *f, uint32_t a)
{
	struct fuzz_line *l = *(struct fuzz_line **)c->state;
	uint32_t n = a >> 3;

	l->harmed += (a & 7) != PASS;
	switch ((enum what)(a & 7)) {
	case PASS:
		l->pass = n;
		return true;
	case DROP:
		weft_frame_free(f);
		return false;
	case REPEAT:
		repeat(c, f);
		return true;
	case CHANGE:
	case SEAL:
		changed(c, f, n, (a & 7) == SEAL);
		return true;
	case NOISE:
		noise(c, f, n);
		return true;
	case FORGE:
		for (uint32_t k = 0; k <= n % 8; k++)
			forge(c, f);
		return true;
	default:
		front(c, f);
		return true;
	}
}

static void line_filter(struct weft_comp *c, struct weft_frame *f)
{
	struct fuzz_line *l = *(struct fuzz_line **)c->state;

	if (l->check)
		l->check();
	if (l->pass) {
		l->pass--;
		weft_filter_pass(c, f);
		return;
	}
	if (l->in.p == l->in.end || happen(c, f, (uint32_t)take(&l->in, 1)))
		weft_filter_pass(c, f);
}

WEFT_COMPONENT(fuzz_line, .name = "fuzz.line", .kind = WEFT_KIND_FAULT,
	       .doc = "faults as an input says",
	       .state_size = sizeof(struct fuzz_line *),
	       .ops = { .filter = line_filter });

void fuzz_line_on(struct fuzz_line *l, struct weft_port *p, const char *name)
{
	struct weft_err err = { 0 };
	struct weft_comp *c =
		weft_sim_add(p->comp->sim, &weft_class_fuzz_line, name, &err);

	fuzz_must(c && !weft_comp_init(c, &err), err.msg);
	*(struct fuzz_line **)c->state = l;
	fuzz_must(!weft_filter_add(p, c, &err), err.msg);
}
