/* SPDX-License-Identifier: Apache-2.0 */
/* Completion queues. The ring stores entries in the longest format. A read
 * copies only the fields of the requested format. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "provider/obj.h"

static const size_t cq_size[] = {
	[FI_CQ_FORMAT_UNSPEC] = sizeof(struct fi_cq_tagged_entry),
	[FI_CQ_FORMAT_CONTEXT] = sizeof(struct fi_cq_entry),
	[FI_CQ_FORMAT_MSG] = sizeof(struct fi_cq_msg_entry),
	[FI_CQ_FORMAT_DATA] = sizeof(struct fi_cq_data_entry),
	[FI_CQ_FORMAT_TAGGED] = sizeof(struct fi_cq_tagged_entry),
};

static bool cq_grow(struct wfi_cq *cq)
{
	size_t cap = cq->cap ? cq->cap * 2 : 64;
	struct wfi_comp *ring = malloc(cap * sizeof(*ring));

	if (!ring)
		return false;
	for (size_t i = 0; i < cq->n; i++)
		ring[i] = cq->ring[(cq->head + i) & (cq->cap - 1)];
	free(cq->ring);
	cq->ring = ring;
	cq->cap = cap;
	cq->head = 0;
	return true;
}

void wfi_cq_add(struct wfi_cq *cq, const struct wfi_comp *c)
{
	if (cq->n == cq->cap && !cq_grow(cq))
		return;
	cq->ring[(cq->head + cq->n) & (cq->cap - 1)] = *c;
	cq->n++;
	wfi_wait_ring(&cq->wait);
}

/* Copies entries to the user. Returns their number, -FI_EAVAIL if the next
 * entry is an error, or -FI_EAGAIN if the queue is empty. */
static ssize_t cq_take(struct wfi_cq *cq, void *buf, size_t count,
		       fi_addr_t *src)
{
	size_t size = cq_size[cq->format], n = 0;

	while (n < count && cq->n && !cq->ring[cq->head].err) {
		memcpy((char *)buf + n * size, &cq->ring[cq->head].e, size);
		if (src)
			src[n] = cq->ring[cq->head].src;
		cq->head = (cq->head + 1) & (cq->cap - 1);
		cq->n--;
		n++;
	}
	if (n) {
		/* Only polls with a result are charged, because the number of
		 * empty polls depends on real time. */
		wfi_call_begin(cq->dom->hub, WFI_CALL_CQ_READ, 0);
		weft_att_made_progress(cq->dom->hub->att);
		wfi_call_end(cq->dom->hub, 0);
	}
	if (n || (!count && cq->n && !cq->ring[cq->head].err))
		return n;
	return cq->n ? -FI_EAVAIL : -FI_EAGAIN;
}

static ssize_t cq_readfrom(struct fid_cq *fid, void *buf, size_t count,
			   fi_addr_t *src)
{
	struct wfi_cq *cq = container_of(fid, struct wfi_cq, fid);
	struct wfi_hub *h = cq->dom->hub;
	bool any = true;
	ssize_t rc;

	wfi_lock(h);
	if (!cq->n)
		any = wfi_hub_progress(h);
	rc = cq_take(cq, buf, count, src);
	wfi_unlock(h);
	if (rc != -FI_EAGAIN || any)
		return rc;
	weft_att_idle(h->att);
	return weft_att_gone(h->att) ? -FI_EIO : rc;
}

static ssize_t cq_read(struct fid_cq *fid, void *buf, size_t count)
{
	return cq_readfrom(fid, buf, count, NULL);
}

static ssize_t cq_readerr(struct fid_cq *fid, struct fi_cq_err_entry *buf,
			  uint64_t flags)
{
	struct wfi_cq *cq = container_of(fid, struct wfi_cq, fid);
	ssize_t rc = -FI_EAGAIN;

	wfi_lock(cq->dom->hub);
	if (!cq->n)
		wfi_hub_progress(cq->dom->hub);
	if (cq->n && cq->ring[cq->head].err) {
		const struct wfi_comp *c = &cq->ring[cq->head];

		buf->op_context = c->e.op_context;
		buf->flags = c->e.flags;
		buf->len = c->e.len;
		buf->buf = c->e.buf;
		buf->data = c->e.data;
		buf->tag = c->e.tag;
		buf->olen = c->olen;
		buf->err = c->err;
		buf->prov_errno = c->err;
		buf->err_data_size = 0;
		cq->head = (cq->head + 1) & (cq->cap - 1);
		cq->n--;
		rc = 1;
	}
	wfi_unlock(cq->dom->hub);
	return rc;
}

static bool cq_test(void *arg)
{
	struct wfi_cq *cq = arg;

	return cq->n || cq->signaled;
}

/* Waits for one entry. The caller's threshold is ignored. */
static ssize_t cq_sreadfrom(struct fid_cq *fid, void *buf, size_t count,
			    fi_addr_t *src, const void *cond, int timeout)
{
	struct wfi_cq *cq = container_of(fid, struct wfi_cq, fid);
	struct wfi_hub *h = cq->dom->hub;
	ssize_t rc;

	if (cq->wait.obj == FI_WAIT_NONE)
		return -FI_ENOSYS;
	wfi_lock(h);
	wfi_wait_until(h, cq_test, cq, timeout);
	rc = cq_take(cq, buf, count, src);
	cq->signaled = false;
	wfi_unlock(h);
	return rc;
}

static ssize_t cq_sread(struct fid_cq *fid, void *buf, size_t count,
			const void *cond, int timeout)
{
	return cq_sreadfrom(fid, buf, count, NULL, cond, timeout);
}

static int cq_signal(struct fid_cq *fid)
{
	struct wfi_cq *cq = container_of(fid, struct wfi_cq, fid);

	wfi_lock(cq->dom->hub);
	cq->signaled = true;
	wfi_wait_ring(&cq->wait);
	wfi_unlock(cq->dom->hub);
	return 0;
}

static const char *cq_strerror(struct fid_cq *fid, int prov_errno,
			       const void *err_data, char *buf, size_t len)
{
	const char *s = fi_strerror(prov_errno);

	if (buf && len)
		snprintf(buf, len, "%s", s);
	return buf && len ? buf : s;
}

static int cq_close(struct fid *fid)
{
	struct wfi_cq *cq = container_of(fid, struct wfi_cq, fid.fid);

	wfi_lock(cq->dom->hub);
	if (cq->refs) {
		wfi_unlock(cq->dom->hub);
		return -FI_EBUSY;
	}
	cq->dom->refs--;
	wfi_unlock(cq->dom->hub);
	wfi_wait_close(&cq->wait);
	free(cq->ring);
	free(cq);
	return 0;
}

static struct fi_ops cq_fid_ops = {
	.size = sizeof(struct fi_ops),
	.close = cq_close,
	.bind = wfi_no_bind,
	.control = wfi_wait_control,
	.ops_open = wfi_no_ops_open,
};

static struct fi_ops_cq cq_ops = {
	.size = sizeof(struct fi_ops_cq),
	.read = cq_read,
	.readfrom = cq_readfrom,
	.readerr = cq_readerr,
	.sread = cq_sread,
	.sreadfrom = cq_sreadfrom,
	.signal = cq_signal,
	.strerror = cq_strerror,
};

int wfi_cq_open(struct fid_domain *fid, struct fi_cq_attr *attr,
		struct fid_cq **cq_p, void *context)
{
	struct wfi_domain *d = container_of(fid, struct wfi_domain, fid);
	struct wfi_cq *cq;
	int rc;

	if (attr && (unsigned)attr->format > FI_CQ_FORMAT_TAGGED)
		return -FI_ENOSYS;
	if (attr && attr->wait_obj == FI_WAIT_SET && !attr->wait_set)
		return -FI_EINVAL;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return -FI_ENOMEM;
	rc = wfi_wait_init(&cq->wait, attr ? attr->wait_obj : FI_WAIT_NONE);
	if (rc) {
		free(cq);
		return rc;
	}
	cq->dom = d;
	cq->format = attr ? attr->format : FI_CQ_FORMAT_CONTEXT;
	if (cq->format == FI_CQ_FORMAT_UNSPEC)
		cq->format = attr->format = FI_CQ_FORMAT_CONTEXT;
	cq->fid.fid = (struct fid){ FI_CLASS_CQ, context, &cq_fid_ops };
	cq->fid.ops = &cq_ops;
	wfi_domain_use(d, 1);
	if (attr && attr->wait_obj == FI_WAIT_SET)
		wfi_set_add(attr->wait_set, &cq->fid.fid);
	*cq_p = &cq->fid;
	return 0;
}
