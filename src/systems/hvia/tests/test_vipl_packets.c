/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of the kernel agent on the line, byte by byte
 * (systems/hvia/lib/agent_packets.c; hvia.md 6.3): packets of a client, a
 * server and peers, and repetitions of unanswered ones. */
#include "viprig.h"

#include <string.h>

#include "hvline.h"
#include "systems/hvia/lib/vipl_internal.h"

enum {
	REQ = HVIA_T_CONN_REQ,
	ACCEPT = HVIA_T_CONN_ACCEPT,
	REJECT = HVIA_T_CONN_REJECT,
	ACK = HVIA_T_CONN_ACK,
	LEAVE = HVIA_T_DISCONNECT,
	NO_MATCH = HVIA_T_NO_MATCH,
	BYTES = 104
};

static const char here[] = "client's", there[] = "the server";

/* Runs both programs and records the packets that node 0 sends. */
static void run(node_fn zero, node_fn one)
{
	struct bench *b = viprig_bench();

	hvline_watch(b);
	viprig_run(b, zero, one);
	bench_free(b);
}

struct packet {
	uint32_t type, dst_vi, src_vi, word;
	/* attr: the packet contains the attributes of the VI. peer: the request
	 * is that of a peer */
	bool attr, peer;
	const char *from, *to;
};

static void text_is(uint32_t i, uint32_t at, const char *text)
{
	char want[16] = { 0 };

	memcpy(want, text, strlen(text));
	assert_memory_equal(hvline.data[i] + at, want, sizeof(want));
}

static void packet_is(uint32_t i, const struct packet *p)
{
	static const uint8_t head[14] = { 2, 0, 0, 0, 0, 1,    2,
					  0, 0, 0, 0, 0, 0x88, 0xb5 };

	assert_true(i < hvline.n);
	assert_int_equal(hvline.len[i], BYTES);
	assert_memory_equal(hvline.data[i], head, sizeof(head));
	assert_int_equal(hvline_field(i, 14, 1), p->type);
	assert_int_equal(hvline_field(i, 15, 1), 0);
	assert_int_equal(hvline_field(i, 16, 2), p->dst_vi);
	assert_int_equal(hvline_field(i, 18, 2), p->src_vi);
	assert_int_equal(hvline_field(i, 20, 2), p->word);
	assert_int_equal(hvline_field(i, 22, 2), 0);
	assert_int_not_equal(hvline_field(i, 42, 8), 0);
	assert_int_equal(hvline_field(i, 50, 4), p->attr ? 1 << 21 : 0);
	assert_int_equal(hvline_field(i, 54, 2),
			 p->attr ? VIP_SERVICE_UNRELIABLE : 0);
	assert_int_equal(hvline_field(i, 56, 1),
			 (p->peer ? 1 : 0) | (p->attr ? 2 : 0));
	assert_int_equal(hvline_field(i, 57, 1), strlen(p->from));
	assert_int_equal(hvline_field(i, 58, 1), strlen(p->to));
	assert_int_equal(hvline_field(i, 60, 8), p->attr ? 5 : 0);
	text_is(i, 68, p->from);
	text_is(i, 84, p->to);
}

static uint64_t id_of(uint32_t i)
{
	return hvline_field(i, 42, 8);
}

/* Opens VI 2 of its node, with quality of service 5. */
static void open_third(struct side *s, struct weft_host *h, struct bench *b)
{
	VIP_VI_HANDLE second;

	side_open(s, h, b, "hvia0", 4096);
	s->attr.QoS = (VIP_QOS)5;
	side_vi(s, &second);
	side_vi(s, &s->vi);
}

/* ---- client and server ---- */

static VIP_RETURN dial(struct side *s, const char *from, const char *to)
{
	uint32_t me = weft_host_node(s->h);
	union vip_addr a, z;
	VIP_VI_ATTRIBUTES attr;

	vip_addr(s, me, from, &a);
	vip_addr(s, !me, to, &z);
	return VipConnectRequest(s->vi, &a.a, &z.a, 50, &attr);
}

static VIP_CONN_HANDLE listen_for(struct side *s, const char *as)
{
	union vip_addr a, from;
	VIP_VI_ATTRIBUTES attr;
	VIP_CONN_HANDLE conn;

	vip_addr(s, weft_host_node(s->h), as, &a);
	ok(VipConnectWait(s->nic, &a.a, 50, &from.a, &attr, &conn));
	assert_int_equal(from.a.HostAddressLen, 6);
	assert_int_equal(from.bytes[9], !weft_host_node(s->h));
	assert_int_equal(from.a.DiscriminatorLen, strlen(here));
	assert_memory_equal(from.bytes + 10, here, strlen(here));
	assert_int_equal(attr.MaxTransferSize, 1 << 21);
	assert_ptr_equal(attr.QoS, (VIP_QOS)5);
	assert_int_equal(attr.ReliabilityLevel, VIP_SERVICE_UNRELIABLE);
	assert_true(attr.EnableRdmaWrite && !attr.EnableRdmaRead);
	return conn;
}

static int client(struct weft_host *h, struct bench *b)
{
	struct side s;

	open_third(&s, h, b);
	assert_int_equal(dial(&s, here, there), VIP_NO_MATCH);
	meet(&s, "first");
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	assert_int_equal(dial(&s, here, there), VIP_REJECT);
	meet(&s, "second");
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	ok(dial(&s, here, there));
	ok(VipDisconnect(s.vi));
	meet(&s, "end");
	weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	weft_host_exit(h, 0);
}

static int server(struct weft_host *h, struct bench *b)
{
	struct side s;

	open_third(&s, h, b);
	meet(&s, "first");
	ok(VipConnectReject(listen_for(&s, there)));
	meet(&s, "second");
	ok(VipConnectAccept(listen_for(&s, there), s.vi));
	meet(&s, "end");
	weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	weft_host_exit(h, 0);
}

/* Checks the packets that the client sends after NO_MATCH, REJECT and ACCEPT
 * have arrived. */
static void a_client_asks_acknowledges_and_leaves(void **state)
{
	const struct packet ask = { REQ, 0, 2, 1472, true, false, here, there };

	run(client, server);
	assert_int_equal(hvline.n, 5);
	for (uint32_t i = 0; i < 3; i++)
		packet_is(i, &ask);
	packet_is(3,
		  &(struct packet){ ACK, 2, 2, 0, false, false, here, there });
	packet_is(4, &(struct packet){ LEAVE, 2, 2, 0, false, false, "", "" });
	assert_int_equal(id_of(3), id_of(2));
	assert_int_equal(id_of(4), id_of(2));
	assert_int_not_equal(id_of(1),
			     id_of(2)); /* each connection has its own id */
	assert_int_not_equal(id_of(0), id_of(1));
}

/* Checks the packets that the server sends in reply to client(). */
static void a_server_refuses_accepts_and_acknowledges(void **state)
{
	run(server, client);
	assert_int_equal(hvline.n, 4);
	packet_is(0, &(struct packet){ NO_MATCH, 2, 0, 0, false, false, there,
				       here });
	packet_is(1, &(struct packet){ REJECT, 2, 0, 0, false, false, there,
				       here });
	packet_is(2, &(struct packet){ ACCEPT, 2, 2, 1472, true, false, there,
				       here });
	packet_is(3, &(struct packet){ ACK, 2, 2, 0, false, false, "", "" });
}

/* ---- peers ---- */

static int peer(struct weft_host *h, struct bench *b)
{
	uint32_t me = weft_host_node(h);
	union vip_addr a, z;
	VIP_VI_ATTRIBUTES attr;
	struct side s;

	open_third(&s, h, b);
	vip_addr(&s, me, me ? there : here, &a);
	vip_addr(&s, !me, me ? here : there, &z);
	meet(&s, "begin");
	ok(VipConnectPeerRequest(s.vi, &a.a, &z.a, 50));
	ok(VipConnectPeerWait(s.vi, &attr));
	assert_ptr_equal(attr.QoS, (VIP_QOS)5);
	meet(&s, "end");
	weft_host_exit(h, 0);
}

/* The peer with the lower address answers the other peer's request. */
static void peers_ask_each_other_and_the_lower_one_accepts(void **state)
{
	run(peer, peer);
	packet_is(0,
		  &(struct packet){ REQ, 0, 2, 1472, true, true, here, there });
	packet_is(1, &(struct packet){ ACCEPT, 2, 2, 1472, true, true, here,
				       there });
	assert_int_not_equal(id_of(0), id_of(1)); /* the accept has the id of
						     the peer's request */
}

/* ---- silence ---- */

static int asks_nobody(struct weft_host *h, struct bench *b)
{
	union vip_addr a, z;
	VIP_VI_ATTRIBUTES attr;
	struct side s;

	open_third(&s, h, b);
	vip_addr(&s, 0, here, &a);
	vip_addr(&s, 1, there, &z);
	z.bytes[9] = 77; /* no station */
	assert_int_equal(VipConnectRequest(s.vi, &a.a, &z.a, 1000, &attr),
			 VIP_TIMEOUT);
	weft_host_exit(h, 0);
}

/* The agent repeats a request after 1, 2, 4 .. 64 ms and then every 100 ms. It
 * lengthens each delay by up to a quarter. The first eight packets take 127 to
 * 159 ms. Therefore the agent sends 14 to 17 packets in a second. */
static void a_request_is_repeated_later_and_later(void **state)
{
	run(asks_nobody, NULL);
	assert_in_range(hvline.n, 14, 17);
	for (uint32_t i = 1; i < hvline.n; i++)
		assert_memory_equal(hvline.data[i], hvline.data[0], BYTES);
}

/* ---- packets made by hand ---- */

enum { FLOOD = HVIA_REQUESTS + 50 };

static struct hvrig rig; /* card of node 1, which has no agent */

static void put(uint8_t *p, uint64_t v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static uint32_t own_vi = 7;

/* Sends a packet to node 0 about its VI 2 and the VI of this node. */
static void say(uint32_t type, uint64_t id, const char *to)
{
	uint8_t f[BYTES] = { 2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0x88, 0xb5 };

	f[14] = (uint8_t)type;
	put(f + 16, 2, 2);
	put(f + 18, own_vi, 2);
	put(f + 20, 1472, 2);
	put(f + 42, id, 8);
	put(f + 50, 1 << 21, 4);
	put(f + 54, VIP_SERVICE_UNRELIABLE, 2);
	f[56] = 2;
	f[57] = (uint8_t)strlen(here);
	f[58] = (uint8_t)strlen(to);
	put(f + 60, 5, 8);
	memcpy(f + 68, here, strlen(here));
	memcpy(f + 84, to, strlen(to));
	for (uint32_t i = 0; i < BYTES; i += 8)
		hvrig_store(&rig, HVIA_KTX + i, *(uint64_t *)(f + i));
	hvrig_store(&rig, HVIA_KTX_LENGTH, BYTES);
	while (hvrig_load(&rig, HVIA_KTX_LENGTH))
		;
}

/* Takes the next packet from node 0. Returns its type, and in *id_p the id of
 * its connection. */
static uint32_t heard(uint64_t *id_p)
{
	uint64_t w[2];
	uint32_t type;

	while (!hvrig_load(&rig, HVIA_KRX_LENGTH))
		weft_host_sleep(rig.h, weft_host_now(rig.h) + WEFT_US);
	type = (uint32_t)hvrig_load(&rig, HVIA_KRX_TYPE);
	w[0] = hvrig_load(&rig, HVIA_KRX + 40);
	w[1] = hvrig_load(&rig, HVIA_KRX + 48);
	*id_p = w[0] >> 16 | w[1] << 48;
	hvrig_store(&rig, HVIA_KRX_LENGTH, 0);
	return type;
}

static int answers_late(struct weft_host *h, struct bench *b)
{
	VIP_CONN_HANDLE conn;
	struct side s;

	open_third(&s, h, b);
	weft_oob_put(h, "listens", 1);
	conn = listen_for(&s, there);
	weft_oob_put(h, "asked", 1);
	weft_oob_get(h, "flooded");
	ok(VipConnectAccept(conn, s.vi));
	weft_oob_get(h, "end");
	weft_host_exit(h, 0);
}

/* Sends more requests than the agent keeps. The agent forgets requests that it
 * has answered, but keeps request 77, which the program has not answered yet.
 * The agent answers an answered request again when it is repeated. */
static int floods(struct weft_host *h, struct bench *b)
{
	uint64_t id;

	hvrig_open(&rig, h);
	weft_oob_get(h, "listens");
	weft_host_sleep(h, weft_host_now(h) + 200 * WEFT_US);
	say(REQ, 77, there);
	weft_oob_get(h, "asked");
	for (uint32_t i = 0; i < FLOOD; i++) {
		say(REQ, 1000 + i, "absent");
		assert_int_equal(heard(&id), NO_MATCH);
		assert_int_equal(id, 1000 + i);
		if (i % 100)
			continue;
		say(REQ, 1000 + i, "absent"); /* repeated */
		assert_int_equal(heard(&id), NO_MATCH);
		say(REQ, 77, there); /* the request has no answer yet */
	}
	weft_oob_put(h, "flooded", 1);
	assert_int_equal(heard(&id), ACCEPT);
	assert_int_equal(id, 77);
	say(REQ, 77, there);
	assert_int_equal(heard(&id), ACCEPT);
	say(ACK, 78, there); /* an acknowledgement of another connection */
	say(ACK, 77, there);
	weft_host_sleep(h, weft_host_now(h) + 20 * WEFT_US);
	/* a disconnect without a connection, which is only acknowledged */
	say(LEAVE, 79, there);
	assert_int_equal(heard(&id), ACK);
	assert_int_equal(id, 79);
	weft_oob_put(h, "end", 1);
	return 0;
}

static void an_open_request_is_kept_among_others(void **state)
{
	struct bench *b = viprig_bench();

	viprig_run(b, answers_late, floods);
	assert_false(weft_progs_running(b->sim));
	bench_free(b);
}

static int asks(struct weft_host *h, struct bench *b)
{
	const struct hvia_kvi *k;
	struct side s;

	open_third(&s, h, b);
	k = &vipl_nic(s.nic)->client->agent->vi[2];
	ok(dial(&s, here, there));
	assert_int_equal(k->remote_vi, 7);
	weft_oob_put(h, "connected", 1);
	weft_oob_get(h, "end");
	assert_int_equal(k->conn, HVIA_CONN_UP);
	assert_int_equal(k->remote_vi, 7);
	weft_host_exit(h, 0);
}

/* Takes the next packet that is not a request. Skips requests, because node 0
 * repeats a request that has no answer. */
static uint32_t heard_but_req(uint64_t *id_p)
{
	uint32_t type;

	while ((type = heard(id_p)) == REQ)
		;
	return type;
}

static void accepts(uint64_t id, uint32_t answer)
{
	uint64_t got;

	say(ACCEPT, id, there);
	assert_int_equal(heard_but_req(&got), answer);
	assert_int_equal(got, id);
}

static int accepts_wrongly(struct weft_host *h, struct bench *b)
{
	uint64_t id;

	hvrig_open(&rig, h);
	assert_int_equal(heard(&id), REQ);
	say(REJECT, id + 1, there);
	say(NO_MATCH, id + 1, there);
	accepts(id + 1, LEAVE);
	accepts(id, ACK);
	weft_oob_get(h, "connected");
	own_vi = 8;
	accepts(id, ACK);
	accepts(id + 1, LEAVE);
	own_vi = 7;
	weft_oob_put(h, "end", 1);
	return 0;
}

/* Node 1 sends answers with the id of another request, which must have no
 * effect. After the right answer it sends a second accept from another VI,
 * which must not connect that VI. */
static void an_answer_to_another_request_is_none(void **state)
{
	struct bench *b = viprig_bench();

	viprig_run(b, asks, accepts_wrongly);
	assert_false(weft_progs_running(b->sim));
	bench_free(b);
}

static int has_an_agent(struct weft_host *h, struct bench *b)
{
	struct side s;

	open_third(&s, h, b);
	weft_oob_put(h, "open", 1);
	weft_oob_get(h, "end");
	weft_host_exit(h, 0);
}

/* Sends packets with one invalid field each, which the agent ignores. The agent
 * answers the valid request with NO_MATCH. */
static int asks_wrongly(struct weft_host *h, struct bench *b)
{
	uint64_t id;

	hvrig_open(&rig, h);
	weft_oob_get(h, "open");
	weft_host_sleep(h, weft_host_now(h) + 200 * WEFT_US);
	/* ignored, because no connection has the id 0 */
	say(REQ, 0, "absent");
	own_vi = HVIA_VIS;
	say(REQ, 5, "absent");
	own_vi = 7;
	say(NO_MATCH + 1, 6, "absent");
	weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	assert_int_equal(hvrig_load(&rig, HVIA_KRX_LENGTH), 0);
	say(REQ, 8, "absent");
	assert_int_equal(heard(&id), NO_MATCH);
	assert_int_equal(id, 8);
	weft_oob_put(h, "end", 1);
	return 0;
}

static void a_request_with_a_field_that_cannot_be_has_no_answer(void **state)
{
	struct bench *b = viprig_bench();

	viprig_run(b, has_an_agent, asks_wrongly);
	assert_false(weft_progs_running(b->sim));
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_asks_acknowledges_and_leaves),
		cmocka_unit_test(a_server_refuses_accepts_and_acknowledges),
		cmocka_unit_test(
			peers_ask_each_other_and_the_lower_one_accepts),
		cmocka_unit_test(a_request_is_repeated_later_and_later),
		cmocka_unit_test(an_open_request_is_kept_among_others),
		cmocka_unit_test(an_answer_to_another_request_is_none),
		cmocka_unit_test(
			a_request_with_a_field_that_cannot_be_has_no_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
