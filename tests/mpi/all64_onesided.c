/* SPDX-License-Identifier: Apache-2.0 */
/* Tests one-sided access: put, get and all operations that compute at the
 * target, under each kind of synchronisation, on windows that are created,
 * allocated or dynamic. */
#include "all64.h"

#include <stdlib.h>

enum { N = 1200 };

struct win {
	MPI_Win win;
	long *mem;
};

static struct win win_of(const struct all *a, long first)
{
	struct win w;

	MPI_Win_allocate(N * sizeof(long), sizeof(long), MPI_INFO_NULL, a->comm,
			 &w.mem, &w.win);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, a->rank, 0, w.win);
	for (int i = 0; i < N; i++)
		w.mem[i] = first;
	MPI_Win_unlock(a->rank, w.win);
	MPI_Barrier(a->comm);
	return w;
}

static int up(const struct all *a, int k)
{
	return (a->rank + k) % a->size;
}

static int down(const struct all *a, int k)
{
	return (a->rank + a->size - k % a->size) % a->size;
}

/* Puts 1, 198 and 1000 words to the next rank. */
static void put_fence(struct all *a)
{
	static const int n[] = { 1, 198, 1000 };
	struct win w = win_of(a, -1);
	long v[1000];
	int at = 0;
	bool ok = true;

	for (int i = 0; i < 1000; i++)
		v[i] = a->rank * 10000L + i;
	MPI_Win_fence(0, w.win);
	for (int k = 0; k < 3; at += n[k++])
		MPI_Put(v, n[k], MPI_LONG, up(a, 1), at, n[k], MPI_LONG, w.win);
	MPI_Win_fence(0, w.win);
	for (int i = 0; i < 1199; i++)
		ok = ok &&
		     w.mem[i] == down(a, 1) * 10000L + (i < 1	  ? 0
							: i < 199 ? i - 1
								  : i - 199);
	CHECK(a, ok);
	CHECK(a, w.mem[1199] == -1);
	MPI_Win_free(&w.win);
}

static void get_fence(struct all *a)
{
	long *mem = malloc(N * sizeof(*mem)), v[N];
	MPI_Win win;
	bool ok = true;

	for (int i = 0; i < N; i++)
		mem[i] = a->rank * 10000L + i;
	MPI_Win_create(mem, N * sizeof(*mem), sizeof(*mem), MPI_INFO_NULL,
		       a->comm, &win);
	MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
	MPI_Get(v, 1, MPI_LONG, up(a, 1), 0, 1, MPI_LONG, win);
	MPI_Get(v + 1, N - 1, MPI_LONG, up(a, 1), 1, N - 1, MPI_LONG, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	for (int i = 0; i < N; i++)
		ok = ok && v[i] == up(a, 1) * 10000L + i;
	CHECK(a, ok);
	MPI_Win_free(&win);
	free(mem);
}

/* Each rank adds to the words of every rank. */
static void accumulate(struct all *a)
{
	struct win w = win_of(a, 0);
	long v[2] = { a->rank + 1, 1 }, sum = a->size * (a->size + 1L) / 2;

	MPI_Win_fence(0, w.win);
	for (int r = 0; r < a->size; r++) {
		MPI_Accumulate(v, 2, MPI_LONG, up(a, r), 0, 2, MPI_LONG,
			       MPI_SUM, w.win);
		MPI_Accumulate(v, 1, MPI_LONG, up(a, r), 2, 1, MPI_LONG,
			       MPI_MAX, w.win);
	}
	MPI_Win_fence(0, w.win);
	CHECK(a, w.mem[0] == sum && w.mem[1] == a->size);
	CHECK(a, w.mem[2] == a->size && w.mem[3] == 0);
	MPI_Win_free(&w.win);
}

static void get_accumulate(struct all *a)
{
	struct win w = win_of(a, 5);
	long v[3] = { 1, 2, 3 }, old[3] = { 0, 0, 0 }, none = 0;

	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, up(a, 1), 0, w.win);
	MPI_Get_accumulate(v, 3, MPI_LONG, old, 3, MPI_LONG, up(a, 1), 10, 3,
			   MPI_LONG, MPI_SUM, w.win);
	MPI_Win_unlock(up(a, 1), w.win);
	CHECK(a, old[0] == 5 && old[2] == 5);
	MPI_Barrier(a->comm);
	MPI_Win_lock(MPI_LOCK_SHARED, up(a, 1), 0, w.win);
	MPI_Get_accumulate(&none, 0, MPI_LONG, old, 3, MPI_LONG, up(a, 1), 10,
			   3, MPI_LONG, MPI_NO_OP, w.win);
	MPI_Win_unlock(up(a, 1), w.win);
	CHECK(a, old[0] == 6 && old[1] == 7 && old[2] == 8);
	MPI_Win_free(&w.win);
}

/* Draws tickets from rank 0. No ticket is drawn twice. */
static void fetch_and_op(struct all *a)
{
	enum { ROUNDS = 3 };
	struct win w = win_of(a, 0);
	long one = 1, mine, sum = 0, all = 0, last = -1;
	long n = (long)ROUNDS * a->size;

	MPI_Win_lock_all(0, w.win);
	for (int i = 0; i < ROUNDS; i++) {
		MPI_Fetch_and_op(&one, &mine, MPI_LONG, 0, 0, MPI_SUM, w.win);
		MPI_Win_flush(0, w.win);
		CHECK(a, mine > last && mine < n);
		last = mine;
		sum += mine;
	}
	MPI_Win_unlock_all(w.win);
	MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, a->comm);
	CHECK(a, all == n * (n - 1) / 2);
	CHECK(a, a->rank != 0 || w.mem[0] == n);
	MPI_Win_free(&w.win);
}

/* Each rank r > 0 swaps the word of rank 0 from r to r + 1. Rank 0 only reads
 * the word, because osc/rdma of Open MPI 4.1 crashes if a rank swaps its own
 * word. */
static void compare_and_swap(struct all *a)
{
	struct win w = win_of(a, 1);
	long me = a->rank, then = me + 1, old = a->rank == 0 ? 0 : -1;

	MPI_Win_lock_all(0, w.win);
	while (old != me) {
		MPI_Compare_and_swap(&then, &me, &old, MPI_LONG, 0, 7, w.win);
		MPI_Win_flush(0, w.win);
		CHECK(a, old >= 1 && old <= a->size);
	}
	MPI_Win_unlock_all(w.win);
	MPI_Barrier(a->comm);
	CHECK(a, a->rank != 0 || w.mem[7] == a->size);
	MPI_Win_free(&w.win);
}

/* Synchronises neighbours in the ring by post, start, complete and wait. */
static void pscw(struct all *a)
{
	struct win w = win_of(a, -1);
	int to = up(a, 1), from = down(a, 1);
	MPI_Group all, src, dst;
	long v[40], got = -1;

	for (int i = 0; i < 40; i++)
		v[i] = a->rank * 100L + i;
	MPI_Comm_group(a->comm, &all);
	MPI_Group_incl(all, 1, &from, &src);
	MPI_Group_incl(all, 1, &to, &dst);
	for (int round = 0; round < 3; round++) {
		MPI_Win_post(src, 0, w.win);
		MPI_Win_start(dst, 0, w.win);
		MPI_Put(v, 40, MPI_LONG, to, 100L * round, 40, MPI_LONG, w.win);
		MPI_Get(&got, 1, MPI_LONG, to, 1000, 1, MPI_LONG, w.win);
		MPI_Win_complete(w.win);
		MPI_Win_wait(w.win);
		CHECK(a, w.mem[100 * round] == from * 100L);
		CHECK(a, w.mem[100 * round + 39] == from * 100L + 39);
		CHECK(a, got == -1 && w.mem[100 * round + 40] == -1);
	}
	MPI_Group_free(&all);
	MPI_Group_free(&src);
	MPI_Group_free(&dst);
	MPI_Win_free(&w.win);
}

/* each rank reads, adds and writes one word under an exclusive lock */
static void lock(struct all *a)
{
	struct win w = win_of(a, 0);
	int at = a->size - 1;
	long v;

	for (int i = 0; i < 2; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, at, 0, w.win);
		MPI_Get(&v, 1, MPI_LONG, at, 3, 1, MPI_LONG, w.win);
		MPI_Win_flush(at, w.win);
		v += a->rank + 1;
		MPI_Put(&v, 1, MPI_LONG, at, 3, 1, MPI_LONG, w.win);
		MPI_Win_unlock(at, w.win);
	}
	MPI_Barrier(a->comm);
	MPI_Win_lock(MPI_LOCK_SHARED, at, 0, w.win);
	MPI_Get(&v, 1, MPI_LONG, at, 3, 1, MPI_LONG, w.win);
	MPI_Win_unlock(at, w.win);
	CHECK(a, v == a->size * (a->size + 1L));
	MPI_Barrier(a->comm);
	MPI_Win_free(&w.win);
}

static void with_request(struct all *a)
{
	struct win w = win_of(a, 9);
	long v[64], back[64], ten = 10;
	MPI_Request r;

	for (int i = 0; i < 64; i++)
		v[i] = a->rank + i;
	MPI_Win_lock_all(0, w.win);
	MPI_Rput(v, 64, MPI_LONG, up(a, 2), 0, 64, MPI_LONG, w.win, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Win_flush_all(w.win);
	MPI_Raccumulate(&ten, 1, MPI_LONG, up(a, 2), 5, 1, MPI_LONG, MPI_SUM,
			w.win, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Win_flush_all(w.win);
	MPI_Rget(back, 64, MPI_LONG, up(a, 2), 0, 64, MPI_LONG, w.win, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Win_unlock_all(w.win);
	CHECK(a, back[0] == a->rank && back[63] == a->rank + 63);
	CHECK(a, back[5] == a->rank + 15);
	MPI_Barrier(a->comm);
	CHECK(a, w.mem[0] == down(a, 2) && w.mem[64] == 9);
	MPI_Win_free(&w.win);
}

/* Puts a column of the origin into every third word of the target. */
static void with_types(struct all *a)
{
	struct win w = win_of(a, -1);
	MPI_Datatype column, third;
	long m[8][8];
	bool ok = true;

	for (int i = 0; i < 64; i++)
		m[i / 8][i % 8] = a->rank * 64L + i;
	MPI_Type_vector(8, 1, 8, MPI_LONG, &column);
	MPI_Type_vector(8, 1, 3, MPI_LONG, &third);
	MPI_Type_commit(&column);
	MPI_Type_commit(&third);
	MPI_Win_fence(0, w.win);
	MPI_Put(&m[0][2], 1, column, up(a, 1), 4, 1, third, w.win);
	MPI_Win_fence(0, w.win);
	for (int i = 0; i < 24; i++)
		ok = ok && w.mem[4 + i] == (i % 3 == 0 ? down(a, 1) * 64L +
								 i / 3 * 8 + 2
						       : -1);
	CHECK(a, ok && w.mem[3] == -1);
	MPI_Win_fence(0, w.win);
	MPI_Get(&m[0][5], 1, column, up(a, 1), 4, 1, third, w.win);
	MPI_Win_fence(0, w.win);
	for (int i = 0; i < 8; i++)
		CHECK(a, m[i][5] == m[i][2]);
	MPI_Type_free(&column);
	MPI_Type_free(&third);
	MPI_Win_free(&w.win);
}

static void dynamic(struct all *a)
{
	long mem[16], v = a->rank;
	MPI_Aint here, there;
	MPI_Win win;

	for (int i = 0; i < 16; i++)
		mem[i] = -1;
	MPI_Win_create_dynamic(MPI_INFO_NULL, a->comm, &win);
	MPI_Win_attach(win, mem, sizeof(mem));
	MPI_Get_address(&mem[4], &here);
	MPI_Sendrecv(&here, 1, MPI_AINT, down(a, 1), 1, &there, 1, MPI_AINT,
		     up(a, 1), 1, a->comm, MPI_STATUS_IGNORE);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, up(a, 1), 0, win);
	MPI_Put(&v, 1, MPI_LONG, up(a, 1), there, 1, MPI_LONG, win);
	MPI_Win_unlock(up(a, 1), win);
	MPI_Barrier(a->comm);
	CHECK(a, mem[4] == down(a, 1) && mem[3] == -1 && mem[5] == -1);
	MPI_Win_detach(win, mem);
	MPI_Win_free(&win);
}

const struct all_case all_onesided[] = {
	{ "put, fence", put_fence },
	{ "get, fence", get_fence },
	{ "accumulate", accumulate },
	{ "get_accumulate", get_accumulate },
	{ "fetch_and_op", fetch_and_op },
	{ "compare_and_swap", compare_and_swap },
	{ "post, start", pscw },
	{ "lock", lock },
	{ "rput, rget", with_request },
	{ "derived types", with_types },
	{ NULL, NULL },
};

const struct all_case all_dynamic[] = {
	{ "dynamic", dynamic },
	{ NULL, NULL },
};
