/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL's cells and control cells for fuzz lines
 * (systems/extoll/network/frame.h). */
#include "base/crc.h"
#include "line.h"
#include "systems/extoll/network/frame.h"

/* Returns the CRC of a cell of n symbols. The CRC covers CTL, SEQ and data, and
 * with a data path of 32 bits also LEN. */
static uint32_t crc_of(const uint16_t *sym, uint32_t n, bool wide)
{
	uint32_t head = wide ? 4 : 2, end = wide ? n - 4 : n - 8, k = 0;
	uint8_t b[FUZZ_SYMBOLS];

	b[k++] = (uint8_t)sym[1];
	b[k++] = (uint8_t)(wide ? sym[2] : sym[n - 7]);
	if (wide)
		b[k++] = (uint8_t)sym[3];
	for (uint32_t i = head; i < end; i++)
		b[k++] = (uint8_t)sym[i];
	return crc32_reflected(0, b, k);
}

static void seal(uint16_t *sym, uint32_t n, bool inverted, bool wide)
{
	uint32_t at = wide ? n - 4 : n - 6, crc;
	uint8_t two[2];

	if (n == 4) { /* A cell of 4 symbols is a control cell. */
		two[0] = (uint8_t)sym[1];
		two[1] = (uint8_t)sym[2];
		sym[3] = crc8_update(0, two, 2);
	}
	if (n < (wide ? 9u : 11u))
		return;
	crc = crc_of(sym, n, wide);
	crc = inverted ? ~crc : crc;
	for (uint32_t i = 0; i < 4; i++)
		sym[at + i] = crc >> 8 * i & 0xff;
}

static uint32_t control(struct fuzz_in *in, uint16_t *sym, uint32_t kind)
{
	static const uint8_t types[] = {
		EX_C_ACK,   EX_C_NACK,	     EX_C_CREDIT, EX_C_REFRESH,
		EX_C_INIT1, EX_C_INIT2,	     EX_C_INIT3,  EX_C_READY,
		EX_C_ACK,   EX_C_CREDIT + 1,
	};

	sym[0] = WEFT_SYM_K | EX_K_CONTROL;
	sym[1] = kind < sizeof(types) ? types[kind] : (uint8_t)take(in, 1);
	sym[2] = (uint8_t)take(in, 1);
	return 4;
}

static uint32_t cell(struct fuzz_in *in, uint16_t *sym, bool wide)
{
	uint32_t ctl = (uint32_t)take(in, 1), n = 0;
	uint32_t flits = 1 + (ctl >> 4) % 8, bytes = flits * (wide ? 4 : 2);

	sym[n++] = WEFT_SYM_K | EX_K_START;
	sym[n++] = ctl & 15;
	if (wide) {
		sym[n++] = (uint8_t)take(in, 1);
		sym[n++] = (uint16_t)(flits - 1);
	}
	for (uint32_t i = 0; i < bytes; i++)
		sym[n++] = (uint8_t)take(in, 1);
	if (!wide) {
		sym[n++] = WEFT_SYM_K | EX_K_END;
		sym[n++] = (uint8_t)take(in, 1);
	}
	n += 4;
	if (!wide) {
		sym[n++] = WEFT_SYM_K | EX_K_COMMA;
		sym[n++] = EX_D_IDLE;
	}
	return n;
}

static uint32_t forge(struct fuzz_in *in, uint16_t *sym, bool wide)
{
	uint32_t kind = (uint32_t)take(in, 1) % 16, n;

	n = kind < 13 ? control(in, sym, kind) : cell(in, sym, wide);
	seal(sym, n, kind == 15, wide);
	return n;
}

static void heard(void *own, const struct ex_heard *h)
{
	enum fuzz_passes *what = own;

	if (h->verdict > EX_VOID)
		return;
	if (!h->control)
		*what = FUZZ_DATA;
	else if (*what == FUZZ_NOTHING)
		*what = FUZZ_CONTROL;
}

static enum fuzz_passes passes(const struct weft_raw *raw, uint32_t width)
{
	enum fuzz_passes what = FUZZ_NOTHING;
	struct ex_dec d = { .width = width, .heard = heard, .own = &what };

	for (uint32_t i = 0; i < raw->n; i++)
		ex_dec_symbol(&d, raw->sym[i]);
	return what;
}

static enum fuzz_passes passes16(const struct weft_raw *raw)
{
	return passes(raw, EX_W16);
}

static enum fuzz_passes passes32(const struct weft_raw *raw)
{
	return passes(raw, EX_W32);
}

static void seal16(uint16_t *sym, uint32_t n, bool inverted)
{
	seal(sym, n, inverted, false);
}

static void seal32(uint16_t *sym, uint32_t n, bool inverted)
{
	seal(sym, n, inverted, true);
}

static uint32_t forge16(struct fuzz_in *in, uint16_t *sym)
{
	return forge(in, sym, false);
}

static uint32_t forge32(struct fuzz_in *in, uint16_t *sym)
{
	return forge(in, sym, true);
}

const struct fuzz_wire fuzz_wire_ex16 = { seal16, forge16, passes16 };
const struct fuzz_wire fuzz_wire_ex32 = { seal32, forge32, passes32 };
