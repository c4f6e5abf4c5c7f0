/* SPDX-License-Identifier: Apache-2.0 */
/* V27: random loads and stores by N cores and random deliveries. After every
 * transaction the invariants of forth.md 9 hold over all caches, and every load
 * returns the bytes of a flat memory of the test. WEFT_SEED=n adds a seed. */
#include "unit/cmocka_all.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

enum { REGION = 4096, ITEMS = 12000, LINE = 32 };

struct watcher {
	struct weft_comp *c;
	uint64_t seed, ops, txns, updates;
	uint64_t ddr, open, priv_base;
	uint32_t cores;
	/* flat memory: coherent region, uncached region, private region of each
	 * core */
	uint8_t flat[2 + COH_CORES_MAX][REGION];
	struct coh_item item[ITEMS];
	const struct coh_item *fresh; /* item that took effect, but whose
					 transaction has not ended */
};

#define HOLDS(w, cond)                                                         \
	do {                                                                   \
		if (!(cond))                                                   \
			fail_msg("%s (WEFT_SEED=%" PRIu64 ", access %" PRIu64  \
				 ", transaction %" PRIu64 ")",                 \
				 #cond, (w)->seed, (w)->ops, (w)->txns);       \
	} while (0)

static uint8_t *flat_at(struct watcher *w, uint32_t core, uint64_t addr)
{
	if (addr >= w->priv_base)
		return &w->flat[2 + core][addr - w->priv_base];
	if (addr >= w->open)
		return &w->flat[1][addr - w->open];
	return &w->flat[0][addr];
}

static void on_op(void *arg, uint32_t core, const struct coh_op *op,
		  uint64_t cycle, uint64_t value)
{
	struct watcher *w = arg;
	uint8_t *p = flat_at(w, core, op->addr);

	w->ops++;
	if (op->store)
		memcpy(p, &op->value, op->bytes);
	HOLDS(w, !memcmp(p, &value, op->bytes));
}

static void on_item(void *arg, const struct coh_item *it)
{
	struct watcher *w = arg;

	memcpy(flat_at(w, 0, it->addr), it->data, it->bytes);
	w->fresh = it;
}

/* Checks one line of the region in all caches and in memory. */
static void check_line(struct watcher *w, uint64_t addr)
{
	const uint8_t *flat = flat_at(w, 0, addr);
	uint32_t copies = 0, exclusive = 0, dirty = 0;
	uint8_t mem[LINE];

	coh_mem_read(coh_system_mem(w->c), addr, mem, LINE);
	for (uint32_t i = 0; i < w->cores; i++) {
		const struct coh_line *l =
			coh_cache_find(coh_system_cache(w->c, i), addr);

		if (!l)
			continue;
		copies++;
		exclusive += l->state != COH_S;
		dirty += l->state == COH_M;
		HOLDS(w, !memcmp(l->data, flat, LINE));
		HOLDS(w, l->state == COH_M || !memcmp(l->data, mem, LINE));
	}
	HOLDS(w, exclusive == 0 || copies == 1);
	HOLDS(w, dirty || !memcmp(mem, flat, LINE));
}

static void check_caches(struct watcher *w)
{
	for (uint32_t i = 0; i < w->cores; i++) {
		const struct coh_cache *c = coh_system_cache(w->c, i);

		for (uint32_t k = 0; k < c->sets * c->ways; k++)
			if (c->lines[k].state != COH_I)
				HOLDS(w, c->lines[k].addr < REGION);
	}
	for (uint64_t a = 0; a < REGION; a += LINE)
		check_line(w, a);
}

static void on_txn(void *arg, const struct coh_txn *t)
{
	struct watcher *w = arg;
	uint8_t mem[LINE];

	w->txns++;
	HOLDS(w, t->addr < w->ddr); /* private addresses cause no transaction */
	HOLDS(w, (t->addr < w->open) ==
			 (t->bus != COH_MEM_RD && t->bus != COH_MEM_WR));
	if (t->src == w->cores) {
		/* the bytes are also in memory before the next request is
		 * served */
		HOLDS(w, w->fresh && w->fresh->addr == t->addr);
		coh_mem_read(coh_system_mem(w->c), t->addr, mem, t->bytes);
		HOLDS(w, !memcmp(mem, w->fresh->data, t->bytes));
		w->updates += t->bus == COH_UPDATE;
		w->fresh = NULL;
	}
	HOLDS(w, !w->fresh);
	check_caches(w);
}

static void make_items(struct watcher *w)
{
	uint64_t x = w->seed * 0x9e3779b97f4a7c15 + 1, at = 0;

	for (uint32_t i = 0; i < ITEMS; i++) {
		struct coh_item *it = &w->item[i];

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		at += x % 150;
		it->cycle = at;
		it->how = x >> 8 & 3	? COH_BY_UPDATE
			  : x >> 10 & 1 ? COH_BY_INVALIDATE
					: COH_TO_MEMORY;
		it->target = (uint32_t)(x >> 12 & 0xff) % w->cores;
		it->bytes = x >> 20 & 3 ? 4 : LINE;
		it->addr = (x >> 24) % (REGION / it->bytes) * it->bytes;
		if (it->how == COH_TO_MEMORY)
			it->addr += w->open;
		for (uint32_t b = 0; b < it->bytes; b++)
			it->data[b] = (uint8_t)(x >> b % 57);
	}
}

/* A build with a sanitizer executes a third of the operations, because a third
 * already reaches all code. */
#ifdef __SANITIZE_ADDRESS__
enum { SHARE = 3 };
#else
enum { SHARE = 1 };
#endif

static void soak(uint64_t seed, uint32_t cores, uint32_t ops,
		 const char *params)
{
	struct watcher *w = calloc(1, sizeof(*w));
	struct coh_watch watch = { on_op, on_item, on_txn, w };
	struct weft_err err = { 0 };
	char text[512];
	struct rig r;

	assert_non_null(w);
	*w = (struct watcher){ .seed = seed,
			       .cores = cores,
			       .ddr = 131072,
			       .open = 65536,
			       .priv_base = 1 << 20 };
	make_items(w);
	ops /= SHARE;
	snprintf(text, sizeof(text),
		 "cores=%u ops=%u ddr_bytes=131072 uncached_bytes=65536 "
		 "private_base=1048576 private_bytes=4096 region=4096 "
		 "region_base=0 pollers=0 words=0 gap=3 stores=0.4 "
		 "uncached=0.05 privately=0.1 %s",
		 cores, ops, params);
	rig_open(&r, seed, text);
	w->c = r.c;
	if (coh_system_items(r.c, w->item, ITEMS, &err))
		fail_msg("%s", err.msg);
	coh_system_watch(r.c, &watch);
	rig_finish(&r);
	assert_int_equal(r.errors, 0);
	assert_int_equal(w->ops, (uint64_t)cores * ops);
	assert_true(w->updates > ITEMS / 2);
	assert_true(rig_counter(&r, "merges") > ITEMS / 8);
	assert_true(rig_counter(&r, "write_backs") > 1000);
	assert_true(rig_counter(&r, "bus_upgr") > 100);
	rig_free(&r);
	free(w);
}

static uint64_t seed_of(uint64_t otherwise)
{
	const char *text = getenv("WEFT_SEED");

	return text ? strtoull(text, NULL, 0) : otherwise;
}

/* Tests two caches, because the platform has two. Updates allocate no line
 * here. */
static void two_cores(void **state)
{
	soak(seed_of(1), 2, 60000, "size=1024 verify=no");
}

static void two_cores_allocate(void **state)
{
	soak(seed_of(2), 2, 60000, "size=1024 update_alloc=yes");
}

static void four_cores_ways(void **state)
{
	soak(seed_of(3), 4, 30000, "size=512 ways=4 update_alloc=yes");
}

static void sixteen_cores(void **state)
{
	soak(seed_of(4), 16, 4000,
	     "size=1024 ways=2 supply_shared=no update_alloc=yes t_snoop=0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_cores),
		cmocka_unit_test(two_cores_allocate),
		cmocka_unit_test(four_cores_ways),
		cmocka_unit_test(sixteen_cores),
	};

	return cmocka_run_group_tests_name("coh-random", tests, NULL, NULL);
}
