/* SPDX-License-Identifier: Apache-2.0 */
/* One line on the terminal while a run lasts; nothing when piped. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "front/run/run.h"

static uint64_t wall_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void progress_start(struct progress *p, bool quiet, const char *name,
		    size_t total)
{
	*p = (struct progress){ .on = !quiet && isatty(2),
				.name = name,
				.until = WEFT_NEVER,
				.total = total,
				.start_ns = wall_ns() };
}

/* At most five times a second. */
static bool progress_due(struct progress *p, uint64_t now)
{
	if (!p->on || now - p->shown_ns < 200000000u)
		return false;
	p->shown_ns = now;
	p->shown = true;
	return true;
}

static void progress_left(double share, double seconds)
{
	if (share <= 0)
		return;
	fprintf(stderr, "  %2.0f %%  %.0f s left", share * 100,
		seconds * (1 - share) / share);
}

/* What the signal handler sees: one process shows one line. */
static struct weft_sim *volatile watched;
static volatile sig_atomic_t ticked;

static void progress_tick(int sig)
{
	ticked = 1;
	if (watched)
		weft_sim_stop(watched);
}

static void progress_timer(struct progress *p, bool on)
{
	struct itimerval tv = { { 0, on ? 200000 : 0 },
				{ 0, on ? 200000 : 0 } };
	struct sigaction sa = { .sa_handler = on ? progress_tick : SIG_IGN,
				.sa_flags = SA_RESTART | SA_ONSTACK };
	stack_t st = { .ss_size = 65536 };

	if (on && !p->stack) {
		p->stack = malloc(st.ss_size);
		if (!p->stack)
			abort();
	}
	st.ss_sp = p->stack;
	st.ss_flags = on ? 0 : SS_DISABLE;
	if (on)
		sigaltstack(&st, NULL);
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &tv, NULL);
	if (!on)
		sigaltstack(&st, NULL);
}

void progress_watch(struct progress *p, struct weft_sim *sim)
{
	if (!p->on)
		return;
	if (!sim)
		progress_timer(p, false);
	ticked = 0;
	watched = p->sim = sim;
	if (sim)
		progress_timer(p, true);
}

bool progress_sim(struct progress *p)
{
	uint64_t now = wall_ns();
	double s = (double)(now - p->start_ns) * 1e-9;

	if (!p->on || !ticked)
		return false;
	ticked = 0;

	double us = (double)weft_sim_now(p->sim) * 1e-9;
	double mev = (double)weft_sim_events(p->sim) * 1e-6;

	p->shown = true;
	fprintf(stderr,
		"\r\033[K%s: %.6g us simulated  %.3g M events  "
		"%.2f M/s",
		p->name, us, mev, s > 0 ? mev / s : 0.0);
	if (p->until != WEFT_NEVER && p->total <= 1)
		progress_left(us * 1e9 / (double)p->until, s);
	else if (p->total > 1)
		fprintf(stderr, "  point %zu of %zu", p->done + 1, p->total);
	fflush(stderr);
	return true;
}

void progress_points(struct progress *p, size_t done)
{
	uint64_t now = wall_ns();

	p->done = done;
	if (p->total <= 1 || !progress_due(p, now))
		return;
	fprintf(stderr, "\r\033[K%s: %zu of %zu points", p->name, done,
		p->total);
	progress_left((double)done / (double)p->total,
		      (double)(now - p->start_ns) * 1e-9);
	fflush(stderr);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fprintf(stderr, "\r\033[K");
	free(p->stack);
	p->stack = NULL;
}
