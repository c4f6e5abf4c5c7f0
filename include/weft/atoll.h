/* SPDX-License-Identifier: Apache-2.0 */
/* ATOLL for programs (hostport.md 2): a process opens one of four host ports
 * and sends and receives messages along routes that it gives itself; one
 * process per node may be the management process, which clears deadlocks.
 *
 * A route is a list of crossbar ports, one for each node on the way, the last
 * one a host port (0..3) of the target; links are 4..7. */
#ifndef WEFT_ATOLL_H
#define WEFT_ATOLL_H

#include "weft/host.h"

WEFT_C_BEGIN

struct atoll_port;

enum atoll_mode {
	ATOLL_PIO, /* stores and loads of registers, small messages */
	ATOLL_DMA, /* descriptors and regions in main memory */
};

struct atoll_attr {
	uint32_t port;	  /* host port, 0..3 */
	uint32_t mode;	  /* enum atoll_mode, of sending and receiving */
	uint32_t entries; /* of the descriptor queues; 0 = 64 */
	uint32_t bytes;	  /* of both data regions; 0 = 64 KiB */
};

struct atoll_msg {
	uint32_t node, port; /* sender */
	uint32_t tag;	     /* 16 bits */
	uint32_t bytes;
	/* a packet that was taken out of the network: the rest of its route
	 * (crossbar ports, from this node on) */
	bool retrieved;
	uint8_t route[24];
	uint32_t n_route;
	uint64_t head; /* for atoll_again */
};

/* Opens one of the four host ports.  Returns 0, and a port that the caller
 * closes, or -ENODEV, -EINVAL (sizes, port) or -ENOMEM. */
int atoll_open(struct weft_host *h, const struct atoll_attr *a,
	       struct atoll_port **p_p);
/* Ends receiving, waits until the device has stored what it took from the
 * network, and frees the port.  Messages that were not polled are lost. */
void atoll_close(struct atoll_port *p);
/* Returns the number of this node. */
uint32_t atoll_node(const struct atoll_port *p);

/* Sends `bytes` (a multiple of 8; PIO: 8..512) along a route of n ports, and
 * returns when they may be overwritten: 0, or -EINVAL (size, or route). */
int atoll_send(struct atoll_port *p, const uint8_t *route, uint32_t n,
	       uint32_t tag, const void *data, uint32_t bytes);
/* Sends a retrieved packet on its way again, on a DMA port.  Returns 0, or
 * -EINVAL (a PIO port, or not a retrieved packet). */
int atoll_again(struct atoll_port *p, const struct atoll_msg *m,
		const void *data);
/* Takes a message if there is one; data has room for `max` bytes, further ones
 * are dropped.  Returns false when there is none. */
bool atoll_poll(struct atoll_port *p, struct atoll_msg *m, void *data,
		uint32_t max);
/* Polls until there is a message and takes it.  Returns false at the deadline.
 */
bool atoll_recv(struct atoll_port *p, struct atoll_msg *m, void *data,
		uint32_t max, weft_time_t deadline);

/* ---- management ---- */

struct atoll_deadlock {
	uint32_t out;		 /* OutPort */
	uint32_t granted, waits; /* InPorts */
};

/* Makes this process the management process: its DMA port p receives the
 * packets that atoll_retrieve takes out; `counter` is the time in clocks after
 * which a waiting OutPort counts as blocked, 0 leaves it as it is. */
void atoll_manage(struct atoll_port *p, uint32_t counter);
/* Sleeps until an interrupt of the network, or until the deadline.  Returns
 * true after an interrupt. */
bool atoll_irq_wait(struct atoll_port *p, weft_time_t deadline);
/* Finds an OutPort whose counter has expired and whose condition still holds.
 * Clears other expired counters, because their packets have moved on. Returns
 * false when there is none. */
bool atoll_deadlock(struct atoll_port *p, struct atoll_deadlock *d);
/* Takes the packet that waits there out of the network: it arrives as a message
 * with `retrieved`.  Returns false when the packet has moved on meanwhile. */
bool atoll_retrieve(struct atoll_port *p, const struct atoll_deadlock *d);

WEFT_C_END

#endif
