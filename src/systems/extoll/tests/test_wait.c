/* SPDX-License-Identifier: Apache-2.0 */
/* The search for cells that wait for each other, on crossbars made by hand:
 * four in a ring (lp0 to lp1 of the next), each with a traffic component, the
 * "end", at np0. */
#include <stdio.h>
#include <string.h>

#include "unit/cmocka_all.h"
#include "systems/extoll/network/direct_network.h"

enum { N = 4, IN = EX_INTERNAL + 1, OUT = EX_INTERNAL, OLD = 10, NOW = 100 };

struct xbar {
	struct ex_place place; /* first */
	struct ex_wait w[EX_PORTS];
	uint32_t in[EX_PORTS], vc[EX_PORTS], n;
	uint32_t lock; /* holder of OUT, VC 0 */
	bool comes;
};

struct rig {
	struct extoll_net net;
	struct xbar x[N];
	struct weft_comp comp[N], end[N], *list[N];
	struct weft_port port[N][EX_PORTS], end_port[N];
	char name[N][4], text[300];
	bool blocked;
};

static const struct weft_class switches = { .kind = WEFT_KIND_SWITCH };
static const struct weft_class ends = { .kind = WEFT_KIND_TRAFFIC };

static uint32_t heads(struct weft_comp *c, uint32_t in, uint32_t vc,
		      struct ex_wait w[EX_PORTS])
{
	const struct xbar *x = c->state;
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n; i++)
		if (x->in[i] == in && x->vc[i] == vc)
			w[n++] = x->w[i];
	return n;
}

static bool comes(struct weft_comp *c, uint32_t in, uint32_t vc)
{
	return ((const struct xbar *)c->state)->comes;
}

static uint32_t lock(struct weft_comp *c, uint32_t out, uint32_t vc)
{
	return out == OUT && !vc ? ((const struct xbar *)c->state)->lock
				 : EX_UNLOCKED;
}

static const struct ex_waits ops = { heads, comes, lock };

/* Adds a cell at input `in` of crossbar i. Returns the cell, so that the test
 * can change it. */
static struct ex_wait *cell(struct rig *g, uint32_t i, uint32_t in,
			    uint32_t out)
{
	struct xbar *x = &g->x[i];

	x->in[x->n] = in;
	x->vc[x->n] = 0;
	x->w[x->n] = (struct ex_wait){ .out = out,
				       .since = OLD,
				       .lock = EX_UNLOCKED };
	return &x->w[x->n++];
}

static void rig_init(struct rig *g)
{
	memset(g, 0, sizeof(*g));
	for (uint32_t i = 0; i < N; i++) {
		struct weft_comp *c = &g->comp[i];

		snprintf(g->name[i], sizeof(g->name[i]), "s%u", i);
		g->x[i].place = (struct ex_place){ .node = i, .waits = &ops };
		g->x[i].lock = EX_UNLOCKED;
		*c = (struct weft_comp){ .cls = &switches,
					 .name = g->name[i],
					 .state = &g->x[i],
					 .ports = g->port[i],
					 .n_ports = EX_PORTS };
		g->end[i] = (struct weft_comp){ .cls = &ends,
						.name = (char *)"t",
						.ports = &g->end_port[i] };
		g->list[i] = c;
	}
	for (uint32_t i = 0; i < N; i++) {
		struct weft_port *out = &g->port[i][OUT];
		struct weft_port *in = &g->port[(i + 1) % N][IN];
		struct weft_port *np = &g->port[i][0];

		*np = (struct weft_port){ .comp = &g->comp[i], .name = "np0" };
		g->end_port[i] = (struct weft_port){ .comp = &g->end[i],
						     .name = "np0",
						     .peer = np };
		np->peer = &g->end_port[i];
		*out = (struct weft_port){ .comp = &g->comp[i],
					   .name = "lp0",
					   .index = OUT,
					   .peer = in };
		*in = (struct weft_port){ .comp = &g->comp[(i + 1) % N],
					  .name = "lp1",
					  .index = IN,
					  .peer = out };
	}
	g->net.xbar = g->list;
	g->net.n_xbars = N;
}

static bool deadlocked(struct rig *g)
{
	return extoll_net_cycle(&g->net, NOW - 50, g->text, sizeof(g->text),
				&g->blocked);
}

static void ring(struct rig *g)
{
	rig_init(g);
	for (uint32_t i = 0; i < N; i++)
		cell(g, i, IN, OUT);
}

static void test_a_ring_of_full_inputs_is_a_deadlock(void **st)
{
	struct rig g;

	ring(&g);
	assert_true(deadlocked(&g));
	assert_string_equal(g.text,
			    "s0.lp1/vc0 -> s1.lp1/vc0 -> s2.lp1/vc0 -> "
			    "s3.lp1/vc0 -> s0.lp1/vc0 (4 inputs)");
}

/* The oldest cells of the inputs form a circle. One input also has a younger
 * cell for its end. The circle does not last, because this younger cell can
 * leave, and so frees a slot. */
static void test_one_cell_with_another_way_out_dissolves_a_circle(void **st)
{
	struct rig g;

	ring(&g);
	cell(&g, 2, IN, 0)->since =
		OLD + 1; /* a cell to the end, which has no room */
	assert_false(deadlocked(&g));
	assert_true(g.blocked);
	ring(&g);
	cell(&g, 2, IN, 0)->room = true;
	assert_false(deadlocked(&g));
	assert_true(!g.blocked);
}

static void test_a_circle_with_a_young_cell_is_no_deadlock_yet(void **st)
{
	struct rig g;

	ring(&g);
	g.x[3].w[0].since = NOW - 1;
	assert_false(deadlocked(&g));
	g.x[3].w[0].since = NOW - 50;
	assert_true(deadlocked(&g));
}

static void test_a_credit_on_its_way_dissolves_a_circle(void **st)
{
	struct rig g;

	ring(&g);
	g.x[1].w[0].room = true;
	assert_false(deadlocked(&g));
}

/* A cell of VC 1 at the next crossbar can move. It frees a slot for the stuck
 * cell only if VC 1 uses the pool. */
static void test_slots_of_the_pool_dissolve_a_circle(void **st)
{
	struct rig g;

	ring(&g);
	cell(&g, 1, IN, 0)->room = true;
	g.x[1].vc[1] = 1;
	assert_true(deadlocked(&g));
	g.x[0].w[0].pool = 1 << 1;
	assert_false(deadlocked(&g));
}

/* The head in the ring at s0 has room, but a packet from np0 holds its output.
 * The next cell of that packet has not entered the network yet, and input np0
 * is full. */
static void test_a_held_output_closes_a_circle(void **st)
{
	struct rig g;

	ring(&g);
	g.x[0].w[0].room = true;
	assert_false(deadlocked(&g));
	g.x[0].w[0].lock = g.x[0].lock = 0; /* np0, VC 0 */
	cell(&g, 0, 0, 0)->since =
		OLD; /* in the holder's input, a cell to its own end */
	assert_false(deadlocked(&g)); /* the end accepts that cell */
	g.x[0].w[1].out = OUT;
	assert_true(deadlocked(&g)); /* the holder waits for the ring */
	g.x[0].w[1].room = true;
	assert_false(deadlocked(&g)); /* the holder has room */
}

/* The packet from np0 that holds the output has its next cell in the same input
 * as a cell to the end. That cell moves, which does not help the packet. */
static void another_cell_of_the_holders_input_is_no_way_out(void **st)
{
	struct rig g;

	ring(&g);
	g.x[0].w[0].room = true;
	g.x[0].w[0].lock = g.x[0].lock = 0; /* np0, VC 0 */
	cell(&g, 0, 0, 0);
	cell(&g, 0, 0, OUT);
	assert_true(deadlocked(&g));
	g.x[0].w[2].room = true;
	assert_false(deadlocked(&g));
}

/* The remaining cells of the packet that holds the output are one link
 * upstream. They are stuck there. */
static void test_a_holder_is_followed_upstream(void **st)
{
	struct rig g;

	rig_init(&g);
	/* s1: a cell from np0 waits for OUT, which the packet from IN holds */
	cell(&g, 1, 0, OUT)->room = true;
	g.x[1].w[0].lock = g.x[1].lock = IN * EX_VCS;
	g.x[1].comes = true;
	/* s0: the remaining cells of the packet from IN come from np0 and hold
	 * OUT of s0 */
	g.x[0].lock = 0;
	/* the source has not sent these cells yet */
	assert_false(deadlocked(&g));
	cell(&g, 0, 0, OUT)->room = true;
	assert_false(deadlocked(&g)); /* these cells can move */
	g.x[0].w[0].room = false;
	cell(&g, 1, IN, 0)->since = OLD; /* the cell that fills the input of s1
					  * ... */
	assert_false(deadlocked(&g));	 /* ... leaves to the end */
	/* The cell in the input of s1 can no longer leave, because two packets
	 * at s1 hold each other's outputs. */
	g.x[1].w[1].lock = 0;
	cell(&g, 1, 0, 0)->lock = IN * EX_VCS;
	assert_true(deadlocked(&g));
	assert_non_null(strstr(g.text, "s1.lp1/vc0 -> s1.np0/vc0 -> "));
}

/* At s0 the input of the packet that holds OUT is empty, because the packet is
 * stuck at s3. A cell of the next channel of this input is stuck, too, but for
 * another reason. */
static void a_circle_names_no_channel_that_holds_nothing_up(void **st)
{
	struct ex_wait *w;
	struct rig g;

	rig_init(&g);
	w = cell(&g, 0, 0, OUT);
	w->room = true;
	w->lock = g.x[0].lock = IN * EX_VCS;
	w = cell(&g, 3, 0, OUT);
	w->room = w->early = true;
	g.x[3].lock = 0;
	w = cell(&g, 0, IN, OUT);
	w->room = w->early = true;
	g.x[0].vc[1] = 1;
	assert_true(deadlocked(&g));
	assert_non_null(strstr(g.text, "s0.np0/vc0"));
	assert_null(strstr(g.text, "s0.lp1/vc1"));
}

static void test_an_early_cell_needs_room_for_its_packet(void **st)
{
	struct rig g;

	rig_init(&g);
	cell(&g, 0, IN, OUT)->early = true;
	g.x[0].w[0].room = true;
	g.x[0].comes = true;
	assert_false(deadlocked(&g));
	/* the input is full of cells of this one packet */
	g.x[0].comes = false;
	assert_true(deadlocked(&g));
	cell(&g, 0, IN, 0)->room = true;
	assert_false(deadlocked(&g));
}

static void test_nothing_waits_in_an_empty_network(void **st)
{
	struct rig g;

	rig_init(&g);
	assert_false(deadlocked(&g));
	assert_false(g.blocked);
}

static void a_single_cell_is_blocked_by_its_end(void **st)
{
	struct rig g;

	rig_init(&g);
	cell(&g, 0, 0, 0);
	assert_false(deadlocked(&g));
	assert_true(g.blocked);
	assert_string_equal(g.text, "t.np0 takes nothing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_ring_of_full_inputs_is_a_deadlock),
		cmocka_unit_test(
			test_one_cell_with_another_way_out_dissolves_a_circle),
		cmocka_unit_test(
			test_a_circle_with_a_young_cell_is_no_deadlock_yet),
		cmocka_unit_test(test_a_credit_on_its_way_dissolves_a_circle),
		cmocka_unit_test(test_slots_of_the_pool_dissolve_a_circle),
		cmocka_unit_test(test_a_held_output_closes_a_circle),
		cmocka_unit_test(
			another_cell_of_the_holders_input_is_no_way_out),
		cmocka_unit_test(test_a_holder_is_followed_upstream),
		cmocka_unit_test(
			a_circle_names_no_channel_that_holds_nothing_up),
		cmocka_unit_test(test_an_early_cell_needs_room_for_its_packet),
		cmocka_unit_test(test_nothing_waits_in_an_empty_network),
		cmocka_unit_test(a_single_cell_is_blocked_by_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
