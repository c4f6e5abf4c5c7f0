/* SPDX-License-Identifier: Apache-2.0 */
/* FORTH NIC at its limits. Each test covers both sides of a limit: the cycle
 * before and the cycle itself, the decisive bit and its neighbour (forth.md
 * 2.3, 4.11, 5.7). */
#include "unit/cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "rig.h"

#define SRC (RIG_MEM + 0x10000)
#define DST (RIG_MEM + 0x20000u)
#define SER 24u

static void open_rig(struct rig *r, const char *preset, const char *set)
{
	rig_single(r, preset, set);
	rig_setup(r, 0);
}

static uint64_t q1(uint32_t flow, uint32_t qwords, uint64_t flags)
{
	return forth_desc_q1(flow, qwords, (uint32_t)DST,
			     flags | FORTH_DESC_START);
}

static uint64_t counter(const struct rig *r, const char *name)
{
	const struct weft_comp *c = r->n[0].nic;

	for (uint32_t i = 0; i < c->cls->n_counters; i++)
		if (!strcmp(c->cls->counters[i].name, name))
			return c->counters[i];
	fail_msg("no counter %s", name);
	return 0;
}

/* ---- a completion without a request (2.3) ---- */

static uint32_t unexpected(struct rig *r)
{
	return rig_cfg_get(r, 0, FORTH_CFG_PCIX_STATUS, 4) &
	       FORTH_PCIX_STATUS_UNEXPECTED;
}

/* The status bit is set once, when the last datum has moved. */
static void an_unexpected_completion_is_seen_at_its_end(void **state)
{
	enum { REPEAT = 100 };
	struct rig r;
	uint64_t end;

	open_rig(&r, "tr-switch", "bus.repeat=100");
	rig_post(&r, 0, 0, 0, SRC, q1(0, 8, 0));
	while (!r.n[0].bus->log[0].done)
		rig_wait(&r, 1);
	end = r.n[0].bus->log[0].done + REPEAT;
	rig_run_pc(&r, end - REPEAT + 20);
	assert_false(unexpected(&r));
	rig_run_pc(&r, end - 2);
	assert_false(unexpected(&r));
	rig_run_pc(&r, end);
	assert_true(unexpected(&r));
	rig_cfg(&r, 0, FORTH_CFG_PCIX_STATUS, 4, FORTH_PCIX_STATUS_UNEXPECTED);
	rig_wait(&r, 500);
	assert_false(unexpected(&r));
	assert_int_equal(r.sink->n_log, 1); /* the packet has left the NIC */
	rig_free(&r);
}

/* ---- port reset (5.7) ---- */

/* Sends on a flow until the neighbour holds its 512 words. The neighbour
 * returns no credits. */
static void use_credits(struct rig *r)
{
	open_rig(r, "tr-switch", "sink.lanes=8 sink.cap=512 sink.stop=true");
	for (uint32_t i = 0; i < 8; i++)
		rig_post(r, 0, 0, i, SRC, q1(3, 62, 0));
	rig_wait(r, 5000);
	assert_int_equal(rig_r32(r, 0, FORTH_CREDIT_STATE + 12), 512);
}

static void only_bit_0_resets_a_port_that_is_there(void **state)
{
	struct rig r;

	use_credits(&r);
	rig_w32(&r, 0, FORTH_PORT, 0);
	rig_w32(&r, 0, FORTH_PORT, 0xFFFFFFFE);
	assert_int_equal(rig_r32(&r, 0, FORTH_CREDIT_STATE + 12), 512);
	rig_w32(&r, 0, FORTH_LINK_SELECT, 1); /* link 1 does not exist */
	assert_int_equal(rig_r32(&r, 0, FORTH_PORT), 0);
	rig_w32(&r, 0, FORTH_PORT, 1);
	rig_w32(&r, 0, FORTH_LINK_SELECT, 0);
	assert_int_equal(rig_r32(&r, 0, FORTH_PORT), 8);
	assert_int_equal(rig_r32(&r, 0, FORTH_CREDIT_STATE + 12), 512);
	assert_int_equal(r.sink->n_log, 4);
	rig_w32(&r, 0, FORTH_PORT, 1);
	rig_wait(&r, 5000);
	assert_int_equal(r.sink->n_log, 8);
	rig_free(&r);
}

static void a_port_reset_waits_until_net2host_is_empty(void **state)
{
	struct rig r;

	use_credits(&r);
	rig_w32(&r, 0, FORTH_CONTROL, 0);
	rig_send(&r, rig_cc(&r) + 1, forth_header(0, 0, 5, DST), 7);
	rig_wait(&r, 500);
	rig_w32(&r, 0, FORTH_PORT, 1);
	assert_int_equal(rig_r32(&r, 0, FORTH_CREDIT_STATE + 12), 512);
	rig_w32(&r, 0, FORTH_CONTROL, FORTH_CTL_ENABLE);
	rig_wait(&r, 500);
	assert_int_equal(rig_mem64(&r, 0, DST), 7);
	assert_int_equal(r.sink->n_log, 4);
	rig_w32(&r, 0, FORTH_PORT, 1);
	rig_wait(&r, 5000);
	assert_int_equal(r.sink->n_log, 8);
	rig_free(&r);
}

/* ---- Net2Host during a write (4.11) ---- */

/* Returns whether the first and the last word have arrived when the bus takes
 * them. Sets *sharp if the last word arrived exactly at the edge at which the
 * bus takes it. */
static bool in_time(const struct rig *r, uint32_t qwords, uint64_t pc0,
		    bool *sharp)
{
	const struct weft_clock *net = &r->sink->link.clk;
	const struct weft_clock *pci = &r->n[0].bus->clock;
	uint64_t data = r->sink->start[0] + SER + 4;
	weft_time_t first = weft_clock_edge(net, data + 2);
	weft_time_t last = weft_clock_edge(net, data + 2ull * qwords);

	*sharp |= last == weft_clock_edge(pci, pc0 + qwords);
	return first <= weft_clock_edge(pci, pc0 + 1) &&
	       last <= weft_clock_edge(pci, pc0 + qwords);
}

/* A word may arrive at the very edge at which the bus takes it. Both clocks are
 * equal, and the bus takes words twice as fast as they arrive. */
static void a_write_may_take_words_as_they_come(void **state)
{
	enum { RUNS = 20 };
	static const uint32_t sizes[] = { 3, 8 };

	for (uint32_t k = 0; k < 2; k++) {
		uint32_t early = 0;
		bool sharp = false;

		for (uint32_t t_ph = 1; t_ph <= RUNS; t_ph++) {
			struct rig r;
			char set[80];
			bool good;

			snprintf(set, sizeof(set),
				 "links=1 ct_q=0 bus.clock=78.125MHz "
				 "bus.t_arb=0 bus.t_ph=%u",
				 t_ph);
			open_rig(&r, "tr-direct", set);
			rig_send(&r, rig_cc(&r) + 11,
				 forth_header(0, 0, sizes[k], DST), 0);
			rig_wait(&r, 200);
			good = in_time(&r, sizes[k],
				       r.n[0].bus->log[0].req + t_ph, &sharp);
			early += !good;
			assert_int_equal(counter(&r, "rx_underruns"), !good);
			rig_free(&r);
		}
		assert_true(sharp);
		assert_in_range(early, 1, RUNS - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unexpected_completion_is_seen_at_its_end),
		cmocka_unit_test(only_bit_0_resets_a_port_that_is_there),
		cmocka_unit_test(a_port_reset_waits_until_net2host_is_empty),
		cmocka_unit_test(a_write_may_take_words_as_they_come),
	};

	return cmocka_run_group_tests_name("forth-edges", tests, NULL, NULL);
}
