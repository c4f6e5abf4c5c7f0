/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of ref_dma: its state, and functions that its files share.
 *
 *   ref_dma_bus.c     the bus
 *   ref_dma_voq.c     outgoing transfers: VOQs, external memory
 *   ref_dma_engine.c  queues, request-queue FSM
 *   ref_dma_write.c   packets and notifications to memory
 *   ref_dma.c         the links, and the two clocks */
#ifndef FORTH_TESTS_REF_DMA_INTERNAL_H
#define FORTH_TESTS_REF_DMA_INTERNAL_H

#include "ref_dma.h"
#include "ref_reseq.h"

enum state {
	NO_PND_OP,
	FETCH,
	RD_REQ,
	SPLIT_WAIT,
	RD_DATA,
	BM_GEN,
	RX_WR,
	NOTIFY,
	UPDT_CNT
};
enum { RD, WR };

/* A packet in a VOQ, or on the path into it. */
struct rpkt {
	struct ref_pkt wire;
	/* avail: PCI edge at which the packet may enter the VOQ. ready: PCI
	 * edge at which the packet may start on the line */
	uint64_t header, avail, ready;
	uint32_t words, qwords, queue, xfer;
	bool first, last, in, gone;
	struct rblock *block; /* block of external memory that holds the packet,
				 or NULL */
};

struct rblock { /* block of external memory */
	/* words: number of words in the block. missing: packets planned for the
	 * block that have not entered it yet */
	uint32_t words, missing;
};

struct rxpkt {
	uint64_t header, ready; /* time */
	uint32_t qwords, charge, send;
};

struct xfer { /* transfer in the departure order of a queue */
	uint32_t slot;
	bool lnotify, done;
	uint64_t at; /* time */
	/* order of departures: REF_PATHS * c + k, where the last packet of the
	 * transfer started in NET cycle c on link k */
	uint64_t start;
};

struct note { /* local notification that waits */
	uint64_t word, at, start;
	uint32_t queue;
};

/* State of a line and of the packet on it. */
struct rline {
	struct rpkt *going;
	uint64_t start;	    /* cc */
	uint32_t line_word; /* words of the packet sent so far */
	/* qwords of the packet that have left the buffer */
	uint32_t out_qwords;
};

/* Net2Host of one link, and the packets sent so far by its far end. */
struct rfifo {
	struct rxpkt rx[REF_SENDS];
	uint32_t head, tail, sent;
};

struct rhold {
	struct {
		uint64_t cycle;
		uint32_t lane, words;
	} at[REF_PKTS];
	uint32_t head, tail;
};

struct ref {
	const struct ref_dma_cfg *c;
	struct ref_dma_log *log;
	uint64_t pc, cc, now; /* now: time in units of 100 ps */
	/* ends: number of link engines. width: number of links bundled in each
	 * engine */
	uint32_t ends, width;
	struct ref_end nic[REF_PATHS], far[REF_PATHS];
	/* queues */
	uint32_t depth, head[8], pending[8], rr_queue, need[8], dep[8];
	uint32_t mask_voq[8];
	uint64_t *desc[8][2];
	struct xfer *xfer[8];
	uint32_t x_head[8], x_tail[8];
	struct note note[REF_DESCS];
	uint32_t n_head, n_tail;
	/* engine */
	enum state st, wst;
	uint32_t left; /* cycles left in a timed state */
	uint32_t q, qwords, voq, got, cut;
	uint64_t q0, q1;
	bool err, notified, last_out, active[2], for_rq, is_note, local;
	uint32_t wleft;
	struct rxpkt wpkt;
	uint32_t popped, credited, rcount, wlink;
	/* bus: one request for each direction, and the transaction in
	 * progress */
	struct {
		bool pending, req, split, data, done;
		uint32_t bytes, moved, seq, op, wait;
	} b[2];
	uint32_t compl_wait;
	bool compl ;
	struct {
		enum { IDLE, REQUEST, DATA } kind;
		uint32_t dir, pre, frame_in, beats;
		bool split_due;
	} bus;
	bool split_open;
	/* outgoing */
	struct rpkt *pkt; /* all packets in the order in which they were cut */
	uint32_t n_pkt, inserting, ins_left;
	bool inserter;
	uint32_t used[8], rr_voq[REF_PATHS];
	/* of each VOQ: qwords left in the open segment, words left in the tail
	 * block */
	uint32_t seg[8], room[8];
	/* plan of the current transfer: plan_end[i] is the number of qwords up
	 * to the end of packet i, plan_new[i] is the number of new blocks that
	 * packets 0 to i begin */
	uint32_t plan_end[512], plan_new[512], n_plan, next_plan, plan_blocks;
	uint32_t plan_seg, plan_room, ext;
	struct rblock *block[8]; /* blocks of each VOQ, oldest first */
	uint32_t b_head[8], b_tail[8], n_free;
	/* reading: cycles left of the read in progress */
	uint32_t reading, read_voq, rr_read;
	struct rline line[REF_PATHS];
	/* number: next number of a packet on each path (forth.md 7.2) */
	uint32_t turn[8], number[8][REF_PATHS];
	/* NET cycle from which on the VOQ may send its next packet */
	uint64_t voq_free[8];
	/* incoming */
	struct rfifo fifo[REF_PATHS];
	uint32_t rr_fifo;
	struct ref_pkt spkt[REF_SENDS];
	struct ref_reseq reseq;
	/* words that the far ends forward at a later cycle */
	struct rhold hold[REF_PATHS];
};

static inline uint32_t size_of(uint64_t header)
{
	return header >> 32 & 1023;
}
static inline uint32_t flow_of(uint64_t header)
{
	return header >> 56 & 127;
}
static inline uint32_t wire_of(const struct ref *r, uint32_t qwords)
{
	return qwords * 8 < r->c->min_bytes ? r->c->min_bytes : qwords * 8;
}
static inline uint32_t n_voq(const struct ref *r)
{
	return r->c->voqs ? r->c->voqs : 1;
}
static inline uint32_t min32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}
static inline void tick_down(uint32_t *n)
{
	if (*n)
		--*n;
}

/* ref_dma_bus.c */
void ref_bus_request(struct ref *r, uint32_t dir, uint64_t addr, uint32_t bytes,
		     uint64_t word);
void ref_bus_arbitrate(struct ref *r);
/* Moves the bus by one PCI edge. */
void ref_bus_edge(struct ref *r);

/* ref_dma_voq.c */
/* Returns whether the transfer has room, on chip or in external memory. */
bool ref_voq_has_room(struct ref *r, uint32_t v, uint32_t qwords);
void ref_voq_take_room(struct ref *r, uint32_t v, uint32_t qwords);
/* Completes the packets whose words have all been read or, if `made`,
 * generated. */
void ref_voq_cut(struct ref *r, bool made);
void ref_voq_edge(struct ref *r);
struct rpkt *ref_voq_front(struct ref *r, uint32_t v);

/* ref_dma_engine.c */
void ref_engine_edge(struct ref *r);
/* Notes that a transfer has departed, and adds notifications in order of
 * departure. */
void ref_engine_gone(struct ref *r, uint32_t q, uint32_t x, uint64_t at,
		     uint64_t start);

/* counts a qword that has moved */
void ref_engine_moved(struct ref *r, uint32_t dir); /* a qword */
bool ref_write_ready(const struct ref *r);
void ref_write_start(struct ref *r);
void ref_write_local(struct ref *r, uint32_t q, uint64_t word, bool for_rq);
void ref_write_step(struct ref *r);

#endif
