/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a run as waves: VCD (IEEE 1364), with strings for states as GTKWave
 * reads them. Variables are the states of machines by name, the levels of
 * queues, and the number of activities that a part does at a time. Components
 * report some changes before their time. Therefore changes are stored and are
 * sorted at the end. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/trace/recs.h"
#include "front/out/file.h"
#include "front/trace/timeline.h"

enum { VARS = 1 << 16, CHANGES_MAX = 50000000, TEXTS = 1 << 10 };

enum wave { WAVE_STATE, WAVE_LEVEL, WAVE_COUNT };

struct var {
	char *comp, *name;
	enum wave kind;
	/* The next fields are used while the file is written. */
	uint32_t code;
	uint64_t value;
	const char *text;
};

struct change {
	weft_time_t time;
	uint32_t var, order; /* order: number among the changes of one time */
	int64_t value;	     /* COUNT: difference to the count before the
			      * change */
	const char *text;    /* a text of struct waves */
};

struct waves {
	struct weft_listener listener;
	struct out_file out;
	FILE *file; /* stream of `out` */
	struct {
		VEC(struct var);
	} vars;
	uint32_t *hash; /* hash table with indices of vars */
	/* Copies of the texts, because components are freed before the file is
	 * written. */
	char *text[TEXTS];
	struct {
		VEC(struct change);
	} changes;
	uint32_t order;
	bool full;
};

/* ---- variables ---- */

static uint32_t var_of(struct waves *w, const struct weft_trace *t,
		       enum wave kind)
{
	uint64_t h = recs_hash(t->comp, t->name, t->comp->name, t->index);
	char name[80];
	uint32_t i = 0;

	if (t->index == WEFT_TRACE_ONE)
		snprintf(name, sizeof(name), "%s", t->name);
	else
		snprintf(name, sizeof(name), "%s%u", t->name, t->index);
	for (; i < VARS && w->hash[(h + i) % VARS]; i++) {
		uint32_t k = w->hash[(h + i) % VARS];
		const struct var *v = &w->vars.at[k - 1];

		if (!strcmp(v->comp, t->comp->name) && !strcmp(v->name, name))
			return k;
	}
	if (i == VARS)
		return 0;
	vec_push(&w->vars, (struct var){ .comp = strdup(t->comp->name),
					 .name = strdup(name),
					 .kind = kind });
	return w->hash[(h + i) % VARS] = (uint32_t)w->vars.n;
}

/* ---- words ---- */

/* Returns a copy of a text, or "more" when the table is full. The table is
 * small, because texts are few. */
static const char *text_of(struct waves *w, const char *text)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (const char *s = text; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3ull;
	for (uint32_t i = 0; i < TEXTS; i++) {
		char **at = &w->text[(h + i) % TEXTS];

		if (!*at)
			*at = strdup(text);
		if (*at && !strcmp(*at, text))
			return *at;
	}
	return "more";
}

/* ---- events that are recorded ---- */

static void waves_change(struct waves *w, uint32_t var, weft_time_t at,
			 int64_t value, const char *text)
{
	if (!var)
		return;
	w->full = w->full || w->changes.n >= CHANGES_MAX;
	if (!w->full)
		vec_push(&w->changes,
			 (struct change){ at, var, w->order++, value, text });
}

static void waves_hear(struct weft_listener *l, const struct weft_trace *t)
{
	struct waves *w = (struct waves *)l;
	uint32_t v;

	if (t->kind == WEFT_TRACE_STATE) {
		waves_change(w, var_of(w, t, WAVE_STATE), t->from, 0,
			     text_of(w, t->text));
	} else if (t->kind == WEFT_TRACE_LEVEL) {
		waves_change(w, var_of(w, t, WAVE_LEVEL), t->from,
			     (int64_t)t->value, NULL);
	} else if (t->kind == WEFT_TRACE_SPAN) {
		v = var_of(w, t, WAVE_COUNT);
		waves_change(w, v, t->from, 1, NULL);
		waves_change(w, v, t->to, -1, NULL);
	}
}

/* ---- writing ---- */

static int change_cmp(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static int var_cmp(const void *a, const void *b)
{
	const struct var *x = *(struct var *const *)a,
			 *y = *(struct var *const *)b;
	int d = strcmp(x->comp, y->comp);

	return d ? d : strcmp(x->name, y->name);
}

/* Writes an identifier, which consists of printable characters. */
static void put_code(FILE *f, uint32_t code)
{
	do
		fputc('!' + (int)(code % 94), f);
	while (code /= 94);
}

/* Leaves the scopes of one name and enters those of another name. */
static void put_scopes(FILE *f, const char *from, const char *to)
{
	/* Scopes at the start of both names stay open. */
	for (;;) {
		size_t n = strcspn(from, "."), m = strcspn(to, ".");

		if (!n || n != m || strncmp(from, to, n))
			break;
		from += n + (from[n] == '.');
		to += n + (to[n] == '.');
	}
	for (size_t n; *from; from += n + (from[n] == '.')) {
		n = strcspn(from, ".");
		fprintf(f, "$upscope $end\n");
	}
	for (size_t n; *to; to += n + (to[n] == '.')) {
		n = strcspn(to, ".");
		fprintf(f, "$scope module %.*s $end\n", (int)n, to);
	}
}

static void put_value(FILE *f, const struct var *v)
{
	bool begun = false;

	if (v->kind == WAVE_STATE) {
		fprintf(f, "s%s ", v->text ? v->text : "-");
	} else {
		fputc('b', f);
		for (int i = 31; i >= 0; i--) {
			begun = begun || v->value >> i & 1 || !i;
			if (begun)
				fputc('0' + (int)(v->value >> i & 1), f);
		}
		fputc(' ', f);
	}
	put_code(f, v->code);
	fputc('\n', f);
}

static void put_head(struct waves *w)
{
	struct var **sorted = calloc(w->vars.n + 1, sizeof(*sorted));
	const char *scope = "";
	uint32_t code = 0;

	if (!sorted)
		abort();
	for (size_t i = 0; i < w->vars.n; i++)
		sorted[i] = &w->vars.at[i];
	if (w->vars.n)
		qsort(sorted, w->vars.n, sizeof(*sorted), var_cmp);
	fprintf(w->file, "$version weft $end\n$timescale 1 fs $end\n");
	for (size_t i = 0; i < w->vars.n; i++) {
		put_scopes(w->file, scope, sorted[i]->comp);
		sorted[i]->code = code++;
		fprintf(w->file, sorted[i]->kind == WAVE_STATE
					 ? "$var string 1 "
					 : "$var integer 32 ");
		put_code(w->file, sorted[i]->code);
		fprintf(w->file, " %s $end\n", sorted[i]->name);
		scope = sorted[i]->comp;
	}
	put_scopes(w->file, scope, "");
	fprintf(w->file, "$enddefinitions $end\n#0\n$dumpvars\n");
	for (size_t i = 0; i < w->vars.n; i++)
		put_value(w->file, sorted[i]);
	fprintf(w->file, "$end\n");
	free(sorted);
}

/* Stores the value of a change. Returns true if it differs from the last
 * value. */
static bool var_set(struct var *v, const struct change *c)
{
	uint64_t was = v->value;

	if (v->kind == WAVE_STATE) {
		if (v->text && !strcmp(v->text, c->text))
			return false;
		v->text = c->text;
		return true;
	}
	v->value = v->kind == WAVE_COUNT ? was + (uint64_t)c->value
					 : (uint64_t)c->value;
	return v->value != was;
}

/* Writes the changes. If a variable changes several times at one moment, only
 * its last value is written. */
static void put_changes(struct waves *w)
{
	struct {
		VEC(uint32_t);
	} touched = { 0 };
	size_t i = 0;

	while (i < w->changes.n) {
		weft_time_t t = w->changes.at[i].time;

		vec_clear(&touched);
		for (; i < w->changes.n && w->changes.at[i].time == t; i++) {
			uint32_t k = w->changes.at[i].var - 1;
			bool there =
				!var_set(&w->vars.at[k], &w->changes.at[i]);

			for (size_t n = 0; n < touched.n && !there; n++)
				there = touched.at[n] == k;
			if (!there)
				vec_push(&touched, k);
		}
		if (touched.n && t)
			fprintf(w->file, "#%" PRIu64 "\n", t);
		for (size_t n = 0; n < touched.n; n++)
			put_value(w->file, &w->vars.at[touched.at[n]]);
	}
	vec_free(&touched);
}

/* ---- the file ---- */

int waves_open(const char *path, struct waves **w_p, struct weft_err *err)
{
	struct waves *w = calloc(1, sizeof(*w));

	if (!w)
		abort();
	if (out_file_open(&w->out, "--waves", path, err)) {
		free(w);
		return -EINVAL;
	}
	w->file = w->out.f;
	w->hash = calloc(VARS, sizeof(*w->hash));
	if (!w->hash)
		abort();
	w->listener.hear = waves_hear;
	*w_p = w;
	return 0;
}

void waves_listen(struct waves *w, struct weft_sim *sim)
{
	weft_sim_listen(sim, &w->listener);
}

int waves_close(struct waves *w, bool keep, struct weft_err *err)
{
	char *path = strdup(w->out.path);
	int ret;

	if (w->changes.n)
		qsort(w->changes.at, w->changes.n, sizeof(*w->changes.at),
		      change_cmp);
	put_head(w);
	put_changes(w);
	ret = out_file_close(&w->out, keep, err);
	if (!ret && keep && w->full)
		ret = weft_fail(
			err, EFBIG,
			"--waves %.200s: more than %d changes: the file ends early: run for a shorter time",
			path, CHANGES_MAX);
	for (size_t i = 0; i < w->vars.n; i++) {
		free(w->vars.at[i].comp);
		free(w->vars.at[i].name);
	}
	vec_free(&w->vars);
	vec_free(&w->changes);
	for (size_t i = 0; i < TEXTS; i++)
		free(w->text[i]);
	free(w->hash);
	free(path);
	free(w);
	return ret;
}
