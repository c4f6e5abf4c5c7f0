/* SPDX-License-Identifier: Apache-2.0 */
/* Streaming JSON writer (RFC 8259). Each byte of text that is not UTF-8 is
 * replaced by U+FFFD, so that the output is always valid. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/json.h"

enum { JSON_DEPTH = sizeof(((struct json *)0)->need_comma) };

static void json_put(struct json *j, const char *s, size_t n)
{
	if (j->len + n + 1 > j->cap) {
		j->cap = (j->len + n + 1) * 2;
		j->buf = realloc(j->buf, j->cap);
		if (!j->buf)
			abort();
	}
	memcpy(j->buf + j->len, s, n);
	j->len += n;
	j->buf[j->len] = '\0';
}

static void json_puts(struct json *j, const char *s)
{
	json_put(j, s, strlen(s));
}

void json_init(struct json *j, bool pretty)
{
	*j = (struct json){ .pretty = pretty };
	json_put(j, "", 0);
}

void json_fini(struct json *j)
{
	free(j->buf);
	*j = (struct json){ 0 };
}

/* Returns the length of the UTF-8 character at s, or 0 if it is malformed (RFC
 * 3629). */
static size_t json_utf8(const uint8_t *s)
{
	static const struct {
		uint8_t lead_lo, lead_hi, next_lo, next_hi, len;
	} form[] = {
		{ 0x20, 0x7F, 0x00, 0x00, 1 }, { 0xC2, 0xDF, 0x80, 0xBF, 2 },
		{ 0xE0, 0xE0, 0xA0, 0xBF, 3 }, { 0xE1, 0xEC, 0x80, 0xBF, 3 },
		{ 0xED, 0xED, 0x80, 0x9F, 3 }, { 0xEE, 0xEF, 0x80, 0xBF, 3 },
		{ 0xF0, 0xF0, 0x90, 0xBF, 4 }, { 0xF1, 0xF3, 0x80, 0xBF, 4 },
		{ 0xF4, 0xF4, 0x80, 0x8F, 4 },
	};

	for (size_t i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
		if (s[0] < form[i].lead_lo || s[0] > form[i].lead_hi)
			continue;
		if (form[i].len == 1)
			return 1;
		if (s[1] < form[i].next_lo || s[1] > form[i].next_hi)
			return 0;
		for (size_t k = 2; k < form[i].len; k++)
			if ((s[k] & 0xC0) != 0x80)
				return 0;
		return form[i].len;
	}
	return 0;
}

static void json_escape(struct json *j, uint8_t c)
{
	static const char *const name[128] = {
		['"'] = "\\\"", ['\\'] = "\\\\", ['\n'] = "\\n", ['\t'] = "\\t",
		['\r'] = "\\r", ['\b'] = "\\b",	 ['\f'] = "\\f",
	};
	char hex[8];

	if (c >= 0x80) {
		json_puts(j, "\xEF\xBF\xBD");
	} else if (name[c]) {
		json_puts(j, name[c]);
	} else {
		snprintf(hex, sizeof(hex), "\\u%04x", c);
		json_puts(j, hex);
	}
}

static void json_text(struct json *j, const char *text)
{
	const uint8_t *s = (const uint8_t *)text;

	json_puts(j, "\"");
	while (*s) {
		size_t n = *s == '"' || *s == '\\' ? 0 : json_utf8(s);

		if (n)
			json_put(j, (const char *)s, n);
		else
			json_escape(j, *s);
		s += n ? n : 1;
	}
	json_puts(j, "\"");
}

static void json_newline(struct json *j)
{
	json_puts(j, "\n");
	for (uint32_t i = 0; i < j->depth; i++)
		json_puts(j, "  ");
}

/* Writes comma, line break and key before a value. */
static void json_begin(struct json *j, const char *key)
{
	if (j->depth) {
		assert(!key == j->is_arr[j->depth - 1]);
		if (j->need_comma[j->depth - 1])
			json_puts(j, ",");
		j->need_comma[j->depth - 1] = true;
		if (j->pretty)
			json_newline(j);
	}
	if (key) {
		json_text(j, key);
		json_puts(j, j->pretty ? ": " : ":");
	}
}

static void json_open(struct json *j, const char *key, bool arr)
{
	json_begin(j, key);
	assert(j->depth < JSON_DEPTH);
	json_puts(j, arr ? "[" : "{");
	j->is_arr[j->depth] = arr;
	j->need_comma[j->depth++] = false;
}

void json_obj(struct json *j, const char *key)
{
	json_open(j, key, false);
}

void json_arr(struct json *j, const char *key)
{
	json_open(j, key, true);
}

void json_end(struct json *j)
{
	bool empty;

	assert(j->depth);
	j->depth--;
	empty = !j->need_comma[j->depth];
	if (j->pretty && !empty)
		json_newline(j);
	json_puts(j, j->is_arr[j->depth] ? "]" : "}");
}

void json_str(struct json *j, const char *key, const char *val)
{
	if (!val) {
		json_null(j, key);
		return;
	}
	json_begin(j, key);
	json_text(j, val);
}

void json_u64(struct json *j, const char *key, uint64_t val)
{
	char buf[24];

	json_begin(j, key);
	snprintf(buf, sizeof(buf), "%" PRIu64, val);
	json_puts(j, buf);
}

void json_i64(struct json *j, const char *key, int64_t val)
{
	char buf[24];

	json_begin(j, key);
	snprintf(buf, sizeof(buf), "%" PRId64, val);
	json_puts(j, buf);
}

void json_real(struct json *j, const char *key, double val)
{
	char buf[FMT_REAL_MAX];

	if (!isfinite(val)) {
		json_null(j, key);
		return;
	}
	json_begin(j, key);
	fmt_real(val, buf);
	json_puts(j, buf);
}

void json_bool(struct json *j, const char *key, bool val)
{
	json_begin(j, key);
	json_puts(j, val ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
	json_begin(j, key);
	json_puts(j, "null");
}
