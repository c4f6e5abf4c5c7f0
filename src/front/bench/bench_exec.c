/* SPDX-License-Identifier: Apache-2.0 */
/* `weft bench exec`: measures small messages between two processes over
 * libfabric. One part runs in real time and compares Weft's provider with
 * providers of libfabric, in alternating runs. The other part runs in simulated
 * time and measures the message rate of processes that block for each message.
 * The processes run bench/fabric.c. Each case runs several times and the best
 * result counts, because other load only makes a run slower. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "front/bench/bench.h"
#include "front/exec/mpi.h"
#include "systems/examples.def"

enum { OUT = 4096, ARGS = 32, PROCS = 2 };

/* A provider or path that carries the messages. */
struct way {
	const char *name, *provider;
	/* options of weft exec, or NULL to run without weft exec */
	const char *exec;
	bool blocking; /* measures only the ping-pong whose processes
			* block */
	uint32_t messages, quick;
	/* Results, 0 if not measured: latency, messages per second of processes
	 * that do not block and that block, hand-overs per message. */
	double latency, rate, blocked, handovers;
};

struct fabric_bench {
	char weft[4096], program[8300], key[64];
	uint32_t runs;
};

/* ---- processes ---- */

struct proc {
	pid_t pid;
	int fd;
};

static int proc_start(struct proc *p, char *const *argv)
{
	int fd[2];

	if (pipe(fd))
		return -errno;
	p->pid = fork();
	if (!p->pid) {
		dup2(fd[1], 1);
		dup2(fd[1], 2);
		close(fd[0]);
		close(fd[1]);
		execv(argv[0], argv);
		_exit(127);
	}
	close(fd[1]);
	p->fd = fd[0];
	return p->pid < 0 ? -errno : 0;
}

/* ---- one run ---- */

static double value_of(const char *out, const char *name)
{
	const char *p = strstr(out, name);

	return p ? strtod(p + strlen(name), NULL) : 0;
}

static void bench_exec_best(double *v, double now, bool least)
{
	if (now && (!*v || (least ? now < *v : now > *v)))
		*v = now;
}

static int way_start(struct fabric_bench *f, const struct way *w,
		     uint32_t messages, struct proc *p)
{
	char options[200], n[16], rank[2] = "0", *arg[ARGS + 1];
	uint32_t k = 0, procs = w->exec ? 1 : PROCS;
	int ret = 0;

	snprintf(n, sizeof(n), "%u", messages);
	if (w->exec) {
		arg[k++] = f->weft;
		arg[k++] = "exec";
		snprintf(options, sizeof(options), "%s", w->exec);
		for (char *s = strtok(options, " "); s && k < ARGS - 12;
		     s = strtok(NULL, " "))
			arg[k++] = s;
	}
	arg[k++] = f->program;
	arg[k++] = "-p";
	arg[k++] = (char *)(uintptr_t)w->provider;
	arg[k++] = "-k";
	arg[k++] = f->key;
	arg[k++] = "-n";
	arg[k++] = n;
	if (w->blocking)
		arg[k++] = "-b";
	if (!w->exec) {
		arg[k++] = "-r";
		arg[k++] = rank;
	}
	arg[k] = NULL;
	for (uint32_t i = 0; i < procs && !ret; i++) {
		rank[0] = (char)('0' + i);
		ret = proc_start(&p[i], arg);
	}
	return ret;
}

static int way_run(struct fabric_bench *f, struct way *w, uint32_t messages,
		   struct weft_err *err)
{
	char out[PROCS][OUT] = { 0 };
	struct proc p[PROCS];
	const char *h;
	int ret;

	snprintf(f->key, sizeof(f->key), "weft-bench-%d-%u", (int)getpid(),
		 f->runs++);
	ret = way_start(f, w, messages, p);
	if (ret)
		return weft_fail(err, -ret, "%s", strerror(-ret));
	for (uint32_t i = 0; i < (w->exec ? 1 : PROCS); i++) {
		size_t n = 0;
		ssize_t k;
		int status;

		while (n < OUT - 1 &&
		       (k = read(p[i].fd, out[i] + n, OUT - 1 - n)) > 0)
			n += (size_t)k;
		close(p[i].fd);
		if (waitpid(p[i].pid, &status, 0) != p[i].pid || status)
			ret = -ECHILD;
	}
	if (ret)
		return weft_fail(err, EIO, "%s over %s failed: %s", f->program,
				 w->provider, out[0][0] ? out[0] : out[1]);
	bench_exec_best(&w->latency, value_of(out[0], "latency "), true);
	bench_exec_best(&w->rate, value_of(out[0], "rate "), false);
	bench_exec_best(&w->blocked, value_of(out[0], "blocking "), false);
	/* Finds the number in "..., 1234 hand-overs, ...". The number includes
	 * hand-overs before the clock starts. */
	h = strstr(out[0], " hand-overs");
	while (h && h > out[0] && h[-1] != ' ')
		h--;
	bench_exec_best(&w->handovers,
			(h ? strtod(h, NULL) : 0) / (2.0 * (messages + 200)),
			true);
	return 0;
}

/* ---- the bench ---- */

static void way_report(struct bench_ctx *b, const struct way *w)
{
	char name[64];

	snprintf(name, sizeof(name), "latency_%s", w->name);
	bench_report(b, name, "ns", w->latency);
	snprintf(name, sizeof(name), "rate_%s", w->name);
	if (w->rate)
		bench_report(b, name, "messages/s", w->rate);
	snprintf(name, sizeof(name), "blocking_%s", w->name);
	if (w->blocked)
		bench_report(b, name, "messages/s", w->blocked);
	snprintf(name, sizeof(name), "handovers_%s", w->name);
	if (w->blocked)
		bench_report(b, name, "1/message", w->handovers);
}

static bool bench_find(struct fabric_bench *f)
{
	char dir[4200];
	ssize_t n = readlink("/proc/self/exe", f->weft, sizeof(f->weft) - 1);

	if (n <= 0 || !exec_lib_dir("weft-fabric", dir, sizeof(dir)))
		return false;
	f->weft[n] = '\0';
	snprintf(f->program, sizeof(f->program), "%s/weft-fabric", dir);
	return true;
}

#define PAIR "--fabric " EXAMPLE_MACHINE " -n 2 "

int bench_exec(struct bench_ctx *b, struct weft_err *err)
{
	struct way way[] = {
		{ "direct", "weft", PAIR "--clock none --path direct --",
		  .messages = 5000, .quick = 1000 },
		{ "tcp_rxm", "tcp;ofi_rxm", .messages = 300, .quick = 100 },
		{ "shm", "shm", .messages = 5000, .quick = 1000 },
		{ "untimed", "weft", PAIR "--clock none --", .messages = 500,
		  .quick = 300 },
		{ "timed", "weft", PAIR "--clock fixed --", .blocking = true,
		  .messages = 10000, .quick = 3000 },
	};
	const size_t n = sizeof(way) / sizeof(way[0]);
	struct fabric_bench f = { .runs = 0 };

	if (!bench_find(&f)) {
		fprintf(stderr, "weft: bench exec: not without libfabric\n");
		return 0;
	}
	for (uint32_t round = 0; round < bench_size(b, 9, 3); round++)
		for (size_t i = 0; i < n; i++)
			if (way_run(&f, &way[i],
				    bench_size(b, way[i].messages,
					       way[i].quick),
				    err))
				return -EIO;
	for (size_t i = 0; i < n; i++)
		way_report(b, &way[i]);
	bench_report(b, "latency_direct_by_tcp_rxm", "",
		     way[0].latency / way[1].latency);
	bench_report(b, "latency_direct_by_shm", "",
		     way[0].latency / way[2].latency);
	bench_report(b, "rate_direct_by_tcp_rxm", "",
		     way[0].rate / way[1].rate);
	bench_report(b, "rate_direct_by_shm", "", way[0].rate / way[2].rate);
	return 0;
}
