/* SPDX-License-Identifier: Apache-2.0 */
/* A process on a simulated machine: what `weft exec` gives to the processes it
 * starts.  A library inside the process (the libfabric provider, a test)
 * is written against this header and weft/ep.h alone.
 *
 * The process has an endpoint (struct weft_ep) whose calls are carried out by
 * an agent on its node, on the node's NIC, at the cost that a program of the
 * simulator would pay.  Between calls the process is *running*: simulated time
 * stands still.  A call that hands over (wait, now, mr_reg...) lets it pass;
 * the others only write into memory shared with the simulator.
 *
 * Threads: open, close, wait, idle and stat from any thread at any time;
 * everything else by one thread at a time (the caller has a lock). */
#ifndef WEFT_ATTACH_H
#define WEFT_ATTACH_H

#include "weft/ep.h"

WEFT_C_BEGIN

struct weft_att;

/* How the computation of a process takes simulated time. */
enum weft_att_clock {
	WEFT_CLOCK_FIXED, /* calls cost what a table says; reproducible */
	WEFT_CLOCK_CPU,	 /* as FIXED, and processor time between calls counts */
	WEFT_CLOCK_NONE, /* no process waits for simulated time: fastest */
};

/* A peer: `dst` and `src` of weft_ep.  Several processes of a node are told
 * apart by their slot. */
#define WEFT_ATT_ADDR(node, slot) ((uint32_t)(slot) << 24 | (uint32_t)(node))
#define WEFT_ATT_NODE(addr)	  ((uint32_t)(addr)&0xffffff)
#define WEFT_ATT_SLOT(addr)	  ((uint32_t)(addr) >> 24)

enum { WEFT_ATT_VERSION = 2 };

struct weft_att_info {
	uint32_t version;
	uint32_t node, nodes; /* of the machine */
	uint32_t slot, slots; /* of the node; slots of any node are below */
	uint32_t rank, ranks; /* as started; ranks as asked for with -n */
	enum weft_att_clock clock;
	weft_time_t cost_call; /* processor time of a library's call */
	/* of the endpoint, as in weft_ep_info; caps of its native operations */
	uint32_t max_msg, max_put, align;
	uint32_t caps, emulated;
	char nic[32];
};

/* ---- life ---- */

/* Attaches this process at the first call, by the environment (WEFT_SOCKET; the
 * rank from WEFT_RANK or the launcher's); later calls give the same attachment
 * and count.  Returns
 *   0              *a_p, for weft_att_close
 *   -ENOENT        weft exec did not start this process
 *   -ECONNREFUSED  the simulator has gone
 *   -EPROTO        the simulator has another version
 *   -EIO           this process was forked from one that is attached */
int weft_att_open(struct weft_att **a_p);
/* Undoes one weft_att_open; the last one detaches.  A process that ends without
 * it is detached too, and its peers get the event of a process that died. */
void weft_att_close(struct weft_att *a);
/* Returns what the process is and sees; valid until the last close. */
const struct weft_att_info *weft_att_info(const struct weft_att *a);

/* ---- endpoint -------------------------------------------------------------
 *
 * An attachment has one endpoint, which all that opened it share; its close
 * does nothing.  Beyond weft/ep.h: dst, src  WEFT_ATT_ADDR.  A peer that has
 * left, or never was: the operation ends with WEFT_EV_ERROR, status -EPIPE. imm
 * 32 bits; more: -EINVAL. send      copies the payload at once: buf is free on
 * return.  The event WEFT_EV_SENT comes when the endpoint has sent it, but not
 * at all with ctx == NULL, so that no process is woken for it. put, get  buf,
 * and what mr_reg names, is any memory of the process.  With ctx == NULL a put
 * gives no WEFT_EV_PUT. mr_reg    hands over.  mr_dereg too. poll      takes
 * events that have arrived: no hand-over, no simulated time. Data of
 * WEFT_EV_RECV stay until release. wait      hands over until there is an event
 * (0) or simulated time has reached the deadline (-ETIMEDOUT).  For programs
 * that wait for nothing but the endpoint; others: weft_att_wait. -EAGAIN   the
 * ring is full: weft_att_wait or wait, poll, and again. -EIO      detached: the
 * simulator has gone or broken off. WEFT_EV_ERROR with ctx == NULL, status
 * -EPIPE: the peer `src` has died, and nothing more comes from it.  Each
 * process gets one for each peer that dies. */

/* Returns the endpoint, which belongs to the attachment. */
struct weft_ep *weft_att_ep(struct weft_att *a);

/* Returns true when the process is detached: no event will come any more. */
bool weft_att_gone(const struct weft_att *a);

/* ---- time ---- */

/* Says that the process was busy for this long, after the operations that it
 * has posted so far and before the next one.  No hand-over. */
void weft_att_charge(struct weft_att *a, weft_time_t busy);
/* Returns the time behind all posted operations, except those that wait until a
 * peer polls its messages. Reading the clock takes a little time, so that a
 * loop around it ends; it hands over only when an operation was posted since
 * the last hand-over. Untimed (WEFT_CLOCK_NONE): the simulated time so far. */
weft_time_t weft_att_now(struct weft_att *a);
/* Returns the time at which the process was last resumed.  Any thread may call
 * it; it takes no time. */
weft_time_t weft_att_seen(const struct weft_att *a);
/* Returns weft_att_seen, or a time a little after `last` if that is not
 * earlier, so that a loop around it ends. */
weft_time_t weft_att_seen_after(const struct weft_att *a, weft_time_t last);
/* Hands over until there is an event to poll, for real_us of real time at most.
 * Returns 0, -EAGAIN (no event: the process still counts as waiting, and may
 * poll, wait again or do something else) or -EIO (detached). */
int weft_att_wait(struct weft_att *a, uint32_t real_us);
/* Call after a poll without an event when the caller polls again soon.  The
 * first 15 calls in a row return at once, later ones hand over for about 1 ms,
 * and up to 8 ms after many.  Each posted operation and each event starts the
 * count again.  Returns as weft_att_wait does. */
int weft_att_idle(struct weft_att *a);
/* Begins a call of a library above (MPI): polls in a row are counted within one
 * call, since a caller that left several calls without waiting does not wait
 * for their events.  `looks`: the call tests and returns (MPI_Test); such calls
 * are counted together.  After 15 polls of these without an event, or 256 calls
 * of others, the next one lets 2 us of simulated time pass, or less until an
 * event, and returns: so a loop of tests makes progress at a rate that real
 * time does not change. */
void weft_att_enter(struct weft_att *a, bool looks);
/* Says that the caller made progress without an event, by a message that it had
 * polled before. The count of polls in a row starts again, because a caller
 * that makes progress does not wait. */
void weft_att_made_progress(struct weft_att *a);
/* Ends the call of weft_att_enter. */
void weft_att_leave(struct weft_att *a);
/* Stops measuring up to the common start, so that preparations do not count:
 * until then the process runs in real time, its messages do not use the
 * machine, and simulated time stands still while all attached processes have
 * called this. No hand-over. */
void weft_att_aside(struct weft_att *a);
/* Starts together with the other processes of a job: all `ranks` processes with
 * this number call it, and are resumed together when all earlier operations
 * have arrived, at a simulated time *t_p that is a multiple of 10 ms.  Returns
 * 0, or -EPIPE when one of them has died, or -EIO when detached. */
int weft_att_epoch(struct weft_att *a, uint64_t job, uint32_t ranks,
		   weft_time_t *t_p);
/* Ends measuring for this process. */
void weft_att_over(struct weft_att *a);
/* Ends together with the other processes of a job, and returns as
 * weft_att_epoch does; afterwards the process is as after weft_att_aside. */
int weft_att_epoch_end(struct weft_att *a, uint64_t job, uint32_t ranks);
/* Returns a descriptor that is readable while there may be an event, for wait
 * objects such as fi_wait's.  It belongs to the attachment. */
int weft_att_fd(struct weft_att *a);
/* Hands over, and arms the descriptor for the next event.  Returns 0, -EAGAIN
 * when there is an event now, or -EIO when detached. */
int weft_att_arm(struct weft_att *a);

/* ---- statistics ------------------------------------------------------------
 *
 * Per process and call, in the results of the run. */

enum { WEFT_ATT_STATS = 128, WEFT_ATT_STAT_NAME = 24 };

/* Returns the number of a call by its name ("fi_tsend"), one number for each
 * name, or -ENOSPC beyond WEFT_ATT_STATS names. */
int weft_att_stat(struct weft_att *a, const char *name);
/* Counts one more call with that many bytes.  No hand-over. */
void weft_att_stat_add(struct weft_att *a, int stat, uint64_t bytes);
/* Each marks one end of a call, in order with posted operations: for the time
 * that it took and the slices of the timeline.  Calls may lie within others.
 * The client counts a call that posts nothing, the agent others.  No hand-over;
 * without effect in an untimed run. */
void weft_att_stat_begin(struct weft_att *a, int stat);
void weft_att_stat_end(struct weft_att *a, int stat);
/* Ends a call without counting it, because the caller makes it again
 * (-EAGAIN). */
void weft_att_stat_drop(struct weft_att *a, int stat);

WEFT_C_END

#endif
