/* SPDX-License-Identifier: Apache-2.0 */
/* ATOLL: a line of nodes, damage, stop and continue (scenarios L01 to L03 and
 * L06 of hostport.md 13.6). */
#include "unit/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "systems/atoll/network/wire.h"
#include "measure/result.h"
#include "systems/atoll/nic/regs_map.h"
#include "weft/atoll.h"
#include "atoll_mesh.h"

/* ---- L01, L06: a line of nodes ---- */

static void line_side(struct mesh *r, struct weft_host *h, uint32_t node)
{
	static const uint8_t route[] = { 4, 4, 4, 4, 2, 7, 7 };
	struct atoll_port *p =
		mesh_open(h, 2, node % 2 ? ATOLL_PIO : ATOLL_DMA);
	uint64_t w[MESH_WORDS];
	struct atoll_msg m;

	if (!node) {
		weft_host_cpu(h, 100 * WEFT_US);
		mesh_fill(w, 8, 5);
		/* the crossbar drops the characters behind the character that
		 * names the host port */
		assert_int_equal(atoll_send(p, route, 7, 0x77, w, 64), 0);
	}
	if (node == 4) {
		assert_true(atoll_recv(p, &m, w, sizeof(w), WEFT_NEVER));
		assert_int_equal(m.bytes, 64);
		assert_int_equal(m.node, 0);
		assert_int_equal(m.port, 2);
		assert_int_equal(m.tag, 0x77);
		assert_true(mesh_good(w, 8, 5));
		r->got[4]++;
	}
}

/* L01, L06 */
static void route_loses_one_character_per_hop_of_30_cycles(void **state)
{
	struct mesh r = { .fn = line_side };
	const struct hist *hop;

	mesh_run(&r, 5, 5, NULL, "delay=50ns", true);
	assert_int_equal(mesh_failures(&r), 0);
	assert_int_equal(r.got[4], 1);
	assert_int_equal(r.chars, 6); /* the first crossbar has used one of the
					 seven characters */
	hop = result_hist_get(weft_sim_result(r.sim), "n2.nic.hop", "cycles");
	assert_non_null(hop);
	assert_int_equal(hop->min, 30);
	assert_int_equal(hop->max, 30);
	hop = result_hist_get(weft_sim_result(r.sim), "n2.nic.fall_through",
			      "cycles");
	assert_int_equal(hop->min, 3);
	assert_int_equal(hop->max, 3);
	weft_sim_free(r.sim);
}

/* ---- L02: damage ---- */

static void damage_side(struct mesh *r, struct weft_host *h, uint32_t node)
{
	static const uint8_t route[] = { 4, 1 };
	struct atoll_port *p = mesh_open(h, 1, ATOLL_DMA);
	uint64_t w[MESH_WORDS];
	struct atoll_msg m;

	if (!node)
		weft_host_cpu(h, 20 * WEFT_US);
	for (uint32_t i = 0; !node && i < 3; i++) {
		mesh_fill(w, 100, i);
		atoll_send(p, route, 2, i, w, 800);
	}
	for (uint32_t i = 0; node && i < 3; i++) {
		if (!atoll_recv(p, &m, w, sizeof(w),
				weft_host_now(h) + WEFT_MS))
			return;
		assert_int_equal(m.tag, r->kind == AT_HEAD ? i + 1 : i);
		assert_true(mesh_good(w, 100, m.tag));
		r->got[1]++;
	}
}

/* Damages one bit of a data flit or of its CRC in each run: bits 0, 37, 74, ...
 * (L02). */
static void damaged_data(void **state)
{
	for (uint32_t bit = 0; bit < 8 * (AT_FLIT + 2); bit += 37) {
		struct mesh r = {
			.fn = damage_side, .hit = 5, .bit = bit, .kind = AT_DATA
		};

		mesh_run(&r, 2, 2, NULL, "delay=50ns", true);
		assert_int_equal(mesh_failures(&r), 0);
		assert_int_equal(r.got[1], 3);
		assert_true(mesh_counter(r.nic[1], "bad_flits") >= 1);
		assert_true(mesh_counter(r.nic[0], "resent") >= 1);
		assert_int_equal(mesh_counter(r.nic[1], "received"), 3);
		weft_sim_free(r.sim);
	}
}

/* A routing character with one wrong bit sends the packet to the management
 * (L02). */
static void damaged_route(void **state)
{
	for (uint32_t bit = 0; bit < 8; bit++) {
		struct mesh r = {
			.fn = damage_side, .hit = 1, .bit = bit, .kind = AT_HEAD
		};

		mesh_run(&r, 2, 2, NULL, "delay=50ns", true);
		assert_int_equal(mesh_counter(r.nic[1], "parity"), 1);
		assert_int_equal(mesh_counter(r.nic[1], "irqs"), 1);
		assert_int_equal(r.got[1], 2);
		weft_sim_free(r.sim);
	}
}

/* Node 1 sends to node 0, whose state flits are damaged. */
static void backward_side(struct mesh *r, struct weft_host *h, uint32_t node)
{
	static const uint8_t route[] = { 5, 1 };
	struct atoll_port *p = mesh_open(h, 1, ATOLL_DMA);
	uint64_t w[MESH_WORDS];
	struct atoll_msg m;

	if (node)
		weft_host_cpu(h, 20 * WEFT_US);
	for (uint32_t i = 0; node && i < 3; i++) {
		mesh_fill(w, 100, i);
		atoll_send(p, route, 2, i, w, 800);
	}
	for (uint32_t i = 0; !node && i < 3; i++) {
		assert_true(atoll_recv(p, &m, w, sizeof(w), WEFT_NEVER));
		assert_int_equal(m.tag, i);
		assert_true(mesh_good(w, 100, i));
		r->got[0]++;
	}
}

/* The receiver ignores a state flit with a wrong bit. No message is lost,
 * because the next state flit also acknowledges the earlier flits (L02). */
static void damaged_state(void **state)
{
	for (uint32_t bit = 0; bit < 8; bit++) { /* bit of the last word */
		struct mesh r = { .fn = backward_side,
				  .hit = 3,
				  .bit = bit,
				  .kind = AT_STATE };

		mesh_run(&r, 2, 2, NULL, "delay=50ns", true);
		assert_int_equal(mesh_failures(&r), 0);
		assert_int_equal(r.got[0], 3);
		assert_int_equal(mesh_counter(r.nic[0], "received"), 3);
		assert_int_equal(mesh_counter(r.nic[0], "bad_flits"), 0);
		weft_sim_free(r.sim);
	}
}

/* ---- L03: stop and continue ---- */

static void flood_side(struct mesh *r, struct weft_host *h, uint32_t node)
{
	static const uint8_t route[] = { 4, 1 };
	struct atoll_port *p = mesh_open(h, 1, node ? ATOLL_PIO : ATOLL_DMA);
	uint64_t w[MESH_WORDS];
	struct atoll_msg m;

	for (uint32_t i = 0; !node && i < 4; i++) {
		mesh_fill(w, 1000, i);
		atoll_send(p, route, 2, i, w, 8000);
	}
	/* the network fills, because loads are slow */
	for (uint32_t i = 0; node && i < 4; i++) {
		assert_true(atoll_recv(p, &m, w, sizeof(w), WEFT_NEVER));
		assert_int_equal(m.tag, i);
		assert_true(mesh_good(w, 1000, i));
		r->got[1]++;
	}
}

/* L03 */
static void stop_continue(void **state)
{
	static const char *const set[] = {
		"", "buffer=1024 stop_free=1023 cont_free=1024",
		"buffer=382 stop_free=380 cont_free=381",
		"t_out=300 buffer=2000 stop_free=1000 cont_free=1001"
	};

	for (uint32_t i = 0; i < 4; i++) {
		struct mesh r = { .fn = flood_side };

		mesh_run(&r, 2, 2, set[i],
			 i == 2 ? "delay=300ns" : "delay=50ns", false);
		assert_int_equal(mesh_failures(&r), 0);
		assert_int_equal(r.got[1], 4);
		assert_true(mesh_counter(r.nic[1], "stops") > 4);
		assert_int_equal(mesh_all(&r, "overflows"), 0);
		weft_sim_free(r.sim);
	}
}

/* L03: between stop and continue a buffer frees at least cont_free - stop_free
 * bytes. Therefore the number of bytes sent limits the number of stops. */
static void a_link_continues_at_the_higher_threshold(void **state)
{
	enum { BYTES = 4 * 8000, STEP = 1024 };
	struct mesh r = { .fn = flood_side };

	mesh_run(&r, 2, 2, "buffer=2048 stop_free=512 cont_free=1536",
		 "delay=50ns", false);
	assert_int_equal(mesh_failures(&r), 0);
	assert_int_equal(r.got[1], 4);
	assert_in_range(mesh_counter(r.nic[1], "stops"), 5, BYTES / STEP + 1);
	weft_sim_free(r.sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			route_loses_one_character_per_hop_of_30_cycles),
		cmocka_unit_test(damaged_data),
		cmocka_unit_test(damaged_route),
		cmocka_unit_test(damaged_state),
		cmocka_unit_test(stop_continue),
		cmocka_unit_test(a_link_continues_at_the_higher_threshold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
