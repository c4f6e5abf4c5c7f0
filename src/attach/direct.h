/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of one machine beside each other, without a simulated NIC: the
 * endpoint of `weft exec --clock none --path direct`.
 *
 * Each process has memory of its own that others map to read: rings of what it
 * sends, one for each place.  Memory of the run, which the simulator alone
 * writes, says who is there and who sends to whom.  Put and get go from process
 * to process by the kernel (cross-memory attach), or in messages where it
 * refuses.  Who finds nothing looks for a short while, then sleeps on a futex
 * until there is something for him.
 *
 * A process that scribbles over its memory harms those who talk to it: its
 * messages are lost or wrong.  What was read there is checked; what requests
 * are checked against lies in private memory. */
#ifndef ATTACH_DIRECT_H
#define ATTACH_DIRECT_H

#include "weft/attach.h"

struct direct_seg;
struct direct_bell;
struct direct;

enum { DIRECT_PLACES = 1024 }; /* at most */

/* ---- in the simulator ---- */

/* A place: descriptors, -1 where there is none. */
struct direct_seat {
	int sock;   /* the caller's */
	int pid_fd; /* the caller's */
	int mem_fd; /* of the process's memory; stays when it has gone */
};

struct direct_hub {
	struct direct_seg *map;
	struct direct_bell *bell;
	int fd, bell_fd; /* for all processes */
	uint64_t bytes;
	uint32_t nodes, places;
	struct direct_seat *seat;
};

/* Memory for processes on nodes * slots places.  0 or negative errno. */
int direct_make(uint32_t nodes, uint32_t slots, struct direct_hub *hub_p);
void direct_unmake(struct direct_hub *hub);
/* A process gets a place; its socket and its pidfd (or -1) stay open until
 * direct_dead. */
void direct_seat(struct direct_hub *hub, uint32_t node, uint32_t slot, int sock,
		 int pid_fd);
/* It says something on its socket.  Negative errno: that cannot be. */
int direct_serve(struct direct_hub *hub, uint32_t node, uint32_t slot);
/* It has ended.  Its peers are told unless it had left before. */
void direct_dead(struct direct_hub *hub, uint32_t node, uint32_t slot);

/* ---- in a process ---- */

/* How it gets there: descriptors of the run's memory and of the bells, which
 * are closed, and the socket to the simulator, which is not. */
struct direct_way {
	int fd, bell_fd, sock;
	uint32_t node, slot;
};
/* 0 or negative errno. */
int direct_open(const struct direct_way *way, struct direct **d_p);
/* Leaves: what its peers ask of it from now on fails. */
void direct_close(struct direct *d);
struct weft_ep *direct_ep(struct direct *d);
/* 0: there is something to poll, or room where there was none; -EAGAIN: not
 * within that time. */
int direct_wait(struct direct *d, uint32_t real_us);
/* How often something was posted or came. */
uint64_t direct_acts(const struct direct *d);
/* Since the run's memory was made. */
weft_time_t direct_now(const struct direct *d);
/* The socket becomes readable when there is something to poll, once armed.
 * -EAGAIN: there is something now. */
int direct_arm(struct direct *d);
/* In a child of fork, which has nothing of it: all calls fail from now on. */
void direct_forked(struct direct *d);

#endif
