/* SPDX-License-Identifier: Apache-2.0 */
/* Direct path between processes of one machine, without a simulated NIC. `weft
 * exec --clock none --path direct` gives each process an endpoint on this path.
 *
 * A place is the room of one process in the run: a node and a slot. Each
 * process has memory that its peers map read-only. This memory contains one
 * ring for each place, with the messages to that place. The memory of the run,
 * which only the simulator writes, lists the attached processes and the senders
 * to each process. For put and get the kernel copies from process to process
 * (cross-memory attach). If the kernel refuses, put and get use messages. An
 * idle process polls for a short while, then sleeps on a futex until a peer
 * wakes it.
 *
 * A process that damages its memory harms only its own traffic: its messages
 * are lost or wrong. Readers check that memory. Requests are checked against
 * tables in private memory, because a peer could change shared tables after the
 * check. */
#ifndef ATTACH_DIRECT_H
#define ATTACH_DIRECT_H

#include "weft/attach.h"

struct direct_seg;
struct direct_bell;
struct direct;

enum { DIRECT_PLACES = 1024 }; /* largest number of places */

/* ---- in the simulator ---- */

/* A place with its descriptors, each -1 if not set. */
struct direct_seat {
	int sock;   /* socket to the process, which the caller owns */
	int pid_fd; /* pidfd of the process, which the caller owns */
	int mem_fd; /* Memory of the process. It stays open after the process's
		     * end, so that peers can still read. */
};

struct direct_hub {
	struct direct_seg *map;
	struct direct_bell *bell;
	int fd, bell_fd; /* memory of the run and bells, sent to all
			  * processes */
	uint64_t bytes;
	uint32_t nodes, places;
	struct direct_seat *seat;
};

/* Makes the memory of a run with nodes * slots places. Returns 0 or negative
 * errno. direct_unmake frees it. */
int direct_make(uint32_t nodes, uint32_t slots, struct direct_hub *hub_p);
/* Unmaps and closes everything of direct_make. */
void direct_unmake(struct direct_hub *hub);
/* Assigns a place to a process. The socket and the pidfd (or -1) of the process
 * must stay open until the call of direct_dead. */
void direct_seat(struct direct_hub *hub, uint32_t node, uint32_t slot, int sock,
		 int pid_fd);
/* Reads and answers one request on the process's socket. Returns 0, or
 * negative errno if the request is invalid and the process must be detached. */
int direct_serve(struct direct_hub *hub, uint32_t node, uint32_t slot);
/* Marks a process as ended. Peers get an error unless the process had left the
 * run before. */
void direct_dead(struct direct_hub *hub, uint32_t node, uint32_t slot);

/* ---- in a process ---- */

/* Connection of a process to its place: descriptors of the run's memory and of
 * the bells, which direct_open closes, and the socket to the simulator, which
 * stays open. */
struct direct_way {
	int fd, bell_fd, sock;
	uint32_t node, slot;
};
/* Opens the endpoint. Returns 0 or negative errno. direct_close frees it. */
int direct_open(const struct direct_way *way, struct direct **d_p);
/* Leaves the run and frees d. Operations of peers on this process fail from
 * now on. */
void direct_close(struct direct *d);
/* Returns the endpoint, which is valid until direct_close. */
struct weft_ep *direct_ep(struct direct *d);
/* Sleeps for at most real_us. Returns 0 if a poll can find something or a full
 * ring has room again, -EAGAIN when the time has passed, or -EIO in a child of
 * fork. */
int direct_wait(struct direct *d, uint32_t real_us);
/* Returns the number of posts and arrivals so far. If the number has not
 * changed, the endpoint was idle. */
uint64_t direct_acts(const struct direct *d);
/* Returns the real time since the run's memory was made. */
weft_time_t direct_now(const struct direct *d);
/* Arms the socket, which becomes readable when a poll can find something.
 * Returns 0, or -EAGAIN if a poll finds something now. */
int direct_arm(struct direct *d);
/* Makes all calls fail from now on. Called in a child of fork, because the
 * child does not inherit the memory. */
void direct_forked(struct direct *d);

#endif
