/* SPDX-License-Identifier: Apache-2.0 */
/* Opens ports of the Host Port for many light processes (weft/host.h). One
 * connection with the driver opens all ports, because a light process has no
 * thread that could make the calls. Each process has three pages: one for its
 * work queue, windows and send data region, one for notifications, and one for
 * the receive data region. */
#ifndef SYSTEMS_HOSTPORT_LIB_CROWD_H
#define SYSTEMS_HOSTPORT_LIB_CROWD_H

#include "systems/hostport/lib/hostport_internal.h"

enum {
	HPORT_CROWD_WQ = 16, /* entries */
	/* number of windows of each process, with the ids from HPORT_CROWD_WINS
	 * on */
	HPORT_CROWD_WINS = 16,
	/* number of bytes of the send data region that each process may use,
	 * from offset HPORT_CROWD_SDR on */
	HPORT_CROWD_SDR = 2048
};

struct hport_crowd {
	struct hport_drv drv;
	struct hport *port; /* indexed by the number of the process */
	uint32_t n;
	uint8_t *pages;
	weft_phys_t phys;
	struct hport_hole *holes;
};

/* Opens ports for processes 0 to n - 1. The VPID of each process is its number.
 * Therefore no other process of the node may have a port. Returns 0, -ENODEV,
 * -ENOMEM or -EBUSY. */
int hport_crowd_open(struct hport_crowd *c, struct weft_host *h, uint32_t n);
/* Closes the connection and frees `c`. The ports stay open until the program
 * ends. */
void hport_crowd_close(struct hport_crowd *c);
/* Maps the Triggerpage of process i for `proc` alone. `flags` are those of
 * hport_attr. Returns the port, which belongs to `c`, or NULL when the page
 * cannot be mapped. */
struct hport *hport_crowd_add(struct hport_crowd *c, uint32_t i,
			      struct weft_proc *proc, uint32_t flags);
/* Binds the port to `h`, the thread that currently runs the function of the
 * port's process. */
static inline void hport_crowd_on(struct hport *p, struct weft_host *h)
{
	p->drv.host = h;
}
/* Returns the address of the word that the process passes to WEFT_TURN_WAIT.
 * The word changes from 0 when the next notification arrives. */
static inline const volatile uint64_t *hport_crowd_word(const struct hport *p)
{
	return p->nq + (size_t)HP_WORDS * p->nq_rp + HP_NQE_CMD;
}
/* Issues one trigger for up to 31 entries that were put into the work queue.
 * Returns how many of these entries the device did not accept. */
uint32_t hport_crowd_trigger(struct hport *p);
/* Sets the weight of process i: the number of its VCIs that the fetch unit
 * reads before it continues with the next process. */
void hport_crowd_weight(struct hport_crowd *c, uint32_t i, uint32_t weight);
/* Allocates memory of process i. Returns NULL when no memory is left. */
struct hport_region *hport_crowd_map(struct hport_crowd *c, uint32_t i,
				     uint64_t bytes);
/* Writes the descriptor of a new window. Sends no flush, because the device
 * cannot have cached a descriptor that did not exist. */
void hport_crowd_window(struct hport *p, uint32_t id,
			const struct hport_region *r, uint32_t rights);

#endif
