/* SPDX-License-Identifier: Apache-2.0 */
/* Tests calls of ranks: order, sums, the measured interval. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/calls.h"

static void add(struct calls *c, uint32_t rank, const char *name, uint64_t n,
		uint64_t time, uint64_t max)
{
	calls_row_add(c, &(struct calls_row){ rank, (char *)name, n, 10 * n,
					      time, max });
}

static void calls_are_summed_by_name_longest_first(void **state)
{
	struct calls c = { 0 }, sum = { 0 };

	add(&c, 1, "Send", 3, 30, 12);
	add(&c, 0, "Recv", 1, 100, 100);
	add(&c, 0, "Send", 2, 20, 15);
	add(&c, 2, "Barrier", 1, 100, 100);
	calls_sort(&c);
	assert_int_equal(c.rows[0].rank, 0);
	assert_string_equal(c.rows[0].name, "Recv");
	assert_string_equal(c.rows[1].name, "Send");
	assert_int_equal(c.rows[3].rank, 2);
	calls_sum(&c, &sum);
	assert_int_equal(sum.n_rows, 3);
	/* most time first, then by name */
	assert_string_equal(sum.rows[0].name, "Barrier");
	assert_string_equal(sum.rows[1].name, "Recv");
	assert_string_equal(sum.rows[2].name, "Send");
	assert_int_equal(sum.rows[2].calls, 5);
	assert_int_equal(sum.rows[2].bytes, 50);
	assert_int_equal(sum.rows[2].time, 50);
	assert_int_equal(sum.rows[2].max, 15);
	calls_free(&c);
	calls_free(&sum);
	assert_int_equal(c.n_rows, 0);
}

static void measured_part_lasts_to_the_last_rank(void **state)
{
	struct calls c = { 0 };

	assert_int_equal(calls_measured(&c), 0);
	calls_rank_add(&c, &(struct calls_rank){ 0, 0, 0, 0 });
	/* no call has reported a measurement */
	assert_int_equal(calls_measured(&c), 0);
	calls_rank_add(&c, &(struct calls_rank){ 1, 4, 1000, 1700 });
	calls_rank_add(&c, &(struct calls_rank){ 2, 5, 1000, 1900 });
	calls_rank_add(&c, &(struct calls_rank){ 3, 6, 1000, 1800 });
	assert_int_equal(calls_measured(&c), 900);
	calls_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_summed_by_name_longest_first),
		cmocka_unit_test(measured_part_lasts_to_the_last_rank),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
