/* SPDX-License-Identifier: Apache-2.0 */
/* Host Port: ports of many light processes (weft/host.h), opened by one
 * connection with the driver.  Three pages each: what the process writes (work
 * queue, windows, send data region), notifications, receive data region. */
#ifndef SYSTEMS_HOSTPORT_LIB_CROWD_H
#define SYSTEMS_HOSTPORT_LIB_CROWD_H

#include "systems/hostport/lib/hostport_internal.h"

enum {
	HPORT_CROWD_WQ = 16,   /* entries */
	HPORT_CROWD_WINS = 16, /* windows WINS.. are to be used */
	HPORT_CROWD_SDR = 2048 /* bytes SDR.. of the send data region */
};

struct hport_crowd {
	struct hport_drv drv;
	struct hport *port; /* by number of process */
	uint32_t n;
	uint8_t *pages;
	weft_phys_t phys;
	struct hport_hole *holes;
};

/* For processes 0 to n - 1, with VPIDs of the same number; nobody else has a
 * port.  0, -ENODEV, -ENOMEM, -EBUSY. */
int hport_crowd_open(struct hport_crowd *c, struct weft_host *h, uint32_t n);
/* Everything but the ports goes with the program. */
void hport_crowd_close(struct hport_crowd *c);
/* Process i has its Triggerpage, as `proc` alone; flags as of hport_attr.
 * NULL: the page is not to be had. */
struct hport *hport_crowd_add(struct hport_crowd *c, uint32_t i,
			      struct weft_proc *proc, uint32_t flags);
/* Its turn is on this processor. */
static inline void hport_crowd_on(struct hport *p, struct weft_host *h)
{
	p->drv.host = h;
}
/* For WEFT_TURN_WAIT: changes from 0 when there is a notification. */
static inline const volatile uint64_t *hport_crowd_word(const struct hport *p)
{
	return p->nq + (size_t)HP_WORDS * p->nq_rp + HP_NQE_CMD;
}
/* Triggers what is in the work queue, once; entries that were not accepted. */
uint32_t hport_crowd_trigger(struct hport *p);
/* Its part of the turn. */
void hport_crowd_weight(struct hport_crowd *c, uint32_t i, uint32_t weight);
/* Memory of process i; NULL: there is none. */
struct hport_region *hport_crowd_map(struct hport_crowd *c, uint32_t i,
				     uint64_t bytes);
/* A window without telling the device: it cannot know it yet. */
void hport_crowd_window(struct hport *p, uint32_t id,
			const struct hport_region *r, uint32_t rights);

#endif
