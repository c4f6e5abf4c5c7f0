/* SPDX-License-Identifier: Apache-2.0 */
/* References for the Host Port's trigger path, written from hostport.md alone:
 * the conditional store buffer (7.3 to 7.5) access by access, and the scheduler
 * with scoreboard and wait queues (8.7) cycle by cycle. */
#ifndef HOSTPORT_TESTS_REF_HP_H
#define HOSTPORT_TESTS_REF_HP_H

#include <stdbool.h>
#include <stdint.h>

/* ---- conditional store buffer ---- */

enum { REF_CSB_MAX = 512 };

struct ref_csb {
	/* depth: number of entries. limit: largest number of entries of one
	 * VPID, or 0 for no limit */
	uint32_t depth, limit;
	uint32_t n;
	struct ref_csb_entry {
		uint32_t vpid, command, parameter;
	} entry[REF_CSB_MAX]; /* oldest first */
	bool enabled[65536];
};

/* Loads at this offset of the aperture. Returns the value that the device
 * answers. */
uint64_t ref_csb_load(struct ref_csb *b, uint32_t offset);
bool ref_csb_next(struct ref_csb *b, struct ref_csb_entry *e);

/* ---- scheduler ---- */

enum {
	REF_FUS = 8,
	REF_STAGES = 6,
	REF_WAIT = 32,
	REF_QUEUE = 32,
	REF_PLACES = 8
};

struct ref_job {
	uint32_t id, unit, stage;
	uint64_t key, due;
	bool ordered;
	/* the job may enter only units whose jobs are all prompt (8.5) */
	bool prompt;
	uint32_t units;		   /* mask of the units that may take the job */
	uint32_t time[REF_STAGES]; /* number of cycles in each stage */
	bool over;		   /* the job has spent its time in its stage */
	/* stage in which the job waits for the driver, or a number beyond the
	 * last stage if the job never waits */
	uint32_t miss;
};

struct ref_sched {
	uint32_t fus, stages, width, depth, room;
	struct ref_job *queue[REF_QUEUE];
	uint32_t queued;
	struct ref_job *wait[REF_FUS][REF_WAIT];
	uint32_t waiting[REF_FUS];
	struct ref_job *stage[REF_FUS][REF_STAGES];
	/* jobs set aside, oldest first, so that other jobs can use their
	 * stage */
	struct ref_job *aside[REF_FUS][REF_PLACES];
	uint32_t n_aside[REF_FUS], places;
	uint32_t last; /* unit that received the last job */
	uint64_t issued, cycle;
	/* number of cycles in which two units had the same key, which SB5
	 * forbids */
	uint32_t twice;
	uint32_t left[4096], n_left;
};

bool ref_sched_put(struct ref_sched *s, struct ref_job *j);
/* Moves jobs whose time in their stage has passed, then issues jobs of the
 * queue. */
void ref_sched_cycle(struct ref_sched *s, uint64_t cycle);

#endif
