/* SPDX-License-Identifier: Apache-2.0 */
/* Faults on an Ethernet line between two MACs (hvia.md 4, T-14, T-15): frames
 * that are lost, repeated, overtaken, damaged or cut, and the receiver's
 * reaction. */
#include <string.h>

#include "macrig.h"

extern const struct weft_class weft_class_fault_bits, weft_class_fault_drop,
	weft_class_fault_delay, weft_class_fault_cut;

enum { N = 6, LEN = 200 };

struct outcome {
	uint8_t order[16]; /* numbers of frames in the order of arrival */
	uint32_t n;
	struct mac_stats stats;
};

/* Sends N frames, marked 0..N-1, through a fault. */
static struct outcome run(const struct weft_class *cls, const char *const *set)
{
	struct outcome o = { .n = 0 };
	struct macrig r;
	uint32_t i;

	macrig_init(&r, NULL, cls, set);
	macrig_open(r.s[0], 8);
	macrig_open(r.s[1], 16);
	for (i = 0; i < N; i++)
		memset(macrig_frame(r.s[0], 1, LEN) + 14, (int)i, LEN - 14);
	macrig_post(r.s[0]);
	macrig_run(&r, WEFT_MS);
	for (i = 0; i < 16; i++) {
		const uint8_t *b = r.s[1]->mem + RX_BUFS + i * BUF;

		if (r.s[1]->mem[RX_RING + 16 * i + MAC_RXD_STATUS] & MAC_RX_DD)
			o.order[o.n++] = b[14];
	}
	o.stats = *mac_stats(r.s[1]->mac);
	macrig_fini(&r);
	return o;
}

static void expect(const struct outcome *o, const char *order)
{
	char got[17] = "";

	for (uint32_t i = 0; i < o->n; i++)
		got[i] = (char)('0' + o->order[i]);
	assert_string_equal(got, order);
}

static void dropped_frames_are_missing_at_the_receiver(void **state)
{
	static const char *const at[] = { "1", "3", "6" };
	static const char *const want[] = { "12345", "01345", "01234" };

	for (uint32_t i = 0; i < 3; i++) {
		const char *set[] = { "frame", at[i], NULL };
		struct outcome o = run(&weft_class_fault_drop, set);

		expect(&o, want[i]);
	}
}

static void repeated_frames_arrive_twice(void **state)
{
	const char *set[] = { "repeat", "1", NULL };
	struct outcome o = run(&weft_class_fault_drop, set);

	expect(&o, "001122334455");
}

/* A frame of 212 bytes takes 1.7 us, so that two frames can overtake a frame
 * that is delayed by 5 us. */
static void delayed_frame_is_overtaken_by_two_others(void **state)
{
	const char *set[] = { "frame",	  "2",	 "max", "5us",
			      "overtake", "yes", NULL };
	struct outcome o = run(&weft_class_fault_delay, set);
	const char *keep[] = { "frame", "2", "max", "5us", NULL };

	expect(&o, "023145");
	o = run(&weft_class_fault_delay, keep);
	expect(&o, "012345");
}

/* Damages each part of a frame. The FCS shows the damage of all parts except
 * the preamble. Damage of the preamble has no effect. */
static void fcs_shows_damage_of_every_part_but_the_preamble(void **state)
{
	static const char *const part[] = { "header", "payload", "crc",
					    "control" };

	for (uint32_t i = 0; i < 4; i++) {
		const char *set[] = { "target", part[i], "frame", "2",
				      "bit",	"3",	 NULL };
		struct outcome o = run(&weft_class_fault_bits, set);

		expect(&o, i < 3 ? "02345" : "012345");
		assert_int_equal(o.stats.crc, i < 3);
		assert_int_equal(o.stats.missed + o.stats.symbol, 0);
	}
}

static void invalid_codes(void **state)
{
	const char *set[] = { "target", "payload", "frame", "2", "bit",
			      "800",	"invalid", "yes",   NULL };
	struct outcome o = run(&weft_class_fault_bits, set);

	expect(&o, "02345");
	assert_int_equal(o.stats.symbol, 1);
}

/* The line is cut for 5 us. Frames in this time are lost or truncated. */
static void cut_line_loses_or_truncates_frames(void **state)
{
	const char *set[] = { "at", "4us", "length", "5us", NULL };
	struct outcome o = run(&weft_class_fault_cut, set);

	assert_true(o.n >= 2 && o.n <= N - 2);
	assert_int_equal(o.order[o.n - 1], N - 1);
	assert_true(o.stats.crc + o.stats.runt + o.stats.symbol >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dropped_frames_are_missing_at_the_receiver),
		cmocka_unit_test(repeated_frames_arrive_twice),
		cmocka_unit_test(delayed_frame_is_overtaken_by_two_others),
		cmocka_unit_test(
			fcs_shows_damage_of_every_part_but_the_preamble),
		cmocka_unit_test(invalid_codes),
		cmocka_unit_test(cut_line_loses_or_truncates_frames),
	};

	return cmocka_run_group_tests_name("eth_faults", tests, NULL, NULL);
}
