/* SPDX-License-Identifier: Apache-2.0 */
/* State of an attached process, shared by the files that join and leave the run
 * (client.c), implement the endpoint (client_ep.c), hand over and read the time
 * (client_wait.c), count and time calls (client_stat.c), start and end the
 * measured part (client_epoch.c), and copy the process's memory
 * (client_copy.c). */
#ifndef ATTACH_CLIENT_H
#define ATTACH_CLIENT_H

#include "attach/direct.h"
#include "attach/proto.h"

enum { ATT_MARKS = 256 };

/* Start or end of a counted call (weft_att_stat_begin), posted before the next
 * command. */
struct att_mark {
	uint8_t kind, flags; /* kind: ATT_C_BEGIN or ATT_C_END; flags of the
			      * command */
	uint16_t stat;
	weft_time_t busy; /* value of weft_att.busy at the mark */
};

struct weft_att {
	struct weft_ep ep; /* first member, so that a weft_ep pointer can be
			    * cast */
	struct weft_att_info info;
	uint32_t refs;
	uint32_t role;
	int sock, mem_fd; /* socket to the simulator; node's memory or -1 */
	_Atomic bool gone;
	struct att_seg *seg;
	struct att_bell *bell;
	size_t seg_bytes, bell_bytes;
	struct att_cmd *cmd;
	const struct att_event *ev;
	uint8_t *tx;
	const uint8_t *rx;
	struct direct *direct; /* endpoint of the direct path, or NULL */
	/* Commands: */
	uint32_t tail, head; /* number of commands posted; number executed, as
			      * last read from seg->cmd_head */
	uint64_t tx_tail, tx_head;
	uint64_t *tx_end; /* end of the payload of each command in tx */
	bool posted;	  /* since the last hand-over the process has posted a
			   * command whose duration it does not know */
	bool naps; /* true from the start of a wait until a call detects that
		    * the simulator has resumed the client (att_woken) */
	/* Time: */
	weft_time_t busy;  /* processor time that the next command will
			    * charge */
	weft_time_t ahead; /* processor time charged since the last hand-over,
			    * whose time is seg->now */
	uint64_t cpu_ns;   /* processor time of the thread at the last call of
			    * att_cpu_charge (WEFT_CLOCK_CPU) */
	/* Events: */
	uint32_t ev_head;
	uint64_t seq; /* number of the last command that requested a reply */
	_Atomic uint32_t empty;	  /* empty polls in a row */
	_Atomic uint32_t idle_us; /* length of the next sleep, in us */
	/* empty polls, summed over earlier calls that returned without a
	 * wait */
	_Atomic uint32_t vain;
	bool glances;	  /* the process is inside a call that polls and returns
			   * (MPI_Test) */
	uint32_t glanced; /* number of consecutive waits of weft_att_idle that
			   * expired */
	uint64_t acts;	  /* value of direct_acts at the last poll */
	/* Calls: */
	atomic_flag stat_lock;
	uint32_t n_stats;
	_Atomic uint32_t n_marks;
	struct att_mark mark[ATT_MARKS];
};

/* client.c */
/* Makes a new connection to the simulator, independent of the connection of
 * weft_att_open. The new client is not yet part of the run. The caller calls
 * att_noticed before the first command. Returns 0, -ENOENT without WEFT_SOCKET,
 * or negative errno. att_free frees *a_p. */
int att_connected(enum att_role role, struct weft_att **a_p);
/* Waits until the simulation has admitted the client and resumed it. Returns 0,
 * or -ECONNREFUSED if the simulator has gone. */
int att_noticed(struct weft_att *a);
/* Closes the connection and frees a. Sends nothing. */
void att_free(struct weft_att *a);

/* client_wait.c */
/* Sets the segment's state to RUN, because only a running client may post. */
void att_resume(struct weft_att *a);
/* Sets the segment's state to WAIT. Blocks until the simulator hands the
 * processor back, or until real_ns have passed. */
void att_hand_over(struct weft_att *a, uint64_t real_ns);
/* Posts the processor time used so far. Called before a wait, so that the
 * simulator charges that time before the wait starts. */
void att_flush(struct weft_att *a);
/* Sets `gone` if the socket is closed, because a killed simulator cannot set
 * the state to GONE. */
void att_look(struct weft_att *a);
/* Adds the thread's processor time since the last call to a->busy. */
void att_cpu_charge(struct weft_att *a);

/* client_stat.c */
/* Moves marks into the ring, but leaves room for one command. The next att_post
 * publishes the marks together with its command. */
void att_marks_put(struct weft_att *a);
/* Sets `busy` to 0 in the marks that are not in the ring yet. A posted command
 * has already charged the processor time that `busy` counts. */
void att_marks_after(struct weft_att *a);

/* client_ep.c */
extern const struct weft_ep_ops att_ep_ops;
/* Reads how many commands of the ring the simulator has executed, and frees
 * their payload. */
void att_look_head(struct weft_att *a);
/* Returns the next free command, with kind and processor time filled in, or
 * NULL if the ring is full. att_post publishes the command. */
struct att_cmd *att_cmd_new(struct weft_att *a, enum att_cmd_kind kind);
/* Publishes the command of att_cmd_new and the marks before it. */
void att_post(struct weft_att *a);
/* Reserves `len` contiguous bytes of tx for the next command. Returns false if
 * tx is full. */
bool att_tx_new(struct weft_att *a, size_t len, uint64_t *off_p);
/* Posts a copy of cmd and hands over until the reply arrives. Returns the
 * reply's status, or -EIO if the simulator has gone. */
int att_call(struct weft_att *a, const struct att_cmd *cmd,
	     struct att_reply *r_p);
/* Returns true while a timed client waits. The client must not read the rings
 * then, because the simulator is still writing them and the result of a poll
 * would depend on real time. */
static inline bool att_blind(const struct weft_att *a)
{
	return a->info.clock != WEFT_CLOCK_NONE &&
	       atomic_load(&a->seg->state) == ATT_WAIT;
}

/* Clears naps, posted and ahead if the simulator has resumed the client since
 * the client began to wait. */
static inline void att_woken(struct weft_att *a)
{
	if (!a->naps || atomic_load(&a->seg->state) == ATT_WAIT)
		return;
	a->naps = a->posted = false;
	a->ahead = 0;
}

/* Returns true if a poll would find an event now. */
static inline bool att_has_event(const struct weft_att *a)
{
	return !att_blind(a) &&
	       atomic_load_explicit(&a->seg->ev_tail, memory_order_acquire) !=
		       atomic_load_explicit(&a->seg->ev_head,
					    memory_order_relaxed);
}

#endif
