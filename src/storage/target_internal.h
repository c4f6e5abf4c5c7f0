/* SPDX-License-Identifier: Apache-2.0 */
/* Target of the block protocol, by files:
 *
 *   target.c          opening, serving, restart
 *   target_session.c  LOGIN, LOGOUT, HELLO: one session for each initiator
 *   target_request.c  slots: which record is a request, and its checks
 *   target_drive.c    queues in front of the drive
 *   target_out.c      data and answers
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

/* The drive's ctx: a chunk of a READ, or (chunk NULL) another request. */
struct work {
	struct session *session;
	struct slot *slot;
	struct chunk *chunk;
};

/* A piece of a READ, with memory of the pool. */
struct chunk {
	struct chunk *next; /* free, of its slot in order, or departing */
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
	struct slot *next;     /* in a queue of the drive */
	struct slot *out_next; /* in session.send */
	struct work work;
	struct storage_record rec; /* of the newest attempt */
	bool out;		   /* stands in session.send */
	bool busy_due;		   /* BUSY is to be sent */
	bool marked;		   /* mark is set */
	uint32_t mark, landed;
	uint32_t again; /* puts of the data that were damaged */
	int status;
	/* READ: bytes asked of the drive, and put */
	uint64_t asked, put;
	struct chunks chunks;
	uint32_t seg, seg_at; /* place of the next byte */
	uint32_t crc, puts;
};

enum session_state {
	SESSION_NONE,
	SESSION_UP,
	SESSION_DRAIN_IN,  /* then HELLO */
	SESSION_DRAIN_OUT, /* then DONE */
};

struct session {
	enum session_state state;
	uint32_t node;
	bool seen, out; /* ever logged in; logged out: outlive a restart */
	bool numbered;	/* `login` is set */
	uint32_t epoch;
	struct storage_record login; /* newest LOGIN or LOGOUT */
	struct storage_record control;
	bool control_due;
	uint8_t *staging;
	struct storage_mr mr;
	struct slot *slot;
	uint32_t in_drive; /* requests */
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
	struct slots reads, others; /* in front of the drive */
	bool gone;
	/* On the drive, so to say: they outlive a restart. */
	uint32_t epochs, lost_epoch;
	bool lost;
	weft_time_t now;
	bool stuck; /* the link had no room */
};

/* ---- target_session.c ---- */

/* Takes a record of the control slot. */
void target_control(struct storage_target *t, struct session *se,
		    const struct storage_record *rec);
/* Answers a request of an epoch that is not the session's. */
void target_refuse(struct storage_target *t, struct session *se,
		   const struct storage_record *rec);
/* Ends a drain when nothing is in service. */
void target_drain(struct storage_target *t, struct session *se);

/* ---- target_request.c ---- */

/* Takes a record of a slot. */
void target_request(struct storage_target *t, struct session *se,
		    const struct storage_record *rec);
/* Counts a put that has landed. */
void target_landed(struct storage_target *t, struct session *se, uint32_t mark);
/* Forgets all requests of a session. */
void target_forget(struct storage_target *t, struct session *se);

/* ---- target_drive.c ---- */

/* Queues a slot in front of the drive. */
void target_queue(struct storage_target *t, struct slot *sl);
/* Gives the drive requests, and takes their ends. */
void target_drive(struct storage_target *t);
/* Forgets all that the drive has and was to get, after drive_abandon. */
void target_drive_drop(struct storage_target *t);
/* Reads no more of a READ, which will end with this status. */
void target_read_stop(struct storage_target *t, struct slot *sl, int status);
/* Takes a session's slots out of the queues. */
void target_unqueue(struct storage_target *t, struct session *se);
/* Frees the chunks of a slot, as soon as drive and link do not need them. */
void target_chunks_drop(struct storage_target *t, struct session *se,
			struct slot *sl);
/* Charges for, and returns, the CRC of more data. */
uint32_t target_crc(struct storage_target *t, uint32_t crc, const void *p,
		    size_t n);
/* Gives a chunk back to the pool. */
void target_chunk_free(struct storage_target *t, struct chunk *c);

/* ---- target_out.c ---- */

/* Has a slot's data or answers sent. */
void target_out(struct session *se, struct slot *sl);
/* Ends a request with a status. */
void target_answer(struct session *se, struct slot *sl, int status);
/* Sends what waits, while the link has room; frees chunks that have left. */
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
