/* SPDX-License-Identifier: Apache-2.0 */
/* Bench `capture`: measures the cost of `--capture all`. It runs one experiment
 * alternately without and with a capture, and takes the smallest CPU time of
 * each, so that other load on the machine counts little. The capture is written
 * to a file, because writing is part of the cost. The figure `without_...`
 * compares two runs without a capture. It shows only the noise of the
 * measurement. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/bench/bench.h"
#include "front/exp/exp.h"
#include "front/exp/registry.h"
#include "front/run/capture.h"

enum { SETS = 3, TURNS = 3 };

static const struct {
	const char *name, *exp, *quick[SETS], *full[SETS];
} runs[] = {
#define CAPTURE_RUN(name, exp, quick, full) { name, exp, quick, full },
#define SETTINGS(...)                                                          \
	{                                                                      \
		__VA_ARGS__                                                    \
	}
#include "systems.def"
#undef CAPTURE_RUN
#undef SETTINGS
};

/* Returns the CPU time of one run. If `path` is not NULL, the run writes a
 * capture to that file. */
static int bench_capture_timed(const struct registry *reg, const char *what,
			       const char *const *set, const char *path,
			       uint64_t *ns_p, struct weft_err *err)
{
	static const char *const all[] = { "all" };
	struct exp_opts opts = { .set = set };
	struct capture *cap = NULL;
	struct exp_case c;
	struct exp *e;
	int ret;

	while (opts.n_set < SETS && set[opts.n_set])
		opts.n_set++;
	if (exp_load(what, &opts, reg, &e, err))
		return -EINVAL;
	*ns_p = bench_cpu_ns();
	ret = path ? capture_open(path, 0, all, 1, &cap, err) : 0;
	e->on_open = path ? capture_tap : NULL;
	e->hook_arg = cap;
	if (!ret && !(ret = exp_case_open(e, 0, &c, err))) {
		weft_sim_run(c.sim, c.until);
		if (cap)
			capture_untap(cap);
		exp_case_close(&c);
	}
	if (cap && capture_close(cap, true, err))
		ret = -EIO;
	*ns_p = bench_cpu_ns() - *ns_p;
	exp_free(e);
	return ret;
}

static int bench_capture_one(struct bench_ctx *b, const struct registry *reg,
			     size_t i, const char *path, struct weft_err *err)
{
	const char *const *set = bench_full(b) ? runs[i].full : runs[i].quick;
	uint64_t best[3] = { UINT64_MAX, UINT64_MAX, UINT64_MAX }, ns;
	char name[40];

	for (uint32_t k = 0; k < 3 * TURNS; k++) {
		if (bench_capture_timed(reg, runs[i].exp, set,
					k % 3 == 1 ? path : NULL, &ns, err))
			return -EINVAL;
		if (ns < best[k % 3])
			best[k % 3] = ns;
	}
	snprintf(name, sizeof(name), "with_%s", runs[i].name);
	bench_report(b, name, "x", (double)best[1] / (double)best[0]);
	snprintf(name, sizeof(name), "without_%s", runs[i].name);
	bench_report(b, name, "x", (double)best[2] / (double)best[0]);
	return 0;
}

int bench_capture(struct bench_ctx *b, struct weft_err *err)
{
	const char *dir = getenv("TMPDIR");
	char path[200];
	struct registry reg;
	int ret = 0, fd;

	snprintf(path, sizeof(path), "%s/weft-bench-XXXXXX",
		 dir ? dir : "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		return weft_fail(err, errno, "%s: %s", path, strerror(errno));
	close(fd);
	registry_init(&reg);
	for (size_t i = 0; !ret && i < sizeof(runs) / sizeof(runs[0]); i++)
		ret = bench_capture_one(b, &reg, i, path, err);
	registry_fini(&reg);
	unlink(path);
	return ret;
}
