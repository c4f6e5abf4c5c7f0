/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that a process makes of its own memory (attach/copy.h). One process
 * answers a request at once, another process sends one byte at a time. */
#include "../cmocka_all.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/copy.h"
#include "attach/copy_wire.h"
#include "host/process_memory.h"

enum { BYTES = 100 };
#define MS 1000000ull

static uint8_t area[BYTES];

/* Answers every request, with a pause of `us` between its bytes. */
static void answer(int fd, uint32_t us)
{
	struct att_copy_ask q;

	while (att_copy_io(fd, &q, sizeof(q), false, 0))
		for (uint32_t i = 0; i < q.n; i++) {
			if (us)
				usleep(us);
			if (!att_copy_io(fd, &area[i], 1, true, 0))
				_exit(0);
		}
	_exit(0);
}

static int copied(uint32_t us, uint64_t patience_ns, uint8_t *buf)
{
	struct weft_far_owner o = { .pid = getpid() };
	int fd = att_copy_new(&o, patience_ns), ret;
	pid_t pid;

	assert_true(fd >= 0);
	pid = fork();
	if (!pid) {
		close(o.fd);
		answer(fd, us);
	}
	close(fd);
	ret = o.copy(o.arg, (uintptr_t)area, buf, BYTES, false);
	att_copy_free(&o);
	waitpid(pid, NULL, 0);
	return ret;
}

static void copy_arrives_from_a_process_that_answers(void **state)
{
	uint8_t buf[BYTES] = { 0 };

	assert_int_equal(copied(0, 60000 * MS, buf), 0);
	assert_memory_equal(buf, area, BYTES);
}

/* The time-out is for the whole piece. Each byte arrives within the time-out,
 * but the whole piece does not, therefore the copy fails. */
static void patience_is_for_the_whole_piece(void **state)
{
	uint8_t buf[BYTES];

	assert_int_equal(copied(3000, 30 * MS, buf), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copy_arrives_from_a_process_that_answers),
		cmocka_unit_test(patience_is_for_the_whole_piece),
	};

	for (uint32_t i = 0; i < BYTES; i++)
		area[i] = (uint8_t)(3 * i + 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
