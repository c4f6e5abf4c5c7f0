/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the target of the block protocol:
 *
 *   target.c          opens the link, serves requests, restarts
 *   target_session.c  LOGIN, LOGOUT, HELLO: one session for each initiator
 *   target_request.c  checks records and starts their requests
 *   target_drive.c    queues of requests to the drive
 *   target_out.c      sends data and answers
 *
 * A slot holds the last request of a tag:
 *
 *   EMPTY -> LAND    unordered links: waits for the data of a WRITE
 *         -> QUEUE   waits for the drive's queue, or for the pool
 *         -> DRIVE   READ: data leave in order while the drive reads
 *         -> ANSWER -> SERVED
 *   LAND  -> AGAIN   data were damaged: waits for a newer attempt */
#ifndef STORAGE_TARGET_INTERNAL_H
#define STORAGE_TARGET_INTERNAL_H

#include "host/times.h"
#include "storage/target.h"

struct session;
struct slot;

/* Context of a request to the drive: a chunk of a READ, or another request
 * (chunk NULL). */
struct work {
	struct session *session;
	struct slot *slot;
	struct chunk *chunk;
};

/* A piece of a READ, with memory of the pool. */
struct chunk {
	struct chunk *next; /* link in storage_target.free, slot.chunks or
			     * session.departing */
	struct work work;
	uint8_t *p;
	uint32_t len, put_at;
	bool in_drive, summed;
	uint64_t ticket;
};

struct chunks {
	struct chunk *head, **tail;
};

enum slot_state {
	SLOT_EMPTY,
	SLOT_LAND,
	SLOT_QUEUE,
	SLOT_DRIVE,
	SLOT_ANSWER,
	SLOT_SERVED,
	SLOT_AGAIN,
};

struct slot {
	enum slot_state state;
	struct slot *next;     /* next slot in a queue in front of the drive */
	struct slot *out_next; /* next slot in session.send */
	struct work work;
	/* record of the request, with the newest attempt */
	struct storage_record rec;
	bool out;      /* the slot is in session.send */
	bool busy_due; /* BUSY is to be sent */
	bool marked;   /* `mark` is valid */
	uint32_t mark, landed;
	uint32_t again; /* value of rec.puts when the data were damaged */
	int status;
	/* READ: bytes requested from the drive, and bytes put */
	uint64_t asked, put;
	struct chunks chunks;
	uint32_t seg, seg_at; /* segment of the next byte, and byte in it */
	uint32_t crc, puts;
};

enum session_state {
	SESSION_NONE,
	SESSION_UP,
	SESSION_DRAIN_IN,  /* waits for requests in service, then sends HELLO */
	SESSION_DRAIN_OUT, /* waits for requests in service, then sends DONE */
};

struct session {
	enum session_state state;
	uint32_t node;
	bool seen, out; /* seen: the initiator has logged in at least once. out:
			 * the initiator has logged out. Both survive a
			 * restart */
	bool numbered;	/* `login` is set */
	uint32_t epoch;
	struct storage_record login; /* newest LOGIN or LOGOUT */
	struct storage_record control;
	bool control_due;
	uint8_t *staging;
	struct storage_mr mr;
	struct slot *slot;
	uint32_t in_drive; /* number of requests in the drive */
	struct slot *send, **send_tail;
	struct chunks departing;
};

struct slots {
	struct slot *head, **tail;
};

struct storage_target {
	struct weft_host *h;
	struct storage_link *link;
	struct drive *drive;
	struct storage_target_attr attr;
	struct storage_target_stats stats;
	uint32_t nodes;
	struct session *session; /* by node */
	uint8_t *pool;
	struct storage_mr pool_mr;
	struct chunk *chunk, *free;
	uint32_t chunks;
	struct slots reads, others; /* queues in front of the drive */
	bool gone;
	/* epochs, lost_epoch and lost survive a restart, as if they were on the
	 * drive. */
	uint32_t epochs, lost_epoch;
	bool lost;
	weft_time_t now;
	bool stuck; /* the link had no room */
};

/* ---- target_session.c ---- */

/* Handles a record of the control slot. */
void target_control(struct storage_target *t, struct session *se,
		    const struct storage_record *rec);
/* Answers a request whose epoch is not the session's epoch. The answer is a
 * HELLO without segments. */
void target_refuse(struct storage_target *t, struct session *se,
		   const struct storage_record *rec);
/* Ends a drain when no request is in service and all data have left. */
void target_drain(struct storage_target *t, struct session *se);

/* ---- target_request.c ---- */

/* Handles a record of a request slot. */
void target_request(struct storage_target *t, struct session *se,
		    const struct storage_record *rec);
/* Counts a put that has landed. */
void target_landed(struct storage_target *t, struct session *se, uint32_t mark);
/* Forgets all requests of a session. */
void target_forget(struct storage_target *t, struct session *se);

/* ---- target_drive.c ---- */

/* Queues a slot in front of the drive. */
void target_queue(struct storage_target *t, struct slot *sl);
/* Submits queued requests to the drive, and handles ended ones. */
void target_drive(struct storage_target *t);
/* Forgets all requests in the drive and queued for it. Called after
 * drive_abandon. */
void target_drive_drop(struct storage_target *t);
/* Stops reading the drive for a READ. The READ ends with `status` if it has no
 * earlier error. */
void target_read_stop(struct storage_target *t, struct slot *sl, int status);
/* Takes a session's slots out of the queues. */
void target_unqueue(struct storage_target *t, struct session *se);
/* Frees the chunks of a slot, as soon as drive and link do not need them. */
void target_chunks_drop(struct storage_target *t, struct session *se,
			struct slot *sl);
/* Extends `crc` by n bytes at p and returns it. Charges the processor's time
 * for it. */
uint32_t target_crc(struct storage_target *t, uint32_t crc, const void *p,
		    size_t n);
/* Gives a chunk back to the pool. */
void target_chunk_free(struct storage_target *t, struct chunk *c);

/* ---- target_out.c ---- */

/* Queues a slot whose data or answers are to be sent. */
void target_out(struct session *se, struct slot *sl);
/* Ends a request with a status. */
void target_answer(struct session *se, struct slot *sl, int status);
/* Sends queued data and answers while the link has room. Frees chunks whose
 * data have left. */
void target_send(struct storage_target *t, struct session *se);

/* ---- lists ---- */

static inline void chunks_push(struct chunks *l, struct chunk *c)
{
	c->next = NULL;
	*l->tail = c;
	l->tail = &c->next;
}

static inline struct chunk *chunks_pop(struct chunks *l)
{
	struct chunk *c = l->head;

	l->head = c->next;
	if (!l->head)
		l->tail = &l->head;
	return c;
}

#endif
