/* SPDX-License-Identifier: Apache-2.0 */
/* forth.selftest: tests of counters, timers, sampler, credits, limits,
 * loopback. */
#include <stdlib.h>

#include "systems/forth/programs/selftest.h"

static void selftest_one(struct st *s, uint32_t qwords)
{
	selftest_put(s, 0, qwords, WEFT_FORTH_LNOTIFY);
	weft_forth_flush(s->f, 1, WEFT_NEVER);
	selftest_sleep(s, 3);
}

/* forth.md 2.5, R-08: checks that the host may store into the performance
 * counters. A load clears a network counter, and a store to the first network
 * counter clears all of them. */
static void selftest_counters(struct st *s)
{
	uint32_t a, b;

	if (!selftest_open(s, NULL))
		return;
	selftest_prepare(s, 25);
	if (selftest_acts(s)) {
		weft_forth_store(s->f, FORTH_H2N_QWORD, 1000);
		selftest_one(s, 7);
		a = weft_forth_load(s->f, FORTH_H2N_QWORD);
		ST_EXPECT(s, a == 1007, "counters: 1000 + 7 gave %u", a);
		ST_EXPECT(s, weft_forth_load(s->f, FORTH_H2N_QWORD) == 1007,
			  "counters: a load changed a PCI counter");
		a = weft_forth_load(s->f, FORTH_NET_OUT_PACKETS);
		b = weft_forth_load(s->f, FORTH_NET_OUT_PACKETS);
		ST_EXPECT(s, a == 1 && b == 0,
			  "counters: packets read %u, then %u", a, b);
		weft_forth_load(s->f, FORTH_NET_DEQ_WORDS);
		selftest_one(s, 7);
		weft_forth_store(s->f, FORTH_NET_DEQ_WORDS, 99);
		a = weft_forth_load(s->f, FORTH_NET_DEQ_WORDS);
		ST_EXPECT(s, a == 9, "counters: 7 qwords dequeued as %u", a);
		selftest_one(s, 7);
		weft_forth_store(s->f, FORTH_NET_OUT_CYCLES, 5);
		a = weft_forth_load(s->f, FORTH_NET_OUT_PACKETS);
		ST_EXPECT(s, a == 0, "counters: store to 0x80 left %u", a);
	}
	selftest_close(s);
}

/* 2.7: checks the cumulative timer. */
static void selftest_timer(struct st *s)
{
	uint32_t a, b;

	if (!selftest_open(s, NULL))
		return;
	selftest_prepare(s, 27);
	if (selftest_acts(s)) {
		weft_forth_timer_arm(s->f, 0);
		selftest_sleep(s, 2);
		a = weft_forth_timer_read(s->f);
		ST_EXPECT(s, a == 0, "timer: runs before the first transfer");
		selftest_one(s, 32);
		a = weft_forth_timer_read(s->f);
		b = weft_forth_timer_read(s->f);
		ST_EXPECT(s, a && a == b, "timer: read %u, then %u", a, b);
		selftest_one(s, 32);
		b = weft_forth_timer_read(s->f);
		ST_EXPECT(s, b > a + 1000, "timer: %u after %u", b, a);
		weft_forth_timer_arm(s->f, 77);
		selftest_one(s, 32);
		b = weft_forth_timer_read(s->f);
		ST_EXPECT(s, b == a + 77, "timer: armed with 77, %u not %u", b,
			  a + 77);
	}
	selftest_close(s);
}

/* 2.8: takes as many cumulative samples as the memory holds. */
static void selftest_sampler(struct st *s)
{
	struct weft_forth_sample *v =
		weft_host_calloc(s->w.h, FORTH_SAMPLES, sizeof(*v));
	uint32_t n = 0;

	if (!v || !selftest_open(s, NULL)) {
		weft_host_free(s->w.h, v);
		return;
	}
	selftest_prepare(s, 28);
	if (selftest_acts(s)) {
		weft_forth_sample_start(s->f, 16, FORTH_SAMPLES);
		selftest_sleep(s, 5);
		selftest_one(s, 62);
		selftest_sleep(s, 40);
		weft_forth_sample_read(s->f, 0, FORTH_SAMPLES, v);
		for (uint32_t i = 1; i < FORTH_SAMPLES; i++)
			ST_EXPECT(s, v[i].out >= v[i - 1].out,
				  "sampler: sample %u runs backwards", i);
		while (n < FORTH_SAMPLES && !v[n].out)
			n++;
		ST_EXPECT(s, n < 16, "sampler: first datum in sample %u", n);
		for (n = FORTH_SAMPLES; n && v[n - 1].out != 62; n--)
			;
		weft_metric(s->w.c, "samples", "", n);
		weft_forth_sample_read(s->f, 1000, 1, v);
		ST_EXPECT(s, v[0].out == 62, "sampler: seek to 1000 gave %u",
			  v[0].out);
	}
	weft_host_free(s->w.h, v);
	selftest_close(s);
}

static uint32_t selftest_gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t r = a % b;

		a = b;
		b = r;
	}
	return a;
}

static uint32_t selftest_bits(uint32_t v)
{
	uint32_t n = 0;

	for (; v; v >>= 1)
		n++;
	return n;
}

/* 5.1: checks the credit counters of the flow to node 1 (F26). Sends more than
 * three times the words that a 12-bit counter holds, one packet at a time. */
static void selftest_credits(struct st *s)
{
	uint32_t lane, sent, fwd, gran = 0, top_t = 0, top_f = 0;

	if (!selftest_open(s, NULL))
		return;
	selftest_prepare(s, 51);
	if (selftest_acts(s)) {
		/* find the lane of node 1. A cable between two NICs has only
		 * one lane, lane 0 */
		weft_forth_credit(s->f, 1, &sent, &fwd);
		selftest_one(s, 3);
		weft_forth_credit(s->f, 1, &top_t, &fwd);
		lane = top_t != sent ? 1 : 0;
		for (uint32_t k = 0; k < 1600; k++) {
			selftest_put(s, 0, 3, WEFT_FORTH_LNOTIFY);
			weft_forth_flush(s->f, 1, WEFT_NEVER);
			weft_forth_credit(s->f, lane, &sent, &fwd);
			gran = selftest_gcd(fwd, gran);
			top_t = sent > top_t ? sent : top_t;
			top_f = fwd > top_f ? fwd : top_f;
		}
		weft_metric(s->w.c, "credit_granularity", "words", gran);
		weft_metric(s->w.c, "credit_counter", "bits",
			    selftest_bits(top_t));
		weft_metric(s->w.c, "credit_field", "bits",
			    gran ? selftest_bits(top_f / gran) : 0);
	}
	selftest_close(s);
}

/* F31: finds the longest transfer that a descriptor can move. */
static void selftest_limit(struct st *s)
{
	uint32_t q = 0, n = 0, errors;

	if (!selftest_open(s, NULL))
		return;
	selftest_prepare(s, 31);
	if (selftest_acts(s)) {
		errors = weft_forth_load(s->f, FORTH_DESC_ERR);
		for (q = 508; q < 520; q++) {
			weft_forth_slot_write(s->f, s->i->queues > 1 ? 1 : 0,
					      q - 508, s->phys,
					      forth_desc_q1(1, q,
							    (uint32_t)s->remote,
							    FORTH_DESC_START));
			selftest_sleep(s, 8);
			if (weft_forth_load(s->f, FORTH_DESC_ERR) != errors)
				break;
			n = q;
		}
		weft_metric(s->w.c, "transfer_limit", "B", 8 * n);
	}
	selftest_close(s);
}

/* 2.6: checks that packets return in loopback, without a switch. */
static void selftest_loopback(struct st *s)
{
	if (!selftest_open(s, NULL))
		return;
	selftest_prepare(s, 26);
	if (selftest_acts(s)) {
		volatile uint64_t *back = s->mem + ST_BYTES / 16;

		weft_forth_loopback(s->f, true);
		selftest_sleep(s, 2);
		weft_forth_put(s->f, 0, s->phys, s->phys + ST_BYTES / 2, 32,
			       WEFT_FORTH_RNOTIFY);
		ST_EXPECT(s,
			  weft_forth_wait_remote(s->f, 0,
						 weft_host_now(s->w.h) +
							 100 * s->pause),
			  "loopback: nothing came back");
		ST_EXPECT(s,
			  program_check((void *)back, 0, 32,
					program_base(0, 1, 26)) < 0,
			  "loopback: payload differs");
		weft_forth_loopback(s->f, false);
		selftest_sleep(s, 2);
		selftest_put(s, 0, 16, WEFT_FORTH_RNOTIFY);
	} else {
		weft_forth_wait_remote(s->f, 0, WEFT_NEVER);
		selftest_verify(s, 26, 16);
	}
	selftest_close(s);
}

const struct selftest_test selftest_count_tests[] = {
	{ "counters", selftest_counters },
	{ "timer", selftest_timer },
	{ "sampler", selftest_sampler },
	{ "credits", selftest_credits },
	{ "limit", selftest_limit },
	{ "loopback", selftest_loopback },
	{ NULL, NULL },
};
