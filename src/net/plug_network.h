/* SPDX-License-Identifier: Apache-2.0 */
/* Makes topologies and routings of shared objects (weft/network.h) usable as
 * net_topology and net_routing. */
#ifndef NET_PLUG_NETWORK_H
#define NET_PLUG_NETWORK_H

#include "net/routing.h"
#include "weft/network.h"

/* Returns a new topology, which the caller frees. Returns NULL with a message
 * if `own` is incomplete or built for another version of the interface. */
struct net_topology *net_plug_topology(const struct weft_topology *own,
				       struct weft_err *err);
/* Returns a new routing, which the caller frees, or NULL with a message under
 * the conditions of net_plug_topology(). */
struct net_routing *net_plug_routing(const struct weft_routing *own,
				     struct weft_err *err);

#endif
