/* SPDX-License-Identifier: Apache-2.0 */
/* Tests collectives that compute, and groups of ranks. */
#include "all64_coll.h"

#include <stdlib.h>

static void reduce(struct all *a, bool nb)
{
	int root = a->size / 2, last = a->size - 1;
	int in[2] = { a->rank + 1, -a->rank }, out[2] = { 0, 0 };
	struct {
		double v;
		int at;
	} mine = { (double)((a->rank * 7 + 3) % a->size), a->rank },
	  top = { 0, 0 };

	CALL(nb, reduce, in, out, 2, MPI_INT, MPI_SUM, root, a->comm);
	CHECK(a, a->rank != root || out[0] == a->size * (a->size + 1) / 2);
	CHECK(a, a->rank != root || out[1] == -(a->size * last / 2));
	CALL(nb, reduce, in, out, 2, MPI_INT, MPI_MIN, root, a->comm);
	CHECK(a, a->rank != root || (out[0] == 1 && out[1] == -last));
	CALL(nb, allreduce, &mine, &top, 1, MPI_DOUBLE_INT, MPI_MAXLOC,
	     a->comm);
	CHECK(a, (top.at * 7 + 3) % a->size == (int)top.v);
}
BOTH(reduce);

static void allreduce_of(struct all *a, bool nb, int n)
{
	double *v = malloc((size_t)n * sizeof(*v));
	int sum = a->size * (a->size - 1) / 2;
	bool ok = true;

	for (int i = 0; i < n; i++)
		v[i] = a->rank + (double)i * 0.5;
	CALL(nb, allreduce, MPI_IN_PLACE, v, n, MPI_DOUBLE, MPI_SUM, a->comm);
	for (int i = 0; i < n; i++)
		ok = ok && v[i] == sum + a->size * (double)i * 0.5;
	CHECK(a, ok);
	free(v);
}

static void allreduce(struct all *a, bool nb)
{
	unsigned long bit = 1UL << (a->rank % 64), all = 0;

	allreduce_of(a, nb, 1);
	allreduce_of(a, nb, 4000);
	CALL(nb, allreduce, &bit, &all, 1, MPI_UNSIGNED_LONG, MPI_BOR, a->comm);
	CHECK(a, all == (a->size >= 64 ? ~0UL : (1UL << a->size) - 1));
}
BOTH(allreduce);

/* Composes functions x -> p * x + q, which is associative but not
 * commutative. */
static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
	const unsigned int *f = in;
	unsigned int *g = inout;

	for (int i = 0; i < *n; i++, f += 2, g += 2) {
		g[1] = g[0] * f[1] + g[1];
		g[0] = g[0] * f[0];
	}
}

static void own_operation(struct all *a, bool nb)
{
	unsigned int mine[2] = { 2u * (unsigned int)a->rank + 3,
				 (unsigned int)a->rank + 1 };
	unsigned int all[2], want[2] = { 1, 0 };
	MPI_Datatype pair;
	MPI_Op op;

	MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
	MPI_Type_commit(&pair);
	MPI_Op_create(compose, 0, &op);
	CALL(nb, allreduce, mine, all, 1, pair, op, a->comm);
	for (unsigned int r = 0; r < (unsigned int)a->size; r++) {
		want[1] = (2 * r + 3) * want[1] + r + 1;
		want[0] = (2 * r + 3) * want[0];
	}
	CHECK(a, all[0] == want[0] && all[1] == want[1]);
	MPI_Op_free(&op);
	MPI_Type_free(&pair);
}
BOTH(own_operation);

static void reduce_scatter(struct all *a, bool nb)
{
	struct all_parts p = all_parts_of(a);
	int n = 0, *in, out[5] = { -1, -1, -1, -1, -1 }, one = -1, first = 0;

	for (int r = 0; r < a->size; r++) {
		first = r == a->rank ? n : first;
		n += p.n[r];
	}
	in = all_ints(n > a->size ? n : a->size);
	for (int i = 0; i < n || i < a->size; i++)
		in[i] = a->rank + i;
	CALL(nb, reduce_scatter, in, out, p.n, MPI_INT, MPI_SUM, a->comm);
	n = a->size * (a->size - 1) / 2;
	for (int i = 0; i < p.n[a->rank]; i++)
		CHECK(a, out[i] == n + a->size * (first + i));
	CALL(nb, reduce_scatter_block, in, &one, 1, MPI_INT, MPI_SUM, a->comm);
	CHECK(a, one == n + a->size * a->rank);
	free(in);
	all_parts_free(&p);
}
BOTH(reduce_scatter);

static void scan(struct all *a, bool nb)
{
	int mine = a->rank + 1, to = -1;

	CALL(nb, scan, &mine, &to, 1, MPI_INT, MPI_SUM, a->comm);
	CHECK(a, to == (a->rank + 1) * (a->rank + 2) / 2);
	to = 0;
	CALL(nb, exscan, &mine, &to, 1, MPI_INT, MPI_SUM, a->comm);
	CHECK(a, a->rank == 0 || to == a->rank * (a->rank + 1) / 2);
}
BOTH(scan);

static void sub_groups(struct all *a)
{
	int in = 1, n = 0, odd = a->rank % 2, high = 0, top = a->size - 1;
	MPI_Comm half, across;

	MPI_Comm_split(a->comm, odd, -a->rank, &half);
	MPI_Allreduce(&in, &n, 1, MPI_INT, MPI_SUM, half);
	CHECK(a, n == (a->size + 1 - odd) / 2);
	MPI_Comm_rank(half, &n);
	in = a->rank;
	MPI_Bcast(&in, 1, MPI_INT, 0, half);
	CHECK(a, in % 2 == odd && in >= a->size - 2);
	if (a->size > 1) {
		MPI_Intercomm_create(half, 0, a->comm, top - (top % 2 != !odd),
				     5, &across);
		in = a->rank;
		MPI_Allreduce(&in, &high, 1, MPI_INT, MPI_MAX, across);
		CHECK(a, high % 2 != odd && high >= a->size - 2);
		MPI_Comm_free(&across);
	}
	MPI_Comm_free(&half);
}

#define LIST(kind)                                                             \
	{ "reduce", reduce_##kind }, { "allreduce", allreduce_##kind },        \
		{ "own operation", own_operation_##kind },                     \
		{ "reduce_scatter", reduce_scatter_##kind },                   \
	{                                                                      \
		"scan, exscan", scan_##kind                                    \
	}

const struct all_case all_reduce[] = { LIST(b), { NULL, NULL } };
const struct all_case all_ireduce[] = { LIST(i), { NULL, NULL } };
/* Not in the default list, because in these cases Open MPI sends names of
 * processes, and the lengths of the names differ from run to run. */
const struct all_case all_groups[] = { { "groups", sub_groups },
				       { NULL, NULL } };
