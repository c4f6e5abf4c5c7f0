/* SPDX-License-Identifier: Apache-2.0 */
/* A program that uses those parts of MPI that a fabric can get wrong: point to
 * point, all collectives (also nonblocking ones and those of neighbours on a
 * torus), one-sided access with each kind of synchronisation, derived types.
 * Every result is compared with its expected value.  Any number of ranks is
 * possible, but the program is meant for 64 on a 4 x 4 x 4 torus.
 *
 * all64 [-t] [PART]
 *
 * -t prints the duration of each case by MPI_Wtime. PART runs only one part. */
#include "all64.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	const struct all_case *cases;
	bool named; /* runs only when its name is given */
} parts[] = {
	{ "pt2pt", all_pt2pt },
	{ "coll", all_coll },
	{ "icoll", all_icoll },
	{ "reduce", all_reduce },
	{ "ireduce", all_ireduce },
	{ "neigh", all_neigh },
	{ "types", all_types },
	{ "onesided", all_onesided },
	/* Runs only by name, because osc/rdma of Open MPI 4.1 locks
	 * regions_lock of another node twice. */
	{ "dynamic", all_dynamic, true },
};

void all_check(struct all *a, bool ok, const char *what, int line)
{
	a->checks++;
	if (!ok && a->failed++ < 5)
		fprintf(stderr, "rank %d: %s: line %d: not %s\n", a->rank,
			a->part, line, what);
}

static void run_case(struct all *a, const struct all_case *c, bool times)
{
	double t0, t;

	a->part = c->name;
	MPI_Barrier(a->comm);
	t0 = MPI_Wtime();
	c->run(a);
	MPI_Barrier(a->comm);
	t = MPI_Wtime() - t0;
	if (times && a->rank == 0)
		printf("  %-24s %12.3f us\n", c->name, t * 1e6);
}

static void run_part(struct all *a, unsigned int i, bool times)
{
	const struct all_case *c;
	long mine[2] = { -a->checks, -a->failed }, sum[2] = { 0, 0 };

	for (c = parts[i].cases; c->name != NULL; c++)
		run_case(a, c, times);
	mine[0] += a->checks;
	mine[1] += a->failed;
	MPI_Reduce(mine, sum, 2, MPI_LONG, MPI_SUM, 0, a->comm);
	if (a->rank == 0)
		printf("%s: %ld checks, %ld failed\n", parts[i].name, sum[0],
		       sum[1]);
}

int main(int argc, char **argv)
{
	struct all a = { .comm = MPI_COMM_WORLD };
	const char *only = NULL;
	bool times = false;
	long all = 0;
	int k;

	MPI_Init(&argc, &argv);
	for (k = 1; k < argc; k++)
		if (strcmp(argv[k], "-t") == 0)
			times = true;
		else
			only = argv[k];
	MPI_Comm_rank(a.comm, &a.rank);
	MPI_Comm_size(a.comm, &a.size);
	for (unsigned int i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (only == NULL ? !parts[i].named
				 : strcmp(only, parts[i].name) == 0)
			run_part(&a, i, times);
	MPI_Allreduce(&a.failed, &all, 1, MPI_LONG, MPI_SUM, a.comm);
	if (a.rank == 0)
		printf("all64: %d ranks, %ld failed\n", a.size, all);
	MPI_Finalize();
	return all != 0;
}
