/* SPDX-License-Identifier: Apache-2.0 */
/* Access to the wire format and the symbols of a line with a fault, see
 * fault.h. */
#include "net/fault.h"

#include <stdlib.h>
#include <string.h>

const struct weft_wire_faults *fault_wire(const struct weft_comp *c)
{
	const struct weft_wire *w = c->on->decl->wire;

	return w ? w->faults : NULL;
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
