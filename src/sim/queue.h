/* SPDX-License-Identifier: Apache-2.0 */
/* Pending events: a hierarchical wheel with exact total order.
 *
 * Level 0 has 4096 buckets of 2^22 fs (4.2 ns), the levels above are coarser.
 * An event moves down at most once per level. Bitmaps find the next bucket that
 * holds an event. A thin bucket is searched for its earliest event at every
 * pop. A thick bucket is sorted by (time, key), and its events become the
 * current events. Therefore the cost per event stays flat from a hundred to a
 * million pending events. */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include "weft/types.h"

/* key = phase (1 bit) | component id (24) | tag (16) */
struct evq_event {
	uint64_t time, key;
};
#define EVQ_KEY(phase, id, tag)                                                \
	((uint64_t)(phase) << 40 | (uint64_t)(id) << 16 | (tag))
#define EVQ_KEY_ID(key)	   ((uint32_t)((key) >> 16) & 0xFFFFFF)
#define EVQ_KEY_TAG(key)   ((uint32_t)(key)&0xFFFF)
#define EVQ_KEY_PHASE(key) ((uint32_t)((key) >> 40))
#define EVQ_MAX_ID	   0xFFFFFFu
#define EVQ_MAX_TAG	   0xFFFFu

struct evq_vec {
	struct evq_event *ev;
	uint32_t n, cap;
};

enum { EVQ_LEVELS = 4 };

struct evq_level {
	struct evq_vec *bucket;
	uint64_t *bitmap;
	uint64_t summary; /* one bit per word of the bitmap */
	uint32_t shift, bits;
};

struct evq {
	struct evq_level level[EVQ_LEVELS];
	/* Current events: those earlier than all events in buckets, sorted.
	 * Elements below pos have been popped. */
	struct evq_vec cur;
	uint32_t pos;
	/* number (time >> 22) of the present slot, from which levels are
	 * searched */
	uint64_t slot;
	/* Events in slots below `first` are in cur. `first` is slot or slot +
	 * 1. */
	uint64_t first;
	uint64_t pending; /* number of events not yet popped */
	struct evq_vec scratch;
	/* Vectors of buckets that have become empty, the most recent one last.
	 * Other buckets reuse them, so that few pending events use little
	 * memory. */
	struct evq_vec *spare;
	uint32_t n_spare, cap_spare;
};

void evq_init(struct evq *q);
void evq_fini(struct evq *q);
/* Adds an event. `time` must not be before the time of the last event
 * popped. */
void evq_push(struct evq *q, uint64_t time, uint64_t key);
/* Removes the earliest event at or before `until`. Returns false if there is
 * none. */
bool evq_pop(struct evq *q, uint64_t until, struct evq_event *ev_p);

#endif
