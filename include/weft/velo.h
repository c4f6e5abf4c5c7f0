/* SPDX-License-Identifier: Apache-2.0 */
/* VELO: short messages of EXTOLL from user space (extoll.md 6.2).  Function
 * and return names are those of libvelo.
 *
 *	struct velo_port *p;
 *	struct velo_connection c;
 *
 *	velo_open(h, NULL, &p);
 *	velo_connect(p, &c, node, vpid);
 *	velo_send(&c, "hello", 5, 0, 0);
 *	while (velo_recv(p, buf, &src, &tag, &mtt, &len) == VELO_NO_MSG)
 *		velo_wait(p, WEFT_NEVER);
 *	velo_close(p);
 *
 * Messages between two ports arrive once, in order. A full mailbox stops the
 * network (3.3), therefore a program receives while it sends. */
#ifndef WEFT_VELO_H
#define WEFT_VELO_H

#include "weft/host.h"

WEFT_C_BEGIN

#define VELO_SRC(node, vpid) ((uint32_t)(vpid) << 16 | (node))
#define VELO_SRC_NODE(s)     ((s)&0xffff)
#define VELO_SRC_VPID(s)     ((s) >> 16)

enum velo_ret {
	VELO_SUCCESS = 0,
	VELO_INV_MSG = -1, /* length 0, or longer than a message may be */
	VELO_ERROR = -2,   /* the message arrived with its error bit set */
	VELO_NO_MSG = -3,
	VELO_NO_MATCH = -4,	/* velo_recv_mtt: the next message has another
				 * MTT */
	VELO_ERR_FDOPEN = -5,	/* no device */
	VELO_ERR_MMAP = -6,	/* no memory, no pages or no VPID is left */
	VELO_INVALID_MBOX = -7, /* the VPID does not exist or is taken */
	VELO_INVALID_NODE = -8,
	/* No credit. velo_send never returns it, because the hardware stops
	 * senders that have no credit. The value exists for programs that check
	 * for it. */
	VELO_TRY_AGAIN = -9,
	VELO_INV_MTT = -10,
};

struct velo_port;

struct velo_attr {
	uint64_t mailbox; /* bytes of the mailbox; 0 = 2 MB */
	uint32_t lazy;	  /* number of slots after which the read pointer is
			   * stored to the NIC; 0 = 4 */
	uint16_t pd;	  /* protection descriptor, equal among partners */
	bool small;	  /* slots of 64 bytes in the mailbox */
	bool vpid_given;  /* use `vpid`, not the lowest free VPID */
	uint8_t vpid;
};

struct velo_connection {
	struct velo_port *port;
	uint64_t header; /* node and VPID of the target */
};

/* Opens a port: a VPID with its mailbox. attr NULL gives defaults. Returns
 * VELO_SUCCESS and a port that the caller closes, or VELO_ERR_FDOPEN (no
 * device) or VELO_ERR_MMAP (no memory, no free VPID, or the requested VPID is
 * in use). */
int velo_open(struct weft_host *h, const struct velo_attr *attr,
	      struct velo_port **port_p);
/* Closes a port and frees it. The NIC discards and counts messages that arrive
 * for it later. */
void velo_close(struct velo_port *p);
/* Returns the number of this node. */
uint32_t velo_node(const struct velo_port *p);
/* Returns the VPID of this port. */
uint32_t velo_vpid(const struct velo_port *p);
/* Returns the bytes of the longest message. */
uint32_t velo_max_len(const struct velo_port *p);

/* Fills in *c for messages to a port of a node. *c is a plain value and no
 * packet is sent, therefore the port need not be open yet. Returns
 * VELO_SUCCESS, VELO_INVALID_NODE or VELO_INVALID_MBOX. */
int velo_connect(struct velo_port *p, struct velo_connection *c, uint32_t node,
		 uint32_t vpid);
/* Makes a connection unusable. */
void velo_disconnect(struct velo_connection *c);

/* Sends len bytes (1..velo_max_len) with a tag and an MTT (0..3). Waits while
 * the NIC has no room for the stores. On return the caller may overwrite the
 * bytes. Returns VELO_SUCCESS, VELO_INV_MSG or VELO_INV_MTT. */
int velo_send(struct velo_connection *c, const void *buf, uint32_t len,
	      uint32_t tag, uint32_t mtt);
/* Sends as velo_send does, and the message raises the receiver's interrupt if
 * the interrupt is armed. Returns as velo_send does. */
int velo_send_irq(struct velo_connection *c, const void *buf, uint32_t len,
		  uint32_t tag, uint32_t mtt);

/* Returns VELO_SUCCESS when a whole message has arrived, otherwise
 * VELO_NO_MSG. */
int velo_check(struct velo_port *p);
/* Receives the next message. buf has room for velo_max_len bytes, and *src_p is
 * a VELO_SRC. Pointers for results may be NULL. Returns VELO_SUCCESS,
 * VELO_NO_MSG, or VELO_ERROR for a message with its error bit set, which is
 * removed from the mailbox, too. */
int velo_recv(struct velo_port *p, void *buf, uint32_t *src_p, uint32_t *tag_p,
	      uint32_t *mtt_p, uint32_t *len_p);
/* Receives the next message as velo_recv does, but only if it has this MTT.
 * Returns as velo_recv does, VELO_NO_MATCH for another MTT, or VELO_INV_MTT
 * when mtt is above 3. */
int velo_recv_mtt(struct velo_port *p, uint32_t mtt, void *buf, uint32_t *src_p,
		  uint32_t *tag_p, uint32_t *len_p);
/* Stores the read pointer of the mailbox to the NIC now. */
void velo_commit(struct velo_port *p);

/* Polls until the first slot of a message has arrived, or until the deadline.
 * Returns false at the deadline. After true velo_recv may still return
 * VELO_NO_MSG, because a message may have several slots. */
bool velo_wait(struct velo_port *p, weft_time_t deadline);
/* Sleeps until an interrupt, and returns as velo_wait does. */
bool velo_wait_irq(struct velo_port *p, weft_time_t deadline);

/* Returns the memory in which messages appear, with its size, so that a program
 * can wait for several events with one weft_host_poll_range. */
const void *velo_mailbox(const struct velo_port *p, size_t *bytes_p);
/* Arms the interrupt, which the next message of velo_send_irq raises. */
void velo_arm(struct velo_port *p);

struct velo_counters {
	uint64_t sent, received;
	uint64_t dropped;   /* messages that the requester dropped, for any
			     * reason */
	uint64_t discarded; /* messages that the completer discarded, for any
			     * reason */
};
/* Reads the NIC's counters, which cover all ports of the node, by bus loads. */
void velo_counters(struct velo_port *p, struct velo_counters *c);

WEFT_C_END

#endif
