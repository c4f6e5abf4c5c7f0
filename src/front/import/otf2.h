/* SPDX-License-Identifier: Apache-2.0 */
/* Text of `otf2-print -A`. otf2_defs.c reads the definitions at its beginning,
 * otf2.c the events after them.
 *
 * Source: output of otf2-print 3.0; Score-P (meaning of `Sent` and `Received`
 * of a collective). */
#ifndef FRONT_IMPORT_OTF2_H
#define FRONT_IMPORT_OTF2_H

#include "front/import/mpi_trace.h"
#include "front/import/text_lines.h"

struct otf2_location {
	uint64_t id, events, seen;
	uint32_t rank;	/* or UINT32_MAX */
	uint64_t begin; /* time of MPI_COLLECTIVE_BEGIN */
	bool begun;
};

struct otf2_group {
	enum otf2_group_kind {
		OTF2_GROUP_NONE,      /* not defined */
		OTF2_GROUP_LOCATIONS, /* members: locations, by rank */
		OTF2_GROUP_RANKS,     /* members: ranks */
		OTF2_GROUP_SELF,
	} kind;
	uint32_t line;
	struct {
		VEC(uint64_t);
	} members;
};

struct otf2 {
	struct mpi_trace *t;
	struct text_lines lines;
	struct weft_err *err;
	enum {
		OTF2_HEAD,
		OTF2_DEFS,
		OTF2_EVENTS,
	} section;
	bool clock; /* CLOCK_PROPERTIES was read */
	struct {
		VEC(struct otf2_location); /* ascending by id once events begin
					    */
	} locations;
	struct {
		VEC(struct otf2_group); /* by number */
	} groups;
	struct {
		VEC(uint32_t); /* by number: its group, or MPI_NO_COMM */
	} comms;
};

/* Reads a line of the definitions, which has a type, an optional number and
 * attributes. */
int otf2_define(struct otf2 *o);
/* Makes ranks and communicators of all definitions. */
int otf2_ranks_make(struct otf2 *o);
void otf2_defs_fini(struct otf2 *o);
/* Returns -EINVAL with a message about the present line. */
int otf2_fail(struct otf2 *o, const char *what);
/* Returns the text after the last `mark` of a line, or NULL if there is no
 * mark. Earlier marks may be part of a name, which can contain any text. */
const char *otf2_behind(const char *line, const char *mark);

#endif
