/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of all64 share: who this rank is, and the tally. */
#ifndef ALL64_H
#define ALL64_H

#include <mpi.h>
#include <stdbool.h>

struct all {
	MPI_Comm comm;
	int rank, size;
	long checks, failed;
	const char *part; /* what runs now, for messages */
};

struct all_case {
	const char *name;
	void (*run)(struct all *a);
};

/* Counts one comparison; the first few that fail are told. */
void all_check(struct all *a, bool ok, const char *what, int line);
#define CHECK(a, ok) all_check((a), (ok), #ok, __LINE__)

/* Lists end with a name of NULL. */
extern const struct all_case all_pt2pt[], all_coll[], all_icoll[], all_reduce[],
	all_ireduce[], all_neigh[], all_types[], all_onesided[], all_dynamic[],
	all_groups[];

#endif
