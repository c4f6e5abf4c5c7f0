/* SPDX-License-Identifier: Apache-2.0 */
/* A fabric from text, and paths through its routing tables. */
#ifndef TESTS_FRONT_NET_H
#define TESTS_FRONT_NET_H

#include "../cmocka_all.h"
#include "front/exp/exp.h"
#include "front/exp/registry.h"
#include "systems/forth/switch/crossbar.h"

struct net {
	struct registry reg;
	struct exp *e;
	struct exp_case c;
	struct weft_err err;
};

/* Builds a network with `ends` traffic components. `traffic`, `set` and
 * `fabric` are settings as YAML flow mappings without their braces. */
int net_try(struct net *n, uint32_t ends, const char *traffic, const char *set,
	    const char *fabric);
void net_open(struct net *n, uint32_t ends, const char *traffic,
	      const char *set, const char *fabric);
void net_close(struct net *n);

struct weft_comp *net_end(const struct net *n, uint32_t i);
/* Returns the state of a switch, or NULL if the component is not a switch. */
struct forth_xbar *net_xbar(const struct weft_comp *c);

/* Outputs on the path of a packet, each as switch * 64 + port. */
enum { NET_HOPS = 32 };
struct net_way {
	uint32_t hops;
	uint32_t link[NET_HOPS];
	uint32_t cycles; /* cycles of links and switches, without waiting */
	struct weft_comp *to;
};
/* Follows the routing tables from end src to end dst. `to` of the result is
 * NULL if the tables do not lead to an end. */
struct net_way net_walk(const struct net *n, uint32_t src, uint32_t dst,
			uint32_t path);

/* Searches for outputs that wait for each other, over all ends and the paths
 * 0..paths. Returns true if such outputs form a cycle. */
bool net_cyclic(const struct net *n, uint32_t ends, uint32_t paths);

#endif
