/* SPDX-License-Identifier: Apache-2.0 */
/* Wire format of the copies that copy.h describes. A write request is followed
 * by its data. The reply is the data of a read, or one byte after a write. */
#ifndef ATTACH_COPY_WIRE_H
#define ATTACH_COPY_WIRE_H

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>

enum { ATT_COPY = 65536 }; /* largest number of bytes in a request */

struct att_copy_ask {
	uint64_t va;
	uint32_t n, write;
};

/* Returns real time in ns, the clock of `end` in the functions below. */
static inline uint64_t att_copy_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Waits until the socket is ready or `end` passes. Returns false if `end` has
 * already passed. */
static inline bool att_copy_ready(int fd, bool out, uint64_t end)
{
	struct pollfd p = { .fd = fd, .events = out ? POLLOUT : POLLIN };
	uint64_t now = att_copy_now();

	if (now >= end)
		return false;
	poll(&p, 1, (int)((end - now) / 1000000 + 1));
	return true;
}

/* Transfers all n bytes. Returns false if the peer has closed the socket, or if
 * `end` passes before the last byte. With end == 0 there is no limit. The limit
 * covers the whole transfer, so that a peer cannot extend it by sending single
 * bytes. */
static inline bool att_copy_io(int fd, void *buf, size_t n, bool out,
			       uint64_t end)
{
	int how = end ? MSG_DONTWAIT : out ? 0 : MSG_WAITALL;
	char *p = buf;

	while (n) {
		ssize_t k = out ? send(fd, p, n, MSG_NOSIGNAL | how)
				: recv(fd, p, n, how);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0 && errno == EAGAIN && end &&
		    att_copy_ready(fd, out, end))
			continue;
		if (k <= 0)
			return false;
		p += k;
		n -= (size_t)k;
	}
	return true;
}

#endif
