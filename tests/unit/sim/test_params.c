/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters by table: defaults, units, ranges, presets, messages. */
#include "../cmocka_all.h"

#include <string.h>

#include "weft/sim.h"

struct sw {
	uint32_t ports, frame;
	uint64_t xp_bytes;
	weft_time_t t;
	struct weft_clock clock;
	bool on;
	char label[8];
};

static const struct weft_param params[] = {
	WEFT_PARAM(U32, struct sw, ports, "8", "2..64", STATED, "ports"),
	WEFT_PARAM(ENUM, struct sw, frame, "word", "word|packed", OWN, "f"),
	WEFT_PARAM(BYTES, struct sw, xp_bytes, "2KiB", "64..", STATED, "x"),
	WEFT_PARAM(TIME, struct sw, t, "12.8ns", "", DERIVED, "t"),
	WEFT_PARAM(CLOCK, struct sw, clock, "78.125MHz", "", STATED, "c"),
	WEFT_PARAM(BOOL, struct sw, on, "no", "", OWN, "b"),
	WEFT_PARAM(STR, struct sw, label, "", "", OWN, "s"),
	{ 0 }
};
static const struct weft_preset presets[] = {
	{ "small", "ports=4 xp_bytes=512 frame=packed", "a small one" }, { 0 }
};

static WEFT_COMPONENT(sw, .name = "test.sw", .kind = WEFT_KIND_SWITCH,
		      .doc = "switch", .state_size = sizeof(struct sw),
		      .params = params, .presets = presets);

static void expect_refusal(const char *name, const char *value,
			   const char *text)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_err err = { 0 };
	struct weft_comp *c = weft_sim_add(sim, &weft_class_sw, "s", &err);
	struct sw before = *(struct sw *)c->state;

	assert_true(weft_param_set(c, name, value, &err) < 0);
	if (!strstr(err.msg, text))
		fail_msg("'%s' does not say '%s'", err.msg, text);
	assert_memory_equal(&before, c->state, sizeof(before));
	weft_sim_free(sim);
}

static void parameters_have_defaults_units_and_presets(void **state)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_err err = { 0 };
	struct weft_comp *c = weft_sim_add(sim, &weft_class_sw, "s", &err);
	struct sw *s = c->state;
	char buf[32];

	assert_int_equal(s->ports, 8);
	assert_int_equal(s->xp_bytes, 2048);
	assert_int_equal(s->t, 12800000);
	assert_int_equal(weft_clock_edge(&s->clock, 3), 38400000);
	assert_int_equal(weft_param_set(c, "clock", "133.33MHz", &err), 0);
	weft_param_get(c, "clock", buf, sizeof(buf));
	assert_string_equal(buf, "133.33MHz");
	assert_int_equal(weft_preset_apply(c, "small", &err), 0);
	assert_int_equal(s->ports, 4);
	assert_int_equal(s->xp_bytes, 512);
	assert_int_equal(s->frame, 1);
	assert_int_equal(weft_comp_init(c, &err), 0);
	weft_sim_free(sim);
}

static void mistake_in_a_parameter_is_named(void **state)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_err err = { 0 };
	struct weft_comp *c = weft_sim_add(sim, &weft_class_sw, "s", &err);

	expect_refusal("portz", "3", "did you mean 'ports'?");
	expect_refusal("ports", "1", "ports: '1' is below 2");
	expect_refusal("ports", "65", "above 64");
	expect_refusal("ports", "4KiB", "ports: ");
	expect_refusal("t", "12.8", "t: ");
	expect_refusal("frame", "wrod", "word");
	expect_refusal("xp_bytes", "12", "below 64");
	expect_refusal("label", "longer than eight", "label: ");
	assert_true(weft_preset_apply(c, "smal", &err) < 0);
	assert_string_equal(err.msg,
			    "test.sw has no preset 'smal': did you "
			    "mean 'small'?");
	weft_sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_have_defaults_units_and_presets),
		cmocka_unit_test(mistake_in_a_parameter_is_named),
	};

	return cmocka_run_group_tests_name("params", tests, NULL, NULL);
}
