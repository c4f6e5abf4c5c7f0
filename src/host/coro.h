/* SPDX-License-Identifier: Apache-2.0 */
/* Stackful coroutines: a program that blocks in simulated time keeps its C
 * stack.  The switch is a dozen instructions of our own (x86-64, aarch64);
 * swapcontext costs two system calls.
 *
 * Nothing here is global: whoever resumes a coroutine holds the handle, and
 * the coroutine got the same handle as its argument. */
#ifndef HOST_CORO_H
#define HOST_CORO_H

#include <stdbool.h>
#include <stddef.h>

struct coro;

/* Stacks of one size, mapped on demand, each with a guard page below, kept for
 * reuse when a coroutine ends. */
struct coro_pool {
	size_t stack_bytes; /* usable, rounded up to pages */
	void *free_stacks;
};

void coro_pool_init(struct coro_pool *pool, size_t stack_bytes);
void coro_pool_fini(struct coro_pool *pool);

/* A coroutine that will run fn(arg) at its first resume; NULL: no memory. */
struct coro *coro_new(struct coro_pool *pool, void (*fn)(void *arg), void *arg);
/* Frees it, whether it has ended or not; never from inside. */
void coro_free(struct coro_pool *pool, struct coro *co);
/* Runs it until it yields or ends. Not from inside a coroutine of its own. */
void coro_resume(struct coro *co);
/* From inside: back to whoever resumed. */
void coro_yield(struct coro *co);
bool coro_done(const struct coro *co);

#endif
