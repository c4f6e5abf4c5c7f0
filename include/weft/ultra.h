/* SPDX-License-Identifier: Apache-2.0 */
/* ULTRA for programs (hostport.md 9): one burst of stores sends a packet of a
 * tag and up to 31 words along a path. The receiver polls its own memory.
 *
 * A path leads from one requester port to one completer port. Both sides set up
 * the path: the receiver calls ultra_accept, the sender ultra_connect. The
 * caller provides the transport of the control messages (Host Port FAST_SENDs
 * between drivers, or the out-of-band network). */
#ifndef WEFT_ULTRA_H
#define WEFT_ULTRA_H

#include "weft/host.h"

WEFT_C_BEGIN

enum { ULTRA_MSG_WORDS = 5, ULTRA_PAYLOAD_MAX = 31 };

/* Transport of the control messages of path set-up. A message has five words,
 * and messages between two nodes stay in order. */
struct ultra_ctl {
	void *own;
	/* Sends five words to the node. */
	void (*send)(void *own, uint32_t node, const uint64_t *w);
	/* Blocks until the next five words from the node have arrived. */
	void (*recv)(void *own, uint32_t node, uint64_t *w);
};

/* Connection of a process to the ULTRA part of its node's driver. */
struct ultra_drv {
	struct weft_host *h;
	struct weft_dev *dev;
	struct weft_io mgmt;  /* registers of the Host Port */
	struct weft_io ports; /* driver pages of the ports */
	bool traps; /* true: calls of the node's driver set registers; false:
		     * stores of the program do */
	uint32_t node, hpid, n_ports, max_words;
};

struct ultra_tx {
	struct ultra_drv *d;
	uint32_t upid;
	struct weft_io page;
	/* Section of the packet queue that belongs to the port, in words:
	 * start, size, offset of the next packet, and the device's read pointer
	 * when last read. */
	uint32_t lower, size, wp, rp;
};

struct ultra_rx {
	struct ultra_drv *d;
	uint32_t upid;
	struct weft_io page;
	volatile uint64_t *queue; /* packets in memory; NULL: packets stay on
				   * the device */
	uint32_t slices, words;	  /* number of slices, words of a slice */
	uint32_t rp, told;
};

enum {			 /* Flags of a packet. */
       ULTRA_IRQ = 1,	 /* completion raises an interrupt */
       ULTRA_NOTIFY = 2, /* completion gives a notification */
       ULTRA_ACK = 4,	 /* the packet completes when it has arrived */
};

struct ultra_rx_attr {
	uint32_t slices; /* number of slices; 0 = 64 */
	uint32_t words;	 /* words of a slice; 0 = 40 */
	bool on_device;	 /* programs load packets from the device, without a
			  * queue in memory */
	uint32_t vpid;	 /* VPID of the receiving process */
};

/* Connects a process to ULTRA, through the node's driver if the node has one.
 * Returns 0, or -ENODEV. */
int ultra_open(struct weft_host *h, struct ultra_drv *d);

/* Sets up the target's end of a path (9.8, steps 1, 2, 5, 6) while `origin`
 * calls ultra_connect. Each call waits for the other. Returns 0 and *rx for
 * ultra_rx_close, or -EBUSY (no port is free on one side), -ENOMEM or
 * -EHOSTUNREACH. */
int ultra_accept(struct ultra_drv *d, const struct ultra_ctl *c,
		 uint32_t origin, const struct ultra_rx_attr *a,
		 struct ultra_rx *rx);
/* Sets up the origin's end of a path (9.8, steps 3, 4, 7) while `target` calls
 * ultra_accept. Returns 0 and *tx for ultra_tx_close, or -EBUSY (no port is
 * free on one side) or -EHOSTUNREACH (no route). */
int ultra_connect(struct ultra_drv *d, const struct ultra_ctl *c,
		  uint32_t target, uint32_t vpid, struct ultra_tx *tx);
/* Frees the port of a path's origin. No packet is lost, because the call first
 * waits until the device has sent all packets of the port. */
void ultra_tx_close(struct ultra_tx *tx);
/* Frees the port of a path's target and the port's queue. Packets in the queue
 * are lost. */
void ultra_rx_close(struct ultra_rx *rx);

/* Sends a tag and n words (up to 31). Waits while the port has no room. */
void ultra_send(struct ultra_tx *tx, uint32_t flags, uint64_t tag,
		const uint64_t *w, uint32_t n);
/* Sends as ultra_send does if the port has room. Loads the read pointer once if
 * the value read last leaves no room. Returns false, and sends nothing, when
 * the port has no room. */
bool ultra_try(struct ultra_tx *tx, uint32_t flags, uint64_t tag,
	       const uint64_t *w, uint32_t n);
/* Sends up to 7 words by one tagged conditional store (hostport.md 10.1). The
 * tag of the thread's process must be the port's VPID. Returns false, and sends
 * nothing, when the device has no room or n is above 7. */
bool ultra_send_cond(struct ultra_tx *tx, uint32_t flags, uint64_t tag,
		     const uint64_t *w, uint32_t n);
/* Returns the device's read pointer, by a load: the position in the packet
 * queue, in words, up to which the device has sent the port's packets. */
uint32_t ultra_read_pointer(struct ultra_tx *tx);
/* Receives a packet if one has arrived. Drops its words beyond max. Returns the
 * number of payload words of the packet, dropped words included, or -1. */
int ultra_poll(struct ultra_rx *rx, uint64_t *tag_p, uint64_t *w, uint32_t max);
/* Receives a packet of exactly n words by tagged loads, from a port whose
 * packets stay on the device. Reads no status word, because the answer of the
 * first load says whether a packet has arrived. Returns false when no packet
 * has arrived. */
bool ultra_poll_tagged(struct ultra_rx *rx, uint64_t *tag_p, uint64_t *w,
		       uint32_t n);
/* Polls until a packet arrives, and receives it. Returns as ultra_poll does, -1
 * at the deadline. */
int ultra_recv(struct ultra_rx *rx, uint64_t *tag_p, uint64_t *w, uint32_t max,
	       weft_time_t deadline);

WEFT_C_END

#endif
