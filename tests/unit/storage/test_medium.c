/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes in memory and in a sparse file. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rig.h"

#define SIZE (1ull << 20)

static char path[64];
static uint8_t buf[256 * 1024];

/* Most bytes that the file system moves in one call. It also interrupts every
 * other call. 0: no such limits. */
static size_t in_parts;
static uint32_t calls;

static bool interrupted(size_t *n)
{
	if (!in_parts)
		return false;
	*n = *n < in_parts ? *n : in_parts;
	errno = EINTR;
	return calls++ % 2;
}

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
	return interrupted(&n) ? -1 : syscall(SYS_pread64, fd, p, n, at);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
	return interrupted(&n) ? -1 : syscall(SYS_pwrite64, fd, p, n, at);
}

static int setup(void **st)
{
	in_parts = 0;
	snprintf(path, sizeof(path), "medium-%d.img", (int)getpid());
	unlink(path);
	return 0;
}

static int teardown(void **st)
{
	unlink(path);
	return 0;
}

static struct medium *open_at(const char *where, uint64_t size)
{
	char why[256] = "";
	struct medium *m = medium_new(where, size, why, sizeof(why));

	if (!m)
		fail_msg("%s", why);
	return m;
}

static void refused(const char *where, uint64_t size, const char *text)
{
	char why[256] = "";

	assert_null(medium_new(where, size, why, sizeof(why)));
	if (!strstr(why, text))
		fail_msg("'%s' is not in: %s", text, why);
}

static void put(struct medium *m, uint64_t at, size_t n, uint8_t value)
{
	memset(buf, value, n);
	assert_int_equal(medium_write(m, at, buf, n), 0);
}

static void has(struct medium *m, uint64_t at, size_t n, uint8_t value)
{
	memset(buf, ~value, n);
	assert_int_equal(medium_read(m, at, buf, n), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(buf[i], value);
}

/* Zeroes ranges across borders of the medium's pieces, with whole pieces in the
 * middle. */
static void zeros_cut(struct medium *m)
{
	has(m, 0, sizeof(buf), 0);
	put(m, 1000, 200000, 5);
	assert_true(medium_used(m) >= 200000);
	assert_int_equal(medium_zero(m, 60000, 75000), 0);
	has(m, 0, 1000, 0);
	has(m, 1000, 59000, 5);
	has(m, 60000, 75000, 0);
	has(m, 135000, 66000, 5);
	has(m, 201000, 1000, 0);
	assert_int_equal(medium_zero(m, 1024, 0), 0);
	assert_int_equal(medium_zero(m, 2000, 100), 0);
	has(m, 1000, 1000, 5);
	has(m, 2000, 100, 0);
	has(m, 2100, 1000, 5);
	assert_int_equal(medium_zero(m, 0, SIZE), 0);
	has(m, 0, sizeof(buf), 0);
	assert_int_equal(medium_sync(m), 0);
}

static void memory_holds_what_was_written_and_frees_zeros(void **st)
{
	struct medium *m = open_at("", SIZE);

	zeros_cut(m);
	assert_int_equal(medium_used(m), 0);
	put(m, SIZE - 1, 1, 9);
	assert_int_equal(medium_used(m), 65536);
	medium_free(m);
	m = open_at("", 70000); /* a size that is not a multiple of a piece */
	put(m, 69999, 1, 9);
	has(m, 69999, 1, 9);
	medium_free(m);
}

static void memory_reaches_to_2_to_the_64(void **st)
{
	struct medium *m = open_at("", UINT64_MAX - 511);
	uint64_t at[] = { 0, 1ull << 40, 1ull << 63, UINT64_MAX - 1023 };

	for (int i = 0; i < 4; i++)
		put(m, at[i], 512, (uint8_t)(i + 1));
	for (int i = 0; i < 4; i++)
		has(m, at[i], 512, (uint8_t)(i + 1));
	assert_int_equal(medium_used(m), 4 * 65536);
	assert_int_equal(medium_zero(m, 512, UINT64_MAX - 1535), 0);
	has(m, at[0], 512, 1);
	has(m, at[1], 512, 0);
	has(m, at[3], 512, 4);
	assert_int_equal(medium_zero(m, 0, UINT64_MAX - 511), 0);
	assert_int_equal(medium_used(m), 0);
	put(m, at[3], 512, 6);
	medium_free(m);
}

static void a_file_holds_what_was_written_and_frees_zeros(void **st)
{
	struct medium *m = open_at(path, SIZE);
	uint64_t used;

	zeros_cut(m);
	used = medium_used(m);
	put(m, 0, 131072, 1);
	assert_true(medium_used(m) >= used + 131072);
	assert_int_equal(medium_zero(m, 0, 131072), 0);
	assert_true(medium_used(m) <= used);
	medium_free(m);
}

static void a_file_keeps_its_bytes(void **st)
{
	struct medium *m = open_at(path, SIZE);
	struct stat st_;

	put(m, 12345, 1000, 3);
	medium_free(m);
	assert_int_equal(stat(path, &st_), 0);
	assert_int_equal(st_.st_size, SIZE);
	m = open_at(path, SIZE);
	has(m, 12345, 1000, 3);
	has(m, 0, 12345, 0);
	medium_free(m);
}

static void a_file_is_read_and_written_in_parts_of_any_length(void **st)
{
	static const size_t most[] = { 1, 100, 999, 4096 };
	uint8_t got[10000];

	for (size_t k = 0; k < sizeof(most) / sizeof(*most); k++) {
		struct medium *m = open_at(path, SIZE);

		for (size_t i = 0; i < sizeof(got); i++)
			buf[i] = (uint8_t)(i % 251 + i / 4096 + k);
		in_parts = most[k];
		assert_int_equal(medium_write(m, 777, buf, sizeof(got)), 0);
		in_parts = 0;
		assert_int_equal(medium_read(m, 777, got, sizeof(got)), 0);
		assert_memory_equal(got, buf, sizeof(got));
		memset(got, 0, sizeof(got));
		in_parts = most[k];
		assert_int_equal(medium_read(m, 777, got, sizeof(got)), 0);
		in_parts = 0;
		assert_memory_equal(got, buf, sizeof(got));
		has(m, 0, 777, 0);
		has(m, 777 + sizeof(got), 1000, 0);
		medium_free(m);
	}
}

static void a_file_of_another_size_is_refused(void **st)
{
	medium_free(open_at(path, SIZE));
	refused(path, SIZE * 2, "give the drive this size, or another file");
	refused(path, SIZE / 2, "has 1048576 bytes and the drive 524288");
	medium_free(open_at(path, SIZE));
}

static void an_empty_file_is_extended(void **st)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0600);

	close(fd);
	medium_free(open_at(path, SIZE));
	refused(path, 512, "has 1048576 bytes");
}

static void a_file_of_another_run_is_refused(void **st)
{
	struct medium *m = open_at(path, SIZE);

	refused(path, SIZE, "is the drive of another run");
	medium_free(m);
	medium_free(open_at(path, SIZE));
}

static void places_that_are_not_files_are_refused(void **st)
{
	refused("/", SIZE, "cannot be opened");
	refused("/dev/null", SIZE, "is not a regular file");
	refused("/nowhere/x", SIZE, "cannot be opened");
	refused(path, UINT64_MAX - 511, "give a smaller size");
}

static void limit(rlim_t bytes)
{
	struct rlimit r;

	getrlimit(RLIMIT_FSIZE, &r);
	r.rlim_cur = bytes < r.rlim_max ? bytes : r.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &r), 0);
}

static void a_file_that_cannot_grow_gives_enospc(void **st)
{
	struct medium *m = open_at(path, SIZE);

	signal(SIGXFSZ, SIG_IGN);
	limit(65536);
	memset(buf, 4, sizeof(buf));
	assert_int_equal(medium_write(m, 65536, buf, 512), -ENOSPC);
	assert_int_equal(medium_write(m, 65024, buf, 1024), -ENOSPC);
	assert_int_equal(medium_write(m, 0, buf, 512), 0);
	has(m, 0, 512, 4);
	limit(RLIM_INFINITY);
	assert_int_equal(medium_write(m, 65536, buf, 512), 0);
	medium_free(m);
	unlink(path);
	limit(512);
	refused(path, SIZE, "cannot have 1048576 bytes");
	limit(RLIM_INFINITY);
}

static void a_file_that_was_cut_gives_eio(void **st)
{
	struct medium *m = open_at(path, SIZE);

	assert_int_equal(truncate(path, 1000), 0);
	assert_int_equal(medium_read(m, 0, buf, 1000), 0);
	assert_int_equal(medium_read(m, 900, buf, 200), -EIO);
	medium_free(m);
}

/* ---- under a drive ---- */

static struct drive_config with_file(uint64_t cache)
{
	struct drive_config cfg = { .size = SIZE,
				    .sector = 512,
				    .queue = 4,
				    .channels = 1,
				    .cache = cache,
				    .latency = WEFT_US };

	snprintf(cfg.file, sizeof(cfg.file), "%s", path);
	return cfg;
}

static void a_drive_that_is_freed_leaves_its_cache_in_the_file(void **st)
{
	struct drive_config cfg = with_file(65536);
	struct drive *d = rig_new(&cfg);

	rig_do(d, 0, DRIVE_WRITE, 512, 1024, memset(buf, 8, 1024));
	rig_do(d, 0, DRIVE_WRITE, 4096, 1024, memset(buf, 9, 1024));
	drive_free(d);
	d = rig_new(&cfg);
	rig_has(d, 0, 512, 1024, 8);
	rig_has(d, WEFT_SEC, 4096, 1024, 9);
	drive_free(d);
}

static void a_write_to_a_full_file_system_ends_with_enospc(void **st)
{
	struct drive_config cfg = with_file(0);
	struct drive *d = rig_new(&cfg);
	struct drive_end e;

	limit(65536);
	rig_put(d, 0, DRIVE_WRITE, 65536, 512, buf);
	rig_end(d, &e);
	assert_int_equal(e.status, -ENOSPC);
	rig_put(d, WEFT_MS, DRIVE_FLUSH, 0, 0, buf);
	rig_end(d, &e);
	assert_int_equal(e.status, 0);
	limit(RLIM_INFINITY);
	drive_free(d);
}

/* The first flush waits for the write, which fails. The second flush is
 * submitted later, and reports the failure again. */
static void a_flush_reports_cached_writes_that_failed(void **st)
{
	struct drive_config cfg = with_file(65536);
	struct drive *d = rig_new(&cfg);
	struct drive_end e;

	limit(65536);
	rig_do(d, 0, DRIVE_WRITE, 65536, 512, buf);
	for (int i = 0; i < 2; i++) {
		rig_put(d, i * WEFT_SEC, DRIVE_FLUSH, 0, 0, buf);
		rig_end(d, &e);
		assert_int_equal(e.status, -ENOSPC);
	}
	limit(RLIM_INFINITY);
	drive_free(d);
}

static void a_read_of_a_file_that_was_cut_ends_with_eio(void **st)
{
	struct drive_config cfg = with_file(0);
	struct drive *d = rig_new(&cfg);
	struct drive_end e;

	assert_int_equal(truncate(path, 512), 0);
	rig_put(d, 0, DRIVE_READ, 512, 512, buf);
	rig_end(d, &e);
	assert_int_equal(e.status, -EIO);
	drive_free(d);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(memory_holds_what_was_written_and_frees_zeros),
		TEST(memory_reaches_to_2_to_the_64),
		TEST(a_file_holds_what_was_written_and_frees_zeros),
		TEST(a_file_keeps_its_bytes),
		TEST(a_file_is_read_and_written_in_parts_of_any_length),
		TEST(a_file_of_another_size_is_refused),
		TEST(an_empty_file_is_extended),
		TEST(a_file_of_another_run_is_refused),
		TEST(places_that_are_not_files_are_refused),
		TEST(a_file_that_cannot_grow_gives_enospc),
		TEST(a_file_that_was_cut_gives_eio),
		TEST(a_drive_that_is_freed_leaves_its_cache_in_the_file),
		TEST(a_write_to_a_full_file_system_ends_with_enospc),
		TEST(a_flush_reports_cached_writes_that_failed),
		TEST(a_read_of_a_file_that_was_cut_ends_with_eio),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
