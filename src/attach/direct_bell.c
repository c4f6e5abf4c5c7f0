/* SPDX-License-Identifier: Apache-2.0 */
/* Direct endpoint: how one process wakes another; descriptors to wait for. */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "attach/direct_int.h"

/* An abstract name: it goes with the process. */
static socklen_t bell_name(uint64_t id, uint32_t place, struct sockaddr_un *sa)
{
	int n;

	*sa = (struct sockaddr_un){ .sun_family = AF_UNIX };
	n = snprintf(sa->sun_path + 1, sizeof(sa->sun_path) - 1,
		     "weft-direct-%016llx-%u", (unsigned long long)id, place);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   (size_t)n);
}

/* Rare: who waits for a descriptor is not in a hurry. */
static void bell_send(uint64_t id, uint32_t place)
{
	struct sockaddr_un sa;
	socklen_t len = bell_name(id, place, &sa);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return;
	sendto(fd, "", 1, MSG_NOSIGNAL, (struct sockaddr *)&sa, len);
	close(fd);
}

void direct_wake(struct direct_place *p, uint64_t id, uint32_t place)
{
	uint32_t how;

	if (!atomic_load_explicit(&p->asleep, memory_order_relaxed))
		return;
	how = atomic_exchange(&p->asleep, DIRECT_AWAKE);
	if (how == DIRECT_ASLEEP)
		att_futex_wake(&p->asleep);
	else if (how == DIRECT_ARMED)
		bell_send(id, place);
}

int direct_fd(struct direct *d)
{
	struct sockaddr_un sa;
	socklen_t len = bell_name(d->lay.id, d->me, &sa);
	int fd;

	if (d->fd >= 0 || d->ep.ops != &direct_ops)
		return d->fd;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&sa, len)) {
		close(fd);
		return -EADDRINUSE;
	}
	return d->fd = fd;
}

int direct_arm(struct direct *d)
{
	char c;

	if (d->ep.ops != &direct_ops)
		return -EIO;
	while (d->fd >= 0 && recv(d->fd, &c, 1, 0) >= 0)
		;
	atomic_store(&d->self->asleep, DIRECT_ARMED);
	if (!direct_news(d))
		return 0;
	atomic_store(&d->self->asleep, DIRECT_AWAKE);
	return -EAGAIN;
}
