/* SPDX-License-Identifier: Apache-2.0 */
/* A process on a simulated machine: what `weft exec` gives to the processes it
 * starts.  A library inside of the process (the libfabric provider, a test)
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

/* What simulated time a process sees. */
enum weft_att_clock {
	WEFT_CLOCK_FIXED, /* calls cost what a table says; reproducible */
	WEFT_CLOCK_CPU,	  /* and between calls the processor time used */
	WEFT_CLOCK_NONE,  /* nobody waits for anybody: as fast as possible */
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
	weft_time_t cost_call; /* what a library charges for a call */
	/* of the endpoint, as in weft_ep_info; caps of its native operations */
	uint32_t max_msg, max_put, align;
	uint32_t caps, emulated;
	char nic[32];
};

/* ---- life ---- */

/* The attachment of this process: made by the first call from the environment
 * (WEFT_SOCKET; the rank from WEFT_RANK or the launcher's), counted from then
 * on.  -ENOENT: the process was not started by weft exec; -ECONNREFUSED: the
 * simulator has gone; -EPROTO: another version of it; -EIO: this process was
 * forked from one that is attached. */
int weft_att_open(struct weft_att **a_p);
/* The last close detaches.  A process that ends without is detached too, but
 * its peers are told that it died. */
void weft_att_close(struct weft_att *a);
const struct weft_att_info *weft_att_info(const struct weft_att *a);

/* ---- endpoint -------------------------------------------------------------
 *
 * The one endpoint of the attachment, common to all who opened it; its close
 * does nothing.  Over weft/ep.h:
 *   dst, src  WEFT_ATT_ADDR.  A peer that has left, or never was: the operation
 *             ends with WEFT_EV_ERROR, status -EPIPE.
 *   imm       32 bits; more: -EINVAL.
 *   send      copies the payload at once: buf is free on return.  The event
 *             WEFT_EV_SENT comes when the endpoint has sent it, but not at all
 *             with ctx == NULL: nobody has to be woken for it.
 *   put, get  buf, and what mr_reg names, is any memory of the process.  With
 *             ctx == NULL a put gives no WEFT_EV_PUT.
 *   mr_reg    hands over.  mr_dereg too.
 *   poll      looks at what is there: no hand-over, free of charge.  Data of
 *             WEFT_EV_RECV stay until release.
 *   wait      hands over until there is an event (0) or simulated time has
 *             reached the deadline (-ETIMEDOUT).  For programs that wait for
 *             nothing but the endpoint; others: weft_att_wait.
 *   -EAGAIN   the ring is full: weft_att_wait or wait, poll, and again.
 *   -EIO      detached: the simulator has gone or broken off.
 * WEFT_EV_ERROR with ctx == NULL, status -EPIPE: the peer `src` has died;
 * nothing more will come from it.  One to everybody, once. */
struct weft_ep *weft_att_ep(struct weft_att *a);

/* Events of a detached process: none.  True as soon as that is so. */
bool weft_att_gone(const struct weft_att *a);

/* ---- time ---- */

/* The process was busy for this long: behind what it has posted so far, before
 * what it posts next.  No hand-over. */
void weft_att_charge(struct weft_att *a, weft_time_t busy);
/* Time behind everything posted, but for what has to wait for a peer to look at
 * its messages.  Costs what reading the clock costs, so that a loop around it
 * ends; hands over only when something was posted since the last hand-over.
 * Untimed (WEFT_CLOCK_NONE): simulated time so far. */
weft_time_t weft_att_now(struct weft_att *a);
/* When the process was last given the processor.  Any thread may ask; costs
 * nothing. */
weft_time_t weft_att_seen(const struct weft_att *a);
/* It, or a little after `last` if that is not before it: for loops around it,
 * which must end. */
weft_time_t weft_att_seen_after(const struct weft_att *a, weft_time_t last);
/* Hands over.  0: there is an event to poll; -EAGAIN: none after real_us of
 * real time (the process still counts as waiting, and may look or wait again,
 * or go away and do something else).  -EIO: detached. */
int weft_att_wait(struct weft_att *a, uint32_t real_us);
/* After a poll that found nothing, by those whose caller will come back soon:
 * the first 15 in a row return at once, from then on as weft_att_wait, for
 * about 1 ms, up to 8 ms when nothing happens for long.  Every other call that
 * posts, and every event, starts the count again. */
int weft_att_idle(struct weft_att *a);
/* A call of a library above begins (MPI): polls in a row are those of one call,
 * and who found nothing in several calls without waiting for anything does not
 * wait for what he did before; after 256 of them he is helped on as below.
 * `looks`: it looks and goes on with something else (MPI_Test); such calls are
 * counted together.  They get 15 looks for nothing; with the 16th 2 us of
 * simulated time pass, or less when an event comes, and it returns, whatever
 * real time is. */
void weft_att_enter(struct weft_att *a, bool looks);
/* The caller has got on without an event (a message that was there before):
 * polls in a row begin again. */
void weft_att_made_progress(struct weft_att *a);
void weft_att_leave(struct weft_att *a);
/* What follows, up to the common start, happens in real time and is no part of
 * what is measured: messages do not take the machine, and simulated time stands
 * still while all who are attached have said so.  No hand-over. */
void weft_att_aside(struct weft_att *a);
/* A common start.  All `ranks` processes of a job (a number they agree on) call
 * it; they go on together, at a simulated time that is a multiple of 10 ms,
 * when what was under way before has arrived: *t_p.  -EPIPE: one of them has
 * died. */
int weft_att_epoch(struct weft_att *a, uint64_t job, uint32_t ranks,
		   weft_time_t *t_p);
/* What is measured ends here for this process. */
void weft_att_over(struct weft_att *a);
/* A common end, as the start; what follows is as after weft_att_aside. */
int weft_att_epoch_end(struct weft_att *a, uint64_t job, uint32_t ranks);
/* A descriptor that is readable while there may be an event (for wait objects
 * such as fi_wait's); armed by weft_att_arm, which hands over.  0, or -EAGAIN
 * when there is an event now. */
int weft_att_fd(struct weft_att *a);
int weft_att_arm(struct weft_att *a);

/* ---- what somebody wants to know afterwards --------------------------------
 *
 * Per process and call, in the results of the run. */

enum { WEFT_ATT_STATS = 128, WEFT_ATT_STAT_NAME = 24 };

/* Number of a call, by its name ("fi_tsend"); the same name gives the same
 * number.  -ENOSPC: there are too many. */
int weft_att_stat(struct weft_att *a, const char *name);
/* One more call with that many bytes; no hand-over. */
void weft_att_stat_add(struct weft_att *a, int stat, uint64_t bytes);
/* A call begins and ends: what time it took, in order with everything that is
 * posted; slices of the timeline.  Calls may lie within others.  A call that
 * posts nothing is counted here, others by the agent.  No hand-over; nothing
 * at all in an untimed run. */
void weft_att_stat_begin(struct weft_att *a, int stat);
void weft_att_stat_end(struct weft_att *a, int stat);
/* It ends, but is to be forgotten: it will be made again (-EAGAIN). */
void weft_att_stat_drop(struct weft_att *a, int stat);

WEFT_C_END

#endif
