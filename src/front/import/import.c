/* SPDX-License-Identifier: Apache-2.0 */
/* List of importers, and notes of an import (import.h). */
#include "front/import/import.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/need.h"

const struct importer importers[] = {
#define IMPORT(id, doc_) { .name = #id, .doc = doc_, .run = import_##id },
#include "systems.def"
	{ .name = "dumpi",
	  .doc = "calls of MPI, text of dumpi2ascii -a for each rank",
	  .trace = true,
	  .run = import_dumpi },
	{ .name = "otf2",
	  .doc = "calls of MPI, text of otf2-print -A",
	  .trace = true,
	  .run = import_otf2 },
	{ 0 },
};

const char *import_next(void *unused, size_t i)
{
	return importers[i].name;
}

void import_note(struct import *im, bool refused, const char *fmt, ...)
{
	struct import_note n = { .refused = refused };
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&n.text, fmt, ap);
	va_end(ap);
	if (len < 0)
		n.text = need(NULL);
	vec_push(&im->notes, n);
	im->refused += refused;
}

void import_fini(struct import *im)
{
	for (size_t i = 0; i < im->notes.n; i++)
		free(im->notes.at[i].text);
	vec_free(&im->notes);
}
