/* SPDX-License-Identifier: Apache-2.0 */
/* Cycle-by-cycle reference of EXTOLL's address translation (extoll.md 3.7, 3.8,
 * 5.5). Three units each request one translation at a time. The answer follows
 * after 4 cycles, or when the table entry has been read. The reference makes
 * these choices, which 5.5 leaves open. Lookups that are due in one cycle are
 * executed in the order of their requests. If two ways of the TLB hold one
 * page, the lower way is used. A table entry that is valid and has the right
 * owner enters the TLB even if it forbids the access. A walk whose page is
 * flushed is repeated. */
#ifndef EXTOLL_TESTS_REF_ATU_H
#define EXTOLL_TESTS_REF_ATU_H

#include <stdbool.h>
#include <stdint.h>

enum {
	REF_ATU_SETS = 16,
	REF_ATU_WAYS = 4,
	REF_ATU_HIT = 4,
	REF_ATU_UNITS = 3,
	REF_ATU_QUEUE = 16,
	REF_ATU_USES = 64
};

enum ref_atu_state { REF_ATU_IDLE, REF_ATU_LOOK, REF_ATU_WALK };

struct ref_atu_ask { /* request of one unit */
	enum ref_atu_state state;
	uint64_t nla, due;
	uint32_t bytes, vpid, number; /* number: in the order of requests */
	bool write, stale;
	uint32_t user; /* the unit's */
};

struct ref_atu_use { /* a translation that was answered */
	bool live;
	uint32_t page, vpid, epoch;
};

struct ref_atu {
	/* settings */
	uint64_t table; /* physical address of table 0, the only one */
	/* Answers a unit. use is the argument of ref_atu_finish, or -1 for a
	 * fault. */
	void (*answer)(void *own, uint32_t unit, uint32_t user, uint64_t phys,
		       int use);
	/* Starts a read of 8 bytes. The caller ends it by
	 * ref_atu_read_done(). */
	void (*read)(void *own, uint32_t unit, uint64_t addr);
	void (*write)(void *own, uint64_t addr);
	void *own;
	/* state */
	uint64_t now;
	struct {
		bool full;
		uint32_t page, vpid;
		uint64_t gate;
	} way[REF_ATU_SETS][REF_ATU_WAYS];
	uint32_t next[REF_ATU_SETS]; /* way that is replaced next */
	struct ref_atu_ask ask[REF_ATU_UNITS];
	struct ref_atu_use use[REF_ATU_USES];
	uint32_t asked;
	uint64_t cmd[REF_ATU_QUEUE];
	uint32_t n_cmd, epoch;
	bool begun;
	/* outcome */
	uint32_t hits, misses, faults, replaced, stale;
};

void ref_atu_ask(struct ref_atu *a, uint32_t unit, uint64_t nla, uint32_t bytes,
		 uint32_t vpid, bool write, uint32_t user);
void ref_atu_read_done(struct ref_atu *a, uint32_t unit, uint64_t gate);
void ref_atu_finish(struct ref_atu *a, int use);
void ref_atu_command(struct ref_atu *a, uint64_t word);
/* Answers lookups and executes commands of this cycle. Returns false if there
 * were none. */
bool ref_atu_run(struct ref_atu *a);

#endif
