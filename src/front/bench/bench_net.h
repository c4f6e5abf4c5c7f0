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
	const char *const *set; /* parameters, in the form of --set */
	uint32_t n_set;
	uint32_t nodes;
	weft_time_t warm; /* simulated time before the measurement */
	uint64_t hops;	  /* packet-hops after which the measurement may end */
	/* Results: packet-hops and messages per CPU second, bytes of memory per
	 * node. */
	double speed, messages, bytes;
};

int net_case_run(struct net_case *t, const struct registry *reg,
		 struct weft_err *err);

#endif
