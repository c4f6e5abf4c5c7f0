/* SPDX-License-Identifier: Apache-2.0 */
/* Class toy.net: the toy's network as a whole.  It holds the topology and adds
 * up the counters of its switches. */
#include <stdlib.h>

#include "net/topology.h"
#include "systems/toy/link/wire.h"

enum { C_HOPS, C_N };

struct toy_net {
	char note[200]; /* parameter */
	struct weft_network parts;
};

static const struct weft_param net_params[] = {
	WEFT_PARAM(STR, struct toy_net, note, "", "", OWN,
		   "what the maker of the routes has to say"),
	{ 0 }
};

static const struct weft_counter net_counters[C_N] = {
	[C_HOPS] = { "hops", "packets", "packets out of all switches" },
};

static int net_network(struct weft_comp *c, const struct weft_network *parts,
		       struct weft_err *err)
{
	((struct toy_net *)c->state)->parts = *parts;
	return 0;
}

static int net_sample(struct weft_comp *c, struct weft_err *err)
{
	const struct toy_net *n = c->state;

	c->counters[C_HOPS] = 0;
	for (uint32_t i = 0; i < n->parts.n_switches; i++)
		c->counters[C_HOPS] +=
			n->parts.switches[i]->counters[TOY_C_SENT];
	return 0;
}

static void net_fini(struct weft_comp *c)
{
	struct toy_net *n = c->state;

	topo_free(n->parts.topo);
	free(n->parts.switches);
}

WEFT_COMPONENT(toy_net, .name = "toy.net", .kind = WEFT_KIND_TRAFFIC,
	       .doc = "a network of toy.switch as a whole",
	       .source = "tests/sixth",
	       .not_modelled = "takes no part in what happens",
	       .state_size = sizeof(struct toy_net), .params = net_params,
	       .counters = net_counters, .n_counters = C_N,
	       .ops = { .network = net_network,
			.finish = net_sample,
			.sample = net_sample,
			.fini = net_fini });
