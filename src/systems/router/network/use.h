/* SPDX-License-Identifier: Apache-2.0 */
/* Use of a network of routers in the window of measurement, with `detail`:
 * routers on the way of a packet, load of cables between routers, and the
 * shares of the sources. All follow from counters at the beginning and at the
 * end of the window, so that a packet costs nothing. */
#ifndef SYSTEMS_ROUTER_NETWORK_USE_H
#define SYSTEMS_ROUTER_NETWORK_USE_H

#include "weft/sim.h"

struct router_use {
	/* Counters during the window. Until its end, they are the negated
	 * counters at its beginning. */
	uint64_t cycles;
	uint64_t flits, packets; /* through routers */
	uint64_t delivered;	 /* flits that reached an end */
	uint64_t *sent;		 /* packets by source, NULL before the window */
	bool ended;
};

/* Called at the beginning and at the end of the window. A second window
 * replaces the counts of the first. */
void router_use_begin(struct weft_comp *net);
void router_use_end(struct weft_comp *net);
void router_use_report(struct weft_comp *net);

#endif
