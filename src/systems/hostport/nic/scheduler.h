/* SPDX-License-Identifier: Apache-2.0 */
/* Scheduler with scoreboard, wait queues and pipelines (hostport.md 8.7, 8.1).
 * One instance each in front of the requester, completer and responder units.
 *
 *   hp_sched_put -> queue -> slot: up to `width` -> wait queue -> stage 0, 1 ..
 *
 * A functional unit is a pipeline of stages, one job in each, never reordered
 * (FU4).  The scoreboard is what is in stages and wait queues: job->key.  The
 * owner of a job decides what a stage does: it calls hp_stage_done when the
 * work of the stage is over, at once or in a later event; the job enters the
 * next stage when that is empty.  A job that has to wait for somebody outside
 * of the device (a translation) may be set aside: the stage is free for others,
 * and the job goes on from there when it can.  Jobs of one ordering key never
 * overtake each other.  Prompt jobs pass those that stand aside, and are let
 * through before one of these goes on.  Knows nothing of time: sched.wake asks
 * for hp_sched_slot in this cycle, or in the next one where this one had its
 * slot.
 */
#ifndef SYSTEMS_HOSTPORT_NIC_SCHEDULER_H
#define SYSTEMS_HOSTPORT_NIC_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ring.h"
#include "base/vec.h"

enum { HP_FU_MAX = 16, HP_STAGE_MAX = 8 };
#define HP_FU_NONE UINT32_MAX

/* First member of a unit's own record of an instruction or packet. */
struct hp_job {
	uint64_t key; /* SB1, see hp_key */
	bool ordered; /* SB6 */
	bool over;    /* work of its stage is done, the next one is taken */
	bool aside;
	bool placed; /* a place aside is its own, none of hp_sched.places */
	bool live;   /* not in the pool */
	/* Ends whatever others do: never in a unit behind one that may wait for
	 * them. */
	bool prompt;
	uint8_t fu, stage;
	uint32_t fus;	     /* mask: units that may take it; 0 = all */
	struct hp_job *next; /* pool */
	struct hp_job *chain;
	uint64_t put; /* number, in order of hp_sched_put */
};

/* Ordering key: own context, peer (place, VPID), type.  The peer's place is the
 * routing offset for requesters, the Host Port ID for arriving packets. */
enum hp_key_type { HP_KEY_SEND, HP_KEY_RMA, HP_KEY_REPLY };
static inline uint64_t hp_key(uint32_t vpid, uint32_t far_vpid, uint32_t place,
			      enum hp_key_type type)
{
	return (uint64_t)(vpid & 0xffff) << 48 |
	       (uint64_t)(far_vpid & 0xffff) << 32 | (uint32_t)type << 30 |
	       (place & 0x3fffffff);
}

struct hp_nic;
struct hp_sched;
struct weft_comp;

struct hp_pipe {
	const char *name;
	/* for who listens: places of jobs, their stages, what a job is */
	const char *queue_name, *wait_name, *stage_name[HP_STAGE_MAX];
	const char *(*what)(const struct hp_job *j);
	size_t job_size; /* of the record whose first member is the job */
	uint32_t stages;
	/* The job is in its stage now. */
	void (*stage[HP_STAGE_MAX])(struct hp_sched *s, struct hp_job *j);
	/* It has been set aside: what it holds of others' is given back.  May
	 * be NULL. */
	void (*aside)(struct hp_sched *s, struct hp_job *j);
	/* Its stage is over and it has to wait behind one of its key that
	 * stands aside: may give it a place (placed), or end it otherwise (over
	 * is cleared).  May be NULL. */
	void (*behind)(struct hp_sched *s, struct hp_job *j);
	/* It has left the last stage and the scoreboard; the record goes back
	 * to the pool afterwards.  May be NULL. */
	void (*left)(struct hp_sched *s, struct hp_job *j);
	/* Nothing more will be done for it.  May be NULL. */
	void (*abandon)(struct hp_nic *n, struct hp_job *j);
};

struct hp_fu {
	struct {
		RING(struct hp_job *);
	} wait;
	struct hp_job *stage[HP_STAGE_MAX];
	struct {
		VEC(struct hp_job *);
	} aside;			 /* oldest first */
	uint32_t taken;			 /* of these, in hp_sched.places */
	uint64_t jobs, busy_since, busy; /* cycles with a job in it */
	uint32_t n;			 /* jobs in it, wait queue included */
	uint32_t slow; /* of these, not prompt and not aside */
	bool running;  /* its own functions are being called */
};

struct hp_sched {
	const struct hp_pipe *pipe;
	void *own;	      /* struct hp_nic, or a test */
	uint32_t n_fu, width; /* issue_width */
	uint32_t depth;	      /* of wait queues; 0 = none */
	uint32_t room;	      /* of the queue */
	uint32_t places;      /* of a unit for jobs set aside */
	void (*wake)(void *own, struct hp_sched *s); /* for a slot */
	/* The queue has room again.  May be NULL. */
	void (*ready)(void *own, struct hp_sched *s);
	uint64_t (*now)(void *own);   /* cycle, for `busy`.  May be NULL. */
	const struct weft_comp *comp; /* who tells.  May be NULL. */
	/* state */
	struct hp_job **queue; /* oldest first */
	uint32_t n_queue;
	uint32_t turn; /* round robin of ties */
	struct hp_fu fu[HP_FU_MAX];
	uint64_t puts, issues, slots; /* slots: with something in the queue */
	uint64_t waste; /* SB13: issue places not used, work there */
	struct hp_job *pool, *all;
};

void hp_sched_init(struct hp_sched *s);
void hp_sched_fini(struct hp_sched *s);
/* A zeroed record. */
void *hp_job_new(struct hp_sched *s);
/* It will not be put, after all. */
static inline void hp_job_drop(struct hp_sched *s, struct hp_job *j)
{
	j->live = false;
	j->next = s->pool;
	s->pool = j;
}
static inline bool hp_sched_room(const struct hp_sched *s)
{
	return s->n_queue < s->room;
}
void hp_sched_put(struct hp_sched *s, struct hp_job *j);
/* One time slot (reference algorithm of 8.7); asks for the next one while jobs
 * of the queue may move. */
void hp_sched_slot(struct hp_sched *s);
/* The work of j's stage is over. */
void hp_stage_done(struct hp_sched *s, struct hp_job *j);
/* Its stage will last: set aside where there is a place.  hp_stage_done ends
 * the stage as ever. */
void hp_stage_aside(struct hp_sched *s, struct hp_job *j);
/* A job of this VPID is set aside. */
bool hp_sched_aside(const struct hp_sched *s, uint32_t vpid);
/* Any job of this VPID is somewhere between hp_job_new and its end. */
bool hp_sched_holds(const struct hp_sched *s, uint32_t vpid);

#endif
