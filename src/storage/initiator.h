/* SPDX-License-Identifier: Apache-2.0 */
/* Initiator of the block protocol (weft/disk.h). The initiator divides a
 * request of the user into parts. A part is one request of the protocol to one
 * target.
 *
 *   struct request  request of the user, divided while the targets have tags
 *                   and memory
 *   struct part     passes through the states SEND, SENT and LAND. It returns
 *                   to SEND after a time-out, after damage and in a new session
 *   struct store    session, tags and staging of one target */
#ifndef STORAGE_INITIATOR_H
#define STORAGE_INITIATOR_H

#include "host/times.h"
#include "storage/link.h"
#include "storage/pages.h"
#include "weft/disk.h"

enum {
	DISK_REGIONS = 64,
	DISK_BOUNCE = 4 << 20, /* bytes of bounce memory, for user buffers
				* outside regions */
	DISK_FEW = 8,	       /* segments that struct request holds itself */
	DISK_SEGS = 256,
};

struct region {
	uint8_t *p; /* NULL: the entry is free */
	size_t len;
	struct storage_mr mr;
	uint32_t users; /* number of pieces in the region */
};

/* Bytes of a part, in memory of the link. */
struct piece {
	uint8_t *p;
	uint32_t len;
	uint64_t addr, key;
	struct region *region; /* NULL: the piece is in bounce memory */
};

/* Position in the segments of a user's request: segment, and byte in it. */
struct cursor {
	uint32_t seg;
	size_t at;
};

/* A request of the user. */
struct request {
	struct request *next;
	/* op.seg points to `few` or to allocated memory */
	struct weft_disk_op op;
	struct weft_disk_seg few[DISK_FEW];
	uint64_t divided; /* READ, WRITE: number of bytes that have a part.
			   * FLUSH, TRIM, ZERO: number of targets that have a
			   * part */
	struct cursor cursor;
	uint32_t parts; /* number of parts that have not ended */
	bool whole;	/* the request is divided completely */
	/* Masks with a bit for each target. cached: a part of the request ended
	 * while its bytes were in the target's cache only. lost: the target has
	 * lost such bytes. In a FLUSH, `lost` means that the FLUSH reports a
	 * loss of the target. */
	uint64_t cached, lost;
	uint32_t losses; /* value of weft_disk.losses when the FLUSH ended */
	int status;
	weft_time_t submitted, ended;
};

enum part_state {
	PART_FREE,
	PART_SEND, /* data or record are to be sent */
	PART_SENT,
	PART_LAND, /* the target has answered, but transfers still use the
		    * part's memory */
	PART_DEAD, /* timed out: the target may use the part's memory until the
		    * next session */
};

struct part {
	struct part *next; /* next part in store.send */
	struct request *request;
	enum part_state state;
	bool queued;   /* the part is in store.send */
	bool data_due; /* true while this node or the target has to send data */
	bool fresh;    /* READ: the target is to serve it again */
	bool sent;     /* the record was sent in this session */
	bool damaged;  /* the last answer reported damaged data */
	uint8_t code, flags;
	/* newest attempt, and newest attempt with data */
	uint16_t attempt, data_attempt;
	uint32_t tries;
	uint64_t offset, length;
	uint32_t seq, mark, crc;
	uint32_t puts, landed; /* puts: number of puts that the WRITE has sent,
				* or that the DONE of a READ has reported.
				* landed: number of puts that have landed */
	uint64_t ticket;       /* number of the part's last put */
	uint32_t put_at;       /* bytes of data that were put */
	weft_time_t deadline, patience;
	struct piece piece[STORAGE_SEGS];
	uint32_t pieces;
	struct pages_run bounce, stage;
	struct cursor cursor; /* position of the part's first byte */
	uint64_t covers;      /* value of store.ended when the part of a FLUSH
			       * started */
	int status;
};

enum store_state {
	STORE_LOGIN,
	STORE_QUIET, /* puts of the previous session may still land */
	STORE_UP,
	STORE_LOGOUT,
	STORE_OUT,
	STORE_GONE,
};

struct store {
	uint32_t node;
	enum store_state state;
	int why; /* STORE_GONE: reason, negative errno */
	/* epoch of the session, and number of the newest LOGIN */
	uint32_t epoch, number;
	uint16_t login_tries;
	bool login_due;
	weft_time_t login_at, patience, quiet;
	uint64_t size;
	uint32_t sector, max_request;
	uint64_t stage, stage_key;
	struct pages pages; /* pages of the staging */
	struct part *part;
	uint8_t free[STORAGE_DEPTH]; /* ring of free tags */
	uint32_t free_head, free_n;
	struct part *send, **send_tail;
	uint32_t lands;		 /* number of parts in PART_LAND */
	uint64_t ended, covered; /* ended: number of writes that have ended.
				  * covered: number of these writes that a FLUSH
				  * has covered */
	uint32_t loss; /* number of the newest loss that no event has reported,
			* or 0 for none */
	bool blocked;  /* no room for more parts in this pass */
};

struct weft_disk {
	struct weft_host *h;
	struct storage_link *link;
	struct weft_disk_attr attr;
	struct weft_disk_info info;
	struct weft_disk_stats stats;
	struct store *store; /* one store for each target */
	struct region region[DISK_REGIONS];
	uint8_t *bounce;
	struct storage_mr bounce_mr;
	struct pages bounce_pages;
	bool bounce_blocked;
	struct request *requests, *free;
	struct request *divide, **divide_tail;
	struct request *ended, **ended_tail;
	weft_time_t now;   /* time of the current call */
	weft_time_t timer; /* no part has an earlier deadline */
	bool room;	   /* room became free since the last disk_divide */
	bool stuck;	   /* the link had no room */
	uint32_t losses;   /* number of losses of caches so far, all targets
			    * together */
};

/* ---- initiator.c ---- */

/* Ends a request that is divided completely and has no parts left. */
void disk_request_check(struct weft_disk *d, struct request *r);
/* Handles events of the link, sends parts and divides requests. */
void disk_progress(struct weft_disk *d);
/* Returns the time at which disk_progress must run even if no event arrives. */
weft_time_t disk_next(const struct weft_disk *d);

/* ---- initiator_divide.c ---- */

/* Makes parts of waiting requests while tags and memory are free. */
void disk_divide(struct weft_disk *d);

/* ---- initiator_part.c ---- */

/* Allocates a tag and returns its part for the request. A tag must be free. */
struct part *disk_part_new(struct weft_disk *d, struct store *s,
			   struct request *r);
/* Queues a part for sending. */
void disk_part_queue(struct store *s, struct part *p);
/* Ends a part with a status. */
void disk_part_end(struct weft_disk *d, struct store *s, struct part *p,
		   int status);
/* Ends the requests of dead parts. With `free` also frees the parts. The caller
 * sets `free` when the target does not serve the parts any more. */
void disk_dead_end(struct weft_disk *d, struct store *s, bool free);
/* Frees memory and tag of a part. */
void disk_part_free(struct weft_disk *d, struct store *s, struct part *p);
/* Sends a part again, or ends it with `status` if its tries are used up. */
void disk_part_again(struct weft_disk *d, struct store *s, struct part *p,
		     int status);
/* Sends queued parts while the link has room. */
void disk_send(struct weft_disk *d, struct store *s);
/* Handles all parts whose deadline has passed. */
void disk_expire(struct weft_disk *d);
/* Returns the CRC of a part's data, and charges the processor's time for it. */
uint32_t disk_part_crc(struct weft_disk *d, const struct part *p);

/* ---- initiator_answer.c ---- */

/* Handles an answer to a part. */
void disk_answer(struct weft_disk *d, struct store *s,
		 const struct storage_record *rec);
/* Counts a put that has landed. */
void disk_landed(struct weft_disk *d, struct store *s, uint32_t mark);
/* Ends answered parts whose memory no transfer uses any more. */
void disk_settle(struct weft_disk *d, struct store *s);

/* ---- initiator_session.c ---- */

/* Returns true if this session has sent more than attr.tries LOGINs and the
 * target has answered none of them. */
static inline bool disk_silent(const struct weft_disk *d, const struct store *s)
{
	return s->state == STORE_LOGIN && s->login_tries > d->attr.tries;
}
/* Begins a session, in which parts in flight are sent again. */
void disk_login(struct weft_disk *d, struct store *s);
/* Handles a record of the control slot. */
void disk_control(struct weft_disk *d, struct store *s,
		  const struct storage_record *rec);
/* Sends LOGIN or LOGOUT when the next try is due. */
void disk_session(struct weft_disk *d, struct store *s);
/* Ends all parts, because the target will never begin another session. */
void disk_gone(struct weft_disk *d, struct store *s, int status);

/* ---- initiator_memory.c ---- */

/* Returns the region that covers the bytes, or NULL. */
struct region *disk_region(struct weft_disk *d, const void *p, size_t len);
/* With `in` copies n bytes from the user's segments to p, otherwise from p to
 * the segments. `c` is the position in the segments. */
void disk_copy(struct weft_disk *d, const struct request *r, struct cursor c,
	       void *p, size_t n, bool in);
/* Moves a cursor forward by n bytes. */
void disk_skip(const struct request *r, struct cursor *c, size_t n);

#endif
