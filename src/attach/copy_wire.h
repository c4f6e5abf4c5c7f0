/* SPDX-License-Identifier: Apache-2.0 */
/* What goes over the socket of copy.h: a request, then bytes to be written; the
 * bytes that were read, or one byte when they are written. */
#ifndef ATTACH_COPY_WIRE_H
#define ATTACH_COPY_WIRE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { ATT_COPY = 65536 }; /* bytes of a request at most */

struct att_copy_ask {
	uint64_t va;
	uint32_t n, write;
};

/* All of it; false: the other end is not there any more, or says nothing. */
static inline bool att_copy_io(int fd, void *buf, size_t n, bool out)
{
	char *p = buf;

	while (n) {
		ssize_t k = out ? send(fd, p, n, MSG_NOSIGNAL)
				: recv(fd, p, n, MSG_WAITALL);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		p += k;
		n -= (size_t)k;
	}
	return true;
}

#endif
