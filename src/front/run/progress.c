/* SPDX-License-Identifier: Apache-2.0 */
/* Shows one line on the terminal while a run lasts. Shows nothing on a pipe. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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

/* Prints one line, cut to the width of the terminal. A longer line would wrap,
 * and the next call would erase only its last part. */
static void progress_say(const char *fmt, ...)
{
	struct winsize w;
	char line[512];
	va_list ap;
	int n, columns = 80;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	n = n < (int)sizeof(line) ? n : (int)sizeof(line) - 1;
	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &w) && w.ws_col)
		columns = w.ws_col;
	if (n >= columns)
		n = columns - 1;
	fprintf(stderr, "\r\033[K%.*s", n, line);
	fflush(stderr);
}

/* Writes the start and the end of the progress line. `head` receives the number
 * of this experiment, and `left` the remaining time. `share` is the finished
 * part of this experiment. */
static void progress_ends(const struct progress *p, uint64_t now, double share,
			  char head[160], char left[64])
{
	double s = (double)(now - p->began_ns) * 1e-9;

	snprintf(head, 160, "%s: ", p->name);
	if (p->parts > 1) {
		snprintf(head, 160, "%zu of %zu, %s: ", p->part + 1, p->parts,
			 p->name);
		share = ((double)p->part + share) / (double)p->parts;
	}
	left[0] = '\0';
	if (share > 0)
		snprintf(left, 64, "%.0f %%, %.0f s left: ", share * 100,
			 s * (1 - share) / share);
}

void progress_sim(struct progress *p, struct weft_sim *sim, weft_time_t until)
{
	uint64_t now = progress_now();
	double s = (double)(now - p->start_ns) * 1e-9, share = 0;
	double us = (double)weft_sim_now(sim) * 1e-9;
	double mev = (double)weft_sim_events(sim) * 1e-6;
	char head[160], left[64], point[64] = "";

	if (!p->on)
		return;

	p->shown = true;
	if (until != WEFT_NEVER)
		share = us * 1e9 / (double)until;
	if (p->total > 1) {
		snprintf(point, sizeof(point), "point %zu of %zu, ",
			 p->done + 1, p->total);
		share = ((double)p->done + share) / (double)p->total;
	}
	progress_ends(p, now, share, head, left);
	progress_say("%s%s%s%.6g us simulated, %.3g M events, %.2f M/s", head,
		     left, point, us, mev, s > 0 ? mev / s : 0.0);
}

void progress_points(struct progress *p, size_t done)
{
	uint64_t now = progress_now();
	char head[160], left[64];

	p->done = done;
	/* The line changes at most five times a second. */
	if (p->total <= 1 || !p->on || now - p->shown_ns < 200000000u)
		return;
	p->shown_ns = now;
	p->shown = true;
	progress_ends(p, now, (double)done / (double)p->total, head, left);
	progress_say("%s%s%zu of %zu points", head, left, done, p->total);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fprintf(stderr, "\r\033[K");
}
