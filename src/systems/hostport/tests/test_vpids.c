/* SPDX-License-Identifier: Apache-2.0 */
/* VPIDs that the Host Port's driver assigns, the time until it assigns them
 * again, and routes of ULTRA to each node (hostport.md 7.8, 9.8). */
#include "unit/cmocka_all.h"

#include <errno.h>
#include <string.h>

#include "hports.h"
#include "systems/hostport/lib/driver.h"
#include "systems/hostport/nic/nic.h"
#include "systems/hostport/nic/wire.h"

static int try_open(struct weft_host *h, int32_t vpid, struct hport **p_p)
{
	struct hport_attr a = { .vpid = vpid };

	a.sizes = (struct hport_sizes){ 4, 4, 4, 4, 8, 8, 0 };
	return hport_open(h, &a, p_p);
}

/* ---- requested VPIDs ---- */

static const int32_t edges[] = { 0, 1, 62, 63, 64, 65, 127, 128, 65535 };
enum { EDGES = sizeof(edges) / sizeof(*edges) };

static int wanted(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p[EDGES], *q;
	weft_time_t closed;

	for (uint32_t i = 0; i < EDGES; i++) {
		assert_int_equal(try_open(h, edges[i], &p[i]), 0);
		assert_int_equal(hport_vpid(p[i]), edges[i]);
	}
	for (uint32_t i = 0; i < EDGES; i++)
		assert_int_equal(try_open(h, edges[i], &q), -EBUSY);
	assert_int_equal(try_open(h, 65536, &q), -EINVAL);
	assert_null(q);
	/* 2 is the lowest VPID that was free */
	assert_int_equal(try_open(h, -1, &q), 0);
	assert_int_equal(hport_vpid(q), 2);
	for (uint32_t i = 0; i < EDGES; i += 2) {
		hport_close(p[i]);
		closed = weft_host_now(h);
		assert_int_equal(try_open(h, edges[i], &p[i]), 0);
		/* the VPID was opened again after its minimum time, and not
		 * much later */
		assert_in_range(weft_host_now(h) - closed, 90 * WEFT_US,
				120 * WEFT_US);
		assert_int_equal(try_open(h, edges[i], &q), -EBUSY);
	}
	for (uint32_t i = 0; i < EDGES; i++)
		hport_close(p[i]);
	return 0;
}

static void a_vpid_has_one_owner_and_rests_between_two(void **state)
{
	HPORTS_ONE(wanted);
}

/* ---- any VPID ---- */

enum { GONE = 5 };

/* Gives each VPID an owner, because then the driver assigns the VPID that has
 * been free longest. */
static int all_had(struct hport_drv *d, void *arg)
{
	memset(d->kernel->used, 0xff, sizeof(d->kernel->used));
	return 0;
}

static int all_taken(struct hport_drv *d, void *arg)
{
	uint64_t *was = arg;

	if (was[0]) {
		memcpy(d->kernel->vpids, was, sizeof(d->kernel->vpids));
		return 0;
	}
	memcpy(was, d->kernel->vpids, sizeof(d->kernel->vpids));
	memset(d->kernel->vpids, 0xff, sizeof(d->kernel->vpids));
	d->kernel->closed.n = 0;
	return 0;
}

static int any_of_them(struct weft_host *h, struct exrig *r, uint32_t node)
{
	static const uint32_t order[GONE] = { 3, 0, 4, 1, 2 };
	struct hport *p[GONE], *q;

	for (uint32_t i = 0; i < GONE; i++) {
		assert_int_equal(try_open(h, -1, &p[i]), 0);
		assert_int_equal(hport_vpid(p[i]), i);
	}
	for (uint32_t i = 0; i < GONE; i++)
		hport_close(p[order[i]]);
	/* the driver assigns a VPID that has had no owner before all others */
	assert_int_equal(try_open(h, -1, &q), 0);
	assert_int_equal(hport_vpid(q), GONE);
	hports.step = 1;
	hports_await(h, 2);
	for (uint32_t i = 0; i < GONE; i++) {
		assert_int_equal(try_open(h, -1, &p[i]), 0);
		assert_int_equal(hport_vpid(p[i]), order[i]);
	}
	hports.step = 3;
	hports_await(h, 4);
	assert_int_equal(try_open(h, -1, &q), -ENOSPC);
	hports.step = 5;
	hports_await(h, 6);
	return 0; /* ends without a close */
}

static int changes_tables(struct weft_host *h, struct exrig *r, uint32_t node)
{
	static uint64_t vpids[HP_VPIDS / 64];

	vpids[0] = 0;
	hports_await(h, 1);
	assert_int_equal(hport_drv_run(h, all_had, NULL), 0);
	hports.step = 2;
	hports_await(h, 3);
	assert_int_equal(hport_drv_run(h, all_taken, vpids), 0);
	hports.step = 4;
	hports_await(h, 5);
	assert_int_equal(hport_drv_run(h, all_taken, vpids), 0);
	hports.step = 6;
	return 0;
}

static void the_vpid_that_rested_longest_comes_first(void **state)
{
	HPORTS_ONE(any_of_them, changes_tables);
}

/* ---- routes of ULTRA ---- */

static int ways(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport *p;

	assert_int_equal(try_open(h, -1, &p), 0);
	for (uint32_t to = 0; to <= r->nodes; to++)
		for (uint32_t np = 0; np < 2; np++) {
			struct hport_c_ultra_route a = { .node = to, .np = np };
			uint8_t el[HP_ROUTE_MAX];
			int n, ret = weft_drv_call(h, weft_dev_open(h, 0),
						   HPORT_C_ULTRA_ROUTE, &a);

			if (to == r->nodes) {
				assert_int_equal(ret, -EHOSTUNREACH);
				continue;
			}
			n = to == node ? 0
				       : hp_route_topo(&r->topo, node, to, el);
			assert_int_equal(ret, 0);
			assert_int_equal(a.n, n + 1);
			assert_memory_equal(a.el, el, n);
			assert_int_equal(a.el[n], HP_EL(np, 1));
		}
	hport_close(p);
	return 0;
}

static void ultra_has_a_way_to_each_node(void **state)
{
	hports_new("3x2x2", NULL);
	for (uint32_t i = 0; i < hports.rig.nodes; i++)
		HPORTS_PROGS(i, ways);
	hports_run();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vpid_has_one_owner_and_rests_between_two),
		cmocka_unit_test(the_vpid_that_rested_longest_comes_first),
		cmocka_unit_test(ultra_has_a_way_to_each_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
