/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the bytes that a drive returns: cache, order, bad sectors, queue, loss
 * of power and of requests, parameters. */
#include <errno.h>

#include "base/units.h"
#include "rig.h"

#define S 512

/* Over the interface a sector takes 1 us. An access to the medium takes 100 us,
 * and 2 us for each sector. */
static const struct drive_config slow = {
	.size = 1 << 20,
	.sector = S,
	.queue = 16,
	.channels = 1,
	.latency = 100 * WEFT_US,
	.media_rate = MBIT(256),
	.interface_rate = MBIT(512),
	.cache = 64 * KB,
};
static uint8_t one[16 * S], two[16 * S], three[16 * S];

static int setup(void **st)
{
	memset(one, 1, sizeof(one));
	memset(two, 2, sizeof(two));
	memset(three, 3, sizeof(three));
	return 0;
}

static void a_read_finds_cached_bytes_over_those_of_the_medium(void **st)
{
	struct drive *d = rig_new(&slow);
	weft_time_t t = rig_do(d, 0, DRIVE_WRITE, 0, 8 * S, one);

	t = rig_do(d, t, DRIVE_FLUSH, 0, 0, one);
	t = rig_do(d, t, DRIVE_WRITE, 2 * S, S, two);
	rig_has(d, t, 0, 2 * S, 1);
	rig_has(d, t + WEFT_MS, 2 * S, S, 2);
	rig_has(d, t + 2 * WEFT_MS, 3 * S, 5 * S, 1);
	rig_has(d, t + 3 * WEFT_MS, 8 * S, 8 * S, 0);
	drive_free(d);
}

static void a_trim_hides_cached_writes_and_is_hidden_by_later_ones(void **st)
{
	struct drive *d = rig_new(&slow);
	weft_time_t t = rig_do(d, 0, DRIVE_WRITE, 0, 8 * S, one);

	t = rig_do(d, t, DRIVE_TRIM, 2 * S, 4 * S, one);
	t = rig_do(d, t, DRIVE_WRITE, 3 * S, S, two);
	/* first in the cache, then on the medium */
	for (int i = 0; i < 2; i++) {
		rig_has(d, t, 0, 2 * S, 1);
		rig_has(d, t + WEFT_MS, 2 * S, S, 0);
		rig_has(d, t + 2 * WEFT_MS, 3 * S, S, 2);
		rig_has(d, t + 3 * WEFT_MS, 4 * S, 2 * S, 0);
		rig_has(d, t + 4 * WEFT_MS, 6 * S, 2 * S, 1);
		t = rig_do(d, t + WEFT_SEC, DRIVE_FLUSH, 0, 0, one);
		assert_false(drive_power_lost(d, t));
	}
	drive_free(d);
}

/* The second write is in the cache when the first one is destaged. */
static void a_destage_does_not_bring_old_bytes_back(void **st)
{
	struct drive *d = rig_new(&slow);
	weft_time_t t = rig_do(d, 0, DRIVE_WRITE, 0, S, one);

	t = rig_do(d, t + WEFT_US, DRIVE_WRITE, 0, S, two);
	assert_int_equal(drive_stats(d).destaged_bytes, 0);
	rig_has(d, t + 110 * WEFT_US, 0, S, 2);
	assert_int_equal(drive_stats(d).destaged_bytes, S);
	rig_has(d, t + WEFT_SEC, 0, S, 2);
	drive_free(d);
}

/* The destage of the first write is planned on the other channel, after a long
 * read. The write with FUA ends before that destage. */
static void a_destage_does_not_replace_a_later_fua_write(void **st)
{
	struct drive_config cfg = slow;
	struct drive_request fua = { DRIVE_WRITE, true, 0, S, two, two };
	struct drive_end e;
	weft_time_t t;
	struct drive *d;

	cfg.channels = 2;
	d = rig_new(&cfg);
	rig_put(d, 0, DRIVE_READ, 65536, 2 * S, three);
	rig_put(d, 0, DRIVE_READ, 131072, 16 * S, three);
	rig_put(d, 0, DRIVE_WRITE, 0, S, one);
	rig_end(d, &e);
	rig_put(d, 2 * WEFT_US, DRIVE_WRITE, 65536, S, one);
	rig_end(d, &e);
	rig_put(d, 4 * WEFT_US, DRIVE_FLUSH, 0, 0, one);
	assert_true(drive_submit(d, 4 * WEFT_US, &fua));
	do
		t = rig_end(d, &e);
	while (drive_next(d) != WEFT_NEVER);
	rig_has(d, t + WEFT_SEC, 0, S, 2);
	drive_power_lost(d, t + 2 * WEFT_SEC);
	rig_has(d, t + 3 * WEFT_SEC, 0, S, 2);
	drive_free(d);
}

static void power_lost_gives_old_bytes_back(void **st)
{
	struct drive *d = rig_new(&slow);
	weft_time_t t = rig_do(d, 0, DRIVE_WRITE, 0, 8 * S, one);

	t = rig_do(d, t, DRIVE_FLUSH, 0, 0, one);
	t = rig_do(d, t, DRIVE_WRITE, 0, 8 * S, two);
	assert_true(drive_power_lost(d, t));
	rig_has(d, t, 0, 8 * S, 1);
	drive_free(d);
}

static void power_lost_after_a_flush_loses_nothing(void **st)
{
	struct drive *d = rig_new(&slow);
	weft_time_t t = rig_do(d, 0, DRIVE_WRITE, 0, 8 * S, one);

	t = rig_do(d, t, DRIVE_FLUSH, 0, 0, one);
	assert_false(drive_power_lost(d, t));
	rig_has(d, t, 0, 8 * S, 1);
	drive_free(d);
}

/* The write takes 8 us on the interface. Its destage then takes 100 us for the
 * access and 2 us for each sector. */
static void power_lost_tears_a_destage_between_sectors(void **st)
{
	struct drive *d = rig_new(&slow);

	rig_do(d, 0, DRIVE_WRITE, 0, 8 * S, one);
	assert_true(drive_power_lost(d, 108 * WEFT_US + 7 * WEFT_US));
	rig_has(d, WEFT_MS, 0, 3 * S, 1);
	rig_has(d, 2 * WEFT_MS, 3 * S, 5 * S, 0);
	drive_free(d);
}

static void power_lost_tears_a_write_through(void **st)
{
	struct drive_config cfg = slow;
	struct drive *d;

	cfg.cache = 0;
	d = rig_new(&cfg);
	rig_put(d, 0, DRIVE_WRITE, 0, 8 * S, one);
	assert_false(drive_power_lost(d, 107 * WEFT_US));
	assert_int_equal(drive_next(d), WEFT_NEVER);
	rig_has(d, WEFT_MS, 0, 3 * S, 1);
	rig_has(d, 2 * WEFT_MS, 3 * S, 5 * S, 0);
	drive_free(d);
}

static void power_lost_forgets_a_write_on_its_way_to_the_cache(void **st)
{
	struct drive *d = rig_new(&slow);

	rig_put(d, 0, DRIVE_WRITE, 0, 8 * S, one);
	assert_false(drive_power_lost(d, 7 * WEFT_US));
	assert_int_equal(drive_next(d), WEFT_NEVER);
	rig_has(d, WEFT_MS, 0, 8 * S, 0);
	drive_free(d);
}

static void power_lost_takes_back_a_cached_trim(void **st)
{
	struct drive *d = rig_new(&slow);
	weft_time_t t = rig_do(d, 0, DRIVE_WRITE, 0, 8 * S, one);

	t = rig_do(d, t, DRIVE_FLUSH, 0, 0, one);
	t = rig_do(d, t, DRIVE_TRIM, 0, 8 * S, one);
	assert_true(drive_power_lost(d, t + 99 * WEFT_US));
	rig_has(d, t + WEFT_MS, 0, 8 * S, 1);
	drive_free(d);
}

static void abandon_keeps_the_cache(void **st)
{
	struct drive *d = rig_new(&slow);

	rig_do(d, 0, DRIVE_WRITE, 0, 8 * S, one);
	rig_put(d, 10 * WEFT_US, DRIVE_WRITE, 8 * S, 8 * S, two);
	rig_put(d, 10 * WEFT_US, DRIVE_READ, 65536, 8 * S, three);
	drive_abandon(d, 14 * WEFT_US);
	assert_int_equal(drive_next(d), WEFT_NEVER);
	rig_has(d, 20 * WEFT_US, 0, 8 * S, 1);
	/* four sectors of the second write had arrived */
	rig_has(d, WEFT_MS, 8 * S, 4 * S, 2);
	rig_has(d, 2 * WEFT_MS, 12 * S, 4 * S, 0);
	drive_free(d);
}

/* Reads that are abandoned, in progress or not, leave the medium free, so that
 * the next read begins at once. */
static void abandon_frees_the_media(void **st)
{
	struct drive_config cfg = slow;
	struct drive *d;

	cfg.cache = 0;
	d = rig_new(&cfg);
	for (int i = 0; i < 8; i++)
		rig_put(d, 0, DRIVE_READ, 0, S, three);
	drive_abandon(d, 10 * WEFT_US);
	assert_int_equal(rig_do(d, 10 * WEFT_US, DRIVE_READ, 0, S, three),
			 112 * WEFT_US);
	assert_int_equal(drive_stats(d).busy, 112 * WEFT_US);
	drive_free(d);
}

static void a_full_queue_refuses_until_an_end_is_taken(void **st)
{
	struct drive_config cfg = slow;
	struct drive_request r = { DRIVE_READ, false, 0, S, three, three };
	struct drive_end e;
	struct drive *d;

	cfg.queue = 2;
	d = rig_new(&cfg);
	assert_true(drive_submit(d, 0, &r));
	assert_true(drive_submit(d, 0, &r));
	assert_false(drive_submit(d, 0, &r));
	assert_false(drive_submit(d, WEFT_SEC, &r));
	assert_true(drive_poll(d, WEFT_SEC, &e));
	assert_true(drive_submit(d, WEFT_SEC, &r));
	assert_false(drive_submit(d, WEFT_SEC, &r));
	drive_free(d);
}

static int status_of(struct drive *d, weft_time_t t, enum drive_code code,
		     uint64_t at, uint64_t n, void *data)
{
	struct drive_end e;

	rig_put(d, t, code, at * S, n * S, data);
	rig_end(d, &e);
	return e.status;
}

static void bad_sectors_fail_reads_and_writes_that_touch_them(void **st)
{
	struct drive_config cfg = slow;
	weft_time_t t = WEFT_MS;
	struct drive *d;

	snprintf(cfg.bad, sizeof(cfg.bad), "5,9..12,2047");
	d = rig_new(&cfg);
	assert_int_equal(status_of(d, t, DRIVE_READ, 5, 1, three), -EIO);
	assert_int_equal(status_of(d, 2 * t, DRIVE_READ, 0, 6, three), -EIO);
	assert_int_equal(status_of(d, 3 * t, DRIVE_READ, 0, 5, three), 0);
	assert_int_equal(status_of(d, 4 * t, DRIVE_READ, 6, 3, three), 0);
	assert_int_equal(status_of(d, 5 * t, DRIVE_WRITE, 12, 2, one), -EIO);
	assert_int_equal(status_of(d, 6 * t, DRIVE_WRITE, 13, 2, one), 0);
	assert_int_equal(status_of(d, 7 * t, DRIVE_ZERO, 11, 1, NULL), -EIO);
	assert_int_equal(status_of(d, 8 * t, DRIVE_TRIM, 0, 2048, NULL), 0);
	assert_int_equal(status_of(d, 9 * t, DRIVE_READ, 2046, 2, one), -EIO);
	assert_int_equal(status_of(d, 10 * t, DRIVE_FLUSH, 0, 0, NULL), 0);
	assert_int_equal(drive_stats(d).bad, 5);
	drive_free(d);
}

static void refuses(struct drive_config cfg, const char *text)
{
	char why[256] = "";

	assert_null(drive_new(&cfg, why, sizeof(why)));
	if (!strstr(why, text))
		fail_msg("'%s' is not in: %s", text, why);
}

static void a_list_that_is_not_one_of_sectors_is_refused(void **st)
{
	static const char *const bad[] = { "x",
					   "5,",
					   "5;6",
					   "5..",
					   "-1",
					   "7..5",
					   "1...3",
					   " 1",
					   ",5",
					   "5,,6",
					   "99999999999999999999" };
	struct drive_config cfg = slow;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(cfg.bad, sizeof(cfg.bad), "%s", bad[i]);
		refuses(cfg, "write 5,9..12");
	}
	snprintf(cfg.bad, sizeof(cfg.bad), "1,2048");
	refuses(cfg, "bad sector 2048 lies behind the last one, 2047");
}

static void values_that_do_not_fit_are_refused(void **st)
{
	struct drive_config cfg = slow;

	cfg.sector = 1024;
	refuses(cfg, "512 or 4096");
	cfg = slow;
	cfg.size = 1000;
	refuses(cfg, "multiple");
	cfg = slow;
	cfg.size = 0;
	refuses(cfg, "multiple");
	cfg = slow;
	cfg.channels = 0;
	refuses(cfg, "begin at 1");
	cfg = slow;
	cfg.queue = 0;
	refuses(cfg, "begin at 1");
	cfg = slow;
	cfg.seek_min = 1;
	refuses(cfg, "seek_max");
	cfg = slow;
	cfg.cache = S - 1;
	refuses(cfg, "room for a sector");
	cfg = slow;
	snprintf(cfg.file, sizeof(cfg.file), "/nowhere/file");
	refuses(cfg, "/nowhere/file cannot be opened");
}

/* ---- parameters ---- */

struct owner {
	uint32_t other;
	struct drive_config drive;
};

static const struct weft_param params[] = { DRIVE_PARAMS(struct owner, drive),
					    { 0 } };
static const struct weft_preset presets[] = { DRIVE_PRESETS, { 0 } };

static void set(struct owner *o, const char *name, const char *text)
{
	const struct weft_param *p = params;
	struct weft_err err = { 0 };
	char *field;

	while (strcmp(p->name, name))
		assert_non_null((++p)->name);
	field = (char *)o + p->offset;
	assert_int_equal(
		units_parse(p->type, p->range, text, field, p->size, &err), 0);
	assert_int_equal(units_check(p->type, p->range, field, &err), 0);
}

static void presets_and_defaults_make_drives(void **st)
{
	struct owner o = { 0 };
	char all[256], *rest, *word;

	for (const struct weft_param *p = params; p->name; p++)
		set(&o, p->name, p->def);
	assert_int_equal(o.drive.size, 1 << 30);
	drive_free(rig_new(&o.drive));
	for (const struct weft_preset *p = presets; p->name; p++) {
		snprintf(all, sizeof(all), "%s", p->values);
		for (rest = all; (word = strtok_r(rest, " ", &rest));) {
			char *value = strchr(word, '=');

			*value++ = '\0';
			set(&o, word, value);
		}
		drive_free(rig_new(&o.drive));
		if (!strcmp(p->name, "disk"))
			assert_int_equal(o.drive.media_rate, MBIT(60));
	}
	assert_int_equal(o.drive.latency, 60 * WEFT_US);
	assert_int_equal(o.drive.seek_max, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_read_finds_cached_bytes_over_those_of_the_medium),
		cmocka_unit_test(
			a_trim_hides_cached_writes_and_is_hidden_by_later_ones),
		cmocka_unit_test(a_destage_does_not_bring_old_bytes_back),
		cmocka_unit_test(a_destage_does_not_replace_a_later_fua_write),
		cmocka_unit_test(power_lost_gives_old_bytes_back),
		cmocka_unit_test(power_lost_after_a_flush_loses_nothing),
		cmocka_unit_test(power_lost_tears_a_destage_between_sectors),
		cmocka_unit_test(power_lost_tears_a_write_through),
		cmocka_unit_test(
			power_lost_forgets_a_write_on_its_way_to_the_cache),
		cmocka_unit_test(power_lost_takes_back_a_cached_trim),
		cmocka_unit_test(abandon_keeps_the_cache),
		cmocka_unit_test(abandon_frees_the_media),
		cmocka_unit_test(a_full_queue_refuses_until_an_end_is_taken),
		cmocka_unit_test(
			bad_sectors_fail_reads_and_writes_that_touch_them),
		cmocka_unit_test(a_list_that_is_not_one_of_sectors_is_refused),
		cmocka_unit_test(values_that_do_not_fit_are_refused),
		cmocka_unit_test(presets_and_defaults_make_drives),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
