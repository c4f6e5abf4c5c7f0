/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether the process takes part in the run, and which addresses are
 * code of the program. Libraries of the system (PMIx, libevent, libfabric) keep
 * real time. Libraries named in WEFT_TIME_LIBS (parts of file names, separated
 * by ':') count as the program. */
#include "base/minmax.h"
#include "preload/preload.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { RANGES = 32 };

static struct {
	struct range {
		uintptr_t from, to;
	} range[RANGES];
	unsigned int n_ranges;
	bool member; /* the process has MPI or libfabric */
	struct weft_att *_Atomic att;
	pthread_t thread; /* thread that has attached the process */
	_Atomic weft_time_t last;
} the;

/* Searches libraries of MPI by name, too, because the global search does not
 * find a library that was loaded locally. */
void *pre_next(const char *name)
{
	static const char *const libs[] = {
		"libmpi.so.40",	      "libmpi.so.12",	  "libmpich.so.12",
		"libmpi_mpifh.so.40", "libmpifort.so.12", "libmpichfort.so.12"
	};
	void *p = dlsym(RTLD_NEXT, name), *lib;

	for (size_t i = 0; !p && i < sizeof(libs) / sizeof(libs[0]); i++) {
		lib = dlopen(libs[i], RTLD_LAZY | RTLD_NOLOAD);
		if (lib) {
			p = dlsym(lib, name);
			dlclose(lib);
		}
	}
	return p;
}

/* ---- whose code ---- */

static bool preload_named(const char *file, const char *list)
{
	size_t n;

	for (; list && *list; list += n + (list[n] == ':')) {
		n = strcspn(list, ":");
		for (const char *p = file; n && strlen(p) >= n; p++)
			if (!strncmp(p, list, n))
				return true;
	}
	return false;
}

/* Adds the address range of an object. The first object is the program. */
static int see_object(struct dl_phdr_info *o, size_t size, void *arg)
{
	unsigned int *seen = arg;
	struct range r = { UINTPTR_MAX, 0 };

	if ((*seen)++ && !preload_named(o->dlpi_name, getenv("WEFT_TIME_LIBS")))
		return 0;
	for (int i = 0; i < o->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &o->dlpi_phdr[i];
		uintptr_t at = o->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD)
			continue;
		r.from = min_of(at, r.from);
		r.to = max_of(at + p->p_memsz, r.to);
	}
	if (the.n_ranges < RANGES)
		the.range[the.n_ranges++] = r;
	return 0;
}

/* Finds the program's code before the program starts, while one thread exists.
 * pthread_once() in the first call of clock_gettime() would not work for two
 * reasons. dlsym() allocates memory to report a missing name, so that an
 * allocator that reads the clock would call clock_gettime() again and wait for
 * itself. Another thread may hold the loader's lock in dlopen() and wait for
 * the thread that calls dlsym(). */
static void __attribute__((constructor)) look_around(void)
{
	unsigned int seen = 0;

	dl_iterate_phdr(see_object, &seen);
	the.member =
		dlsym(RTLD_NEXT, "PMPI_Init") || dlsym(RTLD_NEXT, "fi_getinfo");
}

bool pre_is_program(const void *caller)
{
	uintptr_t at = (uintptr_t)caller;

	for (unsigned int i = 0; i < the.n_ranges; i++)
		if (at >= the.range[i].from && at < the.range[i].to)
			return true;
	return false;
}

/* ---- the attachment ---- */

struct weft_att *pre_att(void)
{
	return atomic_load(&the.att);
}

struct weft_att *pre_attach(void)
{
	struct weft_att *a = pre_att();

	if (a || !the.member || !getenv("WEFT_SOCKET") || weft_att_open(&a))
		return a;
	the.thread = pthread_self();
	atomic_store(&the.att, a);
	return a;
}

void __attribute__((destructor)) pre_detach(void)
{
	struct weft_att *a = atomic_exchange(&the.att, NULL);

	if (a)
		weft_att_close(a);
}

bool pre_timed(const struct weft_att *a)
{
	return a && weft_att_info(a)->clock != WEFT_CLOCK_NONE;
}

bool pre_my_turn(void)
{
	return pthread_equal(the.thread, pthread_self());
}

void pre_now_is(weft_time_t t)
{
	atomic_store(&the.last, t);
}

/* Returns simulated time. Only the attached thread may ask the simulator. Other
 * threads may run at any moment, so they get the time that the process last
 * received. Each of their calls advances that time a little, because a loop
 * that waits for a time would not end otherwise. */
weft_time_t pre_now(struct weft_att *a)
{
	weft_time_t last = atomic_load(&the.last), t;

	if (pre_my_turn()) {
		t = weft_att_now(a);
		pre_now_is(t);
		return t;
	}
	do {
		t = weft_att_seen_after(a, last);
	} while (!atomic_compare_exchange_weak(&the.last, &last, t));
	return t;
}
