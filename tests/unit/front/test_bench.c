/* SPDX-License-Identifier: Apache-2.0 */
/* The benches, with a clock that goes on by 1 us at each look and a memory that
 * grows by 1 MiB at each: so a figure tells how much was done.  Other
 * simulators and processes are scripts; wait4() says that each took a second
 * more than the one before. */
#include "../cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "front/bench/bench.h"

enum { FIGURES = 48 };

struct bench_ctx {
	struct {
		char name[64], unit[24];
		double value;
	} at[FIGURES];
	uint32_t n, read;
};

static struct {
	uint64_t ns, bytes;
	uint32_t waits;
} fake;

void bench_report(struct bench_ctx *b, const char *name, const char *unit,
		  double value)
{
	assert_in_range(b->n, 0, FIGURES - 1);
	snprintf(b->at[b->n].name, sizeof(b->at[0].name), "%s", name);
	snprintf(b->at[b->n].unit, sizeof(b->at[0].unit), "%s", unit);
	b->at[b->n++].value = value;
}

bool bench_full(const struct bench_ctx *b)
{
	return false;
}

/* What a full and a quick bench do, and the test. */
uint32_t bench_size(const struct bench_ctx *b, uint32_t full, uint32_t quick)
{
	static const uint32_t sizes[][3] = {
		{ 10000000, 1000000, 10000 }, /* events */
		{ 2000000, 300000, 3000 },    /* hops of the crossbar */
		{ 50000, 10000, 100 },	      /* messages of each of 8 nodes */
		{ 3000000, 200000, 2000 },    /* hops of a torus */
		{ 5, 2, 0 },		      /* us before it counts */
		{ 3, 2, 1 },		      /* tori */
		{ 32, 16, 4 },		      /* the side of one */
		{ 9, 3, 3 },		      /* rounds with processes */
		{ 5000, 1000, 1000 },	      /* messages: direct, shm */
		{ 300, 100, 100 },	      /* tcp;ofi_rxm */
		{ 500, 300, 300 },	      /* untimed */
		{ 10000, 3000, 3000 },	      /* timed */
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (sizes[i][0] == full && sizes[i][1] == quick)
			return sizes[i][2];
	fail_msg("unknown size: %u, quick %u", full, quick);
	return 0;
}

uint64_t bench_cpu_ns(void)
{
	return fake.ns += 1000;
}

uint64_t bench_rss_bytes(void)
{
	return fake.bytes += 1 << 20;
}

pid_t wait4(pid_t pid, int *status, int options, struct rusage *use)
{
	memset(use, 0, sizeof(*use));
	use->ru_utime.tv_sec = ++fake.waits;
	use->ru_utime.tv_usec = 500000;
	return waitpid(pid, status, options);
}

static void run(struct bench_ctx *b,
		int (*bench)(struct bench_ctx *, struct weft_err *))
{
	struct weft_err err = { 0 };

	memset(b, 0, sizeof(*b));
	if (bench(b, &err))
		fail_msg("%s", err.msg);
}

/* The next figure. */
static double next(struct bench_ctx *b, const char *name, const char *unit)
{
	assert_in_range(b->read, 0, b->n - 1);
	assert_string_equal(b->at[b->read].name, name);
	assert_string_equal(b->at[b->read].unit, unit);
	return b->at[b->read++].value;
}

static void near(double value, double want, double part)
{
	if (!(value >= want * (1 - part) && value <= want * (1 + part)))
		fail_msg("%.9g instead of %.9g", value, want);
}

static void exactly(double value, double want)
{
	near(value, want, 1e-9);
}

/* ---- ours ---- */

static void test_events(void **state)
{
	struct bench_ctx b;

	run(&b, bench_events);
	exactly(next(&b, "pending_100", "ns/event"), 0.1);
	exactly(next(&b, "pending_10k", "ns/event"), 0.1);
	exactly(next(&b, "pending_1m", "ns/event"), 0.1);
	assert_int_equal(b.read, b.n);
}

/* A packet of `size` bytes is 5 words more; a word takes 12.8 ns.  The bench
 * goes on by 100 us until 3000 packets have arrived. */
static double crossbar(uint32_t ports, uint32_t size, double load)
{
	double step = ports * 100e3 / (12.8 * (5 + size / 4)) * load, done = 0;

	while (done < 3000)
		done += step;
	return done;
}

static void test_switch(void **state)
{
	static const uint32_t ports[] = { 8, 32 }, size[] = { 24, 128, 512 };
	struct bench_ctx b;
	char name[64];

	run(&b, bench_switch);
	exactly(next(&b, "idle_port", "bytes"), (1 << 20) / (16 * 32));
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t n = ports[i / 3], s = size[i % 3];

		snprintf(name, sizeof(name), "hops_%ux%u_%uB_half", n, n, s);
		near(next(&b, name, "M/s"), crossbar(n, s, 0.5), 0.03);
		/* more than a link takes: most of that goes through */
		snprintf(name, sizeof(name), "hops_%ux%u_%uB_full", n, n, s);
		near(next(&b, name, "M/s"), 0.92 * crossbar(n, s, 1), 0.09);
	}
	assert_int_equal(b.read, b.n);
}

static void test_nic(void **state)
{
	struct bench_ctx b;

	run(&b, bench_nic);
	exactly(next(&b, "messages_24B", "M/s"), 8 * 100);
	near(next(&b, "events_24B", "events/message"), 22, 0.3);
	exactly(next(&b, "messages_512B", "M/s"), 8 * 100);
	near(next(&b, "events_512B", "events/message"), 22, 0.3);
	assert_int_equal(b.read, b.n);
}

/* Crossbars on the way to another node: a quarter of each ring in the mean. */
static double way(uint32_t side)
{
	double n = side * side * side;

	return 3 * (side / 4.0) * n / (n - 1) + 1;
}

static void test_scale(void **state)
{
	struct bench_ctx b;

	run(&b, bench_scale);
	/* 1 us, in the first third of which the network fills */
	near(next(&b, "hops_8^3", "M/s"), 512 * 156.25 * 0.5 / 8 * way(8) * 0.8,
	     0.25);
	exactly(next(&b, "bytes_8^3", "bytes/node"), (1 << 20) / 512);
	exactly(next(&b, "cost_8^3_to_8^3", "times"), 1);
	assert_int_equal(b.read, b.n);
}

/* Messages of 5 flits, for 1 us: links of all sizes are equally busy. */
static void test_nics(void **state)
{
	double load = 0.278 * 156.25 / 5, small, large;
	struct bench_ctx b;

	run(&b, bench_nics);
	small = next(&b, "hops_8^3", "M/s");
	near(small, 512 * load * way(8), 0.05);
	near(next(&b, "messages_8^3", "M/s"), 512 * load, 0.05);
	exactly(next(&b, "bytes_8^3", "bytes/node"), (1 << 20) / 512);
	large = next(&b, "hops_4^3", "M/s");
	near(large, 64 * 2 * load * way(4), 0.05);
	near(next(&b, "messages_4^3", "M/s"), 64 * 2 * load, 0.05);
	exactly(next(&b, "bytes_4^3", "bytes/node"), (1 << 20) / 64);
	exactly(next(&b, "cost_4^3_to_8^3", "times"), small / large);
	near(next(&b, "peak", "MB"), 500, 0.99);
	assert_int_equal(b.read, b.n);
}

/* ---- beside others ---- */

#define SCRIPTS "/tmp/weft-test-bench-XXXXXX"

static void script(const char *dir, const char *name, const char *text)
{
	char path[200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "#!/bin/sh\ncd %s\n%s", dir, text);
	fclose(f);
	assert_int_equal(chmod(path, 0700), 0);
}

/* What the scripts were called with begins so. */
static void called(const char *dir, const char *want)
{
	char path[200], text[4096] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/log", dir);
	f = fopen(path, "r");
	assert_non_null(f);
	text[fread(text, 1, strlen(want), f)] = '\0';
	fclose(f);
	assert_string_equal(text, want);
}

static void dir_new(char *dir)
{
	assert_non_null(mkdtemp(dir));
}

static void dir_end(const char *dir)
{
	static const char *const names[] = { "booksim", "sst", "weft-fabric",
					     "log" };
	char path[200];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	assert_int_equal(rmdir(dir), 0);
}

static void peers(const char *booksim, const char *sst)
{
	if (booksim)
		setenv("BOOKSIM", booksim, 1);
	else
		unsetenv("BOOKSIM");
	setenv("SST", sst, 1);
}

static const char booksim[] =
	"echo booksim $(grep -E '^(k|n) ' $1) $2 $3 $4 >> log\n"
	"echo 'Hops average = 3 (1 samples)'\n"
	"echo 'Hops average = 7.00 (1 samples)' >&2\n"
	"echo 'Time taken is 1000 cycles'\n"
	"echo 'Injected packet rate average = 0.25'\n";
static const char sst[] =
	"head -1 $1 >> log\n"
	"echo $# ${1##*.} >> log\n"
	"echo 'Simulation is complete'\n";

/* One case: our figure is that of 1 us or, when that are less than 2000 hops,
 * 2 us.  BookSim took 1.5 s the first time, and 3 s more each time, since SST
 * runs twice in between: the second run there takes a second longer. */
static void torus_case(struct bench_ctx *b, uint32_t i)
{
	static const char *const flits[] = { "1", "8", "32" };
	static const char *const loads[] = { "0.1", "0.3", "0.5" };
	const char *f = flits[i / 3], *l = loads[i % 3];
	double per_cycle = 512 * atof(l) / atof(f) * way(8);
	double us = per_cycle * 156.25 < 2000 ? 2 : 1, ours, theirs;
	char name[64];

	snprintf(name, sizeof(name), "hops_%sflits_%s", f, l);
	ours = next(b, name, "M/s") * 1e6;
	near(ours, per_cycle * 156.25 * us * 1e6 * 0.8, 0.25);
	theirs = 0.25 * 512 * 1000 * 7 / (1.5 + 3 * i);
	snprintf(name, sizeof(name), "booksim_%sflits_%s", f, l);
	exactly(next(b, name, "M/s"), theirs * 1e-6);
	snprintf(name, sizeof(name), "ratio_booksim_%sflits_%s", f, l);
	exactly(next(b, name, "times"), ours / theirs);
	/* of 100000 hops, or up to 2 % less, and five times as many */
	snprintf(name, sizeof(name), "merlin_%sflits_%s", f, l);
	theirs = next(b, name, "M/s") * 1e6;
	near(theirs, 396000, 0.0102);
	snprintf(name, sizeof(name), "ratio_merlin_%sflits_%s", f, l);
	exactly(next(b, name, "times"), ours / theirs);
}

static void test_torus(void **state)
{
	char dir[] = SCRIPTS, a[60], c[60];
	struct bench_ctx b;

	dir_new(dir);
	snprintf(a, sizeof(a), "%s/booksim", dir);
	snprintf(c, sizeof(c), "%s/sst", dir);
	script(dir, "booksim", booksim);
	script(dir, "sst", sst);
	peers(a, c);
	fake.waits = 0;
	run(&b, bench_torus);
	for (uint32_t i = 0; i < 9; i++)
		torus_case(&b, i);
	assert_int_equal(b.read, b.n);
	called(dir,
	       "booksim k = 8; n = 3; packet_size=1 injection_rate=0.1 "
	       "sample_period=250\n"
	       "flits, load, ns = 1, 0.1, 278\n1 py\n"
	       "flits, load, ns = 1, 0.1, 1390\n1 py\n"
	       "booksim k = 8; n = 3; packet_size=1 injection_rate=0.3 ");
	dir_end(dir);
}

/* What is said of programs that are others. */
static void test_strangers(void **state)
{
	static const struct {
		const char *booksim, *sst, *why;
	} rows[] = {
		{ "/bin/true", "", "/bin/true: not the output of BookSim2" },
		{ "/bin/no such", "", "/bin/no such: not the output of" },
		{ NULL, "/bin/true", "/bin/true: not the output of SST" },
	};
	struct bench_ctx b;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct weft_err err = { 0 };

		memset(&b, 0, sizeof(b));
		peers(rows[i].booksim, rows[i].sst);
		assert_int_not_equal(bench_torus(&b, &err), 0);
		assert_ptr_equal(strstr(err.msg, rows[i].why), err.msg);
		assert_int_equal(b.n, 1);
	}
}

/* The number of the run is the end of its key.  Of three rounds the second
 * has the highest values, the third the lowest.  The second of two processes
 * says what nobody reads. */
static const char fabric[] =
	"run=${4##*-}\n"
	"v=$((100 + (run + 5) % 15))\n"
	"[ \"$8\" = 1 ] && echo 'latency 1 rate 999' && exit\n"
	"echo \"$2 $run ${4%-*-*} $5 $6 $7 $8\" >> log\n"
	"[ $6 = 100 ] && [ -n \"$WEFT_TEST_FAILS\" ] && echo oh && exit 1\n"
	"word=rate\n"
	"[ \"$7\" = -b ] && word=blocking\n"
	"echo latency $v $word $v\n";

/* `weft exec OPTIONS -- PROGRAM...`, which is this program. */
static int weft_exec(char **arg)
{
	char path[200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/log", getenv("WEFT_LIBS"));
	f = fopen(path, "a");
	for (; strcmp(*arg, "--"); arg++)
		fprintf(f, "%s ", *arg);
	fclose(f);
	printf("2 processes, 6400 hand-overs, and more\n");
	fflush(stdout);
	execv(arg[1], arg + 1);
	return 127;
}

static void test_exec(void **state)
{
	static const char *const by[] = { "latency_direct_by_tcp_rxm",
					  "latency_direct_by_shm",
					  "rate_direct_by_tcp_rxm",
					  "rate_direct_by_shm" };
	static const char *const ways[] = { "direct", "tcp_rxm", "shm",
					    "untimed" };
	static const double ratio[] = { 100.0 / 101, 100.0 / 102, 110.0 / 111,
					110.0 / 112 };
	char dir[] = SCRIPTS, name[64];
	struct bench_ctx b;

	dir_new(dir);
	script(dir, "weft-fabric", fabric);
	setenv("WEFT_LIBS", dir, 1);
	run(&b, bench_exec);
	for (uint32_t i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "latency_%s", ways[i]);
		exactly(next(&b, name, "ns"), 100 + i);
		snprintf(name, sizeof(name), "rate_%s", ways[i]);
		exactly(next(&b, name, "messages/s"), 110 + i);
	}
	exactly(next(&b, "latency_timed", "ns"), 104);
	exactly(next(&b, "blocking_timed", "messages/s"), 114);
	exactly(next(&b, "handovers_timed", "1/message"), 1);
	for (uint32_t i = 0; i < 4; i++)
		exactly(next(&b, by[i], ""), ratio[i]);
	assert_int_equal(b.read, b.n);
	called(dir,
	       "exec --fabric exec/extoll-pair -n 2 --clock none "
	       "--path direct weft 0 weft-bench -n 1000  \n"
	       "tcp;ofi_rxm 1 weft-bench -n 100 -r 0\n"
	       "shm 2 weft-bench -n 1000 -r 0\n"
	       "exec --fabric exec/extoll-pair -n 2 --clock none "
	       "weft 3 weft-bench -n 300  \n"
	       "exec --fabric exec/extoll-pair -n 2 --clock fixed "
	       "weft 4 weft-bench -n 3000 -b \n"
	       "exec --fabric exec/extoll-pair -n 2 --clock none "
	       "--path direct weft 5 ");
	dir_end(dir);
}

static void test_exec_fails(void **state)
{
	struct weft_err err = { 0 };
	struct bench_ctx b = { 0 };
	char dir[] = SCRIPTS;

	dir_new(dir);
	setenv("WEFT_LIBS", dir, 1);
	assert_int_equal(bench_exec(&b, &err), 0); /* there is no program */
	script(dir, "weft-fabric", fabric);
	setenv("WEFT_TEST_FAILS", "1", 1);
	assert_int_not_equal(bench_exec(&b, &err), 0);
	assert_non_null(strstr(err.msg, "over tcp;ofi_rxm failed: oh"));
	assert_int_equal(b.n, 0);
	dir_end(dir);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_switch),
		cmocka_unit_test(test_nic),
		cmocka_unit_test(test_scale),
		cmocka_unit_test(test_nics),
		cmocka_unit_test(test_torus),
		cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_exec_fails),
	};

	if (argc > 1 && !strcmp(argv[1], "exec"))
		return weft_exec(argv + 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
