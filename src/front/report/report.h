/* SPDX-License-Identifier: Apache-2.0 */
/* Makes one page (HTML) of results files. The page is a shell with the results
 * as JSON inside. web/ builds the shell, which is part of the program. */
#ifndef FRONT_REPORT_H
#define FRONT_REPORT_H

#include <stddef.h>

#include "base/json.h"
#include "weft/types.h"

/* Writes the page under a temporary name in the folder of `out` and renames it,
 * so that the page is complete or absent. Returns 0, or a negative errno with a
 * message. */
int report_write(const char *out, const char *const *files, size_t n,
		 struct weft_err *err);

/* read.c: prints all tables of a results file as one JSON object. Returns 0, or
 * a negative errno with a message. */
int report_read(struct json *j, const char *path, struct weft_err *err);

/* The generated shell, with a mark at the position of the data. Empty if web/
 * was not built. */
extern const char report_shell[];
extern const size_t report_shell_len;
#define REPORT_MARK "/*WEFT-DATA*/"

#endif
