/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for tests of a drive. */
#ifndef TESTS_STORAGE_RIG_H
#define TESTS_STORAGE_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cmocka_all.h"
#include "storage/drive.h"

#define KB	 1024ull
#define MBIT(mb) ((mb)*8000000ull) /* MB/s as bit/s */

/* Returns a new drive. Fails the test if the drive refuses its parameters. */
static inline struct drive *rig_new(const struct drive_config *cfg)
{
	char why[256] = "";
	struct drive *d = drive_new(cfg, why, sizeof(why));

	if (!d)
		fail_msg("%s", why);
	return d;
}

/* Submits a request. The drive must have room for it. */
static inline void rig_put(struct drive *d, weft_time_t now,
			   enum drive_code code, uint64_t at, uint64_t len,
			   void *data)
{
	struct drive_request r = { .code = code,
				   .offset = at,
				   .length = len,
				   .data = data,
				   .ctx = data };

	assert_true(drive_submit(d, now, &r));
}

/* Waits for the end of the next request and writes it to *e. Returns the time
 * of the end. */
static inline weft_time_t rig_end(struct drive *d, struct drive_end *e)
{
	weft_time_t t = drive_next(d);

	assert_true(t != WEFT_NEVER);
	assert_true(drive_poll(d, t, e));
	return t;
}

/* Submits a request and waits for its end. Fails the test if the status is not
 * 0. Returns the time of the end. */
static inline weft_time_t rig_do(struct drive *d, weft_time_t now,
				 enum drive_code code, uint64_t at,
				 uint64_t len, void *data)
{
	struct drive_end e;
	weft_time_t t;

	rig_put(d, now, code, at, len, data);
	t = rig_end(d, &e);
	assert_int_equal(e.status, 0);
	assert_ptr_equal(e.ctx, data);
	return t;
}

/* Checks that a range has one value in each byte. */
static inline void rig_has(struct drive *d, weft_time_t now, uint64_t at,
			   size_t len, uint8_t value)
{
	uint8_t *p = malloc(len);

	rig_do(d, now, DRIVE_READ, at, len, p);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(p[i], value);
	free(p);
}

#endif
