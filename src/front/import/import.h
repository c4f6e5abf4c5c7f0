/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations of other simulators as experiments (`weft import`). A system
 * whose components stand for those of another simulator has an importer, and
 * names it by IMPORT in its system.def. */
#ifndef FRONT_IMPORT_H
#define FRONT_IMPORT_H

#include <stdio.h>

#include "base/vec.h"
#include "weft/types.h"

struct import_note {
	/* the experiment is not written, because it would differ from the
	 * file */
	bool refused;
	char *text;
};

/* A file that is imported. */
struct import {
	const char *file, *text; /* name and content */
	size_t len;
	const char *const *args; /* settings KEY=VALUE of the command line */
	size_t n_args;
	FILE *out; /* takes the text of the experiment */
	/* differences between the file and the experiment */
	struct {
		VEC(struct import_note);
	} notes;
	size_t refused; /* notes that refuse the file */
};

struct importer {
	const char *name, *doc;
	/* Writes the experiment to im->out, and adds notes. Returns 0 even if
	 * notes refuse the file, or -EINVAL with a message if the file cannot
	 * be read further. */
	int (*run)(struct import *im, struct weft_err *err);
};
#define IMPORT(id, doc)                                                        \
	int import_##id(struct import *im, struct weft_err *err);
#include "systems.def"
extern const struct importer importers[]; /* ended by name == NULL */
/* Returns the name of importer i, or NULL after the last importer.
 * units_nearest and completion call it. */
const char *import_next(void *unused, size_t i);

/* Adds a note. */
void import_note(struct import *im, bool refused, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void import_fini(struct import *im);

#endif
