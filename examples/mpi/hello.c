/* SPDX-License-Identifier: Apache-2.0 */
/* Each rank greets the next one around a ring.  Rank 0 prints how long a round
 * took by MPI_Wtime, which is simulated time under weft exec.
 *
 *     mpicc.openmpi examples/mpi/hello.c -o hello
 *     build/weft exec --fabric exec/extoll-torus-4x4x4 -n 8 -- ./hello
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int rank, ranks, from = -1;
	double start;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, &from, 1,
		     MPI_INT, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	if (!rank)
		printf("rank 0 of %d was greeted by rank %d after %.3f us\n",
		       ranks, from, (MPI_Wtime() - start) * 1e6);
	MPI_Finalize();
	return 0;
}
