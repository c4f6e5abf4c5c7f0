/* SPDX-License-Identifier: Apache-2.0 */
/* RMA: remote memory access of EXTOLL from user space (extoll.md 6.2).
 * Function and return names are those of librma.
 *
 *	struct rma_port *p;
 *	struct rma_handle *c;
 *	struct rma_region *r;
 *
 *	rma_open(h, NULL, &p);
 *	rma_connect(p, node, vpid, RMA_CONN_DEFAULT, &c);
 *	rma_register(p, buf, size, &r);
 *	rma_post_put_bt(p, c, r, 0, n, there, RMA_NOTI_COMPLETER, 0);
 *	rma_noti_get_block(p, &noti);
 *	rma_noti_free(p, noti);
 *	rma_close(p);
 *
 * The library cuts a request at pages of 4 KB. Only the last part of a request
 * writes notifications. Requests of one port to one other port are carried out
 * in order. The sender of a put does not learn that the put was refused. The
 * target port gets a notification with an error instead. */
#ifndef WEFT_RMA_H
#define WEFT_RMA_H

#include "weft/host.h"

WEFT_C_BEGIN

enum rma_ret {
	RMA_SUCCESS = 0,
	RMA_ERROR = -1,
	RMA_INV_HANDLE = -2,
	RMA_INV_PORT = -3,
	RMA_INV_VALUE = -4,
	RMA_NO_ROUTE = -5,
	RMA_PORTS_USED = -6, /* no VPID is left */
	RMA_NO_MEM = -7,     /* no memory, or no table entry is left */
	RMA_NO_NOTI = -9,
	RMA_POLL_EXCEEDED = -10,
	RMA_WRONG_ARG = -11,
	RMA_NO_DESC_MEM = -13,
	RMA_NO_MATCH = -15,
	RMA_WRONG_CMD = -16,
	RMA_NO_DEVICE = -17,
	RMA_NO_CONNECT = -18,
	RMA_IOCTL = -23,
	RMA_MMAP = -24,
	RMA_FD = -25,
	RMA_MLOCKLIMIT = 32,
};
/* Returns the name of a result, or "?" for an unknown result. */
const char *rma_strerror(int ret);

struct rma_port;
struct rma_handle;
struct rma_region;

typedef uint64_t rma_nla_t; /* network logical address */

struct rma_attr {
	uint32_t slots;	  /* slots of the notification ring; 0 = 16384 (256
			   * KB) */
	uint64_t memlock; /* RLIMIT_MEMLOCK in bytes; 0 = no limit */
	uint32_t lazy;	  /* number of notifications after which the read
			   * pointer is stored to the NIC; 0 = 4 */
};

/* Units that write a notification. Their bits may be combined. */
enum {
	RMA_NOTI_NONE = 0,
	RMA_NOTI_REQUESTER = 1, /* the requester, when it has read the data */
	RMA_NOTI_RESPONDER = 2, /* the responder of a get */
	RMA_NOTI_COMPLETER = 4, /* the completer at the target, when it has
				 * written the data */
};
enum { RMA_MODIFIER_NONE = 0, RMA_MODIFIER_NTR = 2 };
enum rma_conn_options {
	RMA_CONN_DEFAULT = 0,
	RMA_CONN_IRQ = 1, /* notifications of the requester raise an
			   * interrupt */
};

/* A notification (3.6). */
struct rma_noti {
	uint64_t value; /* local address or value; for a lock response see
			 * rma_noti_lock_value */
	uint32_t bytes; /* bytes moved, or the class from
			 * rma_post_notification */
	uint16_t node;	/* node and VPID of the peer */
	uint8_t vpid;
	uint8_t unit;	 /* unit that wrote the notification: RMA_NOTI_* */
	uint8_t command; /* command: RMA_CMD_* */
	uint8_t mode;
	uint8_t error;	       /* units that refused the request: RMA_NOTI_* */
	struct rma_noti *next; /* next in a list of the library */
};
enum {
	RMA_CMD_GET_BT = 0,
	RMA_CMD_GET_QW = 1,
	RMA_CMD_PUT_BT = 2,
	RMA_CMD_PUT_QW = 3,
	RMA_CMD_NOTIFICATION = 5,
	RMA_CMD_IMMEDIATE = 6,
	RMA_CMD_GET_BT_RSP = 10,
	RMA_CMD_GET_QW_RSP = 11,
	RMA_CMD_LOCK_REQ = 12,
	RMA_CMD_LOCK_RSP = 13,
};
/* Returns the value of the lock after the operation, from a lock response. */
static inline int32_t rma_noti_lock_value(const struct rma_noti *n)
{
	return (int32_t)(uint32_t)(n->value >> 32);
}
/* Returns true when a lock response says that the condition held and the lock
 * was changed. */
static inline bool rma_noti_lock_result(const struct rma_noti *n)
{
	return (n->value >> 24 & 0xff) == 1;
}

/* ---- ports ---- */

/* Opens a port: a VPID with its notification ring. attr NULL gives defaults.
 * Returns RMA_SUCCESS and a port that the caller closes, or RMA_NO_DEVICE,
 * RMA_NO_MEM, RMA_PORTS_USED or RMA_MMAP. */
int rma_open(struct weft_host *h, const struct rma_attr *attr,
	     struct rma_port **port_p);
/* Unregisters the regions that are still registered, closes the port and frees
 * it.  Returns RMA_SUCCESS, or RMA_INV_PORT for NULL. */
int rma_close(struct rma_port *p);
/* Returns the number of this node. */
uint32_t rma_get_nodeid(const struct rma_port *p);
/* Returns the VPID of this port. */
uint32_t rma_get_vpid(const struct rma_port *p);
/* Creates a handle for requests to a port of a node. The port need not be open
 * yet, because the call sends no packet. Returns RMA_SUCCESS, and a handle for
 * rma_disconnect, or RMA_NO_ROUTE (no such node), RMA_INV_VALUE (VPID),
 * RMA_NO_MEM or RMA_MMAP. */
int rma_connect(struct rma_port *p, uint32_t node, uint32_t vpid,
		uint32_t options, struct rma_handle **handle_p);
/* Frees a handle.  Returns RMA_SUCCESS, or RMA_INV_HANDLE. */
int rma_disconnect(struct rma_port *p, struct rma_handle *c);

/* ---- memory ---- */

/* Registers device-visible bytes. Afterwards this port may access the pages of
 * these bytes, and other ports may access the pages by address. The memory must
 * stay allocated until rma_unregister. Returns RMA_SUCCESS, RMA_MLOCKLIMIT, or
 * RMA_NO_MEM (not device-visible, or no table entries). */
int rma_register(struct rma_port *p, void *buf, size_t bytes,
		 struct rma_region **region_p);
/* Ends a registration. On return the NIC no longer accesses the memory, so that
 * the caller may free it. Returns RMA_SUCCESS, or RMA_INV_VALUE when r is not a
 * region of p. */
int rma_unregister(struct rma_port *p, struct rma_region *r);
/* Gives the address of byte `offset` of a region, valid on all nodes.  Returns
 * RMA_SUCCESS, or RMA_INV_VALUE beyond the region. */
int rma_get_nla(const struct rma_region *r, size_t offset, rma_nla_t *nla_p);

/* ---- requests ---- */

/* Each moves [offset, offset + bytes) of a region to (put) or from (get)
 * `there`. The functions with qw need multiples of 8 for offset, bytes and
 * `there`, so that no byte masks are needed. `noti` is the mask of the
 * notifications to write (RMA_NOTI_*). Returns RMA_SUCCESS when the NIC has
 * received the request, or RMA_INV_VALUE. */
typedef int rma_post_fn(struct rma_port *p, struct rma_handle *c,
			const struct rma_region *r, size_t offset, size_t bytes,
			rma_nla_t there, uint32_t noti, uint32_t modifier);
rma_post_fn rma_post_put_bt, rma_post_put_qw, rma_post_get_bt, rma_post_get_qw;
/* Writes the low 1..8 bytes of value to `there`.  Returns RMA_SUCCESS, or
 * RMA_INV_VALUE. */
int rma_post_immediate_put(struct rma_port *p, struct rma_handle *c,
			   uint32_t bytes, uint64_t value, rma_nla_t there,
			   uint32_t noti, uint32_t modifier);
/* Writes a notification with this value and class at the other port.  Returns
 * RMA_SUCCESS. */
int rma_post_notification(struct rma_port *p, struct rma_handle *c,
			  uint64_t value, uint8_t cls, uint32_t noti,
			  uint32_t modifier);
/* Requests the operation `if (lock <= compare) lock += add` on one of the 16
 * locks of the connection's peer port. A notification at this port carries the
 * answer. `target` is the unit of the peer that carries out the operation,
 * RMA_NOTI_RESPONDER or RMA_NOTI_COMPLETER. Returns RMA_SUCCESS, RMA_WRONG_ARG
 * (target) or RMA_INV_VALUE (number). */
int rma_post_lock(struct rma_port *p, struct rma_handle *c, uint32_t number,
		  int32_t compare, int32_t add, uint32_t target);

/* ---- notifications ---- */

/* Dequeues the next notification. Returns RMA_SUCCESS and a notification for
 * rma_noti_free, or RMA_NO_NOTI. */
int rma_noti_probe(struct rma_port *p, struct rma_noti **noti_p);
/* Polls until a notification arrives, and dequeues it. Returns as
 * rma_noti_probe does. */
int rma_noti_get_block(struct rma_port *p, struct rma_noti **noti_p);
/* Polls until a notification arrives, and dequeues it. Returns RMA_SUCCESS, or
 * RMA_POLL_EXCEEDED at the deadline. */
int rma_noti_get_until(struct rma_port *p, weft_time_t deadline,
		       struct rma_noti **noti_p);
/* Dequeues the first notification of this unit, command and node. -1 stands for
 * any unit, command or node. Other notifications stay in order. Returns
 * RMA_SUCCESS, or RMA_NO_MATCH. */
int rma_noti_match(struct rma_port *p, int unit, int command, int32_t node,
		   struct rma_noti **noti_p);
/* Frees a notification.  Returns RMA_SUCCESS, or RMA_WRONG_ARG for NULL. */
int rma_noti_free(struct rma_port *p, struct rma_noti *n);
/* Returns true when a notification is ready. */
bool rma_noti_ready(const struct rma_port *p);
/* Polls until a notification is ready, or until the deadline. Returns true when
 * a notification is ready. */
bool rma_noti_wait(struct rma_port *p, weft_time_t deadline);
/* Returns the memory in which notifications appear, with its size, so that a
 * program can wait for several events with one weft_host_poll_range. */
const volatile uint64_t *rma_noti_ring(const struct rma_port *p,
				       size_t *bytes_p);
/* Arms the interrupt, which the next notification raises. A notification of the
 * requester raises the interrupt only if the connection has RMA_CONN_IRQ. */
void rma_noti_arm(struct rma_port *p);
/* Sleeps until an interrupt of the NIC, or until the deadline.  Returns true
 * after an interrupt. */
bool rma_irq_wait(struct rma_port *p, weft_time_t deadline);

WEFT_C_END

#endif
