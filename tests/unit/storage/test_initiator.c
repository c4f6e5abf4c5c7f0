/* SPDX-License-Identifier: Apache-2.0 */
/* An initiator whose target restarts. */
#include <errno.h>

#include "../cmocka_all.h"
#include "base/minmax.h"
#include "fake.h"
#include "storage/initiator.h"
#include "storage/target_internal.h"

enum { TIMEOUT = 100, /* us */ TRIES = 4, BYTES = 4096, BLOCKS = 256 };
enum { CLIENT, TARGET = 2 };
enum { BUSY = 1 };

static struct {
	struct drive *drive;
	struct storage_target *t;
	struct weft_disk *d;
	weft_time_t every,
		restart; /* WEFT_NEVER: the target does not restart */
	uint8_t mem[BYTES];
	int ends[BLOCKS]; /* status of each request, or BUSY */
} run;

/* Advances the time to the next event, but not beyond `to`, and polls the
 * target. */
static void step(weft_time_t to)
{
	weft_time_t asleep = fake_asleep(TARGET);

	to = min_of(to, run.restart);
	if (asleep <= fake_now())
		to = min_of(to, drive_next(run.drive));
	else
		to = min_of(to, asleep);
	fake_step(max_of(to, fake_now()));
	if (fake_now() >= run.restart) {
		run.restart = fake_now() + run.every;
		storage_target_restart(run.t, 0, false);
	}
	if (fake_asleep(TARGET) <= fake_now())
		storage_target_serve(run.t, 0, fake_now());
}

/* Opens a disk on a target whose drive needs `latency` for a request. */
static void disk_make(weft_time_t latency)
{
	const struct storage_target_attr ta = { .max_request = BYTES,
						.staging = 32 * BYTES,
						.read_pool = 32 * BYTES,
						.piece = BYTES };
	const struct drive_config cfg = { .size = BLOCKS * BYTES,
					  .sector = 512,
					  .queue = 4,
					  .channels = 4,
					  .latency = latency };
	const struct weft_disk_attr da = { .targets = 1,
					   .target = { TARGET },
					   .tries = TRIES,
					   .timeout = TIMEOUT * WEFT_US };
	char why[200];

	fake_reset(1);
	fake_others = step;
	fake_rules = (struct fake_rules){ .ordered = true,
					  .bytes = true,
					  .max_put = BYTES,
					  .room = 40,
					  .delay = WEFT_US };
	run.restart = WEFT_NEVER;
	run.drive = drive_new(&cfg, why, sizeof(why));
	assert_non_null(run.drive);
	assert_int_equal(
		storage_target_new(fake_host(TARGET), &ta, run.drive, &run.t),
		0);
	assert_int_equal(weft_disk_open(fake_host(CLIENT), &da, &run.d), 0);
}

static void disk_free(void)
{
	run.restart = WEFT_NEVER;
	weft_disk_close(run.d);
	storage_target_free(run.t);
	drive_free(run.drive);
	fake_end();
}

/* Submits a request for block `at`. */
static void submit(enum weft_disk_code code, uint64_t at)
{
	struct weft_disk_seg seg = { run.mem, BYTES };
	const struct weft_disk_op op = { .code = code,
					 .offset = at * BYTES,
					 .length = BYTES,
					 .seg = &seg,
					 .segs = 1,
					 .ctx = &run.ends[at] };

	run.ends[at] = BUSY;
	assert_int_equal(weft_disk_submit(run.d, &op), 0);
}

/* Lets requests end until `to`. */
static void work(weft_time_t to)
{
	struct weft_disk_event ev;

	do {
		weft_disk_wait(run.d, to);
		while (weft_disk_poll(run.d, &ev, 1))
			*(int *)ev.ctx = ev.status;
	} while (fake_now() < to);
}

static const enum weft_disk_code codes[] = { WEFT_DISK_READ, WEFT_DISK_WRITE,
					     WEFT_DISK_ZERO };

/* After each restart the target has no session, and the next request begins
 * one. No session lasts long enough for a request to complete. The time-outs of
 * four attempts are 1, 2, 4 and 8 times the first time-out. */
static void a_request_ends_though_sessions_begin_for_ever(void **state)
{
	for (uint32_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		disk_make(WEFT_MS);
		run.every = TIMEOUT / 2 * WEFT_US;
		run.restart = fake_now() + run.every;
		for (uint32_t k = 0; k < 2 * 15; k++) {
			submit(codes[i], k);
			work(fake_now() + run.every);
		}
		assert_true(weft_disk_stats(run.d).sessions > 15);
		assert_int_equal(run.ends[0], -ETIMEDOUT);
		disk_free();
	}
}

/* The target restarts before it has served the first request. The second
 * request begins a session, and the first one is sent again. */
static void a_new_session_gives_a_request_a_new_time_out(void **state)
{
	for (uint32_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		disk_make(TIMEOUT * 7 / 10 * WEFT_US);
		submit(codes[i], 0);
		run.every = WEFT_SEC;
		run.restart = fake_now() + TIMEOUT / 2 * WEFT_US;
		work(fake_now() + TIMEOUT * 6 / 10 * WEFT_US);
		submit(codes[i], 1);
		work(fake_now() + WEFT_MS);
		assert_int_equal(run.ends[0], 0);
		assert_int_equal(run.ends[1], 0);
		assert_int_equal(weft_disk_stats(run.d).sessions, 1);
		assert_int_equal(weft_disk_stats(run.d).retries, 0);
		disk_free();
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_ends_though_sessions_begin_for_ever),
		cmocka_unit_test(a_new_session_gives_a_request_a_new_time_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
