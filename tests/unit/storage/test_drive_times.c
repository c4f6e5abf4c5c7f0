/* SPDX-License-Identifier: Apache-2.0 */
/* Times of a drive: each mechanism alone, against numbers computed by hand. */
#include "rig.h"

#define N     (120 * 512) /* 1.024 ms at 60 MB/s, 614.4 us at 100 MB/s */
#define MEDIA (1024 * WEFT_US)
#define MOVED (614400 * WEFT_NS)

static const struct drive_config disk = {
	.size = 1ull << 30,
	.sector = 512,
	.queue = 128,
	.channels = 1,
	.seek_min = 800 * WEFT_US,
	.seek_max = 15 * WEFT_MS,
	.turn = 8 * WEFT_MS,
	.media_rate = MBIT(60),
	.interface_rate = MBIT(100),
};
static const struct drive_config flash = {
	.size = 1ull << 30,
	.sector = 4096,
	.queue = 128,
	.channels = 8,
	.latency = 60 * WEFT_US,
	.media_rate = MBIT(2000),
};
static uint8_t buf[16][256 * KB];

static void a_sequential_read_pays_media_rate_alone(void **st)
{
	struct drive *d = rig_new(&disk);
	weft_time_t t = rig_do(d, 0, DRIVE_READ, 0, N, buf);

	assert_int_equal(t, MEDIA);
	t = rig_do(d, t, DRIVE_READ, N, N, buf);
	assert_int_equal(t, 2 * MEDIA);
	drive_free(d);
}

/* The distance is a quarter of the disk. The root of a quarter is a half, so
 * that the seek takes the mean of the shortest and the longest seek. */
static void a_read_far_away_pays_seek_and_half_a_turn(void **st)
{
	struct drive *d = rig_new(&disk);
	weft_time_t t = rig_do(d, 0, DRIVE_READ, 256 * KB * KB, N, buf);

	assert_int_equal(t, 7900 * WEFT_US + 4 * WEFT_MS + MEDIA);
	t = rig_do(d, 20 * WEFT_MS, DRIVE_READ, 0, 512, buf);
	assert_true(t > 31900 * WEFT_US && t < 31920 * WEFT_US);
	drive_free(d);
}

static void a_slow_interface_bounds_a_read(void **st)
{
	struct drive_config cfg = disk;
	struct drive *d;

	cfg.media_rate = MBIT(1000);
	d = rig_new(&cfg);
	assert_int_equal(rig_do(d, 0, DRIVE_READ, 0, N, buf), MOVED);
	drive_free(d);
}

static void a_slow_interface_bounds_a_write(void **st)
{
	struct drive_config cfg = disk;
	struct drive *d;

	cfg.media_rate = MBIT(1000);
	d = rig_new(&cfg);
	assert_int_equal(rig_do(d, 0, DRIVE_WRITE, 0, N, buf), MOVED);
	drive_free(d);
}

static void channels_serve_requests_at_the_same_time(void **st)
{
	struct drive *d = rig_new(&flash);
	/* 4096 bytes at a channel's rate, an eighth of 2 GB/s */
	weft_time_t one = 60 * WEFT_US + 16384 * WEFT_NS;
	struct drive_end e;

	for (int i = 0; i < 9; i++)
		rig_put(d, 0, DRIVE_READ, 8192ull * i, 4096, buf[i]);
	for (int i = 0; i < 9; i++) {
		assert_int_equal(rig_end(d, &e), i < 8 ? one : 2 * one);
		assert_ptr_equal(e.ctx, buf[i]);
	}
	assert_int_equal(drive_stats(d).busy, 9 * one);
	assert_int_equal(drive_stats(d).queue_max, 9);
	drive_free(d);
}

static void a_write_without_cache_ends_on_the_medium(void **st)
{
	struct drive *d = rig_new(&disk);

	assert_int_equal(rig_do(d, 0, DRIVE_WRITE, 0, N, buf), MEDIA);
	assert_int_equal(rig_do(d, MEDIA, DRIVE_FLUSH, 0, 0, buf), MEDIA);
	drive_free(d);
}

static void a_cached_write_ends_when_the_interface_has_moved_it(void **st)
{
	struct drive_config cfg = disk;
	struct drive *d;
	weft_time_t seek;

	cfg.cache = 1 << 20;
	d = rig_new(&cfg);
	assert_int_equal(rig_do(d, 0, DRIVE_WRITE, 256 * KB * KB, N, buf),
			 MOVED);
	/* the arm moves as soon as the bytes are in the cache, and the flush
	 * waits for the destage */
	seek = 7900 * WEFT_US + 4 * WEFT_MS;
	assert_int_equal(rig_do(d, 5 * WEFT_MS, DRIVE_FLUSH, 0, 0, buf),
			 MOVED + seek + MEDIA);
	assert_int_equal(drive_stats(d).destaged_bytes, N);
	drive_free(d);
}

static void a_read_of_cached_bytes_skips_the_mechanics(void **st)
{
	struct drive_config cfg = disk;
	struct drive *d;
	weft_time_t t;

	cfg.cache = 1 << 20;
	d = rig_new(&cfg);
	t = rig_do(d, 0, DRIVE_WRITE, 256 * KB * KB, N, buf);
	t = rig_do(d, t, DRIVE_READ, 256 * KB * KB, N, buf);
	assert_int_equal(t, 2 * MOVED);
	/* cached bytes can be read also while they are destaged */
	t = rig_do(d, t, DRIVE_READ, 256 * KB * KB, N, buf);
	assert_int_equal(t, 3 * MOVED);
	/* a read of the next bytes waits for the destage, then needs no seek */
	t = rig_do(d, t, DRIVE_READ, 256 * KB * KB + N, 512, buf);
	assert_true(t > MOVED + 7900 * WEFT_US);
	drive_free(d);
}

/* The read occupies the arm from 0 on. The write needs only the interface,
 * which is idle. */
static void a_cached_write_does_not_wait_for_a_seek(void **st)
{
	struct drive_config cfg = disk;
	struct drive_end e;
	struct drive *d;

	cfg.cache = 1 << 20;
	d = rig_new(&cfg);
	rig_put(d, 0, DRIVE_READ, 256 * KB * KB, N, buf[0]);
	rig_put(d, 0, DRIVE_WRITE, 0, N, buf[1]);
	assert_int_equal(rig_end(d, &e), MOVED);
	assert_ptr_equal(e.ctx, buf[1]);
	assert_int_equal(rig_end(d, &e), 7900 * WEFT_US + 4 * WEFT_MS + MEDIA);
	drive_free(d);
}

/* The interface moves the bytes of the read in the last 614.4 us of its 1024
 * us. The write takes the 409.6 us before them. One sector more has to wait. */
static void a_write_uses_a_gap_of_exactly_its_length(void **st)
{
	struct drive_config cfg = disk;
	weft_time_t gap = MEDIA - MOVED;
	uint64_t len = N * 2 / 3;

	cfg.cache = 1 << 20;
	for (int more = 0; more < 2; more++) {
		struct drive *d = rig_new(&cfg);
		struct drive_end e;

		rig_put(d, 0, DRIVE_READ, 0, N, buf[0]);
		rig_put(d, 0, DRIVE_WRITE, 256 * KB, len + 512 * more, buf[1]);
		assert_int_equal(rig_end(d, &e), more ? MEDIA : gap);
		assert_ptr_equal(e.ctx, buf[!more]);
		assert_int_equal(rig_end(d, &e),
				 more ? MEDIA + gap + 5120 * WEFT_NS : MEDIA);
		drive_free(d);
	}
}

/* 256 KB take 4369.067 us at 60 MB/s and 2621.44 us at 100 MB/s. The destage of
 * the first write begins when that write has ended. The third write enters the
 * cache when that destage ends. */
static void a_write_waits_for_room_in_the_cache(void **st)
{
	struct drive_config cfg = disk;
	struct drive_end e;
	weft_time_t move = 2621440 * WEFT_NS, media = 4369066666667;
	struct drive *d;

	cfg.cache = 512 * KB;
	d = rig_new(&cfg);
	for (int i = 0; i < 4; i++)
		rig_put(d, 0, DRIVE_WRITE, 256 * KB * i, 256 * KB, buf[i]);
	assert_int_equal(rig_end(d, &e), move);
	assert_int_equal(rig_end(d, &e), 2 * move);
	for (int i = 1; i < 3; i++) {
		assert_int_equal(rig_end(d, &e), move + i * media + move);
		assert_ptr_equal(e.ctx, buf[i + 1]);
	}
	drive_free(d);
}

/* The small third write would have room as soon as the first write is
 * destaged. */
static void later_writes_do_not_pass_one_that_waits_for_room(void **st)
{
	struct drive_config cfg = disk;
	struct drive_end e;
	struct drive *d;

	cfg.cache = 256 * KB;
	d = rig_new(&cfg);
	rig_put(d, 0, DRIVE_WRITE, 0, 192 * KB, buf[0]);
	rig_put(d, 0, DRIVE_WRITE, 256 * KB, 256 * KB, buf[1]);
	rig_put(d, 0, DRIVE_WRITE, 512 * KB, 512, buf[2]);
	for (int i = 0; i < 3; i++) {
		rig_end(d, &e);
		assert_ptr_equal(e.ctx, buf[i]);
	}
	drive_free(d);
}

static void a_write_larger_than_the_cache_goes_to_the_medium(void **st)
{
	struct drive_config cfg = disk;
	struct drive *d;

	cfg.cache = 512;
	d = rig_new(&cfg);
	assert_int_equal(rig_do(d, 0, DRIVE_WRITE, 0, N, buf), MEDIA);
	assert_int_equal(drive_stats(d).cached_bytes, 0);
	drive_free(d);
}

static void fua_waits_for_the_medium(void **st)
{
	struct drive_config cfg = disk;
	struct drive_request r = { DRIVE_WRITE, true, 0, N, buf, buf };
	struct drive_end e;
	struct drive *d;

	cfg.cache = 1 << 20;
	d = rig_new(&cfg);
	assert_true(drive_submit(d, 0, &r));
	assert_int_equal(rig_end(d, &e), MEDIA);
	drive_free(d);
}

/* A destage that has begun is not interrupted. The next destage waits for the
 * read. */
static void a_read_goes_before_a_destage_that_has_not_begun(void **st)
{
	struct drive_config cfg = flash;
	weft_time_t one = 60 * WEFT_US + 2048 * WEFT_NS;
	struct drive_end e;
	struct drive *d;

	cfg.cache = 1 << 20;
	cfg.channels = 1;
	d = rig_new(&cfg);
	rig_put(d, 0, DRIVE_WRITE, 0, 4096, buf[0]);
	rig_put(d, 0, DRIVE_WRITE, 8192, 4096, buf[1]);
	assert_int_equal(rig_end(d, &e), 0);
	assert_int_equal(rig_end(d, &e), 0);
	rig_put(d, 1, DRIVE_READ, 65536, 4096, buf[2]);
	assert_int_equal(rig_end(d, &e), 2 * one);
	assert_int_equal(rig_do(d, 2 * one, DRIVE_FLUSH, 0, 0, buf), 3 * one);
	drive_free(d);
}

/* Writes go to the blocks 3, 2, 1, 0. Destaging in that order would take three
 * seeks. */
static void destaging_goes_up_like_a_lift(void **st)
{
	struct drive_config cfg = disk;
	struct drive *d;

	cfg.cache = 1 << 20;
	cfg.interface_rate = 0;
	d = rig_new(&cfg);
	for (uint64_t at = 3; at <= 3; at--)
		assert_int_equal(rig_do(d, 0, DRIVE_WRITE, at * N, N, buf[at]),
				 0);
	assert_int_equal(rig_do(d, 0, DRIVE_FLUSH, 0, 0, buf), 4 * MEDIA);
	drive_free(d);
}

static void a_trim_of_8_gb_pays_latency_alone(void **st)
{
	struct drive_config cfg = flash;
	struct drive *d;

	cfg.size = 16ull << 30;
	d = rig_new(&cfg);
	rig_do(d, 0, DRIVE_WRITE, 1ull << 30, 4096, memset(buf, 1, 4096));
	assert_int_equal(rig_do(d, WEFT_SEC, DRIVE_TRIM, 0, 8ull << 30, buf),
			 WEFT_SEC + 60 * WEFT_US);
	rig_has(d, WEFT_SEC * 2, 1ull << 30, 4096, 0);
	drive_free(d);
}

static void zeroes_pay_the_media_rate(void **st)
{
	struct drive *d = rig_new(&disk);

	assert_int_equal(rig_do(d, 0, DRIVE_ZERO, 0, N, buf), MEDIA);
	drive_free(d);
}

static void a_cached_trim_ends_at_once(void **st)
{
	struct drive_config cfg = flash;
	struct drive *d;

	cfg.cache = 4096;
	d = rig_new(&cfg);
	assert_int_equal(rig_do(d, 7, DRIVE_TRIM, 0, 1 << 20, buf), 7);
	assert_int_equal(rig_do(d, 7, DRIVE_FLUSH, 0, 0, buf),
			 7 + 60 * WEFT_US);
	drive_free(d);
}

static void a_drive_without_limits_ends_at_once(void **st)
{
	struct drive_config cfg = {
		.size = 1 << 20, .sector = 512, .queue = 1, .channels = 1
	};
	struct drive *d = rig_new(&cfg);

	assert_int_equal(rig_do(d, 5, DRIVE_WRITE, 0, N, buf), 5);
	assert_int_equal(rig_do(d, 5, DRIVE_READ, 0, N, buf), 5);
	assert_int_equal(rig_do(d, 5, DRIVE_FLUSH, 0, 0, buf), 5);
	assert_int_equal(drive_next(d), WEFT_NEVER);
	drive_free(d);
}

/* A request whose end is beyond 2^64 fs never ends (WEFT_NEVER). */
static void requests_at_the_end_of_2_to_the_64_do_not_overflow(void **st)
{
	struct drive_config cfg = disk;
	uint64_t last = UINT64_MAX - 511 - N;
	struct drive_end e;
	struct drive *d;

	cfg.size = UINT64_MAX - 511;
	d = rig_new(&cfg);
	assert_int_equal(
		(rig_do(d, 0, DRIVE_WRITE, last, N, memset(buf, 7, N)) + 1) /
			WEFT_NS,
		(19 * WEFT_MS + MEDIA) / WEFT_NS);
	rig_has(d, WEFT_SEC, last, N, 7);
	rig_do(d, 2 * WEFT_SEC, DRIVE_TRIM, 0, cfg.size, buf);
	rig_has(d, 2 * WEFT_SEC, last, N, 0);
	rig_put(d, 3 * WEFT_SEC, DRIVE_ZERO, 0, cfg.size, buf);
	assert_int_equal(drive_next(d), WEFT_NEVER);
	assert_false(drive_poll(d, 4 * WEFT_SEC, &e));
	assert_false(drive_power_lost(d, 5 * WEFT_SEC));
	rig_has(d, 6 * WEFT_SEC, 0, N, 0);
	drive_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sequential_read_pays_media_rate_alone),
		cmocka_unit_test(a_read_far_away_pays_seek_and_half_a_turn),
		cmocka_unit_test(a_slow_interface_bounds_a_read),
		cmocka_unit_test(a_slow_interface_bounds_a_write),
		cmocka_unit_test(channels_serve_requests_at_the_same_time),
		cmocka_unit_test(a_write_without_cache_ends_on_the_medium),
		cmocka_unit_test(
			a_cached_write_ends_when_the_interface_has_moved_it),
		cmocka_unit_test(a_read_of_cached_bytes_skips_the_mechanics),
		cmocka_unit_test(a_cached_write_does_not_wait_for_a_seek),
		cmocka_unit_test(a_write_uses_a_gap_of_exactly_its_length),
		cmocka_unit_test(a_write_waits_for_room_in_the_cache),
		cmocka_unit_test(
			later_writes_do_not_pass_one_that_waits_for_room),
		cmocka_unit_test(
			a_write_larger_than_the_cache_goes_to_the_medium),
		cmocka_unit_test(fua_waits_for_the_medium),
		cmocka_unit_test(
			a_read_goes_before_a_destage_that_has_not_begun),
		cmocka_unit_test(destaging_goes_up_like_a_lift),
		cmocka_unit_test(a_trim_of_8_gb_pays_latency_alone),
		cmocka_unit_test(zeroes_pay_the_media_rate),
		cmocka_unit_test(a_cached_trim_ends_at_once),
		cmocka_unit_test(a_drive_without_limits_ends_at_once),
		cmocka_unit_test(
			requests_at_the_end_of_2_to_the_64_do_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
