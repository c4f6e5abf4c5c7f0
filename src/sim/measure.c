/* SPDX-License-Identifier: Apache-2.0 */
/* Records that components make, and results that the kernel adds at the end of
 * a run: counters, volume per link, and the manifest. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim_internal.h"

struct weft_hist {
	const struct weft_comp *comp;
	char *name, *unit;
	struct hist h;
};

static void full_name(const struct weft_comp *c, const char *name, char *buf,
		      size_t size)
{
	snprintf(buf, size, "%s.%s", c->name, name);
}

void weft_metric(struct weft_comp *c, const char *name, const char *unit,
		 double value)
{
	char full[256];

	full_name(c, name, full, sizeof(full));
	result_metric_set(c->sim->result, full, unit, value);
}

void weft_series_add(struct weft_comp *c, const char *series,
		     const char *x_unit, const char *y_unit, double x, double y)
{
	char full[256];

	full_name(c, series, full, sizeof(full));
	result_series_add(
		result_series_get(c->sim->result, full, x_unit, y_unit), x, y);
}

struct weft_hist *weft_hist(struct weft_comp *c, const char *name,
			    const char *unit)
{
	struct weft_sim *sim = c->sim;
	struct weft_hist *h;

	for (uint32_t i = 0; i < sim->hists.n; i++)
		if (sim->hists.at[i]->comp == c &&
		    !strcmp(sim->hists.at[i]->name, name))
			return sim->hists.at[i];
	h = calloc(1, sizeof(*h));
	assert(h);
	h->comp = c;
	h->name = strdup(name);
	h->unit = strdup(unit);
	hist_init(&h->h, 1.0);
	vec_push(&sim->hists, h);
	return h;
}

void weft_hist_put(struct weft_hist *h, double value)
{
	hist_add(&h->h, value);
}

const struct hist *weft_hist_values(const struct weft_hist *h)
{
	return &h->h;
}

void weft_hist_clear(struct weft_hist *h)
{
	double scale = h->h.scale;

	hist_fini(&h->h);
	hist_init(&h->h, scale);
}

void weft_hist_add(struct weft_comp *c, const char *name, const char *unit,
		   double value)
{
	weft_hist_put(weft_hist(c, name, unit), value);
}

void hists_fini(struct weft_sim *sim)
{
	for (uint32_t i = 0; i < sim->hists.n; i++) {
		hist_fini(&sim->hists.at[i]->h);
		free(sim->hists.at[i]->name);
		free(sim->hists.at[i]->unit);
		free(sim->hists.at[i]);
	}
	vec_free(&sim->hists);
}

void weft_check_failed(struct weft_comp *c, const char *fmt, ...)
{
	char text[400], full[480];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(full, sizeof(full), "%s: %s", c->name, text);
	result_fail(c->sim->result, full);
}

/* Adds counters, volumes and the manifest to the result. Called once, at the
 * end of a run. */
void result_collect(struct weft_sim *sim)
{
	char full[256];

	for (uint32_t i = 0; i < sim->n_comps; i++) {
		const struct weft_comp *c = sim->comps[i];

		for (uint32_t k = 0; k < c->cls->n_counters; k++) {
			full_name(c, c->cls->counters[k].name, full,
				  sizeof(full));
			result_counter_set(sim->result, full,
					   c->cls->counters[k].unit,
					   c->counters[k]);
		}
		for (uint32_t k = 0; k < c->n_ports; k++) {
			const struct weft_port *p = &c->ports[k];

			if (p->kind != WEFT_PORT_LINK || !p->peer)
				continue;
			snprintf(full, sizeof(full), "%s.%s.frames", c->name,
				 p->name);
			result_counter_set(sim->result, full, "frames",
					   p->out_frames);
			snprintf(full, sizeof(full), "%s.%s.words", c->name,
				 p->name);
			result_counter_set(sim->result, full, "words",
					   p->out_words);
			snprintf(full, sizeof(full), "%s.%s.busy", c->name,
				 p->name);
			result_counter_set(sim->result, full, "ns",
					   p->out_busy / WEFT_NS);
		}
	}
	for (uint32_t i = 0; i < sim->hists.n; i++) {
		struct weft_hist *h = sim->hists.at[i];
		struct hist *to;

		full_name(h->comp, h->name, full, sizeof(full));
		to = result_hist_get(sim->result, full, h->unit);
		hist_fini(to);
		*to = h->h;
		hist_init(&h->h, 1.0);
	}
}

/* ---- manifest ---- */

/* Largest number of components with a full manifest, because a larger manifest
 * would take most of a run's memory. In a larger run the manifest holds all
 * parameters of the first component of each class, under the name of the class.
 * Of the other components it holds only the parameters that differ from those
 * of the first one. */
enum { MANIFEST_ALL = 4096 };

/* The first component of each class, with which all others of the class are
 * compared. */
struct model {
	const struct weft_comp **first;
	uint32_t n;
};

static const struct weft_comp *model_of(struct model *m,
					const struct weft_comp *c)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (m->first[i]->cls == c->cls)
			return m->first[i];
	m->first = reallocarray(m->first, m->n + 1, sizeof(c));
	assert(m->first);
	m->first[m->n++] = c;
	return NULL;
}

void result_manifest(struct weft_sim *sim)
{
	bool all = sim->n_comps <= MANIFEST_ALL;
	struct model m = { 0 };

	for (uint32_t i = 0; i < sim->n_comps; i++) {
		const struct weft_comp *c = sim->comps[i];
		const struct weft_comp *like = all ? NULL : model_of(&m, c);
		const char *owner = all || like ? c->name : c->cls->name;

		result_param_set(sim->result, c->name, c->cls->name);
		for (const struct weft_param *p = c->cls->params; p && p->name;
		     p++) {
			char full[256], value[WEFT_PARAM_TEXT];

			if (like &&
			    !memcmp((const char *)c->state + p->offset,
				    (const char *)like->state + p->offset,
				    p->size))
				continue;
			snprintf(full, sizeof(full), "%s.%s", owner, p->name);
			weft_param_get(c, p->name, value, sizeof(value));
			result_param_set(sim->result, full, value);
		}
	}
	free(m.first);
}
