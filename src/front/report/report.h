/* SPDX-License-Identifier: Apache-2.0 */
/* One page out of results files: the shell that web/ builds, which is part of
 * the program, and in it the results as JSON. */
#ifndef FRONT_REPORT_H
#define FRONT_REPORT_H

#include <stddef.h>

#include "base/json.h"
#include "weft/types.h"

/* Writes the page beside `out` and renames it, so that it is whole or absent.
 * Returns 0, or a negative errno with a message. */
int report_write(const char *out, const char *const *files, size_t n,
		 struct weft_err *err);

/* read.c: prints everything a results file holds as one JSON object. */
int report_read(struct json *j, const char *path, struct weft_err *err);

/* Page with a mark in place of the data; empty when web/ was not built.
 * Generated. */
extern const char report_shell[];
extern const size_t report_shell_len;
#define REPORT_MARK "/*WEFT-DATA*/"

#endif
