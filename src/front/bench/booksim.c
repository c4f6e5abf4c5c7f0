/* SPDX-License-Identifier: Apache-2.0 */
#include "front/bench/booksim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* One router of five cycles, four virtual channels of 32 flits each; run of
 * fixed length.  Keys as BookSim2 names them. */
static const char config[] =
	"topology = torus;\n"
	"k = 8;\n"
	"n = 3;\n"
	"routing_function = dim_order;\n"
	"num_vcs = 4;\n"
	"vc_buf_size = 32;\n"
	"wait_for_tail_credit = 0;\n"
	"use_noc_latency = 0;\n"
	"vc_allocator = islip;\n"
	"sw_allocator = islip;\n"
	"alloc_iters = 1;\n"
	"routing_delay = 1;\n"
	"vc_alloc_delay = 1;\n"
	"sw_alloc_delay = 1;\n"
	"st_final_delay = 1;\n"
	"credit_delay = 0;\n"
	"input_speedup = 1;\n"
	"output_speedup = 1;\n"
	"internal_speedup = 1.0;\n"
	"traffic = uniform;\n"
	"injection_process = bernoulli;\n"
	"injection_rate_uses_flits = 1;\n"
	"sim_type = latency;\n"
	"warmup_periods = 1;\n"
	"max_samples = 4;\n"
	"stopping_thres = -1.0;\n"
	"acc_stopping_thres = -1.0;\n"
	"latency_thres = -1.0;\n"
	"deadlock_warn_timeout = 100000;\n"
	"seed = 1;\n";

enum { NODES = 512 };

const char *booksim_path(void)
{
	const char *path = getenv("BOOKSIM");

	return path && *path ? path : NULL;
}

static double children_cpu(void)
{
	struct rusage r;

	getrusage(RUSAGE_CHILDREN, &r);
	return (double)r.ru_utime.tv_sec + (double)r.ru_utime.tv_usec * 1e-6;
}

static void child(int out, const char *file, const char *flits,
		  const char *load, bool full)
{
	char size[40], rate[40], period[40];

	snprintf(size, sizeof(size), "packet_size=%s", flits);
	snprintf(rate, sizeof(rate), "injection_rate=%s", load);
	snprintf(period, sizeof(period), "sample_period=%u",
		 full ? 1000u : 250u);
	if (dup2(out, 1) >= 0 && dup2(out, 2) >= 0)
		execl(booksim_path(), booksim_path(), file, size, rate, period,
		      (char *)NULL);
	_exit(127);
}

/* The last value of a line like "Hops average = 7.00 (1 samples)". */
static void value(const char *line, const char *key, double *v_p)
{
	const char *p = strstr(line, key);

	if (p)
		*v_p = strtod(p + strlen(key), NULL);
}

struct told {
	double hops, cycles, rate;
};

static void read_output(FILE *f, struct told *t)
{
	char line[512];

	while (fgets(line, sizeof(line), f)) {
		value(line, "Hops average = ", &t->hops);
		value(line, "Time taken is ", &t->cycles);
		value(line, "Injected packet rate average = ", &t->rate);
	}
}

static int run(const char *file, const char *flits, const char *load, bool full,
	       struct told *t, struct weft_err *err)
{
	int fd[2];
	pid_t pid;
	FILE *f;

	if (pipe(fd))
		return weft_fail(err, errno, "no pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0)
		child(fd[1], file, flits, load, full);
	close(fd[1]);
	f = pid > 0 ? fdopen(fd[0], "r") : NULL;
	if (!f) {
		close(fd[0]);
		return weft_fail(err, EIO, "BookSim2 could not be started");
	}
	read_output(f, t);
	fclose(f);
	waitpid(pid, NULL, 0);
	if (!t->hops || !t->cycles || !t->rate)
		return weft_fail(err, EIO, "%s: not the output of BookSim2",
				 booksim_path());
	return 0;
}

int booksim_speed(const char *flits, const char *load, bool full,
		  double *speed_p, struct weft_err *err)
{
	char file[] = "/tmp/weft-booksim-XXXXXX";
	int fd = mkstemp(file), ret;
	struct told t = { 0 };
	double cpu = children_cpu();

	if (fd < 0 || write(fd, config, strlen(config)) < 0)
		return weft_fail(err, EIO, "no temporary file");
	close(fd);
	ret = run(file, flits, load, full, &t, err);
	unlink(file);
	if (ret)
		return ret;
	cpu = children_cpu() - cpu;
	*speed_p = t.rate * NODES * t.cycles * t.hops / cpu;
	return 0;
}
