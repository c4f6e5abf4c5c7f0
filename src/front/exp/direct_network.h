/* SPDX-License-Identifier: Apache-2.0 */
/* Direct networks: every end (NIC or traffic component) has a separate switch
 * (s0, s1 ..), and cables join the switches. Fabrics `torus`, `mesh`,
 * `hypercube` and `graph` share this code. Their common keys:
 *
 *	routing: path		the sender gives the route (default)
 *	routing: table		switches have tables of routes
 *	cut: [s3.lp0, [4, 5]]	cables to leave out
 *	cycles: refuse		refuses routes that may deadlock (default)
 *	cycles: warn		warns of such routes
 *	switch, link, net:	classes and settings of these parts; by default
 *				the class of the ends names the classes
 */
#ifndef FRONT_EXP_DIRECT_NETWORK_H
#define FRONT_EXP_DIRECT_NETWORK_H

#include "front/exp/build.h"
#include "front/exp/route.h"

#define DIRECT_KEYS "routing", "cut", "cycles", "switch", "link", "net"

/* Finds the ports that the fabric's switches have. */
int direct_ports(struct exp_build *b, const struct doc_node *map,
		 struct topo_ports *ports_p, struct weft_err *err);
/* Finds the port of a switch by a name such as "s3.lp0". Returns false when the
 * switch has no such port. */
bool direct_port(const struct topology *t, const char *text, uint32_t *node_p,
		 uint32_t *port_p);
/* Cuts cables, completes and checks the routes, and builds the network. Owns
 * the contents of t, even if the call fails. Returns 0, or a negative value
 * with a message. */
int direct_build(struct exp_build *b, const struct doc_node *map,
		 struct topology *t, struct weft_err *err);

#endif
