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
	/* value of `posted` at the last descriptor with a local notification */
	uint64_t noted;
	/* departures that the NIC had counted before the library was opened,
	 * valid if `based` */
	uint32_t base;
	bool based; /* the NIC has written a first word */
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
	/* Words in host memory that the NIC writes: one word of local
	 * notifications per queue, then the word of remote notifications. */
	volatile uint64_t *notify;
	weft_phys_t notify_phys;
	bool notify_own;
	struct forth_queue queue[FORTH_QUEUES_MAX];
	double pc_ns;
};

#endif
