/* SPDX-License-Identifier: Apache-2.0 */
/* State that all parts of all64 share: this rank's number, and the number of
 * its checks. */
#ifndef ALL64_H
#define ALL64_H

#include <mpi.h>
#include <stdbool.h>

struct all {
	MPI_Comm comm;
	int rank, size;
	long checks, failed;
	const char *part; /* name of the running part, for messages */
};

struct all_case {
	const char *name;
	void (*run)(struct all *a);
};

/* Counts a comparison and prints the first few that fail. */
void all_check(struct all *a, bool ok, const char *what, int line);
#define CHECK(a, ok) all_check((a), (ok), #ok, __LINE__)

/* Lists of cases. Each list ends with an element whose name is NULL. */
extern const struct all_case all_pt2pt[], all_coll[], all_icoll[], all_reduce[],
	all_ireduce[], all_neigh[], all_types[], all_onesided[], all_dynamic[],
	all_groups[];

#endif
