/* SPDX-License-Identifier: Apache-2.0 */
/* Reliable delivery and reception of VIPL in software, between vipl_reliable.c
 * (sending, time), vipl_reliable_receive.c (receiving) and vipl_reliable_vi.c
 * (its life).
 *
 *   user's descriptors <-> copies <-> frames of the VI's own memory <-> card
 *
 * A frame is a message of one Ethernet frame over the unreliable VI: header,
 * and as many bytes as both cards take.  Frames are numbered; the receiver
 * takes them in order, acknowledges up to the next one it wants, and throws
 * away all others; what is not acknowledged in time is sent again from there
 * on.  A send is complete when the last frame of it has been acknowledged, and
 * that is said when its bytes are where they belong: delivery and reception are
 * the same here.  What the receiver has got is also said with its disconnect,
 * by the kernel agent: a process may end as soon as it has its message. */
#ifndef SYSTEMS_HVIA_LIB_VIPL_RELIABLE_H
#define SYSTEMS_HVIA_LIB_VIPL_RELIABLE_H

#include "systems/hvia/lib/vipl_internal.h"

enum {
	REL_WINDOW = 16, /* frames on their way */
	REL_RX = 64,	 /* receives of the VI */
	REL_ACKS = 8,	 /* frames without data on their way */
	REL_SLOTS = REL_WINDOW + REL_ACKS + REL_RX,
	REL_ACK_EVERY = 8,
	REL_TRIES = 20,
};
enum { REL_DESC = 4096 };	/* the longest descriptor takes less */
enum { REL_PAYLOAD_MIN = 128 }; /* of several Ethernet frames, if need be */

enum { REL_FIRST = 1, REL_LAST = 2, REL_IMMEDIATE = 4, REL_RDMA = 8 };

/* On the wire, little endian. */
struct rel_head {
	uint32_t seq;	/* of a frame with data */
	uint32_t ack;	/* next one that this side wants */
	uint16_t flags; /* of data; 0: none, acknowledgement alone */
	uint16_t bytes;
	uint32_t error; /* status bits: the other's send has failed */
	uint32_t length, immediate; /* of the message */
	uint32_t handle;	    /* RDMA: remote */
	uint32_t pad;
	uint64_t va; /* RDMA: of this frame */
};

struct rel_slot {
	_Alignas(HVIA_DESC_ALIGN) VIP_DESCRIPTOR desc;
	struct rel_head head;
	uint8_t data[];
};

/* The user's descriptor of which bytes have been moved.  It is copied when its
 * message begins, as the card does, and the copy is what counts. */
struct rel_msg {
	uint64_t number;   /* in its queue */
	VIP_DESCRIPTOR *d; /* the copy */
	uint32_t at;	   /* bytes moved */
	bool begun;	   /* the copy is there */
};

struct vipl_rel {
	struct vipl_vi *v;
	uint8_t *slots; /* window, acks, receives */
	size_t stride;
	VIP_MEM_HANDLE handle;
	struct vipl_queue raw[2]; /* what the card has */
	bool stop, filled;	  /* receives are posted */
	struct rel_msg msg[2];	  /* send and receive at work */
	/* sending */
	uint64_t ends[REL_WINDOW]; /* sends of which it is the last, or 0 */
	uint32_t seq, base;	   /* next, oldest not acknowledged */
	uint32_t acks;		   /* used in turn */
	uint32_t tries;
	weft_time_t again;
	/* receiving */
	uint32_t next, told; /* frame wanted; said so */
	bool owe;	     /* say it again */
	uint32_t error;	     /* to be said with it */
};

static inline uint32_t rel_payload(uint32_t payload)
{
	return payload < REL_PAYLOAD_MIN ? REL_PAYLOAD_MIN : payload;
}
static inline struct rel_slot *rel_slot(const struct vipl_rel *r, uint32_t i)
{
	return (struct rel_slot *)(r->slots + i * r->stride);
}

/* A piece of a descriptor's bytes: where offset `at` lies, and how many follow
 * there.  NULL: nowhere. */
uint8_t *rel_piece(const VIP_DESCRIPTOR *d, uint32_t at, uint32_t *n_p);
/* 0, or status bits: what is wrong with a descriptor. */
uint32_t rel_check(const struct vipl_vi *v, const VIP_DESCRIPTOR *d,
		   uint32_t dir);
/* The oldest descriptor of a queue whose message is not all there, or NULL. */
struct vipl_posted *rel_current(struct vipl_rel *r, uint32_t dir);
/* With the copy of it; false: the card could not fetch it, that has been said,
 * and the VI is in error. */
bool rel_begin(struct vipl_rel *r, uint32_t dir, const struct vipl_posted *p);

static inline void rel_next(struct vipl_rel *r, uint32_t dir)
{
	r->msg[dir].number++;
	r->msg[dir].begun = false;
}

void rel_complete(struct vipl_rel *r, uint32_t dir, struct vipl_posted *p,
		  uint32_t length, uint32_t status);
/* Tells the program; `end`: and ends the connection. */
void rel_fail(struct vipl_rel *r, uint32_t code, bool end);
/* Posts a slot to the card. */
void rel_post(struct vipl_rel *r, uint32_t dir, struct rel_slot *s,
	      uint32_t bytes);
/* Every frame it posts takes so many bytes of the user. */
static inline uint32_t rel_data(const struct vipl_rel *r)
{
	return rel_payload(r->v->k->payload) -
	       (uint32_t)sizeof(struct rel_head);
}

/* vipl_reliable.c */
void rel_send(struct vipl_rel *r);
void rel_acked(struct vipl_rel *r, uint32_t ack, uint32_t error);
/* vipl_reliable_receive.c */
void rel_receive(struct vipl_rel *r);

#endif
