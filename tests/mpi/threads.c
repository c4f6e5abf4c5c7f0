/* SPDX-License-Identifier: Apache-2.0 */
/* MPI_THREAD_MULTIPLE: a ping-pong by the thread that called MPI_Init_thread,
 * then a ping-pong by another thread. Rank 0 prints half of the mean round trip
 * of each, in ns.
 *
 * threads [TURNS] */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int rank_, turns;

static void *pingpong(void *ns)
{
	double t = 0;
	char b[8];

	for (int i = -1; i < turns; i++) {
		if (i == 0)
			t = MPI_Wtime();
		if (!rank_)
			MPI_Send(b, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
		MPI_Recv(b, 8, MPI_CHAR, !rank_, 1, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		if (rank_)
			MPI_Send(b, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
	}
	*(double *)ns = (MPI_Wtime() - t) * 1e9 / 2 / turns;
	return NULL;
}

int main(int argc, char **argv)
{
	double first, other;
	pthread_t id;
	int has;

	turns = argc > 1 ? atoi(argv[1]) : 20;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &has);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
	if (has != MPI_THREAD_MULTIPLE)
		MPI_Abort(MPI_COMM_WORLD, 2);
	pingpong(&first);
	if (pthread_create(&id, NULL, pingpong, &other))
		MPI_Abort(MPI_COMM_WORLD, 3);
	pthread_join(id, NULL);
	if (!rank_)
		printf("first %.0f other %.0f\n", first, other);
	MPI_Finalize();
	return 0;
}
