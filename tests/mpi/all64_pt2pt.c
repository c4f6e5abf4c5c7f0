/* SPDX-License-Identifier: Apache-2.0 */
/* Tests messages from rank to rank: every mode of sending, probing, wildcards,
 * order, and lengths around the limits at which a transport changes its
 * protocol. */
#include "all64.h"

#include <stdlib.h>
#include <string.h>

enum { TAG = 7, LONGEST = 40000 };

static const int lengths[] = { 0, 1, 8, 55, 56, 57, 120, 1000, 4096, LONGEST };
enum { LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };

static int next(const struct all *a)
{
	return (a->rank + 1) % a->size;
}

static int prev(const struct all *a)
{
	return (a->rank + a->size - 1) % a->size;
}

static void fill(unsigned char *p, int n, int rank)
{
	for (int i = 0; i < n; i++)
		p[i] = (unsigned char)(i * 7 + rank * 13 + n);
}

static bool filled(const unsigned char *p, int n, int rank)
{
	for (int i = 0; i < n; i++)
		if (p[i] != (unsigned char)(i * 7 + rank * 13 + n))
			return false;
	return true;
}

/* Sends messages of all lengths around the ring. */
static void ring(struct all *a)
{
	unsigned char *out = malloc(LONGEST), *in = malloc(LONGEST + 1);
	MPI_Status st;
	int n;

	for (int i = 0; i < LENGTHS; i++) {
		fill(out, lengths[i], a->rank);
		memset(in, 0xee, LONGEST + 1);
		MPI_Sendrecv(out, lengths[i], MPI_BYTE, next(a), TAG + i, in,
			     LONGEST, MPI_BYTE, prev(a), TAG + i, a->comm, &st);
		MPI_Get_count(&st, MPI_BYTE, &n);
		CHECK(a, n == lengths[i]);
		CHECK(a, st.MPI_SOURCE == prev(a) && st.MPI_TAG == TAG + i);
		CHECK(a, filled(in, lengths[i], prev(a)));
		CHECK(a, in[lengths[i]] == 0xee);
	}
	free(out);
	free(in);
}

static void replace(struct all *a)
{
	int v[300];

	for (int i = 0; i < 300; i++)
		v[i] = a->rank * 1000 + i;
	MPI_Sendrecv_replace(v, 300, MPI_INT, next(a), TAG, prev(a), TAG,
			     a->comm, MPI_STATUS_IGNORE);
	CHECK(a, v[0] == prev(a) * 1000 && v[299] == prev(a) * 1000 + 299);
}

/* Posts the receive of `n` ints before it calls `send`. */
static void with_recv(struct all *a, int n,
		      int (*send)(const void *, int, MPI_Datatype, int, int,
				  MPI_Comm))
{
	int *out = malloc((size_t)n * sizeof(*out));
	int *in = malloc((size_t)n * sizeof(*in));
	MPI_Request r;

	for (int i = 0; i < n; i++) {
		out[i] = a->rank + i;
		in[i] = -1;
	}
	MPI_Irecv(in, n, MPI_INT, prev(a), TAG, a->comm, &r);
	MPI_Barrier(a->comm);
	send(out, n, MPI_INT, next(a), TAG, a->comm);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	CHECK(a, in[0] == prev(a) && in[n - 1] == prev(a) + n - 1);
	free(out);
	free(in);
}

static void modes(struct all *a)
{
	int room = 20000 * (int)sizeof(int) + MPI_BSEND_OVERHEAD;
	void *buf = malloc((size_t)room);

	with_recv(a, 3, MPI_Send);
	with_recv(a, 3, MPI_Ssend);
	with_recv(a, 3, MPI_Rsend);
	with_recv(a, 20000, MPI_Send);
	with_recv(a, 20000, MPI_Ssend);
	MPI_Buffer_attach(buf, room);
	with_recv(a, 3, MPI_Bsend);
	with_recv(a, 15000, MPI_Bsend);
	MPI_Buffer_detach(&buf, &room);
	free(buf);
}

/* Checks that messages between two ranks stay in order, and that tags select
 * among them. */
static void order(struct all *a)
{
	enum { N = 24 };
	int out[N], in[N];
	MPI_Request r[2 * N];

	for (int i = 0; i < N; i++) {
		out[i] = a->rank * 100 + i;
		MPI_Isend(&out[i], 1, MPI_INT, next(a), i % 3, a->comm, &r[i]);
	}
	/* receives tag 2 first, so that messages of other tags arrive without a
	 * matching receive */
	for (int i = 0; i < N; i++)
		MPI_Irecv(&in[i], 1, MPI_INT, prev(a), 2 - i / (N / 3), a->comm,
			  &r[N + i]);
	MPI_Waitall(2 * N, r, MPI_STATUSES_IGNORE);
	for (int i = 0; i < N; i++)
		CHECK(a, in[i] == prev(a) * 100 + 2 - i / (N / 3) +
					  3 * (i % (N / 3)));
}

/* All ranks send to rank 0, which knows neither sources nor lengths. */
static void any_source(struct all *a)
{
	int v[70], n, sum = 0;
	MPI_Message msg;
	MPI_Status st;

	for (int i = 0; i < 70; i++)
		v[i] = a->rank;
	if (a->rank != 0) {
		MPI_Send(v, 1 + a->rank % 70, MPI_INT, 0, TAG, a->comm);
		return;
	}
	for (int k = 1; k < a->size; k++) {
		if (k % 2 != 0) {
			MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, a->comm, &st);
			MPI_Get_count(&st, MPI_INT, &n);
			MPI_Recv(v, n, MPI_INT, st.MPI_SOURCE, st.MPI_TAG,
				 a->comm, &st);
		} else {
			MPI_Mprobe(MPI_ANY_SOURCE, TAG, a->comm, &msg, &st);
			MPI_Get_count(&st, MPI_INT, &n);
			MPI_Mrecv(v, n, MPI_INT, &msg, &st);
		}
		CHECK(a, n == 1 + st.MPI_SOURCE % 70);
		CHECK(a, v[0] == st.MPI_SOURCE && v[n - 1] == v[0]);
		sum += v[0];
	}
	CHECK(a, sum == a->size * (a->size - 1) / 2);
}

static void persistent(struct all *a)
{
	int out[64] = { 0 }, in[64];
	MPI_Request r[2];

	MPI_Send_init(out, 64, MPI_INT, next(a), TAG, a->comm, &r[0]);
	MPI_Recv_init(in, 64, MPI_INT, prev(a), TAG, a->comm, &r[1]);
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 64; i++)
			out[i] = a->rank + i * round;
		MPI_Startall(2, r);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		CHECK(a, in[0] == prev(a) && in[63] == prev(a) + 63 * round);
	}
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
}

static void test_and_cancel(struct all *a)
{
	int out = a->rank, in = -1, never = 0, done = 0, cancelled = 0;
	MPI_Request r, c;
	MPI_Status st;

	MPI_Irecv(&never, 1, MPI_INT, prev(a), TAG + 99, a->comm, &c);
	MPI_Irecv(&in, 1, MPI_INT, prev(a), TAG, a->comm, &r);
	MPI_Send(&out, 1, MPI_INT, next(a), TAG, a->comm);
	while (!done)
		MPI_Test(&r, &done, MPI_STATUS_IGNORE);
	CHECK(a, in == prev(a));
	MPI_Cancel(&c);
	MPI_Wait(&c, &st);
	MPI_Test_cancelled(&st, &cancelled);
	CHECK(a, cancelled != 0);
}

static void truncated(struct all *a)
{
	int out[40] = { 0 }, in[40], rc;
	MPI_Request r;

	MPI_Comm_set_errhandler(a->comm, MPI_ERRORS_RETURN);
	MPI_Isend(out, 40, MPI_INT, next(a), TAG, a->comm, &r);
	rc = MPI_Recv(in, 3, MPI_INT, prev(a), TAG, a->comm, MPI_STATUS_IGNORE);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Comm_set_errhandler(a->comm, MPI_ERRORS_ARE_FATAL);
	if (rc != MPI_SUCCESS)
		MPI_Error_class(rc, &rc);
	CHECK(a, rc == MPI_ERR_TRUNCATE);
}

const struct all_case all_pt2pt[] = {
	{ "ring", ring },
	{ "sendrecv_replace", replace },
	{ "modes of sending", modes },
	{ "order and tags", order },
	{ "any source, probe", any_source },
	{ "persistent", persistent },
	{ "test, cancel", test_and_cancel },
	{ "truncated", truncated },
	{ NULL, NULL },
};
