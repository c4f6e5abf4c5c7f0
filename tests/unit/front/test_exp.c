/* SPDX-License-Identifier: Apache-2.0 */
/* Experiments from text: overrides, points, components that are built. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "front/exp/exp.h"

/* A component without behaviour. */
struct box {
	uint32_t node, nodes, size;
};
static const struct weft_param box_params[] = {
	WEFT_PARAM(U32, struct box, node, "0", "", OWN, ""),
	WEFT_PARAM(U32, struct box, nodes, "0", "", OWN, ""),
	WEFT_PARAM(U32, struct box, size, "1", "1..99", OWN, ""),
	{ 0 }
};
static const struct weft_preset box_presets[] = { { "big", "size=90", "" },
						  { 0 } };
static WEFT_COMPONENT(box, .name = "test.box", .kind = WEFT_KIND_TRAFFIC,
		      .state_size = sizeof(struct box), .params = box_params,
		      .presets = box_presets);

struct bench {
	struct registry reg;
	struct exp *e;
	struct exp_case c;
	struct weft_err err;
};

static int load(struct bench *b, const char *text, bool lenient,
		const char *const *sets, size_t n)
{
	struct exp_opts o = { .set = sets,
			      .n_set = n,
			      .n_lenient = lenient ? n : 0 };

	memset(b, 0, sizeof(*b));
	registry_init(&b->reg);
	assert_int_equal(registry_add(&b->reg, &weft_class_box, "t", &b->err),
			 0);
	return exp_load_text("f", text, strlen(text), &o, &b->reg, &b->e,
			     &b->err);
}

static void done(struct bench *b)
{
	exp_free(b->e);
	registry_fini(&b->reg);
}

static struct box *box(struct bench *b, const char *name)
{
	struct weft_comp *c = weft_sim_find(b->c.sim, name);

	assert_non_null(c);
	return c->state;
}

static void opens(struct bench *b, size_t point)
{
	int ret = exp_case_open(b->e, point, &b->c, &b->err);

	assert_string_equal(b->err.msg, "");
	assert_int_equal(ret, 0);
}

#define BOXES                                                                  \
	"traffic: {count: 3, type: test.box, size: 4}\nrun: {until: 1us}\n"

static void counted_components_get_number_and_parameters(void **state)
{
	struct bench b;

	assert_int_equal(load(&b, BOXES, false, NULL, 0), 0);
	opens(&b, 0);
	assert_int_equal(weft_sim_count(b.c.sim), 3);
	assert_int_equal(box(&b, "t2")->node, 2);
	assert_int_equal(box(&b, "t2")->nodes, 3);
	assert_int_equal(box(&b, "t2")->size, 4);
	assert_int_equal(b.c.until, WEFT_US);
	assert_int_equal(b.c.seed, 1);
	assert_true(b.c.carried);
	exp_case_close(&b.c);
	done(&b);
}

/* Later settings override earlier ones: base, preset, mapping, set of the file,
 * point, command line. */
static void later_setting_overrides_earlier_ones(void **state)
{
	static const char text[] =
		"traffic: {count: 2, type: test.box, preset: big}\n"
		"run: {until: 1us}\n"
		"set: {test.box.size: 5}\n"
		"sweep: {t1.size: [6, 7]}\n";
	static const char *const sets[] = { "t0.size=8" };
	struct bench b;

	assert_int_equal(load(&b, text, false, NULL, 0), 0);
	assert_int_equal(b.e->n_points, 2);
	opens(&b, 1);
	assert_string_equal(b.c.point, "t1.size=7");
	assert_int_equal(box(&b, "t0")->size, 5);
	assert_int_equal(box(&b, "t1")->size, 7);
	exp_case_close(&b.c);
	done(&b);
	assert_int_equal(load(&b, text, false, sets, 1), 0);
	opens(&b, 0);
	assert_int_equal(box(&b, "t0")->size, 8);
	assert_int_equal(box(&b, "t1")->size, 6);
	exp_case_close(&b.c);
	done(&b);
}

static void unknown_override_is_skipped_only_when_lenient(void **state)
{
	static const char *const sets[] = { "workload.size=2", "t9.size=3",
					    "traffic.foo=4", "traffic.size=5",
					    "host.pc.poll_period=9ns" };
	static const bool used[] = { false, false, false, true, false };
	struct bench b;

	assert_int_equal(load(&b, BOXES, true, sets, 5), 0);
	opens(&b, 0);
	assert_int_equal(box(&b, "t0")->size, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(exp_set_used(b.e, i), used[i]);
	exp_case_close(&b.c);
	done(&b);
	for (size_t i = 0; i < 5; i++) {
		int ret = load(&b, BOXES, false, &sets[i], 1);

		if (!ret)
			ret = exp_case_open(b.e, 0, &b.c, &b.err);
		assert_int_equal(ret != 0, !used[i]);
		if (!ret)
			exp_case_close(&b.c);
		done(&b);
	}
}

static void sweep_has_a_point_for_each_combination(void **state)
{
	struct bench b;
	char name[32];

	assert_int_equal(load(&b,
			      BOXES "sweep: {t0.size: [1, 2], t1.size: "
				    "[3, 4, 5], seed: [6, 7]}\n",
			      false, NULL, 0),
			 0);
	assert_int_equal(b.e->n_points, 12);
	for (unsigned i = 0; i < 12; i++) {
		opens(&b, i);
		assert_int_equal(box(&b, "t0")->size, 1 + i / 6);
		assert_int_equal(box(&b, "t1")->size, 3 + i / 2 % 3);
		assert_int_equal(b.c.seed, 6 + i % 2);
		snprintf(name, sizeof(name), "t0.size=%u t1.size=%u seed=%u",
			 1 + i / 6, 3 + i / 2 % 3, 6 + i % 2);
		assert_string_equal(b.c.point, name);
		exp_case_close(&b.c);
	}
	done(&b);
}

static void too_many_points(void **state)
{
	struct bench b;

	assert_int_not_equal(
		load(&b,
		     BOXES "sweep:\n"
			   "  a.b: &x [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]\n"
			   "  a.c: *x\n  a.d: *x\n  a.e: *x\n  a.f: *x\n",
		     false, NULL, 0),
		0);
	assert_string_equal(b.err.msg,
			    "f:4: more than 100000 points: "
			    "sweep over less, or in several files");
	done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counted_components_get_number_and_parameters),
		cmocka_unit_test(later_setting_overrides_earlier_ones),
		cmocka_unit_test(unknown_override_is_skipped_only_when_lenient),
		cmocka_unit_test(sweep_has_a_point_for_each_combination),
		cmocka_unit_test(too_many_points),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
