/* SPDX-License-Identifier: Apache-2.0 */
/* Loopback of the FORTH NIC under traffic (forth.md 2.6, V26): the mode changes
 * while packets of the line and of the loop are in flight in both
 * directions. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "base/rng.h"
#include "rig.h"

#define SRC (RIG_MEM + 0x8000u)
/* address to which posted packets are written */
#define OWN (RIG_MEM + 0x10000u)
/* address to which the neighbour's packets are written */
#define FROM   (RIG_MEM + 0x60000u)
#define PLACE  0x200u
#define QWORDS 62u

static void open_rig(struct rig *r, const char *preset, const char *set)
{
	rig_single(r, preset, set);
	rig_setup(r, 0);
}

static void mode(struct rig *r, bool loop)
{
	rig_w32(r, 0, FORTH_CONTROL,
		FORTH_CTL_ENABLE | (loop ? FORTH_CTL_LOOP : 0));
}

/* Posts packet i, whose first qword holds its number plus one. */
static void post(struct rig *r, uint32_t i, uint32_t flow, uint32_t qwords)
{
	uint64_t src = SRC + 8 * i;

	rig_mem_set64(r, 0, src, i + 1);
	rig_post(
		r, 0, 0, i % 1024, src,
		forth_desc_q1(flow, qwords, OWN + PLACE * i, FORTH_DESC_START));
}

static void neighbour(struct rig *r, uint32_t i, uint32_t qwords, uint64_t cc)
{
	rig_send(r, cc, forth_header(0, 0, qwords, FROM + PLACE * i), i + 1);
}

static bool came_back(struct rig *r, uint32_t i)
{
	return rig_mem64(r, 0, OWN + PLACE * i) == i + 1;
}

static bool came_in(struct rig *r, uint32_t i)
{
	return rig_mem64(r, 0, FROM + PLACE * i) == i + 1;
}

static uint32_t back_of(struct rig *r, uint32_t n)
{
	uint32_t back = 0;

	for (uint32_t i = 0; i < n; i++)
		back += came_back(r, i);
	return back;
}

static uint32_t in_of(struct rig *r, uint32_t from, uint32_t n)
{
	uint32_t in = 0;

	for (uint32_t i = from; i < from + n; i++)
		in += came_in(r, i);
	return in;
}

static uint64_t counter(const struct rig *r, const char *name)
{
	const struct weft_comp *c = r->n[0].nic;

	weft_sim_sample(r->sim);
	for (uint32_t i = 0; i < c->cls->n_counters; i++)
		if (!strcmp(c->cls->counters[i].name, name))
			return c->counters[i];
	return 0;
}

/* Checks that all words of all lanes have returned, up to a credit's
 * granularity. */
static void credits_are_home(struct rig *r)
{
	struct forth_port *s = &r->sink->link;

	forth_port_counts(s);
	assert_int_equal(s->tx[0].acked, s->tx[0].sent & 0xFE0);
	for (uint32_t i = 0; i < r->sink->lanes; i++) {
		uint32_t c = rig_r32(r, 0, FORTH_CREDIT_STATE + 4 * i);

		assert_int_equal(c >> 16, c & 0xFE0);
	}
}

static void nothing_of_the_line_is_written_in_loopback(void **state)
{
	struct rig r;

	open_rig(&r, "tr-switch", "sink.lanes=8 sink.cap=512");
	mode(&r, true);
	for (uint32_t i = 0; i < 5; i++)
		neighbour(&r, i, 8, rig_cc(&r) + 10);
	rig_wait(&r, 4000);
	assert_int_equal(r.sink->n_start, 5);
	assert_int_equal(in_of(&r, 0, 5), 0);
	assert_int_equal(rig_r32(&r, 0, FORTH_N2H_DMA_OPS), 0);
	/* the loop has all its credits, too */
	for (uint32_t i = 0; i < 60; i++) {
		post(&r, i, 0, QWORDS);
		rig_wait(&r, 200);
	}
	rig_wait(&r, 5000);
	assert_int_equal(back_of(&r, 60), 60);
	mode(&r, false);
	rig_wait(&r, 5000);
	credits_are_home(&r);
	rig_free(&r);
}

static void the_neighbour_goes_on_after_loopback(void **state)
{
	struct rig r;

	open_rig(&r, "tr-switch", "sink.lanes=8 sink.cap=512");
	mode(&r, true);
	for (uint32_t i = 0; i < 20; i++)
		neighbour(&r, i, QWORDS, rig_cc(&r) + 10);
	rig_wait(&r, 20000);
	mode(&r, false);
	rig_wait(&r, 20000);
	for (uint32_t i = 20; i < 40; i++)
		neighbour(&r, i, QWORDS, rig_cc(&r) + 10);
	rig_wait(&r, 20000);
	assert_int_equal(in_of(&r, 20, 20), 20);
	assert_int_equal(in_of(&r, 0, 20) + counter(&r, "deaf"), 20);
	credits_are_home(&r);
	rig_free(&r);
}

/* Posts eight packets, of which credits allow four. */
static void open_starved(struct rig *r)
{
	open_rig(r, "tr-switch", "sink.lanes=8 sink.cap=512 sink.stop=true");
	for (uint32_t i = 0; i < 8; i++)
		post(r, i, 0, QWORDS);
	rig_wait(r, 4000);
}

static void packets_without_credits_come_back_in_loopback(void **state)
{
	struct rig r;

	open_starved(&r);
	assert_int_equal(r.sink->n_log, 4);
	mode(&r, true);
	rig_wait(&r, 4000);
	assert_int_equal(r.sink->n_log, 4);
	assert_int_equal(back_of(&r, 8), 4);
	rig_release(&r);
	mode(&r, false);
	rig_wait(&r, 4000);
	credits_are_home(&r);
	rig_free(&r);
}

static void packets_that_waited_in_loopback_leave_by_the_line(void **state)
{
	struct rig r;

	open_starved(&r);
	rig_release(&r);
	/* the credits arrive while loopback keeps the NIC off the line */
	rig_w32(&r, 0, FORTH_CONTROL, FORTH_CTL_LOOP | FORTH_CTL_ENABLE);
	mode(&r, false);
	rig_wait(&r, 8000);
	assert_int_equal(r.sink->n_log + back_of(&r, 8), 8);
	credits_are_home(&r);
	rig_free(&r);
}

static void leaving_while_packets_loop_spares_the_neighbour(void **state)
{
	for (uint32_t when = 100; when < 600; when += 7) {
		struct rig r;

		open_rig(&r, "tr-switch", "sink.lanes=8 sink.cap=512");
		mode(&r, true);
		for (uint32_t i = 0; i < 3; i++)
			post(&r, i, 0, QWORDS);
		rig_wait(&r, when);
		mode(&r, false);
		rig_wait(&r, 20000);
		for (uint32_t i = 0; i < 30; i++)
			neighbour(&r, i, QWORDS, rig_cc(&r) + 10 + 200 * i);
		rig_wait(&r, 20000);
		assert_int_equal(in_of(&r, 0, 30), 30);
		assert_int_equal(back_of(&r, 3) + r.sink->n_log, 3);
		credits_are_home(&r);
		rig_free(&r);
	}
}

/* ---- random changes ---- */

#define CHANGES 128

struct history {
	struct rig r;
	struct weft_rng rng;
	/* time of change i, which is into loopback if i is even */
	uint64_t at[CHANGES];
	uint32_t changes, posted, sent;
};

static void change(struct history *h)
{
	mode(&h->r, h->changes % 2 == 0);
	h->at[h->changes++] = weft_sim_now(h->r.sim);
}

static void step(struct history *h)
{
	uint32_t what = (uint32_t)weft_rng_below(&h->rng, 8);
	uint32_t qwords = 1 + (uint32_t)weft_rng_below(&h->rng, QWORDS);

	if (what == 0 && h->changes < CHANGES - 2)
		change(h);
	else if (what < 4 && h->posted < 300)
		post(&h->r, h->posted++,
		     (uint32_t)weft_rng_below(&h->rng, h->r.sink->lanes),
		     qwords);
	else if (what < 7 && h->sent < 300)
		neighbour(&h->r, h->sent++, qwords, rig_cc(&h->r) + 1);
	else
		rig_wait(&h->r, weft_rng_below(&h->rng, 900));
}

/* Returns 1 if the neighbour's packet must arrive, 0 if it must not, or -1 if
 * it arrived together with a change, so that both are right. */
static int heard(const struct history *h, uint32_t i)
{
	const struct forth_port *l = &h->r.sink->link;
	weft_time_t t =
		weft_clock_edge(&l->clk, h->r.sink->start[i]) + l->delay;
	uint32_t k;

	for (k = 0; k < h->changes && h->at[k] < t; k++)
		;
	if ((k && t - h->at[k - 1] < 40000000) ||
	    (k < h->changes && h->at[k] - t < 40000000))
		return -1;
	return k % 2 == 0;
}

static void all_that_was_promised_arrived(struct history *h)
{
	static uint8_t seen[512];
	uint32_t in = 0;

	memset(seen, 0, sizeof(seen));
	for (uint32_t i = 0; i < h->r.sink->n_log; i++)
		seen[h->r.sink->log[i].q[0] - 1]++;
	for (uint32_t i = 0; i < h->posted; i++)
		assert_int_equal(seen[i] + came_back(&h->r, i), 1);
	assert_int_equal(h->r.sink->n_start, h->sent);
	for (uint32_t i = 0; i < h->sent; i++) {
		in += came_in(&h->r, i);
		if (heard(h, i) >= 0)
			assert_int_equal(came_in(&h->r, i), heard(h, i));
	}
	assert_int_equal(in + counter(&h->r, "deaf"), h->sent);
	assert_int_equal(counter(&h->r, "rx_lost"), 0);
}

static void line_and_loop_go_on(struct history *h)
{
	uint32_t posted = h->posted, sent = h->sent;

	for (uint32_t i = 0; i < 20; i++) {
		post(&h->r, h->posted++, i % h->r.sink->lanes, QWORDS);
		neighbour(&h->r, h->sent++, QWORDS, rig_cc(&h->r) + 1);
	}
	rig_wait(&h->r, 20000);
	assert_int_equal(back_of(&h->r, h->posted) - back_of(&h->r, posted), 0);
	assert_int_equal(in_of(&h->r, sent, 20), 20);
	credits_are_home(&h->r);
	mode(&h->r, true);
	posted = h->posted;
	for (uint32_t i = 0; i < 20; i++)
		post(&h->r, h->posted++, 0, QWORDS);
	rig_wait(&h->r, 20000);
	assert_int_equal(back_of(&h->r, h->posted) - back_of(&h->r, posted),
			 20);
	/* compare T and F' of the loop */
	assert_int_equal(rig_r32(&h->r, 0, FORTH_CREDIT_STATE) >> 16,
			 rig_r32(&h->r, 0, FORTH_CREDIT_STATE) & 0xFE0);
}

static void run_history(uint64_t seed, const char *preset, const char *set,
			uint32_t peek)
{
	static struct history h;

	memset(&h, 0, sizeof(h));
	weft_rng_seed(&h.rng, seed, "loopback");
	open_rig(&h.r, preset, set);
	for (uint32_t i = 0; i < 400; i++) {
		step(&h);
		if (peek && i % peek == 0)
			forth_port_counts(&h.r.sink->link);
	}
	if (h.changes % 2)
		change(&h);
	rig_wait(&h.r, 100000);
	all_that_was_promised_arrived(&h);
	credits_are_home(&h.r);
	line_and_loop_go_on(&h);
	rig_free(&h.r);
}

static void random_changes_lose_no_credit_and_no_packet(void **state)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		run_history(seed, "tr-switch", "sink.lanes=8 sink.cap=512", 0);
		run_history(seed, "tr-switch",
			    "sink.lanes=8 sink.cap=512 sink.refresh=0 "
			    "refresh_cc=0",
			    0);
		run_history(seed, "plat-switch",
			    "queues=1 sink.lanes=8 sink.cap=512", 3);
		run_history(seed, "tr-direct", "", 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_of_the_line_is_written_in_loopback),
		cmocka_unit_test(the_neighbour_goes_on_after_loopback),
		cmocka_unit_test(packets_without_credits_come_back_in_loopback),
		cmocka_unit_test(
			packets_that_waited_in_loopback_leave_by_the_line),
		cmocka_unit_test(
			leaving_while_packets_loop_spares_the_neighbour),
		cmocka_unit_test(random_changes_lose_no_credit_and_no_packet),
	};

	return cmocka_run_group_tests_name("forth-loop", tests, NULL, NULL);
}
