/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic components on two EXTOLL crossbars whose link goes down. */
#include "unit/cmocka_all.h"

#include "systems/extoll/network/crossbar.h"
#include "systems/extoll/traffic/generator.h"

extern const struct weft_class weft_class_extoll_xbar, weft_class_extoll_gen,
	weft_class_extoll_cable, weft_class_fault_drop;

enum { ENDS = 2, LP = 3 };

struct net {
	struct weft_sim *sim;
	struct weft_comp *gen[ENDS], *xbar[ENDS];
};

static void must(int ret, const struct weft_err *err)
{
	if (ret)
		fail_msg("%s", err->msg);
}

static struct weft_comp *add(struct net *n, const struct weft_class *cls,
			     const char *name, const char *const *set)
{
	struct weft_err err = { 0 };
	struct weft_comp *c = weft_sim_add(n->sim, cls, name, &err);

	for (; set && *set; set += 2)
		must(weft_param_set(c, set[0], set[1], &err), &err);
	must(weft_comp_init(c, &err), &err);
	return c;
}

static void node_new(struct net *n, uint32_t i)
{
	const char *me = i ? "1" : "0";
	const uint32_t to[ENDS] = { i ? LP : 0, i ? 0 : LP };
	const char *const gen[] = { "node",    me,   "nodes", "2",
				    "packets", "40", NULL };
	const char *const xbar[] = { "node", me, NULL };
	struct weft_err err = { 0 };

	n->gen[i] = add(n, &weft_class_extoll_gen, i ? "g1" : "g0", gen);
	n->xbar[i] = add(n, &weft_class_extoll_xbar, i ? "x1" : "x0", xbar);
	must(n->xbar[i]->cls->ops.route(n->xbar[i], WEFT_ANY_PORT, 0, to, ENDS,
					&err),
	     &err);
	must(weft_connect(&n->gen[i]->ports[0], &n->xbar[i]->ports[0], NULL, 1,
			  &err),
	     &err);
}

static void net_new(struct net *n)
{
	const char *const all[] = { "packets", "1", NULL };
	struct weft_err err = { 0 };
	struct weft_comp *cable, *fault;

	n->sim = weft_sim_new(1);
	for (uint32_t i = 0; i < ENDS; i++)
		node_new(n, i);
	cable = add(n, &weft_class_extoll_cable, "c", NULL);
	must(weft_connect(&n->xbar[0]->ports[LP], &n->xbar[1]->ports[LP], cable,
			  0, &err),
	     &err);
	fault = add(n, &weft_class_fault_drop, "f", all);
	must(weft_filter_add(&n->xbar[0]->ports[LP], fault, &err), &err);
	must(weft_sim_start(n->sim, &err), &err);
}

/* Packets that have not left their sources when the run ends are not lost,
 * therefore weft_sim_finish() reports no error. */
static void what_a_dead_link_keeps_in_its_source_is_not_lost(void **state)
{
	struct weft_err err = { 0 };
	struct net n;

	net_new(&n);
	weft_sim_run(n.sim, WEFT_NEVER);
	must(weft_sim_finish(n.sim, &err), &err);
	assert_int_equal(n.xbar[0]->counters[EXTOLL_XBAR_DOWNS], 1);
	assert_int_equal(n.gen[1]->counters[EXTOLL_GEN_RECEIVED], 0);
	assert_int_equal(n.gen[0]->counters[EXTOLL_GEN_RECEIVED], 40);
	weft_sim_free(n.sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_a_dead_link_keeps_in_its_source_is_not_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
