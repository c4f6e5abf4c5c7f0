/* SPDX-License-Identifier: Apache-2.0 */
/* FORTH NIC: outgoing buffers (voq.c) and the path from them to the links
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
	uint64_t ready; /* pc from which the link may start the packet */
	/* words that the packet occupies: payload, header and CRC word */
	uint32_t words;
	uint32_t ts1;
	/* number of the transfer in its departure order, if last */
	uint32_t seq;
	uint32_t ext_off; /* offset in BAR0 of a payload in external memory */
	uint64_t trace;	  /* message */
	uint8_t queue;
	bool first, last; /* of its transfer */
};

/* The cuts of a transfer into packets (6.4). They are fixed when room is taken
 * for the transfer, because the room depends on them. */
struct forth_plan {
	bool ext; /* the transfer goes to external memory */
	uint32_t n, blocks;
	/* after the transfer: words left in the tail block, qwords left in the
	 * open segment */
	uint32_t room, seg;
	/* number of qwords up to the end of packet i */
	uint16_t end[FORTH_SIZE_MAX];
	/* number of new blocks begun up to packet i */
	uint16_t block[FORTH_SIZE_MAX];
};

/* A VOQ, or the single Host2Net FIFO. */
struct forth_voq {
	/* cap: words on chip; used: words reserved and not yet sent */
	uint32_t cap, used;
	uint32_t seg; /* qwords left in the open segment */
	struct {
		RING(struct forth_pkt);
	} pkts;
	weft_time_t next_at; /* earliest departure of the next packet (7.2) */
	uint32_t turn; /* index of the next packet's path in the pattern */
	uint8_t number[FORTH_PORT_LINKS_MAX];
	/* external memory: the list of blocks and their packets */
	uint32_t room; /* words left in the tail block of external memory */
	struct {
		RING(struct forth_pkt);
	} ext;
	struct {
		RING(struct forth_block);
	} blocks;
};

/* The packet that leaves now, whose words leave the VOQ while they are sent. */
struct forth_leaving {
	uint32_t voq, words, qwords;
	bool first, last;
	/* NET cycles: head_cc header, data_cc first payload word, end_cc end */
	uint64_t head_cc, data_cc, end_cc;
};

/* voq.c */
void forth_voq_init(struct forth_nic *n);
/* Takes room for a transfer of `qwords`, and puts the plan of its packets into
 * rq. Returns false if there is no room. */
bool forth_voq_reserve(struct forth_nic *n, uint32_t v, uint32_t qwords);
/* Lets queues try again that waited because their outgoing buffer had no
 * room. */
void forth_voq_unmask(struct forth_nic *n);
/* Moves qwords first..upto-1 of the current transfer into the VOQ, one per pc
 * from pc0 on. If not paced, they move as fast as the VOQ takes them (benchmark
 * mode). */
void forth_voq_feed(struct forth_nic *n, uint32_t first, uint32_t upto,
		    uint64_t pc0, bool paced);
/* Gives back the reserved room of the current transfer, which was aborted. */
void forth_voq_abandon(struct forth_nic *n);
/* Drops all packets except those on the lines. */
void forth_voq_reset(struct forth_nic *n);
void forth_voq_fini(struct forth_nic *n);
/* Returns the words of the VOQ that are on chip now or reserved. */
uint32_t forth_voq_level(const struct forth_nic *n, uint32_t v);
/* Returns the PCI edge at which `words` more have left the VOQ, or UINT64_MAX
 * if the packets on the lines have fewer words. */
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
/* Returns how many words of the packet on this line have left by NET cycle
 * cc. */
uint32_t forth_left_by(const struct forth_nic *n, uint32_t link, uint64_t cc);
/* Implements ops.waiting: reports the words in all VOQs, because no VOQ belongs
 * to one link alone. */
void forth_waiting(struct weft_comp *c, uint32_t port, struct weft_waiting *w);
/* Returns the last NET edge <= now. */
uint64_t forth_net_now(const struct forth_nic *n);

#endif
