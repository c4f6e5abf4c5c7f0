/* SPDX-License-Identifier: Apache-2.0 */
/* FORTH NIC: outgoing buffers (voq.c) and the way from them to the links
 * (voq_to_link.c). Source: forth.md section 6. */
#ifndef SYSTEMS_FORTH_NIC_VOQ_H
#define SYSTEMS_FORTH_NIC_VOQ_H

#include "systems/forth/link/port.h"
#include "systems/forth/nic/external_queue.h"
#include "base/ring.h"
#include "systems/forth/nic/regs_map.h"

struct forth_nic;

/* A packet in an outgoing buffer. */
struct forth_pkt {
	uint64_t hdr;
	struct weft_slice data; /* true bytes */
	uint64_t ready;		/* pc from which the link may start it */
	uint32_t words;		/* occupied: payload, header word, CRC word */
	uint32_t ts1;
	uint32_t seq;	  /* of its track, when last */
	uint32_t ext_off; /* offset of the payload in BAR0 while it is in
			     external memory */
	uint64_t trace;	  /* message */
	uint8_t queue;
	bool first, last; /* of its transfer */
};

/* Cuts of a transfer into packets (6.4): fixed when room is taken, because room
 * depends on them. */
struct forth_plan {
	bool ext; /* goes to external memory */
	uint32_t n, blocks;
	uint32_t room, seg; /* after the transfer: words left in the tail
			     * block, qwords left in the open segment */
	uint16_t end[FORTH_SIZE_MAX];	/* qwords up to the end of packet i */
	uint16_t block[FORTH_SIZE_MAX]; /* new blocks begun up to packet i */
};

/* A VOQ, or the single Host2Net FIFO. */
struct forth_voq {
	uint32_t cap, used; /* words on chip; used: reserved and not yet sent */
	uint32_t seg;	    /* qwords left in the open segment */
	struct {
		RING(struct forth_pkt);
	} pkts;
	weft_time_t next_at; /* earliest departure of the next packet (7.2) */
	uint32_t turn;	     /* position in the pattern of paths */
	uint8_t number[FORTH_PORT_LINKS_MAX];
	/* external memory: the list of blocks and their packets */
	uint32_t room; /* words left in the tail block */
	struct {
		RING(struct forth_pkt);
	} ext;
	struct {
		RING(struct forth_block);
	} blocks;
};

/* The packet that leaves now: its words drain along the line. */
struct forth_leaving {
	uint32_t voq, words, qwords;
	bool first, last;
	uint64_t head_cc, data_cc, end_cc; /* NET cycles, see voq.c */
};

/* voq.c */
void forth_voq_init(struct forth_nic *n);
/* Takes room for a transfer of so many qwords, and puts the plan of its packets
 * into rq. Returns false when there is no room. */
bool forth_voq_reserve(struct forth_nic *n, uint32_t v, uint32_t qwords);
/* Lets queues try again whose outgoing buffer had no room. */
void forth_voq_unmask(struct forth_nic *n);
/* Moves qwords first..upto-1 of the current transfer, one per pc from pc0 on;
 * not paced: as fast as they enter the VOQ (benchmark mode). */
void forth_voq_feed(struct forth_nic *n, uint32_t first, uint32_t upto,
		    uint64_t pc0, bool paced);
/* Gives back the reserved room of the current transfer, which was aborted. */
void forth_voq_abandon(struct forth_nic *n);
/* Drops all packets but those on the lines. */
void forth_voq_reset(struct forth_nic *n);
void forth_voq_fini(struct forth_nic *n);
/* Returns the words on chip now, with those reserved. */
uint32_t forth_voq_level(const struct forth_nic *n, uint32_t v);
/* Returns the PCI edge at which `words` more have left the VOQ, if packets on
 * the line are enough for that; otherwise UINT64_MAX. */
uint64_t forth_voq_left_at(const struct forth_nic *n, uint32_t v,
			   uint32_t words);

/* voq_to_link.c: from the VOQs to the links. */
/* forth_port_ops.next and .sent */
bool forth_voq_next(void *own, struct forth_port *l,
		    struct forth_port_pkt *out);
void forth_voq_sent(void *own, struct forth_port *l, uint64_t start,
		    uint64_t end, uint32_t shift);
/* Makes the links try again when their next packet is ready. */
void forth_voq_kick(struct forth_nic *n);
/* Makes the links try again when the front packet of one VOQ is ready. */
void forth_voq_kick_one(struct forth_nic *n, uint32_t v);
/* Returns the words of the packet on this line that have left by NET cycle
 * cc. */
uint32_t forth_left_by(const struct forth_nic *n, uint32_t link, uint64_t cc);
/* Implements ops.waiting: words in all VOQs, because none of them belongs to
 * one link alone. */
void forth_waiting(struct weft_comp *c, uint32_t port, struct weft_waiting *w);
uint64_t forth_net_now(const struct forth_nic *n); /* last edge <= now */

#endif
