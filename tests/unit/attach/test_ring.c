/* SPDX-License-Identifier: Apache-2.0 */
/* Rings of the direct endpoint, between a process and itself. Each message is
 * received once, in order. The room of messages is freed in order. The sender
 * is notified when another quarter of the ring is free, or at once if the
 * sender waits. */
#include "../cmocka_all.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/direct_internal.h"

enum { UNITS = 64, RING = UNITS * DIRECT_UNIT };
/* largest messages of one unit and of three units, in bytes */
enum { ONE = 48, THREE = 3 * 64 - 16 };

struct rig {
	struct direct *d;
	struct direct_peer p;
	struct direct_bell *bell;
	uint16_t units[UNITS];
};

static void *lines(size_t bytes)
{
	void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);

	assert_non_null(p);
	return memset(p, 0, (bytes + 63) / 64 * 64);
}

static int setup(void **state)
{
	struct rig *r = calloc(1, sizeof(*r));
	struct direct_place *place =
		lines(sizeof(*place) + sizeof(struct direct_pair));

	assert_non_null(r);
	r->d = lines(sizeof(*r->d));
	r->bell = lines(sizeof(*r->bell));
	r->d->n = 1;
	r->d->ring_bytes = RING;
	r->d->self = place;
	r->d->peer = &r->p;
	r->d->bell = r->bell;
	r->p.place = place;
	r->p.in = r->p.out = lines(RING);
	r->p.units = r->units;
	r->p.met = true;
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	free(r->p.out);
	free(r->d->self);
	free(r->bell);
	free(r->d);
	free(r);
	return 0;
}

static bool give(struct rig *r, size_t len, uint32_t imm)
{
	struct direct_head *h = direct_begin(r->d, 0, len);

	if (!h)
		return false;
	memset(h + 1, (int)imm, len);
	direct_commit(r->d, 0, h, DIRECT_MSG, len, imm);
	return true;
}

/* Takes the next message. Checks its length, imm and bytes. */
static const struct direct_head *take(struct rig *r, size_t len, uint32_t imm)
{
	enum direct_kind kind;
	uint32_t n;
	const struct direct_head *h = direct_next(r->d, &r->p, &kind, &n);

	assert_non_null(h);
	assert_int_equal(kind, DIRECT_MSG);
	assert_int_equal(n, len);
	assert_int_equal(h->imm, imm);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(((const uint8_t *)(h + 1))[i], imm & 0xff);
	return h;
}

static void nothing(struct rig *r)
{
	enum direct_kind kind;
	uint32_t n;

	assert_null(direct_next(r->d, &r->p, &kind, &n));
	assert_false(r->p.broken);
}

static uint64_t told(const struct rig *r)
{
	return r->d->self->pair[0].taken;
}

/* Fills 63 of 64 units, because the last one is reserved for the mark of the
 * next message (direct_head.mark). */
static void full_ring_blocks_its_sender_until_units_are_free(void **state)
{
	struct rig *r = *state;
	const struct direct_head *h[UNITS];

	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < UNITS - 1; i++)
			assert_true(give(r, ONE, i));
		assert_int_equal(r->d->self->pair[0].wanted, 0);
		r->d->blocked = 0;
		assert_false(give(r, ONE, 99));
		assert_int_equal(r->d->blocked, 1);
		assert_int_equal(r->d->blocked_len, ONE);
		assert_int_equal(r->d->self->pair[0].wanted, 1);
		for (uint32_t i = 0; i < UNITS - 1; i++)
			h[i] = take(r, ONE, i);
		nothing(r);
		for (uint32_t i = 0; i < UNITS - 1; i++)
			direct_free(r->d, &r->p, h[i]);
		assert_int_equal(told(r), (round + 1) * (RING - DIRECT_UNIT));
	}
}

static void words_of_an_earlier_round_are_ignored(void **state)
{
	struct rig *r = *state;

	for (uint32_t i = 0; i < 5 * UNITS; i++) {
		size_t len = i % 3 ? ONE : i % 2 ? THREE : 0;

		assert_true(give(r, len, i));
		direct_free(r->d, &r->p, take(r, len, i));
		nothing(r);
		assert_int_equal(r->p.freed, r->p.put);
	}
}

/* After 21 messages of three units each, one unit is left at the end. The next
 * message of three units starts at the beginning, because a message does not
 * wrap. */
static void message_never_wraps_at_the_end_of_the_ring(void **state)
{
	struct rig *r = *state;

	for (uint32_t i = 0; i < UNITS / 3; i++) {
		assert_true(give(r, THREE, i));
		direct_free(r->d, &r->p, take(r, THREE, i));
	}
	assert_int_equal(r->p.put, RING - DIRECT_UNIT);
	assert_true(give(r, THREE, 30));
	assert_int_equal(r->p.put, RING + 3 * DIRECT_UNIT);
	assert_ptr_equal(take(r, THREE, 30), r->p.in);
	nothing(r);
	direct_free(r->d, &r->p, (const struct direct_head *)r->p.in);
	assert_int_equal(r->p.freed, RING + 3 * DIRECT_UNIT);
}

static void freed_messages_give_room_in_order_and_once(void **state)
{
	struct rig *r = *state;
	const struct direct_head *h[4];

	for (uint32_t i = 0; i < 4; i++)
		assert_true(give(r, THREE, i));
	for (uint32_t i = 0; i < 4; i++)
		h[i] = take(r, THREE, i);
	direct_free(r->d, &r->p, h[2]);
	direct_free(r->d, &r->p, h[1]);
	direct_free(r->d, &r->p, h[1]);
	assert_int_equal(r->p.freed, 0);
	direct_free(r->d, &r->p, h[0]);
	assert_int_equal(r->p.freed, 9 * DIRECT_UNIT);
	direct_free(r->d, &r->p, h[0]);
	assert_int_equal(r->p.freed, 9 * DIRECT_UNIT);
	direct_free(r->d, &r->p, h[3]);
	assert_int_equal(r->p.freed, 12 * DIRECT_UNIT);
}

/* The sender is notified of each free quarter, and at once if it waits. */
static void sender_is_notified_of_each_free_quarter(void **state)
{
	struct rig *r = *state;

	for (uint32_t i = 1; i <= 3 * UNITS; i++) {
		assert_true(give(r, ONE, i));
		direct_free(r->d, &r->p, take(r, ONE, i));
		assert_int_equal(told(r), i / 16 * 16 * DIRECT_UNIT);
	}
	atomic_store(&r->d->self->pair[0].wanted, 1);
	assert_true(give(r, ONE, 0));
	direct_free(r->d, &r->p, take(r, ONE, 0));
	assert_int_equal(told(r), (3 * UNITS + 1) * DIRECT_UNIT);
}

static void impossible_word_breaks_the_ring(void **state)
{
	static const struct {
		/* before: number of units in front of the message */
		uint32_t kind, len, before;
		uint64_t at;
		bool broken;
	} rows[] = {
		{ DIRECT_MSG, 0, 0, 0, false },
		{ DIRECT_MSG, RING - 16, 0, 0, false },
		{ DIRECT_MSG, RING - 15, 0, 0, true },
		{ DIRECT_MSG, RING - 16 - 64, 1, 64, false },
		{ DIRECT_MSG, RING - 16 - 63, 1, 64, true },
		{ DIRECT_MSG, 0, 0, 64, true },
		{ DIRECT_MSG, 0, 1, 0, true },
		{ DIRECT_ANSWER, 8, 1, 64, false },
		{ DIRECT_SKIP, 0, 0, 0, true }, /* no message follows */
		{ DIRECT_SKIP + 1, 0, 1, 64, true },
	};
	struct rig *r = *state;
	enum direct_kind kind;
	uint32_t n;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct direct_head *h;
		bool seen;

		memset(r->p.out, 0, RING);
		r->p.got = rows[i].before * DIRECT_UNIT;
		r->p.broken = false;
		h = direct_head_at(r->d, r->p.out, r->p.got);
		h->at = rows[i].at;
		h->mark = rows[i].kind << 24 | rows[i].len;
		seen = direct_next(r->d, &r->p, &kind, &n) != NULL;
		assert_int_equal(r->p.broken, rows[i].broken);
		assert_int_equal(seen, !rows[i].broken);
		if (rows[i].broken) /* for good */
			assert_null(direct_next(r->d, &r->p, &kind, &n));
	}
}

/* The file descriptor of the memory may be 0, because a process need not have a
 * standard input. */
static void shared_memory_is_sealed_against_growth_and_writers(void **state)
{
	int keep = dup(0), fd;
	uint8_t *p;

	close(0);
	p = direct_memory(4096, true, &fd);
	assert_non_null(p);
	assert_int_equal(fd, 0);
	p[4095] = 1;
	assert_int_not_equal(ftruncate(fd, 8192), 0);
	assert_ptr_equal(mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fd, 0),
			 MAP_FAILED);
	munmap(p, 4096);
	close(fd);
	if (keep >= 0)
		dup2(keep, 0);
	close(keep);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(full_ring_blocks_its_sender_until_units_are_free),
		T(words_of_an_earlier_round_are_ignored),
		T(message_never_wraps_at_the_end_of_the_ring),
		T(freed_messages_give_room_in_order_and_once),
		T(sender_is_notified_of_each_free_quarter),
		T(impossible_word_breaks_the_ring),
		cmocka_unit_test(
			shared_memory_is_sealed_against_growth_and_writers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
