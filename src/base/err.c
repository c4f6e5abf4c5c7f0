/* SPDX-License-Identifier: Apache-2.0 */
/* Stores a user's mistake as one line of text, see struct weft_err. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "weft/types.h"

int weft_fail(struct weft_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	assert(code > 0);
	if (!err || err->code)
		return -code;
	err->code = code;
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	return -code;
}
