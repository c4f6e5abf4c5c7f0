/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the MAC with ref_mac.c in steps of 2 ns. Frames, times of memory,
 * the number of frames fetched ahead and the size of the FIFO are random. */
#include <stdlib.h>
#include <string.h>

#include "ref_mac.h"
#include "base/rng.h"
#include "macrig.h"

enum { FRAMES = 60, RING = 64, TICK_NS = 2 };

static struct ref_mac_frame in[FRAMES];
static struct ref_mac_out want[FRAMES];

static uint32_t below(struct weft_rng *r, uint32_t n)
{
	return (uint32_t)weft_rng_below(r, n);
}

static void draw(struct weft_rng *r, struct ref_mac_cfg *c)
{
	uint32_t slow = below(r, 4) ? 1000 : 12000;
	uint64_t t = 10;

	*c = (struct ref_mac_cfg){ .start = 133,
				   .receive = 334,
				   .cable = 205,
				   .gap = 48,
				   .desc = 1 + below(r, 500),
				   .data = 1 + below(r, 500),
				   .store = 1 + below(r, slow),
				   .back = 1 + below(r, 300),
				   .turn = below(r, 2) ? below(r, 300) : 0,
				   .desc_ahead = below(r, 2),
				   .ahead = below(r, 3),
				   .fifo = 1514 + below(r, 8000) };
	for (uint32_t i = 0; i < FRAMES; i++) {
		t += below(r, 3) ? 0 : below(r, 12000);
		in[i].granted = t;
		in[i].len =
			below(r, 2) ? 14 + below(r, 80) : 60 + below(r, 1455);
	}
}

static weft_time_t at(uint64_t ticks)
{
	return ticks * TICK_NS * WEFT_NS;
}

static void open_rig(struct macrig *r, const struct ref_mac_cfg *c)
{
	struct mac_cfg cfg = MAC_CFG_DEFAULT;

	cfg.ahead = c->ahead;
	cfg.desc_ahead = c->desc_ahead;
	cfg.turn = at(c->turn);
	cfg.rx_fifo = c->fifo;
	macrig_init(r, &cfg, NULL, NULL);
	macrig_open(r->s[0], RING);
	macrig_open(r->s[1], RING);
	r->s[0]->latency[MAC_TX_DESC] = at(c->desc);
	r->s[0]->latency[MAC_TX_DATA] = at(c->data);
	r->s[1]->latency[MAC_RX_DATA] = at(c->store);
	r->s[1]->latency[MAC_RX_BACK] = at(c->back);
}

/* Grants descriptors frame by frame. A frame is written one femtosecond before
 * its grant, because weft_sim_run() also runs the events at its end time. */
static void send_all(struct macrig *r)
{
	for (uint32_t i = 0; i < FRAMES; i++) {
		weft_sim_run(r->sim, at(in[i].granted) - 1);
		macrig_frame(r->s[0], 1, in[i].len);
		if (i + 1 < FRAMES && in[i + 1].granted == in[i].granted)
			continue;
		weft_sim_run(r->sim, at(in[i].granted));
		macrig_post(r->s[0]);
	}
	weft_sim_run(r->sim, WEFT_SEC);
}

static void one(uint64_t seed, uint32_t *missed)
{
	struct weft_rng rng;
	struct ref_mac_cfg c;
	struct macrig r;
	uint32_t i, k = 0;

	weft_rng_seed(&rng, seed, "mac_ref");
	draw(&rng, &c);
	ref_mac_run(&c, in, FRAMES, want);
	open_rig(&r, &c);
	send_all(&r);
	for (i = 0; i < FRAMES; i++) {
		const struct mac_log *s = macrig_nth(r.s[0], LOG_SENT, i);

		if (s->time != at(want[i].sent))
			fail_msg(
				"seed %llu, frame %u: sent at %llu ns, want "
				"%llu",
				(unsigned long long)seed, i,
				(unsigned long long)(s->time / WEFT_NS),
				(unsigned long long)want[i].sent * TICK_NS);
		if (!want[i].stored)
			continue;
		s = macrig_nth(r.s[1], MAC_RX_BACK, k);
		assert_int_equal(s->time, at(want[i].stored - c.back));
		assert_memory_equal(r.s[1]->mem + RX_BUFS + k * BUF,
				    r.s[0]->mem + TX_BUFS + i * BUF, in[i].len);
		k++;
	}
	assert_int_equal(macrig_count(r.s[1], MAC_RX_BACK), k);
	assert_int_equal(mac_stats(r.s[1]->mac)->missed, FRAMES - k);
	*missed += FRAMES - k;
	macrig_fini(&r);
}

static uint64_t first = 1, runs = 24;

static void random_frames(void **state)
{
	uint32_t missed = 0;

	for (uint64_t seed = first; seed < first + runs; seed++)
		one(seed, &missed);
	assert_true(missed > 0 && missed < runs * FRAMES / 2);
}

/* Runs the scenarios. Arguments: [first seed [how many]]. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(random_frames) };

	first = argc > 1 ? strtoull(argv[1], NULL, 10) : first;
	runs = argc > 2 ? strtoull(argv[2], NULL, 10) : runs;
	return cmocka_run_group_tests_name("mac_ref", tests, NULL, NULL);
}
