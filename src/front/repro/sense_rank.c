/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the parameters that change a row, and the size of the change. */
#include <math.h>

#include "front/repro/sense.h"

/* A smaller change counts as rounding, because times are whole femtoseconds. */
#define ROUNDING 1e-6

double sense_moved(const struct out_row *o, const struct sense_side *s)
{
	double built = o->verdict.model;

	if (s->end != SENSE_RAN || s->model == built)
		return 0;
	if (!isfinite(s->model))
		return INFINITY;
	return (s->model - built) / (built == 0 ? 1 : fabs(built));
}

bool sense_breaks(const struct sense_side *s)
{
	return s->end == SENSE_RAN && !s->pass && isfinite(s->model);
}

struct sense_movers sense_movers(const struct sense *s, const struct out_row *o)
{
	struct sense_movers ms = { 0 };
	size_t row = 0; /* index of the row in its job */

	for (const struct out_row *it = s->repro->rows.at; it != o; it++)
		row += it->set == o->set;

	vec_foreach (&s->found, struct sense_found, f) {
		struct sense_mover m = { f, &f->moves[row], 0 };
		size_t i = 0;

		if (f->job != o->set)
			continue;
		m.size = fmax(fabs(sense_moved(o, &m.move->low)),
			      fabs(sense_moved(o, &m.move->high)));
		if (m.size < ROUNDING &&
		    !(o->verdict.pass && (sense_breaks(&m.move->low) ||
					  sense_breaks(&m.move->high))))
			continue;
		while (i < ms.n && ms.at[i].size >= m.size)
			i++;
		vec_insert(&ms, i, m);
	}
	return ms;
}
