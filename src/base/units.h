/* SPDX-License-Identifier: Apache-2.0 */
/* Values with units: the only parser of numbers from text. */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include "weft/component.h"

/* Parses text as `type` into the field at *out (size bytes; STR copies).  For
 * ENUM, range lists the words "a|b|c".  Whole text must be consumed.  Exact:
 * decimal fractions are kept as rationals ("78.125MHz", "12.8ns"); a value
 * that is no whole number of the base unit is refused (TIME: fs, BYTES: byte)
 * except REAL and CLOCK.  Error text: "'12qs' is no time: write e.g. 12.8ns".
 */
int units_parse(enum weft_ptype type, const char *range, const char *text,
		void *out, size_t size, struct weft_err *err);
/* Checks a parsed value against "lo..hi", "lo..", "..hi", "a|b" or "" (bounds
 * carry units like the value).  "'1' is below 2" / "is above 64". */
int units_check(enum weft_ptype type, const char *range, const void *val,
		struct weft_err *err);
/* Canonical text, parseable again: "12.8ns", "2.5Gb/s", "2KiB", "100MHz". */
int units_print(enum weft_ptype type, const char *range, const void *val,
		char *buf, size_t size);
/* Human name of a type for describe: "time", "clock", "bytes"... */
const char *units_type_name(enum weft_ptype type);
/* The candidate nearest to word by edit distance (<= 1/2 of its length), or
 * NULL: for "did you mean". next(i) returns NULL at the end. */
const char *units_nearest(const char *word,
			  const char *(*next)(void *arg, size_t i), void *arg);

#endif
