/* SPDX-License-Identifier: Apache-2.0 */
/* Derived types. Data sent as a derived type arrive as plain bytes in the order
 * of the type's map. Plain bytes are received as a derived type. Short and long
 * messages are used, so that every protocol of a transport is tested. */
#include "all64.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 6144 };

/* Sends `count` elements of `type` from a numbered array to the next rank,
 * which receives them as `n` plain words. The next rank sends these words back,
 * and they are received as `type`. Word i of the `n` must be word map(i) of the
 * array. */
static void there_and_back(struct all *a, MPI_Datatype type, int count, int n,
			   int (*map)(int))
{
	int to = (a->rank + 1) % a->size;
	int from = (a->rank + a->size - 1) % a->size;
	int *whole = malloc(WORDS * sizeof(*whole)), *flat;
	bool ok = true, rest = true;

	flat = malloc(WORDS * sizeof(*flat));
	for (int i = 0; i < WORDS; i++)
		whole[i] = a->rank * WORDS + i;
	MPI_Type_commit(&type);
	MPI_Sendrecv(whole, count, type, to, 1, flat, n, MPI_INT, from, 1,
		     a->comm, MPI_STATUS_IGNORE);
	for (int i = 0; i < n; i++)
		ok = ok && flat[i] == from * WORDS + map(i);
	CHECK(a, ok);
	for (int i = 0; i < WORDS; i++)
		whole[i] = -1;
	MPI_Sendrecv(flat, n, MPI_INT, from, 2, whole, count, type, to, 2,
		     a->comm, MPI_STATUS_IGNORE);
	for (int i = 0; i < n; i++) {
		ok = ok && whole[map(i)] == a->rank * WORDS + map(i);
		whole[map(i)] = -1;
	}
	for (int i = 0; i < WORDS; i++)
		rest = rest && whole[i] == -1;
	CHECK(a, ok);
	CHECK(a, rest);
	MPI_Type_free(&type);
	free(whole);
	free(flat);
}

static int map_same(int i)
{
	return i;
}

static int map_vector(int i)
{
	return i / 3 * 5 + i % 3;
}

static void contiguous(struct all *a)
{
	MPI_Datatype t;

	MPI_Type_contiguous(17, MPI_INT, &t);
	there_and_back(a, t, 3, 51, map_same);
}

static void vector(struct all *a)
{
	MPI_Datatype t;

	MPI_Type_vector(4, 3, 5, MPI_INT, &t);
	there_and_back(a, t, 1, 12, map_vector);
	MPI_Type_vector(1000, 3, 5, MPI_INT, &t);
	there_and_back(a, t, 1, 3000, map_vector);
	MPI_Type_create_hvector(7, 3, 5 * sizeof(int), MPI_INT, &t);
	there_and_back(a, t, 1, 21, map_vector);
}

static const int block_n[] = { 2, 1, 3 }, block_at[] = { 9, 0, 4 };

static int map_indexed(int i)
{
	static const int at[] = { 9, 10, 0, 4, 5, 6 };

	return i / 6 * 11 + at[i % 6];
}

static int map_blocks(int i)
{
	return block_at[i / 2] + i % 2;
}

static void indexed(struct all *a)
{
	MPI_Aint bytes[3];
	MPI_Datatype t;

	for (int i = 0; i < 3; i++)
		bytes[i] = block_at[i] * (MPI_Aint)sizeof(int);
	MPI_Type_indexed(3, block_n, block_at, MPI_INT, &t);
	there_and_back(a, t, 1, 6, map_indexed);
	MPI_Type_indexed(3, block_n, block_at, MPI_INT, &t);
	there_and_back(a, t, 500, 3000, map_indexed);
	MPI_Type_create_hindexed(3, block_n, bytes, MPI_INT, &t);
	there_and_back(a, t, 2, 12, map_indexed);
	MPI_Type_create_indexed_block(3, 2, block_at, MPI_INT, &t);
	there_and_back(a, t, 1, 6, map_blocks);
}

static int map_subarray(int i)
{
	return (2 + i / 20) * 60 + (1 + i / 5 % 4) * 10 + 3 + i % 5;
}

static int map_rows(int i)
{
	return i * 4;
}

static void subarray(struct all *a)
{
	int sizes[3] = { 9, 6, 10 }, part[3] = { 3, 4, 5 }, at[3] = { 2, 1, 3 };
	MPI_Datatype t, one;

	MPI_Type_create_subarray(3, sizes, part, at, MPI_ORDER_C, MPI_INT, &t);
	there_and_back(a, t, 1, 60, map_subarray);
	MPI_Type_create_resized(MPI_INT, 0, 4 * sizeof(int), &one);
	MPI_Type_dup(one, &t);
	MPI_Type_free(&one);
	there_and_back(a, t, 1500, 1500, map_rows);
}

struct item {
	char name[5];
	double value;
	short code[3];
	int count;
};

static MPI_Datatype item_type(void)
{
	static const int n[] = { 5, 1, 3, 1 };
	static const MPI_Aint at[] = { offsetof(struct item, name),
				       offsetof(struct item, value),
				       offsetof(struct item, code),
				       offsetof(struct item, count) };
	const MPI_Datatype part[] = { MPI_CHAR, MPI_DOUBLE, MPI_SHORT,
				      MPI_INT };
	MPI_Datatype bare, t;

	MPI_Type_create_struct(4, n, at, part, &bare);
	MPI_Type_create_resized(bare, 0, sizeof(struct item), &t);
	MPI_Type_commit(&t);
	MPI_Type_free(&bare);
	return t;
}

static void struct_of(struct all *a, int n)
{
	struct item *v = calloc((size_t)n, sizeof(*v));
	MPI_Datatype t = item_type();
	bool ok = true;

	if (a->rank == a->size - 1)
		for (int i = 0; i < n; i++)
			v[i] = (struct item){
				"weft", i * 0.25, { 1, 2, 3 }, i
			};
	MPI_Bcast(v, n, t, a->size - 1, a->comm);
	for (int i = 0; i < n; i++)
		ok = ok && strcmp(v[i].name, "weft") == 0 &&
		     v[i].value == i * 0.25 && v[i].code[2] == 3 &&
		     v[i].count == i;
	CHECK(a, ok);
	MPI_Type_free(&t);
	free(v);
}

static void structs(struct all *a)
{
	struct_of(a, 1);
	struct_of(a, 700);
}

static void packed(struct all *a)
{
	int to = (a->rank + 1) % a->size;
	int from = (a->rank + a->size - 1) % a->size;
	char out[256], in[256];
	int at = 0, n = 3;
	double d[3] = { a->rank, 0.5, -1 };

	MPI_Pack(&n, 1, MPI_INT, out, sizeof(out), &at, a->comm);
	MPI_Pack(d, 3, MPI_DOUBLE, out, sizeof(out), &at, a->comm);
	MPI_Sendrecv(out, at, MPI_PACKED, to, 3, in, sizeof(in), MPI_PACKED,
		     from, 3, a->comm, MPI_STATUS_IGNORE);
	at = 0;
	MPI_Unpack(in, sizeof(in), &at, &n, 1, MPI_INT, a->comm);
	MPI_Unpack(in, sizeof(in), &at, d, n, MPI_DOUBLE, a->comm);
	CHECK(a, n == 3 && d[0] == from && d[1] == 0.5 && d[2] == -1);
}

/* Transposes a matrix in transit: the receiver stores rows of the sender as
 * columns. */
static void transposed(struct all *a)
{
	enum { N = 24 };
	int m[N][N], t[N][N], to = (a->rank + 1) % a->size;
	int from = (a->rank + a->size - 1) % a->size;
	MPI_Datatype col, cols;
	bool ok = true;

	for (int i = 0; i < N * N; i++)
		m[i / N][i % N] = a->rank * N * N + i;
	MPI_Type_vector(N, 1, N, MPI_INT, &col);
	MPI_Type_create_resized(col, 0, sizeof(int), &cols);
	MPI_Type_commit(&cols);
	MPI_Sendrecv(m, N * N, MPI_INT, to, 4, t, N, cols, from, 4, a->comm,
		     MPI_STATUS_IGNORE);
	for (int i = 0; i < N * N; i++)
		ok = ok && t[i % N][i / N] == from * N * N + i;
	CHECK(a, ok);
	MPI_Type_free(&col);
	MPI_Type_free(&cols);
}

const struct all_case all_types[] = {
	{ "contiguous", contiguous }, { "vector", vector },
	{ "indexed", indexed },	      { "subarray, resized", subarray },
	{ "struct", structs },	      { "pack", packed },
	{ "transposed", transposed }, { NULL, NULL },
};
