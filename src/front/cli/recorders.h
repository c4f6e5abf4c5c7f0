/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are written while a run goes on: captures, timeline, waves. */
#ifndef FRONT_CLI_RECORDERS_H
#define FRONT_CLI_RECORDERS_H

#include "front/cli/cli.h"

struct recorders {
	struct capture *cap;
	struct timeline *timeline;
	struct waves *waves;
};

/* Opens what was asked for and sits down on the experiment. */
int recorders_open(const struct cli *c, struct exp *e, struct recorders *l,
		   struct weft_err *err);
/* Without keep nothing is left of the files: the run was refused. */
int recorders_close(struct recorders *l, bool keep, struct weft_err *err);

/* The files that a run writes differ from each other, from `input` and from
 * plug-ins. */
int recorders_check(const struct cli *c, const char *input,
		    struct weft_err *err);

#endif
