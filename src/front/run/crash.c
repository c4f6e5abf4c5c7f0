/* SPDX-License-Identifier: Apache-2.0 */
/* Reports on a crash which component was running and at which time, because
 * most crashes happen in a plug-in or a program. The previous signal handler (a
 * sanitizer's, or none) runs afterwards. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "front/run/run.h"
#include "host/prog.h"

static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
enum { CRASHES = sizeof(crashes) / sizeof(crashes[0]) };

/* The state is global, because a signal handler gets no argument. One process
 * runs one simulation at a time. */
static struct weft_sim *volatile running;
static struct sigaction before[CRASHES];

static void handlers_restore(void)
{
	for (int i = 0; i < CRASHES; i++)
		sigaction(crashes[i], &before[i], NULL);
}

/* Reports a crash. Some of its calls are not allowed in a signal handler, but
 * the process ends anyway. When the function returns, the instruction that
 * crashed runs again, so that the previous handler gets the signal. */
static void crashed(int sig, siginfo_t *info, void *context)
{
	const struct weft_host *h = weft_host_self();
	const struct weft_comp *c =
		h ? weft_prog_of(h) : weft_sim_current(running);
	weft_time_t now = weft_sim_now(running);
	char time[32], line[256], where[32] = "";
	int n;

	handlers_restore();
	units_print(WEFT_P_TIME, "", &now, time, sizeof(time));
	if (sig != SIGABRT)
		snprintf(where, sizeof(where), ", address %p", info->si_addr);
	n = snprintf(line, sizeof(line),
		     "weft: %s in %s%s%s%s at %s of simulated time%s\n",
		     strsignal(sig), c ? c->name : "the simulator",
		     c ? " (" : "", c ? c->cls->name : "", c ? ")" : "", time,
		     where);
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		return;
}

void crash_watch(struct weft_sim *sim)
{
	struct sigaction sa = { .sa_sigaction = crashed,
				.sa_flags = SA_ONSTACK | SA_SIGINFO };

	if (running)
		handlers_restore();
	running = sim;
	for (int i = 0; sim && i < CRASHES; i++)
		sigaction(crashes[i], &sa, &before[i]);
}
