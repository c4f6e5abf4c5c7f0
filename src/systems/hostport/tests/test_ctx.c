/* SPDX-License-Identifier: Apache-2.0 */
/* Context cache of the Host Port (hostport.md 4.3, 8.8) through its internal
 * functions, with accesses in any order. The test checks which contexts the
 * cache keeps, replaces and writes back, and that no change is lost. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "base/rng.h"
#include "hpproc.h"
#include "lru.h"
#include "systems/hostport/nic/nic.h"

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

enum { OPS = 1500 };

static uint64_t clock_now;

/* ---- contexts ---- */

enum { SETS = 2, VPIDS = 12 };

static const char *const two_sets[] = { "ctx_cache", "8", NULL };

struct contexts {
	struct lru copy[SETS][LRU_WAYS];
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

	g->seen = c->w[2];
	g->done = true;
	if (!g->write)
		return;
	c->w[2] = g->put;
	hp_ctx_dirty(c);
}

static void write_back(struct contexts *x, struct lru *c)
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
	struct lru *set = x->copy[vpid % SETS], *c = lru_find(set, vpid);
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
		c = lru_replaced(set);
		if (c->valid && c->dirty)
			assert_int_equal(*context((uint32_t)c->key), c->val);
		write_back(x, c);
		*c = (struct lru){ .valid = true,
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
	struct lru *c = lru_find(x->copy[vpid % SETS], vpid);

	switch (any(16)) {
	case 0:
		hp_ctx_cmd(n, HP_CACHE_FLUSH, 0);
		rest(h);
		for (uint32_t i = 0; i < SETS * LRU_WAYS; i++)
			write_back(x, &x->copy[i / LRU_WAYS][i % LRU_WAYS]);
		break;
	case 1:
	case 2:
		hp_ctx_cmd(n, HP_CACHE_REMOVE, vpid);
		assert_int_equal(hp_ctx_busy(n), c && c->dirty);
		rest(h);
		if (c && c->dirty)
			assert_int_equal(*context(vpid), c->val);
		if (c)
			write_back(x, c);
		break;
	case 3:
		if (!c) /* the driver may write a context that is not cached */
			*context(vpid) = weft_rng_u64(&rng);
		break;
	default:
		get_one(h, n, x, vpid);
	}
	assert_false(hp_ctx_busy(n));
	for (vpid = 0; vpid < VPIDS; vpid++)
		assert_int_equal(hp_ctx_cmd(n, HP_CACHE_QUERY, vpid) != 0,
				 lru_find(x->copy[vpid % SETS], vpid) != NULL);
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
	run(contexts, two_sets);
}

/* Changes more contexts of one set than the set has entries, and requests each
 * again while it is written back. */
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
	hp_ctx_cmd(n, HP_CACHE_FLUSH, 0);
	assert_true(hp_ctx_busy(n));
	rest(h);
	for (uint32_t i = 0; i < CROWD; i++)
		assert_int_equal(*context(2 * i), 3000 + i);
	return 0;
}

static void no_change_of_a_context_is_lost_in_a_crowd(void **state)
{
	run(crowd, two_sets);
	run(crowd, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contexts_are_kept_by_use_and_written_back),
		cmocka_unit_test(no_change_of_a_context_is_lost_in_a_crowd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
