/* SPDX-License-Identifier: Apache-2.0 */
/* Stackful coroutines: contract in coro.h.
 *
 * A suspended context is one stack pointer. The callee-saved registers of the C
 * calling convention are stored where it points. struct coro lies at the top of
 * its stack. */
#include "host/coro.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define CORO_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CORO_ASAN 1
#endif
#endif
#ifdef CORO_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

struct coro {
	void *sp;	 /* stack pointer of the suspended side */
	void *caller_sp; /* stack pointer of the caller of coro_resume */
	void (*fn)(void *arg);
	void *arg;
	void *map; /* mapping: guard page, then the stack */
	size_t map_bytes;
	bool running, done;
	/* State of AddressSanitizer for the stacks of coroutine and caller. */
	void *fake, *caller_fake;
	const void *caller_bottom;
	size_t caller_size;
};

/* Link in the list of free stacks, stored at the top of each free stack. Pages
 * of free stacks stay mapped, so that the next coroutine does not fault them in
 * again. */
struct free_stack {
	void *next;
};

/* Saves the callee-saved registers, stores sp in *save, continues at load. */
void coro_switch_(void **save, void *load);
/* First frame of a coroutine. Calls coro_main_ with the coroutine's handle. */
void coro_start_(void);
void coro_main_(struct coro *co) __attribute__((used));

#if defined(__x86_64__)
__asm__(".text\n"
	".globl coro_switch_\n"
	".hidden coro_switch_\n"
	".type coro_switch_,@function\n"
	"coro_switch_:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size coro_switch_,.-coro_switch_\n"
	".globl coro_start_\n"
	".hidden coro_start_\n"
	".type coro_start_,@function\n"
	"coro_start_:\n"
	"	movq %r12, %rdi\n"
	"	xorl %ebp, %ebp\n"
	"	call coro_main_\n"
	"	ud2\n"
	".size coro_start_,.-coro_start_\n");

enum { FRAME_WORDS = 7, FRAME_ARG = 3, FRAME_PC = 6 };
#elif defined(__aarch64__)
__asm__(".text\n"
	".globl coro_switch_\n"
	".hidden coro_switch_\n"
	".type coro_switch_,%function\n"
	"coro_switch_:\n"
	"	sub sp, sp, #160\n"
	"	stp x19, x20, [sp, #0]\n"
	"	stp x21, x22, [sp, #16]\n"
	"	stp x23, x24, [sp, #32]\n"
	"	stp x25, x26, [sp, #48]\n"
	"	stp x27, x28, [sp, #64]\n"
	"	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n"
	"	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n"
	"	stp d14, d15, [sp, #144]\n"
	"	mov x9, sp\n"
	"	str x9, [x0]\n"
	"	mov sp, x1\n"
	"	ldp x19, x20, [sp, #0]\n"
	"	ldp x21, x22, [sp, #16]\n"
	"	ldp x23, x24, [sp, #32]\n"
	"	ldp x25, x26, [sp, #48]\n"
	"	ldp x27, x28, [sp, #64]\n"
	"	ldp x29, x30, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n"
	"	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n"
	"	ldp d14, d15, [sp, #144]\n"
	"	add sp, sp, #160\n"
	"	ret\n"
	".size coro_switch_,.-coro_switch_\n"
	".globl coro_start_\n"
	".hidden coro_start_\n"
	".type coro_start_,%function\n"
	"coro_start_:\n"
	"	mov x0, x19\n"
	"	mov x29, #0\n"
	"	bl coro_main_\n"
	"	brk #1\n"
	".size coro_start_,.-coro_start_\n");

enum { FRAME_WORDS = 20, FRAME_ARG = 0, FRAME_PC = 11 };
#else
#error "coroutines need a context switch for this processor"
#endif

/* ---- address sanitizer ---- */

#ifdef CORO_ASAN
static void *stack_bottom(const struct coro *co)
{
	return (char *)co->map + getpagesize();
}

static size_t stack_size(const struct coro *co)
{
	return (size_t)((char *)co - (char *)stack_bottom(co));
}

/* Each switch calls SWITCH_BEGIN on the old stack and SWITCH_END on the new
 * one, because AddressSanitizer must know which stack is in use. */
#define SWITCH_BEGIN(fake, bottom, size)                                       \
	__sanitizer_start_switch_fiber(fake, bottom, size)
#define SWITCH_END(fake, bottom, size)                                         \
	__sanitizer_finish_switch_fiber(fake, bottom, size)
#else
#define SWITCH_BEGIN(fake, bottom, size)
#define SWITCH_END(fake, bottom, size)
#define ASAN_UNPOISON_MEMORY_REGION(p, n)
#endif

/* ---- stacks ---- */

static size_t coro_pages(size_t bytes)
{
	size_t page = (size_t)getpagesize();

	return (bytes + page - 1) / page * page;
}

void coro_pool_init(struct coro_pool *pool, size_t stack_bytes)
{
	*pool = (struct coro_pool){ .stack_bytes = coro_pages(stack_bytes) };
}

static size_t map_bytes(const struct coro_pool *pool)
{
	return pool->stack_bytes + (size_t)getpagesize();
}

static void *stack_map(struct coro_pool *pool)
{
	struct free_stack *f = pool->free_stacks;
	void *map;

	if (f) {
		pool->free_stacks = f->next;
		map = (char *)f + coro_pages(sizeof(*f)) - map_bytes(pool);
		return map;
	}
	map = mmap(NULL, map_bytes(pool), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1,
		   0);
	if (map == MAP_FAILED)
		return NULL;
	if (mprotect(map, (size_t)getpagesize(), PROT_NONE)) {
		munmap(map, map_bytes(pool));
		return NULL;
	}
	return map;
}

void coro_pool_fini(struct coro_pool *pool)
{
	while (pool->free_stacks) {
		void *map = stack_map(pool);

		munmap(map, map_bytes(pool));
	}
}

/* ---- coroutines ---- */

struct coro *coro_new(struct coro_pool *pool, void (*fn)(void *arg), void *arg)
{
	void *map = stack_map(pool);
	struct coro *co;
	void **frame;
	uintptr_t top;

	if (!map)
		return NULL;
	top = (uintptr_t)map + map_bytes(pool) - sizeof(struct coro);
	co = (struct coro *)(top & ~(uintptr_t)63);
	*co = (struct coro){
		.fn = fn, .arg = arg, .map = map, .map_bytes = map_bytes(pool)
	};
	/* sp must be 16-byte aligned where coro_start_ begins, because the
	 * calling convention demands it. */
	frame = (void **)((char *)co - 64) - FRAME_WORDS;
	memset(frame, 0, FRAME_WORDS * sizeof(*frame));
	frame[FRAME_ARG] = co;
	frame[FRAME_PC] = (void *)(uintptr_t)coro_start_;
	co->sp = frame;
	return co;
}

void coro_free(struct coro_pool *pool, struct coro *co)
{
	struct free_stack *f;

	if (!co)
		return;
	assert(!co->running);
	ASAN_UNPOISON_MEMORY_REGION(stack_bottom(co), stack_size(co));
	/* The link lies in the last page, because a stack has touched that page
	 * anyway. */
	f = (void *)((char *)co->map + map_bytes(pool) -
		     coro_pages(sizeof(*f)));
	f->next = pool->free_stacks;
	pool->free_stacks = f;
}

void coro_main_(struct coro *co)
{
	SWITCH_END(co->fake, &co->caller_bottom, &co->caller_size);
	co->fn(co->arg);
	co->done = true;
	co->running = false;
	SWITCH_BEGIN(NULL, co->caller_bottom, co->caller_size);
	coro_switch_(&co->sp, co->caller_sp);
	abort();
}

void coro_resume(struct coro *co)
{
	assert(!co->running && !co->done);
	co->running = true;
	SWITCH_BEGIN(&co->caller_fake, stack_bottom(co), stack_size(co));
	coro_switch_(&co->caller_sp, co->sp);
	SWITCH_END(co->caller_fake, NULL, NULL);
}

void coro_yield(struct coro *co)
{
	assert(co->running);
	co->running = false;
	SWITCH_BEGIN(&co->fake, co->caller_bottom, co->caller_size);
	coro_switch_(&co->sp, co->caller_sp);
	SWITCH_END(co->fake, &co->caller_bottom, &co->caller_size);
}

bool coro_done(const struct coro *co)
{
	return co->done;
}
