/* SPDX-License-Identifier: Apache-2.0 */
/* Code that the parts of all64 about collectives share. Each case is written
 * once, as NAME(a, nb), and runs with blocking calls (NAME_b) and with
 * nonblocking ones (NAME_i). */
#ifndef ALL64_COLL_H
#define ALL64_COLL_H

#include "all64.h"

#define CALL(nb, name, ...)                                                    \
	do {                                                                   \
		if (nb) {                                                      \
			MPI_Request r_;                                        \
			MPI_I##name(__VA_ARGS__, &r_);                         \
			MPI_Wait(&r_, MPI_STATUS_IGNORE);                      \
		} else {                                                       \
			PICK_##name(__VA_ARGS__);                              \
		}                                                              \
	} while (0)
#define PICK_barrier		  MPI_Barrier
#define PICK_bcast		  MPI_Bcast
#define PICK_gather		  MPI_Gather
#define PICK_gatherv		  MPI_Gatherv
#define PICK_scatter		  MPI_Scatter
#define PICK_scatterv		  MPI_Scatterv
#define PICK_allgather		  MPI_Allgather
#define PICK_allgatherv		  MPI_Allgatherv
#define PICK_alltoall		  MPI_Alltoall
#define PICK_alltoallv		  MPI_Alltoallv
#define PICK_alltoallw		  MPI_Alltoallw
#define PICK_reduce		  MPI_Reduce
#define PICK_allreduce		  MPI_Allreduce
#define PICK_reduce_scatter	  MPI_Reduce_scatter
#define PICK_reduce_scatter_block MPI_Reduce_scatter_block
#define PICK_scan		  MPI_Scan
#define PICK_exscan		  MPI_Exscan

/* Defines the cases NAME_b and NAME_i, which call NAME(a, nb) with nb = false
 * and nb = true. */
#define BOTH(name)                                                             \
	static void name##_b(struct all *a)                                    \
	{                                                                      \
		name(a, false);                                                \
	}                                                                      \
	static void name##_i(struct all *a)                                    \
	{                                                                      \
		name(a, true);                                                 \
	}                                                                      \
	static void name##_b(struct all *a);                                   \
	static void name##_i(struct all *a)

/* Returns n words of -1. all_word() returns the word with index `i` that rank
 * `r` sends to rank `to`. */
int *all_ints(int n);
int all_word(int r, int to, int i);

/* Parts of a vector: rank r has r % 5 words, with a gap of one word between the
 * parts. */
struct all_parts {
	int *n, *at, sum;
};
struct all_parts all_parts_of(const struct all *a);
void all_parts_free(struct all_parts *p);

#endif
