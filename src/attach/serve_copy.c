/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator's part of copy.h. Sends requests to copy memory of a
 * process. */
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "attach/copy.h"
#include "attach/copy_wire.h"
#include "base/minmax.h"
#include "host/process_memory.h"

/* Reads address 0, where no page is mapped. The error distinguishes permission
 * (EFAULT) from refusal (EPERM, ENOSYS). */
bool att_copy_needed(pid_t pid)
{
	struct iovec here = { &(char){ 0 }, 1 }, there = { NULL, 1 };

	if (getenv("WEFT_NO_CMA"))
		return true;
	return process_vm_readv(pid, &here, 1, &there, 1, 0) < 0 &&
	       (errno == EPERM || errno == ENOSYS);
}

/* Allows patience_ns of real time for each request, because the simulation
 * stands still during a copy. */
static int copy(void *arg, uint64_t va, void *buf, size_t n, bool write)
{
	struct weft_far_owner *o = arg;
	uint8_t *b = buf;
	int fd = o->fd;

	while (n && fd >= 0) {
		struct att_copy_ask q = { .va = va,
					  .n = (uint32_t)min_of(n, ATT_COPY),
					  .write = write };
		uint64_t end = att_copy_now() + o->patience_ns;
		char done;

		if (!att_copy_io(fd, &q, sizeof(q), true, end) ||
		    !att_copy_io(fd, b, q.n, write, end) ||
		    (write && !att_copy_io(fd, &done, 1, false, end))) {
			/* the bytes on the stream are no longer aligned with
			 * requests */
			close(fd);
			o->fd = -1;
			return -EIO;
		}
		va += q.n;
		b += q.n;
		n -= q.n;
	}
	return fd < 0 ? -EIO : 0;
}

int att_copy_new(struct weft_far_owner *o, uint64_t patience_ns)
{
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		return -errno;
	o->fd = fd[0];
	o->copy = copy;
	o->patience_ns = patience_ns;
	o->arg = o;
	o->by_copy = true;
	return fd[1];
}

void att_copy_free(struct weft_far_owner *o)
{
	if (o->copy && o->fd >= 0)
		close(o->fd);
	o->copy = NULL;
}
