/* SPDX-License-Identifier: Apache-2.0 */
/* Benchmarks tori of EXTOLL crossbars and NICs. In place of a host, each NIC
 * has an extoll.load, which sends VELO messages of 8 bytes to random nodes. The
 * capacity of the 8x8x8 torus is 0.556 flits per cycle and node, and the load
 * is half of that. In a torus whose rings are four times as long, each node
 * offers a quarter of that load, so that links are equally busy. */
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

#include "front/bench/bench_net.h"
#include "front/exp/registry.h"

static const char text[] =
	"nodes:\n"
	"  count: 512\n"
	"  bus: { type: extoll.load, load: 0.278, size: 8 }\n"
	"  nic: { type: extoll.nic }\n"
	"fabric:\n"
	"  type: torus\n"
	"  dims: [8, 8, 8]\n"
	"  tie: balanced\n"
	"  routing: table\n"
	"run: { until: 1s }\n";

static int one(struct bench_ctx *b, const struct registry *reg, uint32_t side,
	       double *speed_p, struct weft_err *err)
{
	char count[40], dims[3][40], load[40], name[40];
	const char *set[] = { count, dims[0], dims[1], dims[2], load };
	struct net_case t = { .text = text,
			      .set = set,
			      .n_set = 5,
			      .nodes = side * side * side,
			      .warm = (side + 2) / 2 * WEFT_US,
			      .hops = bench_size(b, 3000000, 200000) };
	int i;

	snprintf(count, sizeof(count), "nodes.count=%u", t.nodes);
	for (i = 0; i < 3; i++)
		snprintf(dims[i], sizeof(dims[i]), "fabric.dims.%d=%u", i,
			 side);
	snprintf(load, sizeof(load), "nodes.bus.load=%g", 0.278 * 8 / side);
	if (net_case_run(&t, reg, err))
		return -EINVAL;
	*speed_p = t.speed;
	snprintf(name, sizeof(name), "hops_%u^3", side);
	bench_report(b, name, "M/s", t.speed * 1e-6);
	snprintf(name, sizeof(name), "messages_%u^3", side);
	bench_report(b, name, "M/s", t.messages * 1e-6);
	snprintf(name, sizeof(name), "bytes_%u^3", side);
	bench_report(b, name, "bytes/node", t.bytes);
	return 0;
}

int bench_nics(struct bench_ctx *b, struct weft_err *err)
{
	uint32_t side = bench_size(b, 32, 16);
	double small, large;
	struct registry reg;
	struct rusage ru;
	char name[40];
	int ret;

	registry_init(&reg);
	ret = one(b, &reg, 8, &small, err);
	if (!ret)
		ret = one(b, &reg, side, &large, err);
	if (!ret) {
		snprintf(name, sizeof(name), "cost_%u^3_to_8^3", side);
		bench_report(b, name, "times", small / large);
		getrusage(RUSAGE_SELF, &ru);
		bench_report(b, "peak", "MB",
			     (double)ru.ru_maxrss * 1024 * 1e-6);
	}
	registry_fini(&reg);
	return ret;
}
