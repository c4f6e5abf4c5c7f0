/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of a program, drivers, pinned memory at devices. */
#include "../cmocka_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/process_memory.h"
#include "host/prog.h"
#include "node.h"

static int setup(void **state)
{
	*state = bench_new(1);
	bench_set(*state, "host.pc", "cost_clock", "0");
	bench_set(*state, "host.pc", "wake_up", "3us");
	bench_set(*state, "host.pc", "irq_entry", "2us");
	return 0;
}

/* ---- threads ---- */

struct talk {
	uint32_t a, b;
	struct weft_host *other;
	weft_time_t woken, asked;
	uint32_t turns;
};

static int answer(struct weft_host *h, void *arg)
{
	struct talk *t = arg;

	t->other = weft_host_self();
	assert_ptr_equal(t->other, h);
	for (;;) {
		uint32_t a = t->a;

		weft_host_wait(h, &t->a, a, WEFT_NEVER);
		assert_ptr_equal(weft_host_self(), h);
		t->woken = weft_host_now(h);
		t->turns++;
		t->b++;
		weft_host_wake(h, &t->b);
	}
	return 0;
}

static int talk(struct weft_host *h, struct bench *b)
{
	struct talk t = { 0 };

	assert_ptr_equal(weft_host_self(), h);
	assert_non_null(weft_thread_start(h, answer, &t));
	weft_host_sleep(h, weft_host_now(h) + WEFT_US);
	for (uint32_t i = 0; i < 3; i++) {
		t.asked = weft_host_now(h);
		t.a++;
		weft_host_wake(h, &t.a);
		assert_true(weft_host_wait(h, &t.b, i, WEFT_NEVER));
		assert_ptr_equal(weft_host_self(), h);
		assert_int_equal(t.woken, t.asked + 3 * WEFT_US);
		assert_int_equal(weft_host_now(h), t.asked + 6 * WEFT_US);
	}
	/* one wait that returns at once, and one until its deadline */
	assert_true(weft_host_wait(h, &t.b, 0, WEFT_NEVER));
	t.asked = weft_host_now(h);
	assert_false(weft_host_wait(h, &t.b, 3, t.asked + WEFT_US));
	assert_int_equal(weft_host_now(h), t.asked + WEFT_US);
	assert_false(weft_host_wait(h, &t.b, 3, t.asked));
	b->v[0] = t.turns;
	return 0;
}

static void threads_wake_each_other_after_the_wake_up_time(void **state)
{
	struct bench *b = *state;

	bench_well(b, talk);
	assert_int_equal(b->v[0], 3);
	assert_null(weft_host_self());
}

static int wakes_late(struct weft_host *h, void *arg)
{
	uint32_t *p = arg;

	weft_host_sleep(h, weft_host_now(h) + 1030 * WEFT_NS);
	++*p;
	weft_host_wake(h, p);
	return 0;
}

static int spins(struct weft_host *h, struct bench *b)
{
	weft_time_t turn = 100 * WEFT_NS, start, clock, into;
	uint32_t word = 0;

	start = weft_host_now(h);
	clock = weft_host_now(h) - start;
	/* the spin ends with the first iteration that ends after the
	 * deadline */
	start = weft_host_now(h);
	assert_true(weft_host_spin(h, &word, 0, turn, start + 250 * WEFT_NS) ==
		    WEFT_NEVER);
	assert_int_equal(weft_host_now(h) - start, 3 * (turn + clock) + clock);
	/* not at all */
	assert_int_equal(weft_host_spin(h, &word, 1, turn, WEFT_NEVER), 0);
	/* A spin is woken at once, without the wake-up time. The processor is
	 * busy during the spin. */
	weft_thread_start(h, wakes_late, &word);
	b->t[0] = weft_host_busy(h);
	start = weft_host_now(h);
	into = weft_host_spin(h, &word, 0, turn, WEFT_NEVER);
	b->t[1] = weft_host_now(h) - clock - start;
	assert_int_equal(word, 1);
	assert_in_range(b->t[1], 1030 * WEFT_NS, 1030 * WEFT_NS + clock);
	assert_int_equal(into, b->t[1] % (turn + clock));
	assert_true(weft_host_busy(h) - b->t[0] >= b->t[1]);
	b->v[0] = 1;
	return 0;
}

static void a_spin_ends_with_a_turn_or_when_it_is_woken(void **state)
{
	struct bench *b = *state;

	bench_well(b, spins);
	assert_int_equal(b->v[0], 1);
}

/* Costs of the processor in the next test, and the turn of the loop. */
enum { CLOCK = 40, STORE = 25, TURN = 100, LOOP = TURN + CLOCK };

struct wake {
	uint32_t word;
	weft_time_t at;
};

static int wakes_at(struct weft_host *h, void *arg)
{
	struct wake *w = arg;

	weft_host_sleep(h, w->at);
	w->word++;
	weft_host_wake(h, &w->word);
	return 0;
}

/* Spins behind a store, whose time the processor still owes, until another
 * thread wakes this thread `ns` later or the loop sees the deadline, 250 ns
 * later. */
static void spin_once(struct weft_host *h, const struct weft_io *io,
		      uint32_t ns, bool limited)
{
	weft_time_t start = weft_host_now(h) + STORE * WEFT_NS, got, spent;
	weft_time_t deadline = limited ? start + 250 * WEFT_NS : WEFT_NEVER;
	uint32_t part = ns % LOOP, end = ns;
	weft_time_t want = part * WEFT_NS;
	struct wake w = { .at = start + ns * WEFT_NS };

	if (part > TURN) { /* while the processor reads the clock */
		end += LOOP - part;
		want = limited && end >= 250 ? WEFT_NEVER : 0;
	}
	if (limited && end >= 2 * LOOP) {
		end = 2 * LOOP;
		want = WEFT_NEVER;
	}
	weft_thread_start(h, wakes_at, &w);
	weft_io_store32(h, io, 0, 1);
	got = weft_host_spin(h, &w.word, 0, TURN * WEFT_NS, deadline);
	spent = weft_host_now(h) - CLOCK * WEFT_NS - start;
	weft_host_sleep(h, w.at + WEFT_US);
	assert_int_equal(w.word, 1);
	assert_int_equal(spent, end * WEFT_NS);
	assert_true(got == want);
}

static int spins_as_loops(struct weft_host *h, struct bench *b)
{
	struct weft_io io;

	assert_true(weft_io_map(h, weft_dev_open(h, 0), 0, 0, CARD_BAR, WEFT_WC,
				&io));
	for (uint32_t ns = 4; ns < 3 * LOOP; ns += 4) {
		spin_once(h, &io, ns, false);
		spin_once(h, &io, ns, true);
	}
	b->v[0] = 1;
	return 0;
}

static void a_spin_woken_at_any_time_takes_the_time_of_its_loop(void **state)
{
	struct bench *b = *state;

	bench_set(b, "host.pc", "cost_clock", "40ns");
	bench_set(b, "host.pc", "cost_wc", "25ns");
	bench_well(b, spins_as_loops);
	assert_int_equal(b->v[0], 1);
}

static int quits(struct weft_host *h, void *arg)
{
	weft_host_sleep(h, weft_host_now(h) + 5 * WEFT_US);
	*(weft_time_t *)arg = weft_host_now(h);
	weft_host_exit(h, 0);
}

static int waits(struct weft_host *h, struct bench *b)
{
	weft_thread_start(h, quits, &b->t[0]);
	weft_host_sleep(h, WEFT_SEC);
	b->v[0] = 1;
	return 5;
}

static void exit_of_a_thread_ends_the_whole_program(void **state)
{
	struct bench *b = *state;

	bench_well(b, waits);
	assert_int_equal(b->v[0], 0);
	assert_int_equal(b->t[0], 5 * WEFT_US);
}

/* ---- words of libraries ---- */

static const char key_one, key_two;

static int same_word(struct weft_host *h, void *arg)
{
	struct bench *b = arg;

	b->v[1] = *weft_host_word(h, &key_one) == b;
	return 0;
}

static int own_words(struct weft_host *h, struct bench *b)
{
	void **w = weft_host_word(h, &key_one);

	assert_non_null(w);
	assert_null(*w); /* unset, whatever the other program has stored */
	*w = b;
	assert_null(*weft_host_word(h, &key_two));
	assert_ptr_equal(weft_host_word(h, &key_one), w);
	weft_thread_start(h, same_word, b);
	weft_host_sleep(h, weft_host_now(h) + WEFT_US);
	b->v[0]++;
	return 0;
}

static void a_word_is_of_one_program_and_one_library(void **state)
{
	struct bench *b = *state;

	bench_prog(b, 0, own_words);
	bench_well(b, own_words);
	assert_int_equal(b->v[0], 2);
	assert_true(b->v[1]);
}

/* ---- drivers ---- */

struct driver {
	struct bench *b;
	struct weft_proc *proc;
	struct weft_dev *dev;
};

enum { OP_ENTER, OP_STORE, OP_ADD };

static int drv_call(struct weft_host *h, void *own, uint32_t op, void *arg)
{
	struct driver *d = own;
	struct weft_io io;

	if (op == OP_ENTER) {
		d->proc = weft_proc_new(h, 0);
		return weft_proc_enter(h, d->proc) ? 0 : -EPERM;
	}
	if (op == OP_ADD)
		return *(int *)arg + 1;
	if (!weft_io_map(h, d->dev, 1, 0, 0x1000, WEFT_UC, &io))
		return -EPERM;
	weft_io_store64(h, &io, 0, 0x77);
	return (int)weft_io_load64(h, &io, 0);
}

static void drv_gone(struct weft_host *h, void *own, struct weft_proc *p)
{
	struct driver *d = own;

	d->b->v[1] += p == d->proc;
	d->b->v[2] = (uint64_t)drv_call(h, own, OP_STORE, NULL);
}

static void drv_fini(void *own)
{
	struct driver *d = own;

	d->b->v[3]++;
	free(d);
}

static int uses_driver(struct weft_host *h, struct bench *b)
{
	struct driver *d = calloc(1, sizeof(*d));
	struct weft_drv drv = { d, drv_call, drv_gone, drv_fini };
	struct weft_io io;
	int one = 1;

	d->b = b;
	d->dev = weft_dev_open(h, 0);
	assert_int_equal(weft_drv_call(h, d->dev, OP_ADD, &one), -ENODEV);
	assert_true(weft_drv_set(h, d->dev, &drv));
	assert_false(weft_drv_set(h, d->dev, &drv));
	assert_int_equal(weft_drv_call(h, d->dev, OP_ADD, &one), 2);
	assert_int_equal(weft_drv_call(h, d->dev, OP_ENTER, NULL), 0);
	/* inside a process the thread cannot map a device, but a driver that it
	 * calls reaches every device */
	assert_false(weft_io_map(h, d->dev, 1, 0, 0x1000, WEFT_UC, &io));
	assert_int_equal(weft_drv_call(h, d->dev, OP_STORE, NULL), 0x77);
	assert_false(weft_io_map(h, d->dev, 1, 0, 0x1000, WEFT_UC, &io));
	weft_host_exit(h, 0);
}

static void driver_reaches_what_its_process_cannot(void **state)
{
	struct bench *b = *state;

	bench_well(b, uses_driver);
	assert_int_equal(b->v[1], 1);
	assert_int_equal(b->v[2], 0x77);
	assert_int_equal(b->v[3], 0);
}

/* ---- processes of their own ---- */

static void process_gone(struct weft_host *h, void *own, struct weft_proc *p)
{
	struct bench *b = own;

	b->v[0] += p != NULL;
}

static int process(struct weft_host *h, void *arg)
{
	struct bench *b = arg;
	struct weft_dev *d = weft_dev_open(h, 0);
	uint32_t bar = weft_cfg_load(h, d, 0x10, 4);
	struct weft_io io;

	assert_non_null(weft_proc_self(h));
	assert_false(weft_io_map(h, d, 1, 0, 0x1000, WEFT_UC, &io));
	weft_cfg_store(h, d, 0x10, 4, bar ^ 0x10000000);
	assert_int_equal(weft_cfg_load(h, d, 0x10, 4), bar);
	assert_non_null(weft_mem_alloc(h, 4096, 4096, &b->v[1]));
	assert_non_null(weft_mem_alloc(h, 64, 64, &b->v[2]));
	weft_host_sleep(h, WEFT_NEVER);
	return 0;
}

static int has_process(struct weft_host *h, struct bench *b)
{
	struct weft_drv drv = { b, drv_call, process_gone, NULL };
	struct weft_host *t;
	weft_phys_t phys, mine;

	assert_true(weft_drv_set(h, weft_dev_open(h, 0), &drv));
	assert_non_null(weft_mem_alloc(h, 64, 64, &mine));
	t = weft_prog_process(h, process, b);
	assert_non_null(t);
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	assert_int_not_equal(b->v[2] / 4096, mine / 4096);
	assert_int_equal(b->v[0], 0);
	weft_prog_kill(t);
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	assert_int_equal(b->v[0], 1);
	assert_non_null(weft_mem_alloc(h, 4096, 4096, &phys));
	assert_int_equal(phys, b->v[1]);
	return 0;
}

static void a_process_ends_with_its_memory_and_drivers_learn_it(void **state)
{
	bench_well(*state, has_process);
}

static int another(struct weft_host *h, void *arg)
{
	struct bench *b = arg;

	weft_mem_free(h, weft_mem_at(h, b->v[1], 1));
	return 0;
}

static int has_two(struct weft_host *h, struct bench *b)
{
	assert_non_null(weft_prog_process(h, process, b));
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	assert_non_null(weft_prog_process(h, another, b));
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	return 0;
}

static void memory_of_another_process_is_not_freed(void **state)
{
	struct bench *b = *state;

	bench_main(b, has_two);
	assert_string_equal(bench_failure(b, 0),
			    "n0.prog0: frees memory of another process");
}

static int handler(struct weft_host *h, void *arg)
{
	struct bench *b = arg;

	b->v[0] = weft_host_isr_wait(h, weft_dev_open(h, 0), WEFT_NEVER);
	b->t[1] = weft_host_now(h);
	return 0;
}

static int sees_irq(struct weft_host *h, struct bench *b)
{
	struct weft_io io;

	assert_true(weft_io_map(h, weft_dev_open(h, 0), 1, 0, 0x1000, WEFT_UC,
				&io));
	weft_thread_start(h, handler, b);
	b->v[1] = weft_host_irq_wait(h, io.dev, weft_host_now(h) + WEFT_US);
	weft_io_store32(h, &io, CARD_IRQ, 1);
	b->v[2] = weft_host_irq_wait(h, io.dev, WEFT_NEVER);
	b->t[2] = weft_host_now(h);
	return 0;
}

static void interrupt_handler_runs_before_the_program_it_wakes(void **state)
{
	struct bench *b = *state;

	bench_well(b, sees_irq);
	assert_true(b->v[0]);
	assert_false(b->v[1]);
	assert_true(b->v[2]);
	assert_int_equal(b->t[2], b->t[1] + 3 * WEFT_US);
}

/* ---- pinned memory ---- */

static int pins(struct weft_host *h, struct bench *b)
{
	static uint8_t buf[3 * 4096];
	struct weft_io io;
	weft_phys_t phys[4];
	uint64_t *word = (uint64_t *)((uintptr_t)(buf + 4096 + 64) & ~7ul);
	uint64_t at;

	memset(buf, 0, sizeof(buf));
	assert_true(weft_io_map(h, weft_dev_open(h, 0), 1, 0, 0x1000, WEFT_UC,
				&io));
	assert_false(weft_mem_phys(h, word, &at));
	assert_true(weft_mem_pin(h, buf, sizeof(buf), phys));
	assert_true(weft_mem_phys(h, word, &at));
	weft_io_store64(h, &io, CARD_VALUE, 0x1234);
	weft_io_store64(h, &io, CARD_DELAY, 50);
	weft_io_store64(h, &io, CARD_DMA, at);
	b->v[0] = weft_host_poll64(h, word, 0, WEFT_NEVER);
	b->v[1] = *word;
	weft_mem_unpin(h, buf, sizeof(buf));
	b->v[2] = weft_mem_phys(h, word, &at);
	return 0;
}

static void pinned_memory_is_written_by_the_device(void **state)
{
	struct bench *b = *state;

	bench_well(b, pins);
	assert_true(b->v[0]);
	assert_int_equal(b->v[1], 0x1234);
	assert_false(b->v[2]);
}

/* ---- shadows ---- */

/* Any address of a shadow frees it. A second call fails, and so does a call
 * with an address that is not in a shadow. */
static int shadows(struct weft_host *h, struct bench *b)
{
	static uint8_t area[3 * WEFT_PAGE];
	struct weft_far_owner own = { .pid = getpid() };
	uint8_t *s[2];

	for (uint32_t i = 0; i < 2; i++)
		s[i] = weft_far_add(h, &own, (uintptr_t)area + 16 * i,
				    sizeof(area) - 16);
	assert_non_null(s[0]);
	assert_non_null(s[1]);
	weft_far_del(h, s[0] + sizeof(area) - 17);
	assert_string_equal(bench_failure(b, 0), "");
	weft_far_del(h, s[0]);
	weft_far_del(h, area);
	weft_far_del(h, s[1]);
	return 0;
}

static void a_shadow_goes_once(void **state)
{
	struct bench *b = *state;
	const char *none = "n0.prog0: no memory of a process there";

	bench_main(b, shadows);
	assert_string_equal(bench_failure(b, 0), none);
	assert_string_equal(bench_failure(b, 1), none);
	assert_string_equal(bench_failure(b, 2), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			threads_wake_each_other_after_the_wake_up_time, setup,
			bench_teardown),
		cmocka_unit_test_setup_teardown(
			a_spin_woken_at_any_time_takes_the_time_of_its_loop,
			setup, bench_teardown),
		cmocka_unit_test_setup_teardown(
			a_spin_ends_with_a_turn_or_when_it_is_woken, setup,
			bench_teardown),
		cmocka_unit_test_setup_teardown(
			exit_of_a_thread_ends_the_whole_program, setup,
			bench_teardown),
		cmocka_unit_test_setup_teardown(
			a_word_is_of_one_program_and_one_library, setup,
			bench_teardown),
		cmocka_unit_test_setup_teardown(
			driver_reaches_what_its_process_cannot, setup,
			bench_teardown),
		cmocka_unit_test_setup_teardown(
			a_process_ends_with_its_memory_and_drivers_learn_it,
			setup, bench_teardown),
		cmocka_unit_test_setup_teardown(
			memory_of_another_process_is_not_freed, setup,
			bench_teardown),
		cmocka_unit_test_setup_teardown(
			interrupt_handler_runs_before_the_program_it_wakes,
			setup, bench_teardown),
		cmocka_unit_test_setup_teardown(a_shadow_goes_once, setup,
						bench_teardown),
		cmocka_unit_test_setup_teardown(
			pinned_memory_is_written_by_the_device, setup,
			bench_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
