/* SPDX-License-Identifier: Apache-2.0 */
/* Benchmark of networks of routers. A torus, a fat tree and a dragonfly carry
 * uniform traffic of packets of 1, 8 and 32 flits. The unit of work is the
 * packet-hop, which is one packet through one router.
 *
 * Each network is a configuration of BookSim2, which `weft import` reads. If
 * the environment variable BOOKSIM names a BookSim2 binary, BookSim2 runs the
 * same configuration after Weft on the same core. The benchmark then prints
 * ratios of packet-hops per second of CPU time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "front/bench/bench_net.h"
#include "front/bench/peer.h"
#include "front/exp/registry.h"
#include "front/import/import.h"

/* A router of five cycles with queues of 32 flits. */
#define ROUTER                                                                 \
	"vc_buf_size = 32;\n"                                                  \
	"wait_for_tail_credit = 0;\n"                                          \
	"use_noc_latency = 0;\n"                                               \
	"injection_rate_uses_flits = 1;\n"                                     \
	"warmup_periods = 1;\n"                                                \
	"max_samples = 4;\n"                                                   \
	"stopping_thres = -1.0;\n"                                             \
	"acc_stopping_thres = -1.0;\n"                                         \
	"latency_thres = -1.0;\n"                                              \
	"deadlock_warn_timeout = 100000;\n"                                    \
	"seed = 1;\n"

static const struct net {
	const char *name, *config;
	uint32_t nodes;
} nets[] = {
	{ "torus",
	  "topology = torus; k = 8; n = 2; routing_function = dim_order;\n"
	  "num_vcs = 4;\n" ROUTER,
	  64 },
	{ "fat_tree",
	  "topology = fattree; k = 4; n = 3; routing_function = nca;\n"
	  "num_vcs = 4;\n" ROUTER,
	  64 },
	{ "dragonfly",
	  "topology = dragonflynew; k = 2; n = 1; routing_function = min;\n"
	  "num_vcs = 2;\n" ROUTER,
	  72 },
};
enum { NETS = sizeof(nets) / sizeof(nets[0]) };

static const char rate[] = "injection_rate=0.2";

/* Writes the text of the experiment, which the caller frees. */
static int text_make(const struct net *n, const char *flits, char **text_p,
		     struct weft_err *err)
{
	const char *const args[] = { flits, rate };
	struct import im = { .file = n->name,
			     .text = n->config,
			     .len = strlen(n->config),
			     .args = args,
			     .n_args = 2 };
	size_t len;
	int ret;

	im.out = open_memstream(text_p, &len);
	if (!im.out)
		return weft_fail(err, ENOMEM, "no memory");
	ret = import_booksim(&im, err);
	fclose(im.out);
	if (!ret && im.refused)
		ret = weft_fail(err, EINVAL, "%s", im.notes.at[0].text);
	import_fini(&im);
	return ret;
}

static int weft_speed(struct bench_ctx *b, const struct registry *reg,
		      const struct net *n, const char *flits, double *speed_p,
		      struct weft_err *err)
{
	/* the network is measured from outside */
	static const char *const set[] = { "fabric.net.warmup=0",
					   "fabric.net.measure=0" };
	struct net_case c = { .set = set,
			      .n_set = 2,
			      .nodes = n->nodes,
			      .warm = 2 * WEFT_US,
			      .hops = bench_size(b, 500000, 20000) };
	char *text = NULL;
	int ret = text_make(n, flits, &text, err);

	c.text = text;
	if (!ret)
		ret = net_case_run(&c, reg, err);
	free(text);
	*speed_p = c.speed;
	return ret;
}

static int bench_routers_one(struct bench_ctx *b, const struct registry *reg,
			     const struct net *n, const char *flits,
			     struct weft_err *err)
{
	const struct peer_config c = { n->config,
				       { flits, rate,
					 bench_full(b) ? "sample_period=2500"
						       : "sample_period=250" },
				       n->nodes };
	char name[60], size[20];
	double ours, theirs;

	snprintf(size, sizeof(size), "%sflits", strchr(flits, '=') + 1);
	if (weft_speed(b, reg, n, flits, &ours, err))
		return -EINVAL;
	snprintf(name, sizeof(name), "%s_%s", n->name, size);
	bench_report(b, name, "M/s", ours * 1e-6);
	if (!peer_path(&peer_booksim))
		return 0;
	if (booksim_speed(&c, &theirs, err))
		return -EINVAL;
	snprintf(name, sizeof(name), "booksim_%s_%s", n->name, size);
	bench_report(b, name, "M/s", theirs * 1e-6);
	snprintf(name, sizeof(name), "ratio_%s_%s", n->name, size);
	bench_report(b, name, "times", ours / theirs);
	return 0;
}

int bench_routers(struct bench_ctx *b, struct weft_err *err)
{
	static const char *const flits[] = { "packet_size=1", "packet_size=8",
					     "packet_size=32" };
	struct registry reg;
	int ret = 0;

	if (!peer_path(&peer_booksim))
		fprintf(stderr,
			"weft: bench: without BookSim2: name its binary in BOOKSIM to compare\n");
	registry_init(&reg);
	for (uint32_t i = 0; i < NETS; i++)
		for (uint32_t f = 0; f < 3 && !ret; f++)
			ret = bench_routers_one(b, &reg, &nets[i], flits[f],
						err);
	registry_fini(&reg);
	return ret;
}
