/* SPDX-License-Identifier: Apache-2.0 */
/* Tests ranks on a torus of three dimensions: their neighbours, collectives of
 * neighbours, groups of the ranks on a line of the torus, an exchange of
 * halos. */
#include "all64.h"

#include <stdlib.h>

struct torus {
	MPI_Comm comm;
	int dims[3], at[3], near[6];
};

static struct torus torus_of(const struct all *a)
{
	struct torus t = { .dims = { 0, 0, 0 } };
	int around[3] = { 1, 1, 1 };

	MPI_Dims_create(a->size, 3, t.dims);
	MPI_Cart_create(a->comm, 3, t.dims, around, 0, &t.comm);
	MPI_Cart_coords(t.comm, a->rank, 3, t.at);
	for (int d = 0; d < 3; d++)
		MPI_Cart_shift(t.comm, d, 1, &t.near[2 * d],
			       &t.near[2 * d + 1]);
	return t;
}

/* Returns the word that rank r sends to its neighbour in direction k (0 = down
 * x, 1 = up x...). */
static int told(int r, int k)
{
	return r * 10 + k;
}

static void shape(struct all *a)
{
	struct torus t = torus_of(a);
	int back;

	CHECK(a, t.dims[0] * t.dims[1] * t.dims[2] == a->size);
	CHECK(a, a->size != 64 || (t.dims[0] == 4 && t.dims[2] == 4));
	MPI_Cart_rank(t.comm, t.at, &back);
	CHECK(a, back == a->rank);
	MPI_Comm_free(&t.comm);
}

static void allgather(struct all *a)
{
	struct torus t = torus_of(a);
	int in[6], n[6] = { 1, 1, 1, 1, 1, 1 }, at[6] = { 5, 4, 3, 2, 1, 0 };
	MPI_Request r;

	MPI_Neighbor_allgather(&a->rank, 1, MPI_INT, in, 1, MPI_INT, t.comm);
	for (int k = 0; k < 6; k++)
		CHECK(a, in[k] == t.near[k]);
	MPI_Ineighbor_allgatherv(&a->rank, 1, MPI_INT, in, n, at, MPI_INT,
				 t.comm, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	for (int k = 0; k < 6; k++)
		CHECK(a, in[5 - k] == t.near[k]);
	MPI_Comm_free(&t.comm);
}

/* Checks words of neighbours. In a dimension of size 1 or 2 both neighbours are
 * the same rank, and MPI does not define in which order the two messages of
 * that rank arrive. Therefore only dimensions of size 3 or more are checked. */
static void check_told(struct all *a, const struct torus *t, const int *in)
{
	for (int k = 0; k < 6; k++)
		if (t->dims[k / 2] > 2)
			CHECK(a, in[k] == told(t->near[k], k ^ 1));
		else
			CHECK(a, in[k] / 10 == t->near[k]);
}

static void alltoall(struct all *a)
{
	struct torus t = torus_of(a);
	int in[6] = { 0 }, out[6], n[6], at[6];
	MPI_Aint byte[6];
	MPI_Datatype type[6];

	for (int k = 0; k < 6; k++) {
		out[k] = told(a->rank, k);
		n[k] = 1;
		at[k] = k;
		byte[k] = k * (MPI_Aint)sizeof(int);
		type[k] = MPI_INT;
	}
	MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, t.comm);
	check_told(a, &t, in);
	MPI_Neighbor_alltoallv(out, n, at, MPI_INT, in, n, at, MPI_INT, t.comm);
	check_told(a, &t, in);
	MPI_Neighbor_alltoallw(out, n, byte, type, in, n, byte, type, t.comm);
	check_told(a, &t, in);
	MPI_Comm_free(&t.comm);
}

static void lines(struct all *a)
{
	struct torus t = torus_of(a);

	for (int d = 0; d < 3; d++) {
		int keep[3] = { d == 0, d == 1, d == 2 }, sum = 0;
		MPI_Comm line;

		MPI_Cart_sub(t.comm, keep, &line);
		MPI_Allreduce(&t.at[d], &sum, 1, MPI_INT, MPI_SUM, line);
		CHECK(a, sum == t.dims[d] * (t.dims[d] - 1) / 2);
		MPI_Comm_free(&line);
	}
	MPI_Comm_free(&t.comm);
}

/* Exchanges one face of a cube of 8 x 8 x 8 with each neighbour along z, y,
 * x. */
static void halo(struct all *a)
{
	enum { N = 8, W = N + 2 };
	struct torus t = torus_of(a);
	double(*u)[W][W] = calloc(W, sizeof(*u));
	int sizes[3] = { W, W, W };

	for (int i = 0; i < W * W * W; i++)
		u[i / (W * W)][i / W % W][i % W] = a->rank;
	for (int k = 0; k < 6; k++) {
		int part[3] = { N, N, N }, from[3] = { 1, 1, 1 },
		    to[3] = { 1, 1, 1 };
		MPI_Datatype face, edge;

		part[k / 2] = 1;
		from[k / 2] = k % 2 ? N : 1;
		to[k / 2] = k % 2 ? 0 : N + 1;
		MPI_Type_create_subarray(3, sizes, part, from, MPI_ORDER_C,
					 MPI_DOUBLE, &face);
		MPI_Type_create_subarray(3, sizes, part, to, MPI_ORDER_C,
					 MPI_DOUBLE, &edge);
		MPI_Type_commit(&face);
		MPI_Type_commit(&edge);
		MPI_Sendrecv(u, 1, face, t.near[k], k, u, 1, edge,
			     t.near[k ^ 1], k, t.comm, MPI_STATUS_IGNORE);
		MPI_Type_free(&face);
		MPI_Type_free(&edge);
	}
	CHECK(a, u[0][1][1] == t.near[0] && u[N + 1][N][N] == t.near[1]);
	CHECK(a, u[1][0][1] == t.near[2] && u[N][N + 1][N] == t.near[3]);
	CHECK(a, u[1][1][0] == t.near[4] && u[N][N][N + 1] == t.near[5]);
	CHECK(a, u[0][0][0] == a->rank && u[4][4][4] == a->rank);
	free(u);
	MPI_Comm_free(&t.comm);
}

const struct all_case all_neigh[] = {
	{ "torus", shape },
	{ "neighbor_allgather", allgather },
	{ "neighbor_alltoall", alltoall },
	{ "lines", lines },
	{ "halo", halo },
	{ NULL, NULL },
};
