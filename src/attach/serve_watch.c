/* SPDX-License-Identifier: Apache-2.0 */
/* The watcher is a thread that detects processes that join or end. It sleeps on
 * the listening socket, on the sockets of clients, and on the started
 * processes. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "attach/serve_internal.h"
#include "base/minmax.h"

enum {
	MUTE_MAX = 128, /* limit of connections that have not sent a hello */
	ACCEPTS = 64,	/* connections accepted in one pass of the thread */
	DEAF_MS = 100,	/* ms of pause after the kernel ran out of
			 * descriptors */
	FIXED = 2,	/* number of polled descriptors before those of
			 * connections */
};
#define HELLO 10000000000ull /* ns that a connection may take for its hello */

void att_watch_news(struct att_server *s)
{
	atomic_fetch_add(&s->news, 1);
	att_bell_ring(s->bell);
}

/* ---- ends ---- */

static void conn_end(struct att_server *s, size_t i)
{
	struct att_conn *k = s->watch.conns.at[i];

	if (k->c) {
		atomic_store(&k->c->eof, true);
		atomic_store(&k->c->seg->state, ATT_GONE);
		att_futex_wake(&k->c->seg->state);
		pthread_mutex_lock(&s->lock);
		if (s->o.direct)
			direct_dead(s->o.direct, k->c->node, k->c->slot);
		pthread_mutex_unlock(&s->lock);
		att_watch_news(s);
	}
	/* A client's descriptors stay open until the simulation has detached
	 * it, because the simulation uses them. */
	if (!k->c) {
		close(k->fd);
		pidfd_close(&k->who);
	}
	s->watch.conns.at[i] = s->watch.conns.at[--s->watch.conns.n];
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
	att_watch_news(s);
}

/* ---- the thread ---- */

struct fds {
	VEC(struct pollfd);
};

static void fds_add(struct fds *v, int fd)
{
	vec_push(v, (struct pollfd){ .fd = fd, .events = POLLIN });
}

/* Returns true if no connection can be accepted now, because too many
 * connections have not sent a hello or no descriptor is free. New connections
 * wait in the socket's queue. */
static bool watch_deaf(const struct att_server *s)
{
	size_t mute = 0;

	for (size_t i = 0; i < s->watch.conns.n; i++)
		mute += !s->watch.conns.at[i]->greeted;
	return mute >= MUTE_MAX || att_now_ns() < s->watch.deaf_until;
}

/* Accepts a connection. Returns false if none is pending or none can be
 * accepted. */
static bool watch_accept(struct att_server *s)
{
	struct att_conn k = { .since = att_now_ns() }, *new;

	/* A connection needs two descriptors. The second is reserved in
	 * advance, so that an accepted connection can always be served. */
	if (s->spare_fd < 0)
		s->spare_fd = fcntl(s->event_fd, F_DUPFD_CLOEXEC, 0);
	k.fd = s->spare_fd < 0 ? -1
			       : accept4(s->listen_fd, NULL, NULL,
					 SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (k.fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		    errno == ENOMEM) {
			s->watch.deaf_until =
				att_now_ns() + DEAF_MS * 1000000ull;
			if (!s->watch.told_full)
				att_say(s,
					"a process cannot join: no descriptor is left; raise the limit (ulimit -n)");
			s->watch.told_full = true;
		}
		return false;
	}
	close(s->spare_fd);
	s->spare_fd = -1;
	if (att_join_who(s, k.fd, &k.who)) {
		close(k.fd);
		return true;
	}
	new = malloc(sizeof(*new));
	if (!new)
		abort();
	*new = k;
	vec_push(&s->watch.conns, new);
	return true;
}

/* Handles events of a connection. Returns true if it must be closed, because it
 * sent garbage, its socket or process ended, or its hello is overdue. */
static bool conn_over(struct att_server *s, struct att_conn *k,
		      const struct pollfd *p)
{
	if (p[0].revents & POLLIN ? att_join_hello(s, k) : p[0].revents != 0)
		return true;
	if (p[1].revents || (!k->greeted && att_now_ns() - k->since > HELLO))
		return true;
	return att_join_answer(s, k) != 0;
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
		int ms = att_job_pause(s);

		vec_clear(&v);
		fds_add(&v, s->event_fd);
		fds_add(&v, watch_deaf(s) ? -1 : s->listen_fd);
		for (size_t i = 0; i < s->watch.conns.n; i++) {
			fds_add(&v, s->watch.conns.at[i]->fd);
			fds_add(&v, s->watch.conns.at[i]->who.fd);
		}
		pthread_mutex_lock(&s->lock);
		for (size_t i = 0; i < s->children.n; i++)
			fds_add(&v, s->children.at[i].fd);
		pthread_mutex_unlock(&s->lock);
		if (s->watch.deaf_until)
			ms = min_of(ms, DEAF_MS);
		if (poll(v.at, v.n, ms) < 0)
			continue;
		if (v.at[0].revents && read(s->event_fd, &n, sizeof(n)) < 0)
			n = 0;
		for (size_t i = s->watch.conns.n; i--;)
			if (conn_over(s, s->watch.conns.at[i],
				      &v.at[FIXED + 2 * i]))
				conn_end(s, i);
		pthread_mutex_lock(&s->lock);
		for (size_t i = 0; i < s->children.n; i++)
			child_look(s, &s->children.at[i]);
		pthread_mutex_unlock(&s->lock);
		for (int i = 0; v.at[1].revents && i < ACCEPTS; i++)
			if (!watch_accept(s))
				break;
		att_job_check(s);
	}
	vec_free(&v);
	return NULL;
}

void att_watch_poke(struct att_server *s)
{
	uint64_t one = 1;

	if (write(s->event_fd, &one, sizeof(one)) < 0)
		return; /* fails only if the counter is full, and then the
			 * watcher is awake already */
}

/* Blocks all signals in the watcher, because the thread of the simulation
 * handles them. */
int att_watch_start(struct att_server *s, struct weft_err *err)
{
	sigset_t all, old;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&s->watch.thread, NULL, watch_main, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (ret)
		return weft_fail(err, ret, "no thread to watch the processes");
	s->watch.running = true;
	return 0;
}

void att_watch_stop(struct att_server *s)
{
	if (s->watch.running) {
		pthread_mutex_lock(&s->lock);
		s->quit = true;
		pthread_mutex_unlock(&s->lock);
		att_watch_poke(s);
		pthread_join(s->watch.thread, NULL);
	}
	for (size_t i = 0; i < s->watch.conns.n; i++) {
		if (!s->watch.conns.at[i]->c) {
			close(s->watch.conns.at[i]->fd);
			pidfd_close(&s->watch.conns.at[i]->who);
		}
		free(s->watch.conns.at[i]);
	}
	vec_free(&s->watch.conns);
	vec_free(&s->watch.stops);
}
