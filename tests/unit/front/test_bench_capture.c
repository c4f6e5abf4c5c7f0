/* SPDX-License-Identifier: Apache-2.0 */
/* Bench `capture` with fake experiments, so that ratios are exact. Each run
 * takes 10 us less than the one before. A capture adds 3 us to a run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_rig.h"
#include "front/exp/exp.h"
#include "front/exp/registry.h"
#include "front/run/capture.h"

static struct {
	char log[16384], path[200];
	uint32_t loads, opens, closes, taps, fail_at;
	bool needs_frames;
} seen;

static struct capture *const one_capture = (struct capture *)&seen;

static void note(const char *format, const char *text)
{
	size_t at = strlen(seen.log);

	snprintf(seen.log + at, sizeof(seen.log) - at, format, text);
}

/* Counts loads of experiments. Each experiment is loaded nine times, and the
 * first of these loads is written to the log. */
static int fake_load(const char *what, const struct exp_opts *o,
		     const struct registry *reg, struct exp **e,
		     struct weft_err *err)
{
	*e = NULL;
	if (++seen.loads == seen.fail_at)
		return weft_fail(err, 22, "load %u", seen.loads);
	*e = calloc(1, sizeof(**e));
	if (seen.loads % 9 != 1)
		return 0;
	note("%s", what);
	for (size_t i = 0; i < o->n_set; i++)
		note(" %s", o->set[i]);
	note("%s", "\n");
	return 0;
}

static int fake_open(struct exp *e, size_t i, struct exp_case *c,
		     struct weft_err *err)
{
	assert_int_equal(i, 0);
	*c = (struct exp_case){ .exp = e, .until = 77 };
	seen.needs_frames = e->on_open != NULL;
	assert_true(!e->on_open || e->hook_arg == one_capture);
	seen.taps += seen.needs_frames;
	return 0;
}

static void fake_run(struct weft_sim *sim, weft_time_t until)
{
	assert_int_equal(until, 77);
	bench_fake.ns += (uint64_t)(100 - seen.loads % 9 / 3 * 10) * 1000 +
			 (seen.needs_frames ? 3000 : 0);
}

static void fake_close(struct exp_case *c)
{
}

static void fake_free(struct exp *e)
{
	free(e);
}

static int fake_capture(const char *path, uint64_t limit,
			const char *const *patterns, size_t n,
			struct capture **cap, struct weft_err *err)
{
	assert_int_equal(limit, 0);
	assert_int_equal(n, 1);
	assert_string_equal(patterns[0], "all");
	snprintf(seen.path, sizeof(seen.path), "%s", path);
	assert_int_equal(access(path, W_OK), 0);
	seen.opens++;
	*cap = one_capture;
	return 0;
}

static void fake_untap(struct capture *cap)
{
	assert_ptr_equal(cap, one_capture);
	seen.closes += 100;
}

static int fake_capture_close(struct capture *cap, bool keep,
			      struct weft_err *err)
{
	assert_true(keep);
	seen.closes++;
	return 0;
}

#define exp_load       fake_load
#define exp_case_open  fake_open
#define weft_sim_run   fake_run
#define exp_case_close fake_close
#define exp_free       fake_free
#define capture_open   fake_capture
#define capture_untap  fake_untap
#define capture_close  fake_capture_close
#include "front/bench/bench_capture.c"

static const char quick[] =
	"forth/one-way workload.count=500\n"
	"forth/uniform sweep=none workload.count=200\n"
	"forth/benes sweep=none traffic.size=24 run.until=600us\n"
	"forth/benes sweep=none run.until=800us\n"
	"extoll/alltoall workload.count=50\n"
	"extoll/rma-put-bw workload.count=200\n"
	"extoll/net-torus sweep=none fabric.net.measure=5000\n"
	"hostport/ep-traffic workload.1.count=20\n"
	"hostport/atoll-pingpong workload.count=500 workload.mode=dma "
	"workload.size=1024\n"
	"hvia/latency sweep=none workload.size=65536 workload.count=4\n";
static const char *const names[] = {
	"forth",  "forth_uniform", "forth_no_hosts",  "forth_no_bytes",
	"extoll", "extoll_rma",	   "extoll_no_hosts", "hostport",
	"atoll",  "hvia",
};

static void capture_bench_takes_fastest_of_three_turns(void **state)
{
	struct bench_ctx b;
	char name[64];

	memset(&seen, 0, sizeof(seen));
	setenv("TMPDIR", "/tmp/.", 1);
	bench_run(&b, bench_capture);
	assert_string_equal(seen.log, quick);
	assert_int_equal(seen.loads, 90);
	assert_int_equal(seen.opens, 30);
	assert_int_equal(seen.taps, 30);
	assert_int_equal(seen.closes, 30 * 101);
	assert_ptr_equal(strstr(seen.path, "/tmp/./weft-bench-"), seen.path);
	assert_int_not_equal(access(seen.path, F_OK), 0);
	/* The third of three rounds is the fastest. Reading the clock adds 1
	 * us. */
	for (size_t i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "with_%s", names[i]);
		exactly(bench_figure(&b, name, "x"), (81 + 3) / 81.0);
		snprintf(name, sizeof(name), "without_%s", names[i]);
		exactly(bench_figure(&b, name, "x"), 101 / 81.0 * 81 / 101);
	}
	assert_int_equal(b.read, b.n);
}

static void full_capture_bench_runs_longer_workloads(void **state)
{
	struct bench_ctx b;

	memset(&seen, 0, sizeof(seen));
	unsetenv("TMPDIR");
	bench_fake.full = true;
	bench_run(&b, bench_capture);
	bench_fake.full = false;
	assert_ptr_equal(strstr(seen.path, "/tmp/weft-bench-"), seen.path);
	assert_ptr_equal(strstr(seen.log,
				"forth/one-way workload.count=4000\n"
				"forth/uniform sweep=none workload.count=2000"),
			 seen.log);
	assert_non_null(strstr(seen.log, "forth/benes sweep=none\nextoll"));
	assert_non_null(strstr(seen.log,
			       "hvia/latency sweep=none workload.size=65536 "
			       "workload.count=30\n"));
}

static void capture_bench_stops_at_first_error_without_files(void **state)
{
	struct weft_err err = { 0 };
	struct bench_ctx b = { 0 };

	memset(&seen, 0, sizeof(seen));
	seen.fail_at = 12;
	assert_int_not_equal(bench_capture(&b, &err), 0);
	assert_string_equal(err.msg, "load 12");
	assert_int_equal(seen.loads, 12);
	assert_int_equal(b.n, 2);
	assert_int_not_equal(access(seen.path, F_OK), 0);
	setenv("TMPDIR", "/no/such", 1);
	err = (struct weft_err){ 0 };
	assert_int_not_equal(bench_capture(&b, &err), 0);
	assert_non_null(strstr(err.msg, "/no/such/weft-bench-"));
	assert_non_null(strstr(err.msg, "No such file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(capture_bench_takes_fastest_of_three_turns),
		cmocka_unit_test(full_capture_bench_runs_longer_workloads),
		cmocka_unit_test(
			capture_bench_stops_at_first_error_without_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
