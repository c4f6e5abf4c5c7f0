/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of another process as device-visible memory of a node, for programs
 * that serve one.
 *
 * It gets a shadow: pages of the node's physical memory, contiguous, that hold
 * nothing.  It begins as the process's memory does modulo 16, not modulo a
 * page: where in a page a heap puts a buffer differs from run to run, and
 * would be seen in the time that its transfer takes.  What devices and
 * libraries read from the shadow is read from the process at that moment, what
 * they write is written there before the process goes on; nothing is
 * kept here, so a shadow stays right when the process unmaps its memory and
 * maps it again.  Whole pages: a device that reads words reaches the bytes
 * beside those that were asked for, or ones.
 *
 * What cannot be reached (the process has gone, or has no memory there): reads
 * give all ones, writes are dropped, both are counted. */
#ifndef HOST_PROCESS_MEMORY_H
#define HOST_PROCESS_MEMORY_H

#include <sys/types.h>

#include "weft/host.h"

struct pidfd;

/* A process; lives as long as its shadows do. */
struct weft_far_owner {
	pid_t pid;
	struct pidfd *who; /* of pid, or NULL: ours, or a child of ours */
	/* Copies n bytes from (write: to) va of the process, where the kernel
	 * does not let one process look into another; 0 or negative errno.
	 * NULL: there is no such way. */
	int (*copy)(void *arg, uint64_t va, void *buf, size_t n, bool write);
	void *arg;
	int fd;		      /* the caller's, for `copy` */
	uint64_t patience_ns; /* for one piece of `copy` */
	bool strict;	      /* who touches a shadow himself gets a SIGSEGV */
	bool by_copy;	      /* the kernel has refused: `copy` from now on */
	bool dead; /* has gone; may be set by the user of this, too */
	uint64_t faults;
	/* Whoever counts `epoch` up each time the process may have run sets
	 * `ahead`: devices then read some pages at a time. */
	bool ahead;
	uint64_t epoch;
	/* Whoever lets the process go on calls weft_far_settle first; else it
	 * is enough that a program of the node runs. */
	bool settles;
};

/* The shadow of [va, va + len) on the thread's node: where byte va is.  NULL:
 * no room.  Costs no time. */
void *weft_far_add(struct weft_host *h, struct weft_far_owner *o, uint64_t va,
		   size_t len);
/* By any address in it.  Nothing uses it any more. */
void weft_far_del(struct weft_host *h, void *shadow);
/* What devices have written to shadows of the node is in the processes. */
void weft_far_settle(struct weft_host *h);

/* weft_mem_pin, weft_mem_unpin and weft_mem_phys of the process's memory: its
 * pages get addresses one by one, the same as pages of a program would. */
bool weft_far_pin(struct weft_host *h, struct weft_far_owner *o, uint64_t va,
		  size_t len, weft_phys_t *phys);
bool weft_far_unpin(struct weft_host *h, const struct weft_far_owner *o,
		    uint64_t va, size_t len);
bool weft_far_phys(struct weft_host *h, const struct weft_far_owner *o,
		   uint64_t va, weft_phys_t *phys_p);

#endif
