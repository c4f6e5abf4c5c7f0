/* SPDX-License-Identifier: Apache-2.0 */
/* MPI_Compare_and_swap and MPI_Fetch_and_op of rank 0 on a word of rank 1,
 * under every kind of synchronisation, while rank 1 waits in a barrier.
 *
 *     atomics [TURNS] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank_, wrong;

static int turn_of(int type, const void *res)
{
	return type == 0   ? *(const signed char *)res
	       : type == 1 ? *(const int *)res
			   : (int)*(const long *)res;
}

static void set(int type, void *p, int val)
{
	*(long *)p = 0;
	if (type == 0)
		*(signed char *)p = (signed char)val;
	else if (type == 1)
		*(int *)p = val;
	else
		*(long *)p = val;
}

/* Increments a word whose value must be i, and checks the old value. */
static void one(MPI_Win win, int type, int i, int fop)
{
	const MPI_Datatype types[] = { MPI_SIGNED_CHAR, MPI_INT, MPI_LONG };
	long res = -1, old, new;

	set(type, &old, i);
	set(type, &new, fop ? 1 : i + 1);
	if (fop)
		MPI_Fetch_and_op(&new, &res, types[type], 1, 0, MPI_SUM, win);
	else
		MPI_Compare_and_swap(&new, &old, &res, types[type], 1, 0, win);
	MPI_Win_flush(1, win);
	if (turn_of(type, &res) == i)
		return;
	wrong = 1;
	printf("type %d: %d is %d\n", type, i, turn_of(type, &res));
}

static void turns(MPI_Win win, int type, int n, int fop, int lock_each)
{
	if (!lock_each)
		MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
	for (int i = 0; i < n; i++) {
		if (lock_each)
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
		one(win, type, i, fop);
		if (lock_each)
			MPI_Win_unlock(1, win);
	}
	if (!lock_each)
		MPI_Win_unlock(1, win);
}

static void window(int own, int type, int n, int fop, int lock_each)
{
	long *mem = NULL;
	MPI_Win win;

	if (own) {
		mem = calloc(1, sizeof(*mem));
		MPI_Win_create(mem, sizeof(*mem), 1, MPI_INFO_NULL,
			       MPI_COMM_WORLD, &win);
	} else {
		MPI_Win_allocate(sizeof(*mem), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
				 &mem, &win);
	}
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank_, 0, win);
	*mem = 0;
	MPI_Win_unlock(rank_, win);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank_)
		turns(win, type, n, fop, lock_each);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, rank_, 0, win);
	wrong |= rank_ && turn_of(type, mem) != n;
	MPI_Win_unlock(rank_, win);
	MPI_Win_free(&win);
	if (own)
		free(mem);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
	for (int i = 0; i < 24; i++)
		window(i & 1, i / 8, n, i >> 1 & 1, i >> 2 & 1);
	if (!rank_ && !wrong)
		printf("24 ways are right\n");
	MPI_Finalize();
	return wrong;
}
