/* SPDX-License-Identifier: Apache-2.0 */
/* Model of a disk's bytes (storage/shadow.h): versions of a sector that are
 * allowed, and versions that show a loss. */
#include <stdlib.h>

#include "../cmocka_all.h"
#include "storage/shadow.h"

enum { SECTOR = 512, FAILED = 254 };

/* Stands for the host of a program. All memory must come from it. */
static char host;
#define HOST ((struct weft_host *)(void *)&host)

void *weft_host_calloc(struct weft_host *h, size_t n, size_t size)
{
	assert_ptr_equal(h, HOST);
	return calloc(n, size);
}

void weft_host_free(struct weft_host *h, void *p)
{
	assert_ptr_equal(h, HOST);
	free(p);
}

/* A drive reports `version` after a write of version 1 that succeeded and
 * FAILED later writes that failed. Returns true if this version is not a loss,
 * so that a FLUSH may report none. */
static bool harmless(uint32_t version)
{
	struct shadow *s = shadow_new(HOST, 1, SECTOR, true);
	uint8_t bytes[SECTOR];
	bool ok;

	shadow_wrote(s, 0, 1, shadow_version(s), SHADOW_ENDED);
	for (uint32_t i = 0; i < FAILED; i++)
		shadow_wrote(s, 0, 1, shadow_version(s), SHADOW_MAYBE);
	shadow_fill(s, bytes, 0, 1, version);
	assert_int_equal(shadow_check(s, bytes, 0, 1), -1);
	ok = shadow_flushed(s, shadow_flush(s), false);
	shadow_free(s);
	return ok;
}

/* Each failed write may have happened or not. Therefore the drive may hold the
 * version of any failed write, or the last version before them, but no older
 * one. */
static void a_version_older_than_failed_writes_allow_is_a_loss(void **st)
{
	assert_true(harmless(FAILED + 1));
	assert_true(harmless(1));
	assert_false(harmless(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_version_older_than_failed_writes_allow_is_a_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
