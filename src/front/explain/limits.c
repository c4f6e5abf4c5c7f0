/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what limited a run: orders parts of the system by the time they were in
 * use. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/explain/explain.h"

/* A share above this counts as always in use, because some idle time is
 * unavoidable. */
#define FULL 0.9
/* share of time without credits from which a link counts as starved */
#define STARVED 0.2

/* Returns true if the activity `doing` counts as work. Waiting does not count,
 * because a program that waits does not delay other parts. */
static bool is_work(const char *kind, const char *doing)
{
	static const char *const work[] = { "runs", "computes", "bridge",
					    "device" };

	if (strcmp(kind, "host"))
		return true;
	for (size_t i = 0; i < sizeof(work) / sizeof(work[0]); i++)
		if (!strcmp(doing, work[i]))
			return true;
	return false;
}

static const char *kind_of(const char *text)
{
	static const char *const kinds[] = { "bus", "dma", "link", "switch",
					     "host" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(text, kinds[i]))
			return kinds[i];
	return "part";
}

static struct explain_limit *limit_of(struct explain_limits *l,
				      const char *kind, const char *comp,
				      const char *part)
{
	char *name;

	if (asprintf(&name, "%s.%s", comp, part) < 0)
		abort();
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->at[i].name, name)) {
			free(name);
			return &l->at[i];
		}
	vec_push(l, (struct explain_limit){ kind, name, NULL, 0 });
	return &vec_last(l);
}

static int limit_cmp(const void *a, const void *b)
{
	const struct explain_limit *x = a, *y = b;

	if (x->share != y->share)
		return x->share < y->share ? 1 : -1;
	return strcmp(x->name, y->name);
}

void explain_limits(const struct explain *e, struct explain_limits *l)
{
	const struct story *s = &e->story;
	double time = (double)(s->end - s->begin);

	*l = (struct explain_limits){ 0 };
	for (size_t i = 0; i < s->n_uses; i++) {
		const struct story_use *u = &s->uses[i];

		if (is_work(u->kind, u->doing))
			limit_of(l, kind_of(u->kind), u->comp, u->part)
				->share += (double)u->busy / time;
	}
	for (size_t i = 0; i < e->ports.n; i++)
		limit_of(l, "credits", e->ports.at[i].name, "credits")->share =
			(double)e->ports.at[i].blocked / time;
	if (l->n)
		qsort(l->at, l->n, sizeof(*l->at), limit_cmp);
}

void explain_limits_free(struct explain_limits *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->at[i].name);
	vec_free(l);
}

double explain_overlap(const struct explain *e)
{
	const struct story *s = &e->story;
	double sum = 0;

	for (size_t i = 0; i < s->n_sums; i++)
		sum += (double)s->sums[i].total;
	return sum / (double)(s->end - s->begin);
}

bool explain_streams(const struct explain *e)
{
	return explain_overlap(e) > 1.05;
}

/* Returns the share of time in which a line could not send for lack of
 * credits. */
static double limits_starved(const struct explain_limits *l, const char *port)
{
	size_t n = strlen(port);

	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->at[i].kind, "credits") &&
		    !strncmp(l->at[i].name, port, n) &&
		    !strcmp(l->at[i].name + n, ".credits"))
			return l->at[i].share;
	return 0;
}

/* Returns the part that limits the run. If several parts are busy, the order of
 * kinds decides, because some kinds count as busy while they wait. A DMA engine
 * waits for its bus, and a program waits for the bridge. */
const struct explain_limit *explain_bottleneck(const struct explain_limits *l)
{
	static const char *const order[] = { "bus", "link", "switch",
					     "dma", "host", "part" };

	for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++)
		for (size_t i = 0; i < l->n; i++)
			if (!strcmp(l->at[i].kind, order[k]) &&
			    limits_starved(l, l->at[i].name) < STARVED &&
			    l->at[i].share + limits_starved(l, l->at[i].name) >=
				    FULL)
				return &l->at[i];
	for (size_t i = 0; i < l->n; i++)
		if (l->at[i].share >= STARVED &&
		    !strcmp(l->at[i].kind, "credits"))
			return &l->at[i];
	return NULL;
}
