/* SPDX-License-Identifier: Apache-2.0 */
/* Use of a remote disk by a program. Opens the disk, keeps requests with their
 * own buffers in flight, and compares every byte with a model. */
#ifndef PROGRAMS_DISK_USER_H
#define PROGRAMS_DISK_USER_H

#include "programs/program.h"
#include "storage/shadow.h"
#include "weft/disk.h"

enum { DISK_USER_SEGS = 256, DISK_USER_ERRORS = 7 };

/* Layout of the jobs' buffers. Consecutive buffers start a multiple of 64 bytes
 * apart. */
struct disk_bufs {
	uint64_t bytes;	   /* size of each buffer */
	uint32_t misalign; /* offset of each buffer modulo 64, 0..63 */
	uint32_t segments; /* segments of a request, 1..DISK_USER_SEGS */
	uint32_t tail;	   /* bytes behind the last buffer */
};

/* A request, in flight or free. */
struct disk_job {
	struct disk_job *next;
	struct weft_disk_op op;
	struct weft_disk_seg seg[DISK_USER_SEGS];
	uint8_t *buf;
	uint64_t first;	  /* first sector in the model */
	uint32_t version; /* WRITE: version of its sectors */
	uint64_t mark;	  /* FLUSH: mark of shadow_flush */
};

struct disk_user {
	/* parameters */
	char to[64];
	uint32_t link, notify, cluster, check, tries, stripe, target_depth;
	weft_time_t timeout;
	uint32_t depth;
	bool use_irq, registered, verify, history, expect_errors;
	/* set by the program */
	bool counts; /* requests that end now are part of the result */
	/* run */
	struct program w;
	struct weft_disk *d;
	const struct weft_disk_info *info;
	struct shadow *shadow;
	struct disk_job *job, *free;
	uint8_t *mem;
	uint32_t in_flight, segments;
	uint64_t ended[WEFT_DISK_ZERO + 1], moved, failed[DISK_USER_ERRORS];
	struct weft_hist *latency;
};

// clang-format off
#define DISK_USER_PARAM(type_, state_, user_, field_, def_, range_, doc_)      \
	{                                                                      \
		.name = #field_, .type = WEFT_P_##type_,                       \
		.offset = offsetof(state_, user_.field_),                      \
		.size = sizeof(((state_ *)0)->user_.field_), .def = def_,      \
		.range = range_, .source = WEFT_OWN, .doc = doc_,              \
	}
/* Parameters of a class whose state has a struct disk_user as `user_`:
 * parameters of the disk, `depth`, and parameters of the model. The class
 * chooses the default of `depth`. */
#define DISK_USER_PARAMS_DISK(state_, user_)                                   \
	DISK_USER_PARAM(STR, state_, user_, to, "1", "",                       \
			"nodes of the targets: 1,2,4..6"),                     \
	DISK_USER_PARAM(ENUM, state_, user_, link, "auto", "auto|native|ep",   \
			"carrier of the protocol; auto = native where the "    \
			"NIC has one"),                                        \
	DISK_USER_PARAM(ENUM, state_, user_, notify, "request",                \
			"request|page|packet",                                 \
			"native link: what raises a notification"),            \
	DISK_USER_PARAM(U32, state_, user_, cluster, "0", "",                  \
			"native link: transfers of one start; 0 = all"),       \
	DISK_USER_PARAM(ENUM, state_, user_, check, "none", "none|crc32c",     \
			"of the data, end to end"),                            \
	DISK_USER_PARAM(BOOL, state_, user_, use_irq, "no", "",                \
			"sleep instead of spinning"),                          \
	DISK_USER_PARAM(U32, state_, user_, stripe, "65536", "4096..",         \
			"bytes on one target"),                                \
	DISK_USER_PARAM(U32, state_, user_, target_depth, "128", "1..128",     \
			"requests in flight to a target"),                     \
	DISK_USER_PARAM(TIME, state_, user_, timeout, "0", "",                 \
			"of the first try; 0 = the library's"),                \
	DISK_USER_PARAM(U32, state_, user_, tries, "0", "0..60000",            \
			"of a request; 0 = the library's")
#define DISK_USER_PARAM_DEPTH(state_, user_, def_, doc_)                       \
	DISK_USER_PARAM(U32, state_, user_, depth, def_, "1..1024", doc_)
#define DISK_USER_PARAMS_MODEL(state_, user_)                                  \
	DISK_USER_PARAM(BOOL, state_, user_, registered, "yes", "",            \
			"buffers are regions of the NIC"),                     \
	DISK_USER_PARAM(BOOL, state_, user_, verify, "yes", "",                \
			"compare every byte with a model"),                    \
	DISK_USER_PARAM(BOOL, state_, user_, history, "no", "",                \
			"the model expects that the drive loses its cache"),   \
	DISK_USER_PARAM(BOOL, state_, user_, expect_errors, "no", "",          \
			"requests may fail")
// clang-format on

/* Opens the disk. Returns as weft_disk_open does. */
int disk_user_open(struct disk_user *u, struct weft_comp *c);
/* Makes `depth` jobs with buffers, and with `verify` a model of `sectors`.
 * Returns 0, -ENOMEM, or an error of weft_disk_reg. */
int disk_user_jobs(struct disk_user *u, const struct disk_bufs *b,
		   uint64_t sectors);
/* Closes the disk and frees everything. May be called after a failed open. */
void disk_user_close(struct disk_user *u);

/* Returns a free job, whose op is empty. Polls until a job is free. */
struct disk_job *disk_user_take(struct disk_user *u);
/* Gives back a job that was not submitted. */
void disk_user_untake(struct disk_user *u, struct disk_job *j);
/* Starts the request j->op, whose sectors begin with j->first in the model.
 * Returns false, doing nothing, if a request in flight uses one of these
 * sectors, because the order of the two would be undefined. */
bool disk_user_submit(struct disk_user *u, struct disk_job *j);
/* Handles ended requests. If no request has ended, waits until one ends, but
 * not beyond `until`. */
void disk_user_poll(struct disk_user *u, weft_time_t until);
/* Waits for the ends of all requests. */
void disk_user_drain(struct disk_user *u);
/* Flushes the writes that have ended, and waits for the ends of all
 * requests. */
void disk_user_flush(struct disk_user *u);

/* Three functions that write metrics. disk_user_report_codes writes the number
 * of ended requests for each code up to `last`. disk_user_report_rates writes
 * bandwidth and rate of `requests` requests that ended within the time `took`.
 * disk_user_report_library writes the counters of the library and the number of
 * requests that ended with each error. */
void disk_user_report_codes(struct disk_user *u, enum weft_disk_code last);
void disk_user_report_rates(struct disk_user *u, weft_time_t took,
			    uint64_t requests);
void disk_user_report_library(struct disk_user *u);

#endif
