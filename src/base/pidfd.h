/* SPDX-License-Identifier: Apache-2.0 */
/* A process of the operating system, identified by a descriptor of the kernel.
 * The process number alone does not suffice, because a later process may get
 * the same number. */
#ifndef BASE_PIDFD_H
#define BASE_PIDFD_H

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* Time in ns for which a check need not be repeated. The kernel uses a process
 * number again only after it has used all other numbers. That takes thousands
 * of forks, and far longer than this time. */
#define PIDFD_HOLDS 1000000ull

struct pidfd {
	pid_t pid;
	/* descriptor, or -1 if the kernel has no descriptors of processes, so
	 * that the process is identified by its number alone */
	int fd;
	/* latest time in ns at which the process was seen alive */
	uint64_t seen_ns;
};

/* Returns a descriptor, or -1 if the process does not exist or the kernel has
 * no such descriptors. */
static inline int pidfd_open_pid(pid_t pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0);
#else
	errno = ENOSYS;
	return -1;
#endif
}

/* Returns true if the process has not ended. Called before each use of the
 * process number, because otherwise a signal may reach another process. */
static inline bool pidfd_alive(struct pidfd *p)
{
	struct pollfd f = { .fd = p->fd, .events = POLLIN };
	struct timespec ts;
	uint64_t now;

	if (p->fd < 0)
		return p->pid > 0;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	now = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	if (p->seen_ns && now - p->seen_ns < PIDFD_HOLDS)
		return true;
	if (poll(&f, 1, 0) == 1)
		return false;
	p->seen_ns = now;
	return true;
}

static inline int pidfd_kill(const struct pidfd *p, int sig)
{
#ifdef SYS_pidfd_send_signal
	if (p->fd >= 0)
		return (int)syscall(SYS_pidfd_send_signal, p->fd, sig, NULL, 0);
#endif
	return kill(p->pid, sig);
}

static inline void pidfd_close(struct pidfd *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

#endif
