/* SPDX-License-Identifier: Apache-2.0 */
/* Counts calls of MPI and, with --trace, draws them in the timeline. Each
 * function of the table exists here under its own name and passes all its
 * arguments on. Arguments of MPI are words (integers, handles, addresses). The
 * conventions of x86-64 and AArch64 let a caller pass more arguments than the
 * callee takes, so that one signature serves all calls. */
#include "preload/preload.h"

#include <dlfcn.h>
#include <stddef.h>

typedef uintptr_t word;

enum { ARGS = 14 };
#define TAKE                                                                   \
	word a0, word a1, word a2, word a3, word a4, word a5, word a6,         \
		word a7, word a8, word a9, word a10, word a11, word a12,       \
		word a13
#define PASS a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13

typedef int (*call_fn)(TAKE);

enum kind { NONE, LOOK, SIZE, ONE, EACH, SUM };
enum {
#define CALL(name, ...) ID_##name,
#include "preload/calls.def"
#undef CALL
	IDS
};
_Static_assert((int)IDS <= (int)WEFT_ATT_STATS, "numbers of weft_att_stat");

static const struct call {
	const char *name, *fortran;
	uint8_t kind, count, type, comm;
} calls[] = {
#define CALL(name, lower, kind, count, type, comm)                             \
	{ "MPI_" #name, #lower, kind, count, type, comm },
#include "preload/calls.def"
#undef CALL
};

static struct {
	call_fn c, fortran;
	int stat; /* + 1; 0: not requested yet */
} known[IDS];

/* ---- bytes ---- */

/* Returns an integer argument. Fortran passes its address. */
static int int_arg(const word *arg, unsigned int i, bool fortran)
{
	return fortran ? *(const int *)arg[i] : (int)arg[i];
}

static uint64_t type_size(const word *arg, unsigned int i, bool fortran)
{
	static int (*c)(word, int *);
	static void (*f)(word, int *, int *);
	int size = 0, error;

	if (fortran) {
		if (!f)
			f = pre_next("pmpi_type_size_");
		if (f)
			f(arg[i], &size, &error);
	} else {
		if (!c)
			c = pre_next("PMPI_Type_size");
		if (c)
			c(arg[i], &size);
	}
	return size > 0 ? (uint64_t)size : 0;
}

static int comm_size(const word *arg, unsigned int i, bool fortran)
{
	static int (*c)(word, int *);
	static void (*f)(word, int *, int *);
	int size = 0, error;

	if (fortran) {
		if (!f)
			f = pre_next("pmpi_comm_size_");
		if (f)
			f(arg[i], &size, &error);
	} else {
		if (!c)
			c = pre_next("PMPI_Comm_size");
		if (c)
			c(arg[i], &size);
	}
	return size;
}

static uint64_t calls_sum(const int *n, int ranks)
{
	int64_t all = 0;

	for (int i = 0; i < ranks; i++)
		all += n[i];
	return all > 0 ? (uint64_t)all : 0;
}

/* Returns true for MPI_IN_PLACE: 1 or -1 (Open MPI, MPICH), in Fortran the
 * address of a variable. Count and type mean nothing then, so they must not be
 * read. */
static bool in_place(word buf)
{
	static void *place;

	if (!place)
		place = dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_");
	return buf == 1 || buf == (word)-1 || (place && buf == (word)place);
}

static uint64_t bytes_of(const struct call *c, const word *arg, bool fortran)
{
	uint64_t n = 1;

	if (c->count && in_place(arg[c->count - 1]))
		return 0;
	switch (c->kind) {
	case NONE:
	case LOOK:
		return 0;
	case SIZE:
		n = (uint64_t)int_arg(arg, c->count, fortran);
		break;
	case EACH:
		n = (uint64_t)int_arg(arg, c->count, fortran) *
		    (uint64_t)comm_size(arg, c->comm, fortran);
		break;
	case SUM:
		n = calls_sum((const int *)arg[c->count],
			      comm_size(arg, c->comm, fortran));
		break;
	}
	return n ? n * type_size(arg, c->type, fortran) : 0;
}

/* ---- the call ---- */

static int count(struct weft_att *a, unsigned int id, const word *arg,
		 bool fortran)
{
	if (!known[id].stat)
		known[id].stat = weft_att_stat(a, calls[id].name) + 1;
	weft_att_stat_add(a, known[id].stat - 1,
			  bytes_of(&calls[id], arg, fortran));
	return known[id].stat - 1;
}

static call_fn next_of(unsigned int id, bool fortran)
{
	call_fn *p = fortran ? &known[id].fortran : &known[id].c;

	if (!*p)
		*p = (call_fn)pre_next(fortran ? calls[id].fortran
					       : calls[id].name);
	return *p;
}

static int calls_around(unsigned int id, bool fortran, TAKE)
{
	const word arg[ARGS] = { PASS };
	struct weft_att *a = pre_att();
	int ret, stat;

	if (!a || !pre_my_turn())
		return next_of(id, fortran)(PASS);
	stat = count(a, id, arg, fortran);
	weft_att_stat_begin(a, stat);
	weft_att_enter(a, calls[id].kind == LOOK);
	ret = next_of(id, fortran)(PASS);
	weft_att_leave(a);
	weft_att_stat_end(a, stat);
	return ret;
}

#define CALL(name, lower, ...)                                                 \
	int MPI_##name(TAKE);                                                  \
	int MPI_##name(TAKE)                                                   \
	{                                                                      \
		return calls_around(ID_##name, false, PASS);                   \
	}                                                                      \
	int lower(TAKE);                                                       \
	int lower(TAKE)                                                        \
	{                                                                      \
		return calls_around(ID_##name, true, PASS);                    \
	}
#include "preload/calls.def"
