/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a list of disk requests and their times from a text in one of two
 * formats.
 *
 * The first format is the default output of blkparse. The requests are the
 * lines of the event that the caller chooses (Q queued, D given to the drive, C
 * ended). The summary of blkparse is ignored:
 *
 *	8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]
 *
 * The second format has values separated by commas. Times are in seconds,
 * offsets and lengths in bytes. The operation is R, W, WF (write with FUA), F
 * (flush), T (trim) or Z (write zeros). A first line of names is ignored, and
 * so is any text behind #:
 *
 *	time,op,offset,bytes
 *	0,W,0,4096
 *	0.000125,F,,
 *
 * Binary files of blktrace are not supported. Requests of kind N are skipped,
 * because they have no data and never reach the medium. */
#ifndef PROGRAMS_BLOCK_TRACE_H
#define PROGRAMS_BLOCK_TRACE_H

#include "weft/disk.h"

enum block_format { BLOCK_AUTO, BLOCK_BLKPARSE, BLOCK_CSV };

enum {
	BLOCK_SECTOR = 512,
	BLOCK_LENGTH_MAX = 64 << 20, /* largest length of a READ or WRITE */
	BLOCK_SECONDS_MAX = 18000,
};

struct block_attr {
	enum block_format format;
	char event;	    /* event of blkparse to read: 'Q', 'D' or 'C' */
	const char *device; /* device of blkparse to read, such as "8,0", or ""
			     * if the text must have one device only */
};

struct block_op {
	weft_time_t time;
	uint64_t offset, length; /* FLUSH: 0, 0 */
	uint32_t line;
	uint8_t code; /* enum weft_disk_code */
	uint8_t flags;
};

struct block_trace {
	struct block_op *op; /* requests, sorted by time, then by line */
	uint32_t n;
};

/* block_trace_load reads a trace from a file. block_trace_parse reads a trace
 * from text, and keeps no reference to the text. Both return a trace that
 * block_trace_free frees, or NULL with the message "LABEL:LINE: reason" in
 * err. */
struct block_trace *block_trace_load(const char *path,
				     const struct block_attr *attr,
				     struct weft_err *err);
struct block_trace *block_trace_parse(const char *label, const char *text,
				      size_t len, const struct block_attr *attr,
				      struct weft_err *err);
/* Frees t, which may be NULL. */
void block_trace_free(struct block_trace *t);

#endif
