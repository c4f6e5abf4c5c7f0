/* SPDX-License-Identifier: Apache-2.0 */
/* Values of settings of a BookSim2 configuration, and notes about them. */
#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "systems/router/import/booksim.h"

static uint32_t key_index(const char *key)
{
	uint32_t i = 0;

	while (strcmp(booksim_keys[i].name, key)) {
		i++;
		assert(booksim_keys[i].name);
	}
	return i;
}

double booksim_number(const struct booksim *b, const char *key)
{
	uint32_t i = key_index(key);

	return b->set[i].text && b->set[i].type != BOOKSIM_TEXT
		       ? b->set[i].number
		       : strtod(booksim_keys[i].value, NULL);
}

const char *booksim_text(const struct booksim *b, const char *key)
{
	uint32_t i = key_index(key);

	return b->set[i].text ? b->set[i].text : booksim_keys[i].value;
}

bool booksim_differs(const struct booksim *b, const char *key)
{
	uint32_t i = key_index(key);
	const struct booksim_set *s = &b->set[i];

	if (!s->text)
		return false;
	if (s->type == BOOKSIM_TEXT)
		return strcmp(s->text, booksim_keys[i].value) != 0;
	return s->number != strtod(booksim_keys[i].value, NULL);
}

bool booksim_token(const char *list, uint32_t i, char *buf, size_t size)
{
	const char *start = list + 1, *p = start;
	uint32_t depth = 0;

	if (list[0] != '{') {
		if (!list[0] || i)
			return false;
		snprintf(buf, size, "%s", list);
		return true;
	}
	for (; *p; p++) {
		if (*p == '{') {
			depth++;
		} else if (*p == '}' && depth) {
			depth--;
		} else if (!depth && (*p == ',' || *p == '}')) {
			if (p > start && !i--) {
				snprintf(buf, size, "%.*s", (int)(p - start),
					 start);
				return true;
			}
			start = p + 1;
		}
	}
	return false;
}

void booksim_call(const char *text, char *name, char *params, size_t size)
{
	const char *left = strchr(text, '('), *right = strrchr(text, ')');

	params[0] = '\0';
	if (!left) {
		snprintf(name, size, "%s", text);
		return;
	}
	snprintf(name, size, "%.*s", (int)(left - text), text);
	if (!right || right < left)
		right = text + strlen(text);
	snprintf(params, size, "%.*s", (int)(right - left - 1), left + 1);
}

/* ---- notes ---- */

static void note_add(struct booksim *b, bool refused, const char *key,
		     const char *fmt, va_list ap)
{
	const struct booksim_set *s = &b->set[key_index(key)];
	char text[400], at[300] = "";

	vsnprintf(text, sizeof(text), fmt, ap);
	if (s->text && s->line)
		snprintf(at, sizeof(at), "%.280s:%u: ", b->im->file, s->line);
	else if (!s->text)
		snprintf(at, sizeof(at), "%.280s: ", b->im->file);
	import_note(b->im, refused, "%s%s = %.60s%s: %s", at, key,
		    booksim_text(b, key), s->text ? "" : " (the default)",
		    text);
}

void booksim_cannot(struct booksim *b, const char *key, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note_add(b, true, key, fmt, ap);
	va_end(ap);
}

void booksim_remark(struct booksim *b, const char *key, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note_add(b, false, key, fmt, ap);
	va_end(ap);
}
