/* SPDX-License-Identifier: Apache-2.0 */
/* Results packed into bytes and unpacked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "front/run/run.h"

static struct weft_result *sample(void)
{
	struct weft_result *r = result_new();

	result_metric_set(r, "b", "ns", 0.1);
	result_metric_set(r, "a", "", -3);
	result_counter_set(r, "c", "packets", UINT64_MAX);
	result_param_set(r, "p", "text, \"quoted\"");
	for (int i = 0; i < 1000; i++) {
		result_series_add(result_series_get(r, "s", "us", "ns"), i,
				  i * 0.5);
		hist_add(result_hist_get(r, "h", "ns"), i * 7);
	}
	view_intervals(&r->view, 3);
	r->view.end[2] = 30;
	view_values(&r->view,
		    view_port_add(&r->view, "s0.port1", "n1.nic.link0",
				  "switch", "words", 1),
		    VIEW_BLOCKED)[1] = 7;
	for (int i = 0; i < 120; i++)
		result_fail(r, "bad");
	return r;
}

static void packed_result_unpacks_to_the_same_values(void **state)
{
	struct weft_result *r = sample(), *q;
	size_t n, m;
	void *one = result_pack(r, &n), *two;

	q = result_unpack(one, n);
	assert_non_null(q);
	two = result_pack(q, &m);
	assert_int_equal(n, m);
	assert_int_equal(q->n_failures, 100);
	assert_int_equal(q->failures_dropped, 20);
	assert_int_equal(q->counters[0].value, UINT64_MAX);
	assert_true(result_metric_get(q, "b")->value == 0.1);
	assert_int_equal(q->series[0].n, 1000);
	assert_true(q->series[0].y[999] == 499.5);
	assert_true(hist_percentile(&q->hists[0].h, 50) ==
		    hist_percentile(&r->hists[0].h, 50));
	assert_int_equal(q->hists[0].h.count, 1000);
	assert_int_equal(q->view.n, 3);
	assert_int_equal(q->view.end[2], 30);
	assert_int_equal(q->view.n_ports, 1);
	assert_string_equal(q->view.ports[0].peer, "n1.nic.link0");
	assert_null(q->view.ports[0].y[VIEW_BUSY]);
	assert_int_equal(q->view.ports[0].y[VIEW_BLOCKED][1], 7);
	free(one);
	free(two);
	result_free(r);
	result_free(q);
}

/* A worker that dies leaves a truncated pack, which must give neither a crash
 * nor a result. */
static void cut_pack_gives_no_result(void **state)
{
	struct weft_result *r = sample();
	size_t n;
	char *all = result_pack(r, &n);

	for (size_t len = 0; len < n; len += 1 + len / 50) {
		char *cut = malloc(len + 1);

		memcpy(cut, all, len);
		assert_null(result_unpack(cut, len));
		free(cut);
	}
	free(all);
	result_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_result_unpacks_to_the_same_values),
		cmocka_unit_test(cut_pack_gives_no_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
