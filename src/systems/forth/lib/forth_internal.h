/* SPDX-License-Identifier: Apache-2.0 */
/* State of the FORTH user library, shared by its files. */
#ifndef SYSTEMS_FORTH_LIB_FORTH_INTERNAL_H
#define SYSTEMS_FORTH_LIB_FORTH_INTERNAL_H

#include "systems/forth/nic/regs_map.h"
#include "weft/forth.h"

/* Transfers of one request queue, counted since weft_forth_open(). */
struct forth_queue {
	uint64_t posted;   /* written into slots */
	uint64_t departed; /* known to have left */
	uint64_t
		noted; /* a local notification was requested up to this count */
	uint32_t base; /* the NIC's count when ours started; */
	bool based;    /* valid when set */
};

struct weft_forth {
	struct weft_host *host;
	struct weft_dev *dev;
	struct weft_io io, wc;
	struct weft_forth_info info;
	enum weft_forth_post post;
	uint32_t lnotify_every;
	uint32_t control; /* value of the control register */
	bool irq;
	/* Written by the NIC: one word per queue, then the remote word. */
	volatile uint64_t *notify;
	weft_phys_t notify_phys;
	bool notify_own;
	struct forth_queue queue[FORTH_QUEUES_MAX];
	double pc_ns;
};

#endif
