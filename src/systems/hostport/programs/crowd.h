/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of hostport.crowd: see crowd.c. */
#ifndef SYSTEMS_HOSTPORT_PROGRAMS_CROWD_H
#define SYSTEMS_HOSTPORT_PROGRAMS_CROWD_H

#include "programs/program.h"
#include "systems/hostport/lib/crowd.h"

enum kind {
	FAST_SEND,
	SEND,
	FAST_PUT,
	PUT,
	PUT_BYTES,
	FAST_GET,
	GET,
	FAA,
	CAS,
	KINDS
};

enum { LINE_WORDS = 8 }; /* words of each process in a server's window */
enum { WIN_LINES = HPORT_CROWD_WINS, WIN_OWN = HPORT_CROWD_WINS + 1 };

struct crowd;

struct member {
	struct crowd *of;
	/* id: number of the process. next: number of the next instruction */
	uint32_t id, next;
	/* number of notifications that the process must still receive as a
	 * target */
	uint32_t expect;
	bool busy;
	uint64_t added; /* sum of the operands of its FAAs */
	uint64_t *own;	/* page that the process opens as window 17, or NULL */
};

struct crowd {
	uint32_t processes, servers, windows, cpus;
	uint64_t instructions;
	struct program w;
	struct hport_crowd hp;
	struct hport_peer to;
	struct member *m;
	uint64_t **lines; /* of servers */
	uint64_t *done, *executed;
	uint64_t n_done, n_executed, n_kind[KINDS];
	uint64_t rejected; /* number of triggers that the device rejected */
};

/* ---- instructions by their number (crowd_operations.c) ---- */

/* Returns the random value `what` of instruction `num`. All nodes get equal
 * values. */
uint64_t crowd_draw(uint64_t num, uint32_t what);
enum kind crowd_kind(const struct crowd *a, uint64_t num);
/* Returns the process or server that is the target of the instruction. */
uint32_t crowd_target(const struct crowd *a, uint64_t num);
/* Returns how many words the instruction sends or fetches. */
uint32_t crowd_words(const struct crowd *a, uint64_t num);
/* Puts an instruction into the work queue. Returns 0 or a negative errno. */
int crowd_post(struct member *m, struct hport *p, uint64_t num);
/* Returns whether a completed instruction left the expected data in memory and
 * in its notification. */
bool crowd_good(struct member *m, const struct hport_note *n);

#endif
