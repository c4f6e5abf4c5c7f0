/* SPDX-License-Identifier: Apache-2.0 */
/* Source path routes of a whole network (extoll.md 4.5), worked out when they
 * are asked for: what management software would load into the route tables.
 * The maker of the network gives one to every NIC and traffic component; it
 * outlives them. */
#ifndef LINK_EXTOLL_ROUTE_H
#define LINK_EXTOLL_ROUTE_H

#include <stdint.h>

struct extoll_router {
	/* Output ports (3..8) of the crossbars on the way from node src to
	 * node dst, first hop first, the internal port not included; 0 of them
	 * when src == dst.  Returns how many, or -1 when there is no way or it
	 * is longer than max. */
	int (*route)(const struct extoll_router *r, uint32_t src, uint32_t dst,
		     uint8_t *port, uint32_t max);
	uint32_t nodes;
};

#endif
