/* SPDX-License-Identifier: Apache-2.0 */
/* Measures load and latency of each class of packets, and round trips of
 * requests. This is a part of the measurement of the network
 * (network_meter.h). */
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
/* Adds the backlog of the sources at the end of the window to the offered
 * flits of each class. */
void net_class_close(struct net_meter *n);
/* Clears all counts and histograms of the classes before a second window. */
void net_class_again(struct net_meter *n);
/* Reports metrics "CLASS.offered", "CLASS.accepted" and latencies of each
 * class, and metrics of round trips. */
void net_class_report(struct weft_comp *net);

#endif
