/* SPDX-License-Identifier: Apache-2.0 */
/* Gateways between NICs and the ends of a routed network. */
#ifndef FRONT_EXP_GATEWAYS_H
#define FRONT_EXP_GATEWAYS_H

#include "front/exp/network_part.h"
#include "net/graph.h"

#define GATEWAY_KEYS "gateway", "nic_switch", "nic_link"

struct gateways {
	struct exp_build *b;
	const struct doc_node *map;
	const struct weft_class *cls; /* NULL: ends stand in the network */
	struct weft_comp **at;	      /* by end */
	/* by end: the switch between NIC and gateway, or NULL */
	struct weft_comp **beside;
	struct topology *topo;
};

/* Finds the class of gateways that the ends need. Returns 0, or a negative
 * errno with a message: ends that do not stand in a network, of several kinds,
 * or settings of parts that are not there. */
int gateways_find(struct gateways *w, struct exp_build *b,
		  const struct doc_node *map, struct weft_err *err);
/* Returns the classes of the network in front of the ends. */
const struct weft_network_parts *gateways_parts(const struct gateways *w);
/* Builds gateways g0.. and, where NICs have a switch beside them, switches
 * x0... The topology that these see is new and belongs to the caller, or is
 * NULL. Returns 0, or a negative errno with a message. */
int gateways_build(struct gateways *w, struct topology **topo_p,
		   struct weft_err *err);
/* Returns what stands at end i. */
static inline struct weft_comp *gateways_end(const struct gateways *w,
					     uint32_t i)
{
	return w->cls ? w->at[i] : w->b->ends.at[i];
}
/* Gives NICs and the switches beside them their places and cables. Returns 0,
 * or a negative errno with a message. */
int gateways_join(struct gateways *w, struct weft_err *err);
void gateways_free(struct gateways *w);

#endif
