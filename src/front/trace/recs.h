/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in flight, with the marks that components set (weft/trace.h). */
#ifndef FRONT_RECS_H
#define FRONT_RECS_H

#include "base/vec.h"
#include "weft/trace.h"

struct rec_mark {
	const struct weft_comp *comp;
	const char *stage;
	weft_time_t end;
};

struct rec {
	uint64_t id; /* id of the message; 0: the record is free */
	bool open;
	const struct weft_comp *origin;
	weft_time_t begin;
	struct {
		VEC(struct rec_mark);
	} marks; /* sorted by time after recs_hear */
};

/* Records of a few thousand messages. When more are in flight at a time, only
 * every second, fourth, ... message is recorded. */
struct recs {
	struct rec *slot;
	uint64_t every, newest, pushed;
};

void recs_init(struct recs *r);
void recs_fini(struct recs *r);
/* Handles records of kinds OPEN, MARK and END. Returns a message that has just
 * arrived, otherwise NULL. */
const struct rec *recs_hear(struct recs *r, const struct weft_trace *t);
/* Returns the record of the message with that id, whether it has arrived or
 * not, with its marks in order of time. Returns NULL when the record has been
 * dropped. */
const struct rec *recs_find(struct recs *r, uint64_t id);
/* Returns the messages that are still open, one by one, and NULL behind the
 * last. */
const struct rec *recs_next(struct recs *r, size_t *i_p);
/* Returns a hash of the texts, not of their addresses, so that the hash is
 * equal in every run. */
uint64_t recs_hash(const struct weft_comp *c, const char *a, const char *b,
		   uint32_t index);
/* Returns a hash of the addresses. This hash is faster than recs_hash, but
 * differs from run to run. Therefore it may only be used to find an entry
 * again. */
static inline uint32_t recs_near(const struct weft_comp *c, const char *a,
				 const char *b, uint32_t index)
{
	uint64_t h = ((uintptr_t)c >> 5) + (uintptr_t)a * 3 + (uintptr_t)b * 5;

	return (uint32_t)((h + index) * 0x9e3779b97f4a7c15ull >> 40);
}
/* Returns the length of the node's name at the start of a component's name:
 * "n3" in "n3.nic". A name without a dot is the name of a node. */
size_t recs_node(const struct weft_comp *c);

#endif
