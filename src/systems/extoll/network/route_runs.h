/* SPDX-License-Identifier: Apache-2.0 */
/* Routes as runs of hops (hostport.md 3.2). A crossbar accepts this second form
 * of route besides the nibbles of EXTOLL. The route is in the first bytes of
 * the packet. Each byte, called an element, names a port and the number of
 * consecutive hops that leave through that port. systems/hostport/nic/wire.h
 * has the frame around these bytes. */
#ifndef SYSTEMS_EXTOLL_NETWORK_ROUTE_RUNS_H
#define SYSTEMS_EXTOLL_NETWORK_ROUTE_RUNS_H

#include "systems/extoll/network/wire.h"

enum {
	EX_RUNS_BYTES = EX_CELL_BYTES, /* most bytes of a routing frame */
	EX_RUNS_SERVICE = 2, /* internal port of services MP and HAP */
	/* An element is a byte of the route: [7:4] port, [3:0] hops. Ports: */
	EX_RUN_PORT_LP = 4,
	EX_RUN_PORT_MP = 10,
	EX_RUN_PORT_HAP = 11,
	EX_RUN_HOPS_MAX = 15,
	/* Values of whole bytes: */
	EX_RUN_MP = 0xa1,
	EX_RUN_HAP = 0xb1,
	EX_RUN_SEP = 0xf0,
	EX_RUN_VPID = 0xf1,
	EX_RUN_TREE = 0xf2,
	EX_RUN_END = 0xff,
};

/* Returns true if the element leaves through a link port and has hops left. */
bool ex_run_is_link(uint8_t el);
/* Consumes one hop of the first element. Removes the element if that was its
 * last hop. Returns the output of the hop, or EX_NIB_FILL if the element is
 * invalid. */
uint32_t ex_runs_step(struct weft_frame *f);

#endif
