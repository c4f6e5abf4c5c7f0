/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port driver. It opens ports, sets up their queues and answers TLB misses
 * for the processes of a node (hostport.md 4.10, 4.11, 7.8, 8.8).
 *
 *   process: hostport.c ---- Triggerpage and queues of a port ------> device
 *               | trap (driver_calls.h)                                 ^
 *   driver:  driver_load.c    loads the driver, dispatches calls        |
 *            driver.c         allocates VPIDs, opens and closes ports   |
 *            driver_device.c  registers, caches, routes --- management page
 *            memory.c         virtual memory and TLB        (driver only)
 *            driver_memory.c  contiguous memory of the driver
 *            driver_serve.c   thread that answers TLB misses
 *            driver_ultra.c   ports of ULTRA
 *
 * The driver uses only host.h and the register map, so that it also serves
 * attached processes. */
#ifndef SYSTEMS_HOSTPORT_LIB_DRIVER_H
#define SYSTEMS_HOSTPORT_LIB_DRIVER_H

#include "base/vec.h"
#include "systems/hostport/lib/driver_calls.h"
#include "systems/hostport/lib/driver_memory.h"
#include "systems/hostport/nic/regs_map.h"

/* numbers of bytes and elements of a route in the routing space */
enum { HPORT_ROUTE = 64, HPORT_ELEMENTS = 32 };
enum { HPORT_QUEUES = 6 };

/* Range of whole pages at a virtual address of a VPID. */
struct hport_region {
	uint32_t vpid;
	/* true if the driver allocated the memory and must free it */
	bool own;
	uint64_t va, bytes;
	void *mem;
	/* phys: address of the first page. held: address that was passed to
	 * weft_mem_hold(), or 0 */
	weft_phys_t phys, held;
	/* bit per page, set while the TLB has no translation of the page,
	 * because the page is swapped out or was not used yet */
	uint64_t *out;
	struct hport_region *next;
};

/* Virtual memory of a VPID. Two VPIDs may use one address for different
 * memory. */
struct hport_space {
	struct hport_region *first;
	uint64_t next_va;
};

/* A port that a process has opened. */
struct hport_kport {
	struct weft_proc *proc; /* NULL for a port of the kernel */
	struct weft_io page, info;
	void *queue[HPORT_QUEUES];
	bool closing;
};

struct hport_closed { /* a VPID whose owner has closed it */
	uint16_t vpid;
	weft_time_t at;
};

struct hport_kernel;

/* Handle of the driver for one thread. */
struct hport_drv {
	struct weft_host *host;
	struct weft_dev *dev;
	struct weft_io mgmt;
	struct hport_kernel *kernel;
	uint32_t node, nodes;
};

struct hport_kernel {
	/* instance of the driver that is bound to no thread */
	struct hport_drv drv;
	/* started: the set-up of the device has ended, so that calls need not
	 * wait for it */
	bool started, locked;
	/* errno if the device could not be set up, else 0 */
	int failed;
	/* vpids: VPIDs in use. used: VPIDs that ever had an owner. closed:
	 * VPIDs without an owner now, in the order in which they were
	 * closed. */
	uint64_t vpids[HP_VPIDS / 64], used[HP_VPIDS / 64];
	struct {
		VEC(struct hport_closed);
	} closed;
	uint16_t *epoch; /* epoch of the present or next owner of each VPID */
	struct hport_kport **port;
	struct hport_space *space;
	struct {
		VEC(struct weft_proc *);
	} procs;		/* processes that the driver created */
	uint32_t opened;	/* number of VPIDs in use */
	uint32_t begun;		/* number of times that a VPID was enabled */
	struct weft_host *runs; /* thread that runs HPORT_C_RUN */
	struct hport_sizes sizes;
	struct hport_kmem kmem;
	uint64_t *ct;
	uint8_t *rs;
	weft_phys_t ct_phys, rs_phys;
	/* bit per node, set once the route to the node is set up */
	uint64_t *routed;
	/* page that lists the translations of a bulk insert */
	uint64_t *bulk;
	weft_phys_t bulk_phys;
	/* misses: number of misses served. faults: number of served misses
	 * whose page is not mapped. errors: number of error records read. */
	uint64_t misses, faults, errors;
	/* number of ports whose memory the device never released */
	uint32_t stuck;
	/* driver_serve.c */
	struct server *server;
	bool serves;
	uint32_t served; /* number of threads that have served and ended */
	/* driver_ultra.c */
	struct weft_io ultra;
	struct hport_uport *uport; /* indexed by unit and port */
	uint32_t n_uports;
};

/* Returns the size in bytes of queue i of a port, in the order WQ, SDR, RDR,
 * WDT, PRQ, NQ. */
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

/* Returns whether the device is a Host Port. */
bool hport_drv_probe(struct weft_host *h, struct weft_dev *dev);
/* Makes call `op` of the driver with argument `arg`. Loads the driver first if
 * the node has none. Returns 0 or a negative errno. */
int hport_drv_call(struct weft_host *h, struct weft_dev *dev, uint32_t op,
		   void *arg);
/* Runs fn as a part of the driver, so that a program can call functions of the
 * kernel. Returns the result of fn or a negative errno. */
int hport_drv_run(struct weft_host *h,
		  int (*fn)(struct hport_drv *d, void *arg), void *arg);

#define X(name, fn, type) int fn(struct hport_drv *d, type *arg);
HPORT_CALLS(X)
#undef X
int hport_k_run(struct hport_drv *d, struct hport_c_run *arg);

/* ---- driver_device.c ---- */

/* Takes the driver's lock. Polls while another thread of the node has it. */
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

/* Sets up tables and routes. Gives queues the sizes of hostport.md appendix B.
 * hport_k_open() may replace these sizes while no port is open. Returns 0 or a
 * negative errno. */
int hport_dev_setup(struct hport_drv *d);
/* Writes the sizes of queues. If `want` is NULL, the sizes are those of
 * appendix B. */
void hport_dev_sizes(struct hport_drv *d, const struct hport_sizes *want);
/* Writes CACHE_CMD and polls until the device has executed it. Returns
 * CACHE_STATUS. hport_drv_cache() takes the lock. The caller of
 * hport_drv_cache_locked() already holds the lock. */
uint64_t hport_drv_cache(struct hport_drv *d, uint64_t cmd, uint64_t arg0,
			 uint64_t arg1);
uint64_t hport_drv_cache_locked(struct hport_drv *d, uint64_t cmd,
				uint64_t arg0, uint64_t arg1);
/* Writes CACHE_CMD by posted stores. Does not wait until the device has
 * executed it, because the loads of such a wait would stall the bus for other
 * processes. The caller holds the lock. */
static inline void hport_drv_cache_post(struct hport_drv *d, uint64_t cmd,
					uint64_t arg0, uint64_t arg1)
{
	hport_drv_store(d, HP_R_CACHE_ARG0, arg0);
	hport_drv_store(d, HP_R_CACHE_ARG1, arg1);
	hport_drv_store(d, HP_R_CACHE_CMD, cmd);
}
/* Writes the out-of-band name of the route between two nodes into `key`. */
void hport_drv_route_key(char *key, size_t size, uint32_t from, uint32_t to);
/* Writes the route to a node and the return route into the routing space,
 * unless they were written before. Returns 0, or -EHOSTUNREACH when the network
 * has no route. */
int hport_drv_route(struct hport_drv *d, uint32_t node);
/* Ends the ownership of a VPID. The next owner gets another epoch. The driver
 * publishes the new epoch to all nodes, so that requests to the old owner are
 * refused. */
void hport_drv_epoch_next(struct hport_drv *d, uint32_t vpid);

/* ---- driver.c ---- */

/* Reserves VPID `want` if it is not negative. Otherwise reserves the lowest
 * VPID that never had an owner or, if every VPID had one, the VPID that has
 * been free for longest. Never reserves a VPID that an ULTRA port of another
 * process names. Returns the VPID. Errors: -EINVAL (`want` is not a VPID),
 * -EBUSY (`want` is in use or an ULTRA port names it), -ENOSPC (no VPID is
 * free). */
int hport_drv_vpid(struct hport_drv *d, int32_t want);
/* Returns the lowest VPID of the caller. If the caller has none, returns the
 * highest free VPID. */
uint32_t hport_vpid_own(struct hport_drv *d);
/* Writes the context and opens the Triggerpage. */
void hport_drv_enable(struct hport_drv *d, uint32_t vpid, const uint64_t *w);
/* Closes the Triggerpage and turns the context off. Returns false when parts of
 * the device still use the VPID. The memory of the VPID must not be reused
 * then. */
bool hport_drv_disable(struct hport_drv *d, uint32_t vpid);
/* Gives the VPID back, so that other processes may open it. */
void hport_drv_vpid_end(struct hport_drv *d, uint32_t vpid);
/* Returns word W0 of a context for flags of hport_attr. */
uint64_t hport_context_flags(uint32_t flags);

/* Closes all ports of a process that has ended. */
void hport_ports_gone(struct hport_drv *d, const struct weft_proc *p);
/* Returns the caller's port at this VPID, or NULL when the VPID is not the
 * caller's. */
struct hport_kport *hport_port_of(struct hport_drv *d, uint32_t vpid);

/* Wakes the driver's thread, which then serves misses. */
void hport_drv_begin(struct hport_drv *d);

/* ---- memory.c ---- */

/* Maps pages at a virtual address of the VPID. Allocates new pages if `phys` is
 * 0, otherwise maps the pages at `phys`, which the caller must own. Inserts the
 * first pages into the TLB at once. Returns 0 or a negative errno. */
int hport_drv_map(struct hport_drv *d, uint32_t vpid, uint64_t bytes,
		  weft_phys_t phys, struct hport_region **r_p);
/* Frees all memory of the VPID. The caller has checked that no part of the
 * device uses the VPID any more. */
void hport_space_end(struct hport_drv *d, uint32_t vpid);
/* Returns ARG1 of a TLB insert for a page. The caller holds the lock, because
 * the memory must not be freed before the insert. */
uint64_t hport_drv_translate(struct hport_drv *d, uint32_t vpid,
			     uint64_t vpage);

/* ---- driver_ultra.c ---- */

/* Maps the driver pages of ULTRA. Returns 0 or a negative errno. */
int hport_ultra_setup(struct hport_drv *d);
/* Returns whether an ULTRA port of another process names the VPID. The driver
 * does not assign such a VPID, because its new owner would get the
 * notifications of the ULTRA port. */
bool hport_ultra_names(struct hport_drv *d, uint32_t vpid);
/* Gives back all ULTRA ports of a process that has ended. */
void hport_ultra_gone(struct hport_drv *d, const struct weft_proc *p);

#endif
