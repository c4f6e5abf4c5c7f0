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
	int stat; /* number of the call's statistics + 1; 0: not requested
		   * yet */
} known[IDS];

/* ---- bytes ---- */

/* Returns an integer argument. Fortran passes its address. */
static int int_arg(const word *arg, unsigned int i, bool fortran)
{
	return fortran ? *(const int *)arg[i] : (int)arg[i];
}

enum sized { TYPE, COMM };

/* Returns the size of a type or a communicator, 0 if it is unknown. */
static int size_of(enum sized what, word handle, bool fortran)
{
	static const char *const names[][2] = {
		[TYPE] = { "PMPI_Type_size", "pmpi_type_size_" },
		[COMM] = { "PMPI_Comm_size", "pmpi_comm_size_" },
	};
	static struct {
		int (*c)(word, int *);
		void (*f)(word, int *, int *);
	} fns[2];
	int size = 0, error;

	if (fortran) {
		if (!fns[what].f)
			fns[what].f = pre_next(names[what][1]);
		if (fns[what].f)
			fns[what].f(handle, &size, &error);
	} else {
		if (!fns[what].c)
			fns[what].c = pre_next(names[what][0]);
		if (fns[what].c)
			fns[what].c(handle, &size);
	}
	return size > 0 ? size : 0;
}

/* Returns true for MPI_IN_PLACE, which is 1 in Open MPI, -1 in MPICH, and in
 * Fortran the address of a variable. Count and type have no meaning then, so
 * they must not be read. */
static bool in_place(word buf)
{
	static void *place;

	if (!place)
		place = dlsym(RTLD_DEFAULT, "mpi_fortran_in_place_");
	return buf == 1 || buf == (word)-1 || (place && buf == (word)place);
}

static uint64_t bytes_of(const struct call *c, const word *arg, bool fortran)
{
	int64_t sum = 0;
	uint64_t n = 1;
	int ranks;

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
		    (uint64_t)size_of(COMM, arg[c->comm], fortran);
		break;
	case SUM:
		ranks = size_of(COMM, arg[c->comm], fortran);
		for (int i = 0; i < ranks; i++)
			sum += ((const int *)arg[c->count])[i];
		n = sum > 0 ? (uint64_t)sum : 0;
		break;
	}
	return n ? n * (uint64_t)size_of(TYPE, arg[c->type], fortran) : 0;
}

/* ---- the call ---- */

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
	if (!known[id].stat)
		known[id].stat = weft_att_stat(a, calls[id].name) + 1;
	stat = known[id].stat - 1;
	weft_att_stat_add(a, stat, bytes_of(&calls[id], arg, fortran));
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
