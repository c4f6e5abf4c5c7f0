/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong routes from management software (extoll.md T-29). Hosts see an event
 * and a counter for a packet with such a route, and the next packet arrives. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "exrig.h"
#include "systems/extoll/lib/driver.h"
#include "weft/velo.h"

enum { NODES = 4, TO = 2 };

struct scene {
	struct exrig r;
	uint8_t port[4]; /* ports of the wrong route to node 2 */
	uint32_t n;
	uint64_t event[NODES], discard[NODES];
	uint32_t got[NODES];
};

static int sender(struct weft_host *h, struct exrig *r, uint32_t node)
{
	static const uint8_t right[] = { 3, 3 };
	struct scene *s = (struct scene *)r;
	struct velo_connection c;
	struct velo_port *p;
	struct extoll_drv d;

	assert_int_equal(velo_open(h, NULL, &p), VELO_SUCCESS);
	assert_int_equal(extoll_drv_open(h, &d), 0);
	weft_host_cpu(h, 20 * WEFT_US);
	velo_connect(p, &c, TO, 0);
	extoll_drv_route(&d, TO, s->port, s->n);
	extoll_drv_load(&d, EXTOLL_NODE_ID); /* it is there */
	velo_send(&c, "wrong", 5, 1, 0);
	extoll_drv_drain(&d);
	weft_host_cpu(h, 5 * WEFT_US);
	extoll_drv_route(&d, TO, right, 2);
	extoll_drv_load(&d, EXTOLL_NODE_ID);
	velo_send(&c, "right", 5, 2, 0);
	extoll_drv_drain(&d);
	return 0;
}

static int receiver(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct scene *s = (struct scene *)r;
	struct velo_port *p;
	struct extoll_drv d;
	uint32_t tag, len;
	char buf[64];

	assert_int_equal(velo_open(h, NULL, &p), VELO_SUCCESS);
	assert_int_equal(extoll_drv_open(h, &d), 0);
	if (velo_wait(p, weft_host_now(h) + 100 * WEFT_US)) {
		assert_int_equal(velo_recv(p, buf, NULL, &tag, NULL, &len),
				 VELO_SUCCESS);
		assert_int_equal(tag, 2);
		assert_memory_equal(buf, "right", 5);
		s->got[node]++;
	}
	s->event[node] = extoll_drv_event(&d);
	s->discard[node] = extoll_drv_load(
		&d, EXTOLL_VELO_DISCARD + 8 * EXTOLL_DISCARD_MISROUTED);
	return 0;
}

/* Checks the event of a packet that the crossbar dropped (2.7). */
static void check_drop(uint64_t e)
{
	assert_int_equal(EXTOLL_EVENT_KIND(e), EXTOLL_EV_LINK);
	assert_int_equal(EXTOLL_EVENT_LP(e), EXTOLL_LP_XBAR);
	assert_int_equal(EXTOLL_EVENT_LINK(e), EXTOLL_LINK_ERROR);
}

/* Sends a packet with a wrong route. If `illegal`, crossbar `at` must drop it,
 * else NIC `at` must discard it as misrouted. */
static void wrong(const uint8_t *port, uint32_t n, uint32_t at, bool illegal)
{
	struct scene s = { .n = n };
	struct exrig *r = &s.r;

	memcpy(s.port, port, n);
	exrig_new(r, "4");
	exrig_set(r, "extoll.nic", "error_events", "yes");
	exrig_prog(r, 0, sender);
	for (uint32_t i = 0; i < NODES; i++)
		if (i || at == 0)
			exrig_prog(r, i, receiver);
	exrig_start(r);
	exrig_run(r);
	for (uint32_t i = 0; i < NODES; i++) {
		uint64_t drops = exrig_counter(r->node[i].xbar, "illegal") +
				 exrig_counter(r->node[i].xbar, "no_port");

		assert_int_equal(drops, illegal && i == at);
		assert_int_equal(s.discard[i], !illegal && i == at);
		assert_int_equal(s.got[i], i == TO);
		if (illegal && i == at) {
			check_drop(s.event[i]);
			continue;
		}
		if (illegal || i != at) {
			assert_true(!s.event[i]);
			continue;
		}
		assert_int_equal(EXTOLL_EVENT_KIND(s.event[i]),
				 EXTOLL_EV_VELO_DISCARD);
		assert_int_equal(EXTOLL_EVENT_NODE(s.event[i]), 0);
		assert_int_equal(EXTOLL_EVENT_INFO(s.event[i]),
				 EXTOLL_DISCARD_MISROUTED);
	}
	exrig_free(r);
}

static void test_other_node(void **state)
{
	wrong((const uint8_t[]){ 3 }, 1, 1, false);
	wrong((const uint8_t[]){ 4 }, 1, 3, false);
	wrong((const uint8_t[]){ 3, 3, 3 }, 3, 3, false);
}

static void test_illegal_nibble_is_discarded_at_its_hop(void **state)
{
	for (uint8_t nib = 9; nib <= 13; nib++) {
		wrong(&nib, 1, 0, true);
		wrong((const uint8_t[]){ 3, nib }, 2, 1, true);
	}
	/* a port without a cable */
	wrong((const uint8_t[]){ 3, 7 }, 2, 1, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_node),
		cmocka_unit_test(test_illegal_nibble_is_discarded_at_its_hop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
