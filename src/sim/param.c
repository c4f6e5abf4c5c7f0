/* SPDX-License-Identifier: Apache-2.0 */
/* Sets parameters from text by the class's table, applies presets, prints
 * values in canonical form. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "sim/sim_internal.h"

static const struct weft_param *param_find(const struct weft_comp *c,
					   const char *name)
{
	for (const struct weft_param *p = c->cls->params; p && p->name; p++)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}

int weft_param_set(struct weft_comp *c, const char *param, const char *value,
		   struct weft_err *err)
{
	const struct weft_param *p = param_find(c, param);
	struct weft_err sub = { 0 };
	union {
		char text[WEFT_PARAM_TEXT];
		struct weft_clock clock;
		uint64_t u64;
	} v;
	int ret;

	if (!p) {
		struct units_rows rows = { c->cls->params, sizeof(*p) };
		const char *near = units_nearest(param, units_rows_next, &rows);

		if (near)
			return weft_fail(
				err, ENOENT,
				"%s has no parameter '%s': did you mean '%s'?",
				c->cls->name, param, near);
		return weft_fail(
			err, ENOENT,
			"%s has no parameter '%s': 'weft describe %s' lists them",
			c->cls->name, param, c->cls->name);
	}
	if (p->size > sizeof(v))
		return weft_fail(err, EINVAL, "%s.%s: field too large",
				 c->cls->name, param);
	memset(&v, 0, p->size);
	ret = units_parse(p->type, p->range, value, &v, p->size, &sub);
	if (!ret)
		ret = units_check(p->type, p->range, &v, &sub);
	if (ret)
		return weft_fail(err, -ret, "%s: %s", param, sub.msg);
	memcpy((char *)c->state + p->offset, &v, p->size);
	return 0;
}

int weft_param_get(const struct weft_comp *c, const char *param, char *buf,
		   size_t size)
{
	const struct weft_param *p = param_find(c, param);

	if (!p)
		return -ENOENT;
	return units_print(p->type, p->range, (char *)c->state + p->offset, buf,
			   size);
}

int weft_preset_apply(struct weft_comp *c, const char *preset,
		      struct weft_err *err)
{
	const struct weft_preset *p;
	const char *near;

	for (p = c->cls->presets; p && p->name; p++)
		if (!strcmp(p->name, preset)) {
			/* a preset such as "links=2 queues=1" has one
			 * assignment per word */
			const char *text = p->values;

			while (*text) {
				char name[64], value[64];
				int used = 0;

				if (sscanf(text, " %63[^= ]=%63s%n", name,
					   value, &used) != 2)
					return weft_fail(
						err, EINVAL,
						"%s: bad preset text '%s'",
						c->cls->name, text);
				if (weft_param_set(c, name, value, err))
					return -EINVAL;
				text += used;
				text += strspn(text, " ");
			}
			return 0;
		}
	if (!c->cls->presets)
		return weft_fail(err, ENOENT, "%s has no presets",
				 c->cls->name);
	near = units_nearest(
		preset, units_rows_next,
		&(struct units_rows){ c->cls->presets, sizeof(*p) });
	return weft_fail(err, ENOENT, "%s has no preset '%s': %s '%s'?",
			 c->cls->name, preset,
			 near ? "did you mean" : "why not",
			 near ? near : c->cls->presets[0].name);
}
