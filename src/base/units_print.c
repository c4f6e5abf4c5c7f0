/* SPDX-License-Identifier: Apache-2.0 */
/* Prints values with units as text. The text is canonical and exact, and
 * units_parse reads it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "base/units_tab.h"

/* Holds the text of any 64-bit fraction with a unit. */
typedef char units_text_t[64];

/* Prints word number i of the list "a|b|c", or i itself if the list has no such
 * word. */
static void units_print_word(const char *list, uint32_t i, units_text_t out)
{
	uint32_t k = 0;

	for (; *list && k < i; k++) {
		list += strcspn(list, "|");
		list += *list == '|';
	}
	if (k == i && *list)
		snprintf(out, sizeof(units_text_t), "%.*s",
			 (int)strcspn(list, "|"), list);
	else
		snprintf(out, sizeof(units_text_t), "%" PRIu32, i);
}

static uint64_t units_pow10(int e)
{
	uint64_t v = 1;

	while (e-- > 0)
		v *= 10;
	return v;
}

/* Prints v as whole.fraction in the largest decimal unit that is at most v. */
static void units_print_dec(const struct units_unit *tab, uint64_t v,
			    units_text_t out)
{
	const struct units_unit *u = tab;
	char frac[24] = "";
	uint64_t f;

	for (const struct units_unit *t = tab; t->text && !t->exp2; t++)
		if (v >= units_pow10(t->exp10))
			u = t;
	f = units_pow10(u->exp10);
	if (v % f) {
		int n = snprintf(frac, sizeof(frac), ".%0*" PRIu64, u->exp10,
				 v % f);

		while (frac[n - 1] == '0')
			frac[--n] = '\0';
	}
	snprintf(out, sizeof(units_text_t), "%" PRIu64 "%s%s", v / f, frac,
		 u->text);
}

/* Prints v as a whole number of the largest binary unit that divides it. */
static void units_print_bytes(uint64_t v, units_text_t out)
{
	const struct units_unit *u = &units_bytes[0];

	for (const struct units_unit *t = units_bytes; t->text; t++)
		if (t->exp2 && v && v % (UINT64_C(1) << t->exp2) == 0)
			u = t;
	snprintf(out, sizeof(units_text_t), "%" PRIu64 "%s", v >> u->exp2,
		 u->text);
}

/* Prints a clock exactly. The text is the frequency if that is a whole number
 * of Hz, otherwise the period, which may be a fraction of fs. */
static void units_print_clock(const struct weft_clock *c, units_text_t out)
{
	unsigned __int128 hz = (unsigned __int128)WEFT_SEC * c->den;

	if (!c->num)
		strcpy(out, "0Hz");
	else if (hz % c->num == 0)
		units_print_dec(units_freq, (uint64_t)(hz / c->num), out);
	else if (c->den == 1)
		units_print_dec(units_time, c->num, out);
	else
		snprintf(out, sizeof(units_text_t), "%" PRIu64 "/%" PRIu64 "fs",
			 c->num, c->den);
}

int units_print(enum weft_ptype type, const char *range, const void *val,
		char *buf, size_t size)
{
	units_text_t out = "";

	switch (type) {
	case WEFT_P_BOOL:
		strcpy(out, *(const bool *)val ? "true" : "false");
		break;
	case WEFT_P_U32:
		snprintf(out, sizeof(out), "%" PRIu32, *(const uint32_t *)val);
		break;
	case WEFT_P_U64:
		snprintf(out, sizeof(out), "%" PRIu64, *(const uint64_t *)val);
		break;
	case WEFT_P_REAL:
		fmt_real(*(const double *)val, out);
		break;
	case WEFT_P_TIME:
		units_print_dec(units_time, *(const uint64_t *)val, out);
		break;
	case WEFT_P_CLOCK:
		units_print_clock(val, out);
		break;
	case WEFT_P_RATE:
		units_print_dec(units_rate, *(const uint64_t *)val, out);
		break;
	case WEFT_P_BYTES:
		units_print_bytes(*(const uint64_t *)val, out);
		break;
	case WEFT_P_ENUM:
		units_print_word(range, *(const uint32_t *)val, out);
		break;
	case WEFT_P_STR:
		return snprintf(buf, size, "%s", (const char *)val);
	}
	return snprintf(buf, size, "%s", out);
}
