/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and ends processes of `weft exec`. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/units.h"
#include "front/exec/mpi.h"

extern char **environ;

const struct exec_launcher *const exec_launchers[] = {
	&exec_openmpi, &exec_mpich, &exec_script, &exec_direct, NULL,
};

const char *exec_launchers_next(void *unused, size_t i)
{
	return exec_launchers[i] ? exec_launchers[i]->name : NULL;
}

const struct exec_launcher *
exec_launcher(const struct exec_job *j, const char *name, struct weft_err *err)
{
	const char *near;
	size_t i;

	for (i = 0; exec_launchers[i]; i++)
		if (name && !strcmp(name, exec_launchers[i]->name))
			return exec_launchers[i];
	if (name && strcmp(name, "auto")) {
		near = units_nearest(name, exec_launchers_next, NULL);
		weft_fail(err, EINVAL, "exec: --mpi '%.40s': %s%s%s", name,
			  near ? "did you mean '" : "give auto or none",
			  near ? near : "", near ? "'?" : "");
		return NULL;
	}
	for (i = 0; exec_launchers[i] && !exec_launchers[i]->fits(j); i++)
		;
	return exec_launchers[i];
}

/* ---- environment ---- */

struct env {
	VEC(char *);
};

static void env_put(struct env *v, char *entry)
{
	size_t n = strcspn(entry, "=") + 1;

	for (size_t i = 0; i < v->n; i++)
		if (!strncmp(v->at[i], entry, n)) {
			v->at[i] = entry;
			return;
		}
	vec_push(v, entry);
}

void exec_env(struct exec_job *j, const char *name, const char *fmt, ...)
{
	char *value, *entry;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&value, fmt, ap) < 0)
		abort();
	va_end(ap);
	if (asprintf(&entry, "%s=%s", name, value) < 0)
		abort();
	free(value);
	vec_push(&j->env, entry);
}

static struct env env_all(const struct exec_job *j, char *const *more)
{
	struct env v = { 0 };

	for (char **e = environ; *e; e++)
		vec_push(&v, *e);
	for (size_t i = 0; i < j->env.n; i++)
		env_put(&v, j->env.at[i]);
	for (; more && *more; more++)
		env_put(&v, *more);
	vec_push(&v, NULL);
	return v;
}

/* ---- processes ---- */

/* Runs in the child. The kernel sends the child a signal when weft dies. The
 * child empties its signal mask, because it has inherited the mask of weft. */
static void child_exec(char *const *argv, char **env, int report, pid_t parent)
{
	sigset_t none;
	int e;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	execvpe(argv[0], argv, env);
	e = errno;
	if (write(report, &e, sizeof(e)) < 0)
		_exit(127);
	_exit(127);
}

int exec_spawn(struct exec_job *j, char *const *argv, char *const *more,
	       struct weft_err *err)
{
	struct env env = env_all(j, more);
	pid_t parent = getpid(), pid;
	int report[2], e = 0;
	ssize_t n;

	if (pipe2(report, O_CLOEXEC)) {
		e = errno;
		vec_free(&env);
		return weft_fail(err, e, "exec: process %zu of %u: %s%s",
				 j->pids.n, j->n, strerror(e),
				 e == EMFILE ? ": raise the limit (ulimit -n)"
					     : "");
	}
	fflush(NULL);
	pid = fork();
	if (!pid)
		child_exec(argv, env.at, report[1], parent);
	close(report[1]);
	vec_free(&env);
	if (pid < 0) {
		close(report[0]);
		return weft_fail(err, errno, "exec: cannot start %.200s: %s",
				 argv[0], strerror(errno));
	}
	n = read(report[0], &e, sizeof(e));
	close(report[0]);
	if (n == sizeof(e)) {
		waitpid(pid, NULL, 0);
		return weft_fail(err, e, "exec: cannot start '%.200s': %s%s",
				 argv[0], strerror(e),
				 e == ENOENT && strchr(argv[0], '/') == NULL
					 ? ": give a path such as ./a.out"
					 : "");
	}
	vec_push(&j->pids, pid);
	att_server_child(j->server, pid);
	return 0;
}

void exec_kill(struct exec_job *j)
{
	struct timespec nap = { 0, 10000000 };
	bool left = true;

	for (int i = 0; i < 1000 && left; i++) {
		int sig = i == 0 ? SIGTERM : i == 300 ? SIGKILL : 0, status;

		left = false;
		for (size_t k = 0; k < j->pids.n; k++)
			if (!att_server_status(j->server, k, &status)) {
				left = true;
				if (sig)
					kill(j->pids.at[k], sig);
			}
		if (left)
			nanosleep(&nap, NULL);
	}
	exec_sweep(j->socket);
}

/* ---- the job ---- */

int exec_folder(struct exec_job *j, struct weft_err *err)
{
	const char *tmp = getenv("TMPDIR");

	if (j->folder)
		return 0;
	if (asprintf(&j->folder, "%s/weft-exec-XXXXXX",
		     tmp && *tmp ? tmp : "/tmp") < 0)
		abort();
	if (mkdtemp(j->folder)) {
		exec_keep_tell(j, j->folder);
		return 0;
	}
	free(j->folder);
	j->folder = NULL;
	return weft_fail(err, errno, "exec: no folder for its files: %s",
			 strerror(errno));
}

void exec_job_fini(struct exec_job *j)
{
	for (size_t i = 0; i < j->env.n; i++)
		free(j->env.at[i]);
	vec_free(&j->env);
	vec_free(&j->pids);
	if (j->folder)
		exec_remove(j->folder);
	free(j->folder);
	exec_keep_end(j);
}

/* ---- direct launcher: n processes, each with its rank in a variable ---- */

static bool direct_fits(const struct exec_job *j)
{
	return true;
}

static int direct_start(struct exec_job *j, struct weft_err *err)
{
	char rank[32], node[32];
	char *more[] = { rank, node, NULL };
	int ret = 0;

	for (uint32_t i = 0; i < j->n && !ret; i++) {
		snprintf(rank, sizeof(rank), "WEFT_RANK=%u", i);
		snprintf(node, sizeof(node), "WEFT_NODE=%u", j->map[i]);
		ret = exec_spawn(j, j->argv, more, err);
	}
	return ret;
}

const struct exec_launcher exec_direct = {
	.name = "none",
	.doc = "n processes, each with its number in WEFT_RANK",
	.fits = direct_fits,
	.start = direct_start,
};
