/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint: messages, remote memory and atomics between the nodes
 * of a machine, over any NIC.  Workloads, the libfabric provider and the block
 * device use it.
 *
 * A program posts operations and polls events; nothing calls back.  One thread
 * of a process uses an endpoint at a time.
 *
 * Order.  Messages of one sender arrive at one receiver in the order in which
 * they were posted.  Puts, gets and atomics overtake messages and each other.
 * WEFT_EV_PUT_IN comes when the bytes of its put are in place.
 *
 * Memory.  An operation uses its buffer until its event has been polled.  A
 * message, a put or a get may use any memory, but memory that the NIC reaches
 * (weft_mem_alloc) saves a copy.
 *
 * Time.  post, poll and mr_reg take processor time, never more than they need:
 * data that cannot leave at once are kept for a later call.  Only `wait` waits.
 *
 * Attached processes (weft/attach.h) have an endpoint with the rules that
 * attach.h adds. */
#ifndef WEFT_EP_H
#define WEFT_EP_H

#include <sys/types.h>

#include "weft/host.h"

WEFT_C_BEGIN

/* ---- operations ---- */

/* Operations; as bits, capabilities of an endpoint. */
enum weft_ep_code {
	WEFT_EP_MSG = 1 << 0,	/* send a message; no connection is needed */
	WEFT_EP_PUT = 1 << 1,	/* write remote memory */
	WEFT_EP_GET = 1 << 2,	/* read remote memory */
	WEFT_EP_FADD = 1 << 3,	/* add to a remote word, fetch its old value */
	WEFT_EP_CSWAP = 1 << 4, /* compare a remote word, and swap */
};

/* One operation.  Fields that its code does not name are not read. */
struct weft_ep_op {
	enum weft_ep_code code;
	uint32_t dst;	 /* node */
	const void *buf; /* MSG, PUT: bytes to send; may be NULL if len is 0 */
	size_t len;	 /* MSG, PUT, GET: bytes */
	uint64_t imm;	 /* MSG, PUT with notify: given to the receiver */
	void *ctx;	 /* given back in the event */
	/* PUT, GET, FADD, CSWAP: an address inside a region of dst, and the
	 * region's key; atomics need an address that is a multiple of 8 */
	uint64_t raddr, rkey;
	void *into;	  /* GET: place of the bytes */
	bool notify;	  /* PUT: an event for the receiver */
	uint64_t operand; /* FADD: number added; CSWAP: expected value */
	uint64_t desired; /* CSWAP: value stored if the word is `operand` */
};

/* ---- events ---- */

enum weft_ep_kind {
	WEFT_EV_SENT,	/* MSG: buf is free; says nothing of the receiver */
	WEFT_EV_RECV,	/* a message: src, imm, data, len; to be released */
	WEFT_EV_PUT,	/* PUT: buf is free */
	WEFT_EV_PUT_IN, /* bytes of a put with notify are in place: src, imm */
	WEFT_EV_GET,	/* GET: the bytes are in place */
	WEFT_EV_ATOMIC, /* FADD, CSWAP: result is the old value of the word */
	WEFT_EV_ERROR,	/* the operation of ctx failed: status */
};

struct weft_ep_event {
	enum weft_ep_kind kind;
	/* 0, or of ERROR: -EFAULT or -EINVAL, the region is not there or does
	 * not cover the bytes; -EIO, the data could not be fetched; -EPIPE, the
	 * peer has gone */
	int status;
	uint32_t src; /* RECV, PUT_IN: sender; others: dst of the operation */
	uint64_t imm;
	const void *data; /* RECV: stays until weft_ep_ops.release */
	size_t len;
	uint64_t result;
	void *ctx; /* of the operation; NULL for RECV and PUT_IN */
};

struct weft_ep;

/* ---- endpoints ---- */

/* A registered region; `key` and `addr` name it to other nodes: byte i of the
 * region is raddr = addr + i. */
struct weft_ep_mr {
	uint64_t key;
	uint64_t addr;
	size_t len;
};

struct weft_ep_attr {
	uint32_t max_msg;  /* bytes of the largest message; 0: the default */
	uint32_t rx_slots; /* messages of one peer on the way; 0: the default */
	bool use_irq;	   /* wait sleeps instead of spinning */
	/* bytes of the longest message without a handshake, where the library
	 * has one for long messages; 0: the default */
	uint32_t eager_max;
	/* Group of the process: peers are the processes of one group, one on
	 * each node. Must be 0 where a node has one process, otherwise the
	 * open fails with -EOPNOTSUPP. */
	uint32_t group;
};

struct weft_ep_info {
	const char *name;  /* of the NIC's system */
	uint32_t caps;	   /* WEFT_EP_...: operations that can be posted */
	uint32_t emulated; /* of these, done by messages to the peer's library,
			    * which answers when its program calls it */
	uint32_t max_msg;  /* bytes of a message */
	uint32_t max_put;  /* bytes of a put or get */
	uint32_t align;	   /* of raddr and len, 1: any */
};

struct weft_ep_ops {
	/* Frees the endpoint.  Operations under way end without an event, and
	 * may or may not have happened; data of RECV events are gone.  Messages
	 * whose WEFT_EV_SENT was polled are delivered if their receiver goes on
	 * to poll. */
	void (*close)(struct weft_ep *ep);

	/* Lets other nodes reach [p, p + len).  The memory stays the caller's,
	 * and must stay allocated until mr_dereg or close.  Returns
	 *   0        *mr_p names the region
	 *   -EINVAL  len is 0 or more than a key can say
	 *   -EFAULT  the NIC cannot reach p
	 *   -ENOMEM, -ENOSPC  no room in the tables of NIC or library */
	int (*mr_reg)(struct weft_ep *ep, void *p, size_t len,
		      struct weft_ep_mr *mr_p);
	/* Ends a registration.  Later operations of other nodes that name it
	 * fail where the NIC can tell (FORTH's cannot).  Returns
	 *   0        the memory is the caller's alone again
	 *   -EAGAIN  an operation of this node or an answer under way needs the
	 *            region: poll, then again
	 *   -EINVAL  no such region */
	int (*mr_dereg)(struct weft_ep *ep, const struct weft_ep_mr *mr);

	/* Starts an operation; its event comes by poll.  *op is copied. Returns
	 *   0          there will be one event with op->ctx
	 *   -EAGAIN    no resources now: poll, then again
	 *   -EMSGSIZE  MSG: len > info.max_msg
	 *   -EINVAL    no such node, a key that does not cover the bytes, an
	 *              atomic on an address that is not a multiple of 8
	 *   -EOPNOTSUPP  a code that info.caps does not have
	 * A region that is not there is found by its owner: WEFT_EV_ERROR. */
	int (*post)(struct weft_ep *ep, const struct weft_ep_op *op);

	/* Moves operations under way on, and takes up to max events.  Returns
	 * the number of events, 0 if there is none. */
	int (*poll)(struct weft_ep *ep, struct weft_ep_event *ev, int max);
	/* Gives back the place of a message, with its data; events of other
	 * kinds have none. */
	void (*release)(struct weft_ep *ep, const struct weft_ep_event *ev);
	/* Waits until poll would give an event, or until `deadline`, a time as
	 * of weft_host_now; WEFT_NEVER: without end.  Returns 0, or -ETIMEDOUT
	 * at the deadline. */
	int (*wait)(struct weft_ep *ep, weft_time_t deadline);
};

struct weft_ep {
	const struct weft_ep_ops *ops;
	struct weft_host *host;
	struct weft_ep_info info;
};

/* Opens the endpoint of device 0, whichever NIC it is (by its ids), and meets
 * those of all other nodes: returns when all have opened theirs.  attr NULL:
 * defaults.  Returns
 *   0            *ep_p, which the caller closes
 *   -ENODEV      no device, or one that no library serves
 *   -EINVAL      max_msg is more than the library's messages can say
 *   -EOPNOTSUPP  group, or the mode of the NIC, is not served
 *   -ENOMEM, -EBUSY  no memory, or no place in the NIC
 *   -EHOSTUNREACH, -ECONNREFUSED  a node cannot be reached */
int weft_ep_open(struct weft_host *h, const struct weft_ep_attr *attr,
		 struct weft_ep **ep_p);

/* Starts an operation and returns as weft_ep_ops.post does. */
static inline int weft_ep_post(struct weft_ep *ep, const struct weft_ep_op *op)
{
	return ep->ops->post(ep, op);
}

/* Posts a message and returns as weft_ep_ops.post does. */
static inline int weft_ep_send(struct weft_ep *ep, uint32_t dst,
			       const void *buf, size_t len, uint64_t imm,
			       void *ctx)
{
	const struct weft_ep_op op = { WEFT_EP_MSG, dst, buf,  len,   imm, ctx,
				       0,	    0,	 NULL, false, 0,   0 };

	return ep->ops->post(ep, &op);
}

WEFT_C_END

#endif
