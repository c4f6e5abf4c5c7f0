/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are written during a run: captures, timeline, waves. */
#ifndef FRONT_CLI_RECORDERS_H
#define FRONT_CLI_RECORDERS_H

#include "front/cli/cli.h"

struct recorders {
	struct capture *cap;
	struct timeline *timeline;
	struct waves *waves;
};

/* Opens the files that the options name and attaches their recorders to the
 * experiment. Returns 0, or a negative errno with a message. */
int recorders_open(const struct cli *c, struct exp *e, struct recorders *l,
		   struct weft_err *err);
/* Closes the files. With keep == false the run was refused, and the files are
 * removed. Returns 0, or a negative errno with a message. */
int recorders_close(struct recorders *l, bool keep, struct weft_err *err);

/* Refuses a run in which two names lead to one file, because the outputs would
 * overwrite each other. The names are those of options and the experiment's
 * `input`, which may be NULL. Returns 0, or a negative errno with a message. */
int recorders_check(const struct cli *c, const char *input,
		    struct weft_err *err);

#endif
