/* SPDX-License-Identifier: Apache-2.0 */
/* Times at which a receiver may notify (forth.md 7.4), computed from knowledge
 * that the receiver lacks: the true order in which a source sent, the packets
 * that were lost, and the times at which each header was checked and each
 * payload was in memory. The reference uses no numbers, next paths or queues.
 * The protocol must reach the same results with numbers, next paths and queues
 * alone.
 *
 * A packet is past when its payload is in memory or, if it was lost, when the
 * header of a later packet of its path has arrived. A packet may notify when it
 * and all packets before it are past. */
#ifndef FORTH_TESTS_REF_RESEQ_H
#define FORTH_TESTS_REF_RESEQ_H

#include <stdbool.h>
#include <stdint.h>

#define REF_NEVER UINT64_MAX
enum { REF_SOURCES = 8 };

/* Packets of all sources. Packets of one source are in the order of sending. */
struct ref_reseq_pkt {
	uint64_t header;
	uint32_t src, path;
	bool lost, written;
	/* time of the header check, or REF_NEVER if the header has not
	 * arrived */
	uint64_t checked;
};

struct ref_reseq_note {
	uint64_t header;
	uint32_t src;
	bool loss; /* a packet was lost since the last notification */
};

struct ref_reseq {
	struct ref_reseq_pkt *pkt;
	/* next: first packet of each source that is not past */
	uint32_t n, next[REF_SOURCES];
	bool loss[REF_SOURCES];
	uint32_t losses;
	/* notifications that the receiver may issue, in order */
	struct ref_reseq_note *note;
	uint32_t head, tail;
};

void ref_reseq_init(struct ref_reseq *r, uint32_t n);
void ref_reseq_fini(struct ref_reseq *r);
/* Determines which packets are past by `now`. */
void ref_reseq_advance(struct ref_reseq *r, uint64_t now);

#endif
