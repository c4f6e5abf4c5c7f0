/* SPDX-License-Identifier: Apache-2.0 */
/* Initiator of the block protocol (weft/disk.h): a request of the user is
 * divided into parts, each a request of the protocol to one target.
 *
 *   user's request   divided while its targets have tags and memory
 *   part             SEND, SENT, LAND; sent again after a time-out, damage, or
 * a new session store            a target as its initiator sees it: session,
 * tags, staging
 */
#ifndef STORAGE_INITIATOR_H
#define STORAGE_INITIATOR_H

#include "host/times.h"
#include "storage/link.h"
#include "storage/pages.h"
#include "weft/disk.h"

enum {
	DISK_REGIONS = 64,
	DISK_BOUNCE = 4 << 20, /* bytes for buffers outside of regions */
	DISK_FEW = 8,	       /* segments without memory of their own */
	DISK_SEGS = 256,
};

struct region {
	uint8_t *p; /* NULL: free */
	size_t len;
	struct storage_mr mr;
	uint32_t users; /* pieces of parts */
};

/* Bytes of a part, in memory of the link. */
struct piece {
	uint8_t *p;
	uint32_t len;
	uint64_t addr, key;
	struct region *region; /* NULL: bounce */
};

/* Place in the segments of a user's request. */
struct cursor {
	uint32_t seg;
	size_t at;
};

/* A request of the user. */
struct request {
	struct request *next;
	struct weft_disk_op op; /* op.seg is `few` or memory of its own */
	struct weft_disk_seg few[DISK_FEW];
	uint64_t divided; /* bytes; or targets */
	struct cursor cursor;
	uint32_t parts; /* that have not ended */
	bool whole;	/* divided to the end */
	/* Targets as bits.  `cached`: parts have ended there, in the cache.
	 * `lost`: it has lost such parts; of a FLUSH: it names their losses. */
	uint64_t cached, lost;
	uint32_t losses; /* of weft_disk, when a FLUSH ended */
	int status;
	weft_time_t submitted, ended;
};

enum part_state {
	PART_FREE,
	PART_SEND, /* data or record are to be sent */
	PART_SENT,
	PART_LAND, /* answered: its memory is still written or read */
	PART_DEAD, /* ended in vain: its memory waits for the next session */
};

struct part {
	struct part *next; /* of those that send */
	struct request *request;
	enum part_state state;
	bool queued;   /* stands in store.send */
	bool data_due; /* data are to be sent, by this node or the target */
	bool fresh;    /* READ: the target is to serve it again */
	bool sent;     /* in this session */
	bool damaged;  /* the last answer said so */
	uint8_t code, flags;
	uint16_t attempt, data_attempt; /* newest; newest with data */
	uint32_t tries;
	uint64_t offset, length;
	uint32_t seq, mark, crc;
	uint32_t puts, landed; /* WRITE: sent; READ: said by DONE, and here */
	uint64_t ticket;       /* of its last put */
	uint32_t put_at;       /* bytes of data that were put */
	weft_time_t deadline, patience;
	struct piece piece[STORAGE_SEGS];
	uint32_t pieces;
	struct pages_run bounce, stage;
	struct cursor cursor; /* of its first byte */
	uint64_t covers;      /* FLUSH: writes that had ended */
	int status;
};

enum store_state {
	STORE_LOGIN,
	STORE_QUIET, /* puts of the session before may still land */
	STORE_UP,
	STORE_LOGOUT,
	STORE_OUT,
	STORE_GONE,
};

struct store {
	uint32_t node;
	enum store_state state;
	int why;		/* GONE */
	uint32_t epoch, number; /* number of the LOGIN */
	uint16_t login_tries;
	bool login_due;
	weft_time_t login_at, patience, quiet;
	uint64_t size;
	uint32_t sector, max_request;
	uint64_t stage, stage_key;
	struct pages pages; /* of the staging */
	struct part *part;
	uint8_t free[STORAGE_DEPTH]; /* ring of tags */
	uint32_t free_head, free_n;
	struct part *send, **send_tail;
	uint32_t lands;		 /* parts in PART_LAND */
	uint64_t ended, covered; /* writes; those that a FLUSH has covered */
	uint32_t loss;		 /* that no event has named; 0: none */
	bool blocked;		 /* no room for more parts in this pass */
};

struct weft_disk {
	struct weft_host *h;
	struct storage_link *link;
	struct weft_disk_attr attr;
	struct weft_disk_info info;
	struct weft_disk_stats stats;
	struct store *store; /* attr.targets of them */
	struct region region[DISK_REGIONS];
	uint8_t *bounce;
	struct storage_mr bounce_mr;
	struct pages bounce_pages;
	bool bounce_blocked;
	struct request *requests, *free;
	struct request *divide, **divide_tail;
	struct request *ended, **ended_tail;
	weft_time_t now;   /* of this call */
	weft_time_t timer; /* no part has an earlier deadline */
	bool room;	   /* since the last pass of dividing */
	bool stuck;	   /* the link had no room */
	uint32_t losses;   /* of caches, all targets */
};

/* ---- initiator.c ---- */

/* Records that a request, divided to its end, has no parts left. */
void disk_request_check(struct weft_disk *d, struct request *r);
/* Takes events of the link, sends and divides. */
void disk_progress(struct weft_disk *d);
/* Returns the time at which progress has something to do without an event. */
weft_time_t disk_next(const struct weft_disk *d);

/* ---- initiator_divide.c ---- */

/* Makes parts of waiting requests while there is room. */
void disk_divide(struct weft_disk *d);

/* ---- initiator_part.c: from the first byte to the answer ---- */

/* Takes a free tag.  There must be one. */
struct part *disk_part_new(struct weft_disk *d, struct store *s,
			   struct request *r);
/* Queues a part for sending. */
void disk_part_queue(struct store *s, struct part *p);
/* Ends a part with a status. */
void disk_part_end(struct weft_disk *d, struct store *s, struct part *p,
		   int status);
/* Ends the requests of dead parts; `free`: and frees the parts, because the
 * target does not serve them any more. */
void disk_dead_end(struct weft_disk *d, struct store *s, bool free);
/* Frees memory and tag of a part. */
void disk_part_free(struct weft_disk *d, struct store *s, struct part *p);
/* Sends it once more, unless its tries are used up: then it ends. */
void disk_part_again(struct weft_disk *d, struct store *s, struct part *p,
		     int status);
/* Sends what waits, while the link has room. */
void disk_send(struct weft_disk *d, struct store *s);
/* Looks at all deadlines. */
void disk_expire(struct weft_disk *d);
/* Charges for, and returns, the CRC of a part's data. */
uint32_t disk_part_crc(struct weft_disk *d, const struct part *p);

/* ---- initiator_answer.c ---- */

/* Takes an answer to a part. */
void disk_answer(struct weft_disk *d, struct store *s,
		 const struct storage_record *rec);
/* Counts a put that has landed. */
void disk_landed(struct weft_disk *d, struct store *s, uint32_t mark);
/* Ends parts whose memory is free again. */
void disk_settle(struct weft_disk *d, struct store *s);

/* ---- initiator_session.c ---- */

/* Returns true if the store has not answered a LOGIN in all tries. */
static inline bool disk_silent(const struct weft_disk *d, const struct store *s)
{
	return s->state == STORE_LOGIN && s->login_tries > d->attr.tries;
}
/* Begins a session; parts in flight go into the next one. */
void disk_login(struct weft_disk *d, struct store *s);
/* Takes a record of the control slot. */
void disk_control(struct weft_disk *d, struct store *s,
		  const struct storage_record *rec);
/* Sends LOGIN or LOGOUT when it is time. */
void disk_session(struct weft_disk *d, struct store *s);
/* Ends all parts: no session will come. */
void disk_gone(struct weft_disk *d, struct store *s, int status);

/* ---- initiator_memory.c ---- */

/* Returns the region that covers the bytes, or NULL. */
struct region *disk_region(struct weft_disk *d, const void *p, size_t len);
/* Copies n bytes between the user's segments, from `c` on, and p. */
void disk_copy(struct weft_disk *d, const struct request *r, struct cursor c,
	       void *p, size_t n, bool in);
/* Moves a cursor. */
void disk_skip(const struct request *r, struct cursor *c, size_t n);

#endif
