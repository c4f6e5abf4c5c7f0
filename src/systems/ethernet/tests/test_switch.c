/* SPDX-License-Identifier: Apache-2.0 */
/* eth.switch: latencies of T-38, learning and ageing, flooding, overflow,
 * pause, damaged frames. */
#include <string.h>

#include "eth_feed.h"
#include "systems/ethernet/switch/station_table.h"

static weft_time_t ns(uint64_t n)
{
	return n * WEFT_NS;
}

/* Station `port` sends a frame at 1 us, so that the switch learns it and later
 * frames for it are not flooded. */
static void hello(struct feed *d, uint32_t port)
{
	feed_send(d, port, feed_frame(d, port, port, 60, 0), WEFT_US);
}

static weft_time_t through(const char *mode, uint32_t len)
{
	const char *set[] = { "mode", mode, NULL };
	struct feed d;
	weft_time_t t;

	feed_init(&d, 4, set);
	hello(&d, 1);
	feed_send(&d, 0, feed_frame(&d, 0, 1, len, 7), 10 * WEFT_US);
	feed_run(&d);
	for (uint32_t i = 0; i < d.n_got; i++)
		assert_true(d.got[i].id == 0 || d.got[i].port == 1);
	assert_int_equal(d.got[d.n_got - 1].id, 7);
	t = d.got[d.n_got - 1].start - 10 * WEFT_US;
	feed_fini(&d);
	return t;
}

/* hvia.md 4: a full frame takes 12.3 + 1.5 us (12.208 us without the gap), a
 * minimum frame 0.6 + 1.5 us. With cut-through both take the time of 22 bytes
 * and 1.5 us. */
static void switch_delays_by_its_mode_and_frame_length(void **state)
{
	assert_int_equal(through("store", 1514), ns(12208 + 1500));
	assert_int_equal(through("store", 60), ns(576 + 1500));
	assert_int_equal(through("cut", 1514), ns(176 + 1500));
	assert_int_equal(through("cut", 60), ns(176 + 1500));
}

/* A frame for an unknown station is sent to all other ports. A frame for a
 * known station is sent to the port of the station, unless the frame has
 * arrived by that port. */
static void frames_leave_by_the_port_of_their_station(void **state)
{
	struct feed d;

	feed_init(&d, 4, NULL);
	feed_send(&d, 0, feed_frame(&d, 10, 11, 60, 1), ns(10000));
	feed_send(&d, 1, feed_frame(&d, 11, 10, 60, 2), ns(20000));
	feed_send(&d, 0, feed_frame(&d, 10, 11, 60, 3), ns(30000));
	feed_send(&d, 0, feed_frame(&d, 12, 10, 60, 4), ns(40000));
	feed_send(&d, 2, feed_frame(&d, 13, UINT32_MAX, 60, 5), ns(50000));
	feed_send(&d, 3, feed_frame(&d, 10, 12, 60, 6),
		  ns(60000)); /* 10 moves */
	feed_send(&d, 2, feed_frame(&d, 13, 10, 60, 7), ns(70000));
	feed_run(&d);
	assert_int_equal(d.n_got, 3 + 1 + 1 + 0 + 3 + 1 + 1);
	assert_int_equal(d.got[3].port, 0);
	assert_int_equal(d.got[4].port, 1);
	assert_int_equal(d.got[8].port, 0);
	assert_int_equal(d.got[9].port, 3);
	assert_int_equal(feed_count(&d, "flooded"), 2);
	assert_int_equal(feed_count(&d, "filtered"), 1);
	assert_int_equal(feed_count(&d, "learned"), 4);
	assert_int_equal(feed_count(&d, "moved"), 1);
	feed_fini(&d);
}

static void station_is_forgotten_at_its_age(void **state)
{
	const char *set[] = { "ageing", "1ms", NULL };
	struct feed d;

	feed_init(&d, 4, set);
	feed_send(&d, 1, feed_frame(&d, 11, 11, 60, 0), WEFT_MS);
	/* the switch learned station 11 at the end of its frame, 1 ms + 576
	 * ns */
	feed_send(&d, 0, feed_frame(&d, 10, 11, 60, 1), 2 * WEFT_MS);
	feed_send(&d, 0, feed_frame(&d, 10, 11, 60, 2), 2 * WEFT_MS + ns(672));
	feed_run(&d);
	assert_int_equal(d.n_got, 0 + 1 + 3);
	feed_fini(&d);
}

/* More stations send than the table has entries. */
static void small_table(void **state)
{
	const char *set[] = { "table", "4", NULL };
	struct feed d;
	uint32_t i;

	feed_init(&d, 2, set);
	for (i = 0; i < 6; i++)
		feed_send(&d, 0, feed_frame(&d, i, i, 60, 0),
			  ns(10000 * (i + 1)));
	for (i = 0; i < 6; i++) /* stations 0 and 1 are forgotten */
		feed_send(&d, 1, feed_frame(&d, 5, i, 60, i),
			  ns(200000 + 1000 * i));
	feed_run(&d);
	assert_int_equal(feed_count(&d, "evicted"), 2);
	assert_int_equal(feed_count(&d, "learned"), 4);
	feed_fini(&d);
}

/* T-38: two ports send at full rate to one port. They fill 512 KiB, then every
 * second frame is lost, exact to the byte. */
static void full_memory_drops_every_second_frame(void **state)
{
	struct feed d;
	uint32_t i, n = 800;

	feed_init(&d, 3, NULL);
	hello(&d, 2);
	for (i = 0; i < n; i++) {
		weft_time_t t = WEFT_MS + i * ns(12304);

		feed_send(&d, 0, feed_frame(&d, 0, 2, 1514, 2 * i), t);
		feed_send(&d, 1, feed_frame(&d, 1, 2, 1514, 2 * i + 1), t);
	}
	feed_run(&d);
	/* 346 frames fit. The first frame leaves 13.708 us after it has begun
	 * to arrive. One frame leaves in each interval of 12.304 us from then
	 * on, so that n - 2 frames have left when the last one arrives. */
	assert_int_equal(feed_count(&d, "buffer_peak"), 346 * 1514);
	assert_int_equal(feed_count(&d, "out"),
			 feed_count(&d, "in") - 1 - feed_count(&d, "dropped"));
	assert_int_equal(feed_count(&d, "dropped"), 2 * n - (n - 2) - 346);
	feed_fini(&d);
}

/* Overload with pause. The stations ignore pause frames, because the test only
 * checks that the switch sends them. */
static void overloaded_switch_sends_pause_frames(void **state)
{
	const char *set[] = { "full",	"pause", "buffer", "32KiB",
			      "xoff",	"16KiB", "xon",	   "8KiB",
			      "quanta", "1000",	 NULL };
	struct feed d;
	uint32_t i, xoff = 0, xon = 0;

	feed_init(&d, 3, set);
	hello(&d, 2);
	for (i = 0; i < 16; i++) {
		weft_time_t t = WEFT_MS + i * ns(12304);

		feed_send(&d, 0, feed_frame(&d, 0, 2, 1514, 1), t);
		feed_send(&d, 1, feed_frame(&d, 1, 2, 1514, 1), t);
	}
	feed_run(&d);
	for (i = 0; i < d.n_got; i++)
		if (d.got[i].port != 2) {
			xoff += d.got[i].id == 0x000103e8;
			xon += d.got[i].id == 0x00010000;
		}
	assert_int_equal(xoff, 2);
	assert_int_equal(xon, 2);
	assert_int_equal(feed_count(&d, "pause_out"), 4);
	feed_fini(&d);
}

/* A paused port sends nothing until the pause ends, exact to the nanosecond. */
static void paused_port_is_silent_to_the_nanosecond(void **state)
{
	const char *set[] = { "full", "pause", NULL };
	struct feed d;
	uint8_t a[ETH_ADDR];

	feed_init(&d, 2, set);
	hello(&d, 1);
	eth_addr_of(a, 1);
	feed_send(&d, 1, eth_pause_new(d.sim, a, 100), ns(10000));
	feed_send(&d, 0, feed_frame(&d, 0, 1, 60, 9), ns(10000));
	feed_run(&d);
	assert_int_equal(d.n_got, 1);
	assert_int_equal(d.got[0].start, ns(10000 + 576 + 100 * 512));
	assert_int_equal(feed_count(&d, "pause_in"), 1);
	feed_fini(&d);
}

/* Store-and-forward drops damaged frames, but cut-through forwards them
 * unchanged. */
static void only_cut_through_forwards_damaged_frames(void **state)
{
	for (uint32_t cut = 0; cut < 2; cut++) {
		const char *set[] = { "mode", cut ? "cut" : "store", NULL };
		struct feed d;
		struct weft_frame *f;

		feed_init(&d, 2, set);
		f = feed_frame(&d, 0, 1, 200, 3);
		feed_damage(f);
		feed_send(&d, 0, f, ns(10000));
		feed_run(&d);
		assert_int_equal(d.n_got, cut);
		if (cut)
			assert_true(d.got[0].bad);
		assert_int_equal(feed_count(&d, "bad"), !cut);
		assert_int_equal(feed_count(&d, "learned"), 0);
		feed_fini(&d);
	}
}

/* A switch does not forward frames for the reserved group of switches. */
static void frames_for_the_reserved_group_stay(void **state)
{
	struct feed d;
	uint8_t a[ETH_ADDR];

	feed_init(&d, 2, NULL);
	eth_addr_of(a, 1);
	feed_send(&d, 1, eth_pause_new(d.sim, a, 100), ns(10000));
	feed_run(&d);
	assert_int_equal(d.n_got, 0);
	assert_int_equal(feed_count(&d, "reserved"), 1);
	feed_fini(&d);
}

/* All addresses from 01:80:c2:00:00:00 to 0f are reserved, but
 * 01:80:c2:00:00:10 is an ordinary group. */
static void no_reserved_group_is_forwarded(void **state)
{
	struct feed d;

	feed_init(&d, 3, NULL);
	for (uint32_t i = 0; i <= 16; i++) {
		struct weft_frame *f = feed_frame(&d, 1, UINT32_MAX, 60, i);

		memcpy(eth_frame_data(f), eth_pause_group, ETH_ADDR);
		eth_frame_data(f)[ETH_ADDR - 1] = (uint8_t)i;
		feed_send(&d, 1, f, ns(10000 + i * 1000));
	}
	feed_run(&d);
	assert_int_equal(feed_count(&d, "reserved"), 16);
	assert_int_equal(d.n_got, 2);
	assert_int_equal(d.got[0].id, 16);
	feed_fini(&d);
}

/* A group address cannot belong to a station. A source that claims one is not
 * learned, and frames to the address are flooded. */
static void a_group_address_is_not_learned(void **state)
{
	struct feed d;
	struct weft_frame *f;

	feed_init(&d, 4, NULL);
	f = feed_frame(&d, 9, 1, 60, 1);
	eth_frame_data(f)[ETH_ADDR] |= 1; /* in the source */
	feed_send(&d, 1, f, ns(10000));
	f = feed_frame(&d, 2, 9, 60, 2);
	eth_frame_data(f)[0] |= 1;
	feed_send(&d, 2, f, ns(20000));
	feed_run(&d);
	assert_int_equal(feed_count(&d, "learned"), 1);
	assert_int_equal(d.n_got, 3 + 3);
	feed_fini(&d);
}

static void bad_settings(void **state)
{
	static const char *const set[][2] = { { "table", "12" },
					      { "xoff", "1MB" },
					      { "xon", "400KiB" } };
	extern const struct weft_class weft_class_eth_switch;

	for (uint32_t i = 0; i < 3; i++) {
		struct weft_sim *sim = weft_sim_new(1);
		struct weft_comp *c =
			weft_sim_add(sim, &weft_class_eth_switch, "sw", NULL);

		assert_int_equal(weft_param_set(c, set[i][0], set[i][1], NULL),
				 0);
		assert_int_not_equal(weft_comp_init(c, NULL), 0);
		weft_sim_free(sim);
	}
}

/* ---- sets of the table ---- */

static uint64_t station(uint32_t i) /* of two makers in turn */
{
	return (i % 2 ? 0x0013d3a00000 : 0x02a5c3000000) + i * i;
}

/* The stations that a full table drops are part of the results of a run. So the
 * set of an address must not change: these numbers are those of the hash. */
static void stations_of_a_full_set_are_dropped(void **state)
{
	enum { SETS = 64, STATIONS = SETS * ETH_WAYS };
	struct eth_entry at[STATIONS] = { 0 };
	struct eth_table t = { at, SETS, WEFT_NEVER };
	uint32_t dropped = 0, sum = 0;

	for (uint32_t i = 0; i < STATIONS; i++)
		dropped += eth_table_learn(&t, station(i), 0, i) == ETH_EVICTED;
	for (uint32_t i = 0; i < STATIONS; i++)
		if (eth_table_find(&t, station(i), STATIONS) == ETH_NO_PORT)
			sum += i;
	assert_int_equal(dropped, 51);
	assert_int_equal(sum, 3299);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switch_delays_by_its_mode_and_frame_length),
		cmocka_unit_test(frames_leave_by_the_port_of_their_station),
		cmocka_unit_test(station_is_forgotten_at_its_age),
		cmocka_unit_test(small_table),
		cmocka_unit_test(stations_of_a_full_set_are_dropped),
		cmocka_unit_test(full_memory_drops_every_second_frame),
		cmocka_unit_test(overloaded_switch_sends_pause_frames),
		cmocka_unit_test(paused_port_is_silent_to_the_nanosecond),
		cmocka_unit_test(only_cut_through_forwards_damaged_frames),
		cmocka_unit_test(frames_for_the_reserved_group_stay),
		cmocka_unit_test(no_reserved_group_is_forwarded),
		cmocka_unit_test(a_group_address_is_not_learned),
		cmocka_unit_test(bad_settings),
	};

	return cmocka_run_group_tests_name("eth_switch", tests, NULL, NULL);
}
