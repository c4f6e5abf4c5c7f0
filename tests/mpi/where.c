/* SPDX-License-Identifier: Apache-2.0 */
/* Prints where ranks run. Each rank prints its node, the number of ranks on
 * that node and the sum in its window. Rank 0 also prints its distances to the
 * other ranks. */
#include <mpi.h>
#include <stdio.h>

enum { TRIPS = 10 };

static int me, ranks;

/* Returns half a round trip of 8 bytes between rank 0 and `peer`, in ns. */
static double distance(int peer)
{
	char b[8] = { 0 };
	double t = MPI_Wtime();

	for (int i = 0; i < TRIPS; i++) {
		if (me == 0)
			MPI_Send(b, 8, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
		MPI_Recv(b, 8, MPI_CHAR, me ? 0 : peer, 1, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		if (me)
			MPI_Send(b, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
	}
	return (MPI_Wtime() - t) / (2 * TRIPS) * 1e9;
}

/* Adds this rank + 1 to a word of every rank. All ranks do so at once. Returns
 * the sum in this rank's own word. */
static long added(void)
{
	long *mem, one = me + 1, old, sum;
	MPI_Win w;

	MPI_Win_allocate(sizeof(*mem), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mem,
			 &w);
	*mem = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, w);
	for (int i = 0; i < ranks; i++)
		MPI_Fetch_and_op(&one, &old, MPI_LONG, i, 0, MPI_SUM, w);
	MPI_Win_unlock_all(w);
	MPI_Barrier(MPI_COMM_WORLD);
	sum = *mem;
	MPI_Win_free(&w);
	return sum;
}

int main(int argc, char **argv)
{
	char name[MPI_MAX_PROCESSOR_NAME];
	int len, near;
	MPI_Comm node;
	long sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Get_processor_name(name, &len);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
			    MPI_INFO_NULL, &node);
	MPI_Comm_size(node, &near);
	sum = added();
	for (int i = 1; i < ranks; i++) {
		if (me == 0)
			printf("to %d: %.0f ns\n", i, distance(i));
		else if (me == i)
			distance(0);
	}
	printf("rank %d: %s, %d there, %ld added\n", me, name, near, sum);
	MPI_Finalize();
	return 0;
}
