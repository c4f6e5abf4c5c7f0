/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of the fabric `routed` that set the size of a topology. */
#ifndef FRONT_EXP_ROUTED_SHAPE_H
#define FRONT_EXP_ROUTED_SHAPE_H

#include "front/exp/doc.h"
#include "net/graph.h"

#define ROUTED_SHAPE_KEYS                                                      \
	"dims", "ends", "up", "trunking", "arrangement", "cables", "file",     \
		"seed", "lengths"

/* Reads the shape of a topology. Returns 0, or a negative errno with a message.
 * It is an error if the topology does not have one of the keys, if a key is
 * malformed, or if dims are missing. The caller frees cables->at, also after an
 * error. */
int routed_shape_read(const struct doc_node *map, const struct net_topology *t,
		      struct net_shape *s, struct net_cables *cables,
		      struct weft_err *err);

#endif
