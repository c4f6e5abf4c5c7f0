/* SPDX-License-Identifier: Apache-2.0 */
/* A drive: computes when each request ends, and stores the bytes.
 *
 * The drive has no events of the simulator. drive_submit computes the times of
 * a request, and drive_poll returns the requests that have ended. Results
 * depend on the times of submissions alone, not on the times of polls. Bytes
 * move at the end of a request, between the caller's buffer and the medium,
 * without processor time, because a drive has a DMA engine and its own bus.
 *
 *   interface   transfers one request after the other, at `interface_rate`
 *   cache       a write ends when its bytes are in the cache (write-back), and
 *               waits if the cache has no room. A write that is larger than the
 *               cache, or that has FUA, goes to the media. Reads of cached
 *               bytes skip the mechanics. Cached bytes are destaged whenever a
 *               channel of the media is idle. A flush destages all cached
 *               bytes, before requests that are submitted later.
 *               drive_power_lost drops the cached bytes.
 *   media       serve `channels` requests at a time (1: a disk with one arm),
 *               each after its access time, at `media_rate` / channels. Bytes
 *               pass interface and media at the same time.
 *
 * The access time is `latency`, and on a disk (seek_max > 0) also a seek and
 * half a turn. A seek over the distance d, a fraction of the disk's length,
 * takes seek_min + (seek_max - seek_min) * sqrt(d). Sequential requests (d = 0)
 * need neither the seek nor the half turn. TRIM needs only `latency`, because
 * it changes the drive's table. ZERO occupies the media as long as WRITE. TRIM
 * and ZERO do not occupy the interface.
 *
 * A request sees the effects of all requests that ended before it. Requests in
 * flight take effect in the order in which they end. */
#ifndef STORAGE_DRIVE_H
#define STORAGE_DRIVE_H

#include "weft/sim.h"

struct drive;

/* Parameters of a drive. DRIVE_PARAMS has their defaults, ranges and
 * sources. */
struct drive_config {
	uint64_t size;	 /* bytes */
	uint32_t sector; /* 512 or 4096 */
	uint32_t queue;	 /* largest number of requests in the drive */
	uint32_t channels;
	weft_time_t latency, seek_min, seek_max, turn;
	uint64_t media_rate, interface_rate; /* bit/s, or 0 for no limit */
	uint64_t cache;			     /* bytes, or 0 for write-through */
	char file[128]; /* sparse file that outlives the run, or "" for
			 * memory */
	char bad[128];	/* list of sectors that cannot be read or written, such
			 * as 5,9..12 */
};

// clang-format off
/* Row of DRIVE_PARAMS: a WEFT_PARAM for a field of a struct inside the
 * state. */
#define DRIVE_PARAM(type_, state_, drive_, field_, def_, range_, doc_)         \
	{                                                                      \
		.name = #field_, .type = WEFT_P_##type_,                       \
		.offset = offsetof(state_, drive_.field_),                     \
		.size = sizeof(((state_ *)0)->drive_.field_), .def = def_,     \
		.range = range_, .source = WEFT_OWN, .doc = doc_,              \
	}
/* Parameters of a class whose state has a struct drive_config as `drive_`.  The
 * defaults are those of preset `memory`. */
#define DRIVE_PARAMS(state_, drive_)                                           \
	DRIVE_PARAM(BYTES, state_, drive_, size, "1GiB", "4KiB..",             \
		    "bytes of the drive"),                                     \
	DRIVE_PARAM(U32, state_, drive_, sector, "512", "512|4096",            \
		    "bytes of a sector"),                                      \
	DRIVE_PARAM(U32, state_, drive_, queue, "128", "1..65536",             \
		    "requests that the drive holds"),                          \
	DRIVE_PARAM(U32, state_, drive_, channels, "1", "1..1024",             \
		    "requests that the media serve at a time"),                \
	DRIVE_PARAM(TIME, state_, drive_, latency, "0", "",                    \
		    "of each access to the media"),                            \
	DRIVE_PARAM(TIME, state_, drive_, seek_min, "0", "",                   \
		    "to the next track"),                                      \
	DRIVE_PARAM(TIME, state_, drive_, seek_max, "0", "",                   \
		    "from end to end; 0 = no arm"),                            \
	DRIVE_PARAM(TIME, state_, drive_, turn, "0", "",                       \
		    "of the platter; an access after a seek waits for half"),  \
	DRIVE_PARAM(RATE, state_, drive_, media_rate, "0", "",                 \
		    "of all channels together; 0 = no limit"),                 \
	DRIVE_PARAM(RATE, state_, drive_, interface_rate, "0", "",             \
		    "between drive and memory; 0 = no limit"),                 \
	DRIVE_PARAM(BYTES, state_, drive_, cache, "0", "",                     \
		    "volatile write-back cache; 0 = writes go to the media"),  \
	DRIVE_PARAM(STR, state_, drive_, file, "", "",                         \
		    "sparse file that keeps the bytes; empty = memory"),       \
	DRIVE_PARAM(STR, state_, drive_, bad, "", "",                          \
		    "sectors that cannot be read or written: 5,9..12")
/* Presets of a class with DRIVE_PARAMS. */
#define DRIVE_PRESETS                                                          \
	{ "memory", "channels=1 latency=0 seek_min=0 seek_max=0 turn=0 "       \
	  "media_rate=0 interface_rate=0 cache=0",                             \
	  "no latency, no limit: the network alone" },                         \
	{ "disk", "channels=1 latency=0 seek_min=0.8ms seek_max=15ms "         \
	  "turn=8.333ms media_rate=60MB/s interface_rate=100MB/s cache=8MiB",  \
	  "7200-turn ATA-100 disk of 2004, as Seagate Barracuda 7200.7; "      \
	  "mean seek 8.4 ms, there 8.5 ms" },                                     \
	{ "flash", "channels=8 latency=60us seek_min=0 seek_max=0 turn=0 "     \
	  "media_rate=2GB/s interface_rate=3.938GB/s cache=8MiB",              \
	  "flash on four lanes of PCI Express 3.0 (8 GT/s, 128b/130b); "       \
	  "latency, channels, rate: round numbers" }
// clang-format on

enum drive_code {
	DRIVE_READ,
	DRIVE_WRITE,
	DRIVE_FLUSH,
	DRIVE_TRIM,
	DRIVE_ZERO
};

struct drive_request {
	enum drive_code code;
	bool fua;
	/* whole sectors inside the drive, which the caller has checked */
	uint64_t offset, length;
	void *data; /* READ, WRITE: valid until the request ends */
	void *ctx;
};

struct drive_end {
	void *ctx;
	/* 0, -EIO (bad sector, file), -ENOSPC (file). A write that fails at a
	 * bad sector has changed no bytes. A write that fails at the file may
	 * have changed some of its bytes. After an error of the file during
	 * destaging each FLUSH returns the error, because written bytes are
	 * lost. */
	int status;
};

struct drive_stats {
	uint64_t reads, writes, flushes, trims;
	uint64_t read_bytes, write_bytes, cached_bytes, destaged_bytes;
	uint64_t bad, queue_max;
	weft_time_t busy; /* time in which the media were busy, sum of all
			   * channels */
};

/* Makes a drive. Returns NULL after writing the reason to `why`. Reasons: the
 * file cannot be opened, or another run has locked it. The size of the file is
 * neither 0 nor `size`. The list of bad sectors is not valid. Parameters
 * contradict each other. */
struct drive *drive_new(const struct drive_config *cfg, char *why, size_t n);
/* Writes the bytes of the cache to the medium, and frees the drive. Requests in
 * flight have no effect. */
void drive_free(struct drive *d);
/* Returns the drive's parameters. */
const struct drive_config *drive_config(const struct drive *d);
/* Starts a request at `now`, which must not be earlier than in the last call.
 * Returns false if the queue is full. */
bool drive_submit(struct drive *d, weft_time_t now,
		  const struct drive_request *r);
/* Stores the next request that has ended by `now` in *end_p. Returns false if
 * there is none. */
bool drive_poll(struct drive *d, weft_time_t now, struct drive_end *end_p);
/* Returns the end time, which may be past, of the next request that drive_poll
 * will return, or WEFT_NEVER. */
weft_time_t drive_next(const struct drive *d);
/* Simulates a loss of power at `now`. Drops requests in flight, and drive_poll
 * does not report their ends. A write to the media that was interrupted has
 * changed its first sectors, up to the sector that it had reached. Writes that
 * have reached only the cache are lost, and the old bytes remain on the medium.
 * The drive serves again at once. Returns true if bytes of ended writes were
 * lost. */
bool drive_power_lost(struct drive *d, weft_time_t now);
/* Forgets requests in flight. An interrupted write has changed its first
 * sectors, up to the sector that it had reached. Keeps the cache, because the
 * software above the drive restarts, but the drive does not. */
void drive_abandon(struct drive *d, weft_time_t now);
/* Returns the counts since drive_new. */
struct drive_stats drive_stats(const struct drive *d);

/* ---- medium.c: stores the drive's bytes in pieces of 64 KB ---- */

struct medium;
/* Makes a medium of `size` bytes, in memory if path is "", otherwise in a file.
 * A new or empty file is extended. A file of `size` bytes keeps its bytes.
 * Returns NULL with the reason in why. */
struct medium *medium_new(const char *path, uint64_t size, char *why, size_t n);
void medium_free(struct medium *m);
/* Functions that access [at, at + n). Each returns 0, or the error of the file:
 * -EIO or -ENOSPC. A process that limits the size of its files (RLIMIT_FSIZE)
 * must ignore SIGXFSZ. */
int medium_read(struct medium *m, uint64_t at, void *p, size_t n);
int medium_write(struct medium *m, uint64_t at, const void *p, size_t n);
/* Makes bytes zero and frees whole pieces. */
int medium_zero(struct medium *m, uint64_t at, uint64_t n);
/* Makes the bytes of the file survive a crash of this machine. Returns 0 or
 * -EIO. */
int medium_sync(struct medium *m);
/* Returns the number of bytes that occupy memory or blocks of the file. */
uint64_t medium_used(const struct medium *m);

#endif
