/* SPDX-License-Identifier: Apache-2.0 */
/* Decimal numbers. They are kept as mantissa * 10^exp10 until the unit is
 * known, so that fractions stay exact. */
#include <ctype.h>
#include <errno.h>

#include "base/units_tab.h"

typedef unsigned __int128 u128;

enum { UNITS_PLACES = 400 }; /* more decimal places than a value can have */

/* Reads digits[.digits]. Returns the text behind them, or NULL if there is no
 * digit. */
static const char *units_digits(const char *s, struct units_num *num)
{
	/* Number of zeros since the last other digit. They enter the mantissa
	 * only if another digit follows, so that trailing zeros cannot overflow
	 * it. */
	int zeros = 0;
	bool point = false, any = false, clamped = false;

	*num = (struct units_num){ 0 };
	for (; isdigit((unsigned char)*s) || (*s == '.' && !point); s++) {
		if (*s == '.') {
			point = true;
			continue;
		}
		any = true;
		clamped |= num->exp10 == -UNITS_PLACES || zeros == UNITS_PLACES;
		if (clamped)
			continue;
		num->exp10 -= point;
		if (*s == '0') {
			zeros += num->mant != 0;
			continue;
		}
		/* adds the preceding zeros, because a digit follows them */
		for (; zeros >= 0 && !num->wide; zeros--)
			num->wide = __builtin_mul_overflow(num->mant, 10,
							   &num->mant);
		num->wide |=
			__builtin_add_overflow(num->mant, *s - '0', &num->mant);
		zeros = 0;
	}
	num->wide |= clamped;
	num->exp10 = num->mant ? num->exp10 + zeros : 0;
	return any ? s : NULL;
}

static const char *units_exponent(const char *s, struct units_num *num)
{
	const char *p = s + 1;
	bool neg;
	int e = 0;

	if (*s != 'e' && *s != 'E')
		return s;
	neg = *p == '-';
	p += *p == '-' || *p == '+';
	if (!isdigit((unsigned char)*p))
		return s; /* the "e" may be the first letter of a unit */
	for (; isdigit((unsigned char)*p); p++)
		if (e < 100 * UNITS_PLACES)
			e = e * 10 + (*p - '0');
	num->exp10 += num->mant ? (neg ? -e : e) : 0;
	return p;
}

const char *units_number(const char *s, struct units_num *num)
{
	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		const char *p = s + 2;

		*num = (struct units_num){ 0 };
		for (; isxdigit((unsigned char)*p); p++) {
			int c = tolower((unsigned char)*p);

			num->wide |= num->mant >> 60 != 0;
			num->mant =
				num->mant << 4 |
				(uint64_t)(c > '9' ? c - 'a' + 10 : c - '0');
		}
		return p == s + 2 ? NULL : p;
	}
	s = units_digits(s, num);
	return s ? units_exponent(s, num) : NULL;
}

/* Multiplies *v by 10^e. Returns false if the product does not fit. */
static bool units_scale(u128 *v, int e)
{
	for (; *v && e > 0; e--)
		if (__builtin_mul_overflow(*v, (u128)10, v))
			return false;
	return true;
}

int units_whole(struct units_num num, const struct units_unit *u,
		uint64_t *val_p)
{
	/* v is below 2^104, because mant has 64 bits and exp2 is at most 40 */
	u128 v = (u128)num.mant << u->exp2;
	int e = num.exp10 + u->exp10;

	for (; v && e < 0; e++) {
		if (v % 10)
			return EDOM;
		v /= 10;
	}
	if (!units_scale(&v, e) || v > UINT64_MAX)
		return ERANGE;
	*val_p = (uint64_t)v;
	return 0;
}

/* Sets n/d to num * 10^exp10. Returns false if n or d does not fit. */
static bool units_fraction(struct units_num num, int exp10, u128 *n, u128 *d)
{
	int e = num.exp10 + exp10;

	*n = num.mant;
	*d = 1;
	return e >= 0 ? units_scale(n, e) : units_scale(d, -e);
}

bool units_ratio(struct units_num top, struct units_num bottom, int exp10,
		 u128 *n, u128 *d)
{
	u128 n2, d2;

	return units_fraction(top, exp10, n, d) &&
	       units_fraction(bottom, 0, &n2, &d2) &&
	       !__builtin_mul_overflow(*n, d2, n) &&
	       !__builtin_mul_overflow(*d, n2, d);
}
