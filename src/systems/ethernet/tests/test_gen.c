/* SPDX-License-Identifier: Apache-2.0 */
/* eth.gen around eth.switch: every frame is delivered or counted as dropped.
 * With pause frames none is lost. */
#include <stdio.h>
#include <string.h>

#include "unit/cmocka_all.h"
#include "measure/hist.h"
#include "measure/result.h"
#include "systems/ethernet/link/wire.h"
#include "weft/sim.h"

extern const struct weft_class weft_class_eth_gen, weft_class_eth_switch,
	weft_class_eth_cable, weft_class_fault_drop;

enum { N = 4, SENT = 0, RECEIVED, BYTES, LOST, LATE, BAD, WRONG, STRAY };
enum { SW_DROPPED = 4, LEN = 100 };

struct net {
	struct weft_sim *sim;
	struct weft_comp *sw, *g[N];
};

static struct weft_comp *add(struct net *n, const struct weft_class *cls,
			     const char *name, const char *const *set)
{
	struct weft_comp *c = weft_sim_add(n->sim, cls, name, NULL);

	for (; set && *set; set += 2)
		assert_int_equal(weft_param_set(c, set[0], set[1], NULL), 0);
	assert_int_equal(weft_comp_init(c, NULL), 0);
	return c;
}

static void build(struct net *n, const char *const *gen, const char *const *sw)
{
	struct weft_comp *cable;
	char name[8];

	n->sim = weft_sim_new(3);
	cable = add(n, &weft_class_eth_cable, "cable", NULL);
	n->sw = add(n, &weft_class_eth_switch, "sw", sw);
	for (uint32_t i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "t%u", i);
		n->g[i] = add(n, &weft_class_eth_gen, name, gen);
		assert_int_equal(weft_connect(&n->g[i]->ports[0],
					      &n->sw->ports[i], cable, 0, NULL),
				 0);
	}
}

static void run(struct net *n)
{
	assert_int_equal(weft_sim_start(n->sim, NULL), 0);
	weft_sim_run(n->sim, WEFT_SEC);
	assert_int_equal(weft_sim_finish(n->sim, NULL), 0);
}

static uint64_t sum(const struct net *n, uint32_t counter)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < N; i++)
		v += n->g[i]->counters[counter];
	return v;
}

/* At half load with random times no frame is lost and order is kept. */
static void half_load(void **state)
{
	const char *gen[] = { "stations", "4",	 "frames", "400",
			      "load",	  "0.5", "gaps",   "random",
			      "size",	  "300", NULL };
	struct net n;

	build(&n, gen, NULL);
	run(&n);
	assert_int_equal(sum(&n, SENT), 4 * 400);
	assert_int_equal(sum(&n, RECEIVED), 4 * 400);
	assert_int_equal(sum(&n, BYTES), 4 * 400 * 300);
	assert_int_equal(sum(&n, LOST) + sum(&n, LATE) + sum(&n, BAD) +
				 sum(&n, WRONG),
			 0);
	assert_true(sum(&n, STRAY) > 0); /* frames are flooded at first */
	weft_sim_free(n.sim);
}

/* Latency counts from the first bit to the end of the FCS: 8 ns a byte for
 * preamble (8 bytes), frame and FCS (4 bytes), and 410 ns of cable and PHYs. */
static void latency_counts_from_first_bit_to_end_of_fcs(void **state)
{
	static const struct {
		const char *size;
		double ns;
	} v[] = { { "60", 72 * 8 + 410 }, { "300", 312 * 8 + 410 } };

	for (uint32_t i = 0; i < 2; i++) {
		const char *gen[] = { "stations", "2",	     "frames", "9",
				      "to",	  "1",	     "at",     "1us",
				      "size",	  v[i].size, NULL };
		struct net n = { .sim = weft_sim_new(3) };
		struct weft_comp *cable =
			add(&n, &weft_class_eth_cable, "cable", NULL);
		struct hist *h;

		n.g[0] = add(&n, &weft_class_eth_gen, "t0", gen);
		n.g[1] = add(&n, &weft_class_eth_gen, "t1", gen);
		assert_int_equal(weft_connect(&n.g[0]->ports[0],
					      &n.g[1]->ports[0], cable, 0,
					      NULL),
				 0);
		run(&n);
		assert_int_equal(n.g[1]->counters[RECEIVED], 9);
		h = result_hist_get(weft_sim_result(n.sim), "t1.latency", "ns");
		assert_true(hist_mean(h) == v[i].ns);
		weft_sim_free(n.sim);
	}
}

/* All stations send to station 0. At the end exactly the dropped frames are
 * missing. */
static void hot_spot(void **state)
{
	const char *gen[] = {
		"stations", "4", "frames", "600", "to", "0", NULL
	};
	const char *pause[] = { "full", "pause", NULL };
	struct net n;

	build(&n, gen, NULL);
	run(&n);
	assert_true(n.sw->counters[SW_DROPPED] > 600);
	assert_int_equal(n.g[0]->counters[RECEIVED],
			 1800 - n.sw->counters[SW_DROPPED]);
	assert_int_equal(sum(&n, LATE) + sum(&n, WRONG), 0);
	weft_sim_free(n.sim);
	build(&n, gen, pause);
	run(&n);
	assert_int_equal(n.sw->counters[SW_DROPPED], 0);
	assert_int_equal(n.g[0]->counters[RECEIVED], 1800);
	weft_sim_free(n.sim);
}

/* Exactly the frames that a lossy line drops are missing at the end. */
static void exactly_the_dropped_frames_are_missing(void **state)
{
	const char *gen[] = { "stations", "4",	 "frames", "500",
			      "load",	  "0.4", NULL };
	const char *drop[] = { "packets", "0.05", NULL };
	struct weft_comp *f;
	struct net n;

	build(&n, gen, NULL);
	f = add(&n, &weft_class_fault_drop, "fault", drop);
	assert_int_equal(weft_filter_add(&n.g[2]->ports[0], f, NULL), 0);
	run(&n);
	assert_true(f->counters[0] > 5);
	assert_int_equal(sum(&n, RECEIVED), 2000 - f->counters[0]);
	weft_sim_free(n.sim);
}

/* Delivers a frame of station 0 to station 1 with one byte changed. */
static void forge(struct net *n, uint32_t number, uint32_t at, uint8_t change)
{
	struct weft_frame *f = eth_frame_new(n->sim, LEN);
	uint8_t *p = eth_frame_data(f), dst[ETH_ADDR], src[ETH_ADDR];

	eth_addr_of(dst, 1);
	eth_addr_of(src, 0);
	memset(p, 0, LEN);
	eth_frame_head(f, dst, src, 0x88b6);
	p[ETH_HEAD + 7] = (uint8_t)number;
	for (uint32_t i = ETH_HEAD + 16; i < LEN; i++)
		p[i] = (uint8_t)(number * 7 + i);
	p[at] ^= change;
	weft_port_send(&n->g[0]->ports[0], f,
		       weft_sim_now(n->sim) + number * 2 * WEFT_US);
}

/* A changed byte of the data counts as wrong. A changed destination, EtherType
 * or source number counts as stray. */
static void wrong_bytes(void **state)
{
	static const struct {
		uint32_t at;
		uint8_t change;
		uint32_t wrong, stray;
	} row[] = { { 0, 0, 0, 0 },
		    { ETH_HEAD + 16, 1, 1, 0 },
		    { LEN / 2, 0x80, 2, 0 },
		    { LEN - 1, 1, 3, 0 },
		    { ETH_HEAD + 3, 2, 3, 1 },
		    { 5, 2, 3, 2 },
		    { ETH_HEAD - 1, 1, 3, 3 },
		    { 0, 0, 3, 3 } };
	const char *gen[] = { "stations", "2", NULL };
	struct net n = { .sim = weft_sim_new(3) };
	struct weft_comp *cable = add(&n, &weft_class_eth_cable, "cable", NULL);
	const uint64_t *c;

	n.g[0] = add(&n, &weft_class_eth_gen, "t0", gen);
	n.g[1] = add(&n, &weft_class_eth_gen, "t1", gen);
	assert_int_equal(weft_connect(&n.g[0]->ports[0], &n.g[1]->ports[0],
				      cable, 0, NULL),
			 0);
	assert_int_equal(weft_sim_start(n.sim, NULL), 0);
	c = n.g[1]->counters;
	for (uint32_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		forge(&n, i, row[i].at, row[i].change);
		weft_sim_run(n.sim, weft_sim_now(n.sim) + 100 * WEFT_US);
		assert_int_equal(c[WRONG], row[i].wrong);
		assert_int_equal(c[STRAY], row[i].stray);
		assert_int_equal(c[RECEIVED], i + 1 - row[i].stray);
	}
	assert_int_equal(c[LOST], 3);
	assert_int_equal(c[LATE] + c[BAD], 0);
	assert_int_equal(weft_sim_finish(n.sim, NULL), 0);
	weft_sim_free(n.sim);
}

/* A frame with a lower number than expected counts as late and not as lost. The
 * expected number stays unchanged. */
static void a_frame_that_comes_after_a_later_one_is_late(void **state)
{
	const char *gen[] = { "stations", "2", NULL };
	static const uint32_t number[] = { 0, 3, 1, 2, 4 };
	struct net n = { .sim = weft_sim_new(3) };
	struct weft_comp *cable = add(&n, &weft_class_eth_cable, "cable", NULL);
	const uint64_t *c;

	n.g[0] = add(&n, &weft_class_eth_gen, "t0", gen);
	n.g[1] = add(&n, &weft_class_eth_gen, "t1", gen);
	assert_int_equal(weft_connect(&n.g[0]->ports[0], &n.g[1]->ports[0],
				      cable, 0, NULL),
			 0);
	assert_int_equal(weft_sim_start(n.sim, NULL), 0);
	for (uint32_t i = 0; i < sizeof(number) / sizeof(*number); i++) {
		forge(&n, number[i], 0, 0);
		weft_sim_run(n.sim, weft_sim_now(n.sim) + 100 * WEFT_US);
	}
	c = n.g[1]->counters;
	assert_int_equal(c[RECEIVED], 5);
	assert_int_equal(c[LATE], 2);
	assert_int_equal(c[LOST], 2);
	assert_int_equal(c[WRONG] + c[BAD] + c[STRAY], 0);
	assert_int_equal(weft_sim_finish(n.sim, NULL), 0);
	weft_sim_free(n.sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(half_load),
		cmocka_unit_test(latency_counts_from_first_bit_to_end_of_fcs),
		cmocka_unit_test(hot_spot),
		cmocka_unit_test(exactly_the_dropped_frames_are_missing),
		cmocka_unit_test(wrong_bytes),
		cmocka_unit_test(a_frame_that_comes_after_a_later_one_is_late),
	};

	return cmocka_run_group_tests_name("eth_gen", tests, NULL, NULL);
}
