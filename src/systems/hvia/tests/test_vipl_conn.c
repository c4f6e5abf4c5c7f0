/* SPDX-License-Identifier: Apache-2.0 */
/* VIPL: connections (hvia.md 5.1, 6.3; T-25, T-26, T-27). */
#include "viprig.h"

#include <string.h>

static VIP_VI_STATE state_of(VIP_VI_HANDLE vi)
{
	VIP_VI_ATTRIBUTES a;
	VIP_VI_STATE st;
	VIP_BOOLEAN s, r;

	ok(VipQueryVi(vi, &st, &a, &s, &r));
	return st;
}

static VIP_RETURN ask(struct side *s, const char *disc, VIP_ULONG ms)
{
	union vip_addr local, remote;
	VIP_VI_ATTRIBUTES a;

	vip_addr(s, weft_host_node(s->h), disc, &local);
	vip_addr(s, 1 - weft_host_node(s->h), disc, &remote);
	return VipConnectRequest(s->vi, &local.a, &remote.a, ms, &a);
}

static VIP_RETURN hear(struct side *s, const char *disc, VIP_ULONG ms,
		       VIP_CONN_HANDLE *conn)
{
	union vip_addr local, from;
	VIP_VI_ATTRIBUTES a;

	vip_addr(s, weft_host_node(s->h), disc, &local);
	return VipConnectWait(s->nic, &local.a, ms, &from.a, &a, conn);
}

/* ---- requests that fail ---- */

static int asks(struct weft_host *h, struct bench *b)
{
	struct side s;
	union vip_addr local, none;
	VIP_VI_ATTRIBUTES a;

	side_open(&s, h, b, "hvia0", 4096);
	meet(&s, "a");
	assert_int_equal(ask(&s, "absent", 1000), VIP_NO_MATCH);
	assert_int_equal(state_of(s.vi), VIP_STATE_IDLE);
	assert_int_equal(ask(&s, "absent", 0), VIP_INVALID_PARAMETER);
	/* a station that does not exist, and an address that cannot exist */
	vip_addr(&s, 1, "x", &local);
	vip_addr(&s, 77, "x", &none);
	b->t[0] = weft_host_now(h);
	assert_int_equal(VipConnectRequest(s.vi, &local.a, &none.a, 250, &a),
			 VIP_TIMEOUT);
	b->t[0] = weft_host_now(h) - b->t[0];
	none.bytes[4] = 0xff;
	assert_int_equal(VipConnectRequest(s.vi, &local.a, &none.a, 250, &a),
			 VIP_NOT_REACHABLE);
	/* refused, because no line leads from a card to itself */
	assert_int_equal(VipConnectRequest(s.vi, &local.a, &local.a, 250, &a),
			 VIP_NOT_REACHABLE);
	assert_int_equal(VipConnectPeerRequest(s.vi, &local.a, &local.a, 250),
			 VIP_NOT_REACHABLE);
	/* refused, because the local address is that of another station */
	assert_int_equal(VipConnectRequest(s.vi, &none.a, &local.a, 250, &a),
			 VIP_INVALID_PARAMETER);
	meet(&s, "b");
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	assert_int_equal(ask(&s, "no", 1000), VIP_REJECT);
	meet(&s, "c");
	/* the server refuses these attributes without sending an answer */
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	assert_int_equal(ask(&s, "level", 500), VIP_SUCCESS);
	assert_int_equal(state_of(s.vi), VIP_STATE_CONNECTED);
	assert_int_equal(ask(&s, "again", 500), VIP_INVALID_STATE);
	meet(&s, "d");
	side_close(&s);
	return 0;
}

static int answers(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_CONN_HANDLE conn;
	VIP_VI_HANDLE other;

	side_open(&s, h, b, "hvia0", 4096);
	meet(&s, "a");
	meet(&s, "b");
	ok(hear(&s, "no", VIP_INFINITE, &conn));
	ok(VipConnectReject(conn));
	assert_int_equal(VipConnectReject(NULL), VIP_INVALID_PARAMETER);
	assert_int_equal(hear(&s, "no", 3, &conn), VIP_TIMEOUT);
	meet(&s, "c");
	ok(hear(&s, "level", VIP_INFINITE, &conn));
	s.attr.MaxTransferSize = 4096;
	side_vi(&s, &other);
	assert_int_equal(VipConnectAccept(conn, other), VIP_INVALID_MTU);
	s.attr.MaxTransferSize = 1 << 21;
	s.attr.QoS = (VIP_QOS)3;
	ok(VipSetViAttributes(other, &s.attr));
	assert_int_equal(VipConnectAccept(conn, other), VIP_INVALID_QOS);
	s.attr.QoS = NULL;
	ok(VipSetViAttributes(other, &s.attr));
	assert_int_equal(VipConnectAccept(NULL, other), VIP_INVALID_PARAMETER);
	ok(VipConnectAccept(conn, s.vi)); /* tries again with another VI */
	assert_int_equal(VipSetViAttributes(s.vi, &s.attr), VIP_INVALID_STATE);
	assert_int_equal(state_of(other), VIP_STATE_IDLE);
	ok(VipDestroyVi(other));
	meet(&s, "d");
	side_close(&s);
	return 0;
}

/* T-25 except crossing requests. */
static void test_refused_connection_gives_its_reason(void **state)
{
	struct bench *b = *state;

	viprig_run(b, answers, asks);
	assert_in_range(b->t[0], 250 * WEFT_MS, 251 * WEFT_MS);
}

/* Offers a reliable VI for a request that came from an unreliable VI. */
static int level_server(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_CONN_HANDLE conn;

	side_open(&s, h, b, "hvia0+reliable", 4096);
	ok(VipDestroyVi(s.vi));
	s.attr.ReliabilityLevel = VIP_SERVICE_RELIABLE_RECEPTION;
	side_vi(&s, &s.vi);
	ok(hear(&s, "x", VIP_INFINITE, &conn));
	assert_int_equal(VipConnectAccept(conn, s.vi),
			 VIP_INVALID_RELIABILITY_LEVEL);
	ok(VipConnectReject(conn));
	side_close(&s);
	return 0;
}

static int level_client(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_RETURN ret;

	side_open(&s, h, b, "hvia0", 4096);
	do
		weft_host_sleep(h, weft_host_now(h) + 30 * WEFT_US);
	while ((ret = ask(&s, "x", 1000)) == VIP_NO_MATCH);
	assert_int_equal(ret, VIP_REJECT);
	side_close(&s);
	return 0;
}

static void test_reliable_vi_refuses_an_unreliable_peer(void **state)
{
	viprig_run(*state, level_server, level_client);
}

/* ---- several listeners ---- */

enum { LISTENERS = 3 };

struct listener {
	struct side *s;
	const char *disc;
	VIP_ULONG ms;
	uint32_t ended;
};

static int listens(struct weft_host *h, void *arg)
{
	struct listener *l = arg;
	VIP_CONN_HANDLE conn;

	assert_int_equal(hear(l->s, l->disc, l->ms, &conn), VIP_TIMEOUT);
	l->ended = 1;
	return 0;
}

/* Listeners give up in every order: the oldest, the newest, and one between. A
 * request that comes later finds none of them, and the server listens on. */
static int many_listen(struct weft_host *h, struct bench *b)
{
	static const uint8_t ms[][LISTENERS] = { { 1, 2, 3 }, { 1, 3, 2 },
						 { 2, 1, 3 }, { 2, 3, 1 },
						 { 3, 1, 2 }, { 3, 2, 1 } };
	static const char *const disc[] = { "a", "b", "c" };
	struct side s;
	VIP_CONN_HANDLE conn;

	side_open(&s, h, b, "hvia0", 4096);
	for (uint32_t i = 0; i < sizeof(ms) / sizeof(ms[0]); i++) {
		struct listener l[LISTENERS];

		for (uint32_t k = 0; k < LISTENERS; k++) {
			l[k] = (struct listener){ &s, disc[k], ms[i][k], 0 };
			weft_thread_start(h, listens, &l[k]);
			/* the threads begin to listen one after another */
			weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
		}
		for (uint32_t k = 0; k < LISTENERS; k++)
			while (!l[k].ended)
				weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	}
	meet(&s, "free");
	ok(hear(&s, "last", VIP_INFINITE, &conn));
	ok(VipConnectAccept(conn, s.vi));
	meet(&s, "end");
	side_close(&s);
	return 0;
}

static int asks_later(struct weft_host *h, struct bench *b)
{
	static const char *const disc[] = { "a", "b", "c" };
	struct side s;

	side_open(&s, h, b, "hvia0", 4096);
	meet(&s, "free");
	for (uint32_t k = 0; k < LISTENERS; k++)
		assert_int_equal(ask(&s, disc[k], 1000), VIP_NO_MATCH);
	ok(ask(&s, "last", 1000));
	meet(&s, "end");
	side_close(&s);
	return 0;
}

static void test_listeners_may_give_up_in_any_order(void **state)
{
	viprig_run(*state, many_listen, asks_later);
}

/* ---- the end of a connection ---- */

static int leaves(struct weft_host *h, struct bench *b)
{
	struct side s;
	VIP_DESCRIPTOR *d;
	uint32_t flushed = 0, done = 0;

	side_open(&s, h, b, "hvia0", 1 << 20);
	/* T-27: posts a send in IDLE */
	side_send(&s, side_desc(&s, 0, 0, 100));
	assert_int_equal(side_sent(&s, NULL),
			 VIP_STATUS_DONE | VIP_STATUS_OP_SEND |
				 VIP_STATUS_DESC_FLUSHED_ERROR);
	side_connect(&s);
	for (uint32_t i = 0; i < 8; i++)
		side_send(&s, side_desc(&s, i, 0, 60000));
	side_recv(&s, side_desc(&s, 9, 0, 100));
	assert_true(side_sent(&s, &d));
	ok(VipDisconnect(s.vi)); /* disconnects while data are in flight */
	assert_int_equal(state_of(s.vi), VIP_STATE_IDLE);
	for (uint32_t i = 1; i < 8; i++) {
		uint32_t st = side_sent(&s, &d);

		assert_ptr_equal(d, &s.desc[i].d);
		flushed += (st & VIP_STATUS_DESC_FLUSHED_ERROR) != 0;
		done += st == (VIP_STATUS_DONE | VIP_STATUS_OP_SEND);
	}
	assert_int_equal(flushed + done, 7);
	assert_true(flushed >= 5);
	assert_int_equal(side_received(&s, NULL),
			 VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE |
				 VIP_STATUS_DESC_FLUSHED_ERROR);
	meet(&s, "left");
	/* connects again. Late frames of the first connection must have no
	 * effect. */
	side_connect(&s);
	side_send(&s, side_desc(&s, 0, 5, 77));
	assert_int_equal(side_sent(&s, NULL), VIP_STATUS_DONE);
	meet(&s, "end");
	side_close(&s);
	return 0;
}

static int is_left(struct weft_host *h, struct bench *b)
{
	struct side s;
	uint32_t whole = 0, other = 0;
	VIP_DESCRIPTOR *d;

	side_open(&s, h, b, "hvia0", 1 << 20);
	side_handler(&s);
	for (uint32_t i = 0; i < 10; i++)
		side_recv(&s, side_desc(&s, i, 64000 * i, 64000));
	side_connect(&s);
	side_errors(&s, 1);
	assert_int_equal(s.n_err, 1);
	assert_int_equal(s.err[0].ErrorCode, VIP_ERROR_CONN_LOST);
	assert_int_equal(s.err[0].ResourceCode, VIP_RESOURCE_VI);
	assert_ptr_equal(s.err[0].ViHandle, s.vi);
	assert_int_equal(state_of(s.vi), VIP_STATE_ERROR);
	for (uint32_t i = 0; i < 10; i++) {
		uint32_t st = side_received(&s, &d);

		assert_ptr_equal(d, &s.desc[i].d);
		whole += !(st & VIP_STATUS_ERROR_MASK);
		other += (st & (VIP_STATUS_DESC_FLUSHED_ERROR |
				VIP_STATUS_PARTIAL_ERROR)) != 0;
	}
	assert_int_equal(whole + other, 10);
	assert_true(whole >= 1);
	/* descriptors posted in ERROR are flushed in both queues */
	side_recv(&s, side_desc(&s, 11, 0, 10));
	side_send(&s, side_desc(&s, 12, 0, 10));
	assert_true(side_received(&s, NULL) & VIP_STATUS_DESC_FLUSHED_ERROR);
	assert_true(side_sent(&s, NULL) & VIP_STATUS_DESC_FLUSHED_ERROR);
	assert_int_equal(VipDestroyVi(s.vi), VIP_INVALID_STATE);
	ok(VipDisconnect(s.vi));
	assert_int_equal(state_of(s.vi), VIP_STATE_IDLE);
	side_recv(&s, side_desc(&s, 0, 0, 100));
	assert_int_equal(VipDestroyVi(s.vi), VIP_ERROR_RESOURCE);
	meet(&s, "left");
	side_connect(&s);
	assert_int_equal(side_received(&s, &d),
			 VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE);
	assert_int_equal(d->CS.Length, 77);
	meet(&s, "end");
	side_close(&s);
	return 0;
}

/* T-26, T-27 */
static void test_disconnect_flushes_descriptors(void **state)
{
	viprig_run(*state, is_left, leaves);
}

/* ---- peers ---- */

static VIP_RETURN peer(struct side *s, const char *disc, VIP_ULONG ms)
{
	union vip_addr local, remote;

	vip_addr(s, weft_host_node(s->h), disc, &local);
	vip_addr(s, 1 - weft_host_node(s->h), disc, &remote);
	return VipConnectPeerRequest(s->vi, &local.a, &remote.a, ms);
}

/* Both sides request the connection, at times that differ by `gap`. After the
 * last gap one side requests it alone and times out. */
static int peers(struct weft_host *h, struct bench *b)
{
	static const int gap[] = { 0, 1, -1, 20, -20, 150000, -150000 };
	struct side s;
	VIP_VI_ATTRIBUTES a;
	VIP_DESCRIPTOR *d;
	bool one = weft_host_node(h) == 1;

	side_open(&s, h, b, "hvia0", 4096);
	assert_int_equal(VipConnectPeerDone(s.vi, &a), VIP_INVALID_STATE);
	for (uint32_t i = 0; i < 7; i++) {
		char name[8] = { 'p', (char)('0' + i), 0 };
		int late = one ? gap[i] : -gap[i];

		side_recv(&s, side_desc(&s, 0, 0, 8));
		meet(&s, name);
		if (late > 0)
			weft_host_sleep(h, weft_host_now(h) +
						   (uint32_t)late * WEFT_US);
		ok(peer(&s, name, 1000));
		if (i % 2) {
			ok(VipConnectPeerWait(s.vi, &a));
		} else {
			while (VipConnectPeerDone(s.vi, &a) == VIP_NOT_DONE)
				weft_host_cpu(h, WEFT_US);
			ok(VipConnectPeerDone(s.vi, &a));
		}
		assert_int_equal(a.MaxTransferSize, 1 << 21);
		s.data[100] = (uint8_t)(i + one);
		side_send(&s, side_desc(&s, 1, 100, 1));
		assert_int_equal(side_sent(&s, NULL), VIP_STATUS_DONE);
		assert_true(side_received(&s, &d) & VIP_STATUS_DONE);
		assert_int_equal(s.data[0], i + !one);
		name[0] = 'q';
		meet(&s, name);
		ok(VipDisconnect(s.vi));
		name[0] = 'r';
		meet(&s, name);
		weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
		ok(VipDisconnect(s.vi));
	}
	if (one) {
		ok(peer(&s, "alone", 120));
		assert_int_equal(VipConnectPeerWait(s.vi, &a), VIP_TIMEOUT);
		assert_int_equal(state_of(s.vi), VIP_STATE_IDLE);
	}
	meet(&s, "end");
	side_close(&s);
	return 0;
}

static void test_peer_requests_meet_at_any_delay(void **state)
{
	viprig_run(*state, peers, peers);
}

/* Two clients send a request to each other, but neither listens. */
static int crosses(struct weft_host *h, struct bench *b)
{
	struct side s;

	side_open(&s, h, b, "hvia0", 4096);
	meet(&s, "x");
	assert_int_equal(ask(&s, "cross", 100), VIP_NO_MATCH);
	meet(&s, "y");
	side_close(&s);
	return 0;
}

/* T-25: crossing requests. */
static void test_crossing_requests_connect(void **state)
{
	viprig_run(*state, crosses, crosses);
}

/* ---- numbers of packets ---- */

/* Returns both sequence numbers of VI 0, 16 bits each: of the packet that the
 * card expects next, and of the packet that it sends next. */
static uint32_t numbers_of(struct bench *b, uint32_t node)
{
	return (uint32_t)(weft_reg_load(b->node[node].dev, 1 + HVIA_BAR_CTRL,
					(uint32_t)hvia_vi_entry(0, HVIA_VI_1),
					8) >>
			  32);
}

static int connects_thrice(struct weft_host *h, struct bench *b)
{
	static const char *const name[] = { "0", "1", "2", "3", "4", "5" };
	uint32_t node = weft_host_node(h);
	struct side s;

	side_open(&s, h, b, "hvia0", 4096);
	for (uint32_t i = 0; i < 3; i++) {
		side_connect(&s);
		b->v[4 * node + i] = numbers_of(b, node);
		meet(&s, name[i]);
		ok(VipDisconnect(s.vi));
		meet(&s, name[3 + i]);
		weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
		ok(VipDisconnect(s.vi));
	}
	side_close(&s);
	return 0;
}

/* Both sides of a connection begin with equal numbers. Each connection begins
 * with other numbers, so that the card refuses a late packet of an earlier
 * connection. */
static void test_connections_begin_with_different_numbers(void **state)
{
	struct bench *b = *state;

	viprig_run(b, connects_thrice, connects_thrice);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(b->v[i], b->v[4 + i]);
		assert_int_equal(b->v[i] >> 16, b->v[i] & 0xffff);
		assert_int_not_equal(b->v[i], b->v[(i + 1) % 3]);
	}
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, viprig_setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_refused_connection_gives_its_reason),
		T(test_reliable_vi_refuses_an_unreliable_peer),
		T(test_listeners_may_give_up_in_any_order),
		T(test_disconnect_flushes_descriptors),
		T(test_peer_requests_meet_at_any_delay),
		T(test_crossing_requests_connect),
		T(test_connections_begin_with_different_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
