/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the curves that `weft report` draws, and the published numbers that lie
 * on them. */
#include "front/repro/repro.h"

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
