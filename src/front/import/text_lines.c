/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a text file, see text_lines.h. */
#include "front/import/text_lines.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/need.h"

enum { SHOWN = 40 };

int text_lines_open(struct text_lines *t, const char *name,
		    struct weft_err *err)
{
	struct stat st;

	*t = (struct text_lines){ .name = name };
	if (!strcmp(name, "-")) {
		t->name = "standard input";
		t->f = stdin;
		return 0;
	}
	t->f = fopen(name, "r");
	if (!t->f)
		return weft_fail(err, errno, "%.200s: cannot open: %s", name,
				 strerror(errno));
	if (!fstat(fileno(t->f), &st) && S_ISDIR(st.st_mode))
		return weft_fail(err, EISDIR,
				 "%.200s: is a directory: name its files",
				 name);
	return 0;
}

int text_lines_fail(const struct text_lines *t, uint32_t line,
		    struct weft_err *err, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return weft_fail(err, EINVAL, "%.150s:%u: %s", t->name, line, text);
}

int text_lines_next(struct text_lines *t, struct weft_err *err)
{
	int c;

	t->len = 0;
	if (t->no == UINT32_MAX)
		return text_lines_fail(t, t->no, err, "too many lines");
	t->no++;
	while ((c = getc_unlocked(t->f)) != EOF && c != '\n') {
		if (t->len == TEXT_LINE)
			return text_lines_fail(
				t, t->no, err,
				"a line of more than %u characters", TEXT_LINE);
		if (!c)
			return text_lines_fail(t, t->no, err,
					       "a byte 0 in a text");
		if (t->len + 2 > t->cap) {
			t->cap = t->cap ? 2 * t->cap : 256;
			t->line = need(realloc(t->line, t->cap));
		}
		t->line[t->len++] = (char)c;
	}
	if (c == EOF && ferror(t->f))
		return weft_fail(err, EIO, "%.200s: cannot be read", t->name);
	if (c == EOF && !t->len)
		return 0;
	if (!t->cap) {
		t->cap = 256;
		t->line = need(malloc(t->cap));
	}
	if (t->len && t->line[t->len - 1] == '\r')
		t->len--;
	t->line[t->len] = '\0';
	return 1;
}

void text_lines_close(struct text_lines *t)
{
	if (t->f && t->f != stdin)
		fclose(t->f);
	free(t->line);
	*t = (struct text_lines){ 0 };
}

const char *text_shown(char *buf, const char *text, size_t len)
{
	size_t n = len < SHOWN ? len : SHOWN;

	for (size_t i = 0; i < n; i++)
		buf[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
	strcpy(buf + n, len > SHOWN ? ".." : "");
	return buf;
}

const char *text_number(const char *p, int64_t low, int64_t high,
			int64_t *value_p)
{
	bool minus = low < 0 && *p == '-';
	uint32_t digits = 0;
	uint64_t v = 0;

	for (p += minus; isdigit((unsigned char)*p); p++) {
		if (++digits > 18)
			return NULL;
		v = v * 10 + (uint64_t)(*p - '0');
	}
	*value_p = minus ? -(int64_t)v : (int64_t)v;
	return digits && *value_p >= low && *value_p <= high ? p : NULL;
}
