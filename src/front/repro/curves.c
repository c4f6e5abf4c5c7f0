/* SPDX-License-Identifier: Apache-2.0 */
/* Curves around the published numbers: what `weft report` draws, and which of
 * the numbers lie on them. */
#include "front/repro/repro.h"

#include <string.h>

const struct repro_curve repro_curves[] = {
#define CURVE(...) { __VA_ARGS__ },
#include "systems.def"
	{ 0 },
};

const struct repro_mark repro_marks[] = {
#define MARK(...) { __VA_ARGS__ },
#include "systems.def"
	{ 0 },
};

const struct repro_mark *repro_mark_of(const struct repro_row *row)
{
	for (const struct repro_mark *m = repro_marks; m->row; m++)
		if (!strcmp(m->row, row->id))
			return m;
	return NULL;
}
