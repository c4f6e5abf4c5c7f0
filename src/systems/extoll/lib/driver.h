/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL driver: what the kernel would do for the processes of a node
 * (extoll.md 6.1).  Below the user libraries (velo.c, rma*.c); written against
 * host.h and the register map alone.
 *
 * All programs of a node share one struct extoll_kernel: it lies in the node's
 * memory, its address in a register of the NIC, and a test-and-set register
 * guards it. */
#ifndef SYSTEMS_EXTOLL_LIB_DRIVER_H
#define SYSTEMS_EXTOLL_LIB_DRIVER_H

#include "systems/extoll/nic/regs_map.h"
#include "weft/host.h"

enum { EXTOLL_EVQ_ENTRIES = 256 };

struct extoll_kernel {
	uint64_t vpids[EXTOLL_VPIDS / 64]; /* given out */
	uint32_t users;
	/* event queue */
	volatile uint64_t *evq;
	weft_phys_t evq_phys;
	uint32_t evq_rp;
	uint64_t taken; /* events, by all programs */
	/* what the RMA library keeps for all; NULL until it is opened */
	void *rma;
};

/* One program's connection with the driver. */
struct extoll_drv {
	struct weft_host *host;
	struct weft_dev *dev;
	struct weft_io rf; /* register file, UC */
	struct extoll_kernel *kernel;
	uint64_t build; /* EXTOLL_BUILD */
	uint32_t node, nodes;
	uint64_t seen; /* of kernel->taken: events that woke this program */
};

/* True when the device is an EXTOLL NIC. */
bool extoll_drv_probe(struct weft_host *h, struct weft_dev *d);
/* 0, -ENODEV, -ENOMEM. The first one sets the NIC up. */
int extoll_drv_open(struct weft_host *h, struct extoll_drv *d);
void extoll_drv_close(struct extoll_drv *d);

/* Around changes of *d->kernel. */
void extoll_drv_lock(struct extoll_drv *d);
void extoll_drv_unlock(struct extoll_drv *d);

/* A free VPID: `want`, or the lowest one with want < 0.  Negative errno:
 * -EBUSY it is taken, -ENOSPC none is left, -EINVAL no such VPID. */
int extoll_drv_vpid(struct extoll_drv *d, int32_t want);
void extoll_drv_vpid_free(struct extoll_drv *d, uint32_t vpid);

static inline void extoll_drv_store(struct extoll_drv *d, uint64_t off,
				    uint64_t val)
{
	weft_io_store64(d->host, &d->rf, off, val);
}
static inline uint64_t extoll_drv_load(struct extoll_drv *d, uint64_t off)
{
	return weft_io_load64(d->host, &d->rf, off);
}

/* Waits until the units have taken all stores of this program, and VELO's
 * network port the last message.  The processor's write-combining lines are
 * flushed first. */
void extoll_drv_drain(struct extoll_drv *d);

/* Route of this NIC to a node by hand: output ports of the crossbars, first
 * hop first.  The network gives every NIC its routes at the start. */
void extoll_drv_route(struct extoll_drv *d, uint32_t node, const uint8_t *port,
		      uint32_t n);

/* Next event of the node's queue (EXTOLL_EVENT_*), or 0. */
uint64_t extoll_drv_event(struct extoll_drv *d);
/* Sleeps until there is an event (true) or the deadline passes.  True, too,
 * when another program has taken one since the last time: it may have been for
 * this one, which looks at its own mailbox and ring and sleeps again. */
bool extoll_drv_event_wait(struct extoll_drv *d, weft_time_t deadline);

#endif
