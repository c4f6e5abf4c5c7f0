/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the error, the tolerance and the verdict of one row. */
#include "front/repro/judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Smaller errors count as 0, because they come from the rounding of doubles. */
#define ROUNDING_PCT 1e-7

/* Returns part / whole in per cent. A published 0 counts as 1, because a
 * division by 0 gives no number. */
static double pct_of(double part, double whole)
{
	return 100 * part / (whole == 0 ? 1 : fabs(whole));
}

/* Returns the distance of v from the range lo..hi, 0 inside. */
static double beyond(double v, double lo, double hi)
{
	return v < lo ? v - lo : v > hi ? v - hi : v - v;
}

struct repro_verdict repro_judge(const struct repro_row *row, double model)
{
	struct repro_verdict v = { .model = model };
	double miss = model - row->paper;

	if (row->rule == REPRO_PCT)
		v.tolerance_pct = row->tol;
	else if (row->rule == REPRO_ABS)
		v.tolerance_pct = pct_of(row->tol, row->paper);
	else if (row->rule == REPRO_ROUNDED)
		v.tolerance_pct = pct_of(0.5 * pow(10, -row->tol), row->paper);
	else if (row->rule == REPRO_AT_LEAST)
		miss = beyond(model, row->paper, row->far);
	else if (row->rule == REPRO_AT_MOST)
		miss = beyond(model, row->far, row->paper);
	v.error_pct = isfinite(model) ? pct_of(miss, row->paper) : NAN;
	if (fabs(v.error_pct) < ROUNDING_PCT)
		v.error_pct = 0;
	v.pass = row->rule == REPRO_QUOTED ||
		 fabs(v.error_pct) <= v.tolerance_pct + ROUNDING_PCT;
	return v;
}

const char *repro_basis_name(enum repro_basis b)
{
	static const char *const names[] = {
		[REPRO_STRUCTURAL] = "structural",
		[REPRO_PREDICTED] = "predicted",
		[REPRO_CALIBRATED] = "calibrated",
		[REPRO_INPUT] = "input",
	};

	return names[b];
}

void repro_rule_text(const struct repro_row *row, char *buf, size_t size)
{
	static const char *const forms[] = {
		[REPRO_PCT] = "%g %%",	       [REPRO_ABS] = "+-%g",
		[REPRO_ROUNDED] = "+-%g",      [REPRO_EXACT] = "exact",
		[REPRO_AT_LEAST] = "up to %g", [REPRO_AT_MOST] = "from %g",
		[REPRO_QUOTED] = "-",
	};
	double tol = row->rule == REPRO_ROUNDED ? 0.5 * pow(10, -row->tol)
		     : row->rule == REPRO_AT_LEAST || row->rule == REPRO_AT_MOST
			     ? row->far
			     : row->tol;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(buf, size, forms[row->rule], tol);
#pragma GCC diagnostic pop
}

bool repro_remark(const struct repro_row *row, char text[REPRO_REMARK])
{
	bool same = row->note && row->why && !strcmp(row->note, row->why);
	const char *parts[] = { row->derived ? "derived, not printed" : NULL,
				row->note, same ? NULL : row->why };
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < 3; i++)
		if (parts[i] && len < REPRO_REMARK)
			len += (size_t)snprintf(text + len, REPRO_REMARK - len,
						"%s%s%s", len ? "; " : "",
						i == 2 ? "tolerance: " : "",
						parts[i]);
	return len > 0;
}
