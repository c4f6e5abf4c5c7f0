/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the drive: requests and their ends (drive.c), times of interface
 * and media (drive_times.c), cache (drive_cache.c), loss of power and of
 * requests (drive_loss.c). */
#ifndef STORAGE_DRIVE_INTERNAL_H
#define STORAGE_DRIVE_INTERNAL_H

#include "base/vec.h"
#include "storage/drive.h"
#include "storage/extents.h"

/* A time during which a part of the drive is taken. */
struct drive_span {
	weft_time_t from, to;
};

/* A use of the media: the access begins at `from`, the bytes move between
 * `data` and `to`. */
struct drive_pass {
	uint32_t channel;
	weft_time_t from, data, to;
};

struct drive_channel {
	weft_time_t free;
	uint64_t at; /* byte behind the last pass */
};

/* A request in flight. */
struct drive_op {
	struct drive_request r;
	weft_time_t end;
	int status;		  /* already known: of a bad sector */
	bool media;		  /* has a pass */
	bool cached;		  /* ends in the cache */
	uint64_t room;		  /* reserved in the cache */
	struct drive_span moving; /* bytes on the interface */
	struct drive_pass pass;
};

/* Bytes on their way from the cache to the medium.  A pass and what is left of
 * its bytes, because a later write to the medium may replace them first. */
struct destage {
	struct extent x;
	uint64_t at, len; /* as planned */
	struct drive_pass pass;
	weft_time_t end; /* of the pass, or of an older one of these bytes */
	uint64_t room;	 /* free at the end; 0: another part of the pass has
			  * it */
};

struct drive_done {
	struct drive_end end;
	weft_time_t at;
};

struct drive_bad {
	uint64_t first, last; /* sectors */
};

struct drive {
	struct drive_config cfg;
	struct medium *medium;
	weft_time_t now; /* everything before has happened */
	struct {
		VEC(struct drive_op);
	} ops; /* by end; then by submission */
	struct {
		VEC(struct drive_op);
	} waiting; /* requests without room in the cache, in order */
	struct {
		VEC(struct drive_done);
	} done; /* from `taken` on: ends that drive_poll will give */
	size_t taken;
	struct {
		VEC(struct drive_span);
	} interface; /* by time */
	struct drive_channel *channel;
	struct extents dirty;
	struct {
		VEC(struct destage);
	} out; /* by end.  Of two of one byte the later one is newer */
	uint64_t out_room, reserved;
	int error; /* the first one of a destage */
	struct {
		VEC(struct drive_bad);
	} bad;
	struct drive_stats stats;
};

/* ---- drive_times.c ---- */

/* Returns a + b, or WEFT_NEVER if that is beyond all times. */
static inline weft_time_t time_plus(weft_time_t a, weft_time_t b)
{
	return a > WEFT_NEVER - b ? WEFT_NEVER : a + b;
}

/* Takes the interface for n bytes, from the first gap behind `from` on. */
struct drive_span drive_move(struct drive *d, weft_time_t from, uint64_t n);
/* As drive_move, but the bytes arrive at the interface from `from` on and are
 * complete at `to`, so that they do not leave earlier. */
struct drive_span drive_move_behind(struct drive *d, weft_time_t from,
				    weft_time_t to, uint64_t n);
/* Returns the channel that is free first, of several the one whose arm is at
 * this byte. */
uint32_t drive_channel(const struct drive *d, weft_time_t t, uint64_t at);
/* Takes a channel from t on.  The bytes to write are ready in `ready`, the
 * first one at its beginning and the last one at its end; { 0 }: all of them
 * are. */
struct drive_pass drive_pass(struct drive *d, uint32_t channel, weft_time_t t,
			     struct drive_span ready, enum drive_code code,
			     uint64_t at, uint64_t len);
/* Returns the bytes of whole sectors that moved until t. */
uint64_t drive_moved(const struct drive *d, weft_time_t from, weft_time_t to,
		     uint64_t len, weft_time_t t);

/* ---- drive_cache.c ---- */

/* Plans to destage one extent from t on.  Returns its end. */
weft_time_t drive_destage(struct drive *d, weft_time_t t);
/* Reserves room in the cache at t and stores the time from which on there is
 * so much.  Returns false if more room than that of dirty bytes is needed. */
bool drive_room(struct drive *d, weft_time_t t, uint64_t room,
		weft_time_t *from_p);
/* Returns true if the cache holds all of these bytes. */
bool drive_holds(const struct drive *d, uint64_t at, uint64_t len);
/* Stores bytes of a request that has ended in the cache. */
void drive_cache_put(struct drive *d, const struct drive_request *r,
		     uint64_t len);
/* Reads the newest bytes.  Returns 0 or the medium's error. */
int drive_read(struct drive *d, const struct drive_request *r);
/* Writes the first bytes of a request to the medium, and forgets older ones in
 * the cache.  Returns 0 or the medium's error. */
int drive_write_through(struct drive *d, const struct drive_request *r,
			uint64_t len);
/* Writes those bytes of a destage that are among the first `len` ones of its
 * pass.  Returns true if these are all that it has left.  An error is kept for
 * the next flush. */
bool destage_write(struct drive *d, const struct destage *g, uint64_t len);
/* Ends the first destage. */
void drive_destaged(struct drive *d);
/* Forgets all bytes of the cache. */
void drive_cache_clear(struct drive *d);

/* ---- drive.c ---- */

/* Lets everything happen that is due at `now`. */
void drive_advance(struct drive *d, weft_time_t now);

#endif
