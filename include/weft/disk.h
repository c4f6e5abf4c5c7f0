/* SPDX-License-Identifier: Apache-2.0 */
/* Remote disks: blocks on drives of other nodes, over any NIC.
 *
 * A disk joins one or several targets (program disk.target) into one array of
 * bytes.  An initiator submits requests and polls events, which say that
 * requests have ended. The library never calls the initiator back.  One thread
 * uses a disk at a time.  docs/storage.md has the protocol.
 *
 * Order. Requests in flight are served in any order. A request sees the effects
 * of all requests that had ended when it was submitted. A FLUSH ends when the
 * medium has the bytes of all writes that had ended when the FLUSH was
 * submitted. A WRITE or ZERO with FUA ends when its own bytes are on the
 * medium.
 *
 * Memory.  A request uses its buffers until its event has been polled.  Buffers
 * inside a region of weft_disk_reg are read and written in place by the NIC.
 * The library copies all other buffers through its own pages.
 *
 * Time.  submit and poll take processor time but never wait. Only `wait` and
 * weft_disk_do wait.  A request without an answer is sent again after
 * `timeout`, then after twice that time, and so on. After `tries` attempts the
 * request ends with -ETIMEDOUT. */
#ifndef WEFT_DISK_H
#define WEFT_DISK_H

#include <sys/types.h>

#include "weft/host.h"

WEFT_C_BEGIN

struct weft_disk;

enum { WEFT_DISK_TARGETS = 64 };

/* Checks of data, in addition to the checks of the network. */
enum weft_disk_check {
	WEFT_DISK_CHECK_NONE,	/* the CRC of the link alone */
	WEFT_DISK_CHECK_CRC32C, /* end-to-end CRC from memory to memory; the
				 * library repeats transfers whose CRC is
				 * wrong */
};

struct weft_disk_attr {
	uint32_t target[WEFT_DISK_TARGETS]; /* nodes of the targets */
	uint32_t targets;		    /* number of targets; 0: one target,
					     * on node 1 */
	uint32_t stripe; /* bytes of a stripe, which lies on one target, a
			  * multiple of 4096; 0: 65536 */
	uint32_t depth;	 /* requests in flight to a target, 1..128; 0: 128 */
	enum weft_disk_check check;
	bool use_irq;	     /* wait sleeps until an interrupt instead of
			      * spinning */
	const char *link;    /* link to the targets: "native" or "ep"; NULL:
			      * native where the system has one, otherwise ep */
	const char *notify;  /* native link: event that raises a notification,
			      * see docs/storage.md; NULL: "request" */
	uint32_t cluster;    /* native link: transfers that are started
			      * together; 0: all of a request */
	weft_time_t timeout; /* time in which the first attempt must be
			      * answered; 0: 5 ms */
	uint32_t tries;	     /* attempts of a request; 0: 12 */
};

struct weft_disk_info {
	uint64_t size;	      /* bytes */
	uint32_t sector;      /* bytes of a sector, 512 or 4096; offsets and
			       * lengths of requests are multiples of this */
	uint32_t max_request; /* bytes that one request of the protocol moves;
			       * the library divides larger requests */
	uint32_t targets;
	const char *link; /* "native" or "ep" */
	const char *nic;  /* system of the NIC */
};

enum weft_disk_code {
	WEFT_DISK_READ,
	WEFT_DISK_WRITE,
	WEFT_DISK_FLUSH, /* offset and length are not read */
	WEFT_DISK_TRIM,	 /* the bytes read as zeros afterwards; the medium may
			  * free them */
	WEFT_DISK_ZERO,	 /* writes zeros, without data to send */
};

enum {
	WEFT_DISK_FUA = 1 << 0, /* the bytes of a WRITE or ZERO are on the
				 * medium when the request ends */
};

struct weft_disk_seg {
	void *p;
	size_t len;
};

/* One request. The lengths of its segments add up to `length`. A segment has
 * any length and any address. */
struct weft_disk_op {
	enum weft_disk_code code;
	uint32_t flags;
	uint64_t offset, length;
	const struct weft_disk_seg *seg; /* segments of a READ or WRITE, copied
					  * by submit */
	uint32_t segs;			 /* 1..256 */
	void *ctx;			 /* value for the event of this
					  * request */
};

struct weft_disk_event {
	/* 0, or
	 *   -EIO        the medium cannot read or write a sector
	 *   -ENODEV     the drive no longer exists
	 *   -EBADMSG    data arrived damaged in every attempt
	 *   -ESTALE     FLUSH: writes that had ended were lost with the drive's
	 *               cache; every FLUSH ends with -ESTALE until poll has
	 *               returned an event with -ESTALE
	 *   -ETIMEDOUT  no answer to any attempt; the request may still take
	 *               effect until a later request has ended; if the target
	 *               stays silent, bytes of a READ may still be written to
	 *               its buffers
	 *   -ENOSPC     the file behind the drive cannot grow */
	int status;
	void *ctx;
	weft_time_t submitted, ended;
};

/* Numbers since open. */
struct weft_disk_stats {
	uint64_t requests; /* requests of the protocol; a request that was sent
			    * again counts once */
	uint64_t retries;  /* requests sent again after a time-out */
	uint64_t damaged;  /* requests sent again because of a wrong CRC */
	uint64_t stale;	   /* received records that belong to an earlier attempt
			    * or session */
	uint64_t sessions; /* restarts of targets that the library noticed */
	uint64_t read_bytes, write_bytes;
};

/* Opens a disk and logs in at its targets. Returns when all targets have
 * answered. attr NULL gives defaults.  Returns
 *   0             *d_p, which the caller closes
 *   -ENODEV       no device, or one that no library serves
 *   -EINVAL       a value of attr is out of range, a target is not a node or is
 *                 named twice, or targets have different sector sizes
 *   -EOPNOTSUPP   the NIC has no such link
 *   -ENOMEM       no memory
 *   -ETIMEDOUT    a target has not answered any attempt */
int weft_disk_open(struct weft_host *h, const struct weft_disk_attr *attr,
		   struct weft_disk **d_p);
/* Logs out and frees the disk. Requests in flight end without an event and may
 * or may not have taken effect. A caller that needs their events polls them
 * before the close. */
void weft_disk_close(struct weft_disk *d);
/* Returns the sizes and names of the disk; valid until close. */
const struct weft_disk_info *weft_disk_info(const struct weft_disk *d);

/* Makes device-visible memory (weft_mem_alloc) a region that the NIC reads and
 * writes in place.  The memory stays the caller's and stays allocated until
 * weft_disk_dereg or close.  Returns 0, -EINVAL (len is 0), -EFAULT (not
 * device-visible) or -ENOSPC (more than 64 regions, or no room in the NIC). */
int weft_disk_reg(struct weft_disk *d, void *p, size_t len);
/* Ends a registration. Returns 0, -EAGAIN (a request or a transfer still needs
 * the region: poll, then repeat the call) or -EINVAL (not a region). */
int weft_disk_dereg(struct weft_disk *d, void *p);

/* Starts a request. weft_disk_poll returns the event of the request. *op and
 * its segments are copied. Returns
 *   0        there will be one event with op->ctx
 *   -EAGAIN  no room now: poll, then repeat the call
 *   -EINVAL  offset or length is not a multiple of the sector, READ or WRITE of
 *            0 bytes, segments whose sum is not the length, an unknown code or
 *            flag
 *   -ERANGE  the request ends beyond the end of the disk */
int weft_disk_submit(struct weft_disk *d, const struct weft_disk_op *op);
/* Makes progress with requests in flight, and stores up to max events in ev.
 * Returns the number of events. */
int weft_disk_poll(struct weft_disk *d, struct weft_disk_event *ev, int max);
/* Waits until poll would return an event, or until `deadline`, a time of
 * weft_host_now's clock (WEFT_NEVER: no deadline). Returns 0, or -ETIMEDOUT at
 * the deadline. */
int weft_disk_wait(struct weft_disk *d, weft_time_t deadline);
/* Submits a request and waits for its end. The caller must have no other
 * request in flight, because the call treats the next event of the disk as its
 * own. Returns the status of the request, or an error as weft_disk_submit
 * does. */
int weft_disk_do(struct weft_disk *d, const struct weft_disk_op *op);
/* Returns the numbers since open. */
struct weft_disk_stats weft_disk_stats(const struct weft_disk *d);

WEFT_C_END

#endif
