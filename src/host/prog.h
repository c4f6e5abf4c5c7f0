/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: components of KIND_PROGRAM whose ops.main runs as a coroutine on a
 * host (class host.pc). A front end attaches them while it builds the system. A
 * program gets its handle of host.h from weft_prog_host. */
#ifndef WEFT_HOST_PROG_H
#define WEFT_HOST_PROG_H

#include "weft/host.h"
#include "weft/sim.h"

/* Attaches prog to host. Both must exist, host must be initialised, and the
 * simulation must not have started. Programs of one host that are due at one
 * time run in the order of their names. Returns 0, -EINVAL if host is not a
 * host or prog not a program, -EBUSY if prog is attached already. */
int weft_prog_attach(struct weft_comp *host, struct weft_comp *prog);

/* Returns the host.h handle of a program's thread, or NULL if the program is
 * not attached. */
struct weft_host *weft_prog_host(struct weft_comp *prog);

/* Returns the program of a thread. */
struct weft_comp *weft_prog_of(const struct weft_host *h);

/* Makes a program (a server, a noise source) a background one: it does not keep
 * the run alive, and is not reported if it still waits at the end. */
void weft_prog_set_background(struct weft_comp *prog, bool background);

/* Returns the number of foreground programs of the simulation that have not
 * ended. */
uint32_t weft_progs_running(struct weft_sim *sim);

/* Returns the number of waits of programs that ended because of an event (a
 * store, an interrupt, a value, a wake-up by another thread), not because time
 * passed. */
uint64_t weft_progs_steps(struct weft_sim *sim);
/* Returns true if a foreground program is in a wait of `least` or longer whose
 * end is known: it sleeps, computes, or waits with a deadline. */
bool weft_progs_resting(struct weft_sim *sim, weft_time_t least);

/* With `on` the run stops (weft_sim_stop) when all foreground programs have
 * ended. The caller may continue the run so that the network drains. */
void weft_progs_stop_at_end(struct weft_sim *sim, bool on);

/* ---- programs that act for a process outside the simulation ---- */

/* Deadline of waits that end when the thread is kicked. */
#define WEFT_PROG_KICKED (WEFT_NEVER - 1)

/* Waits until the thread is kicked. The wait uses no processor time and leaves
 * weft_prog_debt unchanged. Call it from the thread. */
void weft_prog_park(struct weft_host *h);
/* Ends the thread's wait now, if the thread is parked or waits for an event
 * with a deadline (not WEFT_NEVER). The wait then ends as at its deadline.
 * Returns false if the thread does not wait in one of these two ways. Call it
 * from outside programs. */
bool weft_prog_kick(struct weft_host *h);
/* Returns true if weft_prog_kick would end the thread's wait. */
bool weft_prog_rests(const struct weft_host *h);
/* While `on` is set, waits that weft_prog_kick would end return immediately.
 * Used to kick a thread that is not waiting yet, because weft_prog_kick has no
 * effect on such a thread. */
void weft_prog_call(struct weft_host *h, bool on);
/* Ends a program wherever its thread is, as weft_host_exit would, because the
 * process that it acts for has exited. */
void weft_prog_kill(struct weft_host *h);
/* Runs fn in a new process, whose pages and memory no other process shares.
 * Drivers are notified when it ends, and its memory is freed. Returns its
 * thread, or NULL if memory runs out. Call it from a thread of the monitor. */
struct weft_host *weft_prog_process(struct weft_host *h,
				    int (*fn)(struct weft_host *h, void *arg),
				    void *arg);
/* Ends all other threads of the calling thread's process. */
void weft_prog_alone(struct weft_host *h);

/* State of a node that a program outside the simulator needs. */
struct weft_prog_node {
	void *mem;	  /* memory of the node, or NULL if address space is
			   * exhausted */
	weft_phys_t base; /* first physical address of the memory */
	uint64_t bytes;
	/* costs of an uncached and a write-combined store */
	weft_time_t store, wc;
	const weft_time_t *time; /* times by enum host_time_id */
};
/* Returns the state of the thread's node. Takes no simulated time. */
struct weft_prog_node weft_prog_node(struct weft_host *h);
/* Lets other processes map the node's memory. Call it before the run. Returns a
 * descriptor that the node keeps, or a negative errno. */
int weft_prog_share(struct weft_host *h);
/* Returns the processor time that the thread has used but that has not passed
 * in the simulation yet. The thread waits for that time before its next
 * wait. */
weft_time_t weft_prog_debt(const struct weft_host *h);
/* Returns the number of the node's stores that may not have reached their
 * device, including stores in the thread's write-combining buffers. */
uint32_t weft_prog_stores(const struct weft_host *h);
/* Returns true if p is a block of weft_host_calloc of this program. Sets
 * bytes_p to the number of bytes that the program requested for the block. */
bool weft_prog_owns(struct weft_host *h, const void *p, size_t *bytes_p);
/* Returns the number of accesses of a host's devices to pages that are not
 * pinned any more. More than 0 means that a device or its driver uses memory
 * that the program has unpinned. */
uint64_t weft_prog_strays(const struct weft_comp *host);
/* Waits for the cost of weft_host_copy without copying. */
void weft_prog_copy(struct weft_host *h, uint64_t n);

#endif
