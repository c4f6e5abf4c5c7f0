/* SPDX-License-Identifier: Apache-2.0 */
/* When a receiver may notify, from what an onlooker knows (forth.md 7.4): the
 * true order in which a source sent, which packets were lost, when each header
 * came in and when each payload was in memory.  No numbers, paths ahead or
 * queues: the protocol has to come to the same result without that knowledge.
 *
 * Packet i counts as past when its payload is in memory or, if it was lost,
 * when a later packet of its path has come in; it may notify when it and all
 * before it are past. */
#ifndef REF_RESEQ_H
#define REF_RESEQ_H

#include <stdbool.h>
#include <stdint.h>

#define REF_NEVER UINT64_MAX

struct ref_reseq_pkt { /* of one source, in the order of sending */
	uint32_t path;
	bool lost, notify;
	uint64_t header;  /* pc, REF_NEVER when lost */
	uint64_t written; /* pc, REF_NEVER when lost */
	/* results */
	uint64_t may;  /* pc from which it may notify */
	bool loss;     /* bit 41 of its notification */
	bool revealed; /* lost, and found out */
};

void ref_reseq(struct ref_reseq_pkt *p, uint32_t n);

#endif
