/* SPDX-License-Identifier: Apache-2.0 */
/* Event log of forth.nic with records of credits (forth.md 10.2): times, order,
 * equal records on a tapped line, and no effect on the run. The registers of
 * resynchronisation are tested, too. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "rig.h"

#define SRC   (RIG_MEM + 0x10000)
#define DST   (RIG_MEM + 0x20000u)
#define MOST  600
#define WORDS 64 /* words of a packet of 62 qwords, with header and CRC */

struct rec {
	uint64_t time;
	uint32_t arg, unit, event;
};

struct log {
	struct rec r[MOST];
	uint32_t n;
};

static void log_get(struct rig *r, uint32_t node, struct log *l)
{
	uint32_t lo, hi, what;

	l->n = rig_r32(r, node, FORTH_LOG_COUNT);
	assert_true(l->n <= MOST);
	for (uint32_t i = 0; i < l->n; i++) {
		lo = rig_r32(r, node, FORTH_LOG_DATA);
		hi = rig_r32(r, node, FORTH_LOG_DATA + 4);
		l->r[i].time = lo | (uint64_t)hi << 32;
		l->r[i].arg = rig_r32(r, node, FORTH_LOG_DATA + 8);
		what = rig_r32(r, node, FORTH_LOG_DATA + 12);
		l->r[i].unit = what & 0xFF;
		l->r[i].event = what >> 8;
		assert_true(!i || l->r[i].time >= l->r[i - 1].time);
	}
}

/* Returns the k-th record of this event, or NULL. */
static const struct rec *find(const struct log *l, uint32_t unit,
			      uint32_t event, uint32_t k)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->r[i].unit == unit && l->r[i].event == event && !k--)
			return &l->r[i];
	return NULL;
}

static void log_on(struct rig *r, uint32_t control)
{
	for (uint32_t i = 0; i < r->nodes; i++) {
		rig_setup(r, i);
		rig_w32(r, i, FORTH_LOG_CONTROL, control);
	}
}

static void packets(struct rig *r, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		rig_post(r, 0, 0, i, SRC,
			 forth_desc_q1(1, WORDS - 2, DST,
				       FORTH_DESC_RNOTIFY | FORTH_DESC_START));
	rig_wait(r, 400 * n);
}

/* One packet of 64 words makes two steps of the credit value. A credit takes
 * T_SER 24 + T_CRRX 2 cycles from its record in one log to its record in the
 * other. From the packet's start to the first credit it takes 90 + 16 cycles.
 * Both times grow by the wait for an edge of the other clock (5.8, 11.7). */
static void test_round_trip(void **state)
{
	static struct log a, b;
	const struct rec *start, *in, *out;
	struct rig r;

	rig_pair(&r, "tr-direct", "refresh_cc=0");
	log_on(&r, FORTH_LOG_ON | FORTH_LOG_CREDITS);
	packets(&r, 1);
	log_get(&r, 0, &a);
	log_get(&r, 1, &b);
	start = find(&a, LOG_LINK0, LOG_START, 0);
	assert_non_null(start);
	for (uint32_t k = 0; k < 2; k++) {
		in = find(&a, LOG_LINK0, LOG_CREDIT_IN, k);
		out = find(&b, LOG_LINK0, LOG_CREDIT_OUT, k);
		assert_non_null(in);
		assert_non_null(out);
		assert_int_equal(in->arg, forth_credit(0, k + 1));
		assert_int_equal(out->arg, in->arg);
		assert_in_range(in->time - out->time, 26 * 32 / 25,
				26 * 32 / 25 + 1);
	}
	assert_null(find(&a, LOG_LINK0, LOG_CREDIT_IN, 2));
	assert_null(find(&a, LOG_LINK0, LOG_CREDIT_OUT, 0));
	in = find(&a, LOG_LINK0, LOG_CREDIT_IN, 0);
	assert_in_range(in->time - start->time, (90 + 16) * 32 / 25,
			(90 + 16 + 3) * 32 / 25);
	rig_free(&r);
}

/* An idle line repeats a credit every 1024 NET cycles, each of which is 1.28
 * PCI cycles (5.3). */
static void test_idle_line_logs_a_credit_every_1024_cycles(void **state)
{
	static struct log a;
	struct rig r;

	rig_pair(&r, "tr-direct", "");
	log_on(&r, FORTH_LOG_ON | FORTH_LOG_CREDITS);
	rig_wait(&r, 20 * 1024 * 32 / 25);
	log_get(&r, 0, &a);
	assert_in_range(a.n, 2 * 19, 2 * 21); /* in both directions */
	for (uint32_t k = 0; k < 18; k++) {
		const struct rec *x = find(&a, LOG_LINK0, LOG_CREDIT_OUT, k);
		const struct rec *y =
			find(&a, LOG_LINK0, LOG_CREDIT_OUT, k + 1);

		assert_in_range(y->time - x->time, 1310, 1311);
	}
	rig_free(&r);
}

/* The log of computed credits is equal to the log of credits in real frames. */
static void test_computed_and_sent_credits_log_equally(void **state)
{
	static struct log a[2], b[2];
	struct rig r;

	rig_pair(&r, "tr-direct", "links=1");
	log_on(&r, FORTH_LOG_ON | FORTH_LOG_CREDITS);
	packets(&r, 20);
	log_get(&r, 0, &a[0]);
	log_get(&r, 1, &a[1]);
	rig_free(&r);
	rig_pair_faulty(&r, "tr-direct", "rate=0");
	log_on(&r, FORTH_LOG_ON | FORTH_LOG_CREDITS);
	packets(&r, 20);
	log_get(&r, 0, &b[0]);
	log_get(&r, 1, &b[1]);
	rig_free(&r);
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(a[i].n > 80);
		assert_int_equal(a[i].n, b[i].n);
		assert_memory_equal(a[i].r, b[i].r, a[i].n * sizeof(a[i].r[0]));
	}
}

/* The log does not change the traffic on the buses. */
static void test_no_influence(void **state)
{
	static struct tbus_op op[2][2][256];
	uint32_t n[2][2];
	struct rig r;

	memset(op, 0, sizeof(op));
	for (uint32_t run = 0; run < 2; run++) {
		rig_pair(&r, "tr-direct", "");
		log_on(&r, run ? FORTH_LOG_ON | FORTH_LOG_CREDITS : 0);
		packets(&r, 40);
		for (uint32_t i = 0; i < 2; i++) {
			n[run][i] = r.n[i].bus->n_log;
			assert_in_range(n[run][i], 40, 256);
			memcpy(op[run][i], r.n[i].bus->log,
			       n[run][i] * sizeof(op[0][0][0]));
		}
		rig_free(&r);
	}
	assert_memory_equal(n[0], n[1], sizeof(n[0]));
	assert_memory_equal(op[0], op[1], sizeof(op[0]));
}

/* Credits are logged on request only. A packet that the receiver rejects makes
 * an error record. */
static void test_rejected_packet_gives_an_error_record(void **state)
{
	static const struct {
		const char *fault;
		uint32_t arg;
	} row[] = {
		{ "target=header frame=2 bit=9", LOG_HEADER_CRC },
		{ "target=body frame=2 bit=77", LOG_BODY_CRC },
	};
	static struct log b;
	const struct rec *e;
	struct rig r;

	for (uint32_t i = 0; i < 2; i++) {
		rig_pair_faulty(&r, "tr-direct", row[i].fault);
		log_on(&r, FORTH_LOG_ON);
		packets(&r, 3);
		log_get(&r, 1, &b);
		e = find(&b, LOG_LINK0, LOG_ERROR, 0);
		assert_non_null(e);
		assert_int_equal(e->arg, row[i].arg);
		assert_null(find(&b, LOG_LINK0, LOG_ERROR, 1));
		assert_null(find(&b, LOG_LINK0, LOG_CREDIT_OUT, 0));
		rig_free(&r);
	}
}

/* The ring keeps the last 4096 records. Credits that are computed late are
 * inserted in order of time. */
static void test_ring_keeps_the_last_4096_records(void **state)
{
	struct rig r;
	uint64_t time = 0, lo;
	uint32_t n;

	rig_pair(&r, "tr-direct", "refresh_cc=16");
	log_on(&r, FORTH_LOG_ON | FORTH_LOG_CREDITS);
	for (uint32_t i = 0; i < 12; i++) {
		rig_wait(&r, 5000);
		rig_post(&r, 0, 0, i, SRC,
			 forth_desc_q1(1, WORDS - 2, DST, FORTH_DESC_START));
	}
	n = rig_r32(&r, 0, FORTH_LOG_COUNT);
	assert_true(n > 4096 + 100);
	rig_w32(&r, 0, FORTH_LOG_INDEX, n - 4000);
	for (uint32_t i = 0; i < 3900; i++) {
		lo = rig_r32(&r, 0, FORTH_LOG_DATA);
		assert_true(lo >= time);
		time = lo;
		assert_in_range(rig_r32(&r, 0, FORTH_LOG_DATA + 12) >> 8,
				LOG_START, LOG_EVENTS - 1);
	}
	rig_w32(&r, 0, FORTH_LOG_INDEX, 0); /* long gone */
	assert_int_equal(rig_r32(&r, 0, FORTH_LOG_DATA), 0);
	rig_free(&r);
}

/* Returns the word with unit and event of record `index`, or 0 if there is no
 * record. */
static uint32_t log_what(struct rig *r, uint32_t index)
{
	rig_w32(r, 0, FORTH_LOG_INDEX, index);
	return rig_r32(r, 0, FORTH_LOG_DATA + 12);
}

/* The ring has room for 4096 records. After n records, its oldest record is
 * record n - 4096. */
static void an_overwritten_record_is_not_shown(void **state)
{
	struct rig r;
	uint32_t n, i;

	rig_pair(&r, "tr-direct", "");
	log_on(&r, FORTH_LOG_ON);
	for (i = 0; i < 1400; i++) {
		rig_post(&r, 0, 0, i % 1024, SRC,
			 forth_desc_q1(1, 3, DST, FORTH_DESC_START));
		rig_wait(&r, 100);
	}
	rig_wait(&r, 2000);
	n = rig_r32(&r, 0, FORTH_LOG_COUNT);
	assert_true(n > 4096 + 2);
	assert_int_equal(log_what(&r, n - 4096 - 2), 0);
	assert_int_equal(log_what(&r, n - 4096 - 1), 0);
	assert_int_not_equal(log_what(&r, n - 4096), 0);
	assert_int_not_equal(log_what(&r, n - 1), 0);
	assert_int_equal(log_what(&r, n), 0);
	assert_int_equal(rig_r32(&r, 0, FORTH_LOG_COUNT), n);
	rig_free(&r);
}

/* A receiver drains nothing for longer than `resync`. The sender requests a
 * resynchronisation, which follows once the buffer is empty (5.7). The register
 * counts the resynchronisation. */
static void test_resynchronisation_is_logged_and_counted(void **state)
{
	struct rig r;

	rig_pair(&r, "tr-direct", "resync=2000 refresh_cc=0");
	rig_setup(&r, 0);
	rig_setup(&r, 1);
	/* the NIC receives but does not drain */
	rig_w32(&r, 1, FORTH_CONTROL, 0);
	packets(&r, 20);
	assert_int_equal(rig_r32(&r, 0, FORTH_CREDIT_RESYNCS), 0);
	rig_w32(&r, 1, FORTH_CONTROL, FORTH_CTL_RESET | FORTH_CTL_ENABLE);
	rig_wait(&r, 20000);
	assert_int_equal(rig_r32(&r, 0, FORTH_CREDIT_RESYNCS), 1);
	assert_int_equal(rig_r32(&r, 1, FORTH_CREDIT_RESYNCS), 0);
	assert_int_equal(rig_r32(&r, 0, FORTH_UNSYNC), 0);
	rig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(
			test_idle_line_logs_a_credit_every_1024_cycles),
		cmocka_unit_test(test_computed_and_sent_credits_log_equally),
		cmocka_unit_test(test_no_influence),
		cmocka_unit_test(test_rejected_packet_gives_an_error_record),
		cmocka_unit_test(test_ring_keeps_the_last_4096_records),
		cmocka_unit_test(an_overwritten_record_is_not_shown),
		cmocka_unit_test(test_resynchronisation_is_logged_and_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
