/* SPDX-License-Identifier: Apache-2.0 */
/* ATOLL's flits and states for fuzz lines (systems/atoll/network/wire.h). */
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "line.h"
#include "systems/atoll/network/wire.h"

enum { K_SOH = 0x10, K_SOD = 0x20, K_EOF = 0x30, K_EOP = 0x40, K_STATE = 0x50 };

static bool is_state(uint16_t first)
{
	return (first & ~0xfu) == (WEFT_SYM_K | K_STATE);
}

/* Writes the right CRC, or with `inverted` a wrong CRC, into a state or into
 * the data that follow K_SOD. Other flits have no CRC and stay unchanged. */
static void seal(uint16_t *sym, uint32_t n, bool inverted)
{
	uint8_t b[FUZZ_SYMBOLS];
	uint16_t crc;

	for (uint32_t i = 0; i < n; i++)
		b[i] = (uint8_t)sym[i];
	if (n == AT_STATE_WORDS && is_state(sym[0]))
		sym[2] = crc8_update(0, b, 2) ^ (inverted ? 0xff : 0);
	if (n < AT_DATA_WORDS || sym[0] != (WEFT_SYM_K | K_SOD))
		return;
	crc = crc16_update(0xffff, b + 1, n - 4) ^ (inverted ? 0xffff : 0);
	sym[n - 3] = crc >> 8;
	sym[n - 2] = crc & 0xff;
}

static uint32_t state(struct fuzz_in *in, uint16_t *sym, uint32_t flags)
{
	sym[0] = (uint16_t)(WEFT_SYM_K | K_STATE | flags);
	sym[1] = (uint8_t)take(in, 1);
	return AT_STATE_WORDS;
}

static uint32_t flit(struct fuzz_in *in, uint16_t *sym, uint32_t kind)
{
	uint32_t a = (uint32_t)take(in, 1), len = a & 63, n = 0;
	bool head = kind & 1;

	sym[n++] = WEFT_SYM_K | (head ? K_SOH : K_SOD);
	sym[n++] = (uint8_t)take(in, 1);
	for (uint32_t i = 0; i < len; i++) {
		uint32_t b = (uint32_t)take(in, 1);

		sym[n++] = head ? (uint16_t)(WEFT_SYM_K | at_char(b & 7))
				: (uint16_t)b;
	}
	n += head ? 0 : 2;
	sym[n++] = WEFT_SYM_K | (a >> 7 && !head ? K_EOP : K_EOF);
	return n;
}

static uint32_t forge(struct fuzz_in *in, uint16_t *sym)
{
	uint32_t kind = (uint32_t)take(in, 1), n;

	n = kind & 16 ? flit(in, sym, kind) : state(in, sym, kind & 15);
	seal(sym, n, kind >= 0xf0);
	return n;
}

/* Decodes a copy of the symbols as the receiver would, to see what the receiver
 * accepts. */
static enum fuzz_passes passes(const struct weft_raw *raw)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_frame *f = weft_frame_new(sim);
	enum fuzz_passes what = FUZZ_DATA;

	f->raw = weft_raw_new(sim, raw->n + 1);
	f->raw->n = raw->n;
	memcpy(f->raw->sym, raw->sym, raw->n * sizeof(raw->sym[0]));
	at_decode(f);
	if (at_line(f)->flags & AT_BAD)
		what = FUZZ_NOTHING;
	else if (at_line(f)->kind == AT_STATE)
		what = FUZZ_CONTROL;
	weft_frame_free(f);
	weft_sim_free(sim);
	return what;
}

const struct fuzz_wire fuzz_wire_atoll = { seal, forge, passes };
