/* SPDX-License-Identifier: Apache-2.0 */
/* Benchmarks large direct networks. The network is an 8x8x8 torus with
 * dimension-order routing. Each node has one crossbar, which takes five cycles
 * per hop. Traffic is uniform, with packets of 1, 8 and 32 flits. The unit of
 * work is the packet-hop: one packet through one crossbar.
 *
 * Two environment variables may name binaries of other simulators: BOOKSIM
 * names BookSim2, SST names SST with the element library merlin. The benchmark
 * then runs the same network, traffic and load on each named simulator, too
 * (configurations: booksim.c, merlin.c). The simulators run one after the other
 * on one core. The benchmark prints the ratios of packet-hops per CPU
 * second. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "front/bench/bench_net.h"
#include "front/bench/peer.h"
#include "front/exp/registry.h"

static const char text[] =
	"payload: none\n"
	"traffic:\n"
	"  count: 512\n"
	"  type: extoll.gen\n"
	"  preset: plain\n"
	"  flits: 8\n"
	"  load: 0.125\n"
	"fabric:\n"
	"  type: torus\n"
	"  dims: [8, 8, 8]\n"
	"  tie: balanced\n"
	"  routing: table\n"
	"  switch: { type: extoll.xbar, preset: plain }\n"
	"  link: { type: extoll.cable, length: 0.0001 }\n"
	"run: { until: 1s }\n";

struct torus_case {
	uint32_t side;
	const char *flits, *load;
	double speed; /* packet-hops per CPU second */
	double bytes; /* bytes per node */
};

static int weft_speed(struct bench_ctx *b, const struct registry *reg,
		      struct torus_case *t, struct weft_err *err)
{
	uint32_t nodes = t->side * t->side * t->side;
	char count[40], dims[3][40], flits[40], load[40];
	const char *set[] = { count, dims[0], dims[1], dims[2], flits, load };
	struct net_case n = { .text = text,
			      .set = set,
			      .n_set = 6,
			      .nodes = nodes,
			      .warm = bench_size(b, 5, 2) * WEFT_US,
			      .hops = bench_size(b, 3000000, 200000) };
	int i;

	snprintf(count, sizeof(count), "traffic.count=%u", nodes);
	for (i = 0; i < 3; i++)
		snprintf(dims[i], sizeof(dims[i]), "fabric.dims.%d=%u", i,
			 t->side);
	snprintf(flits, sizeof(flits), "traffic.flits=%s", t->flits);
	snprintf(load, sizeof(load), "traffic.load=%s", t->load);
	if (net_case_run(&n, reg, err))
		return -EINVAL;
	t->speed = n.speed;
	t->bytes = n.bytes;
	return 0;
}

static const struct peer *const peers[] = { &peer_booksim, &peer_merlin };
enum { PEERS = sizeof(peers) / sizeof(peers[0]) };

static int bench_torus_one(struct bench_ctx *b, const struct registry *reg,
			   struct torus_case *t, struct weft_err *err)
{
	struct peer_case c = { t->flits, t->load, bench_full(b) };
	char name[40];
	double speed;

	if (weft_speed(b, reg, t, err))
		return -EINVAL;
	snprintf(name, sizeof(name), "hops_%sflits_%s", t->flits, t->load);
	bench_report(b, name, "M/s", t->speed * 1e-6);
	for (uint32_t i = 0; i < PEERS; i++) {
		const struct peer *p = peers[i];

		if (!peer_path(p))
			continue;
		if (p->speed(&c, &speed, err))
			return -EINVAL;
		snprintf(name, sizeof(name), "%s_%sflits_%s", p->name, t->flits,
			 t->load);
		bench_report(b, name, "M/s", speed * 1e-6);
		snprintf(name, sizeof(name), "ratio_%s_%sflits_%s", p->name,
			 t->flits, t->load);
		bench_report(b, name, "times", t->speed / speed);
	}
	return 0;
}

int bench_torus(struct bench_ctx *b, struct weft_err *err)
{
	static const char *const flits[] = { "1", "8", "32" };
	static const char *const loads[] = { "0.1", "0.3", "0.5" };
	struct registry reg;
	uint32_t f, l;
	int ret = 0;

	for (f = 0; f < PEERS; f++)
		if (!peer_path(peers[f]))
			fprintf(stderr,
				"weft: bench: without %s: name its binary in %s to compare\n",
				peers[f]->title, peers[f]->variable);
	registry_init(&reg);
	for (f = 0; f < 3 && !ret; f++) {
		for (l = 0; l < 3 && !ret; l++) {
			struct torus_case t = { 8, flits[f], loads[l], 0, 0 };

			ret = bench_torus_one(b, &reg, &t, err);
		}
	}
	registry_fini(&reg);
	return ret;
}

/* Measures tori of several sizes. Each torus gets half of the load that its
 * rings can carry under uniform traffic, so that the load per link is equal in
 * all tori. */
int bench_scale(struct bench_ctx *b, struct weft_err *err)
{
	struct torus_case t[] = { { 8, "8", "0.5", 0, 0 },
				  { 16, "8", "0.25", 0, 0 },
				  { 32, "8", "0.125", 0, 0 } };
	struct registry reg;
	char name[40];
	int ret = 0;
	uint32_t i, n = bench_size(b, 3, 2);

	registry_init(&reg);
	for (i = 0; i < n && !ret; i++) {
		ret = weft_speed(b, &reg, &t[i], err);
		if (ret)
			break;
		snprintf(name, sizeof(name), "hops_%u^3", t[i].side);
		bench_report(b, name, "M/s", t[i].speed * 1e-6);
		snprintf(name, sizeof(name), "bytes_%u^3", t[i].side);
		bench_report(b, name, "bytes/node", t[i].bytes);
	}
	snprintf(name, sizeof(name), "cost_%u^3_to_8^3", t[n - 1].side);
	if (!ret)
		bench_report(b, name, "times", t[0].speed / t[n - 1].speed);
	registry_fini(&reg);
	return ret;
}
