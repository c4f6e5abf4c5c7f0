/* SPDX-License-Identifier: Apache-2.0 */
/* Outages: once, for ever, at regular intervals, at random, and refused
 * settings. */
#include "../cmocka_all.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "sim/fault_schedule.h"

static struct weft_comp comp = { .name = "f" };

static void open_outage(struct outage *o, uint32_t seed)
{
	struct weft_err err = { 0 };

	weft_rng_seed(&comp.rng, seed, "f");
	comp.state = o;
	assert_int_equal(outage_init(&comp, &err), 0);
}

static void close_outage(struct outage *o)
{
	comp.state = o;
	outage_fini(&comp);
}

static void assert_span(const struct outage_span *s, weft_time_t from,
			weft_time_t to)
{
	assert_non_null(s);
	assert_true(s->from == from);
	assert_true(s->to == to);
}

static void outage_without_a_length_lasts_for_good(void **state)
{
	struct outage once = { .at = 5 * WEFT_US, .length = WEFT_US };
	struct outage good = { .at = 5 * WEFT_US };
	uint32_t i = 0;

	open_outage(&once, 1);
	assert_span(outage_get(&once, 0), 5 * WEFT_US, 6 * WEFT_US);
	assert_null(outage_get(&once, 1));
	assert_non_null(outage_after(&once, &i, 6 * WEFT_US - 1));
	assert_int_equal(i, 0);
	assert_null(outage_after(&once, &i, 6 * WEFT_US));
	open_outage(&good, 1);
	assert_span(outage_get(&good, 0), 5 * WEFT_US, WEFT_NEVER);
	assert_null(outage_get(&good, 1));
	close_outage(&once);
	close_outage(&good);
}

static void regular_outages_repeat_at_their_interval(void **state)
{
	struct outage o = { .at = 5 * WEFT_US,
			    .length = WEFT_US,
			    .every = 10 * WEFT_US };
	uint32_t i = 0;

	open_outage(&o, 1);
	for (uint32_t k = 0; k < 20; k++)
		assert_span(outage_get(&o, k), (5 + 10 * k) * WEFT_US,
			    (6 + 10 * k) * WEFT_US);
	assert_span(outage_after(&o, &i, 47 * WEFT_US), 55 * WEFT_US,
		    56 * WEFT_US);
	assert_int_equal(i, 5);
	close_outage(&o);
}

static void last_outage_ends_with_time(void **state)
{
	struct outage o = { .at = WEFT_NEVER - 25, .length = 10, .every = 20 };

	open_outage(&o, 1);
	assert_span(outage_get(&o, 0), WEFT_NEVER - 25, WEFT_NEVER - 15);
	assert_span(outage_get(&o, 1), WEFT_NEVER - 5, WEFT_NEVER);
	assert_null(outage_get(&o, 2));
	close_outage(&o);
}

/* Checks an exponential distribution: the mean of N values is within 6 /
 * sqrt(N) of the expected mean. */
static void assert_mean(double sum, uint32_t n, double mean)
{
	assert_true(fabs(sum / n - mean) < 6 * mean / sqrt(n));
}

static void random_outages_have_their_mean_lengths(void **state)
{
	enum { N = 4000 };
	double length = 0, gap = 0, first = 0;

	for (uint32_t seed = 0; seed < N; seed++) {
		struct outage o = { .at = 5 * WEFT_US,
				    .length = WEFT_US,
				    .every = 10 * WEFT_US,
				    .random = true };
		struct outage_span a, b;

		open_outage(&o, seed);
		a = *outage_get(&o, 0);
		b = *outage_get(&o, 1);
		assert_true(a.from > 5 * WEFT_US && a.to > a.from &&
			    b.from > a.to && b.to > b.from);
		first += (double)(a.from - 5 * WEFT_US);
		length += (double)(a.to - a.from);
		gap += (double)(b.from - a.to);
		close_outage(&o);
	}
	assert_mean(first, N, 9.0 * WEFT_US);
	assert_mean(length, N, 1.0 * WEFT_US);
	assert_mean(gap, N, 9.0 * WEFT_US);
}

static void impossible_outage_is_refused(void **state)
{
	static const char *const every =
		"f: `every` must be longer than `length`, which must not be 0";
	const struct {
		struct outage o;
		const char *why;
	} t[] = {
		{ { .every = 10 }, every },
		{ { .every = 10, .length = 10 }, every },
		{ { .length = 10, .random = true },
		  "f: `random` needs `every`" },
		{ { .every = 10, .length = 9, .random = true }, NULL },
	};

	for (uint32_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct outage o = t[i].o;
		struct weft_err err = { 0 };

		comp.state = &o;
		assert_int_equal(outage_init(&comp, &err) != 0,
				 t[i].why != NULL);
		if (t[i].why)
			assert_string_equal(err.msg, t[i].why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outage_without_a_length_lasts_for_good),
		cmocka_unit_test(regular_outages_repeat_at_their_interval),
		cmocka_unit_test(last_outage_ends_with_time),
		cmocka_unit_test(random_outages_have_their_mean_lengths),
		cmocka_unit_test(impossible_outage_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
