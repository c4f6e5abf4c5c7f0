/* SPDX-License-Identifier: Apache-2.0 */
/* Common code of the benches of direct networks: builds a network from the text
 * of an experiment and measures its packet-hops per CPU second.  A packet
 * through one crossbar is one hop. */
#ifndef FRONT_BENCH_NET_H
#define FRONT_BENCH_NET_H

#include "front/bench/bench.h"

struct registry;

struct net_case {
	const char *text;
	const char *const *set; /* as --set */
	uint32_t n_set;
	uint32_t nodes;
	weft_time_t warm; /* before it counts */
	uint64_t hops;	  /* to make at least */
	/* results: per CPU second; bytes of memory per node */
	double speed, messages, bytes;
};

int net_case_run(struct net_case *t, const struct registry *reg,
		 struct weft_err *err);

#endif
