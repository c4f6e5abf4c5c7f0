/* SPDX-License-Identifier: Apache-2.0 */
/* Starts `weft disk --serve`, which starts nbdkit and the command. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "front/disk/disk.h"
#include "front/exec/mpi.h"
#include "front/run/run.h"

#define PLUGIN	"nbdkit-weft-plugin.so"
#define THREADS "64" /* requests of one client that nbdkit serves at a time */

struct words {
	VEC(char *);
};

static void word(struct words *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void word(struct words *w, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	va_end(ap);
	vec_push(w, text);
}

/* ---- checks ---- */

static bool in_path(const char *name)
{
	const char *path = getenv("PATH");
	char file[4096];

	for (const char *p = path ? path : ""; *p;) {
		size_t n = strcspn(p, ":");

		snprintf(file, sizeof(file), "%.*s/%s", (int)n, p, name);
		if (!access(file, X_OK))
			return true;
		p += n + (p[n] == ':');
	}
	return false;
}

int disk_check(const struct disk_job *k, struct weft_err *err)
{
	struct sockaddr_un sa;
	char dir[4300];
	struct stat st;

	if (!in_path("nbdkit"))
		return weft_fail(
			err, ENOENT,
			"disk: no nbdkit, which speaks with the clients: install the package nbdkit");
	if (!exec_lib_dir(PLUGIN, dir, sizeof(dir)))
		return weft_fail(
			err, ENOENT,
			"disk: no " PLUGIN
			": install the package nbdkit-plugin-dev and build weft again");
	if (!k->socket)
		return 0;
	if (strlen(k->socket) >= sizeof(sa.sun_path))
		return weft_fail(
			err, ENAMETOOLONG,
			"disk: --socket: a socket's name has at most %zu bytes: give a shorter one",
			sizeof(sa.sun_path) - 1);
	if (!lstat(k->socket, &st))
		return weft_fail(
			err, EEXIST,
			"disk: --socket %s exists: another disk serves it, or it was left over: end that disk or remove the file",
			k->socket);
	return 0;
}

/* ---- starting ---- */

static bool disk_fits(const struct exec_job *j)
{
	return true;
}

static void nbdkit_words(const struct exec_job *j, const struct disk_job *k,
			 const char *socket, const char *plugin,
			 struct words *w)
{
	const char *other = getenv("LD_PRELOAD");

	/* Preloads the plug-in, because its __assert_fail keeps nbdkit alive
	 * when a client hangs up (src/nbd/hangup.c). */
	word(w, "env");
	word(w, "LD_PRELOAD=%s/" PLUGIN "%s%s", plugin, other ? ":" : "",
	     other ? other : "");
	word(w, "nbdkit");
	word(w, "--foreground");
	word(w, "--exit-with-parent");
	word(w, "--threads=" THREADS);
	word(w, "--unix=%s", socket);
	/* The filter splits requests that are not a multiple of a sector. */
	word(w, "--filter=blocksize");
	word(w, "%s/" PLUGIN, plugin);
	word(w, "targets=%s", k->targets);
	word(w, "report=%s", k->report);
	word(w, "ready=%s/ready", j->folder);
	/* Up to 8 MB are in flight to a target. These bytes take less time on
	 * the target's line than this time-out of 50 ms. */
	word(w, "timeout=50000");
	if (j->clock != WEFT_CLOCK_NONE)
		word(w, "gather=50");
	for (size_t i = 0; i < k->n_params; i++)
		word(w, "%s", k->params[i]);
}

static int disk_start(struct exec_job *j, struct weft_err *err)
{
	struct disk_job *k = j->own;
	struct words w = { 0 };
	char node[32], dir[4300], exe[4096], own[4300];
	char *more[] = { "WEFT_RANK=0", node, NULL };
	const char *socket = k->socket ? k->socket : own;
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	size_t at;
	int ret;

	if (exec_folder(j, err) || n < 0)
		return -errno;
	exe[n] = '\0';
	exec_lib_dir(PLUGIN, dir, sizeof(dir));
	snprintf(own, sizeof(own), "%s/socket", j->folder);
	snprintf(k->report, sizeof(k->report), "%s/report", j->folder);
	snprintf(node, sizeof(node), "WEFT_NODE=%u", k->initiator);
	word(&w, "%s", exe);
	word(&w, "disk");
	word(&w, "--serve");
	word(&w, "%s", socket);
	word(&w, "%s", j->folder);
	word(&w, "%d", j->quiet);
	at = w.n;
	word(&w, "?");
	nbdkit_words(j, k, socket, dir, &w);
	free(w.at[at]);
	if (asprintf(&w.at[at], "%zu", w.n - at - 1) < 0)
		abort();
	for (char *const *c = k->command; *c; c++)
		word(&w, "%s", *c);
	vec_push(&w, NULL);
	ret = exec_spawn(j, w.at, more, err);
	if (!ret)
		signals_ward(j->pids.at[0]);
	for (size_t i = 0; i < w.n; i++)
		free(w.at[i]);
	vec_free(&w);
	return ret;
}

const struct exec_launcher disk_launcher = {
	.name = "disk",
	.doc = "nbdkit",
	.fits = disk_fits,
	.start = disk_start,
};
