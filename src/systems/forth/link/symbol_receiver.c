/* SPDX-License-Identifier: Apache-2.0 */
/* Receive machine, symbol by symbol (forth.md 4.9). It handles frames that were
 * damaged on the line, shares of a bundle, and frames whose CRC or end does not
 * match their contents.
 *
 * The line has a comma behind each frame, so that the machine is back in START
 * at the end of each frame. Only loss of sync lasts longer. A truncated payload
 * is cut to whole qwords. */
#include "systems/forth/link/port_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/crc.h"

/* symbols within which FORTH_PORT_BAD_CODES invalid codes end sync */
#define BAD_WINDOW 16

enum rx_state {
	RX_START,
	RX_HEAD,
	RX_HCRC,
	RX_DATA,
	RX_BCRC,
	RX_DISCARD,
	RX_DONE
};

struct line {
	uint16_t *sym;
	uint32_t n, pos;
};

struct walk {
	struct forth_port *l;
	struct weft_frame *f; /* first of the frames that carry the symbols */
	struct line line[FORTH_PORT_LINKS_MAX];
	uint64_t cycle; /* cycle of the first word of f */
	/* the present packet */
	/* sop: index of the delimiter's word in f. shift: number of credit
	 * words behind the delimiter */
	uint32_t sop, shift;
	uint32_t credits; /* credits received since the delimiter */
	uint64_t header;
	uint32_t words; /* beats received since the header began */
	uint32_t got;	/* payload bytes received */
	/* the packet was delivered, so that the owner returns all its words as
	 * credits */
	bool delivered;
	uint8_t data[FORTH_SIZE_MAX * 16 + 64];
};

/* ---- symbols ---- */

static bool is_control(uint16_t sym)
{
	return sym & WEFT_SYM_K;
}

/* Reads the next n bytes in wire order. Returns false and reads nothing if any
 * link has a control symbol or the end of its symbols before the n-th byte. */
static bool symbol_receiver_take(struct walk *w, uint8_t *p, uint32_t n)
{
	uint32_t links = w->l->cfg.links, i, j;

	for (j = 0; j < links; j++) {
		struct line *a = &w->line[j];

		if (a->n - a->pos < n / links)
			return false;
		for (i = 0; i < n / links; i++)
			if (is_control(a->sym[a->pos + i]))
				return false;
	}
	for (i = 0; i < n; i++) {
		struct line *a = &w->line[i % links];

		p[i] = (uint8_t)a->sym[a->pos++];
	}
	return true;
}

/* Handles the decoder's results for the symbols of link j. Wrong disparity is
 * counted, and the symbol is used. Sync ends with the last of
 * FORTH_PORT_BAD_CODES invalid codes within BAD_WINDOW symbols. */
static void line_check(struct walk *w, uint32_t j)
{
	struct forth_port *l = w->l;
	struct line *a = &w->line[j];
	uint64_t *last = l->bad_at[j];

	for (uint32_t i = 0; i < a->n; i++) {
		uint64_t at = w->cycle * 4 + i;
		uint32_t n;

		if (a->sym[i] & WEFT_SYM_DISP) {
			l->count.disparity[j]++;
			a->sym[i] &= (uint16_t)~WEFT_SYM_DISP;
		}
		if (!(a->sym[i] & WEFT_SYM_BAD))
			continue;
		l->count.bad_char[j]++;
		last[l->n_bad[j]++ % FORTH_PORT_BAD_CODES] = at;
		n = l->n_bad[j];
		if (n < FORTH_PORT_BAD_CODES ||
		    at - last[n % FORTH_PORT_BAD_CODES] >= BAD_WINDOW)
			continue;
		l->n_bad[j] = 0;
		l->count.sync_loss[j]++;
		forth_port_out_of_sync(l);
		a->n = i;
		return;
	}
}

/* ---- results of a frame ---- */

static void symbol_receiver_discard(struct walk *w, uint32_t words)
{
	/* number of beats of a packet that the packet's charge does not
	 * cover */
	uint32_t over = w->l->cfg.links / 2;

	if (words > over && !w->delivered)
		forth_port_return(w->l, words - over, w->cycle + w->f->words);
}

static void symbol_receiver_credit(struct walk *w, uint16_t c)
{
	struct forth_port *l = w->l;

	w->credits++;
	/* the inbox has this credit already */
	if (!(w->f->flags & FORTH_F_CREDITS))
		return;
	if (!forth_credit_good(c)) {
		l->count.credit_parity++;
		return;
	}
	forth_port_credit_in(l, w->cycle + w->sop + w->shift + l->cfg.t_crrx, c,
			     0);
}

static struct weft_slice payload_of(struct walk *w, uint32_t len)
{
	struct weft_slice s = weft_slice_new(w->l->comp->sim, len);
	uint8_t *p = weft_slice_data(s);
	uint32_t i;

	for (i = 0; p && i < len; i++)
		p[(i & ~7u) + 7 - (i & 7)] = w->data[i];
	return s;
}

static void symbol_receiver_deliver(struct walk *w, uint32_t bad, uint32_t crc)
{
	struct forth_port *l = w->l;
	struct weft_frame *f = weft_frame_new(l->comp->sim);
	uint32_t size = forth_hdr_size(w->header);
	struct forth_shape s = {
		.layout = (uint8_t)l->cfg.layout,
		.links = (uint8_t)l->cfg.links,
		.wire_len = (uint16_t)forth_port_wire_len(l, size),
	};
	uint32_t len = w->got & ~7u;
	struct forth_port_rx rx = {
		.cycle = w->cycle + w->sop,
		.shift = w->shift,
		.words = w->words + 1 + w->shift,
		.bad = bad,
	};

	f->time = w->f->time + w->sop * w->f->word_fs;
	f->word_fs = w->f->word_fs;
	f->trace_id = w->f->trace_id;
	f->words = rx.words;
	f->flags = FORTH_F_PACKET;
	f->u[FORTH_U_HEADER] = w->header;
	forth_shape_set(f, s);
	if (bad & FORTH_PORT_TRUNC)
		f->flags |= FORTH_F_TRUNC;
	else if (bad)
		f->flags |= FORTH_F_CRC32;
	f->u[FORTH_U_CRC32] = crc;
	f->payload = payload_of(w, len < size * 8 ? len : size * 8);
	w->delivered = true;
	if (bad)
		l->count.body_crc++;
	forth_port_deliver(l, f, &rx);
}

/* ---- states (4.9) ---- */

/* Moves to the symbol behind the next SOP of link j. Counts the data symbols
 * before that SOP. */
static bool find_sop(struct walk *w, uint32_t j, uint32_t *stray_p)
{
	struct line *a = &w->line[j];

	for (; a->pos < a->n; a->pos++) {
		if (a->sym[a->pos] == FORTH_SOP) {
			a->pos++;
			return true;
		}
		*stray_p += !is_control(a->sym[a->pos]);
	}
	return false;
}

static void symbol_receiver_slots(struct walk *w)
{
	uint32_t links = w->l->cfg.links, j;
	uint8_t b[2 * FORTH_PORT_LINKS_MAX];

	if (w->l->cfg.layout == FORTH_PACKED ||
	    !symbol_receiver_take(w, b, 2 * links))
		return;
	for (j = 0; j < links; j++) {
		uint16_t c = (uint16_t)(b[j] << 8 | b[j + links]);

		if (forth_is_credit(c))
			symbol_receiver_credit(w, c);
	}
}

/* Searches for a delimiter on all links. Data without a delimiter is a lost
 * packet, and so is data behind a delimiter on only some links. */
static enum rx_state state_start(struct walk *w)
{
	uint32_t links = w->l->cfg.links, j, found = 0, words = 0;
	uint32_t stray[FORTH_PORT_LINKS_MAX] = { 0 };
	bool sop[FORTH_PORT_LINKS_MAX];

	for (j = 0; j < links; j++)
		found += sop[j] = find_sop(w, j, &stray[j]);
	for (j = 0; j < links; j++) {
		struct line *a = &w->line[j];

		while (found < links && sop[j] && a->pos < a->n &&
		       !is_control(a->sym[a->pos])) {
			a->pos++;
			stray[j]++;
		}
		words = stray[j] / 4 > words ? stray[j] / 4 : words;
	}
	if (words || (found && found < links)) {
		w->l->count.align++;
		symbol_receiver_discard(w, words);
	}
	if (!found)
		return RX_DONE;
	if (found < links)
		return RX_START;
	w->sop = (w->line[0].pos - 1) / 4;
	w->shift = 0;
	w->credits = 0;
	w->words = 0;
	w->got = 0;
	symbol_receiver_slots(w);
	return RX_HEAD;
}

/* Reads units up to the first unit of the header. Leaves that unit in b and its
 * size in *n_p. A unit has 2 bytes in the packed layout, otherwise a beat.
 * Units whose first bit is set carry credits (4.7). Returns false if the packet
 * ends before its header. */
static bool head_unit(struct walk *w, uint8_t *b, uint32_t *n_p)
{
	uint32_t unit =
		w->l->cfg.layout == FORTH_PACKED ? 2 : 4 * w->l->cfg.links;
	uint32_t i, halves = 0;

	while (symbol_receiver_take(w, b, unit)) {
		if (!(b[0] & 0x80)) {
			w->shift += halves / 2;
			*n_p = unit;
			return true;
		}
		if (unit == 2) {
			halves++;
			symbol_receiver_credit(w, (uint16_t)get_be(b, 2));
			continue;
		}
		w->shift++;
		for (i = 0; i < unit; i += 2)
			if (b[i] & 0x80)
				symbol_receiver_credit(
					w, (uint16_t)get_be(b + i, 2));
	}
	return false;
}

static enum rx_state state_head(struct walk *w)
{
	uint8_t b[4 * FORTH_PORT_LINKS_MAX + 8];
	uint32_t links = w->l->cfg.links, n, ended = 0;

	if (!head_unit(w, b, &n)) {
		for (uint32_t j = 0; j < links; j++) {
			const struct line *a = &w->line[j];

			ended += a->pos >= a->n || is_control(a->sym[a->pos]);
		}
		/* a control symbol on only some links of a bundle is an error
		 * of alignment */
		if (ended && ended < links)
			w->l->count.align++;
		else if (!w->credits)
			w->l->count.header_align++;
		return RX_START;
	}
	if (n < 8 && !symbol_receiver_take(w, b + n, 8 - n)) {
		w->l->count.header_align++;
		return RX_START;
	}
	w->header = get_be(b, 8);
	w->words = n < 8 ? 2 : 1;
	return RX_HCRC;
}

static enum rx_state state_hcrc(struct walk *w)
{
	uint32_t unit =
		w->l->cfg.layout == FORTH_PACKED ? 2 : 4 * w->l->cfg.links;
	uint8_t b[4 * FORTH_PORT_LINKS_MAX];

	if (!symbol_receiver_take(w, b, unit)) {
		w->l->count.header_align++;
		return RX_START;
	}
	w->words += w->l->cfg.layout != FORTH_PACKED;
	if (get_be(b, 2) == forth_crc16(w->header))
		return RX_DATA;
	w->l->count.header_crc++;
	if (w->l->ops->bad_header)
		w->l->ops->bad_header(w->l->own, w->l, w->cycle + w->sop);
	return RX_DISCARD;
}

/* Skips the symbols of a packet with a wrong header up to the next control
 * symbol, because the size field cannot be trusted. */
static enum rx_state state_discard(struct walk *w)
{
	uint8_t b[4 * FORTH_PORT_LINKS_MAX];

	while (symbol_receiver_take(w, b, 4 * w->l->cfg.links))
		w->words++;
	symbol_receiver_discard(w, w->words);
	return RX_START;
}

static enum rx_state state_data(struct walk *w)
{
	uint32_t beat = 4 * w->l->cfg.links;
	uint32_t len = forth_port_wire_len(w->l, forth_hdr_size(w->header));

	while (w->got < len) {
		if (!symbol_receiver_take(w, w->data + w->got, beat)) {
			w->l->count.align++;
			symbol_receiver_deliver(
				w, FORTH_PORT_TRUNC | FORTH_PORT_BODY_BAD, 0);
			return RX_START;
		}
		w->got += beat;
		w->words++;
	}
	w->got = len;
	return RX_BCRC;
}

static enum rx_state state_bcrc(struct walk *w)
{
	uint8_t b[4 * FORTH_PORT_LINKS_MAX];
	uint32_t crc = crc32_update(0xFFFFFFFF, w->data, w->got), wrong;
	uint32_t len = forth_hdr_size(w->header) * 8;

	if (!symbol_receiver_take(w, b, 4 * w->l->cfg.links)) {
		w->l->count.align++;
		symbol_receiver_deliver(
			w, FORTH_PORT_TRUNC | FORTH_PORT_BODY_BAD, 0);
		return RX_START;
	}
	w->words++;
	wrong = (uint32_t)get_be(b, 4) ^ crc ^
		forth_crc32_xor(w->l->cfg.crc32_complement);
	if (!wrong) {
		symbol_receiver_deliver(w, 0, crc);
		return RX_START;
	}
	/* The packet loses its padding here and gets new padding when it is
	 * forwarded. Therefore its new CRC must be wrong in the same bits as
	 * the received CRC. */
	if (len < w->got)
		memset(w->data + len, 0, w->got - len);
	symbol_receiver_deliver(
		w, FORTH_PORT_BODY_BAD,
		wrong ^ crc32_update(0xFFFFFFFF, w->data, w->got));
	return RX_START;
}

static enum rx_state (*const states[RX_DONE])(struct walk *w) = {
	[RX_START] = state_start, [RX_HEAD] = state_head,
	[RX_HCRC] = state_hcrc,	  [RX_DATA] = state_data,
	[RX_BCRC] = state_bcrc,	  [RX_DISCARD] = state_discard,
};

/* ---- frames in ---- */

/* Loads the symbols of one link. f is NULL when no frame arrived on the
 * link. */
static void line_load(struct walk *w, uint32_t j, const struct weft_frame *f)
{
	struct line *a = &w->line[j];

	if (!f)
		return;
	a->n = f->raw ? f->raw->n : forth_wire.encode(f, NULL, 0);
	a->sym = malloc((a->n + 1) * sizeof(*a->sym));
	assert(a->sym);
	if (f->raw)
		memcpy(a->sym, f->raw->sym, a->n * sizeof(*a->sym));
	else
		forth_wire.encode(f, a->sym, a->n);
	line_check(w, j);
}

/* Receives the frames f[], one per link, NULL for a link without a frame. At
 * least one is not NULL. */
void forth_port_rx_walk(struct forth_port *l, struct weft_frame *const *f,
			struct weft_frame *first)
{
	struct walk *w = calloc(1, sizeof(*w));
	enum rx_state st = RX_START;
	uint32_t j, words;

	assert(w);
	w->l = l;
	w->f = first;
	w->cycle = weft_clock_cycle(&l->clk, weft_now(l->comp));
	for (j = 0; j < l->cfg.links; j++)
		line_load(w, j, f[j]);
	l->rx_quiet = w->cycle + first->words;
	/* count the words that have symbols, because a line that was cut
	 * delivers fewer words than the frame has */
	words = first->raw ? (first->raw->n + 3) / 4 : first->words;
	words = words < first->words ? words : first->words;
	if (!(first->flags & FORTH_F_IDLE))
		l->count.in_cycles += words;
	while (st != RX_DONE)
		st = states[st](w);
	for (j = 0; j < l->cfg.links; j++)
		free(w->line[j].sym);
	free(w);
	if (l->lost_sync)
		forth_port_arm(l);
}
