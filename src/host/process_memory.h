/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of another process as device-visible memory of a node, for programs
 * that serve that process.
 *
 * A process's memory gets a shadow: contiguous pages of the node's physical
 * memory that hold no data. The shadow has the process's address modulo 16, not
 * modulo a page, because the offset of a buffer in its page differs from run to
 * run and would change the time of a transfer. A device or library that reads
 * the shadow gets the bytes that the process has at that time. Writes reach the
 * process before the process continues. The node stores no data, so a shadow
 * stays valid when the process unmaps its memory and maps it again. A shadow
 * has whole pages, because a device that reads whole words also reads bytes
 * next to the buffer. The device gets all ones for bytes that are not mapped in
 * the process.
 *
 * If the memory is not accessible (the process has exited, or the address is
 * not mapped), reads return all ones, writes are dropped, and both are
 * counted. */
#ifndef HOST_PROCESS_MEMORY_H
#define HOST_PROCESS_MEMORY_H

#include <sys/types.h>

#include "weft/host.h"

struct pidfd;

/* A process. The struct must live as long as the shadows of the process. */
struct weft_far_owner {
	pid_t pid;
	/* handle of pid, or NULL if pid is this process or a child of it */
	struct pidfd *who;
	/* Used if the kernel does not allow access to memory of another
	 * process. Copies n bytes from va of the process to buf, or with
	 * `write` from buf to va. Returns 0 or a negative errno. May be
	 * NULL. */
	int (*copy)(void *arg, uint64_t va, void *buf, size_t n, bool write);
	void *arg;
	int fd;		      /* descriptor of the caller, for `copy` */
	uint64_t patience_ns; /* limit of real time for one request of `copy` */
	bool strict;	      /* a direct access to a shadow raises SIGSEGV */
	/* set when the kernel has refused an access: all later accesses use
	 * `copy` */
	bool by_copy;
	bool dead; /* the process has exited; the program may set this, too */
	uint64_t faults;
	/* Set if the caller increments `epoch` each time the process may have
	 * run. Then devices read several pages at a time, because the data are
	 * valid until the epoch changes. */
	bool ahead;
	uint64_t epoch;
	/* Set if the caller calls weft_far_settle before the process continues.
	 * Otherwise writes are settled when a program of the node runs. */
	bool settles;
};

/* Makes the shadow of [va, va + len) on the thread's node. Returns the address
 * of byte va, or NULL if the node has no free pages. Takes no simulated
 * time. */
void *weft_far_add(struct weft_host *h, struct weft_far_owner *o, uint64_t va,
		   size_t len);
/* Removes the shadow that contains the address `shadow`. After the call no
 * device may use the shadow. */
void weft_far_del(struct weft_host *h, void *shadow);
/* Copies all data that devices have stored to shadows of the node into the
 * memory of the processes. */
void weft_far_settle(struct weft_host *h);

/* Pin, unpin and find the process's memory, like weft_mem_pin, weft_mem_unpin
 * and weft_mem_phys. Neighbouring pages need not get neighbouring addresses. */
bool weft_far_pin(struct weft_host *h, struct weft_far_owner *o, uint64_t va,
		  size_t len, weft_phys_t *phys);
bool weft_far_unpin(struct weft_host *h, const struct weft_far_owner *o,
		    uint64_t va, size_t len);
bool weft_far_phys(struct weft_host *h, const struct weft_far_owner *o,
		   uint64_t va, weft_phys_t *phys_p);

#endif
