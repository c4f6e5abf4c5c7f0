/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of BookSim2's configurations (config.l, config.y). A configuration has
 * settings of the form `name = value;`, and comments from // to the end of the
 * line. A value is an integer, a decimal number, a word, or a list in braces
 * without spaces. The reader takes the longest token that matches, like
 * BookSim2's generated scanner. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/need.h"
#include "base/units.h"
#include "systems/router/import/booksim.h"

enum { LISTS = 2, TOKEN_SHOWN = 40 };

enum token_kind { TOKEN_END, TOKEN_INT, TOKEN_REAL, TOKEN_TEXT, TOKEN_SIGN };

struct reader {
	struct booksim *b;
	const char *from; /* file, or setting of the command line */
	const char *at, *end;
	uint32_t line; /* 0: a setting of the command line */
	/* the token: */
	enum token_kind kind;
	const char *word;
	size_t len;
	uint32_t word_line;
};

static int reader_fail(const struct reader *r, uint32_t line,
		       struct weft_err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static int reader_fail(const struct reader *r, uint32_t line,
		       struct weft_err *err, const char *fmt, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!line)
		return weft_fail(err, EINVAL, "%.60s: %s", r->from, text);
	return weft_fail(err, EINVAL, "%s:%u: %s", r->from, line, text);
}

/* ---- tokens ---- */

static bool word_starts(char c)
{
	return isalpha((unsigned char)c) || (c && strchr("_-/.", c));
}

static bool word_goes_on(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_-/.+({,)}", c));
}

static bool list_goes_on(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_-.({,)}", c));
}

static size_t run_of(const struct reader *r, bool (*of)(char c))
{
	const char *p = r->at;

	while (p < r->end && of(*p))
		p++;
	return (size_t)(p - r->at);
}

/* Returns the length of the number at r->at, 0 if there is none. */
static size_t number_length(const struct reader *r, bool *real_p)
{
	const char *p = r->at;
	size_t whole = 0, fraction = 0;

	*real_p = false;
	p += p < r->end && *p == '-';
	for (; p < r->end && isdigit((unsigned char)*p); p++)
		whole++;
	if (p + 1 < r->end && *p == '.' && isdigit((unsigned char)p[1])) {
		for (p++; p < r->end && isdigit((unsigned char)*p); p++)
			fraction++;
		*real_p = true;
	}
	if (!whole && !fraction)
		return 0;
	if (p < r->end && (*p == 'e' || *p == 'E')) {
		const char *q = p + 1;

		q += q < r->end && (*q == '-' || *q == '+');
		if (q < r->end && isdigit((unsigned char)*q)) {
			while (q < r->end && isdigit((unsigned char)*q))
				q++;
			*real_p = true;
			p = q;
		}
	}
	return (size_t)(p - r->at);
}

static void blanks_skip(struct reader *r)
{
	while (r->at < r->end) {
		if (*r->at == '/' && r->at + 1 < r->end && r->at[1] == '/')
			while (r->at < r->end && *r->at != '\n')
				r->at++;
		else if (*r->at == '\n')
			r->line += r->line > 0, r->at++;
		else if (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')
			r->at++;
		else
			return;
	}
}

/* Reads a list up to its last brace. */
static void list_next(struct reader *r)
{
	r->len = run_of(r, list_goes_on);
	while (r->len > 1 && r->word[r->len - 1] != '}')
		r->len--;
	r->kind = r->len > 2 ? TOKEN_TEXT : TOKEN_SIGN;
}

static void token_next(struct reader *r)
{
	size_t number;
	bool real;

	blanks_skip(r);
	r->word = r->at;
	r->word_line = r->line;
	r->len = 0;
	r->kind = TOKEN_END;
	if (r->at == r->end)
		return;
	number = number_length(r, &real);
	if (word_starts(*r->at))
		r->len = run_of(r, word_goes_on);
	if (*r->at == '{') {
		list_next(r);
	} else if (number && number >= r->len) {
		r->len = number;
		r->kind = real ? TOKEN_REAL : TOKEN_INT;
	} else {
		r->kind = r->len ? TOKEN_TEXT : TOKEN_SIGN;
		r->len += !r->len;
	}
	r->at += r->len;
}

static bool token_is(const struct reader *r, char sign)
{
	return r->kind == TOKEN_SIGN && *r->word == sign;
}

/* Writes the token to buf, as messages show it. */
static const char *token_shown(const struct reader *r, char *buf)
{
	size_t n = r->len < TOKEN_SHOWN ? r->len : TOKEN_SHOWN;

	if (r->kind == TOKEN_END)
		return strcpy(buf, "the end");
	buf[0] = '\'';
	for (size_t i = 0; i < n; i++)
		buf[1 + i] =
			isprint((unsigned char)r->word[i]) ? r->word[i] : '?';
	strcpy(buf + 1 + n, "'");
	return buf;
}

/* ---- settings ---- */

static uint32_t key_number(const char *name, size_t len)
{
	uint32_t i = 0;

	while (booksim_keys[i].name &&
	       (strlen(booksim_keys[i].name) != len ||
		strncmp(booksim_keys[i].name, name, len)))
		i++;
	return i;
}

static int key_unknown(const struct reader *r, struct weft_err *err)
{
	struct units_rows rows = { booksim_keys, sizeof(*booksim_keys) };
	char shown[TOKEN_SHOWN + 3], word[TOKEN_SHOWN + 1];
	const char *near;

	snprintf(word, sizeof(word), "%.*s",
		 (int)(r->len < TOKEN_SHOWN ? r->len : TOKEN_SHOWN), r->word);
	near = units_nearest(word, units_rows_next, &rows);
	token_shown(r, shown);
	if (near)
		return reader_fail(
			r, r->word_line, err,
			"BookSim2 has no setting %s: did you mean '%s'?", shown,
			near);
	return reader_fail(
		r, r->word_line, err,
		"BookSim2 has no setting %s, and does not run such a "
		"file: leave it out",
		shown);
}

/* Returns 0 if the braces of a list are in pairs, and not too deep. */
static int list_check(const struct reader *r, struct weft_err *err)
{
	uint32_t depth = 0;

	for (size_t i = 0; i < r->len; i++) {
		if (r->word[i] == '{' && ++depth > LISTS + 1)
			return reader_fail(
				r, r->word_line, err,
				"lists in lists in lists: BookSim2 has lists of lists at most");
		if (r->word[i] == '}' && !depth--)
			break;
	}
	if (depth)
		return reader_fail(r, r->word_line, err,
				   "the braces of the list are not in pairs");
	return 0;
}

/* Checks the type of a value. Checks that a number is finite and not too large
 * for BookSim2. */
static int value_check(const struct reader *r, const struct booksim_key *k,
		       struct booksim_set *s, struct weft_err *err)
{
	static const char *const wants[] = {
		[BOOKSIM_INT] = "a whole number",
		[BOOKSIM_REAL] = "a number with a point, e.g. 1.0",
		[BOOKSIM_TEXT] = "a word",
		[BOOKSIM_INT | BOOKSIM_TEXT] = "a whole number, or a list",
		[BOOKSIM_REAL | BOOKSIM_TEXT] =
			"a number with a point, e.g. 1.0, or a list",
	};
	char shown[TOKEN_SHOWN + 3];

	if (!(k->types & s->type))
		return reader_fail(r, r->word_line, err,
				   "%s = %s: BookSim2 takes %s", k->name,
				   token_shown(r, shown), wants[k->types]);
	if (s->type == BOOKSIM_TEXT)
		return list_check(r, err);
	s->number = strtod(s->text, NULL);
	if (s->type == BOOKSIM_INT ? fabs(s->number) > INT32_MAX
				   : !isfinite(s->number))
		return reader_fail(r, r->word_line, err,
				   "%s = %s: BookSim2 cannot hold this number",
				   k->name, token_shown(r, shown));
	return 0;
}

/* Stores the present token as the value of key i. */
static int value_take(struct reader *r, uint32_t i, struct weft_err *err)
{
	const struct booksim_key *k = &booksim_keys[i];
	struct booksim_set *old = &r->b->set[i], s = { .line = r->word_line };

	s.text = need(strndup(r->word, r->len));
	s.type = r->kind == TOKEN_INT	 ? BOOKSIM_INT
		 : r->kind == TOKEN_REAL ? BOOKSIM_REAL
					 : BOOKSIM_TEXT;
	if (value_check(r, k, &s, err)) {
		free(s.text);
		return -EINVAL;
	}
	if (old->text && old->type == BOOKSIM_TEXT && s.type != BOOKSIM_TEXT) {
		free(s.text);
		return reader_fail(
			r, r->word_line, err,
			"%s was a list or a word before, which BookSim2 keeps: write it so again",
			k->name);
	}
	free(old->text);
	*old = s;
	return 0;
}

static int setting_read(struct reader *r, struct weft_err *err)
{
	char shown[TOKEN_SHOWN + 3];
	uint32_t i, line = r->word_line;

	if (r->kind != TOKEN_TEXT)
		return reader_fail(r, line, err,
				   "expected the name of a setting, found %s",
				   token_shown(r, shown));
	i = key_number(r->word, r->len);
	if (!booksim_keys[i].name)
		return key_unknown(r, err);
	token_next(r);
	if (!token_is(r, '='))
		return reader_fail(r, r->word_line, err,
				   "expected '=' behind %s, found %s",
				   booksim_keys[i].name, token_shown(r, shown));
	token_next(r);
	if (r->kind == TOKEN_END || r->kind == TOKEN_SIGN)
		return reader_fail(
			r, r->word_line, err,
			token_is(r, '{')
				? "the list of %s has no end: close it by '}', without spaces in it"
				: "%s has no value: write %s = VALUE;",
			booksim_keys[i].name, booksim_keys[i].name);
	if (value_take(r, i, err))
		return -EINVAL;
	token_next(r);
	if (!token_is(r, ';'))
		return reader_fail(r, line, err,
				   "%s has no ';' at its end, there is %s",
				   booksim_keys[i].name, token_shown(r, shown));
	token_next(r);
	return 0;
}

int booksim_parse(struct booksim *b, const char *from, const char *text,
		  size_t len, uint32_t line, struct weft_err *err)
{
	struct reader r = { .b = b,
			    .from = from,
			    .at = text,
			    .end = text + len,
			    .line = line };

	token_next(&r);
	if (r.kind == TOKEN_END)
		return reader_fail(&r, line, err, "no setting");
	while (r.kind != TOKEN_END)
		if (setting_read(&r, err))
			return -EINVAL;
	return 0;
}
