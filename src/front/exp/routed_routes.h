/* SPDX-License-Identifier: Apache-2.0 */
/* Key `routes` of the fabric `routed`: a user's routing table. */
#ifndef FRONT_EXP_ROUTED_ROUTES_H
#define FRONT_EXP_ROUTED_ROUTES_H

#include "front/exp/doc.h"
#include "net/routing.h"

/* Reads the key `routes` into g->way, which the graph frees. Does nothing
 * without this key. Returns 0, or a negative errno with a message. It is an
 * error if the routing uses no table, if the table is too large, or if the file
 * is malformed. */
int routed_routes_read(const struct doc_node *map, struct net_graph *g,
		       struct weft_err *err);

#endif
