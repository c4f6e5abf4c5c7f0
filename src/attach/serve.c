/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and closes the server of attached processes, and listens on its
 * socket. */
#include "attach/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "attach/copy.h"
#include "attach/serve_internal.h"

extern const struct weft_class weft_class_host_agent;

void att_say(struct att_server *s, const char *fmt, ...)
{
	char line[240];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (s->o.say)
		s->o.say(s->o.say_arg, line);
}

/* Listens on an abstract name, so that a killed simulator leaves no file. */
static int server_listen(struct att_server *s)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	uint64_t salt = 0;
	size_t n;

	if (getrandom(&salt, sizeof(salt), 0) < 0)
		return -errno;
	n = (size_t)snprintf(s->path, sizeof(s->path), "@weft-%d-%016llx",
			     (int)getpid(), (unsigned long long)salt);
	memcpy(sa.sun_path + 1, s->path + 1, n - 1);
	s->listen_fd = socket(AF_UNIX,
			      SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->listen_fd < 0 ||
	    bind(s->listen_fd, (struct sockaddr *)&sa,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) ||
	    listen(s->listen_fd, 512))
		return -errno;
	return 0;
}

static int server_bell(struct att_server *s)
{
	s->bell_fd = memfd_create("weft", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	s->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->bell_fd < 0 || s->event_fd < 0 || ftruncate(s->bell_fd, 4096) ||
	    fcntl(s->bell_fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return -errno;
	s->bell = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
		       s->bell_fd, 0);
	if (s->bell == MAP_FAILED) {
		s->bell = NULL;
		return -ENOMEM;
	}
	return 0;
}

struct att_server *att_server_new(const struct att_opts *opts,
				  struct weft_err *err)
{
	struct att_server *s = calloc(1, sizeof(*s));
	int ret = 0;

	if (!s)
		abort();
	s->o = *opts;
	s->listen_fd = s->event_fd = s->bell_fd = s->spare_fd = -1;
	pthread_mutex_init(&s->lock, NULL);
	s->map = calloc(opts->ranks, sizeof(*s->map));
	s->slot = calloc(opts->ranks, sizeof(*s->slot));
	if (!s->map || !s->slot)
		abort();
	memcpy(s->map, opts->map, opts->ranks * sizeof(*s->map));
	s->o.map = s->map;
	/* The slot of a rank is the number of lower ranks on its node. */
	for (uint32_t r = 0; r < s->o.ranks && !ret; r++) {
		for (uint32_t k = 0; k < r; k++)
			s->slot[r] += s->map[k] == s->map[r];
		if (s->slot[r] >= ATT_NODE_SLOTS)
			ret = weft_fail(
				err, EINVAL,
				"more than %u processes on node %u: spread them with --map or --per-node",
				ATT_NODE_SLOTS, s->map[r]);
	}
	if (!ret && ((ret = server_listen(s)) || (ret = server_bell(s))))
		weft_fail(err, -ret, "no socket for the processes: %s",
			  strerror(-ret));
	if (ret) {
		att_server_free(s);
		return NULL;
	}
	return s;
}

const char *att_server_socket(const struct att_server *s)
{
	return s->path;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void att_server_free(struct att_server *s)
{
	if (!s)
		return;
	att_watch_stop(s);
	for (size_t i = 0; i < s->joins.n; i++)
		vec_push(&s->clients, s->joins.at[i]);
	for (size_t i = 0; i < s->clients.n; i++) {
		close_fd(s->clients.at[i]->sock);
		att_copy_free(&s->clients.at[i]->far);
		att_client_free(s->clients.at[i]);
	}
	vec_free(&s->joins);
	vec_free(&s->clients);
	close_fd(s->listen_fd);
	close_fd(s->event_fd);
	close_fd(s->bell_fd);
	close_fd(s->spare_fd);
	if (s->bell)
		munmap(s->bell, 4096);
	for (size_t i = 0; i < s->children.n; i++)
		close_fd(s->children.at[i].fd);
	vec_free(&s->children);
	vec_free(&s->agents);
	vec_free(&s->running);
	vec_free(&s->taken);
	vec_free(&s->unborn);
	pthread_mutex_destroy(&s->lock);
	free(s->gens);
	free(s->map);
	free(s->slot);
	free(s);
}

/* ---- the simulation ---- */

int att_server_tap(void *server, struct weft_sim *sim, struct weft_err *err)
{
	struct att_server *s = server;

	for (uint32_t i = 0; i < weft_sim_count(sim); i++)
		if (weft_sim_at(sim, i)->cls == &weft_class_host_agent) {
			/* The name "n12.prog0" means node 12. */
			struct weft_comp *c = weft_sim_at(sim, i);
			struct att_agent *g = c->state;

			g->srv = s;
			g->prog = c;
			g->node = (uint32_t)strtoul(c->name + 1, NULL, 10);
			while (s->agents.n <= g->node)
				vec_push(&s->agents, NULL);
			s->agents.at[g->node] = g;
		}
	for (size_t i = 0; i < s->agents.n; i++)
		if (!s->agents.at[i])
			return weft_fail(err, EINVAL, "node n%zu has no agent",
					 i);
	for (uint32_t r = 0; r < s->o.ranks; r++)
		if (s->map[r] >= s->agents.n)
			return weft_fail(
				err, EINVAL,
				"rank %u is to be on node %u: the fabric has nodes 0..%zu",
				r, s->map[r], s->agents.n - 1);
	s->gens = calloc(s->agents.n, sizeof(*s->gens));
	if (!s->gens)
		abort();
	if (s->o.raw && att_raw_tap(s, err))
		return -EINVAL;
	s->sim = sim;
	weft_sim_set_gate(sim, att_gate, s);
	return 0;
}

void att_server_untap(struct att_server *s)
{
	pthread_mutex_lock(&s->lock);
	s->ready = false;
	pthread_mutex_unlock(&s->lock);
}

/* ---- processes ---- */

void att_server_child(struct att_server *s, pid_t pid)
{
	struct att_child c = { .pid = pid, .fd = -1 };

	c.fd = pidfd_open_pid(pid);
	pthread_mutex_lock(&s->lock);
	vec_push(&s->children, c);
	pthread_mutex_unlock(&s->lock);
	att_watch_poke(s);
}

int att_server_go(struct att_server *s, struct weft_err *err)
{
	pthread_mutex_lock(&s->lock);
	s->all_started = true;
	pthread_mutex_unlock(&s->lock);
	return att_watch_start(s, err);
}

void att_server_sum(struct att_server *s, struct att_sum *sum_p)
{
	*sum_p = s->measure.sum;
}

bool att_server_status(struct att_server *s, size_t i, int *status_p)
{
	bool ended;

	pthread_mutex_lock(&s->lock);
	ended = i < s->children.n && s->children.at[i].ended;
	if (ended)
		*status_p = s->children.at[i].status;
	pthread_mutex_unlock(&s->lock);
	return ended;
}
