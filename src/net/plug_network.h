/* SPDX-License-Identifier: Apache-2.0 */
/* Topologies and routings of shared objects (weft/network.h) as those of the
 * program. */
#ifndef NET_PLUG_NETWORK_H
#define NET_PLUG_NETWORK_H

#include "net/routing.h"
#include "weft/network.h"

/* Returns a topology, which the caller frees, or NULL with a message: it is
 * incomplete, or built for another interface. */
struct net_topology *net_plug_topology(const struct weft_topology *own,
				       struct weft_err *err);
/* Returns a routing, as net_plug_topology() does. */
struct net_routing *net_plug_routing(const struct weft_routing *own,
				     struct weft_err *err);

#endif
