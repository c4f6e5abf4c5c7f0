/* SPDX-License-Identifier: Apache-2.0 */
/* CTRL of the Host Port (hostport.md 4.10): order of packets with equal hashes
 * in the network (3.1, 3.6, O08), and the choice of network ports for
 * sending. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hpproc.h"
#include "systems/hostport/nic/nic.h"

enum { VPID = 0x30, EACH = 6, LONG = 32768 };

/* time at which all ports are open */
static const weft_time_t start = 400 * WEFT_US;

/* ---- order of equal hashes ---- */

static struct order {
	struct exrig r;
	uint64_t ctrl;
	/* node and number of each message, in the order of arrival */
	uint8_t seen[2 * EACH];
} order;

static void order_open(struct hpdrv *d, struct hpproc *p, struct weft_host *h,
		       struct exrig *r, uint32_t node)
{
	*d = (struct hpdrv){ .ctrl = HP_CTRL_ORDER | order.ctrl,
			     .rdr = LONG / 4 };
	hpdrv_open(d, r, node, h);
	hpproc_open(p, d, h, VPID, HP_CTX_ORD);
}

static void send_long(struct hpproc *p)
{
	uint64_t w[HP_WORDS];

	hpproc_to(w, HP_B_SEND, 2, VPID, 99);
	w[4] = LONG;
	hpproc_put(p, w);
	hpproc_issue(p, 1);
}

static void six(struct hpproc *p, uint32_t node)
{
	for (uint64_t i = 0; i < EACH; i++)
		hpproc_fast_send(p, 2, VPID, 0, i, &i, 1);
	for (uint64_t w[HP_WORDS], i = 0; i < EACH + (node == 1); i++)
		assert_true(hpproc_wait(p, w));
}

/* Node 1 occupies the cable to node 2 with a long packet and queues six short
 * packets behind it. Meanwhile the packets of node 0 arrive at crossbar 1. */
static int order_send(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpdrv d;
	struct hpproc p;

	order_open(&d, &p, h, r, node);
	weft_host_sleep(h, start + (node ? 0 : 10 * WEFT_US));
	if (node)
		send_long(&p);
	six(&p, node);
	weft_host_sleep(h, start + 200 * WEFT_US);
	return 0;
}

static int order_take(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpdrv d;
	struct hpproc p;
	uint64_t w[HP_WORDS];

	order_open(&d, &p, h, r, node);
	weft_host_sleep(h, start);
	assert_true(hpproc_wait(&p, w));
	/* the long packet arrives first */
	assert_int_equal(HP_NQE_CMD(w), HP_B_NOTIFY_RECV);
	for (uint32_t i = 0; i < 2 * EACH; i++) {
		assert_true(hpproc_wait(&p, w));
		order.seen[i] = (uint8_t)((HP_NQE_HPID(w) - 1) * 16 + w[2]);
	}
	weft_host_sleep(h, start + 200 * WEFT_US);
	return 0;
}

static void order_new(const char *nodes, uint64_t ctrl, const char *crossbars)
{
	memset(&order, 0, sizeof(order));
	order.ctrl = ctrl;
	hprig_new(&order.r, nodes, NULL);
	exrig_set(&order.r, "extoll.xbar", "hash_order", crossbars);
	exrig_set(&order.r, "hostport.nic", "n_cpl_fu", "1");
}

static void order_run(uint64_t ctrl, const char *crossbars)
{
	static const exrig_fn fn[] = { order_send, order_send, order_take };

	order_new("4", ctrl, crossbars);
	for (uint32_t i = 0; i < 3; i++)
		exrig_prog(&order.r, i, fn[i]);
	exrig_start(&order.r);
	exrig_run(&order.r);
	exrig_free(&order.r);
}

/* With the hash the packets of node 0 leave first, because they arrived first.
 * Without it round robin alternates between the two inputs. */
static void test_hash_order(void **state)
{
	static const struct {
		uint64_t ctrl;
		const char *crossbars;
		bool kept;
	} t[] = {
		{ HP_CTRL_HASH, "yes", true },
		{ 0, "yes", false },
		{ HP_CTRL_HASH, "no", false },
	};

	for (uint32_t k = 0; k < 3; k++) {
		order_run(t[k].ctrl, t[k].crossbars);
		for (uint32_t i = 0; i < 2 * EACH; i++) {
			uint32_t from = t[k].kept ? i / EACH : i % 2;
			uint32_t num = t[k].kept ? i % EACH : i / 2;

			assert_int_equal(order.seen[i], 16 * from + num);
		}
	}
}

/* ---- a source with two network ports ---- */

enum { WAYS = 3, RUN = 3 };

/* Node 0 occupies the cable from node 1 to node 2 with a long packet to node
 * 2. */
static int ways_long(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpdrv d;
	struct hpproc p;
	uint64_t w[HP_WORDS];

	order_open(&d, &p, h, r, node);
	weft_host_sleep(h, start);
	send_long(&p);
	assert_true(hpproc_wait(&p, w));
	return 0;
}

/* Sends three messages through network port 0 to crossbar 1, three through port
 * 1, and three through port 0 again. All wait behind the long packet. */
static int ways_send(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpdrv d;
	struct hpproc p;
	uint64_t w[HP_WORDS];

	order_open(&d, &p, h, r, node);
	weft_host_sleep(h, start + 10 * WEFT_US);
	for (uint64_t i = 0; i < WAYS * RUN; i++) {
		if (i % RUN == 0) {
			weft_host_cpu(h, 3 * WEFT_US);
			hpdrv_set(
				&d, HP_R_CTRL,
				HP_CTRL_ENABLE | HP_CTRL_ORDER | order.ctrl |
					HP_CTRL_NPS_MAKE(i / RUN % 2 ? 2 : 1));
		}
		hpproc_fast_send(&p, 3, VPID, 0, i, &i, 1);
	}
	for (uint32_t i = 0; i < WAYS * RUN; i++)
		assert_true(hpproc_wait(&p, w));
	weft_host_sleep(h, start + 200 * WEFT_US);
	return 0;
}

/* Adds cross traffic: node 2 also sends to node 3. */
static int ways_cross(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpdrv d;
	struct hpproc p;
	uint64_t w[HP_WORDS];

	order_open(&d, &p, h, r, node);
	weft_host_sleep(h, start);
	assert_true(hpproc_wait(&p, w)); /* the long packet arrives first */
	assert_int_equal(HP_NQE_CMD(w), HP_B_NOTIFY_RECV);
	for (uint64_t i = 0; i < EACH; i++)
		hpproc_fast_send(&p, 3, VPID, 0, i, &i, 1);
	for (uint32_t i = 0; i < EACH; i++)
		assert_true(hpproc_wait(&p, w));
	weft_host_sleep(h, start + 200 * WEFT_US);
	return 0;
}

/* Takes messages in the order in which they arrive at node 3, and records those
 * of node 1. */
static int ways_take(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpdrv d;
	struct hpproc p;
	uint64_t w[HP_WORDS];

	order_open(&d, &p, h, r, node);
	weft_host_sleep(h, start + 40 * WEFT_US);
	for (uint32_t i = 0, n = 0; i < WAYS * RUN + EACH; i++) {
		assert_true(hpproc_wait(&p, w));
		if (HP_NQE_HPID(w) == 2)
			order.seen[n++] = (uint8_t)w[2];
	}
	weft_host_sleep(h, start + 200 * WEFT_US);
	return 0;
}

/* Returns the number of messages that arrived directly after a message that was
 * sent later. */
static uint32_t ways_run(uint64_t ctrl, const char *crossbars)
{
	static const exrig_fn fn[] = { ways_long, ways_send, ways_cross,
				       ways_take };
	uint32_t wrong = 0;

	order_new("6", ctrl, crossbars);
	for (uint32_t i = 0; i < 4; i++)
		exrig_prog(&order.r, i, fn[i]);
	exrig_start(&order.r);
	exrig_run(&order.r);
	for (uint32_t i = 1; i < WAYS * RUN; i++)
		wrong += order.seen[i] < order.seen[i - 1];
	exrig_free(&order.r);
	return wrong;
}

/* O08 with three crossbars and cross traffic at the second. Without the hash,
 * messages through the two ports overtake each other. */
static void test_o08_order_does_not_depend_on_the_way(void **state)
{
	assert_int_equal(ways_run(HP_CTRL_HASH, "yes"), 0);
	assert_true(ways_run(0, "yes") > 0);
	assert_true(ways_run(HP_CTRL_HASH, "no") > 0);
}

/* ---- network ports ---- */

enum { MESSAGES = 4 };

static struct ports {
	struct exrig r;
	/* mask: value that each node stores into CTRL. reads: value that node 0
	 * reads back */
	uint32_t mask[2], reads;
} ports;

static int ports_near(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpdrv d = { .ctrl = 0 };
	struct hpproc p;
	uint64_t w[HP_WORDS], word = 7;

	hpdrv_open(&d, r, node, h);
	hpproc_open(&p, &d, h, VPID, 0);
	weft_host_sleep(h, start);
	hpdrv_set(&d, HP_R_CTRL,
		  HP_CTRL_ENABLE | HP_CTRL_NPS_MAKE(ports.mask[0]));
	ports.reads = HP_CTRL_NPS(hpdrv_get(&d, HP_R_CTRL));
	for (uint32_t i = 0; i < MESSAGES; i++)
		hpproc_fast_send(&p, 1, VPID, HP_A, i, &word, 1);
	if (!ports.reads) { /* no packet leaves until a port may send */
		assert_false(hpproc_wait(&p, w));
		hpdrv_set(&d, HP_R_CTRL, HP_CTRL_ENABLE | HP_CTRL_NPS_MAKE(2));
	}
	for (uint32_t i = 0; i < MESSAGES; i++) {
		assert_true(hpproc_wait(&p, w));
		assert_int_equal(HP_NQE_CMD(w), HP_B_FAST_SEND | HP_A | 1);
	}
	return 0;
}

static int ports_far(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpdrv d = { .ctrl = 0 };
	struct hpproc p;
	uint64_t w[HP_WORDS];

	hpdrv_open(&d, r, node, h);
	hpdrv_set(&d, HP_R_CTRL,
		  HP_CTRL_ENABLE | HP_CTRL_NPS_MAKE(ports.mask[1]));
	hpproc_open(&p, &d, h, VPID, 0);
	weft_host_sleep(h, start);
	for (uint32_t i = 0, idle = 0; i < MESSAGES;)
		if (hpproc_wait(&p, w))
			i++;
		else
			assert_true(idle++ < 5);
	weft_host_cpu(h, 20 * WEFT_US);
	return 0;
}

static uint64_t port_frames(uint32_t node, uint32_t np)
{
	const struct weft_comp *c = ports.r.node[node].nic;
	const struct weft_port *p = &c->ports[HP_PORT_NETS + np];

	assert_int_equal(p->out_frames > 0, p->out_words > 0);
	assert_int_equal(p->out_frames > 0, p->out_busy > 0);
	return p->out_frames;
}

static void test_port_masks_choose_the_network_port(void **state)
{
	static const struct {
		uint32_t mask[2], reads;
		const char *n_np;
		/* port by which requests arrive, port by which acknowledges
		 * return */
		uint32_t from, back;
	} t[] = {
		{ { 0xff, 3 }, 3, "2", 0, 1 }, { { 1, 1 }, 1, "2", 0, 0 },
		{ { 2, 2 }, 2, "2", 1, 1 },    { { 0, 3 }, 0, "2", 1, 1 },
		{ { 3, 0xff }, 1, "1", 0, 0 },
	};

	for (uint32_t k = 0; k < sizeof(t) / sizeof(*t); k++) {
		memset(&ports, 0, sizeof(ports));
		memcpy(ports.mask, t[k].mask, sizeof(ports.mask));
		hprig_new(&ports.r, "2", NULL);
		exrig_set(&ports.r, "hostport.nic", "n_np", t[k].n_np);
		exrig_prog(&ports.r, 0, ports_near);
		exrig_prog(&ports.r, 1, ports_far);
		exrig_start(&ports.r);
		exrig_run(&ports.r);
		assert_int_equal(ports.reads, t[k].reads);
		for (uint32_t p = 0; p < 2; p++) {
			uint64_t near = port_frames(0, p);
			uint64_t far = port_frames(1, p);

			/* all requests have equally many cells, one or two, and
			 * so have all acknowledges */
			assert_int_equal(near % MESSAGES, 0);
			assert_int_equal(near > 0, p == t[k].from);
			assert_int_equal(far, p == t[k].back ? MESSAGES : 0);
		}
		exrig_free(&ports.r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash_order),
		cmocka_unit_test(test_o08_order_does_not_depend_on_the_way),
		cmocka_unit_test(test_port_masks_choose_the_network_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
