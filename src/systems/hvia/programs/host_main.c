/* SPDX-License-Identifier: Apache-2.0 */
/* Program host.main runs an ordinary C program on a node. The C program has a
 * main() and is compiled as a shared object (cc -shared -fPIC). Each instance
 * loads its own copy, so that globals belong to its process. The C program may
 * call libraries of the simulator (vipl.h, and all public headers).
 *
 * The simulated machine provides its exit, abort, assert, clocks, sleep, malloc
 * and output to stdout and stderr. For all other functions the program calls
 * the C library of the simulator itself. Time passes only in calls of libraries
 * and in sleep. Therefore a loop that waits for a change of memory, but makes
 * no such call, never ends. */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/shared_object.h"
#include "host/prog.h"
#include "host/times.h"
#include "systems/hvia/programs/host_main_load.h"
#include "vipl.h"

/* largest argc: the name of the program, and as many words as 255 characters
 * can hold */
enum { ARGS = 129 };

struct mainp {
	char file[256], args[256], out[256], nic[64];
	void *dl;
	int fd;
	FILE *stdout_, *stderr_;
	char *argv[ARGS + 1];
	char words[256];
};

static struct mainp *host_main_self(void)
{
	return weft_prog_of(weft_host_self())->state;
}

/* ---- calls of the program that are replaced ---- */

static void my_exit(int status)
{
	struct mainp *p = host_main_self();

	fflush(p->stdout_);
	weft_host_exit(weft_host_self(), status);
}

static void my_abort(void)
{
	weft_check_failed(weft_prog_of(weft_host_self()), "aborted");
	my_exit(128 + 6);
}

static void my_assert_fail(const char *what, const char *file, unsigned line,
			   const char *fn)
{
	weft_check_failed(weft_prog_of(weft_host_self()),
			  "%s:%u: %s: assertion '%s' failed", file, line,
			  fn ? fn : "?", what);
	my_exit(128 + 6);
}

static int my_printf(const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vfprintf(host_main_self()->stdout_, fmt, ap);
	va_end(ap);
	return n;
}

static int my_printf_chk(int flag, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vfprintf(host_main_self()->stdout_, fmt, ap);
	va_end(ap);
	return n;
}

static int my_vprintf(const char *fmt, va_list ap)
{
	return vfprintf(host_main_self()->stdout_, fmt, ap);
}

static int my_puts(const char *s)
{
	return fprintf(host_main_self()->stdout_, "%s\n", s);
}

static int my_putchar(int c)
{
	return fputc(c, host_main_self()->stdout_);
}

static int my_clock_gettime(clockid_t id, struct timespec *ts)
{
	weft_time_t t = weft_host_now(weft_host_self());

	ts->tv_sec = (time_t)(t / WEFT_SEC);
	ts->tv_nsec = (long)(t % WEFT_SEC / WEFT_NS);
	return 0;
}

static int my_gettimeofday(struct timeval *tv, void *zone)
{
	struct timespec ts;

	my_clock_gettime(CLOCK_REALTIME, &ts);
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

static time_t my_time(time_t *to)
{
	struct timespec ts;

	my_clock_gettime(CLOCK_REALTIME, &ts);
	if (to)
		*to = ts.tv_sec;
	return ts.tv_sec;
}

static void sleep_for(weft_time_t t)
{
	struct weft_host *h = weft_host_self();

	weft_host_sleep(h, weft_host_now(h) + t);
}

static unsigned my_sleep(unsigned s)
{
	sleep_for(s * WEFT_SEC);
	return 0;
}

static int my_usleep(useconds_t us)
{
	sleep_for(us * WEFT_US);
	return 0;
}

static int my_nanosleep(const struct timespec *want, struct timespec *left)
{
	sleep_for((weft_time_t)want->tv_sec * WEFT_SEC +
		  (weft_time_t)want->tv_nsec * WEFT_NS);
	return 0;
}

static int my_yield(void)
{
	weft_host_cpu(weft_host_self(),
		      weft_host_time(weft_host_self(), T_yield));
	return 0;
}

static int my_gethostname(char *name, size_t n)
{
	snprintf(name, n, "n%u", weft_host_node(weft_host_self()));
	return 0;
}

/* Opens the NIC that the parameter `nic` names. Opens `name` if the parameter
 * is empty. The parameter exists because programs take names from files or
 * environments, or expect NICs of other makers. */
static VIP_RETURN my_open_nic(const VIP_CHAR *name, VIP_NIC_HANDLE *nic)
{
	const struct mainp *p = host_main_self();

	return VipOpenNic(*p->nic ? p->nic : name, nic);
}

#define CODE(fn) ((void *)(uintptr_t)(fn))

static bool lead_in(struct mainp *p)
{
	const struct main_sym tab[] = {
		{ "exit", CODE(my_exit) },
		{ "_exit", CODE(my_exit) },
		{ "_Exit", CODE(my_exit) },
		{ "abort", CODE(my_abort) },
		{ "__assert_fail", CODE(my_assert_fail) },
		{ "printf", CODE(my_printf) },
		{ "__printf_chk", CODE(my_printf_chk) },
		{ "vprintf", CODE(my_vprintf) },
		{ "puts", CODE(my_puts) },
		{ "putchar", CODE(my_putchar) },
		{ "stdout", &p->stdout_ },
		{ "stderr", &p->stderr_ },
		{ "clock_gettime", CODE(my_clock_gettime) },
		{ "gettimeofday", CODE(my_gettimeofday) },
		{ "time", CODE(my_time) },
		{ "sleep", CODE(my_sleep) },
		{ "usleep", CODE(my_usleep) },
		{ "nanosleep", CODE(my_nanosleep) },
		{ "sched_yield", CODE(my_yield) },
		{ "gethostname", CODE(my_gethostname) },
		{ "VipOpenNic", CODE(my_open_nic) },
		{ NULL },
	};

	return main_redirect(p->dl, tab) && main_redirect(p->dl, main_mem);
}

/* ---- output ---- */

/* Writes lines to stderr with the program's name at their beginning. */
static ssize_t host_main_say(void *cookie, const char *buf, size_t n)
{
	const struct weft_comp *c = cookie;
	const char *at = buf, *end = buf + n;

	while (at < end) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((nl ? nl : end) - at);

		fprintf(stderr, "%s: %.*s\n", c->name, (int)len, at);
		at += len + 1;
	}
	return (ssize_t)n;
}

static FILE *out_open(struct weft_comp *c, const char *file)
{
	cookie_io_functions_t io = { .write = host_main_say };
	FILE *f = *file ? fopen(file, "w") : fopencookie(c, "w", io);

	if (f)
		setvbuf(f, NULL, _IOLBF, 0);
	return f;
}

/* ---- set-up, run ---- */

static int mainp_init(struct weft_comp *c, struct weft_err *err)
{
	struct mainp *p = c->state;
	char why[256];

	if (!*p->file)
		return weft_fail(
			err, EINVAL,
			"%s: file: which program? Give a shared object (cc -shared -fPIC)",
			c->name);
	if (!shared_object_exports(p->file, "main", why, sizeof(why)))
		return weft_fail(err, EINVAL, "%s: %.200s: %.200s", c->name,
				 p->file, why);
	return 0;
}

static int mainp_main(struct weft_comp *c)
{
	struct mainp *p = c->state;
	int (*fn)(int argc, char **argv, char **env);
	char *save = NULL, *word, why[256];
	bool ok = false;
	int n = 0, ret;

	/* Loads the program when the machine runs, never while an experiment is
	 * checked. Loading runs code of the file, and opening the output
	 * replaces a file. */
	p->dl = main_load(p->file, &p->fd, why, sizeof(why));
	p->stdout_ = out_open(c, p->out);
	p->stderr_ = out_open(c, "");
	if (!p->dl)
		weft_check_failed(c, "%.200s: %.200s", p->file, why);
	else if (!p->stdout_ || !p->stderr_)
		weft_check_failed(c, "out: cannot write '%.200s'", p->out);
	else if (!lead_in(p))
		weft_check_failed(c, "cannot change %.200s", p->file);
	else
		ok = true;
	if (!ok)
		return -ENOEXEC;
	snprintf(p->words, sizeof(p->words), "%s", p->args);
	p->argv[n++] = p->file;
	for (word = strtok_r(p->words, " ", &save); word;
	     word = strtok_r(NULL, " ", &save))
		p->argv[n++] = word;
	p->argv[n] = NULL;
	*(void **)&fn = dlsym(p->dl, "main");
	ret = fn(n, p->argv, environ);
	fflush(p->stdout_);
	return ret;
}

static void mainp_fini(struct weft_comp *c)
{
	struct mainp *p = c->state;

	if (p->stdout_)
		fclose(p->stdout_);
	if (p->stderr_)
		fclose(p->stderr_);
	if (p->dl) {
		dlclose(p->dl);
		close(p->fd);
	}
}

// clang-format off
static const struct weft_param mainp_params[] = {
	WEFT_PARAM(STR, struct mainp, file, "", "", OWN, "shared object with main: cc -shared -fPIC"),
	WEFT_PARAM(STR, struct mainp, args, "", "", OWN, "its arguments, words between spaces"),
	WEFT_PARAM(STR, struct mainp, out, "", "", OWN, "file for what it writes to stdout; empty: stderr, with the program's name before each line"),
	WEFT_PARAM(STR, struct mainp, nic, "", "", OWN, "what VipOpenNic opens whatever name the program gives, such as hvia0+cq+reliable; empty: by its name"),
	{ 0 }
};
// clang-format on

WEFT_COMPONENT(host_main, .name = "host.main", .kind = WEFT_KIND_PROGRAM,
	       .doc = "an unmodified C program",
	       .source = "own: programs written for vipl.h run unchanged",
	       .not_modelled =
		       "processor time of the program's own code, "
		       "signals, threads of the C library",
	       .state_size = sizeof(struct mainp), .params = mainp_params,
	       .ops = { .init = mainp_init,
			.main = mainp_main,
			.fini = mainp_fini });
