/* SPDX-License-Identifier: Apache-2.0 */
/* Stores a result as bytes and reads it again. Reader and writer are the same
 * program, so that the bytes need no version and no byte order. Reading a
 * buffer that is too short gives NULL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/run/run.h"

static void pack_put(FILE *f, const void *p, size_t n)
{
	if (n) /* an empty histogram has no bins */
		fwrite(p, 1, n, f);
}

static void put_u64(FILE *f, uint64_t v)
{
	pack_put(f, &v, sizeof(v));
}

static void put_str(FILE *f, const char *s)
{
	size_t n = strlen(s);

	put_u64(f, n);
	pack_put(f, s, n);
}

static void put_view(FILE *f, const struct view *v)
{
	put_u64(f, v->n);
	pack_put(f, v->end, v->n * sizeof(*v->end));
	put_u64(f, v->n_ports);
	for (size_t i = 0; i < v->n_ports; i++) {
		const struct view_port *p = &v->ports[i];

		put_str(f, p->name);
		put_str(f, p->peer);
		put_str(f, p->kind);
		put_str(f, p->unit);
		put_u64(f, p->n);
		for (uint32_t k = 0; k < VIEW_N; k++) {
			put_u64(f, p->y[k] != NULL);
			pack_put(f, p->y[k],
				 p->y[k] ? v->n * sizeof(uint64_t) : 0);
		}
	}
}

static void put_msg(FILE *f, const struct story_msg *m)
{
	const uint64_t v[] = { m->number, m->begin, m->turn, m->end };

	put_str(f, m->from);
	put_str(f, m->to);
	pack_put(f, v, sizeof(v));
	put_u64(f, m->n_stages);
	for (size_t i = 0; i < m->n_stages; i++) {
		put_str(f, m->stages[i].comp);
		put_str(f, m->stages[i].stage);
		put_u64(f, m->stages[i].end);
	}
}

static void put_story(FILE *f, const struct story *s)
{
	const uint64_t v[] = { s->n_messages, s->begin, s->end, s->programs };

	pack_put(f, v, sizeof(v));
	put_u64(f, s->n_msgs);
	for (size_t i = 0; i < s->n_msgs; i++)
		put_msg(f, &s->msgs[i]);
	put_u64(f, s->n_sums);
	for (size_t i = 0; i < s->n_sums; i++) {
		put_str(f, s->sums[i].comp);
		put_str(f, s->sums[i].stage);
		put_u64(f, s->sums[i].n);
		put_u64(f, s->sums[i].total);
	}
	put_u64(f, s->n_uses);
	for (size_t i = 0; i < s->n_uses; i++) {
		put_str(f, s->uses[i].comp);
		put_str(f, s->uses[i].part);
		put_str(f, s->uses[i].kind);
		put_str(f, s->uses[i].doing);
		put_u64(f, s->uses[i].busy);
	}
}

void *result_pack(const struct weft_result *r, size_t *len_p)
{
	char *buf;
	FILE *f = open_memstream(&buf, len_p);

	if (!f)
		abort();
	put_u64(f, r->n_metrics);
	for (size_t i = 0; i < r->n_metrics; i++) {
		put_str(f, r->metrics[i].name);
		put_str(f, r->metrics[i].unit);
		pack_put(f, &r->metrics[i].value, sizeof(double));
	}
	put_u64(f, r->n_series);
	for (size_t i = 0; i < r->n_series; i++) {
		const struct result_series *s = &r->series[i];

		put_str(f, s->name);
		put_str(f, s->x_unit);
		put_str(f, s->y_unit);
		put_u64(f, s->n);
		pack_put(f, s->x, s->n * sizeof(double));
		pack_put(f, s->y, s->n * sizeof(double));
	}
	put_u64(f, r->n_hists);
	for (size_t i = 0; i < r->n_hists; i++) {
		put_str(f, r->hists[i].name);
		put_str(f, r->hists[i].unit);
		pack_put(f, &r->hists[i].h, sizeof(r->hists[i].h));
		pack_put(f, r->hists[i].h.bin,
			 r->hists[i].h.n_bins * sizeof(*r->hists[i].h.bin));
	}
	put_u64(f, r->n_counters);
	for (size_t i = 0; i < r->n_counters; i++) {
		put_str(f, r->counters[i].name);
		put_str(f, r->counters[i].unit);
		put_u64(f, r->counters[i].value);
	}
	put_u64(f, r->n_manifest);
	for (size_t i = 0; i < r->n_manifest; i++) {
		put_str(f, r->manifest[i].name);
		put_str(f, r->manifest[i].value);
	}
	put_u64(f, r->n_failures);
	for (size_t i = 0; i < r->n_failures; i++)
		put_str(f, r->failures[i]);
	put_u64(f, r->failures_dropped);
	put_view(f, &r->view);
	put_story(f, &r->story);
	fclose(f);
	return buf;
}

/* ---- reading ---- */

struct reader {
	const char *p, *end;
	bool bad;
	struct {
		VEC(char *);
	} strs; /* texts, freed at the end of reading */
};

static bool pack_take(struct reader *r, void *out, size_t n)
{
	if (r->bad || (size_t)(r->end - r->p) < n) {
		r->bad = true;
		memset(out, 0, n);
		return false;
	}
	memcpy(out, r->p, n);
	r->p += n;
	return true;
}

static uint64_t take_u64(struct reader *r)
{
	uint64_t v;

	pack_take(r, &v, sizeof(v));
	return v;
}

static const char *take_str(struct reader *r)
{
	uint64_t n = take_u64(r);
	char *s;

	if (n > (size_t)(r->end - r->p)) {
		r->bad = true;
		n = 0;
	}
	s = calloc(1, n + 1);
	if (!s)
		abort();
	pack_take(r, s, n);
	vec_push(&r->strs, s);
	return s;
}

static void take_series(struct reader *r, struct weft_result *res)
{
	const char *name = take_str(r), *xu = take_str(r), *yu = take_str(r);
	struct result_series *s = result_series_get(res, name, xu, yu);
	uint64_t n = take_u64(r);
	const char *x = r->p, *y;

	if (n > (size_t)(r->end - r->p) / (2 * sizeof(double))) {
		r->bad = true;
		return;
	}
	y = x + n * sizeof(double);
	r->p = y + n * sizeof(double);
	for (uint64_t i = 0; i < n; i++) {
		double xv, yv;

		memcpy(&xv, x + i * sizeof(xv), sizeof(xv));
		memcpy(&yv, y + i * sizeof(yv), sizeof(yv));
		result_series_add(s, xv, yv);
	}
}

static void take_hist(struct reader *r, struct weft_result *res)
{
	const char *name = take_str(r), *unit = take_str(r);
	struct hist *h = result_hist_get(res, name, unit), raw;

	pack_take(r, &raw, sizeof(raw));
	if (r->bad || raw.n_bins > (size_t)(r->end - r->p) / sizeof(*raw.bin)) {
		r->bad = true;
		return;
	}
	hist_fini(h);
	*h = raw;
	h->bin = calloc(raw.n_bins + 1, sizeof(*h->bin));
	if (!h->bin)
		abort();
	pack_take(r, h->bin, raw.n_bins * sizeof(*h->bin));
}

static void take_view(struct reader *r, struct view *v)
{
	uint64_t n = take_u64(r);

	if (n > (size_t)(r->end - r->p) / sizeof(*v->end)) {
		r->bad = true;
		return;
	}
	view_intervals(v, n);
	pack_take(r, v->end, n * sizeof(*v->end));
	for (uint64_t i = take_u64(r); i-- && !r->bad;) {
		const char *name = take_str(r), *peer = take_str(r);
		const char *kind = take_str(r), *unit = take_str(r);
		struct view_port *p = view_port_add(v, name, peer, kind, unit,
						    (uint32_t)take_u64(r));

		for (uint32_t k = 0; k < VIEW_N; k++)
			if (take_u64(r))
				pack_take(r, view_values(v, p, k),
					  n * sizeof(uint64_t));
	}
}

static void take_msg(struct reader *r, struct story *s)
{
	const char *from = take_str(r), *to = take_str(r), *comp, *stage;
	struct story_msg *m = story_msg_add(s, from, to);
	uint64_t v[4];

	pack_take(r, v, sizeof(v));
	m->number = v[0];
	m->begin = v[1];
	m->turn = v[2];
	m->end = v[3];
	for (uint64_t n = take_u64(r); n-- && !r->bad;) {
		comp = take_str(r);
		stage = take_str(r);
		story_stage_add(m, comp, stage, take_u64(r));
	}
}

static void take_story(struct reader *r, struct story *s)
{
	uint64_t v[4];

	pack_take(r, v, sizeof(v));
	s->n_messages = v[0];
	s->begin = v[1];
	s->end = v[2];
	s->programs = v[3];
	for (uint64_t n = take_u64(r); n-- && !r->bad;)
		take_msg(r, s);
	for (uint64_t n = take_u64(r); n-- && !r->bad;) {
		const char *comp = take_str(r), *stage = take_str(r);
		struct story_sum *u = story_sum_add(s, comp, stage);

		u->n = take_u64(r);
		u->total = take_u64(r);
	}
	for (uint64_t n = take_u64(r); n-- && !r->bad;) {
		const char *comp = take_str(r), *part = take_str(r);
		const char *kind = take_str(r), *doing = take_str(r);

		story_use_add(s, comp, part, kind, doing)->busy = take_u64(r);
	}
}

static void take_all(struct reader *r, struct weft_result *res)
{
	const char *a, *b;
	double v;

	for (uint64_t n = take_u64(r); n-- && !r->bad;) {
		a = take_str(r);
		b = take_str(r);
		pack_take(r, &v, sizeof(v));
		result_metric_set(res, a, b, v);
	}
	for (uint64_t n = take_u64(r); n-- && !r->bad;)
		take_series(r, res);
	for (uint64_t n = take_u64(r); n-- && !r->bad;)
		take_hist(r, res);
	for (uint64_t n = take_u64(r); n-- && !r->bad;) {
		a = take_str(r);
		b = take_str(r);
		result_counter_set(res, a, b, take_u64(r));
	}
	for (uint64_t n = take_u64(r); n-- && !r->bad;) {
		a = take_str(r);
		result_param_set(res, a, take_str(r));
	}
	for (uint64_t n = take_u64(r); n-- && !r->bad;)
		result_fail(res, take_str(r));
	res->failures_dropped = take_u64(r);
	take_view(r, &res->view);
	take_story(r, &res->story);
}

struct weft_result *result_unpack(const void *buf, size_t len)
{
	struct reader r = { .p = buf, .end = (const char *)buf + len };
	struct weft_result *res = result_new();

	take_all(&r, res);
	while (r.strs.n)
		free(vec_pop(&r.strs));
	vec_free(&r.strs);
	if (!r.bad)
		return res;
	result_free(res);
	return NULL;
}
