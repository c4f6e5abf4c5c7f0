/* SPDX-License-Identifier: Apache-2.0 */
/* Tests one cache alone: every cell of the event table as printed in forth.md
 * 9, the mapping of addresses to lines, the order of replacement, and
 * eviction. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "systems/coherent/cache.h"

enum { LINE = 32, ADDR = 0x1240 };

static void fresh(struct coh_cache *c, uint64_t bytes, uint32_t ways)
{
	assert_true(coh_cache_init(c, bytes, LINE, ways));
}

/* Brings the line of ADDR into a state. All bytes of the line are 0x11. */
static void prepare(struct coh_cache *c, enum coh_state s)
{
	uint8_t data[LINE];

	fresh(c, 1024, 1);
	memset(data, 0x11, LINE);
	if (s != COH_I)
		coh_cache_install(c, coh_cache_victim(c, ADDR), ADDR, s, data);
}

static enum coh_state state_of(const struct coh_cache *c)
{
	const struct coh_line *l = coh_cache_find(c, ADDR);

	return l ? l->state : COH_I;
}

struct local_cell {
	bool write;
	enum coh_state before;
	enum coh_bus bus;
	enum coh_state after; /* state of the line after coh_cache_local() */
};

static const struct local_cell local_cells[] = {
	{ false, COH_I, COH_RD, COH_I },   { false, COH_S, COH_NONE, COH_S },
	{ false, COH_E, COH_NONE, COH_E }, { false, COH_M, COH_NONE, COH_M },
	{ true, COH_I, COH_RDX, COH_I },   { true, COH_S, COH_UPGR, COH_S },
	{ true, COH_E, COH_NONE, COH_M },  { true, COH_M, COH_NONE, COH_M },
};

static void local_events(void **state)
{
	struct coh_cache c;
	struct coh_line *l;

	for (size_t i = 0; i < 8; i++) {
		const struct local_cell *x = &local_cells[i];

		prepare(&c, x->before);
		assert_int_equal(coh_cache_local(&c, ADDR + 4, x->write, &l),
				 x->bus);
		assert_int_equal(state_of(&c), x->after);
		assert_int_equal(l != NULL, x->bus == COH_NONE);
		if (l)
			assert_int_equal(l->addr, ADDR);
		coh_cache_fini(&c);
	}
	/* next states after a miss */
	assert_int_equal(coh_on_local(false, COH_I).next, COH_E);
	assert_int_equal(coh_on_local(true, COH_I).next, COH_M);
	assert_int_equal(coh_on_local(true, COH_S).next, COH_M);
}

struct snoop_cell {
	enum coh_bus bus;
	enum coh_state before, after;
	uint32_t act;
};

static const struct snoop_cell snoop_cells[] = {
	{ COH_RD, COH_I, COH_I, 0 },
	{ COH_RD, COH_S, COH_S, COH_MAY_SUPPLY },
	{ COH_RD, COH_E, COH_S, COH_SUPPLY },
	{ COH_RD, COH_M, COH_S, COH_SUPPLY | COH_WRITE_BACK },
	{ COH_RDX, COH_I, COH_I, 0 },
	{ COH_RDX, COH_S, COH_I, 0 },
	{ COH_RDX, COH_E, COH_I, COH_SUPPLY },
	{ COH_RDX, COH_M, COH_I, COH_SUPPLY },
	{ COH_UPGR, COH_I, COH_I, 0 },
	{ COH_UPGR, COH_S, COH_I, 0 },
	{ COH_UPGR, COH_E, COH_I, COH_SUPPLY },
	{ COH_UPGR, COH_M, COH_I, COH_SUPPLY },
	{ COH_WRITE, COH_I, COH_I, 0 },
	{ COH_WRITE, COH_S, COH_I, 0 },
	{ COH_WRITE, COH_E, COH_I, COH_SUPPLY },
	{ COH_WRITE, COH_M, COH_I, COH_SUPPLY },
	{ COH_UPDATE, COH_I, COH_I, COH_ALLOCATE },
	{ COH_UPDATE, COH_S, COH_S, COH_MERGE },
	{ COH_UPDATE, COH_E, COH_E, COH_MERGE },
	{ COH_UPDATE, COH_M, COH_M, COH_MERGE },
};

static void snoop_cell_check(const struct snoop_cell *x)
{
	static const uint8_t update[4] = { 1, 2, 3, 4 };
	uint8_t copy[LINE] = { 0 }, want[LINE];
	struct coh_snoop to;
	struct coh_cache c;
	enum coh_state was;

	prepare(&c, x->before);
	to = coh_cache_snoop(&c, x->bus, ADDR + 8, update, 4, copy, &was);
	assert_int_equal(was, x->before);
	assert_int_equal(to.next, x->after);
	assert_int_equal(to.act, x->act);
	assert_int_equal(state_of(&c), x->after);
	memset(want, x->before == COH_I ? 0 : 0x11, LINE);
	if (to.act & COH_MERGE)
		memcpy(want + 8, update, 4);
	assert_memory_equal(copy, want, LINE);
	if (x->after != COH_I)
		assert_memory_equal(coh_cache_find(&c, ADDR)->data, want, LINE);
	coh_cache_fini(&c);
}

static void snoop_events(void **state)
{
	const size_t n = sizeof(snoop_cells) / sizeof(snoop_cells[0]);

	assert_int_equal(n, COH_SNOOPED * COH_STATES);
	for (size_t i = 0; i < n; i++)
		snoop_cell_check(&snoop_cells[i]);
}

static void evict_events(void **state)
{
	uint8_t copy[LINE], want[LINE];
	struct coh_cache c;

	memset(want, 0x11, LINE);
	for (enum coh_state s = COH_I; s < COH_STATES; s++) {
		prepare(&c, s);
		memset(copy, 0, LINE);
		assert_int_equal(
			coh_cache_evict(&c, coh_cache_victim(&c, ADDR), copy),
			s == COH_M);
		if (s == COH_M)
			assert_memory_equal(copy, want, LINE);
		assert_null(coh_cache_find(&c, ADDR));
		coh_cache_fini(&c);
	}
}

static void upgrade_makes_m(void **state)
{
	struct coh_cache c;

	prepare(&c, COH_S);
	assert_int_equal(coh_cache_upgrade(&c, ADDR + 28)->state, COH_M);
	coh_cache_fini(&c);
}

/* In a direct-mapped cache of 16 KB, addresses 16 KB apart map to one line. */
static void direct_mapped(void **state)
{
	uint8_t data[LINE] = { 0 };
	struct coh_cache c;
	struct coh_line *l;

	fresh(&c, 16384, 1);
	assert_int_equal(c.sets, 512);
	l = coh_cache_victim(&c, 0x1000);
	coh_cache_install(&c, l, 0x1000, COH_E, data);
	assert_ptr_equal(coh_cache_victim(&c, 0x1000 + 16384 * 3 + 31), l);
	assert_ptr_not_equal(coh_cache_victim(&c, 0x1000 + 32), l);
	assert_ptr_equal(coh_cache_find(&c, 0x101f), l);
	assert_null(coh_cache_find(&c, 0x1000 + 16384));
	coh_cache_fini(&c);
}

/* An invalid line is replaced first, then the least recently used one. */
static void least_recently_used(void **state)
{
	uint8_t data[LINE] = { 0 }, copy[LINE];
	struct coh_cache c;
	struct coh_line *l;

	fresh(&c, 4 * LINE, 4); /* one set */
	for (uint64_t i = 0; i < 4; i++) {
		l = coh_cache_victim(&c, i * LINE);
		assert_int_equal(l->state, COH_I);
		coh_cache_install(&c, l, i * LINE, COH_S, data);
	}
	assert_int_equal(coh_cache_victim(&c, 0x8000)->addr, 0);
	coh_cache_local(&c, 0, false, &l);
	assert_int_equal(coh_cache_victim(&c, 0x8000)->addr, LINE);
	coh_cache_upgrade(&c, LINE);
	assert_int_equal(coh_cache_victim(&c, 0x8000)->addr, 2 * LINE);
	coh_cache_evict(&c, coh_cache_find(&c, 3 * LINE), copy);
	assert_int_equal(coh_cache_victim(&c, 0x8000)->addr, 3 * LINE);
	coh_cache_fini(&c);
}

static void every_state_and_transaction_has_a_name(void **state)
{
	assert_string_equal(coh_state_name[COH_E], "E");
	assert_string_equal(coh_bus_name[COH_UPGR], "BusUpgr");
	for (enum coh_bus b = COH_RD; b <= COH_NONE; b++)
		assert_non_null(coh_bus_name[b]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(local_events),
		cmocka_unit_test(snoop_events),
		cmocka_unit_test(evict_events),
		cmocka_unit_test(upgrade_makes_m),
		cmocka_unit_test(direct_mapped),
		cmocka_unit_test(least_recently_used),
		cmocka_unit_test(every_state_and_transaction_has_a_name),
	};

	return cmocka_run_group_tests_name("coh-cache", tests, NULL, NULL);
}
