/* SPDX-License-Identifier: Apache-2.0 */
/* An initiator of two targets, of which one vanishes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../cmocka_all.h"
#include "base/minmax.h"
#include "fake.h"
#include "storage/initiator.h"
#include "storage/target.h"

enum {
	CLIENT,
	FIRST = 2, /* node of the first target */
	TARGETS = 2,
	STRIPE = 65536, /* also bytes of the largest part */
	STRIPES = 2 * DISK_BOUNCE / STRIPE,
	/* requests that wait at a target: all tags, and one request more */
	JOBS = STORAGE_DEPTH + 1,
};
enum { BUSY = 1 };

struct job {
	struct weft_disk_seg seg;
	uint32_t target;
	int status; /* BUSY until the request has ended */
};

static struct {
	struct drive *drive[TARGETS];
	struct storage_target *t[TARGETS];
	struct weft_disk *d;
	uint8_t *mem;
	struct job job[TARGETS * JOBS];
	uint32_t jobs;
} run;

static void step(weft_time_t to)
{
	for (uint32_t i = 0; i < TARGETS; i++)
		to = min_of(to, drive_next(run.drive[i]));
	fake_step(max_of(to, fake_now()));
	for (uint32_t i = 0; i < TARGETS; i++)
		storage_target_serve(run.t[i], 0, fake_now());
}

/* Opens a disk on targets whose drives answer after a second. */
static int setup(void **state)
{
	const struct storage_target_attr ta = { .max_request = STRIPE,
						.staging = 2 * DISK_BOUNCE,
						.read_pool = 2 * DISK_BOUNCE,
						.piece = FAKE_PUT };
	const struct drive_config cfg = { .size = STRIPES * STRIPE,
					  .sector = 512,
					  .queue = 1,
					  .channels = 1,
					  .latency = WEFT_SEC };
	const struct weft_disk_attr da = { .targets = TARGETS,
					   .target = { FIRST, FIRST + 1 },
					   .stripe = STRIPE,
					   .timeout = 1000 * WEFT_SEC };
	char why[200];

	memset(&run, 0, sizeof(run));
	fake_reset(1);
	fake_others = step;
	fake_rules = (struct fake_rules){ .ordered = true,
					  .bytes = true,
					  .max_put = FAKE_PUT,
					  .room = 4000,
					  .delay = WEFT_US };
	for (uint32_t i = 0; i < TARGETS; i++) {
		run.drive[i] = drive_new(&cfg, why, sizeof(why));
		assert_non_null(run.drive[i]);
		assert_int_equal(storage_target_new(fake_host(FIRST + i), &ta,
						    run.drive[i], &run.t[i]),
				 0);
	}
	assert_int_equal(weft_disk_open(fake_host(CLIENT), &da, &run.d), 0);
	run.mem = malloc(STRIPE);
	return 0;
}

static int teardown(void **state)
{
	weft_disk_close(run.d);
	for (uint32_t i = 0; i < TARGETS; i++) {
		storage_target_free(run.t[i]);
		drive_free(run.drive[i]);
	}
	fake_end();
	free(run.mem);
	return 0;
}

/* Submits a READ of so many bytes of a target. */
static struct job *read_of(uint32_t target, size_t bytes)
{
	struct job *j = &run.job[run.jobs++];
	const struct weft_disk_op op = { .code = WEFT_DISK_READ,
					 .offset = (uint64_t)target * STRIPE,
					 .length = bytes,
					 .seg = &j->seg,
					 .segs = 1,
					 .ctx = j };

	*j = (struct job){ { run.mem, bytes }, target, BUSY };
	assert_int_equal(weft_disk_submit(run.d, &op), 0);
	return j;
}

static void poll(void)
{
	struct weft_disk_event ev;

	while (weft_disk_poll(run.d, &ev, 1))
		((struct job *)ev.ctx)->status = ev.status;
}

/* Checks that the requests to the target that vanished have ended, and no
 * others. */
static void gone_ended(uint32_t gone)
{
	for (uint32_t i = 0; i < run.jobs; i++)
		assert_int_equal(run.job[i].status,
				 run.job[i].target == gone ? -ENODEV : BUSY);
}

/* All tags of each target are in use, and one request to each waits for a
 * tag. */
static void requests_to_a_target_end_when_it_vanishes(void **state)
{
	for (uint32_t i = 0; i < JOBS; i++)
		for (uint32_t k = 0; k < TARGETS; k++)
			read_of(k, 512);
	poll();
	gone_ended(TARGETS);
	fake_gone(FIRST + 1);
	poll();
	gone_ended(1);
}

/* Requests to the first target use all bounce memory, so that a request to the
 * second target must wait. */
static void a_request_without_memory_ends_when_its_target_vanishes(void **state)
{
	for (uint32_t i = 0; i < DISK_BOUNCE / STRIPE; i++)
		read_of(0, STRIPE);
	read_of(1, STRIPE);
	poll();
	gone_ended(TARGETS);
	fake_gone(FIRST + 1);
	poll();
	gone_ended(1);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T(requests_to_a_target_end_when_it_vanishes),
		T(a_request_without_memory_ends_when_its_target_vanishes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
