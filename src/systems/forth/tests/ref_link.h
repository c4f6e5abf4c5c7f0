/* SPDX-License-Identifier: Apache-2.0 */
/* Cycle-by-cycle reference of one end of a FORTH link: one word on the line in
 * every cycle, credits by forth.md 5, no result computed in advance. Shares no
 * code with forth/link. */
#ifndef FORTH_TESTS_REF_LINK_H
#define FORTH_TESTS_REF_LINK_H

#include <stdbool.h>
#include <stdint.h>

enum { REF_LANES = 16, REF_DELAY = 64, REF_WIRE = 1024, REF_CREDITS = 16 };

struct ref_pkt {
	uint32_t src, dst, seq, path;
	/* wire: bytes of the payload on the wire, with padding */
	uint32_t qwords, wire;
	/* cycle of arrival at a source, or, at a switch, cycle of the notice to
	 * the output scheduler */
	uint64_t ready;
	uint64_t sop, notice;
	struct ref_pkt *next;
};

struct ref_word {
	bool data;   /* the word is not a comma */
	bool delim;  /* the word is the first of a transmission */
	bool header; /* the word is the first of a header */
	struct ref_pkt *pkt;
	/* number of credits that are complete with this word */
	uint32_t credits;
	uint32_t lane[REF_CREDITS], value[REF_CREDITS];
};

struct ref_end {
	/* parameters */
	uint32_t links, packed, delay, crtx, crrx, refresh, credit_words;
	uint32_t tx_lanes, rx_lanes, cap;
	/* credits that this end returns */
	uint32_t fwd[REF_LANES]; /* F */
	/* F of each lane at the end of earlier cycles */
	uint32_t past[REF_LANES][REF_DELAY];
	uint32_t given[REF_LANES];
	uint32_t rr_active, rr_refresh;
	/* credits that this end has */
	uint32_t sent[REF_LANES], acked[REF_LANES]; /* T, F' */
	struct ref_word due[REF_DELAY]; /* words received and not yet parsed */
	/* line */
	/* words of the transmission that is on the line */
	struct ref_word cur[1200];
	uint32_t cur_n, cur_at;
	uint64_t last_start;
	/* words on the cable. The index is the cycle of arrival at the peer,
	 * modulo REF_WIRE, or modulo REF_DELAY if the cable is shorter than
	 * REF_DELAY */
	struct ref_word wire[REF_WIRE];
	struct ref_end *peer;
	/* counters */
	uint64_t credits_out, credits_in, out_cycles, in_cycles, packets;
	uint64_t backpressure;
	bool blocked;
};

uint32_t ref_charge(const struct ref_end *e, uint32_t wire);
bool ref_enough(const struct ref_end *e, uint32_t lane, uint32_t charge);
/* Callers run these functions once per cycle c in this order: receive arriving
 * words, let F grow, apply credits that take effect now, decide, put a word on
 * the line, store F. */
const struct ref_word *ref_end_receive(struct ref_end *e, uint64_t c);
void ref_end_parse(struct ref_end *e, uint64_t c);
bool ref_end_free(const struct ref_end *e);
void ref_end_packet(struct ref_end *e, uint64_t c, struct ref_pkt *p,
		    uint32_t lane);
/* Sends a credit frame if one is due. Called in a cycle without a packet. */
void ref_end_idle(struct ref_end *e, uint64_t c);
void ref_end_line(struct ref_end *e, uint64_t c);

#endif
