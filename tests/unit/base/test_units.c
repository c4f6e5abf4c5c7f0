/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cmocka_all.h"
#include "base/rng.h"
#include "base/units.h"

#define ROWS(a) (sizeof(a) / sizeof((a)[0]))

struct good {
	enum weft_ptype type;
	const char *text;
	uint64_t val;
	const char *back; /* canonical text, or NULL if it equals `text` */
};

/* clang-format off */
static const struct good good[] = {
	{ WEFT_P_U64, "0", 0, NULL },
	{ WEFT_P_U64, "18446744073709551615", UINT64_MAX, NULL },
	{ WEFT_P_U64, "1e8", 100000000, "100000000" },
	{ WEFT_P_U64, "1.5E3", 1500, "1500" },
	{ WEFT_P_U64, "1200e-2", 12, "12" },
	{ WEFT_P_U64, "0x1F", 31, "31" },
	{ WEFT_P_U64, "0XffffFFFFffffFFFF", UINT64_MAX,
	  "18446744073709551615" },
	{ WEFT_P_U64, "007", 7, "7" },
	{ WEFT_P_TIME, "0", 0, "0fs" },
	{ WEFT_P_TIME, "1fs", 1, NULL },
	{ WEFT_P_TIME, "12.8ns", 12800000, NULL },
	{ WEFT_P_TIME, "12.8 ns", 12800000, "12.8ns" },
	{ WEFT_P_TIME, "12.800000000000000000000000000000ns", 12800000,
	  "12.8ns" },
	{ WEFT_P_TIME, "12800ps", 12800000, "12.8ns" },
	{ WEFT_P_TIME, "0.0128us", 12800000, "12.8ns" },
	{ WEFT_P_TIME, ".5us", 500000000, "500ns" },
	{ WEFT_P_TIME, "1.000001ns", 1000001, NULL },
	{ WEFT_P_TIME, "5ms", 5 * WEFT_MS, NULL },
	{ WEFT_P_TIME, "18446s", 18446 * WEFT_SEC, NULL },
	{ WEFT_P_TIME, "18446.744073709551615s", UINT64_MAX, NULL },
	{ WEFT_P_TIME, "1e-15s", 1, "1fs" },
	{ WEFT_P_RATE, "2.5Gb/s", 2500000000, NULL },
	{ WEFT_P_RATE, "300MB/s", 2400000000, "2.4Gb/s" },
	{ WEFT_P_RATE, "286MiB/s", 2399141888, "2.399141888Gb/s" },
	{ WEFT_P_RATE, "1KiB/s", 8192, "8.192kb/s" },
	{ WEFT_P_RATE, "1GiB/s", 8589934592, "8.589934592Gb/s" },
	{ WEFT_P_RATE, "1B/s", 8, "8b/s" },
	{ WEFT_P_RATE, "0.125KB/s", 1000, "1kb/s" },
	{ WEFT_P_RATE, "0.5B/s", 4, "4b/s" },
	{ WEFT_P_RATE, "0", 0, "0b/s" },
	{ WEFT_P_BYTES, "512", 512, NULL },
	{ WEFT_P_BYTES, "2KiB", 2048, NULL },
	{ WEFT_P_BYTES, "2048", 2048, "2KiB" },
	{ WEFT_P_BYTES, "8KB", 8000, "8000" },
	{ WEFT_P_BYTES, "8kB", 8000, "8000" },
	{ WEFT_P_BYTES, "1.5KiB", 1536, "1536" },
	{ WEFT_P_BYTES, "64 B", 64, "64" },
	{ WEFT_P_BYTES, "3GiB", UINT64_C(3) << 30, NULL },
	{ WEFT_P_BYTES, "1MB", 1000000, "1000000" },
	{ WEFT_P_BYTES, "16777215TiB", UINT64_C(16777215) << 40, NULL },
};

static const struct {
	enum weft_ptype type;
	const char *text, *msg;
} bad[] = {
	{ WEFT_P_TIME, "12qs", "'12qs' is no time: write e.g. 12.8ns" },
	{ WEFT_P_TIME, "12", "'12' is no time: write e.g. 12.8ns" },
	{ WEFT_P_TIME, "", "'' is no time: write e.g. 12.8ns" },
	{ WEFT_P_TIME, "ns", "'ns' is no time: write e.g. 12.8ns" },
	{ WEFT_P_TIME, "1.2.3ns", "'1.2.3ns' is no time: write e.g. 12.8ns" },
	{ WEFT_P_TIME, "-1ns", "'-1ns' is no time: write e.g. 12.8ns" },
	{ WEFT_P_TIME, "1NS", "'1NS' is no time: write e.g. 12.8ns" },
	{ WEFT_P_TIME, "1ns ", "'1ns ' is no time: write e.g. 12.8ns" },
	{ WEFT_P_TIME, "1nsx", "'1nsx' is no time: write e.g. 12.8ns" },
	{ WEFT_P_TIME, "1e", "'1e' is no time: write e.g. 12.8ns" },
	{ WEFT_P_TIME, ".ns", "'.ns' is no time: write e.g. 12.8ns" },
	{ WEFT_P_TIME, "0.5fs", "'0.5fs' is no whole number of fs" },
	{ WEFT_P_TIME, "1e-30s", "'1e-30s' is no whole number of fs" },
	{ WEFT_P_TIME, "18447s", "'18447s' is too large for a time" },
	{ WEFT_P_TIME, "1e999999999999s",
	  "'1e999999999999s' is too large for a time" },
	{ WEFT_P_TIME, "\x01\xFFns", "'\?\?ns' is no time: write e.g. 12.8ns" },
	{ WEFT_P_U64, "18446744073709551616",
	  "'18446744073709551616' has more digits than 64 bits hold" },
	{ WEFT_P_TIME, "1.00000000000000000001ns",
	  "'1.00000000000000000001ns' has more digits than 64 bits hold" },
	{ WEFT_P_U64, "1e20", "'1e20' is too large for a whole number" },
	{ WEFT_P_U64, "0x10000000000000000",
	  "'0x10000000000000000' has more digits than 64 bits hold" },
	{ WEFT_P_U64, "0x", "'0x' is no whole number: write e.g. 8" },
	{ WEFT_P_U64, "1.5", "'1.5' is no whole number: write e.g. 8" },
	{ WEFT_P_U64, "-1", "'-1' is no whole number: write e.g. 8" },
	{ WEFT_P_U64, "8 ports", "'8 ports' is no whole number: write e.g. 8" },
	{ WEFT_P_RATE, "2.5G",
	  "'2.5G' is no rate: write e.g. 2.5Gb/s or 300MB/s" },
	{ WEFT_P_RATE, "100",
	  "'100' is no rate: write e.g. 2.5Gb/s or 300MB/s" },
	{ WEFT_P_RATE, "0.1b/s", "'0.1b/s' is no whole number of b/s" },
	{ WEFT_P_RATE, "18446744073709551615GiB/s",
	  "'18446744073709551615GiB/s' is too large for a rate" },
	{ WEFT_P_BYTES, "0.5", "'0.5' is no whole number of B" },
	{ WEFT_P_BYTES, "16777216TiB",
	  "'16777216TiB' is too large for a size" },
	{ WEFT_P_BYTES, "2K", "'2K' is no size: write e.g. 512 or 2KiB" },
};
/* clang-format on */

static void value_reads_prints_and_reads_back(void **state)
{
	for (size_t i = 0; i < ROWS(good); i++) {
		const struct good *g = &good[i];
		struct weft_err err = { 0 };
		uint64_t v = 1234567;
		char buf[64];

		if (units_parse(g->type, "", g->text, &v, 8, &err))
			fail_msg("%s: %s", g->text, err.msg);
		if (v != g->val)
			fail_msg("%s gives %llu", g->text,
				 (unsigned long long)v);
		units_print(g->type, "", &v, buf, sizeof(buf));
		assert_string_equal(buf, g->back ? g->back : g->text);
		assert_int_equal(units_parse(g->type, "", buf, &v, 8, NULL), 0);
		assert_true(v == g->val);
	}
}

static void wrong_text_is_refused_with_its_message(void **state)
{
	for (size_t i = 0; i < ROWS(bad); i++) {
		struct weft_err err = { 0 };
		uint64_t v = 42;

		assert_true(units_parse(bad[i].type, "", bad[i].text, &v, 8,
					&err) < 0);
		assert_string_equal(err.msg, bad[i].msg);
		assert_int_equal(v, 42);
	}
}

static void whole_number_ends_at_32_bits(void **state)
{
	struct weft_err err = { 0 };
	uint32_t v;
	char buf[16];

	assert_int_equal(units_parse(WEFT_P_U32, "", "4294967295", &v, 4, &err),
			 0);
	assert_int_equal(v, UINT32_MAX);
	assert_int_equal(units_parse(WEFT_P_U32, "", "4294967296", &v, 4, &err),
			 -ERANGE);
	assert_string_equal(err.msg,
			    "'4294967296' is too large for a whole number");
	units_print(WEFT_P_U32, "", &v, buf, sizeof(buf));
	assert_string_equal(buf, "4294967295");
}

static void switch_has_four_words_for_each_side(void **state)
{
	static const char *const yes[] = { "true", "yes", "on", "1" };
	static const char *const no[] = { "false", "no", "off", "0" };
	struct weft_err err = { 0 };
	bool v;

	for (int i = 0; i < 4; i++) {
		assert_int_equal(units_parse(WEFT_P_BOOL, "", yes[i], &v,
					     sizeof(v), NULL),
				 0);
		assert_true(v);
		assert_int_equal(units_parse(WEFT_P_BOOL, "", no[i], &v,
					     sizeof(v), NULL),
				 0);
		assert_false(v);
	}
	assert_int_equal(
		units_parse(WEFT_P_BOOL, "", "True", &v, sizeof(v), &err),
		-EINVAL);
	assert_string_equal(err.msg,
			    "'True' is no switch: write e.g. true or false");
	assert_int_equal(units_parse(WEFT_P_BOOL, "", "", &v, sizeof(v), NULL),
			 -EINVAL);
	assert_int_equal(
		units_parse(WEFT_P_BOOL, "", "no|yes", &v, sizeof(v), NULL),
		-EINVAL);
}

static void real_is_read_and_nan_refused(void **state)
{
	struct weft_err err = { 0 };
	double v = 0;
	char buf[64];

	assert_int_equal(
		units_parse(WEFT_P_REAL, "", "-0.25", &v, sizeof(v), NULL), 0);
	assert_true(v == -0.25);
	assert_int_equal(
		units_parse(WEFT_P_REAL, "", "0.1", &v, sizeof(v), NULL), 0);
	units_print(WEFT_P_REAL, "", &v, buf, sizeof(buf));
	assert_string_equal(buf, "0.1");
	assert_int_equal(
		units_parse(WEFT_P_REAL, "", "nan", &v, sizeof(v), &err),
		-EINVAL);
	assert_string_equal(err.msg, "'nan' is no number: write e.g. 0.5");
	assert_true(v == 0.1);
}

static void enum_takes_whole_words_of_its_list(void **state)
{
	static const char list[] = "word|packed|raw";
	struct weft_err err = { 0 };
	uint32_t v = 9;
	char buf[16];

	assert_int_equal(units_parse(WEFT_P_ENUM, list, "word", &v, 4, &err),
			 0);
	assert_int_equal(v, 0);
	assert_int_equal(units_parse(WEFT_P_ENUM, list, "raw", &v, 4, &err), 0);
	assert_int_equal(v, 2);
	units_print(WEFT_P_ENUM, list, &v, buf, sizeof(buf));
	assert_string_equal(buf, "raw");
	v = 7;
	units_print(WEFT_P_ENUM, list, &v, buf, sizeof(buf));
	assert_string_equal(buf, "7");
	assert_int_equal(units_parse(WEFT_P_ENUM, list, "wor", &v, 4, &err),
			 -EINVAL);
	assert_string_equal(err.msg, "'wor' is none of word|packed|raw");
	assert_true(units_parse(WEFT_P_ENUM, list, "", &v, 4, NULL) < 0);
	assert_true(units_parse(WEFT_P_ENUM, list, "word|packed", &v, 4, NULL) <
		    0);
	assert_int_equal(v, 7);
}

static void string_fits_its_room(void **state)
{
	struct weft_err err = { 0 };
	char v[8], buf[16];

	memset(v, 'z', sizeof(v));
	assert_int_equal(units_parse(WEFT_P_STR, "", "seven77", v, 8, &err), 0);
	assert_string_equal(v, "seven77");
	units_print(WEFT_P_STR, "", v, buf, sizeof(buf));
	assert_string_equal(buf, "seven77");
	assert_int_equal(units_parse(WEFT_P_STR, "", "eight888", v, 8, &err),
			 -EINVAL);
	assert_string_equal(err.msg, "'eight888' is longer than 7 characters");
	assert_string_equal(v, "seven77");
}

/* clang-format off */
static const struct {
	const char *text;
	uint64_t num, den;
	const char *back;
} clocks[] = {
	{ "100MHz", 10000000, 1, "100MHz" },
	{ "78.125MHz", 12800000, 1, "78.125MHz" },
	{ "12.8ns", 12800000, 1, "78.125MHz" },
	{ "10ns", 10000000, 1, "100MHz" },
	{ "330MHz", 100000000, 33, "330MHz" },
	{ "0.33 GHz", 100000000, 33, "330MHz" },
	{ "100/3MHz", 30000000, 1, "30ns" },
	{ "400/3MHz", 7500000, 1, "7.5ns" },
	{ "33.3333MHz", 10000000000000, 333333, "33.3333MHz" },
	{ "3ns", 3000000, 1, "3ns" },
	{ "1Hz", 1000000000000000, 1, "1Hz" },
	{ "1.5Hz", 2000000000000000, 3, "2000000000000000/3fs" },
	{ "100/7ns", 100000000, 7, "70MHz" },
	{ "22/7fs", 22, 7, "22/7fs" },
	{ "1fs", 1, 1, "1000000GHz" },
};
/* clang-format on */

static void clock_is_given_as_frequency_or_period(void **state)
{
	for (size_t i = 0; i < ROWS(clocks); i++) {
		struct weft_clock c = { .phase = 9 };
		struct weft_err err = { 0 };
		char buf[64];

		if (units_parse(WEFT_P_CLOCK, "", clocks[i].text, &c, sizeof(c),
				&err))
			fail_msg("%s: %s", clocks[i].text, err.msg);
		assert_int_equal(c.num, clocks[i].num);
		assert_int_equal(c.den, clocks[i].den);
		assert_int_equal(c.phase, 0);
		units_print(WEFT_P_CLOCK, "", &c, buf, sizeof(buf));
		assert_string_equal(buf, clocks[i].back);
		assert_int_equal(
			units_parse(WEFT_P_CLOCK, "", buf, &c, sizeof(c), NULL),
			0);
		assert_int_equal(c.num, clocks[i].num);
		assert_int_equal(c.den, clocks[i].den);
	}
}

static void impossible_clock_is_refused(void **state)
{
	static const char *const text[] = {
		"0MHz",
		"0ns",
		"1/0MHz",
		"0/1MHz",
		"1e30Hz",
		"2000000GHz",
		"0.5fs",
		"1e-300Hz",
		"1e300s",
		"1e-399/1e-399s",
		"18446744073709551615/18446744073709551614e200fs",
	};
	static const char *const words[] = { "100", "100/MHz",	"100/3",
					     "MHz", "100MHz/3", "",
					     "/" };
	struct weft_clock c = { 1, 2, 3 };

	for (size_t i = 0; i < ROWS(text); i++)
		assert_int_equal(units_parse(WEFT_P_CLOCK, "", text[i], &c,
					     sizeof(c), NULL),
				 -ERANGE);
	for (size_t i = 0; i < ROWS(words); i++) {
		struct weft_err err = { 0 };

		assert_int_equal(units_parse(WEFT_P_CLOCK, "", words[i], &c,
					     sizeof(c), &err),
				 -EINVAL);
		assert_non_null(strstr(err.msg,
				       "is no clock: write e.g. "
				       "100MHz or 10ns"));
	}
	assert_int_equal(c.num, 1);
}

static void megabytes_of_text_get_a_short_message(void **state)
{
	enum { N = 4 << 20 };
	static const char fill[] = { '9', '0', '.', 'e', '-', 'x', '\x80' };
	char *text = malloc(N + 1);

	for (size_t f = 0; f < sizeof(fill); f++) {
		memset(text, fill[f], N);
		text[N] = '\0';
		for (int t = WEFT_P_BOOL; t <= WEFT_P_CLOCK; t++) {
			struct weft_err err = { 0 };
			struct weft_clock v;
			size_t size = t == WEFT_P_BOOL	  ? 1
				      : t == WEFT_P_U32	  ? 4
				      : t == WEFT_P_CLOCK ? sizeof(v)
							  : 8;

			if (units_parse(t, "", text, &v, size, &err))
				assert_true(strlen(err.msg) < 128);
			else
				assert_int_equal(fill[f], '0');
		}
	}
	free(text);
}

/* Parses head, zeros and tail, put together, as a time. Returns 0 if the text
 * is refused. */
static weft_time_t parse_zeros(const char *head, int zeros, const char *tail)
{
	weft_time_t v = 0;
	char text[1024];

	snprintf(text, sizeof(text), "%s%0*d%s", head, zeros, 0, tail);
	if (units_parse(WEFT_P_TIME, "", text, &v, 8, NULL))
		return 0;
	return v;
}

static void long_runs_of_zeros_are_exact_or_refused(void **state)
{
	static const char *const big[] = { "e-400ns", "e-500ns", "e-4015ns",
					   "e-399ns" };
	static const char *const small[] = { "1e400ns", "1e500ns", "1e4015ns",
					     "1e401ns" };

	assert_int_equal(parse_zeros("1", 100, "e-100ns"), WEFT_NS);
	assert_int_equal(parse_zeros("0.", 99, "1e100ns"), WEFT_NS);
	assert_int_equal(parse_zeros("1.", 300, "ns"), WEFT_NS);
	assert_int_equal(parse_zeros("", 500, "1ns"), WEFT_NS);
	for (size_t i = 0; i < ROWS(big); i++) {
		assert_int_equal(parse_zeros("1", 500, big[i]), 0);
		assert_int_equal(parse_zeros("0.", 500, small[i]), 0);
	}
}

static void accepted_random_text_reads_back_the_same(void **state)
{
	static const char *const part[] = {
		"0", "1",   "9",  "25",	  ".",	 "e",  "-",
		"+", "/",   "x",  "0x",	  " ",	 "ns", "fs",
		"s", "MHz", "Hz", "Gb/s", "KiB", "B",  "KiB/s",
	};
	uint32_t accepted = 0;
	struct weft_rng r;

	weft_rng_seed(&r, 3, "units");
	for (int i = 0; i < 200000; i++) {
		enum weft_ptype t = WEFT_P_TIME + weft_rng_below(&r, 4);
		size_t size = t == WEFT_P_CLOCK ? sizeof(struct weft_clock) : 8;
		struct weft_clock a = { 0 }, b = { 0 };
		char text[64] = "", buf[64];

		for (uint64_t n = 1 + weft_rng_below(&r, 6); n; n--)
			strcat(text, part[weft_rng_below(&r, ROWS(part))]);
		if (units_parse(t, "", text, &a, size, NULL))
			continue;
		accepted++;
		units_print(t, "", &a, buf, sizeof(buf));
		assert_int_equal(units_parse(t, "", buf, &b, size, NULL), 0);
		assert_memory_equal(&a, &b, size);
	}
	assert_true(accepted > 1000);
}

static void printed_value_is_cut_to_its_room(void **state)
{
	weft_time_t t = 12800000;
	char buf[4];

	assert_int_equal(units_print(WEFT_P_TIME, "", &t, buf, sizeof(buf)), 6);
	assert_string_equal(buf, "12.");
}

static void each_type_has_a_name(void **state)
{
	assert_string_equal(units_type_name(WEFT_P_TIME), "time");
	assert_string_equal(units_type_name(WEFT_P_CLOCK), "clock");
	assert_string_equal(units_type_name(WEFT_P_BYTES), "bytes");
	assert_string_equal(units_type_name(WEFT_P_STR), "string");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(value_reads_prints_and_reads_back),
		cmocka_unit_test(wrong_text_is_refused_with_its_message),
		cmocka_unit_test(whole_number_ends_at_32_bits),
		cmocka_unit_test(switch_has_four_words_for_each_side),
		cmocka_unit_test(real_is_read_and_nan_refused),
		cmocka_unit_test(enum_takes_whole_words_of_its_list),
		cmocka_unit_test(string_fits_its_room),
		cmocka_unit_test(clock_is_given_as_frequency_or_period),
		cmocka_unit_test(impossible_clock_is_refused),
		cmocka_unit_test(megabytes_of_text_get_a_short_message),
		cmocka_unit_test(long_runs_of_zeros_are_exact_or_refused),
		cmocka_unit_test(accepted_random_text_reads_back_the_same),
		cmocka_unit_test(printed_value_is_cut_to_its_room),
		cmocka_unit_test(each_type_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
