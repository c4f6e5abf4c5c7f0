/* SPDX-License-Identifier: Apache-2.0 */
/* Many connections of VIPL (hvia.md 6.3). Measures the time until all are made.
 * Checks that both sides notice the end of each connection, with and without
 * losses. */
#include "viprig.h"

#include <stdlib.h>
#include <string.h>

#include "systems/hvia/lib/vipl_internal.h"

enum { HUNDRED = 100, ALL = HVIA_VIS - 1 };

static void name_of(char *to, uint32_t i)
{
	for (uint32_t k = 0; k < 3; k++)
		to[k] = (char)('a' + (i >> 4 * k & 15));
	to[3] = 0;
}

/* Connects n VIs between the nodes, one after the other. */
static VIP_VI_HANDLE *connect_all(struct side *s, uint32_t n)
{
	VIP_VI_HANDLE *vi = weft_host_calloc(s->h, n, sizeof(*vi));
	char name[4];

	for (uint32_t i = 0; i < n; i++)
		side_vi(s, &vi[i]);
	meet(s, "ready");
	s->b->t[2] = weft_host_now(s->h);
	for (uint32_t i = 0; i < n; i++) {
		name_of(name, i);
		if (weft_host_node(s->h))
			side_request(s, vi[i], 0, name);
		else
			side_wait(s, vi[i], name);
	}
	s->b->t[weft_host_node(s->h)] = weft_host_now(s->h) - s->b->t[2];
	return vi;
}

static VIP_VI_STATE state_of(VIP_VI_HANDLE vi)
{
	VIP_VI_STATE state;
	VIP_VI_ATTRIBUTES a;
	VIP_BOOLEAN x, y;

	ok(VipQueryVi(vi, &state, &a, &x, &y));
	return state;
}

/* ---- connecting ---- */

static int connects(struct weft_host *h, struct bench *b)
{
	struct side s;

	side_open(&s, h, b, "hvia0", 4096);
	connect_all(&s, HUNDRED);
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static void a_hundred_vis_are_connected_at_the_speed_of_the_wire(void **state)
{
	struct bench *b = *state;

	viprig_run(b, connects, connects);
	print_message("%.3f ms\n", (double)b->t[1] / 1e12);
	assert_true(b->t[1] < 9 * WEFT_MS);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(bench_counter(b->node[i].dev, "kernel_lost"),
				 0);
}

/* Both sides send all requests at the same moment. */
static int peers(struct weft_host *h, struct bench *b)
{
	VIP_VI_HANDLE *vi = weft_host_calloc(h, HUNDRED, sizeof(*vi));
	union vip_addr local, remote;
	VIP_VI_ATTRIBUTES a;
	struct side s;
	char name[4];

	side_open(&s, h, b, "hvia0", 4096);
	for (uint32_t i = 0; i < HUNDRED; i++)
		side_vi(&s, &vi[i]);
	meet(&s, "ready");
	b->t[0] = weft_host_now(h);
	for (uint32_t i = 0; i < HUNDRED; i++) {
		name_of(name, i);
		vip_addr(&s, weft_host_node(h), name, &local);
		vip_addr(&s, !weft_host_node(h), name, &remote);
		ok(VipConnectPeerRequest(vi[i], &local.a, &remote.a,
					 VIP_INFINITE));
	}
	for (uint32_t i = 0; i < HUNDRED; i++)
		ok(VipConnectPeerWait(vi[i], &a));
	b->t[1] = weft_host_now(h) - b->t[0];
	meet(&s, "end");
	weft_host_exit(h, 0);
}

static void peers_that_ask_at_once_are_connected(void **state)
{
	struct bench *b = *state;

	viprig_run(b, peers, peers);
	print_message("%.3f ms\n", (double)b->t[1] / 1e12);
	assert_true(b->t[1] < 20 * WEFT_MS);
}

/* ---- ends ---- */

static uint32_t crowd;

static int goes(struct weft_host *h, struct bench *b)
{
	struct side s;

	side_open(&s, h, b, "hvia0", 4096);
	connect_all(&s, crowd);
	meet(&s, "all");
	b->t[3] = weft_host_now(h);
	weft_host_exit(h, 0); /* exits without a disconnect */
}

static void count_lost(VIP_PVOID ctx, VIP_ERROR_DESCRIPTOR *e)
{
	uint32_t *n = ctx;

	if (e->ErrorCode == VIP_ERROR_CONN_LOST)
		n[vipl_vi(e->ViHandle)->vi]++;
	else
		n[HVIA_VIS]++;
}

static int learns(struct weft_host *h, struct bench *b)
{
	static uint32_t lost[HVIA_VIS + 1];
	VIP_VI_HANDLE *vi;
	VIP_DESCRIPTOR *d;
	struct side s;

	memset(lost, 0, sizeof(lost));
	side_open(&s, h, b, "hvia0", 4096);
	ok(VipErrorCallback(s.nic, lost, count_lost));
	vi = connect_all(&s, crowd);
	d = side_desc(&s, 0, 0, 100);
	ok(VipPostRecv(vi[crowd - 1], d, s.handle));
	meet(&s, "all");
	/* the lost connection also flushes the receive of the last VI, which
	 * ends this wait */
	assert_int_equal(VipRecvWait(vi[crowd - 1], VIP_INFINITE, &d),
			 VIP_DESCRIPTOR_ERROR);
	weft_host_sleep(h, b->t[3] + 2 * WEFT_SEC);
	for (uint32_t i = 0; i < crowd; i++) {
		assert_int_equal(state_of(vi[i]), VIP_STATE_ERROR);
		assert_int_equal(lost[vipl_vi(vi[i])->vi], 1);
	}
	assert_int_equal(lost[HVIA_VIS], 0);
	weft_host_exit(h, 0);
}

static void a_thousand_vis_that_end_at_once_are_all_told(void **state)
{
	crowd = ALL;
	viprig_run(*state, learns, goes);
}

static void
every_vi_is_told_over_a_line_that_loses_every_third_frame(void **state)
{
	static const struct vip_fault loss = { &weft_class_fault_drop,
					       { "packets" },
					       { "0.3" } };

	crowd = 40;
	bench_free(viprig_run_with(&loss, learns, goes));
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, viprig_setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_hundred_vis_are_connected_at_the_speed_of_the_wire),
		T(peers_that_ask_at_once_are_connected),
		T(a_thousand_vis_that_end_at_once_are_all_told),
		cmocka_unit_test(
			every_vi_is_told_over_a_line_that_loses_every_third_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
