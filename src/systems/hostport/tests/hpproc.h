/* SPDX-License-Identifier: Apache-2.0 */
/* Host Ports on a bench (exrig with hostport.nic), and processes that use a
 * Host Port by its registers, Triggerpages and queues alone. */
#ifndef HOSTPORT_TESTS_HPPROC_H
#define HOSTPORT_TESTS_HPPROC_H

#include "systems/extoll/tests/exrig.h"
#include "systems/hostport/nic/regs_map.h"
#include "weft/host.h"

/* Driver of a node. Sizes of 0 mean the defaults of appendix B. */
struct hpdrv {
	uint32_t wq, nq, prq, wdt, sdr, rdr; /* sizes (hostport.md 4.10) */
	/* bits of CTRL besides HP_CTRL_ENABLE */
	uint64_t ctrl;
	struct exrig *rig;
	uint32_t node;
	struct weft_host *h;
	struct weft_dev *dev;
	struct weft_io mgmt;
	uint64_t *ct; /* context table */
	uint8_t *rs;  /* routing space, with the route to node i at 64 * i */
	weft_phys_t ct_phys, rs_phys;
};
/* bytes reserved for a route, and bytes that a route uses */
enum { HPDRV_ROUTE = 64, HPDRV_RLEN = 32 };

struct hpproc {
	struct hpdrv *drv;
	struct weft_host *h;
	struct weft_io page; /* Triggerpage */
	uint32_t vpid;
	uint64_t *wq, *sdr, *rdr, *wdt, *prq;
	volatile uint64_t *nq;
	weft_phys_t wq_phys, sdr_phys, rdr_phys, wdt_phys, prq_phys, nq_phys;
	uint32_t wi, ni, pi; /* index of the next entry of WQ, NQ, PRQ */
	/* number of NQEs taken and not reported to the NIC */
	uint32_t owed;
};

/* Makes a bench of two or more Host Ports. `dims` has the format of
 * exrig_new(). A bus of NULL is HyperTransport. */
void hprig_new(struct exrig *r, const char *dims, const struct weft_class *bus);
/* Makes a bench of one node, runs fn as its only program, and frees the
 * bench. */
void hprig_one(exrig_fn fn);
/* Maps the management page without a store to it. */
void hpdrv_map(struct hpdrv *d, struct weft_host *h);
/* Sets the driver up. Called once per node before any other call. The HPID of
 * node i is i + 1. */
void hpdrv_open(struct hpdrv *d, struct exrig *r, uint32_t node,
		struct weft_host *h);
uint64_t hpdrv_get(struct hpdrv *d, uint32_t off);
void hpdrv_set(struct hpdrv *d, uint32_t off, uint64_t val);
/* Issues a CACHE_CMD with its arguments and waits until the device has done
 * it. */
uint64_t hpdrv_cache(struct hpdrv *d, uint32_t op, uint32_t which,
		     uint32_t vpid, uint64_t arg0, uint64_t arg1);
/* Returns the context in the table after the device has written it back. */
const uint64_t *hpdrv_ctx(struct hpdrv *d, uint32_t vpid);
/* Writes a context and enables it. The flags are those of W0 besides EN. */
void hpdrv_enable(struct hpproc *p, uint64_t flags);
void hpdrv_disable(struct hpdrv *d, uint32_t vpid);

/* Allocates the queues, enables the VPID and maps its page. */
void hpproc_open(struct hpproc *p, struct hpdrv *d, struct weft_host *h,
		 uint32_t vpid, uint64_t flags);
uint64_t hpproc_trigger(struct hpproc *p, uint32_t cmd, uint32_t par);
/* Writes an instruction into the work queue. hpproc_issue() triggers n of them
 * and repeats each trigger until it is accepted. */
void hpproc_put(struct hpproc *p, const uint64_t *w);
void hpproc_issue(struct hpproc *p, uint32_t n);
/* Writes and issues a FAST_SEND of n words to a VPID of a node. `a` is HP_A for
 * an acknowledge, or 0. */
void hpproc_fast_send(struct hpproc *p, uint32_t node, uint32_t vpid,
		      uint32_t a, uint64_t tag, const uint64_t *data,
		      uint32_t n);
/* Fills in W0 and W1 of a VCI to a node. */
void hpproc_to(uint64_t *w, uint32_t byte, uint32_t node, uint32_t vpid,
	       uint64_t tag);
/* Takes the next NQE and clears its entry. Returns false after 100 us without
 * an NQE. */
bool hpproc_nqe(struct hpproc *p, uint64_t *w);
/* Increments NQ RP by the number of entries taken. The device answers each
 * update by a status NQE. */
void hpproc_free(struct hpproc *p);
/* Takes the next NQE that is not a status. Gives entries back before the queue
 * is full. */
bool hpproc_wait(struct hpproc *p, uint64_t *w);
/* Writes a FAST_SEND of one word to the process itself, without issuing it. */
void hpproc_self(struct hpproc *p, uint64_t tag);
/* Takes NQEs until k FAST_SENDs of the process to itself have completed. Stores
 * their tags in the order of completion. */
void hpproc_own(struct hpproc *p, uint64_t *tags, uint32_t k);

#endif
