/* SPDX-License-Identifier: Apache-2.0 */
/* Times at which a receiver may notify, computed from knowledge that the
 * receiver lacks (forth.md 7.4): the true order in which a source sent, the
 * packets that were lost, and when each header was checked and each payload was
 * in memory. The reference uses no numbers, paths ahead or queues, so the
 * protocol has to come to equal results without that knowledge. A packet is
 * past when its payload is in memory or, if it was lost, when the header of a
 * later packet of its path has arrived. It may notify when it and all packets
 * before it are past. */
#ifndef FORTH_TESTS_REF_RESEQ_H
#define FORTH_TESTS_REF_RESEQ_H

#include <stdbool.h>
#include <stdint.h>

#define REF_NEVER UINT64_MAX
enum { REF_SOURCES = 8 };

/* Packets of all sources, those of one source in the order of sending. */
struct ref_reseq_pkt {
	uint64_t header;
	uint32_t src, path;
	bool lost, written;
	uint64_t checked; /* time of the check; REF_NEVER: it has not arrived */
};

struct ref_reseq_note {
	uint64_t header;
	uint32_t src;
	bool loss; /* since the notification before */
};

struct ref_reseq {
	struct ref_reseq_pkt *pkt;
	uint32_t n, next[REF_SOURCES]; /* first that is not past */
	bool loss[REF_SOURCES];
	uint32_t losses;
	struct ref_reseq_note
		*note; /* notifications that may be given, in order */
	uint32_t head, tail;
};

void ref_reseq_init(struct ref_reseq *r, uint32_t n);
void ref_reseq_fini(struct ref_reseq *r);
/* Determines the packets that are past by `now`. */
void ref_reseq_advance(struct ref_reseq *r, uint64_t now);

#endif
