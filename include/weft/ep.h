/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint: what every NIC's user library offers above its own
 * interface.  Workloads, the libfabric provider and the block device are
 * written against it and so run on every NIC. */
#ifndef WEFT_EP_H
#define WEFT_EP_H

#include <sys/types.h>

#include "weft/host.h"

WEFT_C_BEGIN

/* Capabilities; EMULATED(x) says the library does x with messages. */
enum {
	WEFT_EP_MSG = 1 << 0,	/* connectionless messages */
	WEFT_EP_PUT = 1 << 1,	/* remote write */
	WEFT_EP_GET = 1 << 2,	/* remote read */
	WEFT_EP_FADD = 1 << 3,	/* 64-bit fetch-and-add */
	WEFT_EP_CSWAP = 1 << 4, /* 64-bit compare-and-swap */
};

enum weft_ep_kind {
	WEFT_EV_SENT,	/* send buffer may be reused */
	WEFT_EV_RECV,	/* a message is here: data, len, src, imm */
	WEFT_EV_PUT,	/* local: put buffer may be reused */
	WEFT_EV_PUT_IN, /* remote put with notify has landed: src, imm */
	WEFT_EV_GET,	/* get data are in place */
	WEFT_EV_ATOMIC, /* result holds the old value */
	WEFT_EV_ERROR,	/* the operation of ctx failed: status */
};

struct weft_ep_event {
	enum weft_ep_kind kind;
	int status; /* 0 or negative errno */
	uint32_t src;
	uint64_t imm;
	const void *data; /* RECV: valid until weft_ep_release */
	size_t len;
	uint64_t result;
	void *ctx;
};

struct weft_ep;

/* A registered region; `key` and `addr` name it to other nodes. */
struct weft_ep_mr {
	uint64_t key;
	uint64_t addr;
	size_t len;
};

struct weft_ep_attr {
	uint32_t max_msg;  /* largest message; 0 = library's choice */
	uint32_t rx_slots; /* per peer; 0 = library's choice */
	bool use_irq;	   /* weft_ep_wait sleeps instead of spinning */
	/* longest message that goes without a handshake, where the library
	 * has one for long messages; 0 = library's choice */
	uint32_t eager_max;
	/* where a node may have several processes: those with the same number,
	 * one on each node, are each other's peers; elsewhere 0, or the open
	 * fails with -EOPNOTSUPP */
	uint32_t group;
};

struct weft_ep_info {
	const char *name;
	uint32_t caps, emulated;
	uint32_t max_msg, max_put, align;
};

struct weft_ep_ops {
	void (*close)(struct weft_ep *ep);
	int (*mr_reg)(struct weft_ep *ep, void *p, size_t len,
		      struct weft_ep_mr *mr_p);
	/* The region of mr_reg is gone: its memory is the user's again, and
	 * who still names it gets an error where the NIC can tell.  -EAGAIN:
	 * operations under way on this node need it; -EINVAL: no such. */
	int (*mr_dereg)(struct weft_ep *ep, const struct weft_ep_mr *mr);
	int (*send)(struct weft_ep *ep, uint32_t dst, const void *buf,
		    size_t len, uint64_t imm, void *ctx);
	int (*put)(struct weft_ep *ep, uint32_t dst, const void *buf,
		   size_t len, uint64_t raddr, uint64_t rkey, bool notify,
		   uint64_t imm, void *ctx);
	int (*get)(struct weft_ep *ep, uint32_t dst, void *buf, size_t len,
		   uint64_t raddr, uint64_t rkey, void *ctx);
	int (*fadd)(struct weft_ep *ep, uint32_t dst, uint64_t raddr,
		    uint64_t rkey, uint64_t add, void *ctx);
	int (*cswap)(struct weft_ep *ep, uint32_t dst, uint64_t raddr,
		     uint64_t rkey, uint64_t expect, uint64_t desired,
		     void *ctx);
	int (*poll)(struct weft_ep *ep, struct weft_ep_event *ev, int max);
	void (*release)(struct weft_ep *ep, const struct weft_ep_event *ev);
	int (*wait)(struct weft_ep *ep, weft_time_t deadline);
};

struct weft_ep {
	const struct weft_ep_ops *ops;
	struct weft_host *host;
	struct weft_ep_info info;
};

/* Opens the endpoint of device 0, whichever NIC it is (by its ids). */
int weft_ep_open(struct weft_host *h, const struct weft_ep_attr *attr,
		 struct weft_ep **ep_p);

/* All return 0 or negative errno: -EAGAIN = no resources now, poll and retry;
 * -EMSGSIZE, -EINVAL, -EFAULT (buffer not device-visible where it must be). */

WEFT_C_END

#endif
