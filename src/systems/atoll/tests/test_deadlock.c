/* SPDX-License-Identifier: Apache-2.0 */
/* ATOLL: deadlocks in the mesh and their timer (scenarios L04 and L05 of
 * hostport.md 13.6). */
#include "unit/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "systems/atoll/network/wire.h"
#include "measure/result.h"
#include "systems/atoll/nic/regs_map.h"
#include "weft/atoll.h"
#include "atoll_mesh.h"

/* ---- L04, L05: deadlock ---- */

static const uint8_t ring[4][3] = {
	{ 4, 6, 1 }, { 6, 5, 1 }, { 7, 4, 1 }, { 5, 7, 1 }
};
static const uint32_t before[4] = { 3, 2, 1, 0 };

static void ring_side(struct mesh *r, struct weft_host *h, uint32_t node)
{
	struct atoll_port *p = mesh_open(h, 1, ATOLL_DMA);
	uint64_t w[MESH_WORDS];
	struct atoll_msg m;

	weft_host_sleep(h, 100 * WEFT_US);
	mesh_fill(w, 512, node);
	atoll_send(p, ring[node], 3, 9, w, 4096);
	if (!atoll_recv(p, &m, w, sizeof(w), weft_host_now(h) + 5 * WEFT_MS))
		return;
	assert_int_equal(m.node, before[node]);
	assert_int_equal(m.tag, 9);
	assert_true(mesh_good(w, 512, before[node]));
	r->got[node]++;
}

static uint32_t dl_cycles = 1000; /* cycles of the deadlock timer */

static void manager(struct mesh *r, struct weft_host *h, uint32_t node)
{
	struct atoll_port *p = mesh_open(h, 0, ATOLL_DMA);
	struct atoll_deadlock d;
	struct atoll_msg m;
	uint64_t w[MESH_WORDS];

	atoll_manage(p, dl_cycles);
	if (!atoll_irq_wait(p, 3 * WEFT_MS))
		return;
	r->t[node] = weft_host_now(h);
	weft_host_sleep(h, weft_host_now(h) + (node + 1) * 100 * WEFT_US);
	if (!atoll_deadlock(p, &d))
		return;
	if (!r->recover) {
		r->reported++;
		return;
	}
	assert_true(atoll_retrieve(p, &d));
	r->took++;
	assert_true(atoll_recv(p, &m, w, sizeof(w), WEFT_NEVER));
	assert_true(m.retrieved);
	assert_int_equal(m.n_route, 2);
	assert_int_equal(atoll_again(p, &m, w), 0);
	r->again++;
}

/* L04 */
static void cyclic_packets_are_freed_by_one_retrieval(void **state)
{
	struct mesh r = { .fn = ring_side,
			  .manager = manager,
			  .recover = true };

	mesh_run(&r, 4, 2, NULL, "delay=50ns", false);
	assert_int_equal(mesh_failures(&r), 0);
	assert_int_equal(r.took, 1);
	assert_int_equal(r.again, 1);
	assert_int_equal(mesh_all(&r, "retrieved"), 1);
	assert_true(mesh_all(&r, "deadlocks") >= 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(r.got[i], 1);
	weft_sim_free(r.sim);
}

static bool failed(const struct weft_result *res, const char *text)
{
	for (size_t i = 0; i < res->n_failures; i++)
		if (!strcmp(res->failures[i], text))
			return true;
	return false;
}

static void deadlock_stays(void **state)
{
	struct mesh r = { .fn = ring_side, .manager = manager };
	const struct weft_result *res;
	uint32_t named = 0;

	mesh_run(&r, 4, 2, NULL, "delay=50ns", false);
	res = weft_sim_result(r.sim);
	assert_int_equal(r.reported, 4);
	/* each NIC reports a failure that names its OutPort and both InPorts */
	for (size_t i = 0; i < res->n_failures; i++)
		named += !!strstr(res->failures[i], " waits for it");
	assert_int_equal(named, 4);
	assert_true(failed(res,
			   "n0.nic: deadlock: OutPort 4 is granted to "
			   "InPort 1 and stopped, InPort 6 waits for it"));
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(r.got[i], 0);
	weft_sim_free(r.sim);
}

static void timer_run(struct mesh *r, uint32_t nodes, uint32_t width,
		      uint32_t cycles)
{
	dl_cycles = cycles;
	mesh_run(r, nodes, width, NULL, "delay=50ns", false);
	dl_cycles = 1000;
}

static weft_time_t deadlock_at(uint32_t cycles)
{
	struct mesh r = { .fn = ring_side, .manager = manager };
	weft_time_t t;

	timer_run(&r, 4, 2, cycles);
	assert_int_equal(r.reported, 4);
	t = r.t[0];
	weft_sim_free(r.sim);
	return t;
}

/* L04: the timer expires after the configured number of cycles of 330 MHz. */
static void deadlock_timer(void **state)
{
	weft_time_t more = deadlock_at(9000) - deadlock_at(1000);

	assert_in_range(more, 7900 * (WEFT_SEC / 330000000),
			8100 * (WEFT_SEC / 330000000));
}

/* Sends the same packets as in the deadlock, but one after another. Neither the
 * deadlock condition nor its interrupt occurs. */
static void quiet_side(struct mesh *r, struct weft_host *h, uint32_t node)
{
	struct atoll_port *p = mesh_open(h, 1, ATOLL_DMA);
	uint64_t w[MESH_WORDS];
	struct atoll_msg m;

	weft_host_sleep(h, (node + 1) * 100 * WEFT_US);
	mesh_fill(w, 512, node);
	atoll_send(p, ring[node], 3, 9, w, 4096);
	assert_true(atoll_recv(p, &m, w, sizeof(w), WEFT_NEVER));
	r->got[node]++;
}

/* L05 */
static void no_condition(void **state)
{
	struct mesh r = { .fn = quiet_side, .manager = manager };

	mesh_run(&r, 4, 2, NULL, "delay=50ns", false);
	assert_int_equal(mesh_failures(&r), 0);
	assert_int_equal(mesh_all(&r, "deadlocks"), 0);
	assert_int_equal(mesh_all(&r, "irqs"), 0);
	assert_int_equal(mesh_all(&r, "received"), 4);
	weft_sim_free(r.sim);
}

/* Two neighbours send to a host port of node 1. Its receiver loads the words
 * one by one by PIO. While the host port has no room for a flit, its OutPort is
 * stopped. The OutPort is then granted to the packet of one neighbour, and the
 * packet of the other neighbour requests it. */
static void slow_side(struct mesh *r, struct weft_host *h, uint32_t node)
{
	static const uint8_t route[3][2] = { { 4, 1 }, { 0 }, { 5, 1 } };
	struct atoll_port *p =
		mesh_open(h, 1, node == 1 ? ATOLL_PIO : ATOLL_DMA);
	uint64_t w[MESH_WORDS];
	struct atoll_msg m;

	weft_host_sleep(h, 100 * WEFT_US);
	for (uint32_t i = 0; node != 1 && i < 2; i++) {
		mesh_fill(w, 500, node);
		atoll_send(p, route[node], 2, node, w, 4000);
	}
	for (uint32_t i = 0; node == 1 && i < 4; i++) {
		assert_true(atoll_recv(p, &m, w, sizeof(w), WEFT_NEVER));
		assert_true(mesh_good(w, 500, m.tag));
		r->got[1]++;
	}
}

/* Returns how often the timer expires when it is set to `cycles`. */
static uint64_t slow_run(uint32_t cycles)
{
	struct mesh r = { .fn = slow_side, .manager = manager };
	uint64_t n;

	timer_run(&r, 3, 3, cycles);
	assert_int_equal(mesh_failures(&r), 0);
	assert_int_equal(r.got[1], 4);
	n = mesh_all(&r, "deadlocks");
	assert_int_equal(mesh_all(&r, "irqs") > 0, n > 0);
	weft_sim_free(r.sim);
	return n;
}

/* L05: the deadlock condition holds for a few hundred cycles, ends and begins
 * again. The timer restarts each time. */
static void a_condition_that_goes_resets_the_timer(void **state)
{
	assert_true(slow_run(250) > 100);
	assert_int_equal(slow_run(1500), 0);
}

/* Three host ports of node 0 send through one link, whose receiver accepts no
 * flit. The packet of port 1 is granted and stopped. The packet of port 2 waits
 * behind it until the management retrieves it, long before the timer expires.
 * This ends the condition although no flit has moved. Then the packet of port 3
 * arrives. */
enum { TIMER = 26400 }; /* 80 us */
static weft_time_t condition, fired;

static int send_later(struct weft_host *h, void *arg)
{
	static const uint8_t route[] = { 4, 1 };
	uint32_t i = *(const uint32_t *)arg;
	struct atoll_port *p = mesh_open(h, i, ATOLL_DMA);
	uint64_t w[MESH_WORDS];

	weft_host_sleep(h, i * 100 * WEFT_US);
	condition = weft_host_now(h); /* start of the last sender */
	mesh_fill(w, 1000, i);
	return atoll_send(p, route, 2, i, w, 8000);
}

static void link_side(struct mesh *r, struct weft_host *h, uint32_t node)
{
	static uint32_t port[] = { 1, 2, 3 };
	struct atoll_port *p;
	uint64_t w[MESH_WORDS];
	struct atoll_msg m;

	for (uint32_t i = 0; !node && i < 3; i++)
		assert_non_null(weft_thread_start(h, send_later, &port[i]));
	if (!node)
		return;
	p = mesh_open(h, 1, ATOLL_PIO);
	weft_host_sleep(h, 800 * WEFT_US);
	for (; r->got[1] < 3; r->got[1]++) {
		assert_true(atoll_recv(p, &m, w, sizeof(w), WEFT_NEVER));
		assert_true(mesh_good(w, 1000, m.tag));
	}
}

static void takes_one(struct mesh *r, struct weft_host *h, uint32_t node)
{
	/* atoll_retrieve() restarts the counter of `out`. The test names
	 * OutPort 7, so that the counter of OutPort 4 is not restarted. */
	struct atoll_deadlock d = { .out = 7, .waits = 2 };
	struct atoll_port *p = mesh_open(h, 0, ATOLL_DMA);
	struct atoll_msg m;
	uint64_t w[MESH_WORDS];

	atoll_manage(p, dl_cycles);
	if (node)
		return;
	weft_host_sleep(h, 250 * WEFT_US);
	assert_true(atoll_retrieve(p, &d));
	assert_true(atoll_recv(p, &m, w, sizeof(w), WEFT_NEVER));
	assert_true(atoll_irq_wait(p, 600 * WEFT_US));
	fired = weft_host_now(h);
	assert_true(atoll_deadlock(p, &d));
	assert_int_equal(d.out, 4);
	assert_int_equal(d.granted, 1);
	assert_int_equal(d.waits, 3);
	assert_int_equal(atoll_again(p, &m, w), 0);
	r->again++;
}

/* L05: the timer counts from the beginning of the second condition. */
static void a_condition_that_goes_without_a_flit_resets_the_timer(void **state)
{
	weft_time_t timer = TIMER * (WEFT_SEC / 330000000);
	struct mesh r = { .fn = link_side, .manager = takes_one };

	timer_run(&r, 2, 2, TIMER);
	assert_int_equal(mesh_failures(&r), 0);
	assert_int_equal(mesh_all(&r, "deadlocks"), 1);
	assert_int_equal(mesh_all(&r, "retrieved"), 1);
	assert_int_equal(r.again, 1);
	assert_int_equal(r.got[1], 3);
	assert_in_range(fired, condition + timer, condition + 2 * timer);
	weft_sim_free(r.sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cyclic_packets_are_freed_by_one_retrieval),
		cmocka_unit_test(deadlock_stays),
		cmocka_unit_test(deadlock_timer),
		cmocka_unit_test(no_condition),
		cmocka_unit_test(a_condition_that_goes_resets_the_timer),
		cmocka_unit_test(
			a_condition_that_goes_without_a_flit_resets_the_timer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
