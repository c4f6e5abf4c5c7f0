/* SPDX-License-Identifier: Apache-2.0 */
/* Measurement by class of packets, as part of that of the network
 * (network_meter.h): load and latency of each class, and round trips of
 * requests. */
#ifndef NET_NETWORK_CLASSES_H
#define NET_NETWORK_CLASSES_H

#include "net/network_meter.h"

/* Returns the number of the class called `name`. Adds the class if no end has
 * named it before. Returns NET_CLASSES_MAX if there are too many classes. */
uint32_t net_class_called(struct weft_comp *net, const char *name);
/* Count a packet that was made, and a packet that arrived at `cycle`, in its
 * class. The network must have classes. */
void net_class_made(struct net_meter *n, const struct net_packet *p);
void net_class_received(struct net_meter *n, const struct net_packet *p,
			uint64_t cycle);
/* Adds the backlog of the sources at the end of the window. */
void net_class_close(struct net_meter *n);
/* Forgets what was measured, for a second window. */
void net_class_again(struct net_meter *n);
/* Reports metrics "CLASS.offered" etc. and those of round trips. */
void net_class_report(struct weft_comp *net);

#endif
