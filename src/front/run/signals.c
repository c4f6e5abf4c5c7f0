/* SPDX-License-Identifier: Apache-2.0 */
/* Handles signals during a run: a tick for the progress line, and the user's
 * request to end (SIGINT, SIGTERM, or SIGHUP when the terminal has gone).
 * Handlers only stop the simulation between two events, and the run then
 * handles the signal. Handlers use a separate stack, because programs have
 * small stacks.
 *
 * A program that spins without a call never returns to the simulation.
 * Therefore the process is killed when the run uses two more seconds of
 * processor time after the request. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "front/run/run.h"
#include "host/prog.h"

enum { SECOND_SIGNAL_S = 2 }; /* seconds of processor time after the request */

static const int wishes[] = { SIGINT, SIGTERM, SIGHUP };
enum { WISHES = sizeof(wishes) / sizeof(wishes[0]) };

/* The state is global, because signal handlers get no argument. One process
 * runs one simulation at a time. */
static struct weft_sim *volatile watched;
static volatile sig_atomic_t ticked, caught, worker;
static volatile clock_t wished; /* processor time used at the time of the
				 * request */
static volatile pid_t ward;
static char stack[65536] __attribute__((aligned(16)));

static void signals_timer(bool on)
{
	struct itimerval tv = { { 0, on ? 200000 : 0 },
				{ 0, on ? 200000 : 0 } };

	setitimer(ITIMER_REAL, &tv, NULL);
}

static void on_tick(int sig)
{
	struct weft_host *h = weft_host_self();
	char line[200];
	int n;

	ticked = 1;
	if (!watched)
		return;
	weft_sim_stop(watched);
	if (!caught || clock() - wished <= SECOND_SIGNAL_S * CLOCKS_PER_SEC)
		return;
	/* Kills the process, because the run does not react to the signal. */
	n = snprintf(
		line, sizeof(line),
		"weft: %s computes without a call and does not come back: the run is ended, without results\n",
		h ? weft_prog_of(h)->name : "the simulation");
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		n = 0;
	signal(caught, SIG_DFL);
	raise(caught);
}

/* Asks the run to stop. A second signal kills the process. A timer repeats the
 * request, because a run that is just starting misses the first one. */
static void on_wish(int sig)
{
	if (ward) {
		kill(ward, SIGTERM);
		ward = 0;
		return;
	}
	if (caught && !worker) {
		signal(sig, SIG_DFL);
		raise(sig);
		return;
	}
	caught = sig;
	wished = clock();
	if (watched)
		weft_sim_stop(watched);
	signals_timer(true);
}

static void signals_handle(int sig, void (*handler)(int))
{
	struct sigaction sa = { .sa_handler = handler,
				.sa_flags = SA_RESTART | SA_ONSTACK };
	stack_t st = { .ss_sp = stack, .ss_size = sizeof(stack) };

	sigaltstack(&st, NULL);
	sigaction(sig, &sa, NULL);
}

void signals_catch(bool on)
{
	struct sigaction sa;
	caught = 0;
	if (on)
		signals_handle(SIGALRM, on_tick);
	for (int i = 0; i < WISHES; i++) {
		/* A signal stays ignored if nohup(1) or a background shell
		 * ignores it. */
		if (!sigaction(wishes[i], NULL, &sa) &&
		    sa.sa_handler == SIG_IGN)
			continue;
		signals_handle(wishes[i], on ? on_wish : SIG_DFL);
	}
	if (!on)
		signals_timer(false);
}

void signals_worker(void)
{
	worker = 1;
	/* The request is cleared, because the parent sends the signal to its
	 * workers itself. */
	if (caught)
		caught = 0;
	signal(SIGINT, SIG_IGN);
}

void signals_ward(pid_t pid)
{
	ward = pid;
}

int signals_caught(void)
{
	return caught;
}

void signals_watch(struct weft_sim *sim, bool ticks)
{
	ticked = 0;
	watched = sim;
	if (!sim && !caught)
		signals_timer(false);
	if (!sim || !ticks)
		return;
	signals_handle(SIGALRM, on_tick);
	signals_timer(true);
}

bool signals_ticked(void)
{
	bool res = ticked;

	ticked = 0;
	return res;
}
