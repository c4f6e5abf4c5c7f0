/* SPDX-License-Identifier: Apache-2.0 */
/* Times of MPI as a program measures them, in nanoseconds.
 *
 * times pingpong SIZE ROUNDS
 *     prints half of each round trip of ranks 0 and 1
 * times mean SIZE ROUNDS
 *     prints the mean of these halves, from two clock readings
 * times swap SIZE COUNT
 *     pairs of ranks send in both directions at once; all contents are checked
 * times put SIZE COUNT
 *     rank 0 puts into a window of rank 1
 * times streams SIZE COUNT A:B...
 *     rank A sends a stream to rank B, for all pairs at once; prints the times
 *     at which B had received parts of its stream */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 16 };

static int rank, ranks;

static void one_way(char *buf, int size, int from, int to)
{
	if (rank == from)
		MPI_Send(buf, size, MPI_CHAR, to, 1, MPI_COMM_WORLD);
	else if (rank == to)
		MPI_Recv(buf, size, MPI_CHAR, from, 1, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
}

static int pingpong(int size, int rounds, char **more)
{
	char *buf = calloc(1, (size_t)size + 1);
	double t0, t1;

	for (int i = 0; i < rounds && rank < 2; i++) {
		t0 = rank ? 0 : MPI_Wtime();
		one_way(buf, size, 0, 1);
		one_way(buf, size, 1, 0);
		t1 = rank ? 0 : MPI_Wtime();
		if (rank == 0)
			printf("half %.6f ns\n", (t1 - t0) * 5e8);
	}
	free(buf);
	return 0;
}

static int mean(int size, int rounds, char **more)
{
	char *buf = calloc(1, (size_t)size + 1);
	double t0 = MPI_Wtime();

	for (int i = 0; i < rounds && rank < 2; i++) {
		one_way(buf, size, 0, 1);
		one_way(buf, size, 1, 0);
	}
	if (rank == 0)
		printf("half %.6f ns\n", (MPI_Wtime() - t0) * 5e8 / rounds);
	free(buf);
	return 0;
}

static int swap(int size, int count, char **more)
{
	char *out = malloc((size_t)size), *in = malloc((size_t)size);
	int bad = 0;

	for (int i = 0; i < count; i++) {
		memset(out, i + rank, (size_t)size);
		MPI_Sendrecv(out, size, MPI_CHAR, rank ^ 1, 1, in, size,
			     MPI_CHAR, rank ^ 1, 1, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		for (int k = 0; k < size; k++)
			bad += in[k] != (char)(i + (rank ^ 1));
	}
	printf("swap %d wrong\n", bad);
	free(out);
	free(in);
	return bad != 0;
}

static int put(int size, int count, char **more)
{
	/* The buffers are whole pages, because Open MPI registers whole pages,
	 * and the time of an operation depends on the offset of its buffer in a
	 * page. */
	size_t room = ((size_t)size + 4095) & ~(size_t)4095;
	char *buf = aligned_alloc(4096, room), *mem = aligned_alloc(4096, room);
	double t0, t1;
	MPI_Win win;
	int bad = 0;

	memset(buf, 'w', (size_t)size);
	MPI_Win_create(mem, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
		MPI_Put(buf, size, MPI_CHAR, 1, 0, size, MPI_CHAR, win);
		/* Ends the first access before the measurement, because that
		 * access also looks up the path. */
		MPI_Win_flush(1, win);
		t0 = MPI_Wtime();
		for (int i = 0; i < count; i++)
			MPI_Put(buf, size, MPI_CHAR, 1, 0, size, MPI_CHAR, win);
		MPI_Win_flush(1, win);
		t1 = MPI_Wtime();
		MPI_Win_unlock(1, win);
		printf("put %.3f ns, %.3f MB/s\n", (t1 - t0) * 1e9 / count,
		       (double)size * count / (t1 - t0) * 1e-6);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		bad = memcmp(mem, buf, (size_t)size) != 0;
	MPI_Win_free(&win);
	free(buf);
	free(mem);
	return bad;
}

/* Sends `count` messages, several of them in flight at a time. */
static void stream(char *buf, int size, int count, int peer, const char *name)
{
	bool sends = name == NULL;
	MPI_Request r[WINDOW];

	for (int i = 0; i < count; i++) {
		int k = i % WINDOW;

		if (i >= WINDOW)
			MPI_Wait(&r[k], MPI_STATUS_IGNORE);
		if (sends)
			MPI_Isend(buf, size, MPI_CHAR, peer, 1, MPI_COMM_WORLD,
				  &r[k]);
		else
			MPI_Irecv(buf + (size_t)k * (size_t)size, size,
				  MPI_CHAR, peer, 1, MPI_COMM_WORLD, &r[k]);
		if (!sends && i >= WINDOW)
			printf("%s %d %.3f\n", name, (i + 1 - WINDOW) * size,
			       MPI_Wtime() * 1e9);
	}
	MPI_Waitall(count < WINDOW ? count : WINDOW, r, MPI_STATUSES_IGNORE);
}

static int streams(int size, int count, char **pairs)
{
	char *buf = calloc(WINDOW, (size_t)size);
	int a, b;

	MPI_Barrier(MPI_COMM_WORLD);
	for (; *pairs != NULL; pairs++) {
		if (sscanf(*pairs, "%d:%d", &a, &b) != 2)
			return 2;
		if (rank == a)
			stream(buf, size, count, b, NULL);
		else if (rank == b)
			stream(buf, size, count, a, *pairs);
	}
	free(buf);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(int size, int count, char **more);
} what[] = { { "pingpong", pingpong },
	     { "mean", mean },
	     { "swap", swap },
	     { "put", put },
	     { "streams", streams } };

int main(int argc, char **argv)
{
	int ret = 2;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (size_t i = 0; argc > 3 && i < sizeof(what) / sizeof(what[0]); i++)
		if (strcmp(argv[1], what[i].name) == 0)
			ret = what[i].run(atoi(argv[2]), atoi(argv[3]),
					  argv + 4);
	MPI_Finalize();
	return ret;
}
