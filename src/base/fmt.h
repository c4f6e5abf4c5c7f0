/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of values to text. Numbers are independent of the locale, because
 * results are compared byte by byte. */
#ifndef BASE_FMT_H
#define BASE_FMT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum { FMT_REAL_MAX = 32 };

/* Writes the shortest decimal that reads back as v, or "nan", "inf", "-inf". */
void fmt_real(double v, char buf[FMT_REAL_MAX]);
/* Reads decimal text to a double. Returns false unless the whole text is a
 * finite number without blanks or hex digits. */
bool fmt_real_read(const char *text, double *v_p);
/* Formats like vasprintf, but never returns NULL. The caller frees the text. */
char *fmt_text(const char *fmt, va_list ap)
	__attribute__((format(printf, 1, 0)));

#endif
