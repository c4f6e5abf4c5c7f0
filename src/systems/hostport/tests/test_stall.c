/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlock timer of the Host Port (hostport.md 4.10, bit 3 of IRQ_STATUS): a
 * receiver without room stops the network, until it takes its messages. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hpproc.h"

enum { VPID = 0x30, MESSAGES = 20, BYTES = 4096, RDR = 1024, UNIT = 6 };

static struct scene {
	struct exrig r;
	/* the receiver reads only after the sender has finished */
	bool stops;
	/* IRQ_STATUS while the network is stopped, after clearing, and at the
	 * end */
	uint64_t irq[3];
} scene;

static uint64_t status(struct hpdrv *d)
{
	return hpdrv_get(d, HP_R_IRQ_STATUS);
}

static int near(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpdrv d = { 0 };
	struct hpproc p;
	uint64_t w[HP_WORDS];

	hpdrv_open(&d, r, node, h);
	hpproc_open(&p, &d, h, VPID, 0);
	weft_oob_get(h, "open");
	for (uint32_t i = 0; i < MESSAGES; i++) {
		hpproc_to(w, HP_B_SEND, 1, VPID, i);
		w[4] = BYTES;
		hpproc_put(&p, w);
		hpproc_issue(&p, 1);
	}
	weft_host_sleep(h, weft_host_now(h) + 200 * WEFT_US);
	scene.irq[0] = status(&d);
	hpdrv_set(&d, HP_R_IRQ_STATUS, HP_IRQ_DEADLOCK);
	weft_host_sleep(h, weft_host_now(h) + 200 * WEFT_US);
	scene.irq[1] = status(&d);
	weft_oob_put(h, "go", 1);
	for (uint32_t i = 0; i < MESSAGES; i++)
		assert_true(hpproc_wait(&p, w));
	scene.irq[2] = status(&d);
	return 0;
}

static int far(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hpdrv d = { .rdr = RDR };
	struct hpproc p;
	uint64_t w[HP_WORDS];

	hpdrv_open(&d, r, node, h);
	hpdrv_set(&d, HP_R_RDR_UNIT, UNIT);
	hpproc_open(&p, &d, h, VPID, 0);
	weft_oob_put(h, "open", 1);
	if (scene.stops)
		weft_oob_get(h, "go");
	for (uint32_t i = 0; i < MESSAGES; i++) {
		assert_true(hpproc_wait(&p, w));
		assert_int_equal(HP_NQE_CMD(w), HP_B_NOTIFY_RECV);
		assert_int_equal(HP_NQE_TAG(w), i);
		while (!(hpproc_trigger(&p, HP_T_RDR_RP, BYTES / 8 >> UNIT) &
			 HP_TRUE))
			;
	}
	return 0;
}

/* Returns the number of times that the sender's timer has expired. */
static uint64_t run(bool stops, const char *cycles)
{
	uint64_t n, irqs;

	memset(&scene, 0, sizeof(scene));
	scene.stops = stops;
	hprig_new(&scene.r, "2", NULL);
	exrig_set(&scene.r, "hostport.nic", "rx_places", "0");
	exrig_set(&scene.r, "hostport.nic", "f_core", "100MHz");
	exrig_set(&scene.r, "hostport.nic", "dl_counter", cycles);
	exrig_prog(&scene.r, 0, near);
	exrig_prog(&scene.r, 1, far);
	exrig_start(&scene.r);
	exrig_run(&scene.r);
	n = exrig_counter(scene.r.node[0].nic, "deadlocks");
	irqs = exrig_counter(scene.r.node[0].nic, "irqs");
	assert_int_equal(irqs, n);
	assert_int_equal(exrig_counter(scene.r.node[1].nic, "deadlocks"), 0);
	exrig_free(&scene.r);
	return n;
}

static void test_a_stopped_port_raises_its_interrupt_once(void **state)
{
	assert_int_equal(run(true, "5000"), 1);
	assert_int_equal(scene.irq[0], HP_IRQ_DEADLOCK);
	assert_int_equal(scene.irq[1], 0);
	assert_int_equal(scene.irq[2], 0);
}

/* With a limit of 300 us the timer has not expired when the test reads
 * IRQ_STATUS for the first time, but has expired at the second read. */
static void test_the_timer_counts_cycles_of_the_core(void **state)
{
	assert_int_equal(run(true, "30000"), 1);
	assert_int_equal(scene.irq[0], 0);
	assert_int_equal(scene.irq[1], HP_IRQ_DEADLOCK);
}

/* The receiver is slow, so that packets wait for room in the network. But the
 * sender's port keeps sending words. */
static void test_a_port_that_moves_raises_none(void **state)
{
	assert_int_equal(run(false, "5000"), 0);
	assert_int_equal(scene.irq[0] | scene.irq[1] | scene.irq[2], 0);
}

static void test_a_timer_of_zero_is_off(void **state)
{
	assert_int_equal(run(true, "0"), 0);
	assert_int_equal(scene.irq[0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_stopped_port_raises_its_interrupt_once),
		cmocka_unit_test(test_the_timer_counts_cycles_of_the_core),
		cmocka_unit_test(test_a_port_that_moves_raises_none),
		cmocka_unit_test(test_a_timer_of_zero_is_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
