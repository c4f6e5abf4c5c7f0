/* SPDX-License-Identifier: Apache-2.0 */
/* ATOLL for programs (hostport.md 2). A process opens one of four host ports,
 * sends messages along routes that the process chooses, and receives messages.
 * One process per node may be the management process, which clears deadlocks.
 *
 * A route is a list of crossbar ports, one for each node on the way. Ports 4..7
 * are links. The last port is a host port (0..3) of the target. */
#ifndef WEFT_ATOLL_H
#define WEFT_ATOLL_H

#include "weft/host.h"

WEFT_C_BEGIN

struct atoll_port;

enum atoll_mode {
	ATOLL_PIO, /* small messages by stores and loads of registers */
	ATOLL_DMA, /* messages by descriptors and regions in main memory */
};

struct atoll_attr {
	uint32_t port;	  /* number of the host port, 0..3 */
	uint32_t mode;	  /* enum atoll_mode for sending and receiving */
	uint32_t entries; /* entries of each descriptor queue; 0 gives 64 */
	uint32_t bytes;	  /* bytes of each data region; 0 gives 64 KiB */
};

struct atoll_msg {
	uint32_t node, port; /* node and host port of the sender */
	uint32_t tag;	     /* tag of the sender, 16 bits */
	uint32_t bytes;
	/* A retrieved message is a packet that atoll_retrieve removed from the
	 * network. route[] is the part of its route that starts at this
	 * node. */
	bool retrieved;
	uint8_t route[24];
	uint32_t n_route;
	uint64_t head; /* head of a retrieved packet, for atoll_again */
};

/* Opens one of the four host ports. Returns 0 and in *p_p a port, which the
 * caller closes, or -ENODEV (no ATOLL on this node), -EINVAL (sizes, port) or
 * -ENOMEM. */
int atoll_open(struct weft_host *h, const struct atoll_attr *a,
	       struct atoll_port **p_p);
/* Stops receiving, waits until the device has stored all packets that it has
 * already received, and frees the port. Messages that were not polled are
 * lost. */
void atoll_close(struct atoll_port *p);
/* Returns the number of this node. */
uint32_t atoll_node(const struct atoll_port *p);

/* Sends `bytes` (a multiple of 8; PIO: 8..512) along a route of n ports. The
 * caller may overwrite data when the call returns. Returns 0, or -EINVAL (size
 * or route). */
int atoll_send(struct atoll_port *p, const uint8_t *route, uint32_t n,
	       uint32_t tag, const void *data, uint32_t bytes);
/* Sends a retrieved packet along m->route, on a DMA port. Returns 0, or
 * -EINVAL (a PIO port, or a message that was not retrieved). */
int atoll_again(struct atoll_port *p, const struct atoll_msg *m,
		const void *data);
/* Receives a message if one has arrived. `data` has room for `max` bytes, and
 * further bytes of the message are dropped. Returns false when no message has
 * arrived. */
bool atoll_poll(struct atoll_port *p, struct atoll_msg *m, void *data,
		uint32_t max);
/* Polls until a message arrives and receives it as atoll_poll does. Returns
 * false at the deadline. */
bool atoll_recv(struct atoll_port *p, struct atoll_msg *m, void *data,
		uint32_t max, weft_time_t deadline);

/* ---- management ---- */

struct atoll_deadlock {
	uint32_t out;		 /* number of the blocked OutPort */
	uint32_t granted, waits; /* InPort to which the OutPort is granted;
				  * InPort that waits for the OutPort */
};

/* Makes this process the management process. Its DMA port p receives the
 * packets that atoll_retrieve removes from the network. `counter` is the time,
 * in clocks, after which a waiting OutPort counts as blocked. A `counter` of 0
 * does not change this time. */
void atoll_manage(struct atoll_port *p, uint32_t counter);
/* Sleeps until an interrupt of the network, or until the deadline.  Returns
 * true after an interrupt. */
bool atoll_irq_wait(struct atoll_port *p, weft_time_t deadline);
/* Finds an OutPort whose counter has expired and which is still blocked. Clears
 * other expired counters, because their packets have moved on. Returns false
 * when no OutPort is blocked. */
bool atoll_deadlock(struct atoll_port *p, struct atoll_deadlock *d);
/* Removes the packet of deadlock *d from the network. The packet arrives as a
 * message with `retrieved` set. Returns false when the packet is no longer
 * blocked. */
bool atoll_retrieve(struct atoll_port *p, const struct atoll_deadlock *d);

WEFT_C_END

#endif
