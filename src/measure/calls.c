/* SPDX-License-Identifier: Apache-2.0 */
#include "base/minmax.h"
#include "base/need.h"
#include "measure/calls.h"

#include <stdlib.h>
#include <string.h>

void calls_rank_add(struct calls *c, const struct calls_rank *r)
{
	c->ranks = grown(c->ranks, c->n_ranks, sizeof(*r));
	c->ranks[c->n_ranks++] = *r;
}

void calls_row_add(struct calls *c, const struct calls_row *r)
{
	c->rows = grown(c->rows, c->n_rows, sizeof(*r));
	c->rows[c->n_rows] = *r;
	c->rows[c->n_rows++].name = need(strdup(r->name));
}

void calls_flow_add(struct calls *c, const struct calls_flow *f)
{
	c->flows = grown(c->flows, c->n_flows, sizeof(*f));
	c->flows[c->n_flows++] = *f;
}

static int row_cmp(const void *a, const void *b)
{
	const struct calls_row *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return strcmp(x->name, y->name);
}

void calls_sort(struct calls *c)
{
	if (c->n_rows)
		qsort(c->rows, c->n_rows, sizeof(*c->rows), row_cmp);
}

void calls_free(struct calls *c)
{
	for (size_t i = 0; i < c->n_rows; i++)
		free(c->rows[i].name);
	free(c->rows);
	free(c->ranks);
	free(c->flows);
	*c = (struct calls){ 0 };
}

/* ---- all ranks ---- */

static int time_cmp(const void *a, const void *b)
{
	const struct calls_row *x = a, *y = b;

	if (x->time != y->time)
		return x->time > y->time ? -1 : 1;
	return strcmp(x->name, y->name);
}

void calls_sum(const struct calls *c, struct calls *to)
{
	for (size_t i = 0; i < c->n_rows; i++) {
		const struct calls_row *r = &c->rows[i];
		struct calls_row *s;
		size_t k = 0;

		while (k < to->n_rows && strcmp(to->rows[k].name, r->name))
			k++;
		if (k == to->n_rows)
			calls_row_add(to,
				      &(struct calls_row){ .name = r->name });
		s = &to->rows[k];
		s->calls += r->calls;
		s->bytes += r->bytes;
		s->time += r->time;
		s->max = max_of(r->max, s->max);
	}
	if (to->n_rows)
		qsort(to->rows, to->n_rows, sizeof(*to->rows), time_cmp);
}

uint64_t calls_measured(const struct calls *c)
{
	uint64_t start = UINT64_MAX, over = 0;

	for (size_t i = 0; i < c->n_ranks; i++) {
		if (!c->ranks[i].over)
			continue;
		start = min_of(c->ranks[i].start, start);
		over = max_of(c->ranks[i].over, over);
	}
	return over > start ? over - start : 0;
}
