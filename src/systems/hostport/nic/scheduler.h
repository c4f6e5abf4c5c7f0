/* SPDX-License-Identifier: Apache-2.0 */
/* Scheduler with scoreboard, wait queues and pipelines (hostport.md 8.7, 8.1).
 * Requester, completer and responder units have one instance each.
 *
 *   hp_sched_put -> queue -> slot: up to `width` -> wait queue -> stage 0, 1 ..
 *
 * A slot is a cycle in which up to `width` jobs are issued from the queue to
 * units. A functional unit is a pipeline of stages with one job in each. It
 * never reorders jobs (FU4). The scoreboard consists of the keys (job->key) of
 * the jobs in stages and wait queues. The owner of a job decides what a stage
 * does: it calls hp_stage_done when the work of the stage is over, at once or
 * in a later event. The job enters the next stage when that is empty.
 *
 * A job that waits for something outside the device (a translation) may be set
 * aside, so that other jobs can use its stage. It continues from there later.
 * Jobs of one ordering key never overtake each other. Prompt jobs pass jobs
 * that are aside. A job that is aside and not prompt continues only when the
 * unit has no prompt job in its stages and wait queue.
 *
 * The scheduler has no clock. It calls sched.wake, which requests a call of
 * hp_sched_slot in this cycle, or in the next cycle if this cycle already had
 * its slot. */
#ifndef SYSTEMS_HOSTPORT_NIC_SCHEDULER_H
#define SYSTEMS_HOSTPORT_NIC_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ring.h"
#include "base/vec.h"

enum { HP_FU_MAX = 16, HP_STAGE_MAX = 8 };
#define HP_FU_NONE UINT32_MAX

/* First member of each unit's record of an instruction or packet. */
struct hp_job {
	uint64_t key; /* ordering key of SB1, see hp_key() */
	bool ordered; /* SB6 */
	/* the work of its stage is done, but the job cannot enter the next
	 * stage yet */
	bool over;
	bool aside;
	/* is aside in a waiting slot of receiver_room.c, which does not count
	 * in hp_sched.places */
	bool placed;
	bool live; /* in use, so that it is not in the pool */
	/* A prompt job never waits for other jobs. It must not be in a unit
	 * behind a job that may wait for the prompt job. */
	bool prompt;
	uint8_t fu, stage;
	/* mask of the units that may take the job, or 0 for all units */
	uint32_t fus;
	struct hp_job *next; /* next record of the pool */
	struct hp_job *chain;
	uint64_t put; /* sequence number of the hp_sched_put() call */
};

/* Ordering key: own context, peer, type. The peer is a VPID and `place`: for
 * requesters the routing offset, for arriving packets the Host Port ID. */
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
	/* names for listeners: of the queue, of a wait queue and of the stages.
	 * what() names the kind of a job. */
	const char *queue_name, *wait_name, *stage_name[HP_STAGE_MAX];
	const char *(*what)(const struct hp_job *j);
	size_t job_size; /* bytes of the record whose first member is the job */
	uint32_t stages;
	/* Called when the job enters its stage. */
	void (*stage[HP_STAGE_MAX])(struct hp_sched *s, struct hp_job *j);
	/* Called when the job was set aside, to give back resources that other
	 * jobs need. May be NULL. */
	void (*aside)(struct hp_sched *s, struct hp_job *j);
	/* Called when a stage of the job is over but an older job of its key is
	 * aside. May move the job to a waiting slot (sets placed), or end it
	 * (clears over). May be NULL. */
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
	} aside; /* oldest first */
	/* number of jobs aside that count in hp_sched.places */
	uint32_t taken;
	/* number of jobs, cycle in which the unit became busy, and number of
	 * cycles with a job in the unit */
	uint64_t jobs, busy_since, busy;
	/* number of jobs in the unit, wait queue included */
	uint32_t n;
	/* number of jobs in n that are neither prompt nor aside */
	uint32_t slow;
	/* The unit is being run. A nested call must not run it then. */
	bool running;
};

struct hp_sched {
	const struct hp_pipe *pipe;
	void *own;	      /* struct hp_nic, or a test */
	uint32_t n_fu, width; /* issue_width */
	uint32_t depth;	      /* length of each wait queue, or 0 for none */
	uint32_t room;	      /* length of the queue */
	/* number of jobs of each unit that may be aside */
	uint32_t places;
	void (*wake)(void *own, struct hp_sched *s); /* requests a slot */
	/* Called when the queue has room again. May be NULL. */
	void (*ready)(void *own, struct hp_sched *s);
	/* Returns the present cycle, from which `busy` is computed. May be
	 * NULL. */
	uint64_t (*now)(void *own);
	/* component that notifies listeners. May be NULL. */
	const struct weft_comp *comp;
	/* below: state */
	struct hp_job **queue; /* oldest first */
	uint32_t n_queue;
	/* unit that received the last job. The search for the next job's unit
	 * starts after it, so that units with equal load take turns */
	uint32_t turn;
	struct hp_fu fu[HP_FU_MAX];
	/* puts, issues: numbers of jobs queued and issued. slots: number of
	 * slots with a job in the queue */
	uint64_t puts, issues, slots;
	/* SB13: number of unused issues. Each slot that `slots` counts has
	 * `width` issues */
	uint64_t waste;
	struct hp_job *pool, *all;
};

void hp_sched_init(struct hp_sched *s);
void hp_sched_fini(struct hp_sched *s);
/* Returns a zeroed record of a job. */
void *hp_job_new(struct hp_sched *s);
/* Gives back the record of a job that has left its unit or was never queued. */
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
/* Runs one slot (reference algorithm of 8.7), and requests the next slot while
 * queued jobs may still be issued. */
void hp_sched_slot(struct hp_sched *s);
/* Ends the stage of job j, and moves it on when the next stage is empty. */
void hp_stage_done(struct hp_sched *s, struct hp_job *j);
/* Sets job j aside, because its stage will last long. Does nothing when no slot
 * for jobs aside is free. hp_stage_done() ends the stage as usual. */
void hp_stage_aside(struct hp_sched *s, struct hp_job *j);
/* Returns whether a job of this VPID is aside. */
bool hp_sched_aside(const struct hp_sched *s, uint32_t vpid);

#endif
