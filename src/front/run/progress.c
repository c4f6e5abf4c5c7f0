/* SPDX-License-Identifier: Apache-2.0 */
/* One line on the terminal while a run lasts; nothing when piped. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "front/run/run.h"

uint64_t progress_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

void progress_start(struct progress *p, const struct run_opts *o,
		    const char *name, size_t total)
{
	const char *term = getenv("TERM");
	bool dumb = term && !strcmp(term, "dumb");

	*p = (struct progress){ .on = !o->quiet && isatty(2) && !dumb,
				.name = name,
				.total = total,
				.part = o->part,
				.parts = o->parts,
				.start_ns = progress_now() };
	p->began_ns = o->parts ? o->began_ns : p->start_ns;
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

/* The line's begin: which experiment of how many. */
static void progress_head(const struct progress *p)
{
	fprintf(stderr, "\r\033[K");
	if (p->parts > 1)
		fprintf(stderr, "%zu of %zu, ", p->part + 1, p->parts);
	fprintf(stderr, "%s: ", p->name);
}

/* `share` of this experiment is done. */
static void progress_left(const struct progress *p, uint64_t now, double share)
{
	double s = (double)(now - p->began_ns) * 1e-9;

	if (p->parts > 1)
		share = ((double)p->part + share) / (double)p->parts;
	if (share > 0)
		fprintf(stderr, "  %2.0f %%  %.0f s left", share * 100,
			s * (1 - share) / share);
	fflush(stderr);
}

void progress_sim(struct progress *p, struct weft_sim *sim, weft_time_t until)
{
	uint64_t now = progress_now();
	double s = (double)(now - p->start_ns) * 1e-9, share = 0;
	double us = (double)weft_sim_now(sim) * 1e-9;
	double mev = (double)weft_sim_events(sim) * 1e-6;

	if (!p->on)
		return;

	p->shown = true;
	progress_head(p);
	fprintf(stderr, "%.6g us simulated  %.3g M events  %.2f M/s", us, mev,
		s > 0 ? mev / s : 0.0);
	if (until != WEFT_NEVER)
		share = us * 1e9 / (double)until;
	if (p->total > 1) {
		fprintf(stderr, "  point %zu of %zu", p->done + 1, p->total);
		share = ((double)p->done + share) / (double)p->total;
	}
	progress_left(p, now, share);
}

void progress_points(struct progress *p, size_t done)
{
	uint64_t now = progress_now();

	p->done = done;
	if (p->total <= 1 || !progress_due(p, now))
		return;
	progress_head(p);
	fprintf(stderr, "%zu of %zu points", done, p->total);
	progress_left(p, now, (double)done / (double)p->total);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fprintf(stderr, "\r\033[K");
}
