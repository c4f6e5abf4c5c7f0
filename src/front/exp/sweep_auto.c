/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep that finds the load at which a network saturates:
 *
 *	sweep: auto
 *	sweep: {auto: traffic.load, from: 0.05, to: 1, step: 0.1, within: 0.01}
 *	sweep: {auto: traffic.load, fabric.routing: [minimal, ugal]}
 *
 * Lists are axes: each combination of their values has a search of its own. The
 * first points of all searches come first, so that a combination that cannot be
 * built is found at once.
 *
 * The load rises in steps until a point saturates (net.state of the fabric).
 * Then the interval between the highest steady load and the lowest saturated
 * one is halved until it is narrower than `within`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "front/exp/build.h"
#include "front/exp/exp.h"
#include "front/exp/section.h"

struct load {
	struct doc_node *val;
	double load;
	size_t search;
};

struct search {
	double good,
		bad; /* highest load that is steady, lowest load that is not */
	bool over;
};

struct exp_auto {
	char path[96];
	double from, to, step, within;
	struct doc_where at;
	struct {
		VEC(struct load);
	} points;
	struct {
		VEC(struct search); /* by number of the combination */
	} searches;
	size_t done; /* points that have run */
};

/* clang-format off */
static const struct weft_param auto_params[] = {
	{ "auto", WEFT_P_STR, offsetof(struct exp_auto, path),
	  sizeof(((struct exp_auto *)0)->path), "traffic.load", "", WEFT_OWN,
	  "what to vary" },
	WEFT_PARAM(REAL, struct exp_auto, from, "0.05", "0.0001..1000", OWN, ""),
	WEFT_PARAM(REAL, struct exp_auto, to, "1", "0.0001..1000", OWN, ""),
	WEFT_PARAM(REAL, struct exp_auto, step, "0.1", "0.0001..1000", OWN, ""),
	WEFT_PARAM(REAL, struct exp_auto, within, "0.01", "0.0001..1000", OWN,
		   ""),
	{ 0 },
};
/* clang-format on */

static void auto_add(struct exp *e, size_t search, double load)
{
	struct exp_auto *a = e->search;
	struct load l = { .load = load, .search = search };
	char text[32];

	snprintf(text, sizeof(text), "%.4g", load);
	l.val = doc_node_new(e->doc, DOC_SCALAR, a->at);
	l.val->text = doc_strdup(e->doc, text);
	vec_push(&a->points, l);
	e->n_points = a->points.n;
}

/* Checks that the key to vary exists, and that the network reports
 * saturation. */
static int auto_check(const struct exp *e, const struct exp_auto *a,
		      struct weft_err *err)
{
	const struct doc_node *root = e->doc->root;
	const struct doc_node *type = doc_get(root, "fabric");
	const struct fabric_gen *g = NULL;
	char section[sizeof(a->path)];

	snprintf(section, sizeof(section), "%.*s", (int)strcspn(a->path, "."),
		 a->path);
	if (exp_section_known(section) && !doc_get(root, section))
		return doc_fail(
			a->at, err,
			"sweep: auto varies %s, but there is no '%s' here",
			a->path, section);
	if (type && type->kind == DOC_MAP)
		type = doc_get(type, "type");
	if (type && type->kind == DOC_SCALAR)
		g = fabric_called(type->text);
	/* Only fabrics with a `net` report the state. */
	for (const char *const *k = g ? g->keys : NULL; k && *k; k++)
		if (!strcmp(*k, "net"))
			return 0;
	return doc_fail(
		a->at, err,
		"sweep: auto needs a direct network, e.g. a torus: other fabrics do not tell when they saturate");
}

int sweep_auto_read(struct exp *e, const struct doc_node *n, size_t n_searches,
		    struct weft_err *err)
{
	struct exp_auto *a = e->search = calloc(1, sizeof(*a));

	if (!a)
		abort();
	if (n->kind == DOC_SCALAR && strcmp(n->text, "auto"))
		return doc_fail(
			n->at, err,
			"sweep is a value: write PATH: [VALUE, VALUE...], or auto");
	if (exp_fill(n->kind == DOC_MAP ? n : NULL, auto_params, a, "sweep",
		     err))
		return -1;
	a->at = n->at;
	for (size_t i = 0; i < n_searches; i++) {
		vec_push(&a->searches, (struct search){ .bad = INFINITY });
		auto_add(e, i, a->from);
	}
	return auto_check(e, a, err);
}

void sweep_auto_fini(struct exp *e)
{
	if (e->search) {
		vec_free(&e->search->points);
		vec_free(&e->search->searches);
	}
	free(e->search);
	e->search = NULL;
}

size_t sweep_auto_point(const struct exp *e, size_t i, const char **path_p,
			struct doc_node **val_p)
{
	*path_p = e->search->path;
	*val_p = e->search->points.at[i].val;
	return e->search->points.at[i].search;
}

/* Returns the next load of a search, or 0 if it has ended. */
static double search_next(const struct exp_auto *a, const struct search *s)
{
	if (s->over)
		return 0;
	if (isinf(s->bad))
		return s->good < a->to ? fmin(s->good + a->step, a->to) : 0;
	return s->bad - s->good > a->within ? (s->good + s->bad) / 2 : 0;
}

bool sweep_auto_next(struct exp *e, const struct weft_result *last)
{
	struct exp_auto *a = e->search;
	const struct load *l = &a->points.at[a->done++];
	struct search *s = &a->searches.at[l->search];
	const char *state = result_param_get(last, "net.state");

	if (state && !strcmp(state, "steady"))
		s->good = fmax(s->good, l->load);
	else
		s->bad = fmin(s->bad, l->load);
	/* A higher load would add no information to a deadlock. */
	s->over = !state || !strcmp(state, "deadlock");
	if (a->done < a->points.n)
		return true;
	for (size_t i = 0; i < a->searches.n; i++) {
		double load = search_next(a, &a->searches.at[i]);

		if (load > 0) {
			auto_add(e, i, load);
			return true;
		}
	}
	return false;
}
