/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of a program, and drivers, which run as the kernel of a node.
 * Contract: weft/host.h.
 *
 * Not modelled: sharing of processors between threads, signals. A killed thread
 * ends at the next point at which it waits outside the kernel. */
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/host_internal.h"
#include "host/prog.h"

/* The running thread, for functions without a handle. This is the only global
 * variable of the host (scripts/check-globals.py allows it). Each thread of the
 * operating system that runs a simulation has its own copy, which is set only
 * while a program runs. */
static _Thread_local struct weft_host *host_self_;

struct weft_host *host_running(struct weft_host *h)
{
	struct weft_host *before = host_self_;

	host_self_ = h;
	return before;
}

struct weft_host *weft_host_self(void)
{
	return host_self_;
}

void weft_host_log(struct weft_host *h, const char *fmt, ...)
{
	char line[256];
	va_list ap;

	if (h->hp->logged == WEFT_LOG_LINES)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	fprintf(stderr, "%s, %.3f us: %s%s\n", h->prog->name,
		(double)weft_host_now(h) / (double)WEFT_US, line,
		++h->hp->logged == WEFT_LOG_LINES ? " (the last line)" : "");
}

/* ---- threads ---- */

static int host_kernel_started(struct weft_host *h)
{
	return h->fn(h, h->arg);
}

struct weft_host *weft_thread_start(struct weft_host *h,
				    int (*fn)(struct weft_host *h, void *arg),
				    void *arg)
{
	struct weft_host *t = host_thread_new(h->hp->comp, h->prog);

	host_pass(h, 0);
	t->background = true;
	t->entry = host_kernel_started;
	t->fn = fn;
	t->arg = arg;
	t->proc = h->proc;
	t->owner = h->owner;
	t->driver = h->driver || h->calls;
	host_wake(t, weft_now(h->hp->comp));
	return t;
}

struct weft_host *weft_prog_process(struct weft_host *h,
				    int (*fn)(struct weft_host *h, void *arg),
				    void *arg)
{
	struct weft_proc *p = weft_proc_new(h, 0);
	struct weft_host *t = p ? weft_thread_start(h, fn, arg) : NULL;

	if (!t)
		return NULL;
	t->process = true;
	t->proc = p;
	t->owner = p; /* unique, because p stays allocated until the run ends */
	return t;
}

bool weft_host_wait(struct weft_host *h, const uint32_t *p, uint32_t old,
		    weft_time_t deadline)
{
	weft_time_t now;

	host_pass(h, 0);
	if (*p != old)
		return true;
	now = weft_now(h->hp->comp);
	if (deadline <= now)
		return false;
	host_deadline(h, deadline, deadline);
	h->word = p;
	host_block(h, HOST_WORD);
	h->word = NULL;
	return *p != old;
}

/* Returns the time at which a polling loop that begins at `start` ends: the end
 * of its first iteration that ends at the deadline or later. */
static weft_time_t spin_end(weft_time_t start, weft_time_t period,
			    weft_time_t deadline)
{
	weft_time_t left = deadline > start ? deadline - start : 0;
	uint64_t turns = left / period + (left % period != 0);

	if (deadline >= WEFT_PROG_KICKED)
		return deadline;
	return start + (turns ? turns : 1) * period;
}

weft_time_t weft_host_spin(struct weft_host *h, const uint32_t *p, uint32_t old,
			   weft_time_t turn, weft_time_t deadline)
{
	weft_time_t period = turn + h->hp->p.cost_clock;
	weft_time_t start, end, into;
	bool woken;

	host_pass(h, 0);
	if (*p != old)
		return 0;
	start = weft_now(h->hp->comp);
	period = period ? period : 1;
	end = spin_end(start, period, deadline);
	host_deadline(h, end, end);
	h->word = p;
	h->spins = true;
	host_block(h, HOST_WORD);
	h->spins = false;
	woken = !h->word; /* weft_host_wake clears h->word */
	h->word = NULL;
	if (!woken)
		return WEFT_NEVER;
	into = (weft_now(h->hp->comp) - start) % period;
	if (into <= turn)
		return into;
	host_pass(h, period - into); /* completes the read of the clock that is
				      * in progress */
	return weft_now(h->hp->comp) < deadline ? 0 : WEFT_NEVER;
}

void weft_host_wake(struct weft_host *h, const uint32_t *p)
{
	struct host *hp = h->hp;

	host_pass(h, 0);
	for (size_t i = 0; i < hp->threads.n; i++) {
		struct weft_host *t = hp->threads.at[i];

		if (t->wait != HOST_WORD || t->word != p)
			continue;
		t->word = NULL; /* so that it is woken once only */
		/* cancels the wake-up at the deadline */
		t->resume_at = WEFT_NEVER;
		host_wake(t,
			  weft_now(hp->comp) + (t->spins ? 0 : hp->p.wake_up));
	}
}

/* ---- the end of a program ---- */

void host_check_killed(struct weft_host *h)
{
	if (!h->calls && h->ending) {
		h->killed = false;
		longjmp(*h->ending, 1);
	}
}

/* Ends the thread now, or when its driver call returns. */
void weft_prog_kill(struct weft_host *h)
{
	if (h->wait == HOST_ENDED)
		return;
	h->killed = true;
	if (h->wait == HOST_SLEEPS || h->wait == HOST_POLLS ||
	    h->wait == HOST_IRQ || h->wait == HOST_WORD ||
	    h->wait == HOST_KEY || h->wait == HOST_OUTSIDE)
		host_wake(h, weft_now(h->hp->comp));
}

void weft_host_exit(struct weft_host *h, int status)
{
	struct weft_host *first = NULL;

	for (size_t i = 0; i < h->hp->threads.n && !first; i++)
		if (h->hp->threads.at[i]->prog == h->prog &&
		    !h->hp->threads.at[i]->entry)
			first = h->hp->threads.at[i];
	assert(first);
	first->ret = status;
	if (first != h)
		weft_prog_kill(first);
	h->ret = first == h ? status : 0;
	assert(h->ending);
	longjmp(*h->ending, 1);
}

/* ---- drivers ---- */

bool weft_drv_set(struct weft_host *h, struct weft_dev *d,
		  const struct weft_drv *drv)
{
	if (h->proc || d->drv.call)
		return host_refuse(h);
	d->drv = *drv;
	return true;
}

int weft_drv_call(struct weft_host *h, struct weft_dev *d, uint32_t op,
		  void *arg)
{
	struct weft_proc *was = h->proc;
	int ret;

	if (!d->drv.call)
		return -ENODEV;
	h->proc = NULL;
	if (!h->calls++)
		h->caller = was;
	ret = d->drv.call(h, d->drv.own, op, arg);
	h->calls--;
	if (!h->proc)
		h->proc = was;
	if (h->killed)
		host_check_killed(h);
	return ret;
}

struct weft_proc *weft_proc_self(struct weft_host *h)
{
	return h->calls ? h->caller : h->proc;
}

void weft_prog_alone(struct weft_host *h)
{
	bool left = h->proc;

	while (left) {
		left = false;
		for (size_t i = 0; i < h->hp->threads.n; i++) {
			struct weft_host *t = h->hp->threads.at[i];

			if (t == h || t->prog != h->prog ||
			    t->wait == HOST_ENDED ||
			    weft_proc_self(t) != h->proc)
				continue;
			weft_prog_kill(t);
			left = true;
		}
		if (left)
			weft_host_sleep(h, weft_now(h->hp->comp) + WEFT_US);
	}
}

void host_process_gone(struct weft_host *h)
{
	struct weft_proc *p = h->proc;

	h->killed = false;
	if (!p)
		return;
	weft_prog_alone(h);
	h->proc = NULL;
	for (size_t i = 0; i < h->hp->devs.n; i++) {
		const struct weft_drv *drv = &h->hp->devs.at[i]->drv;

		h->calls++;
		if (drv->gone)
			drv->gone(h, drv->own, p);
		h->calls--;
	}
	if (h->process)
		mem_free_all(&h->hp->mem, h->owner);
}
