/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of units, and parsing of numbers. Private to units*.c. Every factor is
 * 10^exp10 * 2^exp2 of the base unit (fs, Hz, bit/s, byte). */
#ifndef BASE_UNITS_TAB_H
#define BASE_UNITS_TAB_H

#include "base/units.h"

struct units_unit {
	const char *text; /* NULL ends a table */
	uint8_t exp10, exp2;
};

/* the value is mant * 10^exp10 */
struct units_num {
	uint64_t mant;
	int exp10;
	/* the number has too many digits, therefore `mant` is wrong */
	bool wide;
};

struct units_type {
	const char *name;    /* "time" */
	const char *phrase;  /* "a time" */
	const char *example; /* "12.8ns" */
	/* name of the base unit such as "fs", or NULL for plain numbers */
	const char *base;
};

/* Each table is in ascending order. If two units have equal factors, the first
 * is printed. */
extern const struct units_unit units_time[], units_freq[], units_rate[],
	units_bytes[];
extern const struct units_type units_types[];

/* Reads digits[.digits][e[+-]digits] or 0xdigits. Returns the text behind the
 * number, or NULL if s does not begin with a number. */
const char *units_number(const char *s, struct units_num *num);
/* Converts num to a whole number of base units. Returns 0, EDOM if it is not
 * whole, or ERANGE if it does not fit. */
int units_whole(struct units_num num, const struct units_unit *u,
		uint64_t *val_p);
/* Sets n/d to top / bottom * 10^exp10. Returns false if it does not fit. */
bool units_ratio(struct units_num top, struct units_num bottom, int exp10,
		 unsigned __int128 *n, unsigned __int128 *d);

#endif
