/* SPDX-License-Identifier: Apache-2.0 */
/* Ends the remaining processes of a job, and removes its files. Normally weft
 * does this itself. If weft was killed, the keeper does it. The keeper is a
 * process `weft exec --keep SOCKET`. weft sends the keeper the name of the
 * job's folder. When weft has cleaned up, it sends a dot. If the keeper's input
 * ends without the dot, weft has died. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "front/exec/exec.h"

enum { TURN = 10000000, POLITE = 30, TURNS = 500 };

void exec_sweep(const char *socket)
{
	struct timespec nap = { 0, TURN };

	for (int i = 0; i < TURNS; i++) {
		int sig = i == 0 ? SIGTERM : i < POLITE ? 0 : SIGKILL;

		if (!att_job_signal(socket, sig))
			return;
		nanosleep(&nap, NULL);
	}
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *at)
{
	remove(path);
	return 0;
}

void exec_remove(const char *folder)
{
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- the keeper ---- */

int exec_keep(struct exec_job *j, struct weft_err *err)
{
	int ends[2], null;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return weft_fail(err, errno, "exec: %s", strerror(errno));
	j->keeper = fork();
	if (!j->keeper) {
		/* The keeper does not hold weft's output open, because a reader
		 * of that output would otherwise wait until the keeper ends. */
		null = open("/dev/null", O_RDWR);
		if (null < 0 || dup2(ends[0], 0) < 0 || dup2(null, 1) < 0 ||
		    dup2(null, 2) < 0)
			_exit(127);
		setsid();
		execl("/proc/self/exe", "weft", "exec", "--keep", j->socket,
		      (char *)NULL);
		_exit(127);
	}
	close(ends[0]);
	j->keeper_fd = ends[1];
	if (j->keeper < 0) {
		close(ends[1]);
		return weft_fail(err, errno, "exec: %s", strerror(errno));
	}
	return 0;
}

void exec_keep_tell(struct exec_job *j, const char *text)
{
	if (j->keeper > 0 &&
	    send(j->keeper_fd, text, strlen(text), MSG_NOSIGNAL) < 0)
		return; /* the keeper was killed */
}

void exec_keep_end(struct exec_job *j)
{
	if (j->keeper <= 0)
		return;
	exec_keep_tell(j, ".");
	close(j->keeper_fd);
	waitpid(j->keeper, NULL, 0);
	j->keeper = 0;
}

int exec_keeper(const char *socket)
{
	char text[4200];
	size_t n = 0;
	ssize_t k;

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	while ((k = read(0, text + n, sizeof(text) - 1 - n)) > 0 ||
	       (k < 0 && errno == EINTR))
		n += k > 0 ? (size_t)k : 0;
	text[n] = '\0';
	if (n && text[n - 1] == '.')
		return 0;
	exec_sweep(socket);
	if (n)
		exec_remove(text);
	return 0;
}
