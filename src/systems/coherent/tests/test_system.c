/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the whole machine with small scripts: the transaction and the cycles of
 * each cell of the event table (forth.md 9), eviction, races, and private
 * addresses. */
#include "unit/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "rig.h"
#include "systems/coherent/coherent_internal.h"

enum { A = 0x400, FAR = 16384, AT = 1000 };
/* Default times of coh.system, in cycles. */
enum {
	HIT = 1,
	ARB = 1,
	REQ = 1,
	SNOOP = 2,
	SUPPLY = 2,
	REPLY = 1,
	NI = 2,
	CTRL = 4,
	RP = 2,
	RCD = 2,
	CAS = 2,
	CWL = 1,
	BEATS = 4
};
enum {
	ASK = ARB + REQ +
	      SNOOP, /* from the grant to the answers of all snoopers */
	/* cycles in which memory delivers a line if its row is open */
	READ = CTRL + CAS + REPLY + BEATS,
	CACHE = SUPPLY + REPLY +
		BEATS, /* cycles of a line from another cache */
	WORD = CTRL + CWL + 1,
	LINE = CTRL + CWL + BEATS
};

struct bench {
	struct ref_coh_script s;
	struct ref_coh_log log;
	struct rig rig;
};

static int setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	rig_script_default(&b->s);
	b->s.cores = 3;
	*state = b;
	return b == NULL;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	rig_free(&b->rig);
	free(b);
	return 0;
}

static void add(struct bench *b, uint32_t core, bool store, uint64_t addr,
		uint64_t value, uint32_t gap)
{
	b->s.op[core][b->s.n_ops[core]++] = (struct coh_op){ .store = store,
							     .bytes = 4,
							     .addr = addr,
							     .value = value,
							     .gap = gap };
}

/* Delivers n bytes to the line at A, from `offset` on. */
static void deliver(struct bench *b, enum coh_delivery how, uint32_t offset,
		    uint32_t bytes, uint64_t cycle)
{
	struct coh_item *it = &b->s.item[b->s.n_items++];

	*it = (struct coh_item){
		.cycle = cycle, .how = how, .bytes = bytes, .addr = A + offset
	};
	memset(it->data, 0xEE, bytes);
}

static void run(struct bench *b)
{
	rig_free(&b->rig);
	rig_run(&b->rig, &b->s, &b->log);
	assert_int_equal(b->rig.errors, 0);
}

static const struct coh_txn *last(const struct bench *b)
{
	assert_true(b->log.n_txns > 0);
	return &b->log.txn[b->log.n_txns - 1];
}

static enum coh_state state_of(const struct bench *b, uint32_t core)
{
	const struct coh_line *l =
		coh_cache_find(coh_system_cache(b->rig.c, core), A);

	return l ? l->state : COH_I;
}

static uint32_t mem32(const struct bench *b, uint64_t addr)
{
	uint32_t v;

	memcpy(&v, b->log.mem + addr, 4);
	return v;
}

/* Brings line A into state s in cache 0 long before AT. For S, cache 2 loads
 * the line, too. */
static void bring(struct bench *b, enum coh_state s)
{
	rig_script_default(&b->s);
	b->s.cores = 3;
	if (s == COH_M)
		add(b, 0, true, A, 0x1234, 0);
	else if (s != COH_I)
		add(b, 0, false, A, 0, 0);
	if (s == COH_S)
		add(b, 2, false, A, 0, 300);
}

struct cell {
	enum coh_state before; /* of cache 0 */
	enum coh_bus bus;
	int32_t supplier;
	uint32_t data, end; /* cycles after the answers of the snoopers */
	/* states in the requester's cache and in cache 0 after the
	 * transaction */
	enum coh_state own, other;
};

static void cell_check(struct bench *b, const struct cell *x, bool store)
{
	const struct coh_txn *t;

	bring(b, x->before);
	add(b, 1, store, A + 4, 0x77, AT);
	run(b);
	t = last(b);
	assert_int_equal(t->bus, x->bus);
	assert_int_equal(t->src, 1);
	assert_int_equal(t->supplier, x->supplier);
	assert_int_equal(t->grant, AT + HIT);
	assert_int_equal(t->snoop, t->grant + ASK);
	assert_int_equal(t->data, t->snoop + x->data);
	assert_int_equal(t->end, t->snoop + x->end);
	assert_int_equal(b->log.op[b->log.n_ops - 1].cycle, t->data);
	assert_int_equal(state_of(b, 1), x->own);
	assert_int_equal(state_of(b, 0), x->other);
}

static void read_miss_takes_data_from_cache_or_memory(void **state)
{
	static const struct cell cells[] = {
		{ COH_I, COH_RD, -1, READ + RCD, READ + RCD, COH_E, COH_I },
		{ COH_S, COH_RD, 2, CACHE, CACHE, COH_S, COH_S },
		{ COH_E, COH_RD, 0, CACHE, CACHE, COH_S, COH_S },
		{ COH_M, COH_RD, 0, CACHE, SUPPLY + LINE, COH_S, COH_S },
	};

	for (size_t i = 0; i < 4; i++)
		cell_check(*state, &cells[i], false);
	/* the dirty line was written to memory */
	assert_int_equal(mem32(*state, A), 0x1234);
}

static void write_miss_invalidates_other_copies(void **state)
{
	static const struct cell cells[] = {
		{ COH_I, COH_RDX, -1, READ + RCD, READ + RCD, COH_M, COH_I },
		{ COH_S, COH_RDX, -1, READ, READ, COH_M, COH_I },
		{ COH_E, COH_RDX, 0, CACHE, CACHE, COH_M, COH_I },
		{ COH_M, COH_RDX, 0, CACHE, CACHE, COH_M, COH_I },
	};

	for (size_t i = 0; i < 4; i++)
		cell_check(*state, &cells[i], true);
	/* memory is unchanged, because the line moved from cache to cache with
	 * the first store */
	assert_int_equal(mem32(*state, A), 0);
	assert_int_equal(
		coh_cache_find(
			coh_system_cache(((struct bench *)*state)->rig.c, 1), A)
			->data[0],
		0x34);
}

/* Without supply_shared no cache supplies a shared copy, so that memory
 * supplies the line. */
static void shared_silent(void **state)
{
	struct bench *b = *state;

	bring(b, COH_S);
	b->s.supply_shared = false;
	add(b, 1, false, A, 0, AT);
	run(b);
	assert_int_equal(last(b)->supplier, -1);
	assert_int_equal(last(b)->data, last(b)->snoop + READ);
	assert_int_equal(state_of(b, 1), COH_S);
}

static void local_hits(void **state)
{
	static const struct {
		enum coh_state before, after;
		bool store;
	} hit[] = { { COH_S, COH_S, false },
		    { COH_E, COH_E, false },
		    { COH_M, COH_M, false },
		    { COH_E, COH_M, true },
		    { COH_M, COH_M, true } };
	struct bench *b = *state;

	for (size_t i = 0; i < 5; i++) {
		uint32_t before;

		bring(b, hit[i].before);
		run(b);
		before = b->log.n_txns;
		add(b, 0, hit[i].store, A + 8, 5, AT);
		run(b);
		assert_int_equal(b->log.n_txns, before);
		assert_int_equal(state_of(b, 0), hit[i].after);
		/* the access completes after its gap and the lookup */
		assert_int_equal(b->log.op[b->log.n_ops - 1].cycle,
				 b->log.op[0].cycle + AT + HIT);
	}
}

static void store_to_a_shared_line_asks_only_for_the_upgrade(void **state)
{
	struct bench *b = *state;

	bring(b, COH_S);
	add(b, 0, true, A, 9, AT);
	run(b);
	assert_int_equal(last(b)->bus, COH_UPGR);
	assert_int_equal(last(b)->end, last(b)->grant + ASK);
	assert_int_equal(last(b)->data, last(b)->end);
	assert_int_equal(state_of(b, 0), COH_M);
	assert_int_equal(state_of(b, 2), COH_I);
}

/* Two sharers store in the same cycle. The second one finds its line
 * invalidated and requests the line, too. */
static void upgrade_race(void **state)
{
	struct bench *b = *state;
	const struct coh_txn *t;

	bring(b, COH_I);
	add(b, 0, false, A, 0, 0);
	add(b, 1, false, A, 0, 100);
	run(b);
	add(b, 0, true, A, 1, AT - (uint32_t)b->log.op[0].cycle);
	add(b, 1, true, A + 4, 2, AT - (uint32_t)b->log.op[1].cycle);
	run(b);
	t = last(b);
	assert_int_equal(t[-1].bus, COH_UPGR);
	assert_int_equal(t[-1].src, 0);
	assert_int_equal(t->bus, COH_RDX);
	assert_int_equal(t->src, 1);
	assert_int_equal(t->grant, t[-1].end);
	assert_int_equal(t->supplier, 0);
	assert_int_equal(state_of(b, 0), COH_I);
	assert_int_equal(state_of(b, 1), COH_M);
}

/* An Update is snooped in states I (without allocation), S, E and M. */
static void update_is_snooped_in_every_state(void **state)
{
	static const enum coh_state all[] = { COH_I, COH_S, COH_E, COH_M };
	struct bench *b = *state;

	for (size_t i = 0; i < 4; i++) {
		const struct coh_line *l;
		const struct coh_txn *t;

		bring(b, all[i]);
		deliver(b, COH_BY_UPDATE, 8, 4, AT);
		run(b);
		t = last(b);
		assert_int_equal(t->bus, COH_UPDATE);
		assert_int_equal(t->grant, AT + NI);
		assert_int_equal(t->snoop, t->grant + ASK + 1);
		assert_int_equal(t->end, t->snoop + WORD + (all[i] ? 0 : RCD));
		assert_int_equal(state_of(b, 0), all[i]);
		assert_int_equal(mem32(b, A + 8), 0xEEEEEEEE);
		for (uint32_t k = 0; k < 3; k++)
			if ((l = coh_cache_find(coh_system_cache(b->rig.c, k),
						A)))
				assert_int_equal(l->data[8], 0xEE);
	}
	/* the Update is written into the dirty line, so that the earlier store
	 * is still only in the cache */
	assert_int_equal(mem32(b, A), 0);
}

/* No cache holds the line of an Update. With update_alloc the target allocates
 * it in state E. */
static void update_allocates(void **state)
{
	struct bench *b = *state;
	const struct coh_txn *t;

	bring(b, COH_I);
	b->s.update_alloc = true;
	deliver(b, COH_BY_UPDATE, 8, 4, AT);
	b->s.item[0].target = 2;
	run(b);
	t = last(b);
	assert_true(t->allocated);
	assert_int_equal(state_of(b, 2), COH_E);
	assert_int_equal(state_of(b, 0), COH_I);
	/* the word is written to memory, then the line read from there */
	assert_int_equal(t->end, t->snoop + RCD + WORD + READ);
	assert_int_equal(t->data, t->end);
	/* an Update of a whole line needs no read */
	bring(b, COH_I);
	b->s.update_alloc = true;
	deliver(b, COH_BY_UPDATE, 0, 32, AT);
	run(b);
	t = last(b);
	assert_int_equal(t->snoop, t->grant + ASK + BEATS);
	assert_int_equal(t->end, t->snoop + RCD + LINE);
	assert_int_equal(state_of(b, 0), COH_E);
	/* no allocation, because another cache holds the line and a second
	 * exclusive copy must not exist */
	bring(b, COH_M);
	b->s.update_alloc = true;
	deliver(b, COH_BY_UPDATE, 8, 4, AT);
	b->s.item[0].target = 1;
	run(b);
	assert_false(last(b)->allocated);
	assert_int_equal(state_of(b, 0), COH_M);
	assert_int_equal(state_of(b, 1), COH_I);
}

/* The Update replaces a dirty line of the target, which is written to
 * memory. */
static void update_evicts(void **state)
{
	struct bench *b = *state;
	const struct coh_txn *t;

	bring(b, COH_I);
	b->s.update_alloc = true;
	add(b, 0, true, A + FAR, 0xABCD, 0);
	deliver(b, COH_BY_UPDATE, 8, 4, AT);
	run(b);
	t = last(b);
	assert_int_equal(state_of(b, 0), COH_E);
	assert_int_equal(mem32(b, A + FAR), 0xABCD);
	/* three accesses, each to another row of the same bank */
	assert_int_equal(t->end,
			 t->snoop + 3 * (RP + RCD) + WORD + REQ + LINE + READ);
}

/* A load misses while the Update that brings its line is in progress. */
static void load_hits_the_line_that_an_update_brings(void **state)
{
	struct bench *b = *state;
	const struct coh_txn *t;

	bring(b, COH_I);
	b->s.update_alloc = true;
	deliver(b, COH_BY_UPDATE, 8, 4, AT);
	add(b, 0, false, A + 8, 0, AT + 10);
	run(b);
	t = last(b);
	assert_int_equal(t->bus, COH_NONE);
	assert_int_equal(t->grant, t[-1].end);
	assert_int_equal(t->end, t->grant + ARB);
	assert_int_equal(b->log.op[0].value, 0xEEEEEEEE);
	assert_int_equal(b->log.op[0].cycle, t->end);
	assert_int_equal(rig_counter(&b->rig, "cancelled"), 1);
}

/* Delivery by invalidate is snooped as BusRdX. A dirty line is written to
 * memory together with the new bytes. */
static void delivery_by_invalidate_writes_dirty_lines_back(void **state)
{
	static const enum coh_state all[] = { COH_I, COH_S, COH_E, COH_M };
	struct bench *b = *state;
	const struct coh_txn *t;

	for (size_t i = 0; i < 4; i++) {
		bring(b, all[i]);
		deliver(b, COH_BY_INVALIDATE, 8, 4, AT);
		run(b);
		t = last(b);
		assert_int_equal(t->bus, COH_WRITE);
		assert_int_equal(t->snoop, t->grant + ASK + 1);
		assert_int_equal(t->end,
				 t->snoop + (all[i] == COH_I   ? RCD + WORD
					     : all[i] == COH_M ? SUPPLY + LINE
							       : WORD));
		for (uint32_t k = 0; k < 3; k++)
			assert_int_equal(state_of(b, k), COH_I);
		assert_int_equal(mem32(b, A + 8), 0xEEEEEEEE);
	}
	assert_int_equal(mem32(b, A), 0x1234);
	/* an item that covers the whole line needs no bytes of the dirty
	 * line */
	bring(b, COH_M);
	deliver(b, COH_BY_INVALIDATE, 0, 32, AT);
	run(b);
	t = last(b);
	assert_int_equal(t->end, t->snoop + LINE);
	assert_int_equal(mem32(b, A), 0xEEEEEEEE);
}

static void only_a_dirty_victim_is_written_back(void **state)
{
	static const enum coh_state all[] = { COH_S, COH_E, COH_M };
	struct bench *b = *state;

	for (size_t i = 0; i < 3; i++) {
		bool dirty = all[i] == COH_M;
		const struct coh_txn *t;

		bring(b, all[i]);
		add(b, 0, false, A + FAR, 0, AT);
		run(b);
		t = last(b);
		assert_int_equal(state_of(b, 0), COH_I);
		assert_int_equal(t->snoop,
				 t->grant + ASK + (dirty ? REQ + LINE : 0));
		assert_int_equal(t->data, t->snoop + RP + RCD + READ);
		assert_int_equal(rig_counter(&b->rig, "write_backs"), dirty);
		assert_int_equal(mem32(b, A), dirty ? 0x1234 : 0);
	}
}

/* Private addresses name a different memory for each core and cause no
 * transaction. */
static void private_stays_private(void **state)
{
	struct bench *b = *state;

	for (uint32_t i = 0; i < 3; i++) {
		add(b, i, true, REF_COH_PRIVATE + 8, 100 + i, 0);
		add(b, i, false, REF_COH_PRIVATE + 8, 0, 0);
	}
	run(b);
	assert_int_equal(b->log.n_txns, 0);
	assert_int_equal(b->log.n_ops, 6);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(b->log.op[3 + i].value,
				 100 + b->log.op[3 + i].core);
		assert_int_equal(b->log.op[3 + i].cycle, 10);
	}
	assert_int_equal(rig_counter(&b->rig, "private"), 6);
}

/* An uncached access always reads or writes memory, leaves no copy and is not
 * broadcast. */
static void uncached_access_leaves_no_copy(void **state)
{
	struct bench *b = *state;
	const struct coh_txn *t = b->log.txn;

	add(b, 0, true, REF_COH_OPEN + 4, 0x55, 0);
	add(b, 0, false, REF_COH_OPEN + 4, 0, 0);
	add(b, 0, false, REF_COH_OPEN + 4, 0, 0);
	run(b);
	assert_int_equal(b->log.n_txns, 3);
	assert_int_equal(t[0].bus, COH_MEM_WR);
	assert_int_equal(t[0].grant, 1);
	assert_int_equal(t[0].end, 1 + ARB + REQ + 1 + RCD + WORD);
	assert_int_equal(t[1].bus, COH_MEM_RD);
	assert_int_equal(t[1].grant, t[0].end + 1);
	assert_int_equal(t[1].end,
			 t[1].grant + ARB + REQ + CTRL + CAS + REPLY + 1);
	assert_int_equal(t[2].end - t[1].end, t[1].end - t[0].end);
	assert_int_equal(b->log.op[2].value, 0x55);
	assert_int_equal(b->log.copies[0] + b->log.copies[1] + b->log.copies[2],
			 0);
}

/* All cores and the interface request at the same time. They are served in
 * turn, the interface after the last core. */
static void round_robin(void **state)
{
	struct bench *b = *state;

	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t k = 0; k < 3; k++)
			add(b, i, false, 0x1000 * (i + 1) + 64 * k, 0, 0);
	for (uint32_t k = 0; k < 3; k++)
		deliver(b, COH_BY_UPDATE, 4 * k, 4, 0);
	run(b);
	assert_int_equal(b->log.n_txns, 12);
	for (uint32_t k = 0; k < 12; k++)
		assert_int_equal(b->log.txn[k].src, k % 4);
}

/* Two caches share a line. The test marks the first copy exclusive. All bytes
 * are right, but the checks must report the state. */
static void a_line_held_exclusively_beside_a_copy_is_an_error(void **state)
{
	static const enum coh_state wrong[] = { COH_E, COH_M };
	struct bench *b = *state;
	struct coh_txn t = { .bus = COH_RD, .addr = A, .bytes = 32 };
	struct coh_system *s;
	struct coh_line *l;

	add(b, 0, false, A, 0, 0);
	add(b, 1, false, A, 0, 100);
	run(b);
	s = b->rig.c->state;
	l = coh_cache_find(&s->core[0].cache, A);
	assert_int_equal(state_of(b, 0), COH_S);
	assert_int_equal(state_of(b, 1), COH_S);
	coh_check_txn(b->rig.c, &t);
	assert_int_equal(rig_counter(&b->rig, "errors"), 0);
	for (uint32_t i = 0; i < 2; i++) {
		l->state = wrong[i];
		coh_check_txn(b->rig.c, &t);
		assert_int_equal(rig_counter(&b->rig, "errors"), i + 1);
	}
}

/* The checks keep the bytes of every store, so they know what each kind of
 * memory must return. */
static void a_load_of_other_bytes_than_were_stored_is_an_error(void **state)
{
	static const uint64_t at[] = { A, REF_COH_OPEN, REF_COH_PRIVATE };
	struct bench *b = *state;

	for (uint32_t i = 0; i < 3; i++)
		add(b, 0, true, at[i], 0x11223344, 0);
	run(b);
	for (uint32_t i = 0; i < 3; i++) {
		struct coh_op op = { .bytes = 4, .addr = at[i] };

		coh_check_op(b->rig.c, 0, &op, 0x11223344);
		assert_int_equal(rig_counter(&b->rig, "errors"), 2 * i);
		coh_check_op(b->rig.c, 0, &op, 0x91223344);
		assert_int_equal(rig_counter(&b->rig, "errors"), 2 * i + 1);
		op = (struct coh_op){ .bytes = 2, .addr = at[i] + 2 };
		coh_check_op(b->rig.c, 0, &op, 0x1122);
		coh_check_op(b->rig.c, 0, &op, 0x1123);
		assert_int_equal(rig_counter(&b->rig, "errors"), 2 * i + 2);
	}
}

static void refused(struct weft_sim *sim, const char *name, const char *param,
		    const char *value)
{
	struct weft_err err = { 0 };
	struct weft_comp *c =
		weft_sim_add(sim, &weft_class_coh_system, name, &err);

	assert_int_equal(weft_param_set(c, param, value, &err), 0);
	assert_int_not_equal(weft_comp_init(c, &err), 0);
	assert_true(err.msg[0]);
}

static void impossible_parameters_are_refused(void **state)
{
	struct coh_op op = { .bytes = 4, .addr = 2 };
	struct coh_item item = { .bytes = 33, .how = COH_BY_UPDATE };
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_err err = { 0 };
	struct rig r;

	refused(sim, "a", "line", "48");
	refused(sim, "b", "size", "3000");
	refused(sim, "c", "ways", "3");
	refused(sim, "d", "pollers", "3");
	refused(sim, "e", "into", "region");
	refused(sim, "f", "private_base", "4096");
	refused(sim, "g", "mailbox", "2");
	refused(sim, "h", "region", "64MiB");
	refused(sim, "i", "uncached", "0.9");
	refused(sim, "j", "start", "18446744073709551615");
	refused(sim, "k", "uncached_bytes", "256MiB");
	refused(sim, "l", "target", "2");
	weft_sim_free(sim);
	rig_open(&r, 1, "cores=2");
	assert_int_not_equal(coh_system_script(r.c, 0, &op, 1, &err), 0);
	op.addr = 0x10000000; /* behind DDR memory */
	assert_int_not_equal(coh_system_script(r.c, 0, &op, 1, &err), 0);
	assert_int_not_equal(coh_system_items(r.c, &item, 1, &err), 0);
	item.bytes = 4;
	assert_int_equal(coh_system_items(r.c, &item, 1, &err), 0);
	/* deliver into memory without snooping, which is allowed only for a
	 * line in no cache */
	item.how = COH_TO_MEMORY;
	assert_int_not_equal(coh_system_items(r.c, &item, 1, &err), 0);
	rig_free(&r);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(read_miss_takes_data_from_cache_or_memory),
		T(write_miss_invalidates_other_copies),
		T(shared_silent),
		T(local_hits),
		T(store_to_a_shared_line_asks_only_for_the_upgrade),
		T(upgrade_race),
		T(update_is_snooped_in_every_state),
		T(update_allocates),
		T(update_evicts),
		T(load_hits_the_line_that_an_update_brings),
		T(delivery_by_invalidate_writes_dirty_lines_back),
		T(only_a_dirty_victim_is_written_back),
		T(private_stays_private),
		T(uncached_access_leaves_no_copy),
		T(round_robin),
		T(a_line_held_exclusively_beside_a_copy_is_an_error),
		T(a_load_of_other_bytes_than_were_stored_is_an_error),
		cmocka_unit_test(impossible_parameters_are_refused),
	};

	return cmocka_run_group_tests_name("coh-system", tests, NULL, NULL);
}
