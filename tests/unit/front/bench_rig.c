/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_rig.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

struct bench_fake bench_fake;

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
	return bench_fake.full;
}

/* Returns the size that the test uses in place of the sizes `full` and `quick`
 * of a bench. */
uint32_t bench_size(const struct bench_ctx *b, uint32_t full, uint32_t quick)
{
	static const uint32_t sizes[][3] = {
		{ 10000000, 1000000, 10000 }, /* events */
		/* number of hops of the crossbar */
		{ 2000000, 300000, 3000 },
		/* number of messages of each of 8 nodes */
		{ 50000, 10000, 100 },
		{ 3000000, 200000, 2000 }, /* number of hops of a torus */
		{ 500000, 20000, 2000 },   /* number of hops of routers */
		{ 5, 2, 0 },   /* microseconds before the measurement starts */
		{ 3, 2, 1 },   /* tori */
		{ 32, 16, 4 }, /* number of nodes of one side of the torus */
		{ 9, 3, 3 },   /* number of rounds with processes */
		/* numbers of messages: of the direct endpoint and of shm */
		{ 5000, 1000, 1000 },
		{ 300, 100, 100 },     /* tcp;ofi_rxm */
		{ 500, 300, 300 },     /* untimed */
		{ 10000, 3000, 3000 }, /* timed */
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (sizes[i][0] == full && sizes[i][1] == quick)
			return sizes[i][2];
	fail_msg("unknown size: %u, quick %u", full, quick);
	return 0;
}

uint64_t bench_cpu_ns(void)
{
	return bench_fake.ns += 1000;
}

uint64_t bench_rss_bytes(void)
{
	return bench_fake.bytes += 1 << 20;
}

pid_t wait4(pid_t pid, int *status, int options, struct rusage *use)
{
	memset(use, 0, sizeof(*use));
	use->ru_utime.tv_sec = ++bench_fake.waits;
	use->ru_utime.tv_usec = 500000;
	return waitpid(pid, status, options);
}

void bench_run(struct bench_ctx *b,
	       int (*bench)(struct bench_ctx *, struct weft_err *))
{
	struct weft_err err = { 0 };

	memset(b, 0, sizeof(*b));
	if (bench(b, &err))
		fail_msg("%s", err.msg);
}

void bench_hold(const struct bench_ctx *b, const struct bench_held *h)
{
	for (; h->name; h++) {
		uint32_t i = 0;

		while (i < b->n && strcmp(b->at[i].name, h->name))
			i++;
		assert_true(i < b->n);
		if (b->at[i].value != h->value)
			fail_msg("%s is %.17g, was %.17g", h->name,
				 b->at[i].value, h->value);
	}
}

double bench_figure(struct bench_ctx *b, const char *name, const char *unit)
{
	assert_in_range(b->read, 0, b->n - 1);
	assert_string_equal(b->at[b->read].name, name);
	assert_string_equal(b->at[b->read].unit, unit);
	return b->at[b->read++].value;
}

void near(double value, double want, double part)
{
	if (!(value >= want * (1 - part) && value <= want * (1 + part)))
		fail_msg("%.9g instead of %.9g", value, want);
}

void exactly(double value, double want)
{
	near(value, want, 1e-9);
}

double torus_way(uint32_t side)
{
	double n = side * side * side;

	return 3 * (side / 4.0) * n / (n - 1) + 1;
}
