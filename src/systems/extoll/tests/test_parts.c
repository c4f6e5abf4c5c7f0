/* SPDX-License-Identifier: Apache-2.0 */
/* Tests parts of the EXTOLL crossbar alone. The arbiter is compared with the
 * formula of extoll.md 4.2 (T-30), and the 36 queues of an input with 36 plain
 * queues. A further test measures the cycles between cells that are shifted in
 * (4.1; T-31). */
#include "ex_feed.h"

#include <string.h>

#include "unit/cmocka_all.h"
#include "base/rng.h"
#include "systems/extoll/network/cell_channel_internal.h"

/* ---- T-30: the arbiter ---- */

/* The formula of extoll.md 4.2 with its thermometer mask t, for n inputs. */
struct formula {
	uint32_t n;
	uint64_t t;
};

static uint64_t ones(uint32_t n)
{
	return (1ULL << n) - 1;
}

static uint64_t formula_grant(struct formula *f, uint64_t req)
{
	uint64_t masked = req & f->t, pick = masked ? masked : req;
	uint64_t grant = pick & (~pick + 1);

	if (grant)
		f->t = ~(grant | (grant - 1)) & ones(f->n);
	return grant;
}

enum { RESET = 63 }; /* state of an arbiter after extoll_xbar_init */

static void one_grant(struct formula *f, uint64_t req, uint32_t *last)
{
	uint64_t want = formula_grant(f, req);

	assert_true(want && !(want & (want - 1)) && want & req);
	*last = extoll_xbar_arbiter(req, *last);
	assert_true(want == 1ULL << *last);
}

/* All requests in all states, for 4 inputs. */
static void test_arbiter_all(void **state)
{
	for (uint32_t winner = 0; winner < 5; winner++) {
		for (uint64_t req = 1; req < 16; req++) {
			struct formula f = { 4, ones(4) };
			uint32_t last = RESET;

			if (winner < 4)
				one_grant(&f, 1ULL << winner, &last);
			one_grant(&f, req, &last);
		}
	}
}

/* For random requests of 36 queues, arbiter and formula grant alike. No queue
 * waits for more than 35 grants. */
static void test_arbiter_random(void **state)
{
	struct formula f = { EXTOLL_XBAR_QUEUES, ones(EXTOLL_XBAR_QUEUES) };
	uint32_t last = RESET, wait[EXTOLL_XBAR_QUEUES] = { 0 }, longest = 0;
	struct weft_rng r;

	weft_rng_seed(&r, 1, "arbiter");
	for (uint32_t k = 0; k < 200000; k++) {
		uint64_t req = weft_rng_u64(&r) & ones(EXTOLL_XBAR_QUEUES);

		/* Draws sparse and dense requests in turn. A queue repeats its
		 * request until it gets a grant. */
		req = k & 1 ? req & weft_rng_u64(&r) : req | weft_rng_u64(&r);
		req &= ones(EXTOLL_XBAR_QUEUES);
		for (uint32_t i = 0; i < EXTOLL_XBAR_QUEUES; i++)
			req |= (uint64_t) !!wait[i] << i;
		if (!req)
			continue;
		one_grant(&f, req, &last);
		for (uint32_t i = 0; i < EXTOLL_XBAR_QUEUES; i++)
			wait[i] =
				i == last || !(req >> i & 1) ? 0 : wait[i] + 1;
		for (uint32_t i = 0; i < EXTOLL_XBAR_QUEUES; i++)
			longest = wait[i] > longest ? wait[i] : longest;
	}
	assert_int_equal(longest, EXTOLL_XBAR_QUEUES - 1);
}

/* If all N inputs always request, each input gets one of N consecutive
 * grants. */
static void test_arbiter_fair(void **state)
{
	for (uint32_t n = 1; n <= EXTOLL_XBAR_QUEUES; n++) {
		struct formula f = { n, ones(n) };
		uint32_t last = RESET;

		for (uint32_t round = 0; round < 3; round++) {
			uint64_t seen = 0;

			for (uint32_t k = 0; k < n; k++) {
				one_grant(&f, ones(n), &last);
				seen |= 1ULL << last;
			}
			assert_true(seen == ones(n));
		}
	}
}

/* ---- T-31: the queues ---- */

enum { IN = 4, DEEP = 64 };

struct plain { /* a queue of cells, by their numbers */
	uint32_t at[DEEP], n;
};

static uint32_t plain_pop(struct plain *p)
{
	uint32_t first = p->at[0];

	memmove(p->at, p->at + 1, --p->n * sizeof(p->at[0]));
	return first;
}

/* Adds a cell that is a packet of its own. The cell arrives in cycle `id`,
 * which identifies the cell. */
static void push(struct bench *b, struct plain *p, uint32_t q, uint32_t id)
{
	struct cell_channel *ep = &b->xb->ep[IN];
	struct ecell c = { .flits = 1, .flags = ECELL_SOP | ECELL_EOP };
	uint32_t slot;

	cell_channel_put(ep, &c, q % EX_VCS, id);
	slot = cell_channel_take(ep, id);
	ep->slot[slot].vc_out = (uint8_t)(q % EX_VCS);
	extoll_xbar_queue_push(b->xb, IN, q / EX_VCS, slot);
	p->at[p->n++] = id;
}

static void pop(struct bench *b, struct plain *p, uint32_t q, uint32_t id)
{
	struct cell_channel *ep = &b->xb->ep[IN];
	uint32_t slot = b->xb->in[IN].head[q];

	assert_int_equal(ep->slot[slot].cycle, plain_pop(p));
	extoll_xbar_queue_pop(b->xb, IN, q / EX_VCS, IN * EX_VCS + q % EX_VCS);
	cell_channel_release(ep, slot, id);
}

/* Compares heads, requests and emptiness of all 36 queues. */
static void same(const struct bench *b, const struct plain *p)
{
	const struct extoll_xbar_in *in = &b->xb->in[IN];

	for (uint32_t q = 0; q < EXTOLL_XBAR_QUEUES; q++) {
		uint64_t want = b->xb->out[q / EX_VCS].want[q % EX_VCS] >>
					(IN * EX_VCS + q % EX_VCS) &
				1;

		assert_int_equal(in->head[q] != EXTOLL_XBAR_NONE, p[q].n > 0);
		assert_int_equal(want, p[q].n > 0);
		if (p[q].n)
			assert_int_equal(b->xb->ep[IN].slot[in->head[q]].cycle,
					 p[q].at[0]);
	}
}

static void test_queue_memory_acts_like_36_separate_fifos(void **state)
{
	struct plain p[EXTOLL_XBAR_QUEUES] = { { .n = 0 } };
	uint32_t held = 0, full = 0, id = 0;
	struct bench b;
	struct weft_rng r;

	bench_new(&b, "w32");
	bench_start(&b);
	weft_rng_seed(&r, 1, "queues");
	for (uint32_t k = 0; k < 200000; k++) {
		uint32_t q = (uint32_t)weft_rng_below(&r, EXTOLL_XBAR_QUEUES);
		/* long queues for a time, then many short ones */
		bool in = weft_rng_below(&r, 100) < (k / 500 % 2 ? 60 : 40);

		q = k / 2000 % 2 ? q % 3 * 7 : q;
		if (in && held < DEEP) {
			push(&b, &p[q], q, id++);
			held++;
		} else if (!in && p[q].n) {
			pop(&b, &p[q], q, id);
			held--;
		}
		full += held == DEEP;
		if (k % 16 == 0)
			same(&b, p);
	}
	assert_true(full > 1000 && id > 20 * DEEP);
	bench_free(&b);
}

/* ---- T-31: shift-in ---- */

/* Sends the shortest cells at the highest rate, 4 cycles apart. */
static void shift_in(const char *width, uint32_t flits, uint32_t gap,
		     uint32_t inner, uint32_t link)
{
	struct bench b;

	bench_new(&b, width);
	for (uint32_t i = 0; i < EX_PORTS; i++) {
		bench_flow(&b, i, (i + 1) % EX_PORTS, 0, 1)->flits =
			(uint8_t)flits;
		bench_flow(&b, i, (i + 2) % EX_PORTS, 2, 2)->flits =
			(uint8_t)flits;
	}
	bench_start(&b);
	bench_run(&b, 20000);
	for (uint32_t i = 0; i < EX_PORTS; i++) {
		assert_true(b.xb->in[i].spacing >= gap);
		assert_int_equal(b.xb->in[i].spacing, i < 3 ? inner : link);
	}
	bench_free(&b);
}

static void test_shift_in(void **state)
{
	/* Without the gap of 4 cycles a cell would take 1 + 2 cycles with 32
	 * bit. With 16 bit a cell takes 6 cycles, because of its framing. */
	shift_in("w32", 1, 4, 4, 4);
	shift_in("w16", 1, 4, 4, 6);
	shift_in("w32", 3, 4, 4, 5);
	shift_in("w32", 16, 4, 16, 18);
	shift_in("w16", 32, 4, 32, 37);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arbiter_all),
		cmocka_unit_test(test_arbiter_random),
		cmocka_unit_test(test_arbiter_fair),
		cmocka_unit_test(test_queue_memory_acts_like_36_separate_fifos),
		cmocka_unit_test(test_shift_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
