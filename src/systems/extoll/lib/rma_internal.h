/* SPDX-License-Identifier: Apache-2.0 */
/* State of the RMA user library, shared by its files. */
#ifndef SYSTEMS_EXTOLL_LIB_RMA_INTERNAL_H
#define SYSTEMS_EXTOLL_LIB_RMA_INTERNAL_H

#include "systems/extoll/lib/memory.h"
#include "weft/rma.h"

struct rma_handle {
	struct rma_handle *next;
	struct rma_port *port;
	/* node and VPID of the target, as in word 0 of a descriptor */
	uint64_t word0;
	struct weft_io page;
};

struct rma_region {
	struct rma_region *next;
	struct rma_port *port;
	struct xmem_region mem;
};

struct rma_port {
	struct xmem mem;
	struct weft_host *host;
	struct rma_handle *handles;
	struct rma_region *regions;
	/* first, last: list of notifications that were read from the ring and
	 * not yet returned, and the end of the list; spare: freed list entries
	 * for reuse */
	struct rma_noti *first, **last, *spare;
	/* rp: read pointer; told: value of the read pointer that was last
	 * stored to the NIC */
	uint32_t rp, told;
	uint32_t lazy;
};

#endif
