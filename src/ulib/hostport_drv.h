/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port driver: what the kernel would do for the processes of a node
 * (hostport.md 4.10, 4.11, 7.8, 8.8).  Below the user library (hostport.c);
 * written against host.h and the register map alone.
 *
 * All programs of a node share one struct hport_kernel: it lies in the node's
 * memory, its address in a register of the NIC, and a test-and-set register
 * guards that; what is in it has a lock in memory.  Translations are served by
 * the thread that is in hport_serve. */
#ifndef ULIB_HOSTPORT_DRV_H
#define ULIB_HOSTPORT_DRV_H

#include "nic/hostport_regs.h"
#include "weft/host.h"
#include "weft/hostport.h"

enum { HPORT_ROUTE = 64, HPORT_ELEMENTS = 32 }; /* of the routing space */

/* Memory of a process at a virtual address of its own. */
struct hport_region {
	uint32_t vpid;
	bool own; /* the memory was allocated for it */
	uint64_t va, bytes;
	void *mem;
	weft_phys_t phys;
	uint64_t *out; /* bit per page: swapped out, or never in the TLB */
	struct hport_region *next;
};

struct hport_kernel {
	uint64_t vpids[HP_VPIDS / 64]; /* given out */
	uint32_t users, opened;
	struct hport_sizes sizes;
	uint64_t *ct;
	uint8_t *rs;
	weft_phys_t ct_phys, rs_phys;
	uint64_t *routed; /* bit per node: its route is there */
	uint64_t next_va;
	struct hport_region *regions;
	uint64_t *bulk; /* page for bulk inserts */
	weft_phys_t bulk_phys;
	uint64_t misses, faults, errors; /* served, taken from the log */
	bool locked;
};

/* One program's connection with the driver. */
struct hport_drv {
	struct weft_host *host;
	struct weft_dev *dev;
	struct weft_io mgmt;
	struct hport_kernel *kernel;
	uint32_t node, nodes;
};

bool hport_drv_probe(struct weft_host *h, struct weft_dev *dev);
/* 0, -ENODEV, -ENOMEM.  The first one sets the NIC up, with these sizes (NULL:
 * appendix B). */
int hport_drv_open(struct weft_host *h, const struct hport_sizes *sizes,
		   struct hport_drv *d);
/* The device alone, as it is. */
int hport_drv_device(struct weft_host *h, struct hport_drv *d);
void hport_drv_close(struct hport_drv *d);
void hport_drv_lock(struct hport_drv *d);
void hport_drv_unlock(struct hport_drv *d);

static inline void hport_drv_store(struct hport_drv *d, uint64_t off,
				   uint64_t val)
{
	weft_io_store64(d->host, &d->mgmt, off, val);
}
static inline uint64_t hport_drv_load(struct hport_drv *d, uint64_t off)
{
	return weft_io_load64(d->host, &d->mgmt, off);
}

/* CACHE_CMD, until the device is done.  Takes the lock; the other one is for
 * who has it. */
uint64_t hport_drv_cache(struct hport_drv *d, uint64_t cmd, uint64_t arg0,
			 uint64_t arg1);
uint64_t hport_drv_cache_locked(struct hport_drv *d, uint64_t cmd,
				uint64_t arg0, uint64_t arg1);

/* A translation for the TLB, posted: no load, nobody waits. */
void hport_drv_insert(struct hport_drv *d, uint32_t vpid, uint64_t vpage,
		      uint64_t arg);

/* A free VPID: `want`, or the lowest one with want < 0.  -EBUSY, -ENOSPC. */
int hport_drv_vpid(struct hport_drv *d, int32_t want);
/* Writes the context and opens the Triggerpage; closes it, drops what the
 * device has of it. */
void hport_drv_enable(struct hport_drv *d, uint32_t vpid, const uint64_t *w);
void hport_drv_disable(struct hport_drv *d, uint32_t vpid);
/* Out-of-band name of the way from a node to another. */
void hport_drv_route_key(char *key, size_t size, uint32_t from, uint32_t to);
/* The routing space has a way to that node and back; -EHOSTUNREACH. */
int hport_drv_route(struct hport_drv *d, uint32_t node);

/* Pages with virtual addresses, new ones or (mem) those that the process has;
 * the first of them are put into the TLB. */
int hport_drv_map(struct hport_drv *d, uint32_t vpid, uint64_t bytes, void *mem,
		  struct hport_region **r_p);
void hport_drv_unmap(struct hport_drv *d, struct hport_region *r);
/* ARG1 of an insert. */
uint64_t hport_drv_translate(struct hport_drv *d, uint32_t vpid,
			     uint64_t vpage);

#endif
