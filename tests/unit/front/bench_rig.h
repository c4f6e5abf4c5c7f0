/* SPDX-License-Identifier: Apache-2.0 */
/* A bench with a fake clock. Each reading of clock and memory advances time by
 * 1 us and memory by 1 MiB, so that a figure shows how much work was done.
 * wait4() reports that each process took a second more than the process
 * before. */
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
/* Returns the next figure of the output. Fails unless it has this name and
 * unit. */
double bench_figure(struct bench_ctx *b, const char *name, const char *unit);
void near(double value, double want, double part);
void exactly(double value, double want);

/* An expected figure of a simulation. Simulated figures are equal in every run,
 * so that bench_hold() compares them exactly. The list ends with name ==
 * NULL. */
struct bench_held {
	const char *name;
	double value;
};
void bench_hold(const struct bench_ctx *b, const struct bench_held *h);

/* Returns the mean number of crossbars between two nodes of a torus, a quarter
 * of the side for each dimension. */
double torus_way(uint32_t side);

#endif
