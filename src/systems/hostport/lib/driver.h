/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port driver: what the kernel does for the processes of a node
 * (hostport.md 4.10, 4.11, 7.8, 8.8).
 *
 *   process: hostport.c ---- its Triggerpage, its queues ---------> device
 *               | trap (driver_calls.h)                              ^
 *            driver_load.c  loading, calls                          |
 *            driver.c   VPIDs, ports, their end                 |
 *            driver_device.c   registers, caches, routes --- management page
 *            memory.c   memory and the TLB      (the driver's alone)
 *            driver_memory.c  contiguous memory
 *            driver_serve.c thread that answers misses
 *            driver_ultra.c ports of ULTRA
 *
 * Written against host.h and the register map alone. */
#ifndef SYSTEMS_HOSTPORT_LIB_DRIVER_H
#define SYSTEMS_HOSTPORT_LIB_DRIVER_H

#include "base/vec.h"
#include "systems/hostport/lib/driver_calls.h"
#include "systems/hostport/lib/driver_memory.h"
#include "systems/hostport/nic/regs_map.h"

enum { HPORT_ROUTE = 64, HPORT_ELEMENTS = 32 }; /* of the routing space */
enum { HPORT_QUEUES = 6 };

/* Memory of a process at a virtual address of its own. */
struct hport_region {
	uint32_t vpid;
	bool own; /* the memory was allocated for it */
	uint64_t va, bytes;
	void *mem;
	weft_phys_t phys, held; /* held: of the caller's own memory */
	uint64_t *out; /* bit per page: swapped out, or never in the TLB */
	struct hport_region *next;
};

/* Virtual memory of a VPID: equal addresses of others are other memory. */
struct hport_space {
	struct hport_region *first;
	uint64_t next_va;
};

/* A port that a process has opened. */
struct hport_kport {
	struct weft_proc *proc; /* NULL: the kernel's own */
	struct weft_io page, info;
	void *queue[HPORT_QUEUES];
	bool closing;
};

struct hport_closed { /* VPID that had an owner */
	uint16_t vpid;
	weft_time_t at;
};

struct hport_kernel;

/* The driver, at work in one thread. */
struct hport_drv {
	struct weft_host *host;
	struct weft_dev *dev;
	struct weft_io mgmt;
	struct hport_kernel *kernel;
	uint32_t node, nodes;
};

struct hport_kernel {
	struct hport_drv drv; /* of no thread */
	bool started, locked; /* calls wait until it has been started */
	int failed;	      /* the device could not be set up */
	/* VPIDs: given out, had an owner; those that had, oldest end first */
	uint64_t vpids[HP_VPIDS / 64], used[HP_VPIDS / 64];
	struct {
		VEC(struct hport_closed);
	} closed;
	uint16_t *epoch; /* of a VPID's owner, or its next one */
	struct hport_kport **port;
	struct hport_space *space;
	struct {
		VEC(struct weft_proc *);
	} procs;		/* made by the driver */
	uint32_t opened;	/* VPIDs */
	uint32_t begun;		/* times that one was enabled */
	struct weft_host *runs; /* is in HPORT_C_RUN */
	struct hport_sizes sizes;
	struct hport_kmem kmem;
	uint64_t *ct;
	uint8_t *rs;
	weft_phys_t ct_phys, rs_phys;
	uint64_t *routed; /* bit per node: its route is there */
	uint64_t *bulk;	  /* page for bulk inserts */
	weft_phys_t bulk_phys;
	uint64_t misses, faults, errors; /* served, taken from the log */
	uint32_t stuck;			 /* ports whose memory is lost */
	/* driver_serve.c */
	struct server *server;
	bool serves;
	uint32_t served; /* threads that have ended */
	/* driver_ultra.c */
	struct weft_io ultra;
	struct hport_uport *uport; /* by unit and port */
	uint32_t n_uports;
};

/* Bytes of a port's queue: WQ, SDR, RDR, WDT, PRQ, NQ. */
static inline uint64_t hport_queue_bytes(const struct hport_sizes *s,
					 uint32_t i)
{
	const uint64_t bytes[HPORT_QUEUES] = { (uint64_t)HP_LINE * s->wq,
					       8ull * s->sdr,
					       8ull * s->rdr,
					       (uint64_t)HP_LINE * s->wdt,
					       (uint64_t)HP_LINE * s->prq,
					       (uint64_t)HP_LINE * s->nq };

	return bytes[i];
}

bool hport_drv_probe(struct weft_host *h, struct weft_dev *dev);
/* A call; loads the driver where there is none. */
int hport_drv_call(struct weft_host *h, struct weft_dev *dev, uint32_t op,
		   void *arg);
/* fn runs as part of the driver: programs that do what a kernel does. */
int hport_drv_run(struct weft_host *h,
		  int (*fn)(struct hport_drv *d, void *arg), void *arg);

#define X(name, fn, type) int fn(struct hport_drv *d, type *arg);
HPORT_CALLS(X)
#undef X
int hport_k_run(struct hport_drv *d, struct hport_c_run *arg);

/* ---- driver_device.c ---- */

void hport_drv_lock(struct hport_drv *d);
static inline void hport_drv_unlock(struct hport_drv *d)
{
	d->kernel->locked = false;
}

static inline void hport_drv_store(struct hport_drv *d, uint64_t off,
				   uint64_t val)
{
	weft_io_store64(d->host, &d->mgmt, off, val);
}
static inline uint64_t hport_drv_load(struct hport_drv *d, uint64_t off)
{
	return weft_io_load64(d->host, &d->mgmt, off);
}

/* The device alone, as it is. */
int hport_dev_map(struct hport_drv *d);
/* Tables, routes; everything but sizes. */
int hport_dev_setup(struct hport_drv *d);
/* NULL: appendix B. */
void hport_dev_sizes(struct hport_drv *d, const struct hport_sizes *want);
/* CACHE_CMD, until the device is done.  Takes the lock; the other one is for
 * who has it. */
uint64_t hport_drv_cache(struct hport_drv *d, uint64_t cmd, uint64_t arg0,
			 uint64_t arg1);
uint64_t hport_drv_cache_locked(struct hport_drv *d, uint64_t cmd,
				uint64_t arg0, uint64_t arg1);
/* The same without waiting: posted stores.  The lock is taken. */
static inline void hport_drv_cache_post(struct hport_drv *d, uint64_t cmd,
					uint64_t arg0, uint64_t arg1)
{
	hport_drv_store(d, HP_R_CACHE_ARG0, arg0);
	hport_drv_store(d, HP_R_CACHE_ARG1, arg1);
	hport_drv_store(d, HP_R_CACHE_CMD, cmd);
}
/* Out-of-band name of the way from a node to another. */
void hport_drv_route_key(char *key, size_t size, uint32_t from, uint32_t to);
/* The routing space has a way to that node and back; -EHOSTUNREACH. */
int hport_drv_route(struct hport_drv *d, uint32_t node);
/* The VPID has no owner any more: the next one is another, for all nodes. */
void hport_drv_epoch_next(struct hport_drv *d, uint32_t vpid);

/* ---- driver.c ---- */

/* A free VPID that no ULTRA port of others names: `want`, or one that had no
 * owner or none for longest with want < 0.  -EBUSY, -ENOSPC, -EINVAL. */
int hport_drv_vpid(struct hport_drv *d, int32_t want);
/* The lowest VPID of the caller; it has none: the highest free one. */
uint32_t hport_vpid_own(struct hport_drv *d);
/* Writes the context and opens the Triggerpage. */
void hport_drv_enable(struct hport_drv *d, uint32_t vpid, const uint64_t *w);
/* Closes it; false: the device still holds something of the VPID, whose memory
 * must not be used for anything else. */
bool hport_drv_disable(struct hport_drv *d, uint32_t vpid);
/* Others may have it. */
void hport_drv_vpid_end(struct hport_drv *d, uint32_t vpid);
/* W0 of a context for flags of hport_attr. */
uint64_t hport_context_flags(uint32_t flags);

/* The process has ended: so do its ports. */
void hport_ports_gone(struct hport_drv *d, const struct weft_proc *p);
/* The port of the caller; NULL: it is not his. */
struct hport_kport *hport_port_of(struct hport_drv *d, uint32_t vpid);

/* The driver's thread begins to serve. */
void hport_drv_begin(struct hport_drv *d);

/* ---- memory.c ---- */

/* Pages with virtual addresses: new ones, or those at phys, which must be the
 * caller's; the first of them are put into the TLB. */
int hport_drv_map(struct hport_drv *d, uint32_t vpid, uint64_t bytes,
		  weft_phys_t phys, struct hport_region **r_p);
/* All memory of the VPID; nothing of it is under way in the device. */
void hport_space_end(struct hport_drv *d, uint32_t vpid);
/* ARG1 of an insert.  The lock is taken. */
uint64_t hport_drv_translate(struct hport_drv *d, uint32_t vpid,
			     uint64_t vpage);
void hport_space_free(struct hport_kernel *k);

/* ---- driver_ultra.c ---- */

int hport_ultra_setup(struct hport_drv *d);
/* A port of another process names the VPID: it would be told of what that one
 * sends. */
bool hport_ultra_names(struct hport_drv *d, uint32_t vpid);
void hport_ultra_gone(struct hport_drv *d, const struct weft_proc *p);

#endif
