/* SPDX-License-Identifier: Apache-2.0 */
/* Another process, by a descriptor of the kernel.  Its number alone says
 * nothing: when it has ended, a later process may have the same one. */
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

/* A number comes again when all others have been given: that takes thousands of
 * forks, far longer than this. */
#define PIDFD_HOLDS 1000000ull /* ns that a look holds */

struct pidfd {
	pid_t pid;
	int fd;		  /* -1: the kernel has none, the number must do */
	uint64_t seen_ns; /* when it was alive */
};

/* -1: no such process, or the kernel has no such descriptors. */
static inline int pidfd_open_pid(pid_t pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0);
#else
	errno = ENOSYS;
	return -1;
#endif
}

/* Not yet ended; to be asked before the number is used. */
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
