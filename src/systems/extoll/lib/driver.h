/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL driver: does for the processes of a node what a kernel does (extoll.md
 * 6.1). The driver serves the user libraries (velo.c, rma*.c). It uses only
 * host.h and the register map.
 *
 * All programs of a node share one struct extoll_kernel, and no other state.
 * The struct lies in the node's memory. One register of the NIC holds the
 * struct's address. A test-and-set register is the struct's lock. */
#ifndef SYSTEMS_EXTOLL_LIB_DRIVER_H
#define SYSTEMS_EXTOLL_LIB_DRIVER_H

#include "systems/extoll/nic/regs_map.h"
#include "weft/host.h"

enum { EXTOLL_EVQ_ENTRIES = 256 };

struct extoll_kernel {
	uint64_t vpids[EXTOLL_VPIDS / 64]; /* VPIDs in use, a bit each */
	uint32_t users;
	/* event queue in the node's memory, its address, next entry to read: */
	volatile uint64_t *evq;
	weft_phys_t evq_phys;
	uint32_t evq_rp;
	uint64_t taken; /* events read so far, by all programs together */
	/* state of the RMA library that all programs share, or NULL */
	void *rma;
};

/* One program's connection with the driver. */
struct extoll_drv {
	struct weft_host *host;
	struct weft_dev *dev;
	struct weft_io rf; /* register file, UC */
	struct extoll_kernel *kernel;
	uint64_t build; /* content of register EXTOLL_BUILD */
	uint32_t node, nodes;
	/* value of kernel->taken at the last wake-up of this program, plus the
	 * events that this program has read since */
	uint64_t seen;
};

/* Returns true if the device is an EXTOLL NIC. */
bool extoll_drv_probe(struct weft_host *h, struct weft_dev *d);
/* Opens the device and maps its registers. The first open on a node also sets
 * the NIC up. Returns 0, -ENODEV or -ENOMEM. */
int extoll_drv_open(struct weft_host *h, struct extoll_drv *d);
/* Closes the device. The last close on a node switches the event queue off. */
void extoll_drv_close(struct extoll_drv *d);

/* Take and free the lock of *d->kernel. A program that holds it must not wait,
 * because other programs spin until it is free. */
void extoll_drv_lock(struct extoll_drv *d);
void extoll_drv_unlock(struct extoll_drv *d);

/* Allocates VPID `want`, or the lowest free VPID if want < 0. Returns the VPID,
 * -EBUSY if `want` is in use, -ENOSPC if no VPID is free, or -EINVAL if `want`
 * is too large. */
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

/* Waits until the units have accepted all stores of this program, and VELO's
 * network port has accepted the last message. Flushes the processor's
 * write-combining lines first. */
void extoll_drv_drain(struct extoll_drv *d);

/* Sets the route from this NIC to `node` by hand. port[0..n-1] are output ports
 * of the crossbars, first hop first. A network of extoll.net needs no such
 * call, because it gives every NIC its routes. */
void extoll_drv_route(struct extoll_drv *d, uint32_t node, const uint8_t *port,
		      uint32_t n);

/* Removes the next event of the node's queue and returns it (EXTOLL_EVENT_*),
 * or 0. */
uint64_t extoll_drv_event(struct extoll_drv *d);
/* Sleeps until an event arrives. Returns true after an event, false if the
 * deadline passes. Also returns true if another program has read an event since
 * the last call, because that event may have been for this program. The caller
 * polls its own mailbox and ring after each return, and sleeps again if both
 * are empty. */
bool extoll_drv_event_wait(struct extoll_drv *d, weft_time_t deadline);

#endif
