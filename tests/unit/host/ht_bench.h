/* SPDX-License-Identifier: Apache-2.0 */
/* One script, its log and the rig that plays it, for tests of single notes. */
#ifndef TESTS_HOST_HT_BENCH_H
#define TESTS_HOST_HT_BENCH_H

#include "../cmocka_all.h"

#include <stdlib.h>

#include "rig_ht.h"

/* Unit of times in these tests, because all of them are multiples of half a
 * nanosecond. */
#define HALF (WEFT_NS / 2)

struct bench {
	struct ht_script s;
	struct ht_log log;
	struct htrig rig;
};

static inline int bench_setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	htrig_default(&b->s);
	*state = b;
	return b == NULL;
}

static inline int bench_teardown(void **state)
{
	struct bench *b = *state;

	htrig_free(&b->rig);
	free(b);
	return 0;
}

static inline void bench_run(struct bench *b)
{
	htrig_run(&b->rig, &b->s, &b->log);
	assert_false(b->rig.bad_data);
}

static inline const struct ht_said *bench_said(const struct bench *b,
					       uint32_t port,
					       enum weft_note_kind kind,
					       uint32_t n)
{
	const struct ht_said *x = htrig_said(&b->log, port, kind, n);

	assert_non_null(x);
	return x;
}

/* Returns the number of half nanoseconds until the n-th note of a kind. */
static inline uint64_t bench_when(const struct bench *b, uint32_t port,
				  enum weft_note_kind kind, uint32_t n)
{
	const struct ht_said *x = bench_said(b, port, kind, n);

	assert_int_equal(x->time % HALF, 0);
	return x->time / HALF;
}

#define T(name)                                                                \
	cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

#endif
