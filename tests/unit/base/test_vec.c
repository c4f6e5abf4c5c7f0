/* SPDX-License-Identifier: Apache-2.0 */
#include "../cmocka_all.h"
#include "base/vec.h"

struct pair {
	int a, b;
};

static void vector_keeps_what_is_pushed_in_order(void **state)
{
	struct {
		VEC(int);
	} v = { 0 };
	int want = 0;

	vec_foreach (&v, int, it)
		fail();
	for (int i = 0; i < 1000; i++)
		vec_push(&v, i);
	assert_int_equal(v.n, 1000);
	vec_foreach (&v, int, it)
		assert_int_equal(*it, want++);
	assert_int_equal(want, 1000);
	assert_int_equal(vec_last(&v), 999);
	assert_int_equal(vec_pop(&v), 999);
	assert_int_equal(v.n, 999);
	vec_clear(&v);
	assert_int_equal(v.n, 0);
	vec_free(&v);
	assert_null(v.at);
	assert_int_equal(v.cap, 0);
}

static void vector_holds_structs(void **state)
{
	struct {
		VEC(struct pair);
	} v = { 0 };

	vec_push(&v, (struct pair){ 1, 2 });
	vec_push(&v, (struct pair){ 3, 4 });
	assert_int_equal(v.at[0].b, 2);
	assert_int_equal(v.at[1].a, 3);
	vec_free(&v);
}

static void insert_moves_later_elements_up(void **state)
{
	struct {
		VEC(int);
	} v = { 0 };

	vec_insert(&v, 0, 5);
	vec_insert(&v, 0, 1);
	vec_insert(&v, 1, 3);
	vec_insert(&v, 3, 7);
	for (int i = 0; i < 4; i++)
		assert_int_equal(v.at[i], 2 * i + 1);
	for (int i = 0; i < 100; i++)
		vec_insert(&v, 0, -i);
	assert_int_equal(v.n, 104);
	assert_int_equal(v.at[0], -99);
	assert_int_equal(v.at[103], 7);
	/* the index is evaluated once, before the insert */
	vec_insert(&v, v.n, 8);
	assert_int_equal(v.n, 105);
	assert_int_equal(v.at[104], 8);
	vec_free(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vector_keeps_what_is_pushed_in_order),
		cmocka_unit_test(vector_holds_structs),
		cmocka_unit_test(insert_moves_later_elements_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
