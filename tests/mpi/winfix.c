/* SPDX-License-Identifier: Apache-2.0 */
/* Preload for NPopenmpi2, because that program passes NULL where MPI_INFO_NULL
 * is needed. */
#include <mpi.h>
#include <stddef.h>

int MPI_Win_create(void *base, MPI_Aint size, int unit, MPI_Info info,
		   MPI_Comm comm, MPI_Win *win)
{
	return PMPI_Win_create(base, size, unit,
			       info == NULL ? MPI_INFO_NULL : info, comm, win);
}
