/* SPDX-License-Identifier: Apache-2.0 */
/* Direct path between processes of one machine, without a simulated NIC: the
 * endpoint of `weft exec --clock none --path direct`.
 *
 * Each process has memory that its peers map to read: rings of the messages
 * that it sends, one for each place. Memory of the run, which the simulator
 * alone writes, lists the attached processes and the senders of each. Put and
 * get are copies by the kernel from process to process (cross-memory attach),
 * or messages where the kernel refuses. A process that finds nothing polls for
 * a short while, then sleeps on a futex until a peer wakes it.
 *
 * A process that damages its memory harms only its own traffic: its messages
 * are lost or wrong. Readers check what they find there. Requests are checked
 * against tables in private memory, because a peer could change shared tables
 * after the check. */
#ifndef ATTACH_DIRECT_H
#define ATTACH_DIRECT_H

#include "weft/attach.h"

struct direct_seg;
struct direct_bell;
struct direct;

enum { DIRECT_PLACES = 1024 }; /* at most */

/* ---- in the simulator ---- */

/* A place: its descriptors, -1 if unset. */
struct direct_seat {
	int sock;   /* the caller's */
	int pid_fd; /* the caller's */
	int mem_fd; /* of the process's memory; kept after its end, so that
		       peers can still read */
};

struct direct_hub {
	struct direct_seg *map;
	struct direct_bell *bell;
	int fd, bell_fd; /* sent to all processes */
	uint64_t bytes;
	uint32_t nodes, places;
	struct direct_seat *seat;
};

/* Makes the memory of a run with nodes * slots places. Returns 0 or negative
 * errno. direct_unmake frees it. */
int direct_make(uint32_t nodes, uint32_t slots, struct direct_hub *hub_p);
/* Unmaps and closes everything of direct_make. */
void direct_unmake(struct direct_hub *hub);
/* Gives a process its place. Its socket and its pidfd (or -1) must stay open
 * until direct_dead. */
void direct_seat(struct direct_hub *hub, uint32_t node, uint32_t slot, int sock,
		 int pid_fd);
/* Reads and answers one request on the process's socket. Returns 0, or
 * negative errno if the request is invalid and the process must be detached. */
int direct_serve(struct direct_hub *hub, uint32_t node, uint32_t slot);
/* Marks a process as ended. Peers get an error unless the process had left
 * before. */
void direct_dead(struct direct_hub *hub, uint32_t node, uint32_t slot);

/* ---- in a process ---- */

/* Way of a process to its place: descriptors of the run's memory and of the
 * bells, which direct_open closes, and the socket to the simulator, which it
 * leaves open. */
struct direct_way {
	int fd, bell_fd, sock;
	uint32_t node, slot;
};
/* Opens the endpoint. Returns 0 or negative errno. direct_close frees it. */
int direct_open(const struct direct_way *way, struct direct **d_p);
/* Leaves the run and frees d. Operations of peers on this process fail from
 * now on. */
void direct_close(struct direct *d);
/* Returns the endpoint; it lives until direct_close. */
struct weft_ep *direct_ep(struct direct *d);
/* Sleeps for at most real_us. Returns 0 if a poll can find something or a full
 * ring has room again, -EAGAIN if not. */
int direct_wait(struct direct *d, uint32_t real_us);
/* Returns a count of posts and arrivals. An unchanged count means that the
 * endpoint was idle. */
uint64_t direct_acts(const struct direct *d);
/* Returns real time since the run's memory was made. */
weft_time_t direct_now(const struct direct *d);
/* Arms the socket: it becomes readable when a poll can find something. Returns
 * 0, or -EAGAIN if a poll finds something now. */
int direct_arm(struct direct *d);
/* Called in a child of fork: makes all calls fail from now on, because the
 * child has none of the memory. */
void direct_forked(struct direct *d);

#endif
