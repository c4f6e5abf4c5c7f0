/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep that finds the load at which a network saturates:
 *
 *	sweep: auto
 *	sweep: {auto: traffic.load, from: 0.05, to: 1, step: 0.1, within: 0.01}
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
};

struct exp_auto {
	char path[96];
	double from, to, step, within;
	struct doc_where at;
	struct {
		VEC(struct load);
	} points;
	double good,
		bad; /* highest load that is steady, lowest load that is not */
	bool over;
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

static void auto_add(struct exp *e, double load)
{
	struct exp_auto *a = e->search;
	struct load l = { .load = load };
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

int sweep_auto_read(struct exp *e, const struct doc_node *n,
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
	a->bad = INFINITY;
	auto_add(e, a->from);
	return auto_check(e, a, err);
}

void sweep_auto_fini(struct exp *e)
{
	if (e->search)
		vec_free(&e->search->points);
	free(e->search);
	e->search = NULL;
}

void sweep_auto_point(const struct exp *e, size_t i, const char **path_p,
		      struct doc_node **val_p)
{
	*path_p = e->search->path;
	*val_p = e->search->points.at[i].val;
}

bool sweep_auto_next(struct exp *e, const struct weft_result *last)
{
	struct exp_auto *a = e->search;
	double load = vec_last(&a->points).load;
	const char *state = result_param_get(last, "net.state");

	if (state && !strcmp(state, "steady"))
		a->good = fmax(a->good, load);
	else
		a->bad = fmin(a->bad, load);
	if (!state || !strcmp(state, "deadlock"))
		return false; /* a higher load would add no information */
	if (isinf(a->bad))
		load = a->good < a->to ? fmin(a->good + a->step, a->to) : 0;
	else
		load = a->bad - a->good > a->within ? (a->good + a->bad) / 2
						    : 0;
	if (load)
		auto_add(e, load);
	return load > 0;
}
