/* SPDX-License-Identifier: Apache-2.0 */
/* Pending events, see queue.h. */
#include "base/minmax.h"
#include "base/need.h"
#include "sim/queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Marks functions for rare work. They are not inlined, so that the path of
 * nearly every event stays short. */
#define RARE __attribute__((noinline))

#define SLOT_SHIFT 22
#define SLOTS	   (1u << 12)
/* number of events up to which a bucket is searched at each pop instead of
 * being sorted */
#define THIN 12
/* largest capacity of an emptied vector that is kept for later use */
#define SPARE_MAX 64

/* shift and width in bits of each level; together they cover 64 bits of time */
static const uint8_t level_shift[EVQ_LEVELS] = { 22, 34, 44, 54 };
static const uint8_t level_bits[EVQ_LEVELS] = { 12, 10, 10, 10 };

void evq_init(struct evq *q)
{
	memset(q, 0, sizeof(*q));
	for (uint32_t l = 0; l < EVQ_LEVELS; l++) {
		struct evq_level *lv = &q->level[l];
		size_t n = (size_t)1 << level_bits[l];

		lv->shift = level_shift[l];
		lv->bits = level_bits[l];
		lv->bucket = calloc(n, sizeof(*lv->bucket));
		lv->bitmap = calloc(n / 64, sizeof(*lv->bitmap));
		assert(lv->bucket && lv->bitmap);
	}
}

void evq_fini(struct evq *q)
{
	for (uint32_t l = 0; l < EVQ_LEVELS; l++) {
		struct evq_level *lv = &q->level[l];

		for (size_t i = 0; lv->bucket && i < (size_t)1 << lv->bits; i++)
			free(lv->bucket[i].ev);
		free(lv->bucket);
		free(lv->bitmap);
	}
	for (uint32_t i = 0; i < q->n_spare; i++)
		free(q->spare[i].ev);
	free(q->spare);
	free(q->cur.ev);
	free(q->scratch.ev);
}

RARE static void vec_grow(struct evq_vec *v, uint32_t n)
{
	v->cap = v->cap ? v->cap : 8;
	while (v->cap < n)
		v->cap *= 2;
	v->ev = need(realloc(v->ev, v->cap * sizeof(*v->ev)));
}

static inline void vec_reserve(struct evq_vec *v, uint32_t n)
{
	if (n > v->cap)
		vec_grow(v, n);
}

/* Returns the rank of an event as one number. Two numbers are compared without
 * branches, which the processor would often mispredict. */
static inline unsigned __int128 queue_rank(const struct evq_event *e)
{
	return (unsigned __int128)e->time << 64 | e->key;
}

static inline bool queue_before(const struct evq_event *a,
				const struct evq_event *b)
{
	return queue_rank(a) < queue_rank(b);
}

/* Inserts into the current events, which stay sorted. Searches from the end,
 * because new events are nearly always the latest. */
RARE static void insert_current(struct evq *q, struct evq_event e)
{
	uint32_t i;

	vec_reserve(&q->cur, q->cur.n + 1);
	for (i = q->cur.n; i > q->pos && queue_before(&e, &q->cur.ev[i - 1]);
	     i--)
		q->cur.ev[i] = q->cur.ev[i - 1];
	q->cur.ev[i] = e;
	q->cur.n++;
}

RARE static void spare_grow(struct evq *q)
{
	q->cap_spare = q->cap_spare ? q->cap_spare * 2 : 64;
	q->spare = need(realloc(q->spare, q->cap_spare * sizeof(*q->spare)));
}

static inline void spare_push(struct evq *q, struct evq_vec v)
{
	if (q->n_spare == q->cap_spare)
		spare_grow(q);
	v.n = 0;
	q->spare[q->n_spare++] = v;
}

static inline void insert_level(struct evq *q, uint32_t l, struct evq_event e)
{
	struct evq_level *lv = &q->level[l];
	uint32_t i = (e.time >> level_shift[l]) & ((1u << level_bits[l]) - 1);
	struct evq_vec *v = &lv->bucket[i];

	if (v->n == v->cap) {
		if (!v->ev && q->n_spare)
			*v = q->spare[--q->n_spare];
		else
			vec_reserve(v, v->n + 1);
	}
	v->ev[v->n++] = e;
	lv->bitmap[i / 64] |= 1ull << (i % 64);
	lv->summary |= 1ull << (i / 64);
}

/* Returns the finest level whose window, counted from the current slot, holds
 * `time`. */
static inline uint32_t level_of(const struct evq *q, uint64_t time)
{
	uint64_t differ = (time >> SLOT_SHIFT) ^ q->slot;

	if (differ < SLOTS)
		return 0;
	if (differ < 1ull << 22)
		return 1;
	return differ < 1ull << 32 ? 2 : 3;
}

void evq_push(struct evq *q, uint64_t time, uint64_t key)
{
	struct evq_event e = { time, key };

	q->pending++;
	if (time >> SLOT_SHIFT < q->first)
		insert_current(q, e);
	else if (((time >> SLOT_SHIFT) ^ q->slot) < SLOTS)
		insert_level(q, 0, e);
	else
		insert_level(q, level_of(q, time), e);
}

/* Returns the bits of x from bit `from` on, or 0 if from is 64. */
static inline uint64_t from_bit(uint64_t x, uint32_t from)
{
	return from < 64 ? x >> from << from : 0;
}

/* Returns the first occupied bucket at or after `from`, or -1. */
static int64_t level_next(const struct evq_level *lv, uint32_t from)
{
	uint32_t w = from / 64;
	uint64_t bits;

	if (from >= 1u << lv->bits)
		return -1;
	bits = from_bit(lv->bitmap[w], from % 64);
	if (bits)
		return w * 64 + __builtin_ctzll(bits);
	bits = from_bit(lv->summary, w + 1);
	if (!bits)
		return -1;
	w = (uint32_t)__builtin_ctzll(bits);
	return w * 64 + __builtin_ctzll(lv->bitmap[w]);
}

static void level_clear(struct evq_level *lv, uint32_t i)
{
	lv->bitmap[i / 64] &= ~(1ull << (i % 64));
	if (!lv->bitmap[i / 64])
		lv->summary &= ~(1ull << (i / 64));
	lv->bucket[i] = (struct evq_vec){ 0 };
}

static void sort_insertion(struct evq_event *ev, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		struct evq_event e = ev[i];
		uint32_t j = i;

		for (; j > 0 && queue_before(&e, &ev[j - 1]); j--)
			ev[j] = ev[j - 1];
		ev[j] = e;
	}
}

/* Returns a key of 63 bits: the low 22 bits of the time, in which the events of
 * a bucket differ, above the 41 bits of the event's key. */
static inline uint64_t radix_key(const struct evq_event *e)
{
	return (e->time & ((1u << SLOT_SHIFT) - 1)) << 41 | e->key;
}

/* Sorts by the digits of the key, least significant first. `vary` has a one in
 * each bit in which keys differ. */
static void sort_radix(struct evq *q, struct evq_vec *v, uint64_t vary)
{
	struct evq_event *a = v->ev, *b = q->scratch.ev, *t;

	while (vary) {
		uint32_t shift = (uint32_t)__builtin_ctzll(vary);
		uint32_t count[257] = { 0 };

		for (uint32_t i = 0; i < v->n; i++)
			count[(radix_key(&a[i]) >> shift & 0xFF) + 1]++;
		for (uint32_t i = 0; i < 256; i++)
			count[i + 1] += count[i];
		for (uint32_t i = 0; i < v->n; i++)
			b[count[radix_key(&a[i]) >> shift & 0xFF]++] = a[i];
		t = a;
		a = b;
		b = t;
		vary &= ~(0xFFull << shift);
	}
	if (a != v->ev)
		memcpy(v->ev, a, v->n * sizeof(*a));
}

/* Merges the sorted ranges a[0..m) and a[m..n) into b. */
static void queue_merge(const struct evq_event *a, uint32_t m, uint32_t n,
			struct evq_event *b)
{
	uint32_t i = 0, j = m;

	for (uint32_t k = 0; k < n; k++) {
		bool left = j == n || (i < m && !queue_before(&a[j], &a[i]));

		b[k] = a[left ? i : j];
		i += left;
		j += !left;
	}
}

static void sort_merge(struct evq *q, struct evq_vec *v)
{
	struct evq_event *a = v->ev, *b = q->scratch.ev, *t;

	for (uint32_t i = 0; i < v->n; i += 16)
		sort_insertion(a + i, min_of(v->n - i, 16));
	for (uint32_t run = 16; run < v->n; run *= 2) {
		for (uint32_t i = 0; i < v->n; i += 2 * run) {
			uint32_t n = min_of(v->n - i, 2 * run);

			queue_merge(a + i, min_of(run, n), n, b + i);
		}
		t = a;
		a = b;
		b = t;
	}
	if (a != v->ev)
		memcpy(v->ev, a, v->n * sizeof(*a));
}

/* Moves all events of a thick bucket into the current events. Events that are
 * added later to the slot of this bucket also become current events. */
RARE static void load_bucket(struct evq *q, uint32_t bucket)
{
	struct evq_level *lv = &q->level[0];
	struct evq_vec *v = &q->cur;
	uint64_t first, vary = 0;

	if (q->cur.ev)
		spare_push(q, q->cur);
	q->cur = lv->bucket[bucket];
	q->pos = 0;
	level_clear(lv, bucket);
	q->slot = q->cur.ev[0].time >> SLOT_SHIFT;
	q->first = q->slot + 1;
	vec_reserve(&q->scratch, v->n);
	if (v->n <= 128) {
		sort_merge(q, v);
		return;
	}
	first = radix_key(&v->ev[0]);
	for (uint32_t i = 1; i < v->n; i++)
		vary |= radix_key(&v->ev[i]) ^ first;
	sort_radix(q, v, vary);
}

/* Moves the events of bucket i of level l to the levels below. */
static void queue_cascade(struct evq *q, uint32_t l, uint32_t i)
{
	struct evq_level *lv = &q->level[l];
	struct evq_vec v = lv->bucket[i];

	level_clear(lv, i);
	/* The current slot becomes the first slot of this bucket's window. */
	q->slot = (v.ev[0].time >> lv->shift << lv->shift) >> SLOT_SHIFT;
	q->first = q->slot;
	for (uint32_t k = 0; k < v.n; k++)
		insert_level(q, level_of(q, v.ev[k].time), v.ev[k]);
	/* Frees a large vector. A coarse bucket collects all events of several
	 * milliseconds. If its vector were kept, a small bucket would reuse it,
	 * and the next coarse bucket would have to grow a new vector. */
	if (v.cap > SPARE_MAX)
		free(v.ev);
	else
		spare_push(q, v);
}

/* Returns the next occupied bucket of level 0. If level 0 is empty, first moves
 * events of the levels above down to level 0. */
RARE static uint32_t next_bucket(struct evq *q)
{
	uint32_t l = 0;

	for (;;) {
		struct evq_level *lv = &q->level[l];
		uint32_t at = (q->slot >> (lv->shift - SLOT_SHIFT)) &
			      ((1u << lv->bits) - 1);
		/* At level 0 the bucket of the present slot may hold events. At
		 * the levels above, that bucket is empty, because its events
		 * were moved down. */
		int64_t i = level_next(lv, l ? at + 1 : at);

		if (i < 0) {
			l++;
			assert(l < EVQ_LEVELS);
		} else if (l == 0) {
			return (uint32_t)i;
		} else {
			queue_cascade(q, l, (uint32_t)i);
			l = 0;
		}
	}
}

/* Removes the earliest event of a thin bucket. Returns false if this event is
 * later than `until`. */
static bool pop_thin(struct evq *q, uint32_t i, uint64_t until,
		     struct evq_event *ev_p)
{
	struct evq_level *lv = &q->level[0];
	struct evq_vec *v = &lv->bucket[i];
	unsigned __int128 least = queue_rank(&v->ev[0]);
	uint32_t at = 0;

	for (uint32_t k = 1; k < v->n; k++) {
		unsigned __int128 r = queue_rank(&v->ev[k]);

		at = r < least ? k : at;
		least = min_of(r, least);
	}
	ev_p->time = (uint64_t)(least >> 64);
	ev_p->key = (uint64_t)least;
	if (ev_p->time > until)
		return false;
	q->slot = q->first = ev_p->time >> SLOT_SHIFT;
	v->ev[at] = v->ev[--v->n];
	if (!v->n) {
		spare_push(q, *v);
		level_clear(lv, i);
	}
	q->pending--;
	return true;
}

bool evq_pop(struct evq *q, uint64_t until, struct evq_event *ev_p)
{
	if (q->pos == q->cur.n) {
		uint32_t i = q->slot % SLOTS;
		uint64_t bits = q->level[0].bitmap[i / 64] >> (i % 64);

		if (!q->pending)
			return false;
		/* the bucket of the present slot if it is occupied, otherwise
		 * the next occupied bucket */
		i = bits ? i + (uint32_t)__builtin_ctzll(bits) : next_bucket(q);
		if (q->level[0].bucket[i].n <= THIN)
			return pop_thin(q, i, until, ev_p);
		load_bucket(q, i);
	}
	if (q->cur.ev[q->pos].time > until)
		return false;
	*ev_p = q->cur.ev[q->pos++];
	q->pending--;
	if (q->pos == q->cur.n) {
		q->cur.n = q->pos = 0;
		q->first = q->slot;
	}
	return true;
}
