/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of one machine beside each other, without a simulated NIC: the
 * endpoint of `weft exec --clock none --path direct`.
 *
 * One segment of memory for all of them.  Each ordered pair has a ring of
 * messages; put and get go from process to process by the kernel (cross-memory
 * attach), or in messages where it refuses.  Who finds nothing looks for a
 * short while, then sleeps on a futex until somebody has something for him.
 *
 * A process that scribbles over the segment harms those who talk to it: their
 * messages are lost or wrong.  Nobody else, and nobody crashes: what was read
 * from the segment is checked. */
#ifndef ATTACH_DIRECT_H
#define ATTACH_DIRECT_H

#include "weft/attach.h"

struct direct_seg;
struct direct;

enum { DIRECT_PLACES = 1024 }; /* at most */

/* ---- in the simulator ---- */

struct direct_hub {
	struct direct_seg *map;
	int fd;
	uint64_t bytes;
	uint32_t nodes, places;
};

/* Memory for processes on nodes * slots places.  0 or negative errno. */
int direct_make(uint32_t nodes, uint32_t slots, struct direct_hub *hub_p);
/* A process has ended.  Its peers are told unless it had left before. */
void direct_dead(const struct direct_hub *hub, uint32_t node, uint32_t slot);
void direct_unmake(struct direct_hub *hub);

/* ---- in a process ---- */

/* Maps the segment and closes fd.  0 or negative errno. */
int direct_open(int fd, uint64_t bytes, uint32_t node, uint32_t slot,
		struct direct **d_p);
/* Leaves: what its peers ask of it from now on fails. */
void direct_close(struct direct *d);
struct weft_ep *direct_ep(struct direct *d);
/* 0: there is something to poll, or room where there was none; -EAGAIN: not
 * within that time. */
int direct_wait(struct direct *d, uint32_t real_us);
/* How often something was posted or came. */
uint64_t direct_acts(const struct direct *d);
/* Since the segment was made. */
weft_time_t direct_now(const struct direct *d);
/* A descriptor that becomes readable when there is something to poll, once
 * armed; negative errno.  -EAGAIN of arm: there is something now. */
int direct_fd(struct direct *d);
int direct_arm(struct direct *d);
/* In a child of fork, which has nothing of it: all calls fail from now on. */
void direct_forked(struct direct *d);

#endif
