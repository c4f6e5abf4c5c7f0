/* SPDX-License-Identifier: Apache-2.0 */
/* Caches of windows and routes of the Host Port (hostport.md 8.8) through their
 * internal functions, with accesses in any order. The test checks which lines
 * the caches keep and replace, and the content of a cached copy while memory
 * changes. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "base/rng.h"
#include "hpproc.h"
#include "lru.h"
#include "systems/hostport/nic/functional_units.h"

static struct weft_rng rng;
static struct hpdrv drv;

static uint32_t any(uint32_t n)
{
	return (uint32_t)(weft_rng_u64(&rng) % n);
}

static struct hp_nic *nic_of(struct exrig *r)
{
	return r->node[0].nic->state;
}

static void run(exrig_fn fn, const char *const *set)
{
	struct exrig r;

	hprig_new(&r, "1", NULL);
	for (; set && *set; set += 2)
		exrig_set(&r, "hostport.nic", set[0], set[1]);
	exrig_prog(&r, 0, fn);
	exrig_start(&r);
	exrig_run(&r);
	exrig_free(&r);
}

static void rest(struct weft_host *h)
{
	weft_host_sleep(h, weft_host_now(h) + 5 * WEFT_US);
}

enum { KEYS = 12, OPS = 1500 };

static uint64_t clock_now;

/* ---- windows and routes ---- */

struct table {
	struct hp_lines *l;
	uint64_t *mem; /* table in memory, eight words for each key */
	weft_phys_t phys;
	struct lru copy[LRU_WAYS];
	uint64_t hits, misses;
};

static void looked(struct hp_nic *n, void *arg)
{
	*(uint32_t *)arg += 1;
}

static void ask(struct hp_nic *n, const struct table *t, struct hp_look *k,
		uint64_t key, uint32_t *done)
{
	*k = (struct hp_look){ .key = key,
			       .addr = t->phys + HP_LINE * key,
			       .bytes = HP_LINE,
			       .done = looked,
			       .arg = done };
	hp_lines_get(n, t->l, k, true);
}

static uint64_t word_of(const struct hp_look *k, uint32_t i)
{
	uint64_t w;

	memcpy(&w, k->data + 8 * i, 8);
	return w;
}

static void table_new(struct weft_host *h, struct table *t, uint32_t entries)
{
	*t = (struct table){ 0 };
	t->l = hp_lines_new((struct hp_lines){ .width = HP_LINE,
					       .cycles = 2,
					       .hits = HP_K_ROUTE_HITS,
					       .misses = HP_K_ROUTE_MISSES },
			    entries);
	t->mem = weft_mem_alloc(h, HP_LINE * KEYS, HP_PAGE, &t->phys);
	assert_non_null(t->mem);
}

/* Looks up one key at a time and compares the result with the reference. */
static void look_one(struct weft_host *h, struct hp_nic *n, struct table *t,
		     uint64_t key)
{
	struct lru *c = lru_find(t->copy, key);
	struct hp_look k;
	uint32_t done = 0;

	t->hits += c != NULL;
	t->misses += !c;
	if (!c) {
		c = lru_replaced(t->copy);
		*c = (struct lru){ .valid = true,
				   .key = key,
				   .val = t->mem[HP_WORDS * key + 7] };
	}
	c->used = ++clock_now;
	ask(n, t, &k, key, &done);
	rest(h);
	assert_int_equal(done, 1);
	assert_true(k.ok);
	assert_int_equal(word_of(&k, 7), c->val);
}

static void drop(struct table *t, uint64_t from, uint64_t to)
{
	for (uint32_t i = 0; i < LRU_WAYS; i++)
		if (t->copy[i].key >= from && t->copy[i].key <= to)
			t->copy[i].valid = false;
}

static void act_lines(struct weft_host *h, struct hp_nic *n, struct table *t)
{
	uint64_t key = any(KEYS), to;

	switch (any(20)) {
	case 0:
		hp_lines_cmd(t->l, HP_CACHE_FLUSH, key);
		drop(t, 0, KEYS);
		break;
	case 1:
		to = key + any(4);
		hp_lines_drop(t->l, key, to);
		drop(t, key, to);
		break;
	case 2:
	case 3:
		assert_int_equal(hp_lines_cmd(t->l, HP_CACHE_REMOVE, key), 0);
		drop(t, key, key);
		break;
	case 4:
	case 5:
	case 6: /* changes memory, but not the cached copy */
		t->mem[HP_WORDS * key + 7] = weft_rng_u64(&rng);
		break;
	default:
		look_one(h, n, t, key);
	}
	for (key = 0; key < KEYS; key++)
		assert_int_equal(hp_lines_cmd(t->l, HP_CACHE_QUERY, key),
				 lru_find(t->copy, key) ? HP_CACHE_PRESENT : 0);
}

static int lines(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hp_nic *n = nic_of(r);
	struct table t;

	hpdrv_open(&drv, r, node, h);
	weft_rng_seed(&rng, 5, 0);
	/* a few entries more than a set of four lines holds */
	table_new(h, &t, LRU_WAYS + 3);
	for (uint32_t i = 0; i < OPS; i++)
		act_lines(h, n, &t);
	assert_int_equal(exrig_counter(r->node[0].nic, "route_hits"), t.hits);
	assert_int_equal(exrig_counter(r->node[0].nic, "route_misses"),
			 t.misses);
	hp_lines_free(t.l);
	return 0;
}

static void windows_and_routes_are_kept_by_use(void **state)
{
	run(lines, NULL);
}

/* ---- several at a time ---- */

static uint64_t reads(const struct exrig *r)
{
	return exrig_counter(r->node[0].nic, "reads");
}

static bool kept(const struct table *t, uint64_t key)
{
	return hp_lines_cmd(t->l, HP_CACHE_QUERY, key);
}

/* Checks that one read serves all requests for a line, and that a set holds
 * four lines that are being filled. */
static void one_read(struct weft_host *h, struct exrig *r, struct table *t)
{
	uint64_t was = reads(r);
	struct hp_look k[8];
	uint32_t done = 0;

	for (uint32_t i = 0; i < 3; i++)
		ask(nic_of(r), t, &k[i], 1, &done);
	rest(h);
	assert_int_equal(done, 3);
	assert_int_equal(reads(r), was + 1);
	hp_lines_cmd(t->l, HP_CACHE_FLUSH, 0);
	for (uint32_t i = 0; i < 6; i++)
		ask(nic_of(r), t, &k[i], i, &done);
	rest(h);
	assert_int_equal(done, 9);
	assert_int_equal(reads(r), was + 7);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(word_of(&k[i], 0), 100 + i);
		assert_int_equal(kept(t, i), i < LRU_WAYS);
	}
}

enum how { REMOVED, FLUSHED, DROPPED };

static void take_away(struct table *t, enum how how)
{
	if (how == DROPPED)
		hp_lines_drop(t->l, 5, 5);
	else
		hp_lines_cmd(t->l,
			     how == REMOVED ? HP_CACHE_REMOVE : HP_CACHE_FLUSH,
			     5);
}

static bool filling(const struct table *t)
{
	for (uint32_t i = 0; i < LRU_WAYS; i++)
		if (t->l->dir.at[i].state == ASSOC_FILLING)
			return true;
	return false;
}

/* Changes the entry and removes the copy during the read, as a driver does,
 * then looks the key up again. Returns false if the read ended too early. */
static bool taken_away(struct weft_host *h, struct exrig *r, struct table *t,
		       enum how how, weft_time_t after)
{
	struct hp_look k[2];
	uint32_t done = 0;

	hp_lines_cmd(t->l, HP_CACHE_FLUSH, 0);
	t->mem[HP_WORDS * 5] = 1;
	ask(nic_of(r), t, &k[0], 5, &done);
	while (!filling(t))
		weft_host_cpu(h, 5 * WEFT_NS);
	weft_host_cpu(h, after);
	if (done)
		return false;
	t->mem[HP_WORDS * 5] = 2;
	take_away(t, how);
	ask(nic_of(r), t, &k[1], 5, &done);
	rest(h);
	assert_int_equal(done, 2);
	assert_int_equal(word_of(&k[1], 0), 2);
	assert_true(kept(t, 5));
	return true;
}

/* Checks that an entry longer than a line, or at an address without memory, is
 * read and not kept. */
static void not_kept(struct weft_host *h, struct exrig *r, struct table *t)
{
	struct hp_look k;
	uint32_t done = 0;

	hp_lines_cmd(t->l, HP_CACHE_FLUSH, 0);
	ask(nic_of(r), t, &k, 2, &done);
	k.bytes = HP_LINE + 8;
	rest(h);
	assert_int_equal(done, 1);
	assert_true(k.ok);
	assert_int_equal(word_of(&k, 8), 103);
	assert_false(kept(t, 2));
	ask(nic_of(r), t, &k, 2, &done);
	k.addr = 1ull << 45;
	rest(h);
	assert_int_equal(done, 2);
	assert_false(k.ok);
	assert_false(kept(t, 2));
	hp_lines_get(nic_of(r), t->l, &k, false);
	rest(h);
	assert_int_equal(done, 3);
	assert_false(k.ok);
}

static int together(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct table t;

	hpdrv_open(&drv, r, node, h);
	table_new(h, &t, 1);
	for (uint32_t i = 0; i < KEYS; i++)
		t.mem[HP_WORDS * i] = 100 + i;
	one_read(h, r, &t);
	not_kept(h, r, &t);
	for (enum how how = REMOVED; how <= DROPPED; how++)
		for (weft_time_t at = 0; taken_away(h, r, &t, how, at);
		     at += 5 * WEFT_NS)
			;
	hp_lines_free(t.l);
	return 0;
}

static void recorders_at_the_same_time_share_a_read(void **state)
{
	run(together, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_and_routes_are_kept_by_use),
		cmocka_unit_test(recorders_at_the_same_time_share_a_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
