/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as text, the same in every locale. */
#ifndef BASE_FMT_H
#define BASE_FMT_H

#include <stdbool.h>
#include <stddef.h>

enum { FMT_REAL_MAX = 32 };

/* The shortest decimal that reads back as v; "nan", "inf", "-inf". */
void fmt_real(double v, char buf[FMT_REAL_MAX]);
/* Decimal text to double; whole text, finite, no blanks, no hex. */
bool fmt_real_read(const char *text, double *v_p);

#endif
