/* SPDX-License-Identifier: Apache-2.0 */
/* Event queues. They belong to the fabric, therefore they have a separate lock,
 * which is taken after the hub's lock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "provider/obj.h"
#include "provider/pep.h"

static int eq_add(struct wfi_eq *eq, const struct wfi_event *head,
		  const void *entry, size_t len, const void *data, size_t more)
{
	struct wfi_event *e = malloc(sizeof(*e) + len + more);

	if (!e)
		return -FI_ENOMEM;
	*e = *head;
	e->len = len + more;
	memcpy(e->data, entry, len);
	if (more)
		memcpy(e->data + len, data, more);
	pthread_mutex_lock(&eq->lock);
	TAILQ_INSERT_TAIL(&eq->events, e, link);
	wfi_wait_ring(&eq->wait);
	pthread_mutex_unlock(&eq->lock);
	return 0;
}

int wfi_eq_add(struct wfi_eq *eq, uint32_t event, int err, const void *entry,
	       size_t len, const void *data, size_t more)
{
	struct wfi_event head = { .event = event, .err = err };

	return eq_add(eq, &head, entry, len, data, more);
}

void wfi_eq_use(struct wfi_eq *eq, int n)
{
	pthread_mutex_lock(&eq->lock);
	eq->refs += n;
	pthread_mutex_unlock(&eq->lock);
}

int wfi_eq_bind(struct fid *fid, struct fid *eq, uint64_t flags)
{
	struct wfi_eq **at =
		fid->fclass == FI_CLASS_DOMAIN
			? &container_of(fid, struct wfi_domain, fid.fid)->eq
		: fid->fclass == FI_CLASS_AV
			? &container_of(fid, struct wfi_av, fid.fid)->eq
			: &container_of(fid, struct wfi_pep, fid.fid)->eq;

	if (eq->fclass != FI_CLASS_EQ || *at)
		return -FI_EINVAL;
	*at = container_of(eq, struct wfi_eq, fid.fid);
	wfi_eq_use(*at, 1);
	return 0;
}

/* Takes the next event: an error if err is set, otherwise an event without
 * error. Returns 0, -FI_EAGAIN if no such event is next, or -FI_EAVAIL if an
 * error is next but err is not set. With `peek` the event stays in the
 * queue. */
static ssize_t eq_take(struct wfi_eq *eq, bool err, bool peek,
		       struct wfi_event **e_p)
{
	struct wfi_event *e = TAILQ_FIRST(&eq->events);

	if (!e)
		return -FI_EAGAIN;
	if (!e->err != !err)
		return err ? -FI_EAGAIN : -FI_EAVAIL;
	if (!peek)
		TAILQ_REMOVE(&eq->events, e, link);
	*e_p = e;
	return 0;
}

static ssize_t eq_get(struct wfi_eq *eq, uint32_t *event, void *buf, size_t len,
		      uint64_t flags)
{
	struct wfi_event *e;
	ssize_t rc;

	pthread_mutex_lock(&eq->lock);
	rc = eq_take(eq, false, true, &e);
	if (!rc && (e->event == FI_CONNREQ || e->event == FI_CONNECTED)
		    ? len < sizeof(struct fi_eq_cm_entry)
		    : !rc && len < e->len)
		rc = -FI_ETOOSMALL;
	if (!rc) {
		rc = min_of(e->len, len);
		*event = e->event;
		memcpy(buf, e->data, rc);
		if (!(flags & FI_PEEK)) {
			TAILQ_REMOVE(&eq->events, e, link);
			free(e);
		}
	}
	pthread_mutex_unlock(&eq->lock);
	return rc;
}

static bool eq_progress(struct wfi_eq *eq)
{
	bool any;

	wfi_lock(eq->hub);
	any = wfi_hub_progress(eq->hub);
	wfi_unlock(eq->hub);
	return any;
}

static ssize_t eq_read(struct fid_eq *fid, uint32_t *event, void *buf,
		       size_t len, uint64_t flags)
{
	struct wfi_eq *eq = container_of(fid, struct wfi_eq, fid);
	bool any = eq_progress(eq);
	ssize_t rc = eq_get(eq, event, buf, len, flags);

	if (rc == -FI_EAGAIN && !any)
		weft_att_idle(eq->hub->att);
	return rc;
}

static ssize_t eq_sread(struct fid_eq *fid, uint32_t *event, void *buf,
			size_t len, int timeout, uint64_t flags)
{
	struct wfi_eq *eq = container_of(fid, struct wfi_eq, fid);
	uint64_t end = wfi_real_us() + (uint64_t)timeout * 1000;
	ssize_t rc;

	for (;;) {
		bool any = eq_progress(eq);

		rc = eq_get(eq, event, buf, len, flags);
		if (rc != -FI_EAGAIN)
			return rc;
		if (timeout >= 0 && wfi_real_us() >= end)
			return -FI_EAGAIN;
		if (!any)
			weft_att_wait(eq->hub->att, 1000);
	}
}

static ssize_t eq_readerr(struct fid_eq *fid, struct fi_eq_err_entry *buf,
			  uint64_t flags)
{
	struct wfi_eq *eq = container_of(fid, struct wfi_eq, fid);
	void *user = buf->err_data;
	size_t room = buf->err_data_size;
	struct wfi_event *e;
	ssize_t rc;

	pthread_mutex_lock(&eq->lock);
	rc = eq_take(eq, true, flags & FI_PEEK, &e);
	if (!rc) {
		rc = sizeof(*buf);
		memcpy(buf, e->data, sizeof(*buf));
		free(eq->err_data);
		buf->err_data_size = e->len - sizeof(*buf);
		eq->err_data = malloc(buf->err_data_size + 1);
		if (eq->err_data)
			memcpy(eq->err_data, e->data + sizeof(*buf),
			       buf->err_data_size);
		else
			buf->err_data_size = 0;
		/* Data of an error are copied to the user's buffer, or stay in
		 * the queue's buffer. */
		if (room && user) {
			buf->err_data_size = min_of(buf->err_data_size, room);
			if (buf->err_data_size)
				memcpy(user, eq->err_data, buf->err_data_size);
			buf->err_data = user;
		} else {
			buf->err_data =
				buf->err_data_size ? eq->err_data : NULL;
		}
		if (!(flags & FI_PEEK))
			free(e);
	}
	pthread_mutex_unlock(&eq->lock);
	return rc;
}

static ssize_t eq_write(struct fid_eq *fid, uint32_t event, const void *buf,
			size_t len, uint64_t flags)
{
	struct wfi_event head = { .event = event, .user = true };
	struct wfi_eq *eq = container_of(fid, struct wfi_eq, fid);
	int rc;

	if (!eq->writable)
		return -FI_EINVAL;
	rc = eq_add(eq, &head, buf, len, NULL, 0);
	return rc ? rc : (ssize_t)len;
}

static const char *eq_strerror(struct fid_eq *fid, int prov_errno,
			       const void *err_data, char *buf, size_t len)
{
	const char *s = fi_strerror(prov_errno);

	if (buf && len)
		snprintf(buf, len, "%s", s);
	return buf && len ? buf : s;
}

static int eq_close(struct fid *fid)
{
	struct wfi_eq *eq = container_of(fid, struct wfi_eq, fid.fid);
	struct wfi_event *e;

	if (eq->refs)
		return -FI_EBUSY;
	while ((e = TAILQ_FIRST(&eq->events))) {
		struct fi_eq_cm_entry cm;

		TAILQ_REMOVE(&eq->events, e, link);
		/* A connection request belongs to the queue until the program
		 * reads it. */
		if (e->event == FI_CONNREQ && !e->user) {
			memcpy(&cm, e->data, sizeof(cm));
			fi_close(cm.info->handle);
			fi_freeinfo(cm.info);
		}
		free(e);
	}
	eq->fabric->refs--;
	wfi_wait_close(&eq->wait);
	pthread_mutex_destroy(&eq->lock);
	free(eq->err_data);
	free(eq);
	return 0;
}

static struct fi_ops eq_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = eq_close,
	.bind = wfi_no_bind,
	.control = wfi_wait_control,
	.ops_open = wfi_no_ops_open,
};

static struct fi_ops_eq eq_ops = {
	.size = sizeof(struct fi_ops_eq),
	.read = eq_read,
	.readerr = eq_readerr,
	.write = eq_write,
	.sread = eq_sread,
	.strerror = eq_strerror,
};

int wfi_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
		struct fid_eq **eq_p, void *context)
{
	struct wfi_eq *eq;
	int rc;

	if (attr && attr->wait_obj == FI_WAIT_SET && !attr->wait_set)
		return -FI_EINVAL;
	eq = calloc(1, sizeof(*eq));
	if (!eq)
		return -FI_ENOMEM;
	rc = wfi_wait_init(&eq->wait, attr ? attr->wait_obj : FI_WAIT_UNSPEC);
	if (rc) {
		free(eq);
		return rc;
	}
	eq->writable = attr && (attr->flags & FI_WRITE);
	eq->fabric = container_of(fabric, struct wfi_fabric, fid);
	eq->fabric->refs++;
	eq->hub = eq->fabric->hub;
	pthread_mutex_init(&eq->lock, NULL);
	TAILQ_INIT(&eq->events);
	eq->fid.fid = (struct fid){ FI_CLASS_EQ, context, &eq_fid_ops };
	eq->fid.ops = &eq_ops;
	if (attr && attr->wait_obj == FI_WAIT_SET)
		wfi_set_add(attr->wait_set, &eq->fid.fid);
	*eq_p = &eq->fid;
	return 0;
}
