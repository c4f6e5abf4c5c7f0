/* SPDX-License-Identifier: Apache-2.0 */
/* Wait objects, wait sets and poll sets.
 *
 * The process has one source of events, the attachment. A descriptor for the
 * user is readable when the attachment's descriptor or the bell of the user's
 * queue is readable. fi_trywait arms the attachment's descriptor. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "provider/obj.h"

int wfi_wait_init(struct wfi_wait *w, enum fi_wait_obj obj)
{
	w->obj = obj;
	w->fd = w->bell = -1;
	switch (obj) {
	case FI_WAIT_NONE:
	case FI_WAIT_UNSPEC:
	case FI_WAIT_SET:
	case FI_WAIT_FD:
	case FI_WAIT_YIELD:
		return 0;
	default:
		return -FI_ENOSYS;
	}
}

void wfi_wait_close(struct wfi_wait *w)
{
	if (w->fd >= 0)
		close(w->fd);
	if (w->bell >= 0)
		close(w->bell);
	w->fd = w->bell = -1;
}

void wfi_wait_ring(struct wfi_wait *w)
{
	if (w->bell >= 0)
		eventfd_write(w->bell, 1);
}

static int wait_fd(struct wfi_wait *w, int att)
{
	struct epoll_event e = { .events = EPOLLIN };

	w->fd = epoll_create1(EPOLL_CLOEXEC);
	/* The bell is readable from the start, so that a program that sleeps
	 * without a call of fi_trywait does not miss an event. */
	w->bell = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->fd >= 0 && w->bell >= 0 && att >= 0 &&
	    !epoll_ctl(w->fd, EPOLL_CTL_ADD, att, &e) &&
	    !epoll_ctl(w->fd, EPOLL_CTL_ADD, w->bell, &e))
		return 0;
	wfi_wait_close(w);
	return -FI_EMFILE;
}

/* Returns the wait object of a queue or a counter, or NULL. */
static struct wfi_wait *wait_of(struct fid *fid)
{
	switch (fid->fclass) {
	case FI_CLASS_CQ:
		return &container_of(fid, struct wfi_cq, fid.fid)->wait;
	case FI_CLASS_CNTR:
		return &container_of(fid, struct wfi_cntr, fid.fid)->wait;
	case FI_CLASS_EQ:
		return &container_of(fid, struct wfi_eq, fid.fid)->wait;
	default:
		return NULL;
	}
}

int wfi_wait_control(struct fid *fid, int command, void *arg)
{
	struct wfi_wait *w = wait_of(fid);

	switch (command) {
	case FI_GETWAIT:
		if (w->obj != FI_WAIT_FD && w->obj != FI_WAIT_UNSPEC)
			return -FI_ENODATA;
		if (w->fd < 0 && wait_fd(w, weft_att_fd(wfi_fid_hub(fid)->att)))
			return -FI_EMFILE;
		*(int *)arg = w->fd;
		return 0;
	case FI_GETWAITOBJ:
		*(enum fi_wait_obj *)arg = w->obj;
		return 0;
	default:
		return -FI_ENOSYS;
	}
}

int wfi_wait_until(struct wfi_hub *h, bool (*test)(void *arg), void *arg,
		   int ms)
{
	uint64_t end = wfi_real_us() + (uint64_t)ms * 1000;

	while (!test(arg)) {
		if (wfi_hub_progress(h))
			continue;
		if (ms >= 0 && wfi_real_us() >= end)
			return -FI_ETIMEDOUT;
		if (weft_att_gone(h->att))
			return -FI_EIO;
		wfi_unlock(h);
		weft_att_wait(h->att, 1000);
		wfi_lock(h);
	}
	return 0;
}

/* ---- any object that can be waited for ---- */

struct wfi_set {
	struct fid_wait fid;
	struct wfi_fabric *fabric;
	struct fid **at;
	size_t n;
};

struct wfi_hub *wfi_fid_hub(struct fid *fid)
{
	struct wfi_set *s;

	switch (fid->fclass) {
	case FI_CLASS_CQ:
		return container_of(fid, struct wfi_cq, fid.fid)->dom->hub;
	case FI_CLASS_CNTR:
		return container_of(fid, struct wfi_cntr, fid.fid)->dom->hub;
	case FI_CLASS_EQ:
		return container_of(fid, struct wfi_eq, fid.fid)->hub;
	case FI_CLASS_WAIT:
		s = container_of(fid, struct wfi_set, fid.fid);
		return s->n ? wfi_fid_hub(s->at[0]) : NULL;
	default:
		return NULL;
	}
}

static bool set_ready(void *arg)
{
	struct wfi_set *s = arg;
	bool any = false;

	for (size_t i = 0; i < s->n; i++)
		any |= wfi_fid_ready(s->at[i]);
	return any;
}

bool wfi_fid_ready(struct fid *fid)
{
	struct wfi_cntr *c;
	bool moved;

	switch (fid->fclass) {
	case FI_CLASS_CQ:
		return container_of(fid, struct wfi_cq, fid.fid)->n;
	case FI_CLASS_CNTR:
		c = container_of(fid, struct wfi_cntr, fid.fid);
		moved = c->val != c->seen || c->err != c->seen_err;
		c->seen = c->val;
		c->seen_err = c->err;
		return moved;
	case FI_CLASS_EQ:
		return !TAILQ_EMPTY(
			&container_of(fid, struct wfi_eq, fid.fid)->events);
	case FI_CLASS_WAIT:
		return set_ready(container_of(fid, struct wfi_set, fid.fid));
	default:
		return false;
	}
}

/* Prepares a sleep. Returns 0 if the user may sleep, -FI_EAGAIN if an object is
 * ready, or another negative errno. */
int wfi_trywait(struct fid_fabric *fabric, struct fid **fids, int count)
{
	struct wfi_hub *h = NULL;
	bool any = false;
	int rc = 0;

	for (int i = 0; i < count && !h; i++)
		h = wfi_fid_hub(fids[i]);
	if (!h)
		return 0;
	wfi_lock(h);
	wfi_hub_progress(h);
	for (int i = 0; i < count; i++) {
		struct wfi_wait *w = wait_of(fids[i]);
		eventfd_t n;

		if (w && w->bell >= 0)
			eventfd_read(w->bell, &n);
		any |= wfi_fid_ready(fids[i]);
	}
	if (!any)
		rc = weft_att_arm(h->att);
	wfi_unlock(h);
	return any || rc == -EAGAIN ? -FI_EAGAIN : rc;
}

/* ---- wait sets ---- */

void wfi_set_add(struct fid_wait *fid, struct fid *what)
{
	struct wfi_set *s = container_of(fid, struct wfi_set, fid);
	struct fid **at = reallocarray(s->at, s->n + 1, sizeof(*at));

	if (!at)
		return;
	s->at = at;
	s->at[s->n++] = what;
}

static int set_wait(struct fid_wait *fid, int timeout)
{
	struct wfi_set *s = container_of(fid, struct wfi_set, fid);
	struct wfi_hub *h = wfi_fid_hub(&fid->fid);
	int rc;

	if (!h)
		return -FI_EINVAL;
	wfi_lock(h);
	rc = wfi_wait_until(h, set_ready, s, timeout);
	wfi_unlock(h);
	return rc;
}

static int set_close(struct fid *fid)
{
	struct wfi_set *s = container_of(fid, struct wfi_set, fid.fid);

	s->fabric->refs--;
	free(s->at);
	free(s);
	return 0;
}

static struct fi_ops set_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = set_close,
	.bind = wfi_no_bind,
	.control = wfi_control,
	.ops_open = wfi_no_ops_open,
};

static struct fi_ops_wait set_ops = {
	.size = sizeof(struct fi_ops_wait),
	.wait = set_wait,
};

int wfi_wait_open(struct fid_fabric *fabric, struct fi_wait_attr *attr,
		  struct fid_wait **wait_p)
{
	struct wfi_set *s;

	if (attr && attr->wait_obj != FI_WAIT_UNSPEC &&
	    attr->wait_obj != FI_WAIT_FD && attr->wait_obj != FI_WAIT_YIELD)
		return -FI_ENOSYS;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -FI_ENOMEM;
	s->fabric = container_of(fabric, struct wfi_fabric, fid);
	s->fabric->refs++;
	s->fid.fid = (struct fid){ FI_CLASS_WAIT, NULL, &set_fid_ops };
	s->fid.ops = &set_ops;
	*wait_p = &s->fid;
	return 0;
}

/* ---- poll sets ---- */

struct wfi_poll {
	struct fid_poll fid;
	struct wfi_domain *dom;
	struct fid **at;
	size_t n;
};

static int poll_look(struct fid_poll *fid, void **context, int count)
{
	struct wfi_poll *p = container_of(fid, struct wfi_poll, fid);
	struct wfi_hub *h = p->dom->hub;
	bool any;
	int n = 0;

	wfi_lock(h);
	any = wfi_hub_progress(h);
	for (size_t i = 0; i < p->n && n < count; i++)
		if (wfi_fid_ready(p->at[i]))
			context[n++] = p->at[i]->context;
	wfi_unlock(h);
	if (!n && !any)
		weft_att_idle(h->att);
	return n;
}

static int poll_add(struct fid_poll *fid, struct fid *what, uint64_t flags)
{
	struct wfi_poll *p = container_of(fid, struct wfi_poll, fid);
	struct fid **at = reallocarray(p->at, p->n + 1, sizeof(*at));

	if (!at)
		return -FI_ENOMEM;
	p->at = at;
	p->at[p->n++] = what;
	return 0;
}

static int poll_del(struct fid_poll *fid, struct fid *what, uint64_t flags)
{
	struct wfi_poll *p = container_of(fid, struct wfi_poll, fid);

	for (size_t i = 0; i < p->n; i++) {
		if (p->at[i] != what)
			continue;
		p->at[i] = p->at[--p->n];
		return 0;
	}
	return -FI_EINVAL;
}

static int poll_close(struct fid *fid)
{
	struct wfi_poll *p = container_of(fid, struct wfi_poll, fid.fid);

	wfi_domain_use(p->dom, -1);
	free(p->at);
	free(p);
	return 0;
}

static struct fi_ops poll_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = poll_close,
	.bind = wfi_no_bind,
	.control = wfi_control,
	.ops_open = wfi_no_ops_open,
};

static struct fi_ops_poll poll_ops = {
	.size = sizeof(struct fi_ops_poll),
	.poll = poll_look,
	.poll_add = poll_add,
	.poll_del = poll_del,
};

int wfi_poll_open(struct fid_domain *fid, struct fi_poll_attr *attr,
		  struct fid_poll **poll_p)
{
	struct wfi_domain *d = container_of(fid, struct wfi_domain, fid);
	struct wfi_poll *p = calloc(1, sizeof(*p));

	if (!p)
		return -FI_ENOMEM;
	p->dom = d;
	p->fid.fid = (struct fid){ FI_CLASS_POLL, NULL, &poll_fid_ops };
	p->fid.ops = &poll_ops;
	wfi_domain_use(d, 1);
	*poll_p = &p->fid;
	return 0;
}
