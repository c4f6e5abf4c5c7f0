/* SPDX-License-Identifier: Apache-2.0 */
/* Remote disks: regions of the user, and copies to and from other buffers. */
#include <errno.h>

#include "base/minmax.h"
#include "storage/initiator.h"

struct region *disk_region(struct weft_disk *d, const void *p, size_t len)
{
	const uint8_t *b = p;

	for (uint32_t i = 0; i < DISK_REGIONS; i++) {
		struct region *r = &d->region[i];

		if (r->p && b >= r->p && b - r->p < (ptrdiff_t)r->len &&
		    len <= r->len - (size_t)(b - r->p))
			return r;
	}
	return NULL;
}

int weft_disk_reg(struct weft_disk *d, void *p, size_t len)
{
	struct region *r = d->region;
	int ret;

	weft_host_cpu(d->h, weft_host_time(d->h, T_disk_call));
	if (!len)
		return -EINVAL;
	while (r < d->region + DISK_REGIONS && r->p)
		r++;
	if (r == d->region + DISK_REGIONS)
		return -ENOSPC;
	ret = d->link->ops->reg(d->link, p, len, &r->mr);
	if (ret)
		return ret;
	r->p = p;
	r->len = len;
	r->users = 0;
	return 0;
}

int weft_disk_dereg(struct weft_disk *d, void *p)
{
	weft_host_cpu(d->h, weft_host_time(d->h, T_disk_call));
	for (uint32_t i = 0; p && i < DISK_REGIONS; i++) {
		struct region *r = &d->region[i];

		if (r->p != p)
			continue;
		if (r->users || d->link->ops->dereg(d->link, &r->mr))
			return -EAGAIN;
		r->p = NULL;
		return 0;
	}
	return -EINVAL;
}

/* ---- segments ---- */

void disk_skip(const struct request *r, struct cursor *c, size_t n)
{
	while (n) {
		size_t k = min_of(n, r->op.seg[c->seg].len - c->at);

		c->at += k;
		n -= k;
		if (c->at < r->op.seg[c->seg].len)
			return;
		c->seg++;
		c->at = 0;
	}
}

void disk_copy(struct weft_disk *d, const struct request *r, struct cursor c,
	       void *p, size_t n, bool in)
{
	uint8_t *b = p;

	while (n) {
		const struct weft_disk_seg *s = &r->op.seg[c.seg];
		size_t k = min_of(n, s->len - c.at);
		uint8_t *user = (uint8_t *)s->p + c.at;

		if (k)
			weft_host_copy(d->h, in ? b : user, in ? user : b, k);
		disk_skip(r, &c, k);
		if (!k)
			c = (struct cursor){ c.seg + 1, 0 };
		b += k;
		n -= k;
	}
}
