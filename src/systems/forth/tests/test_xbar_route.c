/* SPDX-License-Identifier: Apache-2.0 */
/* Routing tables of the crossbar: identity, text of a parameter, rows by path,
 * tables by input, and refused entries. */
#include <string.h>

#include "unit/cmocka_all.h"
#include "systems/forth/switch/crossbar.h"

extern const struct weft_class weft_class_forth_xbar;

static struct forth_xbar *make(struct weft_sim **sim_p, struct weft_comp **c_p,
			       const char *routes)
{
	struct weft_err err = { 0 };

	*sim_p = weft_sim_new(1);
	*c_p = weft_sim_add(*sim_p, &weft_class_forth_xbar, "s", &err);
	weft_param_set(*c_p, "ports", "4", &err);
	weft_param_set(*c_p, "routes", routes, &err);
	if (weft_comp_init(*c_p, &err))
		fail_msg("%s", err.msg);
	return (*c_p)->state;
}

static uint32_t out_of(const struct forth_xbar *x, uint32_t in, uint32_t path,
		       uint32_t flow)
{
	uint64_t h = forth_header_path(forth_header(flow, 0, 8, 0), path);
	const struct forth_xbar_port *p = &x->port[in];

	return p->route[forth_hdr_way(h, p->path_mask)];
}

/* With one row the path bits are ignored, because they may hold another field
 * (forth.md 7.3). */
static void one_row_ignores_the_path_bits(void **state)
{
	struct weft_sim *sim;
	struct weft_comp *c;
	struct forth_xbar *x = make(&sim, &c, "");

	assert_int_equal(x->port[0].path_mask, 0);
	for (uint32_t path = 0; path < FORTH_PATHS; path += 73)
		for (uint32_t f = 0; f < FORTH_FLOWS; f++)
			assert_int_equal(out_of(x, 1, path, f),
					 f < 4 ? f : FORTH_XBAR_NOWHERE);
	assert_int_equal(x->port[0].link.cfg.paths, 0);
	weft_sim_free(sim);
}

static void text_routes_override_the_identity(void **state)
{
	struct weft_sim *sim;
	struct weft_comp *c;
	struct forth_xbar *x = make(&sim, &c, "9:3,2/9:1,1/0:2");

	assert_int_equal(out_of(x, 0, 0, 9), 3);
	assert_int_equal(out_of(x, 0, 0, 1), 1); /* identity */
	assert_int_equal(out_of(x, 0, 2, 9), 1);
	assert_int_equal(out_of(x, 0, 1, 0), 2);
	assert_int_equal(out_of(x, 0, 1, 9), FORTH_XBAR_NOWHERE);
	assert_int_equal(out_of(x, 0, 3, 9), FORTH_XBAR_NOWHERE);
	/* with 4 rows the higher bits of the path are ignored */
	assert_int_equal(out_of(x, 0, 4 + 2, 9), 1);
	assert_int_equal(x->port[3].link.cfg.paths, 2);
	weft_sim_free(sim);
}

/* The upstream end charges the lane of the packet's output. */
static void rows_and_inputs(void **state)
{
	static const uint32_t up[] = { 2, 3, WEFT_ANY_PORT };
	static const uint32_t down[] = { 0, 1, 1 };
	struct weft_err err = { 0 };
	struct weft_sim *sim;
	struct weft_comp *c;
	struct forth_xbar *x = make(&sim, &c, "");
	struct forth_port l = { .tx_lanes = 4 };

	assert_int_equal(forth_xbar_route(c, WEFT_ANY_PORT, 5, up, 3, &err), 0);
	assert_int_equal(x->port[0].path_mask, 7);
	assert_int_equal(out_of(x, 3, 5, 1), 3);
	assert_int_equal(out_of(x, 3, 5, 2), FORTH_XBAR_NOWHERE);
	assert_int_equal(out_of(x, 3, 5, 3), FORTH_XBAR_NOWHERE);
	assert_int_equal(out_of(x, 3, 0, 3), 3);
	assert_int_equal(forth_xbar_route(c, 3, 5, down, 3, &err), 0);
	assert_int_equal(out_of(x, 3, 5, 1), 1);
	assert_int_equal(out_of(x, 2, 5, 1), 3);
	assert_int_equal(out_of(x, 3, 0, 3), 3); /* copied */
	l.peer = &x->port[3].link;
	assert_int_equal(forth_port_lane(&l, forth_way(5, 0)), 0);
	l.peer = &x->port[2].link;
	assert_int_equal(forth_port_lane(&l, forth_way(5, 0)), 2);
	assert_int_equal(
		forth_port_lane_of(
			&l, forth_header_path(forth_header(1, 0, 8, 0), 5)),
		3);
	/* a row for all inputs replaces the rows of single inputs */
	assert_int_equal(forth_xbar_route(c, WEFT_ANY_PORT, 5, up, 3, &err), 0);
	assert_int_equal(out_of(x, 3, 5, 1), 3);
	weft_sim_free(sim);
}

static void malformed_route_texts_are_refused(void **state)
{
	static const char *const bad[] = {
		"1", "1:", "1:9", "128:0", "512/1:0", "1/2", "1/:2", "0:0;1:1"
	};
	static const uint32_t wrong[] = { 4 }, good[] = { 1 };
	struct weft_err err = { 0 };
	struct weft_sim *sim;
	struct weft_comp *c;

	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		sim = weft_sim_new(1);
		c = weft_sim_add(sim, &weft_class_forth_xbar, "s", &err);
		weft_param_set(c, "routes", bad[i], &err);
		err = (struct weft_err){ 0 };
		assert_true(weft_comp_init(c, &err) < 0);
		if (!strstr(err.msg, "s.routes: "))
			fail_msg("'%s': %s", bad[i], err.msg);
		weft_sim_free(sim);
	}
	err = (struct weft_err){ 0 };
	make(&sim, &c, "");
	assert_true(forth_xbar_route(c, 0, 0, wrong, 1, &err) < 0);
	assert_non_null(strstr(err.msg, "no port 4 for destination 0"));
	assert_true(forth_xbar_route(c, 4, 0, good, 1, &err) < 0);
	err = (struct weft_err){ 0 };
	assert_true(forth_xbar_route(c, 0, FORTH_PATHS, good, 1, &err) < 0);
	assert_non_null(strstr(err.msg,
			       "input 0, path 512, 1 destinations: "
			       "there are 4 ports, 512 paths and 128 flows"));
	assert_int_equal(forth_xbar_route(c, 0, FORTH_PATHS - 1, good, 1, &err),
			 0);
	weft_sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_row_ignores_the_path_bits),
		cmocka_unit_test(text_routes_override_the_identity),
		cmocka_unit_test(rows_and_inputs),
		cmocka_unit_test(malformed_route_texts_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
