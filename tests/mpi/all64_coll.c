/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives that move data. */
#include "all64_coll.h"

#include <stdlib.h>

int *all_ints(int n)
{
	int *p = malloc((size_t)(n > 0 ? n : 1) * sizeof(*p));

	for (int i = 0; i < n; i++)
		p[i] = -1;
	return p;
}

int all_word(int r, int to, int i)
{
	return r * 65536 + to * 256 + i;
}

static void barrier(struct all *a, bool nb)
{
	MPI_Comm comm = a->comm;

	for (int i = 0; i < 3; i++)
		CALL(nb, barrier, comm);
	CHECK(a, true);
}
BOTH(barrier);

static void bcast_of(struct all *a, bool nb, int n, int root)
{
	int *v = all_ints(n);
	bool ok = true;

	if (a->rank == root)
		for (int i = 0; i < n; i++)
			v[i] = all_word(root, 0, i);
	CALL(nb, bcast, v, n, MPI_INT, root, a->comm);
	for (int i = 0; i < n; i++)
		ok = ok && v[i] == all_word(root, 0, i);
	CHECK(a, ok);
	free(v);
}

static void bcast(struct all *a, bool nb)
{
	bcast_of(a, nb, 1, 0);
	bcast_of(a, nb, 100, a->size - 1);
	bcast_of(a, nb, 6000, a->size / 2);
}
BOTH(bcast);

static void gather(struct all *a, bool nb)
{
	enum { N = 3 };
	int root = a->size / 3, mine[N], *all = all_ints(N * a->size);

	for (int i = 0; i < N; i++)
		mine[i] = all_word(a->rank, root, i);
	CALL(nb, gather, mine, N, MPI_INT, all, N, MPI_INT, root, a->comm);
	for (int r = 0; a->rank == root && r < a->size; r++)
		CHECK(a, all[N * r + 2] == all_word(r, root, 2));
	for (int i = 0; a->rank == root && i < N * a->size; i++)
		all[i] = all_word(root, i / N, i % N);
	CALL(nb, scatter, all, N, MPI_INT, mine, N, MPI_INT, root, a->comm);
	CHECK(a, mine[0] == all_word(root, a->rank, 0));
	CHECK(a, mine[2] == all_word(root, a->rank, 2));
	free(all);
}
BOTH(gather);

struct all_parts all_parts_of(const struct all *a)
{
	struct all_parts p = { all_ints(a->size), all_ints(a->size), 0 };

	for (int r = 0; r < a->size; r++) {
		p.n[r] = r % 5;
		p.at[r] = p.sum;
		p.sum += p.n[r] + 1;
	}
	return p;
}

void all_parts_free(struct all_parts *p)
{
	free(p->n);
	free(p->at);
}

static bool parts_ok(const struct all *a, const struct all_parts *p,
		     const int *all)
{
	for (int r = 0; r < a->size; r++) {
		for (int i = 0; i < p->n[r]; i++)
			if (all[p->at[r] + i] != all_word(r, 0, i))
				return false;
		if (all[p->at[r] + p->n[r]] != -1)
			return false;
	}
	return true;
}

static void gatherv(struct all *a, bool nb)
{
	struct all_parts p = all_parts_of(a);
	int root = a->size - 1, mine[5], *all = all_ints(p.sum),
	    n = p.n[a->rank];

	for (int i = 0; i < 5; i++)
		mine[i] = all_word(a->rank, 0, i);
	CALL(nb, gatherv, mine, n, MPI_INT, all, p.n, p.at, MPI_INT, root,
	     a->comm);
	CHECK(a, a->rank != root || parts_ok(a, &p, all));
	for (int i = 0; i < 5; i++)
		mine[i] = -1;
	CALL(nb, scatterv, all, p.n, p.at, MPI_INT, mine, n, MPI_INT, root,
	     a->comm);
	for (int i = 0; i < 5; i++)
		CHECK(a, mine[i] == (i < n ? all_word(a->rank, 0, i) : -1));
	free(all);
	all_parts_free(&p);
}
BOTH(gatherv);

static void allgather(struct all *a, bool nb)
{
	enum { N = 2 };
	int *all = all_ints(N * a->size), mine[N];
	bool ok = true;

	for (int i = 0; i < N; i++)
		mine[i] = all[N * a->rank + i] = all_word(a->rank, 0, i);
	CALL(nb, allgather, MPI_IN_PLACE, 7, MPI_DATATYPE_NULL, all, N, MPI_INT,
	     a->comm);
	for (int i = 0; i < N * a->size; i++)
		ok = ok && all[i] == all_word(i / N, 0, i % N);
	CHECK(a, ok);
	CALL(nb, allgather, mine, N, MPI_INT, all, N, MPI_INT, a->comm);
	CHECK(a, all[N * a->size - 1] == all_word(a->size - 1, 0, N - 1));
	free(all);
}
BOTH(allgather);

static void allgatherv(struct all *a, bool nb)
{
	struct all_parts p = all_parts_of(a);
	int *all = all_ints(p.sum), mine[5];

	for (int i = 0; i < 5; i++)
		mine[i] = all_word(a->rank, 0, i);
	CALL(nb, allgatherv, mine, p.n[a->rank], MPI_INT, all, p.n, p.at,
	     MPI_INT, a->comm);
	CHECK(a, parts_ok(a, &p, all));
	free(all);
	all_parts_free(&p);
}
BOTH(allgatherv);

static void alltoall_of(struct all *a, bool nb, int n)
{
	int *out = all_ints(n * a->size), *in = all_ints(n * a->size);
	bool ok = true;

	for (int i = 0; i < n * a->size; i++)
		out[i] = all_word(a->rank, i / n, i % n);
	CALL(nb, alltoall, out, n, MPI_INT, in, n, MPI_INT, a->comm);
	for (int i = 0; i < n * a->size; i++)
		ok = ok && in[i] == all_word(i / n, a->rank, i % n);
	CHECK(a, ok);
	free(out);
	free(in);
}

static void alltoall(struct all *a, bool nb)
{
	alltoall_of(a, nb, 1);
	alltoall_of(a, nb, 300);
}
BOTH(alltoall);

/* An exchange in which rank r sends (r + to) % 4 words to rank `to`. */
struct cross {
	int *n, *at, *bytes, *buf;
	MPI_Datatype *type;
};

static struct cross cross_of(const struct all *a, bool fill)
{
	struct cross c = { all_ints(a->size), all_ints(a->size),
			   all_ints(a->size), all_ints(4 * a->size),
			   malloc((size_t)a->size * sizeof(MPI_Datatype)) };

	for (int r = 0; r < a->size; r++) {
		c.n[r] = (a->rank + r) % 4;
		c.at[r] = 4 * r;
		c.bytes[r] = 4 * r * (int)sizeof(int);
		c.type[r] = MPI_INT;
		for (int i = 0; fill && i < c.n[r]; i++)
			c.buf[4 * r + i] = all_word(a->rank, r, i);
	}
	return c;
}

static void cross_free(struct cross *c)
{
	free(c->n);
	free(c->at);
	free(c->bytes);
	free(c->buf);
	free(c->type);
}

static bool cross_ok(const struct all *a, const struct cross *c)
{
	for (int r = 0; r < a->size; r++)
		for (int i = 0; i < 4; i++)
			if (c->buf[4 * r + i] !=
			    (i < c->n[r] ? all_word(r, a->rank, i) : -1))
				return false;
	return true;
}

static void alltoallv(struct all *a, bool nb)
{
	struct cross o = cross_of(a, true), i = cross_of(a, false);

	CALL(nb, alltoallv, o.buf, o.n, o.at, MPI_INT, i.buf, i.n, i.at,
	     MPI_INT, a->comm);
	CHECK(a, cross_ok(a, &i));
	CALL(nb, alltoallv, MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, o.buf,
	     o.n, o.at, MPI_INT, a->comm);
	CHECK(a, cross_ok(a, &o));
	cross_free(&o);
	cross_free(&i);
}
BOTH(alltoallv);

static void alltoallw(struct all *a, bool nb)
{
	struct cross o = cross_of(a, true), i = cross_of(a, false);

	CALL(nb, alltoallw, o.buf, o.n, o.bytes, o.type, i.buf, i.n, i.bytes,
	     i.type, a->comm);
	CHECK(a, cross_ok(a, &i));
	cross_free(&o);
	cross_free(&i);
}
BOTH(alltoallw);

#define LIST(kind)                                                             \
	{ "barrier", barrier_##kind }, { "bcast", bcast_##kind },              \
		{ "gather, scatter", gather_##kind },                          \
		{ "gatherv, scatterv", gatherv_##kind },                       \
		{ "allgather", allgather_##kind },                             \
		{ "allgatherv", allgatherv_##kind },                           \
		{ "alltoall", alltoall_##kind },                               \
		{ "alltoallv", alltoallv_##kind },                             \
	{                                                                      \
		"alltoallw", alltoallw_##kind                                  \
	}

const struct all_case all_coll[] = { LIST(b), { NULL, NULL } };
const struct all_case all_icoll[] = { LIST(i), { NULL, NULL } };
