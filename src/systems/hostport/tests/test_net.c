/* SPDX-License-Identifier: Apache-2.0 */
/* The Host Port's network: scenarios L07, L08 and L11 of hostport.md 13.6.
 * Every node has a process with the same VPID. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hpproc.h"
#include "systems/hostport/nic/wire.h"

/* MINE: offset of the routes that the test makes */
enum { VPID = 0x30, MINE = HPDRV_ROUTE * EXRIG_NODES };

struct scene {
	struct exrig r;
	struct hpdrv d[EXRIG_NODES];
	struct hpproc p[EXRIG_NODES];
	void (*origin)(struct scene *s, struct hpproc *p);
	uint32_t expect[EXRIG_NODES]; /* messages */
	uint32_t got[EXRIG_NODES];
	uint64_t last[EXRIG_NODES][HP_WORDS];
	uint32_t packets;
};

static int node_main(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct scene *s = (struct scene *)r;
	struct hpproc *p = &s->p[node];
	char key[8] = { 'u', (char)('0' + node) };

	hpdrv_open(&s->d[node], r, node, h);
	hpproc_open(p, &s->d[node], h, VPID, HP_CTX_ORD);
	weft_oob_put(h, key, 1);
	for (uint32_t i = 0; i < r->nodes; i++) {
		key[1] = (char)('0' + i);
		weft_oob_get(h, key);
	}
	if (!node)
		s->origin(s, p);
	while (s->got[node] < s->expect[node] &&
	       hpproc_wait(p, s->last[node])) {
		assert_int_equal(HP_NQE_TAG(s->last[node]), s->got[node]);
		s->got[node]++;
	}
	return 0;
}

static void scene_run(struct scene *s, const char *dims)
{
	hprig_new(&s->r, dims, NULL);
	exrig_set(&s->r, "extoll.xbar", "hap", "yes");
	for (uint32_t i = 0; i < s->r.nodes; i++)
		exrig_prog(&s->r, i, node_main);
}

static uint64_t packets_of(struct scene *s, uint32_t xbar)
{
	return exrig_counter(s->r.node[xbar].xbar, "packets");
}

/* Sends a FAST_SEND of two words along the route elements el. */
static void send_along(struct hpproc *p, const uint8_t *el, uint32_t nf,
		       const uint8_t *back, uint32_t nr, uint32_t dtag,
		       uint32_t a, uint64_t tag)
{
	uint8_t *b = p->drv->rs + MINE;
	uint64_t w[HP_WORDS];

	memset(b, 0, 64);
	for (uint32_t i = 0; i < 4; i++)
		b[i] = (uint8_t)(dtag >> (24 - 8 * i));
	b[HP_RS_NF] = (uint8_t)nf;
	b[HP_RS_NR] = (uint8_t)nr;
	memcpy(b + HP_RS_HEAD, el, nf);
	b[HP_RS_HEAD + nf] = HP_EL_SEP;
	if (nr)
		memcpy(b + HP_RS_HEAD + nf + 1, back, nr);
	hpdrv_set(p->drv, HP_R_RS_SIZE, MINE + 64);
	hpdrv_cache(p->drv, HP_CACHE_FLUSH, HP_CACHE_ROUTE, 0, 0, 0);
	memset(w, 0, sizeof(w));
	w[0] = HP_VCI_W0(HP_CMD(0, 0, HP_B_FAST_SEND | a | 2), 64, MINE);
	w[1] = HP_VCI_W1(VPID, tag);
	w[2] = w[3] = tag;
	w[4] = ~tag;
	hpproc_put(p, w);
	hpproc_issue(p, 1);
}

/* ---- L07, L08: route 43 62 01 and its return route ---- */

static void six_origin(struct scene *s, struct hpproc *p)
{
	static const uint8_t fwd[] = { 0x43, 0x62, 0x01 };
	static const uint8_t back[] = { 0x72, 0x53, 0x11 };
	uint64_t misses = exrig_counter(s->r.node[0].nic, "route_misses");
	uint64_t w[HP_WORDS];

	send_along(p, fwd, 3, back, 3, 12, HP_A, 0);
	assert_true(hpproc_wait(p, w));
	assert_int_equal(HP_NQE_CMD(w), HP_B_FAST_SEND | HP_A | 2);
	assert_int_equal(HP_NQE_HPID(w), 12);
	assert_int_equal(HP_NQE_VPID(w), VPID);
	assert_int_equal(exrig_counter(s->r.node[0].nic, "route_misses"),
			 misses + 1);
	assert_int_equal(exrig_counter(s->r.node[11].nic, "route_misses"), 0);
}

/* L07, L08 */
static void six_nodes(void **state)
{
	static const uint8_t way[] = { 0, 1, 2, 3, 7, 11 };
	struct scene s = { .origin = six_origin, .expect = { [11] = 1 } };
	uint64_t seen = 0;

	scene_run(&s, "4x3");
	exrig_start(&s.r);
	exrig_run(&s.r);
	assert_int_equal(s.got[11], 1);
	for (uint32_t i = 0; i < 12; i++)
		seen += packets_of(&s, i);
	assert_int_equal(seen, 12); /* six crossbars, in both directions */
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(packets_of(&s, way[i]), 2);
	exrig_free(&s.r);
}

/* ---- runs of several lengths ---- */

static void snake_origin(struct scene *s, struct hpproc *p)
{
	static const uint8_t fwd[] = { 0x43, 0x61, 0x53, 0x61, 0x41, 0x01 };
	static const uint8_t back[] = { 0x51, 0x72, 0x11 };
	uint64_t w[HP_WORDS];

	send_along(p, fwd, 6, back, 3, 10, HP_A, 0);
	assert_true(hpproc_wait(p, w));
	assert_int_equal(HP_NQE_CMD(w), HP_B_FAST_SEND | HP_A | 2);
}

/* The packet visits all nodes of two rows and two nodes of the third row. Its
 * return route is shorter. */
static void a_packet_follows_mixed_runs_over_nine_hops(void **state)
{
	static const uint8_t way[] = { 0, 1, 2, 3, 7, 6, 5, 4, 8, 9 };
	static const uint8_t twice[12] = { [0] = 1, [4] = 1, [8] = 1, [9] = 1 };
	struct scene s = { .origin = snake_origin, .expect = { [9] = 1 } };

	scene_run(&s, "4x3");
	exrig_start(&s.r);
	exrig_run(&s.r);
	assert_int_equal(s.got[9], 1);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(packets_of(&s, way[i]), 1 + twice[way[i]]);
	assert_int_equal(packets_of(&s, 10) + packets_of(&s, 11), 0);
	exrig_free(&s.r);
}

static void counts_origin(struct scene *s, struct hpproc *p)
{
	/* a route whose second element has no hops, and a route with one hop
	 * beyond the last node */
	static const uint8_t el[2][3] = { { 0x41, 0x40, 0x01 },
					  { 0x42, 0x01, 0x01 } };
	static const uint8_t back[] = { 0x51, 0x11 };
	uint64_t w[HP_WORDS];

	for (uint32_t i = 0; i < 2; i++) {
		send_along(p, el[i], 3, back, 2, 2, HP_A, 0);
		assert_true(hpproc_wait(p, w));
		assert_int_equal(HP_NQE_CMD(w),
				 HP_CMD(HP_ERR_ROUTE_BROKEN, 0,
					HP_B_FAST_SEND | HP_A | 2));
	}
}

static void the_origin_hears_of_counts_that_are_wrong(void **state)
{
	struct scene s = { .origin = counts_origin };

	scene_run(&s, "2");
	exrig_start(&s.r);
	exrig_run(&s.r);
	assert_int_equal(exrig_counter(s.r.node[1].xbar, "illegal"), 1);
	assert_int_equal(exrig_counter(s.r.node[1].xbar, "no_port"), 1);
	assert_int_equal(exrig_counter(s.r.node[1].nic, "nacks"), 2);
	exrig_free(&s.r);
}

/* ---- L11: multicast and high availability ---- */

static void cast_origin(struct scene *s, struct hpproc *p)
{
	/* the multicast port of node 1 delivers to node 1 and forwards to the
	 * multicast port of node 2, which delivers to nodes 2 and 3 */
	static const uint8_t el[] = { 0x41, 0xa1, 1,	0x01, 7,    0x41,
				      0xa1, 1,	  0x01, 2,    0x41, 0x01 };
	uint64_t w[HP_WORDS];

	for (uint32_t i = 0; i < s->packets; i++) {
		send_along(p, el, sizeof(el), NULL, 0, HP_DTAG_ALL, 0, i);
		assert_true(hpproc_wait(p, w));
		assert_int_equal(HP_NQE_CMD(w), HP_B_FAST_SEND | 2);
	}
}

/* L11 */
static void multicast_packet_crosses_each_cable_once(void **state)
{
	struct scene s = { .origin = cast_origin,
			   .packets = 3,
			   .expect = { 0, 3, 3, 3 } };

	scene_run(&s, "4");
	exrig_start(&s.r);
	exrig_run(&s.r);
	for (uint32_t i = 1; i < 4; i++) {
		assert_int_equal(s.got[i], 3);
		assert_int_equal(HP_NQE_CMD(s.last[i]), HP_B_NOTIFY_FAST_RECV);
		assert_int_equal(s.last[i][2], 2);
		assert_int_equal(s.last[i][3], ~2ull);
	}
	/* each cable of the tree carries one packet */
	assert_int_equal(exrig_counter(s.r.node[0].nic, "packets_out"), 3);
	assert_int_equal(exrig_counter(s.r.node[1].nic, "copies"), 6);
	assert_int_equal(exrig_counter(s.r.node[2].nic, "copies"), 6);
	assert_int_equal(exrig_counter(s.r.node[3].nic, "copies"), 0);
	exrig_free(&s.r);
}

static void uncast_origin(struct scene *s, struct hpproc *p)
{
	/* Each list has a wrong branch, without elements or longer than the
	 * list. In the first two lists it is the first branch at node 1. In the
	 * last two it follows a branch to the process of node 1. */
	static const uint8_t el[4][6] = { { 0x41, 0xa1, 0, 0x01 },
					  { 0x41, 0xa1, 3, 0x01 },
					  { 0x41, 0xa1, 1, 0x01, 0, 0x01 },
					  { 0x41, 0xa1, 1, 0x01, 2, 0x01 } };
	static const uint8_t bytes[4] = { 4, 4, 6, 6 };
	uint64_t w[HP_WORDS];

	for (uint32_t i = 0; i < 4; i++) {
		send_along(p, el[i], bytes[i], NULL, 0, HP_DTAG_ALL, 0, i / 3);
		assert_true(hpproc_wait(p, w));
	}
}

/* L11 */
static void a_wrong_list_of_branches_is_counted(void **state)
{
	struct scene s = { .origin = uncast_origin, .expect = { 0, 2 } };

	scene_run(&s, "2");
	exrig_start(&s.r);
	exrig_run(&s.r);
	assert_int_equal(s.got[1], 2);
	assert_int_equal(exrig_counter(s.r.node[1].nic, "copies"), 2);
	assert_int_equal(exrig_counter(s.r.node[1].nic, "bad_packets"), 4);
	exrig_free(&s.r);
}

static void broken_origin(struct scene *s, struct hpproc *p)
{
	/* an element that does not exist, one without a cable, and one that
	 * names the high availability port itself */
	static const uint8_t el[3][2] = { { 0x41, 0xc1 },
					  { 0x41, 0x81 },
					  { 0x41, 0xb1 } };
	static const uint8_t back[] = { 0x51, 0x11 };
	uint64_t w[HP_WORDS];

	for (uint32_t i = 0; i < 3; i++) {
		send_along(p, el[i], 2, back, 2, 2, HP_A, 0);
		assert_true(hpproc_wait(p, w));
		assert_int_equal(HP_NQE_CMD(w),
				 HP_CMD(HP_ERR_ROUTE_BROKEN, 0,
					HP_B_FAST_SEND | HP_A | 2));
	}
}

/* L11 */
static void high_availability(void **state)
{
	struct scene s = { .origin = broken_origin };

	scene_run(&s, "4");
	exrig_start(&s.r);
	exrig_run(&s.r);
	assert_int_equal(exrig_counter(s.r.node[1].nic, "nacks"), 3);
	exrig_free(&s.r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(six_nodes),
		cmocka_unit_test(a_packet_follows_mixed_runs_over_nine_hops),
		cmocka_unit_test(the_origin_hears_of_counts_that_are_wrong),
		cmocka_unit_test(multicast_packet_crosses_each_cable_once),
		cmocka_unit_test(a_wrong_list_of_branches_is_counted),
		cmocka_unit_test(high_availability),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
