/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's part of the RMA (extoll.md 6.1, 3.7, 3.8): processes of the
 * device, their notification rings, registered memory.
 *
 * Registration pins whole pages and writes consecutive entries of the table, in
 * the group for regions of that size. De-registration clears the entries and
 * flushes them from the ATU. It unpins the pages after the ATU's notification,
 * because transfers may use the pages until then. */
#ifndef SYSTEMS_EXTOLL_LIB_MEMORY_H
#define SYSTEMS_EXTOLL_LIB_MEMORY_H

#include "systems/extoll/lib/driver.h"
#include "systems/extoll/nic/rma_regs_map.h"

/* Groups of consecutive entries, one for each size of regions, so that small
 * regions do not fragment the space of large ones. */
enum { XMEM_SMALL, XMEM_MEDIUM, XMEM_LARGE, XMEM_GROUPS };
struct xmem_group {
	uint32_t first, n; /* first entry of the group, number of entries */
	uint32_t max;	   /* largest region of the group, in pages */
};
extern const struct xmem_group xmem_groups[XMEM_GROUPS];

/* State of the node, shared by its processes: extoll_kernel.rma. */
struct xmem_kern {
	uint32_t users;
	bool busy;     /* a process changes the table, others wait */
	uint64_t *gat; /* table of page translations */
	weft_phys_t gat_phys;
	uint32_t *taken; /* a bit for each entry in use */
	uint32_t *locks; /* lock table */
	weft_phys_t locks_phys;
	/* set by the ATU when it has executed a notify command */
	volatile uint64_t *word;
	weft_phys_t word_phys;
};

enum { XMEM_LOCKS = 16 }; /* locks of each process */

struct xmem { /* a process */
	struct extoll_drv drv;
	struct weft_host *host;
	struct xmem_kern *kern;
	uint32_t vpid;
	volatile uint64_t *ring; /* notification ring */
	uint32_t slots;
	/* pinned bytes, and their limit RLIMIT_MEMLOCK */
	uint64_t pinned, memlock;
};

/* A registered region. */
struct xmem_region {
	uint8_t *start; /* first byte of the caller's buffer */
	size_t len;
	uint32_t entry, pages;
	uint64_t nla; /* NLA of `start` */
};

/* xmem_open() and xmem_register() return 0 or a negative errno: -ENODEV for no
 * such device, -ENOSPC for no VPID, -ENOMEM for no memory or no entries,
 * -EINVAL for length 0, -EFAULT for memory that the device cannot reach, -EPERM
 * for more than RLIMIT_MEMLOCK. All functions may wait for the ATU or for
 * another process, so that simulated time passes. */
int xmem_open(struct xmem *m, struct weft_host *h, uint32_t slots);
void xmem_close(struct xmem *m); /* also flushes all regions of the process */
/* Fills *r, which the caller keeps until xmem_unregister(). */
int xmem_register(struct xmem *m, void *p, size_t len, struct xmem_region *r);
/* Returns after the ATU has dropped the region's entries. */
void xmem_unregister(struct xmem *m, struct xmem_region *r);

static inline void xmem_rf(struct xmem *m, uint32_t off, uint64_t val)
{
	extoll_drv_store(&m->drv, off, val);
}

#endif
