/* SPDX-License-Identifier: Apache-2.0 */
/* Who joins and who has gone: a thread that sleeps on the socket, on those of
 * the clients, and on the processes that were started. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "attach/copy.h"
#include "attach/serve_priv.h"

/* The third: the segment of those who talk to each other directly, the node's
 * memory, or a socket for copies of the client's. */
enum { FDS = ATT_SEND_FDS + 1 };

static void watch_news(struct att_server *s)
{
	atomic_fetch_add(&s->news, 1);
	att_bell_ring(s->bell);
}

/* ---- hello ---- */

static bool slot_taken(const struct att_server *s, uint32_t node, uint32_t slot)
{
	const struct direct_hub *d = s->o.direct;

	/* their rings know nothing of a second life */
	if (d && (s->gens[node][slot] || slot >= d->places / d->nodes))
		return true;
	for (size_t i = 0; i < s->taken.n; i++)
		if (s->taken.at[i] == ((uint64_t)node << 8 | slot))
			return true;
	return false;
}

/* Where a rank lives; a second one with its number, or one without, takes the
 * next place. */
static bool conn_place(struct att_server *s, struct att_client *c)
{
	uint32_t r = c->rank;

	for (uint32_t i = 0; r == UINT32_MAX && i < s->o.ranks; i++)
		if (!slot_taken(s, s->map[i], s->slot[i]))
			r = i;
	c->rank = r == UINT32_MAX ? 0 : r;
	r = c->rank % s->o.ranks;
	c->node = s->map[r];
	c->slot = s->slot[r];
	if (c->role == ATT_ROLE_HOST && s->gens[c->node][0])
		return false; /* a node has one such process */
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
	struct ucred who = { 0 };
	socklen_t len = sizeof(who);
	struct att_client *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	getsockopt(k->fd, SOL_SOCKET, SO_PEERCRED, &who, &len);
	c->srv = s;
	c->sock = k->fd;
	c->rank = k->hello.rank;
	c->role = k->hello.role;
	c->left = c->role == ATT_ROLE_THREAD; /* goes with its process */
	c->pid = who.pid;
	c->far = (struct weft_far_owner){
		.pid = who.pid,
		.ahead = att_timed(s),
		.settles = att_timed(s) && !s->o.raw,
	};
	return c;
}

/* The third descriptor, or -1. */
static int conn_third(const struct att_server *s, struct att_client *c)
{
	if (s->o.direct)
		return s->o.direct->fd;
	if (s->o.raw)
		return c->g->mem_fd;
	return att_copy_needed(c->pid) ? att_copy_new(&c->far) : -1;
}

static int conn_welcome(struct att_server *s, struct att_conn *k)
{
	struct att_welcome w = { .magic = ATT_MAGIC,
				 .version = WEFT_ATT_VERSION,
				 .bell_bytes = sizeof(struct att_bell) };
	struct att_client *c = client_new(s, k);
	int fds[FDS], ret;

	if ((c->role != ATT_ROLE_EP) != s->o.raw) {
		att_say(s, s->o.raw ? "a process without calls of weft/host.h: "
				      "leave --raw out"
				    : "a process calls weft/host.h itself: "
				      "give --raw");
		free(c);
		return conn_refuse(k, -EPROTONOSUPPORT);
	}
	if (!conn_place(s, c)) {
		att_say(s, "rank %u (process %d): no place is left on n%u",
			c->rank, (int)c->pid, c->node);
		free(c);
		return conn_refuse(k, -EUSERS);
	}
	c->g = s->agents.at[c->node];
	fds[0] = att_seg_new(c, c->g);
	fds[1] = s->bell_fd;
	fds[2] = conn_third(s, c);
	if (fds[0] < 0) {
		s->taken.n--;
		free(c);
		return conn_refuse(k, -ENOMEM);
	}
	w.seg_bytes = c->seg_bytes;
	ret = conn_send(k, &w, fds, fds[2] >= 0 ? FDS : ATT_SEND_FDS);
	close(fds[0]);
	if (c->far.copy)
		close(fds[2]);
	vec_push(&s->joins, c); /* also when it has gone meanwhile */
	s->alive++;
	k->c = c;
	c->eof = ret != 0;
	watch_news(s);
	return ret;
}

/* Those who came before the agents were ready are answered then. */
static int conn_answer(struct att_server *s, struct att_conn *k)
{
	int ret = 0;

	pthread_mutex_lock(&s->lock);
	if (s->ready && k->greeted && !k->c)
		ret = conn_welcome(s, k);
	pthread_mutex_unlock(&s->lock);
	return ret;
}

static int conn_hello(struct att_server *s, struct att_conn *k)
{
	ssize_t n = recv(k->fd, &k->hello, sizeof(k->hello), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return -EPIPE;
	if (k->greeted)
		return 0; /* it has nothing more to say */
	if (n != sizeof(k->hello) || k->hello.magic != ATT_MAGIC)
		return -EPROTO;
	if (k->hello.version != WEFT_ATT_VERSION) {
		att_say(s,
			"a process speaks version %u of the attachment, this "
			"is version %u: use the library of this installation",
			k->hello.version, WEFT_ATT_VERSION);
		return conn_refuse(k, -EPROTO);
	}
	k->greeted = true;
	return conn_answer(s, k);
}

/* ---- ends ---- */

static void conn_end(struct att_server *s, size_t i)
{
	struct att_conn *k = s->conns.at[i];

	if (k->c) {
		atomic_store(&k->c->eof, true);
		atomic_store(&k->c->seg->state, ATT_GONE);
		att_futex_wake(&k->c->seg->state);
		if (s->o.direct)
			direct_dead(s->o.direct, k->c->node, k->c->slot);
		watch_news(s);
	}
	/* the descriptor stays open until the simulation has let go of it */
	if (!k->c)
		close(k->fd);
	s->conns.at[i] = s->conns.at[--s->conns.n];
	free(k);
}

static void child_look(struct att_server *s, struct att_child *c)
{
	if (c->ended || waitpid(c->pid, &c->status, WNOHANG) != c->pid)
		return;
	c->ended = true;
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	watch_news(s);
}

/* ---- the thread ---- */

struct fds {
	VEC(struct pollfd);
};

static void fds_add(struct fds *v, int fd)
{
	vec_push(v, (struct pollfd){ .fd = fd, .events = POLLIN });
}

static void watch_fds(struct att_server *s, struct fds *v)
{
	vec_clear(v);
	fds_add(v, s->event_fd);
	fds_add(v, s->listen_fd);
	for (size_t i = 0; i < s->conns.n; i++)
		fds_add(v, s->conns.at[i]->fd);
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->children.n; i++)
		fds_add(v, s->children.at[i].fd);
	pthread_mutex_unlock(&s->lock);
}

static void watch_accept(struct att_server *s)
{
	struct att_conn *k;
	int fd =
		accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	k = calloc(1, sizeof(*k));
	if (!k)
		abort();
	k->fd = fd;
	vec_push(&s->conns, k);
}

static void watch_conns(struct att_server *s, const struct fds *v)
{
	for (size_t i = s->conns.n; i--;) {
		struct att_conn *k = s->conns.at[i];
		short re = v->at[i + 2].revents;

		if (re & POLLIN ? conn_hello(s, k) : re != 0)
			conn_end(s, i);
		else if (conn_answer(s, k))
			conn_end(s, i);
	}
}

static void watch_children(struct att_server *s)
{
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->children.n; i++)
		child_look(s, &s->children.at[i]);
	pthread_mutex_unlock(&s->lock);
}

static bool watch_quit(struct att_server *s)
{
	bool quit;

	pthread_mutex_lock(&s->lock);
	quit = s->quit;
	pthread_mutex_unlock(&s->lock);
	return quit;
}

static void *watch_main(void *arg)
{
	struct att_server *s = arg;
	struct fds v = { 0 };
	uint64_t n;

	while (!watch_quit(s)) {
		watch_fds(s, &v);
		if (poll(v.at, v.n, att_job_pause(s)) < 0)
			continue;
		if (v.at[0].revents && read(s->event_fd, &n, sizeof(n)) < 0)
			n = 0;
		watch_conns(s, &v);
		watch_children(s);
		if (v.at[1].revents)
			watch_accept(s);
		att_job_look(s);
	}
	vec_free(&v);
	return NULL;
}

void att_watch_poke(struct att_server *s)
{
	uint64_t one = 1;

	if (write(s->event_fd, &one, sizeof(one)) < 0)
		return; /* full: it is awake */
}

/* Signals are for the thread that runs the simulation. */
int att_watch_start(struct att_server *s, struct weft_err *err)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&s->watcher, NULL, watch_main, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (ret)
		return weft_fail(err, ret, "no thread to watch the processes");
	s->watching = true;
	return 0;
}

void att_watch_stop(struct att_server *s)
{
	if (s->watching) {
		pthread_mutex_lock(&s->lock);
		s->quit = true;
		pthread_mutex_unlock(&s->lock);
		att_watch_poke(s);
		pthread_join(s->watcher, NULL);
	}
	for (size_t i = 0; i < s->conns.n; i++) {
		if (!s->conns.at[i]->c)
			close(s->conns.at[i]->fd);
		free(s->conns.at[i]);
	}
	vec_free(&s->conns);
	vec_free(&s->stops);
}
