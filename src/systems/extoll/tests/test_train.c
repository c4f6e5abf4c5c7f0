/* SPDX-License-Identifier: Apache-2.0 */
/* Bring-up and loss of alignment of EXTOLL links (extoll.md 5.7; T-28). */
#include "ex_pair.h"

extern const struct weft_class weft_class_fault_cut, weft_class_fault_drop,
	weft_class_fault_bits, weft_class_fault_delay;

static void test_bring_up(void **state)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct ex_pair p;

		ex_pair_init(&p, (const char *[]){ "train", "yes", "packets",
						   "300", "width",
						   i ? "w16" : "w32", NULL });
		ex_pair_fault(&p, 0, &weft_class_fault_delay, NULL);
		ex_pair_start(&p);
		assert_int_equal(p.n[0]->ep.slow->state, CELL_CHANNEL_ALIGN);
		ex_pair_run(&p, 17);
		assert_int_equal(p.n[0]->ep.slow->state, CELL_CHANNEL_INIT1);
		ex_pair_run(&p, 17 + 45);
		assert_int_equal(p.n[0]->ep.slow->state, CELL_CHANNEL_INIT2);
		ex_pair_run(&p, 17 + 2 * 45);
		assert_int_equal(p.n[0]->ep.slow->state, CELL_CHANNEL_READY);
		assert_int_equal(p.n[1]->ep.slow->state, CELL_CHANNEL_READY);
		ex_pair_drain(&p, 10000000);
		ex_pair_check_all(&p);
		assert_int_equal(p.n[0]->ep.count.replays, 0);
		assert_true(p.n[1]->log[0].cycle > 100);
		ex_pair_fini(&p);
	}
}

/* Training cells that are lost are sent again. */
static void test_bring_up_lossy(void **state)
{
	struct ex_pair p;
	uint32_t i;

	for (i = 1; i <= 6; i++) {
		char frame[2] = { (char)('0' + i), 0 };

		ex_pair_init(&p, (const char *[]){ "train", "yes", "packets",
						   "200", NULL });
		ex_pair_fault(&p, 0, &weft_class_fault_drop,
			      (const char *[]){ "target", "control", "frame",
						frame, NULL });
		ex_pair_fault(&p, 1, &weft_class_fault_drop,
			      (const char *[]){ "target", "control", "frame",
						frame, "count", "3", NULL });
		ex_pair_start(&p);
		ex_pair_drain(&p, 10000000);
		ex_pair_check_all(&p);
		assert_int_equal(p.n[0]->downs + p.n[1]->downs, 0);
		ex_pair_fini(&p);
	}
}

/* Without an answer from the far end the link is down after 15 attempts of 1024
 * cycles. */
static void test_link_without_a_peer_goes_down(void **state)
{
	struct ex_pair p;

	ex_pair_init(&p, (const char *[]){ "train", "yes", NULL });
	ex_pair_fault(&p, 1, &weft_class_fault_drop,
		      (const char *[]){ "controls", "1", NULL });
	ex_pair_start(&p);
	ex_pair_run(&p, 15 * 1024);
	assert_int_equal(p.n[0]->downs, 0);
	ex_pair_run(&p, 17 * 1024);
	assert_int_equal(p.n[0]->downs, 1);
	/* node 1 has received the INIT1 of node 0, but cannot know that node 0
	 * gave up */
	ex_pair_drain(&p, 40 * 1024);
	assert_int_equal(p.n[1]->downs, 1);
	assert_int_equal(p.n[0]->ep.count.downs, 1);
	ex_pair_fini(&p);
}

/* T-28: cuts both directions for a while in the middle of a stream. */
static void cut(const char *width, const char *at, const char *len,
		uint32_t both, const char *gap)
{
	const char *const set[] = { "at", at, "length", len, NULL };
	struct ex_pair p;

	ex_pair_init(&p, (const char *[]){ "packets", "1500", "width", width,
					   "gap", gap, NULL });
	ex_pair_fault(&p, 0, &weft_class_fault_cut, set);
	if (both)
		ex_pair_fault(&p, 1, &weft_class_fault_cut, set);
	ex_pair_start(&p);
	ex_pair_drain(&p, 10000000);
	ex_pair_check_all(&p);
	assert_int_equal(p.n[1]->ep.slow->state, CELL_CHANNEL_READY);
	ex_pair_fini(&p);
}

/* Sanitizers test every fifth cut only, because these cuts already reach all
 * code. */
#ifdef __SANITIZE_ADDRESS__
enum { SHARE = 5 };
#else
enum { SHARE = 1 };
#endif

static void test_cut_link_trains_again(void **state)
{
	static const char *const at[] = { "20us",     "20.001us", "20.01us",
					  "20.017us", "20.03us",  "20.05us",
					  "20.1us",   "20.123us" };
	static const char *const len[] = { "10ns", "200ns", "3us", "50us",
					   "400us" };

	for (uint32_t i = 0; i < 8 * 5 * 4; i += SHARE)
		cut(i & 1 ? "w16" : "w32", at[i / 4 % 8], len[i / 32], i & 2,
		    i % 3 ? "0" : "80");
}

/* During a cut the stream stops and no packet arrives. */
static void test_cut_stops(void **state)
{
	const char *const set[] = { "at", "20us", "length", "30us", NULL };
	struct ex_pair p;
	uint32_t n;

	ex_pair_init(&p,
		     (const char *[]){ "packets", "3000", "gap", "0", NULL });
	ex_pair_fault(&p, 0, &weft_class_fault_cut, set);
	ex_pair_fault(&p, 1, &weft_class_fault_cut, set);
	ex_pair_start(&p);
	ex_pair_run(&p, 3200); /* 20.5 us */
	n = p.n[1]->n_log;
	assert_true(n > 100);
	assert_int_equal(p.n[0]->ep.slow->state, CELL_CHANNEL_ALIGN);
	ex_pair_run(&p, 7700); /* 49.4 us */
	assert_int_equal(p.n[1]->n_log, n);
	assert_in_range(p.n[0]->ep.unacked, 1, 32);
	ex_pair_drain(&p, 10000000);
	ex_pair_check_all(&p);
	/* training reported the missing cells, so that no NACK or timeout was
	 * needed */
	assert_int_equal(p.n[1]->ep.count.nacks, 0);
	assert_int_equal(p.n[0]->ep.count.replays, 1);
	assert_int_equal(p.n[0]->ep.count.timeouts, 0);
	assert_int_equal(p.n[0]->ep.count.downs, 0);
	ex_pair_fini(&p);
}

/* A link whose cable is cut for ever goes down at both ends, and each end
 * reports that once. */
static void test_cut_for_good(void **state)
{
	for (uint32_t i = 0; i < 2; i++) {
		const char *const set[] = { "at", "20us", NULL };
		struct ex_pair p;

		ex_pair_init(&p, (const char *[]){ "packets", "3000", "gap",
						   "0", NULL });
		ex_pair_fault(&p, 0, &weft_class_fault_cut, set);
		if (i)
			ex_pair_fault(&p, 1, &weft_class_fault_cut, set);
		ex_pair_start(&p);
		ex_pair_drain(&p, 10000000);
		assert_int_equal(p.n[0]->downs, 1);
		assert_int_equal(p.n[1]->downs, 1);
		assert_int_equal(p.n[0]->ups, 0);
		/* 20 us are 3120 cycles */
		assert_in_range(weft_sim_now(p.sim) / 6410257, 3120, 10000000);
		ex_pair_fini(&p);
	}
}

/* The line has bit errors and is cut at random times. */
static void test_line_with_cuts_and_errors_loses_no_packet(void **state)
{
	const char *const set[] = { "at",   "10us",   "length", "2us", "every",
				    "40us", "random", "yes",	NULL };
	const char *const bits[] = { "rate", "1e-5", NULL };

	for (uint32_t i = 0; i < 4; i++) {
		struct ex_pair p;

		ex_pair_init(&p, (const char *[]){ "packets", "4000", "width",
						   i & 1 ? "w16" : "w32", "gap",
						   i & 2 ? "0" : "60", NULL });
		for (uint32_t k = 0; k < 4; k++)
			ex_pair_fault(&p, k & 1,
				      k & 2 ? &weft_class_fault_cut
					    : &weft_class_fault_bits,
				      k & 2 ? set : bits);
		ex_pair_start(&p);
		ex_pair_run(&p, 10000000);
		ex_pair_check_all(&p);
		assert_true(p.fault[2]->counters[0] > 10);
		ex_pair_fini(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bring_up),
		cmocka_unit_test(test_bring_up_lossy),
		cmocka_unit_test(test_link_without_a_peer_goes_down),
		cmocka_unit_test(test_cut_link_trains_again),
		cmocka_unit_test(test_cut_stops),
		cmocka_unit_test(test_cut_for_good),
		cmocka_unit_test(
			test_line_with_cuts_and_errors_loses_no_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
