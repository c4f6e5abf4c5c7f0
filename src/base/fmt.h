/* SPDX-License-Identifier: Apache-2.0 */
/* Text from values; numbers the same in every locale. */
#ifndef BASE_FMT_H
#define BASE_FMT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum { FMT_REAL_MAX = 32 };

/* The shortest decimal that reads back as v; "nan", "inf", "-inf". */
void fmt_real(double v, char buf[FMT_REAL_MAX]);
/* Decimal text to double; whole text, finite, no blanks, no hex. */
bool fmt_real_read(const char *text, double *v_p);
/* As vasprintf, but never NULL: malloc'ed. */
char *fmt_text(const char *fmt, va_list ap)
	__attribute__((format(printf, 1, 0)));

#endif
