/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts of the EXTOLL NIC (extoll.md 2.7). The event, the store that arms
 * the interrupt, and the sleep of a program come in all orders. No interrupt is
 * lost. */
#include "unit/cmocka_all.h"
#include "exproc.h"
#include "exrig.h"

#include <string.h>

#include "systems/extoll/lib/driver.h"
#include "weft/rma.h"
#include "weft/velo.h"

enum { VPID = 5, OPT = RMA_OPT_TE, EVENTS = 8 };

static struct exproc proc;
static volatile uint64_t *evq;

static void play(struct exrig *r, const char *dims, exrig_fn a, exrig_fn b,
		 exrig_fn c)
{
	exrig_new(r, dims);
	exrig_prog(r, 0, a);
	if (b)
		exrig_prog(r, r->nodes - 1, b);
	if (c)
		exrig_prog(r, r->nodes - 1, c);
	exrig_start(r);
	exrig_run(r);
}

/* ---- one ring, by its registers ---- */

static void events_arm(uint32_t rp)
{
	exproc_set(&proc, EXTOLL_EVQ_RP, rp | EXTOLL_RP_ARM);
	/* Waits, because the packet that lowers the line arrives after the
	 * store. */
	weft_host_sleep(proc.h, weft_host_now(proc.h) + WEFT_US);
}

static void ring_arm(uint32_t rp)
{
	exproc_set(&proc, EXTOLL_RMA_RP + VPID * RMA_PAGE, rp | RMA_RP_REARM);
}

static bool irq(void)
{
	return weft_host_irq_wait(proc.h, proc.dev,
				  weft_host_now(proc.h) + 20 * WEFT_US);
}

static void events_open(struct weft_host *h)
{
	weft_phys_t phys;

	exproc_open(&proc, h, VPID);
	evq = weft_mem_alloc(h, 8 * EVENTS, 64, &phys);
	exproc_set(&proc, EXTOLL_EVQ_BASE, phys);
	exproc_set(&proc, EXTOLL_EVQ_SIZE, EVENTS);
	events_arm(0);
}

/* Puts a notification to the process's own ring and waits until it is in
 * memory. */
static void notify(uint32_t slot)
{
	exproc_post(&proc, OPT,
		    RMA_D_MAKE(RMA_NOTI_PUT, 0, VPID, RMA_COMPLETER, 0), slot,
		    0);
	assert_true(weft_host_poll64(proc.h, &proc.ring[2 * slot + 1], 0,
				     weft_host_now(proc.h) + 20 * WEFT_US));
}

static int late_main(struct weft_host *h, struct exrig *r, uint32_t node)
{
	const uint64_t e = EXTOLL_EVENT(EXTOLL_EV_RMA_IRQ, VPID, 0, 0);

	events_open(h);
	notify(0);
	assert_false(irq()); /* the ring is not armed */
	ring_arm(0);
	assert_true(irq());
	assert_true(evq[0] == e);
	/* one notification is one interrupt */
	events_arm(1);
	ring_arm(0);
	assert_false(irq());
	/* a second notification raises the interrupt, because the stored read
	 * pointer does not cover that notification */
	notify(1);
	assert_true(irq());
	events_arm(2);
	/* no interrupt for notifications that have been read */
	notify(2);
	ring_arm(3);
	assert_false(irq());
	notify(3);
	assert_true(irq());
	assert_true(evq[2] == e);
	assert_true(!evq[3]);
	return 0;
}

static void
test_ring_armed_after_its_notification_interrupts_at_once(void **state)
{
	struct exrig r;

	play(&r, "1", late_main, NULL, NULL);
	assert_int_equal(exrig_counter(r.node[0].nic, "irqs"), 3);
	exrig_free(&r);
}

static int closed_main(struct weft_host *h, struct exrig *r, uint32_t node)
{
	events_open(h);
	notify(0);
	exproc_set(&proc, EXTOLL_RMA_VPID + 8 * VPID, 0);
	exproc_set(&proc, EXTOLL_RMA_VPID + 8 * VPID,
		   RMA_V_ENABLE | RMA_V_TC_ALL);
	ring_arm(0);
	assert_false(irq());
	return 0;
}

static void
test_next_owner_of_a_ring_gets_no_interrupt_of_the_last(void **state)
{
	struct exrig r;

	play(&r, "1", closed_main, NULL, NULL);
	exrig_free(&r);
}

/* ---- a full event queue ---- */

static int full_main(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct weft_io hole; /* no interval contains it */

	events_open(h);
	assert_true(weft_io_map(h, proc.dev, EXTOLL_BAR, EXTOLL_VELO,
				EXTOLL_PAGE, WEFT_UC, &hole));
	ring_arm(0);
	for (uint32_t i = 0; i < EVENTS + 2; i++)
		weft_io_store64(h, &hole, 0, 1);
	exproc_get(&proc, EXTOLL_NODE_ID);
	notify(0);
	assert_true(exproc_get(&proc, EXTOLL_EVQ_LOST) == 4);
	assert_int_equal(exproc_get(&proc, EXTOLL_EVQ_WP), EVENTS - 1);
	memset((void *)evq, 0, 8 * EVENTS);
	events_arm(EVENTS - 1);
	assert_true(irq());
	assert_true(evq[EVENTS - 1] ==
		    EXTOLL_EVENT(EXTOLL_EV_RMA_IRQ, VPID, 0, 0));
	return 0;
}

static void test_full_event_queue_delays_the_interrupt_of_a_ring(void **state)
{
	struct exrig r;

	play(&r, "1", full_main, NULL, NULL);
	exrig_free(&r);
}

/* ---- two programs of a node sleep ---- */

enum { ROUNDS = 40 };

/* Each message wakes one of the two programs. The time between the messages
 * changes. */
static int wake_main(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct velo_connection c[2];
	struct velo_port *p;

	assert_int_equal(velo_open(h, NULL, &p), VELO_SUCCESS);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(
			velo_connect(p, &c[i], 1,
				     (uint32_t)weft_oob_get(h, i ? "b" : "a")),
			VELO_SUCCESS);
	for (uint32_t i = 0; i < 2 * ROUNDS; i++) {
		velo_send_irq(&c[i & 1], &i, sizeof(i), 0, 0);
		weft_host_sleep(h, weft_host_now(h) +
					   (weft_time_t)(i * 173 % 7000) *
						   WEFT_NS);
	}
	velo_close(p);
	return 0;
}

static int sleep_of(struct weft_host *h, struct exrig *r, uint32_t me)
{
	struct velo_port *p;
	uint32_t len, word;
	char buf[64];

	assert_int_equal(velo_open(h, NULL, &p), VELO_SUCCESS);
	weft_oob_put(h, me ? "b" : "a", velo_vpid(p));
	for (uint32_t i = 0; i < ROUNDS; i++) {
		if (!velo_wait_irq(p, weft_host_now(h) + 200 * WEFT_US))
			break;
		assert_int_equal(velo_recv(p, buf, NULL, NULL, NULL, &len),
				 VELO_SUCCESS);
		memcpy(&word, buf, sizeof(word));
		assert_int_equal(word, 2 * i + me);
		r->v[me]++;
	}
	velo_close(p);
	return 0;
}

static int sleep_a(struct weft_host *h, struct exrig *r, uint32_t node)
{
	return sleep_of(h, r, 0);
}

static int sleep_b(struct weft_host *h, struct exrig *r, uint32_t node)
{
	return sleep_of(h, r, 1);
}

static void test_two_sleeping_programs_of_a_node_both_wake(void **state)
{
	struct exrig r;

	play(&r, "2", wake_main, sleep_a, sleep_b);
	assert_int_equal(r.v[0], ROUNDS);
	assert_int_equal(r.v[1], ROUNDS);
	exrig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_ring_armed_after_its_notification_interrupts_at_once),
		cmocka_unit_test(
			test_next_owner_of_a_ring_gets_no_interrupt_of_the_last),
		cmocka_unit_test(
			test_full_event_queue_delays_the_interrupt_of_a_ring),
		cmocka_unit_test(
			test_two_sleeping_programs_of_a_node_both_wake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
