/* SPDX-License-Identifier: Apache-2.0 */
/* State of the RMA user library, shared by its files. */
#ifndef SYSTEMS_EXTOLL_LIB_RMA_INTERNAL_H
#define SYSTEMS_EXTOLL_LIB_RMA_INTERNAL_H

#include "systems/extoll/lib/memory.h"
#include "weft/rma.h"

struct rma_handle {
	struct rma_handle *next;
	struct rma_port *port;
	uint64_t word0; /* node and VPID of a descriptor */
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
	/* notifications read from the ring, not yet returned */
	struct rma_noti *first, **last, *spare;
	uint32_t rp, told; /* read pointer, and its value known to the NIC */
	uint32_t lazy;
};

#endif
