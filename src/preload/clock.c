/* SPDX-License-Identifier: Apache-2.0 */
/* Shows simulated time to the program's code, and real time to all other code.
 * Time of day starts at 2000-01-01 00:00:00 UTC, so that a date in a result
 * file is equal in every run.
 *
 * Not simulated: processor time (CLOCK_PROCESS_CPUTIME_ID, clock()), sleeping
 * (except in raw.c) and timers. */
#include "preload/preload.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { YEAR_2000 = 946684800 };

/* Returns true and stores simulated time in *t, if clocks show simulated time
 * to this caller. */
static bool clock_shown(const void *caller, weft_time_t *t)
{
	struct weft_att *a;

	if (pre_raw_now(caller, t))
		return true;
	if (!pre_is_program(caller))
		return false;
	a = pre_attach();
	if (!pre_timed(a))
		return false;
	*t = pre_now(a);
	return true;
}

static int real_clock(clockid_t id, struct timespec *ts)
{
	static int (*next)(clockid_t, struct timespec *);

	if (!next)
		next = pre_next("clock_gettime");
	return next ? next(id, ts) : (int)syscall(SYS_clock_gettime, id, ts);
}

static bool of_day(clockid_t id)
{
	return id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE ||
	       id == CLOCK_TAI;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	/* Ids below 0 are clocks of other processes and threads. */
	bool of_processor = id == CLOCK_PROCESS_CPUTIME_ID ||
			    id == CLOCK_THREAD_CPUTIME_ID || id < 0;
	weft_time_t t;

	if (of_processor || !clock_shown(__builtin_return_address(0), &t))
		return real_clock(id, ts);
	ts->tv_sec = (time_t)(t / WEFT_SEC) + (of_day(id) ? YEAR_2000 : 0);
	ts->tv_nsec = (long)(t % WEFT_SEC / WEFT_NS);
	return 0;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts;
	weft_time_t t;

	if (clock_shown(__builtin_return_address(0), &t)) {
		tv->tv_sec = (time_t)(t / WEFT_SEC) + YEAR_2000;
		tv->tv_usec = (suseconds_t)(t % WEFT_SEC / WEFT_US);
		return 0;
	}
	real_clock(CLOCK_REALTIME, &ts);
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *p)
{
	struct timespec ts;
	weft_time_t t;

	if (clock_shown(__builtin_return_address(0), &t))
		ts.tv_sec = (time_t)(t / WEFT_SEC) + YEAR_2000;
	else
		real_clock(CLOCK_REALTIME, &ts);
	if (p)
		*p = ts.tv_sec;
	return ts.tv_sec;
}

/* ---- clocks of C++ and OpenMP ---- */

static int64_t ns_of(clockid_t id, const void *caller)
{
	struct timespec ts;
	weft_time_t t;

	if (clock_shown(caller, &t))
		return (int64_t)(t / WEFT_NS) +
		       (of_day(id) ? (int64_t)YEAR_2000 * 1000000000 : 0);
	real_clock(id, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

double omp_get_wtime(void);
double omp_get_wtime(void)
{
	return (double)ns_of(CLOCK_MONOTONIC, __builtin_return_address(0)) *
	       1e-9;
}

/* std::chrono */
int64_t _ZNSt6chrono3_V212steady_clock3nowEv(void);
int64_t _ZNSt6chrono3_V212steady_clock3nowEv(void)
{
	return ns_of(CLOCK_MONOTONIC, __builtin_return_address(0));
}

int64_t _ZNSt6chrono3_V212system_clock3nowEv(void);
int64_t _ZNSt6chrono3_V212system_clock3nowEv(void)
{
	return ns_of(CLOCK_REALTIME, __builtin_return_address(0));
}
