/* SPDX-License-Identifier: Apache-2.0 */
/* Scheduler with scoreboard, wait queues and pipelines (hostport.md 8.7, 8.1).
 * One instance each in front of the requester, completer and responder units.
 *
 *   hp_sched_put -> queue -> slot: up to `width` -> wait queue -> stage 0, 1 ..
 *
 * A functional unit is a pipeline of stages, one job in each, never reordered
 * (FU4). The scoreboard consists of the keys (job->key) of the jobs in stages
 * and wait queues. The owner of a job decides what a stage does: it calls
 * hp_stage_done when the work of the stage is over, at once or in a later
 * event. The job enters the next stage when that is empty.
 *
 * A job that waits for something outside the device (a translation) may be set
 * aside, so that other jobs can use its stage. It continues from there later.
 * Jobs of one ordering key never overtake each other. Prompt jobs pass jobs
 * that are aside, and go before one of these continues.
 *
 * The scheduler does not know time: sched.wake requests hp_sched_slot in this
 * cycle, or in the next one when this cycle already had its slot. */
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
	bool over;    /* the work of its stage is done and the next stage is
		       * occupied */
	bool aside;
	bool placed; /* has a place aside of its own, not one of
		      * hp_sched.places */
	bool live;   /* not in the pool */
	/* Ends without waiting for other jobs. It must never be in a unit
	 * behind a job that may wait for it. */
	bool prompt;
	uint8_t fu, stage;
	uint32_t fus;	     /* mask: units that may take it; 0 = all */
	struct hp_job *next; /* pool */
	struct hp_job *chain;
	uint64_t put; /* number, in order of hp_sched_put */
};

/* Ordering key: own context, peer (place, VPID), type. The peer's place is the
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
	/* for listeners: names of places and stages; what a job is */
	const char *queue_name, *wait_name, *stage_name[HP_STAGE_MAX];
	const char *(*what)(const struct hp_job *j);
	size_t job_size; /* of the record whose first member is the job */
	uint32_t stages;
	/* Called when the job enters its stage. */
	void (*stage[HP_STAGE_MAX])(struct hp_sched *s, struct hp_job *j);
	/* Called when the job was set aside, so that it gives back what other
	 * jobs need. May be NULL. */
	void (*aside)(struct hp_sched *s, struct hp_job *j);
	/* Called when a stage of the job is over but an older job of its key is
	 * aside. May give the job a place (placed), or end it otherwise (over
	 * is cleared). May be NULL. */
	void (*behind)(struct hp_sched *s, struct hp_job *j);
	/* Called when the job has left the last stage and the scoreboard. The
	 * record then returns to the pool. May be NULL. */
	void (*left)(struct hp_sched *s, struct hp_job *j);
	/* Called when the job is dropped at the end of the run. May be NULL. */
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
	uint32_t taken;			 /* of these, jobs in hp_sched.places */
	uint64_t jobs, busy_since, busy; /* cycles with a job in it */
	uint32_t n;			 /* jobs in it, wait queue included */
	uint32_t slow; /* of these, not prompt and not aside */
	bool running;  /* its own functions are running, which must not be
			* entered again */
};

struct hp_sched {
	const struct hp_pipe *pipe;
	void *own;	      /* struct hp_nic, or a test */
	uint32_t n_fu, width; /* issue_width */
	uint32_t depth;	      /* of wait queues; 0 = none */
	uint32_t room;	      /* of the queue */
	uint32_t places;      /* of a unit for jobs set aside */
	void (*wake)(void *own, struct hp_sched *s); /* requests a slot */
	/* Called when the queue has room again. May be NULL. */
	void (*ready)(void *own, struct hp_sched *s);
	uint64_t (*now)(void *own);   /* cycle, for `busy`.  May be NULL. */
	const struct weft_comp *comp; /* the component that notifies
				       * listeners. May be NULL. */
	/* below: state */
	struct hp_job **queue; /* oldest first */
	uint32_t n_queue;
	uint32_t turn; /* round robin between units with equal load */
	struct hp_fu fu[HP_FU_MAX];
	uint64_t puts, issues, slots; /* slots: cycles with something in the
				       * queue */
	uint64_t waste; /* SB13: issue places unused while jobs wait */
	struct hp_job *pool, *all;
};

void hp_sched_init(struct hp_sched *s);
void hp_sched_fini(struct hp_sched *s);
/* Returns a zeroed record of a job. */
void *hp_job_new(struct hp_sched *s);
/* Gives back the record of a job that will not be put. */
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
/* Queues a job. The caller has checked hp_sched_room(). */
void hp_sched_put(struct hp_sched *s, struct hp_job *j);
/* Runs one time slot (reference algorithm of 8.7), and requests the next one
 * while jobs of the queue may move. */
void hp_sched_slot(struct hp_sched *s);
/* Ends the stage of job j, and moves it on when the next stage is empty. */
void hp_stage_done(struct hp_sched *s, struct hp_job *j);
/* Sets job j aside when there is a place, because its stage will last.
 * hp_stage_done ends the stage as usual. */
void hp_stage_aside(struct hp_sched *s, struct hp_job *j);
/* Returns whether a job of this VPID is aside. */
bool hp_sched_aside(const struct hp_sched *s, uint32_t vpid);

#endif
