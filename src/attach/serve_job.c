/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and ends processes of a job, attached or not: mpirun, its daemons,
 * shells, children. The name of the socket in their environment identifies
 * them. A stopped process is ended, because otherwise other processes would
 * wait for it for ever. */
#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "attach/serve_internal.h"
#include "base/minmax.h"

/* real time in ns for mpirun to end the remaining processes of a job itself */
#define LOST 5000000000ull

/* Returns true if the process was started with `entry` in its environment.
 * /proc does not show later changes. */
static bool of_job(pid_t pid, const char *entry)
{
	char path[64], *at = NULL;
	bool found = false;
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	f = fopen(path, "re");
	while (f && !found && getdelim(&at, &n, '\0', f) > 0)
		found = !strcmp(at, entry);
	free(at);
	if (f)
		fclose(f);
	return found;
}

size_t att_job_each(const char *socket, att_job_fn fn, void *arg)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	char entry[128];
	size_t n = 0;

	snprintf(entry, sizeof(entry), "WEFT_SOCKET=%s", socket);
	while (d && (e = readdir(d))) {
		struct pidfd p = { .fd = -1 };

		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		/* The pidfd is opened before the check, so that fn cannot hit
		 * a later process with the same number. */
		p.pid = (pid_t)strtol(e->d_name, NULL, 10);
		p.fd = pidfd_open_pid(p.pid);
		if (of_job(p.pid, entry) && pidfd_alive(&p)) {
			fn(arg, &p);
			n++;
		}
		pidfd_close(&p);
	}
	if (d)
		closedir(d);
	return n;
}

static void send_signal(void *sig, const struct pidfd *p)
{
	pidfd_kill(p, *(int *)sig);
}

size_t att_job_signal(const char *socket, int sig)
{
	return att_job_each(socket, send_signal, &sig);
}

/* ---- stopped processes ---- */

/* Returns the time at which a check first found the process stopped. */
static uint64_t stopped_since(struct att_server *s, pid_t pid, uint64_t now)
{
	for (size_t i = 0; i < s->watch.stops.n; i++)
		if (s->watch.stops.at[i].pid == pid)
			return s->watch.stops.at[i].since;
	vec_push(&s->watch.stops,
		 (struct att_stop){ .pid = pid, .since = now });
	return now;
}

/* Ends an unattached process that was stopped for too long. The gate does this
 * for attached processes. */
static void look_one(void *server, const struct pidfd *p)
{
	struct att_server *s = server;
	pid_t pid = p->pid;
	uint64_t now = att_now_ns(), ran = 0, never = 0;
	char path[64], name[32];

	for (size_t i = 0; i < s->watch.conns.n; i++)
		if (s->watch.conns.at[i]->c &&
		    s->watch.conns.at[i]->c->pid == pid)
			return;
	if (att_doing((int)pid, &ran) != ATT_STOPPED) {
		for (size_t i = 0; i < s->watch.stops.n; i++)
			if (s->watch.stops.at[i].pid == pid)
				s->watch.stops.at[i--] =
					vec_pop(&s->watch.stops);
		return;
	}
	if (now - stopped_since(s, pid, now) < s->o.patience_ns)
		return;
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	if (!att_slurp(path, name, sizeof(name)))
		snprintf(name, sizeof(name), "?");
	name[strcspn(name, "\n")] = '\0';
	att_say(s, "process %d (%s) was stopped for too long, and is ended",
		(int)pid, name);
	pidfd_kill(p, SIGKILL);
	if (s->o.together) /* the job's launcher may wait for this process */
		atomic_compare_exchange_strong(&s->died_ns, &never, now);
}

int att_job_pause(const struct att_server *s)
{
	uint64_t ms = min_of(s->o.patience_ns / 4000000, 1000);

	return (int)max_of(ms, 50);
}

void att_job_check(struct att_server *s)
{
	uint64_t now = att_now_ns();
	uint64_t lost;

	if (now < s->watch.job_next)
		return;
	s->watch.job_next = now + (uint64_t)att_job_pause(s) * 1000000;
	att_job_each(s->path, look_one, s);
	/* A process has died, and its launcher has not ended the remaining
	 * processes of the job. */
	lost = atomic_load(&s->died_ns);
	if (!s->o.together || !lost || now < lost + s->o.patience_ns + LOST)
		return;
	atomic_store(&s->died_ns, 0);
	att_say(s, "a process has died, and its job goes on: it is ended");
	att_job_signal(s->path, SIGKILL);
}
