/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the crossbar of net.router that is not pipelined. Measures the cycles
 * of single packets over two routers. */
#include "unit/cmocka_all.h"

#include <stdio.h>

#include "systems/router/network/router.h"
#include "systems/router/tests/bench.h"

enum { CROSS = 4, PACKETS = 4 };

/* Two routers with an end each. End 0 sends the packets. */
struct line_of_two {
	struct bench b;
	uint64_t latency[PACKETS];
	uint32_t n;
};

static void seen(void *own, const struct packet *p, uint64_t cycle)
{
	struct line_of_two *t = own;

	assert_true(t->n < PACKETS);
	t->latency[t->n++] = cycle - p->measured.injected;
}

/* Sends PACKETS packets. Each packet is sent when the previous packet has
 * arrived. */
static void run(struct line_of_two *t, const char *flits, const char *pipelined)
{
	static const struct net_shape shape = { 1, { 2 } };
	char router[80], end[80];

	*t = (struct line_of_two){ 0 };
	snprintf(router, sizeof(router),
		 "t_route=0 speculative=yes t_cross=4 pipelined=%s", pipelined);
	snprintf(end, sizeof(end),
		 "pattern=neighbour flits=%s outstanding=1 batch=4 packets=4",
		 flits);
	bench_init(&t->b, "mesh", &shape, "dimension_order");
	bench_seen(&t->b, seen, t);
	bench_add(&t->b, &weft_class_net_router, router, end);
	bench_set(t->b.end[1], "pattern=none batch=0");
	bench_start(&t->b);
	weft_sim_run(t->b.sim, WEFT_MS);
	assert_int_equal(t->n, PACKETS);
	bench_fini(&t->b);
}

/* Latency of a single flit over three cables of 2 cycles each and two routers.
 * Allocation takes 1 cycle. */
enum { ALONE = 3 * 2 + 2 * (1 + CROSS) - 2 };

static void first_flit_finds_the_crossbar_empty(void **state)
{
	struct line_of_two t;

	run(&t, "1", "no");
	for (uint32_t i = 0; i < PACKETS; i++)
		assert_int_equal(t.latency[i], ALONE);
	run(&t, "1", "yes");
	for (uint32_t i = 0; i < PACKETS; i++)
		assert_int_equal(t.latency[i], ALONE);
}

static void crossbar_takes_flits_again_when_those_before_have_left(void **state)
{
	struct line_of_two t;

	run(&t, "3", "no");
	for (uint32_t i = 0; i < PACKETS; i++)
		assert_int_equal(t.latency[i], ALONE + 2 * CROSS);
	run(&t, "3", "yes");
	for (uint32_t i = 0; i < PACKETS; i++)
		assert_int_equal(t.latency[i], ALONE + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_flit_finds_the_crossbar_empty),
		cmocka_unit_test(
			crossbar_takes_flits_again_when_those_before_have_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
