/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a command writes.  A file grows beside the one it replaces, under
 * a name of its own, and takes its place when it is whole: a command that is
 * refused or fails leaves what was there before. */
#ifndef FRONT_OUT_FILE_H
#define FRONT_OUT_FILE_H

#include <stdio.h>

#include "weft/types.h"

/* Bytes after which a file that grows with the run ends, unless another limit
 * is given: a long run must not fill the disk. */
#define OUT_LIMIT (2ull << 30)

struct out_file {
	FILE *f;
	uint64_t limit;	    /* 0: none */
	bool over;	    /* it has ended */
	const char *option; /* option that named the file, for messages */
	char *path;
	char *tmp; /* NULL: written in place (a pipe, a device) */
};

/* Opens a file for `path`, which the option named.  Returns 0, or a negative
 * errno with a message. */
int out_file_open(struct out_file *o, const char *option, const char *path,
		  struct weft_err *err);
/* Reports that the limit is reached. More output is dropped. A pipe has no
 * limit. */
bool out_file_full(struct out_file *o);
/* Closes it, and says so when it has ended early.  With keep it replaces
 * `path`, unless not all could be written: negative errno with a message.
 * Without keep nothing is left of it. */
int out_file_close(struct out_file *o, bool keep, struct weft_err *err);

/* Creates an empty file beside `path`; its name is the caller's to free, NULL
 * with errno when it cannot be created. */
char *out_temp(const char *path);

/* A path, and the option or word that named it. */
struct out_name {
	const char *option, *path; /* path NULL: not given */
};
/* Refuses two names of one file; the list ends with option NULL. */
int out_names_differ(const struct out_name *names, struct weft_err *err);

#endif
