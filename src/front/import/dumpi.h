/* SPDX-License-Identifier: Apache-2.0 */
/* Text of sst-dumpi's `dumpi2ascii -a`, a file for each rank. dumpi.c parses
 * the lines. dumpi_calls.c translates the calls.
 *
 * Source: sst-dumpi, program dumpi2ascii and its constants. */
#ifndef FRONT_IMPORT_DUMPI_H
#define FRONT_IMPORT_DUMPI_H

#include "front/import/mpi_trace.h"
#include "front/import/text_lines.h"

enum {
	DUMPI_COMM_NULL = 1,
	DUMPI_COMM_WORLD,
	DUMPI_COMM_SELF,
	DUMPI_REQUEST_NULL = 1,
	DUMPI_TYPES = 65536,	  /* datatypes have smaller numbers */
	DUMPI_REQUESTS = 1 << 20, /* requests have smaller numbers */
};

/* A request that has not ended. */
struct dumpi_request {
	/* DUMPI_SEND: a persistent send. DUMPI_RECV: any receive. DUMPI_IDLE:
	 * the end of the request has no effect. */
	enum { DUMPI_IDLE, DUMPI_SEND, DUMPI_RECV } kind;
	bool persistent, started;
	struct mpi_call call; /* bytes: count; made: datatype */
};

/* A rank while its file is read. */
struct dumpi {
	struct mpi_trace *t;
	uint32_t rank;
	struct text_lines lines;
	struct weft_err *err;
	/* the present call: `name` is "" between calls */
	char name[64];
	uint64_t time;
	uint32_t line;
	struct {
		VEC(char); /* parameters as `NAME=VALUE`, each with a 0 at its
			    * end */
	} params;
	struct {
		VEC(struct dumpi_request);
	} requests;
	struct {
		VEC(int64_t); /* by number: bytes of a datatype, or -1 */
	} types;
	bool ended; /* MPI_Finalize has returned */
};

struct dumpi_list {
	VEC(int64_t);
};

/* dumpi_params.c: parameters of the present call. A function that returns int
 * returns 0, or -EINVAL with a message that names the call and its line. */

/* Reads a number, or one in 0..end-1. */
int param_int(struct dumpi *d, const char *name, int32_t *value_p);
int param_small(struct dumpi *d, const char *name, uint32_t end,
		uint32_t *value_p);
/* Reads `[1, 2, 3]`, numbers of at most `high`, into v. `<IGNORED>` is an empty
 * list. */
int param_list(struct dumpi *d, const char *name, int64_t high,
	       struct dumpi_list *v);
/* Returns -EINVAL with a message that `text` is not a valid value of the
 * parameter. */
int param_fail(struct dumpi *d, const char *name, const char *text);
/* Finds a field, e.g. `source=`, of status i of a list. Returns false if it was
 * not recorded. */
bool param_status(const struct dumpi *d, const char *list, size_t i,
		  const char *field, int32_t *value_p);

/* Carries out the present call, all of whose parameters are known. */
int dumpi_call(struct dumpi *d);
/* Multiplies the counts of all calls with the sizes of their datatypes. */
int dumpi_sizes(struct dumpi *d);
/* Sets the size of a datatype. */
void dumpi_type(struct dumpi *d, uint32_t type, int64_t size);
/* Sets sizes of the datatypes that MPI defines. */
void dumpi_types_init(struct dumpi *d);

#endif
