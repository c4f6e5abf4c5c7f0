/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint: messages, remote memory and atomics between the nodes
 * of a machine, over any NIC.  Workloads, the libfabric provider and the block
 * device use it.
 *
 * A program posts operations and polls events. The endpoint never calls the
 * program back. One thread of a process uses an endpoint at a time.
 *
 * Order. Messages of one sender arrive at one receiver in the order in which
 * they were posted. Puts, gets and atomics may overtake messages and each
 * other. WEFT_EV_PUT_IN arrives when the bytes of its put are in place.
 *
 * Memory.  An operation uses its buffer until its event has been polled.  A
 * message, a put or a get may use any memory, but memory that the NIC reaches
 * (weft_mem_alloc) saves a copy.
 *
 * Time. post, poll and mr_reg take processor time, but never wait: data that
 * cannot be sent immediately are queued until a later call. Only `wait` waits.
 *
 * Attached processes (weft/attach.h) have an endpoint with the rules that
 * attach.h adds. */
#ifndef WEFT_EP_H
#define WEFT_EP_H

#include <sys/types.h>

#include "weft/host.h"

WEFT_C_BEGIN

/* ---- operations ---- */

/* Codes of operations, which are also the bits of an endpoint's capabilities.
 */
enum weft_ep_code {
	WEFT_EP_MSG = 1 << 0,	/* send a message; no connection is needed */
	WEFT_EP_PUT = 1 << 1,	/* write remote memory */
	WEFT_EP_GET = 1 << 2,	/* read remote memory */
	WEFT_EP_FADD = 1 << 3,	/* add to a remote word and return its old
				 * value */
	WEFT_EP_CSWAP = 1 << 4, /* store to a remote word if it has the
				 * expected value */
};

/* One operation. A field whose comment names codes is read only for operations
 * with these codes. */
struct weft_ep_op {
	enum weft_ep_code code;
	uint32_t dst;	 /* node to which the operation goes */
	const void *buf; /* bytes to send (MSG, PUT); may be NULL if len is 0 */
	size_t len;	 /* number of bytes (MSG, PUT, GET) */
	uint64_t imm;	 /* value for the receiver's event (MSG, PUT with
			  * notify) */
	void *ctx;	 /* value for the event of this operation */
	/* Address inside a region of dst, and the region's key (PUT, GET, FADD,
	 * CSWAP). Atomics need an address that is a multiple of 8. */
	uint64_t raddr, rkey;
	void *into;	  /* memory that gets the bytes (GET) */
	bool notify;	  /* the receiver gets an event (PUT) */
	uint64_t operand; /* number to add (FADD), or expected value (CSWAP) */
	uint64_t desired; /* value to store if the word is `operand` (CSWAP) */
};

/* ---- events ---- */

enum weft_ep_kind {
	WEFT_EV_SENT,	/* buf of a message is free, but the message may not
			 * have arrived yet */
	WEFT_EV_RECV,	/* a message has arrived; src, imm, data and len are
			 * set; the event needs a release */
	WEFT_EV_PUT,	/* buf of a put is free */
	WEFT_EV_PUT_IN, /* the bytes of a put with notify have arrived; src and
			 * imm are set */
	WEFT_EV_GET,	/* the bytes of a get are in place */
	WEFT_EV_ATOMIC, /* result is the word's old value (FADD, CSWAP) */
	WEFT_EV_ERROR,	/* the operation of ctx failed with `status` */
};

struct weft_ep_event {
	enum weft_ep_kind kind;
	/* 0, or in an ERROR event: -EFAULT or -EINVAL (the region does not
	 * exist or does not cover the bytes), -EIO (the data could not be
	 * fetched), -EPIPE (the peer has left or died). */
	int status;
	uint32_t src; /* sender (RECV, PUT_IN), or dst of the operation (all
		       * other events) */
	uint64_t imm;
	const void *data; /* bytes, valid until weft_ep_ops.release (RECV) */
	size_t len;
	uint64_t result;
	void *ctx; /* ctx of the operation; NULL for RECV and PUT_IN */
};

struct weft_ep;

/* ---- endpoints ---- */

/* A registered region. Its `key` and `addr` name it on other nodes: raddr =
 * addr + i is byte i of the region. */
struct weft_ep_mr {
	uint64_t key;
	uint64_t addr;
	size_t len;
};

struct weft_ep_attr {
	uint32_t max_msg;  /* bytes of the largest message; 0: the default */
	uint32_t rx_slots; /* number of messages that a peer may have in flight
			    * to this endpoint; 0: the default */
	bool use_irq;	   /* `wait` sleeps until an interrupt instead of
			    * spinning */
	/* Bytes of the longest message without a handshake, for libraries that
	 * use a handshake for long messages; 0: the default. */
	uint32_t eager_max;
	/* Group of the process. Its peers are the other processes of this
	 * group, one on each node. On a NIC that serves one process per node
	 * `group` must be 0, because weft_ep_open fails with -EOPNOTSUPP for
	 * any other value. */
	uint32_t group;
};

struct weft_ep_info {
	const char *name; /* name of the NIC's system */
	uint32_t caps;	  /* WEFT_EP_...: operations that the endpoint
			   * offers */
	/* The operations of `caps` that the library carries out by messages to
	 * the peer's library. The peer's library answers when the peer's
	 * program calls the library. */
	uint32_t emulated;
	uint32_t max_msg; /* bytes of the longest message */
	uint32_t max_put; /* bytes of the longest put or get */
	uint32_t align;	  /* raddr and len of puts and gets are multiples of
			   * this; 1: any */
};

struct weft_ep_ops {
	/* Frees the endpoint. Operations in flight end without an event, and
	 * may or may not have happened. Data of RECV events become invalid.
	 * Messages whose WEFT_EV_SENT was polled are delivered if their
	 * receiver continues to poll. */
	void (*close)(struct weft_ep *ep);

	/* Lets other nodes reach [p, p + len).  The memory stays the caller's,
	 * and must stay allocated until mr_dereg or close.  Returns
	 *   0        *mr_p names the region
	 *   -EINVAL  len is 0 or larger than a key can express
	 *   -EFAULT  the NIC cannot reach p
	 *   -ENOMEM, -ENOSPC  no room in the tables of NIC or library */
	int (*mr_reg)(struct weft_ep *ep, void *p, size_t len,
		      struct weft_ep_mr *mr_p);
	/* Ends a registration. Later operations of other nodes on the region
	 * fail if the NIC checks keys (FORTH's does not). Returns
	 *   0        the memory is the caller's alone again
	 *   -EAGAIN  an operation of this node or an answer under way needs the
	 *            region: poll, then repeat the call
	 *   -EINVAL  no such region */
	int (*mr_dereg)(struct weft_ep *ep, const struct weft_ep_mr *mr);

	/* Starts an operation. poll returns the event of the operation. *op is
	 * copied. Returns
	 *   0          there will be one event with op->ctx
	 *   -EAGAIN    no resources now: poll, then post again
	 *   -EMSGSIZE  MSG: len > info.max_msg
	 *   -EINVAL    no such node, a key that does not cover the bytes, an
	 *              atomic on an address that is not a multiple of 8
	 *   -EOPNOTSUPP  a code that info.caps does not have
	 * Only the target node detects that a region does not exist. The event
	 * is then WEFT_EV_ERROR. */
	int (*post)(struct weft_ep *ep, const struct weft_ep_op *op);

	/* Makes progress with operations in flight, and stores up to max events
	 * in ev. Returns the number of events, or 0. */
	int (*poll)(struct weft_ep *ep, struct weft_ep_event *ev, int max);
	/* Frees the receive slot and the data of a received message. Does
	 * nothing for events of other kinds. */
	void (*release)(struct weft_ep *ep, const struct weft_ep_event *ev);
	/* Waits until poll would return an event, or until `deadline`, a time
	 * of weft_host_now's clock (WEFT_NEVER: no deadline). Returns 0, or
	 * -ETIMEDOUT at the deadline. */
	int (*wait)(struct weft_ep *ep, weft_time_t deadline);
};

struct weft_ep {
	const struct weft_ep_ops *ops;
	struct weft_host *host;
	struct weft_ep_info info;
};

/* Opens the endpoint of device 0, whose ids select the library, and waits until
 * all other nodes have opened theirs. attr NULL gives defaults.  Returns
 *   0            *ep_p, which the caller closes
 *   -ENODEV      no device, or one that no library serves
 *   -EINVAL      max_msg is larger than the library's messages
 *   -EOPNOTSUPP  the library does not support group or the mode of the NIC
 *   -ENOMEM, -EBUSY  no memory, or no free entry in the NIC
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
