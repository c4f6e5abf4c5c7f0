/* SPDX-License-Identifier: Apache-2.0 */
/* Stackful coroutines: a program that blocks in simulated time keeps its C
 * stack. A switch of stacks takes a dozen instructions (x86-64, aarch64). The C
 * library's swapcontext is not used, because it makes two system calls.
 *
 * There is no global state. The caller of coro_resume has a handle, and the
 * coroutine needs the same handle to yield. */
#ifndef HOST_CORO_H
#define HOST_CORO_H

#include <stdbool.h>
#include <stddef.h>

struct coro;

/* Stacks of one size, mapped on demand, each with a guard page below. A pool
 * keeps them for reuse when a coroutine ends. */
struct coro_pool {
	size_t stack_bytes; /* usable bytes of a stack, rounded up to pages */
	void *free_stacks;
};

/* Starts an empty pool of stacks of this size, rounded up to pages. */
void coro_pool_init(struct coro_pool *pool, size_t stack_bytes);
/* Frees all stacks. No coroutine of the pool may be left. */
void coro_pool_fini(struct coro_pool *pool);

/* Makes a coroutine that runs fn(arg) at its first resume. Returns NULL if
 * memory runs out. The caller frees the coroutine with coro_free. */
struct coro *coro_new(struct coro_pool *pool, void (*fn)(void *arg), void *arg);
/* Frees a coroutine, whether it has ended or not. Never call it from inside the
 * coroutine, because its stack is reused. */
void coro_free(struct coro_pool *pool, struct coro *co);
/* Runs the coroutine until it yields or ends. A coroutine must not resume
 * itself. */
void coro_resume(struct coro *co);
/* Returns to the caller of coro_resume. Call it from inside the coroutine. */
void coro_yield(struct coro *co);
/* Returns true if the coroutine's function has returned. */
bool coro_done(const struct coro *co);

#endif
