/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of text to values with units. */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/fmt.h"
#include "base/units_tab.h"

/* number of characters of bad text that a message shows */
enum { UNITS_SHOWN = 48 };

/* clang-format off */
const struct units_unit units_time[] = {
	{ "fs", 0 }, { "ps", 3 }, { "ns", 6 }, { "us", 9 }, { "ms", 12 },
	{ "s", 15 }, { NULL }
};
const struct units_unit units_freq[] = {
	{ "Hz", 0 }, { "kHz", 3 }, { "MHz", 6 }, { "GHz", 9 }, { NULL }
};
const struct units_unit units_rate[] = {
	{ "b/s", 0 }, { "kb/s", 3 }, { "Mb/s", 6 }, { "Gb/s", 9 },
	{ "Tb/s", 12 },
	{ "B/s", 0, 3 }, { "KB/s", 3, 3 }, { "kB/s", 3, 3 }, { "MB/s", 6, 3 },
	{ "GB/s", 9, 3 }, { "KiB/s", 0, 13 }, { "MiB/s", 0, 23 },
	{ "GiB/s", 0, 33 }, { NULL }
};
const struct units_unit units_bytes[] = {
	{ "", 0 }, { "B", 0 }, { "KB", 3 }, { "kB", 3 }, { "MB", 6 },
	{ "GB", 9 }, { "TB", 12 }, { "KiB", 0, 10 }, { "MiB", 0, 20 },
	{ "GiB", 0, 30 }, { "TiB", 0, 40 }, { NULL }
};
static const struct units_unit units_none[] = { { "", 0 }, { NULL } };

const struct units_type units_types[] = {
	[WEFT_P_BOOL]  = { "bool", "a switch", "true or false", NULL },
	[WEFT_P_U32]   = { "u32", "a whole number", "8", NULL },
	[WEFT_P_U64]   = { "u64", "a whole number", "8", NULL },
	[WEFT_P_REAL]  = { "real", "a number", "0.5", NULL },
	[WEFT_P_TIME]  = { "time", "a time", "12.8ns", "fs" },
	[WEFT_P_CLOCK] = { "clock", "a clock", "100MHz or 10ns", "Hz" },
	[WEFT_P_RATE]  = { "rate", "a rate", "2.5Gb/s or 300MB/s", "b/s" },
	[WEFT_P_BYTES] = { "bytes", "a size", "512 or 2KiB", "B" },
	[WEFT_P_ENUM]  = { "enum", "a word of the list", "", NULL },
	[WEFT_P_STR]   = { "string", "a text", "abc", NULL },
};
/* clang-format on */

const char *units_type_name(enum weft_ptype type)
{
	return units_types[type].name;
}

/* Rejected text, prepared for an error message. The text may be arbitrary, so
 * it is shortened, and unprintable characters are replaced. */
struct units_shown {
	char text[UNITS_SHOWN + 8];
};

static struct units_shown units_show(const char *text)
{
	struct units_shown s;
	size_t n = strnlen(text, UNITS_SHOWN + 1);

	for (size_t i = 0; i < n; i++)
		s.text[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
	s.text[n] = '\0';
	if (n > UNITS_SHOWN)
		strcpy(s.text + UNITS_SHOWN, "...");
	return s;
}

static int units_bad(enum weft_ptype type, const char *text,
		     struct weft_err *err)
{
	const struct units_type *t = &units_types[type];

	/* t->phrase is "a time" or "a whole number", but the message needs the
	 * words without the article */
	return weft_fail(err, EINVAL, "'%s' is no %s: write e.g. %s",
			 units_show(text).text, strchr(t->phrase, ' ') + 1,
			 t->example);
}

static int units_wide(const char *text, struct weft_err *err)
{
	return weft_fail(err, ERANGE, "'%s' has more digits than 64 bits hold",
			 units_show(text).text);
}

/* ---- numbers ---- */

static const struct units_unit *units_find(const struct units_unit *tab,
					   const char *text)
{
	text += strspn(text, " ");
	for (; tab->text; tab++)
		if (!strcmp(tab->text, text))
			return tab;
	return NULL;
}

static int units_parse_whole(enum weft_ptype type, const struct units_unit *tab,
			     const char *text, uint64_t max, uint64_t *val_p,
			     struct weft_err *err)
{
	const struct units_type *t = &units_types[type];
	const struct units_unit *unit;
	struct units_num num;
	const char *rest = units_number(text, &num);
	int ret;

	if (!rest)
		return units_bad(type, text, err);
	unit = units_find(tab, rest);
	if (!unit && !*rest && !num.mant)
		/* 0 means the same in every unit, so it needs no unit */
		unit = tab;
	if (!unit)
		return units_bad(type, text, err);
	if (num.wide)
		return units_wide(text, err);
	ret = units_whole(num, unit, val_p);
	if (!ret && *val_p > max)
		ret = ERANGE;
	if (ret == ERANGE)
		return weft_fail(err, ERANGE, "'%s' is too large for %s",
				 units_show(text).text, t->phrase);
	if (ret && t->base)
		return weft_fail(err, EINVAL, "'%s' is no whole number of %s",
				 units_show(text).text, t->base);
	return ret ? units_bad(type, text, err) : 0;
}

/* ---- clocks ---- */

/* Parses a period or frequency: "100MHz", "12.8ns", "100/3MHz", "64000/5fs". */
static int units_parse_clock(const char *text, struct weft_clock *clk,
			     struct weft_err *err)
{
	struct units_num top, bottom = { .mant = 1 };
	const struct units_unit *freq, *time;
	const char *rest = units_number(text, &top);
	unsigned __int128 n, d;
	bool ok;

	if (rest && *rest == '/')
		rest = units_number(rest + 1, &bottom);
	if (!rest)
		return units_bad(WEFT_P_CLOCK, text, err);
	freq = units_find(units_freq, rest);
	time = units_find(units_time, rest);
	if (!freq && !time)
		return units_bad(WEFT_P_CLOCK, text, err);
	if (top.wide || bottom.wide)
		return units_wide(text, err);
	/* The period is top/bottom * unit, or 10^15 / (top/bottom * unit) for a
	 * frequency. */
	ok = units_ratio(top, bottom, (freq ? freq : time)->exp10, &n, &d);
	if (ok && freq)
		ok = !__builtin_mul_overflow(d, (unsigned __int128)WEFT_SEC,
					     &d);
	if (ok && (freq ? clock_set(clk, d, n) : clock_set(clk, n, d)))
		return 0;
	return weft_fail(err, ERANGE, "'%s' is out of range for a clock",
			 units_show(text).text);
}

/* ---- words and text ---- */

/* Returns the index of the word in "a|b|c", or -1. */
static int units_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (int i = 0; len; i++) {
		size_t n = strcspn(list, "|");

		if (n == len && !memcmp(list, word, n))
			return i;
		if (!list[n])
			break;
		list += n + 1;
	}
	return -1;
}

static int units_parse_word(const char *range, const char *text, uint32_t *out,
			    struct weft_err *err)
{
	int i = units_word(range, text);

	if (i < 0)
		return weft_fail(err, EINVAL, "'%s' is none of %s",
				 units_show(text).text, range);
	*out = (uint32_t)i;
	return 0;
}

static int units_parse_bool(const char *text, bool *out, struct weft_err *err)
{
	int i = units_word("false|true|no|yes|off|on|0|1", text);

	if (i < 0)
		return units_bad(WEFT_P_BOOL, text, err);
	*out = i & 1;
	return 0;
}

static int units_parse_str(const char *text, char *out, size_t size,
			   struct weft_err *err)
{
	size_t n = strlen(text);

	assert(size);
	if (n >= size)
		return weft_fail(err, EINVAL,
				 "'%s' is longer than %zu characters",
				 units_show(text).text, size - 1);
	memcpy(out, text, n);
	memset(out + n, 0, size - n);
	return 0;
}

/* ---- entry points ---- */

int units_parse(enum weft_ptype type, const char *range, const char *text,
		void *out, size_t size, struct weft_err *err)
{
	uint64_t val = 0;
	int ret = 0;

	switch (type) {
	case WEFT_P_BOOL:
		assert(size == sizeof(bool));
		return units_parse_bool(text, out, err);
	case WEFT_P_U32:
		assert(size == sizeof(uint32_t));
		ret = units_parse_whole(type, units_none, text, UINT32_MAX,
					&val, err);
		if (!ret)
			*(uint32_t *)out = (uint32_t)val;
		return ret;
	case WEFT_P_REAL:
		assert(size == sizeof(double));
		return fmt_real_read(text, out) ? 0
						: units_bad(type, text, err);
	case WEFT_P_CLOCK:
		assert(size == sizeof(struct weft_clock));
		return units_parse_clock(text, out, err);
	case WEFT_P_ENUM:
		assert(size == sizeof(uint32_t));
		return units_parse_word(range, text, out, err);
	case WEFT_P_STR:
		return units_parse_str(text, out, size, err);
	case WEFT_P_U64:
	case WEFT_P_TIME:
	case WEFT_P_RATE:
	case WEFT_P_BYTES:
		break;
	}
	assert(size == sizeof(uint64_t));
	ret = units_parse_whole(type,
				type == WEFT_P_TIME    ? units_time
				: type == WEFT_P_RATE  ? units_rate
				: type == WEFT_P_BYTES ? units_bytes
						       : units_none,
				text, UINT64_MAX, &val, err);
	if (!ret)
		*(uint64_t *)out = val;
	return ret;
}
