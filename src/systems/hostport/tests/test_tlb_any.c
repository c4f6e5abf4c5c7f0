/* SPDX-License-Identifier: Apache-2.0 */
/* TLB of the Host Port (hostport.md 8.8) through its internal functions: random
 * lookups, answers and commands of the driver against a list that is searched
 * linearly. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "base/rng.h"
#include "hpproc.h"
#include "systems/hostport/nic/functional_units.h"

enum { SIZE = 6, PAGES = 5, OPS = 4000, COUNT = 4 };
static const uint16_t vpids[COUNT] = { 3, 64, 65, 0xffff };

struct entry {
	bool valid, writable;
	uint16_t vpid;
	uint64_t vpage, ppage, used;
};

static struct {
	struct entry at[SIZE];
	uint64_t clock, hits, misses, faults;
	/* the walk uses page walk_page while walk.bytes is not 0 */
	struct hp_walk walk;
	uint64_t walk_page;
} ref;
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

static uint64_t command(struct hp_nic *n, uint32_t op, uint32_t vpid,
			uint64_t vpage, uint64_t arg)
{
	return hp_tlb_block.cache(n, HP_CACHE_CMD(op, HP_CACHE_TLB, vpid, 1ull),
				  vpage, arg);
}

/* ---- the list ---- */

static struct entry *find(uint16_t vpid, uint64_t vpage)
{
	for (uint32_t i = 0; i < SIZE; i++)
		if (ref.at[i].valid && ref.at[i].vpid == vpid &&
		    ref.at[i].vpage == vpage)
			return &ref.at[i];
	return NULL;
}

static uint32_t owned(uint16_t vpid)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < SIZE; i++)
		k += ref.at[i].valid && ref.at[i].vpid == vpid;
	return k;
}

static bool in_use(uint16_t vpid, uint64_t vpage)
{
	return ref.walk.bytes && ref.walk.vpid == vpid &&
	       ref.walk.va == vpage * HP_PAGE;
}

/* Returns the entry to replace: the oldest entry of the VPID that has most
 * entries. The new translation already counts as an entry of its VPID. A VPID
 * that has fewer entries than others loses none. */
static struct entry *victim(uint16_t vpid)
{
	uint32_t most = owned(vpid) + 1;
	struct entry *old = NULL;

	for (uint32_t i = 0; i < SIZE; i++) {
		if (!ref.at[i].valid)
			return &ref.at[i];
		if (owned(ref.at[i].vpid) > most)
			most = owned(ref.at[i].vpid);
	}
	for (uint32_t i = 0; i < SIZE; i++) {
		struct entry *e = &ref.at[i];

		if (owned(e->vpid) + (e->vpid == vpid) == most &&
		    (!old || e->used < old->used))
			old = e;
	}
	return old;
}

static void answer(uint16_t vpid, uint64_t vpage, uint64_t arg)
{
	struct entry *e = find(vpid, vpage);

	if (arg == HP_TLB_FAULT || (e && in_use(vpid, vpage)))
		return;
	e = e ? e : victim(vpid);
	*e = (struct entry){ .valid = true,
			     .writable = HP_TLB_WRITABLE(arg),
			     .vpid = vpid,
			     .vpage = vpage,
			     .ppage = HP_TLB_PAGE(arg),
			     .used = ++ref.clock };
}

static uint64_t state_of(uint16_t vpid, uint64_t vpage)
{
	return (find(vpid, vpage) ? HP_CACHE_PRESENT : 0) |
	       (in_use(vpid, vpage) ? HP_CACHE_IN_USE : 0);
}

/* ---- look-ups ---- */

struct look {
	struct hp_xlate x;
	bool done, missed;
};

static void done(struct hp_nic *n, struct hp_xlate *x)
{
	((struct look *)x)->done = true;
}

static void missed(struct hp_nic *n, struct hp_xlate *x)
{
	((struct look *)x)->missed = true;
}

static void begin(struct hp_nic *n, struct look *k, uint16_t vpid,
		  uint64_t vpage, bool write)
{
	*k = (struct look){ .x = { .vpid = vpid,
				   .vpage = vpage,
				   .write = write,
				   .done = done,
				   .missed = missed } };
	hp_tlb_get(n, &k->x);
}

static void rest(struct weft_host *h)
{
	weft_host_sleep(h, weft_host_now(h) + WEFT_US);
}

/* Checks a finished lookup against the list of pages. */
static void check(struct look *k)
{
	struct entry *e = find(k->x.vpid, k->x.vpage);
	bool fault = !e || (k->x.write && !e->writable);

	assert_true(k->done);
	assert_int_equal(k->x.fault, fault);
	ref.faults += fault;
	if (fault)
		return;
	assert_int_equal(k->x.ppage, e->ppage);
	e->used = ++ref.clock;
}

static uint64_t some_answer(void)
{
	return any(6) ? HP_TLB_ARG(weft_rng_u64(&rng), (uint64_t)any(2))
		      : HP_TLB_FAULT;
}

/* Looks one page up by two lookups at the same time. The driver gets one
 * request, and a second one if only the second lookup writes. */
static void look_up(struct weft_host *h, struct hp_nic *n, uint16_t vpid,
		    uint64_t vpage)
{
	struct look k[2];
	uint64_t arg = some_answer();

	for (uint32_t i = 0; i < 2; i++)
		begin(n, &k[i], vpid, vpage, any(2));
	rest(h);
	if (find(vpid, vpage)) {
		ref.hits += 2;
		check(&k[0]);
		check(&k[1]);
		return;
	}
	ref.misses += 2;
	assert_true(k[0].missed && k[1].missed && !k[0].done && !k[1].done);
	assert_int_equal(
		hpdrv_get(&drv, HP_R_TLB_MISS),
		HP_MISS_MAKE((uint64_t)vpid, vpage, (uint64_t)k[0].x.write));
	if (k[1].x.write > k[0].x.write)
		assert_int_equal(hpdrv_get(&drv, HP_R_TLB_MISS),
				 HP_MISS_MAKE((uint64_t)vpid, vpage, 1ull));
	assert_int_equal(hpdrv_get(&drv, HP_R_TLB_MISS), HP_NONE);
	/* inserts for another VPID or another page do not end the lookup */
	command(n, HP_CACHE_INSERT, vpid ^ 1, vpage, HP_TLB_FAULT);
	command(n, HP_CACHE_INSERT, vpid, vpage + 1, HP_TLB_FAULT);
	rest(h);
	assert_true(!k[0].done && !k[1].done);
	answer(vpid, vpage, arg);
	assert_int_equal(command(n, HP_CACHE_INSERT, vpid, vpage, arg),
			 state_of(vpid, vpage));
	rest(h);
	check(&k[0]);
	check(&k[1]);
}

/* ---- commands ---- */

static void use(struct hp_nic *n, uint16_t vpid, uint64_t vpage)
{
	if (ref.walk.bytes)
		hp_tlb_unuse(n, &ref.walk);
	ref.walk = (struct hp_walk){ .bytes = any(3) ? HP_PAGE : 0,
				     .vpid = vpid,
				     .va = vpage * HP_PAGE,
				     .asked = 1,
				     .room = 1,
				     .fault = UINT32_MAX,
				     .at = &ref.walk_page };
	if (ref.walk.bytes)
		hp_tlb_use(n, &ref.walk);
}

static void flush(struct hp_nic *n)
{
	uint64_t left = 0;

	for (uint32_t i = 0; i < SIZE; i++)
		if (ref.at[i].valid && in_use(ref.at[i].vpid, ref.at[i].vpage))
			left = HP_CACHE_PRESENT | HP_CACHE_IN_USE;
		else
			ref.at[i].valid = false;
	assert_int_equal(command(n, HP_CACHE_FLUSH, 0, 0, 0), left);
}

static void act(struct weft_host *h, struct hp_nic *n)
{
	uint16_t vpid = vpids[any(COUNT)];
	uint64_t vpage = any(PAGES) << any(2) * 30, arg = some_answer();
	struct entry *e = find(vpid, vpage);

	switch (any(40)) {
	case 0:
		flush(n);
		break;
	case 1:
	case 2:
	case 3:
	case 4:
		if (e && !in_use(vpid, vpage))
			e->valid = false;
		assert_int_equal(command(n, HP_CACHE_REMOVE, vpid, vpage, 0),
				 state_of(vpid, vpage));
		break;
	case 5:
	case 6:
		use(n, vpid, vpage);
		break;
	case 7:
	case 8:
	case 9:
		answer(vpid, vpage, arg);
		command(n, HP_CACHE_INSERT, vpid, vpage, arg);
		break;
	default:
		look_up(h, n, vpid, vpage);
	}
}

static void same(struct hp_nic *n)
{
	for (uint32_t i = 0; i < COUNT; i++)
		for (uint32_t k = 0; k < 2 * PAGES; k++) {
			uint64_t vpage = (k / 2) << k % 2 * 30;

			assert_int_equal(
				command(n, HP_CACHE_QUERY, vpids[i], vpage, 0),
				state_of(vpids[i], vpage));
		}
}

static uint64_t counted(const struct exrig *r, const char *name)
{
	return exrig_counter(r->node[0].nic, name);
}

static int any_order(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hp_nic *n = nic_of(r);

	hpdrv_open(&drv, r, node, h);
	memset(&ref, 0, sizeof(ref));
	weft_rng_seed(&rng, 9, NULL);
	for (uint32_t i = 0; i < OPS; i++) {
		act(h, n);
		same(n);
	}
	assert_int_equal(counted(r, "tlb_hits"), ref.hits);
	assert_int_equal(counted(r, "tlb_misses"), ref.misses);
	assert_int_equal(counted(r, "tlb_faults"), ref.faults);
	if (ref.walk.bytes)
		hp_tlb_unuse(n, &ref.walk);
	return 0;
}

static void run(exrig_fn fn)
{
	struct exrig r;

	hprig_new(&r, "1", NULL);
	exrig_set(&r, "hostport.nic", "tlb", "6");
	exrig_prog(&r, 0, fn);
	exrig_start(&r);
	exrig_run(&r);
	exrig_free(&r);
}

static void shares_and_ages_decide_what_is_replaced(void **state)
{
	run(any_order);
}

/* ---- bulk insert ---- */

static uint64_t bulk(uint32_t vpid, uint32_t count, uint64_t vpage,
		     uint64_t words)
{
	hpdrv_set(&drv, HP_R_CACHE_ARG0, vpage);
	hpdrv_set(&drv, HP_R_CACHE_ARG1, words);
	hpdrv_set(&drv, HP_R_CACHE_CMD,
		  HP_CACHE_CMD(HP_CACHE_BULK, HP_CACHE_TLB, vpid,
			       (uint64_t)count));
	return hpdrv_get(&drv, HP_R_CACHE_STATUS);
}

static uint32_t there(struct hp_nic *n, uint32_t vpid)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < 20; i++)
		if (command(n, HP_CACHE_QUERY, vpid, 100 + i, 0))
			bits |= 1u << i;
	return bits;
}

/* Checks that a bulk insert of more pages than the table holds, or from an
 * address that is not a multiple of 8, inserts none, and that a second command
 * meanwhile is ignored. */
static int in_bulk(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hp_nic *n = nic_of(r);
	weft_phys_t phys;
	uint64_t *w;
	struct look k;

	hpdrv_open(&drv, r, node, h);
	w = weft_mem_alloc(h, HP_PAGE, HP_PAGE, &phys);
	for (uint32_t i = 0; i < 20; i++)
		w[i] = i == 2 ? HP_TLB_FAULT : HP_TLB_ARG(1000 + i, 1ull);
	assert_int_equal(bulk(5, 0, 100, phys), 0);
	assert_int_equal(bulk(5, SIZE + 1, 100, phys), 0);
	assert_int_equal(bulk(5, 2, 100, phys + 4), 0);
	rest(h);
	assert_int_equal(there(n, 5), 0);
	begin(n, &k, 5, 101, true); /* the lookup waits for one of the pages */
	hp_tlb_block.cache(n, HP_CACHE_CMD(HP_CACHE_BULK, 3ull, 5ull, 4ull),
			   100, phys);
	assert_int_equal(hp_tlb_block.cache(
				 n,
				 HP_CACHE_CMD(HP_CACHE_BULK, 3ull, 6ull, 2ull),
				 110, phys),
			 HP_CACHE_BUSY);
	rest(h);
	assert_int_equal(there(n, 5), 0xb);
	assert_int_equal(there(n, 6), 0);
	assert_true(k.done && !k.x.fault);
	assert_int_equal(k.x.ppage, 1001);
	assert_int_equal(bulk(6, SIZE, 103, phys) & ~HP_CACHE_BUSY, 0);
	rest(h);
	assert_int_equal(hpdrv_get(&drv, HP_R_CACHE_STATUS), 0);
	/* the third entry is a fault. The last two entries replace the first
	 * entries of the same VPID */
	assert_int_equal(there(n, 5), 0xb);
	assert_int_equal(there(n, 6), 0x1c0);
	return 0;
}

static void pages_are_inserted_in_bulk(void **state)
{
	run(in_bulk);
}

/* ---- misses without an answer ---- */

/* Checks that addresses beyond 48 bits and closed VPIDs have no page. */
static int none(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hp_nic *n = nic_of(r);
	struct look k[3];

	hpdrv_open(&drv, r, node, h);
	begin(n, &k[0], 5, 1ull << 36, false);
	begin(n, &k[1], 5, (1ull << 36) - 1, false);
	begin(n, &k[2], 6, 7, false);
	rest(h);
	assert_true(k[0].done && k[0].x.fault && !k[0].missed);
	assert_true(!k[1].done && !k[2].done);
	hp_tlb_drop(n, 5);
	rest(h);
	assert_true(k[1].done && k[1].x.fault && !k[2].done);
	hp_tlb_drop(n, 6);
	rest(h);
	assert_true(k[2].done && k[2].x.fault);
	assert_int_equal(counted(r, "tlb_faults"), 3);
	assert_int_equal(counted(r, "tlb_misses"), 2);
	return 0;
}

static void what_cannot_be_translated_is_a_fault(void **state)
{
	run(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_and_ages_decide_what_is_replaced),
		cmocka_unit_test(pages_are_inserted_in_bulk),
		cmocka_unit_test(what_cannot_be_translated_is_a_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
