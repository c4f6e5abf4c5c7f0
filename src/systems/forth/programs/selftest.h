/* SPDX-License-Identifier: Apache-2.0 */
/* Program forth.selftest: state shared by its groups of tests. Both nodes run
 * the function of each test. Node 0 uses its NIC, node 1 is the peer. */
#ifndef SYSTEMS_FORTH_PROGRAMS_SELFTEST_H
#define SYSTEMS_FORTH_PROGRAMS_SELFTEST_H

#include "programs/program.h"
#include "systems/forth/lib/device.h"

#define ST_BYTES 8192

struct st {
	/* parameters */
	char test[32];
	weft_time_t pause;
	/* run */
	struct program w;
	struct weft_forth *f;
	const struct weft_forth_info *i;
	/* source of transfers on node 0, destination on node 1 */
	uint64_t *mem;
	weft_phys_t phys, remote;
	const char *name; /* name of the running test */
	uint32_t barriers;
};

/* A test opens the NIC itself. Both nodes must call the same barriers, because
 * a call that is missing on one node blocks the other node. */
struct selftest_test {
	const char *name;
	void (*run)(struct st *s);
};
extern const struct selftest_test selftest_queue_tests[],
	selftest_count_tests[];

/* Opens the NIC. Returns false after a failed check. */
bool selftest_open(struct st *s, const struct weft_forth_attr *attr);
void selftest_close(struct st *s);
/* Waits until the other node has called selftest_sync, too. */
void selftest_sync(struct st *s);
static inline bool selftest_acts(const struct st *s)
{
	return s->w.me == 0;
}
/* Sleeps for `pauses` times the length of a pause. */
void selftest_sleep(struct st *s, uint32_t pauses);
/* Fills the source with the pattern of test `seq`, and clears the
 * destination. */
void selftest_prepare(struct st *s, uint64_t seq);
/* Checks, on node 1, that qwords [0, n) are the pattern of test `seq`. */
void selftest_verify(struct st *s, uint64_t seq, uint32_t n);
/* Transfers qwords from offset off_q to the same offset on node 1. Returns 0 or
 * a negative errno. */
int selftest_put(struct st *s, uint32_t off_q, uint32_t qwords, uint32_t flags);

#define ST_EXPECT(s, cond, ...)                                                \
	do {                                                                   \
		if (!(cond))                                                   \
			weft_check_failed((s)->w.c, __VA_ARGS__);              \
	} while (0)

#endif
