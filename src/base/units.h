/* SPDX-License-Identifier: Apache-2.0 */
/* Values with units. This is the only parser of numbers from text. */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include "weft/component.h"

/* Parses text as `type` into the field of `size` bytes at *out. A STR is
 * copied. For ENUM, range lists the words "a|b|c". The whole text must be
 * consumed. Decimal fractions are kept as rationals ("78.125MHz", "12.8ns"), so
 * that parsing is exact. A value that is not a whole number of the base unit
 * (TIME: fs, BYTES: byte) is refused, except REAL and CLOCK. Returns 0 or a
 * negative error with a text that names the mistake and gives an example. */
int units_parse(enum weft_ptype type, const char *range, const char *text,
		void *out, size_t size, struct weft_err *err);
/* Checks a parsed value against "lo..hi", "lo..", "..hi", "a|b" or "". Bounds
 * have units like the value. Returns 0 or a negative error with "'1' is below
 * 2" or "is above 64". */
int units_check(enum weft_ptype type, const char *range, const void *val,
		struct weft_err *err);
/* Writes the canonical text of a value, which units_parse reads again:
 * "12.8ns", "2.5Gb/s", "2KiB", "100MHz". */
int units_print(enum weft_ptype type, const char *range, const void *val,
		char *buf, size_t size);
/* Returns the name of a type for `weft describe`: "time", "clock",
 * "bytes"... */
const char *units_type_name(enum weft_ptype type);
/* Returns the candidate nearest to `word`, for "did you mean", or NULL if none
 * is within an edit distance of half the word's length. next(i) returns
 * candidate i, NULL behind the last. */
const char *units_nearest(const char *word,
			  const char *(*next)(void *arg, size_t i), void *arg);
/* A table whose rows begin with their name, and whose last row has no name. at
 * may be NULL. */
struct units_rows {
	const void *at;
	size_t bytes; /* of a row */
};
/* Returns name i of a struct units_rows. units_nearest can take this function
 * as `next`. */
const char *units_rows_next(void *rows, size_t i);

#endif
