/* SPDX-License-Identifier: Apache-2.0 */
/* An MPI program that ends, or is ended, in one of several ways. The name of
 * the process shows its phase, so that a test can kill it in that phase.
 *
 * ends WAY[,WAY...] [ROUNDS]
 *
 * Before and after each way the program exchanges messages for ROUNDS rounds.
 * It exits with 0 if every MPI call of the program and of its forked children
 * was right. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BIG = 100000 };

static int me, n;
static char big[BIG], back[BIG];

static void die(const char *what)
{
	fprintf(stderr, "ends: rank %d: %s\n", me, what);
	MPI_Abort(MPI_COMM_WORLD, 99);
}

static void phase(const char *name)
{
	prctl(PR_SET_NAME, name);
}

/* Exchanges short and long messages with all ranks and around the ring. */
static void talk(int round)
{
	int to = (me + 1) % n, from = (me + n - 1) % n, len, sum;

	MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (sum != n * (n - 1) / 2)
		die("sum");
	len = round % 4 ? 8 : BIG;
	memset(big, me + round, (size_t)len);
	MPI_Sendrecv(big, len, MPI_CHAR, to, 1, back, len, MPI_CHAR, from, 1,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (back[0] != (char)(from + round) || back[len - 1] != back[0])
		die("ring");
}

static void child_ends(pid_t pid, int wanted)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status != wanted)
		die("child");
}

/* ---- ways ---- */

static void way_loop(void)
{
}

static void way_abort(void)
{
	if (me == 1)
		MPI_Abort(MPI_COMM_WORLD, 7);
}

static void way_exit(void)
{
	if (me == 1)
		exit(0);
}

static void way_exit_all(void)
{
	exit(0);
}

static void way_fail(void)
{
	if (me == 1)
		exit(3);
}

static void way_segv(void)
{
	if (me == 1)
		raise(SIGSEGV);
}

/* Forks a child that exits at once. */
static void way_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	child_ends(pid, 0);
}

/* Forks a child that runs the exit handlers of libraries. */
static void way_fork_exit(void)
{
	pid_t pid = fork();

	if (!pid)
		exit(0);
	child_ends(pid, 0);
}

static void way_fork_exec(void)
{
	pid_t pid = fork();

	if (!pid) {
		execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
		_exit(127);
	}
	child_ends(pid, 5 << 8);
}

/* Forks a child that lives while its parent exchanges messages. */
static void way_fork_beside(void)
{
	pid_t pid = fork();

	if (!pid) {
		usleep(200000);
		exit(0);
	}
	for (int i = 0; i < 20; i++)
		talk(i);
	child_ends(pid, 0);
}

/* Forks a child that calls MPI like a rank. The child fails, and the run
 * continues. */
static void way_fork_use(void)
{
	pid_t pid = fork();

	if (!pid) {
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
		_exit(MPI_Send(&n, 1, MPI_INT, !me, 0, MPI_COMM_WORLD) ==
		      MPI_SUCCESS);
	}
	child_ends(pid, 0);
}

static void way_system(void)
{
	char line[16] = "";
	FILE *f;

	if (system("exit 6") != 6 << 8)
		die("system");
	f = popen("echo seven", "r");
	if (!f || !fgets(line, sizeof(line), f) || strcmp(line, "seven\n"))
		die("popen");
	pclose(f);
}

static const struct {
	const char *name;
	void (*fn)(void);
} ways[] = {
	{ "loop", way_loop },
	{ "abort", way_abort },
	{ "exit", way_exit },
	{ "exit-all", way_exit_all },
	{ "fail", way_fail },
	{ "segv", way_segv },
	{ "fork", way_fork },
	{ "fork-exit", way_fork_exit },
	{ "fork-exec", way_fork_exec },
	{ "fork-use", way_fork_use },
	{ "fork-beside", way_fork_beside },
	{ "system", way_system },
};

static void go(const char *way, int rounds)
{
	size_t w = 0, n_ways = sizeof(ways) / sizeof(ways[0]);

	while (w < n_ways && strcmp(way, ways[w].name))
		w++;
	if (w == n_ways)
		die("no such way");
	ways[w].fn();
	for (int i = 0; i < rounds; i++)
		talk(i);
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 10;

	if (argc < 2)
		return 2;
	phase("ends-init");
	MPI_Init(&argc, &argv);
	phase("ends-loop");
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	for (int i = 0; i < rounds; i++)
		talk(i);
	for (char *w = strtok(argv[1], ","); w; w = strtok(NULL, ","))
		go(w, rounds);
	phase("ends-fini");
	MPI_Finalize();
	phase("ends-over");
	if (me == 0)
		printf("all is well\n");
	return 0;
}
