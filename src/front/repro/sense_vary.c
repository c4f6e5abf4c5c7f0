/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the parameters that may be varied, and their other values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "front/repro/sense.h"

/* ---- collection ---- */

static void param_note(struct sense_params *ps, const struct weft_comp *c,
		       const struct weft_param *p)
{
	struct sense_param now = { .cls = c->cls, .param = p };
	struct sense_param *old = NULL;

	vec_foreach (ps, struct sense_param, it)
		if (it->cls == c->cls && it->param == p)
			old = it;
	/* Parameters of programs and traffic are choices of the experiment.
	 * They belong to the model only if a source states them. */
	if (p->source == WEFT_OWN && (c->cls->kind == WEFT_KIND_PROGRAM ||
				      c->cls->kind == WEFT_KIND_TRAFFIC))
		return;
	if (p->type == WEFT_P_STR ||
	    weft_param_get(c, p->name, now.value, sizeof(now.value)) < 0)
		return;
	snprintf(now.of, sizeof(now.of), "%s", c->cls->name);
	if (!old)
		vec_push(ps, now);
	else if (strcmp(old->value, now.value))
		old->varied = true;
}

/* Returns true for clocks of one family of classes, such as "a.nic" and
 * "a.xbar". */
static bool clocks_alike(const struct sense_param *a,
			 const struct sense_param *b)
{
	size_t family = strcspn(a->of, ".") + 1;

	return a != b && a->param->type == WEFT_P_CLOCK &&
	       b->param->type == WEFT_P_CLOCK && !a->varied && !b->varied &&
	       !strncmp(a->of, b->of, family) &&
	       !strcmp(a->param->name, b->param->name) &&
	       !strcmp(a->value, b->value);
}

int sense_collect(struct exp *e, struct sense_params *ps, struct weft_err *err)
{
	size_t n = e->n_points ? e->n_points : 1;

	for (size_t i = 0; i < n; i++) {
		struct exp_case c;

		if (exp_case_open(e, i, &c, err))
			return -1;
		for (uint32_t k = 0; k < weft_sim_count(c.sim); k++) {
			const struct weft_comp *comp = weft_sim_at(c.sim, k);

			for (const struct weft_param *p = comp->cls->params;
			     p && p->name; p++)
				param_note(ps, comp, p);
		}
		exp_case_close(&c);
	}
	/* The clocks of a family are also varied together, because a machine is
	 * refused if its NIC and its crossbar have different clocks. */
	n = ps->n;
	for (size_t i = 0; i < n; i++) {
		struct sense_param all = ps->at[i];
		size_t k = 0;

		while (k < n && !clocks_alike(&ps->at[k], &ps->at[i]))
			k++;
		if (k == n || k < i)
			continue; /* no other clock is in the family, or the
				   * family has been added before */
		all.cls = NULL;
		strcpy(strchr(all.of, '.') + 1, "*");
		vec_push(ps, all);
	}
	return 0;
}

/* ---- values ---- */

bool sense_is_number(const struct sense_param *p)
{
	return p->param->type != WEFT_P_BOOL && p->param->type != WEFT_P_ENUM;
}

static bool scale_u64(uint64_t *v, enum weft_ptype type, uint32_t scale)
{
	if (*v > UINT64_MAX / SENSE_DOUBLE)
		return false;
	if (*v) {
		*v = *v * scale / SENSE_ONE;
		return true;
	}
	/* A parameter of 0 is set to a value that switches it on, because a
	 * multiple of 0 changes nothing. */
	*v = type == WEFT_P_TIME    ? 10 * WEFT_NS
	     : type == WEFT_P_BYTES ? 64
	     : type == WEFT_P_RATE  ? 1000000000
				    : 1;
	return scale > SENSE_ONE;
}

/* Divides the period by the scale, because a faster clock has a shorter period.
 * Removes common factors of two from the new fraction. Other common factors may
 * remain. */
static bool scale_clock(struct weft_clock *c, uint32_t scale)
{
	if (!c->num || c->num > UINT64_MAX / SENSE_DOUBLE ||
	    c->den > UINT64_MAX / SENSE_DOUBLE)
		return false;
	c->num *= SENSE_ONE;
	c->den *= scale;
	for (uint64_t d = SENSE_ONE; d > 1; d /= 2)
		while (!(c->num % d) && !(c->den % d)) {
			c->num /= d;
			c->den /= d;
		}
	return true;
}

/* Changes *v to the next word of the list "a|b|c", or to the previous one. */
static bool turn_word(uint32_t *v, const char *list, uint32_t scale)
{
	uint32_t n = 1;

	for (; *list; list++)
		n += *list == '|';
	if (n < 2 || (n == 2 && scale < SENSE_ONE))
		return false;
	*v = (*v + (scale > SENSE_ONE ? 1 : n - 1)) % n;
	return true;
}

union sense_value {
	bool b;
	uint32_t u32;
	uint64_t u64;
	double real;
	struct weft_clock clock;
};

static bool value_scale(const struct weft_param *p, union sense_value *v,
			uint32_t scale)
{
	uint64_t wide = v->u32;
	bool ok;

	switch (p->type) {
	case WEFT_P_BOOL:
		v->b = !v->b;
		return scale > SENSE_ONE;
	case WEFT_P_ENUM:
		return turn_word(&v->u32, p->range, scale);
	case WEFT_P_REAL:
		ok = v->real != 0 || scale > SENSE_ONE;
		v->real = v->real == 0 ? 1 : v->real * scale / SENSE_ONE;
		return ok;
	case WEFT_P_CLOCK:
		return scale_clock(&v->clock, scale);
	case WEFT_P_U32:
		ok = scale_u64(&wide, p->type, scale) && wide <= UINT32_MAX;
		v->u32 = (uint32_t)wide;
		return ok;
	default:
		return scale_u64(&v->u64, p->type, scale);
	}
}

bool sense_scaled(const struct sense_param *p, uint32_t scale,
		  char text[SENSE_TEXT])
{
	const struct weft_param *w = p->param;
	union sense_value v = { .u64 = 0 };

	return !units_parse(w->type, w->range, p->value, &v, w->size, NULL) &&
	       value_scale(w, &v, scale) &&
	       !units_check(w->type, w->range, &v, NULL) &&
	       units_print(w->type, w->range, &v, text, SENSE_TEXT) > 0 &&
	       strcmp(text, p->value) != 0;
}
