/* SPDX-License-Identifier: Apache-2.0 */
#include "../cmocka_all.h"
#include "base/rng.c"

/* Outputs of the authors' C code for the state 1, 2, 3, 4. */
static void xoshiro_gives_the_outputs_of_its_authors(void **state)
{
	static const uint64_t want[] = {
		11520u,
		0u,
		1509978240u,
		1215971899390074240u,
		1216172134540287360u,
		607988272756665600u,
		16172922978634559625u,
		8476171486693032832u,
		10595114339597558777u,
		2904607092377533576u,
	};
	struct weft_rng r = { { 1, 2, 3, 4 } };

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_true(weft_rng_u64(&r) == want[i]);
}

static void splitmix_gives_the_known_outputs(void **state)
{
	uint64_t x = 0;

	assert_true(rng_splitmix(&x) == 0xE220A8397B1DCDAFu);
	assert_true(rng_splitmix(&x) == 0x6E789E6AA1B965F4u);
	assert_true(rng_splitmix(&x) == 0x06C45D188009454Fu);
}

/* FNV-1a test vectors from the hash's home page. */
static void hash_gives_the_published_values(void **state)
{
	assert_true(rng_hash("") == 0xCBF29CE484222325u);
	assert_true(rng_hash("a") == 0xAF63DC4C8601EC8Cu);
	assert_true(rng_hash("foobar") == 0x85944171F73967E8u);
	assert_true(rng_hash(NULL) == rng_hash(""));
}

static void streams_differ_by_seed_and_name(void **state)
{
	struct weft_rng a, b, c, d;

	weft_rng_seed(&a, 1, "n0.nic");
	weft_rng_seed(&b, 1, "n1.nic");
	weft_rng_seed(&c, 2, "n0.nic");
	weft_rng_seed(&d, 1, "n0.nic");
	assert_memory_equal(&a, &d, sizeof(a));
	assert_memory_not_equal(&a, &b, sizeof(a));
	assert_memory_not_equal(&a, &c, sizeof(a));
	for (int i = 0; i < 100; i++) {
		uint64_t v = weft_rng_u64(&a);

		assert_true(v == weft_rng_u64(&d));
		assert_true(v != weft_rng_u64(&b));
		assert_true(v != weft_rng_u64(&c));
	}
}

/* Each of 7 values occurs as often as expected, within 6 standard
 * deviations. */
static void numbers_below_seven_are_uniform(void **state)
{
	enum { N = 7, DRAWS = 700000 };
	uint32_t hit[N] = { 0 };
	struct weft_rng r;

	weft_rng_seed(&r, 5, "dice");
	for (int i = 0; i < DRAWS; i++) {
		uint64_t v = weft_rng_below(&r, N);

		assert_true(v < N);
		hit[v]++;
	}
	for (int i = 0; i < N; i++)
		assert_in_range(hit[i], 100000 - 1800, 100000 + 1800);
}

/* n is just above 2^63. Without rejection every second value below n/2 would be
 * twice as likely, which would change the mean. */
static void numbers_below_a_large_bound_are_uniform(void **state)
{
	const uint64_t n = (UINT64_C(1) << 63) + 1;
	struct weft_rng r;
	uint32_t low = 0;

	weft_rng_seed(&r, 5, "large");
	for (int i = 0; i < 100000; i++) {
		uint64_t v = weft_rng_below(&r, n);

		assert_true(v < n);
		low += v < n / 2;
	}
	assert_in_range(low, 50000 - 950, 50000 + 950);
	for (int i = 0; i < 100; i++)
		assert_int_equal(weft_rng_below(&r, 1), 0);
}

/* A power of two divides the range, so that nothing is rejected and a value
 * consists of the generator's highest bits. */
static void power_of_two_takes_the_highest_bits(void **state)
{
	struct weft_rng r, s;

	weft_rng_seed(&r, 5, "power");
	s = r;
	for (uint32_t i = 0; i < 640; i++)
		assert_true(weft_rng_below(&r, UINT64_C(1) << (1 + i % 63)) ==
			    weft_rng_u64(&s) >> (63 - i % 63));
}

static void reals_are_uniform_from_0_to_1(void **state)
{
	struct weft_rng r;
	double sum = 0;

	weft_rng_seed(&r, 9, "real");
	for (int i = 0; i < 100000; i++) {
		double v = weft_rng_real(&r);

		assert_true(v >= 0 && v < 1);
		sum += v;
	}
	assert_true(sum > 50000 - 550 && sum < 50000 + 550);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(xoshiro_gives_the_outputs_of_its_authors),
		cmocka_unit_test(splitmix_gives_the_known_outputs),
		cmocka_unit_test(hash_gives_the_published_values),
		cmocka_unit_test(streams_differ_by_seed_and_name),
		cmocka_unit_test(numbers_below_seven_are_uniform),
		cmocka_unit_test(numbers_below_a_large_bound_are_uniform),
		cmocka_unit_test(power_of_two_takes_the_highest_bits),
		cmocka_unit_test(reals_are_uniform_from_0_to_1),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
