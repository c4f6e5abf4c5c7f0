/* SPDX-License-Identifier: Apache-2.0 */
/* State of the FORTH user library, shared by its files. */
#ifndef SYSTEMS_FORTH_LIB_FORTH_INTERNAL_H
#define SYSTEMS_FORTH_LIB_FORTH_INTERNAL_H

#include "systems/forth/nic/regs_map.h"
#include "weft/forth.h"

/* Transfers of one request queue, counted since weft_forth_open(). */
struct forth_queue {
	uint64_t posted;   /* written into slots */
	uint64_t departed; /* transfers known to have departed */
	uint64_t
		/* count up to which local notifications were requested */
		noted;
	uint32_t base; /* the NIC's count at our first transfer */
	bool based;    /* valid when set */
};

struct weft_forth {
	struct weft_host *host;
	struct weft_dev *dev;
	struct weft_io io, wc;
	struct weft_forth_info info;
	enum weft_forth_post post;
	uint32_t lnotify_every;
	uint32_t control; /* copy of the DMA control register */
	bool irq;
	/* Words in host memory that the NIC writes: one per queue, then that of
	 * remote notifications. */
	volatile uint64_t *notify;
	weft_phys_t notify_phys;
	bool notify_own;
	struct forth_queue queue[FORTH_QUEUES_MAX];
	double pc_ns;
};

#endif
