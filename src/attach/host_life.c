/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and ends the threads of a process that calls weft/host.h, and ends the
 * process. The first call of weft_host_self attaches the process to its node.
 *
 * A thread of weft_thread_start is a thread of the operating system with a
 * separate connection. The simulator resumes one thread of the process at a
 * time, so that threads behave as threads of a program in the simulator do. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "attach/host_client.h"

/* The process's node. Each thread has its own weft_host. */
static struct {
	pthread_mutex_t lock;
	struct host_node node;
	struct weft_host *first; /* head of the list through `next` */
	bool tried, forked;
	_Atomic bool left;
} home = { .lock = PTHREAD_MUTEX_INITIALIZER };
static _Thread_local struct weft_host *self_;

/* Start of a thread. The creator of the thread waits until the thread has
 * connected (done). */
struct host_start {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool done;
	int status;
	struct weft_att *att;
};

/* ---- the process ---- */

/* Ends the attachment in a child of fork, which does not inherit the memory. */
static void on_fork(void)
{
	for (struct weft_host *h = home.first; h; h = h->next) {
		h->att->gone = true;
		close(h->att->sock);
	}
	home.forked = true;
	self_ = NULL;
}

/* Makes this thread leave the run, or with `all` every thread of the process.
 * Returns when the simulator has executed all posted calls. */
static void host_life_bye(struct weft_host *h, bool all)
{
	struct att_host_cmd c = { .kind = ATT_H_BYE, .n = all };

	host_put(h, &c);
	while (!weft_att_gone(h->att))
		host_hand_over(h);
}

bool host_left(void)
{
	return home.left;
}

/* Leaves the run at the end of the program. Drivers end last, because other
 * processes of the node may use them until this program has left. */
static void host_life_leave(void)
{
	struct weft_host *h = self_;

	if (!h || home.forked || weft_att_gone(h->att))
		return;
	if (h == home.first)
		host_gone(h);
	home.left = true;
	host_life_bye(h, true);
	for (uint32_t i = 0; i < ATT_HOST_DEVS; i++)
		if (h->node->dev[i].drv.fini)
			h->node->dev[i].drv.fini(h->node->dev[i].drv.own);
	self_ = NULL;
}

void weft_att_end(struct weft_host *h)
{
	if (h == self_)
		host_life_leave();
}

void weft_att_outside(struct weft_host *h)
{
	if (!weft_att_gone(h->att))
		atomic_store(&h->att->seg->outside, 1);
}

static void say_why(int err)
{
	static const struct {
		int err;
		const char *why;
	} reasons[] = {
		{ -ENOENT,
		  "it runs on a simulated machine: weft exec --raw "
		  "--fabric FILE -- PROGRAM" },
		{ -EUSERS, "its node has had its process already" },
		{ -EACCES, "the simulator is another user's" },
		{ -EPROTONOSUPPORT, "give --raw to weft exec" },
	};
	const char *why = strerror(-err);

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].err == err)
			why = reasons[i].why;
	fprintf(stderr, "weft: %s: %s\n", program_invocation_short_name, why);
}

static void host_life_enter(void)
{
	struct weft_host *h = calloc(1, sizeof(*h));
	struct host_node *n = &home.node;
	int ret;

	if (!h) {
		say_why(-ENOMEM);
		return;
	}
	ret = att_connected(ATT_ROLE_HOST, &h->att);
	if (!ret) {
		n->info = h->att->seg->host;
		n->mem = mmap(NULL, n->info.mem_bytes, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_NORESERVE, h->att->mem_fd, 0);
		if (n->mem == MAP_FAILED)
			ret = -ENOMEM;
		else
			madvise(n->mem, n->info.mem_bytes, MADV_DONTFORK);
	}
	if (!ret &&
	    (pthread_atfork(NULL, NULL, on_fork) || atexit(host_life_leave)))
		ret = -ENOMEM;
	if (!ret)
		ret = att_noticed(h->att);
	if (ret) {
		/* Prints the error before the connection is closed, because the
		 * simulator may end this process when the connection closes. */
		say_why(ret);
		if (h->att)
			att_free(h->att);
		free(h);
		return;
	}
	h->node = n;
	home.first = self_ = h;
	if (n->info.own)
		host_is_process(h);
}

struct weft_host *weft_host_self(void)
{
	if (self_)
		return self_;
	pthread_mutex_lock(&home.lock);
	if (!home.tried)
		host_life_enter();
	home.tried = true;
	pthread_mutex_unlock(&home.lock);
	return self_;
}

void weft_host_exit(struct weft_host *h, int status)
{
	exit(status);
}

/* ---- threads ---- */

/* Connects, and calls `fn` when the simulator resumes the thread for the first
 * time. */
static void *thread_main(void *arg)
{
	struct weft_host *h = arg;
	int ret = att_connected(ATT_ROLE_THREAD, &h->att);

	pthread_mutex_lock(&h->start->lock);
	h->start->att = h->att;
	h->start->status = ret;
	h->start->done = true;
	pthread_cond_signal(&h->start->cond);
	pthread_mutex_unlock(&h->start->lock);
	if (ret || att_noticed(h->att))
		return NULL;
	self_ = h;
	h->fn(h, h->arg);
	if (!weft_att_gone(h->att))
		host_life_bye(h, false);
	self_ = NULL;
	shutdown(h->att->sock, SHUT_RDWR);
	return NULL;
}

struct weft_host *weft_thread_start(struct weft_host *h,
				    int (*fn)(struct weft_host *h, void *arg),
				    void *arg)
{
	struct host_start s = { .lock = PTHREAD_MUTEX_INITIALIZER,
				.cond = PTHREAD_COND_INITIALIZER };
	struct att_host_cmd c = { .kind = ATT_H_THREAD };
	struct weft_host *t = calloc(1, sizeof(*t));
	pthread_t id;

	if (!t)
		return NULL;
	t->node = h->node;
	t->proc = h->proc;
	t->fn = fn;
	t->arg = arg;
	t->start = &s;
	if (pthread_create(&id, NULL, thread_main, t)) {
		free(t);
		return NULL;
	}
	pthread_detach(id);
	pthread_mutex_lock(&s.lock);
	while (!s.done)
		pthread_cond_wait(&s.cond, &s.lock);
	pthread_mutex_unlock(&s.lock);
	if (s.status) {
		free(t);
		return NULL;
	}
	t->next = home.first->next;
	home.first->next = t;
	c.dev = s.att->info.slot;
	return host_call(h, &c, NULL) ? t : NULL;
}
