/* SPDX-License-Identifier: Apache-2.0 */
/* Times of ULTRA: scenarios U08, U09 and U13 to U15 of hostport.md 13.5, O09 of
 * 13.4. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "ultrarig.h"

/* ---- U08, U15: polling ---- */

static void poll_near(struct ultrarig *t, struct ultra_end *e)
{
	for (uint32_t i = 0; i < 20; i++) {
		weft_host_cpu(e->h, 3 * WEFT_US);
		ultrarig_give(e, 0, i, ULTRARIG_MAX);
	}
}

static void poll_far(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t loads = exrig_counter(t->r.node[1].host, "loads");

	for (uint32_t i = 0; i < 20; i++)
		ultrarig_take(e, i, ULTRARIG_MAX);
	assert_int_equal(exrig_counter(t->r.node[1].host, "loads"), loads);
}

/* U15 */
static void polling_receiver_reads_no_device(void **state)
{
	extern const struct weft_class weft_class_bus_pci;
	static const char *const narrow[] = { "bus.pci:width=4",
					      "bus.pci:clock=30ns", NULL };
	struct ultrarig t = { 0 };

	ultrarig_run(&t, &weft_class_bus_pci, narrow, poll_near, poll_far);
	ultrarig_free(&t);
	memset(&t, 0, sizeof(t));
	ultrarig_run(&t, NULL, NULL, poll_near, poll_far);
	ultrarig_free(&t);
}

/* U08: memory is sampled every ns, which is finer than a beat of any bus. While
 * the status word is zero the packet may be incomplete. Afterwards it is
 * complete and does not change. */
enum { STALE = 0x55 };

static void sample_near(struct ultrarig *t, struct ultra_end *e)
{
	for (uint32_t i = 0; i < 4; i++) {
		ultrarig_meet(e);
		ultrarig_give(e, 0, i, ULTRARIG_MAX);
	}
}

static void slice_check(const volatile uint64_t *slice, uint32_t words,
			uint64_t tag)
{
	uint64_t want[ULTRARIG_MAX];

	ultrarig_fill(want, ULTRARIG_MAX, tag);
	assert_int_equal(slice[words - 1], HP_ULTRA_STATUS(ULTRARIG_MAX));
	assert_int_equal(slice[words - 2 - ULTRARIG_MAX], tag);
	for (uint32_t i = 0; i < ULTRARIG_MAX; i++)
		assert_int_equal(slice[words - 1 - ULTRARIG_MAX + i], want[i]);
}

static void sample_far(struct ultrarig *t, struct ultra_end *e)
{
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t n = e->rx.words, before = 0;
		volatile uint64_t *slice = e->rx.queue + i * n;

		memset((void *)(uintptr_t)slice, STALE, 8 * n - 8);
		ultrarig_meet(e);
		for (; !slice[n - 1]; before++)
			weft_host_cpu(e->h, WEFT_NS);
		assert_true(before > 100);
		for (uint32_t k = 0; k < 300; k++) {
			slice_check(slice, n, i);
			weft_host_cpu(e->h, WEFT_NS);
		}
	}
}

/* U08 */
static void status_last(void **state)
{
	extern const struct weft_class weft_class_bus_pci;
	static const char *const narrow[] = { "bus.pci:width=4",
					      "bus.pci:clock=30ns", NULL };
	static const char *const wide[] = { "bus.pci:width=8",
					    "bus.pci:clock=15ns", NULL };
	const struct {
		const struct weft_class *bus;
		const char *const *set;
	} on[] = { { &weft_class_bus_pci, narrow },
		   { &weft_class_bus_pci, wide },
		   { NULL, NULL } };

	for (uint32_t i = 0; i < 3; i++) {
		struct ultrarig t = { 0 };

		ultrarig_run(&t, on[i].bus, on[i].set, sample_near, sample_far);
		ultrarig_free(&t);
	}
}

/* ---- O09: order ---- */

enum { BOTH = 60 };

/* Sends messages of 1 KiB through the Host Port, between packets of ULTRA. */
static void order_near(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t w[HP_WORDS];

	for (uint32_t i = 0; i < BOTH; i++) {
		hpproc_to(w, HP_B_SEND, 1, e->p.vpid, i);
		w[4] = 1024;
		hpproc_put(&e->p, w);
		hpproc_issue(&e->p, 1);
		ultrarig_give(e, 0, i, i % 8);
		assert_true(hpproc_wait(&e->p, w));
		assert_int_equal(HP_NQE_CMD(w), HP_B_SEND);
	}
	ultrarig_meet(e);
}

/* Takes the next message, if one has arrived, and checks its 128 words. Returns
 * its number. */
static uint32_t message(struct ultra_end *e)
{
	uint64_t w[HP_WORDS];

	weft_host_cpu(e->h, 20 * WEFT_NS);
	if (!HP_NQE_VALID(e->p.nq + HP_WORDS * e->p.ni))
		return 0;
	assert_true(hpproc_nqe(&e->p, w));
	if (HP_NQE_CMD(w) != HP_B_NOTIFY_RECV)
		return 0;
	for (uint32_t left = 128, k; left; left -= k) {
		k = left < HP_COUNT_MAX ? left : HP_COUNT_MAX;
		hpproc_trigger(&e->p, HP_T_RDR_RP, k);
	}
	hpproc_free(&e->p);
	return 1;
}

/* Counts in v[0] the packets that overtook the message in front of them. */
static void order_far(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t data[ULTRARIG_MAX], tag;
	uint32_t messages = 0;
	int n;

	for (uint32_t i = 0; i < BOTH; i++) {
		while ((n = ultra_poll(&e->rx, &tag, data, ULTRARIG_MAX)) < 0)
			messages += message(e);
		/* packets are in order among themselves */
		assert_int_equal(tag, i);
		assert_int_equal(n, i % 8);
		t->v[0] += messages <= i;
	}
	while (messages < BOTH)
		messages += message(e);
	ultrarig_meet(e);
}

/* O09 */
static void packets_keep_order_among_themselves(void **state)
{
	struct ultrarig t = { 0 };

	ultrarig_run(&t, NULL, NULL, order_near, order_far);
	assert_true(t.v[0] > 0); /* packets are not in order with messages */
	ultrarig_free(&t);
}

/* ---- U09: notifications, interrupt ---- */

static void notes_near(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t w[HP_WORDS];

	ultrarig_give(e, ULTRA_NOTIFY, 7, 1);
	assert_true(hpproc_wait(&e->p, w));
	assert_int_equal(HP_NQE_CMD(w), 0x110);
	assert_int_equal(w[0], 7);
	assert_int_equal(w[1], e->tx.upid);
	ultrarig_give(e, ULTRA_NOTIFY | ULTRA_ACK, 8, 1);
	assert_true(hpproc_wait(&e->p, w));
	t->t[0] = weft_host_now(e->h);
	assert_int_equal(HP_NQE_CMD(w), 0x118);
	assert_int_equal(w[0], 8);
	assert_int_equal(HP_NQE_HPID(w), 2);
	assert_int_equal(ultrarig_counter(t, 0, "irqs"), 0);
	ultrarig_give(e, ULTRA_IRQ | ULTRA_ACK, 9, 1);
	assert_true(weft_host_irq_wait(e->h, e->d.dev,
				       weft_host_now(e->h) + WEFT_MS));
	hpdrv_set(&e->d, HP_R_IRQ_STATUS, HP_IRQ_ULTRA);
	assert_false(hpproc_wait(&e->p, w));
}

static void notes_far(struct ultrarig *t, struct ultra_end *e)
{
	ultrarig_take(e, 7, 1);
	ultrarig_take(e, 8, 1);
	t->t[1] = weft_host_now(e->h);
	ultrarig_take(e, 9, 1);
}

/* U09 */
static void notification_follows_injection_or_store(void **state)
{
	struct ultrarig t = { 0 };

	ultrarig_run(&t, NULL, NULL, notes_near, notes_far);
	assert_true(t.t[0] > t.t[1]); /* the acknowledge follows the store */
	assert_int_equal(ultrarig_counter(&t, 0, "irqs"), 1);
	ultrarig_free(&t);
}

/* ---- U13, U14: cycles ---- */

static void time_near(struct ultrarig *t, struct ultra_end *e)
{
	weft_time_t us = weft_host_now(e->h) / WEFT_US;

	weft_host_sleep(e->h, (us + 10) * WEFT_US);
	t->t[0] = weft_host_now(e->h);
	ultrarig_give(e, 0, 1, 1);
}

static void time_far(struct ultrarig *t, struct ultra_end *e)
{
	uint64_t w[ULTRARIG_MAX], tag;

	while (ultra_poll(&e->rx, &tag, w, ULTRARIG_MAX) < 0)
		weft_host_poll64(e->h, e->rx.queue + e->rx.words - 1, 0,
				 WEFT_NEVER);
	t->t[1] = weft_host_now(e->h);
}

static weft_time_t latency(const char *set)
{
	const char *const sets[] = { "extoll.xbar:clock=200MHz",
				     "hostport.nic:net_clock=200MHz", set,
				     NULL };
	struct ultrarig t = { 0 };

	ultrarig_run(&t, NULL, sets, time_near, time_far);
	ultrarig_free(&t);
	return t.t[1] - t.t[0];
}

/* Checks that each configured latency appears once, exact to the femtosecond,
 * in steps of the core clock (U13). */
static void latency_is_the_sum_of_configured_parts(void **state)
{
	weft_time_t base = latency(NULL);

	assert_int_equal(latency("hostport.nic:ultra_req_latency=23") - base,
			 100 * WEFT_NS);
	assert_int_equal(latency("hostport.nic:ultra_req_latency=3"),
			 base - 100 * WEFT_NS);
	assert_int_equal(latency("hostport.nic:ultra_cpl_latency=21") - base,
			 90 * WEFT_NS);
	assert_int_equal(latency("hostport.nic:ultra_cpl_occupancy=50"), base);
	assert_int_equal(latency("extoll.xbar:t_lp_in=30") - base,
			 100 * WEFT_NS);
	assert_int_equal(latency("extoll.xbar:t_route=15") - base,
			 100 * WEFT_NS);
}

static void rate_near(struct ultrarig *t, struct ultra_end *e)
{
	for (uint32_t i = 0; i < 40; i++)
		ultrarig_give(e, 0, i, 1);
}

static void rate_far(struct ultrarig *t, struct ultra_end *e)
{
	for (uint32_t i = 0; i < 40; i++) {
		uint64_t w[ULTRARIG_MAX], tag;

		while (ultra_poll(&e->rx, &tag, w, ULTRARIG_MAX) < 0)
			weft_host_poll64(
				e->h,
				e->rx.queue + (e->rx.rp + 1) * e->rx.words - 1,
				0, WEFT_NEVER);
		assert_int_equal(tag, i);
		t->t[i] = weft_host_now(e->h);
	}
}

/* U14 */
static void completer_takes_a_packet_every_21_cycles(void **state)
{
	static const char *const roomy[] = {
		"hostport.nic:ultra_port_slice=256", NULL
	};
	struct ultrarig t = { .attr = { .slices = 256 } };

	ultrarig_run(&t, NULL, roomy, rate_near, rate_far);
	/* one packet in 21 cycles of 10 ns */
	assert_int_equal((t.t[30] - t.t[10] + 5 * WEFT_NS) / (10 * WEFT_NS),
			 20 * 21);
	ultrarig_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(status_last),
		cmocka_unit_test(packets_keep_order_among_themselves),
		cmocka_unit_test(polling_receiver_reads_no_device),
		cmocka_unit_test(notification_follows_injection_or_store),
		cmocka_unit_test(latency_is_the_sum_of_configured_parts),
		cmocka_unit_test(completer_takes_a_packet_every_21_cycles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
