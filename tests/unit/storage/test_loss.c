/* SPDX-License-Identifier: Apache-2.0 */
/* Which losses of a drive's cache an initiator reports. Two initiators use one
 * drive. The second initiator leaves written bytes in the cache, so that each
 * loss of power loses bytes. */
#include <errno.h>
#include <string.h>

#include "../cmocka_all.h"
#include "base/minmax.h"
#include "fake.h"
#include "storage/initiator.h"
#include "storage/target.h"

enum { CLIENTS = 2, TARGET = 2, SECTOR = 512, BAD = 90 };
enum { BUSY = 1 };

static struct {
	struct drive *drive;
	struct storage_target *t;
	struct weft_disk *d[CLIENTS];
	uint8_t mem[SECTOR];
} run;

static void step(weft_time_t to)
{
	fake_step(max_of(min_of(to, drive_next(run.drive)), fake_now()));
	if (fake_asleep(TARGET) <= fake_now())
		storage_target_serve(run.t, 0, fake_now());
}

static int setup(void **state)
{
	const struct storage_target_attr ta = { .max_request = 4096,
						.staging = 8192,
						.read_pool = 8192,
						.piece = FAKE_PUT };
	const struct drive_config cfg = { .size = 65536,
					  .sector = SECTOR,
					  .queue = 4,
					  .channels = 1,
					  .latency = 10 * WEFT_US,
					  .bad = "90",
					  .cache = 1 << 20 };
	const struct weft_disk_attr da = { .targets = 1,
					   .target = { TARGET },
					   .timeout = WEFT_MS };
	char why[200];

	memset(&run, 0, sizeof(run));
	fake_reset(1);
	fake_others = step;
	fake_rules = (struct fake_rules){ .ordered = true,
					  .bytes = true,
					  .max_put = FAKE_PUT,
					  .room = 4000,
					  .delay = WEFT_US };
	run.drive = drive_new(&cfg, why, sizeof(why));
	assert_non_null(run.drive);
	assert_int_equal(
		storage_target_new(fake_host(TARGET), &ta, run.drive, &run.t),
		0);
	for (uint32_t i = 0; i < CLIENTS; i++)
		assert_int_equal(weft_disk_open(fake_host(i), &da, &run.d[i]),
				 0);
	return 0;
}

static int teardown(void **state)
{
	for (uint32_t i = 0; i < CLIENTS; i++)
		weft_disk_close(run.d[i]);
	storage_target_free(run.t);
	drive_free(run.drive);
	fake_end();
	return 0;
}

/* Executes a request for one sector. Returns its status. */
static int carry_out(uint32_t client, enum weft_disk_code code, uint32_t flags,
		     uint64_t sector)
{
	struct weft_disk_seg seg = { run.mem, SECTOR };
	struct weft_disk_op op = { .code = code, .flags = flags };
	struct weft_disk_event ev;

	if (code != WEFT_DISK_FLUSH) {
		op.offset = sector * SECTOR;
		op.length = SECTOR;
		op.seg = &seg;
		op.segs = 1;
	}
	assert_int_equal(weft_disk_submit(run.d[client], &op), 0);
	while (!weft_disk_poll(run.d[client], &ev, 1))
		step(disk_next(run.d[client]));
	return ev.status;
}

enum { READ, WRITE, SAFE, TRIM, ZERO, SAFE_ZERO, FLUSH, WRONG, END };

static int act(uint32_t client, int what)
{
	static const struct {
		enum weft_disk_code code;
		uint32_t flags;
		uint64_t sector;
	} ops[] = {
		[READ] = { WEFT_DISK_READ, 0, 1 },
		[WRITE] = { WEFT_DISK_WRITE, 0, 1 },
		[SAFE] = { WEFT_DISK_WRITE, WEFT_DISK_FUA, 1 },
		[TRIM] = { WEFT_DISK_TRIM, 0, 1 },
		[ZERO] = { WEFT_DISK_ZERO, 0, 1 },
		[SAFE_ZERO] = { WEFT_DISK_ZERO, WEFT_DISK_FUA, 1 },
		[FLUSH] = { WEFT_DISK_FLUSH, 0, 0 },
		[WRONG] = { WEFT_DISK_READ, 0, BAD },
	};

	return carry_out(client, ops[what].code, ops[what].flags,
			 ops[what].sector);
}

/* Only bytes that were written, and that no FLUSH has covered, can be lost. */
static void
a_loss_is_reported_by_the_initiator_whose_bytes_are_lost(void **state)
{
	static const struct {
		int ops[4], status;
	} rows[] = {
		{ { END }, 0 },
		{ { READ, END }, 0 },
		{ { WRONG, END }, 0 },
		{ { FLUSH, END }, 0 },
		{ { WRITE, END }, -ESTALE },
		{ { TRIM, END }, -ESTALE },
		{ { ZERO, END }, -ESTALE },
		{ { SAFE, END }, 0 },
		{ { SAFE_ZERO, END }, 0 },
		{ { WRITE, FLUSH, END }, 0 },
		{ { TRIM, FLUSH, END }, 0 },
		{ { WRITE, FLUSH, WRITE, END }, -ESTALE },
		{ { WRITE, FLUSH, READ, END }, 0 },
		{ { WRITE, SAFE, READ, END }, -ESTALE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		for (uint32_t k = 0; rows[i].ops[k] != END; k++)
			assert_int_equal(act(0, rows[i].ops[k]),
					 rows[i].ops[k] == WRONG ? -EIO : 0);
		assert_int_equal(carry_out(1, WEFT_DISK_WRITE, 0, 7), 0);
		storage_target_restart(run.t, WEFT_US, true);
		if (act(0, FLUSH) != rows[i].status)
			fail_msg("row %zu", i);
		assert_int_equal(act(1, FLUSH), -ESTALE);
		/* an event has told of the loss */
		assert_int_equal(act(0, FLUSH), 0);
		assert_int_equal(act(1, FLUSH), 0);
	}
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T(a_loss_is_reported_by_the_initiator_whose_bytes_are_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
