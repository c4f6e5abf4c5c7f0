/* SPDX-License-Identifier: Apache-2.0 */
/* Speed of the simulator itself.
 *
 * A bench is one function `bench_<id>` and one line in bench.def or in the
 * system.def of its system.  It builds its simulation with the public API,
 * measures with bench_cpu_ns and reports named figures. Figures depend on the
 * computer, therefore none of them enters an experiment's results. */
#ifndef FRONT_BENCH_H
#define FRONT_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "weft/types.h"

struct bench_ctx; /* state of the front end */

/* Prints one figure, such as ("cost_1m", "ns/event", 41.2). */
void bench_report(struct bench_ctx *b, const char *name, const char *unit,
		  double value);
/* Returns false when the caller asked for a short run (--quick). */
bool bench_full(const struct bench_ctx *b);
/* Returns `full`, or `quick` for a short run, as the amount of work. */
uint32_t bench_size(const struct bench_ctx *b, uint32_t full, uint32_t quick);
/* Returns the CPU time of this thread in ns. */
uint64_t bench_cpu_ns(void);
/* Returns the resident memory of this process in bytes. */
uint64_t bench_rss_bytes(void);

struct bench {
	const char *name, *doc;
	/* Returns 0, or a negative errno with a message. */
	int (*run)(struct bench_ctx *b, struct weft_err *err);
};

#define X(id, doc)     int bench_##id(struct bench_ctx *b, struct weft_err *err);
#define BENCH(id, doc) X(id, doc)
#include "front/bench/bench.def"
#include "systems.def"
#undef X

#endif
