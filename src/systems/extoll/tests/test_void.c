/* SPDX-License-Identifier: Apache-2.0 */
/* Tests damaged cells that a row of EXTOLL crossbars forwards before their CRC
 * has arrived (extoll.md 5.6; T-26, T-27): void cells, locks, replay. Every
 * packet arrives once and in order. */
#include "unit/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "systems/extoll/network/cell_channel_framed.h"
#include "systems/extoll/network/crossbar.h"
#include "systems/extoll/network/network_port.h"
#include "systems/extoll/network/route_runs.h"

extern const struct weft_class weft_class_extoll_xbar, weft_class_fault_bits,
	weft_class_fault_drop, weft_class_fault_cut, weft_class_fault_delay;

enum { NODES = 4, TAG_NP = 0, TAG_SEND = 1 };

/* ---- a node: sends at random, checks received packets ---- */

struct node {
	struct netport np;
	/* parameters */
	struct weft_clock clock;
	uint32_t width, me, packets, size, gap, only;
	bool table, runs;
	/* run */
	uint32_t sent, got[NODES], last[NODES][2], bad;
	uint64_t last_cycle;
};

static const struct weft_param node_params[] = {
	WEFT_PARAM(CLOCK, struct node, clock, "156MHz", "", OWN, "clock"),
	WEFT_PARAM(ENUM, struct node, width, "w32", "w16|w32", OWN, "width"),
	WEFT_PARAM(U32, struct node, me, "0", "", OWN, "number"),
	WEFT_PARAM(U32, struct node, packets, "0", "", OWN, "to send"),
	WEFT_PARAM(U32, struct node, size, "256", "", OWN, "bytes at most"),
	WEFT_PARAM(U32, struct node, gap, "200", "", OWN, "cycles at most"),
	WEFT_PARAM(U32, struct node, only, "99", "", OWN, "one destination"),
	WEFT_PARAM(BOOL, struct node, table, "no", "", OWN, "no path"),
	WEFT_PARAM(BOOL, struct node, runs, "no", "", OWN, "path in runs"),
	{ 0 },
};

static const struct weft_port_decl node_ports[] = {
	{ "np", WEFT_PORT_LINK, NULL, &ex_wire_internal, true, "" },
	{ 0 },
};

static uint8_t pattern(uint64_t id, uint32_t i)
{
	return (uint8_t)(id * 31 + i * 7);
}

/* Checks the bytes that are left of a packet of runs_packet() at the end of its
 * route. */
static void runs_got(struct node *n, struct weft_frame *f)
{
	static const uint8_t rest[] = { 1, 2, EX_RUN_VPID, 3, 4, EX_RUN_END };

	assert_int_equal(f->payload.len, 8);
	n->bad += memcmp(weft_slice_data(f->payload), rest, 6) != 0;
	n->got[0]++;
	weft_frame_free(f);
}

static void node_got(struct node *n, struct weft_frame *f)
{
	const uint8_t *p = weft_slice_data(f->payload);
	uint32_t src = EX_H0_SRC(f->u[0]), cls = ex_meta(f)->cls, i;
	uint32_t id = (uint32_t)f->u[1];

	n->bad += EX_H0_CHECK(f->u[0]) != n->me || id <= n->last[src][cls];
	n->last[src][cls] = id;
	n->got[src]++;
	for (i = 0; i < f->payload.len; i++)
		n->bad += p[i] != pattern(id, i);
	weft_frame_free(f);
}

static void node_cell(void *own, struct netport *np,
		      const struct netport_cell *c)
{
	struct node *n = own;
	uint64_t now = cell_channel_now(&np->ep);

	n->last_cycle = now;
	if (c->eop && ex_meta(c->pkt)->hops == EX_ROUTE_RUNS)
		runs_got(n, c->pkt);
	else if (c->eop)
		node_got(n, c->pkt);
	netport_release(np, c->slot, now + (c->bytes % 3 ? 0 : 60));
}

static void node_packet(struct weft_comp *c, uint32_t dst, uint32_t cls)
{
	struct node *n = c->state;
	struct weft_frame *f = weft_frame_new(c->sim);
	uint32_t hops = abs((int)dst - (int)n->me), i, len;

	memset(&f->u[4], 0xff, 4 * sizeof(f->u[0]));
	*ex_meta(f) =
		(struct ex_meta){ .words = 2,
				  .hops = n->table ? 0 : (uint8_t)(hops + 1),
				  .cls = (uint8_t)cls,
				  .dest = (uint16_t)dst };
	for (i = 0; i < hops; i++)
		ex_route_set(f, i, dst > n->me ? 3 : 4);
	ex_route_set(f, hops, 0);
	f->u[0] = EX_H0_MAKE(n->me, 0, 0, dst);
	f->u[1] = ++n->sent;
	len = (uint32_t)weft_rng_below(&c->rng, n->size / 8 + 1) * 8;
	f->payload = weft_slice_new(c->sim, len);
	for (i = 0; i < len; i++)
		weft_slice_data(f->payload)[i] = pattern(n->sent, i);
	netport_send(&n->np, f, cell_channel_now(&n->np.ep), UINT32_MAX);
}

/* Sends a packet from node 0 to the first internal port of node dst. Its route
 * leaves each crossbar through link 0. */
static void runs_packet(struct weft_comp *c, uint32_t dst, uint32_t cls)
{
	struct node *n = c->state;
	struct weft_frame *f = weft_frame_new(c->sim);
	const uint8_t b[8] = {
		1, 2,		(uint8_t)(EX_RUN_PORT_LP << 4 | dst),
		1, EX_RUN_VPID, 3,
		4, EX_RUN_END
	};

	*ex_meta(f) =
		(struct ex_meta){ .hops = EX_ROUTE_RUNS, .cls = (uint8_t)cls };
	f->payload = weft_slice_new(c->sim, sizeof(b));
	memcpy(weft_slice_data(f->payload), b, sizeof(b));
	n->sent++;
	netport_send(&n->np, f, cell_channel_now(&n->np.ep), UINT32_MAX);
}

static void node_event(struct weft_comp *c, uint32_t tag)
{
	struct node *n = c->state;
	uint32_t cls = (uint32_t)weft_rng_below(&c->rng, 2), dst;

	if (tag == TAG_NP) {
		netport_event(&n->np);
		return;
	}
	dst = n->only < NODES ? n->only
			      : (n->me + 1 +
				 (uint32_t)weft_rng_below(&c->rng, NODES - 1)) %
					NODES;
	if (n->sent < n->packets && netport_room(&n->np, cls))
		(n->runs ? runs_packet : node_packet)(c, dst, cls);
	if (n->sent < n->packets)
		weft_wake(
			c, TAG_SEND,
			weft_clock_after(&n->clock, weft_now(c),
					 1 + weft_rng_below(&c->rng, n->gap)));
}

static void node_arrive(struct weft_comp *c, uint32_t port,
			struct weft_frame *f)
{
	fail_msg("a frame at a network port");
}

static const struct netport_ops node_ops = { .cell = node_cell };

static int node_init(struct weft_comp *c, struct weft_err *err)
{
	struct node *n = c->state;
	struct cell_channel_cfg cfg =
		cell_channel_cfg_internal(n->width, &n->clock);

	return netport_init(&n->np, c, &c->ports[0], &cfg, 4, &node_ops, n,
			    TAG_NP, err);
}

static int node_start(struct weft_comp *c, struct weft_err *err)
{
	struct node *n = c->state;

	weft_wake(c, TAG_SEND, weft_clock_edge(&n->clock, 10));
	return netport_start(&n->np, err);
}

static void node_fini(struct weft_comp *c)
{
	netport_fini(&((struct node *)c->state)->np);
}

static WEFT_COMPONENT(ex_void_node, .name = "test.ex_void",
		      .kind = WEFT_KIND_TRAFFIC, .doc = "network port",
		      .state_size = sizeof(struct node), .params = node_params,
		      .ports = node_ports,
		      .ops = { .init = node_init,
			       .start = node_start,
			       .arrive = node_arrive,
			       .event = node_event,
			       .fini = node_fini });

/* ---- a row of crossbars ---- */

struct row {
	struct weft_sim *sim;
	struct weft_comp *x[NODES], *comp[NODES], *fault[8];
	uint32_t n_faults;
	struct node *n[NODES];
};

static void must(int ret, const struct weft_err *err)
{
	if (ret)
		fail_msg("%s", err->msg);
}

static struct weft_comp *add(struct row *r, const struct weft_class *cls,
			     char kind, uint32_t i, const char *const *set)
{
	char name[] = { kind, (char)('0' + i), 0 };
	struct weft_err err = { 0 };
	struct weft_comp *c = weft_sim_add(r->sim, cls, name, &err);

	for (; set && *set; set += 2)
		must(weft_param_set(c, set[0], set[1], &err), &err);
	return c;
}

static void row_init(struct row *r, const char *const *xset,
		     const char *const *nset)
{
	struct weft_err err = { 0 };
	uint32_t i;

	*r = (struct row){ .sim = weft_sim_new(5) };
	for (i = 0; i < NODES; i++) {
		char me[] = { (char)('0' + i), 0 };

		r->x[i] = add(r, &weft_class_extoll_xbar, 'x', i, xset);
		must(weft_comp_init(r->x[i], &err), &err);
		r->comp[i] = add(r, &weft_class_ex_void_node, 'n', i, nset);
		must(weft_param_set(r->comp[i], "me", me, &err), &err);
		must(weft_comp_init(r->comp[i], &err), &err);
		r->n[i] = r->comp[i]->state;
		must(weft_connect(&r->comp[i]->ports[0], &r->x[i]->ports[0],
				  NULL, 1, &err),
		     &err);
	}
	for (i = 0; i + 1 < NODES; i++)
		must(weft_connect(&r->x[i]->ports[3], &r->x[i + 1]->ports[4],
				  NULL, 10 * WEFT_NS, &err),
		     &err);
}

static void row_fault(struct row *r, uint32_t x, uint32_t port,
		      const struct weft_class *cls, const char *const *set)
{
	struct weft_err err = { 0 };
	struct weft_comp *f = add(r, cls, 'f', r->n_faults, set);

	must(weft_comp_init(f, &err), &err);
	must(weft_filter_add(&r->x[x]->ports[port], f, &err), &err);
	r->fault[r->n_faults++] = f;
}

static void row_start(struct row *r)
{
	struct weft_err err = { 0 };

	must(weft_sim_start(r->sim, &err), &err);
}

/* Runs until every packet has arrived and no event is left. */
static void row_drain(struct row *r)
{
	struct weft_err err = { 0 };
	uint32_t i, sent = 0, got = 0, k, vc;

	weft_sim_run(r->sim, 1000 * WEFT_MS);
	assert_true(weft_sim_idle(r->sim));
	for (i = 0; i < NODES; i++) {
		struct extoll_xbar *x = r->x[i]->state;

		sent += r->n[i]->packets;
		assert_int_equal(r->n[i]->sent, r->n[i]->packets);
		assert_int_equal(r->n[i]->bad, 0);
		for (k = 0; k < NODES; k++)
			got += r->n[i]->got[k];
		for (k = 0; k < EX_PORTS; k++) {
			assert_int_equal(x->ep[k].held, 0);
			for (vc = 0; vc < EX_VCS; vc++)
				assert_int_equal(x->out[k].lock[vc],
						 EXTOLL_XBAR_NONE);
		}
	}
	assert_int_equal(got, sent);
	must(weft_sim_finish(r->sim, &err), &err);
}

static uint64_t counter(const struct row *r, uint32_t i, uint32_t n)
{
	return r->x[i]->counters[n];
}

/* ---- T-26 ---- */

/* Sends one cell from node 0 to node 3, and damages its CRC on the first cable.
 * With cut-through x1 has begun to forward the cell when the CRC arrives. So x1
 * sends a void cell to x2, and x2 sends it to x3. The network port of node 3
 * drops the void cell. */
static void cut_through(const char *width, bool store_forward, bool runs)
{
	struct row r;

	row_init(&r,
		 (const char *[]){ "width", width, "store_forward",
				   store_forward ? "yes" : "no", NULL },
		 (const char *[]){ "width", width, "only", "3", NULL });
	r.n[0]->packets = 1;
	r.n[0]->size = 0;
	r.n[0]->runs = runs;
	row_fault(&r, 0, 3, &weft_class_fault_bits,
		  (const char *[]){ "target", "crc", "frame", "1", NULL });
	row_fault(&r, 1, 3, &weft_class_fault_delay, NULL);
	row_fault(&r, 2, 3, &weft_class_fault_delay, NULL);
	row_start(&r);
	row_drain(&r);
	assert_int_equal(r.n[3]->got[0], 1);
	assert_int_equal(counter(&r, 0, EXTOLL_XBAR_RETRIES), 1);
	assert_int_equal(counter(&r, 1, EXTOLL_XBAR_NACKS), 1);
	for (uint32_t i = 1; i < NODES; i++) {
		assert_int_equal(counter(&r, i, EXTOLL_XBAR_VOIDS_IN),
				 !store_forward);
		assert_int_equal(counter(&r, i, EXTOLL_XBAR_NACKS), i == 1);
		assert_int_equal(counter(&r, i, EXTOLL_XBAR_VOIDS), 0);
		assert_int_equal(counter(&r, i, EXTOLL_XBAR_RETRIES), 0);
	}
	weft_sim_free(r.sim);
}

static void test_cut_through(void **state)
{
	for (uint32_t i = 0; i < 8; i++)
		cut_through(i & 1 ? "w16" : "w32", i & 2, i & 4);
}

/* Another packet holds the output, so that the void cell waits. The crossbar
 * drops the void cell when its CRC arrives. */
static void test_void_cell_waits_for_a_busy_output(void **state)
{
	struct row r;

	/* all packets go to node 2: short ones of node 0, long ones of node
	 * 1 */
	row_init(&r, NULL, (const char *[]){ "only", "2", "gap", "1", NULL });
	r.n[0]->packets = 20;
	r.n[0]->size = 0;
	r.n[1]->packets = 20;
	r.n[1]->size = 4096;
	row_fault(&r, 0, 3, &weft_class_fault_bits,
		  (const char *[]){ "target", "header", "frame", "1", "count",
				    "1000", "bit", "5", NULL });
	row_start(&r);
	weft_sim_run(r.sim, 40 * WEFT_US);
	weft_sim_sample(r.sim);
	assert_true(counter(&r, 1, EXTOLL_XBAR_VOIDS_IN) >= 1);
	assert_true(counter(&r, 1, EXTOLL_XBAR_VOIDS) >= 1);
	weft_sim_free(r.sim);
}

/* ---- T-27 ---- */

/* Damages a bit of the routing flit, so that the void cell may go anywhere. */
static void wrong_way(const char *width, uint32_t bit)
{
	char at[4] = { (char)('0' + bit / 10), (char)('0' + bit % 10), 0 };
	struct row r;

	row_init(&r, (const char *[]){ "width", width, NULL },
		 (const char *[]){ "width", width, "gap", "300", NULL });
	for (uint32_t i = 0; i < NODES; i++)
		r.n[i]->packets = 20;
	row_fault(&r, 1, 3, &weft_class_fault_bits,
		  (const char *[]){ "target", "route", "frame", "5", "bit", at,
				    NULL });
	row_fault(&r, 2, 4, &weft_class_fault_bits,
		  (const char *[]){ "target", "ctl", "frame", "3", "bit", at,
				    NULL });
	row_start(&r);
	row_drain(&r);
	assert_int_equal(counter(&r, 1, EXTOLL_XBAR_RETRIES), 1);
	assert_int_equal(counter(&r, 2, EXTOLL_XBAR_RETRIES), bit < 10);
	weft_sim_free(r.sim);
}

static void test_wrong_way(void **state)
{
	for (uint32_t bit = 0; bit < 40; bit++) {
		wrong_way("w32", bit);
		if (bit < 20)
			wrong_way("w16", bit);
	}
}

/* ---- routing by table ---- */

static void row_tables(struct row *r, const char *width)
{
	static const uint32_t to[NODES][NODES] = {
		{ 0, 3, 3, 3 }, { 4, 0, 3, 3 }, { 4, 4, 0, 3 }, { 4, 4, 4, 0 }
	};
	struct weft_err err = { 0 };

	row_init(r, (const char *[]){ "width", width, NULL },
		 (const char *[]){ "width", width, "table", "yes", "only", "3",
				   NULL });
	for (uint32_t i = 0; i < NODES; i++) {
		((struct extoll_xbar *)r->x[i]->state)->node = i;
		must(r->x[i]->cls->ops.route(r->x[i], WEFT_ANY_PORT, 0, to[i],
					     NODES, &err),
		     &err);
	}
}

/* The first cable is a dateline. The crossbar behind it must know, even from a
 * framed line, that the packet is on the odd VC and has not left the dimension
 * of this cable (4.6). */
static uint64_t by_table(bool needs_frames, const char *bits)
{
	const char *const rate[] = { "rate", bits, NULL };
	struct row r;
	uint64_t end;
	uint32_t i;

	row_tables(&r, "w32");
	((struct extoll_xbar *)r.x[0]->state)->dateline = 1;
	r.n[0]->packets = 200;
	for (i = 0; needs_frames && i < 3; i++)
		row_fault(&r, i, 3, &weft_class_fault_bits, rate);
	row_start(&r);
	row_drain(&r);
	for (i = 0; needs_frames && i < 3; i++) {
		const struct cell_channel *ep =
			&((struct extoll_xbar *)r.x[i]->state)->ep[3];

		/* requests and responses, odd channels only */
		assert_int_equal(ep->slow->cells[0] | ep->slow->cells[2], 0);
		assert_true(ep->slow->cells[1] && ep->slow->cells[3]);
	}
	end = r.n[3]->last_cycle;
	weft_sim_free(r.sim);
	return end;
}

static void test_by_table(void **state)
{
	uint64_t plain = by_table(false, "0");

	assert_int_equal(by_table(true, "0"), plain);
	assert_true(by_table(true, "1e-4") > plain);
}

/* Sends one packet 0 -> 3 and damages it on the last cable. The void cell goes
 * to the internal port that the damaged flit names, but only port 0 exists. */
static uint64_t wrong_port(const char *width, const char *target, uint32_t bit)
{
	char at[4] = { (char)('0' + bit / 10), (char)('0' + bit % 10), 0 };
	uint64_t wrong;
	struct row r;

	row_tables(&r, width);
	r.n[0]->packets = 1;
	r.n[0]->size = 0;
	row_fault(&r, 2, 3, &weft_class_fault_bits,
		  (const char *[]){ "target", target, "frame", "1", "bit", at,
				    NULL });
	row_start(&r);
	row_drain(&r);
	assert_int_equal(counter(&r, 3, EXTOLL_XBAR_VOIDS_IN), 1);
	wrong = counter(&r, 3, EXTOLL_XBAR_NO_PORT) +
		counter(&r, 3, EXTOLL_XBAR_ILLEGAL);
	weft_sim_free(r.sim);
	return wrong;
}

/* With 32 bit, damages the third byte of the routing flit, unless the code
 * becomes invalid. With 16 bit, the flit has only two bytes, and the header
 * follows. */
static void a_void_cell_takes_the_port_that_came(void **state)
{
	uint64_t wrong = 0;

	for (uint32_t bit = 0; bit < 10; bit++) {
		wrong += wrong_port("w32", "route", 20 + bit);
		assert_int_equal(wrong_port("w32", "route", 30 + bit), 0);
		assert_int_equal(wrong_port("w16", "header", bit), 0);
	}
	assert_in_range(wrong, 1, 9);
}

/* ---- all at once ---- */

static void storm(uint32_t i)
{
	const char *const bits[] = { "rate", i & 4 ? "1e-4" : "1e-5", NULL };
	const char *const drop[] = { "packets", "0.01", "controls", "0.02",
				     "repeat",	"0.01", NULL };
	const char *const cut[] = { "at",    "30us",   "length", "2us", "every",
				    "100us", "random", "yes",	 NULL };
	const struct {
		const struct weft_class *cls;
		const char *const *set;
	} kind[] = { { &weft_class_fault_bits, bits },
		     { &weft_class_fault_drop, drop },
		     { &weft_class_fault_cut, cut } };
	const char *width = i & 1 ? "w16" : "w32";
	struct row r;
	uint32_t k;

	row_init(&r,
		 (const char *[]){ "width", width, "store_forward",
				   i & 2 ? "yes" : "no", NULL },
		 (const char *[]){ "width", width, NULL });
	for (k = 0; k < NODES; k++)
		r.n[k]->packets = i / 8 == 2 ? 600 : 1000;
	for (k = 0; k < 6; k++)
		row_fault(&r, k < 3 ? k : k - 2, k < 3 ? 3 : 4, kind[i / 8].cls,
			  kind[i / 8].set);
	row_start(&r);
	if (i / 8 == 2) {
		weft_sim_run(r.sim, 5 * WEFT_MS);
		for (k = 0; k < NODES; k++)
			assert_int_equal(r.n[k]->bad, 0);
		for (k = 0; k < NODES * NODES; k++)
			r.n[0]->bad += r.n[k / NODES]->got[k % NODES];
		assert_int_equal(r.n[0]->bad, NODES * 600);
	} else {
		row_drain(&r);
	}
	weft_sim_sample(r.sim);
	assert_true(counter(&r, 1, EXTOLL_XBAR_RETRIES) >
		    (i < 16 && (i & 4 || i > 7) ? 20 : 0));
	weft_sim_free(r.sim);
}

static void test_void_cells_survive_errors_drops_and_cuts(void **state)
{
	for (uint32_t i = 0; i < 24; i++)
		storm(i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_through),
		cmocka_unit_test(test_void_cell_waits_for_a_busy_output),
		cmocka_unit_test(test_wrong_way),
		cmocka_unit_test(test_by_table),
		cmocka_unit_test(a_void_cell_takes_the_port_that_came),
		cmocka_unit_test(test_void_cells_survive_errors_drops_and_cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
