/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the drive: requests and their ends (drive.c), times of interface
 * and media (drive_times.c), cache (drive_cache.c), loss of power and of
 * requests (drive_loss.c). */
#ifndef STORAGE_DRIVE_INTERNAL_H
#define STORAGE_DRIVE_INTERNAL_H

#include "base/vec.h"
#include "storage/drive.h"
#include "storage/extents.h"

/* A time during which a part of the drive is busy. */
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
	int status;    /* -EIO if a sector of the request is bad, otherwise 0 */
	bool media;    /* the request has a pass */
	bool cached;   /* the request ends in the cache */
	uint64_t room; /* bytes reserved in the cache */
	/* time in which the bytes are on the interface */
	struct drive_span moving;
	struct drive_pass pass;
};

/* A pass from the cache to the medium, or a part of one. If a later write to
 * the medium replaces some bytes of the pass, each remaining extent has a
 * struct of its own. */
struct destage {
	struct extent x;
	uint64_t at, len; /* range of the pass as planned */
	struct drive_pass pass;
	weft_time_t end; /* end of the pass, or of an older pass over the same
			  * range if that pass ends later */
	uint64_t room;	 /* cache room that becomes free at `end`, or 0 if
			  * another part of the pass frees the room */
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
	weft_time_t now; /* time up to which all events have been carried out */
	struct {
		VEC(struct drive_op);
	} ops; /* requests in flight, sorted by end, then by submission */
	struct {
		VEC(struct drive_op);
	} waiting; /* requests without room in the cache, in order */
	struct {
		VEC(struct drive_done);
	} done; /* ended requests, of which drive_poll has returned the first
		 * `taken` */
	size_t taken;
	struct {
		VEC(struct drive_span);
	} interface; /* reservations, sorted by time */
	struct drive_channel *channel;
	struct extents dirty;
	struct {
		VEC(struct destage);
	} out; /* destages in flight, sorted by end. If two destages contain one
		* byte, the later destage has the newer value */
	uint64_t out_room, reserved;
	int error; /* first error of a destage */
	struct {
		VEC(struct drive_bad);
	} bad;
	struct drive_stats stats;
};

/* ---- drive_times.c ---- */

/* Returns a + b, or WEFT_NEVER if the sum is too large. */
static inline weft_time_t time_plus(weft_time_t a, weft_time_t b)
{
	return a > WEFT_NEVER - b ? WEFT_NEVER : a + b;
}

/* Reserves the interface for n bytes, in the first gap at or after `from`. */
struct drive_span drive_move(struct drive *d, weft_time_t from, uint64_t n);
/* Reserves the interface as drive_move does, for bytes that come from the media
 * between `from` and `to`. The transfer does not end before `to`. */
struct drive_span drive_move_behind(struct drive *d, weft_time_t from,
				    weft_time_t to, uint64_t n);
/* Returns the channel that is free first, at or after t. If several channels
 * are free at that time, prefers one whose arm is at byte `at`. */
uint32_t drive_channel(const struct drive *d, weft_time_t t, uint64_t at);
/* Reserves a channel from t on for `len` bytes at `at`. The first byte to write
 * is available at ready.from, the last byte at ready.to. If `ready` is { 0 },
 * all bytes are available at t. */
struct drive_pass drive_pass(struct drive *d, uint32_t channel, weft_time_t t,
			     struct drive_span ready, enum drive_code code,
			     uint64_t at, uint64_t len);
/* Returns how many bytes of a transfer of len bytes have moved at time t.
 * Counts whole sectors only. */
uint64_t drive_moved(const struct drive *d, weft_time_t from, weft_time_t to,
		     uint64_t len, weft_time_t t);

/* ---- drive_cache.c ---- */

/* Plans to destage one extent from t on. Returns the time at which the destage
 * ends. */
weft_time_t drive_destage(struct drive *d, weft_time_t t);
/* Reserves room in the cache at t, and stores in *from_p the time from which
 * the room is free. Destages dirty bytes if necessary. Returns false if the
 * room does not suffice even then. */
bool drive_room(struct drive *d, weft_time_t t, uint64_t room,
		weft_time_t *from_p);
/* Returns true if the cache has all bytes of [at, at + len). */
bool drive_holds(const struct drive *d, uint64_t at, uint64_t len);
/* Stores bytes of a request that has ended in the cache. */
void drive_cache_put(struct drive *d, const struct drive_request *r,
		     uint64_t len);
/* Reads the bytes of a request. Bytes of the cache replace older bytes of the
 * medium. Returns 0 or the medium's error. */
int drive_read(struct drive *d, const struct drive_request *r);
/* Writes the first `len` bytes of a request to the medium, and removes older
 * bytes of this range from the cache. Returns 0 or the medium's error. */
int drive_write_through(struct drive *d, const struct drive_request *r,
			uint64_t len);
/* Writes to the medium the bytes of g that lie within the first `len` bytes of
 * its pass. Returns true if these are all bytes of g. An error is kept for the
 * next flush. */
bool destage_write(struct drive *d, const struct destage *g, uint64_t len);
/* Ends the first destage. */
void drive_destaged(struct drive *d);
/* Forgets all bytes of the cache. */
void drive_cache_clear(struct drive *d);

/* ---- drive.c ---- */

/* Carries out all events up to `now`: ends of requests, starts and ends of
 * destages. */
void drive_advance(struct drive *d, weft_time_t now);

#endif
