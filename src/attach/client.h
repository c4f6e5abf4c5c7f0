/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the process: the attachment (client.c: life; client_ep.c: the
 * endpoint; client_wait.c: handing over, time; client_stat.c: calls). */
#ifndef ATTACH_CLIENT_H
#define ATTACH_CLIENT_H

#include "attach/direct.h"
#include "attach/proto.h"

enum { ATT_MARKS = 256 };

/* A call has begun or ended; to be posted before the next command. */
struct att_mark {
	uint8_t kind, flags; /* ATT_C_BEGIN, ATT_C_END */
	uint16_t stat;
	weft_time_t busy; /* part of weft_att.busy that is before it */
};

struct weft_att {
	struct weft_ep ep; /* first */
	struct weft_att_info info;
	uint32_t refs;
	uint32_t role;
	int sock, mem_fd; /* of the node's memory, or -1 */
	_Atomic bool gone;
	struct att_seg *seg;
	struct att_bell *bell;
	size_t seg_bytes, bell_bytes;
	struct att_cmd *cmd;
	const struct att_event *ev;
	uint8_t *tx;
	const uint8_t *rx;
	struct direct *direct; /* the endpoint without a NIC, or NULL */
	/* commands */
	uint32_t tail, head; /* head: as last seen */
	uint64_t tx_tail, tx_head;
	uint64_t *tx_end; /* of each command */
	bool posted;	  /* since the process was given the processor */
	bool naps;	  /* it looked up while it was waiting */
	/* time */
	weft_time_t busy;  /* to be charged with the next command */
	weft_time_t ahead; /* charged since seg->now */
	uint64_t cpu_ns;   /* WEFT_CLOCK_CPU: as last read */
	/* events */
	uint32_t ev_head;
	uint64_t seq;		  /* of commands that wait for an answer */
	_Atomic uint32_t empty;	  /* polls in a row */
	_Atomic uint32_t idle_us; /* how long to sleep next */
	_Atomic uint32_t vain;	  /* and in calls before this one */
	bool glances;		  /* weft_att_enter: it looks */
	uint32_t glanced;	  /* times in a row that nothing came */
	uint64_t acts;		  /* of the direct endpoint */
	uint64_t looked_ns;	  /* for the simulator's end of the socket */
	/* calls */
	atomic_flag stat_lock;
	uint32_t n_stats;
	_Atomic uint32_t n_marks;
	struct att_mark mark[ATT_MARKS];
};

/* client.c */
/* A connection to the simulator, beside that of weft_att_open: joined, but the
 * simulator has not taken notice yet (att_noticed waits for it). */
int att_connected(enum att_role role, struct weft_att **a_p);
int att_noticed(struct weft_att *a);
void att_free(struct weft_att *a);

/* client_wait.c */
/* The process counts as running: it may post. */
void att_resume(struct weft_att *a);
/* Hands over until its state is not WAIT any more or real_ns have passed. */
void att_hand_over(struct weft_att *a, uint64_t real_ns);
/* What it was busy with must reach the simulator before it waits. */
void att_flush(struct weft_att *a);
/* The simulator may have gone without a word. */
void att_look(struct weft_att *a);
/* Processor time used since the last call, in a->busy. */
void att_cpu_charge(struct weft_att *a);

/* client_stat.c */
/* Puts marks into the ring, as many as leave room for a command; that one
 * publishes them. */
void att_marks_put(struct weft_att *a);
/* All processor time so far is before what is marked. */
void att_marks_after(struct weft_att *a);

/* client_ep.c */
extern const struct weft_ep_ops att_ep_ops;
/* What the simulator has carried out since gives its payload back. */
void att_look_head(struct weft_att *a);
/* A place for a command, or NULL: full.  att_post publishes it. */
struct att_cmd *att_cmd_new(struct weft_att *a, enum att_cmd_kind kind);
void att_post(struct weft_att *a);
/* A piece of tx that does not wrap; false: no room. */
bool att_tx_new(struct weft_att *a, size_t len, uint64_t *off_p);
/* Posts and hands over until the answer is there. */
int att_call(struct weft_att *a, const struct att_cmd *cmd,
	     struct att_reply *r_p);
/* A timed process that waits sees nothing before it is given the processor,
 * though it may look while the simulator is still writing. */
static inline bool att_blind(const struct weft_att *a)
{
	return a->info.clock != WEFT_CLOCK_NONE &&
	       atomic_load(&a->seg->state) == ATT_WAIT;
}

/* It was given the processor while it looked elsewhere. */
static inline void att_woken(struct weft_att *a)
{
	if (!a->naps || atomic_load(&a->seg->state) == ATT_WAIT)
		return;
	a->naps = a->posted = false;
	a->ahead = 0;
}

static inline bool att_has_event(const struct weft_att *a)
{
	return !att_blind(a) &&
	       atomic_load_explicit(&a->seg->ev_tail, memory_order_acquire) !=
		       atomic_load_explicit(&a->seg->ev_head,
					    memory_order_relaxed);
}

#endif
