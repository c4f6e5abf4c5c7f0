/* SPDX-License-Identifier: Apache-2.0 */
/* Files of other programs (`weft import`): configurations of simulators become
 * experiments, and recorded calls of MPI become traces of packets. A system
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
	const char *file, *text; /* name and content; a trace has no content,
				  * because its importer reads the file */
	size_t len;
	const char *const *args; /* settings KEY=VALUE, and further files */
	size_t n_args;
	FILE *out; /* takes the text of the experiment or the trace */
	/* differences between the file and the experiment */
	struct {
		VEC(struct import_note);
	} notes;
	size_t refused; /* notes that refuse the file */
};

struct importer {
	const char *name, *doc;
	bool trace; /* writes a trace, otherwise an experiment */
	/* Writes the experiment or trace to im->out, and adds notes. Returns 0
	 * even if notes refuse the file, or -EINVAL with a message if the file
	 * cannot be read further. */
	int (*run)(struct import *im, struct weft_err *err);
};
#define IMPORT(id, doc)                                                        \
	int import_##id(struct import *im, struct weft_err *err);
#include "systems.def"
int import_dumpi(struct import *im, struct weft_err *err);
int import_otf2(struct import *im, struct weft_err *err);
extern const struct importer importers[]; /* ended by name == NULL */
/* Returns the name of importer i, or NULL after the last importer.
 * units_nearest and completion call it. */
const char *import_next(void *unused, size_t i);

/* Adds a note. */
void import_note(struct import *im, bool refused, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void import_fini(struct import *im);

#endif
