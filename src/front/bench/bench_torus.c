/* SPDX-License-Identifier: Apache-2.0 */
/* Large direct networks: 8x8x8 torus, dimension order, uniform traffic of
 * packets of 1, 8 and 32 flits, one crossbar of five cycles per hop and node.
 * A packet through one crossbar is one hop.
 *
 * With the variable BOOKSIM naming a BookSim2 binary the same network, traffic
 * and load run there too (booksim.c has its configuration), one after the other
 * on the same core, and the ratio of packet-hops per CPU second is printed.
 * BookSim2 does not say how many packets it moved: its offered rate times all
 * its cycles is taken, which is a little more than it did. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/bench/bench.h"
#include "front/bench/booksim.h"
#include "front/exp/exp.h"
#include "front/exp/registry.h"
#include "measure/result.h"
#include "switch/extoll_xbar.h"

static const char text[] =
	"payload: none\n"
	"traffic:\n"
	"  count: 512\n"
	"  type: extoll.gen\n"
	"  preset: plain\n"
	"  flits: 8\n"
	"  load: 0.3\n"
	"fabric:\n"
	"  type: torus\n"
	"  dims: [8, 8, 8]\n"
	"  tie: balanced\n"
	"  routing: table\n"
	"  switch: { type: extoll.xbar, preset: plain }\n"
	"  link: { type: extoll.cable, length: 0.0001 }\n"
	"run: { until: 1s }\n";

struct torus_case {
	const char *flits, *load;
};

/* Packets that left crossbars so far. */
static uint64_t hops(const struct weft_sim *sim)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < weft_sim_count(sim); i++) {
		const struct weft_comp *c = weft_sim_at(sim, i);

		if (!strcmp(c->cls->name, "extoll.xbar"))
			n += c->counters[XB_PACKETS];
	}
	return n;
}

static double run_case(const struct bench_ctx *b, struct exp_case *c)
{
	uint64_t want = bench_full(b) ? 3000000 : 200000, ns, before;

	weft_sim_run(c->sim, 5 * WEFT_US);
	before = hops(c->sim);
	ns = bench_cpu_ns();
	do {
		weft_sim_run(c->sim, weft_sim_now(c->sim) + 5 * WEFT_US);
	} while (hops(c->sim) - before < want);
	ns = bench_cpu_ns() - ns;
	return (double)(hops(c->sim) - before) * 1e9 / (double)ns;
}

static int weft_speed(struct bench_ctx *b, const struct registry *reg,
		      const struct torus_case *t, double *speed_p,
		      struct weft_err *err)
{
	char flits[40], load[40];
	const char *set[] = { flits, load };
	const struct exp_opts opts = { .set = set, .n_set = 2 };
	struct exp_case c;
	struct exp *e;
	int ret;

	snprintf(flits, sizeof(flits), "traffic.flits=%s", t->flits);
	snprintf(load, sizeof(load), "traffic.load=%s", t->load);
	ret = exp_load_text("bench", text, strlen(text), &opts, reg, &e, err);
	if (ret)
		return ret;
	ret = exp_case_open(e, 0, &c, err);
	if (!ret) {
		*speed_p = run_case(b, &c);
		exp_case_close(&c);
	}
	exp_free(e);
	return ret;
}

static int one(struct bench_ctx *b, const struct registry *reg,
	       const struct torus_case *t, struct weft_err *err)
{
	double speed, peer;
	char name[40];

	if (weft_speed(b, reg, t, &speed, err))
		return -EINVAL;
	snprintf(name, sizeof(name), "hops_%sflits_%s", t->flits, t->load);
	bench_report(b, name, "M/s", speed * 1e-6);
	if (!booksim_path())
		return 0;
	if (booksim_speed(t->flits, t->load, bench_full(b), &peer, err))
		return -EINVAL;
	snprintf(name, sizeof(name), "booksim_%sflits_%s", t->flits, t->load);
	bench_report(b, name, "M/s", peer * 1e-6);
	snprintf(name, sizeof(name), "ratio_%sflits_%s", t->flits, t->load);
	bench_report(b, name, "times", speed / peer);
	return 0;
}

int bench_torus(struct bench_ctx *b, struct weft_err *err)
{
	static const char *const flits[] = { "1", "8", "32" };
	static const char *const loads[] = { "0.1", "0.3", "0.5" };
	struct registry reg;
	uint32_t f, l;
	int ret = 0;

	if (!booksim_path())
		fprintf(stderr,
			"weft: bench: without BookSim2: name its "
			"binary in BOOKSIM to compare\n");
	registry_init(&reg);
	for (f = 0; f < 3 && !ret; f++) {
		for (l = 0; l < 3 && !ret; l++) {
			struct torus_case t = { flits[f], loads[l] };

			ret = one(b, &reg, &t, err);
		}
	}
	registry_fini(&reg);
	return ret;
}
