/* SPDX-License-Identifier: Apache-2.0 */
/* Caches of the Host Port (hostport.md 8.8) from the inside, in any order of
 * accesses, against lists that are searched from end to end: what is kept, what
 * is replaced, what a copy holds while memory changes. */
#include "../cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "hpproc.h"
#include "nic/hostport/units.h"

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

/* ---- least recently used, by hand --------------------------------------- */

enum { WAYS = 4, KEYS = 12, OPS = 1500 };

struct copy {
	bool valid, dirty;
	uint64_t key, used, val;
};

static uint64_t clock_now;

static struct copy *find(struct copy *c, uint64_t key)
{
	for (uint32_t i = 0; i < WAYS; i++)
		if (c[i].valid && c[i].key == key)
			return &c[i];
	return NULL;
}

static struct copy *replaced(struct copy *c)
{
	struct copy *old = c;

	for (uint32_t i = 0; i < WAYS; i++)
		if (!c[i].valid)
			return &c[i];
	for (uint32_t i = 1; i < WAYS; i++)
		if (c[i].used < old->used)
			old = &c[i];
	return old;
}

/* ---- windows and routes ---------------------------------------------------
 */

struct table {
	struct hp_lines *l;
	uint64_t *mem; /* eight words for each key */
	weft_phys_t phys;
	struct copy copy[WAYS];
	uint64_t hits, misses;
};

static void looked(struct hp_nic *n, struct hp_look *k)
{
	(void)n;
	*(uint32_t *)k->arg += 1;
}

static void ask(struct hp_nic *n, const struct table *t, struct hp_look *k,
		uint64_t key, uint32_t *done)
{
	*k = (struct hp_look){ .key = key,
			       .addr = t->phys + HP_LINE * key,
			       .bytes = HP_LINE,
			       .done = looked,
			       .arg = done };
	hp_lines_get(n, t->l, k);
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

/* One at a time. */
static void look_one(struct weft_host *h, struct hp_nic *n, struct table *t,
		     uint64_t key)
{
	struct copy *c = find(t->copy, key);
	struct hp_look k;
	uint32_t done = 0;

	t->hits += c != NULL;
	t->misses += !c;
	if (!c) {
		c = replaced(t->copy);
		*c = (struct copy){ .valid = true,
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
	for (uint32_t i = 0; i < WAYS; i++)
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
	case 6: /* the copy stays as it is */
		t->mem[HP_WORDS * key + 7] = weft_rng_u64(&rng);
		break;
	default:
		look_one(h, n, t, key);
	}
	for (key = 0; key < KEYS; key++)
		assert_int_equal(hp_lines_cmd(t->l, HP_CACHE_QUERY, key),
				 find(t->copy, key) ? HP_CACHE_PRESENT : 0);
}

static int lines(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hp_nic *n = nic_of(r);
	struct table t;

	hpdrv_open(&drv, r, node, h);
	weft_rng_seed(&rng, 5, 0);
	table_new(h, &t, WAYS + 3); /* as many as fill sets of four */
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
	(void)state;
	run(lines, NULL);
}

/* ---- several at a time ----------------------------------------------------
 */

static uint64_t reads(const struct exrig *r)
{
	return exrig_counter(r->node[0].nic, "reads");
}

static bool kept(const struct table *t, uint64_t key)
{
	return hp_lines_cmd(t->l, HP_CACHE_QUERY, key);
}

/* One read for all who want a line; a set holds four that are being filled. */
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
		assert_int_equal(kept(t, i), i < WAYS);
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
	for (uint32_t i = 0; i < WAYS; i++)
		if (t->l->at[i].filling)
			return true;
	return false;
}

/* The read is under way when the driver changes the entry and takes the copy
 * out; the second look comes after that.  False: it has ended before. */
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

/* Longer than a line, or nobody at that address: read, not kept. */
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
	hp_lines_none(nic_of(r), t->l, &k);
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

static void looks_at_the_same_time_share_a_read(void **state)
{
	(void)state;
	run(together, NULL);
}

/* ---- contexts -------------------------------------------------------------
 */

enum { SETS = 2, VPIDS = 12 };

static const char *const two_sets[] = { "ctx_cache", "8", NULL };

struct contexts {
	struct copy copy[SETS][WAYS];
	uint64_t hits, misses, backs;
};

static uint64_t *context(uint32_t vpid)
{
	return &drv.ct[HP_WORDS * vpid + 2];
}

struct context_get {
	struct hp_ctx_req q;
	uint64_t seen, put;
	bool done, write;
};

static void context_done(struct hp_nic *n, struct hp_ctx_req *q,
			 struct hp_ctx *c)
{
	struct context_get *g = q->arg;

	(void)n;
	g->seen = c->w[2];
	g->done = true;
	if (!g->write)
		return;
	c->w[2] = g->put;
	hp_ctx_dirty(c);
}

static void write_back(struct contexts *x, struct copy *c)
{
	if (c->valid && c->dirty) {
		*context((uint32_t)c->key) = c->val;
		x->backs++;
	}
	c->valid = c->dirty = false;
}

static void get_one(struct weft_host *h, struct hp_nic *n, struct contexts *x,
		    uint32_t vpid)
{
	struct copy *set = x->copy[vpid % SETS], *c = find(set, vpid);
	struct context_get g = { .put = weft_rng_u64(&rng),
				 .write = any(3) == 0 };

	g.q = (struct hp_ctx_req){ .vpid = (uint16_t)vpid,
				   .done = context_done,
				   .arg = &g };
	hp_ctx_get(n, &g.q);
	rest(h);
	assert_true(g.done);
	x->hits += c != NULL;
	x->misses += !c;
	if (!c) {
		c = replaced(set);
		if (c->valid && c->dirty)
			assert_int_equal(*context((uint32_t)c->key), c->val);
		write_back(x, c);
		*c = (struct copy){ .valid = true,
				    .key = vpid,
				    .val = *context(vpid) };
	}
	c->used = ++clock_now;
	assert_int_equal(g.seen, c->val);
	c->val = g.write ? g.put : c->val;
	c->dirty |= g.write;
}

static void act_context(struct weft_host *h, struct hp_nic *n,
			struct contexts *x)
{
	uint32_t vpid = any(VPIDS);
	struct copy *c = find(x->copy[vpid % SETS], vpid);

	switch (any(16)) {
	case 0:
		hp_ctx_flush(n);
		rest(h);
		for (uint32_t i = 0; i < SETS * WAYS; i++)
			write_back(x, &x->copy[0][i]);
		break;
	case 1:
	case 2:
		hp_ctx_remove(n, vpid);
		assert_int_equal(hp_ctx_busy(n), c && c->dirty);
		rest(h);
		if (c && c->dirty)
			assert_int_equal(*context(vpid), c->val);
		if (c)
			write_back(x, c);
		break;
	case 3:
		if (!c) /* the driver's */
			*context(vpid) = weft_rng_u64(&rng);
		break;
	default:
		get_one(h, n, x, vpid);
	}
	assert_false(hp_ctx_busy(n));
	for (vpid = 0; vpid < VPIDS; vpid++)
		assert_int_equal(hp_ctx_present(n, vpid),
				 find(x->copy[vpid % SETS], vpid) != NULL);
}

static int contexts(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hp_nic *n = nic_of(r);
	struct contexts x = { 0 };

	hpdrv_open(&drv, r, node, h);
	weft_rng_seed(&rng, 6, 0);
	for (uint32_t i = 0; i < OPS; i++)
		act_context(h, n, &x);
	assert_int_equal(exrig_counter(r->node[0].nic, "ctx_hits"), x.hits);
	assert_int_equal(exrig_counter(r->node[0].nic, "ctx_misses"), x.misses);
	assert_int_equal(exrig_counter(r->node[0].nic, "ctx_backs"), x.backs);
	return 0;
}

static void contexts_are_kept_by_use_and_written_back(void **state)
{
	(void)state;
	run(contexts, two_sets);
}

/* More contexts of one set than it has ways, all changed and wanted again while
 * they are written back. */
enum { CROWD = 40 };

static int crowd(struct weft_host *h, struct exrig *r, uint32_t node)
{
	static struct context_get g[CROWD];
	struct hp_nic *n = nic_of(r);

	hpdrv_open(&drv, r, node, h);
	for (uint32_t turn = 0; turn < 4; turn++) {
		for (uint32_t i = 0; i < CROWD; i++) {
			g[i] = (struct context_get){ .put = 1000 * turn + i,
						     .write = true };
			g[i].q = (struct hp_ctx_req){ .vpid = (uint16_t)(2 * i),
						      .done = context_done,
						      .arg = &g[i] };
			hp_ctx_get(n, &g[i].q);
		}
		weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
		for (uint32_t i = 0; i < CROWD; i++) {
			assert_true(g[i].done);
			assert_int_equal(g[i].seen,
					 turn ? 1000 * (turn - 1) + i : 0);
		}
	}
	hp_ctx_flush(n);
	assert_true(hp_ctx_busy(n));
	rest(h);
	for (uint32_t i = 0; i < CROWD; i++)
		assert_int_equal(*context(2 * i), 3000 + i);
	return 0;
}

static void no_change_of_a_context_is_lost_in_a_crowd(void **state)
{
	(void)state;
	run(crowd, two_sets);
	run(crowd, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_and_routes_are_kept_by_use),
		cmocka_unit_test(looks_at_the_same_time_share_a_read),
		cmocka_unit_test(contexts_are_kept_by_use_and_written_back),
		cmocka_unit_test(no_change_of_a_context_is_lost_in_a_crowd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
