/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of parameters, and the nearest word to a mistyped one. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/minmax.h"
#include "base/units.h"

enum { CHECK_TEXT = 64, CHECK_WORD = 64 };

/* A parsed value of a type that has an order. */
union check_val {
	uint32_t u32;
	uint64_t u64;
	double real;
	struct weft_clock clock;
	bool flag;
};

static const size_t check_size[] = {
	[WEFT_P_BOOL] = sizeof(bool),
	[WEFT_P_U32] = sizeof(uint32_t),
	[WEFT_P_U64] = sizeof(uint64_t),
	[WEFT_P_REAL] = sizeof(double),
	[WEFT_P_TIME] = sizeof(weft_time_t),
	[WEFT_P_CLOCK] = sizeof(struct weft_clock),
	[WEFT_P_RATE] = sizeof(uint64_t),
	[WEFT_P_BYTES] = sizeof(uint64_t),
	[WEFT_P_ENUM] = sizeof(uint32_t),
	[WEFT_P_STR] = 0,
};

static int check_cmp(enum weft_ptype type, const union check_val *a,
		     const union check_val *b)
{
	unsigned __int128 l, r;

	switch (type) {
	case WEFT_P_U32:
		return (a->u32 > b->u32) - (a->u32 < b->u32);
	case WEFT_P_REAL:
		return (a->real > b->real) - (a->real < b->real);
	case WEFT_P_CLOCK:
		/* Compares frequencies: the clock with the longer period is the
		 * smaller one. */
		l = (unsigned __int128)b->clock.num * a->clock.den;
		r = (unsigned __int128)a->clock.num * b->clock.den;
		return (l > r) - (l < r);
	default:
		return (a->u64 > b->u64) - (a->u64 < b->u64);
	}
}

/* Compares the value with the bound of n characters at text. Stores -1, 0 or 1
 * in *cmp_p. If the value is a clock and the bound is given as a time, the
 * bound applies to the clock's period. */
static int check_bound(enum weft_ptype type, const char *text, size_t n,
		       const union check_val *val, int *cmp_p,
		       struct weft_err *err)
{
	char word[CHECK_TEXT];
	union check_val bound;
	struct weft_err why = { 0 };

	if (n < sizeof(word)) {
		memcpy(word, text, n);
		word[n] = '\0';
	}
	if (n >= sizeof(word) ||
	    units_parse(type, "", word, &bound, check_size[type], &why))
		return weft_fail(err, EINVAL, "range '%s' cannot be read",
				 text);
	*cmp_p = check_cmp(type, val, &bound);
	if (type == WEFT_P_CLOCK && !strstr(word, "Hz"))
		*cmp_p = -*cmp_p;
	return 0;
}

static int check_side(enum weft_ptype type, const char *text, size_t n,
		      int wrong, const union check_val *val,
		      struct weft_err *err)
{
	char shown[CHECK_TEXT];
	int cmp, ret;

	if (!n)
		return 0;
	ret = check_bound(type, text, n, val, &cmp, err);
	if (ret || cmp != wrong)
		return ret;
	units_print(type, "", val, shown, sizeof(shown));
	return weft_fail(err, ERANGE, "'%s' is %s %.*s", shown,
			 wrong < 0 ? "below" : "above", (int)n, text);
}

static int check_list(enum weft_ptype type, const char *range,
		      const union check_val *val, struct weft_err *err)
{
	char shown[CHECK_TEXT];

	for (const char *p = range;; p++) {
		size_t n = strcspn(p, "|");
		int cmp, ret = check_bound(type, p, n, val, &cmp, err);

		if (ret || !cmp)
			return ret;
		p += n;
		if (!*p)
			break;
	}
	units_print(type, "", val, shown, sizeof(shown));
	return weft_fail(err, ERANGE, "'%s' is none of %s", shown, range);
}

static int check_enum(const char *range, uint32_t val, struct weft_err *err)
{
	uint32_t words = 1;

	for (const char *p = range; *p; p++)
		words += *p == '|';
	if (val < words)
		return 0;
	return weft_fail(err, ERANGE, "'%u' is none of %s", val, range);
}

static int check_str(const char *range, const char *val, struct weft_err *err)
{
	size_t len = strlen(val);

	for (const char *p = range;; p++) {
		size_t n = strcspn(p, "|");

		if (n == len && !memcmp(p, val, n))
			return 0;
		p += n;
		if (!*p)
			break;
	}
	return weft_fail(err, ERANGE, "'%.48s' is none of %s", val, range);
}

int units_check(enum weft_ptype type, const char *range, const void *val,
		struct weft_err *err)
{
	const char *dots;
	int ret;
	union check_val v = { 0 };

	if (!range || !*range || type == WEFT_P_BOOL)
		return 0;
	if (type == WEFT_P_ENUM)
		return check_enum(range, *(const uint32_t *)val, err);
	if (type == WEFT_P_STR)
		return check_str(range, val, err);
	memcpy(&v, val, check_size[type]);
	dots = strstr(range, "..");
	if (!dots)
		return check_list(type, range, &v, err);
	ret = check_side(type, range, (size_t)(dots - range), -1, &v, err);
	if (ret)
		return ret;
	return check_side(type, dots + 2, strlen(dots + 2), 1, &v, err);
}

/* ---- did you mean ---- */

/* Returns the edit distance of words below CHECK_WORD characters. A swap of
 * neighbours counts one, because it is the most frequent typing error. */
static size_t check_distance(const char *a, const char *b)
{
	size_t d[3][CHECK_WORD + 1], n = strlen(b);
	size_t *two = d[0], *one = d[1], *row = d[2];

	for (size_t j = 0; j <= n; j++)
		one[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t *spare = two;

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			row[j] = min_of(row[j - 1], one[j]) + 1;
			row[j] = min_of(row[j],
					one[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				row[j] = min_of(row[j], two[j - 2] + 1);
		}
		two = one;
		one = row;
		row = spare;
	}
	return one[n];
}

const char *units_nearest(const char *word,
			  const char *(*next)(void *arg, size_t i), void *arg)
{
	size_t len = strnlen(word, CHECK_WORD), best = len / 2 + 1;
	const char *found = NULL, *cand;

	if (len >= CHECK_WORD)
		return NULL;
	for (size_t i = 0; (cand = next(arg, i)); i++) {
		size_t dist;

		if (strnlen(cand, CHECK_WORD) >= CHECK_WORD)
			continue;
		dist = check_distance(word, cand);
		if (dist < best) {
			best = dist;
			found = cand;
		}
	}
	return found;
}

const char *units_rows_next(void *rows, size_t i)
{
	const struct units_rows *r = rows;
	const char *at = r->at;

	return at ? *(const char *const *)(at + i * r->bytes) : NULL;
}
