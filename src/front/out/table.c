/* SPDX-License-Identifier: Apache-2.0 */
/* Prints text in aligned columns. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/vec.h"
#include "front/out/out.h"

struct table {
	size_t n_cols;
	struct {
		VEC(char *);
	} cells; /* row by row; the first row is the head */
};

struct table *table_new(const char *const *heads, size_t n)
{
	struct table *t = calloc(1, sizeof(*t));

	if (!t)
		abort();
	t->n_cols = n;
	for (size_t i = 0; i < n; i++)
		vec_push(&t->cells, strdup(heads[i]));
	return t;
}

void table_cell(struct table *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vec_push(&t->cells, fmt_text(fmt, ap));
	va_end(ap);
}

/* Returns the width of a text in columns of the screen. Only the first byte of
 * a UTF-8 character counts. */
static size_t cell_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static bool column_number(const struct table *t, size_t col)
{
	bool any = false;

	for (size_t i = t->n_cols + col; i < t->cells.n; i += t->n_cols) {
		const char *s = t->cells.at[i];
		char *end;

		any |= *s != '\0';
		if (!*s || !strcmp(s, "-"))
			continue;
		strtod(s, &end);
		if (end == s || (*end && *end != '%' && *end != ' '))
			return false;
	}
	return any;
}

void table_print(struct table *t, FILE *f)
{
	size_t *width = calloc(t->n_cols, sizeof(*width));

	if (!width)
		abort();
	for (size_t i = 0; i < t->cells.n; i++) {
		size_t w = cell_width(t->cells.at[i]);

		if (w > width[i % t->n_cols])
			width[i % t->n_cols] = w;
	}
	for (size_t i = 0; i < t->cells.n; i++) {
		size_t col = i % t->n_cols;
		bool right = column_number(t, col);
		int pad = (int)(width[col] - cell_width(t->cells.at[i]));

		fprintf(f, "%*s%s", right ? pad : 0, "", t->cells.at[i]);
		if (col == t->n_cols - 1)
			fputc('\n', f);
		else
			fprintf(f, "%*s", (right ? 0 : pad) + 2, "");
	}
	while (t->cells.n)
		free(vec_pop(&t->cells));
	vec_free(&t->cells);
	free(width);
	free(t);
}

void out_real(double v, char buf[32])
{
	snprintf(buf, 32, "%.6g", v);
}

void out_sentence(const char *text, char *line, size_t size)
{
	size_t n = strcspn(text, "\n");
	const char *stop = memmem(text, n, ". ", 2);

	if (stop)
		n = (size_t)(stop - text) + 1;
	if (n < size)
		snprintf(line, size, "%.*s", (int)n, text);
	else
		snprintf(line, size, "%.*s...", (int)size - 4, text);
}
