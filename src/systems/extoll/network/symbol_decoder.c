/* SPDX-License-Identifier: Apache-2.0 */
/* Receive machine of an EXTOLL line, symbol by symbol (extoll.md 3.10, 4.7),
 * for frames that were damaged. Undamaged frames do not pass through it,
 * because their content is known.
 *
 * K27.7 starts a cell, K28.1 a control cell. Any control symbol in the middle
 * of a cell ends that cell as bad, except K29.7 behind the bytes of a 16-bit
 * cell. A code error inside a cell makes the cell bad. The byte with the code
 * error is kept as decoded. */
#include "base/bytes.h"
#include "systems/extoll/network/frame.h"

#include "base/crc.h"

enum dec_state { IDLE, HEAD, BYTES, TAIL, CONTROL, N_STATES };

static void symbol_decoder_report(struct ex_dec *d, enum ex_verdict verdict)
{
	uint32_t w = ex_flit_bytes(d->width), n = (d->n + w - 1) / w;

	d->h.flits = (uint8_t)n;
	d->h.verdict = d->bad ? EX_BAD_CODE : verdict;
	d->state = IDLE;
	d->heard(d->own, &d->h);
}

/* ---- one function per state, called with a data symbol ---- */

static void on_idle(struct ex_dec *d, uint8_t b)
{
	d->stray += b != EX_D_IDLE;
}

static void on_head(struct ex_dec *d, uint8_t b)
{
	uint32_t max = EX_CELL_BYTES / ex_flit_bytes(d->width);

	switch (d->pos++) {
	case 0:
		d->h.ctl = b;
		if (d->width == EX_W16)
			d->state = BYTES;
		return;
	case 1:
		d->h.arg = b;
		d->h.seq_known = true;
		return;
	default:
		d->len = b + 1u;
		d->bad |= d->len > max;
		d->len = d->len > max ? max : d->len;
		d->state = BYTES;
	}
}

/* A 16-bit cell ends with a control symbol, see ex_dec_symbol(). */
static void on_bytes(struct ex_dec *d, uint8_t b)
{
	if (d->n == EX_CELL_BYTES) {
		d->bad = true;
		symbol_decoder_report(d, EX_BAD_CODE);
		return;
	}
	d->h.bytes[d->n++] = b;
	if (d->width != EX_W32 || d->n < d->len * 4)
		return;
	d->state = TAIL;
	d->pos = 0;
}

static void on_tail(struct ex_dec *d, uint8_t b)
{
	const uint8_t head[3] = { d->h.ctl, d->h.arg, (uint8_t)(d->len - 1) };
	uint32_t crc, got;

	if (d->width == EX_W16 && !d->h.seq_known) {
		d->h.arg = b;
		d->h.seq_known = true;
		return;
	}
	d->tail[d->pos++] = b;
	if (d->pos < 4)
		return;
	got = (uint32_t)get_le(d->tail, 4);
	crc = crc32_reflected(0, head, d->width == EX_W32 ? 3 : 2);
	crc = crc32_reflected(crc, d->h.bytes, d->n);
	symbol_decoder_report(d, got == crc    ? EX_GOOD
				 : got == ~crc ? EX_VOID
					       : EX_BAD_CRC);
}

static void on_control(struct ex_dec *d, uint8_t b)
{
	uint8_t two[2] = { d->h.type, d->h.arg };

	switch (d->pos++) {
	case 0:
		d->h.type = b;
		return;
	case 1:
		d->h.arg = b;
		return;
	default:
		symbol_decoder_report(
			d, crc8_update(0, two, 2) == b ? EX_GOOD : EX_BAD_CRC);
	}
}

static void (*const on_data[N_STATES])(struct ex_dec *d, uint8_t b) = {
	[IDLE] = on_idle, [HEAD] = on_head,	  [BYTES] = on_bytes,
	[TAIL] = on_tail, [CONTROL] = on_control,
};

/* ---- control symbols ---- */

static void symbol_decoder_begin(struct ex_dec *d, enum dec_state state)
{
	d->h = (struct ex_heard){ .control = state == CONTROL };
	d->state = state;
	d->pos = 0;
	d->n = 0;
	d->len = 0;
	d->bad = false;
}

void ex_dec_end(struct ex_dec *d)
{
	if (d->state == IDLE)
		return;
	d->bad = true;
	symbol_decoder_report(d, EX_BAD_CODE);
}

void ex_dec_symbol(struct ex_dec *d, uint32_t sym)
{
	bool bad = sym & WEFT_SYM_BAD;
	uint8_t b = (uint8_t)sym;

	d->code += bad;
	d->run = bad ? d->run + 1 : 0;
	d->worst = d->run > d->worst ? d->run : d->worst;
	if (bad || !(sym & WEFT_SYM_K)) {
		d->bad |= bad;
		if (!bad || d->state != IDLE)
			on_data[d->state](d, (uint8_t)sym);
		return;
	}
	if (d->state == BYTES && b == EX_K_END && d->width == EX_W16) {
		d->bad |= d->n % 2 || !d->n;
		d->state = TAIL;
		d->pos = 0;
		return;
	}
	ex_dec_end(d);
	if (b == EX_K_START)
		symbol_decoder_begin(d, HEAD);
	else if (b == EX_K_CONTROL)
		symbol_decoder_begin(d, CONTROL);
}
