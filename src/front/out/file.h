/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a command writes. A new file is written under a temporary name
 * in the folder of the file that it replaces, and is renamed when it is
 * complete. Therefore a command that is refused or fails leaves the old file
 * as it was. */
#ifndef FRONT_OUT_FILE_H
#define FRONT_OUT_FILE_H

#include <stdio.h>

#include "weft/types.h"

/* Default limit of a file that grows with the run, in bytes, so that a long run
 * does not fill the disk. */
#define OUT_LIMIT (2ull << 30)

struct out_file {
	FILE *f;
	uint64_t limit;	    /* bytes; 0: no limit */
	bool over;	    /* the file has reached its limit */
	const char *option; /* option with the file's name, for messages */
	char *path;
	/* temporary name, or NULL if `path` is a pipe or device that is written
	 * directly */
	char *tmp;
};

/* Opens a file for `path`, the value of the option. Returns 0, or a negative
 * errno with a message. */
int out_file_open(struct out_file *o, const char *option, const char *path,
		  struct weft_err *err);
/* Returns true when the file has reached its limit. The caller then drops
 * further output. A pipe has no limit. */
bool out_file_full(struct out_file *o);
/* Closes the file. If `keep` is set, the file replaces `path`, otherwise it is
 * removed. Returns 0. With `keep` the call returns a negative errno with a
 * message if a write failed, or if the file has reached its size limit. */
int out_file_close(struct out_file *o, bool keep, struct weft_err *err);

/* Creates an empty file in the folder of `path`. Returns its name, which the
 * caller frees, or NULL with errno when the file cannot be created. */
char *out_temp(const char *path);

/* A path, and the option or word that gave it. */
struct out_name {
	const char *option, *path; /* path NULL: the option was not given */
};
/* Refuses two names of one file. The list ends with option NULL. Returns 0, or
 * a negative errno with a message. */
int out_names_differ(const struct out_name *names, struct weft_err *err);

#endif
