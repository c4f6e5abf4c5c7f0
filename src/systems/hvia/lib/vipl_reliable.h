/* SPDX-License-Identifier: Apache-2.0 */
/* Reliable delivery and reception of VIPL in software. The service has three
 * files: vipl_reliable.c (sending, time-outs), vipl_reliable_receive.c
 * (receiving) and vipl_reliable_vi.c (set-up and end of the service of a VI).
 *
 * user's descriptors <-> copies <-> frames of the VI's own memory <-> card
 *
 * A frame is a message of one Ethernet frame over the unreliable VI: a header,
 * and as many bytes as both cards allow. Frames are numbered. The receiver
 * accepts them in order, acknowledges all frames before the next frame that it
 * expects, and drops all others. Frames that are not acknowledged in time are
 * sent again. A send is complete when its last frame has been acknowledged. By
 * then the receiver has stored all bytes of the send. Therefore reliable
 * delivery and reliable reception are the same service here. The kernel agent
 * also sends the receiver's last acknowledgement with its disconnect, because a
 * process may end as soon as it has its message. */
#ifndef SYSTEMS_HVIA_LIB_VIPL_RELIABLE_H
#define SYSTEMS_HVIA_LIB_VIPL_RELIABLE_H

#include "systems/hvia/lib/vipl_internal.h"

enum {
	REL_WINDOW = 16, /* largest number of frames in flight */
	REL_RX = 64,	 /* number of receives that the VI posts */
	/* largest number of acknowledgements without data in flight */
	REL_ACKS = 8,
	REL_SLOTS = REL_WINDOW + REL_ACKS + REL_RX,
	REL_ACK_EVERY = 8,
	REL_TRIES = 20,
};
enum { REL_DESC = 4096 }; /* bytes, more than the longest descriptor */
/* Least payload of a frame. Cards with a smaller payload split a frame into
 * several Ethernet frames. */
enum { REL_PAYLOAD_MIN = 128 };

enum { REL_FIRST = 1, REL_LAST = 2, REL_IMMEDIATE = 4, REL_RDMA = 8 };

/* Header of a frame, little endian on the line. */
struct rel_head {
	uint32_t seq; /* sequence number of a frame with data */
	uint32_t ack; /* next frame that the sender of this header expects */
	/* flags of the data, or 0 for a frame with only an acknowledgement */
	uint16_t flags;
	uint16_t bytes;
	/* status bits with which the receiver refused the send, or 0 */
	uint32_t error;
	/* length and immediate data of the message */
	uint32_t length, immediate;
	uint32_t handle; /* RDMA: handle of the remote region */
	uint32_t pad;
	uint64_t va; /* RDMA: remote address of this frame's data */
};

struct rel_slot {
	_Alignas(HVIA_DESC_ALIGN) VIP_DESCRIPTOR desc;
	struct rel_head head;
	uint8_t data[];
};

/* The user's descriptor whose bytes are being moved. The service copies it when
 * its message starts, just as the card fetches a descriptor. Afterwards the
 * service uses only the copy, because the program may change the original. */
struct rel_msg {
	uint64_t number;   /* number of the descriptor in its queue */
	VIP_DESCRIPTOR *d; /* the copy */
	uint32_t at;	   /* bytes moved */
	bool begun;	   /* the copy has been made */
};

struct vipl_rel {
	struct vipl_vi *v;
	/* slots of the window, of acknowledgements, and of receives */
	uint8_t *slots;
	size_t stride;
	VIP_MEM_HANDLE handle;
	struct vipl_queue raw[2]; /* descriptors at the card */
	/* stop: the thread has to end. filled: receives are posted */
	bool stop, filled;
	struct rel_msg msg[2]; /* current send and receive */
	/* Sending. */
	/* by frame: number of the send that ends with the frame, or 0 */
	uint64_t ends[REL_WINDOW];
	/* next frame to send, and oldest frame not acknowledged */
	uint32_t seq, base;
	/* number of acknowledgements sent. Their slots are used in turn
	 * */
	uint32_t acks;
	uint32_t tries;
	weft_time_t again;
	/* Receiving. */
	/* next frame expected now, and next frame expected according to the
	 * last acknowledgement sent */
	uint32_t next, told;
	bool owe; /* an acknowledgement is due */
	/* status bits to be sent with the acknowledgement, or 0 */
	uint32_t error;
};

static inline uint32_t rel_payload(uint32_t payload)
{
	return payload < REL_PAYLOAD_MIN ? REL_PAYLOAD_MIN : payload;
}
static inline struct rel_slot *rel_slot(const struct vipl_rel *r, uint32_t i)
{
	return (struct rel_slot *)(r->slots + i * r->stride);
}

/* Returns the bytes at offset `at` of a descriptor and the number of contiguous
 * bytes. Returns NULL beyond the end. */
uint8_t *rel_piece(const VIP_DESCRIPTOR *d, uint32_t at, uint32_t *n_p);
/* Checks a descriptor. Returns 0 or the status bits of its error. */
uint32_t rel_check(const struct vipl_vi *v, const VIP_DESCRIPTOR *d,
		   uint32_t dir);
/* Returns the oldest descriptor of a queue whose message is not complete, or
 * NULL. */
struct vipl_posted *rel_current(struct vipl_rel *r, uint32_t dir);
/* Copies the descriptor. Returns false if the card could not fetch it. In that
 * case the error has been reported and the VI is in error. */
bool rel_begin(struct vipl_rel *r, uint32_t dir, const struct vipl_posted *p);

static inline void rel_next(struct vipl_rel *r, uint32_t dir)
{
	r->msg[dir].number++;
	r->msg[dir].begun = false;
}

/* Completes the user's descriptor with a length and status bits. */
void rel_complete(struct vipl_rel *r, uint32_t dir, struct vipl_posted *p,
		  uint32_t length, uint32_t status);
/* Reports an error to the program. If `end` is set, also ends the
 * connection. */
void rel_fail(struct vipl_rel *r, uint32_t code, bool end);
/* Posts a slot to the card. */
void rel_post(struct vipl_rel *r, uint32_t dir, struct rel_slot *s,
	      uint32_t bytes);
/* Returns the number of the user's bytes that a frame carries. */
static inline uint32_t rel_data(const struct vipl_rel *r)
{
	return rel_payload(r->v->k->payload) -
	       (uint32_t)sizeof(struct rel_head);
}

/* vipl_reliable.c */
/* Sends as many frames as window and slots allow. */
void rel_send(struct vipl_rel *r);
/* Handles an acknowledgement of all frames before `ack`. `error` is not 0 if
 * the remote side refused the next frame. Returns true if the reliable service
 * of the remote side has ended. */
bool rel_acked(struct vipl_rel *r, uint32_t ack, uint32_t error);
/* vipl_reliable_receive.c */
/* Handles all frames that have arrived. */
void rel_receive(struct vipl_rel *r);

#endif
