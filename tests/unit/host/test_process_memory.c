/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of another process: a child executes commands on its own copy of
 * `area`, which the test reads and writes through a shadow. */
#include "../cmocka_all.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pidfd.h"
#include "host/process_memory_internal.h"

enum { MIB = 1 << 20, AREA = 5 * MEM_PAGE, SKEW = 24 };

struct order {
	/* command to the child. r: report byte `at`. w: store `val` at `at`. u:
	 * unmap the third page. */
	char what;
	uint32_t at;
	uint8_t val;
};

struct child {
	struct weft_far_owner owner;
	uint8_t *area;
	int to, from;
};

static void child_main(uint8_t *area, int in, int out)
{
	struct order o;

	while (read(in, &o, sizeof(o)) == sizeof(o)) {
		if (o.what == 'w')
			area[o.at] = o.val;
		else if (o.what == 'u')
			munmap(area + 2 * MEM_PAGE, MEM_PAGE);
		o.val = o.what == 'r' ? area[o.at] : 0;
		if (write(out, &o.val, 1) != 1)
			break;
	}
	_exit(0);
}

static int child_start(void **state)
{
	struct child *c = calloc(1, sizeof(*c));
	int to[2], from[2];

	assert_int_equal(pipe(to) | pipe(from), 0);
	c->area = mmap(NULL, AREA, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(c->area != MAP_FAILED);
	c->owner.pid = fork();
	assert_true(c->owner.pid >= 0);
	if (!c->owner.pid) {
		close(to[1]);
		child_main(c->area, to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	c->to = to[1];
	c->from = from[0];
	c->owner.strict = true;
	*state = c;
	return 0;
}

static int child_end(void **state)
{
	struct child *c = *state;

	close(c->to);
	close(c->from);
	waitpid(c->owner.pid, NULL, 0); /* a second wait does no harm */
	munmap(c->area, AREA);
	free(c);
	return 0;
}

static uint8_t tell(struct child *c, char what, uint32_t at, uint8_t val)
{
	struct order o = { .what = what, .at = at, .val = val };

	assert_int_equal(write(c->to, &o, sizeof(o)), sizeof(o));
	assert_int_equal(read(c->from, &o.val, 1), 1);
	return o.val;
}

/* Makes an access of a device. */
static void dma(struct mem *m, weft_phys_t phys, void *buf, size_t n,
		bool write)
{
	uint64_t k;

	for (size_t i = 0; i < n; i += k) {
		uint8_t *p;

		k = mem_piece(m, phys + i, n - i);
		p = mem_at(m, phys + i, k);
		assert_non_null(p);
		if (write)
			mem_copy(m, p, (uint8_t *)buf + i, k);
		else
			mem_copy(m, (uint8_t *)buf + i, p, k);
	}
}

static uint8_t *shadow_of(struct mem *m, struct child *c, weft_phys_t *phys_p)
{
	uint8_t *s;

	mem_init(m, 0, MIB);
	s = mem_far_add(m, &c->owner, (uintptr_t)c->area + SKEW, AREA - SKEW);
	assert_non_null(s);
	assert_int_equal((uintptr_t)s % MEM_PAGE, SKEW % 16);
	assert_true(mem_phys(m, s, phys_p));
	return s;
}

static void device_writes_and_reads_bytes_of_the_process(void **state)
{
	struct child *c = *state;
	uint8_t buf[3 * MEM_PAGE];
	weft_phys_t phys;
	struct mem m;

	shadow_of(&m, c, &phys);
	for (uint32_t i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t)(i * 7 + i / 256);
	dma(&m, phys + 100, buf, sizeof(buf), true);
	assert_int_equal(tell(c, 'r', SKEW + 99, 0), 0);
	for (uint32_t i = 0; i < sizeof(buf); i += 61)
		assert_int_equal(tell(c, 'r', SKEW + 100 + i, 0), buf[i]);
	assert_int_equal(tell(c, 'r', SKEW + 100 + sizeof(buf), 0), 0);
	/* the area of this process must not change */
	assert_int_equal(c->area[SKEW + 100], 0);
	tell(c, 'w', SKEW + 4097, 0xa5);
	dma(&m, phys, buf, sizeof(buf), false);
	assert_int_equal(buf[4097], 0xa5);
	assert_int_equal(buf[4098], (uint8_t)(3998 * 7 + 3998 / 256));
	/* Bytes in front of the shadow's range can be read too, in the same
	 * block of 16, because the shadow keeps the address modulo 16. */
	tell(c, 'w', SKEW - 5, 0x5a);
	dma(&m, phys - 8, buf, 8, false);
	assert_int_equal(buf[3], 0x5a);
	assert_int_equal(c->owner.faults, 0);
	mem_fini(&m);
}

static void copies_cross_between_memory_and_shadows(void **state)
{
	struct child *c = *state;
	uint8_t buf[2 * MEM_PAGE], *own, *a, *b;
	weft_phys_t phys;
	struct mem m;

	mem_init(&m, 0, MIB);
	own = mem_alloc(&m, MEM_PAGE, MEM_PAGE, &phys);
	a = mem_far_add(&m, &c->owner, (uintptr_t)c->area, MEM_PAGE);
	b = mem_far_add(&m, &c->owner, (uintptr_t)c->area + 3 * MEM_PAGE, 1);
	assert_ptr_equal(a, own + MEM_PAGE);
	assert_ptr_equal(b, a + MEM_PAGE);
	memset(buf, 0x11, sizeof(buf));
	mem_copy(&m, own + 4000, buf, sizeof(buf));
	assert_int_equal(own[3999], 0);
	assert_int_equal(own[4000], 0x11);
	assert_int_equal(tell(c, 'r', 4095, 0), 0x11);
	assert_int_equal(tell(c, 'r', 3 * MEM_PAGE + 3999, 0), 0x11);
	assert_int_equal(tell(c, 'r', 3 * MEM_PAGE + 4000, 0), 0);
	tell(c, 'w', 17, 0x22);
	mem_copy(&m, b, a, MEM_PAGE); /* copies from one shadow to another */
	assert_int_equal(tell(c, 'r', 3 * MEM_PAGE + 17, 0), 0x22);
	mem_copy(&m, own, b, 64);
	assert_int_equal(own[17], 0x22);
	assert_true(mem_far_del(&m, a + 5));
	assert_false(mem_far_del(&m, a));
	assert_true(mem_far_del(&m, b));
	assert_false(mem_far_del(&m, own));
	/* the pages are ordinary pages again */
	a = mem_alloc(&m, MEM_PAGE, MEM_PAGE, &phys);
	assert_ptr_equal(a, own + MEM_PAGE);
	for (uint32_t i = 0; i < MEM_PAGE; i++)
		assert_int_equal(a[i], 0);
	assert_null(mem_far_add(&m, &c->owner, 0, 0));
	assert_null(mem_far_add(&m, &c->owner, 0, 2 * MIB));
	assert_null(mem_far_add(&m, &c->owner, UINT64_MAX - 10, 100));
	mem_fini(&m);
}

static void access_to_a_hole_is_a_fault_not_a_death(void **state)
{
	struct child *c = *state;
	uint8_t buf[3 * MEM_PAGE];
	weft_phys_t phys;
	struct mem m;

	shadow_of(&m, c, &phys);
	tell(c, 'u', 0, 0);
	tell(c, 'w', SKEW, 0x77);
	/* an earlier call left this error, which must not count as an error of
	 * the next access */
	errno = EINTR;
	dma(&m, phys, buf, 64, false);
	assert_int_equal(buf[0], 0x77);
	assert_int_equal(c->owner.faults, 0);
	dma(&m, phys + 2 * MEM_PAGE, buf, 64, false);
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(buf[i], 0xff);
	assert_int_equal(c->owner.faults, 1);
	memset(buf, 0x33, sizeof(buf));
	dma(&m, phys, buf, sizeof(buf), true);
	assert_int_equal(c->owner.faults, 2);
	assert_int_equal(tell(c, 'r', SKEW, 0), 0x33);
	assert_int_equal(tell(c, 'r', 2 * MEM_PAGE - 1, 0), 0x33);
	assert_false(c->owner.dead);
	mem_fini(&m);
}

static void access_to_a_killed_process_gives_all_ones(void **state)
{
	struct child *c = *state;
	uint8_t buf[64] = { 0 };
	weft_phys_t phys;
	struct mem m;

	shadow_of(&m, c, &phys);
	kill(c->owner.pid, SIGKILL);
	waitpid(c->owner.pid, NULL, 0);
	dma(&m, phys, buf, 64, true);
	assert_true(c->owner.dead);
	dma(&m, phys, buf, 64, false);
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(buf[i], 0xff);
	assert_int_equal(c->owner.faults, 2);
	mem_fini(&m);
}

/* The process has ended, and a later process has the same process id. Therefore
 * accesses to its memory must not use the id. */
static void number_of_an_ended_process_reaches_no_other(void **state)
{
	struct child *c = *state;
	struct pidfd ended = { .pid = c->owner.pid };
	uint8_t buf[64] = { 0 };
	weft_phys_t phys;
	struct mem m;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	ended.fd = pidfd_open_pid(pid);
	waitpid(pid, NULL, 0);
	if (ended.fd < 0)
		skip();
	shadow_of(&m, c, &phys);
	dma(&m, phys, buf, 64, false);
	assert_int_equal(buf[SKEW], tell(c, 'r', SKEW, 0));
	c->owner.who = &ended;
	tell(c, 'w', 0, 77);
	dma(&m, phys, buf, 64, true);
	assert_true(c->owner.dead);
	dma(&m, phys, buf, 64, false);
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(buf[i], 0xff);
	assert_int_equal(tell(c, 'r', 0, 0), 77);
	pidfd_close(&ended);
	mem_fini(&m);
}

/* ---- a page at a time ---- */

static void bytes_of_devices_arrive_together_in_order(void **state)
{
	struct child *c = *state;
	uint8_t buf[64], *s;
	weft_phys_t phys;
	struct mem m;

	s = shadow_of(&m, c, &phys);
	/* makes more stores than a page collects */
	for (uint32_t i = 0; i < 100; i++) {
		memset(buf, (int)i + 1, sizeof(buf));
		mem_store(&m, s + 64 * i, buf, sizeof(buf));
	}
	assert_int_equal(tell(c, 'r', SKEW + 64 * 99, 0), 0);
	/* A second store to collected bytes must not be lost or overtaken.
	 * Therefore the memory first writes the collected bytes. */
	memset(buf, 0x77, 8);
	mem_store(&m, s + 64 * 99, buf, 8);
	mem_copy(&m, buf, s + 64 * 99, 16);
	assert_int_equal(buf[7], 0x77);
	assert_int_equal(buf[8], 100);
	mem_store(&m, s + 12800, buf, 8);
	mem_settled(&m);
	mem_settled(&m);
	for (uint32_t i = 0; i < 99; i++)
		assert_int_equal(tell(c, 'r', SKEW + 64 * i + 63, 0), i + 1);
	assert_int_equal(tell(c, 'r', SKEW + 64 * 99, 0), 0x77);
	assert_int_equal(tell(c, 'r', SKEW + 12807, 0), 0x77);
	assert_int_equal(tell(c, 'r', SKEW + 12808, 0), 0);
	assert_false(m.far_due);
	/* the owner settles its stores itself, therefore the memory has no
	 * store to write later */
	c->owner.settles = true;
	mem_store(&m, s + 64, buf, 1);
	assert_false(m.far_due);
	c->owner.settles = false;
	/* the removal of a shadow must not lose a collected store */
	mem_store(&m, s, buf, 1);
	assert_true(m.far_due);
	assert_true(mem_far_del(&m, s));
	assert_int_equal(tell(c, 'r', SKEW, 0), 0x77);
	assert_int_equal(c->owner.faults, 0);
	mem_fini(&m);
}

static void bytes_read_ahead_expire_when_the_process_runs(void **state)
{
	struct child *c = *state;
	uint8_t buf[64], *s;
	weft_phys_t phys;
	struct mem m;

	c->owner.ahead = true;
	s = shadow_of(&m, c, &phys);
	mem_copy(&m, buf, s, 64);
	tell(c, 'w', SKEW + 100, 1);
	mem_copy(&m, buf, s + 64, 64);
	/* the bytes are old, because the process has not run in this epoch */
	assert_int_equal(buf[36], 0);
	c->owner.epoch++;
	mem_copy(&m, buf, s + 64, 64);
	assert_int_equal(buf[36], 1);
	buf[36] = 2;
	/* stores through the shadow are seen at once */
	mem_store(&m, s + 64, buf, 64);
	mem_copy(&m, buf, s + 100, 1);
	assert_int_equal(buf[0], 2);
	mem_copy(&m, buf, s + MEM_PAGE - SKEW - 32, 64); /* two pages */
	assert_int_equal(c->owner.faults, 0);
	tell(c, 'u', 0, 0);
	c->owner.epoch++;
	/* only half of the range exists */
	mem_copy(&m, buf, s + 2 * MEM_PAGE - SKEW - 32, 64);
	assert_int_equal(buf[31], 0);
	assert_int_equal(buf[63], 0xff);
	assert_int_equal(c->owner.faults, 1);
	mem_fini(&m);
}

static void interleaved_streams_act_as_if_done_at_once(void **state)
{
	enum { PIECE = 40, PIECES = 60, STEP = 2560 };
	static const uint32_t from[] = { 0, STEP, 2 * STEP, 64, 3 * STEP };
	uint8_t want[4 * STEP] = { 0 }, buf[PIECE], *s;
	struct child *c = *state;
	weft_phys_t phys;
	struct mem m;

	c->owner.ahead = true;
	s = shadow_of(&m, c, &phys);
	for (uint32_t i = 0; i < PIECES; i++)
		for (uint32_t k = 0; k < 5; k++) {
			uint32_t at = from[k] + i * PIECE, past = at / 3;

			memset(buf, (int)(i + 3 * k), sizeof(buf));
			memcpy(want + at, buf, sizeof(buf));
			mem_store(&m, s + at, buf, sizeof(buf));
			mem_copy(&m, buf, s + past, sizeof(buf));
			assert_memory_equal(buf, want + past, sizeof(buf));
		}
	mem_settled(&m);
	for (uint32_t i = 0; i < sizeof(want); i += 7)
		assert_int_equal(tell(c, 'r', SKEW + i, 0), want[i]);
	assert_int_equal(c->owner.faults, 0);
	mem_fini(&m);
}

/* ---- without the kernel's help ---- */

static int copy(void *arg, uint64_t va, void *buf, size_t n, bool write)
{
	struct child *c = arg;
	uint32_t at = (uint32_t)(va - (uintptr_t)c->area);

	for (size_t i = 0; i < n; i++) {
		uint8_t *b = (uint8_t *)buf + i;

		if (at + i >= AREA)
			return -EFAULT;
		if (write)
			tell(c, 'w', at + (uint32_t)i, *b);
		else
			*b = tell(c, 'r', at + (uint32_t)i, 0);
	}
	return 0;
}

static void direct_access_to_a_shadow_raises_a_signal(void **state)
{
	struct child *c = *state;
	struct mem m;
	weft_phys_t phys;
	int status;
	pid_t pid;
	uint8_t *s = shadow_of(&m, c, &phys);

	pid = fork();
	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		*(volatile uint8_t *)s = 1;
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_true(mem_far_del(&m, s));
	s[0] = 1; /* the page is ordinary memory again */
	mem_fini(&m);
	c->owner.strict = false;
	s = shadow_of(&m, c, &phys);
	s[0] = 1;
	mem_fini(&m);
}

static void shadow_is_reached_by_a_callback(void **state)
{
	struct child *c = *state;
	uint8_t buf[16] = "through a window";
	weft_phys_t phys;
	struct mem m;

	c->owner.copy = copy;
	c->owner.arg = c;
	c->owner.by_copy = true;
	shadow_of(&m, c, &phys);
	dma(&m, phys, buf, 16, true);
	memset(buf, 0, 16);
	assert_int_equal(tell(c, 'r', SKEW + 3, 0), 'o');
	dma(&m, phys, buf, 16, false);
	assert_memory_equal(buf, "through a window", 16);
	dma(&m, phys + AREA - SKEW - 8, buf, 8, false);
	assert_int_equal(c->owner.faults, 0);
	mem_fini(&m);
}

/* Pinned pages of the child get the addresses that pages of a program would
 * get. They have the bytes of the child. */
static void pinned_pages_get_addresses_of_plain_ones(void **state)
{
	struct child *c = *state;
	weft_phys_t phys[5], want[5], at;
	uint64_t va = (uintptr_t)c->area;
	uint8_t buf[16] = "page by page";
	struct mem m, plain;

	mem_init(&m, 0, MIB);
	mem_init(&plain, 0, MIB);
	assert_true(mem_far_pin(&m, &c->owner, va, AREA, phys));
	assert_true(mem_pin(&plain, c->area, AREA, want));
	assert_memory_equal(phys, want, sizeof(phys));
	dma(&m, phys[3] + SKEW, buf, 16, true);
	assert_int_equal(tell(c, 'r', 3 * MEM_PAGE + SKEW + 2, 0), 'g');
	tell(c, 'w', MEM_PAGE + 9, 77);
	dma(&m, phys[1] + 9, buf, 1, false);
	assert_int_equal(buf[0], 77);
	assert_true(mem_far_phys(&m, &c->owner, va + MEM_PAGE + 9, &at));
	assert_int_equal(at, phys[1] + 9);
	/* a page that is pinned twice stays until it is unpinned twice */
	assert_true(mem_far_pin(&m, &c->owner, va + MEM_PAGE, 1, want));
	assert_int_equal(want[0], phys[1]);
	assert_true(mem_far_unpin(&m, &c->owner, va, AREA));
	assert_false(mem_far_phys(&m, &c->owner, va, &at));
	assert_true(mem_far_phys(&m, &c->owner, va + MEM_PAGE, &at));
	assert_true(mem_far_unpin(&m, &c->owner, va + MEM_PAGE, 1));
	assert_false(mem_far_unpin(&m, &c->owner, va + MEM_PAGE, 1));
	assert_int_equal(m.used.n, 0);
	/* The node has fewer free pages, therefore no page stays pinned. */
	assert_false(mem_far_pin(&m, &c->owner, va, 2 * MIB, phys));
	assert_false(mem_far_pin(&m, &c->owner, UINT64_MAX - 9, 99, phys));
	assert_int_equal(m.far.n, 0);
	mem_fini(&m);
	mem_fini(&plain);
}

/* Four pages are free, therefore the fifth page of the area cannot be pinned,
 * and all pages are released. */
static void pages_that_cannot_all_be_pinned_are_all_free_again(void **state)
{
	struct child *c = *state;
	uint64_t va = (uintptr_t)c->area;
	weft_phys_t phys[5], at;
	struct mem m;

	mem_init(&m, 0, 5 * MEM_PAGE);
	assert_false(mem_far_pin(&m, &c->owner, va, AREA, phys));
	assert_int_equal(m.used.n + m.far.n + m.far_pins.n, 0);
	assert_false(mem_far_phys(&m, &c->owner, va + AREA - 1, &at));
	assert_true(mem_far_pin(&m, &c->owner, va, 4 * MEM_PAGE, phys));
	assert_true(mem_far_unpin(&m, &c->owner, va, 4 * MEM_PAGE));
	mem_fini(&m);
}

#define T(f) cmocka_unit_test_setup_teardown(f, child_start, child_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(device_writes_and_reads_bytes_of_the_process),
		T(copies_cross_between_memory_and_shadows),
		T(access_to_a_hole_is_a_fault_not_a_death),
		T(access_to_a_killed_process_gives_all_ones),
		T(bytes_of_devices_arrive_together_in_order),
		T(bytes_read_ahead_expire_when_the_process_runs),
		T(interleaved_streams_act_as_if_done_at_once),
		T(direct_access_to_a_shadow_raises_a_signal),
		T(shadow_is_reached_by_a_callback),
		T(pinned_pages_get_addresses_of_plain_ones),
		T(pages_that_cannot_all_be_pinned_are_all_free_again),
		T(number_of_an_ended_process_reaches_no_other),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
