/* SPDX-License-Identifier: Apache-2.0 */
/* Ports of a HyperX (graph_hyperx.c), for its generators and its routings. */
#ifndef NET_HYPERX_H
#define NET_HYPERX_H

#include "net/graph.h"

/* Returns the number of cables between two routers in a dimension. */
static inline uint32_t hyperx_trunking(const struct net_shape *s, uint32_t dim)
{
	return s->trunking[dim] ? s->trunking[dim] : 1;
}
/* Returns the first port that leads from coordinate a of dimension `dim` to
 * coordinate b. Further cables to b are at the next ports. With a = 0 and b =
 * size[dim], returns the first port of the next dimension, or of the ends
 * behind the last dimension. */
static inline uint32_t hyperx_port(const struct net_shape *s, uint32_t dim,
				   uint32_t a, uint32_t b)
{
	uint32_t port = (b < a ? b : b - 1) * hyperx_trunking(s, dim);

	for (uint32_t d = 0; d < dim; d++)
		port += (s->size[d] - 1) * hyperx_trunking(s, d);
	return port;
}

#endif
