/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a text file that may have any size. */
#ifndef FRONT_IMPORT_TEXT_LINES_H
#define FRONT_IMPORT_TEXT_LINES_H

#include <stdio.h>

#include "weft/types.h"

enum { TEXT_LINE = 4 << 20 }; /* longest line in bytes */

struct text_lines {
	FILE *f;
	const char *name; /* of the file, for messages */
	char *line;	  /* the present line without its end, as a string */
	size_t len, cap;
	uint32_t no; /* number of the line, from 1 */
};

/* Opens a file, or standard input for "-". The name must outlive t. Returns 0,
 * or a negative errno with a message for a file that cannot be opened. */
int text_lines_open(struct text_lines *t, const char *name,
		    struct weft_err *err);
/* Reads the next line. Returns 1, 0 at the end of the file, or a negative errno
 * with a message for a line that is too long, that holds a byte 0 or that
 * cannot be read. */
int text_lines_next(struct text_lines *t, struct weft_err *err);
/* Returns -EINVAL with the message "FILE:LINE: ..." about a line. */
int text_lines_fail(const struct text_lines *t, uint32_t line,
		    struct weft_err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Closes the file and frees the line. A zeroed struct is allowed. */
void text_lines_close(struct text_lines *t);

/* Copies at most 40 characters of a text to buf, which has 44 bytes, for a
 * message. Replaces unprintable characters with `?`. Returns buf. */
const char *text_shown(char *buf, const char *text, size_t len);
/* Reads a decimal number of 1 to 18 digits, which may be negative if low < 0.
 * Returns the first character after the number, or NULL if there is no number
 * or if it is not in low..high. */
const char *text_number(const char *p, int64_t low, int64_t high,
			int64_t *value_p);

#endif
