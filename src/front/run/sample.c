/* SPDX-License-Identifier: Apache-2.0 */
/* Records all counters, and the volume of all links, at intervals of simulated
 * time.
 *
 * The run advances in steps from one sample to the next. No event is added, so
 * that samples do not change the run. Samples are cumulative, as those of the
 * NIC's own sampler (forth.md 2.8). Memory is bounded: when it is full, every
 * second sample is dropped and the interval doubles. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "front/run/run.h"

enum { SAMPLES_MAX = 2048, SAMPLES_MIN = 64, SAMPLER_VALUES = 1 << 24 };

struct line { /* one counter over time */
	const uint64_t *value;
	uint64_t div;
	char *name;
	const char *unit;
	const struct weft_comp *comp;
	/* port whose volume is recorded; NULL to record counter k of comp */
	const struct weft_port *port;
	uint32_t k; /* number of the counter, or PORT_* for a port */
};
enum { PORT_FRAMES, PORT_WORDS, PORT_BUSY };

struct sampler {
	struct weft_sim *sim;
	const struct doc_node *of;
	weft_time_t interval, next;
	struct {
		VEC(struct line);
	} lines;
	size_t cap; /* room for samples, a power of two */
	struct {
		VEC(weft_time_t);
	} times;
	uint64_t *row[SAMPLES_MAX + 1]; /* values of lines.n counters in each
					 * sample */
};

/* ---- selection of counters ---- */

static void sampler_line(struct sampler *s, struct line l, const char *name)
{
	const char *port = l.port ? l.port->name : "";

	if (asprintf(&l.name, "%s.%s%s%s", l.comp->name, port, *port ? "." : "",
		     name) < 0)
		abort();
	if (record_matches(s->of, l.name))
		vec_push(&s->lines, l);
	else
		free(l.name);
}

/* Adds a struct line for each counter of c, and lines for the frames, the words
 * and the busy time of each cabled link port. */
static void sampler_comp(struct sampler *s, const struct weft_comp *c)
{
	for (uint32_t k = 0; k < c->cls->n_counters; k++)
		sampler_line(s,
			     (struct line){ .comp = c,
					    .k = k,
					    .value = &c->counters[k],
					    .unit = c->cls->counters[k].unit,
					    .div = 1 },
			     c->cls->counters[k].name);
	for (uint32_t i = 0; i < c->n_ports; i++) {
		const struct weft_port *p = &c->ports[i];
		struct line l = { .comp = c, .port = p, .div = 1 };

		if (p->kind != WEFT_PORT_LINK || !p->peer)
			continue;
		l.value = &p->out_frames;
		l.unit = "frames";
		l.k = PORT_FRAMES;
		sampler_line(s, l, "frames");
		l.value = &p->out_words;
		l.unit = "words";
		l.k = PORT_WORDS;
		sampler_line(s, l, "words");
		l.value = &p->out_busy;
		l.unit = "ns";
		l.div = WEFT_NS;
		l.k = PORT_BUSY;
		sampler_line(s, l, "busy");
	}
}

/* Refuses a pattern that matches no counter, because it was probably
 * mistyped. */
static int sampler_check(const struct sampler *s, struct weft_err *err)
{
	char **pat = record_patterns(s->of);
	size_t i, k;
	int ret = 0;

	for (i = 0; pat[i] && !ret; i++) {
		for (k = 0; k < s->lines.n; k++)
			if (!strcmp(pat[i], "all") ||
			    !fnmatch(pat[i], s->lines.at[k].name, 0))
				break;
		if (k == s->lines.n)
			ret = doc_fail(
				s->of->at, err,
				"no counter is called %.100s: weft describe CLASS lists those of a component",
				pat[i]);
	}
	for (i = 0; pat[i]; i++)
		free(pat[i]);
	free(pat);
	return ret;
}

int sampler_open(const struct exp_case *c, struct sampler **s_p,
		 struct weft_err *err)
{
	struct sampler *s;

	*s_p = NULL;
	if (!c->sample)
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		abort();
	s->sim = c->sim;
	s->of = c->sample_of;
	s->interval = c->sample;
	s->next = weft_sim_now(c->sim) + s->interval;
	for (uint32_t i = 0; i < weft_sim_count(c->sim); i++)
		sampler_comp(s, weft_sim_at(c->sim, i));
	s->cap = SAMPLES_MAX;
	while (s->cap > SAMPLES_MIN && s->cap * s->lines.n > SAMPLER_VALUES)
		s->cap /= 2;
	if (!sampler_check(s, err)) {
		*s_p = s;
		return 0;
	}
	sampler_free(s);
	return -EINVAL;
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	for (size_t i = 0; i <= SAMPLES_MAX; i++)
		free(s->row[i]);
	for (size_t i = 0; i < s->lines.n; i++)
		free(s->lines.at[i].name);
	vec_free(&s->lines);
	vec_free(&s->times);
	free(s);
}

/* ---- taking samples ---- */

/* Returns the line's value at the current time. */
static uint64_t line_value(const struct line *l)
{
	const struct weft_port *p = l->port;
	uint64_t ahead = 0;

	/* A frame counts in full when it is sent, so the part that has not left
	 * yet is subtracted. weft_port_ahead returns only the time for which
	 * the line is still busy. The number of words is computed from this
	 * time. */
	if (p && l->k != PORT_FRAMES)
		ahead = weft_port_ahead(p);
	if (p && l->k == PORT_WORDS && ahead)
		ahead = p->out_busy ? (uint64_t)((double)p->out_words *
						 (double)ahead /
						 (double)p->out_busy)
				    : 0;
	if (!p && l->comp->cls->ops.ahead)
		ahead = l->comp->cls->ops.ahead(l->comp, l->k);
	return (*l->value - (ahead < *l->value ? ahead : *l->value)) / l->div;
}

static void sampler_take(struct sampler *s)
{
	uint64_t **row = &s->row[s->times.n];

	if (!*row)
		*row = calloc(s->lines.n + 1, sizeof(**row));
	if (!*row)
		abort();
	for (size_t i = 0; i < s->lines.n; i++)
		(*row)[i] = line_value(&s->lines.at[i]);
	vec_push(&s->times, weft_sim_now(s->sim));
}

weft_time_t sampler_due(const struct sampler *s)
{
	return s ? s->next : WEFT_NEVER;
}

void sampler_tick(struct sampler *s)
{
	weft_sim_sample(s->sim);
	sampler_take(s);
	if (s->times.n == s->cap) {
		/* Keeps every second sample. The rows of the dropped samples
		 * are used again. */
		for (size_t i = 0; i < s->times.n / 2; i++) {
			uint64_t *keep = s->row[2 * i + 1];

			s->times.at[i] = s->times.at[2 * i + 1];
			s->row[2 * i + 1] = s->row[i];
			s->row[i] = keep;
		}
		s->times.n /= 2;
		s->interval *= 2;
	}
	s->next = vec_last(&s->times) + s->interval;
}

/* ---- at the end ---- */

void sampler_series(struct sampler *s, struct weft_result *r)
{
	char name[300];

	/* ops.finish has brought all counters up to date. ops.sample must not
	 * be called any more, because ops.finish may have freed the memory that
	 * ops.sample reads. */
	if (s->times.n && vec_last(&s->times) == weft_sim_now(s->sim))
		s->times.n--;
	sampler_take(s);
	for (size_t i = 0; i < s->lines.n; i++) {
		const struct line *l = &s->lines.at[i];
		struct result_series *c;

		/* Without patterns only counters that have changed are kept. */
		if (!s->of && !s->row[s->times.n - 1][i])
			continue;
		snprintf(name, sizeof(name), "sample.%s", l->name);
		c = result_series_get(r, name, "us", l->unit);
		for (size_t k = 0; k < s->times.n; k++)
			result_series_add(
				c, (double)s->times.at[k] / (double)WEFT_US,
				(double)s->row[k][i]);
	}
}
