/* SPDX-License-Identifier: Apache-2.0 */
/* One line on the terminal while a run lasts; nothing when piped. */
#include <stdio.h>
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

void progress_sim(struct progress *p, struct weft_sim *sim, weft_time_t until)
{
	uint64_t now = wall_ns();
	double s = (double)(now - p->start_ns) * 1e-9;
	double us = (double)weft_sim_now(sim) * 1e-9;
	double mev = (double)weft_sim_events(sim) * 1e-6;

	if (!p->on)
		return;

	p->shown = true;
	fprintf(stderr,
		"\r\033[K%s: %.6g us simulated  %.3g M events  "
		"%.2f M/s",
		p->name, us, mev, s > 0 ? mev / s : 0.0);
	if (until != WEFT_NEVER && p->total <= 1)
		progress_left(us * 1e9 / (double)until, s);
	else if (p->total > 1)
		fprintf(stderr, "  point %zu of %zu", p->done + 1, p->total);
	fflush(stderr);
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
}
