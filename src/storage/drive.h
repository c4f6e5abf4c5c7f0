/* SPDX-License-Identifier: Apache-2.0 */
/* A drive: when a request ends, and the bytes.
 *
 * The drive is arithmetic: drive_submit computes the times of a request, and
 * drive_poll gives the ends that are due.  Bytes move at the end of a request,
 * between the caller's buffer and the medium, without processor time, because a
 * drive has a DMA engine and a bus of its own.
 *
 *   interface   one request after the other, at `interface_rate`
 *   cache       writes end here while it has room (write-back); reads of bytes
 *               in it skip the mechanics; a flush waits until it is empty.  It
 *               is volatile: drive_power_lost forgets it
 *   media       `channels` requests at a time (1: a disk with one arm), each
 *               after its access time, at `media_rate` / channels
 *
 * Access time: `latency`, and on a disk (seek_max > 0) a seek over the distance
 * d of the disk's length, seek_min + (seek_max - seek_min) * sqrt(d), none if
 * d = 0, and half a turn.  Sequential requests pay neither. */
#ifndef STORAGE_DRIVE_H
#define STORAGE_DRIVE_H

#include "weft/sim.h"

struct drive;

/* Parameters; DRIVE_PARAMS has defaults, ranges and sources. */
struct drive_config {
	uint64_t size;	 /* bytes */
	uint32_t sector; /* 512 or 4096 */
	uint32_t queue;	 /* requests that the drive holds */
	uint32_t channels;
	weft_time_t latency, seek_min, seek_max, turn;
	double media_rate, interface_rate; /* bytes per second; 0: no limit */
	uint64_t cache;	  /* bytes; 0: write-through */
	char file[128];	  /* sparse file that outlives the run; "": memory */
	char bad[128];	  /* sectors that cannot be read or written: 5,9..12 */
};

enum drive_code { DRIVE_READ, DRIVE_WRITE, DRIVE_FLUSH, DRIVE_TRIM, DRIVE_ZERO };

struct drive_request {
	enum drive_code code;
	bool fua;
	uint64_t offset, length; /* inside of the drive: checked by the caller */
	void *data;		 /* READ, WRITE: stays until the end */
	void *ctx;
};

struct drive_end {
	void *ctx;
	int status; /* 0, -EIO (bad sector, file), -ENOSPC (file) */
};

struct drive_stats {
	uint64_t reads, writes, flushes, trims;
	uint64_t read_bytes, write_bytes, cached_bytes, destaged_bytes;
	uint64_t bad, queue_max;
	weft_time_t busy; /* of the media, channels together */
};

/* Makes a drive.  Returns NULL after writing the reason to why: a file that
 * cannot be opened or locked (another run uses it) or is larger than `size`, a
 * list of bad sectors that cannot be read, no memory. */
struct drive *drive_new(const struct drive_config *cfg, char *why, size_t n);
/* Writes what the cache holds to the medium, and frees the drive. */
void drive_free(struct drive *d);
/* Returns the drive's parameters. */
const struct drive_config *drive_config(const struct drive *d);
/* Starts a request at `now`, not earlier than the last call.  Returns false if
 * the queue is full. */
bool drive_submit(struct drive *d, weft_time_t now,
		  const struct drive_request *r);
/* Takes the earliest end that is due at `now`.  Returns false if none is. */
bool drive_poll(struct drive *d, weft_time_t now, struct drive_end *end_p);
/* Returns the time of the earliest end, or WEFT_NEVER. */
weft_time_t drive_next(const struct drive *d);
/* Loses the power at `now`: requests in flight end without drive_poll, and may
 * or may not have reached the medium (whole sectors); bytes in the cache that
 * were not destaged yet are as before their writes. Returns true if written
 * bytes were lost that had ended. */
bool drive_power_lost(struct drive *d, weft_time_t now);
/* Forgets requests in flight, which may or may not have happened, but keeps the
 * cache: the software above restarts, the drive does not. */
void drive_abandon(struct drive *d, weft_time_t now);
/* Returns the counts since drive_new. */
struct drive_stats drive_stats(const struct drive *d);

/* ---- medium.c: bytes, 64 KB at a time, zero where nothing was written ---- */

struct medium;
/* path "": memory.  Returns NULL with the reason in why. */
struct medium *medium_new(const char *path, uint64_t size, char *why, size_t n);
void medium_free(struct medium *m);
/* Each returns 0, or -EIO or -ENOSPC of the file. */
int medium_read(struct medium *m, uint64_t at, void *p, size_t n);
int medium_write(struct medium *m, uint64_t at, const void *p, size_t n);
/* Makes bytes zero and frees whole pieces. */
int medium_zero(struct medium *m, uint64_t at, uint64_t n);
/* Makes bytes of the file outlive this machine's crash.  Returns 0 or -EIO. */
int medium_sync(struct medium *m);
/* Returns bytes that take memory or place in the file. */
uint64_t medium_used(const struct medium *m);

#endif
