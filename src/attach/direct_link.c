/* SPDX-License-Identifier: Apache-2.0 */
/* Exchanges messages on the socket between a process and the simulator, and
 * wakes other processes. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "attach/direct_internal.h"

/* ---- messages that carry a descriptor ---- */

int direct_say(int sock, const void *msg, size_t len, int fd)
{
	union {
		struct cmsghdr head;
		char all[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { (void *)(uintptr_t)msg, len };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (fd >= 0) {
		m.msg_control = control.all;
		m.msg_controllen = sizeof(control.all);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	return sendmsg(sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)len
		       ? 0
		       : -EPIPE;
}

int direct_hear(int sock, void *msg, size_t len, int how, int *fd_p)
{
	union {
		struct cmsghdr head;
		char all[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { msg, len };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control.all,
			    .msg_controllen = sizeof(control.all) };
	struct cmsghdr *c;
	ssize_t n;

	*fd_p = -1;
	do {
		n = recvmsg(sock, &m, how | MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n && errno == EAGAIN ? -EAGAIN : -EPIPE;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd_p, CMSG_DATA(c), sizeof(int));
	return (int)n;
}

/* Sends a request and waits for its reply. The wait has no limit, because the
 * simulator's watcher thread answers at once. */
int direct_want(struct direct *d, enum direct_want what, uint32_t place,
		int give, int *fd_p)
{
	struct direct_req q = { .what = what, .place = place };
	struct direct_rep r;
	int fd, n = direct_say(d->sock, &q, sizeof(q), give);

	while (!n) {
		n = direct_hear(d->sock, &r, sizeof(r), 0, &fd);
		if (n < 0)
			break;
		/* Only replies to requests for a descriptor carry one. */
		if (fd >= 0 && fd_p)
			*fd_p = fd;
		if (n == sizeof(r) && r.what == what)
			return r.status;
		n = 0; /* The message was a wake-up, so the reply follows. */
	}
	return n;
}

/* ---- waking ---- */

enum direct_sleep direct_knock(struct direct_bell *b)
{
	enum direct_sleep how;

	if (!atomic_load_explicit(&b->asleep, memory_order_relaxed))
		return DIRECT_AWAKE;
	how = (enum direct_sleep)atomic_exchange(&b->asleep, DIRECT_AWAKE);
	if (how == DIRECT_ASLEEP)
		att_futex_wake(&b->asleep);
	return how;
}

/* Wakes a peer. The simulator wakes a peer that waits on a descriptor, which is
 * slow but rare. */
void direct_wake(struct direct *d, uint32_t place)
{
	struct direct_req q = { .what = WANT_RING, .place = place };

	if (direct_knock(&d->bell[place]) == DIRECT_ARMED)
		direct_say(d->sock, &q, sizeof(q), -1);
}

int direct_arm(struct direct *d)
{
	char buf[64];

	if (d->forked)
		return -EIO;
	while (recv(d->sock, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		;
	atomic_store(&d->bell[d->me].asleep, DIRECT_ARMED);
	if (!direct_news(d))
		return 0;
	atomic_store(&d->bell[d->me].asleep, DIRECT_AWAKE);
	return -EAGAIN;
}
