/* SPDX-License-Identifier: Apache-2.0 */
/* A bench without a clock: time advances by 1 us and memory grows by 1 MiB at
 * each reading, so that a figure tells how much work was done. wait4() reports
 * that each process took a second more than the one before. */
#ifndef TESTS_BENCH_RIG_H
#define TESTS_BENCH_RIG_H

#include "../cmocka_all.h"
#include "front/bench/bench.h"

enum { FIGURES = 48 };

struct bench_ctx {
	struct {
		char name[64], unit[24];
		double value;
	} at[FIGURES];
	uint32_t n, read;
};

extern struct bench_fake {
	uint64_t ns, bytes;
	uint32_t waits;
	bool full; /* not quick */
} bench_fake;

void bench_run(struct bench_ctx *b,
	       int (*bench)(struct bench_ctx *, struct weft_err *));
/* The next figure. */
double bench_figure(struct bench_ctx *b, const char *name, const char *unit);
void near(double value, double want, double part);
void exactly(double value, double want);

/* Simulated figures are equal in every run. These must be near values that a
 * test computes. The list ends with name == NULL. */
struct bench_held {
	const char *name;
	double value;
};
void bench_hold(const struct bench_ctx *b, const struct bench_held *h);

/* Returns the mean number of crossbars between two nodes of a torus: a quarter
 * of each ring. */
double torus_way(uint32_t side);

#endif
