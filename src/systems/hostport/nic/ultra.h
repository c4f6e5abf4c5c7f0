/* SPDX-License-Identifier: Apache-2.0 */
/* ULTRA in the Host Port (hostport.md 9): port contexts, requester and
 * completer unit. See ultra.c. */
#ifndef SYSTEMS_HOSTPORT_NIC_ULTRA_H
#define SYSTEMS_HOSTPORT_NIC_ULTRA_H

#include "systems/hostport/nic/nic.h"
#include "weft/trace.h"

enum {
	/* largest number of words of a packet, because the index has 5 bits */
	ULTRA_WORDS = 32,
	/* largest number of notifications of a port in flight */
	ULTRA_NQES = 4,
	/* largest number of packets handed to the network and not yet sent */
	ULTRA_FLYING = 4,
};

/* ---- requester port ---- */

enum ultra_state { ULTRA_IDLE, ULTRA_ASSEMBLE, ULTRA_DROP };

struct ultra_pkt { /* a packet in the packet queue */
	uint8_t words, flags;
	uint64_t seen;	/* cycle in which its last word arrived */
	uint64_t trace; /* message */
};

struct ultra_nqe {
	struct hp_nqe e;
	struct ultra_port *port;
	bool irq;
	struct ultra_nqe *next, *chain;
};

struct ultra_port {
	struct hp_ultra *u;
	uint16_t upid;
	/* context */
	bool en;
	uint16_t vpid, tupid, dhash;
	uint64_t owner; /* value of the register OWNER, for the driver */
	uint32_t dtag;
	uint8_t route[HP_ULTRA_ROUTE_MAX], route_len;
	uint16_t lower, upper, rp, wp;
	/* state of the access sequence (9.5) */
	enum ultra_state state;
	uint8_t next, flags, words;
	/* position of the next word. WP moves to it only at the end of the
	 * packet */
	uint16_t at;
	struct {
		RING(struct ultra_pkt);
	} pkts;
	/* number of packets that are complete and not scheduled */
	uint32_t ready;
	uint32_t flying;
	uint64_t tag; /* first word */
	/* number of notifications in flight. Only one of them is for refused
	 * packets, and further refusals merge. */
	uint32_t nqes;
	bool failing, fail_owed;
	uint64_t fail_tag;
};

/* ---- completer port ---- */

struct ultra_slot {		     /* a packet that is kept on the device */
	uint64_t w[ULTRA_WORDS + 1]; /* status, tag, payload */
};

struct ultra_cpl {
	bool en, on_device, irq;
	uint16_t oupid, vpid;
	uint32_t hpid;
	uint64_t base, owner;
	uint32_t slices, words; /* number of slices, words of a slice */
	uint32_t rp, wp;
	/* number of stores to the port's queue that are not handed to the bus
	 * yet */
	uint32_t storing;
	struct {
		RING(struct ultra_slot);
	} kept;
};

/* A packet in the completer. */
struct ultra_in {
	struct hp_rx *rx; /* NULL once the packet is stored */
	struct hp_head head;
	uint64_t from;	 /* cycle in which the unit took it */
	uint64_t ack_at; /* earliest cycle of its acknowledge */
	uint16_t tupid;
	bool taken; /* the unit has taken the packet */
	bool checked;
	struct ultra_in *next;
};

/* Mean over all packets of a run. */
struct ultra_mean {
	double sum;
	uint64_t n;
};

struct hp_ultra {
	struct hp_nic *n;
	struct ultra_port *port; /* array of ultra_ports ports */
	struct ultra_cpl *cpl;
	uint64_t *queue; /* ultra_packet_queue words */
	/* lower half and address of a word whose upper half has not arrived */
	uint32_t low, low_at;
	/* requester */
	uint64_t ready[HP_ULTRA_PORTS / 64];
	uint32_t last;
	bool busy;
	uint32_t flying;
	struct ultra_nqe *nqe_pool, *nqe_all;
	/* completer: packets, oldest first */
	struct ultra_in *head, *tail, *pool;
	uint64_t free_at;
	bool waiting; /* a callback for free_at is pending */
	/* cycle in which the last packet was taken, and least number of cycles
	 * between two packets */
	uint64_t took, least;
	/* Times of the parts of a packet (11.5). seen_at and handed_at are
	 * times in ns, requester and completer are durations in cycles. */
	struct ultra_mean seen_at, handed_at, requester, completer;
};

static inline void ultra_mean_add(struct ultra_mean *m, double v)
{
	m->sum += v;
	m->n++;
}

/* ultra_requester.c */
/* Takes a word of a packet that a process stores. */
void ultra_req_word(struct hp_ultra *u, uint32_t upid, uint32_t cmd,
		    uint64_t val);
/* Returns whether the process with this tag may now store a packet of `words`
 * words. */
bool ultra_req_takes(const struct hp_ultra *u, uint32_t upid, uint16_t tag,
		     uint32_t words);
/* Lets the unit send a packet of the next port that has one, unless the unit is
 * busy. */
void ultra_req_go(struct hp_ultra *u);
/* Handles an acknowledge that has arrived (9.5, 9.7). */
void ultra_req_acked(struct hp_ultra *u, const struct hp_head *h);
/* ultra_completer.c */
/* Queues a packet that begins to arrive. */
void ultra_cpl_rx(struct hp_ultra *u, struct hp_rx *rx);
/* Takes the next packet whose port has a free slice. */
void ultra_cpl_go(struct hp_ultra *u);
/* Answers a load of the completer page of a port with packets on the device. */
uint64_t ultra_cpl_load(struct hp_ultra *u, uint32_t upid, uint32_t index);

/* C1 of an ULTRA packet: port and flags. The acknowledge returns them. */
#define ULTRA_TAG(upid, flags) ((uint64_t)(flags) << 16 | (upid))
#define ULTRA_TAG_UPID(t)      ((uint32_t)(t)&0x7ff)
#define ULTRA_TAG_FLAGS(t)     ((uint32_t)((t) >> 16) & 0xff)
#define ULTRA_C4(tupid, oupid)                                                 \
	((uint64_t)(tupid) << 48 | (uint64_t)(oupid) << 32)
#define ULTRA_C4_TUPID(c) ((uint32_t)((c) >> 48))
#define ULTRA_C4_OUPID(c) ((uint32_t)((c) >> 32) & 0xffff)
/* Flags of an access, bits 10:8 of its address. */
enum { ULTRA_F_IRQ = 1, ULTRA_F_NOTIFY = 2, ULTRA_F_ACK = 4 };

#endif
