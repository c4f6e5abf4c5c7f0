/* SPDX-License-Identifier: Apache-2.0 */
/* Remote disks: opening and closing. */
#include <errno.h>

#include "base/minmax.h"
#include "storage/initiator.h"

enum {
	STRIPE = 65536,
	TRIES = 12,
	TRIES_MAX = 60000, /* limit of tries, because attempts have 16 bits */
	LOGOUTS = 4, /* limit of LOGOUTs without an answer, after which the disk
		      * is closed anyway */
};

/* ---- attributes ---- */

static void attr_default(struct weft_disk *d)
{
	struct weft_disk_attr *a = &d->attr;

	if (!a->targets) {
		a->targets = 1;
		a->target[0] = 1;
	}
	a->stripe = a->stripe ? a->stripe : STRIPE;
	a->depth = a->depth ? a->depth : STORAGE_DEPTH;
	a->tries = a->tries ? a->tries : TRIES;
	if (!a->timeout)
		a->timeout = weft_host_time(d->h, T_disk_timeout);
}

static bool targets_good(const struct weft_disk *d)
{
	const struct weft_disk_attr *a = &d->attr;

	for (uint32_t i = 0; i < a->targets; i++) {
		if (a->target[i] >= weft_host_nodes(d->h) ||
		    a->target[i] == weft_host_node(d->h))
			return false;
		for (uint32_t k = 0; k < i; k++)
			if (a->target[k] == a->target[i])
				return false;
	}
	return true;
}

static bool attr_good(const struct weft_disk *d)
{
	const struct weft_disk_attr *a = &d->attr;

	return a->targets <= WEFT_DISK_TARGETS && targets_good(d) &&
	       a->stripe % STORAGE_PAGE == 0 && a->depth <= STORAGE_DEPTH &&
	       a->check <= WEFT_DISK_CHECK_CRC32C && a->tries <= TRIES_MAX;
}

/* ---- memory ---- */

static bool store_make(struct weft_disk *d, struct store *s, uint32_t node)
{
	s->node = node;
	s->send_tail = &s->send;
	s->free_n = d->attr.depth;
	for (uint32_t i = 0; i < s->free_n; i++)
		s->free[i] = (uint8_t)i;
	s->part = weft_host_calloc(d->h, s->free_n, sizeof(*s->part));
	return s->part;
}

static bool requests_make(struct weft_disk *d)
{
	uint32_t n = 2 * d->attr.depth * d->attr.targets;

	d->requests = weft_host_calloc(d->h, n, sizeof(*d->requests));
	for (uint32_t i = n; d->requests && i--; d->free = &d->requests[i])
		d->requests[i].next = d->free;
	return d->requests;
}

static int memory_make(struct weft_disk *d)
{
	uint32_t n = d->attr.targets;
	weft_phys_t phys;
	int ret;

	d->divide_tail = &d->divide;
	d->ended_tail = &d->ended;
	d->timer = WEFT_NEVER;
	d->store = weft_host_calloc(d->h, n, sizeof(*d->store));
	if (!d->store || !requests_make(d) ||
	    !pages_make(d->h, &d->bounce_pages, DISK_BOUNCE))
		return -ENOMEM;
	d->info.targets = n;
	for (uint32_t i = 0; i < n; i++)
		if (!store_make(d, &d->store[i], d->attr.target[i]))
			return -ENOMEM;
	d->bounce = weft_mem_alloc(d->h, DISK_BOUNCE, STORAGE_PAGE, &phys);
	if (!d->bounce)
		return -ENOMEM;
	ret = d->link->ops->reg(d->link, d->bounce, DISK_BOUNCE, &d->bounce_mr);
	return ret ? -ENOMEM : 0;
}

static void memory_free(struct weft_disk *d)
{
	for (uint32_t i = 0; d->store && i < d->info.targets; i++) {
		weft_host_free(d->h, d->store[i].part);
		pages_free(d->h, &d->store[i].pages);
	}
	for (uint32_t i = 0;
	     d->requests && i < 2 * d->attr.depth * d->attr.targets; i++) {
		struct request *r = &d->requests[i];

		if (r->op.seg && r->op.seg != r->few)
			weft_host_free(d->h, (void *)(uintptr_t)r->op.seg);
	}
	weft_host_free(d->h, d->store);
	weft_host_free(d->h, d->requests);
	pages_free(d->h, &d->bounce_pages);
	weft_mem_free(d->h, d->bounce);
}

/* ---- meeting the targets ---- */

/* Returns 0 if all targets have answered, -EAGAIN if some have not, or the
 * first error. */
static int stores_up(const struct weft_disk *d)
{
	int ret = 0;

	for (uint32_t i = 0; i < d->info.targets; i++) {
		const struct store *s = &d->store[i];

		if (s->state == STORE_GONE)
			return s->why;
		if (s->state != STORE_UP && s->login_tries > d->attr.tries)
			return -ETIMEDOUT;
		if (s->state != STORE_UP)
			ret = -EAGAIN;
	}
	return ret;
}

static int sizes_set(struct weft_disk *d)
{
	uint64_t size = d->store[0].size;

	d->info.sector = d->store[0].sector;
	d->info.max_request = d->store[0].max_request;
	for (uint32_t i = 1; i < d->info.targets; i++) {
		const struct store *s = &d->store[i];

		if (s->sector != d->info.sector)
			return -EINVAL;
		size = min_of(size, s->size);
		d->info.max_request =
			min_of(d->info.max_request, s->max_request);
	}
	if (d->info.targets > 1)
		size = size / d->attr.stripe * d->attr.stripe;
	d->info.size = size * d->info.targets;
	d->info.link = d->link->info.name;
	d->info.nic = d->link->info.nic;
	return 0;
}

static int login_all(struct weft_disk *d)
{
	int ret;

	d->now = weft_host_now(d->h);
	for (uint32_t i = 0; i < d->info.targets; i++)
		disk_login(d, &d->store[i]);
	for (;;) {
		disk_progress(d);
		ret = stores_up(d);
		if (ret != -EAGAIN)
			return ret ? ret : sizes_set(d);
		d->link->ops->wait(d->link, disk_next(d));
	}
}

static int disk_start(struct weft_disk *d)
{
	struct storage_link_attr la = { .use_irq = d->attr.use_irq,
					.notify = d->attr.notify,
					.cluster = d->attr.cluster,
					.targets = d->attr.target,
					.n_targets = d->attr.targets };
	int ret;

	if (!attr_good(d))
		return -EINVAL;
	if (!la.notify)
		la.notify = "request";
	ret = storage_link_open(d->h, d->attr.link, &la, &d->link);
	if (!ret)
		ret = memory_make(d);
	return ret ? ret : login_all(d);
}

int weft_disk_open(struct weft_host *h, const struct weft_disk_attr *attr,
		   struct weft_disk **d_p)
{
	struct weft_disk *d = weft_host_calloc(h, 1, sizeof(*d));
	int ret;

	if (!d)
		return -ENOMEM;
	d->h = h;
	if (attr)
		d->attr = *attr;
	attr_default(d);
	ret = disk_start(d);
	if (ret)
		weft_disk_close(d);
	else
		*d_p = d;
	return ret;
}

/* ---- closing ---- */

static bool logged_out(const struct weft_disk *d)
{
	for (uint32_t i = 0; i < d->info.targets; i++)
		if (d->store[i].state == STORE_LOGOUT &&
		    d->store[i].login_tries <= LOGOUTS)
			return false;
	return true;
}

/* Logs out of all targets. Waits until each target has answered or all tries
 * are used up. */
static void logout_all(struct weft_disk *d)
{
	d->now = weft_host_now(d->h);
	for (uint32_t i = 0; i < d->info.targets; i++) {
		struct store *s = &d->store[i];

		if (s->state == STORE_GONE || s->state == STORE_OUT)
			continue;
		s->state = STORE_LOGOUT;
		s->number++;
		s->login_tries = 0;
		s->patience = d->attr.timeout;
		s->login_at = d->now;
		s->send = NULL;
		s->send_tail = &s->send;
	}
	d->timer = WEFT_NEVER;
	d->divide = NULL;
	d->divide_tail = &d->divide;
	for (disk_progress(d); !logged_out(d); disk_progress(d))
		d->link->ops->wait(d->link, disk_next(d));
}

void weft_disk_close(struct weft_disk *d)
{
	if (d->link && d->bounce)
		logout_all(d);
	if (d->link)
		d->link->ops->close(d->link);
	memory_free(d);
	weft_host_free(d->h, d);
}
