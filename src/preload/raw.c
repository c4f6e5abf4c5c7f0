/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks and sleeps of a program that calls weft/host.h itself (weft exec
 * --raw, libweft). Clocks show the time of the program's simulated thread, and
 * sleeps let that time pass. A call takes the time that the host model charges
 * for it. */
#include "preload/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "host/times.h"
#include "weft/host.h"

/* Functions of libweft; all are NULL in a program that is not linked to it. */
static struct {
	struct weft_host *(*self)(void);
	weft_time_t (*now)(struct weft_host *h);
	void (*sleep)(struct weft_host *h, weft_time_t until);
	void (*cpu)(struct weft_host *h, weft_time_t cost);
	weft_time_t (*time)(const struct weft_host *h, enum host_time_id id);
} lib;

/* Finds the functions before the program starts, because dlsym() inside a call
 * of a clock could deadlock (see look_around() in preload.c). */
static void __attribute__((constructor)) find_libweft(void)
{
	lib.now = dlsym(RTLD_DEFAULT, "weft_host_now");
	lib.sleep = dlsym(RTLD_DEFAULT, "weft_host_sleep");
	lib.cpu = dlsym(RTLD_DEFAULT, "weft_host_cpu");
	lib.time = dlsym(RTLD_DEFAULT, "weft_host_time");
	if (getenv("WEFT_RAW") && lib.now && lib.sleep && lib.cpu && lib.time)
		lib.self = dlsym(RTLD_DEFAULT, "weft_host_self");
}

static struct weft_host *raw_thread(const void *caller)
{
	return lib.self && pre_is_program(caller) ? lib.self() : NULL;
}

bool pre_raw_now(const void *caller, weft_time_t *t)
{
	struct weft_host *h = raw_thread(caller);

	if (h)
		*t = lib.now(h);
	return h;
}

/* Sleeps in simulated time. Returns false if the caller must sleep in real
 * time. */
static bool raw_slept(const void *caller, weft_time_t t)
{
	struct weft_host *h = raw_thread(caller);

	if (h)
		lib.sleep(h, lib.now(h) + t);
	return h;
}

static int real_sleep(const struct timespec *want, struct timespec *left)
{
	int ret = clock_nanosleep(CLOCK_MONOTONIC, 0, want, left);

	if (ret)
		errno = ret;
	return ret ? -1 : 0;
}

int nanosleep(const struct timespec *want, struct timespec *left)
{
	if (raw_slept(__builtin_return_address(0),
		      (weft_time_t)want->tv_sec * WEFT_SEC +
			      (weft_time_t)want->tv_nsec * WEFT_NS))
		return 0;
	return real_sleep(want, left);
}

unsigned int sleep(unsigned int s)
{
	struct timespec want = { s, 0 }, left = { 0 };

	if (raw_slept(__builtin_return_address(0), s * WEFT_SEC) ||
	    !real_sleep(&want, &left))
		return 0;
	return (unsigned int)left.tv_sec + (left.tv_nsec > 0);
}

int usleep(useconds_t us)
{
	struct timespec want = { us / 1000000, us % 1000000 * 1000 };

	if (raw_slept(__builtin_return_address(0), us * WEFT_US))
		return 0;
	return real_sleep(&want, NULL);
}

int sched_yield(void)
{
	static int (*next)(void);
	struct weft_host *h = raw_thread(__builtin_return_address(0));

	if (!next)
		next = pre_next("sched_yield");
	if (!h)
		return next ? next() : 0;
	lib.cpu(h, lib.time(h, T_yield));
	return 0;
}
