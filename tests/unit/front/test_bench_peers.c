/* SPDX-License-Identifier: Apache-2.0 */
/* Benches that compare Weft with other programs. The test replaces simulators
 * and processes by scripts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench_rig.h"

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

/* Checks that the arguments of the scripts begin with `want`. */
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

/* Checks the figures of case i. Weft runs for 1 us of simulated time, or for 2
 * us if 1 us has fewer than 2000 hops. With the fake clock BookSim takes 1.5 s
 * in case 0, and in each later case 3 s more than in the case before. SST runs
 * twice in each case, and its second run takes one second longer. */
static void torus_case(struct bench_ctx *b, uint32_t i)
{
	static const char *const flits[] = { "1", "8", "32" };
	static const char *const loads[] = { "0.1", "0.3", "0.5" };
	const char *f = flits[i / 3], *l = loads[i % 3];
	double per_cycle = 512 * atof(l) / atof(f) * torus_way(8);
	double us = per_cycle * 156.25 < 2000 ? 2 : 1, ours, theirs;
	char name[64];

	snprintf(name, sizeof(name), "hops_%sflits_%s", f, l);
	ours = bench_figure(b, name, "M/s") * 1e6;
	near(ours, per_cycle * 156.25 * us * 1e6 * 0.8, 0.25);
	theirs = 0.25 * 512 * 1000 * 7 / (1.5 + 3 * i);
	snprintf(name, sizeof(name), "booksim_%sflits_%s", f, l);
	exactly(bench_figure(b, name, "M/s"), theirs * 1e-6);
	snprintf(name, sizeof(name), "ratio_booksim_%sflits_%s", f, l);
	exactly(bench_figure(b, name, "times"), ours / theirs);
	/* The short run of SST has 100000 hops or up to 2 % less, and the long
	 * run has five times as many and takes one second more. The rate is the
	 * difference in hops per second. */
	snprintf(name, sizeof(name), "merlin_%sflits_%s", f, l);
	theirs = bench_figure(b, name, "M/s") * 1e6;
	near(theirs, 396000, 0.0102);
	snprintf(name, sizeof(name), "ratio_merlin_%sflits_%s", f, l);
	exactly(bench_figure(b, name, "times"), ours / theirs);
}

static void torus_bench_measures_hops_beside_booksim_and_sst(void **state)
{
	static const struct bench_held held[] = {
		{ "hops_1flits_0.1", 49331 },
		{ "merlin_1flits_0.1", 0.39920930567514673 },
		{ "hops_1flits_0.3", 147436 },
		{ "merlin_1flits_0.3", 0.39633729628180037 },
		{ "hops_1flits_0.5", 240842 },
		{ "merlin_1flits_0.5", 0.39490129158512716 },
		{ "hops_8flits_0.1", 6127 },
		{ "merlin_8flits_0.1", 0.39992730802348336 },
		{ "hops_8flits_0.3", 17455 },
		{ "merlin_8flits_0.3", 0.39956830684931505 },
		{ "hops_8flits_0.5", 26578 },
		{ "merlin_8flits_0.5", 0.39938880626223089 },
		{ "hops_32flits_0.1", 3092 },
		{ "merlin_32flits_0.1", 0.3999721831702544 },
		{ "hops_32flits_0.3", 3765 },
		{ "merlin_32flits_0.3", 0.3999721831702544 },
		{ "hops_32flits_0.5", 5427 },
		{ "merlin_32flits_0.5", 0.39983755772994123 },
		{ 0 },
	};
	char dir[] = SCRIPTS, a[60], c[60];
	struct bench_ctx b;

	dir_new(dir);
	snprintf(a, sizeof(a), "%s/booksim", dir);
	snprintf(c, sizeof(c), "%s/sst", dir);
	script(dir, "booksim", booksim);
	script(dir, "sst", sst);
	peers(a, c);
	bench_fake.waits = 0;
	bench_run(&b, bench_torus);
	for (uint32_t i = 0; i < 9; i++)
		torus_case(&b, i);
	bench_hold(&b, held);
	assert_int_equal(b.read, b.n);
	called(dir,
	       "booksim k = 8; n = 3; packet_size=1 injection_rate=0.1 "
	       "sample_period=250\n"
	       "flits, load, ns = 1, 0.1, 278\n1 py\n"
	       "flits, load, ns = 1, 0.1, 1390\n1 py\n"
	       "booksim k = 8; n = 3; packet_size=1 injection_rate=0.3 ");
	dir_end(dir);
}

static void torus_bench_refuses_output_of_other_programs(void **state)
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

static void router_bench_measures_the_same_networks_in_booksim(void **state)
{
	static const char *const nets[] = { "torus", "fat_tree", "dragonfly" };
	static const char *const flits[] = { "1", "8", "32" };
	static const uint32_t nodes[] = { 64, 64, 72 };
	char dir[] = SCRIPTS, a[60], name[64];
	double ours, theirs;
	struct bench_ctx b;

	dir_new(dir);
	snprintf(a, sizeof(a), "%s/booksim", dir);
	script(dir, "booksim", booksim);
	peers(a, "");
	bench_fake.waits = 0;
	bench_run(&b, bench_routers);
	for (uint32_t i = 0; i < 9; i++) {
		const char *net = nets[i / 3], *f = flits[i % 3];

		snprintf(name, sizeof(name), "%s_%sflits", net, f);
		ours = bench_figure(&b, name, "M/s") * 1e6;
		assert_true(ours > 0);
		theirs = 0.25 * nodes[i / 3] * 1000 * 7 / (1.5 + i);
		snprintf(name, sizeof(name), "booksim_%s_%sflits", net, f);
		exactly(bench_figure(&b, name, "M/s"), theirs * 1e-6);
		snprintf(name, sizeof(name), "ratio_%s_%sflits", net, f);
		exactly(bench_figure(&b, name, "times"), ours / theirs);
	}
	assert_int_equal(b.read, b.n);
	called(dir,
	       "booksim packet_size=1 injection_rate=0.2 "
	       "sample_period=250\nbooksim packet_size=8 ");
	dir_end(dir);
}

/* The key of a run ends with the number of the run. Of three rounds the second
 * has the highest values and the third the lowest. The second of two processes
 * prints lines that the bench does not read. */
static const char fabric[] =
	"run=${4##*-}\n"
	"v=$((100 + (run + 5) % 15))\n"
	"[ \"$8\" = 1 ] && echo 'latency 1 rate 999' && exit\n"
	"echo \"$2 $run ${4%-*-*} $5 $6 $7 $8\" >> log\n"
	"[ $6 = 100 ] && [ -n \"$WEFT_TEST_FAILS\" ] && echo oh && exit 1\n"
	"word=rate\n"
	"[ \"$7\" = -b ] && word=blocking\n"
	"echo latency $v $word $v\n";

/* Fakes `weft exec OPTIONS -- PROGRAM...`, where the program is this test. */
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

static void exec_bench_compares_weft_with_other_providers(void **state)
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
	bench_run(&b, bench_exec);
	for (uint32_t i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "latency_%s", ways[i]);
		exactly(bench_figure(&b, name, "ns"), 100 + i);
		snprintf(name, sizeof(name), "rate_%s", ways[i]);
		exactly(bench_figure(&b, name, "messages/s"), 110 + i);
	}
	exactly(bench_figure(&b, "latency_timed", "ns"), 104);
	exactly(bench_figure(&b, "blocking_timed", "messages/s"), 114);
	exactly(bench_figure(&b, "handovers_timed", "1/message"), 1);
	for (uint32_t i = 0; i < 4; i++)
		exactly(bench_figure(&b, by[i], ""), ratio[i]);
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

static void exec_bench_skips_missing_program_reports_failing(void **state)
{
	struct weft_err err = { 0 };
	struct bench_ctx b = { 0 };
	char dir[] = SCRIPTS;

	dir_new(dir);
	setenv("WEFT_LIBS", dir, 1);
	/* the program to run does not exist */
	assert_int_equal(bench_exec(&b, &err), 0);
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
		cmocka_unit_test(
			torus_bench_measures_hops_beside_booksim_and_sst),
		cmocka_unit_test(
			router_bench_measures_the_same_networks_in_booksim),
		cmocka_unit_test(torus_bench_refuses_output_of_other_programs),
		cmocka_unit_test(exec_bench_compares_weft_with_other_providers),
		cmocka_unit_test(
			exec_bench_skips_missing_program_reports_failing),
	};

	if (argc > 1 && !strcmp(argv[1], "exec"))
		return weft_exec(argv + 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
