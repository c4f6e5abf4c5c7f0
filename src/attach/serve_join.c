/* SPDX-License-Identifier: Apache-2.0 */
/* Admits processes to the run. Identifies each process, reads its hello,
 * chooses node and slot, and sends the welcome. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "attach/copy.h"
#include "attach/serve_internal.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* exists since Linux 6.5 */
#endif

/* Largest number of descriptors in a welcome message (client.c). */
enum { FDS = ATT_SEND_FDS + 2 };

/* ---- identity ---- */

/* Opens a pidfd by process number, for kernels without SO_PEERPIDFD. Checks the
 * owner, because the number may belong to another process by now. */
static int open_checked(const struct ucred *who)
{
	int fd = pidfd_open_pid(who->pid);
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)who->pid);
	if (fd >= 0 && !stat(path, &st) && st.st_uid == who->uid)
		return fd;
	if (fd >= 0)
		close(fd);
	return fd < 0 && errno == ENOSYS ? -1 : -ESRCH;
}

/* Refuses processes of other users. Any user can connect, because the name of
 * an abstract socket is public, but a client gets access to memory of the
 * run. */
int att_join_who(struct att_server *s, int fd, struct pidfd *who_p)
{
	struct ucred who = { .uid = (uid_t)-1 };
	socklen_t len = sizeof(who), n = sizeof(who_p->fd);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len))
		return -EACCES;
	if (who.uid != geteuid()) {
		if (!s->watch.told_stranger)
			att_say(s,
				"process %d of user %u wants to join, and is refused: this run is user %u's",
				(int)who.pid, (unsigned)who.uid,
				(unsigned)geteuid());
		s->watch.told_stranger = true;
		return -EACCES;
	}
	*who_p = (struct pidfd){ .pid = who.pid, .fd = -1 };
	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &who_p->fd, &n))
		who_p->fd = open_checked(&who);
	return who_p->fd < -1 ? who_p->fd : 0;
}

/* ---- place of the process ---- */

static bool slot_taken(const struct att_server *s, uint32_t node, uint32_t slot)
{
	const struct direct_hub *d = s->o.direct;

	/* A place of the direct path serves one process only, because a second
	 * process cannot use the rings again. */
	if (d && (s->gens[node][slot] || slot >= d->places / d->nodes))
		return true;
	for (size_t i = 0; i < s->taken.n; i++)
		if (s->taken.at[i] == ((uint64_t)node << 8 | slot))
			return true;
	return false;
}

/* Chooses node and slot. A second process of a rank, or one without a rank,
 * gets the next free slot. */
static bool conn_place(struct att_server *s, struct att_client *c)
{
	uint32_t r = c->rank;

	for (uint32_t i = 0; r == UINT32_MAX && i < s->o.ranks; i++)
		if (!slot_taken(s, s->map[i], s->slot[i]))
			r = i;
	c->rank = r == UINT32_MAX ? 0 : r;
	r = c->rank;
	c->node = s->map[r];
	c->slot = s->slot[r];
	if (c->role == ATT_ROLE_HOST && !s->several && s->gens[c->node][0])
		return false; /* a node has one process with weft/host.h */
	while (c->slot < ATT_NODE_SLOTS && slot_taken(s, c->node, c->slot))
		c->slot++;
	if (c->slot == ATT_NODE_SLOTS)
		return false;
	c->gen = ++s->gens[c->node][c->slot];
	vec_push(&s->taken, (uint64_t)c->node << 8 | c->slot);
	return true;
}

static int conn_send(struct att_conn *k, const struct att_welcome *w,
		     const int *fds, size_t n)
{
	char control[CMSG_SPACE(FDS * sizeof(int))] = { 0 };
	struct iovec iov = { (void *)w, sizeof(*w) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (fds) {
		m.msg_control = control;
		m.msg_controllen = CMSG_SPACE(n * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	}
	return sendmsg(k->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(*w)
		       ? 0
		       : -EPIPE;
}

static int conn_refuse(struct att_conn *k, int status)
{
	struct att_welcome w = { .magic = ATT_MAGIC,
				 .version = WEFT_ATT_VERSION,
				 .status = status };

	conn_send(k, &w, NULL, 0);
	return status;
}

static struct att_client *client_new(struct att_server *s, struct att_conn *k)
{
	struct att_client *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	c->srv = s;
	c->sock = k->fd;
	c->rank = k->hello.rank;
	c->role = k->hello.role;
	c->left = c->role == ATT_ROLE_THREAD; /* the end of a thread is not the
					       * death of its process */
	c->pid = k->who.pid;
	c->who = k->who;
	c->far = (struct weft_far_owner){
		.pid = c->pid,
		.who = &c->who,
		.ahead = att_timed(s),
		.settles = att_timed(s) && !s->o.raw,
	};
	return c;
}

/* Returns the third descriptor of a welcome message (client.c), or -1. */
static int conn_third(const struct att_server *s, struct att_client *c)
{
	if (s->o.raw)
		return c->g->mem_fd;
	return att_copy_needed(c->pid) ? att_copy_new(&c->far, s->o.patience_ns)
				       : -1;
}

/* Returns 0 if the client fits the run, or the negative errno of its
 * refusal. */
static int client_fits(struct att_server *s, const struct att_client *c)
{
	if ((c->role != ATT_ROLE_EP) != s->o.raw) {
		att_say(s,
			s->o.raw
				? "a process without calls of weft/host.h: leave --raw out"
				: "a process calls weft/host.h itself: give --raw");
		return -EPROTONOSUPPORT;
	}
	if (c->rank != UINT32_MAX && c->rank >= s->o.ranks) {
		att_say(s,
			"process %d says that it is rank %u, and is refused: there are ranks 0..%u; give -n %u",
			(int)c->pid, c->rank, s->o.ranks - 1, c->rank + 1);
		return -ERANGE;
	}
	return 0;
}

/* Refuses a connection and frees its client, which was never published. */
static int client_drop(struct att_client *c, struct att_conn *k, int status)
{
	free(c);
	return conn_refuse(k, status);
}

static int conn_welcome(struct att_server *s, struct att_conn *k)
{
	struct att_welcome w = { .magic = ATT_MAGIC,
				 .version = WEFT_ATT_VERSION,
				 .bell_bytes = sizeof(struct att_bell) };
	struct att_client *c = client_new(s, k);
	int fds[FDS], ret = client_fits(s, c);

	if (ret)
		return client_drop(c, k, ret);
	if (!conn_place(s, c)) {
		att_say(s, "rank %u (process %d): no place is left on n%u",
			c->rank, (int)c->pid, c->node);
		return client_drop(c, k, -EUSERS);
	}
	c->g = s->agents.at[c->node];
	fds[0] = att_seg_new(c, c->g);
	fds[1] = s->bell_fd;
	fds[2] = s->o.direct ? s->o.direct->fd : conn_third(s, c);
	fds[3] = s->o.direct ? s->o.direct->bell_fd : -1;
	if (fds[0] < 0) {
		s->taken.n--;
		return client_drop(c, k, -ENOMEM);
	}
	w.seg_bytes = c->seg_bytes;
	if (s->o.direct)
		direct_seat(s->o.direct, c->node, c->slot, k->fd, c->who.fd);
	ret = conn_send(k, &w, fds,
			ATT_SEND_FDS + (fds[2] >= 0) + (fds[3] >= 0));
	close(fds[0]);
	if (c->far.copy)
		close(fds[2]);
	/* A client that has already ended is published, too, because the
	 * simulation must handle its end. */
	vec_push(&s->joins, c);
	s->alive++;
	k->c = c;
	c->eof = ret != 0;
	att_watch_news(s);
	return ret;
}

/* Answers a hello. Called again for hellos that arrived before the agents were
 * ready. */
int att_join_answer(struct att_server *s, struct att_conn *k)
{
	int ret = 0;

	pthread_mutex_lock(&s->lock);
	if (s->ready && k->greeted && !k->c)
		ret = conn_welcome(s, k);
	pthread_mutex_unlock(&s->lock);
	return ret;
}

int att_join_hello(struct att_server *s, struct att_conn *k)
{
	struct att_hello hello;
	ssize_t n;

	if (k->c && s->o.direct) {
		/* An attached client sends requests of the direct path. */
		int ret;

		pthread_mutex_lock(&s->lock);
		ret = direct_serve(s->o.direct, k->c->node, k->c->slot);
		pthread_mutex_unlock(&s->lock);
		return ret;
	}
	n = recv(k->fd, &hello, sizeof(hello), MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return -EPIPE;
	if (k->greeted)
		/* Messages after the hello are ignored, because only the hello
		 * has a meaning. */
		return 0;
	k->hello = hello;
	if (n != sizeof(k->hello) || k->hello.magic != ATT_MAGIC ||
	    k->hello.role > ATT_ROLE_THREAD)
		return -EPROTO;
	if (k->hello.version != WEFT_ATT_VERSION) {
		att_say(s,
			"a process speaks version %u of the attachment, this is version %u: use the library of this installation",
			k->hello.version, WEFT_ATT_VERSION);
		return conn_refuse(k, -EPROTO);
	}
	k->greeted = true;
	return att_join_answer(s, k);
}
