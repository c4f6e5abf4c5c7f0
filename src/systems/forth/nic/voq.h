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
	/* PCI edge from which on the link may start the packet */
	uint64_t ready;
	/* words that the packet occupies: its payload, in the first packet of a
	 * transfer also the header word, in the last packet also the CRC
	 * word */
	uint32_t words;
	uint32_t ts1;
	/* in the last packet of a transfer: number of the transfer in the
	 * departure order of its queue */
	uint32_t seq;
	/* offset of the payload in its block of external memory, in words */
	uint32_t ext_off;
	uint64_t trace; /* message */
	uint8_t queue;
	bool first, last; /* first or last packet of its transfer */
};

/* The cuts of a transfer into packets (6.4). The NIC plans the cuts when it
 * reserves room for the transfer, because the room depends on the cuts. */
struct forth_plan {
	bool ext; /* the transfer goes to external memory */
	uint32_t n, blocks;
	/* state after the transfer: words left in the tail block, qwords left
	 * in the open segment */
	uint32_t room, seg;
	/* end[i]: number of qwords of the transfer up to the end of packet i */
	uint16_t end[FORTH_SIZE_MAX];
	/* block[i]: number of new blocks that packets 0 to i begin */
	uint16_t block[FORTH_SIZE_MAX];
};

/* A VOQ, or the single Host2Net FIFO. */
struct forth_voq {
	/* cap: capacity on chip in words. used: words reserved and not yet
	 * sent */
	uint32_t cap, used;
	uint32_t seg; /* qwords left in the open segment */
	struct {
		RING(struct forth_pkt);
	} pkts;
	/* time from which the next packet may leave (7.2) */
	weft_time_t next_at;
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

/* The packet of a VOQ that is on the line of a link. Its words leave the VOQ
 * while they are sent. */
struct forth_leaving {
	uint32_t voq, words, qwords;
	bool first, last;
	/* NET cycles of header, first payload word, and end of the packet */
	uint64_t head_cc, data_cc, end_cc;
};

/* voq.c */
void forth_voq_init(struct forth_nic *n);
/* Reserves room in VOQ v for a transfer of `qwords`, and puts the plan of its
 * packets into rq. Returns false if there is no room. */
bool forth_voq_reserve(struct forth_nic *n, uint32_t v, uint32_t qwords);
/* Clears `masked` of each queue whose outgoing buffer has room now. */
void forth_voq_unmask(struct forth_nic *n);
/* Moves qwords first..upto-1 of the current transfer into the VOQ. If `paced`,
 * the qwords are read one per PCI cycle from edge pc0 on. Otherwise all qwords
 * count as read at pc0 and enter as fast as the VOQ accepts them (benchmark
 * mode). */
void forth_voq_feed(struct forth_nic *n, uint32_t first, uint32_t upto,
		    uint64_t pc0, bool paced);
/* Gives back the reserved room of the current transfer, which was aborted. */
void forth_voq_abandon(struct forth_nic *n);
/* Drops all packets except those on the lines. */
void forth_voq_reset(struct forth_nic *n);
void forth_voq_fini(struct forth_nic *n);
/* Returns the words of the VOQ that are on chip now or reserved there. */
uint32_t forth_voq_level(const struct forth_nic *n, uint32_t v);
/* Returns the PCI edge at which `words` more words will have left the VOQ, or
 * UINT64_MAX if the packets on the lines have fewer words. */
uint64_t forth_voq_left_at(const struct forth_nic *n, uint32_t v,
			   uint32_t words);

/* voq_to_link.c: from the VOQs to the links. */
/* Implement the functions `next` and `sent` of struct forth_port_ops. */
bool forth_voq_next(void *own, struct forth_port *l,
		    struct forth_port_pkt *out);
void forth_voq_sent(void *own, struct forth_port *l, uint64_t start,
		    uint64_t end, uint32_t shift);
/* Calls forth_voq_kick_one for each VOQ whose front packet is not ready yet. */
void forth_voq_kick(struct forth_nic *n);
/* Makes the link of the front packet of VOQ v call forth_voq_next again when
 * that packet is ready. */
void forth_voq_kick_one(struct forth_nic *n, uint32_t v);
/* Returns how many words of the packet on the line of `link` have left by NET
 * cycle cc. */
uint32_t forth_left_by(const struct forth_nic *n, uint32_t link, uint64_t cc);
/* Implements ops.waiting. Port link0 reports the words in all VOQs, because no
 * VOQ belongs to one link alone. */
void forth_waiting(struct weft_comp *c, uint32_t port, struct weft_waiting *w);
/* Returns the last NET edge at or before now. */
uint64_t forth_net_now(const struct forth_nic *n);

#endif
