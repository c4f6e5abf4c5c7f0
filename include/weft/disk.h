/* SPDX-License-Identifier: Apache-2.0 */
/* Remote disks: blocks on drives of other nodes, over any NIC.
 *
 * A disk joins one or several targets (program disk.target) into one array of
 * bytes.  An initiator submits requests and polls their ends; nothing calls
 * back.  One thread uses a disk at a time.  docs/storage.md has the protocol.
 *
 * Order.  Requests in flight are served in any order.  A request that was
 * submitted after the end of another one finds its effect.  FLUSH, and a WRITE
 * or ZERO with FUA, end when the bytes of all writes that had ended before (of
 * this write) are on the medium.
 *
 * Memory.  A request uses its buffers until its event has been polled.  Buffers
 * in a region of weft_disk_reg are read and written in place by the NIC; others
 * are copied through pages of the library.
 *
 * Time.  submit and poll take processor time, never more than they need.  Only
 * `wait` waits.  A request without an answer is sent again after `timeout`,
 * then after twice as long, and so on; after `tries` it ends with -ETIMEDOUT.
 */
#ifndef WEFT_DISK_H
#define WEFT_DISK_H

#include <sys/types.h>

#include "weft/host.h"

WEFT_C_BEGIN

struct weft_disk;

enum { WEFT_DISK_TARGETS = 64 };

/* Checks of data, beside those of the network. */
enum weft_disk_check {
	WEFT_DISK_CHECK_NONE,	/* the link's own CRC alone */
	WEFT_DISK_CHECK_CRC32C, /* from memory to memory; wrong data are sent
				 * again */
};

struct weft_disk_attr {
	uint32_t target[WEFT_DISK_TARGETS]; /* nodes of the targets */
	uint32_t targets;		    /* 0: one, node 1 */
	uint32_t stripe; /* bytes on one target before those on the next, a
			  * multiple of 4096; 0: 65536 */
	uint32_t depth;	 /* requests in flight to a target, 1..128; 0: 128 */
	enum weft_disk_check check;
	bool use_irq;	     /* wait sleeps instead of spinning */
	const char *link;    /* "native", "ep"; NULL: native where the system
			      * has one */
	const char *notify;  /* of the native link, see docs/storage.md;
			      * NULL: "request" */
	uint32_t cluster;    /* transfers released by one start; 0: all */
	weft_time_t timeout; /* of the first try; 0: 5 ms */
	uint32_t tries;	     /* of a request; 0: 12 */
};

struct weft_disk_info {
	uint64_t size;	      /* bytes */
	uint32_t sector;      /* 512 or 4096: offset and length are multiples */
	uint32_t max_request; /* bytes that one request of the protocol moves;
			       * larger ones are divided */
	uint32_t targets;
	const char *link; /* "native" or "ep" */
	const char *nic;  /* system of the NIC */
};

enum weft_disk_code {
	WEFT_DISK_READ,
	WEFT_DISK_WRITE,
	WEFT_DISK_FLUSH, /* offset and length are not read */
	WEFT_DISK_TRIM,	 /* the bytes read as zeros; the medium may free them */
	WEFT_DISK_ZERO,	 /* as WRITE of zeros, without data */
};

enum {
	WEFT_DISK_FUA = 1 << 0, /* WRITE, ZERO: on the medium when it ends */
};

struct weft_disk_seg {
	void *p;
	size_t len;
};

/* One request.  Segments together have `length` bytes; each has any length and
 * any address. */
struct weft_disk_op {
	enum weft_disk_code code;
	uint32_t flags;
	uint64_t offset, length;
	const struct weft_disk_seg *seg; /* READ, WRITE; copied by submit */
	uint32_t segs;			 /* 1..256 */
	void *ctx;			 /* given back in the event */
};

struct weft_disk_event {
	/* 0, or
	 *   -EIO        the medium cannot read or write a sector
	 *   -ENODEV     the drive is gone
	 *   -EBADMSG    data arrived damaged in every try
	 *   -ESTALE     FLUSH: writes that had ended were lost with the drive's
	 *               cache; each FLUSH that ends until poll has
	 *              given one such event
	 *   -ETIMEDOUT  no answer in all tries; the request may still happen
	 *               until one that was submitted later has ended, and bytes
	 *               of a READ may come late if its target is silent
	 *   -ENOSPC     the file behind the drive cannot grow */
	int status;
	void *ctx;
	weft_time_t submitted, ended;
};

/* Counts since open. */
struct weft_disk_stats {
	uint64_t requests; /* of the protocol, without tries again */
	uint64_t retries;  /* sent again after a time-out */
	uint64_t damaged;  /* sent again because of a wrong CRC */
	uint64_t stale;	   /* records of an older try or session */
	uint64_t sessions; /* restarts of targets that were noticed */
	uint64_t read_bytes, write_bytes;
};

/* Opens a disk and logs in at its targets: returns when all have answered.
 * attr NULL: defaults.  Returns
 *   0             *d_p, which the caller closes
 *   -ENODEV       no device, or one that no library serves
 *   -EINVAL       a value of attr out of range, a target that is not a node or
 *                 stands twice, targets of different sector size
 *   -EOPNOTSUPP   no such link on this NIC
 *   -ENOMEM       no memory
 *   -ETIMEDOUT    a target has not answered in all tries */
int weft_disk_open(struct weft_host *h, const struct weft_disk_attr *attr,
		   struct weft_disk **d_p);
/* Logs out and frees the disk.  Requests in flight end without an event and may
 * or may not have happened; a caller that wants their events waits first. */
void weft_disk_close(struct weft_disk *d);
/* Returns sizes; valid until close. */
const struct weft_disk_info *weft_disk_info(const struct weft_disk *d);

/* Makes device-visible memory (weft_mem_alloc) a region that the NIC reads and
 * writes in place.  The memory stays the caller's and stays allocated until
 * weft_disk_dereg or close.  Returns 0, -EINVAL (len is 0), -EFAULT (not
 * device-visible) or -ENOSPC (more than 64 regions, or no room in the NIC). */
int weft_disk_reg(struct weft_disk *d, void *p, size_t len);
/* Ends a registration.  Returns 0, -EAGAIN (a request or a transfer needs it:
 * poll, then again) or -EINVAL (not a region). */
int weft_disk_dereg(struct weft_disk *d, void *p);

/* Starts a request; its event comes by poll.  *op and its segments are copied.
 * Returns
 *   0        there will be one event with op->ctx
 *   -EAGAIN  no room now: poll, then again
 *   -EINVAL  offset or length is not a multiple of the sector, READ or WRITE of
 *            0 bytes, segments whose sum is not the length, an unknown code or
 *            flag
 *   -ERANGE  the end lies behind the disk's */
int weft_disk_submit(struct weft_disk *d, const struct weft_disk_op *op);
/* Moves requests on, and takes up to max events.  Returns their number. */
int weft_disk_poll(struct weft_disk *d, struct weft_disk_event *ev, int max);
/* Waits until poll would give an event, or until `deadline`, a time as of
 * weft_host_now; WEFT_NEVER: without end.  Returns 0, or -ETIMEDOUT at the
 * deadline. */
int weft_disk_wait(struct weft_disk *d, weft_time_t deadline);
/* Submits a request and waits for its end, taking no other events: the caller
 * has none in flight.  Returns the status, or as weft_disk_submit. */
int weft_disk_do(struct weft_disk *d, const struct weft_disk_op *op);
/* Returns the counts since open. */
struct weft_disk_stats weft_disk_stats(const struct weft_disk *d);

WEFT_C_END

#endif
