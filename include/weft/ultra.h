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
	void (*send)(void *own, uint32_t node, const uint64_t *w);
	/* The next one of this node. */
	void (*recv)(void *own, uint32_t node, uint64_t *w);
};

/* A process's connection with ULTRA's driver part on its node. */
struct ultra_drv {
	struct weft_host *h;
	struct weft_dev *dev;
	struct weft_io mgmt;  /* of the Host Port: registers */
	struct weft_io ports; /* driver pages */
	bool traps;	      /* the node has a driver: by its calls */
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
       ULTRA_ACK = 4,	 /* completion means: it is there */
};

struct ultra_rx_attr {
	uint32_t slices; /* 0 = 64 */
	uint32_t words;	 /* of a slice; 0 = 40 */
	bool on_device;	 /* retrieval by loads instead of a queue in memory */
	uint32_t vpid;	 /* of the receiving process */
};

/* 0, -ENODEV. */
int ultra_open(struct weft_host *h, struct ultra_drv *d);

/* Path set-up (9.8): steps 1, 2, 5, 6 at the target ... */
int ultra_accept(struct ultra_drv *d, const struct ultra_ctl *c,
		 uint32_t origin, const struct ultra_rx_attr *a,
		 struct ultra_rx *rx);
/* ... and 3, 4, 7 at the origin.  -EBUSY: no port is free, at either side;
 * -EHOSTUNREACH: no way. */
int ultra_connect(struct ultra_drv *d, const struct ultra_ctl *c,
		  uint32_t target, uint32_t vpid, struct ultra_tx *tx);
void ultra_tx_close(struct ultra_tx *tx);
void ultra_rx_close(struct ultra_rx *rx);

/* Sends tag and n words (up to 31). */
void ultra_send(struct ultra_tx *tx, uint32_t flags, uint64_t tag,
		const uint64_t *w, uint32_t n);
/* The same when the port has room for it, as far as is known or one load tells;
 * false: it has not, nothing is sent. */
bool ultra_try(struct ultra_tx *tx, uint32_t flags, uint64_t tag,
	       const uint64_t *w, uint32_t n);
/* The same by one tagged conditional store (hostport.md 10.1), up to 7 words:
 * the device says whether it had room.  The tag of the thread's process must be
 * the port's VPID. */
bool ultra_send_cond(struct ultra_tx *tx, uint32_t flags, uint64_t tag,
		     const uint64_t *w, uint32_t n);
/* Words the device has injected, modulo the slice (a load). */
uint32_t ultra_read_pointer(struct ultra_tx *tx);
/* Takes a packet if there is one: words of payload, or -1. */
int ultra_poll(struct ultra_rx *rx, uint64_t *tag_p, uint64_t *w, uint32_t max);
/* A packet of exactly n words by tagged loads, from a port whose packets stay
 * on the device: the first load says whether there is one, no status word is
 * read. */
bool ultra_poll_tagged(struct ultra_rx *rx, uint64_t *tag_p, uint64_t *w,
		       uint32_t n);
int ultra_recv(struct ultra_rx *rx, uint64_t *tag_p, uint64_t *w, uint32_t max,
	       weft_time_t deadline);

WEFT_C_END

#endif
