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
	const struct weft_class *cls; /* NULL if no end needs a gateway */
	struct weft_comp **at;	      /* by end */
	/* for each end: the switch between NIC and gateway, or NULL */
	struct weft_comp **beside;
	struct topology *topo;
};

/* Finds the class of gateways that the ends need, or NULL if the ends need no
 * gateways. Returns 0, or a negative errno with a message. It is an error if
 * the ends are of several kinds, if they have neither a gateway nor the
 * interface of a network, if a key configures a part that does not exist, or if
 * the named class is not a gateway. */
int gateways_find(struct gateways *w, struct exp_build *b,
		  const struct doc_node *map, struct weft_err *err);
/* Returns the classes of switch, link and net that the class of the gateways
 * names. Without gateways the class of the ends names them. */
const struct weft_network_parts *gateways_parts(const struct gateways *w);
/* Builds gateways g0.., and switches x0.. for NICs that need a switch beside
 * them. *topo_p is the new topology of these NICs and switches, which the
 * caller owns, or NULL without switches. Returns 0, or a negative errno with a
 * message. */
int gateways_build(struct gateways *w, struct topology **topo_p,
		   struct weft_err *err);
/* Returns the component at end i: the gateway, or the end itself without
 * gateways. */
static inline struct weft_comp *gateways_end(const struct gateways *w,
					     uint32_t i)
{
	return w->cls ? w->at[i] : w->b->ends.at[i];
}
/* Places NICs and the switches beside them, and connects their cables. Returns
 * 0, or a negative errno with a message. */
int gateways_join(struct gateways *w, struct weft_err *err);
void gateways_free(struct gateways *w);

#endif
