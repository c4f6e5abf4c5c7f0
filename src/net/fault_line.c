/* SPDX-License-Identifier: Apache-2.0 */
/* See fault.h: lines and their symbols. */
#include "net/fault.h"

#include <stdlib.h>
#include <string.h>

const struct weft_wire_faults *fault_wire(const struct weft_comp *c)
{
	const struct weft_wire *w = c->on->decl->wire;

	return w ? w->faults : NULL;
}

uint32_t fault_word(const struct weft_wire_faults *w,
		    const struct weft_frame *f)
{
	return w->word ? w->word(f) : 1;
}

bool fault_is_packet(const struct weft_wire_faults *w,
		     const struct weft_frame *f)
{
	return !w->packet || w->packet(f);
}

bool fault_is_control(const struct weft_wire_faults *w,
		      const struct weft_frame *f)
{
	return w->control && w->control(f);
}

uint32_t fault_credits(const struct weft_wire_faults *w,
		       const struct weft_frame *f)
{
	return w->credits ? w->credits(f) : 0;
}

uint32_t fault_symbol_bits(const struct weft_wire_faults *w)
{
	static const uint8_t bits[] = { [WEFT_LINE_BYTES] = 8,
					[WEFT_LINE_OCTETS] = 8,
					[WEFT_LINE_CHARS] = 9,
					[WEFT_LINE_8B10B] = 10 };

	return bits[w->code];
}

struct weft_raw *fault_raw(struct weft_comp *c, const struct weft_frame *f,
			   uint32_t spare)
{
	const struct weft_wire_faults *w = fault_wire(c);
	uint32_t n = f->raw ? f->raw->n : w->encode_parts(f, NULL, 0);
	struct weft_raw *raw = weft_raw_new(c->sim, n + spare);

	if (f->raw) {
		memcpy(raw->sym, f->raw->sym, n * sizeof(raw->sym[0]));
		raw->n = n;
	} else {
		raw->n = w->encode_parts(f, raw->sym, n);
	}
	return raw;
}

void fault_set(struct weft_frame *f, struct weft_raw *raw)
{
	uint32_t i;

	for (i = 0; i < raw->n; i++)
		raw->sym[i] &= (1u << WEFT_PART_SHIFT) - 1;
	free(f->raw);
	f->raw = raw;
}
