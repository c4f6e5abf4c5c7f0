/* SPDX-License-Identifier: Apache-2.0 */
/* `weft disk --serve`: starts nbdkit, prints how to use the disk or runs the
 * command. At the end stops nbdkit first, then a command that still runs,
 * because the command cannot continue without its disk. Signals stop nbdkit:
 *
 *   SIGTERM                       ends nbdkit when no client is connected
 *   SIGUSR1, three seconds later  flushes and disconnects the clients */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "front/cli/cli.h"
#include "front/disk/disk.h"

enum { GRACE_S = 3 };

struct serve {
	const char *socket, *folder;
	bool quiet;
	char **nbdkit, **command; /* ended by NULL */
	char uri[256];
	pid_t server, client; /* 0: not started, or ended */
	int server_status, client_status;
	sigset_t signals;
};

/* ---- processes ---- */

static pid_t start(char **argv, bool own_group)
{
	pid_t parent = getpid(), pid;
	sigset_t none;

	fflush(NULL);
	pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	/* nbdkit gets a new process group, because only the command and this
	 * process must get the terminal's signals. */
	if (own_group)
		setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
	cli_fail("disk: cannot start '%.200s': %s", argv[0], strerror(errno));
	_exit(127);
}

static int status_of(int status)
{
	return WIFSIGNALED(status) ? CLI_SIGNAL + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

/* Collects processes that have ended. */
static void reap(struct serve *s)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == s->server) {
			s->server = 0;
			s->server_status = status_of(status);
		} else if (pid == s->client) {
			s->client = 0;
			s->client_status = status_of(status);
		}
	}
}

/* Waits for a signal, for at most `ms` milliseconds (-1: no limit), and reaps
 * processes that have ended. Returns the signal, or 0 without one. */
static int next_signal(struct serve *s, int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };
	int sig = ms < 0 ? sigwaitinfo(&s->signals, NULL)
			 : sigtimedwait(&s->signals, NULL, &t);

	reap(s);
	return sig > 0 ? sig : 0;
}

static bool wish(int sig)
{
	return sig == SIGINT || sig == SIGTERM || sig == SIGHUP;
}

/* ---- phases ---- */

/* Starts nbdkit and waits for the file `ready`, which the plug-in creates when
 * the disk is open. Returns false if nbdkit ends before the disk is open. */
static bool open_server(struct serve *s)
{
	char ready[4400];

	snprintf(ready, sizeof(ready), "%s/ready", s->folder);
	s->server = start(s->nbdkit, true);
	while (s->server > 0 && access(ready, F_OK))
		if (wish(next_signal(s, 10)))
			kill(s->server, SIGTERM);
	return s->server > 0;
}

static void print_use(const struct serve *s)
{
	if (s->quiet)
		return;
	printf("The disk is open until Ctrl-C:\n\n    %s\n\n"
	       "In another terminal:\n\n"
	       "    nbdinfo '%s'\n"
	       "    fio --name=t --ioengine=nbd --uri='%s' --rw=randrw --size=64M --verify=crc32c\n"
	       "    mkdir -p mnt && nbdfuse mnt '%s'    # the disk is mnt/nbd: mkfs, mount -o loop\n",
	       s->uri, s->uri, s->uri, s->uri);
	fflush(stdout);
}

/* Starts the command. A command of one word is a line for the shell, so that it
 * can use `$uri`. */
static void start_command(struct serve *s)
{
	char *line[] = { "/bin/sh", "-c", s->command[0], NULL };

	s->client = start(s->command[1] ? s->command : line, false);
}

/* Waits until nbdkit or the command has ended. If there is no command, SIGINT,
 * SIGTERM or SIGHUP ends the wait, too. */
static void attend(struct serve *s)
{
	bool command = *s->command;
	int sig;

	while (s->server > 0 && (s->client > 0 || !command)) {
		sig = next_signal(s, -1);
		if (!wish(sig))
			continue;
		if (!command)
			return;
		/* SIGINT came from the terminal, which has sent it to the
		 * command, too. */
		if (sig != SIGINT && s->client > 0)
			kill(s->client, sig);
	}
}

static void close_server(struct serve *s)
{
	bool was = s->server > 0;
	int waited = 0;

	if (was)
		kill(s->server, SIGTERM);
	for (; s->server > 0; waited++) {
		next_signal(s, 100);
		if (waited != 10 * GRACE_S || s->server <= 0)
			continue;
		cli_fail("disk: clients are still connected: they are cut off");
		kill(s->server, SIGUSR1);
	}
	unlink(s->socket);
	if (!was)
		cli_fail("disk: nbdkit has ended with status %d",
			 s->server_status);
	if (s->client > 0) /* the command cannot continue without its disk */
		kill(s->client, SIGTERM);
	while (s->client > 0)
		next_signal(s, -1);
}

int disk_serve(int argc, char **argv)
{
	struct serve s = { 0 };
	long n = argc > 4 ? strtol(argv[3], NULL, 10) : -1;

	if (n < 1 || n > argc - 4)
		return cli_fail("disk: --serve is for weft disk itself");
	s.socket = argv[0];
	s.folder = argv[1];
	s.quiet = *argv[2] != '0';
	s.command = argv + 4 + n;
	s.nbdkit = calloc((size_t)n + 1, sizeof(*s.nbdkit));
	if (!s.nbdkit)
		abort();
	memcpy(s.nbdkit, argv + 4, (size_t)n * sizeof(*argv));
	snprintf(s.uri, sizeof(s.uri), "nbd+unix:///?socket=%s", s.socket);
	setenv("uri", s.uri, 1);
	sigemptyset(&s.signals);
	for (const int *k =
		     (const int[]){ SIGINT, SIGTERM, SIGHUP, SIGCHLD, 0 };
	     *k; k++)
		sigaddset(&s.signals, *k);
	sigprocmask(SIG_BLOCK, &s.signals, NULL);
	if (open_server(&s)) {
		if (*s.command)
			start_command(&s);
		else
			print_use(&s);
		attend(&s);
	}
	close_server(&s);
	free(s.nbdkit);
	return s.client_status ? s.client_status : s.server_status;
}
