/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of real numbers to text and back. The library may be loaded into a
 * program whose locale has another decimal point. Therefore output replaces
 * that point, and input does not depend on it. */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"

/* Puts '.' where the locale has put another decimal point. */
static void fmt_point(char *buf)
{
	size_t good = strspn(buf, "+-0123456789");
	char *p = buf + good;
	size_t bad = strcspn(p, "0123456789e");

	if (!bad || !*p)
		return;
	*p = '.';
	memmove(p + 1, p + bad, strlen(p + bad) + 1);
}

void fmt_real(double v, char buf[FMT_REAL_MAX])
{
	if (isnan(v)) {
		strcpy(buf, "nan");
		return;
	}
	if (isinf(v)) {
		strcpy(buf, v < 0 ? "-inf" : "inf");
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		double back;

		snprintf(buf, FMT_REAL_MAX, "%.*g", digits, v);
		fmt_point(buf);
		if (fmt_real_read(buf, &back) && back == v)
			return;
	}
}

bool fmt_real_read(const char *text, double *v_p)
{
	locale_t c;
	char *end;
	double v;

	if (!*text || strspn(text, "+-.0123456789eE") != strlen(text))
		return false;
	c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!c)
		return false;
	v = strtod_l(text, &end, c);
	freelocale(c);
	if (*end || !isfinite(v))
		return false;
	*v_p = v;
	return true;
}

char *fmt_text(const char *fmt, va_list ap)
{
	char *s = NULL;

	if (vasprintf(&s, fmt, ap) < 0)
		abort();
	return s;
}
