/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of the list of cables of topology `graph`. The list is in the
 * experiment or in a separate file. */
#ifndef FRONT_EXP_ROUTED_CABLES_H
#define FRONT_EXP_ROUTED_CABLES_H

#include "front/exp/doc.h"
#include "net/graph.h"

/* Reads the keys `cables`, `file` and `ends` of a fabric. Returns 0, or a
 * negative errno with a message. The caller frees l->at. */
int routed_cables_read(const struct doc_node *map, struct net_cables *l,
		       struct weft_err *err);

#endif
