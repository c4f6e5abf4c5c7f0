/* SPDX-License-Identifier: Apache-2.0 */
/* Runs other simulators, see peer.h. */
#include "front/bench/peer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

const char *peer_path(const struct peer *p)
{
	const char *path = getenv(p->variable);

	return path && *path ? path : NULL;
}

void peer_value(const char *line, const char *key, double *v_p)
{
	const char *p = strstr(line, key);

	if (p)
		*v_p = strtod(p + strlen(key), NULL);
}

static int run_file(const struct peer *p, char *file, struct peer_run *r,
		    struct weft_err *err)
{
	char *arg[PEER_ARGS + 3] = { NULL, file };
	char line[512];
	struct rusage use;
	int fd[2], status;
	pid_t pid;
	FILE *f;

	if (pipe(fd))
		return weft_fail(err, errno, "no pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		arg[0] = strdup(peer_path(p));
		for (uint32_t i = 0; i < PEER_ARGS && r->arg[i]; i++)
			arg[2 + i] = strdup(r->arg[i]);
		if (dup2(fd[1], 1) >= 0 && dup2(fd[1], 2) >= 0)
			execv(arg[0], arg);
		_exit(127);
	}
	close(fd[1]);
	f = pid > 0 ? fdopen(fd[0], "r") : NULL;
	if (!f) {
		close(fd[0]);
		return weft_fail(err, EIO, "%s could not be started", p->title);
	}
	while (fgets(line, sizeof(line), f))
		r->line(r->own, line);
	fclose(f);
	if (wait4(pid, &status, 0, &use) != pid)
		return weft_fail(err, EIO, "%s is lost", p->title);
	r->cpu = (double)use.ru_utime.tv_sec +
		 (double)use.ru_utime.tv_usec * 1e-6;
	return 0;
}

int peer_run(const struct peer *p, struct peer_run *r, struct weft_err *err)
{
	char file[] = "/tmp/weft-peer-XXXXXX.py";
	size_t n = strlen(r->text);
	int fd = mkstemps(file, 3), ret;
	bool written;

	if (fd < 0)
		return weft_fail(err, EIO, "no temporary file");
	written = write(fd, r->text, n) == (ssize_t)n;
	close(fd);
	ret = written ? run_file(p, file, r, err)
		      : weft_fail(err, EIO, "no room for a temporary file");
	unlink(file);
	return ret;
}
