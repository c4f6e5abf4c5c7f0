/* SPDX-License-Identifier: Apache-2.0 */
/* libvelo and the driver below it on whole nodes (extoll.md 6.1, 6.2, T-01,
 * T-07, T-08, T-43): return codes, VPIDs, both kinds of slots, small mailboxes,
 * interrupts, ends of processes. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "exrig.h"
#include "host/host_internal.h"
#include "systems/extoll/nic/regs_map.h"
#include "weft/velo.h"

static struct exrig r;

static void start(const char *dims)
{
	exrig_new(&r, dims);
}

static void run(void)
{
	exrig_start(&r);
	exrig_run(&r);
}

static int teardown(void **state)
{
	exrig_free(&r);
	return 0;
}

static void fill(uint8_t *p, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)(seed * 7 + i * 13 + 1);
}

static void expect_message(struct velo_port *p, uint32_t node, uint32_t len,
			   uint32_t seed)
{
	uint8_t buf[128] = { 0 }, want[128];
	uint32_t src, tag, mtt, got;

	while (velo_check(p) == VELO_NO_MSG)
		assert_true(velo_wait(p, WEFT_NEVER));
	assert_int_equal(velo_recv(p, buf, &src, &tag, &mtt, &got),
			 VELO_SUCCESS);
	fill(want, len, seed);
	assert_int_equal(VELO_SRC_NODE(src), node);
	assert_int_equal(tag, seed & 0xff);
	assert_int_equal(mtt, seed & 3);
	assert_int_equal(got, len);
	assert_memory_equal(buf, want, len);
}

static void send_message(struct velo_connection *c, uint32_t len, uint32_t seed)
{
	uint8_t buf[128];

	fill(buf, len, seed);
	assert_int_equal(velo_send(c, buf, len, seed & 0xff, seed & 3),
			 VELO_SUCCESS);
}

/* ---- codes ---- */

static int codes_prog(struct weft_host *h, struct exrig *rig, uint32_t node)
{
	struct velo_attr taken = { .vpid_given = true, .vpid = 0 };
	struct velo_attr tiny = { .mailbox = 128 };
	struct velo_attr huge = { .mailbox = 1ull << 40 };
	struct velo_port *p, *q;
	struct velo_connection c;
	uint8_t buf[128] = { 0 };

	assert_int_equal(velo_open(h, NULL, &p), VELO_SUCCESS);
	assert_int_equal(velo_vpid(p), 0);
	assert_int_equal(velo_node(p), node);
	assert_int_equal(velo_max_len(p), 64);
	assert_int_equal(velo_open(h, &taken, &q), VELO_INVALID_MBOX);
	assert_int_equal(velo_open(h, &tiny, &q), VELO_ERR_MMAP);
	assert_int_equal(velo_open(h, &huge, &q), VELO_ERR_MMAP);
	assert_int_equal(velo_connect(p, &c, 2, 0), VELO_INVALID_NODE);
	assert_int_equal(velo_connect(p, &c, 0xFFFF, 0), VELO_INVALID_NODE);
	assert_int_equal(velo_connect(p, &c, 1, 256), VELO_INVALID_MBOX);
	assert_int_equal(velo_connect(p, &c, node, 0), VELO_SUCCESS);
	assert_int_equal(velo_send(&c, buf, 0, 0, 0), VELO_INV_MSG);
	assert_int_equal(velo_send(&c, buf, 65, 0, 0), VELO_INV_MSG);
	assert_int_equal(velo_send(&c, buf, 8, 0, 4), VELO_INV_MTT);
	assert_int_equal(velo_check(p), VELO_NO_MSG);
	assert_int_equal(velo_recv(p, buf, NULL, NULL, NULL, NULL),
			 VELO_NO_MSG);
	assert_int_equal(velo_recv_mtt(p, 4, buf, NULL, NULL, NULL),
			 VELO_INV_MTT);
	assert_false(velo_wait(p, weft_host_now(h) + WEFT_US));
	assert_int_equal(velo_send(&c, "one", 3, 7, 2), VELO_SUCCESS);
	assert_true(velo_wait(p, WEFT_NEVER));
	assert_int_equal(velo_recv_mtt(p, 1, buf, NULL, NULL, NULL),
			 VELO_NO_MATCH);
	assert_int_equal(velo_recv_mtt(p, 2, buf, NULL, NULL, NULL),
			 VELO_SUCCESS);
	assert_memory_equal(buf, "one", 3);
	velo_disconnect(&c);
	assert_int_equal(velo_send(&c, buf, 8, 0, 0), VELO_ERROR);
	velo_close(p);
	/* VPID 0 is free as before */
	assert_int_equal(velo_open(h, &taken, &p), VELO_SUCCESS);
	velo_close(p);
	return 0;
}

/* Takes mailboxes of all words of the table of VPIDs. Each is refused as long
 * as it is open, and an open without a VPID gets the lowest free one. */
static int taken_prog(struct weft_host *h, struct exrig *rig, uint32_t node)
{
	static const uint32_t vpids[] = { 0, 1, 2, 63, 64, 128, 255 };
	enum { N = sizeof(vpids) / sizeof(*vpids) };
	struct velo_port *p[N], *q;

	for (uint32_t i = 0; i < N; i++) {
		struct velo_attr a = { .vpid_given = true, .vpid = vpids[i] };

		assert_int_equal(velo_open(h, &a, &p[i]), VELO_SUCCESS);
		assert_int_equal(velo_vpid(p[i]), vpids[i]);
	}
	for (uint32_t i = 0; i < N; i++) {
		struct velo_attr a = { .vpid_given = true, .vpid = vpids[i] };

		assert_int_equal(velo_open(h, &a, &q), VELO_INVALID_MBOX);
	}
	assert_int_equal(velo_open(h, NULL, &q), VELO_SUCCESS);
	assert_int_equal(velo_vpid(q), 3);
	velo_close(q);
	for (uint32_t i = 0; i < N; i++)
		velo_close(p[i]);
	return 0;
}

static void an_open_mailbox_is_not_given_to_another_port(void **state)
{
	start("1");
	exrig_prog(&r, 0, taken_prog);
	run();
}

static void test_calls_return_the_codes_of_the_interface(void **state)
{
	start("2");
	exrig_prog(&r, 0, codes_prog);
	exrig_prog(&r, 1, codes_prog);
	run();
}

/* The BAR ends in front of the requester pages. The mailbox already exists when
 * mapping the page fails. */
static int short_bar_prog(struct weft_host *h, struct exrig *rig, uint32_t node)
{
	enum { BOX = 65536 };
	const struct velo_attr a = { .mailbox = BOX };
	struct velo_port *p, *q;
	weft_phys_t before, after;
	struct weft_dev *d;
	uint64_t size;

	assert_int_equal(velo_open(h, NULL, &p), VELO_SUCCESS);
	weft_mem_free(h, weft_mem_alloc(h, BOX, EXTOLL_SLOT, &before));
	d = weft_dev_open(h, 0);
	size = d->bar[EXTOLL_BAR].size;
	d->bar[EXTOLL_BAR].size = EXTOLL_VELO;
	assert_int_equal(velo_open(h, &a, &q), VELO_ERR_MMAP);
	d->bar[EXTOLL_BAR].size = size;
	weft_mem_free(h, weft_mem_alloc(h, BOX, EXTOLL_SLOT, &after));
	assert_int_equal(after, before);
	velo_close(p);
	return 0;
}

static void a_port_that_cannot_be_mapped_gives_its_mailbox_back(void **state)
{
	start("1");
	exrig_prog(&r, 0, short_bar_prog);
	run();
}

/* ---- several processes of one node ---- */

enum { PROCS = 5 };

/* Each process sends to all processes of both nodes, and receives only messages
 * that are addressed to it. */
static int procs_prog(struct weft_host *h, struct exrig *rig, uint32_t node)
{
	struct velo_port *p;
	struct velo_connection c;
	uint32_t me, sum = 0;

	assert_int_equal(velo_open(h, NULL, &p), VELO_SUCCESS);
	me = velo_vpid(p);
	assert_in_range(me, 0, PROCS - 1);
	assert_int_equal(rig->v[node * 8 + me], 0); /* mine alone */
	rig->v[node * 8 + me] = 1;
	weft_host_sleep(h, 100 * WEFT_US);
	for (uint32_t k = 0; k < 2 * PROCS; k++) {
		velo_connect(p, &c, k / PROCS, k % PROCS);
		send_message(&c, 40 + k, 10 * me + k);
	}
	for (uint32_t k = 0; k < 2 * PROCS; k++) {
		uint8_t buf[64];
		uint32_t src, tag;

		while (velo_recv(p, buf, &src, &tag, NULL, NULL))
			assert_true(velo_wait(p, WEFT_NEVER));
		assert_int_equal(tag,
				 10 * VELO_SRC_VPID(src) + PROCS * node + me);
		sum += 1 << (PROCS * VELO_SRC_NODE(src) + VELO_SRC_VPID(src));
	}
	assert_int_equal(sum, (1 << 2 * PROCS) - 1);
	weft_host_sleep(h, 200 * WEFT_US);
	velo_close(p);
	return 0;
}

static void test_process_receives_only_its_own_messages(void **state)
{
	start("2");
	for (uint32_t i = 0; i < 2 * PROCS; i++)
		exrig_prog(&r, i % 2, procs_prog);
	run();
}

/* ---- slots and small mailboxes ---- */

enum { MANY = 400 };
static const struct velo_attr small_attr = { .mailbox = 512, .small = true };
static const struct velo_attr tight_attr = { .mailbox = 256 };

static int many_send(struct weft_host *h, struct exrig *rig, uint32_t node)
{
	struct velo_port *p;
	struct velo_connection c;

	assert_int_equal(velo_open(h, rig->p[0], &p), VELO_SUCCESS);
	weft_oob_get(h, "ready");
	velo_connect(p, &c, 1, 0);
	for (uint32_t i = 0; i < MANY; i++)
		send_message(&c, 1 + i % 64, i);
	weft_oob_get(h, "over");
	velo_close(p);
	return 0;
}

/* Receives slowly, so that the mailbox is full most of the time. */
static int many_recv(struct weft_host *h, struct exrig *rig, uint32_t node)
{
	struct velo_counters k;
	struct velo_port *p;

	assert_int_equal(velo_open(h, rig->p[0], &p), VELO_SUCCESS);
	weft_oob_put(h, "ready", 1);
	weft_host_sleep(h, 300 * WEFT_US);
	for (uint32_t i = 0; i < MANY; i++) {
		expect_message(p, 0, 1 + i % 64, i);
		weft_host_cpu(h, WEFT_US);
	}
	velo_counters(p, &k);
	assert_int_equal(k.received, MANY);
	assert_int_equal(k.dropped + k.discarded, 0);
	weft_oob_put(h, "over", 1);
	velo_close(p);
	return 0;
}

static void many(const struct velo_attr *a)
{
	start("2");
	r.p[0] = (void *)a;
	exrig_prog(&r, 0, many_send);
	exrig_prog(&r, 1, many_recv);
	run();
	assert_true(exrig_counter(r.node[1].nic, "velo_stalls") > 100);
	/* the sender's processor has stalled */
	assert_true(exrig_counter(r.node[0].host, "store_stalls") > 0);
}

static void test_small_slots(void **state)
{
	many(&small_attr);
}

static void test_tight_mailbox(void **state)
{
	many(&tight_attr);
}

enum { SIX = 6 * EXTOLL_SLOT };

static int three_send(struct weft_host *h, struct exrig *rig, uint32_t node)
{
	struct velo_connection c;
	struct velo_port *p;

	assert_int_equal(velo_open(h, NULL, &p), VELO_SUCCESS);
	weft_oob_get(h, "ready");
	velo_connect(p, &c, 1, 0);
	for (uint32_t i = 0; i < 3; i++)
		send_message(&c, 8, i);
	weft_oob_get(h, "over");
	velo_close(p);
	return 0;
}

static int three_recv(struct weft_host *h, struct exrig *rig, uint32_t node)
{
	const struct velo_attr a = { .mailbox = SIX };
	struct velo_port *p;
	struct weft_io rp;

	assert_int_equal(velo_open(h, &a, &p), VELO_SUCCESS);
	assert_true(weft_io_map(h, weft_dev_open(h, 0), EXTOLL_BAR,
				EXTOLL_VELO_RP, EXTOLL_PAGE, WEFT_UC, &rp));
	weft_oob_put(h, "ready", 1);
	for (uint32_t i = 0; i < 3; i++) {
		expect_message(p, 0, 8, i);
		assert_int_equal(weft_io_load64(h, &rp, 0), i < 2 ? 0 : 3);
	}
	weft_oob_put(h, "over", 1);
	velo_close(p);
	return 0;
}

/* A mailbox of fewer than eight slots reports free slots when half of them are
 * read, not after four. */
static void half_of_a_small_mailbox_is_reported(void **state)
{
	start("2");
	exrig_prog(&r, 0, three_send);
	exrig_prog(&r, 1, three_recv);
	run();
}

/* ---- interrupts ---- */

static int irq_send(struct weft_host *h, struct exrig *rig, uint32_t node)
{
	struct velo_port *p;
	struct velo_connection c;

	assert_int_equal(velo_open(h, NULL, &p), VELO_SUCCESS);
	velo_connect(p, &c, 1, 0);
	for (uint32_t i = 0; i < 20; i++) {
		weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
		velo_send_irq(&c, &i, 4, i, 0);
		/* some messages are sent in pairs */
		if (i % 3 == 0)
			velo_send_irq(&c, &i, 4, ++i, 0);
	}
	velo_close(p);
	return 0;
}

static int irq_recv(struct weft_host *h, struct exrig *rig, uint32_t node)
{
	struct velo_port *p;
	uint8_t buf[64];
	uint32_t tag;

	assert_int_equal(velo_open(h, NULL, &p), VELO_SUCCESS);
	for (uint32_t i = 0; i < 20; i++) {
		assert_true(velo_wait_irq(p, WEFT_NEVER));
		assert_int_equal(velo_recv(p, buf, NULL, &tag, NULL, NULL), 0);
		assert_int_equal(tag, i);
	}
	assert_false(velo_wait_irq(p, weft_host_now(h) + 50 * WEFT_US));
	velo_close(p);
	return 0;
}

static void test_wait_ends_on_each_interrupt_message(void **state)
{
	start("2");
	exrig_prog(&r, 0, irq_send);
	exrig_prog(&r, 1, irq_recv);
	run();
	assert_in_range(exrig_counter(r.node[1].nic, "irqs"), 10, 20);
}

/* ---- leaving, protection ---- */

/* T-43: the receiver closes its port after some of the messages. The NIC counts
 * later messages as discarded. */
static int leave_send(struct weft_host *h, struct exrig *rig, uint32_t node)
{
	struct velo_port *p;
	struct velo_connection c;

	assert_int_equal(velo_open(h, NULL, &p), VELO_SUCCESS);
	weft_oob_get(h, "ready");
	velo_connect(p, &c, 1, 0);
	for (uint32_t i = 0; i < 100; i++)
		send_message(&c, 8, i);
	velo_close(p);
	return 0;
}

static int leave_recv(struct weft_host *h, struct exrig *rig, uint32_t node)
{
	struct velo_attr a = { .mailbox = 2048 };
	struct velo_port *p;

	assert_int_equal(velo_open(h, &a, &p), VELO_SUCCESS);
	weft_oob_put(h, "ready", 1);
	for (uint32_t i = 0; i < 10; i++)
		expect_message(p, 0, 8, i);
	velo_close(p);
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	/* the VPID is free again, and the mailbox starts empty */
	assert_int_equal(velo_open(h, &a, &p), VELO_SUCCESS);
	assert_int_equal(velo_vpid(p), 0);
	assert_int_equal(velo_check(p), VELO_NO_MSG);
	velo_close(p);
	return 0;
}

static void test_closed_port_discards_and_counts_late_messages(void **state)
{
	struct weft_comp *nic;

	start("2");
	exrig_prog(&r, 0, leave_send);
	exrig_prog(&r, 1, leave_recv);
	run();
	nic = r.node[1].nic;
	assert_int_equal(exrig_counter(nic, "velo_received") +
				 exrig_counter(nic, "velo_discarded"),
			 100);
	assert_in_range(exrig_counter(nic, "velo_discarded"), 50, 90);
}

/* The bus completes eight packets in 100 us, so that messages stay in the
 * NIC. */
enum { LAST_VPID = 255, SLOW_MESSAGES = 400 };
/* messages that the receiver reads before it closes its port */
static uint32_t slow_takes;

static int slow_send(struct weft_host *h, struct exrig *rig, uint32_t node)
{
	struct velo_port *p;
	struct velo_connection c;

	assert_int_equal(velo_open(h, NULL, &p), VELO_SUCCESS);
	weft_oob_get(h, "ready");
	velo_connect(p, &c, 1, LAST_VPID);
	for (uint32_t i = 0; i < SLOW_MESSAGES; i++)
		send_message(&c, 48, i);
	velo_close(p);
	return 0;
}

static int slow_recv(struct weft_host *h, struct exrig *rig, uint32_t node)
{
	struct velo_attr a = { .vpid_given = true, .vpid = LAST_VPID };
	struct velo_port *p;

	assert_int_equal(velo_open(h, &a, &p), VELO_SUCCESS);
	weft_oob_put(h, "ready", 1);
	for (uint32_t i = 0; i < slow_takes; i++)
		expect_message(p, 0, 48, i);
	velo_close(p);
	return 0;
}

/* Watches the memory of the mailbox. The NIC must not write to it after
 * velo_close() has freed it. */
static int slow_watch(struct weft_host *h, struct exrig *rig, uint32_t node)
{
	enum { BYTES = SLOW_MESSAGES * EXTOLL_SLOT };
	const struct host *host = rig->node[node].host->state;
	uint32_t base = EXTOLL_RF + EXTOLL_VELO_RX_BASE + 8 * LAST_VPID;
	static uint8_t was[BYTES];
	const uint8_t *box;

	weft_oob_get(h, "ready");
	box = weft_mem_at(
		h, weft_reg_load(rig->node[node].nic, 1 + EXTOLL_BAR, base, 8),
		BYTES);
	assert_non_null(mem_owner(&host->mem, box));
	while (mem_owner(&host->mem, box))
		weft_host_sleep(h, weft_host_now(h) + 10 * WEFT_US);
	memcpy(was, box, BYTES);
	weft_host_sleep(h, weft_host_now(h) + WEFT_MS);
	rig->v[0]++;
	rig->v[1] = memcmp(box, was, BYTES) != 0;
	return 0;
}

/* velo_close() frees the mailbox only when no more writes to it can arrive. */
static void test_leave_waits(void **state)
{
	for (slow_takes = 5; slow_takes <= 8; slow_takes++) {
		if (slow_takes > 5)
			teardown(state);
		start("2");
		assert_int_equal(weft_param_set(r.node[1].bus, "t_credit",
						"100us", NULL),
				 0);
		exrig_prog(&r, 0, slow_send);
		exrig_prog(&r, 1, slow_recv);
		exrig_prog(&r, 1, slow_watch);
		run();
		assert_int_equal(r.v[0], 1);
		assert_int_equal(r.v[1], 0);
		assert_true(exrig_counter(r.node[1].nic, "velo_discarded") > 0);
	}
}

/* T-07: the sender has another protection descriptor than the receiver. */
static int pd_prog(struct weft_host *h, struct exrig *rig, uint32_t node)
{
	struct velo_attr a = { .pd = (uint16_t)(node == 2 ? 9 : 5) };
	struct velo_port *p;
	struct velo_connection c;

	assert_int_equal(velo_open(h, &a, &p), VELO_SUCCESS);
	weft_host_sleep(h, 100 * WEFT_US);
	if (node) {
		velo_connect(p, &c, 0, 0);
		send_message(&c, 8, node);
	} else {
		expect_message(p, 1, 8, 1);
	}
	weft_host_sleep(h, 200 * WEFT_US);
	velo_close(p);
	return 0;
}

static void test_message_of_another_job_is_discarded(void **state)
{
	start("4");
	for (uint32_t i = 0; i < 3; i++)
		exrig_prog(&r, i, pd_prog);
	run();
	assert_int_equal(exrig_counter(r.node[0].nic, "velo_received"), 1);
	assert_int_equal(exrig_counter(r.node[0].nic, "velo_discarded"), 1);
}

/* Longer messages of R2. */
static int long_prog(struct weft_host *h, struct exrig *rig, uint32_t node)
{
	struct velo_attr a = { .small = true };
	struct velo_port *p;
	struct velo_connection c;

	assert_int_equal(velo_open(h, &a, &p), VELO_SUCCESS);
	assert_int_equal(velo_max_len(p), 120);
	velo_connect(p, &c, node, 0);
	for (uint32_t n = 60; n <= 120; n++) {
		send_message(&c, n, n);
		expect_message(p, node, n, n);
	}
	velo_close(p);
	return 0;
}

static void test_messages_up_to_120_bytes_arrive(void **state)
{
	start("1");
	exrig_set(&r, "extoll.nic", "velo_max", "120");
	exrig_prog(&r, 0, long_prog);
	run();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(
			an_open_mailbox_is_not_given_to_another_port, teardown),
		cmocka_unit_test_teardown(
			test_calls_return_the_codes_of_the_interface, teardown),
		cmocka_unit_test_teardown(
			a_port_that_cannot_be_mapped_gives_its_mailbox_back,
			teardown),
		cmocka_unit_test_teardown(
			test_process_receives_only_its_own_messages, teardown),
		cmocka_unit_test_teardown(test_small_slots, teardown),
		cmocka_unit_test_teardown(test_tight_mailbox, teardown),
		cmocka_unit_test_teardown(half_of_a_small_mailbox_is_reported,
					  teardown),
		cmocka_unit_test_teardown(
			test_wait_ends_on_each_interrupt_message, teardown),
		cmocka_unit_test_teardown(
			test_closed_port_discards_and_counts_late_messages,
			teardown),
		cmocka_unit_test_teardown(test_leave_waits, teardown),
		cmocka_unit_test_teardown(
			test_message_of_another_job_is_discarded, teardown),
		cmocka_unit_test_teardown(test_messages_up_to_120_bytes_arrive,
					  teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
