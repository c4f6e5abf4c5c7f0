/* SPDX-License-Identifier: Apache-2.0 */
/* Collective operations: the values that each node has at the end, and the time
 * of the operation if each packet takes a fixed time and no packet delays
 * another. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../cmocka_all.h"
#include "net/collective.h"

enum { MOST = 33 };

/* Sends each packet as soon as all packets for which it waits have arrived, in
 * steps of one cycle. knows[i] has a bit for each node whose value has reached
 * node i. Returns the time of the last arrival. */
static uint64_t carry(const struct trace *t, uint32_t latency, uint64_t *knows)
{
	uint64_t *arrives = calloc(t->n, sizeof(*arrives)), last = 0;
	uint64_t *brings = calloc(t->n, sizeof(*brings));
	uint32_t *waits = calloc(t->n, sizeof(*waits)), left = t->n;

	for (uint32_t i = 0; i < t->nodes; i++)
		knows[i] = 1ull << i;
	for (uint32_t i = 0; i < t->n; i++)
		waits[i] = t->pkt[i].wait;
	for (uint64_t now = 0; left && now < 100000; now++) {
		for (uint32_t i = 0; i < t->n; i++)
			if (!arrives[i] && !waits[i]) {
				arrives[i] = now + latency;
				brings[i] = knows[t->pkt[i].src];
			}
		for (uint32_t i = 0; i < t->n; i++) {
			if (arrives[i] != now + 1)
				continue;
			knows[t->pkt[i].dst] |= brings[i];
			last = now + 1;
			left--;
			for (uint32_t k = 0; k < t->pkt[i].n; k++)
				waits[t->next[t->pkt[i].first + k]]--;
		}
	}
	assert_int_equal(left, 0);
	free(arrives);
	free(brings);
	free(waits);
	return last;
}

static uint32_t log_up(uint32_t n)
{
	uint32_t k = 0;

	while (1u << k < n)
		k++;
	return k;
}

static void values_reach_all_nodes_in_the_time_of_the_formula(void **st)
{
	uint64_t knows[MOST];
	struct weft_err err = { 0 };

	for (uint32_t n = 2; n < MOST; n++)
		for (int kind = 1; kind <= COLLECTIVE_BARRIER; kind++) {
			uint64_t all = n == 64 ? ~0ull : (1ull << n) - 1;
			uint32_t steps = kind == COLLECTIVE_ALL_TO_ALL ? n - 1
					 : kind == COLLECTIVE_RING ? 2 * (n - 1)
								   : log_up(n);
			struct trace *t;

			if (kind == COLLECTIVE_DOUBLING && n & (n - 1))
				continue;
			t = collective_make(kind, n, 8, &err);
			assert_non_null(t);
			assert_int_equal(t->steps, steps);
			/* a broadcast takes the time of its longest chain of
			 * packets */
			for (uint32_t i = steps = 0, bits;
			     kind == COLLECTIVE_BROADCAST && i < n; i++) {
				bits = (uint32_t)__builtin_popcount(i);
				steps = bits > steps ? bits : steps;
			}
			assert_int_equal(carry(t, 10, knows),
					 10 * (kind == COLLECTIVE_BROADCAST
						       ? steps
						       : t->steps));
			for (uint32_t i = 0; i < n; i++)
				if (kind == COLLECTIVE_BROADCAST)
					assert_true(knows[i] & 1);
				else
					assert_int_equal(knows[i], all);
			trace_free(t);
		}
}

static void all_to_all_has_each_pair_once(void **st)
{
	struct weft_err err = { 0 };
	struct trace *t = collective_make(COLLECTIVE_ALL_TO_ALL, 7, 1, &err);
	uint32_t seen[7][7] = { 0 };

	for (uint32_t i = 0; i < t->n; i++)
		seen[t->pkt[i].src][t->pkt[i].dst]++;
	for (uint32_t a = 0; a < 7; a++)
		for (uint32_t b = 0; b < 7; b++)
			assert_int_equal(seen[a][b], a != b);
	trace_free(t);
}

static void operation_that_does_not_fit_says_what_would_do(void **st)
{
	static const struct {
		enum collective_kind kind;
		uint32_t nodes;
		const char *why;
	} rows[] = {
		{ COLLECTIVE_DOUBLING, 12, "or use ring" },
		{ COLLECTIVE_BARRIER, 1, "two nodes" },
		{ COLLECTIVE_RING, 4096, "fewer nodes" },
		{ COLLECTIVE_ALL_TO_ALL, 1 << 20, "fewer nodes" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct weft_err err = { 0 };

		assert_null(
			collective_make(rows[i].kind, rows[i].nodes, 1, &err));
		assert_non_null(strstr(err.msg, rows[i].why));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			values_reach_all_nodes_in_the_time_of_the_formula),
		cmocka_unit_test(all_to_all_has_each_pair_once),
		cmocka_unit_test(
			operation_that_does_not_fit_says_what_would_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
