/* SPDX-License-Identifier: Apache-2.0 */
/* fault.delay between two nodes: all packets arrive in order, without overlap
 * and within the bounds. Without settings the fault changes no time. */
#include "pair.h"

extern const struct weft_class weft_class_fault_delay;

enum { PACKETS = 200, QWORDS = 4, C_LATE = 0, C_PUSHED = 1, C_TIME = 2 };

static void run(struct pair *p, const struct weft_class *cls,
		const char *const *fault)
{
	pair_init(p, NULL, cls, fault);
	pair_send(p, 0, PACKETS, QWORDS);
	pair_start(p);
	pair_run(p, 200000);
	assert_int_equal(p->n[1]->received, PACKETS);
}

/* Returns the k-th packet start that was logged at `where`. */
static const struct node_log *nth(const struct node *n, uint32_t where,
				  uint32_t k)
{
	for (uint32_t i = 0; i < n->n_log; i++)
		if (n->log[i].where == where && !k--)
			return &n->log[i];
	return NULL;
}

static void delay_of_zero_changes_no_time(void **state)
{
	const char *f[] = { "max", "0ns", NULL };
	struct pair a, b;

	run(&a, NULL, NULL);
	run(&b, &weft_class_fault_delay, f);
	for (uint32_t k = 0; k < PACKETS; k++)
		assert_int_equal(nth(a.n[1], 101, k)->cycle,
				 nth(b.n[1], 101, k)->cycle);
	assert_int_equal(b.fault->counters[C_LATE], 0);
	assert_int_equal(b.fault->counters[C_TIME], 0);
	pair_fini(&a);
	pair_fini(&b);
}

static void delayed_packets_keep_their_order(void **state)
{
	const char *f[] = { "max", "1280ns", "share", "0.5", NULL };
	uint64_t last = 0, late = 0;
	struct pair p;

	run(&p, &weft_class_fault_delay, f);
	for (uint32_t k = 0; k < PACKETS; k++) {
		const struct node_log *sent = nth(p.n[0], 0, k);
		const struct node_log *came = nth(p.n[1], 101, k);

		assert_int_equal(came->seq, sent->seq);
		assert_true(came->cycle >= sent->cycle);
		/* a packet has 8 words of payload and 5 other words */
		if (k)
			assert_true(came->cycle >= last + 13);
		/* the packet waits behind a packet that was delayed */
		if (came->cycle > sent->cycle + 100)
			assert_int_equal(came->cycle, last + 13);
		late += came->cycle - sent->cycle;
		last = came->cycle;
	}
	assert_true(late > PACKETS); /* cycles */
	assert_true(p.fault->counters[C_LATE] > PACKETS / 3);
	assert_true(p.fault->counters[C_PUSHED] > 0);
	assert_true(p.fault->counters[C_TIME] >= late * 12);
	pair_fini(&p);
}

/* The first packet is late by 100 words and a femtosecond. The second packet,
 * right behind the first one, waits for 101 words, because packets stay on word
 * boundaries. */
static void a_packet_behind_a_late_one_waits_whole_words(void **state)
{
	const char *f[] = { "max", "1280000001fs", "frame", "1", NULL };
	struct pair p;

	pair_init(&p, NULL, &weft_class_fault_delay, f);
	pair_send(&p, 0, 2, QWORDS);
	pair_start(&p);
	pair_run(&p, 1000);
	assert_int_equal(p.fault->counters[C_LATE], 1);
	assert_int_equal(p.fault->counters[C_PUSHED], 1);
	assert_int_equal(p.fault->counters[C_TIME], 1280 + 1292);
	pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(delay_of_zero_changes_no_time),
		cmocka_unit_test(delayed_packets_keep_their_order),
		cmocka_unit_test(a_packet_behind_a_late_one_waits_whole_words),
	};

	return cmocka_run_group_tests_name("delay", tests, NULL, NULL);
}
