/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of functions that host programs share (src/programs/program.c). Payload
 * is filled with a pattern. Every qword of a run must differ from all others,
 * because else the check of received payload could not fail. */
#include <stdlib.h>
#include <string.h>

#include "../cmocka_all.h"
#include "measure/result.h"
#include "programs/endpoint_program.h"
#include "programs/program.h"

static int cmp(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void every_qword_of_the_pattern_is_unique(void **state)
{
	enum { N = 8 * 8 * 64 * 64 };
	uint64_t *all = calloc(N, sizeof(*all)), *p = all;

	for (uint32_t s = 0; s < 8; s++)
		for (uint32_t d = 0; d < 8; d++)
			for (uint64_t seq = 0; seq < 64; seq++, p += 64)
				program_fill(p, 64, program_base(s, d, seq));
	qsort(all, N, sizeof(*all), cmp);
	for (size_t i = 1; i < N; i++)
		assert_true(all[i] != all[i - 1]);
	free(all);
}

static void flipped_bit_is_found_in_its_qword(void **state)
{
	uint64_t q[64];
	uint64_t base = program_base(1, 2, 3);

	program_fill(q, 64, base);
	assert_int_equal(program_check(q, 0, 64, base), -1);
	for (uint32_t bit = 0; bit < 64 * 64; bit++) {
		q[bit / 64] ^= 1ull << bit % 64;
		assert_int_equal(program_check(q, 0, 64, base), bit / 64);
		q[bit / 64] ^= 1ull << bit % 64;
	}
	q[0] = 0;
	assert_int_equal(program_check(q, 1, 64, base), -1);
	assert_int_not_equal(program_check(q, 1, 64, program_base(1, 2, 4)),
			     -1);
	assert_int_not_equal(program_check(q, 1, 64, program_base(2, 1, 3)),
			     -1);
}

static void wrong_byte_is_found_at_its_place(void **state)
{
	uint64_t base = program_base(0, 1, 0);
	uint8_t buf[100], more[101];

	for (size_t len = 0; len <= 100; len++) {
		memset(more, 0xCC, sizeof(more));
		epw_fill(more, len, base);
		assert_int_equal(more[len], 0xCC);
		assert_int_equal(epw_check(more, len, base), -1);
	}
	epw_fill(buf, 100, base);
	for (int64_t i = 0; i < 100; i++) {
		buf[i] ^= 0x40;
		assert_int_equal(epw_check(buf, 100, base), i);
		buf[i] ^= 0x40;
	}
	program_fill(more, 8, base); /* the same bytes */
	assert_memory_equal(buf, more, 64);
}

static void sizes_are_drawn_evenly_from_their_range(void **state)
{
	uint32_t n[4] = { 0 };

	assert_int_equal(program_qwords(0, 1, 7, 5, 5), 5);
	for (uint64_t s = 0; s < 4000; s++) {
		uint32_t q = program_qwords(0, 1, s, 3, 6);

		assert_in_range(q, 3, 6);
		n[q - 3]++;
	}
	for (int i = 0; i < 4; i++)
		assert_in_range(n[i], 850, 1150);
}

/* ---- lists of nodes: accepted words, and failures for wrong lists ---- */

static const struct weft_class none = { .name = "none" };

static int nodes(const char *text, uint32_t *out)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_comp *c = calloc(1, sizeof(*c));
	struct program w = { .c = c, .me = 2, .n = 8 };
	int n;

	c->sim = sim;
	c->cls = &none;
	c->name = "p";
	n = program_nodes(&w, text, out, 16);
	assert_int_equal(weft_sim_result(sim)->n_failures, n < 0);
	free(c);
	weft_sim_free(sim);
	return n;
}

static void lists_and_words_name_nodes(void **state)
{
	uint32_t v[16];

	assert_int_equal(nodes("3", v), 1);
	assert_int_equal(v[0], 3);
	assert_int_equal(nodes("0,5..7,2", v), 5);
	assert_int_equal(v[1], 5);
	assert_int_equal(v[4], 2);
	assert_int_equal(nodes("all", v), 8);
	assert_int_equal(nodes("others", v), 7);
	assert_int_equal(v[2], 3);
	assert_int_equal(nodes("self", v), 1);
	assert_int_equal(v[0], 2);
	assert_int_equal(nodes("next", v), 1);
	assert_int_equal(v[0], 3);
	assert_int_equal(nodes("none", v), 0);
}

static void wrong_list_of_nodes_is_refused(void **state)
{
	static const char *const bad[] = { "",	    "8",	  "x",
					   "3..",   "5..2",	  "1,,2",
					   "-1",    "0..9",	  "1,x",
					   "alles", "0..7,0..7,0" };
	uint32_t v[16];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(nodes(bad[i], v), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_qword_of_the_pattern_is_unique),
		cmocka_unit_test(flipped_bit_is_found_in_its_qword),
		cmocka_unit_test(wrong_byte_is_found_at_its_place),
		cmocka_unit_test(sizes_are_drawn_evenly_from_their_range),
		cmocka_unit_test(lists_and_words_name_nodes),
		cmocka_unit_test(wrong_list_of_nodes_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
