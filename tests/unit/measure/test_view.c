/* SPDX-License-Identifier: Apache-2.0 */
/* Tests ports over time: the view has the recorded values, and no others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "measure/port_activity.h"

static void ports_keep_their_names_and_values(void **state)
{
	struct view v = { 0 };
	char name[16];

	view_intervals(&v, 3);
	for (uint32_t i = 0; i < 100; i++) {
		struct view_port *p;

		snprintf(name, sizeof(name), "s%u", i);
		p = view_port_add(&v, name, "x", "switch", "words", i);
		view_values(&v, p, VIEW_BUSY)[2] = i;
	}
	assert_int_equal(v.n_ports, 100);
	for (uint32_t i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		assert_string_equal(v.ports[i].name, name);
		assert_int_equal(v.ports[i].n, i);
		assert_int_equal(v.ports[i].y[VIEW_BUSY][0], 0);
		assert_int_equal(v.ports[i].y[VIEW_BUSY][2], i);
		assert_null(v.ports[i].y[VIEW_QUEUED]);
	}
	view_fini(&v);
	assert_int_equal(v.n_ports, 0);
}

static void values_stay_when_asked_for_again(void **state)
{
	struct view v = { 0 };
	struct view_port *p;

	view_intervals(&v, 1);
	p = view_port_add(&v, "a", "", "nic", "", 1);
	view_values(&v, p, VIEW_QUEUED)[0] = 7;
	assert_int_equal(view_values(&v, p, VIEW_QUEUED)[0], 7);
	view_fini(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_keep_their_names_and_values),
		cmocka_unit_test(values_stay_when_asked_for_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
