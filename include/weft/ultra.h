/* SPDX-License-Identifier: Apache-2.0 */
/* ULTRA for programs (hostport.md 9): one burst of stores sends a packet of a
 * tag and up to 31 words along a path; the receiver polls its own memory.
 *
 * A path leads from one requester port to one completer port.  It is set up by
 * both sides: the receiver calls ultra_accept, the sender ultra_connect.  Their
 * control messages take the way that the caller gives them (Host Port
 * FAST_SENDs between drivers, or the out-of-band network). */
#ifndef WEFT_ULTRA_H
#define WEFT_ULTRA_H

#include "weft/host.h"

WEFT_C_BEGIN

enum { ULTRA_MSG_WORDS = 5, ULTRA_PAYLOAD_MAX = 31 };

/* Control messages of path set-up: five words, in order between two nodes. */
struct ultra_ctl {
	void *own;
	/* Sends five words to a node. */
	void (*send)(void *own, uint32_t node, const uint64_t *w);
	/* Blocks until the next five words of this node have arrived. */
	void (*recv)(void *own, uint32_t node, uint64_t *w);
};

/* A process's connection with ULTRA's driver part on its node. */
struct ultra_drv {
	struct weft_host *h;
	struct weft_dev *dev;
	struct weft_io mgmt;  /* of the Host Port: registers */
	struct weft_io ports; /* driver pages */
	bool traps; /* registers are set by calls of the node's driver */
	uint32_t node, hpid, n_ports, max_words;
};

struct ultra_tx {
	struct ultra_drv *d;
	uint32_t upid;
	struct weft_io page;
	/* words of the port's part of the packet queue; where the next one goes
	 * and where the device's read pointer was seen */
	uint32_t lower, size, wp, rp;
};

struct ultra_rx {
	struct ultra_drv *d;
	uint32_t upid;
	struct weft_io page;
	volatile uint64_t *queue; /* NULL: packets stay on the device */
	uint32_t slices, words;	  /* words of a slice */
	uint32_t rp, told;
};

enum {			 /* of a packet */
       ULTRA_IRQ = 1,	 /* interrupt on completion */
       ULTRA_NOTIFY = 2, /* notification on completion */
       ULTRA_ACK = 4,	 /* completed when it has arrived */
};

struct ultra_rx_attr {
	uint32_t slices; /* 0 = 64 */
	uint32_t words;	 /* of a slice; 0 = 40 */
	bool on_device;	 /* retrieval by loads instead of a queue in memory */
	uint32_t vpid;	 /* of the receiving process */
};

/* Connects a process with ULTRA's driver part, by the node's driver where there
 * is one.  Returns 0, or -ENODEV. */
int ultra_open(struct weft_host *h, struct ultra_drv *d);

/* Sets a path up at the target (9.8, steps 1, 2, 5, 6), while `origin` calls
 * ultra_connect: each waits for the other.  Returns 0, and *rx for
 * ultra_rx_close, -EBUSY (no port is free, at either side), -ENOMEM or
 * -EHOSTUNREACH. */
int ultra_accept(struct ultra_drv *d, const struct ultra_ctl *c,
		 uint32_t origin, const struct ultra_rx_attr *a,
		 struct ultra_rx *rx);
/* Sets a path up at the origin (9.8, steps 3, 4, 7), while `target` calls
 * ultra_accept.  Returns 0, and *tx for ultra_tx_close, -EBUSY (no port is
 * free, at either side) or -EHOSTUNREACH (no route). */
int ultra_connect(struct ultra_drv *d, const struct ultra_ctl *c,
		  uint32_t target, uint32_t vpid, struct ultra_tx *tx);
/* Waits until the device has sent all packets of a path's origin, so that none
 * is lost, and frees its port. */
void ultra_tx_close(struct ultra_tx *tx);
/* Frees the port of a path's target, with its queue.  Packets in it are lost.
 */
void ultra_rx_close(struct ultra_rx *rx);

/* Sends a tag and n words (up to 31), and waits while the port has no room. */
void ultra_send(struct ultra_tx *tx, uint32_t flags, uint64_t tag,
		const uint64_t *w, uint32_t n);
/* Sends as ultra_send does if the port has room, by the last known read pointer
 * or by one load of it.  Returns false, and sends nothing, without room. */
bool ultra_try(struct ultra_tx *tx, uint32_t flags, uint64_t tag,
	       const uint64_t *w, uint32_t n);
/* Sends up to 7 words by one tagged conditional store (hostport.md 10.1).  The
 * tag of the thread's process must be the port's VPID.  Returns false when the
 * device had no room, or n is above 7: nothing is sent. */
bool ultra_send_cond(struct ultra_tx *tx, uint32_t flags, uint64_t tag,
		     const uint64_t *w, uint32_t n);
/* Returns the words that the device has injected, modulo the slice, by a load.
 */
uint32_t ultra_read_pointer(struct ultra_tx *tx);
/* Takes a packet if there is one; words beyond max are dropped.  Returns its
 * words of payload, or -1. */
int ultra_poll(struct ultra_rx *rx, uint64_t *tag_p, uint64_t *w, uint32_t max);
/* Takes a packet of exactly n words by tagged loads, from a port whose packets
 * stay on the device. No status word is read, because the first load answers
 * whether there is a packet. Returns false when there is none. */
bool ultra_poll_tagged(struct ultra_rx *rx, uint64_t *tag_p, uint64_t *w,
		       uint32_t n);
/* Polls until there is a packet, takes it and returns as ultra_poll does; -1 at
 * the deadline. */
int ultra_recv(struct ultra_rx *rx, uint64_t *tag_p, uint64_t *w, uint32_t max,
	       weft_time_t deadline);

WEFT_C_END

#endif
