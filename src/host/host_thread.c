/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of host software: running, waiting, time. Contract: weft/host.h.
 *
 * A thread is a coroutine that the host resumes at time resume_at. Wake-ups of
 * the thread at other times are stale. Polling costs no events: a loop that
 * started at t0 polls memory at t0 + k * poll_period, k >= 1, and the thread is
 * resumed at the first such poll that can see a change. */
#include "host/host_internal.h"
#include "host/prog.h"
#include "weft/trace.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void host_wake(struct weft_host *h, weft_time_t t)
{
	if (t >= h->resume_at || h->wait == HOST_ENDED)
		return;
	h->resume_at = t;
	weft_wake(h->hp->comp, h->tag, t);
}

/* Each kind of wait has a name of one word, which listeners see. */
static const char *const host_doing[HOST_WAIT_N] = {
	[HOST_RUNS] = "runs",	  [HOST_BUSY] = "computes",
	[HOST_SLEEPS] = "sleeps", [HOST_POLLS] = "polls",
	[HOST_IRQ] = "interrupt", [HOST_BRIDGE] = "bridge",
	[HOST_KEY] = "key",	  [HOST_DEVICE] = "device",
	[HOST_IDLE] = "idle",	  [HOST_WORD] = "word",
	[HOST_ENDED] = "ended",	  [HOST_OUTSIDE] = "outside",
};

/* Returns true if the wait ended because of an event that shows progress. Time
 * alone ends sleeps, computation and waits at their deadline. The answer to a
 * load is not progress, because a program may load the same register for ever.
 * An interrupt is not progress if its cause was not cleared after the previous
 * interrupt, because it ends every wait immediately. */
static bool wait_fulfilled(const struct weft_host *h, enum host_wait why)
{
	switch (why) {
	case HOST_POLLS:
		return host_poll_hit(h);
	case HOST_IRQ:
		return h->irq_hit && !h->irq_stale;
	case HOST_WORD:
		return !h->word; /* weft_host_wake clears h->word */
	case HOST_KEY:
	case HOST_OUTSIDE:
		return true;
	default:
		return false;
	}
}

void host_block(struct weft_host *h, enum host_wait why)
{
	weft_time_t from = host_clock(h);

	h->wait_from = from;
	h->wait = why;
	if (why == HOST_POLLS || why == HOST_BRIDGE)
		weft_bus_expect(h->hp->bus);
	weft_state(h->prog, "thread", host_doing[why], from);
	coro_yield(h->co);
	h->wait = HOST_RUNS;
	/* Threads of drivers are not counted, because they repeat their
	 * requests for ever. */
	if ((!h->background || h->proc) && wait_fulfilled(h, why))
		h->hp->shared->steps++;
	/* The processor is busy in these waits. */
	if (why == HOST_BUSY || why == HOST_POLLS || why == HOST_BRIDGE ||
	    why == HOST_DEVICE ||
	    ((why == HOST_IRQ || why == HOST_WORD) && h->spins)) {
		h->busy += host_clock(h) - from;
		h->kernel += h->calls ? host_clock(h) - from : 0;
	}
	/* A thread that holds the gate or a device does not end here, because
	 * other threads wait for it to release them. */
	if (h->killed && why != HOST_BRIDGE && why != HOST_DEVICE)
		host_check_killed(h);
}

void host_pass(struct weft_host *h, weft_time_t dt)
{
	dt += h->debt;
	h->debt = 0;
	if (!dt)
		return;
	host_wake(h, host_clock(h) + dt);
	host_block(h, HOST_BUSY);
}

/* Returns the time of the thread's first poll at or after t. */
static weft_time_t poll_look(const struct weft_host *h, weft_time_t t)
{
	weft_time_t period = h->hp->p.poll_period;
	weft_time_t since = t > h->poll_start ? t - h->poll_start : 0;
	uint64_t k = since / period + (since % period != 0);

	return h->poll_start + (k ? k : 1) * period;
}

bool host_poll_hit(const struct weft_host *h)
{
	const struct host_watch *w = h->poll_watch;

	if (h->poll_p)
		return *h->poll_p != h->poll_old;
	return w->hit || (w->old && memcmp(w->old, w->p, w->n));
}

static void poll_check(struct weft_host *h)
{
	if (h->wait == HOST_POLLS && host_poll_hit(h))
		host_wake(h, poll_look(h, host_clock(h)));
}

static bool host_thread_overlaps(const void *a, size_t an, const void *b,
				 size_t bn)
{
	const char *x = a, *y = b;

	return x < y + bn && y < x + an;
}

bool host_polled(const struct host *hp, const void *p, size_t n)
{
	for (size_t i = 0; i < hp->threads.n; i++) {
		const struct weft_host *h = hp->threads.at[i];

		if (h->wait == HOST_POLLS &&
		    (h->poll_p ? host_thread_overlaps(p, n,
						      (const void *)h->poll_p,
						      sizeof(*h->poll_p))
			       : host_thread_overlaps(p, n, h->poll_watch->p,
						      h->poll_watch->n)))
			return true;
	}
	return hp->crew.waiting && host_crew_polled(hp, p, n);
}

void host_stored(struct host *hp, const void *p, size_t n)
{
	for (size_t i = 0; i < hp->threads.n; i++) {
		struct weft_host *h = hp->threads.at[i];

		for (size_t k = 0; k < HOST_WATCHES && h->watch[k].p; k++)
			if (host_thread_overlaps(p, n, h->watch[k].p,
						 h->watch[k].n))
				h->watch[k].hit = true;
		poll_check(h);
	}
	if (hp->crew.waiting)
		host_crew_stored(hp, p, n);
}

static void thread_main(void *arg)
{
	struct weft_host *h = arg;
	jmp_buf ending;

	h->ending = &ending;
	if (!h->killed && !setjmp(ending))
		h->ret = h->entry ? h->entry(h)
				  : h->prog->cls->ops.main(h->prog);
	h->ending = NULL;
	weft_io_fence(h);
	if (!h->entry || h->process)
		host_process_gone(h);
	host_pass(h, 0);
}

void host_thread_run(struct weft_host *h)
{
	struct host *hp = h->hp;
	struct weft_host *before;

	h->resume_at = WEFT_NEVER;
	weft_count(hp->comp, HOST_C_RESUMES, h->wait != HOST_OUTSIDE);
	if (!h->co) {
		h->co = coro_new(&hp->pool, thread_main, h);
		h->wait = HOST_RUNS;
	}
	if (!h->co) {
		weft_check_failed(h->prog, "no memory for its stack");
		host_thread_ended(h);
		return;
	}
	before = host_running(h);
	coro_resume(h->co);
	host_running(before);
	if (coro_done(h->co)) {
		coro_free(&hp->pool, h->co);
		h->co = NULL;
		host_thread_ended(h);
	}
	/* All other threads of the node check the memory that they poll,
	 * because this thread may have stored to it. */
	for (size_t i = 0; hp->threads.n > 1 && i < hp->threads.n; i++)
		if (hp->threads.at[i] != h)
			poll_check(hp->threads.at[i]);
}

/* ---- polling ---- */

static bool poll_wait(struct weft_host *h, weft_time_t deadline)
{
	bool hit;

	weft_count(h->hp->comp, HOST_C_POLLS, 1);
	h->poll_start = host_clock(h);
	host_deadline(h, deadline, WEFT_NEVER);
	if (host_poll_hit(h))
		host_wake(h, poll_look(h, host_clock(h)));
	for (;;) {
		if (deadline < WEFT_PROG_KICKED)
			host_wake(h, poll_look(h, deadline));
		host_block(h, HOST_POLLS);
		hit = host_poll_hit(h);
		h->debt += hit ? h->hp->p.poll_hit : 0;
		if (hit || h->kicked || host_clock(h) >= deadline)
			return hit;
	}
}

bool weft_host_poll64(struct weft_host *h, const volatile uint64_t *p,
		      uint64_t old, weft_time_t deadline)
{
	weft_phys_t phys;

	host_pass(h, 0);
	if (!mem_phys(&h->hp->mem, (const void *)p, &phys))
		weft_check_failed(h->prog,
				  "polls memory that no device can reach");
	h->poll_p = p;
	h->poll_old = old;
	return poll_wait(h, deadline);
}

bool weft_host_poll_range(struct weft_host *h, const volatile void *p, size_t n,
			  weft_time_t deadline)
{
	struct host_watch *w = h->watch, *oldest = w;
	struct host_watch *end = w + HOST_WATCHES;
	bool hit;

	host_pass(h, 0);
	h->poll_p = NULL;
	/* Uses the range's watch, a free one, or the least recently used
	 * one. */
	for (; w < end && w->p && (w->p != p || w->n != n); w++)
		if (w->age < oldest->age)
			oldest = w;
	w = w < end ? w : oldest;
	if (w->p != p || w->n != n) {
		/* A range that is polled for the first time counts as stored
		 * to, because earlier stores are not known. */
		free(w->old);
		*w = (struct host_watch){ .p = (const void *)p,
					  .n = n,
					  .hit = true };
	}
	h->poll_watch = w;
	w->age = ++h->age;
	hit = poll_wait(h, deadline);
	w->hit = false;
	if (h->hp->threads.n < 2)
		return hit;
	if (!w->old)
		w->old = malloc(w->n);
	assert(w->old);
	memcpy(w->old, w->p, w->n);
	return hit;
}

/* ---- interrupts, time ---- */

void host_irq(struct host *hp, struct weft_dev *d, bool level)
{
	d->rises += level && !d->level;
	d->level = level;
	for (size_t i = 0; level && i < hp->threads.n; i++) {
		struct weft_host *h = hp->threads.at[i];

		if (h->wait != HOST_IRQ || h->irq_dev != d || h->irq_hit)
			continue;
		h->irq_hit = true;
		/* cancels the wake-up at the deadline */
		h->resume_at = WEFT_NEVER;
		host_wake(h, host_clock(h) + hp->p.irq_entry +
				     (h->isr ? 0 : hp->p.wake_up));
	}
}

static bool irq_wait(struct weft_host *h, struct weft_dev *d,
		     weft_time_t deadline, bool isr)
{
	host_pass(h, 0);
	h->isr = isr;
	h->irq_dev = d;
	h->irq_hit = d->level;
	h->irq_stale = d->level && h->irq_last == d && h->irq_rises == d->rises;
	host_deadline(h, deadline, h->irq_hit ? WEFT_NEVER : deadline);
	if (h->irq_hit)
		host_wake(h, host_clock(h) + h->hp->p.irq_entry +
				     (isr ? 0 : h->hp->p.wake_up));
	host_block(h, HOST_IRQ);
	if (h->irq_hit) {
		h->irq_last = d;
		h->irq_rises = d->rises;
	}
	weft_count(h->hp->comp, HOST_C_IRQS, h->irq_hit);
	return h->irq_hit;
}

bool weft_host_irq_wait(struct weft_host *h, struct weft_dev *d,
			weft_time_t deadline)
{
	return irq_wait(h, d, deadline, false);
}

bool weft_host_isr_wait(struct weft_host *h, struct weft_dev *d,
			weft_time_t deadline)
{
	return irq_wait(h, d, deadline, true);
}

bool weft_host_isr_spin(struct weft_host *h, struct weft_dev *d,
			weft_time_t deadline)
{
	bool hit;

	h->spins = true;
	hit = irq_wait(h, d, deadline, true);
	h->spins = false;
	return hit;
}

weft_time_t weft_host_busy(struct weft_host *h)
{
	host_pass(h, 0);
	return h->busy;
}

weft_time_t weft_host_user(struct weft_host *h)
{
	host_pass(h, 0);
	return h->busy - h->kernel;
}

void weft_host_sleep(struct weft_host *h, weft_time_t until)
{
	host_pass(h, 0);
	if (until <= host_clock(h))
		return;
	if (until != WEFT_NEVER)
		host_wake(h, until);
	host_block(h, HOST_SLEEPS);
}

void weft_host_nap(struct weft_host *h, weft_time_t cost)
{
	weft_host_sleep(h, weft_host_now(h) + cost);
}

weft_time_t weft_host_now(struct weft_host *h)
{
	/* Each read of the clock takes time, because otherwise a loop that
	 * reads the clock until a deadline would never end. */
	host_pass(h, h->hp->p.cost_clock);
	return host_clock(h);
}

void weft_host_cpu(struct weft_host *h, weft_time_t cost)
{
	host_pass(h, cost);
}

void weft_host_copy(struct weft_host *h, void *dst, const void *src, size_t n)
{
	weft_prog_copy(h, n);
	weft_host_move(h, dst, src, n);
}

void weft_host_move(struct weft_host *h, void *dst, const void *src, size_t n)
{
	if (n)
		mem_copy(&h->hp->mem, dst, src, n);
}

/* ---- for the report at the end ---- */

void host_wait_describe(const struct weft_host *h, char *buf, size_t size)
{
	static const char *const name[HOST_WAIT_N] = {
		[HOST_RUNS] = "its first turn",
		[HOST_BUSY] = "its processor",
		[HOST_SLEEPS] = "its alarm",
		[HOST_BRIDGE] = "the bridge to the bus",
		[HOST_DEVICE] = "another program that sizes the device",
		[HOST_IDLE] = "a light process that is ready",
		[HOST_WORD] = "another thread to wake it",
		[HOST_OUTSIDE] = "somebody outside",
	};

	if (h->wait == HOST_POLLS) {
		const void *p =
			h->poll_p ? (const void *)h->poll_p : h->poll_watch->p;
		size_t n = h->poll_p ? sizeof(*h->poll_p) : h->poll_watch->n;
		weft_phys_t phys = 0;

		mem_phys(&h->hp->mem, p, &phys);
		snprintf(buf, size,
			 "a store to its memory at 0x%" PRIx64 ", %zu bytes",
			 phys, n);
	} else if (h->wait == HOST_IRQ) {
		snprintf(buf, size, "an interrupt of device %u",
			 h->irq_dev->index);
	} else if (h->wait == HOST_KEY) {
		snprintf(buf, size, "the out-of-band key '%s'", h->key);
	} else {
		snprintf(buf, size, "%s", name[h->wait]);
	}
}
