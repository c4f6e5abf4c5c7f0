/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of calls in the text of dumpi2ascii, and sizes of datatypes. */
#include <errno.h>
#include <string.h>

#include "front/import/dumpi.h"

/* Returns the text behind `NAME=`, or NULL. */
static const char *param_find(const struct dumpi *d, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < d->params.n; i += strlen(d->params.at + i) + 1) {
		const char *p = d->params.at + i;

		if (!strncmp(p, name, len) && p[len] == '=')
			return p + len + 1;
	}
	return NULL;
}

static const char *param(struct dumpi *d, const char *name)
{
	const char *text = param_find(d, name);

	if (!text)
		text_lines_fail(&d->lines, d->line, d->err,
				"%s lacks its parameter %s", d->name, name);
	return text;
}

int param_fail(struct dumpi *d, const char *name, const char *text)
{
	char shown[44];

	return text_lines_fail(&d->lines, d->line, d->err,
			       "%s: %s is '%s', which cannot be", d->name, name,
			       text_shown(shown, text, strlen(text)));
}

static int param_number(struct dumpi *d, const char *name, int64_t low,
			int64_t high, int64_t *value_p)
{
	const char *text = param(d, name), *end;

	if (!text)
		return -EINVAL;
	end = text_number(text, low, high, value_p);
	/* A name in brackets may follow the number after a space. */
	if (!end || (*end && *end != ' '))
		return param_fail(d, name, text);
	return 0;
}

int param_int(struct dumpi *d, const char *name, int32_t *value_p)
{
	int64_t v;

	if (param_number(d, name, INT32_MIN, INT32_MAX, &v))
		return -EINVAL;
	*value_p = (int32_t)v;
	return 0;
}

int param_small(struct dumpi *d, const char *name, uint32_t end,
		uint32_t *value_p)
{
	int64_t v;

	if (param_number(d, name, 0, end - 1, &v))
		return -EINVAL;
	*value_p = (uint32_t)v;
	return 0;
}

int param_list(struct dumpi *d, const char *name, int64_t high,
	       struct dumpi_list *v)
{
	const char *text = param(d, name), *p = text;
	int64_t n;

	if (!text)
		return -EINVAL;
	if (*p == '<' || !strcmp(p, "[]"))
		return 0;
	if (*p++ != '[')
		return param_fail(d, name, text);
	for (;; p += 2) {
		p = text_number(p, INT32_MIN, high, &n);
		if (!p || (*p != ']' && strncmp(p, ", ", 2)))
			return param_fail(d, name, text);
		vec_push(v, n);
		if (*p == ']')
			return 0;
	}
}

bool param_status(const struct dumpi *d, const char *list, size_t i,
		  const char *field, int32_t *value_p)
{
	const char *p = param_find(d, list), *end;
	int64_t v;

	for (size_t k = 0; p && k <= i; k++) {
		p = strchr(p, '{');
		p = p ? p + 1 : NULL;
	}
	end = p ? strchr(p, '}') : NULL;
	p = end ? strstr(p, field) : NULL;
	if (!p || p > end ||
	    !text_number(p + strlen(field), INT32_MIN, INT32_MAX, &v))
		return false;
	*value_p = (int32_t)v;
	return true;
}

/* ---- sizes of datatypes ---- */

void dumpi_type(struct dumpi *d, uint32_t type, int64_t size)
{
	while (d->types.n <= type)
		vec_push(&d->types, -1);
	d->types.at[type] = size;
}

void dumpi_types_init(struct dumpi *d)
{
	/* Sizes in the order of dumpi_native_datatypes. The first is that of
	 * MPI_CHAR, number 2. */
	static const int8_t sizes[] = { 1, 1, 1, 1,  4,	 2, 2, 4, 4,
					8, 8, 4, 8,  16, 8, 8, 8, 1,
					0, 0, 8, 12, 12, 6, 8, 20 };

	for (uint32_t i = 0; i < sizeof(sizes); i++)
		dumpi_type(d, i + 2, sizes[i]);
}

/* Multiplies a count with the size of the call's datatype. */
static int count_scale(struct dumpi *d, const struct mpi_call *c,
		       uint64_t *count)
{
	int64_t size = c->made < d->types.n ? d->types.at[c->made] : -1;

	if (!*count)
		return 0;
	if (size < 0)
		return text_lines_fail(
			&d->lines, c->line, d->err,
			"datatype %u has no size: text of dumpi2ascii -a, which has the sizes, would do",
			c->made);
	if (*count * (uint64_t)size > MPI_BYTES)
		return text_lines_fail(&d->lines, c->line, d->err,
				       "a message of more than %llu bytes",
				       MPI_BYTES);
	*count *= (uint64_t)size;
	return 0;
}

int dumpi_sizes(struct dumpi *d)
{
	struct mpi_rank *r = &d->t->ranks[d->rank];

	vec_foreach (&r->calls, struct mpi_call, c) {
		if (c->op != MPI_OP_SEND && c->op < MPI_OP_COLLECTIVE)
			continue;
		if (count_scale(d, c, &c->bytes))
			return -EINVAL;
		for (uint32_t i = 0; i < c->n_parts; i++)
			if (count_scale(d, c, &r->parts.at[c->parts + i]))
				return -EINVAL;
	}
	return 0;
}
