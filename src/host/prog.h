/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: components of KIND_PROGRAM whose ops.main runs as a coroutine on a
 * host (class host.pc).  A front end attaches them while it builds the system;
 * a program asks for its handle of host.h with weft_prog_host. */
#ifndef WEFT_HOST_PROG_H
#define WEFT_HOST_PROG_H

#include "weft/host.h"
#include "weft/sim.h"

/* Puts prog on host.  Both exist and host is initialised; the simulation has
 * not started.  Programs of one host that are due at the same time run in
 * the order of their names.  Returns 0, -EINVAL when host
 * is no host or prog no program, -EBUSY when prog sits on a host already. */
int weft_prog_attach(struct weft_comp *host, struct weft_comp *prog);

/* The host.h handle of a program's thread (NULL: not attached). */
struct weft_host *weft_prog_host(struct weft_comp *prog);

/* The program of a thread. */
struct weft_comp *weft_prog_of(const struct weft_host *h);

/* A background program (a server, a noise maker) neither keeps the run going
 * nor is reported when it is still waiting at the end. */
void weft_prog_set_background(struct weft_comp *prog, bool background);

/* Foreground programs of the simulation that have not ended. */
uint32_t weft_progs_running(struct weft_sim *sim);

/* Waits of programs that ended because something happened (a store, an
 * interrupt, a value, a wake-up by another thread), not because time passed. */
uint64_t weft_progs_steps(struct weft_sim *sim);
/* A foreground program is in a wait whose end is known and that takes `least`
 * or longer: it sleeps, computes or has set itself that deadline. */
bool weft_progs_resting(struct weft_sim *sim, weft_time_t least);

/* When on, the last foreground program that ends stops the run
 * (weft_sim_stop); the caller may run on to let the network drain. */
void weft_progs_stop_at_end(struct weft_sim *sim, bool on);

/* ---- programs that act for somebody outside of the simulation ---- */

/* A deadline of waits that end when they are kicked. */
#define WEFT_PROG_KICKED (WEFT_NEVER - 1)

/* From the thread: until it is kicked.  It uses no processor time, and what it
 * owes it goes on owing. */
void weft_prog_park(struct weft_host *h);
/* From outside of programs, at the present time: a thread that is parked goes
 * on; one that waits with a deadline (not WEFT_NEVER), and for nothing that has
 * happened already, goes on as though it had come.  False: it does neither. */
bool weft_prog_kick(struct weft_host *h);
/* It would. */
bool weft_prog_rests(const struct weft_host *h);
/* While on, such waits do not begin: for a thread that was not waiting when it
 * was to be kicked. */
void weft_prog_call(struct weft_host *h, bool on);
/* The program of somebody who has gone ends wherever its thread is, as though
 * it had called weft_host_exit. */
void weft_prog_kill(struct weft_host *h);
/* From a thread of the monitor: fn runs in a process of its own, whose pages
 * and memory are no other's; drivers learn when it ends, and its memory goes
 * back. NULL: no memory for it. */
struct weft_host *weft_prog_process(struct weft_host *h,
				    int (*fn)(struct weft_host *h, void *arg),
				    void *arg);
/* From the thread: other threads of its process end. */
void weft_prog_alone(struct weft_host *h);

/* What a program that is elsewhere must know of its node. */
struct weft_prog_node {
	void *mem;	  /* NULL: no room for it */
	weft_phys_t base; /* its first address */
	uint64_t bytes;
	weft_time_t store, wc;	 /* cost of a store */
	const weft_time_t *time; /* by enum host_time_id */
};
struct weft_prog_node weft_prog_node(struct weft_host *h);
/* Before the run: the node's memory can be mapped by others.  A descriptor
 * (it stays the node's), or negative errno. */
int weft_prog_share(struct weft_host *h);
/* Processor time that the thread owes: it passes before what takes time. */
weft_time_t weft_prog_debt(const struct weft_host *h);
/* Stores of its node that are not known to have reached their device. */
uint32_t weft_prog_stores(const struct weft_host *h);
/* p is a block of weft_host_calloc of this program; bytes asked for. */
bool weft_prog_owns(struct weft_host *h, const void *p, size_t *bytes_p);
/* Accesses of devices of a host to pages that programs had unpinned: a device,
 * or its driver, that does not let go. */
uint64_t weft_prog_strays(const struct weft_comp *host);
/* What weft_host_copy costs, without copying. */
void weft_prog_copy(struct weft_host *h, uint64_t n);

#endif
