/* SPDX-License-Identifier: Apache-2.0 */
/* Coroutines: interleaving, kept registers and stacks, reuse, nesting. */
#include "../cmocka_all.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/coro.h"

struct job {
	struct coro *co;
	int steps, n;
	double real;
	struct coro_pool *pool;
};

static void count(void *arg)
{
	struct job *j = arg;
	double x = 1.5;

	for (int i = 0; i < j->steps; i++) {
		j->n++;
		x *= 2;
		coro_yield(j->co);
	}
	j->real = x;
}

static void coroutines_take_turns_and_may_be_freed_unfinished(void **state)
{
	struct coro_pool pool;
	struct job a = { .steps = 3 }, b = { .steps = 5 };

	coro_pool_init(&pool, 65536);
	a.co = coro_new(&pool, count, &a);
	b.co = coro_new(&pool, count, &b);
	for (int i = 1; i <= 3; i++) {
		coro_resume(a.co);
		coro_resume(b.co);
		assert_int_equal(a.n, i);
		assert_int_equal(b.n, i);
		assert_false(coro_done(a.co));
	}
	coro_resume(a.co);
	assert_true(coro_done(a.co));
	assert_true(a.real == 12.0);
	coro_free(&pool, a.co);
	coro_free(&pool, b.co); /* never ended */
	coro_pool_fini(&pool);
}

/* Callee-saved registers must survive the switch. The optimiser keeps the sums
 * in such registers. Therefore a register that changes makes a sum wrong. */
static void keep(void *arg)
{
	struct job *j = arg;
	uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;

	for (int i = 0; i < 1000; i++) {
		a += b ^ c;
		b += c ^ d;
		c += d ^ e;
		d += e ^ f;
		e += f ^ a;
		f += a ^ b;
		if (j->steps)
			coro_yield(j->co);
	}
	j->n = (int)(a ^ b ^ c ^ d ^ e ^ f);
}

static void registers_survive_switches_of_coroutines(void **state)
{
	struct coro_pool pool;
	struct job a = { .steps = 1 }, b = { .steps = 1 }, plain = { 0 };

	coro_pool_init(&pool, 16384);
	keep(&plain);
	a.co = coro_new(&pool, keep, &a);
	b.co = coro_new(&pool, keep, &b);
	while (!coro_done(a.co)) {
		coro_resume(a.co);
		coro_resume(b.co);
	}
	assert_int_equal(a.n, plain.n);
	assert_int_equal(b.n, plain.n);
	coro_free(&pool, a.co);
	coro_free(&pool, b.co);
	coro_pool_fini(&pool);
}

static void deep(void *arg)
{
	struct job *j = arg;
	volatile char room[100000];

	memset((void *)room, 7, sizeof(room));
	coro_yield(j->co);
	for (size_t i = 0; i < sizeof(room); i++)
		j->n += room[i];
}

static void coroutine_uses_all_of_a_large_stack(void **state)
{
	struct coro_pool pool;
	struct job a = { 0 };

	coro_pool_init(&pool, 262144);
	a.co = coro_new(&pool, deep, &a);
	coro_resume(a.co);
	coro_resume(a.co);
	assert_int_equal(a.n, 700000);
	coro_free(&pool, a.co);
	coro_pool_fini(&pool);
}

/* Resumes another coroutine inside a coroutine. */
static void outer(void *arg)
{
	struct job *j = arg;
	struct job in = { .steps = 2 };

	in.co = coro_new(j->pool, count, &in);
	coro_resume(in.co);
	coro_yield(j->co);
	coro_resume(in.co);
	coro_resume(in.co);
	j->n = in.n + coro_done(in.co);
	coro_free(j->pool, in.co);
}

static void coroutine_may_resume_another_one(void **state)
{
	struct coro_pool pool;
	struct job a = { .pool = &pool };

	coro_pool_init(&pool, 65536);
	a.co = coro_new(&pool, outer, &a);
	coro_resume(a.co);
	coro_resume(a.co);
	assert_true(coro_done(a.co));
	assert_int_equal(a.n, 3);
	coro_free(&pool, a.co);
	coro_pool_fini(&pool);
}

static void freed_coroutine_is_used_again(void **state)
{
	struct coro_pool pool;
	struct job a = { .steps = 1 };
	struct coro *first;

	coro_pool_init(&pool, 65536);
	first = a.co = coro_new(&pool, count, &a);
	for (int i = 0; i < 10000; i++) {
		coro_resume(a.co);
		coro_free(&pool,
			  a.co); /* frees the coroutine, suspended or not */
		a.co = coro_new(&pool, count, &a);
		assert_ptr_equal(a.co, first);
	}
	assert_int_equal(a.n, 10000);
	coro_free(&pool, a.co);
	coro_pool_fini(&pool);
}

/* Running over the end of the stack hits the guard page, so that neighbours are
 * not overwritten. The stack has 16 pages, and the 17th page below is the guard
 * page. */
static void overrun(void *arg)
{
	volatile char *p = __builtin_frame_address(0);

	for (int page = 1; page <= 16; page++)
		p[-4096 * page] = 1;
}

static void guard_page_catches_an_overrun_stack(void **state)
{
	struct coro_pool pool;
	int status;
	pid_t pid;

	coro_pool_init(&pool, 65536);
	pid = fork();
	if (!pid) {
		struct coro *co = coro_new(&pool, overrun, NULL);

		signal(SIGSEGV, SIG_DFL);
		close(2);
		coro_resume(co);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_false(WIFEXITED(status) && !WEXITSTATUS(status));
	coro_pool_fini(&pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			coroutines_take_turns_and_may_be_freed_unfinished),
		cmocka_unit_test(registers_survive_switches_of_coroutines),
		cmocka_unit_test(coroutine_uses_all_of_a_large_stack),
		cmocka_unit_test(coroutine_may_resume_another_one),
		cmocka_unit_test(freed_coroutine_is_used_again),
		cmocka_unit_test(guard_page_catches_an_overrun_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
