/* SPDX-License-Identifier: Apache-2.0 */
/* Which parameters move a row, and how much. */
#include <math.h>

#include "front/repro/sense.h"

/* Times are whole femtoseconds: a smaller change is rounding. */
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

/* The row passes as built. */
static bool move_breaks(const struct out_row *o, const struct sense_move *m)
{
	return o->verdict.pass &&
	       (sense_breaks(&m->low) || sense_breaks(&m->high));
}

static size_t index_of(const struct repro *r, const struct out_row *o)
{
	size_t n = 0;

	vec_foreach (&r->rows, struct out_row, it) {
		if (it == o)
			return n;
		n += it->set == o->set;
	}
	return n;
}

struct sense_movers sense_movers(const struct sense *s, const struct out_row *o)
{
	size_t row = index_of(s->repro, o);
	struct sense_movers ms = { 0 };

	vec_foreach (&s->found, struct sense_found, f) {
		struct sense_mover m = { f, &f->moves[row], 0 };
		size_t i = 0;

		if (f->job != o->set)
			continue;
		m.size = fmax(fabs(sense_moved(o, &m.move->low)),
			      fabs(sense_moved(o, &m.move->high)));
		if (m.size < ROUNDING && !move_breaks(o, m.move))
			continue;
		while (i < ms.n && ms.at[i].size >= m.size)
			i++;
		vec_insert(&ms, i, m);
	}
	return ms;
}
