/* SPDX-License-Identifier: Apache-2.0 */
/* Key `routes` of the fabric `routed`: a user's table of ways. */
#ifndef FRONT_EXP_ROUTED_ROUTES_H
#define FRONT_EXP_ROUTED_ROUTES_H

#include "front/exp/doc.h"
#include "net/routing.h"

/* Reads the table of a routing that has one into g->way, which the graph frees.
 * Returns 0, or a negative errno with a message. */
int routed_routes_read(const struct doc_node *map, struct net_graph *g,
		       struct weft_err *err);

#endif
