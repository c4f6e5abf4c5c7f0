/* SPDX-License-Identifier: Apache-2.0 */
/* Conformance of every class of components.c: its tables of parameters, ports,
 * counters and registers must be complete and consistent. The test covers all
 * classes of the list, so that a new class is tested without an edit. */
#include "cmocka_all.h"

#include <string.h>

#include "base/units.h"
#include "components.h"
#include "weft/sim.h"

#define FOR_CLASSES(c)                                                         \
	for (const struct weft_class *const *c##_p = weft_classes, *c;         \
	     (c = *c##_p); c##_p++)

static bool named(const char *text)
{
	return text && *text;
}

static void every_class_has_names_and_docs(void **state)
{
	FOR_CLASSES(c)
	{
		assert_true(named(c->name) && named(c->doc));
		assert_int_equal(c->api_version, WEFT_API_VERSION);
		for (const struct weft_class *const *d = weft_classes; *d != c;
		     d++)
			assert_string_not_equal((*d)->name, c->name);
		for (const struct weft_param *p = c->params; p && p->name; p++)
			assert_true(named(p->doc));
		for (uint32_t i = 0; i < c->n_counters; i++)
			assert_true(named(c->counters[i].name) &&
				    named(c->counters[i].unit) &&
				    named(c->counters[i].doc));
		for (const struct weft_port_decl *p = c->ports; p && p->name;
		     p++)
			assert_true(named(p->doc));
		for (const struct weft_reg *r = c->regs; r && r->name; r++)
			if (!named(r->doc))
				fail_msg("%s.%s: no doc", c->name, r->name);
	}
}

static void parameters_print_and_read_back(void **state)
{
	FOR_CLASSES(c)
	{
		struct weft_sim *sim = weft_sim_new(1);
		struct weft_err err = { 0 };
		struct weft_comp *x = weft_sim_add(sim, c, "x", &err);
		char a[256], b[256];

		if (!x)
			fail_msg("%s: %s", c->name, err.msg);
		for (const struct weft_param *p = c->params; p && p->name;
		     p++) {
			weft_param_get(x, p->name, a, sizeof(a));
			if (weft_param_set(x, p->name, a, &err))
				fail_msg("%s.%s: %s", c->name, p->name,
					 err.msg);
			weft_param_get(x, p->name, b, sizeof(b));
			assert_string_equal(a, b);
		}
		weft_sim_free(sim);
	}
}

static void every_preset_applies_and_starts(void **state)
{
	FOR_CLASSES(c)
	{
		for (const struct weft_preset *p = c->presets; p && p->name;
		     p++) {
			struct weft_sim *sim = weft_sim_new(1);
			struct weft_err err = { 0 };
			struct weft_comp *x = weft_sim_add(sim, c, "x", &err);

			assert_true(named(p->doc));
			if (weft_preset_apply(x, p->name, &err) ||
			    weft_comp_init(x, &err))
				fail_msg("%s, preset %s: %s", c->name, p->name,
					 err.msg);
			weft_sim_free(sim);
		}
	}
}

/* Returns the parameter without which a class has no function, or NULL. */
static const char *needed(const struct weft_class *c)
{
	return strcmp(c->name, "host.main") ? NULL : "file";
}

static void every_class_starts_with_its_defaults(void **state)
{
	FOR_CLASSES(c)
	{
		struct weft_sim *sim = weft_sim_new(1);
		struct weft_err err = { 0 };
		struct weft_comp *x = weft_sim_add(sim, c, "x", &err);
		int ret = weft_comp_init(x, &err);

		if (needed(c))
			assert_true(ret && strstr(err.msg, needed(c)));
		else if (ret)
			fail_msg("%s: %s", c->name, err.msg);
		weft_sim_free(sim);
	}
}

/* A class that cannot be built must still be freed cleanly, because a value out
 * of range may leave it in any state. */
static void value_out_of_reason_is_refused(void **state)
{
	static const char *const bad[] = {
		"", "-1", "x", "1e99", "99999999999999999999", "0x"
	};

	FOR_CLASSES(c)
	{
		struct weft_sim *sim = weft_sim_new(1);
		struct weft_comp *x = weft_sim_add(sim, c, "x", NULL);

		for (const struct weft_param *p = c->params; p && p->name;
		     p++) {
			struct weft_err err = { 0 };

			/* any text is a valid string, and 1e99 is a valid real
			 * number */
			if (p->type == WEFT_P_STR || p->type == WEFT_P_REAL)
				continue;
			for (size_t i = 0; i < sizeof(bad) / sizeof(*bad);
			     i++) {
				err.code = 0;
				if (!weft_param_set(x, p->name, bad[i], &err))
					fail_msg("%s.%s takes '%s'", c->name,
						 p->name, bad[i]);
				assert_true(named(err.msg));
			}
		}
		weft_sim_free(sim);
	}
}

/* Checks that each register has the width of an access, and an offset that is a
 * multiple of its width. */
static void registers_have_widths_of_accesses(void **state)
{
	FOR_CLASSES(c)
	{
		for (const struct weft_reg *r = c->regs; r && r->name; r++)
			if (!r->width || r->width > 8 ||
			    r->width & (r->width - 1) || r->offset % r->width ||
			    (r->count > 1 && r->stride < r->width))
				fail_msg("%s.%s: width %u at %llx", c->name,
					 r->name, r->width,
					 (unsigned long long)r->offset);
	}
}

/* Checks registers without hooks. A store does not change bits that the table
 * calls reserved. */
static void reserved_bits_stay_put(void **state)
{
	FOR_CLASSES(c)
	{
		struct weft_sim *sim = weft_sim_new(1);
		struct weft_err err = { 0 };
		struct weft_comp *x = weft_sim_add(sim, c, "x", &err);

		weft_comp_init(x, &err);
		for (const struct weft_reg *r = c->regs; r && r->name; r++) {
			uint64_t old, v;

			if (r->wrote || r->read)
				continue;
			old = weft_reg_load(x, r->space, r->offset, r->width);
			weft_reg_store(x, r->space, r->offset, r->width,
				       UINT64_MAX);
			v = weft_reg_load(x, r->space, r->offset, r->width) ^
			    old;
			if (v & ~(r->rw | r->w1c))
				fail_msg("%s.%s: bits %llx moved", c->name,
					 r->name, (unsigned long long)v);
		}
		weft_sim_free(sim);
	}
}

/* Checks the tables: no bit of a register that is read only or set by hardware
 * may be writable, even if a hook handles the register. */
static void access_and_bits_of_registers_agree(void **state)
{
	FOR_CLASSES(c)
	{
		for (const struct weft_reg *r = c->regs; r && r->name; r++) {
			bool fixed =
				r->access == WEFT_RO || r->access == WEFT_HW;

			if (r->bare) /* the register has no cell */
				continue;
			if ((fixed && (r->rw || r->w1c)) ||
			    (r->access == WEFT_RW && r->w1c) || r->rw & r->w1c)
				fail_msg("%s.%s: other access than its bits",
					 c->name, r->name);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_class_has_names_and_docs),
		cmocka_unit_test(parameters_print_and_read_back),
		cmocka_unit_test(every_preset_applies_and_starts),
		cmocka_unit_test(every_class_starts_with_its_defaults),
		cmocka_unit_test(value_out_of_reason_is_refused),
		cmocka_unit_test(registers_have_widths_of_accesses),
		cmocka_unit_test(reserved_bits_stay_put),
		cmocka_unit_test(access_and_bits_of_registers_agree),
	};

	return cmocka_run_group_tests_name("classes", tests, NULL, NULL);
}
