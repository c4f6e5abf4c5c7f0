/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the value of a row with the published number. */
#ifndef FRONT_REPRO_JUDGE_H
#define FRONT_REPRO_JUDGE_H

#include "front/repro/repro.h"

struct repro_verdict {
	double model; /* value of the model; NAN: missing */
	/* Distance from the published number, or from the missed bound if the
	 * rule is one-sided. A row passes when |error| <= tolerance. */
	double error_pct;
	double tolerance_pct;
	bool pass;
};

struct repro_verdict repro_judge(const struct repro_row *row, double model);
const char *repro_basis_name(enum repro_basis b);
/* Writes the rule as "1 %", "+-2", "exact" or "up to 7". */
void repro_rule_text(const struct repro_row *row, char *buf, size_t size);
/* Writes the remarks on a row to `text`: whether the published value is
 * derived, the row's note, and the reason for the tolerance. Returns false when
 * the row has no remarks. */
enum { REPRO_REMARK = 512 };
bool repro_remark(const struct repro_row *row, char text[REPRO_REMARK]);

#endif
