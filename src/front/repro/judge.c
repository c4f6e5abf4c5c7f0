/* SPDX-License-Identifier: Apache-2.0 */
/* Error, tolerance and verdict of one row. */
#include "front/repro/judge.h"

#include <math.h>
#include <stdio.h>

/* Rounding in the last bits of a double is not a difference. */
#define ROUNDING_PCT 1e-7

/* Of a printed 0 there are no per cent: one unit counts as 100 %. */
static double pct_of(double part, double whole)
{
	return 100 * part / (whole == 0 ? 1 : fabs(whole));
}

struct repro_verdict repro_judge(const struct repro_row *row, double model)
{
	struct repro_verdict v = { .model = model };
	double miss = model - row->paper;

	if (row->rule == REPRO_PCT)
		v.tolerance_pct = row->tol;
	else if (row->rule == REPRO_ABS)
		v.tolerance_pct = pct_of(row->tol, row->paper);
	else if (row->rule == REPRO_AT_LEAST)
		miss = fmin(miss, 0);
	else if (row->rule == REPRO_AT_MOST)
		miss = fmax(miss, 0);
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
		[REPRO_PCT] = "%g %%",	     [REPRO_ABS] = "+-%g",
		[REPRO_EXACT] = "exact",     [REPRO_AT_LEAST] = "at least",
		[REPRO_AT_MOST] = "at most", [REPRO_QUOTED] = "-",
	};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(buf, size, forms[row->rule], row->tol);
#pragma GCC diagnostic pop
}
