/* SPDX-License-Identifier: Apache-2.0 */
/* Interface of a process that `weft exec` starts on a simulated machine. A
 * library inside the process (the libfabric provider, a test) is written
 * against this header and weft/ep.h alone.
 *
 * The process has an endpoint (struct weft_ep). An agent on the same node
 * carries out the endpoint's calls on the NIC of that node. A call takes as
 * much simulated time as the same call of a program inside the simulator.
 * Between calls the process is *running* and simulated time stands still. A
 * call that hands over (wait, now, mr_reg...) lets simulated time pass. The
 * other calls only write into memory shared with the simulator.
 *
 * Any thread may call open, close, wait, idle and stat at any time. All other
 * functions are for one thread at a time, so callers with several threads need
 * a lock. */
#ifndef WEFT_ATTACH_H
#define WEFT_ATTACH_H

#include "weft/ep.h"

WEFT_C_BEGIN

struct weft_att;

/* Source of the simulated time that a process spends on computation. */
enum weft_att_clock {
	WEFT_CLOCK_FIXED, /* Each call takes a fixed time from a table, so that
			   * runs are reproducible. */
	WEFT_CLOCK_CPU,	  /* As FIXED, and the real processor time between calls
			   * is added. */
	WEFT_CLOCK_NONE,  /* Simulated time does not wait for processes, so its
			   * values mean nothing. Such runs are the fastest. */
};

/* Address of a peer, for `dst` and `src` of weft_ep. The slot distinguishes
 * processes of one node. */
#define WEFT_ATT_ADDR(node, slot) ((uint32_t)(slot) << 24 | (uint32_t)(node))
#define WEFT_ATT_NODE(addr)	  ((uint32_t)(addr)&0xffffff)
#define WEFT_ATT_SLOT(addr)	  ((uint32_t)(addr) >> 24)

enum { WEFT_ATT_VERSION = 3 };

struct weft_att_info {
	uint32_t version;
	uint32_t node, nodes; /* number of this node, nodes of the machine */
	uint32_t slot, slots; /* slot of this process in its node; upper limit
			       * of the slots on every node */
	uint32_t rank, ranks; /* rank of this process in the order of starts;
			       * number of ranks given by -n */
	enum weft_att_clock clock;
	weft_time_t cost_call; /* processor time that a library charges for each
				* of its calls */
	/* The next fields describe the endpoint as in weft_ep_info. `caps` are
	 * the operations that the node's NIC has. */
	uint32_t max_msg, max_put, align;
	uint32_t caps, emulated;
	char nic[32];
};

/* ---- attaching ---- */

/* Attaches this process at the first call. The environment names the simulator
 * (WEFT_SOCKET) and the rank (WEFT_RANK, or the variable of a launcher). Later
 * calls return the same attachment, and each needs a weft_att_close. Returns
 *   0              *a_p, for weft_att_close
 *   -ENOENT        weft exec did not start this process
 *   -ECONNREFUSED  the simulator has ended
 *   -EPROTO        the simulator has another version
 *   -EIO           this process was forked from one that is attached */
int weft_att_open(struct weft_att **a_p);
/* Undoes one weft_att_open. The last call detaches the process. A process that
 * ends without this call is detached, too, and its peers get WEFT_EV_ERROR with
 * -EPIPE. */
void weft_att_close(struct weft_att *a);
/* Returns node, rank and limits of this process; valid until the last close. */
const struct weft_att_info *weft_att_info(const struct weft_att *a);

/* ---- endpoint -------------------------------------------------------------
 *
 * An attachment has one endpoint, which all its users share. Closing the
 * endpoint does nothing. Differences from weft/ep.h:
 *
 * - dst and src are WEFT_ATT_ADDR. When the peer has left, or never existed,
 *   the operation ends with WEFT_EV_ERROR and status -EPIPE.
 * - imm has 32 bits. A larger value gives -EINVAL.
 * - send copies the payload at once, so buf is free on return. WEFT_EV_SENT
 *   arrives when the endpoint has sent the message. With ctx == NULL a send
 *   gives no WEFT_EV_SENT, so it does not wake a waiting process.
 * - put and get take any memory of the process as buf, and mr_reg registers any
 *   memory. With ctx == NULL a put gives no WEFT_EV_PUT.
 * - mr_reg and mr_dereg hand over.
 * - poll returns events that have arrived, without a hand-over and without
 *   simulated time. Data of WEFT_EV_RECV are valid until release.
 * - wait hands over until an event has arrived (0) or simulated time has
 *   reached the deadline (-ETIMEDOUT). Only programs that wait for nothing but
 *   the endpoint use it. All other programs use weft_att_wait.
 * - -EAGAIN: the ring is full. Call weft_att_wait or wait, then poll, then
 *   repeat the operation.
 * - -EIO: the process is detached, because the simulator has ended or has
 *   closed the connection.
 * - WEFT_EV_ERROR with ctx == NULL and status -EPIPE: the peer `src` has died
 *   and sends nothing more. Each process gets one such event for each dead
 *   peer. */

/* Returns the endpoint, which belongs to the attachment. */
struct weft_ep *weft_att_ep(struct weft_att *a);

/* Returns true when the process is detached. A detached process gets no further
 * event. */
bool weft_att_gone(const struct weft_att *a);

/* ---- time ---- */

/* Adds time for which the process was busy since its last operation. Delays its
 * next operation by this amount. Does not hand over. */
void weft_att_charge(struct weft_att *a, weft_time_t busy);
/* Returns the simulated time at which all posted operations are done, except
 * operations that wait until a peer polls its messages. Each call costs a
 * little time, because otherwise a loop that reads the clock until a deadline
 * would never end. The call hands over only when an operation was posted since
 * the last hand-over. In an untimed run (WEFT_CLOCK_NONE) the call returns the
 * simulated time so far. */
weft_time_t weft_att_now(struct weft_att *a);
/* Returns the simulated time at which the process was last resumed. Any thread
 * may call this, and it costs no simulated time. */
weft_time_t weft_att_seen(const struct weft_att *a);
/* Returns weft_att_seen if that time is later than `last`, otherwise a time a
 * little after `last`. A loop that reads the clock until a deadline therefore
 * ends. */
weft_time_t weft_att_seen_after(const struct weft_att *a, weft_time_t last);
/* Hands over until an event can be polled, but for at most real_us microseconds
 * of real time. Returns 0, -EAGAIN (no event yet) or -EIO (detached). After
 * -EAGAIN the process still counts as waiting. It may poll, wait again or
 * compute. */
int weft_att_wait(struct weft_att *a, uint32_t real_us);
/* Hands over after many polls without an event. The caller makes this call
 * after each poll without an event if it will poll again soon. The first 15
 * calls in a row return at once. Later calls hand over for about 1 ms, and
 * after many calls for up to 8 ms. A posted operation or an event resets the
 * count. Returns as weft_att_wait does. */
int weft_att_idle(struct weft_att *a);
/* Begins a call of a library that is built on this library, such as MPI.
 * `looks` is true for calls that test and return (MPI_Test).
 *
 * The library counts polls without an event. Calls with `looks` share one
 * count, because a program that loops over such calls is waiting. Each call
 * without `looks` starts a new count. The library also keeps the total of these
 * counts since the last event. If a count in calls with `looks` reaches 16, or
 * the total reaches 256, the poll lets 2 us of simulated time pass, or less if
 * an event arrives. A loop of tests therefore makes progress at a rate that
 * does not depend on real time. */
void weft_att_enter(struct weft_att *a, bool looks);
/* Reports that the caller made progress without an event, because it handled a
 * message that it had polled before. Resets the count of polls in a row,
 * because a caller that makes progress does not wait. */
void weft_att_made_progress(struct weft_att *a);
/* Ends the call of weft_att_enter. */
void weft_att_leave(struct weft_att *a);
/* Stops measuring, so that preparations do not count. Until weft_att_epoch the
 * process runs in real time, and its messages bypass the simulated NIC.
 * Simulated time stands still while all attached processes are in this state.
 * Does not hand over. */
void weft_att_aside(struct weft_att *a);
/* Starts measuring together with the other processes of a job. All `ranks`
 * processes with this job number make this call. The processes are resumed
 * together when all earlier operations have reached their targets, at the
 * simulated time *t_p, a multiple of 10 ms. Returns 0, or -EPIPE when one of
 * them has died, or -EIO when detached. */
int weft_att_epoch(struct weft_att *a, uint64_t job, uint32_t ranks,
		   weft_time_t *t_p);
/* Ends measuring for this process. */
void weft_att_over(struct weft_att *a);
/* Ends measuring together with the other processes of a job. Afterwards the
 * process is in the state that weft_att_aside describes. Returns as
 * weft_att_epoch does. */
int weft_att_epoch_end(struct weft_att *a, uint64_t job, uint32_t ranks);
/* Returns a file descriptor for wait objects such as fi_wait's. After
 * weft_att_arm the descriptor becomes readable when an event arrives, and stays
 * readable until the next weft_att_arm. The descriptor belongs to the
 * attachment. */
int weft_att_fd(struct weft_att *a);
/* Hands over, and arms the file descriptor for the next event. Returns 0,
 * -EAGAIN when an event has arrived already, or -EIO when detached. */
int weft_att_arm(struct weft_att *a);

/* ---- processes that call weft/host.h themselves (weft exec --raw) ---- */

/* Reports that this thread waits for an event outside the simulation. Simulated
 * time stands still until the thread's next call of weft/host.h, however long
 * the thread sleeps. Does not hand over. */
void weft_att_outside(struct weft_host *h);
/* Detaches all threads of this process, as the end of the process would do.
 * Returns when the simulator has made all posted calls. The handle h is invalid
 * afterwards. */
void weft_att_end(struct weft_host *h);

/* ---- statistics ------------------------------------------------------------
 *
 * The results of the run hold counts and times by process and call. */

enum { WEFT_ATT_STATS = 128, WEFT_ATT_STAT_NAME = 24 };

/* Returns the number that stands for a call by its name ("fi_tsend"). Equal
 * names have equal numbers. Returns -ENOSPC beyond WEFT_ATT_STATS names. */
int weft_att_stat(struct weft_att *a, const char *name);
/* Counts one call of number `stat` that moved `bytes` bytes. Does not hand
 * over. */
void weft_att_stat_add(struct weft_att *a, int stat, uint64_t bytes);
/* Each function posts a mark for the begin or the end of a call, in order with
 * the posted operations, so that the agent can measure the call and show it on
 * the timeline. Calls may be nested. The client counts a call that posts
 * nothing, and the agent counts all others. Does not hand over. Does nothing in
 * an untimed run. */
void weft_att_stat_begin(struct weft_att *a, int stat);
void weft_att_stat_end(struct weft_att *a, int stat);
/* Ends a call without counting it, because the caller will repeat the call
 * after -EAGAIN. */
void weft_att_stat_drop(struct weft_att *a, int stat);

WEFT_C_END

#endif
